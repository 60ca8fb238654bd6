/* SPDX-License-Identifier: MIT */
/* progress.h -- whether a program makes progress between its samples.
 *
 * Nothing that the collector does should make a sample due
 * (lib/sources/own-work.h).  If it did nevertheless, on some kernel or with
 * some future source, the next signal would follow as soon as the handler
 * returns, and the program would never advance.  Its registers would then be
 * the same at every signal.  If that lasts, the thread gets pauses between its
 * samples.  A program that waits in a loop gets them, too, which does no harm,
 * since all of its samples have the same stack.
 *
 * Async-signal-safe, on the thread.
 */
#ifndef CPPROF_PROGRESS_H
#define CPPROF_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_SIGNALS 1000	/* in a row, equal or different */

struct thread_progress {
	uint64_t registers;	/* hash of those at the last signal */
	uint32_t n_same, n_other;	/* in a row */
	bool is_lacking;
};

/* Notes the context (a ucontext_t) that a signal has interrupted. */
void progress_note(struct thread_progress *progress, const void *context);

#endif
