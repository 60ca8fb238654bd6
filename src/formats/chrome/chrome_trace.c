/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chrome_trace.c -- the CPU profiles in a Chrome trace.
 *
 * {"traceEvents": [event, ...], ...}, or the array alone.  The events
 * "Profile", "ProfileChunk" and "CpuProfile" each hold a piece of a profile of
 * V8 (v8_profile.h): {"args": {"data": {"cpuProfile": {"nodes", "samples"},
 * "timeDeltas", "startTime"}}, "id", "name", "pid", "tid"}.  "thread_name"
 * names a thread; all other events are skipped.  Pieces with the same process
 * and id make one profile.  "args" usually comes before "name", so each event
 * is read whole before it is used.
 * Source: Chromium, v8/src/profiler/profile-generator.cc,
 * StreamPendingTraceEvents.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/chrome/v8_tree.h"
#include "src/formats/format.h"
#include "src/formats/json/json_probe.h"
#include "src/formats/tree_profile.h"

enum event_name { EVENT_OTHER, EVENT_PROFILE, EVENT_THREAD_NAME };

/* The event that is read. */
struct event {
	enum event_name name;
	uint64_t pid, tid;
	uint32_t id;			/* a text of the reader's */
	uint32_t label;			/* args.name, a name of the profile's */
	bool has_piece;
};

struct traced {				/* a profile of the trace */
	struct v8_profile v8;
	uint64_t pid, tid;
};

struct reader {
	struct error *error;
	struct v8_tree tree;
	struct json_reader *json;	/* the tree's */
	struct names *texts;		/* ids of profiles, as in the file */
	struct id_table pids;		/* process i by its pid */
	struct names *keys;		/* profile i by its process and id, */
	struct names *threads;		/* label i by its thread, */
	uint32_t *labels;		/* which is a name of the profile's */
	size_t labels_capacity;
	struct traced *profiles;
	size_t n_profiles, profiles_capacity;
	struct v8_profile piece;	/* of the event */
};

/* ---- one event ---- */

/* Opens the value of a key if it is an object, else skips it. */
static bool
open_object(struct json_reader *json)
{
	struct json_token token;

	if (!json_next(json, &token))
		return false;
	if (token.type != JSON_OBJECT)
		json_skip(json, &token);
	return token.type == JSON_OBJECT;
}

/* args.data: times are its own keys, the rest is in "cpuProfile". */
static void
read_data(struct reader *reader, struct event *event)
{
	struct json_reader *json = reader->json;
	struct json_token key;

	if (!open_object(json))
		return;
	while (json_next_key(json, &key)) {
		bool is_own = json_is(&key, "timeDeltas") ||
		    json_is(&key, "startTime") || json_is(&key, "endTime");

		if (json_is(&key, "cpuProfile")) {
			event->has_piece = true;
			if (!json_open_object(json, "a CPU profile, an "
			                      "object"))
				continue;
			while (json_next_key(json, &key))
				if (!v8_profile_read_key(&reader->piece, json,
				                         &key, reader->error))
					json_skip_value(json);
		} else if (!is_own || !v8_profile_read_key(&reader->piece,
		           json, &key, reader->error)) {
			json_skip_value(json);
		}
	}
}

static uint32_t
read_text(struct reader *reader, struct names *names)
{
	struct json_token token;

	if (!json_get_value(reader->json, &token) ||
	    (token.type != JSON_STRING && token.type != JSON_NUMBER))
		return NO_NAME;
	return names_add(names, token.text, token.length, reader->error);
}

static void
read_args(struct reader *reader, struct event *event)
{
	struct json_token key;

	if (!open_object(reader->json))
		return;
	while (json_next_key(reader->json, &key)) {
		if (json_is(&key, "data"))
			read_data(reader, event);
		else if (json_is(&key, "name"))
			event->label = read_text(reader,
			    reader->tree.profile->names);
		else
			json_skip_value(reader->json);
	}
}

static void
read_event_name(struct reader *reader, struct event *event)
{
	struct json_token token;

	if (!json_get_value(reader->json, &token) ||
	    token.type != JSON_STRING)
		return;
	if (json_is(&token, "thread_name"))
		event->name = EVENT_THREAD_NAME;
	else if (json_is(&token, "Profile") ||
	         json_is(&token, "ProfileChunk") ||
	         json_is(&token, "CpuProfile"))
		event->name = EVENT_PROFILE;
}

static void
read_number(struct reader *reader, uint64_t *number)
{
	struct json_token token;

	if (json_get_value(reader->json, &token))
		json_whole_number(&token, INT64_MAX, number);
}

/* An event whose object is open; false: the input ends in it. */
static bool
read_event(struct reader *reader, struct event *event)
{
	struct json_token key;

	while (json_next_key(reader->json, &key)) {
		if (json_is(&key, "args"))
			read_args(reader, event);
		else if (json_is(&key, "name"))
			read_event_name(reader, event);
		else if (json_is(&key, "id"))
			event->id = read_text(reader, reader->texts);
		else if (json_is(&key, "pid"))
			read_number(reader, &event->pid);
		else if (json_is(&key, "tid"))
			read_number(reader, &event->tid);
		else
			json_skip_value(reader->json);
	}
	return key.type == JSON_OBJECT_END;
}

/* ---- what events do ---- */

static void
name_thread(struct reader *reader, const struct event *event)
{
	const uint64_t key[] = { event->pid, event->tid };
	uint32_t thread = names_add(reader->threads, (const char *)key,
	                            sizeof key, reader->error);

	if (thread != NO_NAME &&
	    memory_grow(&reader->labels, &reader->labels_capacity,
	                (size_t)thread + 1, sizeof *reader->labels,
	                reader->error) == 0)
		reader->labels[thread] = event->label;
}

/* The profile with an event's process and id, made if there is none. */
static struct traced *
find_profile(struct reader *reader, const struct event *event)
{
	/* Without an id, each thread has a profile. */
	const uint64_t key[] = { event->pid, event->id, event->id == NO_NAME ?
		event->tid : 0 };
	uint32_t number = names_add(reader->keys, (const char *)key,
	                            sizeof key, reader->error);

	if (number == NO_NAME ||
	    memory_grow(&reader->profiles, &reader->profiles_capacity,
	                (size_t)number + 1, sizeof *reader->profiles,
	                reader->error) != 0)
		return NULL;
	if (number == reader->n_profiles) {
		reader->profiles[number] = (struct traced){
			.v8.names = reader->tree.profile->names,
			.pid = event->pid, .tid = event->tid };
		reader->n_profiles++;
	}
	return &reader->profiles[number];
}

static void
apply_event(struct reader *reader, const struct event *event)
{
	struct traced *traced;

	if (event->name == EVENT_THREAD_NAME)
		name_thread(reader, event);
	if (event->name != EVENT_PROFILE)
		return;
	traced = find_profile(reader, event);
	if (traced != NULL)
		v8_profile_append(&traced->v8, &reader->piece, reader->error);
}

/* ---- the file ---- */

static void
read_events(struct reader *reader)
{
	struct json_token token;

	while (json_next_object(reader->json, &token, "an event, an object")) {
		struct event event = { .id = NO_NAME, .label = NO_NAME };

		if (read_event(reader, &event) || event.has_piece)
			apply_event(reader, &event);
		v8_profile_clear(&reader->piece);
	}
}

static void
read_file(struct reader *reader)
{
	struct json_token token;

	if (!json_next(reader->json, &token))
		return;
	if (token.type == JSON_ARRAY) {
		read_events(reader);
	} else if (token.type == JSON_OBJECT) {
		while (json_next_key(reader->json, &token)) {
			if (!json_is(&token, "traceEvents"))
				json_skip_value(reader->json);
			else if (json_open_array(reader->json, "an array of "
			                         "events"))
				read_events(reader);
		}
	} else {
		json_fail(reader->json, token.offset,
		          "expected a trace, an object or array");
	}
	json_next(reader->json, &token);
}

/* ---- the profile ---- */

/* The number of a process, made if new; UINT32_MAX with *error set. */
static uint32_t
find_process(struct reader *reader, uint64_t pid, struct error *error)
{
	struct profile *profile = reader->tree.profile;
	struct process process = { .pid = pid };
	uint32_t number = id_table_add(&reader->pids, pid, error);

	return number == NO_ID || number < profile->n_processes ? number :
	       profile_add_process(profile, &process, error);
}

static int
add_thread(struct reader *reader, const struct traced *traced,
           uint32_t begin, struct error *error)
{
	struct profile *profile = reader->tree.profile;
	const uint64_t key[] = { traced->pid, traced->tid };
	uint32_t number = names_find(reader->threads, (const char *)key,
	                             sizeof key);
	struct thread thread = {
		.process = find_process(reader, traced->pid, error),
		.tid = traced->tid,
	};

	if (thread.process == UINT32_MAX)
		return -1;
	if (number != NO_NAME && reader->labels[number] != NO_NAME)
		thread.name = names_text(profile->names,
		                         reader->labels[number]);
	return tree_profile_thread(profile, reader->tree.builder, begin,
	                           &thread, error);
}

static int
add_profiles(struct reader *reader, struct error *error)
{
	for (size_t i = 0; i < reader->n_profiles; i++) {
		struct traced *traced = &reader->profiles[i];
		uint32_t begin = tree_builder_begin_section(
		    reader->tree.builder);

		if (v8_tree_add(&reader->tree, &traced->v8) != 0 ||
		    add_thread(reader, traced, begin, error) != 0)
			return -1;
	}
	return 0;
}

static struct profile *
finish(struct reader *reader, struct error *error)
{
	if (error->is_set || add_profiles(reader, error) != 0)
		return NULL;
	if (tree_builder_count(reader->tree.builder) > 0)
		return v8_tree_finish(&reader->tree, error);
	error_set(error, "%s: a Chrome trace without samples of a CPU "
	          "profile; record the trace in DevTools (Performance), or "
	          "record a .cpuprofile", json_source_name(reader->json));
	return NULL;
}

static void
reader_free(struct reader *reader)
{
	for (size_t i = 0; i < reader->n_profiles; i++)
		v8_profile_free(&reader->profiles[i].v8);
	free(reader->profiles);
	v8_profile_free(&reader->piece);
	id_table_free(&reader->pids);
	names_free(reader->texts);
	names_free(reader->keys);
	names_free(reader->threads);
	free(reader->labels);
	v8_tree_free(&reader->tree);
}

static struct profile *
chrome_trace_read(struct source *source, const struct read_options *options,
                  struct error *error)
{
	struct reader reader = { .error = error };
	struct profile *profile = NULL;

	v8_tree_begin(&reader.tree, source, options->progress, error);
	reader.texts = names_new(error);
	reader.keys = names_new(error);
	reader.threads = names_new(error);
	if (!error->is_set) {
		reader.json = reader.tree.json;
		reader.piece.names = reader.tree.profile->names;
		read_file(&reader);
		profile = finish(&reader, error);
	}
	reader_free(&reader);
	return profile;
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
