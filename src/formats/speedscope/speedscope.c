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
#include "src/formats/json/json_reader.h"
#include "src/formats/reader.h"
#include "src/formats/speedscope/speedscope.h"
#include "src/symbols/names/program.h"

struct speedscope {
	struct reader reader;
	struct json_reader *json;
	struct speedscope_stacks stacks;
	struct error *error;
	struct speedscope_part {
		const char *name;
		bool has_nodes;
	} *parts;			/* the file's profiles; their numbers
					 * are the reader's threads */
	size_t n_parts, parts_capacity;
	const char *program;
};

/* ---- frames ---- */

/* A name of the profile; NO_NAME: there is none, or *error is set. */
static uint32_t
speedscope_read_text(struct speedscope *input, const char *what,
                     bool is_function)
{
	struct json_token token;

	if (!json_get_string(input->json, &token, what) || token.length == 0)
		return NO_NAME;
	return is_function ?
	    demangle_and_add(input->reader.profile->names, token.text,
	                     token.length, input->error) :
	    names_add(input->reader.profile->names, token.text, token.length,
	              input->error);
}

/* Reads a frame, whose object is open. */
static void
speedscope_read_frame(struct speedscope *input)
{
	struct location location = { .function = NO_NAME, .file = NO_NAME };
	struct json_token key;
	uint64_t line = 0;

	while (json_next_key(input->json, &key)) {
		if (json_is(&key, "name"))
			location
			    .function = speedscope_read_text(input,
			                                     "the name of a "
			                                     "frame",
			                                     true);
		else if (json_is(&key, "file"))
			location.file = speedscope_read_text(input,
			                                     "the file of a "
			                                     "frame",
			                                     false);
		else if (json_is(&key, "line"))
			json_get_number(input->json, UINT32_MAX, "the number "
			                "of a line", &line);
		else
			json_skip_value(input->json);
	}
	if (key.type != JSON_OBJECT_END)
		return;
	if (location.function == NO_NAME)
		location.function = names_add(input->reader.profile->names,
		                              "[unknown]", 9, input->error);
	location.line = (uint32_t)line;
	if (location.function != NO_NAME)
		profile_add_frame(input->reader.profile, NO_MODULE, 0,
		                  &location, 1, input->error);
}

static void
speedscope_read_frames(struct speedscope *input)
{
	struct json_token token;

	if (!json_open_array(input->json, "an array of frames"))
		return;
	while (json_next_object(input->json, &token, "a frame, an object"))
		speedscope_read_frame(input);
	if (token.type != JSON_ARRAY_END)
		return;
	input->stacks.has_frames = true;
	input->stacks.n_frames = input->reader.profile->n_frames;
}

static void
speedscope_read_shared(struct speedscope *input)
{
	struct json_token key;

	if (!json_open_object(input->json, "an object with frames"))
		return;
	while (json_next_key(input->json, &key)) {
		if (json_is(&key, "frames"))
			speedscope_read_frames(input);
		else
			json_skip_value(input->json);
	}
}

/* ---- profiles ---- */

static void
speedscope_read_profile(struct speedscope *input)
{
	uint32_t n_nodes = reader_count_nodes(&input->reader);
	struct speedscope_part part = { .name = "" };

	/* Resources share their stacks. */
	if (!input->stacks.is_own)
		input->reader.thread = (uint32_t)input->n_parts;
	speedscope_stacks_read(&input->stacks, &part.name);
	part.has_nodes = reader_count_nodes(&input->reader) > n_nodes;
	if (memory_grow(&input->parts, &input->parts_capacity,
	                input->n_parts + 1, sizeof part, input->error) == 0)
		input->parts[input->n_parts++] = part;
}

static void
read_profiles(struct speedscope *input)
{
	struct json_token token;

	if (!json_open_array(input->json, "an array of profiles"))
		return;
	while (json_next_object(input->json, &token, "a profile, an object"))
		speedscope_read_profile(input);
}

/* ---- the file ---- */

static const char *
read_string(struct speedscope *input)
{
	struct profile *profile = input->reader.profile;
	struct json_token token;

	if (!json_get_value(input->json, &token) || token.type != JSON_STRING)
		return NULL;
	return arena_text(&profile->arena, token.text, token.length,
	                  input->error);
}

/* Says whether profiles are threads or resources, so it must come first. */
static void
read_exporter(struct speedscope *input, uint64_t offset)
{
	const char *exporter = read_string(input);

	if (exporter == NULL || strcmp(exporter, "cpprof") != 0)
		return;
	if (input->n_parts > 0)
		json_fail(input->json, offset, "expected the exporter, "
		          "cpprof, before the profiles");
	input->stacks.is_own = true;
}

static void
speedscope_read_file(struct speedscope *input)
{
	struct json_token key;

	if (!json_open_object(input->json, "an object"))
		return;
	while (json_next_key(input->json, &key)) {
		if (json_is(&key, "shared"))
			speedscope_read_shared(input);
		else if (json_is(&key, "profiles"))
			read_profiles(input);
		else if (json_is(&key, "exporter"))
			read_exporter(input, key.offset);
		else if (json_is(&key, "name"))
			input->program = read_string(input);
		else
			json_skip_value(input->json);
	}
	/* Anything after the object is an error. */
	json_next(input->json, &key);
}

/* ---- the profile ---- */

/* Makes a frame for a label without one: of an empty stack, of a cut file. */
static uint32_t
speedscope_add_frame(struct profile *profile, uint32_t label,
                     struct error *error)
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
speedscope_make_labels(struct profile *profile, struct error *error)
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
		     speedscope_add_frame(profile, label, error) == UINT32_MAX))
			result = -1;
		else
			tree->label[i] = n_frames + number;
	}
	id_table_free(&others);
	return result;
}

/* The threads of the profile that parts are: sections[n_parts]. */
static int
add_threads(struct speedscope *input, struct reader_section *sections,
            struct error *error)
{
	bool are_threads = !input->stacks.is_own && input->n_parts > 1;

	for (size_t i = 0; i < input->n_parts; i++) {
		struct thread thread = { .name = input->parts[i].name };

		sections[i] = (struct reader_section){ NO_THREAD, NO_LABELS };
		if (!are_threads || !input->parts[i].has_nodes)
			continue;
		sections[i].thread = profile_add_thread(input->reader.profile,
		                                        &thread, error);
		if (sections[i].thread == NO_THREAD)
			return -1;
	}
	return 0;
}

static int
speedscope_note_times(struct speedscope *input, struct error *error)
{
	const struct speedscope_stacks *stacks = &input->stacks;
	const uint32_t resource = stacks->resource_of[SPEEDSCOPE_TIME];

	return resource == 0 ? 0 : speedscope_times_note(&stacks->times,
	    &input->reader, resource - 1, error);
}

static int
speedscope_make_tree(struct speedscope *input, struct error *error)
{
	struct process process = { .program = input->program };
	struct reader_section *sections = memory_array(input->n_parts,
	    sizeof *sections, error);
	int result = -1;

	if (sections != NULL && speedscope_note_times(input, error) == 0 &&
	    profile_add_process(input->reader.profile, &process, error) !=
	        UINT32_MAX && add_threads(input, sections, error) == 0 &&
	    reader_finish_stacks(&input->reader, sections, error) == 0 &&
	    reader_drop_below_zero(&input->reader, NULL, error) == 0)
		result = speedscope_make_labels(input->reader.profile, error);
	free(sections);
	return result;
}

static int
speedscope_warn(struct speedscope *input, struct error *error)
{
	const struct speedscope_stacks *stacks = &input->stacks;
	struct reader *reader = &input->reader;

	if (reader_warn_cut_short(reader,
	                    stacks->has_frames ? "" : ", but the names "
	                    "of the frames are missing", error) != 0)
		return -1;
	if (stacks->strange_unit_offset > 0 &&
	    reader_warn(reader, error, "0x%" PRIx64 ": a unit unknown to "
	                "speedscope; its weights are read as plain numbers",
	                stacks->strange_unit_offset) != 0)
		return -1;
	if (stacks->n_rounded > 0 &&
	    reader_warn(reader, error, "weights rounded to whole "
	                "numbers: %" PRIu64, stacks->n_rounded) != 0)
		return -1;
	return stacks->n_open == 0 ? 0 :
	    reader_warn(reader, error, "frames without a closing event: %" PRIu64
	                "; they end with their profiles", stacks->n_open);
}

static int
speedscope_finish(struct speedscope *input, struct error *error)
{
	const struct speedscope_stacks *stacks = &input->stacks;
	struct reader *reader = &input->reader;

	if (error->is_set)
		return -1;
	if (reader->profile->n_resources == 0 ||
	    reader_count_nodes(reader) == 0)
		return reader_fail_empty(reader, error);
	if (stacks->greatest_offset > 0 && !reader->is_cut_short &&
	    stacks->greatest >= reader->profile->n_frames)
		return reader_fail_at(reader, stacks->greatest_offset, error,
		                      "frame %" PRIu32 " of %" PRIu32,
		                      stacks->greatest,
		                      reader->profile->n_frames);
	return speedscope_warn(input, error) == 0 ?
	    speedscope_make_tree(input, error) :
	    -1;
}

static struct profile *
speedscope_read(struct source *source, const struct read_options *options,
                struct error *error)
{
	struct speedscope input = { .error = error };
	int result = reader_begin(&input.reader, source, options,
	                          READER_OFFSETS, error);

	if (result == 0)
		input.json = json_reader_new(&input.reader, error);
	if (input.json != NULL) {
		input.stacks.reader = &input.reader;
		input.stacks.json = input.json;
		input.stacks.error = error;
		speedscope_read_file(&input);
	}
	result = input.json != NULL ? speedscope_finish(&input, error) : -1;
	speedscope_stacks_free(&input.stacks);
	json_reader_free(input.json);
	free(input.parts);
	return reader_end(&input.reader, result);
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
	.summary = "what py-spy, rbspy and others write for speedscope",
	.probe = speedscope_probe,
	.read = speedscope_read,
};
