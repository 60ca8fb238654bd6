/* SPDX-License-Identifier: GPL-3.0-or-later */
/* when.c -- when hits came, as a line of characters. */
#include "src/views/when.h"

#include "src/profile/tree_time.h"

struct when
when_of(const struct sample_set *set)
{
	const struct sample_tree *tree = set->tree;
	uint64_t times[TIMELINE_SLICES] = { 0 };
	struct when when = { .n_slices = 1 };

	if (set->flow != NULL || tree == NULL || tree->timeline == NULL)
		return when;
	if (tree->timeline->n_slices > WHEN_BUCKETS)
		when.n_slices = TIMELINE_SLICES / WHEN_BUCKETS;
	when.n = (tree->timeline->n_slices + when.n_slices - 1) /
	    when.n_slices;
	when.width_ns = when.n_slices * tree->timeline->width_ns;
	tree_time_add(tree, set->resource_number, 0, tree->n_nodes, times);
	for (uint32_t i = 0; i < TIMELINE_SLICES; i++)
		if (times[i] != 0)
			when.totals[i / when.n_slices] += times[i];
	return when;
}

static char
character(uint64_t hits, uint64_t total)
{
	if (total == 0)
		return '-';
	if (hits == 0)
		return '_';
	if (hits >= total)
		return '9';
	return (char)('0' + (unsigned __int128)hits * 10 / total);
}

void
when_draw(const struct when *when, const uint64_t times[TIMELINE_SLICES],
          char text[WHEN_BUCKETS + 1])
{
	for (uint32_t i = 0; i < when->n; i++) {
		uint64_t hits = 0;

		for (uint32_t k = 0; k < when->n_slices; k++)
			hits += times[i * when->n_slices + k];
		text[i] = character(hits, when->totals[i]);
	}
	text[when->n] = '\0';
}

void
when_add_body(const struct sample_set *set, uint32_t function,
              uint64_t *times)
{
	const struct sample_tree *tree = set->tree;

	for (uint32_t node = 0; node < tree->n_nodes; node++)
		if (tree->label[node] == function)
			tree_time_add(tree, set->resource_number, node,
			              node + 1, times);
}

int
when_need(const struct sample_set *set, struct error *error)
{
	if (set->flow == NULL && set->tree != NULL &&
	    set->tree->timeline != NULL)
		return 0;
	return error_set(error, "the profile does not say when its hits were "
	                 "counted; recordings of `cpprof record` and perf do");
}
