/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pattern.h -- patterns of names: words, stars, and regular expressions. */
#ifndef CPPROF_BASE_PATTERN_H
#define CPPROF_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/short_name.h"

/* ---- expression.c ---- */

/*
 * Regular expressions of users, on names of any origin.
 *
 * The syntax is POSIX extended with the escapes of GNU (\w \< \b ...), found
 * anywhere in a name.  PCRE2 matches; what an expression can mean there beyond
 * POSIX, such as (?i) and \d, it means here too.  Two things differ from POSIX:
 * of alternatives the first one that fits is taken, not the longest, and a ?
 * or + after a repeat makes it lazy or possessive.  Neither changes which names
 * match, except the possessive repeat.
 *
 * Characters are those of UTF-8.  Bytes of a name that are not UTF-8 match
 * nothing, not even a dot; those around them match as usual.  An expression
 * that is not UTF-8 itself is one of bytes.
 *
 * An expression may need more time or memory for a name than any use is worth.
 * Both are bounded, and Ctrl-C ends a match.  Such a name counts as not
 * matched until expression_check reports the failure.
 */

struct expression;

/* A part of a name. */
struct capture {
	size_t begin, length;
};

/*
 * Of text[length], without slashes.  Freed with expression_free; NULL with
 * *error set, whose text is only the reason.
 */
struct expression *expression_new(const char *text, size_t length,
                                  struct error *error);
void expression_free(struct expression *expression);

/* The number of groups (...). */
size_t expression_n_groups(const struct expression *expression);

/* The name may hold NUL bytes.  Not for two threads at once. */
bool expression_matches(const struct expression *expression, const char *name,
                        size_t length);

/*
 * Likewise; also sets captures[n]: the whole match, then its groups, empty at
 * the begin of the name if they took no part.
 */
bool expression_captures(const struct expression *expression,
                         const char *name, size_t length,
                         struct capture *captures, size_t n);

/*
 * 0; -1 with *error set if a match since the last call was given up: the
 * reason, and the name.  Calls after a failure match nothing until then.
 */
int expression_check(const struct expression *expression,
                     struct error *error);

/* ---- pattern.c ---- */

/*
 * Which names a user means.
 *
 * An exact name is tried first; then `*` and `?`  are globs over the whole
 * name, and /.../ is a regular expression found anywhere in it (expression.c).
 * A pattern with neither matches only the exact name.
 */

struct pattern;

/* Freed with pattern_free; NULL with *error set for a bad expression. */
struct pattern *pattern_new(const char *text, struct error *error);

/* Matches only that name, whatever characters it has; likewise. */
struct pattern *pattern_new_exact(const char *text, struct error *error);

/*
 * Matches the names for which text stands in that way or a closer one
 * (typed_name_stands_for); likewise.
 */
struct pattern *pattern_new_typed(const char *text, enum name_reading reading,
                                  struct error *error);
void pattern_free(struct pattern *pattern);

/*
 * An expression can give up on a name, by its limits or by Ctrl-C.  0, or -1
 * with *error set if that happened since the last call; ask whenever matching
 * is done, since the name counted as not matched.  Globs never give up.
 */
int pattern_check(const struct pattern *pattern, struct error *error);

/* Whether it can match more than one name: it is not exact. */
bool pattern_is_general(const struct pattern *pattern);

bool pattern_matches(const struct pattern *pattern, const char *name,
                     size_t length);

/*
 * The same for the name of a function.  A return type before it is not a part
 * of it that a user thinks of, nor are its template arguments and parameters,
 * so a glob or an expression may also match what is left without one or both:
 * "*::put" and "/::put$/" match "int Box<int>::put<char>(char)".
 */
bool pattern_matches_function(const struct pattern *pattern, const char *name,
                              size_t length);

/*
 * The longest run of characters, *n bytes, that stand for themselves in a glob
 * or an expression: what near names can be looked for by.  The whole text of
 * other patterns.  Lives as long as the pattern.
 */
const char *pattern_literal(const struct pattern *pattern, size_t *n);

enum { N_CAPTURES = 10 };

/*
 * Whether a regular expression matches, and what it matched: the whole, then
 * its groups (...), empty if they took no part.  False for other patterns.  The
 * name is a function's.
 */
bool pattern_captures(const struct pattern *pattern, const char *name,
                      size_t length, struct capture captures[N_CAPTURES]);

/* The number of groups (...) of a regular expression; otherwise 0. */
size_t pattern_n_captures(const struct pattern *pattern);

#endif
