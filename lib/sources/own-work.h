/* SPDX-License-Identifier: MIT */
/* own-work.h -- excludes the collector's own work from what is counted.
 *
 * Between the two calls, what the thread uses counts for no resource but time:
 * stopped system calls are let through, the tracepoint's event is disabled, and
 * faults and switches are subtracted from the kernel's counts.  So no sample
 * can become due during a sample.
 *
 * Both: async-signal-safe, on the thread, with all signals blocked.
 */
#ifndef CPPROF_OWN_WORK_H
#define CPPROF_OWN_WORK_H

#include "lib/base/thread.h"

void own_work_begin(struct thread *thread);
void own_work_end(struct thread *thread);

#endif
