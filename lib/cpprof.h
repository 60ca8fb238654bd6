/* SPDX-License-Identifier: MIT */
/* cpprof.h -- sampling that a program starts itself: link with -lcpprof.
 *
 * A program that `cpprof record` runs needs none of this.  One that should be
 * sampled now and then, or wants to say what it is doing, calls:
 *
 *	cpprof_start(NULL);
 *	cpprof_phase("load");
 *	load();
 *	cpprof_phase("solve");
 *	solve();
 *	cpprof_stop();
 *
 * and `cpprof PROGRAM.cpprof` shows where the time went.  Until cpprof_start
 * the library does nothing.  Under `cpprof record` sampling is on from the
 * beginning, cpprof_start goes on after a cpprof_stop, and the recording is
 * record's; everything else is the same.
 *
 * All functions may be called from any thread at any time, but not from a
 * signal handler.  Those that return int return 0, or -1 with errno set.
 * Nothing is ever printed.  Manual: libcpprof(3).
 */
#ifndef CPPROF_H
#define CPPROF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Starts sampling all threads of the process, those to come too, and children
 * that it forks.  The recording goes into the directory, made if need be;
 * NULL: into PROGRAM.cpprof in the working directory.  Files that processes
 * now gone have left there are removed.  After cpprof_stop it goes on with the
 * recording that was begun first.  No effect while sampling is on.
 *
 * ENOTEMPTY: the directory holds something else.  EBUSY: a debugger watches
 * the process.  EPERM: the program runs with other rights than its caller's.
 */
int cpprof_start(const char *directory);

/*
 * Stops sampling.  The recording is then complete, and stays so should the
 * process be killed.  (It is readable at every moment before, too.)
 */
void cpprof_stop(void);

/*
 * Begins a phase, which ends when the next begins; NULL: none.  It is one of
 * the whole process.  In the profile the stacks of all samples of the phase
 * lie below a frame `[name]`, outside of main.  Names are cut after 63 bytes.
 * A phase can be begun again and before sampling has been started.
 *
 * ENOSPC: more than 1,023 different names.
 */
int cpprof_phase(const char *name);

/*
 * Names the calling thread in the profile, where it would have the name that
 * the system knows it by.  Names are cut after 15 bytes.
 */
void cpprof_name_thread(const char *name);

#ifdef __cplusplus
}
#endif

#endif
