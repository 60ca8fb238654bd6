/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_thread.h -- one thread of a Firefox profile, with its samples. */
#ifndef CPPROF_FORMATS_FIREFOX_FIREFOX_THREAD_H
#define CPPROF_FORMATS_FIREFOX_FIREFOX_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/firefox/firefox_tables.h"
#include "src/formats/json/json_reader.h"

/* What weights are, "weightType". */
enum firefox_weight { WEIGHT_SAMPLES, WEIGHT_TIME, WEIGHT_BYTES,
                      N_FIREFOX_WEIGHTS };

/* Weights are kept in millionths: of milliseconds these are nanoseconds. */
enum { WEIGHT_POWER = 6, WEIGHT_ONE = 1000000 };
/* CPU deltas in thousandths: of microseconds these are nanoseconds. */
enum { DELTA_POWER = 3, DELTA_ONE = 1000 };
/* Times, from milliseconds to nanoseconds. */
enum { TIME_POWER = 6 };

/* A sample without a time. */
#define NO_TIME UINT64_MAX

/* One sample, of a thread whose samples have times. */
struct firefox_sample {
	uint64_t time_ns;		/* from the start of the profile, or
					 * NO_TIME */
	uint64_t weight, cpu;		/* as in its charge */
	size_t charge;
};

/* The sums of all samples with one stack. */
struct firefox_charge {
	uint32_t stack;			/* a row; NO_INDEX: without a stack */
	uint64_t weight;		/* by WEIGHT_POWER */
	uint64_t cpu;			/* by DELTA_POWER */
	uint64_t n_samples;
};

/* Start with zeroes. */
struct firefox_thread {
	char *name, *process_name;	/* NULL: unknown */
	char *pid, *tid;		/* as in the file; NULL: likewise */
	struct firefox_tables tables;	/* of its own */
	enum firefox_weight weight;
	bool has_allocations;		/* which are not read */
	struct firefox_charge *charges;
	size_t n_charges, charges_capacity;
	struct firefox_sample *samples;	/* [n_samples], in their order; none if
					 * they have no times */
	size_t n_samples, samples_capacity;
	uint64_t offset;		/* of its samples */
	uint64_t weight_below_zero, cpu_below_zero;	/* offset + 1 of the
					 * first such number; 0: none */
};

void firefox_thread_free(struct firefox_thread *thread);

/* Reads a thread whose object is open; failures set *error, the reader's. */
void firefox_thread_read(struct firefox_thread *thread,
                         struct json_reader *json, struct error *error);

#endif
