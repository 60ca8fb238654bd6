/* SPDX-License-Identifier: MIT */
/* unsampled.h -- recognises programs that will not be sampled. */
#ifndef CPPROF_UNSAMPLED_H
#define CPPROF_UNSAMPLED_H

#include "lib/cpprof-shared.h"

/*
 * Why the program at `path` (NULL: not known) will not be sampled if it is
 * executed with these environment variables; CPPROF_SHARED_N_REASONS if no
 * reason is known.  Both may be invalid pointers, as for execve.
 * Async-signal-safe, any thread, also in a child of vfork.
 */
enum cpprof_shared_reason unsampled_reason(const char *path,
    char *const variables[]);

#endif
