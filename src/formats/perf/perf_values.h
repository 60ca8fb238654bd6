/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_values.h -- how much a sample stands for, of which events.
 *
 * Mostly it stands for one event's period.  Where an event is sampled for its
 * whole group (`{a,b}:S`), the sample holds the count of each member so far,
 * and stands for what each has counted since the sample before.
 * Source: linux 6.12, tools/perf/util/session.c, evlist__deliver_sample.
 */
#ifndef CPPROF_FORMATS_PERF_VALUES_H
#define CPPROF_FORMATS_PERF_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_events.h"

struct perf_value {
	uint32_t event;
	uint64_t hits;		/* gticks of the event */
};

struct perf_values;

/* Freed with perf_values_free; NULL with *error set. */
struct perf_values *perf_values_new(struct error *error);
void perf_values_free(struct perf_values *values);

/*
 * What a sample of an event of the file stands for; *n becomes how many values
 * that is, 0 where no event of a group has counted anything.  Good until the
 * next call; NULL with *error set.
 */
const struct perf_value *perf_values_of(struct perf_values *values,
                                        const struct perf_events *events,
                                        const struct perf_sample *sample,
                                        size_t *n, struct error *error);

/* How many counts were of no event that the file describes. */
uint64_t perf_values_unknown(const struct perf_values *values);

#endif
