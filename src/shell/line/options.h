/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h -- the command line of cpprof. */
#ifndef CPPROF_SHELL_LINE_OPTIONS_H
#define CPPROF_SHELL_LINE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/output/output.h"
#include "src/shell/line/option_row.h"

/* The exit status after a command line that is wrong. */
enum { EXIT_USAGE = 2, EXIT_VIOLATED = 4, EXIT_UNDECIDED = 5 };

/* One -e or -x, in the order given. */
struct action {
	bool is_file;
	const char *text;
};

enum manual_form {
	MANUAL_NONE,
	MANUAL_MARKDOWN,	/* a section of level 3 for each command */
	MANUAL_MAN,		/* a whole man page */
};

struct options {
	struct action *actions;		/* [n_actions] */
	size_t n_actions;
	const char **bases;		/* [n_bases] of --base */
	size_t n_bases;
	char **files;			/* [n_files], in argv */
	size_t n_files;
	const struct output_format *format;	/* NULL: not given */
	bool is_quiet, has_no_startup, stays, keeps_going, is_lenient,
	    has_thread_frames;
	bool wants_help, wants_version;
	const char *symfs;		/* NULL: not given */
	enum manual_form manual;	/* MANUAL_NONE: not wanted */
};

/*
 * Reads argv, whose strings are borrowed, and moves the profiles after the
 * options.  0, or -1 with *error set.  Call options_free in either case.
 */
int options_parse(struct options *options, int argc, char **argv,
                  struct error *error);
void options_free(struct options *options);

/* The rows, whose options are a struct options. */
extern const struct option_row option_rows[];

/* Adds what --help prints. */
void options_add_help(struct text_buffer *text);

#endif
