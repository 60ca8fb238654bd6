/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_body.c -- costs, and the names that they are of.
 *
 * The loop over the costs of a line is where the time goes: it looks at each
 * byte once.
 */
#include "src/formats/callgrind/callgrind_reader.h"

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What stands behind 0x; NULL where it is no number of 64 bits. */
static const char *
read_hex(const char *at, uint64_t *number)
{
	const char *start = at;
	int digit;

	*number = 0;
	for (; (digit = hex_digit(*at)) >= 0; at++) {
		if (*number >> 60 != 0)
			return NULL;
		*number = *number << 4 | (uint64_t)digit;
	}
	return at > start ? at : NULL;
}

const char *
callgrind_number(const char *at, uint64_t *number)
{
	const char *start = at;
	uint64_t sum = 0;

	if (at[0] == '0' && (at[1] | 0x20) == 'x')
		return read_hex(at + 2, number);
	for (; *at >= '0' && *at <= '9'; at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	*number = sum;
	if (at - start < 20)
		return at > start ? at : NULL;
	/* Too long to be sure: once more, with care. */
	for (sum = 0; start < at; start++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, *start - '0', &sum))
			return NULL;
	return at;
}

/* One of a cost's positions: NUMBER, +NUMBER, -NUMBER or *; NULL else. */
static const char *
skip_position(const char *at)
{
	uint64_t number;

	if (*at == '*')
		return at + 1;
	return callgrind_number(*at == '+' || *at == '-' ? at + 1 : at, &number);
}

/* Takes back the first n costs of a line that proved wrong. */
static void
take_back(const struct callgrind_events *events, const char *at, uint64_t *row,
          uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t cost = 0;

		at = skip_blanks(at);
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

	for (i = 0; *(at = skip_blanks(at)) != '\n'; i++) {
		uint64_t cost = 0, sum;

		if (i == events->n_columns)
			wrong = "more costs than events";
		else if (*at == '.')
			at++;
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
	return 0;
}

/* The row of counters that the next cost is added to; NULL with *error set. */
static uint64_t *
find_row(struct callgrind_reader *reader, struct error *error)
{
	uint64_t *calls;
	uint32_t arc;

	if (reader->node == NO_NODE_YET)
		reader->node = callgrind_names_node(reader->names,
		    reader->graph, reader->object, reader->file, "???", 3,
		    error);
	if (reader->node == NO_NODE_YET)
		return NULL;
	if (!reader->is_call)
		return call_graph_self(reader->graph, reader->node);
	arc = call_graph_arc(reader->graph, reader->node, reader->callee,
	                     error);
	if (arc == UINT32_MAX)
		return NULL;
	calls = &reader->graph->arcs[arc].calls;
	if (__builtin_add_overflow(*calls, reader->calls, calls)) {
		text_lines_fail(&reader->lines, error,
		                "the sum of calls passes 64 bits");
		return NULL;
	}
	reader->is_call = false;
	reader->called_object = reader->called_file = NO_NAME;
	return call_graph_hits(reader->graph, arc);
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
		at = skip_position(skip_blanks(at));
	if (at == NULL || (*at != ' ' && *at != '\t' && *at != '\r' &&
	                   *at != '\n'))
		return text_lines_reject(&reader->lines,
		    reader->n_positions == 1 ?
		    "expected a position before the costs" :
		    "expected positions before the costs",
		                   error);
	row = find_row(reader, error);
	if (row == NULL)
		return -1;
	wrong = add_costs(&reader->events, at, row);
	return wrong == NULL ? 0 : text_lines_reject(&reader->lines, wrong,
	                                             error);
}

/* KEY=NAME of an object or a file. */
static int
set_place(struct callgrind_reader *reader, uint32_t *place,
          enum callgrind_kind kind, const char *text, size_t length,
          struct error *error)
{
	struct error wrong = { 0 };
	uint32_t name = callgrind_names_add(reader->names, kind, text, length,
	                                    &wrong);

	if (name == NO_NAME)
		return text_lines_reject(&reader->lines, wrong.text, error);
	if (place != NULL)
		*place = name;
	return 0;
}

static int
set_node(struct callgrind_reader *reader, uint32_t *node, uint32_t object,
         uint32_t file, const char *text, size_t length, struct error *error)
{
	struct error wrong = { 0 };
	uint32_t found;

	if (reader->graph == NULL && begin_costs(reader, error) != 0)
		return -1;
	found = callgrind_names_node(reader->names, reader->graph, object,
	                             file, text, length, &wrong);
	if (found == UINT32_MAX)
		return text_lines_reject(&reader->lines, wrong.text, error);
	*node = found;
	return 0;
}

/* fn=, cfn= */
static int
set_function(struct callgrind_reader *reader, bool is_called, const char *text,
             size_t length, struct error *error)
{
	uint32_t object = reader->object, file = reader->file;

	if (!is_called) {
		reader->called_object = reader->called_file = NO_NAME;
		return set_node(reader, &reader->node, object, file, text,
		                length, error);
	}
	if (reader->called_object != NO_NAME)
		object = reader->called_object;
	if (reader->called_file != NO_NAME)
		file = reader->called_file;
	return set_node(reader, &reader->callee, object, file, text, length,
	                error);
}

static int
set_calls(struct callgrind_reader *reader, const char *text,
          struct error *error)
{
	if (reader->callee == NO_NODE_YET)
		return text_lines_reject(&reader->lines, "calls of no "
		    "function; expected cfn= before", error);
	if (callgrind_number(skip_blanks(text), &reader->calls) == NULL)
		return text_lines_reject(&reader->lines,
		                         "expected a number of calls", error);
	reader->is_call = true;
	return 0;
}

/* A jump changes nothing but what its names' numbers mean. */
static int
pass_jump(struct callgrind_reader *reader, enum callgrind_kind kind,
          const char *text, size_t length, struct error *error)
{
	return set_place(reader, NULL, kind, text, length, error);
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
		return set_place(reader, &reader->file, CALLGRIND_FILE, text,
		                 length, error);
	if (callgrind_is_key(line, key_length, "fi") ||
	    callgrind_is_key(line, key_length, "fe"))
		return set_place(reader, NULL, CALLGRIND_FILE, text, length,
		                 error);
	if (callgrind_is_key(line, key_length, "cfi") ||
	    callgrind_is_key(line, key_length, "cfl"))
		return set_place(reader, &reader->called_file, CALLGRIND_FILE,
		                 text, length, error);
	if (callgrind_is_key(line, key_length, "ob"))
		return set_place(reader, &reader->object, CALLGRIND_OBJECT,
		                 text, length, error);
	if (callgrind_is_key(line, key_length, "cob"))
		return set_place(reader, &reader->called_object,
		                 CALLGRIND_OBJECT, text, length, error);
	if (callgrind_is_key(line, key_length, "jump") ||
	    callgrind_is_key(line, key_length, "jcnd"))
		return 0;
	if (callgrind_is_key(line, key_length, "jfi"))
		return pass_jump(reader, CALLGRIND_FILE, text, length, error);
	if (callgrind_is_key(line, key_length, "jfn"))
		return pass_jump(reader, CALLGRIND_FUNCTION, text, length,
		                 error);
	return text_lines_reject(&reader->lines, "expected a cost, a name or "
	                         "a head", error);
}
