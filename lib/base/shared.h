/* SPDX-License-Identifier: MIT */
/* shared.h -- this process's part in what a recording's processes share.
 *
 * Where there is none (no `cpprof record`, no /proc, another user) nothing is
 * counted, and nothing told.
 *
 * All functions: async-signal-safe, any thread, unless said otherwise.
 */
#ifndef CPPROF_SHARED_PAGE_H
#define CPPROF_SHARED_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/cpprof-shared.h"

/*
 * Maps it, by the name in the environment, NULL: there is none; and counts this
 * image of the process.  From the constructor.
 */
void shared_begin(const char *name);

/* In a forked child: it is one more process, of another kind. */
void shared_forked(void);

/* Why the process, or one that it executes, is not sampled. */
void shared_count(enum cpprof_shared_reason reason, int error);
void shared_uncount(enum cpprof_shared_reason reason);

/* The same of this process, and for good: only the first reason counts. */
void shared_give_up(enum cpprof_shared_reason reason, int error);

/* The process does I/O by io_uring. */
void shared_count_ring(void);

/* The process has made a file, or has a record in the brief one. */
void shared_count_recorded(void);

/*
 * The process traces others; and whether that is so of any, or not known: then
 * it is worth asking the kernel.  (Who traces from outside the recording finds
 * `record` first, which counts as one.)
 */
void shared_count_tracer(void);
bool shared_has_tracers(void);

/*
 * Tells the CPU time of the process up to now that was not told before: it was
 * sampled.  `before_ns` of it was spent before the library came.
 */
void shared_tell_cpu_time(uint64_t before_ns);

/*
 * Notes that the process is about to execute another program, with what it has
 * used; and says in that one what it was, 0 if it is not known.
 */
void shared_note_exec(void);
uint64_t shared_time_before(void);

/*
 * Time of processes that are of one kind with this one, short ones of the same
 * program: what no sample stands for is given here by who ends, and taken by
 * who is sampled next.  Both may be less than nothing.  What was taken over is
 * no longer the giver's: *ns is 0.  One takes a second at most.
 */
void shared_give_time(enum cpprof_shared_time which, int64_t *ns);
int64_t shared_take_time(enum cpprof_shared_time which);

/* Whether there is somebody to take it. */
bool shared_is_there(void);

#endif
