/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve_short.h -- the functions that a short name stands for. */
#ifndef CPPROF_SHELL_COMMAND_RESOLVE_SHORT_H
#define CPPROF_SHELL_COMMAND_RESOLVE_SHORT_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/shell/line/completion.h"
#include "src/shell/session/session.h"

/* Functions among which a name is sought, in byte order.  Borrowed. */
struct function_set {
	const struct names *names;
	const uint32_t *functions;	/* [n] */
	const uint64_t *hits;		/* by the numbers of names; NULL: not
					 * known */
	uint32_t n;
};

/*
 * Hits of the stacks that contain a function, by the numbers of names; free
 * with free().  NULL: no profile, or no memory.
 */
uint64_t *resolve_function_hits(const struct session *session);

/*
 * The function for which text[length] is short (src/base/short_name.h): with
 * all its scopes or, if there is no such function, without outer ones.
 * NO_NAME: there is none, or with *error set which lists them if there are
 * several.
 */
uint32_t resolve_short_name_among(struct function_set among, const char *text,
                                  size_t length, struct error *error);

/* The same among those that views show. */
uint32_t resolve_short_name(const struct session *session, const char *text,
                            size_t length, struct error *error);

/*
 * All *n functions for which text[length] is short, in byte order; free them
 * with free().  *lacks_scopes: without outer scopes, since there are none with
 * all.  NULL: there is none, or *error is set.
 */
uint32_t *resolve_short_names(const struct session *session, const char *text,
                              size_t length, size_t *n, bool *lacks_scopes,
                              struct error *error);

/*
 * Offers functions, those with most hits first: if they are to be short, by the
 * short names that a view of them all would show, or by whole names that go on
 * as typed where these do not.
 */
void resolve_offer_functions_of(struct function_set functions, bool are_short,
                                struct completion *completion);

/* The same for all those that views show. */
void resolve_offer_functions(const struct session *session, bool are_short,
                             struct completion *completion);

#endif
