/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_deferred.h -- samples that wait for the frames of their process.
 *
 * With `perf record --call-graph fp,defer` (Linux 6.19) a sample has the
 * kernel's frames and a cookie.  Before the thread returns from the kernel, the
 * frames of its process are recorded, once for all samples with that cookie.
 * That record may also be missing.
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

/* A waiting sample and its arrays, in one allocation. */
struct perf_waiting {
	uint64_t cookie, offset;	/* offset: in the file */
	uint64_t time;			/* 0: unknown */
	uint32_t thread;		/* of the profile */
	uint32_t *labels;		/* [n_labels] frames, innermost first */
	struct perf_amount *amounts;	/* [n_amounts] */
	size_t n_labels, n_amounts;
	bool is_ip_only;		/* see struct perf_stack */
	/* The rest is perf_deferred.c's own. */
	uint32_t tid;
	struct perf_waiting *previous, *next, *next_of_thread;
};

/* Frames as labels, innermost first. */
struct perf_labels {
	const uint32_t *labels;
	size_t n;
};

struct perf_deferred;

/*
 * Freed, with all waiting samples, with perf_deferred_free; NULL with *error
 * set.
 */
struct perf_deferred *perf_deferred_new(struct error *error);
void perf_deferred_free(struct perf_deferred *deferred);

/*
 * Lets a copy of a sample of this thread wait.  The members above "the rest"
 * must be set.  0, or -1 with *error set.
 */
int perf_deferred_wait(struct perf_deferred *deferred, uint32_t tid,
                       const struct perf_waiting *sample,
                       struct error *error);

/*
 * Removes the sample that has waited longest: of a thread; or of all, if is_end
 * is set or if they take more memory than they should.  The caller frees it
 * with free().  NULL: there is none.
 */
struct perf_waiting *perf_deferred_take(struct perf_deferred *deferred,
                                        uint32_t tid);
struct perf_waiting *perf_deferred_take_oldest(struct perf_deferred *deferred,
                                               bool is_end);

/*
 * Keeps the frames that came with a cookie for later samples of the thread: the
 * kernel records them once, and more samples can follow before the thread
 * returns.  0, or -1 with *error set.
 *
 * perf_deferred_find: whether there are frames for the cookie; *frames is valid
 * until the next perf_deferred_keep.
 */
int perf_deferred_keep(struct perf_deferred *deferred, uint32_t tid,
                       uint64_t cookie, const uint32_t *labels, size_t n,
                       struct error *error);
bool perf_deferred_find(const struct perf_deferred *deferred, uint32_t tid,
                        uint64_t cookie,
                        struct perf_labels *frames);

#endif
