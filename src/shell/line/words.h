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

#include "src/base/arena.h"
#include "src/base/error.h"

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

#endif
