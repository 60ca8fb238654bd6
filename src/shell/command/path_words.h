/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_words.h -- the words of a typed path. */
#ifndef CPPROF_SHELL_COMMAND_PATH_WORDS_H
#define CPPROF_SHELL_COMMAND_PATH_WORDS_H

#include "src/refine/frame_pattern.h"
#include "src/shell/command/arguments.h"

/*
 * Reads all words that are left as those of a path, without the parentheses
 * that may surround it: `main f` and `(main f)`.  A name that contains
 * parentheses is written between bars, but the last one may be bare:
 * `(main f())`.  If the rest of the line is the name of a function, it is one
 * word.  A regular expression runs to its closing slash, blanks included.  The
 * *n >= 1 words are in the arena; NULL with *error set.
 */
struct pattern_word *path_words_read(struct reading *reading, size_t *n);

#endif
