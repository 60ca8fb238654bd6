/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_samples.c -- the samples of a perf.data file as a profile's tree. */
#include "src/formats/perf/perf_samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/perf/perf_deferred.h"
#include "src/formats/perf/perf_event.h"
#include "src/formats/perf/perf_frames.h"
#include "src/formats/perf/perf_stacks.h"
#include "src/formats/perf/perf_values.h"
#include "src/formats/reader.h"

/* Of an event: it has no sample yet, or none of its samples has room. */
#define NO_SAMPLE UINT32_MAX
#define NO_ROOM (UINT32_MAX - 1)

struct perf_samples {
	struct reader *reader;
	const struct perf_events *events;
	struct perf_spaces *spaces;
	struct perf_frames *frames;
	struct perf_stacks *stacks;
	struct perf_values *values;
	struct perf_deferred *deferred;
	uint32_t *process;		/* frames of a deferred call chain */
	size_t process_capacity;
	uint32_t *resources;		/* [n_events] columns of hits */
	size_t n_events, resources_capacity;
	uint32_t n_resources;		/* in the order of their first sample */
	uint64_t n_unknown;	/* samples of no event in the file */
	uint64_t n_left_out;	/* samples of events without room, */
	uint32_t n_events_left_out;	/* and how many those are */
	uint64_t n_unjoined;	/* samples that have waited in vain */
};

struct perf_samples *
perf_samples_new(struct reader *reader, const struct perf_events *events,
                 struct perf_spaces *spaces, struct error *error)
{
	struct perf_samples *samples = memory_array(1, sizeof *samples,
	                                            error);
	struct profile *profile = reader->profile;
	struct module_cache *modules = reader->options->modules;

	if (samples == NULL)
		return NULL;
	samples->reader = reader;
	samples->events = events;
	samples->spaces = spaces;
	samples->values = perf_values_new(error);
	samples->deferred = perf_deferred_new(error);
	samples->frames = perf_frames_new(profile, spaces, modules, error);
	samples->stacks = perf_stacks_new(profile, spaces, samples->frames,
	                                  modules, error);
	if (!error->is_set)
		return samples;
	perf_samples_free(samples);
	return NULL;
}

void
perf_samples_free(struct perf_samples *samples)
{
	if (samples == NULL)
		return;
	perf_values_free(samples->values);
	perf_deferred_free(samples->deferred);
	free(samples->process);
	free(samples->resources);
	perf_stacks_free(samples->stacks);
	perf_frames_free(samples->frames);
	free(samples);
}

bool
perf_samples_are_none(const struct perf_samples *samples)
{
	return samples->n_resources == 0;
}

/* ---- one sample ---- */

/* The resource of an event, entered with its first sample; 0 or -1. */
static int
enter_event(struct perf_samples *samples, uint32_t event, struct error *error)
{
	if (samples->n_resources == RESOURCES_MAX) {
		samples->resources[event] = NO_ROOM;
		samples->n_events_left_out++;
		return 0;
	}
	if (reader_add_columns(samples->reader, 1, error) != 0)
		return -1;
	samples->resources[event] = samples->n_resources++;
	return 0;
}

static void
add_hits(struct perf_samples *samples, uint32_t resource, uint64_t hits)
{
	uint64_t *sum = &samples->reader->hits[resource];

	if (__builtin_add_overflow(*sum, hits, sum))
		*sum = UINT64_MAX;
}

/*
 * Notes what a sample stands for in the reader's hits[]; whether that is
 * anything, or -1 with *error set.
 */
static int
note_values(struct perf_samples *samples, const struct perf_sample *sample,
            struct error *error)
{
	size_t n;
	const struct perf_value *values = perf_values_of(samples->values,
	    samples->events, sample, &n, error);
	int found = 0;

	if (values == NULL ||
	    memory_grow(&samples->resources, &samples->resources_capacity,
	                samples->events->n, sizeof *samples->resources,
	                error) != 0)
		return -1;
	while (samples->n_events < samples->events->n)
		samples->resources[samples->n_events++] = NO_SAMPLE;
	for (size_t i = 0; i < n; i++) {
		uint32_t *resource = &samples->resources[values[i].event];

		if (*resource == NO_SAMPLE &&
		    enter_event(samples, values[i].event, error) != 0)
			return -1;
		if (*resource == NO_ROOM) {
			samples->n_left_out++;
			continue;
		}
		add_hits(samples, *resource, values[i].hits);
		found = 1;
	}
	return found;
}

/*
 * Enters a stack: its own frames, which are in the reader's room if they are
 * NULL, and those of its process.  It stands for hits[], which are then all 0.
 */
static int
push_stack(struct perf_samples *samples, const struct perf_labels *own,
           const struct perf_labels *process, uint32_t thread,
           uint64_t offset, struct error *error)
{
	size_t n = own->n + process->n;
	uint32_t *room = reader_frames(samples->reader, n, error);

	if (room == NULL)
		return -1;
	if (own->n > 0 && own->labels != NULL)
		memcpy(room, own->labels, own->n * sizeof *room);
	if (process->n > 0)
		memcpy(room + own->n, process->labels,
		       process->n * sizeof *room);
	samples->reader->thread = thread;
	return reader_push(samples->reader, n, offset, 1, error);
}

/* ---- samples that wait for their process's frames ---- */

/* Enters one of them, with these frames if they are its own; NULL: none. */
static int
push_waiting(struct perf_samples *samples, struct perf_waiting *sample,
             const struct perf_labels *process, struct error *error)
{
	struct perf_labels own = { sample->labels, sample->n_labels };
	const struct perf_labels none = { NULL, 0 };
	int result;

	if (process == NULL)
		samples->n_unjoined++;
	else if (process->n > 0 && sample->is_ip_only)
		own.n = 0;
	for (size_t i = 0; i < sample->n_amounts; i++)
		add_hits(samples, sample->amounts[i].resource,
		         sample->amounts[i].hits);
	result = push_stack(samples, &own, process != NULL ? process : &none,
	                    sample->thread, sample->offset, error);
	free(sample);
	return result;
}

/* Gives up on waiting samples: the oldest if there are many, at the end all. */
static int
give_up(struct perf_samples *samples, bool is_end, struct error *error)
{
	struct perf_waiting *sample;

	while ((sample = perf_deferred_take_oldest(samples->deferred,
	                                           is_end)) != NULL)
		if (push_waiting(samples, sample, NULL, error) != 0)
			return -1;
	return 0;
}

/* Has the sample in the room, of hits[] that are all 0 then, wait. */
static int
wait_for_process(struct perf_samples *samples, const struct perf_stack *stack,
                 uint32_t tid, uint32_t thread, uint64_t offset,
                 struct error *error)
{
	struct perf_amount amounts[RESOURCES_MAX];
	struct perf_waiting sample = { .cookie = stack->cookie,
		.offset = offset, .thread = thread, .labels = stack->labels,
		.n_labels = stack->n, .amounts = amounts,
		.is_ip_only = stack->is_ip_only };

	for (uint32_t i = 0; i < samples->n_resources; i++) {
		uint64_t *hits = &samples->reader->hits[i];

		if (*hits > 0)
			amounts[sample.n_amounts++] = (struct perf_amount){
				i, *hits };
		*hits = 0;
	}
	return perf_deferred_wait(samples->deferred, tid, &sample,
	                          error) == 0 ?
	    give_up(samples, false, error) : -1;
}

/*
 * A waiting sample has the same cookie, or an older one whose record was lost:
 * the frames are recorded when the thread leaves the kernel.
 */
int
perf_samples_enter_deferred(struct perf_samples *samples,
                            const struct perf_record *record,
                            struct error *error)
{
	struct perf_sample frames;
	struct perf_stack stack = { 0 };
	struct perf_waiting *sample;
	struct perf_labels process;
	uint64_t cookie;

	if (perf_events_read_deferred(samples->events, record, &frames,
	                              &cookie, error) != 0 ||
	    memory_grow(&samples->process, &samples->process_capacity,
	                perf_stacks_room(&frames), sizeof *samples->process,
	                error) != 0)
		return -1;
	stack.labels = samples->process;
	if (perf_stacks_fill_process(samples->stacks, &frames, &stack,
	                             error) != 0 ||
	    perf_deferred_keep(samples->deferred, frames.tid, cookie,
	                       stack.labels, stack.n, error) != 0)
		return -1;
	process = (struct perf_labels){ stack.labels, stack.n };
	while ((sample = perf_deferred_take(samples->deferred,
	                                    frames.tid)) != NULL)
		if (push_waiting(samples, sample, sample->cookie == cookie ?
		                 &process : NULL, error) != 0)
			return -1;
	return 0;
}

/* ---- a sample ---- */

/* A sample that stands for hits[], which are then all 0. */
static int
enter_sample(struct perf_samples *samples, const struct perf_record *record,
             const struct perf_sample *sample, struct error *error)
{
	struct perf_labels own, process = { NULL, 0 };
	struct perf_stack stack = { 0 };
	uint32_t thread;

	stack.labels = reader_frames(samples->reader, perf_stacks_room(sample),
	                             error);
	thread = perf_spaces_thread(samples->spaces, sample->pid, sample->tid,
	                            error);
	if (stack.labels == NULL || thread == UINT32_MAX ||
	    perf_stacks_fill(samples->stacks,
	                     &samples->events->attrs[sample->event], record,
	                     sample, &stack, error) != 0)
		return -1;
	own = (struct perf_labels){ NULL, stack.n };
	if (stack.is_deferred) {
		if (!perf_deferred_find(samples->deferred, sample->tid,
		                        stack.cookie, &process))
			return wait_for_process(samples, &stack, sample->tid,
			    thread, record->offset, error);
		if (process.n > 0 && stack.is_ip_only)
			own.n = 0;
	}
	return push_stack(samples, &own, &process, thread, record->offset,
	                  error);
}

/* perf's BPF program and perf itself write the two in another order each. */
static void
order_ids(const struct perf_samples *samples, struct perf_sample *sample)
{
	uint32_t pid = sample->pid;

	if (!sample->is_off_cpu || perf_spaces_has(samples->spaces, pid) ||
	    !perf_spaces_has(samples->spaces, sample->tid))
		return;
	sample->pid = sample->tid;
	sample->tid = pid;
}

int
perf_samples_enter(struct perf_samples *samples,
                   const struct perf_record *record, struct error *error)
{
	struct perf_sample sample;
	int found;

	if (perf_events_read_sample(samples->events, record, &sample,
	                            error) != 0)
		return -1;
	if (sample.event == UINT32_MAX) {
		samples->n_unknown++;
		return 0;
	}
	order_ids(samples, &sample);
	found = note_values(samples, &sample, error);
	return found > 0 ? enter_sample(samples, record, &sample, error) :
	       found;
}

/* ---- the end ---- */

static int
add_resource(struct perf_samples *samples, uint32_t event,
             struct error *error)
{
	struct profile *profile = samples->reader->profile;
	char place[64];
	const char *name = perf_events_name(samples->events, event, place,
	                                    sizeof place);
	const char *gtick = perf_event_gtick(name, strlen(name));

	/* The same event may have been asked for twice. */
	if (profile_find_resource(profile, name) != NO_RESOURCE)
		name = arena_format(&profile->arena, error, "%s-%u", name,
		                    event + 1);
	return name != NULL && profile_add_resource(profile, name, gtick, 1,
	    error) != UINT32_MAX ? 0 : -1;
}

/* The resources, in the order of their events in the file. */
static int
add_resources(struct perf_samples *samples, struct error *error)
{
	struct sample_tree *tree = samples->reader->profile->tree;
	uint64_t *hits[RESOURCES_MAX], *raw[RESOURCES_MAX];
	uint32_t n = 0;

	for (uint32_t event = 0; event < samples->n_events; event++) {
		uint32_t resource = samples->resources[event];

		if (resource == NO_SAMPLE || resource == NO_ROOM)
			continue;
		if (add_resource(samples, event, error) != 0)
			return -1;
		hits[n] = tree->hits[resource];
		raw[n++] = tree->samples[resource];
	}
	memcpy(tree->hits, hits, n * sizeof *hits);
	memcpy(tree->samples, raw, n * sizeof *raw);
	return 0;
}

int
perf_samples_finish_tree(struct perf_samples *samples, struct error *error)
{
	return give_up(samples, true, error) == 0 &&
	    reader_finish_stacks(samples->reader, NULL, error) == 0 ?
	    add_resources(samples, error) : -1;
}

static int
warn_of_missed(struct perf_samples *samples, struct error *error)
{
	struct perf_stacks_missed missed = perf_stacks_missed(samples->stacks);
	struct reader *reader = samples->reader;
	uint64_t n_unknown = samples->n_unknown +
	                     perf_values_unknown(samples->values);

	if (n_unknown > 0 && reader_warn(reader, error, "%" PRIu64 " samples "
	        "are of no event that the file describes; left out",
	        n_unknown) != 0)
		return -1;
	if (samples->n_left_out > 0 && reader_warn(reader, error, "more than "
	        "%d events have samples; left out: the %" PRIu64 " samples of "
	        "the other %" PRIu32, RESOURCES_MAX, samples->n_left_out,
	        samples->n_events_left_out) != 0)
		return -1;
	if (samples->n_unjoined > 0 && reader_warn(reader, error, "%" PRIu64
	        " samples are without the frames of their process: no deferred "
	        "call chain came for them", samples->n_unjoined) != 0)
		return -1;
	if (missed.n_guests > 0 && reader_warn(reader, error, "%" PRIu64
	        " samples have frames inside of virtual machines, shown as "
	        "[guest]", missed.n_guests) != 0)
		return -1;
	if (missed.n_unwalked > 0 && reader_warn(reader, error, "%" PRIu64
	        " copied stacks are not of 64-bit programs of x86-64; shown "
	        "without callers", missed.n_unwalked) != 0)
		return -1;
	return 0;
}

int
perf_samples_finish_frames(struct perf_samples *samples, struct error *error)
{
	return warn_of_missed(samples, error) == 0 ?
	    perf_frames_finish(samples->frames, error) : -1;
}
