/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_tree.c -- a fleet as the profile that views work on.
 *
 * A section has those nodes of the fleet that have counts in it, and what lies
 * above them.  Cells come by value, resource and node; so the nodes of a value
 * are marked first, and entered in their order.
 */
#include "src/profile/fleet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/large_array.h"
#include "src/profile/profile_merge.h"

/*
 * So many nodes may the sections have: more than any but hostile files and
 * fleets whose stacks are deep and whose values are many.
 */
enum { NODES_ALWAYS = 16 << 20, NODES_A_CELL = 64, NODES_A_STEP = 65536 };

struct fleet_making {
	const struct fleet *fleet;
	struct profile *profile;
	struct tree_builder *builder;
	uint32_t *resource;	/* [n_resources] of the profile */
	uint64_t *factor;	/* [n_resources] gticks of a hit, or 1 */
	uint32_t *node_of_row;	/* [n_rows] */
	uint32_t *node;		/* [n_nodes] in the section, NO_NODE: not yet */
	uint32_t *chain;	/* scratch */
	size_t chain_capacity;
};

/* ---- resources ---- */

static bool
is_same_resource(const struct resource *a, const struct resource *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->gtick, b->gtick) == 0;
}

/*
 * Adds a resource, under a name of its own if another gtick has taken the name.
 */
static uint32_t
fleet_tree_add_resource(struct profile *profile,
                        const struct resource *from, struct error *error)
{
	const char *name = from->name;

	while (name != NULL &&
	       profile_find_resource(profile, name) != NO_RESOURCE)
		name = arena_format(&profile->arena, error, "%s-%s", name,
		                    from->gtick);
	return name == NULL ? UINT32_MAX :
	    profile_add_resource(profile, name, from->gtick, from->interval,
	                         error);
}

static int
fleet_tree_compare_resources(const void *a, const void *b, void *context)
{
	const struct resource *resources = context;

	return merge_compare_resources(&resources[*(const uint32_t *)a],
	                               &resources[*(const uint32_t *)b]);
}

static void
sort_resources(const struct fleet_making *making)
{
	struct profile *profile = making->profile;
	uint32_t n = profile->n_resources;
	uint32_t order[RESOURCES_MAX], place[RESOURCES_MAX];
	struct resource old[RESOURCES_MAX];

	for (uint32_t r = 0; r < n; r++) {
		order[r] = r;
		old[r] = profile->resources[r];
	}
	if (n > 1)
		qsort_r(order, n, sizeof *order, fleet_tree_compare_resources,
		        profile->resources);
	for (uint32_t r = 0; r < n; r++) {
		profile->resources[r] = old[order[r]];
		place[order[r]] = r;
	}
	for (uint32_t r = 0; r < making->fleet->n_resources; r++)
		making->resource[r] = place[making->resource[r]];
}

static int
fleet_tree_add_sources(const struct fleet_making *making, struct error *error)
{
	const struct names *sources = making->fleet->sources;

	for (uint32_t i = 0; i < names_count(sources); i++) {
		const char *text = names_text(sources, i);
		uint32_t r;

		memcpy(&r, text + strlen(text) + 1, sizeof r);
		if (profile_add_source(making->profile,
		        &making->profile->resources[making->resource[r]],
		        text, error) != 0)
			return -1;
	}
	return 0;
}

/* What a hit of a fleet's is in hits of the profile's. */
static uint64_t
gticks_of_hit(const struct resource *from, const struct resource *to)
{
	return to->interval == from->interval ? 1 : from->interval;
}

/* Resources come sorted by name, gtick and interval. */
static int
make_resources(struct fleet_making *making, struct error *error)
{
	struct profile *profile = making->profile;
	const struct fleet *fleet = making->fleet;

	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		const struct resource *from = &fleet->resources[r].column;

		making->resource[r] = r > 0 &&
		    is_same_resource(&fleet->resources[r - 1].column, from) ?
		    making->resource[r - 1] :
		    fleet_tree_add_resource(profile, from, error);
		if (making->resource[r] == UINT32_MAX)
			return -1;
		merge_column(&profile->resources[making->resource[r]], from, 0);
	}
	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		const struct resource *from = &fleet->resources[r].column;
		struct resource *to =
		    &profile->resources[making->resource[r]];

		making->factor[r] = gticks_of_hit(from, to);
		merge_add_losses(to, from->lost, making->factor[r]);
	}
	sort_resources(making);
	return fleet_tree_add_sources(making, error);
}

/* ---- counts ---- */

static int
fleet_tree_add_counts(const struct fleet_making *making, uint32_t node,
                      uint32_t r, uint64_t hits, uint64_t samples,
                      struct error *error)
{
	if (__builtin_mul_overflow(hits, making->factor[r], &hits))
		return error_set(error, "the sum of %s exceeds 64 bits",
		                 making->fleet->resources[r].column.name);
	return hits == 0 && samples == 0 ? 0 :
	    tree_builder_add(making->builder, node, making->resource[r], hits,
	                     samples, error);
}

/* The nodes of the sum have the same numbers in the fleet. */
static int
find_nodes_of_rows(struct fleet_making *making, struct error *error)
{
	const struct fleet *fleet = making->fleet;

	if (large_array_zeroed(&making->node_of_row, fleet->n_rows,
	                       sizeof *making->node_of_row, error) != 0)
		return -1;
	for (uint32_t n = 0; n < fleet->n_nodes; n++)
		making->node_of_row[fleet->row[n]] = n;
	return 0;
}

/* The whole sum, whose nodes are in depth-first order already. */
static int
make_sum(const struct fleet_making *making, struct error *error)
{
	const struct fleet *fleet = making->fleet;

	for (uint32_t n = 0; n < fleet->n_nodes; n++) {
		uint32_t node = tree_builder_child(making->builder,
		    fleet->parent[n], fleet->label[n], error);

		if (node == NO_NODE ||
		    (fleet->returns != NULL &&
		     tree_builder_add_returns(making->builder, node,
		                              fleet->returns[n], error) != 0) ||
		    (n % NODES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
		for (uint32_t r = 0; fleet->row[n] != 0 &&
		     r < fleet->n_resources; r++)
			if (fleet_tree_add_counts(
				making, node, r,
				fleet->resources[r].hits[fleet->row[n]],
				fleet->resources[r].samples[fleet->row[n]],
				error) != 0)
				return -1;
	}
	return 0;
}

/* ---- sections ---- */

/* The section's node for a node of the fleet, entered with those above it. */
static uint32_t
fleet_tree_enter(struct fleet_making *making, uint32_t n, struct error *error)
{
	const struct fleet *fleet = making->fleet;
	uint32_t above = n, node;
	size_t depth = 0;

	while (above != NO_NODE && making->node[above] == NO_NODE) {
		if (memory_grow(&making->chain, &making->chain_capacity,
		                depth + 1, sizeof *making->chain, error) != 0)
			return NO_NODE;
		making->chain[depth++] = above;
		above = fleet->parent[above];
	}
	node = above == NO_NODE ? NO_NODE : making->node[above];
	while (depth > 0) {
		uint32_t next = making->chain[--depth];

		node = tree_builder_child(making->builder, node,
		                          fleet->label[next], error);
		if (node == NO_NODE)
			return NO_NODE;
		making->node[next] = node;
	}
	return node;
}

static void
forget_nodes(const struct fleet_making *making)
{
	for (uint32_t n = 0; n < making->fleet->n_nodes; n++)
		making->node[n] = NO_NODE;
}

/* value: NULL: none. */
static int
end_section(const struct fleet_making *making, uint32_t first,
            const char *value, struct error *error)
{
	struct profile *profile = making->profile;
	const char *key = making->fleet->key;
	uint32_t end = tree_builder_count(making->builder), number, set;
	struct label label = { .unit = NO_NAME };

	if (first == end)
		return 0;
	number = profile_add_section(profile, first, end, NO_THREAD, error);
	if (number == UINT32_MAX)
		return -1;
	if (value == NULL)
		return 0;
	label.key = names_add(profile->names, key, strlen(key), error);
	label.value = names_add(profile->names, value, strlen(value), error);
	if (error->is_set)
		return -1;
	set = profile_add_label_set(profile, &label, 1, error);
	profile->sections[number].label_set = set;
	return set != NO_LABELS ? 0 : -1;
}

/* Makes a section of the nodes of cells[n], which are of one value. */
static int
make_section(struct fleet_making *making, const struct fleet_cell *cells,
             size_t n, struct error *error)
{
	uint32_t first = tree_builder_begin_section(making->builder);
	const char *value = names_text(making->fleet->values,
	                               fleet_part(cells->code));

	for (size_t i = 0; i < n; i++) {
		uint32_t node = fleet_tree_enter(making,
		    making->node_of_row[cells[i].row], error);

		if (node == NO_NODE ||
		    fleet_tree_add_counts(making, node,
		                          fleet_resource_of(cells[i].code),
		                          cells[i].hits, cells[i].samples,
		                          error) != 0 ||
		    (i % NODES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t node = making->node_of_row[cells[i].row];

		for (; node != NO_NODE && making->node[node] != NO_NODE;
		     node = making->fleet->parent[node])
			making->node[node] = NO_NODE;
	}
	return end_section(making, first, value, error);
}

/* What no value has: hits[n_resources][n_rows] and samples are left of it. */
static int
make_rest(struct fleet_making *making, uint64_t **hits, uint64_t **samples,
          struct error *error)
{
	const struct fleet *fleet = making->fleet;
	uint32_t first = tree_builder_begin_section(making->builder);

	for (uint32_t n = 0; n < fleet->n_nodes; n++) {
		uint32_t row = fleet->row[n], node;
		bool is_needed = row == 0 && (n + 1 == fleet->n_nodes ||
		                              fleet->parent[n + 1] != n);

		is_needed |= fleet->returns != NULL && fleet->returns[n] != 0;
		for (uint32_t r = 0; row != 0 && r < fleet->n_resources; r++)
			is_needed |= hits[r][row] != 0 || samples[r][row] != 0;
		if (!is_needed)
			continue;
		node = fleet_tree_enter(making, n, error);
		if (node == NO_NODE ||
		    (fleet->returns != NULL &&
		     tree_builder_add_returns(making->builder, node,
		                              fleet->returns[n], error) != 0))
			return -1;
		for (uint32_t r = 0; row != 0 && r < fleet->n_resources; r++)
			if (fleet_tree_add_counts(making, node, r, hits[r][row],
			                          samples[r][row], error) != 0)
				return -1;
	}
	return end_section(making, first, NULL, error);
}

/* Takes the cells off copies of the counts, and makes a section of the rest. */
static int
make_rest_section(struct fleet_making *making, struct error *error)
{
	const struct fleet *fleet = making->fleet;
	uint64_t *hits[RESOURCES_MAX], *samples[RESOURCES_MAX];
	uint32_t n = 0;
	int result;

	for (; n < fleet->n_resources; n++) {
		const struct fleet_resource *from = &fleet->resources[n];

		hits[n] = memory_copy(from->hits, fleet->n_rows,
		                      sizeof **hits, error);
		samples[n] = memory_copy(from->samples, fleet->n_rows,
		                         sizeof **samples, error);
	}
	for (size_t i = 0; !error->is_set && i < fleet->by.n; i++) {
		const struct fleet_cell *cell = &fleet->by.cells[i];
		uint32_t r = fleet_resource_of(cell->code);

		hits[r][cell->row] -= cell->hits;
		samples[r][cell->row] -= cell->samples;
	}
	result = error->is_set ? -1 : make_rest(making, hits, samples, error);
	while (n-- > 0) {
		free(hits[n]);
		free(samples[n]);
	}
	return result;
}

static int
make_sections(struct fleet_making *making, struct error *error)
{
	const struct fleet_cells *by = &making->fleet->by;

	forget_nodes(making);
	for (size_t begin = 0, end; begin < by->n; begin = end) {
		uint32_t value = fleet_part(by->cells[begin].code);

		for (end = begin; end < by->n &&
		     fleet_part(by->cells[end].code) == value;)
			end++;
		if (make_section(making, by->cells + begin, end - begin,
		                 error) != 0)
			return -1;
	}
	return make_rest_section(making, error);
}

/* Whether the sections would have too many nodes. */
static bool
are_too_many(const struct fleet_making *making)
{
	const struct fleet *fleet = making->fleet;
	const struct fleet_cells *by = &fleet->by;
	uint64_t n = 0, most = NODES_ALWAYS + NODES_A_CELL * (uint64_t)by->n;
	uint32_t *value_of = making->node, value = NO_NAME;

	forget_nodes(making);
	for (size_t i = 0; i < by->n && n <= most; i++) {
		uint32_t node = making->node_of_row[by->cells[i].row];

		value = fleet_part(by->cells[i].code);
		for (; node != NO_NODE && value_of[node] != value;
		     node = fleet->parent[node]) {
			value_of[node] = value;
			n++;
		}
	}
	return n > most;
}

static int
fleet_tree_make_tree(struct fleet_making *making, struct error *error)
{
	const struct fleet *fleet = making->fleet;
	struct profile *profile = making->profile;
	bool has_sections = fleet->by.n > 0;

	making->builder = tree_builder_new(profile->n_resources, error);
	if (making->builder == NULL)
		return -1;
	if (has_sections &&
	    (find_nodes_of_rows(making, error) != 0 ||
	     large_array_reserve(&making->node, fleet->n_nodes,
	                         sizeof *making->node, error) != 0))
		return -1;
	if (has_sections && are_too_many(making)) {
		has_sections = false;
		if (profile_warn(profile, error, "too many stacks by %s to be "
		                 "told apart: only their sum is shown",
		                 fleet->key) != 0)
			return -1;
	}
	if ((has_sections ? make_sections(making, error) :
	     make_sum(making, error)) != 0)
		return -1;
	profile->tree = tree_builder_finish(making->builder, error);
	return profile->tree != NULL ? 0 : -1;
}

/* ---- what is known of the members ---- */

static const char *
agreed(const char *text)
{
	return text != fleet_several ? text : NULL;
}

static int
make_process(const struct fleet *fleet, struct error *error)
{
	const struct fleet_process *from = &fleet->process;
	const struct process process = {
		.program = agreed(from->program),
		.command = agreed(from->command),
		.host = agreed(from->host),
		.start_ns = from->start_ns,
		.end_ns = from->end_ns,
		.cpu_ns = from->is_cpu_unknown ? 0 : from->cpu_ns,
		.sampling_ns = from->is_cpu_unknown ? 0 : from->sampling_ns,
		.cpu_is_least = from->cpu_is_least,
	};

	return profile_add_process(fleet->profile, &process, error) !=
	       UINT32_MAX ? 0 : -1;
}

int
fleet_make_tree(struct fleet *fleet, struct error *error)
{
	struct fleet_making making = { .fleet = fleet,
		                       .profile = fleet->profile };
	int result = -1;

	fleet->shown_as = memory_array(fleet->n_resources,
	                               sizeof *fleet->shown_as, error);
	fleet->factor = memory_array(fleet->n_resources,
	                             sizeof *fleet->factor, error);
	making.resource = fleet->shown_as;
	making.factor = fleet->factor;
	if (!error->is_set && make_resources(&making, error) == 0 &&
	    make_process(fleet, error) == 0)
		result = fleet_tree_make_tree(&making, error);
	tree_builder_free(making.builder);
	free(making.chain);
	large_array_free(making.node_of_row);
	large_array_free(making.node);
	return result;
}

/* ---- members as parts of a resource ---- */

bool
fleet_has_members_apart(const struct fleet *fleet)
{
	uint64_t hits = 0, all = 0;

	if (fleet->key == NULL || strcmp(fleet->key, "id") != 0)
		return false;
	for (uint32_t r = 0; r < fleet->n_resources; r++)
		all += fleet->resources[r].total_hits;
	for (size_t i = 0; i < fleet->by.n; i++)
		hits += fleet->by.cells[i].hits;
	return hits == all;
}

/* The first resource: what most files have comes first. */
static const struct resource *
fleet_first_resource(const struct fleet *fleet)
{
	const struct resource *first = &fleet->resources[0].column;

	for (uint32_t r = 1; r < fleet->n_resources; r++) {
		const struct resource *other = &fleet->resources[r].column;

		if (other->n_files > first->n_files ||
		    (other->n_files == first->n_files &&
		     other->first_column < first->first_column))
			first = other;
	}
	return first;
}

/*
 * The resource, as the sum of all intervals; and what hits of the fleet's count
 * for in it, 0: they are of another one.  -1 if there is none of that name.
 */
static int
choose_resource(const struct fleet_making *making, const char *name,
                struct resource *sum)
{
	const struct fleet *fleet = making->fleet;
	const struct resource *found = name == NULL ?
	    fleet_first_resource(fleet) : NULL;

	for (uint32_t r = 0; found == NULL && r < fleet->n_resources; r++)
		if (strcmp(fleet->resources[r].column.name, name) == 0)
			found = &fleet->resources[r].column;
	if (found == NULL)
		return -1;
	*sum = (struct resource){ .name = found->name, .gtick = found->gtick,
		                  .interval = found->interval };
	for (uint32_t r = 0; r < fleet->n_resources; r++)
		if (is_same_resource(found, &fleet->resources[r].column))
			merge_column(sum, &fleet->resources[r].column, 0);
	for (uint32_t r = 0; r < fleet->n_resources; r++)
		making->factor[r] =
		    is_same_resource(found, &fleet->resources[r].column) ?
		    gticks_of_hit(&fleet->resources[r].column, sum) : 0;
	return 0;
}

static int
fleet_tree_add_parts(struct fleet_making *making, const struct resource *from,
                     uint32_t n, struct error *error)
{
	struct profile *profile = making->profile;

	if (n > RESOURCES_MAX)
		return error_set(error, "%" PRIu32 " members, and at most %d "
		                 "can be told apart", n, RESOURCES_MAX);
	for (uint32_t part = 0; part < n; part++) {
		struct resource *to;

		if (profile_add_resource(profile, from->name, from->gtick,
		                         from->interval, error) == UINT32_MAX)
			return -1;
		to = &profile->resources[part];
		to->part = part;
		to->counting = from->counting;
		to->drawn_most = from->drawn_most;
	}
	return 0;
}

static int
fleet_tree_add_part(const struct fleet_making *making, uint32_t row,
                    uint32_t r, uint32_t part, uint64_t hits,
                    uint64_t samples, struct error *error)
{
	if (making->factor[r] == 0 || (hits == 0 && samples == 0))
		return 0;
	if (__builtin_mul_overflow(hits, making->factor[r], &hits))
		return error_set(error, "the sum of %s exceeds 64 bits",
		                 making->fleet->resources[r].column.name);
	return tree_builder_add(making->builder, making->node_of_row[row],
	                        part, hits, samples, error);
}

static int
make_parts(struct fleet_making *making, bool are_apart, struct error *error)
{
	const struct fleet *fleet = making->fleet;

	for (uint32_t n = 0; n < fleet->n_nodes; n++)
		if (tree_builder_child(making->builder, fleet->parent[n],
		                       fleet->label[n], error) == NO_NODE)
			return -1;
	for (size_t i = 0; are_apart && i < fleet->by.n; i++) {
		const struct fleet_cell *cell = &fleet->by.cells[i];

		if (fleet_tree_add_part(making, cell->row,
		        fleet_resource_of(cell->code), fleet_part(cell->code),
		        cell->hits, cell->samples, error) != 0)
			return -1;
	}
	for (uint32_t r = 0; !are_apart && r < fleet->n_resources; r++)
		for (uint32_t row = 1; row < fleet->n_rows; row++)
			if (fleet_tree_add_part(making, row, r, 0,
			        fleet->resources[r].hits[row],
			        fleet->resources[r].samples[row], error) != 0)
				return -1;
	return 0;
}

int
fleet_make_runs(struct fleet *fleet, const char *name, struct error *error)
{
	struct fleet_making making = { .fleet = fleet,
		                       .profile = fleet->profile };
	const bool are_apart = fleet_has_members_apart(fleet);
	const uint32_t n = are_apart ? names_count(fleet->values) : 1;
	struct resource sum;
	int result = -1;

	making.factor = memory_array(fleet->n_resources,
	                             sizeof *making.factor, error);
	if (making.factor != NULL &&
	    choose_resource(&making, name, &sum) != 0)
		error_set(error, "no resource %.100s", name);
	if (!error->is_set &&
	    fleet_tree_add_parts(&making, &sum, n, error) == 0 &&
	    (making.builder = tree_builder_new(n, error)) != NULL &&
	    find_nodes_of_rows(&making, error) == 0)
		result = make_parts(&making, are_apart, error);
	if (result == 0) {
		fleet->profile->tree = tree_builder_finish(making.builder,
		                                           error);
		result = fleet->profile->tree != NULL ? 0 : -1;
	}
	tree_builder_free(making.builder);
	large_array_free(making.node_of_row);
	free(making.factor);
	return result;
}

/* ---- random groups ---- */

uint32_t
fleet_count_groups(const struct fleet *fleet)
{
	uint32_t n = 0;

	for (uint32_t g = 0; g < FLEET_GROUPS; g++)
		n += fleet->group_members[g] > 0;
	return n;
}

/* A part of a row's samples: as many of them as of its hits. */
static uint64_t
part_of_samples(const struct fleet_resource *resource, uint32_t row,
                uint64_t hits)
{
	uint64_t all = resource->hits[row];

	if (all == 0 || all == resource->samples[row])
		return hits;
	return (uint64_t)((long double)resource->samples[row] *
	                  (long double)hits / (long double)all + 0.5L);
}

/* Adds the hits of groups; column[group]: UINT32_MAX: it has no members. */
static int
fleet_tree_add_groups(const struct fleet_making *making, uint32_t wanted,
                      const uint32_t column[FLEET_GROUPS], struct error *error)
{
	const struct fleet *fleet = making->fleet;

	for (size_t i = 0; i < fleet->groups.n; i++) {
		const struct fleet_cell *cell = &fleet->groups.cells[i];
		uint32_t r = fleet_resource_of(cell->code);
		uint32_t to = column[fleet_part(cell->code)];

		if (making->resource[r] != wanted || to == UINT32_MAX)
			continue;
		/* No product overflows: that of the whole row did not. */
		if (tree_builder_add(making->builder,
		        making->node_of_row[cell->row], to,
		        cell->hits * making->factor[r],
		        part_of_samples(&fleet->resources[r], cell->row,
		                        cell->hits), error) != 0 ||
		    (i % NODES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
	}
	return 0;
}

struct fleet_groups *
fleet_groups_new(const struct fleet *fleet, uint32_t resource,
                 struct error *error)
{
	struct fleet_groups *groups = memory_array(1, sizeof *groups, error);
	struct fleet_making making = {
		.fleet = fleet,
		.profile = fleet->profile,
		.resource = fleet->shown_as,
		.factor = fleet->factor,
	};
	uint32_t column[FLEET_GROUPS];

	if (groups == NULL)
		return NULL;
	groups->resource = resource;
	groups->n_owners = 1;
	groups->first = fleet->profile->n_resources;
	for (uint32_t g = 0; g < FLEET_GROUPS; g++) {
		column[g] = UINT32_MAX;
		if (fleet->group_members[g] == 0)
			continue;
		column[g] = groups->first + groups->n;
		groups->members[groups->n++] =
		    (double)fleet->group_members[g];
	}
	making.builder = tree_builder_new(groups->first + groups->n, error);
	if (making.builder != NULL &&
	    find_nodes_of_rows(&making, error) == 0 &&
	    make_sum(&making, error) == 0 &&
	    fleet_tree_add_groups(&making, resource, column, error) == 0)
		groups->tree = tree_builder_finish(making.builder, error);
	tree_builder_free(making.builder);
	large_array_free(making.node_of_row);
	if (groups->tree != NULL)
		return groups;
	fleet_groups_release(groups);
	return NULL;
}

struct fleet_groups *
fleet_groups_share(struct fleet_groups *groups)
{
	if (groups != NULL)
		groups->n_owners++;
	return groups;
}

void
fleet_groups_release(struct fleet_groups *groups)
{
	if (groups == NULL || --groups->n_owners > 0)
		return;
	sample_tree_free(groups->tree);
	free(groups);
}
