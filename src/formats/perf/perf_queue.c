/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_queue.c -- the records of a perf.data file in the order of their time.
 *
 * A buffer holds the records in the order of the file; their entries are
 * sorted.  Records that are kept for the next round move to another buffer, so
 * that each is copied twice at most.
 */
#include "src/formats/perf/perf_data.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

struct queue_entry {
	uint64_t time;
	uint64_t number;	/* in the file, orders records of one time */
	size_t begin;		/* in the buffer */
	uint64_t offset;	/* in the file */
};

struct perf_queue {
	struct queue_entry *entries;
	size_t n, capacity;
	unsigned char *bytes, *spare;
	size_t size, bytes_capacity, spare_capacity;
	uint64_t n_added;
	uint64_t latest;	/* time of all records so far */
	uint64_t complete;	/* records up to this time are complete when
				 * this round ends */
	bool is_sorted;
};

struct perf_queue *
perf_queue_new(struct error *error)
{
	return memory_array(1, sizeof(struct perf_queue), error);
}

void
perf_queue_free(struct perf_queue *queue)
{
	if (queue == NULL)
		return;
	free(queue->entries);
	free(queue->bytes);
	free(queue->spare);
	free(queue);
}

int
perf_queue_add(struct perf_queue *queue, const struct perf_record *record,
               uint64_t time, struct error *error)
{
	if (memory_grow(&queue->entries, &queue->capacity, queue->n + 1,
	                sizeof *queue->entries, error) != 0 ||
	    memory_grow(&queue->bytes, &queue->bytes_capacity,
	                queue->size + record->size, 1, error) != 0)
		return -1;
	memcpy(queue->bytes + queue->size, record->bytes, record->size);
	queue->is_sorted = queue->n == 0 || (queue->is_sorted &&
	    queue->entries[queue->n - 1].time <= time);
	queue->entries[queue->n++] = (struct queue_entry){
		time, queue->n_added++, queue->size, record->offset
	};
	queue->size += record->size;
	if (time > queue->latest)
		queue->latest = time;
	return 0;
}

static int
compare_entries(const void *left, const void *right)
{
	const struct queue_entry *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Drops the first n entries and moves the rest to the front. */
static int
drop_first(struct perf_queue *queue, size_t n, struct error *error)
{
	unsigned char *bytes = queue->bytes;
	size_t capacity = queue->bytes_capacity, size = 0;

	if (memory_grow(&queue->spare, &queue->spare_capacity, queue->size,
	                1, error) != 0)
		return -1;
	for (size_t i = n; i < queue->n; i++) {
		struct queue_entry entry = queue->entries[i];
		struct perf_record record = perf_record_at(queue->bytes +
		    entry.begin, entry.offset);

		memcpy(queue->spare + size, record.bytes, record.size);
		entry.begin = size;
		size += record.size;
		queue->entries[i - n] = entry;
	}
	queue->n -= n;
	queue->size = size;
	queue->bytes = queue->spare;
	queue->bytes_capacity = queue->spare_capacity;
	queue->spare = bytes;
	queue->spare_capacity = capacity;
	return 0;
}

/* Delivers the records up to the time `last`. */
static int
deliver_until(struct perf_queue *queue, uint64_t last,
              perf_queue_deliver *deliver, void *context,
              struct error *error)
{
	size_t n = 0;

	if (!queue->is_sorted && queue->n > 0)
		qsort(queue->entries, queue->n, sizeof *queue->entries,
		      compare_entries);
	queue->is_sorted = true;
	for (; n < queue->n && queue->entries[n].time <= last; n++) {
		const struct queue_entry *entry = &queue->entries[n];
		struct perf_record record = perf_record_at(queue->bytes +
		    entry->begin, entry->offset);

		if (deliver(context, &record, error) != 0)
			return -1;
	}
	return n > 0 ? drop_first(queue, n, error) : 0;
}

int
perf_queue_round(struct perf_queue *queue, perf_queue_deliver *deliver,
                 void *context, struct error *error)
{
	uint64_t complete = queue->complete;

	queue->complete = queue->latest;
	return deliver_until(queue, complete, deliver, context, error);
}

int
perf_queue_finish(struct perf_queue *queue, perf_queue_deliver *deliver,
                  void *context, struct error *error)
{
	return deliver_until(queue, UINT64_MAX, deliver, context, error);
}
