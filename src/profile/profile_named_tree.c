/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_named_tree.c -- a profile's stacks as names.
 *
 * Every frame gets a chain of names, and the tree is relabelled with them.
 * Where frame i is just the name i there is nothing to do.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/profile.h"

static bool
is_bare_name(const struct frame *frame)
{
	return frame->module == NO_MODULE;
}

static bool
frames_are_names(const struct profile *profile, enum granularity granularity)
{
	if (profile->n_sections > 1)
		return false;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];
		uint32_t first = frame->first_location;

		if (frame->n_locations != 1 ||
		    profile->locations[first].function != i)
			return false;
		if (granularity != GRANULARITY_FUNCTION &&
		    !is_bare_name(frame))
			return false;
	}
	return true;
}

static const char *
module_name(const struct profile *profile, uint32_t module)
{
	const char *path = profile->modules[module].path;
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* The one name that a frame inside a module has. */
static uint32_t
name_of_address(struct profile *profile, const struct frame *frame,
                enum granularity granularity, struct error *error)
{
	const char *module = module_name(profile, frame->module);
	uint32_t name;
	char *text;
	int length;

	if (granularity == GRANULARITY_MODULE)
		return names_add(profile->names, module, strlen(module),
		                 error);
	length = asprintf(&text, "%s+0x%" PRIx64, module, frame->address);
	if (length < 0) {
		error_out_of_memory(error);
		return NO_NAME;
	}
	name = names_add(profile->names, text, (size_t)length, error);
	free(text);
	return name;
}

static size_t
count_locations(const struct profile *profile)
{
	size_t n = 0;

	for (uint32_t i = 0; i < profile->n_frames; i++)
		n += profile->frames[i].n_locations;
	return n;
}

/* Chains of names, as sample_tree_relabel wants them. */
static int
fill_chains(struct profile *profile, enum granularity granularity,
            uint32_t *first, uint32_t *labels, struct error *error)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];
		const struct location *locations =
		    &profile->locations[frame->first_location];

		first[i] = n;
		if (granularity != GRANULARITY_FUNCTION &&
		    !is_bare_name(frame)) {
			labels[n] = name_of_address(profile, frame,
			                            granularity, error);
			if (labels[n++] == NO_NAME)
				return -1;
			continue;
		}
		for (uint32_t k = 0; k < frame->n_locations; k++)
			labels[n++] = locations[k].function;
	}
	first[profile->n_frames] = n;
	return 0;
}

struct sample_tree *
profile_named_tree(struct profile *profile, enum granularity granularity,
                   bool *is_own, struct error *error)
{
	struct sample_tree *tree = NULL;
	uint32_t *first, *labels;

	if (profile->tree == NULL) {
		error_set(error, "the profile has no stacks");
		return NULL;
	}
	*is_own = !frames_are_names(profile, granularity);
	if (!*is_own)
		return profile->tree;
	first = memory_array((size_t)profile->n_frames + 1, sizeof *first,
	                     error);
	labels = memory_array(count_locations(profile), sizeof *labels, error);
	if (first != NULL && labels != NULL &&
	    fill_chains(profile, granularity, first, labels, error) == 0)
		tree = sample_tree_relabel(profile->tree, first, labels,
		                           error);
	free(first);
	free(labels);
	return tree;
}
