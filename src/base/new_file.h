/* SPDX-License-Identifier: GPL-3.0-or-later */
/* new_file.h -- a file that is there whole or not at all.
 *
 * What is written goes into a file beside the one that is named, which takes
 * its place when all went well; before, what was there is untouched.  A
 * symbolic link stays one; permissions, owner and group stay as they were.
 * What cannot be replaced so (devices and pipes, a file of several names, one
 * in a folder that nothing can be added to) is written in place.
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
	char *target;		/* what the name stands for */
	char *beside;		/* NULL: it is written in place */
	void (*on_limit)(int);	/* what SIGXFSZ did before */
};

/*
 * Opens it; 0, or -1 with *error set.  Once open, close it: meanwhile a limit
 * on the size of files is an error like others, no signal.
 */
int new_file_open(struct new_file *file, const char *name,
                  struct error *error);

/*
 * Writes what is left.  is_whole: all of it was written, so that it may take
 * its place.  0, or -1 with *error set, and where it was to be replaced it is
 * as it was.  That a pipe's reader has gone is no error.
 */
int new_file_close(struct new_file *file, bool is_whole,
                   struct error *error);

#endif
