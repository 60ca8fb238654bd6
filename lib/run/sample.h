/* SPDX-License-Identifier: MIT */
/* sample.h -- a stack, taken and entered into the thread's tree.
 *
 * A sample is of one or several resources: all hits that the thread owes for
 * them go to the innermost frame's node.  When none can be taken now (the
 * collector is at work in this thread, or sampling has cost too much) they
 * stay owed.
 */
#ifndef CPPROF_SAMPLE_H
#define CPPROF_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/thread.h"
#include "lib/store/tree.h"

/*
 * Makes the process's file if it has none, when the modules are known that
 * sampling has to know of.  With the file's lock; async-signal-safe.
 */
bool sample_make_file(void);

/*
 * The same where it is not known that there will be a sample, without the lock,
 * with ticks held off.
 */
void sample_prepare_file(void);

/*
 * Counts hits of a column that the thread has spent before it could be sampled,
 * under a name of their own in brackets.  Not from a handler.
 */
void sample_count_apart(struct thread *thread, unsigned column, uint64_t hits,
    const char *name);

struct occasion {
	uint32_t columns;	/* set of the resources it is for */
	uint64_t hits;		/* that it has brought, already owed */
	uint64_t overrun;	/* of these, that came too late */
	uint64_t time_ns;	/* that it stands for: what it may cost */
	bool spends_itself;	/* sampling uses the resource up, too */
	const void *function;	/* called by the stack; NULL: none */
};

/*
 * Takes one of the stack that a signal has interrupted (a ucontext_t).  In the
 * handler, with all signals blocked.
 */
void sample_take(struct thread *thread, const struct occasion *occasion,
    const void *context);

/* Wall-clock time since this was asked last. */
uint64_t sample_time_passed(struct thread *thread);

/*
 * Takes one of the calling thread's own stack, as if the caller of the library
 * had been interrupted at its call.  Async-signal-safe; blocks signals
 * meanwhile.  May change errno.
 */
void sample_take_here(struct thread *thread, uint32_t columns, uint64_t hits,
    const void *function);

/*
 * The same of the stack that a signal has interrupted (a ucontext_t), in a
 * handler that blocks no signals.
 */
void sample_take_at(struct thread *thread, uint32_t columns, uint64_t hits,
    const void *context);

/*
 * Hits of a column have become due: struct resource_parts says when and where.
 */
void sample_due(struct thread *thread, unsigned column, uint64_t hits,
    const void *function, const void *context);

/*
 * When the thread ends or sampling is stopped, on the thread, with ticks
 * stopped: all hits that are pending, and those of what it has spent since its
 * last tick, go into one last sample of its present stack.
 */
void sample_take_rest(struct thread *thread);

/*
 * What is not a sample, but enters its stack: between the two, of the calling
 * thread, all signals are blocked, and what it spends is not the program's.
 * False where that cannot be.  Async-signal-safe; may change errno.
 */
struct sample_guard {
	uint64_t mask;
};

bool sample_guard_begin(struct thread *thread, struct sample_guard *guard);
void sample_guard_end(struct thread *thread, const struct sample_guard *guard);

/* Sees to what must be in the file before the thread's first node. */
enum tree_result sample_prepare(struct thread *thread);

/*
 * Enters the stack of a context (a ucontext_t), and the function that it calls
 * unless that is NULL, without any hits; *leaf is its node.  The second enters
 * just the function, below CPPROFDATA_PARTIAL.
 */
enum tree_result sample_enter(struct thread *thread, const void *function,
    const void *context, struct node *leaf);
enum tree_result sample_enter_partial(struct thread *thread,
    const void *function, struct node *leaf);

#endif
