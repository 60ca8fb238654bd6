/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_sample.c -- one sample of a perf.data file, taken apart. */
#include "src/formats/perf/perf_data.h"

#include <stdlib.h>

#include "src/base/bytes.h"

/* Takes n items of size bytes. */
static const unsigned char *
take_array(struct bytes *in, uint64_t n, size_t size)
{
	if (n > in->size / size)
		in->failed = true;
	return bytes_take(in, (size_t)n * size);
}

/* PERF_FIELD_BRANCH_STACK: { n, index, n x branch, n x counters }. */
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
	if ((type & PERF_FIELD_IDENTIFIER) != 0)
		bytes_take(&in, 8);
	if ((type & PERF_FIELD_IP) != 0)
		sample->ip = bytes_number(&in, 8);
	if ((type & PERF_FIELD_TID) != 0) {
		sample->pid = (uint32_t)bytes_number(&in, 4);
		sample->tid = (uint32_t)bytes_number(&in, 4);
	}
	if ((type & PERF_FIELD_TIME) != 0)
		sample->time = bytes_number(&in, 8);
	bytes_take(&in, perf_size_of_fields(type & (PERF_FIELD_ADDR |
	    PERF_FIELD_ID | PERF_FIELD_STREAM_ID | PERF_FIELD_CPU)));
	if ((type & PERF_FIELD_PERIOD) != 0)
		sample->period = bytes_number(&in, 8);
	if ((type & PERF_FIELD_READ) != 0) {
		bool is_group = (attr->read_format & PERF_READ_GROUP) != 0;
		size_t times = perf_size_of_fields(
		    attr->read_format &
		    (PERF_READ_TIME_ENABLED | PERF_READ_TIME_RUNNING));

		/*
		 * PERF_FIELD_READ: { count, times, id, lost }, or of a group {
		 * n, times, n x { count, id, lost } }; times, id and lost may
		 * be missing.
		 */
		sample->n_counts = is_group ? bytes_number(&in, 8) : 1;
		sample->read_size = 8 +
		    perf_size_of_fields(attr->read_format &
		                        (PERF_READ_ID | PERF_READ_LOST));
		if (is_group)
			bytes_take(&in, times);
		else
			sample->read_size += times;
		if ((attr->read_format & PERF_READ_ID) != 0)
			sample->id_at = is_group ? 8 : 8 + times;
		sample->counts = take_array(&in, sample->n_counts,
		                            sample->read_size);
	}
	if ((type & PERF_FIELD_CALLCHAIN) != 0) {
		sample->has_chain = true;
		sample->n_chain = bytes_number(&in, 8);
		sample->chain = take_array(&in, sample->n_chain, 8);
	}
	if ((type & PERF_FIELD_RAW) != 0) {
		uint64_t size = bytes_number(&in, 4);
		const unsigned char *raw = take_array(&in, size, 1);

		if (raw != NULL && attr->type == PERF_ATTR_SOFTWARE &&
		    attr->config == PERF_BPF_OUTPUT && !sample->has_chain)
			read_off_cpu(raw, (size_t)size, sample);
	}
	if ((type & PERF_FIELD_BRANCH_STACK) != 0)
		read_branches(&in, attr, sample);
	if ((type & PERF_FIELD_REGS_USER) != 0) {
		sample->abi = bytes_number(&in, 8);
		if (sample->abi != 0)
			sample->registers = take_array(&in, (uint64_t)
			    __builtin_popcountll(attr->user_registers), 8);
		if (sample->registers != NULL && sample->abi == 2 &&
		    attr->user_registers == 1 << AARCH64_X30)
			sample->link = perf_number_at(sample->registers);
	}
	if ((type & PERF_FIELD_STACK_USER) != 0) {
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
	    (attr->sample_type & PERF_FIELD_TID) != 0) {
		sample->pid = (uint32_t)bytes_number(&in, 4);
		sample->tid = (uint32_t)bytes_number(&in, 4);
	}
	return bytes_failed(&in) ?
	    error_set(error, "expected a deferred call chain") : 0;
}
