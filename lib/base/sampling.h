/* SPDX-License-Identifier: MIT */
/* sampling.h -- whether this process is sampled, and whether it is the one.
 *
 * A child of fork has a copy of the collector's memory, which has to be set up
 * anew; a child of vfork runs in the memory of its parent.  Most forks are seen
 * by a handler of fork; a raw clone is noticed by a variable that the kernel
 * clears in every child (lib/base/wiped.h).
 *
 * All functions: any thread; async-signal-safe unless said otherwise.
 */
#ifndef CPPROF_SAMPLING_H
#define CPPROF_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/* Whether our signal handlers take samples; the room above turns it on. */
bool sampling_is_on(void);
void sampling_turn(bool on);

/* Whether the program has stopped sampling for now (cpprof_stop). */
bool sampling_is_stopped(void);
void sampling_stop(bool is_stopped);

/*
 * 0 before sampling begins and in children, even those of a raw clone, until
 * they are set up.
 */
extern volatile uint32_t sampling_same_process;

/*
 * Whether the memory is that of the sampled process, which is true in a child
 * of vfork, too; and whether this is the sampled process itself.
 */
bool sampling_is_own_memory(void);
bool sampling_is_own_process(void);

/*
 * Whether the collector is on.  If this is a forked child whose fork nobody
 * saw, it is set up first, by the function that sampling_on_fork has named.
 * Not from a handler.
 */
bool sampling_check_process(void);
void sampling_on_fork(void (*set_up_child)(void));

#endif
