/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines_choice.h -- which debug information is read together with a profile.
 *
 * Inlined functions are what the author of a program looks for, but debug
 * information can be large.  So it is chosen once, when a profile is loaded, by
 * what the profile and the files of its modules are, and never by what was read
 * before: the same profile and files show the same text.
 */
#ifndef CPPROF_SYMBOLS_LINES_LINES_CHOICE_H
#define CPPROF_SYMBOLS_LINES_LINES_CHOICE_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"
#include "src/symbols/elf/module_file.h"

/*
 * Bytes of debug information that are read in about a third of a second
 * (doc/performance.md), of all modules together.
 */
#define LINES_CHOICE_BYTES (UINT64_C(48) << 20)

/*
 * Chooses modules whose debug information has most_bytes together, those with
 * the most frames that lack lines first, of equals the first by path.  Such
 * frames of other modules become deferred.  Frames that lacked lines in an
 * earlier choice still count as such.  A module whose build the profile does
 * not tell is chosen only if frames have their names from its symbols: text
 * that names functions may be of another machine.  A module whose debug
 * information is too large gets its deferred_bytes.  Sets may_have_inlined.
 * Opens the file of each module that has such frames.  0, or -1 with *error set
 * for want of memory or after Ctrl-C.
 */
int lines_choose(struct profile *profile, const struct symbol_search *search,
                 uint64_t most_bytes, struct error *error);

#endif
