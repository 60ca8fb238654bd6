/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve_code.h -- finds the code that a word names: a function or a file. */
#ifndef CPPROF_SHELL_COMMAND_RESOLVE_CODE_H
#define CPPROF_SHELL_COMMAND_RESOLVE_CODE_H

#include "src/base/error.h"
#include "src/shell/line/completion.h"
#include "src/shell/session/session.h"
#include "src/views/code_hits.h"

/* What may be named: functions, those that were inlined too; also files. */
enum code_kinds { CODE_FUNCTIONS, CODE_FUNCTIONS_AND_FILES };

/*
 * The code that a text names, as far as the profile's lines have been read: the
 * function of that name; FILE:LINE or FILE, its path or the end of it; the
 * function for which the text is short; or the only function that the text
 * matches as a pattern.  *line: 0 unless it names one.  0, or -1 with *error
 * set, which names similar ones, or those that the text may mean.
 */
int resolve_code(const struct session *session, enum code_kinds kinds,
                 const char *text, struct code_scope *scope, uint32_t *line,
                 struct error *error);

/* Offers all of them, functions by their short names if these are used. */
void resolve_code_complete(const struct session *session,
                           enum code_kinds kinds, bool has_short_names,
                           struct completion *completion);

#endif
