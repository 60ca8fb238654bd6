/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_event.h -- what perf's events count. */
#ifndef CPPROF_FORMATS_PERF_EVENT_H
#define CPPROF_FORMATS_PERF_EVENT_H

#include <stddef.h>

/*
 * The gtick of an event's periods, by its name as perf writes it, perhaps with
 * modifiers ("cycles:u"); "" where it is not known.
 */
const char *perf_event_gtick(const char *name, size_t length);

#endif
