/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advice.h -- what dominates a profile, what a change would save, and what to
 * change.
 */
#ifndef CPPROF_VIEWS_ADVICE_ADVICE_H
#define CPPROF_VIEWS_ADVICE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/views/hits/hits.h"
#include "src/views/view.h"

/* ---- explain.c ---- */

/* What dominates a profile, and what to look at next. */

/* Borrowed. */
struct explain_request {
	const uint64_t *module_hits;	/* [names] the set's hits by the name of
					 * the module; NULL: not known */
	const struct group_hits *module_groups;	/* what the request's groups
					 * have of the module with most hits;
					 * NULL: not known */
	const struct view_request *compared;	/* of the runs of the base and
						 * the loaded ones; NULL: there
						 * is no base, */
	const char *not_compared;	/* or this says why they cannot be
					 * compared; NULL: they can */
	size_t n_words;		/* findings and leads may have so many; 0: any
				 * number */
	size_t n_lines;		/* of a terminal, to be filled; 0: of no
				 * terminal, at most those of a small one */
	bool is_beginning;	/* of the heading, only table->n_first_lines are
				 * shown */
};

enum {
	TOPICS_MAX = 2,
	LEADS_MAX = 6 + 2 * TOPICS_MAX,
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
	LEAD_COMMAND,		/* `command` */
};

struct lead {
	enum lead_kind kind;
	uint32_t from;		/* a name; LEAD_CALL, LEAD_PATH */
	uint32_t function;	/* a name; NO_NAME for LEAD_TOP */
	const char *command;	/* LEAD_COMMAND; lives as long as the table */
};

/* The most useful first. */
struct leads {
	struct lead leads[LEADS_MAX];
	size_t n;
	size_t words_left;	/* of n_words */
};

/*
 * What dominates, see explain.c.  If there is a base, the heading begins with
 * what changed since.  Fills an empty table as view.h says.  Rows
 * belong to findings: the columns finding (its number), kind, text (its
 * sentence), activations, hits, fraction, error, which is the fraction's
 * standard error, and path.  *leads: what to look at next; NULL: not wanted.
 * Without hits there is nothing to explain, which is an error.
 */
int view_explain(const struct view_request *request,
                 const struct explain_request *wanted, struct leads *leads,
                 struct table *table, struct error *error);

/* ---- topics.c ---- */

/* What explain says of some resources only; see topics.c for the rules. */
struct topic {
	const char *kind;		/* "serial" */
	const char *text;		/* its sentence; NULL: nothing is found */
	uint32_t function;		/* the name that it is about, */
	uint64_t hits;			/* and the hits that are told of it: of
					 * its stacks, */
	bool has_deviation;		/* or if so, others, which are */
	double deviation;		/* a share of the denominator that has
					 * this standard error */
	const char *commands[2];	/* what to type next; NULL: no more */
};

/*
 * Finds what there is to say of the request's resource, in *n of
 * topics[TOPICS_MAX].  The denominator is that of percentages.  Texts live as
 * long as the table.
 */
int topics_find(const struct view_request *request, uint64_t denominator,
                struct topic *topics, size_t *n, struct table *table,
                struct error *error);

/* ---- counted.c ---- */

/* Which stacks a row of explain counts, and in which groups. */

enum counted {
	COUNTED_PATH,		/* with the path of the row */
	COUNTED_OWN,		/* that end in the path */
	COUNTED_BODY,		/* that end in its only function */
	COUNTED_STARTS,		/* that begin in that, without the root */
	COUNTED_CUT,		/* whose outer frames are unknown */
	COUNTED_MODULE,		/* that end in a module */
};

/* Whether readers put the name in place of outer frames that they lack. */
bool counted_is_cut_mark(const struct names *names, uint32_t name);

/*
 * The hits of the stacks through `top`, a node without a parent, on which the
 * root is not.  *node: the first node of the root; afterwards the first behind
 * top's subtree.
 */
uint64_t counted_without_root(const struct sample_set *set, uint32_t root,
                              uint32_t top, uint32_t *node);

/*
 * What the groups have of a row, COUNTED_MODULE excepted.  O(nodes);
 * COUNTED_STARTS for each group.
 */
int counted_in_groups(const struct group_noise *noise, enum counted counted,
                      const uint32_t *path, size_t n, uint32_t root,
                      struct group_hits *hits, struct error *error);

/* ---- saving.c ---- */

/*
 * What a run would gain without some of its hits.
 *
 * That depends on what hits are.  CPU time, bytes and counts add up: what is not
 * used is saved, whatever thread it was.  Real time is the time of the run only
 * if one thread was sampled.  The times of several threads overlap, and a thread
 * that waits for another one gains nothing from a cheaper wait; there is then no
 * saving to be told.
 */

enum saving_kind {
	SAVING_TIME,	/* the run is shorter */
	SAVING_USE,	/* less of the resource is used */
	SAVING_NONE,	/* not known: the times of several threads */
};

struct saving {
	enum saving_kind kind;
	const char *who;	/* "the run", "the 5 threads" */
	bool are_several;	/* it is not "the run" */
	const char *of;		/* " of CPU time", or "" */
	const char *unless;	/* what must be so, ", if it has one thread";
				 * or "" */
};

/*
 * What is true for the set, which is the request's own.  Its texts live as long
 * as the table.  O(nodes).
 */
int saving_of(const struct sample_set *set, struct saving *saving,
              struct table *table, struct error *error);

/*
 * Adds a header line: "IF_WHAT, the run would take 38.4 s instead of 122.8 s",
 * with `probably` if it is_estimated; all amounts in gticks.  Nothing is added
 * where no saving is known.
 */
int saving_add_line(const struct saving *saving, const struct sample_set *set,
                    const char *if_what, bool is_estimated, uint64_t after,
                    uint64_t before, struct table *table,
                    struct error *error);

/*
 * Adds a header line that says why there is no saving, if there is none: hits
 * have that part of the time of all threads.
 */
int saving_add_lack(const struct saving *saving, const struct sample_set *set,
                    uint64_t hits, struct table *table, struct error *error);

/* ---- clones.c ---- */

/*
 * The copies of functions that make call paths optimisable.
 *
 * To optimise (x1 .. xk) alone, each of x2 .. xk is copied, and x1 calls the
 * copy of x2, that the copy of x3, and so on.  Under recursion, functions that
 * are called by a copy and may call back into the path are copied as well
 * (detours), so that a call back reaches the copy again.  Source: Hall &
 * Goldberg 1993, section 4.1.
 */

#define NO_VERSION UINT32_MAX

/* A call that is changed: of `callee`, to that version of it. */
struct clone_call {
	uint32_t callee;	/* a name */
	uint32_t version;
	uint64_t hits;		/* of the saved stacks with this call: what is
				 * lost if it is not changed */
};

/* A version of a function: the original, or a copy. */
struct clone_version {
	uint32_t function;	/* a name */
	bool is_original;	/* a first function of a path */
	bool is_optimised;	/* the copy of a last function */
	bool is_detour;		/* it is on no path */
	uint32_t first_call, n_calls;
	uint64_t hits;		/* of the saved stacks that have it */
};

struct clones {
	struct clone_version *versions;
	struct clone_call *calls;
	uint32_t n_versions, n_calls;
	size_t versions_capacity, calls_capacity;
	uint32_t n_plans;
	uint32_t *levels;	/* [n_versions][n_plans], how many names of a
				 * path lead to the version; see clones.c */
	size_t levels_capacity;
	uint64_t hits;		/* of the stacks that have any of the paths */
};

/* A canonical call path. */
struct clone_plan {
	const uint32_t *path;	/* [n >= 1] names */
	size_t n;
};

/*
 * The copies for all plans together, by the calls that the set's stacks have;
 * for one plan the fewest that do.  They are at most MOST_VERSIONS.  A path of
 * one function needs none.  Below the copy of a last function nothing is
 * copied: all that it calls counts as saved.
 *
 * 0, or -1 with *error set, also when interrupted; call clones_free in either
 * case.  O(nodes + levels x calls), levels being the lengths of the paths.
 */
enum { MOST_VERSIONS = 1 << 20 };

int clones_make(struct clones *clones, const struct sample_set *set,
                const struct clone_plan *plans, uint32_t n_plans,
                struct error *error);
void clones_free(struct clones *clones);

/* The level of a version for a plan, from 1; the path's length: optimised. */
static inline uint32_t
clones_level(const struct clones *clones, uint32_t version, uint32_t plan)
{
	return clones->levels[(size_t)version * clones->n_plans + plan];
}

/* ---- specialise.c ---- */

/* What to change to make call paths optimisable. */

/* The paths, and what to show of them.  Borrowed. */
struct specialise_request {
	const uint32_t *path;		/* their names, one path after the
					 * other, each outermost first */
	const size_t *path_ends;	/* [n_paths] where each ends in path */
	size_t n_paths;			/* at least 1 */
	double times;			/* how many times cheaper a saving is
					 * shown for; more than 1 */
};

/*
 * The copies of functions that make paths optimisable, and what is saved.  Rows
 * are changes of the program: the columns hits (of the saved stacks that need
 * the change), fraction, kind ("optimise", "copy" or "call"; "covered" for a
 * path that other ones save), plan (the path's number) and its hits alone, both
 * of "optimise" and "covered"; in (the version of a function that a call is
 * in), function, becomes (the copy's name; none: the function itself), detour,
 * given (the path asked for) and path (the shortest context, or the call).  An
 * error without stacks, for a path that is not canonical and for one without
 * hits.
 */
int view_specialise(const struct view_request *request,
                    const struct specialise_request *wanted,
                    struct table *table, struct error *error);

#endif
