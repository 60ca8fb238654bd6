/* SPDX-License-Identifier: MIT */
/* gates.h -- which groups of wrapped functions measure anything. */
#ifndef CPPROF_GATES_H
#define CPPROF_GATES_H

#include <stdbool.h>

/*
 * Opens the gates of what is wanted (lib/wrap/wrapped.h) and closes the others;
 * where the process is not sampled it closes all.  From the constructor or
 * cpprof_start, once resources are chosen; again when one has another source.
 * Not from a handler.
 */
void gates_begin(bool is_sampled);

#endif
