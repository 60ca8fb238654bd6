/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_events.h -- the events of a perf.data file.
 *
 * The event says which fields its samples have.  Which event a sample belongs
 * to is given by an id in the sample, at a place that all events of a file
 * share.
 */
#ifndef CPPROF_FORMATS_PERF_EVENTS_H
#define CPPROF_FORMATS_PERF_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/id_table.h"
#include "src/formats/perf/perf_records.h"

/* What is used of a struct perf_event_attr. */
struct perf_attr {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags,
	    branch_type, user_registers;
	char *name;		/* as perf wrote it, or NULL */
};

/* Start with `{ 0 }`. */
struct perf_events {
	struct perf_attr *attrs;	/* [n] */
	size_t n, capacity;
	struct id_table ids;	/* the kernel's; their numbers index: */
	uint32_t *owners;	/* the event of each id */
	size_t owners_capacity;
};

void perf_events_free(struct perf_events *events);

/*
 * Adds an event from bytes[size], a struct perf_event_attr of any version.
 * Returns its number, or UINT32_MAX with *error set to what was expected.
 */
uint32_t perf_events_add(struct perf_events *events,
                         const unsigned char *bytes, size_t size,
                         struct error *error);

/* Samples with this id belong to that event.  0, or -1 with *error set. */
int perf_events_add_id(struct perf_events *events, uint64_t id,
                       uint32_t event, struct error *error);

/* Names the event with a copy.  0, or -1 with *error set. */
int perf_events_set_name(struct perf_events *events, uint32_t event,
                         const char *name, size_t length,
                         struct error *error);

/* The event of an id; UINT32_MAX: none. */
uint32_t perf_events_find(const struct perf_events *events, uint64_t id);

/*
 * The event of a sample; UINT32_MAX: none that the file describes.  Samples
 * that perf itself makes have the id 0; as in perf, they count for the first
 * event.
 */
uint32_t perf_events_of_sample(const struct perf_events *events,
                               const struct perf_record *record);

/* When the kernel made a record, in nanoseconds; 0: unknown. */
uint64_t perf_events_time(const struct perf_events *events,
                          const struct perf_record *record);

/*
 * The event's name as perf writes it; or one made of its numbers, in
 * place[size].
 */
const char *perf_events_name(const struct perf_events *events,
                             uint32_t event, char *place, size_t size);

/*
 * What the periods of an event count (a gtick), by the event's name as perf
 * writes it, perhaps with modifiers ("cycles:u"); "" if that is not known.
 */
const char *perf_event_gtick(const char *name, size_t length);

#endif
