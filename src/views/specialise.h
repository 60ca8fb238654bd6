/* SPDX-License-Identifier: GPL-3.0-or-later */
/* specialise.h -- what a copy of a function for some of its callers would
 * save.
 */
#ifndef CPPROF_VIEWS_SPECIALISE_H
#define CPPROF_VIEWS_SPECIALISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/views/view.h"

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
