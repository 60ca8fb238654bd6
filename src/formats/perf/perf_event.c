/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_event.c -- what perf's events count.
 *
 * Source: perf-list(1), perf_event_open(2): clocks count nanoseconds.
 */
#include "src/formats/perf/perf_event.h"

#include <string.h>

static const struct {
	const char *event, *gtick;
} known[] = {
	{ "cpu-clock", "nanosecond" },
	{ "task-clock", "nanosecond" },
	{ "duration_time", "nanosecond" },
	{ "offcpu-time", "nanosecond" },
	{ "cycles", "cycle" },
	{ "cpu-cycles", "cycle" },
	{ "bus-cycles", "cycle" },
	{ "ref-cycles", "cycle" },
	{ "instructions", "instruction" },
	{ "branches", "branch" },
	{ "branch-instructions", "branch" },
	{ "branch-misses", "misprediction" },
	{ "cache-references", "access" },
	{ "cache-misses", "miss" },
	{ "page-faults", "fault" },
	{ "faults", "fault" },
	{ "minor-faults", "fault" },
	{ "major-faults", "fault" },
	{ "alignment-faults", "fault" },
	{ "context-switches", "switch" },
	{ "cs", "switch" },
	{ "cpu-migrations", "migration" },
	{ "migrations", "migration" },
};

const char *
perf_event_gtick(const char *name, size_t length)
{
	const char *modifiers = memchr(name, ':', length);
	const char *unit = memchr(name, '/', length);

	/* "cpu_core/cycles/P", where there are cores of two kinds. */
	if (unit != NULL) {
		length -= (size_t)(unit + 1 - name);
		name = unit + 1;
		modifiers = memchr(name, '/', length);
	}
	if (modifiers != NULL)
		length = (size_t)(modifiers - name);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].event) == length &&
		    memcmp(known[i].event, name, length) == 0)
			return known[i].gtick;
	return "";
}
