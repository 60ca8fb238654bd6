/* SPDX-License-Identifier: GPL-3.0-or-later */
/* writer.h -- where bytes are written to, and files that replace others when
 * they are whole.
 */
#ifndef CPPROF_BASE_WRITER_H
#define CPPROF_BASE_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/own_file.h"

/* ---- writer.c ---- */

/*
 * Buffered output to wherever it goes.
 *
 * Sticky: after the first failure nothing more is written, and `error` has the
 * reason.
 */

/* Writes n bytes somewhere; 0, or an errno. */
typedef int writer_function(void *context, const char *bytes, size_t n);

enum { WRITER_BUFFER = 64 * 1024 };

struct writer {
	writer_function *write;
	void *context;
	int error;		/* errno of the first failure */
	size_t n_held;
	char held[WRITER_BUFFER];
};

void writer_start(struct writer *writer, writer_function *write,
                  void *context);
void writer_put(struct writer *writer, const char *bytes, size_t n);

/* Writes what is buffered; the errno of the first failure so far, or 0. */
int writer_flush(struct writer *writer);

/* A writer_function; context points to the file descriptor, an int. */
int write_to_descriptor(void *context, const char *bytes, size_t n);

/* ---- read_only.c ---- */

/* From now on, this process writes no files and runs no programs (--read-only). */
void read_only_begin(void);

/* 0, or -1 with *error set: "NAME: not with --read-only". */
int read_only_check(const char *name, struct error *error);
bool read_only_is_on(void);

/* ---- new_file.c ---- */

/*
 * A file that is written completely or not at all.
 *
 * Output goes to a new file beside the named one, and replaces it at the end
 * if everything went well; until then the old file is untouched.  A symbolic
 * link stays one; permissions, owner and group are kept.  What cannot be
 * replaced like this (devices and pipes, standard output, a file with several
 * names, a folder to which nothing can be added) is written in place.
 */

/* What the name of the new file begins with; a process that is killed leaves
 * it behind. */
#define NEW_FILE_UNFINISHED ".cpprof-export-"

struct new_file {
	struct writer writer;
	const char *name;	/* as given, borrowed */
	int descriptor;
	struct own_place place;	/* where the name leads */
	char *beside;		/* NULL: it is written in place */
	void (*on_limit)(int);	/* the action of SIGXFSZ before */
};

/*
 * Opens it.  An open file must be closed: until then exceeding the limit on
 * file sizes is an error, not a signal.
 */
int new_file_open(struct new_file *file, const char *name,
                  struct error *error);

/*
 * Likewise, of a name whose end, after `own` bytes, lies in a directory of
 * cpprof's own; see own_place_open, which refuses what others may have put
 * there.
 */
int new_file_open_own(struct new_file *file, const char *name, size_t own,
                      struct error *error);

/*
 * Writes what is left.  is_whole: everything was written, so that the file may
 * replace the old one.  0, or -1 with *error set, with the old file unchanged.
 * A pipe without a reader is no error.
 */
int new_file_close(struct new_file *file, bool is_whole,
                   struct error *error);

#endif
