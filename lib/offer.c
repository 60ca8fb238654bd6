/* SPDX-License-Identifier: MIT */
/* offer.c -- tells the launcher which resources can be had here. */
#include "lib/offer.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "lib/resource.h"

#define LINE_MAX_SIZE 512

static bool
offer(enum resource_id id, uint64_t interval)
{
	const struct resource_row *row = &resource_rows[id];
	const struct source *source;
	char line[LINE_MAX_SIZE], *at = line, *const end = line + sizeof line;
	const char *why;

	source = resources_find_source(row,
	    interval != 0 ? interval : row->interval, &why);
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

int
offer_resources(const char *list, bool is_random)
{
	enum resource_id id;
	uint64_t interval;
	unsigned i;

	resources.is_random = is_random;
	if (list == NULL) {
		for (i = 0; i < RESOURCE_N; i++)
			if (!offer((enum resource_id)i, 0))
				return 1;
		return 0;
	}
	while (list != NULL)
		if (resources_next(&list, &id, &interval) != NULL ||
		    !offer(id, interval))
			return 1;
	return 0;
}
