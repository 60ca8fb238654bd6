/* SPDX-License-Identifier: GPL-3.0-or-later */
/* words.h -- a command line taken apart.
 *
 * Words are separated by blanks.  A name between bars is one word, whatever
 * it holds: \| in it is a bar, \xNN the byte of that number, and any other
 * backslash itself.  A bar followed by a blank (or nothing) is a pipe to a
 * shell command; any other bar opens a name, also right behind other
 * characters, but for those of an expression: /(get|read)_record/ is one
 * word.  `>`, `>>` and `#` act at the start of a word: the first two name a
 * file to write, the last one begins a comment.
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
	bool is_quoted;		/* it stood between bars */
	size_t begin, end;	/* where in the line, bars included */
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
 * Takes line[length] apart, which may hold anything.  A line that ends inside
 * bars gives the open name as its last word; what is missing or too much is
 * left to words_check, because completion looks at unfinished lines.  0, or
 * -1 with *error set for want of memory.  Whatever it returns, free.
 */
int words_split(struct words *words, const char *line, size_t length,
                struct error *error);
void words_free(struct words *words);

/*
 * The whole line as one word, less the blanks around it; none where nothing is
 * left.  Otherwise as words_split.
 */
int words_take_whole(struct words *words, const char *line, size_t length,
                     struct error *error);

/* 0, or -1 with *error set where the line is not a whole one. */
int words_check(const struct words *words, struct error *error);

#endif
