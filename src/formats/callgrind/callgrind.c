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
#include <stdlib.h>
#include <string.h>

#include "src/formats/callgrind/callgrind_contexts.h"
#include "src/formats/callgrind/callgrind_reader.h"
#include "src/formats/callgrind/callgrind_words.h"

enum { LINE_MAX_MIB = 64 };

/*
 * Whether the line only sums up what came before, so that losing it loses
 * nothing.
 */
static bool
is_sum(const char *line, size_t length)
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
	if (input->reader.is_unended && !is_sum(line, length))
		return reader_reject(&input->reader, "expected an end of line",
		                     error);
	while (key < length && ((line[key] >= 'a' && line[key] <= 'z') ||
	                        (line[key] >= 'A' && line[key] <= 'Z')))
		key++;
	if (key < length && line[key] == '=')
		return callgrind_name_line(input, line, key, length, error);
	/* "timeframe (BB): ..." is one, too. */
	while (key < length && line[key] != ':' && line[key] != '=')
		key++;
	if (key < length && line[key] == ':')
		return callgrind_head_line(input, line, key, length, error);
	return reader_reject(&input->reader, "expected a cost, a name or a "
	                     "head", error);
}

/* ---- the whole input ---- */

static int
read_line(void *context, const char *line, size_t length, struct error *error)
{
	struct callgrind *input = context;
	char first = *line;

	if ((first >= '0' && first <= '9') || first == '+' || first == '-' ||
	    first == '*') {
		if (input->is_head && callgrind_end_head(input, error) != 0)
			return -1;
		return callgrind_costs_line(input, line, error);
	}
	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0 || first == '#' || *callgrind_skip_blanks(line) == '\n')
		return 0;
	return line_of_words(input, line, length, error);
}

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
		return reader_fail_file(reader, error, "%s", wrong.text);
	if (input->has_estimates)
		forget_call_hits(graph);
	return graph->n_arcs > 0 ? 0 :
	    reader_warn(reader, error, "no calls in it, so the costs of functions "
	                "with their descendants are unknown");
}

static int
read_profile(struct callgrind *input, struct error *error)
{
	struct reader *reader = &input->reader;

	if (reader_lines(reader, LINE_MAX_MIB, read_line, input, error) != 0)
		return -1;
	if (input->graph == NULL)
		return reader_fail_file(reader, error, "no costs in it");
	reader->is_cut |= input->is_call ||
	    (input->is_callgrind && !input->has_end);
	return reader_warn_lines(reader, "", error) == 0 ?
	       finish_graph(input, error) : -1;
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
		.place = NO_PLACE,
	};
	int result;

	reader_begin(&input.reader, source, options, READER_LINES, error);
	input.names = callgrind_names_new(error);
	result = error->is_set ? -1 : read_profile(&input, error);
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
