/* SPDX-License-Identifier: GPL-3.0-or-later */
/* root.c -- the function that downward views begin at by default. */
#include "src/shell/session/root.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/call_flow.h"

/*
 * The function with the most hits of those that no function calls, or else of
 * all; of equals the first in byte order.
 */
static uint32_t
heaviest_of_flow(const struct naming *naming)
{
	const struct call_flow *flow = naming->flow;
	const struct names *names = naming->names;
	uint32_t best = NO_NAME;

	for (uint32_t name = 0; name < flow->n_names; name++) {
		const struct flow_function *function = &flow->functions[name];
		long double more;

		if (!function->occurs)
			continue;
		if (best == NO_NAME) {
			best = name;
			continue;
		}
		if (function->is_called != flow->functions[best].is_called) {
			if (!function->is_called)
				best = name;
			continue;
		}
		more = function->inclusive - flow->functions[best].inclusive;
		if (more > 0 || (more == 0 &&
		                 names_compare(names, name, best) < 0))
			best = name;
	}
	return best;
}

/*
 * The outermost function with the most hits; of equals the first in byte order.
 */
static uint32_t
heaviest_outermost(const struct naming *naming)
{
	const struct sample_tree *tree = naming->tree;
	const struct names *names = naming->names;
	struct error error = { 0 };
	uint64_t *hits;
	uint32_t best = NO_NAME;

	if (tree == NULL)
		return heaviest_of_flow(naming);
	hits = memory_array(naming->n_names, sizeof *hits, &error);
	if (hits == NULL)
		return NO_NAME;
	for (uint32_t node = 0; node < tree->n_nodes; node = tree->end[node])
		hits[tree->label[node]] += naming->weight[node];
	for (uint32_t node = 0; node < tree->n_nodes; node = tree->end[node]) {
		uint32_t name = tree->label[node];

		if (best == NO_NAME || hits[name] > hits[best] ||
		    (hits[name] == hits[best] &&
		     names_compare(names, name, best) < 0))
			best = name;
	}
	free(hits);
	return best;
}

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

uint32_t
root_choose(const struct naming *naming, const char *choice)
{
	uint32_t name = NO_NAME;

	if (choice != NULL)
		name = find_root(naming, choice);
	if (name == NO_NAME)
		name = find_root(naming, "main");
	if (name == NO_NAME)
		name = heaviest_outermost(naming);
	return name;
}
