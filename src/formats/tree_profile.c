/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree_profile.c -- resources and threads of a profile whose tree is built. */
#include "src/formats/tree_profile.h"

uint32_t
tree_profile_resource(struct profile *profile, struct tree_builder *builder,
                      uint32_t *known, const char *name, const char *gtick,
                      uint64_t interval, struct error *error)
{
	uint32_t resource;

	if (*known > 0)
		return *known - 1;
	resource = profile_add_resource(profile, name, gtick, interval, error);
	if (resource == NO_RESOURCE ||
	    tree_builder_add_resource(builder, error) != 0)
		return NO_RESOURCE;
	*known = resource + 1;
	return resource;
}

int
tree_profile_thread(struct profile *profile, struct tree_builder *builder,
                    uint32_t begin, const struct thread *thread,
                    struct error *error)
{
	uint32_t end = tree_builder_count(builder);
	uint32_t number = profile_add_thread(profile, thread, error);

	if (number == UINT32_MAX)
		return -1;
	return begin == end ||
	    profile_add_section(profile, begin, end, number, error) !=
	    UINT32_MAX ? 0 : -1;
}
