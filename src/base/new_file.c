/* SPDX-License-Identifier: GPL-3.0-or-later */
/* new_file.c -- a file that is written completely or not at all. */
#include "src/base/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
new_file_fail(const struct new_file *file, int number, struct error *error)
{
	return error_set(error, "%.200s: %s", file->name, strerror(number));
}

/* A name in the target's folder that shows what it belongs to. */
static char *
name_beside(const char *target)
{
	const char *slash = strrchr(target, '/');
	int n = slash == NULL ? 0 : (int)(slash + 1 - target);
	char *name;

	return asprintf(&name, "%.*s.cpprof-export-%ld", n, target,
	                (long)getpid()) < 0 ? NULL : name;
}

/*
 * Gives the new file the owner and permissions of the old one; whether that
 * succeeded.
 */
static bool
keep_rights(int descriptor, const struct stat *old)
{
	struct stat new;

	if (fstat(descriptor, &new) != 0)
		return false;
	if ((new.st_uid != old->st_uid || new.st_gid != old->st_gid) &&
	    fchown(descriptor, old->st_uid, old->st_gid) != 0)
		return false;
	return fchmod(descriptor, old->st_mode & 07777) == 0;
}

/*
 * Creates the file beside its target.  old: the file to replace, or NULL.
 * Returns whether that succeeded.
 */
static bool
open_beside(struct new_file *file, const struct stat *old)
{
	char *beside = name_beside(file->target);

	if (beside == NULL)
		return false;
	/* Users that could not open the old file must not open this one. */
	file->descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL |
	                        O_CLOEXEC, old == NULL ? 0666 : 0600);
	if (file->descriptor >= 0 && (old == NULL ||
	                              keep_rights(file->descriptor, old))) {
		file->beside = beside;
		return true;
	}
	if (file->descriptor >= 0) {
		close(file->descriptor);
		unlink(beside);
	}
	free(beside);
	return false;
}

/* Whether it is what the program has open already, such as its own output. */
static bool
is_standard_stream(const char *name, const struct stat *old)
{
	struct stat open;

	if (strncmp(name, "/dev/", 5) == 0 || strncmp(name, "/proc/", 6) == 0)
		return true;
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		if (fstat(i, &open) == 0 && open.st_dev == old->st_dev &&
		    open.st_ino == old->st_ino)
			return true;
	return false;
}

/* Whether an old file may be replaced: it is a regular file, and writable. */
static bool
is_replaceable(const char *name, const char *target, const struct stat *old)
{
	return !is_standard_stream(name, old) && S_ISREG(old->st_mode) &&
	    old->st_nlink == 1 && access(target, W_OK) == 0;
}

/*
 * Begins the file, beside its target or in place; returns whether that
 * succeeded, with errno set if not.
 */
static bool
open_somehow(struct new_file *file, const char *name)
{
	struct stat old;
	bool is_old = stat(name, &old) == 0;

	/* Replaces the target of a link, not the link itself. */
	file->target = is_old ? realpath(name, NULL) : NULL;
	if (file->target == NULL)	/* a pipe that only /dev names */
		file->target = strdup(name);
	if (file->target == NULL)
		return false;
	if (is_old ? is_replaceable(name, file->target, &old) &&
	             open_beside(file, &old) :
	             lstat(name, &old) != 0 && open_beside(file, NULL))
		return true;
	file->descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC |
	                        O_CLOEXEC | O_NOCTTY, 0666);
	return file->descriptor >= 0;
}

int
new_file_open(struct new_file *file, const char *name, struct error *error)
{
	file->name = name;
	file->target = file->beside = NULL;
	writer_start(&file->writer, write_to_descriptor, &file->descriptor);
	if (read_only_check(name, error) != 0)
		return -1;
	if (!open_somehow(file, name)) {
		new_file_fail(file, errno, error);
		free(file->target);
		return -1;
	}
	file->on_limit = signal(SIGXFSZ, SIG_IGN);
	return 0;
}

int
new_file_close(struct new_file *file, bool is_whole, struct error *error)
{
	int status = is_whole ? writer_flush(&file->writer) :
	             file->writer.error;

	if (close(file->descriptor) != 0 && status == 0)
		status = errno;
	is_whole = is_whole && status == 0;
	if (file->beside != NULL && is_whole &&
	    rename(file->beside, file->target) != 0) {
		status = errno;
		is_whole = false;
	}
	if (file->beside != NULL && !is_whole)
		unlink(file->beside);
	signal(SIGXFSZ, file->on_limit);
	free(file->beside);
	free(file->target);
	return status == 0 || status == EPIPE ?
	    0 :
	    new_file_fail(file, status, error);
}
