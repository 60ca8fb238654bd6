/* SPDX-License-Identifier: GPL-3.0-or-later */
/* named_file.h -- opens a file because a profile names it.
 *
 * A profile is untrusted text, so its paths are, too.  Every path that comes
 * from a profile is opened here: only regular files are, never devices, pipes
 * or sockets, which may wait or do something once they are opened, and no files
 * that the kernel makes up, such as those in /proc.  Links and ".." are
 * followed first; what counts is the file that they lead to.
 */
#ifndef CPPROF_BASE_NAMED_FILE_H
#define CPPROF_BASE_NAMED_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum named_file_state {
	NAMED_FILE_OPEN,
	NAMED_FILE_MISSING,
	NAMED_FILE_FORBIDDEN,	/* the user may not read it */
	NAMED_FILE_IS_LINK,	/* only with O_NOFOLLOW */
	NAMED_FILE_OTHER,	/* no regular file, or one of the kernel's */
};

/*
 * Opens it to be read.  more_flags: 0 or O_NOFOLLOW.  *status: of the file, if
 * it is open; may be NULL.
 */
enum named_file_state named_file_open(const char *path, int more_flags,
                                      int *descriptor, struct stat *status);

/* The path of an open file without links and ".."; false: it is not known. */
bool named_file_real_path(int descriptor, char path[PATH_MAX]);

/*
 * Whether such a path lies below a directory, whose links are followed.  The
 * root directory says nothing: all paths lie below it.
 */
bool named_file_is_below(const char *real_path, const char *directory);

#endif
