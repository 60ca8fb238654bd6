/* SPDX-License-Identifier: MIT */
/* dispatch.h -- system calls, stopped on their way: syscall user dispatch.
 *
 * A thread that is dispatched gets a SIGSYS for each system call that it makes
 * outside this library.  Its handler counts the call and has it made by a stub
 * of ours (lib/sources/dispatch-x86_64.S).  SIGSYS is then never blocked: the
 * kernel would end the process.
 */
#ifndef CPPROF_DISPATCH_H
#define CPPROF_DISPATCH_H

#include <stdbool.h>

#include "lib/sources/source.h"

extern const struct source source_dispatch;

/*
 * Around the collector's own work, on this thread: its calls are let through.
 * Returns what to give to dispatch_resume.  Async-signal-safe.
 */
unsigned char dispatch_pause(void);
void dispatch_resume(unsigned char state);

/*
 * A function of ours has been called from there: if that is Go, no calls are
 * stopped any more in this process, and the wrappers count them.  Any thread;
 * not from a handler.
 */
void dispatch_check_caller(const void *return_address);
bool dispatch_was_given_up(void);

/* At a tick: calls are stopped again, if for want of a stub they were not. */
void dispatch_again(void);

#endif
