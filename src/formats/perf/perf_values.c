/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_values.c -- how much a sample stands for, of which events.
 *
 * The last count of each id is kept: an event has one id on each processor or
 * in each thread, and each counts for itself.  An event that threads inherit
 * counts in each thread under the same id.
 */
#include "src/formats/perf/perf_values.h"

#include <stdlib.h>

#include "src/base/memory.h"

struct perf_values {
	struct perf_value *list;	/* of one sample */
	size_t capacity;
	struct id_table keys;	/* an id's number, and perhaps the thread;
				 * their numbers index: */
	uint64_t *last;		/* counts */
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

/* The last count of a key, 0 at first; NULL with *error set. */
static uint64_t *
find_last(struct perf_values *values, uint64_t key, struct error *error)
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

/* One count of a sample; *n grows if it stands for anything. */
static int
add_count(struct perf_values *values, const struct perf_events *events,
          const struct perf_sample *sample, const unsigned char *at,
          size_t *n, struct error *error)
{
	const uint64_t flags = events->attrs[sample->event].flags;
	uint64_t count = perf_number_at(at), id = perf_number_at(at + sample->id_at);
	uint32_t number = id_table_find(&events->ids, id);
	uint64_t key, *last;

	if (number == NO_ID) {
		values->n_unknown++;
		return 0;
	}
	key = (uint64_t)number << 32;
	if ((flags & PERF_ATTR_INHERIT) != 0)
		key |= sample->tid;
	last = find_last(values, key, error);
	if (last == NULL)
		return -1;
	/* A count that is smaller began anew. */
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
		if (add_count(values, events, sample,
		              sample->counts + i * sample->read_size, n,
		              error) != 0)
			return NULL;
	return values->list;
}
