/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet.c -- the tables of a sum of very many profiles.
 *
 * A node finds its children in a ring, starting behind the one that was found
 * last: members have much the same stacks in much the same order, so it is
 * mostly the first or second, and lies near the one before in memory.  Where a
 * ring would be long, its nodes are in an index.
 */
#include "src/profile/fleet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

/* So many children are not in a ring. */
enum { WIDE = 17 };

const char fleet_several[] = "several";

static void
cells_free(struct fleet_cells *cells)
{
	large_array_free(cells->cells);
	index_free(&cells->index);
}

static void
fleet_free(struct fleet *fleet)
{
	frame_union_free(fleet->frames);
	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		large_array_free(fleet->resources[r].hits);
		large_array_free(fleet->resources[r].samples);
		large_array_free(fleet->resources[r].most_hits);
		large_array_free(fleet->resources[r].most_member);
	}
	free(fleet->resources);
	names_free(fleet->sources);
	large_array_free(fleet->parent);
	large_array_free(fleet->label);
	large_array_free(fleet->row);
	large_array_free(fleet->child);
	large_array_free(fleet->next);
	large_array_free(fleet->n_children);
	large_array_free(fleet->returns);
	digest_index_free(fleet->stacks);
	large_array_free(fleet->weight);
	large_array_free(fleet->has_weight);
	index_free(&fleet->index);
	free(fleet->members);
	fleet_lines_free(fleet->lines);
	cells_free(&fleet->groups);
	names_free(fleet->values);
	cells_free(&fleet->by);
	free(fleet->shown_as);
	free(fleet->factor);
	free(fleet);
}

struct fleet *
fleet_new(struct profile *profile, struct error *error)
{
	struct fleet *fleet = memory_array(1, sizeof *fleet, error);

	if (fleet == NULL)
		return NULL;
	fleet->profile = profile;
	fleet->n_rows = 1;
	fleet->sources = names_new(error);
	fleet->values = names_new(error);
	if (error->is_set) {
		fleet_free(fleet);
		return NULL;
	}
	profile->fleet = fleet;
	profile->free_fleet = fleet_free;
	return fleet;
}

/* Makes room for n items, twice as many as there is now if not all fit. */
static int
fleet_grow(void *items, size_t *capacity, size_t n, size_t size,
           struct error *error)
{
	size_t larger = *capacity < 512 ? 1024 : 2 * *capacity;

	if (n <= *capacity)
		return 0;
	if (larger < n)
		larger = n;
	if (large_array_reserve(items, larger, size, error) != 0)
		return -1;
	*capacity = larger;
	return 0;
}

/* ---- resources ---- */

/* Makes room for a resource's counts of all rows and nodes. */
static int
reserve_counts(const struct fleet *fleet, struct fleet_resource *resource,
               struct error *error)
{
	if (fleet_grow(&resource->hits, &resource->hits_capacity, fleet->n_rows,
	               sizeof *resource->hits, error) != 0 ||
	    fleet_grow(&resource->samples, &resource->samples_capacity,
	               fleet->n_rows, sizeof *resource->samples, error) != 0 ||
	    fleet_grow(&resource->most_hits, &resource->most_capacity,
	               fleet->n_nodes, sizeof *resource->most_hits, error) != 0)
		return -1;
	return fleet_grow(&resource->most_member, &resource->member_capacity,
	                  fleet->n_nodes, sizeof *resource->most_member, error);
}

const struct fleet_resource *
fleet_find_resource(const struct fleet *fleet, const char *name,
                    const char *gtick, uint64_t interval)
{
	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		const struct fleet_resource *resource = &fleet->resources[r];

		if (resource->column.interval == interval &&
		    strcmp(resource->column.name, name) == 0 &&
		    strcmp(resource->column.gtick, gtick) == 0)
			return resource;
	}
	return NULL;
}

uint32_t
fleet_add_resource(struct fleet *fleet, const char *name, const char *gtick,
                   uint64_t interval, struct error *error)
{
	struct arena *arena = &fleet->profile->arena;
	const struct fleet_resource *known = fleet_find_resource(fleet, name,
	    gtick, interval);
	struct fleet_resource *resource;
	uint32_t number;

	if (known != NULL)
		return (uint32_t)(known - fleet->resources);
	if (memory_grow(&fleet->resources, &fleet->resources_capacity,
	                (size_t)fleet->n_resources + 1, sizeof *resource,
	                error) != 0)
		return UINT32_MAX;
	resource = &fleet->resources[fleet->n_resources];
	*resource = (struct fleet_resource){
		.column = {
			.name = arena_text(arena, name, strlen(name), error),
			.gtick = arena_text(arena, gtick, strlen(gtick), error),
			.interval = interval,
		},
	};
	if (error->is_set)
		return UINT32_MAX;
	number = fleet->n_resources++;
	if (reserve_counts(fleet, resource, error) != 0)
		return UINT32_MAX;
	memset(resource->hits, 0, fleet->n_rows * sizeof *resource->hits);
	memset(resource->samples, 0,
	       fleet->n_rows * sizeof *resource->samples);
	for (uint32_t n = 0; n < fleet->n_nodes; n++) {
		resource->most_hits[n] = 0;
		resource->most_member[n] = NO_MEMBER;
	}
	return number;
}

/* ---- nodes ---- */

struct node_key {
	uint32_t parent, label;
};

static bool
node_matches(const void *things, uint32_t number, const void *key)
{
	const struct fleet *fleet = things;
	const struct node_key *wanted = key;

	return fleet->parent[number] == wanted->parent &&
	       fleet->label[number] == wanted->label;
}

static int
fleet_reserve_nodes(struct fleet *fleet, struct error *error)
{
	size_t n = (size_t)fleet->n_nodes + 1;

	if (fleet->n_nodes == UINT32_MAX - 2)
		return error_set(error, "more than %" PRIu32 " nodes",
		                 UINT32_MAX - 2);

	if (fleet_grow(&fleet->parent, &fleet->parent_capacity, n,
	               sizeof *fleet->parent, error) != 0 ||
	    fleet_grow(&fleet->label, &fleet->label_capacity, n,
	               sizeof *fleet->label, error) != 0 ||
	    fleet_grow(&fleet->row, &fleet->row_capacity, n, sizeof *fleet->row,
	               error) != 0)
		return -1;
	if (fleet_grow(&fleet->child, &fleet->child_capacity, n,
	               sizeof *fleet->child, error) != 0 ||
	    fleet_grow(&fleet->next, &fleet->next_capacity, n,
	               sizeof *fleet->next, error) != 0 ||
	    fleet_grow(&fleet->n_children, &fleet->n_children_capacity, n, 1,
	               error) != 0)
		return -1;
	if (fleet->returns != NULL &&
	    fleet_grow(&fleet->returns, &fleet->returns_capacity, n,
	               sizeof *fleet->returns, error) != 0)
		return -1;
	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		struct fleet_resource *resource = &fleet->resources[r];

		if (fleet_grow(&resource->most_hits, &resource->most_capacity,
		               n, sizeof *resource->most_hits, error) != 0 ||
		    fleet_grow(&resource->most_member,
		               &resource->member_capacity, n,
		               sizeof *resource->most_member, error) != 0)
			return -1;
	}
	return 0;
}

/* Enters a node, which its parent does not know yet. */
static uint32_t
enter_node(struct fleet *fleet, uint32_t parent, uint32_t frame,
           struct error *error)
{
	uint32_t node = fleet->n_nodes;

	if (fleet_reserve_nodes(fleet, error) != 0)
		return UINT32_MAX;
	fleet->n_nodes++;
	fleet->parent[node] = parent;
	fleet->label[node] = frame;
	fleet->row[node] = 0;
	fleet->child[node] = NO_NODE;
	fleet->next[node] = node;
	fleet->n_children[node] = 0;
	if (fleet->returns != NULL)
		fleet->returns[node] = 0;
	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		fleet->resources[r].most_hits[node] = 0;
		fleet->resources[r].most_member[node] = NO_MEMBER;
	}
	return node;
}

/* The node, found by the index and entered there if new. */
static uint32_t
add_indexed(struct fleet *fleet, uint32_t parent, uint32_t frame,
            struct error *error)
{
	const struct node_key key = { parent, frame };
	uint32_t hash = index_hash((uint64_t)parent << 32 | frame), node;
	struct index_slot *slot = index_seek(&fleet->index, hash, node_matches,
	                                     fleet, &key, error);

	if (slot == NULL)
		return UINT32_MAX;
	if (slot->number != 0)
		return slot->number - 1;
	node = enter_node(fleet, parent, frame, error);
	if (node != UINT32_MAX)
		index_fill(&fleet->index, slot, hash, node);
	return node;
}

/* Enters all children of a node into the index. */
static int
make_wide(struct fleet *fleet, uint32_t parent, struct error *error)
{
	uint32_t node = fleet->child[parent];

	do {
		const struct node_key key = { parent, fleet->label[node] };
		uint32_t hash = index_hash((uint64_t)parent << 32 | key.label);
		struct index_slot *slot = index_seek(&fleet->index, hash,
		    node_matches, fleet, &key, error);

		if (slot == NULL)
			return -1;
		if (slot->number == 0)
			index_fill(&fleet->index, slot, hash, node);
		node = fleet->next[node];
	} while (node != fleet->child[parent]);
	fleet->n_children[parent] = WIDE;
	return 0;
}

uint32_t
fleet_add_node(struct fleet *fleet, uint32_t parent, uint32_t frame,
               struct error *error)
{
	uint32_t last, node;

	if (parent == NO_NODE || fleet->n_children[parent] == WIDE)
		return add_indexed(fleet, parent, frame, error);
	last = fleet->child[parent];
	if (last != NO_NODE) {
		node = last;
		do {
			node = fleet->next[node];
			if (fleet->label[node] == frame)
				return fleet->child[parent] = node;
		} while (node != last);
	}
	if (fleet->n_children[parent] == WIDE - 1)
		return make_wide(fleet, parent, error) == 0 ?
		       add_indexed(fleet, parent, frame, error) : UINT32_MAX;
	node = enter_node(fleet, parent, frame, error);
	if (node == UINT32_MAX)
		return UINT32_MAX;
	if (last != NO_NODE) {
		fleet->next[node] = fleet->next[last];
		fleet->next[last] = node;
	}
	fleet->child[parent] = node;
	fleet->n_children[parent]++;
	return node;
}

uint32_t
fleet_need_row(struct fleet *fleet, uint32_t node, struct error *error)
{
	if (fleet->row[node] != 0)
		return fleet->row[node];
	fleet->n_rows++;
	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		struct fleet_resource *resource = &fleet->resources[r];

		if (reserve_counts(fleet, resource, error) != 0) {
			fleet->n_rows--;
			return UINT32_MAX;
		}
		resource->hits[fleet->n_rows - 1] = 0;
		resource->samples[fleet->n_rows - 1] = 0;
	}
	return fleet->row[node] = fleet->n_rows - 1;
}

int
fleet_add_counts(struct fleet *fleet, uint32_t row, uint32_t number,
                 uint64_t hits, uint64_t samples, struct error *error)
{
	struct fleet_resource *resource = &fleet->resources[number];

	if (__builtin_add_overflow(resource->total_hits, hits,
	                           &resource->total_hits) ||
	    __builtin_add_overflow(resource->total_samples, samples,
	                           &resource->total_samples))
		return error_set(error, "the sum of %s exceeds 64 bits",
		                 resource->column.name);
	resource->hits[row] += hits;
	resource->samples[row] += samples;
	return 0;
}

int
fleet_add_returns(struct fleet *fleet, uint32_t node, uint64_t returns,
                  struct error *error)
{
	if (fleet->returns == NULL) {
		if (fleet_grow(&fleet->returns, &fleet->returns_capacity,
		               fleet->n_nodes, sizeof *fleet->returns,
		               error) != 0)
			return -1;
		memset(fleet->returns, 0,
		       fleet->n_nodes * sizeof *fleet->returns);
	}
	if (__builtin_add_overflow(fleet->total_returns, returns,
	                           &fleet->total_returns))
		return error_set(error, "the sum of returns exceeds 64 bits");
	fleet->returns[node] += returns;
	return 0;
}

/* ---- members ---- */

/* The first bytes, so that the numbers have the order of the texts. */
static uint64_t
order_of(const char *id)
{
	uint64_t order = 0;

	for (int i = 0; i < 8; i++)
		order = order << 8 | (*id != '\0' ? (unsigned char)*id++ : 0);
	return order;
}

uint32_t
fleet_add_member(struct fleet *fleet, const char *id, const char *name,
                 struct error *error)
{
	struct arena *arena = &fleet->profile->arena;
	struct fleet_member member = {
		.id = arena_text(arena, id, strlen(id), error),
		.name = arena_text(arena, name, strlen(name), error),
		.order = order_of(id),
	};

	if (error->is_set ||
	    memory_grow(&fleet->members, &fleet->members_capacity,
	                (size_t)fleet->n_listed + 1, sizeof member,
	                error) != 0)
		return UINT32_MAX;
	fleet->members[fleet->n_listed] = member;
	return fleet->n_listed++;
}

static bool
fleet_is_before(const struct fleet_member *a, const struct fleet_member *b)
{
	int order;

	if (a->order != b->order)
		return a->order < b->order;
	order = strcmp(a->id, b->id);
	if (order != 0)
		return order < 0;
	/* A file that can be found comes before one that is not known. */
	if ((*a->name == '\0') != (*b->name == '\0'))
		return *a->name != '\0';
	return strcmp(a->name, b->name) < 0;
}

static inline void
fleet_offer(struct fleet *fleet, uint32_t number, uint32_t node, uint64_t hits,
            uint32_t member)
{
	struct fleet_resource *resource = &fleet->resources[number];
	uint64_t most = resource->most_hits[node];

	if (hits == 0 || hits < most)
		return;
	if (hits == most &&
	    !fleet_is_before(&fleet->members[member],
	                     &fleet->members[resource->most_member[node]]))
		return;
	resource->most_hits[node] = hits;
	resource->most_member[node] = member;
}

void
fleet_offer_most(struct fleet *fleet, uint32_t number, uint32_t node,
                 uint64_t hits, uint32_t member)
{
	fleet_offer(fleet, number, node, hits, member);
}

int
fleet_reserve_weights(struct fleet *fleet, uint32_t n_weights,
                      struct error *error)
{
	size_t n = fleet->n_nodes;

	if (n <= fleet->weight_nodes && n_weights <= fleet->n_weights)
		return 0;
	if (n_weights < fleet->n_weights)
		n_weights = fleet->n_weights;
	if (n <= fleet->weight_nodes)
		n = fleet->weight_nodes;
	else if (n < 2 * fleet->weight_nodes)
		n = 2 * fleet->weight_nodes;
	large_array_free(fleet->weight);
	large_array_free(fleet->has_weight);
	fleet->weight = fleet->has_weight = NULL;
	fleet->weight_nodes = 0;
	if (large_array_zeroed(&fleet->weight, n,
	                       n_weights * sizeof *fleet->weight,
	                       error) != 0 ||
	    large_array_zeroed(&fleet->has_weight, n / 64 + 1,
	                       sizeof *fleet->has_weight, error) != 0)
		return -1;
	fleet->weight_nodes = n;
	fleet->n_weights = n_weights;
	return 0;
}

/* Takes the last node of the word from it. */
static inline uint32_t
take_last(uint64_t *bits, size_t word)
{
	int bit = 63 - __builtin_clzll(*bits);

	*bits ^= (uint64_t)1 << bit;
	return (uint32_t)(64 * word) + (uint32_t)bit;
}

/*
 * Sets the bits of all nodes above those that have one, some of nodes[n].  Each
 * step up is likely a cache miss, so several walks go on at the same time.
 */
static void
mark_callers(const struct fleet *fleet, const uint32_t *nodes, uint32_t n)
{
	enum { WALKS = 32 };
	uint64_t *marks = fleet->has_weight;
	uint32_t walks[WALKS], n_walks = 0;

	while (n > 0 || n_walks > 0) {
		while (n_walks < WALKS && n > 0) {
			walks[n_walks++] = nodes[--n];
			__builtin_prefetch(&fleet->parent[nodes[n]]);
		}
		for (uint32_t i = n_walks; i-- > 0;) {
			uint32_t parent = fleet->parent[walks[i]];

			if (parent == NO_NODE ||
			    (marks[parent / 64] >> parent % 64 & 1) != 0) {
				walks[i] = walks[--n_walks];
			} else {
				marks[parent / 64] |= (uint64_t)1 <<
				    parent % 64;
				walks[i] = parent;
				__builtin_prefetch(&fleet->parent[parent]);
			}
		}
	}
}

/* Has what offer_node will need of a word's nodes brought into the cache. */
static void
prefetch_weights(const struct fleet *fleet, const uint32_t *resources,
                 uint32_t n_resources, size_t word)
{
	uint64_t bits = fleet->has_weight[word];

	while (bits != 0) {
		uint32_t node = take_last(&bits, word);
		uint32_t parent = fleet->parent[node];

		for (uint32_t i = 0; i < n_resources; i++)
			__builtin_prefetch(&fleet->resources[resources[i]].
			                   most_hits[node]);
		if (parent != NO_NODE)
			__builtin_prefetch(&fleet->weight[(size_t)parent *
			                                  fleet->n_weights],
			                   1);
	}
}

static inline void
offer_node(struct fleet *fleet, const uint32_t *resources,
           uint32_t n_resources, uint32_t node, uint32_t member)
{
	uint32_t n = fleet->n_weights, parent = fleet->parent[node];
	uint64_t *weight = &fleet->weight[(size_t)node * n];
	uint64_t *above = parent == NO_NODE ? NULL :
	    &fleet->weight[(size_t)parent * n];

	for (uint32_t i = 0; i < n_resources; i++) {
		fleet_offer(fleet, resources[i], node, weight[i], member);
		if (above != NULL)
			above[i] += weight[i];
		weight[i] = 0;
	}
}

void
fleet_offer_weights(struct fleet *fleet, const uint32_t *resources,
                    uint32_t n_resources, const uint32_t *nodes, uint32_t n,
                    uint32_t member)
{
	enum { WORDS_AHEAD = 2 };

	mark_callers(fleet, nodes, n);
	/* A parent comes after its children, since its number is smaller. */
	for (size_t word = fleet->n_nodes / 64 + 1; word-- > 0;) {
		if (word >= WORDS_AHEAD)
			prefetch_weights(fleet, resources, n_resources,
			                 word - WORDS_AHEAD);
		while (fleet->has_weight[word] != 0)
			offer_node(fleet, resources, n_resources,
			           take_last(&fleet->has_weight[word], word),
			           member);
	}
}

/* ---- parts ---- */

int
fleet_add_group(struct fleet *fleet, uint32_t row, uint32_t group,
                uint32_t resource, uint64_t hits, struct error *error)
{
	if (fleet->lines == NULL)
		fleet->lines = fleet_lines_new(error);
	return fleet->lines == NULL ? -1 :
	    fleet_lines_add(fleet->lines, row, fleet_code(group, resource),
	                    hits, error);
}

static bool
cell_matches(const void *things, uint32_t number, const void *key)
{
	const struct fleet_cell *cell = &((const struct fleet_cell *)
	                                  things)[number];
	const struct fleet_cell *wanted = key;

	return cell->row == wanted->row && cell->code == wanted->code;
}

int
fleet_add_cell(struct fleet_cells *cells, uint32_t row, uint32_t code,
               uint64_t hits, uint64_t samples, struct error *error)
{
	const struct fleet_cell key = { row, code, hits, samples };
	uint32_t hash = index_hash((uint64_t)row << 32 | code);
	struct index_slot *slot = index_seek(&cells->index, hash, cell_matches,
	                                     cells->cells, &key, error);

	if (slot == NULL)
		return -1;
	if (slot->number != 0) {
		cells->cells[slot->number - 1].hits += hits;
		cells->cells[slot->number - 1].samples += samples;
		return 0;
	}
	if (cells->n == UINT32_MAX - 2)
		return error_set(error, "more than %" PRIu32 " counts by group "
		                 "or value", UINT32_MAX - 2);
	if (fleet_grow(&cells->cells, &cells->capacity, cells->n + 1,
	               sizeof key, error) != 0)
		return -1;
	index_fill(&cells->index, slot, hash, (uint32_t)cells->n);
	cells->cells[cells->n++] = key;
	return 0;
}

int
fleet_set_key(struct fleet *fleet, const char *key, struct error *error)
{
	if (fleet->key == NULL)
		fleet->key = arena_text(&fleet->profile->arena, key,
		                        strlen(key), error);
	return fleet->key != NULL ? 0 : -1;
}
