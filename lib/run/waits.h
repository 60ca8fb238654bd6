/* SPDX-License-Identifier: MIT */
/* waits.h -- the calls in which threads wait, recorded in the file while they
 * last.
 *
 * The time of a call is charged when it returns.  Some calls never return:
 * those that hang, and those that have not returned when the process ends,
 * however it ends.  So the thread's record shows each wait from its beginning
 * (struct cpprofdata_wait), and whoever reads the file charges its time so far.
 * No thread needs to be asked, and no call of the program is disturbed.
 *
 * The node of a wait is found by walking the stack when it begins.  Programs
 * wait at few sites, so a thread remembers them, with the words of the stack
 * that the walk has used.  As long as these are unchanged, so is the stack, and
 * a few comparisons find its node.  Otherwise the stack is walked, within a
 * budget.  If a thread waits at ever new sites and never for long, only the
 * call itself is inserted, below CPPROFDATA_PARTIAL.
 *
 * All functions: async-signal-safe, on the thread.
 */
#ifndef CPPROF_WAITS_H
#define CPPROF_WAITS_H

#include <stdint.h>

#include "lib/base/thread.h"
#include "lib/cpprofdata.h"
#include "lib/store/tree.h"

/* The part of a thread's state for its waits. */
struct thread_waits {
	struct wait_sites *sites;	/* NULL: none yet */
	uint32_t generation;		/* in which the sites are valid */
	int64_t allowance_ns;		/* what walking may still cost */
	uint64_t last_check_ns;		/* monotonic */
	struct node node;		/* of the present wait */
	uint32_t columns;		/* that it counts for; 0: there is
					   none */
	uint64_t since_ns;
};

/*
 * To be called when the thread begins.  Time that no sample or wait accounts
 * for is counted from since_ns.  May change errno.
 */
void waits_begin_thread(struct thread *thread, uint64_t since_ns);

/*
 * Finds the node of the stack at which `function` is about to be called, and
 * keeps it for the wait that follows; if it cannot be found, the wait has no
 * node.  `frame` is the frame address of a function of this library on the
 * stack, with a frame pointer; the stack further out must not change during the
 * call.  `now_ns` is the monotonic time; returns the time afterwards.  May
 * change errno.
 */
uint64_t waits_find_node(struct thread *thread, uintptr_t frame,
    const void *function, uint64_t now_ns);

/*
 * Notes that the thread waits since then, for the set `columns`.  All earlier
 * time has been charged, except for `gathered_ns`.
 */
void waits_begin(struct thread *thread, uint32_t columns, uint64_t since_ns,
    uint64_t gathered_ns);

/*
 * Notes that the thread does not wait, and that its time has been charged up to
 * since_ns; 0: nothing is known.
 */
void waits_end(struct thread *thread, uint64_t since_ns, uint64_t gathered_ns);

/* The same for a thread that ends: charges the present wait up to now. */
void waits_charge_last(struct thread *thread, uint64_t now_ns);

/* Forgets the sites, because the thread's stack or tree is invalid. */
void waits_forget(struct thread *thread);

#endif
