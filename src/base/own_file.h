/* SPDX-License-Identifier: GPL-3.0-or-later */
/* own_file.h -- the places that are written to, found without being led astray.
 *
 * A directory that somebody else wrote may hold links: a cloned repository, an
 * unpacked archive, /tmp.  So each name that is written to is looked up here, a
 * component at a time, and what is then done to the file is done in the
 * directory that was found.  Two kinds of names:
 *
 *	out/report.html			typed by the user.  Links are followed
 *					if the user or root made them.
 *	.cpprof/history/COMMIT.merged	below a directory of cpprof's own.  No
 *	NAME.cpprof/run-1		link is followed, and each directory
 *					belongs to the user.
 */
#ifndef CPPROF_BASE_OWN_FILE_H
#define CPPROF_BASE_OWN_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "src/base/error.h"

/* The whole path was typed: nothing of it lies in a directory of our own. */
#define OWN_NOTHING SIZE_MAX

/* Where a name leads. */
struct own_place {
	int directory;		/* opened with O_PATH */
	char name[NAME_MAX + 1];	/* in it; it is no link, unless is_kernels */
	bool is_own;		/* in a directory of our own */
	bool has_slash;		/* after it, so it must be a directory */
	bool is_there;
	bool is_kernels;	/* an entry of /proc, such as what /dev/fd/1
				 * leads to, which only the kernel can follow */
	struct stat status;	/* if it is there */
};

/*
 * Finds where a name leads.  own: the number of bytes of the path after which
 * all components are in directories of cpprof's own; 0: all of a relative path
 * is, OWN_NOTHING: none.  mode: that of directories of our own that are missing,
 * which are made then; 0: none are.
 *
 * Refuses a link of another user; a pipe, socket or device of another user, and
 * a file with several names, where others may add entries; and below own all
 * links, what belongs to other users, and whatever is no regular file.  The last
 * component may be missing, or a directory.  0, or -1 with *error set and errno
 * 0 if it was refused.  Close it with own_place_close, unless it failed.
 */
int own_place_open(struct own_place *place, const char *path, size_t own,
                   mode_t mode, struct error *error);
void own_place_close(struct own_place *place);

/*
 * Makes the directory at a path, if it is missing; 0, or -1 with *error set and
 * errno as above.
 */
int own_directory_make(const char *path, size_t own, mode_t mode,
                       struct error *error);

/* Likewise; its descriptor, O_RDONLY. */
int own_directory_open(const char *path, size_t own, mode_t mode,
                       struct error *error);

/*
 * Finds a file as own_place_open does, and opens what was found for writing,
 * with flags as of open(2) in addition; mode: of a new one.  Does so again if
 * somebody makes, removes or replaces it meanwhile.  The descriptor, or -1 with
 * *error set and errno as above.  *place says what was found last; it is closed.
 */
int own_file_open(struct own_place *place, const char *path, size_t own,
                  int flags, mode_t mode, struct error *error);

#endif
