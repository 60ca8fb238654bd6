/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_feed.c -- whole stacks, one after the other, for a stack_writer.
 *
 * The last stack is kept, outermost frame first: what a new one shares with it
 * stays, and the rest comes from the room, turned around.
 */
#include "src/formats/stack_feed.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* So many that a worker is worth its while, and that they stay in cache. */
enum { LABELS_A_BATCH = 1 << 18, STACKS_A_BATCH = 1 << 16 };

struct stack_feed {
	struct stack_writer *writer;
	uint32_t n_resources;
	uint64_t n_stacks;
	uint32_t *room;		/* innermost frame first */
	uint32_t *last;		/* [n_last] outermost frame first */
	size_t room_capacity, last_capacity;
	size_t n_last;
	bool was_scattered;	/* so the writer does not know its nodes */
};

struct stack_feed *
stack_feed_new(const char *name, enum stack_positions positions,
               uint32_t n_resources, struct error *error)
{
	struct stack_feed *feed = memory_array(1, sizeof *feed, error);

	if (feed == NULL)
		return NULL;
	feed->n_resources = n_resources;
	feed->was_scattered = true;
	feed->writer = stack_writer_new(name, positions, n_resources, error);
	if (feed->writer == NULL) {
		free(feed);
		return NULL;
	}
	return feed;
}

void
stack_feed_free(struct stack_feed *feed)
{
	if (feed == NULL)
		return;
	stack_writer_free(feed->writer);
	free(feed->room);
	free(feed->last);
	free(feed);
}

int
stack_feed_add_resource(struct stack_feed *feed, struct error *error)
{
	if (stack_writer_add_resource(feed->writer, error) != 0)
		return -1;
	feed->n_resources++;
	return 0;
}

uint32_t *
stack_feed_room(struct stack_feed *feed, size_t n, struct error *error)
{
	if (n == 0)
		n = 1;
	if (n > UINT32_MAX / 2) {
		error_set(error, "a stack of %zu frames", n);
		return NULL;
	}
	if (memory_grow(&feed->room, &feed->room_capacity, n,
	                sizeof *feed->room, error) != 0)
		return NULL;
	return feed->room;
}

/* How many outermost frames of room[n] are those of the last stack. */
static size_t
count_shared(const struct stack_feed *feed, size_t n)
{
	size_t most = n < feed->n_last ? n : feed->n_last, shared = 0;

	while (shared < most && feed->room[n - 1 - shared] ==
	       feed->last[shared])
		shared++;
	return shared;
}

/* Replaces the frames of the last stack after the shared ones by the room's. */
static int
replace_end(struct stack_feed *feed, size_t n_shared, size_t n,
            struct error *error)
{
	if (n > UINT32_MAX / 2 - n_shared)
		return error_set(error, "a stack of %zu frames", n_shared + n);
	if (memory_grow(&feed->last, &feed->last_capacity, n_shared + n,
	                sizeof *feed->last, error) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		feed->last[n_shared + i] = feed->room[n - 1 - i];
	feed->n_last = n_shared + n;
	return 0;
}

int
stack_feed_continue(struct stack_feed *feed, size_t n_shared, size_t n_more,
                    uint64_t position, const uint64_t *counts,
                    uint32_t n_samples, struct error *error)
{
	struct stack_batch *batch = stack_writer_batch(feed->writer);
	bool is_whole = feed->was_scattered || batch->is_scattered;
	size_t n = n_shared + n_more;
	/* The innermost frame is entered in any case. */
	size_t begin = is_whole ? 0 : n_more > 0 ? n_shared : n - 1;

	if (replace_end(feed, n_shared, n_more, error) != 0 ||
	    stack_batch_reserve(batch, n, feed->n_resources, error) != 0)
		return -1;
	memcpy(batch->labels + batch->n_labels, feed->last + begin,
	       (n - begin) * sizeof *batch->labels);
	memcpy(batch->counts + batch->n_stacks * feed->n_resources, counts,
	       feed->n_resources * sizeof *counts);
	batch->lengths[batch->n_stacks] = (uint32_t)(n - begin);
	batch->stacks[batch->n_stacks++] = (struct parsed_stack){
		.position = position,
		.n_shared = (uint32_t)begin,
		.n_samples = n_samples,
	};
	batch->n_labels += n - begin;
	batch->n_frames += n;
	batch->n_shared_frames += n_shared;
	feed->was_scattered = batch->is_scattered;
	feed->n_stacks++;
	if (batch->n_labels < LABELS_A_BATCH &&
	    batch->n_stacks < STACKS_A_BATCH)
		return 0;
	return stack_writer_enter(feed->writer, error);
}

int
stack_feed_push(struct stack_feed *feed, size_t n, uint64_t position,
                const uint64_t *counts, uint32_t n_samples,
                struct error *error)
{
	size_t shared = count_shared(feed, n);

	return stack_feed_continue(feed, shared, n - shared, position, counts,
	                           n_samples, error);
}

uint64_t
stack_feed_count(const struct stack_feed *feed)
{
	return feed->n_stacks;
}

struct sample_tree *
stack_feed_finish(struct stack_feed *feed, struct error *error)
{
	return stack_writer_finish(feed->writer, error);
}
