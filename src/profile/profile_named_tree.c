/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_named_tree.c -- a profile's stacks as names.
 *
 * Every frame gets a chain of names, and the tree is relabelled with them.  If
 * every frame i is simply the name i, the tree stays as it is.
 */
#include "src/profile/frame_labels.h"
#include "src/profile/profile.h"

/* Whether a location is named after its function whatever the rule. */
static bool
is_function_only(const struct frame *frame, const struct location *location)
{
	return frame->module == NO_MODULE && location->file == NO_NAME &&
	    location->line == 0;
}

static bool
frames_are_names(const struct profile *profile,
                 const struct naming_rule *rule)
{
	if (profile->n_sections > 1)
		return false;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];
		const struct location *location =
		    &profile->locations[frame->first_location];

		if (frame_shown_locations(frame, rule->inlines) != 1 ||
		    location->function != i)
			return false;
		if (rule->granularity != GRANULARITY_FUNCTION &&
		    !is_function_only(frame, location))
			return false;
	}
	return true;
}

struct sample_tree *
profile_named_tree_of(struct profile *profile, struct sample_tree *stacks,
                      const struct naming_rule *rule, bool *is_own,
                      struct error *error)
{
	struct sample_tree *tree = NULL;
	struct frame_labels labels = { 0 };

	*is_own = !frames_are_names(profile, rule);
	if (!*is_own)
		return stacks;
	if (frame_labels_make(&labels, profile, rule, error) == 0)
		tree = sample_tree_relabel(stacks, labels.first,
		                           labels.labels, error);
	frame_labels_free(&labels);
	return tree;
}

struct sample_tree *
profile_named_tree(struct profile *profile, const struct naming_rule *rule,
                   bool *is_own, struct error *error)
{
	if (profile->tree != NULL)
		return profile_named_tree_of(profile, profile->tree, rule,
		                             is_own, error);
	error_set(error, "the profile has no stacks");
	return NULL;
}
