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
 * The candidates for the word that a line ends in, as typed: from `begin` on,
 * behind an opening bar.
 */
struct completion {
	const char *prefix;	/* what it must begin with, without bars;
				 * while candidates are offered */
	size_t prefix_length;
	const struct word *before;	/* [n_before] between it and its command;
				 * while candidates are offered */
	size_t n_before;
	bool is_open;		/* inside bars: candidates are without them */
	bool opens_path;	/* a parenthesis stands before the name */
	size_t begin;		/* where in the line they belong */
	bool is_file;		/* they are names of files */
	bool is_for_sh;		/* sh reads the line, so it quotes */
	const char **candidates;	/* [n] */
	size_t n, capacity;
	struct arena arena;
	struct error error;
};

void completion_free(struct completion *completion);

/* Offers a word: taken when it begins with the prefix, quoted as needed. */
void completion_offer(struct completion *completion, const char *text,
                      size_t length);

/* Offers the files that the prefix, a path, may go on to. */
void completion_offer_files(struct completion *completion);

#endif
