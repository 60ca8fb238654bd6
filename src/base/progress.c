/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.c -- long work reports its progress and can be interrupted. */
#include "src/base/progress.h"

#include <stddef.h>

volatile sig_atomic_t interrupt_requested;

int
progress_step(const struct progress *progress, uint64_t done, uint64_t total,
              struct error *error)
{
	if (interrupt_requested)
		return error_set(error, "interrupted");
	if (progress != NULL && progress->report != NULL)
		progress->report(progress->context, done, total);
	return 0;
}
