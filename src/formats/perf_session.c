/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_session.c -- from perf's records to a profile.
 *
 * What the kernel wrote waits in a queue until its turn; what perf added
 * itself takes effect at once.
 */
#include "src/formats/perf_session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/formats/perf_event.h"
#include "src/formats/perf_features.h"
#include "src/formats/perf_frames.h"
#include "src/formats/perf_queue.h"
#include "src/formats/perf_spaces.h"
#include "src/formats/perf_unpacker.h"
#include "src/formats/stack_feed.h"
#include "src/formats/thread_sections.h"
#include "src/symbols/stack_walk.h"

/* Frames of a copied stack; it is at most 64 KiB. */
enum { WALKED_MAX = 8192 };

struct perf_session {
	const char *name;
	struct profile *profile;
	const struct read_options *options;
	struct perf_events events;
	struct perf_features features;
	struct perf_queue *queue;
	struct perf_unpacker *unpacker;	/* NULL before it is needed */
	struct perf_spaces *spaces;
	struct perf_frames *frames;
	struct stack_walker *walker;	/* NULL before it is needed */
	struct stack_feed *feed;	/* NULL before the first sample */
	uint32_t n_resources;		/* of the feed */
	uint64_t counts[PERF_EVENTS_MAX];	/* all 0 but for a moment */
	uint64_t n_samples[PERF_EVENTS_MAX];
	uint64_t n_lost;
};

struct perf_session *
perf_session_new(const char *name, struct profile *profile,
                 const struct read_options *options, struct error *error)
{
	struct perf_session *session = memory_array(1, sizeof *session,
	                                            error);

	if (session == NULL)
		return NULL;
	session->name = name;
	session->profile = profile;
	session->options = options;
	session->queue = perf_queue_new(error);
	session->spaces = perf_spaces_new(profile, options->modules, error);
	session->frames = perf_frames_new(profile, session->spaces,
	                                  options->modules, error);
	if (!error->is_set)
		return session;
	perf_session_free(session);
	return NULL;
}

void
perf_session_free(struct perf_session *session)
{
	if (session == NULL)
		return;
	stack_feed_free(session->feed);
	stack_walker_free(session->walker);
	perf_frames_free(session->frames);
	perf_spaces_free(session->spaces);
	perf_unpacker_free(session->unpacker);
	perf_queue_free(session->queue);
	perf_features_free(&session->features);
	perf_events_free(&session->events);
	free(session);
}

struct perf_events *
perf_session_events(struct perf_session *session)
{
	return &session->events;
}

static int
fail(const struct perf_session *session, uint64_t offset,
     const struct error *why, struct error *error)
{
	return error_set(error, "%s: 0x%" PRIx64 ": %s", session->name,
	                 offset, why->text);
}

/* ---- samples ---- */

/* The feed, with a resource for each event so far. */
static int
need_feed(struct perf_session *session, struct error *error)
{
	uint32_t n = (uint32_t)session->events.n;

	if (session->feed == NULL) {
		session->feed = stack_feed_new(session->name, STACK_OFFSETS,
		                               n, error);
		session->n_resources = n;
	}
	if (session->feed == NULL)
		return -1;
	for (; session->n_resources < n; session->n_resources++)
		if (stack_feed_add_resource(session->feed, error) != 0)
			return -1;
	return 0;
}

/* A sample's frames on their way into the feed's room. */
struct chain {
	uint32_t *labels;
	size_t n;
	uint32_t pid;
	struct perf_space *space;
	uint64_t context;	/* PERF_CONTEXT_... */
	bool is_first;		/* of its context: where it is, not where it
				 * will return to */
};

static int
add_address(struct perf_session *session, struct chain *chain,
            uint64_t address, struct error *error)
{
	uint32_t label;

	/* A call may be the last instruction of its function. */
	if (!chain->is_first)
		address--;
	chain->is_first = false;
	if (chain->context == PERF_CONTEXT_KERNEL)
		label = perf_frames_kernel(session->frames, address, error);
	else if (chain->context == PERF_CONTEXT_USER)
		label = perf_frames_user(session->frames, chain->pid,
		                         chain->space, address, error);
	else
		label = perf_frames_name(session->frames, "[guest]", error);
	chain->labels[chain->n++] = label;
	return label != UINT32_MAX ? 0 : -1;
}

static uint64_t
context_of(const struct perf_record *record)
{
	switch (record->misc & PERF_MODE_MASK) {
	case PERF_MODE_KERNEL:
		return PERF_CONTEXT_KERNEL;
	case PERF_MODE_USER:
		return PERF_CONTEXT_USER;
	default:
		return PERF_CONTEXT_MAX;
	}
}

static int
add_chain(struct perf_session *session, struct chain *chain,
          const struct perf_sample *sample, struct error *error)
{
	struct bytes in = bytes_of(sample->chain, sample->n_chain * 8);

	for (uint64_t i = 0; i < sample->n_chain; i++) {
		uint64_t address = bytes_number(&in, 8);

		if (address >= PERF_CONTEXT_MAX) {
			chain->context = address;
			chain->is_first = true;
		} else if (sample->stack_size > 0 &&
		           chain->context == PERF_CONTEXT_USER) {
			continue;	/* told by the stack */
		} else if (add_address(session, chain, address, error) != 0) {
			return -1;
		}
	}
	return 0;
}

/* What the kernel copied of a process of x86-64; false: nothing of use. */
static bool
begin_stack(const struct perf_attr *attr, const struct perf_sample *sample,
            struct stack_frame *frame)
{
	/* DWARF's numbers of the kernel's registers; 99: not used. */
	static const uint8_t numbers[] = { 0, 3, 2, 1, 4, 5, STACK_RBP,
		STACK_RSP, STACK_RIP, 99, 99, 99, 99, 99, 99, 99, 8, 9, 10,
		11, 12, 13, 14, 15 };
	const uint64_t needed = 1 << 6 | 1 << 7 | 1 << 8;
	uint64_t mask = attr->user_registers;
	struct bytes in = bytes_of(sample->registers,
	    (size_t)__builtin_popcountll(mask) * 8);

	if (sample->abi != 2 || sample->stack_size == 0 ||
	    sample->registers == NULL || (mask & needed) != needed)
		return false;
	*frame = (struct stack_frame){ .is_interrupted = true,
		.stack = sample->stack, .stack_size = sample->stack_size };
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t value;

		if ((mask >> bit & 1) == 0)
			continue;
		value = bytes_number(&in, 8);
		if (bit < sizeof numbers && numbers[bit] < STACK_REGISTERS)
			frame->registers[numbers[bit]] = value;
	}
	frame->stack_start = frame->registers[STACK_RSP];
	return true;
}

/* Makes the frame its caller's. */
static bool
walk_on(struct perf_session *session, const struct chain *chain,
        struct stack_frame *frame)
{
	uint64_t address = frame->registers[STACK_RIP] -
	                   !frame->is_interrupted;
	struct perf_map *map = perf_space_find(chain->space, address);
	struct module_file file = { .search = module_cache_search(
		session->options->modules) };
	const struct module *module;

	if (map == NULL)
		return false;
	if (map->module == NO_MODULE)
		return stack_walker_step(session->walker, NULL, 0, 0, frame);
	module = &session->profile->modules[map->module];
	file.path = module->path;
	file.build_id = module->build_id;
	file.build_id_size = module->build_id_size;
	return stack_walker_step(session->walker, &file, map->module,
	    perf_spaces_address(session->spaces, map, address), frame);
}

/* The user's frames, from the copied stack. */
static int
add_stack(struct perf_session *session, struct chain *chain,
          const struct perf_sample *sample, struct error *error)
{
	struct stack_frame frame;
	size_t n = 0;

	if (!begin_stack(&session->events.attrs[sample->event], sample,
	                 &frame))
		return 0;
	if (session->walker == NULL)
		session->walker = stack_walker_new(error);
	if (session->walker == NULL)
		return -1;
	chain->context = PERF_CONTEXT_USER;
	do {
		chain->is_first = frame.is_interrupted;
		if (add_address(session, chain, frame.registers[STACK_RIP],
		                error) != 0)
			return -1;
	} while (++n < WALKED_MAX && walk_on(session, chain, &frame));
	return 0;
}

static int
enter_sample(struct perf_session *session, const struct perf_record *record,
             struct error *error)
{
	struct perf_sample sample;
	struct chain chain = { .is_first = true };
	uint32_t thread;
	int result;

	if (perf_events_read_sample(&session->events, record, &sample,
	                            error) != 0 ||
	    need_feed(session, error) != 0)
		return -1;
	chain.pid = sample.pid;
	chain.context = context_of(record);
	chain.space = perf_spaces_of(session->spaces, sample.pid, error);
	chain.labels = stack_feed_room(session->feed, sample.n_chain + 2 +
	    (sample.stack_size > 0 ? WALKED_MAX : 0), error);
	thread = perf_spaces_thread(session->spaces, sample.pid, sample.tid,
	                            error);
	if (chain.space == NULL || chain.labels == NULL ||
	    thread == UINT32_MAX ||
	    add_chain(session, &chain, &sample, error) != 0 ||
	    add_stack(session, &chain, &sample, error) != 0 ||
	    (chain.n == 0 &&
	     add_address(session, &chain, sample.ip, error) != 0))
		return -1;
	chain.labels[chain.n++] = thread;
	session->n_samples[sample.event]++;
	session->counts[sample.event] = sample.period;
	result = stack_feed_push(session->feed, chain.n, record->offset,
	                         session->counts, 1, error);
	session->counts[sample.event] = 0;
	return result;
}

/* ---- records ---- */

static int
count_lost(struct perf_session *session, const struct perf_record *record,
           struct error *error)
{
	struct bytes in = bytes_of(record->bytes, record->size);
	uint64_t lost;

	bytes_take(&in, PERF_HEADER_SIZE);
	if (record->type == PERF_LOST)
		bytes_take(&in, 8);
	lost = bytes_number(&in, 8);
	if (bytes_failed(&in))
		return error_set(error, "expected how much was lost");
	if (__builtin_add_overflow(session->n_lost, lost, &session->n_lost))
		session->n_lost = UINT64_MAX;
	return 0;
}

/* A record of the kernel's, whose turn has come. */
static int
deliver(void *context, const struct perf_record *record, struct error *error)
{
	struct perf_session *session = context;
	struct error why;
	int result;

	why.is_set = false;	/* its text need not be zeroed */
	if (record->type == PERF_SAMPLE)
		result = enter_sample(session, record, &why);
	else if (record->type == PERF_LOST ||
	         record->type == PERF_LOST_SAMPLES)
		result = count_lost(session, record, &why);
	else
		result = perf_spaces_apply(session->spaces, record, &why);
	return result == 0 ? 0 : fail(session, record->offset, &why, error);
}

static int
queue_record(struct perf_session *session, const struct perf_record *record,
             struct error *error)
{
	uint64_t time = perf_events_time(&session->events, record);

	return time == 0 ? deliver(session, record, error) :
	    perf_queue_add(session->queue, record, time, error);
}

/* Packed records, which may begin in one and end in the next of these. */
static int
unpack(struct perf_session *session, const struct perf_record *record,
       struct error *error)
{
	struct error why = { 0 };
	struct perf_record inner;
	int found;

	if (session->unpacker == NULL)
		session->unpacker = perf_unpacker_new(&why);
	if (session->unpacker == NULL)
		return fail(session, record->offset, &why, error);
	perf_unpacker_feed(session->unpacker, record);
	while ((found = perf_unpacker_next(session->unpacker, &inner,
	                                   &why)) > 0)
		if (perf_session_record(session, &inner, error) != 0)
			return -1;
	return found == 0 ? 0 : fail(session, record->offset, &why, error);
}

/* Records that perf adds, which say something of others. */
static int
apply_own(struct perf_session *session, const struct perf_record *record,
          struct error *error)
{
	struct error why = { 0 };

	switch (record->type) {
	case PERF_FINISHED_ROUND:
		return perf_queue_round(session->queue, deliver, session,
		                        error);
	case PERF_COMPRESSED:
	case PERF_COMPRESSED2:
		return unpack(session, record, error);
	default:
		return perf_features_record(&session->features,
		                            &session->events, record,
		                            &why) == 0 ? 0 :
		       fail(session, record->offset, &why, error);
	}
}

int
perf_session_record(struct perf_session *session,
                    const struct perf_record *record, struct error *error)
{
	return record->type < PERF_KERNEL_END ?
	    queue_record(session, record, error) :
	    apply_own(session, record, error);
}

int
perf_session_feature(struct perf_session *session, uint64_t feature,
                     const unsigned char *bytes, size_t size,
                     uint64_t offset, struct error *error)
{
	struct error why = { 0 };

	return perf_features_section(&session->features, &session->events,
	                             feature, bytes, size, &why) == 0 ? 0 :
	       fail(session, offset, &why, error);
}

/* ---- the end ---- */

static bool
has_resource(const struct profile *profile, const char *name)
{
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (strcmp(profile->resources[r].name, name) == 0)
			return true;
	return false;
}

static int
add_resource(struct perf_session *session, uint32_t event,
             struct error *error)
{
	struct profile *profile = session->profile;
	char place[64];
	const char *name = perf_events_name(&session->events, event, place,
	                                    sizeof place);

	/* The same event may have been asked for twice. */
	if (has_resource(profile, name))
		name = arena_format(&profile->arena, error, "%s-%u", name,
		                    event + 1);
	return name != NULL && profile_add_resource(profile, name,
	    perf_event_gtick(name, strlen(name)), 1, error) != UINT32_MAX ?
	    0 : -1;
}

/* Events without samples, as perf adds for its own use, are dropped. */
static int
add_resources(struct perf_session *session, struct error *error)
{
	struct sample_tree *tree = session->profile->tree;
	uint32_t n = 0;

	for (uint32_t event = 0; event < session->n_resources; event++) {
		uint64_t *hits = tree->hits[event];
		uint64_t *samples = tree->samples[event];

		if (session->n_samples[event] == 0)
			continue;
		if (add_resource(session, event, error) != 0)
			return -1;
		tree->hits[event] = tree->hits[n];
		tree->samples[event] = tree->samples[n];
		tree->hits[n] = hits;
		tree->samples[n++] = samples;
	}
	sample_tree_keep_resources(tree, n);
	return 0;
}

static int
split_threads(struct perf_session *session, struct error *error)
{
	uint32_t n = session->profile->n_threads, *threads;
	int result;

	threads = memory_array(n, sizeof *threads, error);
	if (threads == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		threads[i] = i;
	result = thread_sections_split(session->profile, threads, error);
	free(threads);
	return result;
}

static int
add_losses(struct perf_session *session, struct error *error)
{
	if (session->n_lost > 0 &&
	    profile_add_tally(session->profile, "hits lost: perf could not "
	                      "keep up", session->n_lost, error) != 0)
		return -1;
	if (perf_spaces_overflowed(session->spaces))
		return profile_warn(session->profile, error, "%s: more "
		    "mappings than one believes; some are left out",
		    session->name);
	return 0;
}

int
perf_session_finish(struct perf_session *session, struct error *error)
{
	struct profile *profile = session->profile;

	if (perf_queue_finish(session->queue, deliver, session, error) != 0)
		return -1;
	if (session->feed == NULL)
		return error_set(error, "%s: no samples in it",
		                 session->name);
	profile->tree = stack_feed_finish(session->feed, error);
	if (profile->tree == NULL ||
	    add_resources(session, error) != 0 ||
	    split_threads(session, error) != 0 ||
	    perf_features_apply(&session->features, profile, error) != 0 ||
	    add_losses(session, error) != 0)
		return -1;
	return perf_frames_finish(session->frames, error);
}
