/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sentry.c -- profiles as Sentry's SDKs send them, for all languages.
 *
 * {"profile": {"frames": [{"function", "module", "filename", "abs_path",
 * "lineno"}, ...], "stacks": [[frame, ...], ...], "samples": [{"stack_id",
 * "thread_id", "elapsed_since_start_ns"}, ...], "thread_metadata": {ID:
 * {"name"}}}, ...}, the keys in any order.  A stack has its innermost frame
 * first.  In version 2 a sample has its "timestamp" instead, in seconds.
 *
 * Samples are kept until the file ends, since their stacks may come later.
 * Source: develop.sentry.dev, SDK, Profiles, Sample Format V1 and V2;
 * getsentry/relay, relay-profiling/src/sample.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/reader.h"

struct sentry_frame {
	uint32_t function, module, file, path;	/* names, or NO_NAME */
	uint32_t line;
};

struct sentry_sample {
	uint32_t stack;			/* UINT32_MAX: none */
	uint32_t thread;		/* an id */
	uint64_t time_ns;
	bool has_time;
};

struct sentry {
	struct reader reader;
	struct error *error;
	uint32_t *indices;		/* stacks, one after the other */
	size_t n_indices, indices_capacity;
	size_t *ends;			/* [n_stacks] of them in indices[] */
	size_t n_stacks, ends_capacity;
	uint64_t stacks_offset;
	struct sentry_sample *samples;
	size_t n_samples, samples_capacity;
	struct names *ids;		/* of threads */
	const char **names;		/* [n_names] their names; NULL: unknown */
	size_t n_names, names_capacity;
};

enum { SENTRY_SAMPLES_A_LOOK = 1 << 16 };	/* between checks for Ctrl-C */

/* ---- frames and stacks ---- */

#define FRAME(member) offsetof(struct sentry_frame, member)

static const struct json_field sentry_frame_fields[] = {
	{ "function", "the name of a function", JSON_STRING,
	  .read = json_read_function, .at = FRAME(function) },
	{ "module", "the name of a module", JSON_STRING,
	  .read = json_read_name, .at = FRAME(module) },
	{ "filename", "the name of a file", JSON_STRING,
	  .read = json_read_name, .at = FRAME(file) },
	{ "abs_path", "the path of a file", JSON_STRING,
	  .read = json_read_name, .at = FRAME(path) },
	{ "lineno", "the number of a line", JSON_NUMBER,
	  .read = json_read_u32, .at = FRAME(line) },
	{ NULL }
};

static void
sentry_read_frames(struct json_reader *json, struct json_token *token,
                   void *context)
{
	struct sentry *input = context;
	struct profile *profile = input->reader.profile;

	while (json_next_object(json, token, "a frame, an object")) {
		struct sentry_frame frame = { NO_NAME, NO_NAME, NO_NAME,
			NO_NAME, 0 };
		struct location location = { .linkage = NO_NAME };

		if (!json_read_fields(json, sentry_frame_fields, &frame))
			return;
		location.file = frame.path != NO_NAME ? frame.path : frame.file;
		location.line = frame.line;
		location.function = frame.function;
		if (frame.function == NO_NAME)
			location.function = names_add(profile->names,
			    "[unknown]", 9, input->error);
		else if (frame.module != NO_NAME && location.file == NO_NAME)
			location.function = names_add_format(profile->names,
			    input->error, "%s.%s",
			    names_text(profile->names, frame.module),
			    names_text(profile->names, frame.function));
		if (location.function != NO_NAME)
			profile_add_frame(profile, NO_MODULE, 0, &location, 1,
			                  input->error);
	}
}

static void
sentry_read_stacks(struct json_reader *json, struct json_token *token,
                   void *context)
{
	struct sentry *input = context;
	uint64_t frame;

	input->stacks_offset = token->offset;
	while (json_next_element(json, token)) {
		if (token->type != JSON_ARRAY) {
			json_refuse(json, token, "a stack, an array of frames");
			continue;
		}
		while (json_next_element(json, token)) {
			if (!json_whole_number(token, UINT32_MAX - 1, &frame))
				json_refuse(json, token, "the number of a "
				            "frame");
			else if (memory_grow(&input->indices,
			             &input->indices_capacity,
			             input->n_indices + 1,
			             sizeof *input->indices, input->error) == 0)
				input->indices[input->n_indices++] =
				    (uint32_t)frame;
		}
		if (token->type == JSON_ARRAY_END &&
		    memory_grow(&input->ends, &input->ends_capacity,
		                input->n_stacks + 1, sizeof *input->ends,
		                input->error) == 0)
			input->ends[input->n_stacks++] = input->n_indices;
	}
}

/* ---- samples and threads ---- */

/* The number of a thread by its id, a text or a number; NO_NAME on failure. */
static uint32_t
sentry_find_thread(struct sentry *input, const struct json_token *id)
{
	uint32_t number = names_add(input->ids, id->text, id->length,
	                            input->error);

	if (number == input->n_names &&
	    memory_grow(&input->names, &input->names_capacity,
	                input->n_names + 1, sizeof *input->names,
	                input->error) == 0)
		input->names[input->n_names++] = NULL;
	return input->error->is_set ? NO_NAME : number;
}

static void
sentry_read_thread(struct json_reader *json, struct json_token *token,
                   void *into)
{
	if (token->type == JSON_STRING || token->type == JSON_NUMBER)
		*(uint32_t *)json_field_in(token, into) =
		    sentry_find_thread(json_context(json), token);
}

/* A time in 10^number nanoseconds, perhaps as a text. */
static void
sentry_read_time(struct json_reader *json, struct json_token *token, void *into)
{
	struct line_text text = { token->text, token->text + token->length };
	struct sentry_sample *sample = into;
	struct decimal time;
	int64_t ns;

	if (token->type == JSON_STRING)
		sample->has_time = line_take_number(&text, &sample->time_ns) &&
		                   line_left(&text) == 0;
	else if (json_decimal(token, &time) && time.digits >= 0 &&
	         decimal_scale(time, (int)token->field->number, &ns, NULL)) {
		sample->time_ns = (uint64_t)ns;
		sample->has_time = true;
	} else
		json_refuse(json, token, token->field->what);
}

#define SAMPLE(member) offsetof(struct sentry_sample, member)

/* Some write -1 for a sample without a stack. */
static const struct json_field sentry_sample_fields[] = {
	{ "stack_id", "the number of a stack", JSON_NUMBER, .or_skip = true,
	  .read = json_read_u32, .at = SAMPLE(stack) },
	{ "thread_id", "the id of a thread", JSON_END,
	  .read = sentry_read_thread, .at = SAMPLE(thread) },
	{ "elapsed_since_start_ns", "a time in nanoseconds", JSON_END,
	  .read = sentry_read_time },
	{ "timestamp", "a time in seconds", JSON_NUMBER,
	  .read = sentry_read_time, .number = 9 },
	{ NULL }
};

static void
sentry_read_samples(struct json_reader *json, struct json_token *token,
                    void *context)
{
	struct sentry *input = context;

	while (json_next_object(json, token, "a sample, an object")) {
		struct sentry_sample sample = { .stack = UINT32_MAX,
			.thread = NO_NAME };

		if (json_read_fields(json, sentry_sample_fields, &sample) &&
		    sample.stack != UINT32_MAX &&
		    memory_grow(&input->samples, &input->samples_capacity,
		                input->n_samples + 1, sizeof sample,
		                input->error) == 0)
			input->samples[input->n_samples++] = sample;
	}
}

static const struct json_field sentry_thread_fields[] = {
	{ "name", "the name of a thread", JSON_STRING, .read = json_read_text },
	{ NULL }
};

static void
sentry_read_threads(struct json_reader *json, struct json_token *token,
                    void *context)
{
	struct sentry *input = context;

	while (json_next_key(json, token)) {
		uint32_t thread = sentry_find_thread(input, token);

		if (thread != NO_NAME &&
		    json_open_object(json, "a thread, an object"))
			json_read_fields(json, sentry_thread_fields,
			                 &input->names[thread]);
	}
}

/* ---- the file ---- */

static const struct json_field sentry_profile_fields[] = {
	{ "frames", "an array of frames", JSON_ARRAY,
	  .read = sentry_read_frames },
	{ "stacks", "an array of stacks", JSON_ARRAY,
	  .read = sentry_read_stacks },
	{ "samples", "an array of samples", JSON_ARRAY,
	  .read = sentry_read_samples },
	{ "thread_metadata", "threads, an object", JSON_OBJECT,
	  .read = sentry_read_threads },
	{ NULL }
};

static const struct json_field sentry_file_fields[] = {
	{ "profile", "a profile, an object", JSON_OBJECT,
	  .fields = sentry_profile_fields },
	{ NULL }
};

/*
 * Enters a sample whose frames are below n_frames; of a file that is cut short,
 * if all of them are there.
 */
static int
sentry_enter(struct sentry *input, const struct sentry_sample *sample,
             uint32_t n_frames)
{
	struct reader *reader = &input->reader;
	size_t begin, n;
	uint32_t *frames;

	if (sample->stack >= input->n_stacks)
		return reader->is_cut_short ? 0 :
		       reader_fail_at(reader, input->stacks_offset,
		                      input->error, "a sample has stack %" PRIu32
		                      ", but there are %zu stacks",
		                      sample->stack, input->n_stacks);
	begin = sample->stack > 0 ? input->ends[sample->stack - 1] : 0;
	n = input->ends[sample->stack] - begin;
	frames = reader_frames(reader, n + 1, input->error);
	if (frames == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		frames[i] = input->indices[begin + i];
		if (frames[i] < n_frames)
			continue;
		if (!reader->is_cut_short)
			return reader_fail_at(reader, input->stacks_offset,
			    input->error, "stack %" PRIu32 " has frame %" PRIu32
			    ", but there are %" PRIu32 " frames", sample->stack,
			    frames[i], n_frames);
		/* The next sample of this stack finds it at once. */
		input->indices[begin] = frames[i];
		return 0;
	}
	if (n == 0)
		frames[n++] = reader_named_frame(reader, "[no stack]", 10,
		                                 input->error);
	if (input->error->is_set)
		return -1;
	reader->thread = sample->thread;
	reader->hits[0] = 1;
	reader->has_time = sample->has_time;
	reader->time_ns = sample->time_ns;
	return reader_push(reader, n, input->stacks_offset, 1, input->error);
}

/* The threads of the profile by their ids: sections[n_names]. */
static int
sentry_add_threads(struct sentry *input, struct reader_section *sections)
{
	const struct process process = { .program = NULL };

	if (profile_add_process(input->reader.profile, &process,
	                        input->error) == UINT32_MAX)
		return -1;
	for (uint32_t i = 0; i < input->n_names; i++) {
		struct thread thread = { .name = input->names[i],
			.tid = strtoull(names_text(input->ids, i), NULL, 10) };

		sections[i] = (struct reader_section){
			profile_add_thread(input->reader.profile, &thread,
			                   input->error), NO_LABELS };
	}
	return input->error->is_set ? -1 : 0;
}

static int
sentry_read_profile(struct sentry *input, struct error *error)
{
	struct reader *reader = &input->reader;
	struct json_reader *json = json_reader_new(reader, input, error);
	struct reader_section *sections;
	uint32_t n_frames;
	int result = -1;

	input->ids = names_new(error);
	if (!error->is_set && reader_add_resource(reader, "samples", "", 1,
	                                          error) != NO_RESOURCE)
		json_read_file(json, sentry_file_fields, "an object", input);
	json_reader_free(json);
	n_frames = reader->profile->n_frames;
	for (size_t i = 0; i < input->n_samples && !error->is_set; i++)
		if (i % SENTRY_SAMPLES_A_LOOK != 0 ||
		    progress_step(NULL, 0, 0, error) == 0)
			sentry_enter(input, &input->samples[i], n_frames);
	if (error->is_set)
		return -1;
	if (reader_count_stacks(reader) == 0)
		return reader_fail_empty(reader, error);
	reader->profile->resources[0].counting = COUNTING_SAMPLED;
	sections = memory_array(input->n_names, sizeof *sections, error);
	if (sections != NULL && sentry_add_threads(input, sections) == 0 &&
	    reader_warn_cut_short(reader, "", error) == 0)
		result = reader_finish_stacks(reader, sections, error);
	free(sections);
	return result;
}

static struct profile *
sentry_read(struct source *source, const struct read_options *options,
            struct error *error)
{
	struct sentry input = { .error = error };
	int result = reader_begin(&input.reader, source, options,
	                          READER_OFFSETS, error);

	if (result == 0)
		result = sentry_read_profile(&input, error);
	free(input.indices);
	free(input.ends);
	free(input.samples);
	free(input.names);
	names_free(input.ids);
	return reader_end(&input.reader, result);
}

static int
sentry_probe(const void *head, size_t size)
{
	/* Of these one comes first, with more than a head's worth. */
	static const char *const keys[] = { "profile.stacks",
		"profile.thread_metadata", "profile.samples[].stack_id",
		"profile.frames[].function",
		"profile.frames[].instruction_addr", NULL };

	return json_probe(head, size, keys);
}

const struct format format_sentry = {
	.name = "Sentry profile",
	.summary = "profiles of Sentry's SDKs, versions 1 and 2",
	.probe = sentry_probe,
	.read = sentry_read,
};
