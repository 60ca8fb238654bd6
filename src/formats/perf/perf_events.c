/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_events.c -- the events of a perf.data file, and samples by them. */
#include "src/formats/perf/perf_events.h"

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

/* ---- events ---- */

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
	/* Later versions are longer. */
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

/* ---- which event a record is of, and when it was made ---- */

static size_t
count_bits(uint64_t bits)
{
	return (size_t)__builtin_popcountll(bits);
}

/*
 * The event of a sample, UINT32_MAX if it is not known.  Samples that perf
 * makes itself have the id 0; as in perf, they count for the first event.
 */
static uint32_t
event_of_sample(const struct perf_events *events,
                const struct perf_record *record)
{
	uint64_t type, before, id;
	size_t at = PERF_HEADER_SIZE;

	if (events->n <= 1)
		return events->n > 0 ? 0 : UINT32_MAX;
	type = events->attrs[0].sample_type;
	if ((type & PERF_SAMPLE_IDENTIFIER) == 0) {
		if ((type & PERF_SAMPLE_ID) == 0)
			return 0;
		before = type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		                 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
		at += 8 * count_bits(before);
	}
	if (record->size < at + 8)
		return UINT32_MAX;
	id = perf_number_at(record->bytes + at);
	return id != 0 ? perf_events_find(events, id) : 0;
}

/* Of a record other than a sample, which may end in some of a sample. */
static uint64_t
time_of_other(const struct perf_events *events,
              const struct perf_record *record)
{
	const struct perf_attr *attr;
	size_t behind;

	if (events->n == 0)
		return 0;
	attr = &events->attrs[0];
	if ((attr->flags & PERF_ATTR_SAMPLE_ID_ALL) == 0 ||
	    (attr->sample_type & PERF_SAMPLE_TIME) == 0)
		return 0;
	behind = 8 * (1 + count_bits(attr->sample_type & (PERF_SAMPLE_ID |
	    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
	    PERF_SAMPLE_IDENTIFIER)));
	if (record->size < PERF_HEADER_SIZE + behind)
		return 0;
	return perf_number_at(record->bytes + record->size - behind);
}

uint64_t
perf_events_time(const struct perf_events *events,
                 const struct perf_record *record)
{
	uint32_t event;
	uint64_t type;
	size_t at;

	if (record->type != PERF_SAMPLE)
		return time_of_other(events, record);
	event = event_of_sample(events, record);
	if (event == UINT32_MAX)
		return 0;
	type = events->attrs[event].sample_type;
	if ((type & PERF_SAMPLE_TIME) == 0)
		return 0;
	at = PERF_HEADER_SIZE + 8 * count_bits(type &
	    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID));
	return record->size >= at + 8 ? perf_number_at(record->bytes + at) : 0;
}

/* ---- samples ---- */

/* Takes n items of size bytes. */
static const unsigned char *
take_array(struct bytes *in, uint64_t n, size_t size)
{
	if (n > in->size / size)
		in->failed = true;
	return bytes_take(in, (size_t)n * size);
}

/*
 * PERF_SAMPLE_READ: a count, times, its event's id; or how many, times, and each
 * count with its event's id.
 */
static void
read_counts(struct bytes *in, uint64_t format, struct perf_sample *sample)
{
	bool is_group = (format & PERF_READ_GROUP) != 0;
	size_t times = 8 * count_bits(format & (PERF_READ_TIME_ENABLED |
	                                        PERF_READ_TIME_RUNNING));

	sample->n_counts = is_group ? bytes_number(in, 8) : 1;
	sample->read_size = 8 + 8 * count_bits(format & (PERF_READ_ID |
	                                                 PERF_READ_LOST));
	if (is_group)
		bytes_take(in, times);
	else
		sample->read_size += times;
	if ((format & PERF_READ_ID) != 0)
		sample->id_at = is_group ? 8 : 8 + times;
	sample->counts = take_array(in, sample->n_counts, sample->read_size);
}

/* PERF_SAMPLE_BRANCH_STACK. */
static void
read_branches(struct bytes *in, const struct perf_attr *attr,
              struct perf_sample *sample)
{
	uint64_t n = bytes_number(in, 8);
	const unsigned char *branches;

	if ((attr->branch_type & PERF_BRANCH_HW_INDEX) != 0)
		bytes_take(in, 8);
	branches = take_array(in, n, PERF_BRANCH_SIZE);
	if ((attr->branch_type & PERF_BRANCH_COUNTERS) != 0)
		take_array(in, n, 8);
	if ((attr->branch_type & PERF_BRANCH_CALL_STACK) == 0)
		return;
	sample->calls = branches;
	sample->n_calls = n;
}

/*
 * A sample of `perf record --off-cpu` as it is since Linux 6.16, in what its BPF
 * program wrote: { pid, tid, time off the processor, call chain, cgroup }, then
 * up to 4 bytes of nothing.  Its event is one that any BPF program may write to.
 * Source: linux 6.16, tools/perf/util/bpf_off_cpu.c, off_cpu_write.
 */
static void
read_off_cpu(const unsigned char *raw, size_t size,
             struct perf_sample *sample)
{
	struct bytes in = bytes_of(raw, size);
	uint32_t pid = (uint32_t)bytes_number(&in, 4);
	uint32_t tid = (uint32_t)bytes_number(&in, 4);
	uint64_t period = bytes_number(&in, 8), n = bytes_number(&in, 8);
	const unsigned char *chain = take_array(&in, n, 8);

	bytes_take(&in, 8);
	if (bytes_failed(&in) || in.size - in.offset > 4 || n == 0 ||
	    perf_number_at(chain) != PERF_CONTEXT_USER)
		return;
	sample->is_off_cpu = true;
	sample->pid = pid;
	sample->tid = tid;
	sample->period = period;
	sample->has_chain = true;
	sample->chain = chain;
	sample->n_chain = n;
}

/* PERF_SAMPLE_RAW. */
static void
read_raw(struct bytes *in, const struct perf_attr *attr,
         struct perf_sample *sample)
{
	uint64_t size = bytes_number(in, 4);
	const unsigned char *raw = take_array(in, size, 1);

	if (raw != NULL && attr->type == PERF_TYPE_SOFTWARE &&
	    attr->config == PERF_BPF_OUTPUT && !sample->has_chain)
		read_off_cpu(raw, (size_t)size, sample);
}

/* Likewise what comes behind the call chain, as far as it is wanted. */
static void
read_registers_and_stack(struct bytes *in, const struct perf_attr *attr,
                         struct perf_sample *sample)
{
	uint64_t type = attr->sample_type;

	if ((type & PERF_SAMPLE_RAW) != 0)
		read_raw(in, attr, sample);
	if ((type & PERF_SAMPLE_BRANCH_STACK) != 0)
		read_branches(in, attr, sample);
	if ((type & PERF_SAMPLE_REGS_USER) != 0) {
		sample->abi = bytes_number(in, 8);
		if (sample->abi != 0)
			sample->registers = take_array(in,
			    count_bits(attr->user_registers), 8);
	}
	if ((type & PERF_SAMPLE_STACK_USER) != 0) {
		uint64_t room = bytes_number(in, 8);

		sample->stack = take_array(in, room, 1);
		if (room > 0)
			sample->stack_size = bytes_number(in, 8);
		if (sample->stack_size > room)
			sample->stack_size = room;
	}
}

static void
read_fields(struct bytes *in, const struct perf_attr *attr,
            struct perf_sample *sample)
{
	uint64_t type = attr->sample_type;

	if ((type & PERF_SAMPLE_IDENTIFIER) != 0)
		bytes_take(in, 8);
	if ((type & PERF_SAMPLE_IP) != 0)
		sample->ip = bytes_number(in, 8);
	if ((type & PERF_SAMPLE_TID) != 0) {
		sample->pid = (uint32_t)bytes_number(in, 4);
		sample->tid = (uint32_t)bytes_number(in, 4);
	}
	if ((type & PERF_SAMPLE_TIME) != 0)
		sample->time = bytes_number(in, 8);
	bytes_take(in, 8 * count_bits(type & (PERF_SAMPLE_ADDR |
	    PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)));
	if ((type & PERF_SAMPLE_PERIOD) != 0)
		sample->period = bytes_number(in, 8);
	if ((type & PERF_SAMPLE_READ) != 0)
		read_counts(in, attr->read_format, sample);
	if ((type & PERF_SAMPLE_CALLCHAIN) != 0) {
		sample->has_chain = true;
		sample->n_chain = bytes_number(in, 8);
		sample->chain = take_array(in, sample->n_chain, 8);
	}
}

int
perf_events_read_sample(const struct perf_events *events,
                        const struct perf_record *record,
                        struct perf_sample *sample, struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	const struct perf_attr *attr;
	uint32_t event = event_of_sample(events, record);

	if (event == UINT32_MAX) {
		*sample = (struct perf_sample){ .event = event };
		return 0;
	}
	attr = &events->attrs[event];
	*sample = (struct perf_sample){
		.event = event,
		.period = (attr->flags & PERF_ATTR_FREQ) != 0 ? 1 :
		          attr->period,
	};
	bytes_take(&in, PERF_HEADER_SIZE);
	read_fields(&in, attr, sample);
	read_registers_and_stack(&in, attr, sample);
	if (bytes_failed(&in))
		return error_set(error, "a sample that is shorter than its "
		                 "event says");
	return 0;
}

int
perf_events_read_deferred(const struct perf_events *events,
                          const struct perf_record *record,
                          struct perf_sample *sample, uint64_t *cookie,
                          struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	const struct perf_attr *attr = events->attrs;

	*sample = (struct perf_sample){ .has_chain = true };
	bytes_take(&in, PERF_HEADER_SIZE);
	*cookie = bytes_number(&in, 8);
	sample->n_chain = bytes_number(&in, 8);
	sample->chain = take_array(&in, sample->n_chain, 8);
	if (events->n > 0 && (attr->flags & PERF_ATTR_SAMPLE_ID_ALL) != 0 &&
	    (attr->sample_type & PERF_SAMPLE_TID) != 0) {
		sample->pid = (uint32_t)bytes_number(&in, 4);
		sample->tid = (uint32_t)bytes_number(&in, 4);
	}
	return bytes_failed(&in) ?
	    error_set(error, "expected a deferred call chain") : 0;
}
