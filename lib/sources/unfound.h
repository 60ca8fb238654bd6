/* SPDX-License-Identifier: MIT */
/* unfound.h -- real time of threads that is in no sample.
 *
 * It is time outside calls before the first tick that finds a thread, and after
 * the last one (lib/wrap/wrapped.c).  A thread with many samples counts it at
 * the first and the last of these when it ends.  Other threads leave that time,
 * or what was counted too much, to threads with the same start routine.  These
 * count it where their first ticks have found them, when that happens or when
 * they end.
 * So the time of many short threads is spread as their first ticks are.  At the
 * end of the process, the rest is lost, or if it is less than a tick, passes to
 * the next process of the same program.
 */
#ifndef CPPROF_UNFOUND_H
#define CPPROF_UNFOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/thread.h"
#include "lib/store/tree.h"

struct leftover;

/*
 * Notes the node of a sample with these columns.  Async-signal-safe, on the
 * thread.
 */
void unfound_note_sample(struct thread *thread, uint32_t columns,
    const struct node *node);

/*
 * Counts time at the thread's last sample, if that is possible now; returns how
 * much was counted.  In the handler.
 */
uint64_t unfound_count_back(struct thread *thread, uint64_t ns);

/*
 * When a thread ends: counts what others have left, and leaves its own time.
 * On the thread, after its last sample.
 */
void unfound_leave(struct thread *thread);

/*
 * What ended threads have left, in ns, perhaps negative; the caller takes it.
 * Async-signal-safe.
 */
int64_t unfound_take(struct leftover *leftover);

/*
 * At the end of the process: the hits that stand for it, if it is more than a
 * tick counts for; takes these, and leaves the rest.  Real time is sampled.
 */
uint64_t unfound_lose(struct leftover *leftover);

/*
 * How long the calling thread has waited for a processor so far, in ns; false
 * if the kernel does not tell.  Async-signal-safe.
 */
bool unfound_read_delay(uint64_t *ns);

#endif
