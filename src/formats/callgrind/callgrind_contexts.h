/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_contexts.h -- names from the texts of a callgrind file.
 *
 * Callgrind writes into a function's text what it tells apart: "parse'2" is
 * parse below itself, and with --separate-callers "parse'2'main'(below main)"
 * is that called along (main parse), innermost first.  All texts must be known
 * to tell such a text from names that hold an apostrophe, so it is taken apart
 * in the end.
 */
#ifndef CPPROF_FORMATS_CALLGRIND_CONTEXTS_H
#define CPPROF_FORMATS_CALLGRIND_CONTEXTS_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/formats/callgrind/callgrind_names.h"
#include "src/profile/profile.h"

/*
 * Gives all nodes of the profile's graph their names, levels and callers, and
 * all places their files, entered into the profile, and enters the objects as
 * its modules.  has_contexts: whether texts are taken apart, as only
 * callgrind's own are.  0, or -1 with *error set.
 */
int callgrind_contexts_resolve(const struct callgrind_names *names,
                               struct profile *profile, bool has_contexts,
                               struct error *error);

#endif
