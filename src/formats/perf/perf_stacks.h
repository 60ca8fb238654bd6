/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_stacks.h -- the frames of perf's samples. */
#ifndef CPPROF_FORMATS_PERF_STACKS_H
#define CPPROF_FORMATS_PERF_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_events.h"
#include "src/formats/perf/perf_frames.h"
#include "src/formats/perf/perf_spaces.h"

struct perf_stacks;

/* Samples of which not all is shown. */
struct perf_stacks_missed {
	uint64_t n_guests;	/* frames inside of virtual machines */
	uint64_t n_unwalked;	/* copied stacks of other processors, or of
				 * 32-bit programs */
};

/* All outlive it; freed with perf_stacks_free; NULL with *error set. */
struct perf_stacks *perf_stacks_new(struct profile *profile,
                                    struct perf_spaces *spaces,
                                    struct perf_frames *frames,
                                    struct module_cache *modules,
                                    struct error *error);
void perf_stacks_free(struct perf_stacks *stacks);

struct perf_stacks_missed perf_stacks_missed(const struct perf_stacks *stacks);

/* A sample's frames as they are found, innermost first. */
struct perf_stack {
	uint32_t *labels;	/* the caller's */
	size_t n;
	bool is_ip_only;	/* the one frame is where the sample was taken,
				 * for want of a call chain */
	bool is_deferred;	/* the process's frames come in a record with */
	uint64_t cookie;	/* this */
	/* The rest is the stacks' own. */
	uint32_t pid;
	struct perf_space *space;
	uint64_t context;	/* PERF_CONTEXT_... */
	bool has_guest;		/* a frame of one */
	bool is_first;		/* of its context: where it is, not where it
				 * will return to */
};

/* How many labels a sample may come to. */
size_t perf_stacks_room(const struct perf_sample *sample);

/*
 * Fills in the frames of a sample, at least one.  attr: its event.  0, or -1
 * with *error set.
 */
int perf_stacks_fill(struct perf_stacks *stacks, const struct perf_attr *attr,
                     const struct perf_record *record,
                     const struct perf_sample *sample,
                     struct perf_stack *stack, struct error *error);

/*
 * Fills in the frames of a process, from a record of a deferred call chain;
 * there may be none.
 */
int perf_stacks_fill_process(struct perf_stacks *stacks,
                             const struct perf_sample *record,
                             struct perf_stack *stack, struct error *error);

#endif
