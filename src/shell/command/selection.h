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

#endif
