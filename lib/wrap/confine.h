/* SPDX-License-Identifier: MIT */
/* confine.h -- programs that forbid themselves system calls.
 *
 * Under a filter of its own (seccomp), a program must not be killed for what a
 * tick does.  So each filter is tried, before the kernel gets it, on the calls
 * that sampling makes.  If it would do anything but let them pass or fail, the
 * recording is completed and sampling ends for good: the collector makes no
 * system call after that.  A filter that is installed by a system call that no
 * library makes is not seen.
 */
#ifndef CPPROF_CONFINE_H
#define CPPROF_CONFINE_H

/*
 * The program is about to call seccomp(2) so, on this thread.  Not from the
 * handler.
 */
void confine_expect(unsigned long operation, unsigned long flags,
    const void *filter);

#endif
