/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit_runtimes.h -- how to get the names of code that was made at run time. */
#ifndef CPPROF_VIEWS_JIT_RUNTIMES_H
#define CPPROF_VIEWS_JIT_RUNTIMES_H

#include "src/base/text_buffer.h"
#include "src/profile/profile.h"

/*
 * Adds what to do for each runtime among the programs and modules of the
 * profile, "run node --perf-basic-prof", joined by "; "; for others, what the
 * process must write.
 */
void jit_runtimes_add_remedies(const struct profile *profile,
                               struct text_buffer *text);

#endif
