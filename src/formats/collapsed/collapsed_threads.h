/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collapsed_threads.h -- collapsed stacks whose outermost frame is a thread. */
#ifndef CPPROF_FORMATS_COLLAPSED_THREADS_H
#define CPPROF_FORMATS_COLLAPSED_THREADS_H

#include "src/profile/profile.h"

/*
 * Takes the outermost frames off the stacks of a profile without sections, and
 * makes each a thread with a section.  A stack that has no other frame keeps
 * it.  Known forms, of which the rest is a plain name:
 *
 *	java-4711/4712		stackcollapse-perf.pl --tid
 *	java-4711		stackcollapse-perf.pl --pid
 *	[main tid=4712]		async-profiler -t
 *
 * 0, or -1 with *error set.
 */
int collapsed_take_threads(struct profile *profile, struct error *error);

#endif
