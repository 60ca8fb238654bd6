/* SPDX-License-Identifier: MIT */
/* sampling.h -- whether this process is sampled, and whether this is that
 * process.
 *
 * A child of fork has a copy of the collector's memory, which must be set up
 * again.  A child of vfork runs in its parent's memory.  Most forks call our
 * fork handler; a raw clone is noticed by a variable that the kernel zeroes in
 * every child (lib/base/attributes.h).
 *
 * All functions: async-signal-safe, any thread, unless stated otherwise.
 */
#ifndef CPPROF_SAMPLING_H
#define CPPROF_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/* Whether our signal handlers take samples; turns that on or off. */
bool sampling_is_on(void);
void sampling_turn(bool on);

/* Whether the program has stopped sampling for now (cpprof_stop); sets that. */
bool sampling_is_stopped(void);
void sampling_stop(bool is_stopped);

/* How many times it was turned on: the number of the recording. */
uint32_t sampling_recording(void);

/*
 * Around what a function called by the program does with the recording, if that
 * may end while the process goes on.  False: it has ended, or ends, and must not
 * be touched.  Whoever ends it turns sampling off, and then waits; false if
 * somebody does not leave.
 */
bool sampling_work_begins(void);
void sampling_work_ends(void);
bool sampling_await_work(void);
bool sampling_has_work(void);	/* without waiting */

/* In a forked child, which has one thread: the others' work is not its own. */
void sampling_forget_work(void);

/*
 * Nonzero in the process that is sampled.  The kernel zeroes it in every child,
 * even of a raw clone, until the child is set up.
 */
extern volatile uint32_t sampling_same_process;

/*
 * Whether the memory is the sampled process's, which is also true in a child of
 * vfork; whether this is the sampled process itself.
 */
bool sampling_is_own_memory(void);
bool sampling_is_own_process(void);

/*
 * Whether the collector is on.  If this is a forked child that is not set up
 * yet, calls the function given to sampling_on_fork first.  Not from a handler.
 */
bool sampling_check_process(void);
void sampling_on_fork(void (*set_up_child)(void));

/*
 * Zeroes WIPED variables from now on in every child.  `one` and `other` are the
 * addresses of two of them, of different files, which show whether the linker
 * has sorted them.  False with errno set if it has not, or if the kernel does
 * not support it.  Once, from the constructor.
 */
bool sampling_wipe_children(const volatile void *one,
    const volatile void *other);

/*
 * Zeroes WIPED variables in this process, whose earlier recording has ended,
 * before it begins another.  No other thread may use the collector.
 */
void sampling_wipe_here(void);

#endif
