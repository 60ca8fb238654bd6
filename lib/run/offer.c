/* SPDX-License-Identifier: MIT */
/* offer.c -- lists for the launcher which resources are available here. */
#include "lib/run/start.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "lib/sources/resource.h"

#define LINE_MAX_SIZE 512

static bool
offer_row(const struct resource_row *row,
          const struct resource_source *source, const char *why)
{
	char line[LINE_MAX_SIZE], *at = line, *const end = line + sizeof line;

	at = stpcpy(stpcpy(at, row->name), "\t");
	if (source != NULL)
		at = stpcpy(at, source->name);
	at = stpcpy(stpcpy(at, "\t"),
	    source != NULL && source->is_coarse ? "coarse" : "");
	at = stpcpy(stpcpy(at, "\t"),
	    source != NULL && source->can_be_random ? "random" : "");
	*at++ = '\t';
	at = stpncpy(at, why, (size_t)(end - at) - 1);
	*at++ = '\n';
	return write(STDOUT_FILENO, line, (size_t)(at - line)) == at - line;
}

static bool
offer_alone(enum resource_id id, uint64_t interval)
{
	const struct resource_row *row = &resource_rows[id];
	const char *why;
	const struct resource_source *source = resources_find_source(row,
	    interval != 0 ? interval : row->interval, &why);

	return offer_row(row, source, why);
}

int
offer_resources(const char *list, bool is_random)
{
	const char *problem;
	enum resource_id id;
	uint64_t interval;
	unsigned i;

	resources.is_random = is_random;
	if (list == NULL) {
		for (i = 0; i < RESOURCE_N; i++)
			if (!offer_alone((enum resource_id)i, 0))
				return 1;
		return 0;
	}
	if (!resources_choose(list, is_random, &problem)) {
		while (list != NULL)
			if (!resources_next(&list, &id, &interval, &problem) ||
			    !offer_alone(id, interval))
				return 1;
		return 0;
	}
	for (i = 0; i < resources.n; i++)
		if (!offer_row(resources.columns[i].row,
		    resources.columns[i].source, resources.columns[i].why))
			return 1;
	return 0;
}
