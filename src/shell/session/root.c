/* SPDX-License-Identifier: GPL-3.0-or-later */
/* root.c -- the function that views of paths begin at by default. */
#include "src/shell/session/session.h"

#include <string.h>

#include "src/views/hits/hits.h"

/* Whether a name is "function:line" or "function+0xoffset". */
static bool
is_site_of(const char *name, const char *function, size_t length)
{
	if (strncmp(name, function, length) != 0)
		return false;
	name += length;
	if (*name == ':')
		return name[1] != '\0' &&
		    name[1 + strspn(name + 1, "0123456789")] == '\0';
	return strncmp(name, "+0x", 3) == 0;
}

bool
root_is_split(const struct naming *naming, const char *function)
{
	const struct function_list *list = naming->functions;
	size_t length = strlen(function);

	if (naming->rule.granularity != GRANULARITY_CALLSITE)
		return false;
	for (uint32_t i = 0; i < list->n; i++)
		if (is_site_of(names_text(naming->names, list->names[i]),
		               function, length))
			return true;
	return false;
}

static uint32_t
find_root(const struct naming *naming, const char *function)
{
	return root_is_split(naming, function) ? NO_NAME :
	    naming_find(naming, function, strlen(function));
}

/* The function with that name, if it is on nine tenths of the hits. */
static uint32_t
find_root_of_most(const struct naming *naming, const struct sample_set *set,
                  const char *function)
{
	uint32_t name = find_root(naming, function);

	return name != NO_NAME &&
	    measure_function(set, name) >= set->left - set->left / 10 ? name :
	    NO_NAME;
}

uint32_t
root_choose(const struct naming *naming, const struct sample_set *set,
            const char *choice)
{
	uint32_t name = NO_NAME;

	if (choice != NULL)
		name = find_root(naming, choice);
	if (name == NO_NAME)
		name = find_root_of_most(naming, set, "main");
	return name != NO_NAME ? name : outermost_only(set);
}
