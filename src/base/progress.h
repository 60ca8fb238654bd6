/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.h -- long work reports its progress and can be interrupted. */
#ifndef CPPROF_BASE_PROGRESS_H
#define CPPROF_BASE_PROGRESS_H

#include <signal.h>
#include <stdint.h>

#include "src/base/error.h"

/*
 * Set by the handler of Ctrl-C; cleared by whoever starts long work.  Loops
 * over input or output read it every few thousand steps.
 */
extern volatile sig_atomic_t interrupt_requested;

/* Who receives the reports; NULL: nobody. */
struct progress {
	void (*report)(void *context, uint64_t done, uint64_t total);
	void *context;
};

/*
 * Reports that `done` of `total` units (bytes; total 0: unknown) are done.  0,
 * or -1 with *error set to "interrupted" after Ctrl-C.  Call it about once a
 * megabyte; it is not free.
 */
int progress_step(const struct progress *progress, uint64_t done,
                  uint64_t total, struct error *error);

#endif
