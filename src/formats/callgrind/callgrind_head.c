/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_head.c -- the process, and what the following lines count. */
#include <string.h>

#include "src/formats/callgrind/callgrind_reader.h"
#include "src/formats/callgrind/callgrind_words.h"

static const char *
keep_text(struct callgrind *input, const char *text, size_t length,
          struct error *error)
{
	callgrind_trim(&text, &length);
	return arena_text(&input->reader.profile->arena, text, length, error);
}

/* The number of the process of the part that begins, entered if new. */
static uint32_t
find_process(struct callgrind *input, struct error *error)
{
	struct profile *profile = input->reader.profile;
	struct process process = { .pid = input->pid,
		                   .command = input->command };
	size_t length;

	for (uint32_t i = 0; i < profile->n_processes; i++)
		if (profile->processes[i].pid == input->pid)
			return i;
	if (input->command != NULL && *input->command != '\0') {
		length = strcspn(input->command, " ");
		process.program = arena_text(&profile->arena, input->command,
		                             length, error);
		if (process.program == NULL)
			return UINT32_MAX;
	}
	return profile_add_process(profile, &process, error);
}

/* Ends a head: enters the process. */
int
callgrind_end_head(struct callgrind *input, struct error *error)
{
	struct profile *profile = input->reader.profile;
	struct thread thread = { .tid = input->thread };

	input->is_head = false;
	if (!input->has_pid && input->command == NULL)
		return 0;
	thread.process = find_process(input, error);
	if (thread.process == UINT32_MAX)
		return -1;
	for (uint32_t i = 0; i < profile->n_threads; i++)
		if (profile->threads[i].tid == thread.tid &&
		    profile->threads[i].process == thread.process)
			return 0;
	return !input->has_thread || profile_add_thread(profile, &thread,
	    error) != UINT32_MAX ? 0 : -1;
}

/* A line "KEY: ..." begins a new part. */
static void
begin_head(struct callgrind *input)
{
	if (input->is_head)
		return;
	input->is_head = true;
	input->object = input->file = input->code_file = NO_NAME;
	input->called_object = input->called_file = NO_NAME;
	input->node = input->callee = NO_NODE_YET;
	input->place = NO_PLACE;
	input->is_call = input->is_jump = false;
}

static int
set_positions(struct callgrind *input, const char *text, size_t length,
              struct error *error)
{
	uint32_t n = 0, line_column = UINT32_MAX;
	size_t word;

	while ((word = callgrind_next_word(&text, &length)) > 0) {
		if (n == MAX_POSITIONS)
			return reader_reject(&input->reader,
			    "more than three positions", error);
		if (callgrind_is_key(text, word, "line"))
			line_column = n;
		n++;
		text += word;
		length -= word;
	}
	if (n == 0)
		return reader_reject(&input->reader,
		                     "expected kinds of positions", error);
	input->n_positions = n;
	input->line_column = line_column;
	return 0;
}

static int
set_version(struct callgrind *input, const char *text,
            struct error *error)
{
	uint64_t version;

	text = callgrind_skip_blanks(text);
	if (callgrind_number(text, &version) == NULL || version > 1)
		return reader_fail(&input->reader, error,
		                   "expected version 1 of the format");
	return 0;
}

static int
set_number(struct callgrind *input, const char *text, uint64_t *number,
           bool *has_number, struct error *error)
{
	if (callgrind_number(callgrind_skip_blanks(text), number) == NULL)
		return reader_reject(&input->reader, "expected a number",
		                     error);
	*has_number = true;
	return 0;
}

static int
set_command(struct callgrind *input, const char *text, size_t length,
            struct error *error)
{
	input->command = keep_text(input, text, length, error);
	return input->command != NULL ? 0 : -1;
}

static int
set_events(struct callgrind *input, const char *text, size_t length,
           struct error *error)
{
	struct error wrong = { 0 };

	if (callgrind_events_columns(&input->events, input->reader.profile,
	                             text, length, &wrong) != 0)
		return reader_fail(&input->reader, error, "%s", wrong.text);
	return 0;
}

static int
define_event(struct callgrind *input, const char *text, size_t length,
             struct error *error)
{
	struct error wrong = { 0 };

	if (callgrind_events_define(&input->events, input->reader.profile,
	                            text, length, &wrong) != 0)
		return reader_fail(&input->reader, error, "%s", wrong.text);
	return 0;
}

static void
set_creator(struct callgrind *input, const char *text, size_t length)
{
	input->is_callgrind = memmem(text, length, "callgrind", 9) != NULL;
	input->events.is_own = memmem(text, length, "cpprof", 6) != NULL;
}

/* Recognises descriptions written by export_callgrind.c, and by cg_diff. */
static int
take_description(struct callgrind *input, const char *text,
                 size_t length, struct error *error)
{
	static const char compared[] = "Files compared:";

	callgrind_trim(&text, &length);
	if (length >= sizeof compared - 1 &&
	    memcmp(text, compared, sizeof compared - 1) == 0)
		return reader_fail(&input->reader, error, "%s",
		                   CALLGRIND_IS_DIFFERENCE);
	input->has_estimates |= callgrind_is_key(text, length,
	                                          CALLGRIND_ESTIMATES);
	input->is_uncounted |= callgrind_is_key(text, length,
	                                         CALLGRIND_UNCOUNTED);
	return 0;
}

/* KEY: TEXT.  Other keys are skipped. */
int
callgrind_head_line(struct callgrind *input, const char *line,
                    size_t key_length, size_t length, struct error *error)
{
	const char *text = line + key_length + 1;
	bool has_part;
	uint64_t part;

	length -= key_length + 1;
	if (callgrind_is_key(line, key_length, "totals") ||
	    callgrind_is_key(line, key_length, "summary")) {
		input->has_end |= callgrind_is_key(line, key_length, "totals");
		return 0;
	}
	begin_head(input);
	if (callgrind_is_key(line, key_length, "events"))
		return set_events(input, text, length, error);
	if (callgrind_is_key(line, key_length, "event"))
		return define_event(input, text, length, error);
	if (callgrind_is_key(line, key_length, "positions"))
		return set_positions(input, text, length, error);
	if (callgrind_is_key(line, key_length, "version"))
		return set_version(input, text, error);
	if (callgrind_is_key(line, key_length, "cmd"))
		return set_command(input, text, length, error);
	if (callgrind_is_key(line, key_length, "pid"))
		return set_number(input, text, &input->pid,
		                  &input->has_pid, error);
	if (callgrind_is_key(line, key_length, "thread"))
		return set_number(input, text, &input->thread,
		                  &input->has_thread, error);
	if (callgrind_is_key(line, key_length, "part"))
		return set_number(input, text, &part, &has_part, error);
	if (callgrind_is_key(line, key_length, "creator"))
		set_creator(input, text, length);
	if (callgrind_is_key(line, key_length, "desc"))
		return take_description(input, text, length, error);
	return 0;
}
