/* SPDX-License-Identifier: MIT */
/* files.h -- opening, reading, mapping and closing, directly by system calls.
 *
 * The collector runs in the program's threads, also in signal handlers.  If the
 * program has cancelled such a thread, it must not be unwound from there, since
 * the interrupted function may not be allowed to throw.  So unlike the C
 * library's functions, none of these is a cancellation point.
 *
 * They also touch neither the C library's code nor our own wrappers.  For a
 * short process that is much of the collector's cost: touching a page maps 16,
 * and each costs time again when the process ends.  And under a thread
 * sanitizer, the C library's functions are intercepted by ones with locks that
 * the interrupted thread may hold.
 *
 * All functions: as the system call of that name, with errno;
 * async-signal-safe, any thread.
 */
#ifndef CPPROF_FILES_H
#define CPPROF_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "lib/base/arch.h"

static inline long
files_result(long result)
{
	if ((unsigned long)result < -4095ul)
		return result;
	errno = (int)-result;
	return -1;
}

/* mode: of a file that O_CREAT creates. */
static inline int
files_open(const char *path, int flags, mode_t mode)
{
	return (int)files_result(arch_system_call(SYS_openat, AT_FDCWD,
	    (long)path, flags, (long)mode));
}

static inline ssize_t
files_read(int fd, void *buffer, size_t size)
{
	return files_result(arch_system_call(SYS_read, fd, (long)buffer,
	    (long)size, 0));
}

static inline ssize_t
files_write(int fd, const void *buffer, size_t size)
{
	return files_result(arch_system_call(SYS_write, fd, (long)buffer,
	    (long)size, 0));
}

static inline off_t
files_seek(int fd, off_t offset, int whence)
{
	return files_result(arch_system_call(SYS_lseek, fd, offset, whence,
	    0));
}

/* fcntl with a command that has no argument. */
static inline int
files_control(int fd, int command)
{
	return (int)files_result(arch_system_call(SYS_fcntl, fd, command, 0,
	    0));
}

/* ioctl; the argument is a pointer or, as a pointer, a number. */
static inline int
files_request(int fd, unsigned long request, void *argument)
{
	return (int)files_result(arch_system_call(SYS_ioctl, fd, (long)request,
	    (long)argument, 0));
}

/* mmap, readable and writable, at any address, from the start of the file. */
static inline void *
files_map(size_t size, int flags, int fd)
{
	return (void *)files_result(arch_system_call_6(SYS_mmap, 0,
	    (long)size, PROT_READ | PROT_WRITE, flags, fd, 0));
}

/* mmap of a part of a file; with MAP_FIXED at `address`, otherwise at any. */
static inline void *
files_map_part(void *address, size_t size, int protection, int flags, int fd,
    off_t offset)
{
	return (void *)files_result(arch_system_call_6(SYS_mmap, (long)address,
	    (long)size, protection, flags, fd, offset));
}

static inline void *
files_remap(void *address, size_t old_size, size_t size)
{
	return (void *)files_result(arch_system_call(SYS_mremap, (long)address,
	    (long)old_size, (long)size, MREMAP_MAYMOVE));
}

static inline void
files_unmap(void *address, size_t size)
{
	arch_system_call(SYS_munmap, (long)address, (long)size, 0, 0);
}

static inline int
files_advise(void *address, size_t size, int advice)
{
	return (int)files_result(arch_system_call(SYS_madvise, (long)address,
	    (long)size, advice, 0));
}

static inline int
files_status(int fd, struct stat *status)
{
	return (int)files_result(arch_system_call(SYS_fstat, fd, (long)status,
	    0, 0));
}

/* stat: follows links. */
static inline int
files_status_of(const char *path, struct stat *status)
{
	return (int)files_result(arch_system_call(SYS_newfstatat, AT_FDCWD,
	    (long)path, (long)status, 0));
}

/* ftruncate. */
static inline int
files_resize(int fd, off_t size)
{
	return (int)files_result(arch_system_call(SYS_ftruncate, fd, size, 0,
	    0));
}

/* unlink. */
static inline int
files_remove(const char *path)
{
	return (int)files_result(arch_system_call(SYS_unlink, (long)path, 0, 0,
	    0));
}

/* renameat2: fails if the new name exists. */
static inline int
files_rename(const char *from, const char *to)
{
	return (int)files_result(arch_system_call_6(SYS_renameat2, AT_FDCWD,
	    (long)from, AT_FDCWD, (long)to, RENAME_NOREPLACE, 0));
}

static inline int
files_close(int fd)
{
	return (int)files_result(arch_system_call(SYS_close, fd, 0, 0, 0));
}

/*
 * Reads the start of a file, at most size - 1 bytes, into text[size], and ends
 * it with NUL.  Returns the number of bytes, 0 if that fails.
 */
static inline size_t
files_read_start(const char *path, char *text, size_t size)
{
	const int fd = files_open(path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t n = 0;

	if (fd >= 0) {
		n = files_read(fd, text, size - 1);
		files_close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* The decimal number at *at, which moves to its end; 0: there is none. */
static inline uint64_t
files_take_number(const char **at)
{
	uint64_t number = 0;

	for (; **at >= '0' && **at <= '9'; ++*at)
		number = number * 10 + (uint64_t)(**at - '0');
	return number;
}

/* Writes a decimal number, and NUL, at which it returns. */
static inline char *
files_put_number(char *at, uint64_t number)
{
	char digits[24];
	int n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	while (n > 0)
		*at++ = digits[--n];
	*at = '\0';
	return at;
}

#endif
