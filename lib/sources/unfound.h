/* SPDX-License-Identifier: MIT */
/* unfound.h -- real time of ended threads that is in no sample.
 *
 * It is time outside calls that no tick has found (lib/wrap/wrapped.c).  What a
 * thread has left at its end, or was counted too much, passes to the next
 * thread with the same start routine that a tick finds for the first time.  At
 * the end of the process it is lost, or if it is less than a tick, passes to
 * the next process of the same program.
 */
#ifndef CPPROF_UNFOUND_H
#define CPPROF_UNFOUND_H

#include <stdint.h>

#include "lib/base/thread.h"

struct leftover;

/* When a thread ends: on the thread, after its last sample. */
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

#endif
