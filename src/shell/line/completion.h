/* SPDX-License-Identifier: GPL-3.0-or-later */
/* completion.h -- the words that an unfinished word may become. */
#ifndef CPPROF_SHELL_LINE_COMPLETION_H
#define CPPROF_SHELL_LINE_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/arena.h"
#include "src/base/error.h"
#include "src/shell/line/words.h"

/*
 * The candidates for the last word of a line, quoted as they would be typed.
 * They replace the line from `begin` on, which is after an opening bar.
 */
struct completion {
	/* These are only set while candidates are offered. */
	const char *prefix;	/* how they must begin, without bars */
	size_t prefix_length;
	const struct word *before;	/* [n_before] the words between the
					 * command and the last one */
	size_t n_before;

	bool is_open;		/* the prefix is between bars */
	bool opens_path;	/* a parenthesis precedes the name */
	size_t begin;		/* offset in the line */
	bool is_file;		/* the candidates are file names */
	bool is_for_sh;		/* sh reads the line: quote as it wants */
	const char **candidates;	/* [n] */
	size_t n, capacity;
	struct arena arena;
	struct error error;
};

void completion_free(struct completion *completion);

/* Offers a word.  If it begins with the prefix, it is quoted and added. */
void completion_offer(struct completion *completion, const char *text,
                      size_t length);

/* Offers the files whose paths begin with the prefix. */
void completion_offer_files(struct completion *completion);

#endif
