/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_body.c -- costs, and the names that they are of.
 *
 * The loop over the costs of a line is where the time goes: it looks at each
 * byte once.
 */
#include <string.h>

#include "src/formats/callgrind/callgrind_reader.h"
#include "src/formats/callgrind/callgrind_words.h"

/*
 * One of a cost's positions: NUMBER, or +NUMBER, -NUMBER or * from the one
 * before, which *position is; NULL else.
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

/* Takes back the first n costs of a line that proved wrong. */
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
 * Adds the costs of a line that ends in '\n' to row[resource].  NULL, or what
 * is wrong, and nothing was added.
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
			wrong = "the sum of costs passes 64 bits";
		else
			row[events->columns[i]] = sum;
		if (wrong != NULL) {
			take_back(events, first, row, i);
			return wrong;
		}
	}
	return NULL;
}

/* The first cost: from here on it is known what is counted. */
static int
begin_costs(struct callgrind_reader *reader, struct error *error)
{
	struct error wrong = { 0 };

	if (callgrind_events_fix(&reader->events, reader->profile,
	                         &wrong) != 0)
		return text_lines_fail(&reader->lines, error, wrong.text);
	reader->graph = call_graph_new(reader->profile->n_resources, error);
	reader->profile->graph = reader->graph;
	if (reader->graph == NULL)
		return -1;
	reader->graph->has_hits = true;
	reader->graph->places = call_places_new(reader->profile->n_resources,
	                                        error);
	return reader->graph->places != NULL ? 0 : -1;
}

/* What the next cost is of, but for an arc. */
static struct call_place
place_of(const struct callgrind_reader *reader)
{
	struct call_place place = { .node = reader->node, .arc = NO_ARC,
		                    .file = reader->code_file };
	uint64_t line = 0;

	if (reader->line_column < reader->n_positions)
		line = reader->positions[reader->line_column];
	if (line <= UINT32_MAX)
		place.line = (uint32_t)line;
	return place;
}

/* Most own costs are of the place that the cost before is of. */
static uint64_t *
find_own_row(struct callgrind_reader *reader, struct error *error)
{
	struct call_places *places = reader->graph->places;
	struct call_place place = place_of(reader);
	const struct call_place *last = reader->place == NO_PLACE ? NULL :
	    &places->items[reader->place];

	if (last == NULL || last->node != place.node ||
	    last->file != place.file || last->line != place.line)
		reader->place = call_places_at(places, place, error);
	return reader->place == NO_PLACE ? NULL :
	    call_places_hits(places, reader->place);
}

static int
add_calls(struct callgrind_reader *reader, uint64_t *sum, struct error *error)
{
	if (!__builtin_add_overflow(*sum, reader->calls, sum))
		return 0;
	return text_lines_fail(&reader->lines, error,
	                       "the sum of calls passes 64 bits");
}

static uint64_t *
find_call_row(struct callgrind_reader *reader, struct error *error)
{
	struct call_graph *graph = reader->graph;
	struct call_place place = place_of(reader);
	uint32_t number;

	place.arc = call_graph_arc(graph, reader->node, reader->callee, error);
	if (place.arc == UINT32_MAX)
		return NULL;
	number = call_places_at(graph->places, place, error);
	if (number == UINT32_MAX ||
	    add_calls(reader, &graph->arcs[place.arc].calls, error) != 0 ||
	    add_calls(reader, &graph->places->items[number].calls, error) != 0)
		return NULL;
	reader->is_call = false;
	reader->called_object = reader->called_file = NO_NAME;
	return call_places_hits(graph->places, number);
}

/* The row of counters that the next cost is added to; NULL with *error set. */
static uint64_t *
find_row(struct callgrind_reader *reader, struct error *error)
{
	if (reader->node == NO_NODE_YET)
		reader->node = callgrind_names_node(reader->names,
		    reader->graph, (struct callgrind_home){
			.object = reader->object, .file = reader->file,
		    }, "???", 3, error);
	if (reader->node == NO_NODE_YET)
		return NULL;
	return reader->is_call ? find_call_row(reader, error) :
	    find_own_row(reader, error);
}

int
callgrind_costs_line(struct callgrind_reader *reader, const char *at,
                     struct error *error)
{
	const char *wrong = NULL;
	uint64_t *row;

	if (reader->graph == NULL && begin_costs(reader, error) != 0)
		return -1;
	for (uint32_t i = 0; i < reader->n_positions && at != NULL; i++)
		at = read_position(callgrind_skip_blanks(at),
		                   &reader->positions[i]);
	if (at == NULL || (*at != ' ' && *at != '\t' && *at != '\r' &&
	                   *at != '\n'))
		return text_lines_reject(&reader->lines,
		    reader->n_positions == 1 ?
		    "expected a position before the costs" :
		    "expected positions before the costs",
		                   error);
	if (reader->is_jump && *callgrind_skip_blanks(at) == '\n') {
		reader->is_jump = false;
		return 0;
	}
	row = find_row(reader, error);
	if (row == NULL)
		return -1;
	wrong = add_costs(&reader->events, at, row);
	return wrong == NULL ? 0 : text_lines_reject(&reader->lines, wrong,
	                                             error);
}

/* KEY=NAME of an object or a file. */
static int
set_name(struct callgrind_reader *reader, uint32_t *number,
         enum callgrind_kind kind, const char *text, size_t length,
          struct error *error)
{
	struct error wrong = { 0 };
	uint32_t name = callgrind_names_add(reader->names, kind, text, length,
	                                    &wrong);

	if (name == NO_NAME)
		return text_lines_reject(&reader->lines, wrong.text, error);
	if (number != NULL)
		*number = name;
	return 0;
}

static int
set_node(struct callgrind_reader *reader, uint32_t *node,
         struct callgrind_home home, const char *text, size_t length,
         struct error *error)
{
	struct error wrong = { 0 };
	uint32_t found;

	if (reader->graph == NULL && begin_costs(reader, error) != 0)
		return -1;
	found = callgrind_names_node(reader->names, reader->graph, home, text,
	                             length, &wrong);
	if (found == UINT32_MAX)
		return text_lines_reject(&reader->lines, wrong.text, error);
	*node = found;
	return 0;
}

/* Whether an object or a file of a call says nothing, or there is none. */
static bool
is_unknown(const struct callgrind_reader *reader, uint32_t text)
{
	return text == NO_NAME || strcmp(names_text(
	    callgrind_names_texts(reader->names), text), "???") == 0;
}

/* fn=, cfn= */
static int
set_function(struct callgrind_reader *reader, bool is_called, const char *text,
             size_t length, struct error *error)
{
	struct callgrind_home home = { .object = reader->object,
		.file = reader->file };

	if (!is_called) {
		reader->called_object = reader->called_file = NO_NAME;
		reader->code_file = reader->file;
		return set_node(reader, &reader->node, home, text, length,
		                error);
	}
	home.is_object_guessed = is_unknown(reader, reader->called_object);
	home.is_file_guessed = is_unknown(reader, reader->called_file);
	if (reader->called_object != NO_NAME)
		home.object = reader->called_object;
	if (reader->called_file != NO_NAME)
		home.file = reader->called_file;
	return set_node(reader, &reader->callee, home, text, length, error);
}

static int
set_calls(struct callgrind_reader *reader, const char *text,
          struct error *error)
{
	if (reader->callee == NO_NODE_YET)
		return text_lines_reject(&reader->lines, "calls of no "
		    "function; expected cfn= before", error);
	text = callgrind_skip_blanks(text);
	if (callgrind_number(text, &reader->calls) == NULL)
		return text_lines_reject(&reader->lines,
		                         "expected a number of calls", error);
	if (reader->is_uncounted)
		reader->calls = 0;
	reader->is_call = true;
	return 0;
}

/* fl= is where functions are defined, and their own code. */
static int
set_file(struct callgrind_reader *reader, const char *text, size_t length,
         struct error *error)
{
	if (set_name(reader, &reader->file, CALLGRIND_FILE, text, length,
	             error) != 0)
		return -1;
	reader->code_file = reader->file;
	return 0;
}

/* A jump changes nothing but what its names' numbers mean. */
static int
pass_jump(struct callgrind_reader *reader, enum callgrind_kind kind,
          const char *text, size_t length, struct error *error)
{
	return set_name(reader, NULL, kind, text, length, error);
}

/* KEY=TEXT */
int
callgrind_name_line(struct callgrind_reader *reader, const char *line,
                    size_t key_length, size_t length, struct error *error)
{
	const char *text = line + key_length + 1;

	length -= key_length + 1;
	if (reader->is_head && callgrind_end_head(reader, error) != 0)
		return -1;
	if (callgrind_is_key(line, key_length, "fn"))
		return set_function(reader, false, text, length, error);
	if (callgrind_is_key(line, key_length, "cfn"))
		return set_function(reader, true, text, length, error);
	if (callgrind_is_key(line, key_length, "calls") ||
	    callgrind_is_key(line, key_length, "rcalls"))
		return set_calls(reader, text, error);
	if (callgrind_is_key(line, key_length, "fl"))
		return set_file(reader, text, length, error);
	if (callgrind_is_key(line, key_length, "fi") ||
	    callgrind_is_key(line, key_length, "fe"))
		return set_name(reader, &reader->code_file, CALLGRIND_FILE,
		                text, length, error);
	if (callgrind_is_key(line, key_length, "cfi") ||
	    callgrind_is_key(line, key_length, "cfl"))
		return set_name(reader, &reader->called_file, CALLGRIND_FILE,
		                 text, length, error);
	if (callgrind_is_key(line, key_length, "ob"))
		return set_name(reader, &reader->object, CALLGRIND_OBJECT,
		                 text, length, error);
	if (callgrind_is_key(line, key_length, "cob"))
		return set_name(reader, &reader->called_object,
		                 CALLGRIND_OBJECT, text, length, error);
	if (callgrind_is_key(line, key_length, "jump") ||
	    callgrind_is_key(line, key_length, "jcnd")) {
		reader->is_jump = true;
		return 0;
	}
	if (callgrind_is_key(line, key_length, "jfi"))
		return pass_jump(reader, CALLGRIND_FILE, text, length, error);
	if (callgrind_is_key(line, key_length, "jfn"))
		return pass_jump(reader, CALLGRIND_FUNCTION, text, length,
		                 error);
	return text_lines_reject(&reader->lines, "expected a cost, a name or "
	                         "a head", error);
}
