/* SPDX-License-Identifier: MIT */
/* bytes.h -- bytes moved by the calling thread, seen by a wrapper or not.
 *
 * Wrappers report the bytes that pass through them.  The kernel counts all
 * bytes that a thread reads and writes (/proc/thread-self/io).  At ticks of CPU
 * time, the difference (bytes moved by calls that are not wrapped) is charged
 * to the stack that the tick finds.  So the sum is right, whoever the caller
 * was.
 *
 * All functions: async-signal-safe, for the calling thread.
 */
#ifndef CPPROF_BYTES_H
#define CPPROF_BYTES_H

#include <stdbool.h>
#include <stdint.h>

enum direction {
	BYTES_READ,
	BYTES_WRITTEN,
	BYTES_DIRECTIONS
};

/*
 * The calling thread has moved n bytes in `function`.  is_in_kernels: the
 * kernel's count includes them, as it does for all bytes but those of the
 * sockets' own calls.
 */
void bytes_spend(enum direction direction, uint64_t n, bool is_in_kernels,
    const void *function);

/*
 * Returns the bytes in standard output's buffer that will be written at exit.
 * NULL: not known.  Set by stdio.c.
 */
extern uint64_t (*bytes_pending)(void);

#endif
