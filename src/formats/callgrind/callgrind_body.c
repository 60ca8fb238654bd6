/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_body.c -- costs, and the names that they belong to.
 *
 * Most of the time is spent in the loop over the costs of a line, which reads
 * each byte once.
 */
#include <string.h>

#include "src/formats/callgrind/callgrind_reader.h"
#include "src/formats/callgrind/callgrind_words.h"

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
take_back(const struct callgrind_events *events, const char *at, uint64_t *row,
          uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t cost = 0;

		at = callgrind_skip_blanks(at);
		at = *at == '.' ? at + 1 : callgrind_number(at, &cost);
		row[events->columns[i]] -= cost;
	}
}

/*
 * Adds the costs of a line that ends in '\n' to row[resource].  NULL; or what
 * is wrong, with nothing added.
 */
static const char *
add_costs(const struct callgrind_events *events, const char *at,
          uint64_t *row)
{
	const char *first = at, *wrong = NULL;
	uint32_t i;

	for (i = 0; *(at = callgrind_skip_blanks(at)) != '\n'; i++) {
		uint64_t cost = 0, sum;

		if (i == events->n_columns)
			wrong = "more costs than events";
		else if (*at == '.')
			at++;
		else if (*at == '-')
			wrong = "a cost below zero: " CALLGRIND_IS_DIFFERENCE;
		else if ((at = callgrind_number(at, &cost)) == NULL)
			wrong = "expected a number of 64 bits as cost";
		else if (__builtin_add_overflow(row[events->columns[i]], cost,
		                                &sum))
			wrong = "the sum of costs exceeds 64 bits";
		else
			row[events->columns[i]] = sum;
		if (wrong != NULL) {
			take_back(events, first, row, i);
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
		return reader_fail(&input->reader, error, "%s", wrong.text);
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
place_of(const struct callgrind *input)
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

/* Most own costs belong to the same place as the cost before. */
static uint64_t *
find_own_row(struct callgrind *input, struct error *error)
{
	struct call_places *places = input->graph->places;
	struct call_place place = place_of(input);
	const struct call_place *last = input->place == NO_PLACE ? NULL :
	    &places->items[input->place];

	if (last == NULL || last->node != place.node ||
	    last->file != place.file || last->line != place.line)
		input->place = call_places_at(places, place, error);
	return input->place == NO_PLACE ? NULL :
	    call_places_hits(places, input->place);
}

static int
add_calls(struct callgrind *input, uint64_t *sum, struct error *error)
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
	struct call_place place = place_of(input);
	uint32_t number;

	place.arc = call_graph_arc(graph, input->node, input->callee, error);
	if (place.arc == UINT32_MAX)
		return NULL;
	number = call_places_at(graph->places, place, error);
	if (number == UINT32_MAX ||
	    add_calls(input, &graph->arcs[place.arc].calls, error) != 0 ||
	    add_calls(input, &graph->places->items[number].calls, error) != 0)
		return NULL;
	input->is_call = false;
	input->called_object = input->called_file = NO_NAME;
	return call_places_hits(graph->places, number);
}

/* The row of counters that the next cost is added to; NULL with *error set. */
static uint64_t *
find_row(struct callgrind *input, struct error *error)
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

int
callgrind_costs_line(struct callgrind *input, const char *at,
                     struct error *error)
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
		    "expected positions before the costs",
		                   error);
	if (input->is_jump && *callgrind_skip_blanks(at) == '\n') {
		input->is_jump = false;
		return 0;
	}
	row = find_row(input, error);
	if (row == NULL)
		return -1;
	wrong = add_costs(&input->events, at, row);
	return wrong == NULL ? 0 :
	       reader_reject(&input->reader, wrong, error);
}

/* KEY=NAME of an object or a file. */
static int
set_name(struct callgrind *input, uint32_t *number,
         enum callgrind_kind kind, const char *text, size_t length,
          struct error *error)
{
	struct error wrong = { 0 };
	uint32_t name = callgrind_names_add(input->names, kind, text, length,
	                                    &wrong);

	if (name == NO_NAME)
		return reader_reject(&input->reader, wrong.text, error);
	if (number != NULL)
		*number = name;
	return 0;
}

static int
set_node(struct callgrind *input, uint32_t *node,
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
		return reader_reject(&input->reader, wrong.text, error);
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
set_function(struct callgrind *input, bool is_called, const char *text,
             size_t length, struct error *error)
{
	struct callgrind_home home = { .object = input->object,
		.file = input->file };

	if (!is_called) {
		input->called_object = input->called_file = NO_NAME;
		input->code_file = input->file;
		return set_node(input, &input->node, home, text, length,
		                error);
	}
	home.is_object_guessed = is_unknown(input, input->called_object);
	home.is_file_guessed = is_unknown(input, input->called_file);
	if (input->called_object != NO_NAME)
		home.object = input->called_object;
	if (input->called_file != NO_NAME)
		home.file = input->called_file;
	return set_node(input, &input->callee, home, text, length, error);
}

static int
set_calls(struct callgrind *input, const char *text,
          struct error *error)
{
	if (input->callee == NO_NODE_YET)
		return reader_reject(&input->reader, "calls of no "
		    "function; expected cfn= before", error);
	text = callgrind_skip_blanks(text);
	if (callgrind_number(text, &input->calls) == NULL)
		return reader_reject(&input->reader,
		                     "expected a number of calls", error);
	if (input->is_uncounted)
		input->calls = 0;
	input->is_call = true;
	return 0;
}

/* fl= names the file in which functions are defined, with their own code. */
static int
set_file(struct callgrind *input, const char *text, size_t length,
         struct error *error)
{
	if (set_name(input, &input->file, CALLGRIND_FILE, text, length,
	             error) != 0)
		return -1;
	input->code_file = input->file;
	return 0;
}

/* A jump only defines the numbers of its names. */
static int
pass_jump(struct callgrind *input, enum callgrind_kind kind,
          const char *text, size_t length, struct error *error)
{
	return set_name(input, NULL, kind, text, length, error);
}

/* KEY=TEXT */
int
callgrind_name_line(struct callgrind *input, const char *line,
                    size_t key_length, size_t length, struct error *error)
{
	const char *text = line + key_length + 1;

	length -= key_length + 1;
	if (input->is_head && callgrind_end_head(input, error) != 0)
		return -1;
	if (callgrind_is_key(line, key_length, "fn"))
		return set_function(input, false, text, length, error);
	if (callgrind_is_key(line, key_length, "cfn"))
		return set_function(input, true, text, length, error);
	if (callgrind_is_key(line, key_length, "calls") ||
	    callgrind_is_key(line, key_length, "rcalls"))
		return set_calls(input, text, error);
	if (callgrind_is_key(line, key_length, "fl"))
		return set_file(input, text, length, error);
	if (callgrind_is_key(line, key_length, "fi") ||
	    callgrind_is_key(line, key_length, "fe"))
		return set_name(input, &input->code_file, CALLGRIND_FILE,
		                text, length, error);
	if (callgrind_is_key(line, key_length, "cfi") ||
	    callgrind_is_key(line, key_length, "cfl"))
		return set_name(input, &input->called_file, CALLGRIND_FILE,
		                 text, length, error);
	if (callgrind_is_key(line, key_length, "ob"))
		return set_name(input, &input->object, CALLGRIND_OBJECT,
		                 text, length, error);
	if (callgrind_is_key(line, key_length, "cob"))
		return set_name(input, &input->called_object,
		                 CALLGRIND_OBJECT, text, length, error);
	if (callgrind_is_key(line, key_length, "jump") ||
	    callgrind_is_key(line, key_length, "jcnd")) {
		input->is_jump = true;
		return 0;
	}
	if (callgrind_is_key(line, key_length, "jfi"))
		return pass_jump(input, CALLGRIND_FILE, text, length, error);
	if (callgrind_is_key(line, key_length, "jfn"))
		return pass_jump(input, CALLGRIND_FUNCTION, text, length,
		                 error);
	return reader_reject(&input->reader, "expected a cost, a name or a "
	                     "head", error);
}
