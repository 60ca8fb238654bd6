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
#include "src/formats/stack_feed.h"
#include "src/formats/thread_sections.h"

struct perf_samples {
	const char *name;
	struct profile *profile;
	const struct perf_events *events;
	struct perf_spaces *spaces;
	struct perf_frames *frames;
	struct perf_stacks *stacks;
	struct stack_feed *feed;	/* NULL before the first sample */
	uint32_t n_resources;		/* of the feed */
	uint64_t counts[RESOURCES_MAX];	/* all 0 but for a moment */
	uint64_t n_samples[RESOURCES_MAX];
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
	samples->frames = perf_frames_new(profile, spaces, modules, error);
	samples->stacks = perf_stacks_new(profile, spaces, samples->frames,
	                                  modules, error);
	if (samples->frames != NULL && samples->stacks != NULL)
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

/* The feed, with a resource for each event so far. */
static int
need_feed(struct perf_samples *samples, struct error *error)
{
	uint32_t n = (uint32_t)samples->events->n;

	if (samples->feed == NULL) {
		samples->feed = stack_feed_new(samples->name, STACK_OFFSETS,
		                               n, error);
		samples->n_resources = n;
	}
	if (samples->feed == NULL)
		return -1;
	for (; samples->n_resources < n; samples->n_resources++)
		if (stack_feed_add_resource(samples->feed, error) != 0)
			return -1;
	return 0;
}

int
perf_samples_enter(struct perf_samples *samples,
                   const struct perf_record *record, struct error *error)
{
	struct perf_sample sample;
	struct perf_stack stack = { 0 };
	uint32_t thread;
	int result;

	if (perf_events_read_sample(samples->events, record, &sample,
	                            error) != 0 ||
	    need_feed(samples, error) != 0)
		return -1;
	stack.labels = stack_feed_room(samples->feed,
	                               perf_stacks_room(&sample) + 1, error);
	thread = perf_spaces_thread(samples->spaces, sample.pid, sample.tid,
	                            error);
	if (stack.labels == NULL || thread == UINT32_MAX ||
	    perf_stacks_fill(samples->stacks,
	                     &samples->events->attrs[sample.event], record,
	                     &sample, &stack, error) != 0)
		return -1;
	stack.labels[stack.n++] = thread;
	samples->n_samples[sample.event]++;
	samples->counts[sample.event] = sample.period;
	result = stack_feed_push(samples->feed, stack.n, record->offset,
	                         samples->counts, 1, error);
	samples->counts[sample.event] = 0;
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

/* Events without samples, as perf adds for its own use, are dropped. */
static int
add_resources(struct perf_samples *samples, struct error *error)
{
	struct sample_tree *tree = samples->profile->tree;
	uint32_t n = 0;

	for (uint32_t event = 0; event < samples->n_resources; event++) {
		uint64_t *hits = tree->hits[event];
		uint64_t *raw = tree->samples[event];

		if (samples->n_samples[event] == 0)
			continue;
		if (add_resource(samples, event, error) != 0)
			return -1;
		tree->hits[event] = tree->hits[n];
		tree->samples[event] = tree->samples[n];
		tree->hits[n] = hits;
		tree->samples[n++] = raw;
	}
	sample_tree_keep_resources(tree, n);
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
