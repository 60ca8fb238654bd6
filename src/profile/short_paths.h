/* SPDX-License-Identifier: GPL-3.0-or-later */
/* short_paths.h -- source files by as little of their paths as tells them
 * apart.
 */
#ifndef CPPROF_PROFILE_SHORT_PATHS_H
#define CPPROF_PROFILE_SHORT_PATHS_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

/*
 * For every file that the profile names, its last component, or
 * as many components as no other file of the profile ends in.  The whole path
 * where it is the end of another.
 *
 * The array is indexed by name, has NULL where a name is no file, and is the
 * caller's; its texts are the ends of those in profile->names.  NULL with
 * *error set.  O(n log n) for n files.
 */
const char **short_paths_new(const struct profile *profile,
                             struct error *error);

#endif
