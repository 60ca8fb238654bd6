/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind.c -- the files of callgrind, cachegrind and similar writers.
 *
 * 	events: Ir
 * 	fn=(1) main
 * 	16 20			20 instructions of main's own, at line 16
 * 	cfn=(2) parse
 * 	calls=3 50		main calls parse three times,
 * 	16 400			which used 400, at line 16
 *
 * Almost all lines are costs; a line that begins with a letter has a key.
 *
 * Source: Valgrind's "Callgrind Format Specification", and what its version
 * 3.19 and other programs actually write: several parts in one file, costs
 * without trailing zeros, '.'  for a zero (old cachegrind), rcalls= (old
 * callgrind).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/formats/callgrind/callgrind.h"
#include "src/formats/reader.h"

/* Counters of lines: at any rate, and for each byte of the file, packed. */
enum { COUNTERS_FREE = 1 << 25, COUNTERS_A_BYTE = 64 };

#define NO_NODE_YET UINT32_MAX
#define NO_CALL_PLACE UINT32_MAX

enum { LINE_MAX_MIB = 64, MAX_POSITIONS = 3 };

struct callgrind {
	struct reader reader;
	struct callgrind_events events;
	struct callgrind_names *names;
	struct call_graph *graph;	/* the profile's; NULL before the first
					 * cost */

	/* The part's head. */
	const char *command;		/* in the arena; NULL: none */
	uint64_t pid, thread;
	bool has_pid, has_thread, is_head;
	bool is_callgrind;		/* created by callgrind itself */
	bool has_estimates;		/* costs of calls are only estimates */
	bool is_uncounted;		/* numbers of calls are unknown */
	bool has_end;			/* a line that follows costs was
					 * read */
	uint64_t cut_line;		/* before which a part lacks that, the
					 * first; 0: none */
	uint32_t n_positions;
	uint32_t line_column;		/* of the positions, UINT32_MAX: none */

	uint64_t positions[MAX_POSITIONS];	/* of the last cost */
	uint32_t object, file, called_object, called_file;
	uint32_t code_file;		/* of the costs: the function's, or
					 * that of inlined code */
	uint32_t node, callee;
	bool is_call;			/* the next cost is that of calls */
	bool is_jump;			/* the next line is no cost: the place
					 * of a jump */
	uint64_t calls;
	uint32_t place;			/* of the last own costs */
};

/* ---- the head of a part: the process, and what the lines count ---- */

/* The number of the process of the part that begins, which is added if new. */
static uint32_t
callgrind_find_process(struct callgrind *input, struct error *error)
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

/* The first line after a head: adds the process and thread. */
static int
end_head(struct callgrind *input, struct error *error)
{
	struct profile *profile = input->reader.profile;
	struct thread thread = { .tid = input->thread };

	input->is_head = false;
	if (!input->has_pid && input->command == NULL)
		return 0;
	thread.process = callgrind_find_process(input, error);
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
	if (input->is_callgrind && !input->has_end && input->cut_line == 0)
		input->cut_line = input->reader.place;
	input->is_head = true;
	input->has_end = false;
	input->object = input->file = input->code_file = NO_NAME;
	input->called_object = input->called_file = NO_NAME;
	input->node = input->callee = NO_NODE_YET;
	input->place = NO_CALL_PLACE;
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
callgrind_set_number(struct callgrind *input, const char *text,
                     uint64_t *number, bool *has_number, struct error *error)
{
	if (callgrind_number(callgrind_skip_blanks(text), number) == NULL)
		return reader_reject(&input->reader, "expected a number",
		                     error);
	*has_number = true;
	return 0;
}

/* KEY: TEXT.  Other keys are skipped. */
static int
head_line(struct callgrind *input, const char *line, size_t key_length,
          size_t length, struct error *error)
{
	static const char compared[] = "Files compared:";
	struct reader *reader = &input->reader;
	const char *text = line + key_length + 1;
	struct error wrong = { 0 };
	bool has_part;
	uint64_t number;

	length -= key_length + 1;
	if (callgrind_is_key(line, key_length, "totals") ||
	    callgrind_is_key(line, key_length, "summary")) {
		input->has_end |= callgrind_is_key(line, key_length, "totals");
		return 0;
	}
	begin_head(input);
	if (callgrind_is_key(line, key_length, "events")) {
		if (callgrind_events_columns(&input->events, reader->profile,
		                             text, length, &wrong) != 0)
			return reader_pass_at(reader, reader->place, &wrong,
			                      error);
	} else if (callgrind_is_key(line, key_length, "event")) {
		if (callgrind_events_define(&input->events, reader->profile,
		                            text, length, &wrong) != 0)
			return reader_pass_at(reader, reader->place, &wrong,
			                      error);
	} else if (callgrind_is_key(line, key_length, "positions")) {
		return set_positions(input, text, length, error);
	} else if (callgrind_is_key(line, key_length, "version")) {
		if (callgrind_number(callgrind_skip_blanks(text),
		                     &number) == NULL || number > 1)
			return reader_fail(reader, error,
			    "expected version 1 of the format");
	} else if (callgrind_is_key(line, key_length, "cmd")) {
		callgrind_trim(&text, &length);
		input->command = arena_text(&reader->profile->arena, text,
		                            length, error);
		if (input->command == NULL)
			return -1;
	} else if (callgrind_is_key(line, key_length, "pid")) {
		return callgrind_set_number(input, text, &input->pid,
		                            &input->has_pid, error);
	} else if (callgrind_is_key(line, key_length, "thread")) {
		return callgrind_set_number(input, text, &input->thread,
		                            &input->has_thread, error);
	} else if (callgrind_is_key(line, key_length, "part")) {
		return callgrind_set_number(input, text, &number, &has_part,
		                            error);
	} else if (callgrind_is_key(line, key_length, "creator")) {
		input->is_callgrind = memmem(text, length, "callgrind",
		                             9) != NULL;
		input->events.is_own = memmem(text, length, "cpprof",
		                              6) != NULL;
	} else if (callgrind_is_key(line, key_length, "desc")) {
		/* From callgrind_output.c, and from cg_diff. */
		callgrind_trim(&text, &length);
		if (length >= sizeof compared - 1 &&
		    memcmp(text, compared, sizeof compared - 1) == 0)
			return reader_fail(reader, error, "%s",
			                   CALLGRIND_IS_DIFFERENCE);
		input->has_estimates |= callgrind_is_key(text, length,
		    CALLGRIND_ESTIMATES);
		input->is_uncounted |= callgrind_is_key(text, length,
		    CALLGRIND_UNCOUNTED);
	}
	return 0;
}

/*
 * ---- costs ----
 *
 * Most of the time is spent in the loop over the costs of a line, which reads
 * each byte once.
 */

/*
 * Reads one of a cost's positions: NUMBER, or +NUMBER, -NUMBER or * relative
 * to the previous one, *position.  NULL if it is none.
 */
static const char *
read_position(const char *at, uint64_t *position)
{
	uint64_t number;
	char sign = *at;

	if (sign == '*')
		return at + 1;
	at = callgrind_number(sign == '+' || sign == '-' ? at + 1 : at,
	                      &number);
	if (sign == '+')
		number = *position + number;
	else if (sign == '-')
		number = *position - number;
	*position = number;
	return at;
}

/* Subtracts the first n costs of a line that turned out to be malformed. */
static void
subtract_costs(const struct callgrind_events *events, const char *at,
               uint64_t *row, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t cost = 0;

		at = callgrind_skip_blanks(at);
		if (*at == '-')
			at = callgrind_number(at + 1, &cost);
		else if (*at == '.')
			at++;
		else if ((at = callgrind_number(at, &cost)) != NULL)
			row[events->columns[i]] -= cost;
	}
}

/*
 * Adds the costs of a line that ends in '\n' to row[resource].  NULL; or what
 * is wrong, with nothing added.  Costs below zero are noted.
 */
static const char *
callgrind_add_costs(struct callgrind *input, const char *at, uint64_t *row,
                    struct error *error)
{
	const struct callgrind_events *events = &input->events;
	struct reader *reader = &input->reader;
	const char *first = at, *wrong = NULL;
	uint32_t i;

	for (i = 0; *(at = callgrind_skip_blanks(at)) != '\n'; i++) {
		uint64_t cost = 0, sum;

		if (i == events->n_columns)
			wrong = "more costs than events";
		else if (*at == '.')
			at++;
		else if (*at == '-' && callgrind_number(at + 1, &cost) != NULL) {
			at = callgrind_number(at + 1, &cost);
			if (reader_note_below_zero(reader, events->columns[i],
			                           reader->place, error) != 0)
				return NULL;
		} else if ((at = callgrind_number(at, &cost)) == NULL)
			wrong = "expected a number of 64 bits as cost";
		else if (__builtin_add_overflow(row[events->columns[i]], cost,
		                                &sum))
			wrong = "the sum of costs exceeds 64 bits";
		else
			row[events->columns[i]] = sum;
		if (wrong != NULL) {
			subtract_costs(events, first, row, i);
			return wrong;
		}
	}
	return NULL;
}

/* Handles the first cost: from here on the events are known. */
static int
begin_costs(struct callgrind *input, struct error *error)
{
	struct profile *profile = input->reader.profile;
	struct error wrong = { 0 };

	if (callgrind_events_fix(&input->events, profile, &wrong) != 0)
		return reader_pass_at(&input->reader, input->reader.place,
		                      &wrong, error);
	/* Other programs write the format, too, of whatever they measure. */
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (input->is_callgrind && !input->events.is_own)
			profile->resources[r].counting = COUNTING_EXACT;
	input->graph = call_graph_new(profile->n_resources, error);
	profile->graph = input->graph;
	if (input->graph == NULL)
		return -1;
	input->graph->has_hits = true;
	input->graph->places = call_places_new(profile->n_resources, error);
	return input->graph->places != NULL ? 0 : -1;
}

/* The place of the next cost, without an arc. */
static struct call_place
callgrind_place_of(const struct callgrind *input)
{
	struct call_place place = { .node = input->node, .arc = NO_ARC,
		                    .file = input->code_file };
	uint64_t line = 0;

	if (input->line_column < input->n_positions)
		line = input->positions[input->line_column];
	if (line <= UINT32_MAX)
		place.line = (uint32_t)line;
	return place;
}

/*
 * The number of a place; UINT32_MAX with *error set.  A line of a few bytes,
 * which packs well, may have a counter of each event.
 */
static uint32_t
callgrind_enter_place(struct callgrind *input, struct call_place place,
                      struct error *error)
{
	struct call_places *places = input->graph->places;

	if ((uint64_t)places->n * places->n_resources <= COUNTERS_FREE +
	    COUNTERS_A_BYTE * source_done(input->reader.source))
		return call_places_at(places, place, error);
	reader_fail(&input->reader, error, "too many lines of code with costs, "
	            SOURCE_UNPACK_FIRST);
	return UINT32_MAX;
}

/* Most own costs belong to the same place as the cost before. */
static uint64_t *
find_own_row(struct callgrind *input, struct error *error)
{
	struct call_places *places = input->graph->places;
	struct call_place place = callgrind_place_of(input);
	const struct call_place *last = input->place == NO_CALL_PLACE ? NULL :
	    &places->items[input->place];

	if (last == NULL || last->node != place.node ||
	    last->file != place.file || last->line != place.line)
		input->place = callgrind_enter_place(input, place, error);
	return input->place == NO_CALL_PLACE ? NULL :
	    call_places_hits(places, input->place);
}

static int
callgrind_add_calls(struct callgrind *input, uint64_t *sum, struct error *error)
{
	if (!__builtin_add_overflow(*sum, input->calls, sum))
		return 0;
	return reader_fail(&input->reader, error,
	                   "the sum of calls exceeds 64 bits");
}

static uint64_t *
find_call_row(struct callgrind *input, struct error *error)
{
	struct call_graph *graph = input->graph;
	struct call_place place = callgrind_place_of(input);
	uint32_t number;

	place.arc = call_graph_arc(graph, input->node, input->callee, error);
	if (place.arc == UINT32_MAX)
		return NULL;
	number = callgrind_enter_place(input, place, error);
	if (number == UINT32_MAX ||
	    callgrind_add_calls(input, &graph->arcs[place.arc].calls, error) !=
	        0 ||
	    callgrind_add_calls(input, &graph->places->items[number].calls,
	                        error) != 0)
		return NULL;
	input->is_call = false;
	input->called_object = input->called_file = NO_NAME;
	return call_places_hits(graph->places, number);
}

/* The row of counters that the next cost is added to; NULL with *error set. */
static uint64_t *
callgrind_find_row(struct callgrind *input, struct error *error)
{
	if (input->node == NO_NODE_YET)
		input->node = callgrind_names_node(input->names,
		    input->graph, (struct callgrind_home){
			.object = input->object, .file = input->file,
		    }, "???", 3, error);
	if (input->node == NO_NODE_YET)
		return NULL;
	return input->is_call ? find_call_row(input, error) :
	    find_own_row(input, error);
}

static int
costs_line(struct callgrind *input, const char *at, struct error *error)
{
	const char *wrong = NULL;
	uint64_t *row;

	if (input->graph == NULL && begin_costs(input, error) != 0)
		return -1;
	for (uint32_t i = 0; i < input->n_positions && at != NULL; i++)
		at = read_position(callgrind_skip_blanks(at),
		                   &input->positions[i]);
	if (at == NULL || (*at != ' ' && *at != '\t' && *at != '\r' &&
	                   *at != '\n'))
		return reader_reject(&input->reader,
		    input->n_positions == 1 ?
		    "expected a position before the costs" :
		    "expected positions before the costs", error);
	if (input->is_jump && *callgrind_skip_blanks(at) == '\n') {
		input->is_jump = false;
		return 0;
	}
	row = callgrind_find_row(input, error);
	if (row == NULL)
		return -1;
	wrong = callgrind_add_costs(input, at, row, error);
	if (wrong != NULL)
		return reader_reject(&input->reader, wrong, error);
	return error->is_set ? -1 : 0;
}

/* ---- names ---- */

/* KEY=NAME of an object or a file. */
static int
callgrind_set_name(struct callgrind *input, uint32_t *number,
                   enum callgrind_kind kind, const char *text, size_t length,
                   struct error *error)
{
	struct error wrong = { 0 };
	uint32_t name = callgrind_names_add(input->names, kind, text, length,
	                                    &wrong);

	if (name == NO_NAME)
		return reader_reject_for(&input->reader, &wrong, error);
	*number = name;
	return 0;
}

static int
callgrind_set_node(struct callgrind *input, uint32_t *node,
                   struct callgrind_home home, const char *text, size_t length,
                   struct error *error)
{
	struct error wrong = { 0 };
	uint32_t found;

	if (input->graph == NULL && begin_costs(input, error) != 0)
		return -1;
	found = callgrind_names_node(input->names, input->graph, home, text,
	                             length, &wrong);
	if (found == UINT32_MAX)
		return reader_reject_for(&input->reader, &wrong, error);
	*node = found;
	return 0;
}

/* Whether a call's object or file is missing or unknown. */
static bool
is_unknown(const struct callgrind *input, uint32_t text)
{
	return text == NO_NAME || strcmp(names_text(
	    callgrind_names_texts(input->names), text), "???") == 0;
}

/* fn=, cfn= */
static int
callgrind_set_function(struct callgrind *input, bool is_called,
                       const char *text, size_t length, struct error *error)
{
	struct callgrind_home home = { .object = input->object,
		.file = input->file };

	if (!is_called) {
		input->called_object = input->called_file = NO_NAME;
		input->code_file = input->file;
		return callgrind_set_node(input, &input->node, home, text,
		                          length, error);
	}
	home.is_object_guessed = is_unknown(input, input->called_object);
	home.is_file_guessed = is_unknown(input, input->called_file);
	if (input->called_object != NO_NAME)
		home.object = input->called_object;
	if (input->called_file != NO_NAME)
		home.file = input->called_file;
	return callgrind_set_node(input, &input->callee, home, text, length,
	                          error);
}

/* KEY=TEXT */
static int
name_line(struct callgrind *input, const char *line, size_t key_length,
          size_t length, struct error *error)
{
	const char *text = line + key_length + 1;
	uint32_t unused;

	length -= key_length + 1;
	if (input->is_head && end_head(input, error) != 0)
		return -1;
	if (callgrind_is_key(line, key_length, "fn"))
		return callgrind_set_function(input, false, text, length,
		                              error);
	if (callgrind_is_key(line, key_length, "cfn"))
		return callgrind_set_function(input, true, text, length, error);
	if (callgrind_is_key(line, key_length, "calls") ||
	    callgrind_is_key(line, key_length, "rcalls")) {
		if (input->callee == NO_NODE_YET)
			return reader_reject(&input->reader, "calls of no "
			    "function; expected cfn= before", error);
		if (callgrind_number(callgrind_skip_blanks(text),
		                     &input->calls) == NULL)
			return reader_reject(&input->reader,
			    "expected a number of calls", error);
		if (input->is_uncounted)
			input->calls = 0;
		input->is_call = true;
		return 0;
	}
	/* The file in which functions are defined, with their own code. */
	if (callgrind_is_key(line, key_length, "fl")) {
		if (callgrind_set_name(input, &input->file, CALLGRIND_FILE,
		                       text, length, error) != 0)
			return -1;
		input->code_file = input->file;
		return 0;
	}
	if (callgrind_is_key(line, key_length, "fi") ||
	    callgrind_is_key(line, key_length, "fe"))
		return callgrind_set_name(input, &input->code_file,
		                          CALLGRIND_FILE, text, length, error);
	if (callgrind_is_key(line, key_length, "cfi") ||
	    callgrind_is_key(line, key_length, "cfl"))
		return callgrind_set_name(input, &input->called_file,
		                          CALLGRIND_FILE, text, length, error);
	if (callgrind_is_key(line, key_length, "ob"))
		return callgrind_set_name(input, &input->object,
		                          CALLGRIND_OBJECT, text, length,
		                          error);
	if (callgrind_is_key(line, key_length, "cob"))
		return callgrind_set_name(input, &input->called_object,
		                          CALLGRIND_OBJECT, text, length,
		                          error);
	if (callgrind_is_key(line, key_length, "jump") ||
	    callgrind_is_key(line, key_length, "jcnd")) {
		input->is_jump = true;
		return 0;
	}
	/* A jump only defines the numbers of its names. */
	if (callgrind_is_key(line, key_length, "jfi"))
		return callgrind_set_name(input, &unused, CALLGRIND_FILE, text,
		                          length, error);
	if (callgrind_is_key(line, key_length, "jfn"))
		return callgrind_set_name(input, &unused, CALLGRIND_FUNCTION,
		                          text, length, error);
	return reader_reject(&input->reader, "expected a cost, a name or a "
	                     "head", error);
}

/* ---- lines ---- */

/*
 * Whether the line only sums up what came before, so that losing it loses
 * nothing.
 */
static bool
callgrind_is_sum(const char *line, size_t length)
{
	return (length > 7 && memcmp(line, "totals:", 7) == 0) ||
	       (length > 8 && memcmp(line, "summary:", 8) == 0);
}

/* Reads a line that begins with a letter; length: without its end. */
static int
line_of_words(struct callgrind *input, const char *line, size_t length,
              struct error *error)
{
	size_t key = 0;

	/* Part of a name would be another name. */
	if (input->reader.is_unended && !callgrind_is_sum(line, length))
		return reader_reject(&input->reader, "expected an end of line",
		                     error);
	while (key < length && ((line[key] >= 'a' && line[key] <= 'z') ||
	                        (line[key] >= 'A' && line[key] <= 'Z')))
		key++;
	if (key < length && line[key] == '=')
		return name_line(input, line, key, length, error);
	/* "timeframe (BB): ..." is one, too. */
	while (key < length && line[key] != ':' && line[key] != '=')
		key++;
	if (key < length && line[key] == ':')
		return head_line(input, line, key, length, error);
	return reader_reject(&input->reader, "expected a cost, a name or a "
	                     "head", error);
}

static int
callgrind_read_line(void *context, const char *line, size_t length,
                    struct error *error)
{
	struct callgrind *input = context;
	char first = *line;

	if ((first >= '0' && first <= '9') || first == '+' || first == '-' ||
	    first == '*') {
		if (input->is_head && end_head(input, error) != 0)
			return -1;
		return costs_line(input, line, error);
	}
	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0 || first == '#' || *callgrind_skip_blanks(line) == '\n')
		return 0;
	return line_of_words(input, line, length, error);
}

/* ---- the whole input ---- */

/*
 * Drops costs of calls that are estimates; they are computed again from the
 * numbers of calls.
 */
static void
forget_call_hits(struct call_graph *graph)
{
	for (uint32_t i = 0; i < graph->n_arcs; i++)
		memset(call_graph_hits(graph, i), 0,
		       graph->n_resources * sizeof *graph->hits);
	call_places_free(graph->places);
	graph->places = NULL;
	graph->has_hits = false;
}

static int
finish_graph(struct callgrind *input, struct error *error)
{
	struct call_graph *graph = input->graph;
	struct reader *reader = &input->reader;
	struct error wrong = { 0 };

	if (callgrind_contexts_resolve(input->names, reader->profile,
	                               input->is_callgrind, &wrong) != 0 ||
	    call_graph_add_places(graph, &wrong) != 0 ||
	    callgrind_events_derive(&input->events, graph, &wrong) != 0 ||
	    call_graph_check(graph, &wrong) != 0)
		return reader_pass_file(reader, &wrong, error);
	if (input->has_estimates)
		forget_call_hits(graph);
	if (callgrind_events_note_below_zero(&input->events, reader,
	                                     error) != 0 ||
	    reader_drop_below_zero(reader, NULL, error) != 0)
		return -1;
	return graph->n_arcs > 0 ? 0 :
	    reader_warn(reader, error, "no calls in it, so the costs of "
	                "functions with their descendants are unknown");
}

/* What is cut short before its first cost is no profile. */
static int
check_cut(const struct callgrind *input, struct error *error)
{
	const struct reader *reader = &input->reader;
	uint64_t costs = 0, samples;

	if (!reader->is_cut_short)
		return 0;
	for (uint32_t r = 0; r < reader->profile->n_resources && costs == 0;
	     r++)
		costs = profile_hits(reader->profile, r, &samples);
	return costs > 0 ? 0 : reader_fail_empty(reader, error);
}

static int
callgrind_read_profile(struct callgrind *input, struct error *error)
{
	struct reader *reader = &input->reader;

	if (reader_lines(reader, LINE_MAX_MIB, callgrind_read_line, input,
	                 error) != 0)
		return -1;
	if (input->graph == NULL)
		return reader_fail_file(reader, error, "no costs in it");
	reader->is_cut_short |= input->is_call ||
	    (input->is_callgrind && !input->has_end);
	if (input->cut_line != 0 &&
	    reader_warn(reader, error, "the part before line %" PRIu64
	                " has no totals, so its end is missing",
	                input->cut_line) != 0)
		return -1;
	return reader_warn_lines(reader, "", error) == 0 &&
	    finish_graph(input, error) == 0 ? check_cut(input, error) : -1;
}

static struct profile *
callgrind_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct callgrind input = {
		.n_positions = 1,
		.line_column = 0,
		.is_head = true,
		.object = NO_NAME,
		.file = NO_NAME,
		.code_file = NO_NAME,
		.called_object = NO_NAME,
		.called_file = NO_NAME,
		.node = NO_NODE_YET,
		.callee = NO_NODE_YET,
		.place = NO_CALL_PLACE,
	};
	int result;

	reader_begin(&input.reader, source, options, READER_LINES, error);
	input.names = callgrind_names_new(error);
	result = error->is_set ? -1 : callgrind_read_profile(&input, error);
	callgrind_events_free(&input.events);
	callgrind_names_free(input.names);
	return reader_end(&input.reader, result);
}

/* ---- probe ---- */

/* The length of the key of a line "KEY:"; 0 for other lines. */
static size_t
head_key(const char *line, size_t length)
{
	size_t n = 0;

	while (n < length && line[n] >= 'a' && line[n] <= 'z')
		n++;
	return n > 0 && n < length && line[n] == ':' ? n : 0;
}

static int
callgrind_probe(const void *head, size_t size)
{
	const char *line = head, *end = line + size;
	bool has_head = false;

	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((stop != NULL ? stop : end) - line);
		size_t key = head_key(line, length);

		if (length >= 18 && memcmp(line, "# callgrind format", 18) == 0)
			return PROBE_SURE;
		if (callgrind_is_key(line, key, "events"))
			return PROBE_SURE;
		if (key > 0)
			has_head = true;
		else if (length > 0 && *line != '#' && *line != '\r')
			return PROBE_NO;
		line += length + 1;
	}
	return has_head ? PROBE_MAYBE : PROBE_NO;
}

const struct format format_callgrind = {
	.name = "callgrind",
	.summary = "what Valgrind's callgrind and cachegrind write",
	.probe = callgrind_probe,
	.read = callgrind_read,
};
