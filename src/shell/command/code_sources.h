/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code_sources.h -- the source files of code that is shown, each read once. */
#ifndef CPPROF_SHELL_COMMAND_CODE_SOURCES_H
#define CPPROF_SHELL_COMMAND_CODE_SOURCES_H

#include "src/base/table.h"
#include "src/shell/session/session.h"
#include "src/symbols/lines/source_file.h"

struct code_source {
	const char *name;		/* in the profile */
	struct source_file file;
	bool is_shown;			/* the caller's: lines of it are */
};

/* Starts with only the session set. */
struct code_sources {
	const struct session *session;	/* says where files are searched */
	struct code_source **sources;	/* [n] in the order they were read */
	size_t n, capacity;
};

/*
 * The source file of that name, which is borrowed; it stays where it is until
 * code_sources_free.  NULL with *error set; that there is no such file is no
 * error, see source_file.h.
 */
struct code_source *code_sources_read(struct code_sources *sources,
                                      const char *name, struct error *error);

/*
 * Adds to the heading where each file that is shown was found, and whether it
 * is not what was compiled: by its digest if debug information has that, else
 * by its age.  One line is for all files that were not found, one for all that
 * cannot be read.  set: the code.  0, or -1 with *error set.
 */
int code_sources_describe(const struct code_sources *sources,
                          const struct code_set *set, struct table *table,
                          struct error *error);

void code_sources_free(struct code_sources *sources);

#endif
