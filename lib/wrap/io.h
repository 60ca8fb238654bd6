/* SPDX-License-Identifier: MIT */
/* io.h -- the end of a measured call that reads or writes. */
#ifndef CPPROF_IO_H
#define CPPROF_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wrap/wrapped.h"

/* Whether any resource is wanted that reading and writing spend. */
static inline bool
io_is_wanted(void)
{
	return resource_is_wanted(RESOURCE_BYTES_READ) ||
	    resource_is_wanted(RESOURCE_BYTES_WRITTEN) ||
	    resource_is_wanted(RESOURCE_IO_TIME) ||
	    resource_is_wanted(RESOURCE_REAL) || wrapped_counts_calls();
}

/* The program makes a ring of io_uring: what goes through it is not seen. */
void io_note_ring(void);

/*
 * Charges the call's time and the bytes it has moved; then as wrapped_leave.
 * In the kernel's count: see lib/wrap/bytes.h.
 */
void io_leave(struct wrapped_call *call, uint64_t n_read, uint64_t n_written,
    bool is_in_kernels);

/* Bytes that wait in standard output's buffer, to be written at exit. */
uint64_t stdio_pending(void);

#endif
