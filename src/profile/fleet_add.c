/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_add.c -- adds profiles to a fleet.
 *
 * First what nodes refer to, with a map from the profile's numbers to those of
 * the fleet; then the nodes; then counts.  Stacks that are the same but for
 * their thread or labels become one, so the weights of a member are summed up
 * by the fleet's nodes.
 */
#include "src/profile/fleet.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/large_array.h"
#include "src/profile/profile_merge.h"
#include "src/profile/sections.h"
#include "src/profile/stack_list.h"

enum { NODES_A_STEP = 65536, AHEAD = 16 };

/* One profile that is being added. */
struct addition {
	struct fleet *fleet;
	const struct profile *from;
	const struct fleet *old;	/* what it is, if it is merged itself */
	const struct fleet_identity *identity;
	uint32_t *resource, *module, *frame, *node;	/* maps */
	uint32_t *member;
	uint32_t *stack_frames;	/* scratch: frames of some stacks */
	size_t stack_frames_capacity;
	uint32_t n_nodes;
	const uint32_t *parent, *label;	/* parent: NULL: as in the tree */
};

/* The group of a member: 0 to FLEET_GROUPS - 1. */
static uint32_t
fleet_group(const char *id)
{
	return (uint32_t)(XXH3_64bits(id, strlen(id)) % FLEET_GROUPS);
}

/* ---- resources, tallies and processes ---- */

static int
fleet_add_sources(struct fleet *fleet, uint32_t resource, const char *sources,
                  struct error *error)
{
	while (sources != NULL && *sources != '\0') {
		const char *end = strstr(sources, "; ");
		size_t length = end != NULL ? (size_t)(end - sources) :
		                strlen(sources);

		if (names_add_pair(fleet->sources, sources, length, &resource,
		                   sizeof resource, error) == NO_NAME)
			return -1;
		sources = end != NULL ? end + strlen("; ") : NULL;
	}
	return 0;
}

/* column: the resource's own place. */
static int
map_resource(struct addition *addition, uint32_t column,
             const struct resource *from, struct error *error)
{
	struct fleet *fleet = addition->fleet;
	const uint32_t number = fleet_add_resource(fleet, from->name,
	    from->gtick, from->interval, error);
	struct resource *to;

	if (number == UINT32_MAX)
		return -1;
	addition->resource[column] = number;
	to = &fleet->resources[number].column;
	merge_column(to, from, column);
	merge_add_losses(to, from->lost, 1);
	return fleet_add_sources(fleet, number, from->source, error);
}

static int
map_resources(struct addition *addition, struct error *error)
{
	const struct profile *from = addition->from;

	for (uint32_t r = 0; r < from->n_resources; r++)
		if (map_resource(addition, r, &from->resources[r], error) != 0)
			return -1;
	return 0;
}

static int
map_merged_resources(struct addition *addition, struct error *error)
{
	const struct fleet *old = addition->old;
	struct fleet *fleet = addition->fleet;

	for (uint32_t r = 0; r < old->n_resources; r++)
		if (map_resource(addition, r, &old->resources[r].column,
		                 error) != 0)
			return -1;
	for (uint32_t i = 0; i < names_count(old->sources); i++) {
		const char *source = names_text(old->sources, i);
		uint32_t r;

		memcpy(&r, source + strlen(source) + 1, sizeof r);
		if (fleet_add_sources(fleet, addition->resource[r], source,
		                      error) != 0)
			return -1;
	}
	return 0;
}

/* Of tallies with the same text the kind is the first in the enumeration. */
static int
fleet_add_tallies(struct profile *to, const struct profile *from,
                  struct error *error)
{
	for (uint32_t i = 0; i < from->n_tallies; i++) {
		const struct tally *tally = &from->tallies[i];
		struct tally *known;

		if (profile_copy_tally(to, tally, error) != 0)
			return -1;
		for (known = to->tallies; strcmp(known->what, tally->what) != 0;)
			known++;
		if (tally->loss < known->loss)
			known->loss = tally->loss;
	}
	return 0;
}

/* What two of them agree on. */
static int
agree(struct fleet *fleet, const char **known, const char *text,
      struct error *error)
{
	if (text == NULL || *known == fleet_several)
		return 0;
	if (text == fleet_several ||
	    (*known != NULL && strcmp(*known, text) != 0))
		*known = fleet_several;
	else if (*known == NULL)
		*known = arena_text(&fleet->profile->arena, text,
		                    strlen(text), error);
	return *known != NULL ? 0 : -1;
}

static int
fleet_add_process(struct fleet *fleet, const struct fleet_process *from,
                  struct error *error)
{
	struct fleet_process *to = &fleet->process;

	if (agree(fleet, &to->program, from->program, error) != 0 ||
	    agree(fleet, &to->command, from->command, error) != 0 ||
	    agree(fleet, &to->host, from->host, error) != 0)
		return -1;
	if (from->start_ns != 0 &&
	    (to->start_ns == 0 || from->start_ns < to->start_ns))
		to->start_ns = from->start_ns;
	if (from->end_ns > to->end_ns)
		to->end_ns = from->end_ns;
	count_add(&to->cpu_ns, from->cpu_ns);
	count_add(&to->sampling_ns, from->sampling_ns);
	to->is_cpu_unknown |= from->is_cpu_unknown;
	to->cpu_is_least |= from->cpu_is_least;
	return 0;
}

static int
fleet_add_processes(struct fleet *fleet, const struct profile *from,
                    struct error *error)
{
	for (uint32_t i = 0; i < from->n_processes; i++) {
		const struct process *process = &from->processes[i];
		const struct fleet_process one = {
			process->program, process->command, process->host,
			process->start_ns, process->end_ns, process->cpu_ns,
			process->sampling_ns, process->cpu_ns == 0,
			process->cpu_is_least,
		};

		if (fleet_add_process(fleet, &one, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- nodes ---- */

/* The fleet's number of a frame, entered if some node has it. */
static uint32_t
map_frame(struct addition *addition, uint32_t frame, struct error *error)
{
	const struct profile *from = addition->from;
	uint32_t module = from->frames[frame].module;

	if (addition->frame[frame] != UINT32_MAX)
		return addition->frame[frame];
	if (module != NO_MODULE && addition->module[module] == UINT32_MAX &&
	    frame_union_module(addition->fleet->frames, &from->modules[module],
	                       &addition->module[module], error) != 0)
		return UINT32_MAX;
	return frame_union_frame(addition->fleet->frames, from, frame,
	                         addition->module, &addition->frame[frame],
	                         error) == 0 ?
	       addition->frame[frame] : UINT32_MAX;
}

static int
map_nodes(struct addition *addition, struct error *error)
{
	for (uint32_t n = 0; n < addition->n_nodes; n++) {
		uint32_t parent = addition->parent != NULL ?
		    addition->parent[n] :
		    sample_tree_parent(addition->from->tree, n);
		uint32_t frame = map_frame(addition, addition->label[n],
		                           error);

		if (frame == UINT32_MAX)
			return -1;
		addition->node[n] = fleet_add_node(addition->fleet,
		    parent == NO_NODE ? NO_NODE : addition->node[parent],
		    frame, error);
		if (addition->node[n] == UINT32_MAX ||
		    (n % NODES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
	}
	return 0;
}

/* ---- whole stacks ---- */

/* Finds the nodes of n stacks; label_frames: the fleet's that are known. */
static int
map_some_stacks(struct addition *addition, uint32_t *label_frames,
                uint32_t first, uint32_t n, struct error *error)
{
	const struct stack_list *list = addition->from->stacks;
	uint32_t lengths[FLEET_STACKS_MAX];
	size_t n_frames = list->first[first + n] - list->first[first];

	if (memory_grow(&addition->stack_frames,
	                &addition->stack_frames_capacity, n_frames,
	                sizeof *addition->stack_frames, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		lengths[i] = list->first[first + i + 1] -
		             list->first[first + i];
	for (size_t i = 0; i < n_frames; i++) {
		uint32_t label = list->labels[list->first[first] + i];
		uint32_t *frame = &label_frames[label];

		if (*frame == UINT32_MAX)
			*frame = map_frame(addition, list->frames[label],
			                   error);
		if (*frame == UINT32_MAX)
			return -1;
		addition->stack_frames[i] = *frame;
	}
	return fleet_find_stacks(addition->fleet, addition->stack_frames,
	                         lengths, n, addition->node + first, error);
}

static int
map_stacks(struct addition *addition, struct error *error)
{
	const struct stack_list *list = addition->from->stacks;
	uint32_t *label_frames = memory_array(list->n_frames,
	                                      sizeof *label_frames, error);
	int result = label_frames != NULL ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < list->n_frames; i++)
		label_frames[i] = UINT32_MAX;
	for (uint32_t i = 0; result == 0 && i < list->n;
	     i += FLEET_STACKS_MAX) {
		uint32_t left = list->n - i;

		result = map_some_stacks(addition, label_frames, i,
		    left < FLEET_STACKS_MAX ? left : FLEET_STACKS_MAX, error);
		if (result == 0 && i % NODES_A_STEP == 0)
			result = progress_step(NULL, 0, 0, error);
	}
	free(label_frames);
	return result;
}

static int
add_returns(struct addition *addition, const uint64_t *returns,
            struct error *error)
{
	for (uint32_t n = 0; returns != NULL && n < addition->n_nodes; n++)
		if (fleet_add_returns(addition->fleet, addition->node[n],
		                      returns[n], error) != 0)
			return -1;
	return 0;
}

/* ---- a member ---- */

/* What a section has of the key; NULL: nothing. */
static const char *
fleet_add_value_of(const struct profile *from, const struct section *section,
                   const struct fleet_identity *identity)
{
	const char *key = identity->key;
	uint32_t process = section_process(from, section);
	const struct label *label = section_label(from, section, key);

	if (label != NULL)
		return names_text(from->names, label->value);
	if (strcmp(key, "id") == 0)
		return identity->id;
	if (strcmp(key, "host") == 0 && process != NO_PROCESS)
		return from->processes[process].host;
	if (strcmp(key, "process") == 0 && process != NO_PROCESS)
		return process_title(from, process);
	if (strcmp(key, "thread") == 0 && section->thread != NO_THREAD)
		return thread_title(from, section->thread);
	return NULL;
}

/* The number of each section's value; NO_NAME: none.  [n_sections + 1] */
static uint32_t *
find_values(const struct addition *addition, struct error *error)
{
	const struct profile *from = addition->from;
	uint32_t *values = memory_array((size_t)from->n_sections + 1,
	                                sizeof *values, error);

	for (uint32_t i = 0; values != NULL && i <= from->n_sections; i++) {
		struct section section = section_of(from, i);
		const char *value = fleet_add_value_of(from, &section,
		                                       addition->identity);

		values[i] = value == NULL ? NO_NAME :
		    names_add(addition->fleet->values, value, strlen(value),
		              error);
		if (!error->is_set && values[i] != NO_NAME &&
		    values[i] >= FLEET_VALUES_MAX)
			error_set(error, "more than %d values of %s",
			          FLEET_VALUES_MAX, addition->identity->key);
	}
	if (!error->is_set)
		return values;
	free(values);
	return NULL;
}

/* Adds a node's own counts; value: of the key, or NO_NAME. */
static int
add_node_counts(struct addition *addition, uint32_t n, uint32_t group,
                uint32_t value, struct error *error)
{
	const struct sample_tree *tree = addition->from->tree;
	struct fleet *fleet = addition->fleet;
	uint32_t row;

	if (!sample_tree_has_row(tree, n))
		return 0;
	row = fleet_need_row(fleet, addition->node[n], error);
	if (row == UINT32_MAX)
		return -1;
	for (uint32_t r = 0; r < tree->n_resources; r++) {
		uint32_t to = addition->resource[r];
		uint64_t hits = sample_tree_hits(tree, r, n);
		uint64_t samples = sample_tree_samples(tree, r, n);

		if (hits == 0 && samples == 0)
			continue;
		if (fleet_add_counts(fleet, row, to, hits, samples,
		                     error) != 0 ||
		    (hits != 0 && fleet_add_group(fleet, row, group, to, hits,
		                                  error) != 0) ||
		    (value != NO_NAME &&
		     fleet_add_cell(&fleet->by, row, fleet_code(value, to),
		                    hits, samples, error) != 0))
			return -1;
	}
	return 0;
}

/* Has what add_node_counts will need of a node brought into the cache. */
static void
prefetch_counts(const struct addition *addition, uint32_t n, uint32_t group)
{
	const struct fleet *fleet = addition->fleet;
	uint32_t row;

	if (n + 2 * AHEAD < addition->n_nodes)
		__builtin_prefetch(&fleet->row[addition->node[n + 2 * AHEAD]]);
	if (n + AHEAD >= addition->n_nodes)
		return;
	row = fleet->row[addition->node[n + AHEAD]];
	for (uint32_t r = 0; row != 0 && r < addition->from->n_resources;
	     r++) {
		uint32_t to = addition->resource[r];

		__builtin_prefetch(&fleet->resources[to].hits[row], 1);
		__builtin_prefetch(&fleet->resources[to].samples[row], 1);
		if (fleet->lines != NULL)
			fleet_lines_prefetch(fleet->lines, row,
			                     fleet_code(group, to));
	}
}

static int
add_counts(struct addition *addition, struct error *error)
{
	const struct profile *from = addition->from;
	uint32_t *values = NULL, *section = NULL;
	uint32_t group = fleet_group(addition->identity->id);
	int result = 0;

	if (addition->identity->key != NULL) {
		values = find_values(addition, error);
		section = values != NULL ? sections_of_nodes(from, error) :
		          NULL;
		result = section != NULL ? 0 : -1;
	}
	for (uint32_t n = 0; result == 0 && n < addition->n_nodes; n++) {
		prefetch_counts(addition, n, group);
		result = add_node_counts(addition, n, group, values == NULL ?
		    NO_NAME : values[section[n]], error);
	}
	free(values);
	large_array_free(section);
	return result;
}

/* Offers the member for each of its nodes. */
static void
offer_member(struct addition *addition, uint32_t member)
{
	const struct sample_tree *tree = addition->from->tree;
	struct fleet *fleet = addition->fleet;

	for (uint32_t n = 0; n < addition->n_nodes; n++) {
		if (n + AHEAD < addition->n_nodes)
			__builtin_prefetch(&fleet->weight[(size_t)
			    addition->node[n + AHEAD] * fleet->n_weights], 1);
		for (uint32_t r = 0; r < tree->n_resources; r++) {
			uint64_t hits = sample_tree_hits(tree, r, n);

			if (hits != 0)
				fleet_add_weight(fleet, addition->node[n], r,
				                 hits);
		}
	}
	fleet_offer_weights(fleet, addition->resource, tree->n_resources,
	                    addition->node, addition->n_nodes, member);
}

static int
add_member(struct addition *addition, struct error *error)
{
	struct fleet *fleet = addition->fleet;
	const struct profile *from = addition->from;
	const struct fleet_identity *identity = addition->identity;
	uint32_t group = fleet_group(identity->id), member;

	if ((identity->key != NULL &&
	     fleet_set_key(fleet, identity->key, error) != 0) ||
	    map_resources(addition, error) != 0 ||
	    (from->stacks != NULL ? map_stacks(addition, error) :
	     map_nodes(addition, error)) != 0 ||
	    add_returns(addition, from->tree->returns, error) != 0 ||
	    add_counts(addition, error) != 0 ||
	    fleet_add_processes(fleet, from, error) != 0)
		return -1;
	member = fleet_add_member(fleet, identity->id, identity->name, error);
	if (member == UINT32_MAX ||
	    fleet_reserve_weights(fleet, from->n_resources, error) != 0)
		return -1;
	offer_member(addition, member);
	count_add(&fleet->n_members, 1);
	count_add(&fleet->group_members[group], 1);
	count_add(&fleet->n_warned, from->n_warnings > 0);
	return 0;
}

/* ---- a merged profile ---- */

static int
map_members(struct addition *addition, struct error *error)
{
	const struct fleet *old = addition->old;

	for (uint32_t i = 0; i < old->n_listed; i++) {
		addition->member[i] = fleet_add_member(addition->fleet,
		    old->members[i].id, old->members[i].name, error);
		if (addition->member[i] == UINT32_MAX)
			return -1;
	}
	return 0;
}

static void
offer_members(const struct addition *addition)
{
	const struct fleet *old = addition->old;

	for (uint32_t r = 0; r < old->n_resources; r++) {
		const struct fleet_resource *resource = &old->resources[r];

		for (uint32_t n = 0; n < old->n_nodes; n++)
			if (resource->most_hits[n] != 0)
				fleet_offer_most(addition->fleet,
				    addition->resource[r], addition->node[n],
				    resource->most_hits[n],
				    addition->member[resource->most_member[n]]);
	}
}

/* Adds all rows; row_map[n_rows] becomes the fleet's rows. */
static int
fleet_add_rows(const struct addition *addition, uint32_t *row_map,
               struct error *error)
{
	const struct fleet *old = addition->old;
	struct fleet *fleet = addition->fleet;

	for (uint32_t n = 0; n < old->n_nodes; n++) {
		uint32_t row = old->row[n], to;

		if (row == 0)
			continue;
		to = row_map[row] = fleet_need_row(fleet, addition->node[n],
		                                   error);
		for (uint32_t r = 0; r < old->n_resources; r++)
			if (to == UINT32_MAX ||
			    fleet_add_counts(fleet, to, addition->resource[r],
			                     old->resources[r].hits[row],
			                     old->resources[r].samples[row],
			                     error) != 0)
				return -1;
	}
	return 0;
}

static int
fleet_add_groups(const struct addition *addition, const uint32_t *row_map,
                 struct error *error)
{
	const struct fleet_cells *from = &addition->old->groups;

	for (size_t i = 0; i < from->n; i++) {
		const struct fleet_cell *cell = &from->cells[i];
		uint32_t r = fleet_resource_of(cell->code);

		if (fleet_add_group(addition->fleet, row_map[cell->row],
		                    fleet_part(cell->code),
		                    addition->resource[r], cell->hits,
		                    error) != 0 ||
		    (i % NODES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
	}
	return 0;
}

static int
fleet_add_cells(const struct addition *addition, const uint32_t *row_map,
                const uint32_t *value_map, struct error *error)
{
	const struct fleet_cells *from = &addition->old->by;

	for (size_t i = 0; i < from->n; i++) {
		const struct fleet_cell *cell = &from->cells[i];
		uint32_t value = value_map[fleet_part(cell->code)];
		uint32_t r = fleet_resource_of(cell->code);

		if (fleet_add_cell(&addition->fleet->by, row_map[cell->row],
		                   fleet_code(value, addition->resource[r]),
		                   cell->hits, cell->samples, error) != 0 ||
		    (i % NODES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
	}
	return 0;
}

static int
fleet_add_values(const struct addition *addition, const uint32_t *row_map,
                 struct error *error)
{
	const struct fleet *old = addition->old;
	struct fleet *fleet = addition->fleet;
	uint32_t n = names_count(old->values);
	uint32_t *value_map;
	int result = 0;

	if (old->key == NULL)
		return 0;
	if (fleet_set_key(fleet, old->key, error) != 0)
		return -1;
	value_map = memory_array(n, sizeof *value_map, error);
	if (value_map == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		value_map[i] = names_add(fleet->values,
		    names_text(old->values, i), names_length(old->values, i),
		    error);
		if (!error->is_set && value_map[i] >= FLEET_VALUES_MAX)
			error_set(error, "more than %d values of %s",
			          FLEET_VALUES_MAX, old->key);
	}
	result = error->is_set ? -1 :
	    fleet_add_cells(addition, row_map, value_map, error);
	free(value_map);
	return result;
}

static int
add_parts(const struct addition *addition, struct error *error)
{
	const struct fleet *old = addition->old;
	struct fleet *fleet = addition->fleet;
	uint32_t *row_map = NULL;
	int result = -1;

	if (large_array_zeroed(&row_map, old->n_rows, sizeof *row_map,
	                       error) == 0 &&
	    fleet_add_rows(addition, row_map, error) == 0 &&
	    fleet_add_groups(addition, row_map, error) == 0 &&
	    fleet_add_values(addition, row_map, error) == 0)
		result = 0;
	large_array_free(row_map);
	for (uint32_t g = 0; g < FLEET_GROUPS; g++)
		count_add(&fleet->group_members[g], old->group_members[g]);
	count_add(&fleet->n_members, old->n_members);
	count_add(&fleet->n_warned, old->n_warned);
	return result;
}

static int
add_merged(struct addition *addition, struct error *error)
{
	const struct fleet *old = addition->old;

	addition->member = memory_array(old->n_listed,
	                                sizeof *addition->member, error);
	if (addition->member == NULL ||
	    (addition->identity->key != NULL &&
	     fleet_set_key(addition->fleet, addition->identity->key,
	                   error) != 0) ||
	    map_merged_resources(addition, error) != 0 ||
	    map_nodes(addition, error) != 0 ||
	    add_returns(addition, old->returns, error) != 0 ||
	    map_members(addition, error) != 0 ||
	    add_parts(addition, error) != 0 ||
	    fleet_add_process(addition->fleet, &old->process, error) != 0)
		return -1;
	offer_members(addition);
	return 0;
}

/* ---- both ---- */

int
fleet_add_profile(struct fleet *fleet, const struct profile *from,
                  const struct fleet_identity *identity, struct error *error)
{
	const struct fleet *old = from->fleet;
	const struct sample_tree *tree = from->tree;
	struct addition addition = {
		.fleet = fleet, .from = from, .identity = identity,
		.old = old,
		.n_nodes = old != NULL ? old->n_nodes : tree->n_nodes,
		.parent = old != NULL ? old->parent : NULL,
		.label = old != NULL ? old->label : tree->label,
	};
	int result = -1;

	if (fleet->frames == NULL)
		/* The file of a merged profile has no place for origins. */
		fleet->frames = frame_union_new(fleet->profile, false, error);
	if (fleet->frames == NULL ||
	    frame_union_begin(fleet->frames, from, error) != 0)
		return -1;
	addition.resource = memory_array(old != NULL ? old->n_resources :
	                                 from->n_resources, sizeof(uint32_t),
	                                 error);
	addition.module = memory_array(from->n_modules, sizeof(uint32_t),
	                               error);
	addition.frame = memory_array(from->n_frames, sizeof(uint32_t), error);
	if (!error->is_set) {
		memset(addition.module, 0xff,
		       from->n_modules * sizeof(uint32_t));
		memset(addition.frame, 0xff, from->n_frames * sizeof(uint32_t));
	}
	if (!error->is_set &&
	    large_array_reserve(&addition.node, addition.n_nodes,
	                        sizeof(uint32_t), error) == 0 &&
	    fleet_add_tallies(fleet->profile, from, error) == 0)
		result = old != NULL ? add_merged(&addition, error) :
		         add_member(&addition, error);
	free(addition.resource);
	free(addition.module);
	free(addition.frame);
	free(addition.member);
	large_array_free(addition.node);
	free(addition.stack_frames);
	return result;
}
