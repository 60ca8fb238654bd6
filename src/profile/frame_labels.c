/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame_labels.c -- the names by which a frame is shown.
 *
 * By module and by address a frame is one step, whatever was inlined there; by
 * all other granularities each of its locations is a step.
 */
#include "src/profile/frame_labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

struct labelling {
	struct profile *profile;
	const struct naming_rule *rule;
	const char **paths;	/* short paths, by file; NULL: not needed */
	bool *calls;		/* [n_frames] whether it calls another */
};

uint32_t
frame_shown_locations(const struct frame *frame, enum inlines inlines)
{
	if (inlines == INLINES_OFF ||
	    (inlines == INLINES_AUTO && frame->is_deferred))
		return 1;
	return frame->n_locations;
}

static uint32_t
frame_labels_name_of_module(struct profile *profile, uint32_t module,
                            struct error *error)
{
	const char *name = profile_module_name(profile, module);

	return names_add(profile->names, name, strlen(name), error);
}

static uint32_t
name_of_file(const struct labelling *labelling, const struct frame *frame,
             const struct location *location, struct error *error)
{
	struct profile *profile = labelling->profile;
	const char *path;

	if (location->file == NO_NAME)
		return frame->module == NO_MODULE ? location->function :
		    frame_labels_name_of_module(profile, frame->module, error);
	path = labelling->paths[location->file];
	return names_add(profile->names, path, strlen(path), error);
}

static uint32_t
name_of_line(const struct labelling *labelling,
             const struct location *location, struct error *error)
{
	if (location->file == NO_NAME || location->line == 0)
		return location->function;
	return names_add_format(labelling->profile->names, error,
	    "%s:%" PRIu32, labelling->paths[location->file], location->line);
}

/*
 * The name of a location that calls; is_outermost: the frame's own function.
 */
static uint32_t
frame_labels_name_of_site(struct profile *profile, const struct frame *frame,
                          const struct location *location, bool is_outermost,
                          struct error *error)
{
	const char *function = names_text(profile->names, location->function);

	if (location->line != 0)
		return names_add_format(profile->names, error, "%s:%" PRIu32,
		                        function, location->line);
	if (is_outermost && frame->function_offset != NO_OFFSET)
		return names_add_format(profile->names, error,
		    "%s+0x%" PRIx32, function, frame->function_offset);
	return location->function;
}

/* The name of the k-th of n shown locations. */
static uint32_t
name_of_location(const struct labelling *labelling, uint32_t number,
                 uint32_t k, uint32_t n, struct error *error)
{
	struct profile *profile = labelling->profile;
	const struct frame *frame = &profile->frames[number];
	const struct location *location =
	    &profile->locations[frame->first_location + k];

	switch (labelling->rule->granularity) {
	case GRANULARITY_FILE:
		return name_of_file(labelling, frame, location, error);
	case GRANULARITY_LINE:
		return name_of_line(labelling, location, error);
	case GRANULARITY_CALLSITE:
		if (k + 1 < n || labelling->calls[number])
			return frame_labels_name_of_site(profile, frame,
			                                 location, k == 0,
			                                 error);
		return location->function;
	default:
		return location->function;
	}
}

static int
frame_labels_fill(const struct labelling *labelling,
                  struct frame_labels *labels, struct error *error)
{
	const struct profile *profile = labelling->profile;
	const enum granularity granularity = labelling->rule->granularity;
	uint32_t n = 0;

	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];
		uint32_t n_shown = frame_shown_locations(frame,
		    labelling->rule->inlines);

		labels->first[i] = n;
		if (frame->module != NO_MODULE &&
		    granularity == GRANULARITY_MODULE)
			labels->labels[n++] = frame_labels_name_of_module(
			    labelling->profile, frame->module, error);
		else if (frame->module != NO_MODULE &&
		         granularity == GRANULARITY_ADDRESS)
			labels->labels[n++] = names_add_format(profile->names,
			    error, "%s+0x%" PRIx64, profile_module_name(
			    profile, frame->module), frame->address);
		else
			for (uint32_t k = 0; k < n_shown; k++)
				labels->labels[n++] = name_of_location(
				    labelling, i, k, n_shown, error);
		if (error->is_set)
			return -1;
	}
	labels->first[profile->n_frames] = n;
	return 0;
}

/* Whether a frame is one by which the kernel may have been entered. */
static bool
frame_labels_is_kernel(const struct profile *profile, uint32_t number)
{
	const uint32_t module = profile->frames[number].module;

	return module != NO_MODULE &&
	    strncmp(profile->modules[module].path, "[kernel", 7) == 0;
}

/*
 * Finds the frames that call.  One that was interrupted or has entered the
 * kernel has not, so it is named as without frames of the kernel.
 */
static void
frame_labels_find_calls(const struct profile *profile, bool *calls)
{
	const struct sample_tree *tree = profile->tree;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const uint32_t parent = sample_tree_parent(tree, node);

		if (parent != NO_NODE &&
		    (!frame_labels_is_kernel(profile, tree->label[node]) ||
		     frame_labels_is_kernel(profile, tree->label[parent])))
			calls[tree->label[parent]] = true;
	}
}

/* Prepares what the rule needs besides the frames. */
static int
frame_labels_prepare(struct labelling *labelling, struct error *error)
{
	const struct profile *profile = labelling->profile;
	enum granularity granularity = labelling->rule->granularity;

	if (granularity == GRANULARITY_FILE ||
	    granularity == GRANULARITY_LINE) {
		labelling->paths = short_paths_new(profile, error);
		return labelling->paths != NULL ? 0 : -1;
	}
	if (granularity != GRANULARITY_CALLSITE)
		return 0;
	labelling->calls = memory_array(profile->n_frames,
	                                sizeof *labelling->calls, error);
	if (labelling->calls == NULL)
		return -1;
	frame_labels_find_calls(profile, labelling->calls);
	return 0;
}

int
frame_labels_make(struct frame_labels *labels, struct profile *profile,
                  const struct naming_rule *rule, struct error *error)
{
	struct labelling labelling = { .profile = profile, .rule = rule };
	size_t n_locations = 0;
	int result = -1;

	for (uint32_t i = 0; i < profile->n_frames; i++)
		n_locations += profile->frames[i].n_locations;

	labels->first = memory_array((size_t)profile->n_frames + 1,
	                             sizeof *labels->first, error);
	labels->labels = memory_array(n_locations, sizeof *labels->labels,
	                              error);
	if (labels->first != NULL && labels->labels != NULL &&
	    frame_labels_prepare(&labelling, error) == 0)
		result = frame_labels_fill(&labelling, labels, error);
	free(labelling.paths);
	free(labelling.calls);
	return result;
}

void
frame_labels_free(struct frame_labels *labels)
{
	free(labels->first);
	free(labels->labels);
}
