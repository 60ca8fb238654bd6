/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_sample.h -- one sample of a perf.data file, taken apart.
 *
 * Which fields a sample has is given by its event (perf_events.h).
 */
#ifndef CPPROF_FORMATS_PERF_SAMPLE_H
#define CPPROF_FORMATS_PERF_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_events.h"
#include "src/formats/perf/perf_records.h"

/* Pointers lead into the record. */
struct perf_sample {
	uint32_t event;			/* UINT32_MAX: none that the file
					 * describes; the rest is then 0 */
	uint64_t ip, time, period;	/* time 0: unknown */
	uint32_t pid, tid;
	bool is_off_cpu;		/* pid and tid may be swapped */

	/* Counts of a group of events: [n_counts] items of read_size bytes.
	 * Each begins with a count of 8 bytes; id_at is where the id of its
	 * event is, 0: it has none. */
	const unsigned char *counts;
	uint64_t n_counts;
	size_t read_size, id_at;

	const unsigned char *chain;	/* [n_chain] numbers of 8 bytes */
	uint64_t n_chain;
	bool has_chain;

	/* [n_calls] branches: calls of the process that have not returned, the
	 * last one first, as the processor recorded them. */
	const unsigned char *calls;
	uint64_t n_calls;

	uint64_t abi;			/* of the registers: 0 none, 2 64-bit */
	const unsigned char *registers;	/* 8 bytes for each bit of the event's
					 * user_registers */
	const unsigned char *stack;	/* [stack_size] a copy of its top */
	uint64_t stack_size;
};

/*
 * Takes a sample apart.  0; or -1 with *error set to what was expected, without
 * file and offset.
 */
int perf_sample_read(struct perf_sample *sample,
                     const struct perf_events *events,
                     const struct perf_record *record, struct error *error);

/*
 * Likewise a PERF_CALLCHAIN_DEFERRED record: its thread, its call chain and the
 * cookie of the samples that it belongs to.
 */
int perf_sample_read_deferred(struct perf_sample *sample, uint64_t *cookie,
                              const struct perf_events *events,
                              const struct perf_record *record,
                              struct error *error);

/* What a sample stands for. */
struct perf_value {
	uint32_t event;
	uint64_t hits;		/* gticks of the event */
};

struct perf_values;

/* Freed with perf_values_free; NULL with *error set. */
struct perf_values *perf_values_new(struct error *error);
void perf_values_free(struct perf_values *values);

/*
 * What a sample stands for.  Mostly that is its event's period.  Where an event
 * is sampled for its whole group (`{a,b}:S`), the sample has the counts of all
 * members so far, and stands for what each has counted since the sample before.
 * So samples must come in the order of time.
 * Source: linux 6.12, tools/perf/util/session.c, evlist__deliver_sample.
 *
 * Returns an array of *n values, valid until the next call; *n is 0 if no event
 * of the group has counted anything.  NULL with *error set.
 */
const struct perf_value *perf_values_of(struct perf_values *values,
                                        const struct perf_events *events,
                                        const struct perf_sample *sample,
                                        size_t *n, struct error *error);

/* How many counts belonged to no event that the file describes. */
uint64_t perf_values_unknown(const struct perf_values *values);

#endif
