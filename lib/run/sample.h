/* SPDX-License-Identifier: MIT */
/* sample.h -- takes a stack and counts it in the thread's tree.
 *
 * A sample is for one or more resources.  All pending hits of the thread for
 * these are counted at the innermost frame's node.  If no sample can be taken
 * now, because the collector is at work in this thread or sampling has cost too
 * much, the hits stay pending.
 *
 * All functions: async-signal-safe, on the thread, unless stated otherwise.
 */
#ifndef CPPROF_SAMPLE_H
#define CPPROF_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/thread.h"
#include "lib/store/tree.h"

/*
 * Creates the process's file if it has none, after examining the modules that
 * affect sampling.  False with errno set.  With the file's lock held.
 */
bool sample_make_file(void);

/*
 * The same when no sample is certain to follow.  Takes the lock; with ticks
 * held off.  Preserves errno.
 */
void sample_prepare_file(void);

/*
 * Counts hits that the thread has spent before it could be sampled, under
 * `name` in brackets.  Not from a handler.
 */
void sample_count_apart(struct thread *thread, unsigned column, uint64_t hits,
    const char *name);

struct sample_request {
	uint32_t columns;	/* set of the resources to sample */
	uint64_t hits;		/* new hits, already pending */
	uint64_t overrun;	/* of these, those that came too late */
	uint64_t time_ns;	/* that it stands for, which limits its cost */
	uint64_t clock_ns;	/* for a trap of the clock: its interval */
	bool counts_sampling;	/* sampling uses up the resource, too */
	const void *function;	/* called by the innermost frame; NULL: none */
};

/*
 * Takes a sample of the stack that a signal has interrupted (a ucontext_t).  In
 * the handler, with all signals blocked.
 */
void sample_take(struct thread *thread, const struct sample_request *request,
    const void *context);

/* Wall-clock nanoseconds since the last call. */
uint64_t sample_time_passed(struct thread *thread);

/*
 * Takes a sample of the calling thread's own stack, as if the library's caller
 * had been interrupted at its call.  Blocks signals meanwhile.  May change
 * errno.
 */
void sample_take_here(struct thread *thread, uint32_t columns, uint64_t hits,
    const void *function);

/*
 * The same for the stack that a signal has interrupted (a ucontext_t), in a
 * handler that does not block signals.
 */
void sample_take_at(struct thread *thread, uint32_t columns, uint64_t hits,
    const void *context);

/*
 * Takes a sample when hits of a column have become due; see `on_due` of struct
 * resource_parts.
 */
void sample_due(struct thread *thread, unsigned column, uint64_t hits,
    const void *function, const void *context);

/*
 * When the thread ends or sampling is stopped: takes a last sample of the
 * present stack, with all pending hits and those spent since the last tick.
 * With ticks stopped.
 */
void sample_take_last(struct thread *thread);

/*
 * Around work on the stack and tree that is not a sample: all signals of the
 * calling thread are blocked in between, and what it spends is not the
 * program's.  False if that is not possible.  May change errno.
 */
struct sample_guard {
	uint64_t mask;
};

bool sample_guard_begin(struct thread *thread, struct sample_guard *guard);
void sample_guard_end(struct thread *thread, const struct sample_guard *guard);

/* Prepares what must be in the file before the thread's first node. */
enum store_result sample_prepare(struct thread *thread);

/*
 * Inserts the stack of a context (a ucontext_t), and the function that it calls
 * unless that is NULL, without counting hits.  *leaf is its node.  The second
 * inserts only the function, below CPPROFDATA_PARTIAL.
 */
enum store_result sample_enter(struct thread *thread, const void *function,
    const void *context, struct node *leaf);
enum store_result sample_enter_partial(struct thread *thread,
    const void *function, struct node *leaf);

#endif
