/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_sample.c -- one sample of a perf.data file, taken apart. */
#include "src/formats/perf/perf_data.h"

#include <stdlib.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"

/* Takes n items of size bytes. */
static const unsigned char *
take_array(struct bytes *in, uint64_t n, size_t size)
{
	if (n > in->size / size)
		in->failed = true;
	return bytes_take(in, (size_t)n * size);
}

/*
 * PERF_SAMPLE_READ: { count, times, id, lost }, or of a group { n, times, n x
 * { count, id, lost } }; times, id and lost may be missing.
 */
static void
perf_sample_read_counts(struct bytes *in, uint64_t format,
                        struct perf_sample *sample)
{
	bool is_group = (format & PERF_READ_GROUP) != 0;
	size_t times = perf_size_of_fields(format &
	    (PERF_READ_TIME_ENABLED | PERF_READ_TIME_RUNNING));

	sample->n_counts = is_group ? bytes_number(in, 8) : 1;
	sample->read_size = 8 + perf_size_of_fields(format &
	    (PERF_READ_ID | PERF_READ_LOST));
	if (is_group)
		bytes_take(in, times);
	else
		sample->read_size += times;
	if ((format & PERF_READ_ID) != 0)
		sample->id_at = is_group ? 8 : 8 + times;
	sample->counts = take_array(in, sample->n_counts, sample->read_size);
}

/* PERF_SAMPLE_BRANCH_STACK: { n, index, n x branch, n x counters }. */
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
 * A sample of `perf record --off-cpu` since Linux 6.16, as raw data that its
 * BPF program wrote: { pid, tid, time off the processor, call chain, cgroup },
 * then up to 4 bytes of padding.  Any BPF program may write to its event.
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

int
perf_sample_read(struct perf_sample *sample, const struct perf_events *events,
                 const struct perf_record *record, struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	const struct perf_attr *attr;
	uint64_t type;

	*sample = (struct perf_sample){
		.event = perf_events_of_sample(events, record) };
	if (sample->event == UINT32_MAX)
		return 0;
	attr = &events->attrs[sample->event];
	type = attr->sample_type;
	sample->period = (attr->flags & PERF_ATTR_FREQ) != 0 ? 1 :
	                 attr->period;
	bytes_take(&in, PERF_HEADER_SIZE);
	if ((type & PERF_SAMPLE_IDENTIFIER) != 0)
		bytes_take(&in, 8);
	if ((type & PERF_SAMPLE_IP) != 0)
		sample->ip = bytes_number(&in, 8);
	if ((type & PERF_SAMPLE_TID) != 0) {
		sample->pid = (uint32_t)bytes_number(&in, 4);
		sample->tid = (uint32_t)bytes_number(&in, 4);
	}
	if ((type & PERF_SAMPLE_TIME) != 0)
		sample->time = bytes_number(&in, 8);
	bytes_take(&in, perf_size_of_fields(type & (PERF_SAMPLE_ADDR |
	    PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)));
	if ((type & PERF_SAMPLE_PERIOD) != 0)
		sample->period = bytes_number(&in, 8);
	if ((type & PERF_SAMPLE_READ) != 0)
		perf_sample_read_counts(&in, attr->read_format, sample);
	if ((type & PERF_SAMPLE_CALLCHAIN) != 0) {
		sample->has_chain = true;
		sample->n_chain = bytes_number(&in, 8);
		sample->chain = take_array(&in, sample->n_chain, 8);
	}
	if ((type & PERF_SAMPLE_RAW) != 0) {
		uint64_t size = bytes_number(&in, 4);
		const unsigned char *raw = take_array(&in, size, 1);

		if (raw != NULL && attr->type == PERF_TYPE_SOFTWARE &&
		    attr->config == PERF_BPF_OUTPUT && !sample->has_chain)
			read_off_cpu(raw, (size_t)size, sample);
	}
	if ((type & PERF_SAMPLE_BRANCH_STACK) != 0)
		read_branches(&in, attr, sample);
	if ((type & PERF_SAMPLE_REGS_USER) != 0) {
		sample->abi = bytes_number(&in, 8);
		if (sample->abi != 0)
			sample->registers = take_array(&in, (uint64_t)
			    __builtin_popcountll(attr->user_registers), 8);
	}
	if ((type & PERF_SAMPLE_STACK_USER) != 0) {
		uint64_t room = bytes_number(&in, 8);

		sample->stack = take_array(&in, room, 1);
		if (room > 0)
			sample->stack_size = bytes_number(&in, 8);
		if (sample->stack_size > room)
			sample->stack_size = room;
	}
	if (bytes_failed(&in))
		return error_set(error, "a sample that is shorter than its "
		                 "event says");
	return 0;
}

int
perf_sample_read_deferred(struct perf_sample *sample, uint64_t *cookie,
                          const struct perf_events *events,
                          const struct perf_record *record,
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

/* ---- what a sample stands for ---- */

/*
 * The last count is kept for each id of an event, since an event has one on
 * each processor or in each thread, and each counts for itself.  Where threads
 * inherit an event, each counts under the same id; so it is kept for each id
 * and thread.
 */
struct perf_values {
	struct perf_value *list;	/* of one sample */
	size_t capacity;
	struct id_table keys;		/* their numbers index: */
	uint64_t *last;			/* the last count */
	size_t last_capacity;
	uint64_t n_unknown;
};

struct perf_values *
perf_values_new(struct error *error)
{
	return memory_array(1, sizeof(struct perf_values), error);
}

void
perf_values_free(struct perf_values *values)
{
	if (values == NULL)
		return;
	free(values->list);
	free(values->last);
	id_table_free(&values->keys);
	free(values);
}

uint64_t
perf_values_unknown(const struct perf_values *values)
{
	return values->n_unknown;
}

/* The last count of a key, at first 0; NULL with *error set. */
static uint64_t *
perf_sample_find_last(struct perf_values *values, uint64_t key,
                      struct error *error)
{
	uint32_t n = values->keys.n, number;

	number = id_table_add(&values->keys, key, error);
	if (number == NO_ID ||
	    memory_grow(&values->last, &values->last_capacity,
	                (size_t)number + 1, sizeof *values->last, error) != 0)
		return NULL;
	if (number >= n)
		values->last[number] = 0;
	return &values->last[number];
}

/* Adds one count of a sample to the list, unless nothing was counted. */
static int
perf_sample_add_count(struct perf_values *values,
                      const struct perf_events *events,
                      const struct perf_sample *sample, const unsigned char *at,
                      size_t *n, struct error *error)
{
	const uint64_t flags = events->attrs[sample->event].flags;
	uint64_t count = perf_number_at(at);
	uint64_t id = perf_number_at(at + sample->id_at);
	uint32_t number = id_table_find(&events->ids, id);
	uint64_t key, *last;

	if (number == NO_ID) {
		values->n_unknown++;
		return 0;
	}
	key = (uint64_t)number << 32;
	if ((flags & PERF_ATTR_INHERIT) != 0)
		key |= sample->tid;
	last = perf_sample_find_last(values, key, error);
	if (last == NULL)
		return -1;
	/* A smaller count has started again from 0. */
	values->list[*n] = (struct perf_value){ events->owners[number],
		count >= *last ? count - *last : count };
	*last = count;
	*n += values->list[*n].hits > 0;
	return 0;
}

const struct perf_value *
perf_values_of(struct perf_values *values, const struct perf_events *events,
               const struct perf_sample *sample, size_t *n,
               struct error *error)
{
	*n = 0;
	if (memory_grow(&values->list, &values->capacity,
	                (size_t)sample->n_counts + 1, sizeof *values->list,
	                error) != 0)
		return NULL;
	if (sample->id_at == 0) {
		values->list[(*n)++] = (struct perf_value){ sample->event,
			sample->period };
		return values->list;
	}
	for (uint64_t i = 0; i < sample->n_counts; i++)
		if (perf_sample_add_count(values, events, sample,
		                          sample->counts +
		                              i * sample->read_size,
		                          n, error) != 0)
			return NULL;
	return values->list;
}
