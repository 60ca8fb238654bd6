/* SPDX-License-Identifier: MIT */
/* bytes.h -- bytes moved by the calling thread: those seen, and the rest.
 *
 * Wrappers tell what passed through them.  The kernel knows what each thread
 * has read and written in all (/proc/thread-self/io), and at ticks of CPU time
 * the difference, what went through calls that nobody stands before, is
 * charged to the stack that the tick finds.  So the sum is right, whoever the
 * caller was.
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
 * The calling thread has moved n bytes in `function`; in the kernel's count
 * too, as all bytes are but those of sockets' own calls.  Async-signal-safe.
 */
void bytes_spend(enum direction direction, uint64_t n, bool is_in_kernels,
    const void *function);

/* The collector has read them: they are not the program's.  The same. */
void bytes_read_by_us(uint64_t n);

#endif
