/* SPDX-License-Identifier: MIT */
/* collector.c -- puts the rooms together; the library's constructor.
 *
 * Rooms call downwards only: base, signals, unwind, store, sources, run, wrap
 * (doc/architecture.md).  Where a lower room must call a higher one, it gets
 * the function here, before anything is sampled.  Only this file knows all
 * rooms.
 *
 * The linker makes this constructor the first of all (initfirst), so that
 * threads and time of other libraries' constructors are sampled, too.  The C
 * library's own constructor has not run then, so its environment, for example,
 * is not available.
 */
#include <errno.h>
#include <stddef.h>

#include "lib/base/lookup.h"
#include "lib/run/sample.h"
#include "lib/run/start.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
#include "lib/wrap/blame.h"
#include "lib/wrap/wrapped.h"

/* Where each resource comes from, best first. */
static const struct resource_source *const
sources[RESOURCE_N][RESOURCE_SOURCES_MAX] = {
	[RESOURCE_CPU] = { &source_perf_clock, &source_perf_user_clock,
	    &source_timer },
	[RESOURCE_USER] = { &source_perf_user, &source_user },
	[RESOURCE_SYSTEM] = { &source_system },
	[RESOURCE_REAL] = { &source_wall },
	[RESOURCE_PAGE_FAULTS] = { &source_perf_faults, &source_page_faults },
	[RESOURCE_MAJOR_FAULTS] = { &source_perf_major_faults,
	    &source_major_faults },
	[RESOURCE_MINOR_FAULTS] = { &source_perf_minor_faults,
	    &source_minor_faults },
	[RESOURCE_CONTEXT_SWITCHES] = { &source_perf_switches,
	    &source_context_switches },
	[RESOURCE_VOLUNTARY_SWITCHES] = { &source_perf_voluntary_switches,
	    &source_voluntary_switches },
	[RESOURCE_INVOLUNTARY_SWITCHES] = { &source_perf_involuntary_switches,
	    &source_involuntary_switches },
	[RESOURCE_SYSCALLS] = { &source_perf_syscalls, &source_dispatch,
	    &source_kernel_calls },
	[RESOURCE_BYTES_READ] = { &source_bytes, &source_bytes_seen },
	[RESOURCE_BYTES_WRITTEN] = { &source_bytes, &source_bytes_seen },
	[RESOURCE_IO_TIME] = { &source_io_time },
	[RESOURCE_CALLS] = { &source_calls, &source_no_calls },
	[RESOURCE_ALLOC_BYTES] = { &source_memory, &source_memory_without_new,
	    &source_memory_partly, &source_mappings },
	[RESOURCE_ALLOCS] = { &source_memory, &source_memory_without_new,
	    &source_memory_partly, &source_mappings },
	[RESOURCE_LIVE] = { &source_live, &source_live_without_new,
	    &source_live_partly, &source_live_mappings },
	[RESOURCE_FREED_BYTES] = { &source_live_part },
	[RESOURCE_FREES] = { &source_live_part },
	[RESOURCE_BLAME] = { &source_blame, &source_blame_partly },
	[RESOURCE_BLAME_TAKEN] = { &source_blame, &source_blame_partly },
	[RESOURCE_LOCK_WAITS] = { &source_blame_part },
	[RESOURCE_FP_EXCEPTIONS] = { &source_exceptions },
	[RESOURCE_CYCLES] = { &source_perf_cycles },
	[RESOURCE_INSTRUCTIONS] = { &source_perf_instructions },
	[RESOURCE_CACHE_MISSES] = { &source_perf_cache_misses },
	[RESOURCE_BRANCH_MISSES] = { &source_perf_branch_misses },
	[RESOURCE_LATENCY] = { &source_latency },
};

/* All gates are closed if the process is not sampled. */
static RUNS_ONCE void
open_gates(bool is_sampled)
{
	if (is_sampled && (resource_is_wanted(RESOURCE_REAL) ||
	    wrapped_counts_calls()))
		real_prepare();
	memory_begin(is_sampled);
	calls_begin(is_sampled);
	kernel_begin(is_sampled);
	io_begin(is_sampled);
	stdio_begin(is_sampled);
	blocking_begin(is_sampled);
	locks_begin(is_sampled);
	if (process.is_inside)
		imports_wrap(is_sampled);
}

static void
open_gates_anew(void)
{
	open_gates(true);
}

static const struct resource_parts resource_parts_here = {
	.sources = sources,
	.start_ticks = timer_start,
	.stop_ticks = timer_stop,
	.on_due = sample_due,
	.on_change = open_gates_anew,
};

static void
end_calls(struct thread *thread)
{
	wrapped_end_thread(thread);
	blame_end_thread(thread);
}

static const struct start_parts start_parts_here = {
	.open_gates = open_gates,
	.end_calls = end_calls,
	.look_for_modules = imports_wrap_new,
	.finish = blame_finish,
};

/*
 * clang's thread sanitizer is part of the program, intercepts most of the C
 * library, and cannot be called before it is initialised.  gcc's leak sanitizer
 * is initialised in a constructor; before that its pthread_key_create fails.
 */
void __tsan_init(void) __attribute__((weak));
void __lsan_init(void) __attribute__((weak));

__attribute__((constructor)) static void
begin(int argc, char **words, char **environment)
{
	const int saved = errno;

	(void)argc;
	if (__tsan_init != NULL)
		__tsan_init();
	if (__lsan_init != NULL)
		__lsan_init();
	resource_parts = &resource_parts_here;
	start_library(&start_parts_here, environment, words);
	errno = saved;
}
