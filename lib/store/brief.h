/* SPDX-License-Identifier: MIT */
/* brief.h -- the loading of processes that may have no other sample, in a file
 * that they share.
 *
 * Of a thousand processes that live for a millisecond, two hundred have a
 * sample of their loading, and a file for each would cost more than all else
 * that the collector does for them.  Each appends a record instead
 * (lib/cpprofdata.h).
 */
#ifndef CPPROF_BRIEF_H
#define CPPROF_BRIEF_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Appends this process, with so many hits of a resource's column in one sample,
 * for cpu_ns of CPU time.  False: the file can be neither opened nor made, is
 * not ours, or is as long as it may be.  Async-signal-safe.
 */
bool brief_add(unsigned column, uint64_t hits, uint64_t cpu_ns);

#endif
