/* SPDX-License-Identifier: GPL-3.0-or-later */
/* words.h -- splits a command line into words.
 *
 * Words are separated by blanks.  A name between bars is one word, whatever
 * it contains: \| in it is a bar, \xNN the byte with that number, and any
 * other backslash is itself.  A bar followed by a blank or the end of the line
 * is a pipe to a shell command, and so is one that directly follows a word:
 * functions|wc.  At the start of a word, after "(" and after "=", it begins a
 * name.  In a regular expression it is itself: /(get|read)_record/ is one
 * word.  `>`, `>>` and `#` are special at the start of a word: the first two
 * precede a file to write, the last one begins a comment.
 */
#ifndef CPPROF_SHELL_LINE_WORDS_H
#define CPPROF_SHELL_LINE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/base/short_name.h"

struct word {
	const char *text;	/* without its bars, followed by a NUL */
	size_t length;
	bool is_quoted;		/* it was between bars */
	size_t begin, end;	/* offsets in the line, with its bars */
};

enum redirect { REDIRECT_NONE, REDIRECT_FILE, REDIRECT_APPEND, REDIRECT_PIPE };

struct words {
	struct arena arena;
	struct word *words;	/* [n] */
	size_t n, capacity;
	enum redirect redirect;
	const char *target;	/* file or shell command; NULL: missing */
	bool is_open;		/* the line ends inside bars */
	bool is_redirected_twice;
};

/*
 * Splits line[length], which may contain any bytes.  If the line ends inside
 * bars, the open name is the last word.  Unfinished lines are no error, because
 * completion needs them; words_check reports what is wrong.  0, or -1 with
 * *error set if there is no memory.  Call words_free in either case.
 */
int words_split(struct words *words, const char *line, size_t length,
                struct error *error);
void words_free(struct words *words);

/*
 * Makes the whole line one word, without the blanks around it; no word if the
 * line is blank.  Otherwise like words_split.
 */
int words_take_whole(struct words *words, const char *line, size_t length,
                     struct error *error);

/* 0, or -1 with *error saying what is wrong with the line. */
int words_check(const struct words *words, struct error *error);

/* ---- completion.c ---- */

/* The words that an unfinished word may become. */

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
	bool is_bare;		/* no quotes: a shell asks, and adds its own */
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
