/* SPDX-License-Identifier: GPL-3.0-or-later */
/* amount.c -- hits of functions and paths, with the samples they came in. */
#include "src/views/hits/hits.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

uint64_t
sampled_most(const struct sample_set *sets, size_t n)
{
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++) {
		const struct resource *resource = sets[i].resource;

		if (resource->drawn_most == 0 ||
		    resource->interval != sets->resource->interval)
			return 0;
		if (resource->drawn_most > most)
			most = resource->drawn_most;
	}
	return most;
}

struct sampled
sampled_of(const struct resource *resource, uint64_t hits, uint64_t samples)
{
	return (struct sampled){ hits, samples, resource->drawn_most };
}

/*
 * A set whose hits are the samples of another one; where each hit is a sample,
 * that set itself.  Call sample_counts_free even if it fails.  O(nodes).
 */
struct sample_counts {
	struct sample_set set;
	uint64_t *sums;		/* NULL: each hit is a sample */
};

static int
sample_counts_make(struct sample_counts *counts,
                   const struct sample_set *set, struct error *error)
{
	const struct sample_tree *tree = set->tree;

	*counts = (struct sample_counts){ .set = *set };
	if (set->flow != NULL || tree->samples == NULL ||
	    tree->samples[set->resource_number] == NULL)
		return 0;
	counts->set.self = tree->samples[set->resource_number];
	counts->sums = sample_tree_new_sums(tree, counts->set.self, error);
	if (counts->sums == NULL)
		return -1;
	counts->set.sums = counts->sums;
	counts->set.total = set->n_samples;
	counts->set.left = sample_tree_total(tree, counts->set.self);
	return 0;
}

static void
sample_counts_free(struct sample_counts *counts)
{
	large_array_free(counts->sums);
}

/* Both totals come from one tree, so their functions have one order. */
static struct function_amount *
amount_join(const struct resource *resource, const struct function_total *hits,
            const struct function_total *samples, uint32_t n,
            struct error *error)
{
	struct function_amount *amounts = memory_array(n, sizeof *amounts,
	                                               error);

	for (uint32_t i = 0; amounts != NULL && i < n; i++)
		amounts[i] = (struct function_amount){
			.name = hits[i].name,
			.place = i,
			.body = { sampled_of(resource, hits[i].self,
			                     samples[i].self), true, false },
			.inclusive = { sampled_of(resource, hits[i].inclusive,
			                          samples[i].inclusive), true,
			               hits[i].is_estimated },
		};
	return amounts;
}

struct function_amount *
amounts_of_functions(const struct sample_set *set, uint32_t *n,
                     struct error *error)
{
	struct function_amount *amounts = NULL;
	struct function_total *hits = function_totals(set, n, error), *samples;
	struct sample_counts counts = { 0 };

	if (hits != NULL &&
	    sample_counts_make(&counts, set, error) == 0) {
		samples = counts.sums == NULL ? hits :
		    function_totals(&counts.set, n, error);
		if (samples != NULL)
			amounts = amount_join(set->resource, hits, samples, *n,
			                      error);
		if (samples != hits)
			free(samples);
	}
	sample_counts_free(&counts);
	free(hits);
	return amounts;
}

static int
add_path_samples(const struct sample_set *set, const uint32_t *path, size_t n,
                 struct amount *amount, struct error *error)
{
	struct sample_counts counts;
	struct path_hits found = { .hits = amount->sampled.hits };
	int status = sample_counts_make(&counts, set, error);

	if (status == 0 && counts.sums != NULL)
		status = path_hits_find(&counts.set, path, n, &found, NULL,
		                        error);
	amount->sampled.samples = found.hits;
	sample_counts_free(&counts);
	return status;
}

int
amount_of_path(const struct sample_set *set, const uint32_t *path, size_t n,
               struct amount *amount, struct error *error)
{
	struct path_hits found;

	*amount = (struct amount){ .sampled = sampled_of(set->resource, 0, 0) };
	if (set->flow != NULL) {
		if (path_is_canonical(set, path, n, &amount->is_seen,
		                      error) != 0 ||
		    (amount->is_seen &&
		     flow_path_value(set->flow, path, n, &amount->sampled.hits,
		                     &amount->is_estimated, error) != 0))
			return -1;
		amount->sampled.samples = amount->sampled.hits;
		return 0;
	}
	if (path_hits_find(set, path, n, &found, NULL, error) != 0)
		return -1;
	amount->sampled.hits = found.hits;
	amount->is_seen = found.is_seen;
	return add_path_samples(set, path, n, amount, error);
}

int
amount_of_whole(const struct view_request *request, struct sampled *whole,
                struct error *error)
{
	struct view_request of_samples = *request;
	struct sample_counts counts;
	int status = sample_counts_make(&counts, request->set, error);

	if (status == 0) {
		of_samples.set = &counts.set;
		*whole = sampled_of(request->set->resource,
		                    measure_of(request).denominator,
		                    measure_of(&of_samples).denominator);
	}
	sample_counts_free(&counts);
	return status;
}
