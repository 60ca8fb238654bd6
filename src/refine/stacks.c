/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stacks.c -- a profile's stacks before they are refined. */
#include "src/refine/refining.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/index.h"
#include "src/base/memory.h"
#include "src/profile/frame_labels.h"
#include "src/profile/large_array.h"
#include "src/refine/refine.h"

static bool
is_kind(const void *kinds, uint32_t number, const void *key)
{
	const struct frame_kind *a = &((const struct frame_kind *)kinds)[number];
	const struct frame_kind *b = key;

	return memcmp(a->names, b->names, sizeof a->names) == 0 &&
	    a->module == b->module && a->file == b->file;
}

/* The number of a kind, entered if it is new; NO_INDEX with *error set. */
static uint32_t
stacks_add_kind(struct stacks *stacks, struct index *index,
                const struct frame_kind *kind, struct error *error)
{
	uint64_t key = (uint64_t)kind->module << 32 | kind->file;
	struct index_slot *slot;
	uint32_t hash;

	for (int g = 0; g < N_GRANULARITIES; g++)
		key = key * UINT64_C(0x9e3779b97f4a7c15) + kind->names[g];
	hash = index_hash(key);
	slot = index_seek(index, hash, is_kind, stacks->kinds, kind, error);
	if (slot == NULL)
		return NO_INDEX;
	if (slot->number != 0)
		return slot->number - 1;
	if (memory_grow(&stacks->kinds, &stacks->kinds_capacity,
	                (size_t)stacks->n_kinds + 1, sizeof *stacks->kinds,
	                error) != 0)
		return NO_INDEX;
	stacks->kinds[stacks->n_kinds] = *kind;
	index_fill(index, slot, hash, stacks->n_kinds);
	return stacks->n_kinds++;
}

/* The labels of each granularity in use. */
struct all_labels {
	struct frame_labels of[N_GRANULARITIES];
	uint32_t *modules;	/* [n_modules] their names */
	unsigned used;		/* 1 << each */
};

static int
stacks_make_labels(struct all_labels *labels, struct profile *profile,
                   const struct naming_rule *rule, unsigned granularities,
                   struct error *error)
{
	struct naming_rule other = *rule;

	/* The locations that a frame shows are those of the functions. */
	labels->used = granularities | 1u << rule->granularity |
	    1u << GRANULARITY_FUNCTION;
	labels->modules = memory_array(profile->n_modules,
	                               sizeof *labels->modules, error);
	for (uint32_t i = 0; labels->modules != NULL &&
	     i < profile->n_modules; i++) {
		const char *name = profile_module_name(profile, i);

		labels->modules[i] = names_add(profile->names, name,
		                               strlen(name), error);
	}
	if (error->is_set)
		return -1;
	for (int g = 0; g < N_GRANULARITIES; g++) {
		other.granularity = (enum granularity)g;
		if (labels->used & 1u << g && frame_labels_make(
		    &labels->of[g], profile, &other, error) != 0)
			return -1;
	}
	return 0;
}

/*
 * The kind of the k-th location that a frame shows.  known: of hidden frames;
 * NULL: the interpreter's are shown.
 */
static struct frame_kind
kind_at(const struct profile *profile, const struct all_labels *labels,
        struct hidden_known *known, uint32_t number, uint32_t k)
{
	const uint32_t part = known == NULL ? NO_NAME :
	    hidden_part_name(known, number, k);
	const struct frame *frame = &profile->frames[number];
	struct frame_kind kind = {
		.module = frame->module == NO_MODULE ? NO_NAME :
		    labels->modules[frame->module],
		.file = profile->locations[frame->first_location + k].file,
		.group = NO_NAME,
	};

	for (int g = 0; g < N_GRANULARITIES; g++) {
		const struct frame_labels *of = &labels->of[g];

		if (labels->used & 1u << g)
			kind.names[g] = part != NO_NAME &&
			    !granularity_is_whole((enum granularity)g) ? part :
			    of->labels[of->first[number] +
			    (granularity_is_whole((enum granularity)g) ?
			     0 : k)];
	}
	return kind;
}

static int
find_kinds(struct stacks *stacks, const struct all_labels *labels,
           struct hidden_known *known, struct error *error)
{
	const struct profile *profile = stacks->profile;
	const struct frame_labels *functions =
	    &labels->of[GRANULARITY_FUNCTION];
	struct index index = { 0 };
	int result = 0;

	for (uint32_t e = 0, i = 0; result == 0 && e < stacks->n_elements;
	     e++) {
		struct frame_kind kind;

		while (e >= functions->first[i + 1])
			i++;
		kind = kind_at(profile, labels, known, i,
		               e - functions->first[i]);
		stacks->frame_of[e] = i;
		stacks->kind_of[e] = stacks_add_kind(stacks, &index, &kind,
		                                     error);
		if (stacks->kind_of[e] == NO_INDEX)
			result = -1;
	}
	index_free(&index);
	return result;
}

/* Copies section[n], unless it is NULL. */
static int
keep_sections(struct stacks *stacks, const uint32_t *section, uint32_t n,
              struct error *error)
{
	if (section == NULL)
		return 0;
	if (large_array_reserve(&stacks->section, n, sizeof *section,
	                        error) != 0)
		return -1;
	if (n > 0)
		memcpy(stacks->section, section, n * sizeof *section);
	return 0;
}

/* Gives each name of a frame's chain a node of its own. */
static int
spread_chains(struct stacks *stacks, const struct sample_tree *tree,
              const uint32_t *section, const struct frame_labels *labels,
              struct error *error)
{
	uint32_t *elements;

	if (stacks->n_elements == stacks->profile->n_frames) {
		stacks->tree = tree;
		return keep_sections(stacks, section, tree->n_nodes, error);
	}
	elements = memory_array(stacks->n_elements, sizeof *elements, error);
	if (elements == NULL)
		return -1;
	for (uint32_t e = 0; e < stacks->n_elements; e++)
		elements[e] = e;
	stacks->tree = stacks->spread =
	    sample_tree_spread(tree, labels->first, elements, section,
	                       &stacks->section, error);
	free(elements);
	return stacks->tree != NULL ? 0 : -1;
}

/* Hides frames of these kinds; known: NULL where there are none. */
static int
stacks_hide(struct stacks *stacks, unsigned hidden, struct hidden_known *known,
            struct error *error)
{
	int result = 0;

	if (hidden == 0)
		return 0;
	if ((hidden & (HIDES_STARTUP | HIDES_INTERPRETER)) != 0)
		result = startup_fold(stacks->profile, known, stacks->tree,
		                      stacks->frame_of, hidden,
		                      &stacks->folded, &stacks->section,
		                      error);
	if (stacks->folded != NULL)
		stacks->tree = stacks->folded;
	if (result == 0 && (hidden & HIDES_INNER) != 0)
		result = hidden_join(known, stacks->tree, stacks->frame_of,
		                     hidden, &stacks->joined, error);
	return result;
}

int
stacks_make(struct stacks *stacks, struct profile *profile,
            const struct sample_tree *tree, const uint32_t *section,
            const struct naming_rule *rule, unsigned granularities,
            unsigned hidden, struct error *error)
{
	struct hidden_known *known = hidden == 0 ? NULL :
	    hidden_known_new(profile, error);
	struct all_labels labels = { 0 };
	int result = -1;

	*stacks = (struct stacks){
		.profile = profile,
		.granularity = rule->granularity,
	};
	if (!error->is_set && stacks_make_labels(&labels, profile, rule,
	        granularities, error) == 0) {
		const struct frame_labels *functions =
		    &labels.of[GRANULARITY_FUNCTION];
		uint32_t n = functions->first[profile->n_frames];

		stacks->n_elements = n;
		stacks->frame_of = memory_array(n, sizeof *stacks->frame_of,
		                                error);
		stacks->kind_of = memory_array(n, sizeof *stacks->kind_of,
		                               error);
		if (stacks->frame_of != NULL && stacks->kind_of != NULL &&
		    find_kinds(stacks, &labels,
		        (hidden & HIDES_INTERPRETER) != 0 ? known : NULL,
		        error) == 0)
			result = spread_chains(stacks, tree, section,
			                       functions, error);
	}
	for (int g = 0; g < N_GRANULARITIES; g++)
		frame_labels_free(&labels.of[g]);
	free(labels.modules);
	if (result == 0)
		result = stacks_hide(stacks, hidden, known, error);
	hidden_known_free(known);
	return result;
}

/* Gives the locations of a frame the kinds of the names that it is shown by. */
static int
find_location_kinds(struct stacks *stacks, const struct all_labels *labels,
                    struct hidden_known *known, struct index *index,
                    uint32_t number, struct error *error)
{
	const struct frame *frame = &stacks->profile->frames[number];
	const uint32_t *first =
	    &labels->of[GRANULARITY_FUNCTION].first[number];
	uint32_t n_shown = first[1] - first[0];

	for (uint32_t k = 0; k < frame->n_locations; k++) {
		uint32_t element = frame->first_location + k;
		struct frame_kind kind;

		stacks->is_joined[element] = k >= n_shown;
		if (k >= n_shown) {
			stacks->kind_of[element] = stacks->kind_of[element - 1];
			continue;
		}
		kind = kind_at(stacks->profile, labels, known, number, k);
		stacks->kind_of[element] = stacks_add_kind(stacks, index, &kind,
		                                           error);
		if (stacks->kind_of[element] == NO_INDEX)
			return -1;
	}
	return 0;
}

int
stacks_make_of_locations(struct stacks *stacks, struct profile *profile,
                         const struct sample_tree *tree,
                         const uint32_t *section, const uint32_t *frame_of,
                         const struct naming_rule *rule,
                         unsigned granularities, unsigned hidden,
                         struct error *error)
{
	struct all_labels labels = { 0 };
	struct index index = { 0 };
	uint32_t n = profile->n_locations;
	struct hidden_known *known = hidden == 0 ? NULL :
	    hidden_known_new(profile, error);
	int result;

	*stacks = (struct stacks){
		.profile = profile,
		.tree = tree,
		.granularity = rule->granularity,
		.n_elements = n,
	};
	result = error->is_set ? -1 :
	    keep_sections(stacks, section, tree->n_nodes, error);
	if (stacks_make_labels(&labels, profile, rule, granularities,
	                       error) != 0)
		result = -1;
	stacks->frame_of = memory_copy(frame_of, n, sizeof *frame_of, error);
	stacks->kind_of = memory_array(n, sizeof *stacks->kind_of, error);
	stacks->is_joined = memory_array(n, sizeof *stacks->is_joined, error);
	if (stacks->frame_of == NULL || stacks->kind_of == NULL ||
	    stacks->is_joined == NULL)
		result = -1;
	for (uint32_t i = 0; result == 0 && i < profile->n_frames; i++)
		result = find_location_kinds(stacks, &labels,
		    (hidden & HIDES_INTERPRETER) != 0 ? known : NULL, &index,
		    i, error);
	index_free(&index);
	for (int g = 0; g < N_GRANULARITIES; g++)
		frame_labels_free(&labels.of[g]);
	free(labels.modules);
	if (result == 0)
		result = stacks_hide(stacks, hidden, known, error);
	hidden_known_free(known);
	return result;
}

void
stacks_free(struct stacks *stacks)
{
	sample_tree_free(stacks->folded);
	sample_tree_free(stacks->spread);
	large_array_free(stacks->joined);
	large_array_free(stacks->section);
	free(stacks->frame_of);
	free(stacks->kind_of);
	free(stacks->is_joined);
	free(stacks->kinds);
	*stacks = (struct stacks){ 0 };
}
