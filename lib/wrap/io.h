/* SPDX-License-Identifier: MIT */
/* io.h -- the end of a measured call that reads or writes.
 *
 * All functions: async-signal-safe, on the calling thread.
 */
#ifndef CPPROF_IO_H
#define CPPROF_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/wrap/wrapped.h"

/* Whether any resource is sampled that reading and writing spend. */
static inline bool
io_is_wanted(void)
{
	return resource_is_wanted(RESOURCE_BYTES_READ) ||
	    resource_is_wanted(RESOURCE_BYTES_WRITTEN) ||
	    resource_is_wanted(RESOURCE_IO_TIME) ||
	    resource_is_wanted(RESOURCE_REAL) || wrapped_counts_calls();
}

/*
 * The program creates an io_uring: flags the recording, since I/O through the
 * ring is not counted.
 */
void io_note_ring(void);

/*
 * Charges the call's time and bytes, then does what wrapped_leave does.
 * is_in_kernels: see lib/wrap/bytes.h.  Preserves errno.
 */
void io_leave(struct wrapped_call *call, uint64_t n_read, uint64_t n_written,
    bool is_in_kernels);

#endif
