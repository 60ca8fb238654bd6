/* SPDX-License-Identifier: MIT */
/* brief.h -- a file shared by processes that have only a sample of their
 * loading.
 *
 * Of a thousand processes that live for a millisecond, two hundred have a
 * sample of their loading.  A file for each of these would cost more than the
 * rest of the collector's work for them.  Instead, each appends a record to one
 * file (lib/cpprofdata.h).
 *
 * All functions: async-signal-safe, any thread.
 */
#ifndef CPPROF_BRIEF_H
#define CPPROF_BRIEF_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Appends a record of this process: one sample with `hits` hits of the resource
 * in `column`, which stand for cpu_ns of CPU time.  False if the file cannot be
 * opened or created, is not usable, or would exceed its limits.
 */
bool brief_add(unsigned column, uint64_t hits, uint64_t cpu_ns);

#endif
