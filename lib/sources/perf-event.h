/* SPDX-License-Identifier: MIT */
/* perf-event.h -- opening an event of the calling thread that traps. */
#ifndef CPPROF_PERF_EVENT_H
#define CPPROF_PERF_EVENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/sources/source.h"

/*
 * A descriptor of a source's event, which does not run yet, or -1 with errno
 * set.  *had_to: without the kernel's part, as more is not allowed.  Its traps
 * are known by the column (perf_event_sender).  Async-signal-safe.
 */
int perf_event_open(const struct source *source, uint64_t period,
    unsigned column, bool *had_to);

/* The column whose event has sent a SIGTRAP, or -1.  Async-signal-safe. */
int perf_event_sender(const siginfo_t *info);

/* Whether it can be opened in this process, if need be with the kernel's part;
 * *why says why not. */
bool perf_event_is_there(const struct source *source, bool with_kernel,
    const char **why);

#endif
