/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_accepts.c -- whether a profile can be added to a fleet.
 *
 * A fleet cannot take back what was added.  So that one bad input does not
 * spoil the sum of all others, what may be wrong is looked for before.
 */
#include "src/profile/fleet.h"

#include <string.h>

/* One resource of what is to be added. */
struct incoming {
	const struct resource *column;
	uint64_t hits, samples;		/* of all stacks */
};

static struct incoming
incoming_of(const struct profile *from, uint32_t r)
{
	const struct sample_tree *tree = from->tree;
	struct incoming incoming;

	if (from->fleet != NULL) {
		const struct fleet_resource *old = &from->fleet->resources[r];

		return (struct incoming){ &old->column, old->total_hits,
			old->total_samples };
	}
	incoming = (struct incoming){ .column = &from->resources[r],
		.hits = sample_tree_total(tree, tree->hits[r]) };
	incoming.samples = tree->samples[r] == NULL ? incoming.hits :
	    sample_tree_total(tree, tree->samples[r]);
	return incoming;
}

static bool
accepts_key(const struct fleet *fleet, const struct profile *from,
            const char *wanted, struct error *error)
{
	const char *key = fleet->key != NULL ? fleet->key : wanted;

	if (key != NULL && from->fleet != NULL && from->fleet->key != NULL &&
	    strcmp(key, from->fleet->key) != 0)
		error_set(error, "counts by %s cannot be added to counts by "
		          "%s", from->fleet->key, key);
	return !error->is_set;
}

static bool
accepts_resources(const struct fleet *fleet, const struct profile *from,
                  struct error *error)
{
	uint32_t n = from->fleet != NULL ? from->fleet->n_resources :
	             from->n_resources, n_all = fleet->n_resources;

	for (uint32_t r = 0; r < n && !error->is_set; r++) {
		const struct incoming incoming = incoming_of(from, r);
		const struct fleet_resource *to = fleet_find_resource(fleet,
		    incoming.column->name, incoming.column->gtick,
		    incoming.column->interval);

		if (to == NULL && n_all++ == RESOURCES_MAX)
			error_set(error, "more than %d resources, intervals "
			          "that differ counted apart", RESOURCES_MAX);
		if (to != NULL &&
		    (incoming.hits > UINT64_MAX - to->total_hits ||
		     incoming.samples > UINT64_MAX - to->total_samples))
			error_set(error, "the sum of %s exceeds 64 bits",
			          incoming.column->name);
	}
	return !error->is_set;
}

static bool
accepts_returns(const struct fleet *fleet, const struct profile *from,
                struct error *error)
{
	const uint64_t *returns = from->fleet != NULL ? from->fleet->returns :
	                          from->tree->returns;
	uint32_t n = from->fleet != NULL ? from->fleet->n_nodes :
	             from->tree->n_nodes;
	uint64_t all = fleet->total_returns;

	for (uint32_t i = 0; returns != NULL && i < n; i++)
		if (__builtin_add_overflow(all, returns[i], &all)) {
			error_set(error, "the sum of returns exceeds 64 bits");
			return false;
		}
	return true;
}

bool
fleet_accepts(const struct fleet *fleet, const struct profile *from,
              const struct fleet_identity *identity, struct error *error)
{
	if (from->tree == NULL) {
		error_set(error, "calls without stacks, which cannot be "
		          "merged into a file; cpprof adds them up where it "
		          "is given several");
		return false;
	}
	return accepts_key(fleet, from, identity->key, error) &&
	    accepts_resources(fleet, from, error) &&
	    accepts_returns(fleet, from, error);
}
