/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_deferred.c -- samples that wait for the frames of their process.
 *
 * Each waiting sample is in two lists, oldest first: of all samples, and of
 * those of its thread.  So the oldest of all is also the oldest of its thread.
 */
#include "src/formats/perf/perf_data.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/reader.h"

enum {
	WAITING_MAX = 64 << 20,		/* bytes */
	KEPT_BITS = 8,
};

struct thread_queue {
	struct perf_waiting *first, *last;
};

struct kept_frames {
	bool is_set;
	uint32_t tid;
	uint64_t cookie;
	uint32_t *labels;
	size_t n, capacity;
};

struct perf_deferred {
	struct perf_waiting *first, *last;
	size_t size;			/* bytes of all */
	struct id_table tids;		/* their numbers index: */
	struct thread_queue *threads;
	size_t n_threads, threads_capacity;
	/* By a hash of the thread: the last ones. */
	struct kept_frames kept[1 << KEPT_BITS];
};

struct perf_deferred *
perf_deferred_new(struct error *error)
{
	return memory_array(1, sizeof(struct perf_deferred), error);
}

void
perf_deferred_free(struct perf_deferred *deferred)
{
	struct perf_waiting *sample;

	if (deferred == NULL)
		return;
	while ((sample = perf_deferred_take_oldest(deferred, true)) != NULL)
		free(sample);
	for (size_t i = 0; i < sizeof deferred->kept / sizeof *deferred->kept;
	     i++)
		free(deferred->kept[i].labels);
	free(deferred->threads);
	id_table_free(&deferred->tids);
	free(deferred);
}

/* ---- waiting samples ---- */

/* One allocation has the sample, its amounts and its labels. */
static size_t
perf_deferred_size_of(const struct perf_waiting *sample)
{
	return sizeof *sample + sample->n_amounts * sizeof *sample->amounts +
	       sample->n_labels * sizeof *sample->labels;
}

int
perf_deferred_wait(struct perf_deferred *deferred, uint32_t tid,
                   const struct perf_waiting *sample, struct error *error)
{
	struct thread_queue *thread;
	struct perf_waiting *copy;
	uint32_t number = id_table_add(&deferred->tids, tid, error);

	if (number == NO_ID ||
	    memory_grow(&deferred->threads, &deferred->threads_capacity,
	                (size_t)number + 1, sizeof *deferred->threads,
	                error) != 0)
		return -1;
	while (deferred->n_threads <= number)
		deferred->threads[deferred->n_threads++] =
		    (struct thread_queue){ NULL, NULL };
	thread = &deferred->threads[number];
	copy = memory_array(1, perf_deferred_size_of(sample), error);
	if (copy == NULL)
		return -1;
	*copy = *sample;
	copy->amounts = (struct perf_amount *)(copy + 1);
	copy->labels = (uint32_t *)(copy->amounts + copy->n_amounts);
	copy->next = copy->next_of_thread = NULL;
	if (copy->n_amounts > 0)
		memcpy(copy->amounts, sample->amounts,
		       copy->n_amounts * sizeof *copy->amounts);
	if (copy->n_labels > 0)
		memcpy(copy->labels, sample->labels,
		       copy->n_labels * sizeof *copy->labels);
	copy->tid = tid;
	deferred->size += perf_deferred_size_of(copy);
	if (deferred->last != NULL)
		deferred->last->next = copy;
	else
		deferred->first = copy;
	copy->previous = deferred->last;
	deferred->last = copy;
	if (thread->last != NULL)
		thread->last->next_of_thread = copy;
	else
		thread->first = copy;
	thread->last = copy;
	return 0;
}

struct perf_waiting *
perf_deferred_take(struct perf_deferred *deferred, uint32_t tid)
{
	uint32_t number = id_table_find(&deferred->tids, tid);
	struct thread_queue *thread;
	struct perf_waiting *sample;

	if (number == NO_ID)
		return NULL;
	thread = &deferred->threads[number];
	sample = thread->first;
	if (sample == NULL)
		return NULL;
	thread->first = sample->next_of_thread;
	if (thread->first == NULL)
		thread->last = NULL;
	if (sample->previous != NULL)
		sample->previous->next = sample->next;
	else
		deferred->first = sample->next;
	if (sample->next != NULL)
		sample->next->previous = sample->previous;
	else
		deferred->last = sample->previous;
	deferred->size -= perf_deferred_size_of(sample);
	return sample;
}

struct perf_waiting *
perf_deferred_take_oldest(struct perf_deferred *deferred, bool is_end)
{
	if (deferred->first == NULL ||
	    (!is_end && deferred->size <= WAITING_MAX))
		return NULL;
	return perf_deferred_take(deferred, deferred->first->tid);
}

/* ---- the last frames of a thread ---- */

static size_t
perf_deferred_slot_of(uint32_t tid)
{
	return tid * 0x9e3779b1u >> (32 - KEPT_BITS);
}

int
perf_deferred_keep(struct perf_deferred *deferred, uint32_t tid,
                   uint64_t cookie, const uint32_t *labels, size_t n,
                   struct error *error)
{
	struct kept_frames *kept = &deferred->kept[perf_deferred_slot_of(tid)];

	if (memory_grow(&kept->labels, &kept->capacity, n + 1,
	                sizeof *kept->labels, error) != 0)
		return -1;
	if (n > 0)
		memcpy(kept->labels, labels, n * sizeof *labels);
	kept->is_set = true;
	kept->tid = tid;
	kept->cookie = cookie;
	kept->n = n;
	return 0;
}

bool
perf_deferred_find(const struct perf_deferred *deferred, uint32_t tid,
                   uint64_t cookie, struct perf_labels *frames)
{
	const struct kept_frames
	    *kept = &deferred->kept[perf_deferred_slot_of(tid)];

	if (!kept->is_set || kept->tid != tid || kept->cookie != cookie)
		return false;
	*frames = (struct perf_labels){ kept->labels, kept->n };
	return true;
}
