/* SPDX-License-Identifier: MIT */
/* dispatch.h -- stops and counts system calls by syscall user dispatch.
 *
 * A dispatched thread gets a SIGSYS for each system call that it makes outside
 * this library.  The handler counts the call, and a stub of ours makes it
 * (lib/sources/dispatch-x86_64.S).  SIGSYS must never be blocked then, or the
 * kernel would kill the process.
 */
#ifndef CPPROF_DISPATCH_H
#define CPPROF_DISPATCH_H

#include <stdbool.h>

#include "lib/base/thread.h"
#include "lib/sources/resource.h"

extern const struct resource_source source_dispatch;

/*
 * Let the collector's own calls on this thread pass, and stop calls again.
 * dispatch_pause returns the state to give to dispatch_resume.
 * Async-signal-safe.
 */
unsigned char dispatch_pause(void);
void dispatch_resume(unsigned char state);

/*
 * To be called when a function of ours was called, with its return address.  If
 * the caller is Go code, ends dispatch in this process, and the wrappers count
 * instead.  Any thread, not from a handler.
 */
void dispatch_check_caller(const void *return_address);

/*
 * At the end of a handler: stops calls again, even if a missing stub had let
 * them pass.  Async-signal-safe.
 */
void dispatch_again(void);

/*
 * Excludes the collector's own work from what is counted.
 *
 * Between the two calls, what the thread uses counts for no resource but time:
 * stopped system calls are let through, the tracepoint's event is disabled, and
 * faults and switches are subtracted from the kernel's counts.  So no sample
 * can become due during a sample.
 *
 * Both: async-signal-safe, on the thread, with all signals blocked.
 */

void own_work_begin(struct thread *thread);
void own_work_end(struct thread *thread);

#endif
