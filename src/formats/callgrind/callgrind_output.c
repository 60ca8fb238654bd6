/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_output.c -- the text of callgrind's format, line by line. */
#include "src/formats/callgrind/callgrind.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "src/formats/exporter.h"

struct callgrind_text
callgrind_text_of(const struct names *names, uint32_t name)
{
	if (name == NO_NAME)
		return (struct callgrind_text){ NULL, 0 };
	return (struct callgrind_text){ names_text(names, name),
		                        names_length(names, name) };
}

struct callgrind_text
callgrind_text_made(const struct text_buffer *text, struct error *error)
{
	if (text->failed)
		error_out_of_memory(error);
	return (struct callgrind_text){ text->bytes, text->length };
}

int
callgrind_output_start(struct callgrind_output *output,
                       const struct profile *profile, struct writer *writer,
                       struct error *error)
{
	*output = (struct callgrind_output){
		.profile = profile,
		.writer = writer,
		.objects = names_new(error),
		.files = names_new(error),
		.functions = names_new(error),
	};
	return error->is_set ? -1 : 0;
}

void
callgrind_output_free(struct callgrind_output *output)
{
	names_free(output->objects);
	names_free(output->files);
	names_free(output->functions);
	text_free(&output->text);
	text_free(&output->key);
}

int
callgrind_output_flush(struct callgrind_output *output, struct error *error)
{
	if (error->is_set)
		return -1;
	return export_flush(&output->text, output->writer, error);
}

/*
 * Adds a text up to its line end; returns whether it is complete and
 * unchanged.  Readers skip blanks before it, so a text of only blanks would be
 * lost.
 */
static bool
callgrind_output_add_text(struct text_buffer *text, const char *bytes, size_t n)
{
	bool is_whole = true, is_front = true;

	for (size_t i = 0; i < n; i++) {
		bool is_blank = bytes[i] == ' ' || bytes[i] == '\t';
		bool is_control = !is_blank &&
		    ((unsigned char)bytes[i] < ' ' || bytes[i] == 0x7f);

		is_front &= is_blank;
		text_add_char(text, is_control ? '?' :
		              is_front ? '_' : bytes[i]);
		is_whole &= !is_control && !is_front;
	}
	return is_whole;
}

static bool
callgrind_output_add_string(struct text_buffer *text, const char *string)
{
	return callgrind_output_add_text(text, string, strlen(string));
}

static void
callgrind_output_add_numbers(struct callgrind_output *output,
                             const uint64_t *numbers)
{
	for (uint32_t r = 0; r < output->profile->n_resources; r++)
		text_add_format(&output->text, " %" PRIu64, numbers[r]);
	text_add_char(&output->text, '\n');
}

/* ---- the header ---- */

/*
 * Adds an event's short name: the letters and digits of the resource's name,
 * and its number if the name is not unique.
 */
static void
callgrind_output_add_event(struct text_buffer *text,
                           const struct profile *profile, uint32_t r)
{
	const char *name = profile->resources[r].name;
	bool is_plain = isascii((unsigned char)*name) &&
	    isalpha((unsigned char)*name);

	if (!is_plain)
		text_add_char(text, 'E');
	for (; *name != '\0'; name++) {
		if (isascii((unsigned char)*name) &&
		    isalnum((unsigned char)*name))
			text_add_char(text, *name);
		else
			is_plain = false;
	}
	if (!is_plain)
		text_add_format(text, "%" PRIu32, r + 1);
}

/* "event: RealTime1 : Real Time, 20 centisecond each" */
static void
add_events(struct callgrind_output *output)
{
	struct text_buffer *text = &output->text;
	const struct profile *profile = output->profile;

	for (uint32_t r = 0; r < profile->n_resources; r++) {
		const struct resource *resource = &profile->resources[r];

		text_add_string(text, "event: ");
		callgrind_output_add_event(text, profile, r);
		text_add_string(text, " : ");
		output->n_changed +=
		    !callgrind_output_add_string(text, resource->name);
		if (*resource->gtick != '\0' || resource->interval != 1) {
			text_add_format(text, ", %" PRIu64 " ",
			                resource->interval);
			callgrind_output_add_string(text, resource->gtick);
			text_add_string(text, " each");
		}
		text_add_char(text, '\n');
	}
	text_add_string(text, "events:");
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		text_add_char(text, ' ');
		callgrind_output_add_event(text, profile, r);
	}
	text_add_char(text, '\n');
}

static void
callgrind_output_add_process(struct text_buffer *text,
                             const struct process *process)
{
	const char *command = process->command != NULL ? process->command :
	                      process->program;

	if (process->pid != 0)
		text_add_format(text, "pid: %" PRIu64 "\n", process->pid);
	if (command == NULL)
		return;
	text_add_string(text, "cmd: ");
	callgrind_output_add_string(text, command);
	text_add_char(text, '\n');
}

static bool
callgrind_output_counts_calls(const struct call_graph *graph)
{
	for (uint32_t i = 0; graph != NULL && i < graph->n_arcs; i++)
		if (graph->arcs[i].calls > 0)
			return true;
	return false;
}

void
callgrind_output_header(struct callgrind_output *output,
                        const uint64_t *totals)
{
	const struct call_graph *graph = output->profile->graph;

	text_add_string(&output->text, "# callgrind format\nversion: 1\n"
	                "creator: cpprof (names as callgrind's)\n");
	if (output->profile->n_processes > 0)
		callgrind_output_add_process(&output->text,
		                             &output->profile->processes[0]);
	if (graph != NULL && !graph->has_hits)
		text_add_string(&output->text, "desc: " CALLGRIND_ESTIMATES
		                "\n");
	else if (!callgrind_output_counts_calls(graph))
		text_add_string(&output->text, "desc: " CALLGRIND_UNCOUNTED
		                "\n");
	text_add_string(&output->text, "positions: line\n");
	add_events(output);
	callgrind_output_totals(output, "summary", totals);
}

void
callgrind_output_totals(struct callgrind_output *output, const char *key,
                        const uint64_t *totals)
{
	text_add_format(&output->text, "%s:", key);
	callgrind_output_add_numbers(output, totals);
}

/* ---- names ---- */

/*
 * Adds "key=(12) name" at the first use, then "key=(12)"; `names` numbers
 * items by their identity.  An empty name is replaced, since the first form
 * would read as the second.
 */
static void
add_reference(struct callgrind_output *output, const char *key,
              struct names *names, struct callgrind_text identity,
              struct callgrind_text name, struct error *error)
{
	uint32_t n = names_count(names);
	uint32_t number = names_add(names, identity.bytes, identity.length,
	                            error);

	if (number == NO_NAME)
		return;
	text_add_format(&output->text, "%s=(%" PRIu32 ")", key, number + 1);
	if (number == n && name.length == 0) {
		text_add_string(&output->text, " [empty]");
		output->n_changed++;
	} else if (number == n) {
		text_add_char(&output->text, ' ');
		if (!callgrind_output_add_text(&output->text, name.bytes,
		                               name.length))
			output->n_changed++;
	}
	text_add_char(&output->text, '\n');
}

/* Unknown names are "???", as in callgrind's files. */
static void
callgrind_output_add_place(struct callgrind_output *output, const char *key,
                           struct names *names, struct callgrind_text name,
                           struct error *error)
{
	if (name.bytes == NULL)
		name = (struct callgrind_text){ "???", 3 };
	add_reference(output, key, names, name, name, error);
}

/* Functions of the same name in different objects or files are distinct. */
static struct callgrind_text
callgrind_output_identify(struct callgrind_output *output,
                          const struct callgrind_function *function,
                          struct error *error)
{
	struct text_buffer *key = &output->key;

	text_clear(key);
	text_add(key, function->object.bytes, function->object.length);
	text_add_char(key, '\n');
	text_add(key, function->file.bytes, function->file.length);
	text_add_char(key, '\n');
	text_add(key, function->name.bytes, function->name.length);
	if (key->failed)
		error_out_of_memory(error);
	return (struct callgrind_text){ key->bytes, key->length };
}

static void
callgrind_output_add_function(struct callgrind_output *output,
                              const char *const keys[3],
                              const struct callgrind_function *function,
                              struct error *error)
{
	struct callgrind_text identity = callgrind_output_identify(output,
	                                                           function,
	                                                           error);

	if (error->is_set)
		return;
	if (output->profile->n_modules > 0)
		callgrind_output_add_place(output, keys[0], output->objects,
		                           function->object, error);
	callgrind_output_add_place(output, keys[1], output->files,
	                           function->file, error);
	add_reference(output, keys[2], output->functions, identity,
	              function->name, error);
}

/* ---- lines ---- */

void
callgrind_output_function(struct callgrind_output *output,
                          const struct callgrind_function *function,
                          struct error *error)
{
	static const char *const keys[] = { "ob", "fl", "fn" };

	text_add_char(&output->text, '\n');
	callgrind_output_add_function(output, keys, function, error);
}

void
callgrind_output_file(struct callgrind_output *output,
                      struct callgrind_text file, struct error *error)
{
	callgrind_output_add_place(output, "fi", output->files, file, error);
}

void
callgrind_output_hits(struct callgrind_output *output, uint32_t line,
                      const uint64_t *hits)
{
	text_add_format(&output->text, "%" PRIu32, line);
	callgrind_output_add_numbers(output, hits);
}

static bool
has_hits(const struct profile *profile, const uint64_t *hits)
{
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (hits[r] > 0)
			return true;
	return false;
}

void
callgrind_output_call(struct callgrind_output *output,
                      const struct callgrind_function *callee,
                      uint64_t n_calls, uint32_t line, const uint64_t *hits,
                      struct error *error)
{
	static const char *const keys[] = { "cob", "cfi", "cfn" };

	callgrind_output_add_function(output, keys, callee, error);
	if (n_calls == 0 && has_hits(output->profile, hits))
		n_calls = 1;
	text_add_format(&output->text, "calls=%" PRIu64 " 0\n", n_calls);
	callgrind_output_hits(output, line, hits);
}
