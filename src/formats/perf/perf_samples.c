/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_samples.c -- the samples of a perf.data file as a profile's tree. */
#include "src/formats/perf/perf_samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/perf/perf_event.h"
#include "src/formats/perf/perf_frames.h"
#include "src/formats/perf/perf_stacks.h"
#include "src/formats/perf/perf_values.h"
#include "src/formats/stack_feed.h"
#include "src/formats/thread_sections.h"

/* Of an event: it has no sample yet, or none of its samples has room. */
#define NO_SAMPLE UINT32_MAX
#define NO_ROOM (UINT32_MAX - 1)

struct perf_samples {
	const char *name;
	struct profile *profile;
	const struct perf_events *events;
	struct perf_spaces *spaces;
	struct perf_frames *frames;
	struct perf_stacks *stacks;
	struct perf_values *values;
	struct stack_feed *feed;	/* NULL before the first sample */
	uint32_t *resources;		/* [n_events] of the feed */
	size_t n_events, resources_capacity;
	uint32_t n_resources;		/* in the order of their first sample */
	uint64_t counts[RESOURCES_MAX];	/* all 0 but for a moment */
	uint64_t n_unknown;	/* samples of no event in the file */
	uint64_t n_left_out;	/* samples of events without room, */
	uint32_t n_events_left_out;	/* and how many those are */
};

struct perf_samples *
perf_samples_new(const char *name, struct profile *profile,
                 const struct perf_events *events, struct perf_spaces *spaces,
                 struct module_cache *modules, struct error *error)
{
	struct perf_samples *samples = memory_array(1, sizeof *samples,
	                                            error);

	if (samples == NULL)
		return NULL;
	samples->name = name;
	samples->profile = profile;
	samples->events = events;
	samples->spaces = spaces;
	samples->values = perf_values_new(error);
	samples->frames = perf_frames_new(profile, spaces, modules, error);
	samples->stacks = perf_stacks_new(profile, spaces, samples->frames,
	                                  modules, error);
	if (samples->values != NULL && samples->frames != NULL &&
	    samples->stacks != NULL)
		return samples;
	perf_samples_free(samples);
	return NULL;
}

void
perf_samples_free(struct perf_samples *samples)
{
	if (samples == NULL)
		return;
	stack_feed_free(samples->feed);
	perf_values_free(samples->values);
	free(samples->resources);
	perf_stacks_free(samples->stacks);
	perf_frames_free(samples->frames);
	free(samples);
}

bool
perf_samples_are_none(const struct perf_samples *samples)
{
	return samples->feed == NULL;
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
	if (samples->feed == NULL)
		samples->feed = stack_feed_new(samples->name, STACK_OFFSETS, 1,
		                               error);
	else if (stack_feed_add_resource(samples->feed, error) != 0)
		return -1;
	if (samples->feed == NULL)
		return -1;
	samples->resources[event] = samples->n_resources;
	samples->n_resources++;
	return 0;
}

/*
 * Notes what a sample stands for in counts[]; whether that is anything, or -1
 * with *error set.
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
		if (__builtin_add_overflow(samples->counts[*resource],
		                           values[i].hits,
		                           &samples->counts[*resource]))
			samples->counts[*resource] = UINT64_MAX;
		found = 1;
	}
	return found;
}

/* The frames of a sample and its thread, as labels in the feed's room. */
static int
fill_stack(struct perf_samples *samples, const struct perf_record *record,
           const struct perf_sample *sample, struct perf_stack *stack,
           struct error *error)
{
	uint32_t thread;

	stack->labels = stack_feed_room(samples->feed,
	                                perf_stacks_room(sample) + 1, error);
	thread = perf_spaces_thread(samples->spaces, sample->pid, sample->tid,
	                            error);
	if (stack->labels == NULL || thread == UINT32_MAX ||
	    perf_stacks_fill(samples->stacks,
	                     &samples->events->attrs[sample->event], record,
	                     sample, stack, error) != 0)
		return -1;
	stack->labels[stack->n++] = thread;
	return 0;
}

int
perf_samples_enter(struct perf_samples *samples,
                   const struct perf_record *record, struct error *error)
{
	struct perf_sample sample;
	struct perf_stack stack = { 0 };
	int found, result = 0;

	if (perf_events_read_sample(samples->events, record, &sample,
	                            error) != 0)
		return -1;
	if (sample.event == UINT32_MAX) {
		samples->n_unknown++;
		return 0;
	}
	found = note_values(samples, &sample, error);
	if (found < 0)
		return -1;
	if (found > 0) {
		result = fill_stack(samples, record, &sample, &stack, error);
		if (result == 0)
			result = stack_feed_push(samples->feed, stack.n,
			    record->offset, samples->counts, 1, error);
	}
	memset(samples->counts, 0,
	       samples->n_resources * sizeof *samples->counts);
	return result;
}

/* ---- the end ---- */

static int
add_resource(struct perf_samples *samples, uint32_t event,
             struct error *error)
{
	struct profile *profile = samples->profile;
	char place[64];
	const char *name = perf_events_name(samples->events, event, place,
	                                    sizeof place);

	/* The same event may have been asked for twice. */
	if (profile_find_resource(profile, name) != NO_RESOURCE)
		name = arena_format(&profile->arena, error, "%s-%u", name,
		                    event + 1);
	return name != NULL && profile_add_resource(profile, name,
	    perf_event_gtick(name, strlen(name)), 1, error) != UINT32_MAX ?
	    0 : -1;
}

/* The resources, in the order of their events in the file. */
static int
add_resources(struct perf_samples *samples, struct error *error)
{
	struct sample_tree *tree = samples->profile->tree;
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
	struct profile *profile = samples->profile;

	profile->tree = stack_feed_finish(samples->feed, error);
	return profile->tree != NULL && add_resources(samples, error) == 0 ?
	    thread_sections_split(profile, NULL, error) : -1;
}

static int
warn_of_missed(struct perf_samples *samples, struct error *error)
{
	struct perf_stacks_missed missed = perf_stacks_missed(samples->stacks);
	struct profile *profile = samples->profile;
	uint64_t n_unknown = samples->n_unknown +
	                     perf_values_unknown(samples->values);

	if (n_unknown > 0 && profile_warn(profile, error,
	        "%s: %" PRIu64 " samples are of no event that the file "
	        "describes; left out", samples->name, n_unknown) != 0)
		return -1;
	if (samples->n_left_out > 0 && profile_warn(profile, error,
	        "%s: more than %d events have samples; left out: the %" PRIu64
	        " samples of the other %" PRIu32, samples->name, RESOURCES_MAX,
	        samples->n_left_out, samples->n_events_left_out) != 0)
		return -1;
	if (missed.n_guests > 0 && profile_warn(profile, error,
	        "%s: %" PRIu64 " samples have frames inside of virtual "
	        "machines, shown as [guest]", samples->name,
	        missed.n_guests) != 0)
		return -1;
	if (missed.n_unwalked > 0 && profile_warn(profile, error,
	        "%s: %" PRIu64 " copied stacks are not of 64-bit programs of "
	        "x86-64; shown without callers", samples->name,
	        missed.n_unwalked) != 0)
		return -1;
	return 0;
}

int
perf_samples_finish_frames(struct perf_samples *samples, struct error *error)
{
	return warn_of_missed(samples, error) == 0 ?
	    perf_frames_finish(samples->frames, error) : -1;
}
