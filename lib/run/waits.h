/* SPDX-License-Identifier: MIT */
/* waits.h -- calls that a thread waits in, kept in the file while they last.
 *
 * The time of a call is charged when it returns.  Some never do: what hangs,
 * and what is still on when the process ends, however it ends.  So the place
 * of each wait is in the thread's record from its beginning (struct
 * cpprofdata_wait), and whoever reads the file charges what it has taken so
 * far.  No thread is asked, and no call of the program disturbed.
 *
 * A wait's node is found by walking the stack when it begins.  Programs wait
 * at few places, so a thread remembers these: the words of the stack by which
 * each was walked.  As long as they are unchanged, so is the stack, and its
 * node is known for some comparisons.  Otherwise the stack is walked, within a
 * budget: where a thread waits at ever new places and seldom long, the call
 * alone is entered, below CPPROFDATA_PARTIAL.
 *
 * All functions: async-signal-safe, on the thread.
 */
#ifndef CPPROF_WAITS_H
#define CPPROF_WAITS_H

#include <stdint.h>

#include "lib/base/thread.h"
#include "lib/cpprofdata.h"
#include "lib/store/tree.h"

/* The part of a thread's state that is about its waits. */
struct thread_waits {
	struct wait_sites *sites;	/* NULL: none yet */
	uint32_t generation;		/* in which sites hold */
	int64_t allowance_ns;		/* that walking may still cost */
	uint64_t asked_ns;		/* monotonic */
	struct node node;		/* of the wait that is on */
	uint32_t columns;		/* it counts for; 0: there is none */
	uint64_t since_ns;
};

/*
 * The thread begins: what it will not be found at by any sample or wait is
 * counted from since then.  May change errno.
 */
void waits_begin_thread(struct thread *thread, uint64_t since_ns);

/*
 * Finds the node of the stack at which `function` is about to be called, and
 * keeps it as the thread's for the wait to come; none where there is none for
 * now.  `frame` is the frame address of a function of this library that the
 * stack goes through, with a frame pointer: what is walked further out must not
 * change while the call lasts.  It is `now_ns`, monotonic; returns what time it
 * is then.  May change errno.
 */
uint64_t waits_find_node(struct thread *thread, uintptr_t frame,
    const void *function, uint64_t now_ns);

/*
 * The thread waits there since then, for the columns of that set.  All of its
 * time before has been charged, but for `gathered_ns`.
 */
void waits_begin(struct thread *thread, uint32_t columns, uint64_t since_ns,
    uint64_t gathered_ns);

/*
 * The thread does not wait, or no more, and has been charged up to then.  With
 * 0 nothing is known of it.
 */
void waits_end(struct thread *thread, uint64_t since_ns, uint64_t gathered_ns);

/* The same of a thread that ends: what it still was in counts up to then. */
void waits_charge_last(struct thread *thread, uint64_t now_ns);

/* What is remembered of the thread's stack and tree is void. */
void waits_forget(struct thread *thread);

#endif
