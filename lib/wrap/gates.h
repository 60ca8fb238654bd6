/* SPDX-License-Identifier: MIT */
/* gates.h -- opens the gates of wrappers that measure something. */
#ifndef CPPROF_GATES_H
#define CPPROF_GATES_H

#include <stdbool.h>

/*
 * Opens the gates of the resources that are sampled and closes the others
 * (lib/wrap/wrapped.h); all, if the process is not sampled.  From the
 * constructor or cpprof_start, after resources were chosen, and again when one
 * has changed its source.  Not from a handler.
 */
void gates_begin(bool is_sampled);

#endif
