/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_deferred.h -- samples that wait for their process's frames.
 *
 * With `perf record --call-graph fp,defer` (Linux 6.19) a sample has the
 * kernel's frames and a cookie.  Before the thread returns from the kernel, its
 * own frames are recorded, once for all samples with that cookie.  A sample
 * whose record never comes has no such frames.
 * Source: linux 6.19, include/uapi/linux/perf_event.h,
 * PERF_RECORD_CALLCHAIN_DEFERRED; kernel/unwind/deferred.c.
 */
#ifndef CPPROF_FORMATS_PERF_DEFERRED_H
#define CPPROF_FORMATS_PERF_DEFERRED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

/* What a sample stands for. */
struct perf_amount {
	uint32_t resource;
	uint64_t hits;
};

/* A sample that waits; its arrays are its own. */
struct perf_waiting {
	uint64_t cookie, offset;	/* offset: in the file */
	uint32_t thread;		/* of the profile */
	uint32_t *labels;		/* [n_labels] frames, innermost first */
	struct perf_amount *amounts;	/* [n_amounts] */
	size_t n_labels, n_amounts;
	bool is_ip_only;		/* its only frame is where it was */
	/* The rest is the list's own. */
	uint32_t tid;
	struct perf_waiting *previous, *next, *next_of_thread;
};

/* Frames as labels, innermost first. */
struct perf_labels {
	const uint32_t *labels;
	size_t n;
};

struct perf_deferred;

/* Freed with perf_deferred_free, waiting samples too; NULL with *error set. */
struct perf_deferred *perf_deferred_new(struct error *error);
void perf_deferred_free(struct perf_deferred *deferred);

/*
 * Has a copy of a sample of this thread wait; the members above "the rest" must
 * be set.  0, or -1 with *error set.
 */
int perf_deferred_wait(struct perf_deferred *deferred, uint32_t tid,
                       const struct perf_waiting *sample,
                       struct error *error);

/*
 * The sample that has waited longest: of a thread; of all, if they take more
 * memory than they should or is_end is set.  The caller frees it with free();
 * NULL where there is none.
 */
struct perf_waiting *perf_deferred_take(struct perf_deferred *deferred,
                                        uint32_t tid);
struct perf_waiting *perf_deferred_take_oldest(struct perf_deferred *deferred,
                                               bool is_end);

/*
 * Keeps the frames that came with a cookie, for samples of the thread that come
 * after them: the kernel records them once, and more samples can follow before
 * the thread returns.  0, or -1 with *error set.
 *
 * Whether there are frames for the cookie; *frames stays good until the next
 * perf_deferred_keep.
 */
int perf_deferred_keep(struct perf_deferred *deferred, uint32_t tid,
                       uint64_t cookie, const uint32_t *labels, size_t n,
                       struct error *error);
bool perf_deferred_find(const struct perf_deferred *deferred, uint32_t tid,
                        uint64_t cookie,
                        struct perf_labels *frames);

#endif
