/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_script_frames.h -- frames from the lines that perf script printed. */
#ifndef CPPROF_FORMATS_PERF_SCRIPT_FRAMES_H
#define CPPROF_FORMATS_PERF_SCRIPT_FRAMES_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/profile/profile.h"
#include "src/symbols/names/module_cache.h"

/* The line of samples that have no stack. */
#define PERF_SCRIPT_NO_STACK "\t[no stack]"

/*
 * Enters a frame for each of the distinct lines, all of which
 * perf_script_read_frame knows, under the same numbers into a profile that has
 * none.  A line that begins with a tab is of a call chain: its address counts
 * in the object's file.  In one that does not it is an address of the process
 * and of no use.  Without a symbol the frame's name is OBJECT+0xADDRESS;
 * *lack_symbols says whether that is so of all.  modules as in struct
 * read_options.  0, or -1 with *error set.
 */
int perf_script_frames_enter(struct profile *profile,
                             const struct names *lines,
                             struct module_cache *modules, bool *lack_symbols,
                             struct error *error);

#endif
