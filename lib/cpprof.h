/* SPDX-License-Identifier: MIT */
/* cpprof.h -- lets a program start sampling itself: link with -lcpprof, or a
 * static program as pkg-config --static --libs libcpprof says (without these
 * words, a static program that calls nothing of this has no collector in it).
 *
 * A program that `cpprof record` runs needs none of this.  A program that
 * should be sampled only at times, or that tells the profiler what it is doing,
 * calls:
 *
 *	cpprof_start(NULL);
 *	cpprof_phase("load");
 *	load();
 *	cpprof_phase("solve");
 *	solve();
 *	cpprof_stop();
 *
 * Then `cpprof PROGRAM.cpprof` shows where the time went.  Until cpprof_start,
 * the library does nothing.  Under `cpprof record`, sampling is on from the
 * beginning, cpprof_start resumes it after cpprof_stop, and the recording is
 * that of `record`.  Everything else is the same.
 *
 * All functions may be called from any thread at any time, but not from a
 * signal handler.  Functions that return int return -1 with errno set if they
 * fail, and 0 otherwise, but cpprof_resource returns a number.  Nothing is ever
 * printed.  Manual: libcpprof(3).
 */
#ifndef CPPROF_H
#define CPPROF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Starts sampling all threads of the process, including later ones, and
 * children that it forks.  The recording goes into `directory`, which is
 * created if necessary; NULL: PROGRAM.cpprof in the working directory.  An
 * earlier recording there is renamed to PROGRAM.1.cpprof, the one before it to
 * PROGRAM.2.cpprof, and so on.  A directory into which other processes are
 * recording is shared.  After cpprof_stop, continues the first recording.  Has
 * no effect while sampling is on.
 *
 * ENOTEMPTY: the directory contains something else.  EAGAIN: `cpprof record` is
 * recording there.  EBUSY: a debugger watches the process, or a recording that
 * was started from outside begins or has not left all threads.  EPERM: the
 * program has other privileges than its caller.
 */
int cpprof_start(const char *directory);

/*
 * Stops sampling.  The recording is then complete, and remains so if the
 * process is killed.  (It is readable at any time before, too.)
 */
void cpprof_stop(void);

/*
 * Begins a phase, which ends when the next one begins; NULL: no phase.  The
 * whole process is in one phase at a time.  In the profile, the stacks of all
 * samples of the phase are below a frame `[name]`, outside of main.  Names are
 * truncated after 63 bytes.  A phase can be begun again, and before sampling
 * has started.
 *
 * ENOSPC: more than 1,023 different names.
 */
int cpprof_phase(const char *name);

/*
 * Names the calling thread in the profile, which otherwise uses the system's
 * name.  Names are truncated after 15 bytes.  NULL: the system's name again.
 */
void cpprof_name_thread(const char *name);

/*
 * Declares a resource of the program's own, in addition to those that are
 * sampled: its name, the unit in which it is counted (its gtick), and how many
 * of these make one sample.  Returns its number for cpprof_spend.  At most
 * CPPROF_RESOURCES_MAX resources, declared before sampling starts; if sampling
 * is on from the beginning, at any time.  Names have at most 23 bytes.
 *
 * EBUSY: sampling has started.  EEXIST: a resource has that name.  ENOSPC: too
 * many resources.
 */
#define CPPROF_RESOURCES_MAX 3
int cpprof_resource(const char *name, const char *gtick, uint64_t interval);

/*
 * The calling thread has used that many gticks of a resource here.  Every
 * interval-th gtick is a sample of the caller's stack.  Costs a few nanoseconds
 * if no sample is due, less if sampling is off.  Does nothing if `resource` is
 * not a number that cpprof_resource has returned.
 */
void cpprof_spend(int resource, uint64_t gticks);

#ifdef __cplusplus
}
#endif

#endif
