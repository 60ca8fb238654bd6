/* SPDX-License-Identifier: MIT */
/* files.h -- opening, reading, mapping and closing, straight from the kernel.
 *
 * The collector runs in the program's threads, in signal handlers too.  If the
 * program has cancelled one, it must not be unwound from there: the program
 * was perhaps in a function that must not throw.  None of these is a
 * cancellation point, as those of the C library are.  Nor do they bring the C
 * library's code into memory, or our own wrappers', which is much of what the
 * collector costs a short process: a page that is touched brings 16 with it,
 * and each costs once more when the process ends.  And where the program has a
 * thread sanitizer, that one's functions stand in the place of the C library's,
 * with locks that the interrupted thread may hold.
 *
 * All return what the call of that name returns, set errno likewise, and are
 * async-signal-safe.
 */
#ifndef CPPROF_FILES_H
#define CPPROF_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
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

/* mode: of a file that O_CREAT makes. */
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

/* A command of fcntl that has no argument. */
static inline int
files_control(int fd, int command)
{
	return (int)files_result(arch_system_call(SYS_fcntl, fd, command, 0,
	    0));
}

/* mmap at any address, to be read and written; from the file's start. */
static inline void *
files_map(size_t size, int flags, int fd)
{
	return (void *)files_result(arch_system_call_6(SYS_mmap, 0,
	    (long)size, PROT_READ | PROT_WRITE, flags, fd, 0));
}

/* A part of a file, MAP_FIXED at an address, or where the kernel likes. */
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

static inline int
files_close(int fd)
{
	return (int)files_result(arch_system_call(SYS_close, fd, 0, 0, 0));
}

#endif
