/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve.h -- from what was typed to functions and resources. */
#ifndef CPPROF_SHELL_COMMAND_RESOLVE_H
#define CPPROF_SHELL_COMMAND_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/base/pattern.h"
#include "src/shell/line/words.h"
#include "src/shell/session/session.h"

/*
 * The functions of the profile that a word names: that very one, or, when it
 * was not between bars, all that fit it as a pattern, in byte order.  Returns
 * them in the arena, at least one; NULL with *error set, near ones named.
 */
uint32_t *resolve_functions(const struct session *session,
                            const struct word *word, struct arena *arena,
                            size_t *n, struct error *error);

/* Sets *error: the profile has no such function; names near ones. */
void resolve_report_unknown(const struct session *session, const char *text,
                            size_t length, struct error *error);

/*
 * A pattern for the word: that very name when it was between bars or the
 * profile has it, else a glob or expression.  pattern_free; NULL with *error.
 */
struct pattern *resolve_pattern(const struct session *session,
                                const struct word *word, struct error *error);

/*
 * The resource of that name, or of that unique beginning whatever its case.
 * UINT32_MAX with *error set, which names them.
 */
uint32_t resolve_resource(const struct session *session, const char *text,
                          struct error *error);

#endif
