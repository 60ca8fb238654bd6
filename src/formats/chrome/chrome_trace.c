/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chrome_trace.c -- the CPU profiles in a Chrome trace.
 *
 * {"traceEvents": [event, ...], ...}, or the array alone.  The events
 * "Profile", "ProfileChunk" and "CpuProfile" each hold a piece of a profile of
 * V8 (cpuprofile.h): {"args": {"data": {"cpuProfile": {"nodes", "samples"},
 * "timeDeltas", "lines", "startTime"}}, "id", "name", "pid", "tid"}.  "thread_name"
 * names a thread; all other events are skipped.  Pieces with the same process
 * and id make one profile.  "args" usually comes before "name", so each event
 * is read whole before it is used.
 * Source: Chromium, v8/src/profiler/profile-generator.cc,
 * StreamPendingTraceEvents.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/chrome/cpuprofile.h"

enum event_name { EVENT_OTHER, EVENT_PROFILE, EVENT_THREAD_NAME };

/* The event that is read. */
struct trace_event {
	enum event_name name;
	uint64_t pid, tid;
	uint32_t id;			/* a text of the trace's */
	uint32_t label;			/* args.name, a name of the profile's */
};

struct traced {				/* a profile of the trace */
	struct v8_profile v8;
	uint64_t pid, tid;
};

struct trace {
	struct v8_reader input;		/* first: both are the context of the */
	struct json_reader *json;	/* input's JSON reader */
	struct error *error;		/* likewise */
	struct names *texts;		/* ids of profiles, as in the file */
	struct id_table pids;		/* process i by its pid */
	struct names *keys;		/* profile i by its process and id, */
	struct names *threads;		/* label i by its thread, */
	uint32_t *labels;		/* which is a name of the profile's */
	size_t labels_capacity;
	struct traced *profiles;
	size_t n_profiles, profiles_capacity;
	struct v8_profile piece;	/* of the event, */
	bool has_piece;			/* if there is any */
};

/* ---- one event ---- */

static void
chrome_trace_read_piece(struct json_reader *json, struct json_token *token,
                        void *into)
{
	struct trace *trace = json_context(json);

	(void)token;
	trace->has_piece = true;
	json_read_fields(json, v8_fields, into);
}

/* args.data: times are its own keys, the rest is in "cpuProfile". */
static const struct json_field chrome_trace_data_fields[] = {
	{ "cpuProfile", "a CPU profile, an object", JSON_OBJECT,
	  .read = chrome_trace_read_piece },
	{ .key = NULL, .fields = v8_time_fields }
};

static void
chrome_trace_read_data(struct json_reader *json, struct json_token *token,
                       void *into)
{
	struct trace *trace = json_context(json);

	(void)token;
	(void)into;
	json_read_fields(json, chrome_trace_data_fields, &trace->piece);
}

/* Adds a text, or a number as one. */
static void
chrome_trace_read_text(struct json_reader *json, const struct json_token *token,
                       struct names *names, uint32_t *name)
{
	if (token->type == JSON_STRING || token->type == JSON_NUMBER)
		*name = names_add(names, token->text, token->length,
		                  json_error(json));
}

static void
chrome_trace_read_label(struct json_reader *json, struct json_token *token,
                        void *into)
{
	chrome_trace_read_text(json, token, json_profile(json)->names,
	                       json_field_in(token, into));
}

static void
chrome_trace_read_id(struct json_reader *json, struct json_token *token,
                     void *into)
{
	struct trace *trace = json_context(json);

	chrome_trace_read_text(json, token, trace->texts,
	                       json_field_in(token, into));
}

static void
chrome_trace_read_name(struct json_reader *json, struct json_token *token,
                       void *into)
{
	struct trace_event *event = into;

	(void)json;
	if (json_is(token, "thread_name"))
		event->name = EVENT_THREAD_NAME;
	else if (json_is(token, "Profile") || json_is(token, "ProfileChunk") ||
	         json_is(token, "CpuProfile"))
		event->name = EVENT_PROFILE;
}

#define EVENT(member) offsetof(struct trace_event, member)

static const struct json_field chrome_trace_args_fields[] = {
	{ "data", "an object", JSON_OBJECT, .read = chrome_trace_read_data,
	  .or_skip = true },
	{ "name", "a name", JSON_END,
	  .read = chrome_trace_read_label, .at = EVENT(label) },
	{ NULL }
};

static const struct json_field chrome_trace_event_fields[] = {
	{ "args", "an object", JSON_OBJECT, .fields = chrome_trace_args_fields,
	  .or_skip = true },
	{ "name", "a name", JSON_STRING, .read = chrome_trace_read_name,
	  .or_skip = true },
	{ "id", "an id", JSON_END,
	  .read = chrome_trace_read_id, .at = EVENT(id) },
	{ "pid", "a process", JSON_NUMBER,
	  .read = json_read_u64, .at = EVENT(pid),
	  .or_skip = true },
	{ "tid", "a thread", JSON_NUMBER,
	  .read = json_read_u64, .at = EVENT(tid),
	  .or_skip = true },
	{ NULL }
};

/* ---- what events do ---- */

static void
name_thread(struct trace *trace, const struct trace_event *event)
{
	const uint64_t key[] = { event->pid, event->tid };
	uint32_t thread = names_add(trace->threads, (const char *)key,
	                            sizeof key, trace->error);

	if (thread != NO_NAME &&
	    memory_grow(&trace->labels, &trace->labels_capacity,
	                (size_t)thread + 1, sizeof *trace->labels,
	                trace->error) == 0)
		trace->labels[thread] = event->label;
}

/* The profile with an event's process and id, made if there is none. */
static struct traced *
find_profile(struct trace *trace, const struct trace_event *event)
{
	/* Without an id, each thread has a profile. */
	const uint64_t key[] = { event->pid, event->id, event->id == NO_NAME ?
		event->tid : 0 };
	uint32_t number = names_add(trace->keys, (const char *)key,
	                            sizeof key, trace->error);

	if (number == NO_NAME ||
	    memory_grow(&trace->profiles, &trace->profiles_capacity,
	                (size_t)number + 1, sizeof *trace->profiles,
	                trace->error) != 0)
		return NULL;
	if (number == trace->n_profiles) {
		trace->profiles[number] = (struct traced){
			.pid = event->pid, .tid = event->tid };
		trace->n_profiles++;
	}
	return &trace->profiles[number];
}

/* ---- the file ---- */

static void
chrome_trace_read_events(struct json_reader *json, struct json_token *token,
                         void *context)
{
	struct trace *trace = context;

	while (json_next_object(json, token, "an event, an object")) {
		struct trace_event event = { .id = NO_NAME, .label = NO_NAME };
		struct traced *traced = NULL;

		trace->has_piece = false;
		if (json_read_fields(json, chrome_trace_event_fields, &event) ||
		    trace->has_piece) {
			if (event.name == EVENT_THREAD_NAME)
				name_thread(trace, &event);
			if (event.name == EVENT_PROFILE)
				traced = find_profile(trace, &event);
		}
		if (traced != NULL)
			v8_profile_append(&traced->v8, &trace->piece,
			                  trace->error);
		v8_profile_clear(&trace->piece);
	}
}

static void
chrome_trace_read_file(struct trace *trace)
{
	static const struct json_field chrome_trace_trace_fields[] = {
		{ "traceEvents", "an array of events", JSON_ARRAY,
		  .read = chrome_trace_read_events },
		{ NULL }
	};
	struct json_token token;

	if (!json_next(trace->json, &token))
		return;
	if (token.type == JSON_ARRAY)
		chrome_trace_read_events(trace->json, &token, trace);
	else if (token.type == JSON_OBJECT)
		json_read_fields(trace->json, chrome_trace_trace_fields, trace);
	else
		json_refuse(trace->json, &token, "a trace, an object or array");
	json_next(trace->json, &token);
}

/* ---- the profile ---- */

/* The thread of a traced profile, as a new one; NO_THREAD with *error set. */
static uint32_t
chrome_trace_add_thread(struct trace *trace, const struct traced *traced,
                        struct error *error)
{
	struct profile *profile = trace->input.reader.profile;
	const uint64_t key[] = { traced->pid, traced->tid };
	uint32_t number = names_find(trace->threads, (const char *)key,
	                             sizeof key);
	const struct process process = { .pid = traced->pid };
	struct thread thread = { .tid = traced->tid };

	thread.process = id_table_add(&trace->pids, traced->pid, error);
	if (thread.process == NO_ID ||
	    (thread.process == profile->n_processes &&
	     profile_add_process(profile, &process, error) == UINT32_MAX))
		return NO_THREAD;
	if (number != NO_NAME && trace->labels[number] != NO_NAME)
		thread.name = names_text(profile->names,
		                         trace->labels[number]);
	return profile_add_thread(profile, &thread, error);
}

static int
add_profiles(struct trace *trace, struct error *error)
{
	struct reader *reader = &trace->input.reader;

	for (size_t i = 0; i < trace->n_profiles; i++)
		v8_announce(&trace->input, &trace->profiles[i].v8);
	for (size_t i = 0; i < trace->n_profiles; i++) {
		const struct traced *traced = &trace->profiles[i];

		reader->thread = chrome_trace_add_thread(trace, traced, error);
		if (reader->thread == NO_THREAD ||
		    v8_enter(&trace->input, &traced->v8) != 0)
			return -1;
	}
	return reader_count_nodes(reader) > 0 ? 0 :
	    reader_fail_file(reader, error, "a Chrome trace without samples of "
	                     "a CPU profile; record the trace in DevTools "
	                     "(Performance), or record a .cpuprofile");
}

static struct profile *
chrome_trace_read(struct source *source, const struct read_options *options,
                  struct error *error)
{
	struct trace trace = { .error = error };
	int result = -1;

	v8_begin(&trace.input, source, options, error);
	trace.texts = names_new(error);
	trace.keys = names_new(error);
	trace.threads = names_new(error);
	if (!error->is_set) {
		trace.json = trace.input.json;
		trace.input.v8 = &trace.piece;
		chrome_trace_read_file(&trace);
		if (!error->is_set)
			result = add_profiles(&trace, error);
	}
	for (size_t i = 0; i < trace.n_profiles; i++)
		v8_profile_free(&trace.profiles[i].v8);
	free(trace.profiles);
	v8_profile_free(&trace.piece);
	id_table_free(&trace.pids);
	names_free(trace.texts);
	names_free(trace.keys);
	names_free(trace.threads);
	free(trace.labels);
	return v8_end(&trace.input, result);
}

static int
chrome_trace_probe(const void *head, size_t size)
{
	static const char *const keys[] = {
		"traceEvents", "[].ph", NULL
	};

	return json_probe(head, size, keys);
}

const struct format format_chrome_trace = {
	.name = "Chrome trace",
	.summary = "CPU profiles in a Chrome trace (ProfileChunk)",
	.probe = chrome_trace_probe,
	.read = chrome_trace_read,
};
