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
 * NULL: into PROGRAM.cpprof in the working directory.  An earlier recording
 * there is moved to PROGRAM.1.cpprof, the one before to PROGRAM.2.cpprof, and so
 * on; one into which others that run record is shared.  After cpprof_stop it
 * goes on with the recording that was begun first.  No effect while sampling is
 * on.
 *
 * ENOTEMPTY: the directory holds something else.  EAGAIN: `cpprof record`
 * records there.  EBUSY: a debugger watches
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

/*
 * Declares a resource of the program's own, beside those that are sampled
 * anyway: its name, the unit that it is counted in (its gtick), and how many of
 * these make one sample.  Returns its number for cpprof_spend.  At most
 * CPPROF_RESOURCES_MAX, before sampling is started; where that is on from the
 * beginning, at any time.  Names are at most 23 bytes long.
 *
 * EBUSY: sampling has been started.  EEXIST: there is a resource of that name.
 * ENOSPC: too many.
 */
#define CPPROF_RESOURCES_MAX 3
int cpprof_resource(const char *name, const char *gtick, uint64_t interval);

/*
 * The calling thread has used so many gticks of a resource here.  Each
 * interval-th gtick is a sample of the stack of the caller.  Cheap: a few
 * nanoseconds when no sample is due, less when sampling is off.  Nothing
 * happens if the resource is a failed cpprof_resource's -1.
 */
void cpprof_spend(int resource, uint64_t gticks);

#ifdef __cplusplus
}
#endif

#endif
