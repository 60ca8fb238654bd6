/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hidden.c -- frames inside stacks that views do not show.
 *
 * A kind of them is a ready group.  Where a hidden frame has a caller, the two
 * become one frame, the caller's: hits of the one are hits of the other, and
 * what the one calls is called by the other.
 */
#include "src/refine/refine.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

static const struct {
	unsigned kind;		/* of enum hidden_frames */
	const char *group;
	bool has_callees;	/* what such a frame calls, and belongs to no
				 * module, is of the same kind */
} hidden_kinds[] = {
	{ HIDES_KERNEL, "@kernel", true },
};

enum {
	N_HIDDEN_KINDS = sizeof hidden_kinds / sizeof *hidden_kinds,
	HIDDEN_IS_KNOWN = 1 << 7,	/* in the arrays below */
};

struct hidden_known {
	const struct profile *profile;
	struct frame_pattern *groups[N_HIDDEN_KINDS];
	unsigned char *by_name, *by_module;	/* [names], [n_modules] the
						 * kinds, once known */
};

struct hidden_known *
hidden_known_new(const struct profile *profile, struct error *error)
{
	struct hidden_known *known = memory_array(1, sizeof *known, error);

	if (known == NULL)
		return NULL;
	known->profile = profile;
	known->by_name = memory_array(names_count(profile->names), 1, error);
	known->by_module = memory_array(profile->n_modules, 1, error);
	for (size_t i = 0; !error->is_set && i < N_HIDDEN_KINDS; i++) {
		const struct pattern_word word = {
			.text = hidden_kinds[i].group,
			.length = strlen(hidden_kinds[i].group),
		};

		known->groups[i] = frame_pattern_new(&word, error);
	}
	if (!error->is_set)
		return known;
	hidden_known_free(known);
	return NULL;
}

void
hidden_known_free(struct hidden_known *known)
{
	if (known == NULL)
		return;
	for (size_t i = 0; i < N_HIDDEN_KINDS; i++)
		frame_pattern_free(known->groups[i]);
	free(known->by_name);
	free(known->by_module);
	free(known);
}

unsigned
hidden_kinds_of(struct hidden_known *known, uint32_t number)
{
	const struct profile *profile = known->profile;
	const struct frame *frame = &profile->frames[number];
	const uint32_t name = profile->locations[frame->first_location].function;
	const bool has_module = frame->module != NO_MODULE;
	unsigned char *kinds = has_module ? &known->by_module[frame->module] :
	    &known->by_name[name];

	if (*kinds == 0) {
		const char *module = has_module ?
		    profile_module_name(profile, frame->module) : NULL;

		*kinds = HIDDEN_IS_KNOWN;
		for (size_t i = 0; i < N_HIDDEN_KINDS; i++)
			if (frame_pattern_has(known->groups[i], module,
			        names_text(profile->names, name),
			        names_length(profile->names, name)))
				*kinds |= (unsigned char)hidden_kinds[i].kind;
	}
	return *kinds & ~(unsigned)HIDDEN_IS_KNOWN;
}

int
hidden_is_present(const struct profile *profile, unsigned hidden,
                  struct error *error)
{
	int found = (hidden & HIDES_STARTUP) != 0 ?
	    startup_is_present(profile, error) : 0;
	struct hidden_known *known;

	if (found != 0 || (hidden & HIDES_INNER) == 0)
		return found;
	known = hidden_known_new(profile, error);
	for (uint32_t i = 0; known != NULL && found == 0 &&
	     i < profile->n_frames; i++)
		found = (hidden_kinds_of(known, i) & hidden) != 0;
	hidden_known_free(known);
	return known != NULL ? found : -1;
}

bool
hidden_has_function(const struct profile *profile, unsigned hidden,
                    uint32_t function)
{
	struct error ignored = { 0 };
	struct hidden_known *known = hidden_known_new(profile, &ignored);
	bool found = false, is_hidden = true;

	for (uint32_t i = 0; known != NULL && i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		for (uint32_t k = 0; k < frame->n_locations; k++) {
			if (profile->locations[frame->first_location +
			        k].function != function)
				continue;
			found = true;
			is_hidden &= (hidden_kinds_of(known, i) &
			              hidden) != 0;
		}
	}
	hidden_known_free(known);
	return found && is_hidden;
}

/* The kinds of a node, by its frame and by its caller's kinds. */
static unsigned
hidden_kinds_of_node(struct hidden_known *known, uint32_t frame,
                     unsigned caller)
{
	unsigned kinds = hidden_kinds_of(known, frame);

	if (known->profile->frames[frame].module != NO_MODULE)
		return kinds;
	for (size_t i = 0; i < N_HIDDEN_KINDS; i++)
		if (hidden_kinds[i].has_callees)
			kinds |= caller & hidden_kinds[i].kind;
	return kinds;
}

int
hidden_join(const struct profile *profile, const struct sample_tree *tree,
            const uint32_t *frame_of, unsigned hidden,
            unsigned char **joined, struct error *error)
{
	struct hidden_known *known = hidden_known_new(profile, error);
	unsigned char *kinds = NULL, *is_joined = NULL;
	bool any = false;

	*joined = NULL;
	if (known == NULL ||
	    large_array_reserve(&kinds, tree->n_nodes, 1, error) != 0 ||
	    large_array_zeroed(&is_joined, tree->n_nodes, 1, error) != 0) {
		large_array_free(kinds);
		hidden_known_free(known);
		return -1;
	}
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const uint32_t parent = tree->parent[node];
		const bool has_caller = parent != NO_NODE;

		kinds[node] = (unsigned char)hidden_kinds_of_node(known,
		    frame_of[tree->label[node]],
		    has_caller ? kinds[parent] : 0);
		/* Without a caller that is shown, it stays. */
		if (!has_caller || (kinds[node] & hidden) == 0 ||
		    ((kinds[parent] & hidden) != 0 && !is_joined[parent]))
			continue;
		is_joined[node] = 1;
		any = true;
	}
	large_array_free(kinds);
	hidden_known_free(known);
	if (any)
		*joined = is_joined;
	else
		large_array_free(is_joined);
	return 0;
}
