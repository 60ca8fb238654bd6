/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_tree.c -- from the samples of a perf.data file to a profile's tree. */
#include "src/formats/perf/perf_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/reader.h"

/* Of an event without resource: it has no sample yet, or there is no room. */
#define NO_SAMPLE UINT32_MAX
#define NO_ROOM (UINT32_MAX - 1)

/* What a sample stands for. */
struct perf_value {
	uint32_t event;
	uint64_t hits;		/* gticks of the event */
};

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
	uint64_t n_unknown;		/* counts of no event in the file */
};

struct perf_tree {
	struct reader *reader;
	const struct perf_events *events;
	struct perf_machine *machine;
	struct perf_stacks *stacks;
	struct perf_values values;
	struct perf_deferred *deferred;
	uint32_t *process;		/* frames of a deferred call chain */
	size_t process_capacity;
	uint32_t *resources;		/* [n_events] the reader's columns */
	size_t n_events, resources_capacity;
	uint32_t n_resources;		/* in the order of their first sample */
	uint64_t n_unknown;	/* samples of no event in the file */
	uint64_t n_left_out;	/* samples of events without room, */
	uint32_t n_events_left_out;	/* and how many events those are */
	uint64_t n_unjoined;	/* samples that waited in vain */
};

struct perf_tree *
perf_tree_new(struct reader *reader, const struct perf_events *events,
              struct perf_machine *machine, struct error *error)
{
	struct perf_tree *tree = memory_array(1, sizeof *tree, error);

	if (tree == NULL)
		return NULL;
	tree->reader = reader;
	tree->events = events;
	tree->machine = machine;
	tree->deferred = perf_deferred_new(error);
	tree->stacks = perf_stacks_new(reader->profile, machine,
	                               reader->options->modules, error);
	if (!error->is_set)
		return tree;
	perf_tree_free(tree);
	return NULL;
}

void
perf_tree_free(struct perf_tree *tree)
{
	if (tree == NULL)
		return;
	free(tree->values.list);
	free(tree->values.last);
	id_table_free(&tree->values.keys);
	perf_deferred_free(tree->deferred);
	free(tree->process);
	free(tree->resources);
	perf_stacks_free(tree->stacks);
	free(tree);
}

bool
perf_tree_is_empty(const struct perf_tree *tree)
{
	return tree->n_resources == 0;
}

/* ---- what a sample stands for ---- */

/* Gives an event a resource, at its first sample; 0 or -1. */
static int
perf_tree_enter_event(struct perf_tree *tree, uint32_t event,
                      struct error *error)
{
	if (tree->n_resources == RESOURCES_MAX) {
		tree->resources[event] = NO_ROOM;
		tree->n_events_left_out++;
		return 0;
	}
	if (reader_add_columns(tree->reader, 1, error) != 0)
		return -1;
	tree->resources[event] = tree->n_resources++;
	return 0;
}

/*
 * What a sample stands for.  Mostly that is its event's period.  Where an event
 * is sampled for its whole group (`{a,b}:S`), the sample has the counts of all
 * members so far, and stands for what each has counted since the sample before.
 * So samples must come in the order of time.
 * Source: linux 6.12, tools/perf/util/session.c, evlist__deliver_sample.
 *
 * Returns an array of *n values, valid until the next call; *n is 0 if no event
 * of the group has counted anything.  NULL with *error set.
 */
static const struct perf_value *
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
	for (uint64_t i = 0; i < sample->n_counts; i++) {
		const uint64_t flags = events->attrs[sample->event].flags;
		const unsigned char *at = sample->counts +
		    i * sample->read_size;
		uint64_t count = perf_number_at(at);
		uint64_t id = perf_number_at(at + sample->id_at);
		uint32_t number = id_table_find(&events->ids, id);
		uint64_t key, *last;
		uint32_t n_before, slot;

		if (number == NO_ID) {
			values->n_unknown++;
			continue;
		}
		key = (uint64_t)number << 32;
		if ((flags & PERF_ATTR_INHERIT) != 0)
			key |= sample->tid;
		n_before = values->keys.n;
		slot = id_table_add(&values->keys, key, error);
		if (slot == NO_ID ||
		    memory_grow(&values->last, &values->last_capacity,
		                (size_t)slot + 1, sizeof *values->last,
		                error) != 0)
			return NULL;
		if (slot >= n_before)
			values->last[slot] = 0;
		last = &values->last[slot];
		/* A smaller count has started again from 0. */
		values->list[*n] = (struct perf_value){ events->owners[number],
			count >= *last ? count - *last : count };
		*last = count;
		*n += values->list[*n].hits > 0;
	}
	return values->list;
}

/*
 * Notes in the reader's hits[] what a sample stands for.  Returns whether that
 * is anything, or -1 with *error set.
 */
static int
note_values(struct perf_tree *tree, const struct perf_sample *sample,
            struct error *error)
{
	size_t n;
	const struct perf_value *values = perf_values_of(&tree->values,
	    tree->events, sample, &n, error);
	int found = 0;

	if (values == NULL ||
	    memory_grow(&tree->resources, &tree->resources_capacity,
	                tree->events->n, sizeof *tree->resources,
	                error) != 0)
		return -1;
	while (tree->n_events < tree->events->n)
		tree->resources[tree->n_events++] = NO_SAMPLE;
	for (size_t i = 0; i < n; i++) {
		uint32_t *resource = &tree->resources[values[i].event];

		if (*resource == NO_SAMPLE &&
		    perf_tree_enter_event(tree, values[i].event, error) != 0)
			return -1;
		if (*resource == NO_ROOM) {
			tree->n_left_out++;
			continue;
		}
		count_add(&tree->reader->hits[*resource], values[i].hits);
		found = 1;
	}
	return found;
}

/*
 * Adds a stack: its own frames (labels NULL: they are already in the reader's
 * room), then those of its process.  Its hits are in hits[], which is all 0
 * afterwards.
 */
static int
push_stack(struct perf_tree *tree, const struct perf_labels *own,
           const struct perf_labels *process, uint32_t thread,
           uint64_t time, uint64_t offset, struct error *error)
{
	size_t n = own->n + process->n;
	uint32_t *room = reader_frames(tree->reader, n, error);

	if (room == NULL)
		return -1;
	if (own->n > 0 && own->labels != NULL)
		memcpy(room, own->labels, own->n * sizeof *room);
	if (process->n > 0)
		memcpy(room + own->n, process->labels,
		       process->n * sizeof *room);
	tree->reader->thread = thread;
	tree->reader->has_time = time != 0;
	tree->reader->time_ns = time;
	return reader_push(tree->reader, n, offset, 1, error);
}

/* ---- samples that wait for their process's frames ---- */

/*
 * Adds one of them and frees it.  process: the frames that it waited for; NULL:
 * they never came.
 */
static int
push_waiting(struct perf_tree *tree, struct perf_waiting *sample,
             const struct perf_labels *process, struct error *error)
{
	struct perf_labels own = { sample->labels, sample->n_labels };
	const struct perf_labels none = { NULL, 0 };
	int result;

	if (process == NULL)
		tree->n_unjoined++;
	else if (process->n > 0 && sample->is_ip_only)
		own.n = 0;
	for (size_t i = 0; i < sample->n_amounts; i++)
		count_add(&tree->reader->hits[sample->amounts[i].resource],
		          sample->amounts[i].hits);
	result = push_stack(tree, &own, process != NULL ? process : &none,
	                    sample->thread, sample->time, sample->offset,
	                    error);
	free(sample);
	return result;
}

/*
 * Adds waiting samples as they are: at the end all, else those beyond a limit.
 */
static int
give_up_waiting(struct perf_tree *tree, bool is_end, struct error *error)
{
	struct perf_waiting *sample;

	while ((sample = perf_deferred_take_oldest(tree->deferred,
	                                           is_end)) != NULL)
		if (push_waiting(tree, sample, NULL, error) != 0)
			return -1;
	return 0;
}

/* Lets the sample at hand wait, with its hits; hits[] is all 0 afterwards. */
static int
wait_for_process(struct perf_tree *tree, const struct perf_stack *stack,
                 const struct perf_sample *from, uint32_t thread,
                 uint64_t offset, struct error *error)
{
	struct perf_amount amounts[RESOURCES_MAX];
	struct perf_waiting sample = { .cookie = stack->cookie,
		.offset = offset, .time = from->time, .thread = thread,
		.labels = stack->labels,
		.n_labels = stack->n, .amounts = amounts,
		.is_ip_only = stack->is_ip_only };

	for (uint32_t i = 0; i < tree->n_resources; i++) {
		uint64_t *hits = &tree->reader->hits[i];

		if (*hits > 0)
			amounts[sample.n_amounts++] = (struct perf_amount){
				i, *hits };
		*hits = 0;
	}
	return perf_deferred_wait(tree->deferred, from->tid, &sample,
	                          error) == 0 ?
	    give_up_waiting(tree, false, error) : -1;
}

/*
 * The kernel records the frames when the thread returns from it.  So a waiting
 * sample of the thread has the same cookie, or an older one whose record was
 * lost.
 */
int
perf_tree_add_deferred(struct perf_tree *tree,
                       const struct perf_record *record, struct error *error)
{
	struct perf_sample frames;
	struct perf_stack stack = { 0 };
	struct perf_waiting *sample;
	struct perf_labels process;
	uint64_t cookie;

	if (perf_sample_read_deferred(&frames, &cookie, tree->events, record,
	                              error) != 0 ||
	    memory_grow(&tree->process, &tree->process_capacity,
	                perf_stacks_room(&frames), sizeof *tree->process,
	                error) != 0)
		return -1;
	stack.labels = tree->process;
	if (perf_stacks_fill_process(tree->stacks, &frames, &stack,
	                             error) != 0 ||
	    perf_deferred_keep(tree->deferred, frames.tid, cookie,
	                       stack.labels, stack.n, error) != 0)
		return -1;
	process = (struct perf_labels){ stack.labels, stack.n };
	while ((sample = perf_deferred_take(tree->deferred,
	                                    frames.tid)) != NULL)
		if (push_waiting(tree, sample, sample->cookie == cookie ?
		                 &process : NULL, error) != 0)
			return -1;
	return 0;
}

/* ---- a sample ---- */

int
perf_tree_add(struct perf_tree *tree, const struct perf_record *record,
              struct error *error)
{
	struct perf_sample sample;
	struct perf_stack stack = { 0 };
	struct perf_labels own, process = { NULL, 0 };
	uint32_t thread;
	int found;

	if (perf_sample_read(&sample, tree->events, record, error) != 0)
		return -1;
	if (sample.event == UINT32_MAX) {
		tree->n_unknown++;
		return 0;
	}
	/* perf's BPF program and perf itself disagree on the order. */
	if (sample.is_off_cpu &&
	    !perf_machine_has(tree->machine, sample.pid) &&
	    perf_machine_has(tree->machine, sample.tid)) {
		uint32_t pid = sample.pid;

		sample.pid = sample.tid;
		sample.tid = pid;
	}
	found = note_values(tree, &sample, error);
	if (found <= 0)
		return found;

	stack.labels = reader_frames(tree->reader, perf_stacks_room(&sample),
	                             error);
	thread = perf_machine_thread(tree->machine, sample.pid, sample.tid,
	                             error);
	if (stack.labels == NULL || thread == UINT32_MAX ||
	    perf_stacks_fill(tree->stacks, &tree->events->attrs[sample.event],
	                     record, &sample, &stack, error) != 0)
		return -1;
	own = (struct perf_labels){ NULL, stack.n };
	if (stack.is_deferred) {
		if (!perf_deferred_find(tree->deferred, sample.tid,
		                        stack.cookie, &process))
			return wait_for_process(tree, &stack, &sample, thread,
			    record->offset, error);
		if (process.n > 0 && stack.is_ip_only)
			own.n = 0;
	}
	return push_stack(tree, &own, &process, thread, sample.time,
	                  record->offset, error);
}

/* ---- the end ---- */

/* Puts counts[n] into the order of columns[n]. */
static void
order_counts(uint64_t **counts, const uint32_t *columns, uint32_t n)
{
	uint64_t *ordered[RESOURCES_MAX];

	for (uint32_t i = 0; i < n; i++)
		ordered[i] = counts[columns[i]];
	memcpy(counts, ordered, n * sizeof *ordered);
}

/*
 * Names the resources, and brings them into the order that their events have in
 * the file.
 */
static int
perf_tree_add_resources(struct perf_tree *tree, struct error *error)
{
	struct profile *profile = tree->reader->profile;
	struct sample_tree *stacks = profile->tree;
	uint32_t columns[RESOURCES_MAX], n = 0;

	for (uint32_t event = 0; event < tree->n_events; event++) {
		uint32_t resource = tree->resources[event];
		const char *name, *gtick;
		uint32_t number;
		char place[64];

		if (resource == NO_SAMPLE || resource == NO_ROOM)
			continue;
		name = perf_events_name(tree->events, event, place,
		                        sizeof place);
		gtick = perf_event_gtick(name, strlen(name));
		/* The user may have asked for the same event twice. */
		if (profile_find_resource(profile, name) != NO_RESOURCE)
			name = arena_format(&profile->arena, error, "%s-%u",
			                    name, event + 1);
		if (name == NULL)
			return -1;
		number = profile_add_resource(profile, name, gtick, 1, error);
		if (number == UINT32_MAX)
			return -1;
		profile->resources[number].counting = COUNTING_SAMPLED;
		columns[n++] = resource;
	}
	order_counts(stacks->hits, columns, n);
	order_counts(stacks->samples, columns, n);
	if (stacks->timeline != NULL) {
		order_counts(stacks->timeline->hits, columns, n);
		order_counts(stacks->timeline->samples, columns, n);
	}
	return 0;
}

int
perf_tree_finish(struct perf_tree *tree, struct error *error)
{
	return give_up_waiting(tree, true, error) == 0 &&
	    reader_finish_stacks(tree->reader, NULL, error) == 0 ?
	    perf_tree_add_resources(tree, error) : -1;
}

int
perf_tree_finish_frames(struct perf_tree *tree, struct error *error)
{
	struct perf_stacks_missed missed = perf_stacks_missed(tree->stacks);
	struct reader *reader = tree->reader;
	uint64_t n_unknown = tree->n_unknown +
	                     tree->values.n_unknown;

	if (n_unknown > 0 && reader_warn(reader, error, "%" PRIu64 " samples "
	        "are of no event that the file describes; left out",
	        n_unknown) != 0)
		return -1;
	if (tree->n_left_out > 0 && reader_warn(reader, error, "more than %d "
	        "events have samples; left out: the %" PRIu64 " samples of "
	        "the other %" PRIu32, RESOURCES_MAX, tree->n_left_out,
	        tree->n_events_left_out) != 0)
		return -1;
	if (tree->n_unjoined > 0 && reader_warn(reader, error, "%" PRIu64
	        " samples are without the frames of their process: no deferred "
	        "call chain came for them", tree->n_unjoined) != 0)
		return -1;
	if (missed.n_guests > 0 && reader_warn(reader, error, "%" PRIu64
	        " samples have frames inside of virtual machines, shown as "
	        "[guest]", missed.n_guests) != 0)
		return -1;
	if (missed.n_unwalked > 0 && reader_warn(reader, error, "%" PRIu64
	        " copied stacks are not of 64-bit programs of x86-64 or "
	        "aarch64; shown without callers", missed.n_unwalked) != 0)
		return -1;
	return perf_stacks_finish(tree->stacks, error);
}
