/* SPDX-License-Identifier: MIT */
/* perf-event.h -- opens an event of the calling thread that traps. */
#ifndef CPPROF_PERF_EVENT_H
#define CPPROF_PERF_EVENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/sources/source.h"

/*
 * Opens a source's event, disabled.  Returns its descriptor, or -1 with errno
 * set.  *had_to: it excludes the kernel, as more is not allowed.
 * perf_event_sender recognises its traps by `column`.  Async-signal-safe.
 */
int perf_event_open(const struct resource_source *source, uint64_t period,
    unsigned column, bool *had_to);

/*
 * Whether this kernel can disable an event that traps after one trap
 * (PERF_EVENT_IOC_REFRESH).  From the constructor.
 */
bool perf_event_can_trap_once(void);

/* The column whose event has sent a SIGTRAP, or -1.  Async-signal-safe. */
int perf_event_sender(const siginfo_t *info);

/*
 * Whether the event can be opened in this process, with the kernel's part if
 * with_kernel; if not, *why is the reason.  From the constructor.
 */
bool perf_event_is_available(const struct resource_source *source,
    bool with_kernel, const char **why);

#endif
