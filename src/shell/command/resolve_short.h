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
	uint32_t n;
};

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
 * Offers the short names of functions, as if a view showed them all, and the
 * whole names that go on as typed where the short ones do not.
 */
void resolve_offer_short_names_of(struct function_set functions,
                                  struct completion *completion);

/* The same for all those that views show. */
void resolve_offer_short_names(const struct session *session,
                               struct completion *completion);

#endif
