/* SPDX-License-Identifier: GPL-3.0-or-later */
/* explain.h -- what dominates a profile, and what to look at next. */
#ifndef CPPROF_VIEWS_EXPLAIN_H
#define CPPROF_VIEWS_EXPLAIN_H

#include "src/views/group_noise.h"
#include "src/views/view.h"

/* Borrowed. */
struct explain_request {
	const uint64_t *module_hits;	/* [names] the set's hits by the name of
					 * the module; NULL: not known */
	const struct group_hits *module_groups;	/* what the request's groups
					 * have of the module with most hits;
					 * NULL: not known */
	size_t n_words;		/* findings and leads may have so many; 0: any
				 * number */
};

/* ---- what to look at next ---- */

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
	LEAD_INSTRUCTIONS,	/* its instructions */
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
	size_t words_left;	/* of n_words */
};

/*
 * What dominates, see explain.c.  Fills an empty table as view.h says.  Rows
 * belong to findings: the columns finding (its number), kind, text (its
 * sentence), activations, hits, fraction, error, which is the fraction's
 * standard error, and path.  *leads: what to look at next; NULL: not wanted.
 * Without hits there is nothing to explain, which is an error.
 */
int view_explain(const struct view_request *request,
                 const struct explain_request *wanted, struct leads *leads,
                 struct table *table, struct error *error);

#endif
