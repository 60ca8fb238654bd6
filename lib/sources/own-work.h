/* SPDX-License-Identifier: MIT */
/* own-work.h -- what the collector does is none of the program's doing.
 *
 * Between the two calls nothing that the thread uses counts for any resource
 * but time: stopped system calls are let through, the tracepoint's event stands
 * still, and faults and switches are left out of the kernel's counts.  So no
 * sample can become due from within a sample.
 *
 * The two: on the thread, with all signals blocked; async-signal-safe.
 */
#ifndef CPPROF_OWN_WORK_H
#define CPPROF_OWN_WORK_H

#include "lib/base/thread.h"

void own_work_begin(struct thread *thread);
void own_work_end(struct thread *thread);

#endif
