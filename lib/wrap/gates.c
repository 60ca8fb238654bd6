/* SPDX-License-Identifier: MIT */
/* gates.c -- opens the gates of wrappers that measure something. */
#include "lib/wrap/wrapped.h"

#include "lib/base/real.h"
#include "lib/sources/resource.h"

BEGINS void
gates_begin(bool is_sampled)
{
	if (is_sampled && (resource_is_wanted(RESOURCE_REAL) ||
	    wrapped_counts_calls()))
		real_prepare();
	memory_begin(is_sampled);
	calls_begin(is_sampled);
	kernel_begin(is_sampled);
	timers_begin(is_sampled);
	io_begin(is_sampled);
	stdio_begin(is_sampled);
	blocking_begin(is_sampled);
}
