/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speedscope.c -- speedscope's JSON, which many profilers write.
 *
 * {"$schema", "shared": {"frames": [{"name", "file", "line"}, ...]},
 * "profiles": [...], "exporter", ...}, the keys in any order.  Profiles are
 * threads.  In a file of export speedscope they are resources, and the exporter
 * comes before them.
 * Source: jlfwong/speedscope, src/lib/file-format-spec.ts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/format.h"
#include "src/formats/id_table.h"
#include "src/formats/json/json_probe.h"
#include "src/formats/speedscope/speedscope_stacks.h"
#include "src/symbols/names/demangle.h"

struct reader {
	struct json_reader *json;
	struct profile *profile;
	struct speedscope_stacks stacks;
	struct error *error;
	struct part {
		const char *name;
		uint32_t begin, end;	/* nodes */
	} *parts;			/* the file's profiles */
	size_t n_parts, parts_capacity;
	const char *program;
};

/* ---- frames ---- */

/* A name of the profile; NO_NAME: there is none, or *error is set. */
static uint32_t
read_text(struct reader *reader, const char *what, bool is_function)
{
	struct json_token token;

	if (!json_get_string(reader->json, &token, what) || token.length == 0)
		return NO_NAME;
	return is_function ?
	    demangle_and_add(reader->profile->names, token.text,
	                     token.length, reader->error) :
	    names_add(reader->profile->names, token.text, token.length,
	              reader->error);
}

/* Reads a frame, whose object is open. */
static void
read_frame(struct reader *reader)
{
	struct location location = { .function = NO_NAME, .file = NO_NAME };
	struct json_token key;
	uint64_t line = 0;

	while (json_next_key(reader->json, &key)) {
		if (json_is(&key, "name"))
			location.function = read_text(reader, "the name of a "
			                              "frame", true);
		else if (json_is(&key, "file"))
			location.file = read_text(reader, "the file of a "
			                          "frame", false);
		else if (json_is(&key, "line"))
			json_get_number(reader->json, UINT32_MAX, "the number "
			                "of a line", &line);
		else
			json_skip_value(reader->json);
	}
	if (key.type != JSON_OBJECT_END)
		return;
	if (location.function == NO_NAME)
		location.function = names_add(reader->profile->names,
		                              "[unknown]", 9, reader->error);
	location.line = (uint32_t)line;
	if (location.function != NO_NAME)
		profile_add_frame(reader->profile, NO_MODULE, 0, &location, 1,
		                  reader->error);
}

static void
read_frames(struct reader *reader)
{
	struct json_token token;

	if (!json_open_array(reader->json, "an array of frames"))
		return;
	while (json_next_object(reader->json, &token, "a frame, an object"))
		read_frame(reader);
	if (token.type != JSON_ARRAY_END)
		return;
	reader->stacks.has_frames = true;
	reader->stacks.n_frames = reader->profile->n_frames;
}

static void
read_shared(struct reader *reader)
{
	struct json_token key;

	if (!json_open_object(reader->json, "an object with frames"))
		return;
	while (json_next_key(reader->json, &key)) {
		if (json_is(&key, "frames"))
			read_frames(reader);
		else
			json_skip_value(reader->json);
	}
}

/* ---- profiles ---- */

static void
read_profile(struct reader *reader)
{
	struct tree_builder *builder = reader->stacks.builder;
	struct part part = { .name = "" };

	if (!reader->stacks.is_own)
		part.begin = tree_builder_begin_section(builder);
	speedscope_stacks_read(&reader->stacks, &part.name);
	part.end = tree_builder_count(builder);
	if (memory_grow(&reader->parts, &reader->parts_capacity,
	                reader->n_parts + 1, sizeof part,
	                reader->error) == 0)
		reader->parts[reader->n_parts++] = part;
}

static void
read_profiles(struct reader *reader)
{
	struct json_token token;

	if (!json_open_array(reader->json, "an array of profiles"))
		return;
	while (json_next_object(reader->json, &token, "a profile, an object"))
		read_profile(reader);
}

/* ---- the file ---- */

static const char *
read_string(struct reader *reader)
{
	struct json_token token;

	if (!json_get_value(reader->json, &token) || token.type != JSON_STRING)
		return NULL;
	return arena_text(&reader->profile->arena, token.text, token.length,
	                  reader->error);
}

/* Says whether profiles are threads or resources, so it must come first. */
static void
read_exporter(struct reader *reader, uint64_t offset)
{
	const char *exporter = read_string(reader);

	if (exporter == NULL || strcmp(exporter, "cpprof") != 0)
		return;
	if (reader->n_parts > 0)
		json_fail(reader->json, offset, "expected the exporter, "
		          "cpprof, in front of the profiles");
	reader->stacks.is_own = true;
}

static void
read_file(struct reader *reader)
{
	struct json_token key;

	if (!json_open_object(reader->json, "an object"))
		return;
	while (json_next_key(reader->json, &key)) {
		if (json_is(&key, "shared"))
			read_shared(reader);
		else if (json_is(&key, "profiles"))
			read_profiles(reader);
		else if (json_is(&key, "exporter"))
			read_exporter(reader, key.offset);
		else if (json_is(&key, "name"))
			reader->program = read_string(reader);
		else
			json_skip_value(reader->json);
	}
	/* Anything after the object is an error. */
	json_next(reader->json, &key);
}

/* ---- the profile ---- */

/* Makes a frame for a label without one: of an empty stack, of a cut file. */
static uint32_t
add_frame(struct profile *profile, uint32_t label, struct error *error)
{
	uint32_t name = label == SPEEDSCOPE_NO_STACK ?
	    names_add(profile->names, "[no stack]", 10, error) :
	    names_add_format(profile->names, error, "[frame %" PRIu32 "]",
	                     label);

	return name == NO_NAME ? UINT32_MAX :
	       profile_add_named_frame(profile, name, error);
}

/* Turns labels into frames, which a cut file may lack. */
static int
make_labels(struct profile *profile, struct error *error)
{
	struct sample_tree *tree = profile->tree;
	uint32_t n_frames = profile->n_frames;
	struct id_table others = { 0 };
	int result = 0;

	for (uint32_t i = 0; i < tree->n_nodes && result == 0; i++) {
		uint32_t label = tree->label[i], number;

		if (label < n_frames)
			continue;
		number = id_table_add(&others, label, error);
		if (number == NO_ID ||
		    (number >= profile->n_frames - n_frames &&
		     add_frame(profile, label, error) == UINT32_MAX))
			result = -1;
		else
			tree->label[i] = n_frames + number;
	}
	id_table_free(&others);
	return result;
}

static int
add_threads(struct reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;
	struct process process = { .program = reader->program };

	if (profile_add_process(profile, &process, error) == UINT32_MAX)
		return -1;
	if (reader->stacks.is_own || reader->n_parts == 1)
		return 0;
	for (size_t i = 0; i < reader->n_parts; i++) {
		const struct part *part = &reader->parts[i];
		struct thread thread = { .name = part->name };
		uint32_t number;

		if (part->begin == part->end)
			continue;
		number = profile_add_thread(profile, &thread, error);
		if (number == UINT32_MAX || profile_add_section(profile,
		    part->begin, part->end, number, error) == UINT32_MAX)
			return -1;
	}
	return 0;
}

static int
warn(struct reader *reader, struct error *error)
{
	const struct speedscope_stacks *stacks = &reader->stacks;
	const char *name = json_source_name(reader->json);

	if (json_warn_cut(reader->json, reader->profile, stacks->has_frames ?
	        "" : ", but the names of the frames are missing", error) != 0)
		return -1;
	if (stacks->strange_unit_offset > 0 &&
	    profile_warn(reader->profile, error, "%s: 0x%" PRIx64 ": a unit "
	                 "that speedscope does not have; such weights are "
	                 "read as plain numbers", name,
	                 stacks->strange_unit_offset) != 0)
		return -1;
	if (stacks->n_rounded > 0 &&
	    profile_warn(reader->profile, error, "%s: weights that were "
	                 "rounded to whole numbers: %" PRIu64, name,
	                 stacks->n_rounded) != 0)
		return -1;
	return stacks->n_open == 0 ? 0 :
	    profile_warn(reader->profile, error, "%s: frames that no event "
	                 "closes: %" PRIu64 "; they end with their profiles",
	                 name, stacks->n_open);
}

static int
finish(struct reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;
	const struct speedscope_stacks *stacks = &reader->stacks;

	if (error->is_set)
		return -1;
	if (profile->n_resources == 0 ||
	    tree_builder_count(stacks->builder) == 0)
		return json_fail_empty(reader->json);
	if (stacks->greatest_offset > 0 && !json_is_cut(reader->json) &&
	    stacks->greatest >= profile->n_frames)
		json_fail(reader->json, stacks->greatest_offset, "frame %"
		          PRIu32 " of %" PRIu32, stacks->greatest,
		          profile->n_frames);
	if (error->is_set || warn(reader, error) != 0)
		return -1;
	profile->tree = tree_builder_finish(stacks->builder, error);
	return profile->tree != NULL && make_labels(profile, error) == 0 &&
	       add_threads(reader, error) == 0 ? 0 : -1;
}

static struct profile *
speedscope_read(struct source *source, const struct read_options *options,
                struct error *error)
{
	struct reader reader = { .error = error };
	struct profile *profile = NULL;

	reader.profile = profile_new(error);
	reader.json = json_reader_new(source, options->progress, error);
	reader.stacks.builder = tree_builder_new(0, error);
	if (!error->is_set) {
		reader.stacks.json = reader.json;
		reader.stacks.profile = reader.profile;
		reader.stacks.error = error;
		read_file(&reader);
		if (finish(&reader, error) == 0) {
			profile = reader.profile;
			reader.profile = NULL;
		}
	}
	tree_builder_free(reader.stacks.builder);
	speedscope_stacks_free(&reader.stacks);
	json_reader_free(reader.json);
	free(reader.parts);
	profile_free(reader.profile);
	return profile;
}

static int
speedscope_probe(const void *head, size_t size)
{
	static const char *const keys[] = {
		"shared.frames", "profiles[].samples", "profiles[].events",
		"profiles[].startValue", "profiles[].endValue", NULL
	};

	return json_probe(head, size, keys);
}

const struct format format_speedscope = {
	.name = "speedscope",
	.summary = "JSON for speedscope, as many profilers write it",
	.probe = speedscope_probe,
	.read = speedscope_read,
};
