/* SPDX-License-Identifier: GPL-3.0-or-later */
/* count_kinds.c -- the table of counts. */
#include "src/profile/count_kinds.h"

#include <stddef.h>
#include <string.h>

/* Reasons that several have. */
#define COUNT_OF_SLEEPERS \
	"a thread that sleeps could not be made to stop counting"
#define COUNT_OF_LOCKS \
	"locks and waits from before the recording are not known"
#define COUNT_OF_WHOLE_RUNS "only in a program that record starts"

const struct count_kind count_kinds[] = {
#define COUNT(id, word, unit, usual, smallest, by_calls, ...) \
	{ .name = word, .gtick = unit, .interval = usual, .least = smallest, \
	  .needs_calls = by_calls, .summary = __VA_ARGS__ },
#include "lib/counts.def"
	{ .name = NULL }
};

const struct count_kind made_counts[] = {
#define MADE(...) { .name = __VA_ARGS__ },
#include "lib/counts.def"
	{ .name = NULL }
};

static const struct count_kind *
count_kind_in(const struct count_kind *kind, const char *name)
{
	while (kind->name != NULL && strcmp(kind->name, name) != 0)
		kind++;
	return kind->name != NULL ? kind : NULL;
}

const struct count_kind *
count_kind_find(const char *name)
{
	const struct count_kind *kind = count_kind_in(count_kinds, name);

	return kind != NULL ? kind : count_kind_in(made_counts, name);
}

bool
count_kind_is_level(const struct count_kind *kind)
{
	return kind != NULL && kind->gain != NULL;
}
