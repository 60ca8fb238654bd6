/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source_file.h -- finds and reads the source files that a profile names. */
#ifndef CPPROF_SYMBOLS_LINES_SOURCE_FILE_H
#define CPPROF_SYMBOLS_LINES_SOURCE_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/md5.h"
#include "src/base/text_lines.h"

/* Where to search.  The texts are borrowed. */
struct source_search {
	const char *const *directories;	/* [n_directories] the user's */
	size_t n_directories;
	const char *root;		/* a directory with a copy of another
					 * machine's files; NULL: none */
};

enum source_state {
	SOURCE_READ,
	SOURCE_MISSING,		/* no such file in any place */
	SOURCE_UNREADABLE,	/* the one found is no regular file, forbidden,
				 * or beyond SOURCE_MAX */
};

enum { SOURCE_MAX = 256 << 20 };	/* bytes */

struct source_file {
	enum source_state state;
	char path[PATH_MAX];	/* where it was found, unless missing */
	uint64_t mtime_ns;	/* if it was read; likewise */
	unsigned char digest[MD5_SIZE];
	struct text_lines text;
};

/*
 * Searches a source file by its path in the profile, and reads the first file
 * that is found: in the user's directories in their order, in each by the whole
 * path, then without its first component, and so on down to its name; below the
 * root; and at the path itself.  A relative path without a root starts from
 * the current directory.
 *
 * Paths are untrusted: only regular files are read.  0, or -1 with *error set
 * for want of memory; source_file_free in either case.
 */
int source_file_read(struct source_file *source, const char *path,
                     const struct source_search *search,
                     struct error *error);
void source_file_free(struct source_file *source);

#endif
