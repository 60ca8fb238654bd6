/* SPDX-License-Identifier: GPL-3.0-or-later */
/* count_kinds.h -- what is known of resources by their names.
 *
 * lib/counts.def has a row for each that cpprof records, or makes of those.  A
 * resource of the same name in another tool's profile is taken for the same.
 */
#ifndef CPPROF_PROFILE_COUNT_KINDS_H
#define CPPROF_PROFILE_COUNT_KINDS_H

#include <stdbool.h>
#include <stdint.h>

struct count_kind {
	const char *name;
	const char *gtick;		/* NULL: it is made of others */
	uint64_t interval, least;	/* default and smallest, in gticks */
	bool needs_calls;		/* of the C library, by which the
					 * collector counts it */
	const char *summary;
	const char *part_of;		/* another that also counts it */
	const char *follows;		/* another, whose interval it has */
	/* Why it cannot be recorded with --inside, and if it can, what is not. */
	const char *not_inside, *inside_limit;
	bool is_cpu_time;		/* all of it, as the kernel counts it */
	bool is_divided;		/* by the number of threads that ran */
	bool measures_waits;		/* only the time between is drawn */
	/*
	 * A level: what is left of what one gives after another has taken some
	 * of it, at the same nodes.  No node has less than nothing, so it can
	 * be viewed as a resource.  Only in time it is something else
	 * (timeline.h): it has a value at each moment.
	 */
	const char *gain, *loss;
};

/* In the order of lib/counts.def; each ends with a NULL name. */
extern const struct count_kind count_kinds[];	/* that are recorded */
extern const struct count_kind made_counts[];	/* that are levels */

/* Of either; NULL: nothing is known of that name. */
const struct count_kind *count_kind_find(const char *name);

/* false also for NULL. */
bool count_kind_is_level(const struct count_kind *kind);

#endif
