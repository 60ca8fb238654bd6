/* SPDX-License-Identifier: GPL-3.0-or-later */
/* selection.h -- the argument of narrow and drop: which stacks are meant. */
#ifndef CPPROF_SHELL_COMMAND_SELECTION_H
#define CPPROF_SHELL_COMMAND_SELECTION_H

#include "src/refine/step.h"
#include "src/shell/command/arguments.h"

/*
 * `thread GLOB`, `process GLOB` or `label KEY=GLOB`, else a path.  A path of a
 * function that is called thread is written in parentheses, or alone.
 */
extern const struct argument_kind arg_selection;

/* The step that keeps or drops these stacks; NULL with *error set. */
struct step *selection_step(bool drops, const struct value *value,
                            struct error *error);

/*
 * The words [begin, end) of a line as one pattern, since names of threads and
 * hosts may have blanks.  0, or -1 with *error set.
 */
int selection_read_words(const struct reading *reading, size_t begin,
                         size_t end, struct pattern_word *word);

/* Offers the keys of labels, and after a key and its '=' the values. */
void selection_complete_labels(struct completion *completion,
                               const struct profile *profile);

#endif
