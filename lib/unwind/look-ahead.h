/* SPDX-License-Identifier: MIT */
/* look-ahead.h -- prefetches what a walk will need. */
#ifndef CPPROF_LOOK_AHEAD_H
#define CPPROF_LOOK_AHEAD_H

#include "lib/unwind/unwinder.h"

/*
 * Prefetches the rules that a walk from a ucontext_t will need one after the
 * other, all at once: those of words on the stack that look like return
 * addresses because they are close to code that runs.  Useful if the program
 * has filled the caches with its own data since the last sample.
 * Async-signal-safe, on the unwinder's thread.
 */
void look_ahead(const struct unwinder *unwinder, const void *context);

#endif
