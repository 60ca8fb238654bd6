/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clones.c -- the copies of functions that make call paths optimisable.
 *
 * A running activation is, for a path (x1 .. xk), at a level: 1 for originals,
 * i for what the copy of xi called, i <= k.  At level i, a function named xi is
 * the copy of xi, on the path; any other is on a detour.  A call
 *
 *	from xi on the path to x(i+1)	goes to level i + 1,
 *	to x1 .. xi			goes to the level of that name,
 *	to any other function		stays at the level, on a detour.
 *
 * This is the automaton of path_hits.c.  A detour under xi does the same as one
 * under xj, j < i, if it cannot come to any of x(j+1) .. xi without passing
 * x1 .. xj.  So a detour's level is lowered to the greatest m <= i for which it
 * can come to xm without passing x1 .. x(m-1), or to 1: the original.  Two
 * levels that are left differ, since each xm leads on to xk: no two copies do
 * the same.
 *
 * Of several paths, an activation has a level for each.  A copy of an xk ends
 * what is distinguished: all below it is saved.
 */
#include "src/views/advice/advice.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/index.h"
#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/large_array.h"

enum { NODES_A_STEP = 1 << 18 };

#define NO_CLONE_CALL UINT32_MAX

/* The different calls in the stacks, and what each caller calls. */
struct calls {
	uint32_t (*pairs)[2];		/* [n] caller, callee */
	uint32_t n;
	size_t capacity;
	struct index index;		/* of pairs */
	uint32_t *first_callee, *callees;	/* [names + 1], [n], by number */
	uint32_t *first_caller, *callers;
};

/* What is known of a plan while versions are made. */
struct levels {
	const uint32_t *path;
	uint32_t n;
	uint32_t *position;	/* [names] of path[0 .. n-2], from 1; else 0 */
	/* The levels that a function's detours may have, ascending. */
	uint32_t *first, *levels;	/* [names + 1], of levels */
};

struct clones_making {
	struct clones *clones;
	const struct sample_set *set;
	uint32_t n_names, n_plans;
	struct calls calls;
	struct levels *plans;	/* [n_plans] */
	struct index index;	/* of versions, by function and levels */
	uint32_t *original_of;	/* [names] the version that is the original, or
				 * NO_VERSION: no call in it changes */
	bool *is_whole;		/* [names] the path of one function */
	uint32_t *next;		/* [n_plans] levels of a callee */
};

/* ---- the calls in the stacks ---- */

static bool
is_pair(const void *things, uint32_t number, const void *key)
{
	const uint32_t (*pairs)[2] = things;

	return memcmp(pairs[number], key, sizeof *pairs) == 0;
}

static int
clones_add_call(struct calls *calls, const uint32_t pair[2],
                struct error *error)
{
	uint32_t hash = index_hash((uint64_t)pair[0] << 32 | pair[1]);
	struct index_slot *slot = index_seek(&calls->index, hash, is_pair,
	                                     calls->pairs, pair, error);

	if (slot == NULL)
		return -1;
	if (slot->number != 0)
		return 0;
	if (memory_grow(&calls->pairs, &calls->capacity, (size_t)calls->n + 1,
	                sizeof *calls->pairs, error) != 0)
		return -1;
	memcpy(calls->pairs[calls->n], pair, sizeof *calls->pairs);
	index_fill(&calls->index, slot, hash, calls->n++);
	return 0;
}

/*
 * Groups numbers[n] by the keys, below n_keys, of their places; of equal keys
 * they keep their order.  first[n_keys + 1] and grouped[n] are the caller's,
 * first zeroed.
 */
static void
group_by_key(const uint32_t *keys, const uint32_t *numbers, size_t stride,
             uint32_t n, uint32_t n_keys, uint32_t *first, uint32_t *grouped)
{
	for (uint32_t i = 0; i < n; i++)
		first[keys[i * stride] + 1]++;
	for (uint32_t key = 0; key < n_keys; key++)
		first[key + 1] += first[key];
	for (uint32_t i = n; i-- > 0;)
		grouped[--first[keys[i * stride] + 1]] = numbers[i * stride];
	/* Each entry was counted down to where its own group begins. */
	for (uint32_t key = 0; key < n_keys; key++)
		first[key] = first[key + 1];
	first[n_keys] = n;
}

static int
compare_pairs(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;
	int i = left[0] == right[0];

	return (left[i] > right[i]) - (left[i] < right[i]);
}

/* Makes first and grouped from pairs, whose key is the i-th. */
static int
group_calls(const struct clones_making *making, int i, uint32_t **first,
            uint32_t **grouped, struct error *error)
{
	const struct calls *calls = &making->calls;
	const uint32_t *pairs = calls->n > 0 ? calls->pairs[0] : NULL;

	*first = memory_array((size_t)making->n_names + 1, sizeof **first,
	                      error);
	*grouped = memory_array(calls->n, sizeof **grouped, error);
	if (*first == NULL || *grouped == NULL)
		return -1;
	if (calls->n > 0)
		group_by_key(pairs + i, pairs + !i, 2, calls->n,
		             making->n_names, *first, *grouped);
	return 0;
}

static int
clones_find_calls(struct clones_making *making, struct error *error)
{
	const struct sample_tree *tree = making->set->tree;
	struct calls *calls = &making->calls;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		if (node % NODES_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (sample_tree_parent(tree, node) != NO_NODE &&
		    clones_add_call(calls, (uint32_t[]){
		        tree->label[sample_tree_parent(tree, node)],
		        tree->label[node] },
		        error) != 0)
			return -1;
	}
	if (calls->n > 0)
		qsort(calls->pairs, calls->n, sizeof *calls->pairs,
		      compare_pairs);
	return group_calls(making, 0, &calls->first_callee, &calls->callees,
	                   error) != 0 ||
	    group_calls(making, 1, &calls->first_caller, &calls->callers,
	                error) != 0 ? -1 : 0;
}

/* ---- the levels of detours ---- */

/* Functions and levels, in the order of levels. */
struct detours {
	uint32_t *functions, *levels;	/* [n] */
	size_t functions_capacity, levels_capacity;
	uint32_t n;
	uint32_t *seen;		/* [names] the last level found for it */
};

static int
add_detour(struct detours *detours, uint32_t function, uint32_t level,
           struct error *error)
{
	size_t n = (size_t)detours->n + 1;

	if (n > UINT32_MAX - 1)
		return error_out_of_memory(error);
	if (memory_grow(&detours->functions, &detours->functions_capacity, n,
	                sizeof *detours->functions, error) != 0 ||
	    memory_grow(&detours->levels, &detours->levels_capacity, n,
	                sizeof *detours->levels, error) != 0)
		return -1;
	detours->functions[detours->n] = function;
	detours->levels[detours->n++] = level;
	detours->seen[function] = level;
	return 0;
}

/* The functions that can come to path[m - 1] without passing those before. */
static int
find_level(const struct clones_making *making, const struct levels *plan,
           uint32_t m, struct detours *detours, struct error *error)
{
	const struct calls *calls = &making->calls;
	uint32_t function = plan->path[m - 1], done = detours->n;

	if (progress_step(NULL, 0, 0, error) != 0)
		return -1;
	for (;;) {
		for (uint32_t i = calls->first_caller[function];
		     i < calls->first_caller[function + 1]; i++) {
			uint32_t caller = calls->callers[i];
			uint32_t position = plan->position[caller];

			if ((position == 0 || position > m) &&
			    detours->seen[caller] != m &&
			    add_detour(detours, caller, m, error) != 0)
				return -1;
		}
		if (done == detours->n)
			return 0;
		function = detours->functions[done++];
	}
}

static int
find_levels(struct clones_making *making, struct levels *plan,
            struct error *error)
{
	struct detours detours = { .seen = memory_array(making->n_names,
	    sizeof *detours.seen, error) };
	int status = detours.seen == NULL ? -1 : 0;

	for (uint32_t m = 2; status == 0 && m < plan->n; m++)
		status = find_level(making, plan, m, &detours, error);
	if (status == 0) {
		plan->first = memory_array((size_t)making->n_names + 1,
		                           sizeof *plan->first, error);
		plan->levels = memory_array(detours.n, sizeof *plan->levels,
		                            error);
		status = plan->first == NULL || plan->levels == NULL ? -1 : 0;
	}
	if (status == 0 && detours.n > 0)
		group_by_key(detours.functions, detours.levels, 1, detours.n,
		             making->n_names, plan->first, plan->levels);
	free(detours.functions);
	free(detours.levels);
	free(detours.seen);
	return status;
}

/* The level of a function on a detour from that level. */
static uint32_t
lowered(const struct levels *plan, uint32_t function, uint32_t level)
{
	uint32_t i = plan->first[function + 1];

	while (i > plan->first[function])
		if (plan->levels[--i] <= level)
			return plan->levels[i];
	return 1;
}

static int
prepare_plan(struct clones_making *making, const struct clone_plan *from,
             struct levels *plan, struct error *error)
{
	plan->path = from->path;
	plan->n = (uint32_t)from->n;
	plan->position = memory_array(making->n_names,
	                              sizeof *plan->position, error);
	if (plan->position == NULL)
		return -1;
	for (uint32_t i = 0; i + 1 < plan->n; i++)
		plan->position[plan->path[i]] = i + 1;
	if (plan->n == 1)
		making->is_whole[plan->path[0]] = true;
	return find_levels(making, plan, error);
}

/* ---- versions ---- */

static const uint32_t *
levels_of(const struct clones *clones, uint32_t version)
{
	return clones->levels + (size_t)version * clones->n_plans;
}

/* One call by a version that is not optimised, for one plan. */
static uint32_t
next_level(const struct levels *plan, uint32_t caller, uint32_t level,
           uint32_t callee)
{
	uint32_t position = plan->position[callee];

	if (plan->n == 1)
		return 1;
	if (plan->path[level - 1] == caller && plan->path[level] == callee)
		return level + 1;
	if (position != 0 && position <= level)
		return position;
	return lowered(plan, callee, level);
}

/* Sets making->next; whether it is another version than the original. */
static bool
find_next(const struct clones_making *making, uint32_t version, uint32_t callee)
{
	const struct clones *clones = making->clones;
	const uint32_t *levels = levels_of(clones, version);
	uint32_t caller = clones->versions[version].function;
	bool is_copy = false, is_optimised = false;

	if (making->is_whole[callee])
		return false;
	for (uint32_t i = 0; i < making->n_plans; i++) {
		making->next[i] = next_level(&making->plans[i], caller,
		                             levels[i], callee);
		is_copy |= making->next[i] > 1;
		is_optimised |= making->next[i] > 1 &&
		    making->next[i] == making->plans[i].n;
	}
	for (uint32_t i = 0; is_optimised && i < making->n_plans; i++)
		if (making->next[i] != making->plans[i].n)
			making->next[i] = 1;
	return is_copy;
}

struct version_key {
	const struct clones *clones;
	uint32_t function;
	const uint32_t *levels;
};

static bool
is_version(const void *things, uint32_t number, const void *wanted)
{
	const struct clones *clones = things;
	const struct version_key *key = wanted;

	return clones->versions[number].function == key->function &&
	    memcmp(levels_of(clones, number), key->levels,
	           clones->n_plans * sizeof *key->levels) == 0;
}

static uint32_t
hash_version(const struct version_key *key, uint32_t n_plans)
{
	uint64_t hash = key->function;

	for (uint32_t i = 0; i < n_plans; i++)
		hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9) +
		    key->levels[i];
	return index_hash(hash);
}

static void
describe_version(const struct clones_making *making,
                 struct clone_version *version, const uint32_t *levels)
{
	bool is_on_path = false;

	version->is_original = true;
	for (uint32_t i = 0; i < making->n_plans; i++) {
		const struct levels *plan = &making->plans[i];

		if (levels[i] == 1)
			continue;
		version->is_original = false;
		is_on_path |= plan->path[levels[i] - 1] == version->function;
		version->is_optimised |= levels[i] == plan->n;
	}
	version->is_detour = !version->is_original && !is_on_path;
}

/* The version at making->next, made if it is new; NO_VERSION, *error set. */
static uint32_t
enter_version(struct clones_making *making, uint32_t function,
              struct error *error)
{
	struct clones *clones = making->clones;
	struct version_key key = { clones, function, making->next };
	uint32_t hash = hash_version(&key, making->n_plans);
	uint32_t n = clones->n_versions;
	struct index_slot *slot = index_seek(&making->index, hash, is_version,
	                                     clones, &key, error);

	if (slot == NULL)
		return NO_VERSION;
	if (slot->number != 0)
		return slot->number - 1;
	if (n == MOST_VERSIONS) {
		error_set(error, "more than %d functions would have to be "
		          "copied; specialise shorter paths, or fewer at a "
		          "time", MOST_VERSIONS);
		return NO_VERSION;
	}
	if (memory_grow(&clones->versions, &clones->versions_capacity,
	                (size_t)n + 1, sizeof *clones->versions,
	                error) != 0 ||
	    memory_grow(&clones->levels, &clones->levels_capacity,
	                ((size_t)n + 1) * making->n_plans,
	                sizeof *clones->levels, error) != 0)
		return NO_VERSION;
	memcpy(clones->levels + (size_t)n * making->n_plans, making->next,
	       making->n_plans * sizeof *making->next);
	clones->versions[n] = (struct clone_version){ .function = function };
	describe_version(making, &clones->versions[n], making->next);
	index_fill(&making->index, slot, hash, n);
	clones->n_versions++;
	return n;
}

/* Adds the calls of a version that go to copies, and these. */
static int
clones_add_calls(struct clones_making *making, uint32_t number,
                 struct error *error)
{
	struct clones *clones = making->clones;
	uint32_t function = clones->versions[number].function;
	const struct calls *calls = &making->calls;

	clones->versions[number].first_call = clones->n_calls;
	if (clones->versions[number].is_optimised)
		return 0;
	for (uint32_t i = calls->first_callee[function];
	     i < calls->first_callee[function + 1]; i++) {
		uint32_t callee = calls->callees[i], version;

		if (!find_next(making, number, callee))
			continue;
		version = enter_version(making, callee, error);
		if (version == NO_VERSION ||
		    memory_grow(&clones->calls, &clones->calls_capacity,
		                (size_t)clones->n_calls + 1,
		                sizeof *clones->calls, error) != 0)
			return -1;
		clones->calls[clones->n_calls++] = (struct clone_call){
			.callee = callee, .version = version };
		clones->versions[number].n_calls++;
	}
	return 0;
}

static int
find_versions(struct clones_making *making, struct error *error)
{
	struct clones *clones = making->clones;

	for (uint32_t i = 0; i < making->n_plans; i++) {
		uint32_t function = making->plans[i].path[0];

		if (making->plans[i].n == 1 || making->is_whole[function])
			continue;
		for (uint32_t j = 0; j < making->n_plans; j++)
			making->next[j] = 1;
		making->original_of[function] = enter_version(making, function,
		                                              error);
		if (making->original_of[function] == NO_VERSION)
			return -1;
	}
	for (uint32_t i = 0; i < clones->n_versions; i++)
		if ((i % NODES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0) ||
		    clones_add_calls(making, i, error) != 0)
			return -1;
	return 0;
}

/* ---- what the stacks do in the changed program ---- */

/* Nodes in the changed program; numbers + 1, 0: none. */
struct clones_run {
	uint32_t *version;	/* [n_nodes] */
	uint32_t *call;		/* [n_nodes] the changed call that made it */
	uint64_t *saved;	/* [n_nodes] hits of the optimised copies at or
				 * below it */
};

static uint32_t
find_call(const struct clones *clones, uint32_t version, uint32_t callee)
{
	const uint32_t first = clones->versions[version].first_call;
	const uint32_t n = clones->versions[version].n_calls;
	uint32_t at = (uint32_t)partition_point(n, i,
	    clones->calls[first + i].callee < callee);

	return at < n && clones->calls[first + at].callee == callee ?
	    first + at : NO_CLONE_CALL;
}

/* Walks the stacks down to the optimised copies. */
static int
run_stacks(const struct clones_making *making, struct clones_run *run,
           struct error *error)
{
	struct clones *clones = making->clones;
	const struct sample_tree *tree = making->set->tree;
	uint32_t node = 0;

	for (uint32_t steps = 0; node < tree->n_nodes; steps++) {
		uint32_t parent = sample_tree_parent(tree, node), label =
		    tree->label[node];
		uint32_t call = NO_CLONE_CALL, version;

		if (steps % NODES_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (parent != NO_NODE && run->version[parent] != 0)
			call = find_call(clones, run->version[parent] - 1,
			                 label);
		version = call != NO_CLONE_CALL ? clones->calls[call].version :
		    making->original_of[label];
		run->call[node] = call + 1;
		run->version[node] = version + 1;
		if (version == NO_VERSION ? making->is_whole[label] :
		    clones->versions[version].is_optimised) {
			run->saved[node] = sample_set_weight(making->set, node);
			clones->hits += run->saved[node];
			node = sample_tree_end(tree, node);
		} else {
			node++;
		}
	}
	return 0;
}

/* Each saved stack counts once for a call or a version that it has. */
static int
count_saved(const struct clones_making *making, struct clones_run *run,
            struct error *error)
{
	struct clones *clones = making->clones;
	const struct sample_tree *tree = making->set->tree;
	uint32_t *until = memory_array((size_t)clones->n_versions +
	                               clones->n_calls, sizeof *until, error);

	if (until == NULL)
		return -1;
	for (uint32_t node = tree->n_nodes; node-- > 0;)
		if (sample_tree_parent(tree, node) != NO_NODE)
			run->saved[sample_tree_parent(tree, node)] +=
			    run->saved[node];
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		uint32_t version = run->version[node], call = run->call[node];

		if (version != 0 && node >= until[version - 1]) {
			until[version - 1] = sample_tree_end(tree, node);
			clones->versions[version - 1].hits += run->saved[node];
		}
		if (call != 0 &&
		    node >= until[clones->n_versions + call - 1]) {
			until[clones->n_versions + call - 1] =
			    sample_tree_end(tree, node);
			clones->calls[call - 1].hits += run->saved[node];
		}
	}
	free(until);
	return 0;
}

static int
clones_count_hits(const struct clones_making *making, struct error *error)
{
	uint32_t n = making->set->tree->n_nodes;
	struct clones_run run = { 0 };
	int status = -1;

	if (large_array_zeroed(&run.version, n, sizeof *run.version,
	                       error) == 0 &&
	    large_array_zeroed(&run.call, n, sizeof *run.call, error) == 0 &&
	    large_array_zeroed(&run.saved, n, sizeof *run.saved,
	                       error) == 0 &&
	    run_stacks(making, &run, error) == 0)
		status = count_saved(making, &run, error);
	large_array_free(run.version);
	large_array_free(run.call);
	large_array_free(run.saved);
	return status;
}

/* ---- all together ---- */

static int
clones_build(struct clones_making *making, const struct clone_plan *plans,
             struct error *error)
{
	making->plans = memory_array(making->n_plans, sizeof *making->plans,
	                             error);
	making->next = memory_array(making->n_plans, sizeof *making->next,
	                            error);
	making->is_whole = memory_array(making->n_names,
	                                sizeof *making->is_whole, error);
	making->original_of = memory_array(making->n_names,
	                                   sizeof *making->original_of, error);
	if (making->plans == NULL || making->next == NULL ||
	    making->is_whole == NULL || making->original_of == NULL ||
	    clones_find_calls(making, error) != 0)
		return -1;
	for (uint32_t name = 0; name < making->n_names; name++)
		making->original_of[name] = NO_VERSION;
	for (uint32_t i = 0; i < making->n_plans; i++)
		if (prepare_plan(making, &plans[i], &making->plans[i],
		                 error) != 0)
			return -1;
	return find_versions(making, error) != 0 ||
	    clones_count_hits(making, error) != 0 ? -1 : 0;
}

int
clones_make(struct clones *clones, const struct sample_set *set,
            const struct clone_plan *plans, uint32_t n_plans,
            struct error *error)
{
	struct clones_making making = {
		.clones = clones,
		.set = set,
		.n_names = names_count(set->names),
		.n_plans = n_plans,
	};
	int status;

	*clones = (struct clones){ .n_plans = n_plans };
	status = clones_build(&making, plans, error);
	for (uint32_t i = 0; making.plans != NULL && i < n_plans; i++) {
		free(making.plans[i].position);
		free(making.plans[i].first);
		free(making.plans[i].levels);
	}
	free(making.plans);
	free(making.next);
	free(making.is_whole);
	free(making.original_of);
	index_free(&making.index);
	free(making.calls.pairs);
	index_free(&making.calls.index);
	free(making.calls.first_callee);
	free(making.calls.callees);
	free(making.calls.first_caller);
	free(making.calls.callers);
	return status;
}

void
clones_free(struct clones *clones)
{
	free(clones->versions);
	free(clones->calls);
	free(clones->levels);
	*clones = (struct clones){ 0 };
}
