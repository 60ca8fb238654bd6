/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_contexts.h -- names from the texts of a callgrind file.
 *
 * Callgrind writes the situation of a function into its text: "parse'2" is
 * parse below itself, and with --separate-callers "parse'2'main'(below main)"
 * is the same with its callers, innermost first.  All texts must be known to
 * distinguish such a text from names that contain an apostrophe, so texts are
 * split at the end.
 */
#ifndef CPPROF_FORMATS_CALLGRIND_CONTEXTS_H
#define CPPROF_FORMATS_CALLGRIND_CONTEXTS_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/formats/callgrind/callgrind_names.h"
#include "src/profile/profile.h"

/*
 * Gives all nodes of the profile's graph their names, levels and callers, and
 * all places their files, and enters the objects as modules of the profile.
 * has_contexts: whether texts are split; only those of callgrind itself are.
 * 0, or -1 with *error set.
 */
int callgrind_contexts_resolve(const struct callgrind_names *names,
                               struct profile *profile, bool has_contexts,
                               struct error *error);

#endif
