/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_events.c -- the events of a perf.data file. */
#include "src/formats/perf/perf_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"

enum { EVENTS_MAX = 1 << 20 };	/* each takes 64 bytes of the file or more */

void
perf_events_free(struct perf_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		free(events->attrs[i].name);
	free(events->attrs);
	free(events->owners);
	id_table_free(&events->ids);
}

uint32_t
perf_events_add(struct perf_events *events, const unsigned char *bytes,
                size_t size, struct error *error)
{
	struct bytes in = bytes_of(bytes, size);
	struct perf_attr attr = { 0 };

	attr.type = (uint32_t)bytes_number(&in, 4);
	bytes_number(&in, 4);
	attr.config = bytes_number(&in, 8);
	attr.period = bytes_number(&in, 8);
	attr.sample_type = bytes_number(&in, 8);
	attr.read_format = bytes_number(&in, 8);
	attr.flags = bytes_number(&in, 8);
	bytes_take(&in, 16);
	if (bytes_failed(&in)) {
		error_set(error, "expected an event of %d bytes or more",
		          PERF_ATTR_SIZE_MIN);
		return UINT32_MAX;
	}
	/* Older versions end here; 0 stands for what they lack. */
	bytes_take(&in, 8);
	attr.branch_type = bytes_number(&in, 8);
	attr.user_registers = bytes_number(&in, 8);
	if (events->n >= EVENTS_MAX) {
		error_set(error, "more than %d events", EVENTS_MAX);
		return UINT32_MAX;
	}
	if (memory_grow(&events->attrs, &events->capacity, events->n + 1,
	                sizeof attr, error) != 0)
		return UINT32_MAX;
	events->attrs[events->n] = attr;
	return (uint32_t)events->n++;
}

int
perf_events_add_id(struct perf_events *events, uint64_t id, uint32_t event,
                   struct error *error)
{
	uint32_t number = id_table_add(&events->ids, id, error);

	if (number == NO_ID ||
	    memory_grow(&events->owners, &events->owners_capacity,
	                (size_t)number + 1, sizeof *events->owners,
	                error) != 0)
		return -1;
	events->owners[number] = event;
	return 0;
}

int
perf_events_set_name(struct perf_events *events, uint32_t event,
                     const char *name, size_t length, struct error *error)
{
	char **to = &events->attrs[event].name;

	free(*to);
	*to = memory_text(name, strnlen(name, length), error);
	return *to != NULL ? 0 : -1;
}

uint32_t
perf_events_find(const struct perf_events *events, uint64_t id)
{
	uint32_t number = id_table_find(&events->ids, id);

	return number != NO_ID ? events->owners[number] : UINT32_MAX;
}

/* ---- which event a record belongs to, and when it was made ---- */

uint32_t
perf_events_of_sample(const struct perf_events *events,
                      const struct perf_record *record)
{
	uint64_t type, before, id;
	size_t at = PERF_HEADER_SIZE;

	if (events->n <= 1)
		return events->n > 0 ? 0 : UINT32_MAX;
	type = events->attrs[0].sample_type;
	if ((type & PERF_FIELD_IDENTIFIER) == 0) {
		if ((type & PERF_FIELD_ID) == 0)
			return 0;
		before = type & (PERF_FIELD_IP | PERF_FIELD_TID |
		                 PERF_FIELD_TIME | PERF_FIELD_ADDR);
		at += perf_size_of_fields(before);
	}
	if (record->size < at + 8)
		return UINT32_MAX;
	id = perf_number_at(record->bytes + at);
	return id != 0 ? perf_events_find(events, id) : 0;
}

uint64_t
perf_events_time(const struct perf_events *events,
                 const struct perf_record *record)
{
	const struct perf_attr *attr = events->attrs;
	uint32_t event;
	size_t at;

	if (record->type == PERF_SAMPLE) {
		event = perf_events_of_sample(events, record);
		if (event == UINT32_MAX)
			return 0;
		attr = &events->attrs[event];
		at = PERF_HEADER_SIZE + perf_size_of_fields(attr->sample_type &
		    (PERF_FIELD_IDENTIFIER | PERF_FIELD_IP |
		     PERF_FIELD_TID));
		if (record->size < at + 8)
			return 0;
	} else {
		/* Other records may end in some of a sample's fields. */
		size_t left;

		if (events->n == 0 ||
		    (attr->flags & PERF_ATTR_SAMPLE_ID_ALL) == 0)
			return 0;
		left = 8 + perf_size_of_fields(attr->sample_type &
		    (PERF_FIELD_ID | PERF_FIELD_STREAM_ID |
		     PERF_FIELD_CPU | PERF_FIELD_IDENTIFIER));
		if (record->size < PERF_HEADER_SIZE + left)
			return 0;
		at = record->size - left;
	}
	return (attr->sample_type & PERF_FIELD_TIME) != 0 ?
	    perf_number_at(record->bytes + at) : 0;
}

/* ---- names and units ---- */

const char *
perf_events_name(const struct perf_events *events, uint32_t event,
                 char *place, size_t size)
{
	static const char *const hardware[] = { "cycles", "instructions",
		"cache-references", "cache-misses", "branches",
		"branch-misses", "bus-cycles", "stalled-cycles-frontend",
		"stalled-cycles-backend", "ref-cycles" };
	static const char *const software[] = { "cpu-clock", "task-clock",
		"page-faults", "context-switches", "cpu-migrations",
		"minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy", "bpf-output",
		"cgroup-switches" };
	const struct perf_attr *attr = &events->attrs[event];

	if (attr->name != NULL && *attr->name != '\0')
		return attr->name;
	if (attr->type == 0 &&
	    attr->config < sizeof hardware / sizeof *hardware)
		return hardware[attr->config];
	if (attr->type == 1 &&
	    attr->config < sizeof software / sizeof *software)
		return software[attr->config];
	snprintf(place, size, "event-%u:%llx", attr->type,
	         (unsigned long long)attr->config);
	return place;
}

/* Source: perf-list(1), perf_event_open(2): clocks count nanoseconds. */
static const struct {
	const char *event, *gtick;
} gticks[] = {
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
	{ "branch-misses", "miss" },
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
	for (size_t i = 0; i < sizeof gticks / sizeof *gticks; i++)
		if (strlen(gticks[i].event) == length &&
		    memcmp(gticks[i].event, name, length) == 0)
			return gticks[i].gtick;
	return "";
}
