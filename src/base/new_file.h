/* SPDX-License-Identifier: GPL-3.0-or-later */
/* new_file.h -- a file that is written completely or not at all.
 *
 * Output goes to a new file beside the named one, and replaces it at the end
 * if everything went well; until then the old file is untouched.  A symbolic
 * link stays one; permissions, owner and group are kept.  What cannot be
 * replaced like this (devices and pipes, standard output, a file with several
 * names, a folder to which nothing can be added) is written in place.
 */
#ifndef CPPROF_BASE_NEW_FILE_H
#define CPPROF_BASE_NEW_FILE_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/base/writer.h"

struct new_file {
	struct writer writer;
	const char *name;	/* as given, borrowed */
	int descriptor;
	char *target;		/* the file that the name leads to */
	char *beside;		/* NULL: it is written in place */
	void (*on_limit)(int);	/* the action of SIGXFSZ before */
};

/*
 * Opens it; 0, or -1 with *error set.  An open file must be closed: until then
 * exceeding the limit on file sizes is an error, not a signal.
 */
int new_file_open(struct new_file *file, const char *name,
                  struct error *error);

/*
 * Writes what is left.  is_whole: everything was written, so that the file may
 * replace the old one.  0, or -1 with *error set, with the old file unchanged.
 * A pipe without a reader is no error.
 */
int new_file_close(struct new_file *file, bool is_whole,
                   struct error *error);

#endif
