/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explain.h -- what explain would look at next, as facts. */
#ifndef CPPROF_VIEWS_EXPLAIN_H
#define CPPROF_VIEWS_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

enum {
	LEADS_MAX = 5,
	LEADS_SHOWN = 3,	/* explain leaves so many lines of the screen
				 * for them */
};

enum lead_kind {
	LEAD_DOWN,		/* what a function spends its use on */
	LEAD_CALL,		/* the stacks in which `from` calls it */
	LEAD_PATH,		/* likewise, with functions between them */
	LEAD_UP,		/* who calls it */
	LEAD_LINES,		/* its lines */
	LEAD_TOP,		/* other functions */
};

struct lead {
	enum lead_kind kind;
	uint32_t from;		/* a name; LEAD_CALL, LEAD_PATH */
	uint32_t function;	/* a name; NO_NAME for LEAD_TOP */
};

/* The most useful first. */
struct leads {
	struct lead leads[LEADS_MAX];
	size_t n;
	size_t words_left;	/* of the request's n_words */
};

#endif
