/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clones.h -- the copies of functions that make call paths optimisable.
 *
 * To optimise (x1 .. xk) alone, each of x2 .. xk is copied, and x1 calls the
 * copy of x2, that the copy of x3, and so on.  Under recursion, functions that
 * are called by a copy and may call back into the path are copied as well
 * (detours), so that a call back reaches the copy again.  Source: Hall &
 * Goldberg 1993, section 4.1.
 */
#ifndef CPPROF_VIEWS_CLONES_H
#define CPPROF_VIEWS_CLONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/views/view.h"

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

#endif
