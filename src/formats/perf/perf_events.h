/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_events.h -- the events of a perf.data file, and samples by them.
 *
 * What a record of a sample holds is told by its event, and of which event it
 * is by an id in the record, at a place that all events of a file share.
 */
#ifndef CPPROF_FORMATS_PERF_EVENTS_H
#define CPPROF_FORMATS_PERF_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/id_table.h"
#include "src/formats/perf/perf_records.h"

struct perf_attr {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags,
	    branch_type, user_registers;
	char *name;		/* as perf has it, NULL: not told */
};

/* Start with `{ 0 }`. */
struct perf_events {
	struct perf_attr *attrs;
	size_t n, capacity;
	struct id_table ids;	/* of the kernel; their numbers index: */
	uint32_t *owners;	/* the event of each id */
	size_t owners_capacity;
};

struct perf_sample {
	uint32_t event;			/* UINT32_MAX: none in the file; nothing
					 * else is then known */
	uint64_t ip, time, period;	/* time 0: unknown */
	uint32_t pid, tid;
	bool is_off_cpu;		/* pid and tid may have changed places */
	const unsigned char *counts;	/* [n_counts] of read_size bytes, each
					 * beginning with a count of 8 bytes */
	uint64_t n_counts;
	size_t read_size, id_at;	/* id_at: where the id of the count's
					 * event is; 0: it has none */
	const unsigned char *chain;	/* [n_chain] numbers of 8 bytes */
	uint64_t n_chain;
	bool has_chain;
	const unsigned char *calls;	/* [n_calls] branches: calls that have
					 * not returned, the last one first, of
					 * the process; as processors keep them */
	uint64_t n_calls;
	uint64_t abi;			/* of registers: 0 none, 2 64-bit */
	const unsigned char *registers;	/* one number for each bit of the
					 * event's user_registers */
	const unsigned char *stack;	/* the top of it */
	uint64_t stack_size;
};

void perf_events_free(struct perf_events *events);

/*
 * Enters an event from bytes[size], a struct perf_event_attr of any version;
 * its number, or UINT32_MAX with *error set to what was expected.
 */
uint32_t perf_events_add(struct perf_events *events,
                         const unsigned char *bytes, size_t size,
                         struct error *error);

/* Says that samples with this id are of that event; 0 or -1. */
int perf_events_add_id(struct perf_events *events, uint64_t id,
                       uint32_t event, struct error *error);

/* Names the event; 0 or -1. */
int perf_events_set_name(struct perf_events *events, uint32_t event,
                         const char *name, size_t length,
                         struct error *error);

/* The event of an id; UINT32_MAX where there is none. */
uint32_t perf_events_find(const struct perf_events *events, uint64_t id);

/*
 * The event's name as perf writes it, or in a place of size bytes one made of
 * its numbers.
 */
const char *perf_events_name(const struct perf_events *events,
                             uint32_t event, char *place, size_t size);

/*
 * When a record of the kernel's was made, in nanoseconds; 0 where that is not
 * known.
 */
uint64_t perf_events_time(const struct perf_events *events,
                          const struct perf_record *record);

/*
 * Takes a sample apart, in place.  0, also if it is of no event that the file
 * describes, or -1 with *error set to what was expected, without file and
 * offset.
 */
int perf_events_read_sample(const struct perf_events *events,
                            const struct perf_record *record,
                            struct perf_sample *sample, struct error *error);

/*
 * Likewise a PERF_CALLCHAIN_DEFERRED record: the thread, the chain and the
 * cookie of the samples that it belongs to.
 */
int perf_events_read_deferred(const struct perf_events *events,
                              const struct perf_record *record,
                              struct perf_sample *sample, uint64_t *cookie,
                              struct error *error);

#endif
