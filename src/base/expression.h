/* SPDX-License-Identifier: GPL-3.0-or-later */
/* expression.h -- regular expressions of users, on names of any origin.
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
#ifndef CPPROF_BASE_EXPRESSION_H
#define CPPROF_BASE_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"

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

#endif
