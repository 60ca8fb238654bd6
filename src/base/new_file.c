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

/* Names that are tried: a process that was killed may have had the same number
 * and left a file behind. */
enum { NAMES_TRIED = 100 };

/*
 * Creates a file beside the target; its name, or NULL with errno.
 */
static char *
create_beside(struct new_file *file, mode_t mode)
{
	for (int attempt = 0; attempt < NAMES_TRIED; attempt++) {
		char *beside;

		if (asprintf(&beside, NEW_FILE_UNFINISHED "%ld-%d",
		             (long)getpid(), attempt) < 0)
			return NULL;
		file->descriptor = openat(file->place.directory, beside,
		                          O_WRONLY | O_CREAT | O_EXCL |
		                          O_NOFOLLOW | O_CLOEXEC, mode);
		if (file->descriptor >= 0)
			return beside;
		free(beside);
		if (errno != EEXIST)
			break;
	}
	return NULL;
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
	/* Users that could not open the old file must not open this one. */
	char *beside = create_beside(file, old == NULL ? 0666 : 0600);

	if (beside == NULL)
		return false;
	if (old == NULL || keep_rights(file->descriptor, old)) {
		file->beside = beside;
		return true;
	}
	close(file->descriptor);
	unlinkat(file->place.directory, beside, 0);
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
is_replaceable(const char *name, const struct own_place *place)
{
	const struct stat *old = &place->status;

	return !place->is_kernels && !is_standard_stream(name, old) &&
	    S_ISREG(old->st_mode) && (place->is_own || old->st_nlink == 1) &&
	    faccessat(place->directory, place->name, W_OK, 0) == 0;
}

/* Begins the file, beside its target or in place. */
static int
open_somehow(struct new_file *file, const char *name, size_t own,
             struct error *error)
{
	struct own_place *place = &file->place;

	if (!place->has_slash && (place->is_there ?
	        is_replaceable(name, place) &&
	        open_beside(file, &place->status) : open_beside(file, NULL)))
		return 0;
	/* A second name of it may be anywhere. */
	if (place->is_own)
		return new_file_fail(file, errno, error);
	own_place_close(place);
	file->descriptor = own_file_open(place, name, own, O_TRUNC, 0666,
	                                 error);
	return file->descriptor >= 0 ? 0 : -1;
}

int
new_file_open(struct new_file *file, const char *name, struct error *error)
{
	return new_file_open_own(file, name, OWN_NOTHING, error);
}

int
new_file_open_own(struct new_file *file, const char *name, size_t own,
                  struct error *error)
{
	file->name = name;
	file->beside = NULL;
	writer_start(&file->writer, write_to_descriptor, &file->descriptor);
	if (read_only_check(name, error) != 0)
		return -1;
	if (own_place_open(&file->place, name, own, 0, error) != 0)
		return -1;
	if (open_somehow(file, name, own, error) != 0) {
		own_place_close(&file->place);
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
	    renameat(file->place.directory, file->beside, file->place.directory,
	             file->place.name) != 0) {
		status = errno;
		is_whole = false;
	}
	if (file->beside != NULL && !is_whole)
		unlinkat(file->place.directory, file->beside, 0);
	signal(SIGXFSZ, file->on_limit);
	free(file->beside);
	own_place_close(&file->place);
	return status == 0 || status == EPIPE ?
	    0 :
	    new_file_fail(file, status, error);
}
