/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve.h -- finds the functions and resources that words name. */
#ifndef CPPROF_SHELL_COMMAND_RESOLVE_H
#define CPPROF_SHELL_COMMAND_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/base/pattern.h"
#include "src/shell/line/words.h"
#include "src/shell/session/session.h"

/*
 * The functions of the profile that a word names: the one with that name, or
 * those with that short name (resolve_short.h), or else, if it was not between
 * bars, all that match it as a pattern, in byte order.  Returns at least one,
 * in the arena; NULL with *error naming similar ones.
 */
uint32_t *resolve_functions(const struct session *session,
                            const struct word *word, struct arena *arena,
                            size_t *n, struct error *error);

/*
 * The only function that a word names.  NO_NAME with *error set: there is none,
 * or there are several, the largest of which it names.
 */
uint32_t resolve_function(const struct session *session,
                          const struct word *word, struct error *error);

/* Whether text is the name of a function, or short for one or several. */
bool resolve_is_function(const struct session *session, const char *text,
                         size_t length);

/* Sets *error: the profile has no such function; names similar ones. */
void resolve_report_unknown(const struct session *session, const char *text,
                            size_t length, struct error *error);

/* Whether a function of the profile matches. */
bool resolve_matches(const struct session *session,
                     const struct pattern *pattern);

/*
 * Sets *error: none does.  text: the pattern as typed; similar names follow if
 * it is a name.
 */
void resolve_report_no_match(const struct session *session,
                             const struct pattern *pattern, const char *text,
                             struct error *error);

/*
 * A pattern for the word: exactly that name if it was between bars or the
 * profile has it, the names for which it is short, or else a glob or a regular
 * expression.  Free it with pattern_free.  NULL with *error set.
 */
struct pattern *resolve_pattern(const struct session *session,
                                const struct word *word, struct error *error);

/*
 * The resource with that name, or the only one that begins so, in upper or
 * lower case.  UINT32_MAX with *error set, which lists the resources.
 */
uint32_t resolve_resource(const struct session *session, const char *text,
                          struct error *error);

#endif
