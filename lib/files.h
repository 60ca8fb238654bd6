/* SPDX-License-Identifier: MIT */
/* files.h -- opening, reading and closing, of which none is a cancellation
 * point, as those of the C library are.
 *
 * The collector runs in the program's threads, in signal handlers too.  If the
 * program has cancelled one, it must not be unwound from there: the program
 * was perhaps in a function that must not throw.
 *
 * All return what the call of that name returns, set errno likewise, and are
 * async-signal-safe.
 */
#ifndef CPPROF_FILES_H
#define CPPROF_FILES_H

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* mode: of a file that O_CREAT makes. */
static inline int
files_open(const char *path, int flags, mode_t mode)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static inline ssize_t
files_read(int fd, void *buffer, size_t size)
{
	return syscall(SYS_read, fd, buffer, size);
}

static inline ssize_t
files_write(int fd, const void *buffer, size_t size)
{
	return syscall(SYS_write, fd, buffer, size);
}

static inline int
files_close(int fd)
{
	return (int)syscall(SYS_close, fd);
}

#endif
