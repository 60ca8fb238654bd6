/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_head.c -- who ran, and what the lines that follow count. */
#include <string.h>

#include "src/formats/callgrind/callgrind_reader.h"
#include "src/formats/callgrind/callgrind_words.h"

static const char *
keep_text(struct callgrind_reader *reader, const char *text, size_t length,
          struct error *error)
{
	callgrind_trim(&text, &length);
	return arena_text(&reader->profile->arena, text, length, error);
}

/* Number of the process of the part that begins, entered if new. */
static uint32_t
find_process(struct callgrind_reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;
	struct process process = { .pid = reader->pid,
		                   .command = reader->command };
	size_t length;

	for (uint32_t i = 0; i < profile->n_processes; i++)
		if (profile->processes[i].pid == reader->pid)
			return i;
	if (reader->command != NULL && *reader->command != '\0') {
		length = strcspn(reader->command, " ");
		process.program = arena_text(&profile->arena, reader->command,
		                             length, error);
		if (process.program == NULL)
			return UINT32_MAX;
	}
	return profile_add_process(profile, &process, error);
}

/* A head is over: who ran is entered once. */
int
callgrind_end_head(struct callgrind_reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;
	struct thread thread = { .tid = reader->thread };

	reader->is_head = false;
	if (!reader->has_pid && reader->command == NULL)
		return 0;
	thread.process = find_process(reader, error);
	if (thread.process == UINT32_MAX)
		return -1;
	for (uint32_t i = 0; i < profile->n_threads; i++)
		if (profile->threads[i].tid == thread.tid &&
		    profile->threads[i].process == thread.process)
			return 0;
	return !reader->has_thread || profile_add_thread(profile, &thread,
	    error) != UINT32_MAX ? 0 : -1;
}

/* A line "KEY: ..." ends what was before it. */
static void
begin_head(struct callgrind_reader *reader)
{
	if (reader->is_head)
		return;
	reader->is_head = true;
	reader->object = reader->file = reader->code_file = NO_NAME;
	reader->called_object = reader->called_file = NO_NAME;
	reader->node = reader->callee = NO_NODE_YET;
	reader->place = NO_PLACE;
	reader->is_call = reader->is_jump = false;
}

static int
set_positions(struct callgrind_reader *reader, const char *text, size_t length,
              struct error *error)
{
	uint32_t n = 0, line_column = UINT32_MAX;
	size_t word;

	while ((word = callgrind_next_word(&text, &length)) > 0) {
		if (n == MAX_POSITIONS)
			return text_lines_reject(&reader->lines,
			    "more than three positions", error);
		if (callgrind_is_key(text, word, "line"))
			line_column = n;
		n++;
		text += word;
		length -= word;
	}
	if (n == 0)
		return text_lines_reject(&reader->lines,
		                         "expected kinds of positions", error);
	reader->n_positions = n;
	reader->line_column = line_column;
	return 0;
}

static int
set_version(struct callgrind_reader *reader, const char *text,
            struct error *error)
{
	uint64_t version;

	text = callgrind_skip_blanks(text);
	if (callgrind_number(text, &version) == NULL || version > 1)
		return text_lines_fail(&reader->lines, error,
		                       "expected version 1 of the format");
	return 0;
}

static int
set_number(struct callgrind_reader *reader, const char *text, uint64_t *number,
           bool *has_number, struct error *error)
{
	if (callgrind_number(callgrind_skip_blanks(text), number) == NULL)
		return text_lines_reject(&reader->lines, "expected a number",
		                         error);
	*has_number = true;
	return 0;
}

static int
set_command(struct callgrind_reader *reader, const char *text, size_t length,
            struct error *error)
{
	reader->command = keep_text(reader, text, length, error);
	return reader->command != NULL ? 0 : -1;
}

static int
set_events(struct callgrind_reader *reader, const char *text, size_t length,
           struct error *error)
{
	struct error wrong = { 0 };

	if (callgrind_events_columns(&reader->events, reader->profile, text,
	                             length, &wrong) != 0)
		return text_lines_fail(&reader->lines, error, wrong.text);
	return 0;
}

static int
define_event(struct callgrind_reader *reader, const char *text, size_t length,
             struct error *error)
{
	struct error wrong = { 0 };

	if (callgrind_events_define(&reader->events, reader->profile, text,
	                            length, &wrong) != 0)
		return text_lines_fail(&reader->lines, error, wrong.text);
	return 0;
}

static void
set_creator(struct callgrind_reader *reader, const char *text, size_t length)
{
	reader->is_callgrind = memmem(text, length, "callgrind", 9) != NULL;
	reader->events.is_own = memmem(text, length, "cpprof", 6) != NULL;
}

/* What export_callgrind.c says of calls; what cg_diff says of all. */
static int
take_description(struct callgrind_reader *reader, const char *text,
                 size_t length, struct error *error)
{
	static const char compared[] = "Files compared:";

	callgrind_trim(&text, &length);
	if (length >= sizeof compared - 1 &&
	    memcmp(text, compared, sizeof compared - 1) == 0)
		return text_lines_fail(&reader->lines, error,
		                       CALLGRIND_IS_DIFFERENCE);
	reader->has_estimates |= callgrind_is_key(text, length,
	                                          CALLGRIND_ESTIMATES);
	reader->is_uncounted |= callgrind_is_key(text, length,
	                                         CALLGRIND_UNCOUNTED);
	return 0;
}

/* KEY: TEXT.  Keys that mean nothing here are passed over. */
int
callgrind_head_line(struct callgrind_reader *reader, const char *line,
                    size_t key_length, size_t length, struct error *error)
{
	const char *text = line + key_length + 1;
	bool has_part;
	uint64_t part;

	length -= key_length + 1;
	if (callgrind_is_key(line, key_length, "totals") ||
	    callgrind_is_key(line, key_length, "summary")) {
		reader->has_end |= callgrind_is_key(line, key_length, "totals");
		return 0;
	}
	begin_head(reader);
	if (callgrind_is_key(line, key_length, "events"))
		return set_events(reader, text, length, error);
	if (callgrind_is_key(line, key_length, "event"))
		return define_event(reader, text, length, error);
	if (callgrind_is_key(line, key_length, "positions"))
		return set_positions(reader, text, length, error);
	if (callgrind_is_key(line, key_length, "version"))
		return set_version(reader, text, error);
	if (callgrind_is_key(line, key_length, "cmd"))
		return set_command(reader, text, length, error);
	if (callgrind_is_key(line, key_length, "pid"))
		return set_number(reader, text, &reader->pid,
		                  &reader->has_pid, error);
	if (callgrind_is_key(line, key_length, "thread"))
		return set_number(reader, text, &reader->thread,
		                  &reader->has_thread, error);
	if (callgrind_is_key(line, key_length, "part"))
		return set_number(reader, text, &part, &has_part, error);
	if (callgrind_is_key(line, key_length, "creator"))
		set_creator(reader, text, length);
	if (callgrind_is_key(line, key_length, "desc"))
		return take_description(reader, text, length, error);
	return 0;
}
