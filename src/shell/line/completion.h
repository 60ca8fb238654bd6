/* SPDX-License-Identifier: GPL-3.0-or-later */
/* completion.h -- the words that an unfinished word may become. */
#ifndef CPPROF_SHELL_LINE_COMPLETION_H
#define CPPROF_SHELL_LINE_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/base/error.h"
#include "src/base/name_parts.h"
#include "src/shell/line/words.h"

struct completion_candidate {
	const char *text;
	uint64_t hits;		/* of a function; else 0 */
	bool is_inner;		/* only its last identifier begins with the
				 * prefix, after scopes */
};

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
	struct completion_candidate *candidates;	/* [n] */
	size_t n, capacity;
	const char *common;	/* what they have in common, which can replace
				 * the word; NULL: nothing */
	struct name_parts parts;	/* scratch */
	struct arena arena;
	struct error error;
};

void completion_free(struct completion *completion);

/* Offers a word.  If it begins with the prefix, it is quoted and added. */
void completion_offer(struct completion *completion, const char *text,
                      size_t length);

/*
 * The same for a function of so many hits, by the short name if that begins
 * with the prefix.  If neither name does, but the last identifier, it is an
 * inner candidate.
 */
void completion_offer_function(struct completion *completion,
                               const char *short_name, size_t n_short,
                               const char *name, size_t length, uint64_t hits);

/*
 * When all are offered: orders the candidates, each once, and sets `common`.
 * Inner ones come last, and have nothing in common with others.  Of functions
 * those with most hits come first, and equal ones are in byte order.
 */
void completion_finish(struct completion *completion);

/* Offers the files whose paths begin with the prefix. */
void completion_offer_files(struct completion *completion);

#endif
