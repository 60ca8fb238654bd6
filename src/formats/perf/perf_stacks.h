/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_stacks.h -- the frames of perf's samples.
 *
 * From a sample's call chain, its branches or its copied stack to frames: in a
 * file, in the kernel, in code that a runtime made and wrote a map of, or
 * "[unknown]".
 */
#ifndef CPPROF_FORMATS_PERF_STACKS_H
#define CPPROF_FORMATS_PERF_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_events.h"
#include "src/formats/perf/perf_machine.h"
#include "src/formats/perf/perf_sample.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

struct perf_stacks;

/* Samples that are not shown in full. */
struct perf_stacks_missed {
	uint64_t n_guests;	/* with frames in a virtual machine */
	uint64_t n_unwalked;	/* with the stack of a 32-bit program or of
				 * another processor */
};

/*
 * The arguments must outlive the result, which perf_stacks_free frees.  NULL
 * with *error set.
 */
struct perf_stacks *perf_stacks_new(struct profile *profile,
                                    struct perf_machine *machine,
                                    struct module_cache *modules,
                                    struct error *error);
void perf_stacks_free(struct perf_stacks *stacks);

struct perf_stacks_missed perf_stacks_missed(const struct perf_stacks *stacks);

/* The frames of one sample, innermost first, as they are found. */
struct perf_stack {
	uint32_t *labels;	/* [n] the caller's room; the profile's frames
				 * will have these numbers */
	size_t n;
	bool is_ip_only;	/* the only frame is where the sample was taken,
				 * since it has no call chain */
	bool is_deferred;	/* the frames of its process come later, in a
				 * record with this cookie */
	uint64_t cookie;
	/* The rest is perf_stacks.c's own. */
	uint32_t pid;
	struct perf_space *space;
	uint64_t context;	/* PERF_CONTEXT_... */
	bool has_guest;		/* a frame in a virtual machine */
	bool is_first;		/* the next address is the first of its context:
				 * not a return address */
};

/* How many labels a sample needs room for. */
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
 * Fills in the frames of a process from a deferred call chain; there may be
 * none.
 */
int perf_stacks_fill_process(struct perf_stacks *stacks,
                             const struct perf_sample *record,
                             struct perf_stack *stack, struct error *error);

/*
 * Adds all frames to the profile, once the build-ids of its modules are known.
 * 0, or -1 with *error set.
 */
int perf_stacks_finish(struct perf_stacks *stacks, struct error *error);

#endif
