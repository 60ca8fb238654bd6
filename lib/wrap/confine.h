/* SPDX-License-Identifier: MIT */
/* confine.h -- programs that forbid themselves system calls (seccomp).
 *
 * A program's own filter must not kill it for a system call that a tick makes.
 * So before the kernel gets a filter, it is run on the calls that sampling
 * makes.  If it would do anything else than allow them or make them fail, the
 * recording is completed and sampling ends for good; from then on the collector
 * makes no system calls.  A filter that is installed without a library call is
 * not noticed.
 */
#ifndef CPPROF_CONFINE_H
#define CPPROF_CONFINE_H

/*
 * To be called before the program calls seccomp(2) on this thread, with the
 * same arguments.  `filter` may be any address.  Not from a handler.
 */
void confine_expect(unsigned long operation, unsigned long flags,
    const void *filter);

#endif
