/* SPDX-License-Identifier: MIT */
/* look-ahead.h -- what a walk will want, asked for before it begins. */
#ifndef CPPROF_LOOK_AHEAD_H
#define CPPROF_LOOK_AHEAD_H

#include "lib/unwind/unwinder.h"

/*
 * Has the processor fetch, all at once, the rules that a walk from a ucontext_t
 * will want one after the other: those of what looks like return addresses,
 * being near code that runs.  For samples between which the program has used
 * the caches for itself.  Async-signal-safe, on the unwinder's thread.
 */
void look_ahead(const struct unwinder *unwinder, const void *context);

#endif
