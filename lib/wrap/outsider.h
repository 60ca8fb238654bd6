/* SPDX-License-Identifier: MIT */
/* outsider.h -- programs that will not be sampled, seen before they start.
 *
 * Async-signal-safe, any thread; also in a child of vfork.
 */
#ifndef CPPROF_OUTSIDER_H
#define CPPROF_OUTSIDER_H

#include "lib/cpprof-shared.h"

/*
 * Why the program at `path` (NULL: not known), executed with those variables,
 * will not be sampled; CPPROF_SHARED_N_REASONS if nothing speaks against it.
 * They may be anything, as for execve.
 */
enum cpprof_shared_reason outsider_judge(const char *path,
    char *const variables[]);

#endif
