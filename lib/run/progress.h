/* SPDX-License-Identifier: MIT */
/* progress.h -- whether a program gets on between its samples.
 *
 * Nothing that the collector does makes a sample due (lib/sources/own-work.h).
 * Should it all the same, on some kernel or by some source to come, the next
 * signal follows on the return of the last handler and the program never
 * moves.  It is known by its registers, which are then the same at every
 * signal; where they are that for long, the thread needs rests between its
 * samples.  So does a program that waits in a loop: it is none the worse, for
 * all of its samples are of one stack.
 *
 * Async-signal-safe, on the thread.
 */
#ifndef CPPROF_PROGRESS_H
#define CPPROF_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#define PROGRESS_SIGNALS 1000	/* in a row, the same or others */

struct progress {
	uint64_t registers;	/* at the last signal, hashed */
	uint32_t n_same, n_other;	/* in a row */
	bool is_lacking;
};

/* A signal that has interrupted this (a ucontext_t). */
void progress_note(struct progress *progress, const void *context);

#endif
