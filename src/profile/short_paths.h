/* SPDX-License-Identifier: GPL-3.0-or-later */
/* short_paths.h -- the shortest paths that distinguish source files.
 */
#ifndef CPPROF_PROFILE_SHORT_PATHS_H
#define CPPROF_PROFILE_SHORT_PATHS_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

/*
 * For every file that the profile names, its last component, or as many
 * components from the end as no other file of the profile has; the whole path
 * if it is the end of another.
 *
 * The array is indexed by name, has NULL where a name is no file, and belongs
 * to the caller; its texts are the ends of those in profile->names.  NULL with
 * *error set.  O(n log n) for n files.
 */
const char **short_paths_new(const struct profile *profile,
                             struct error *error);

#endif
