/* SPDX-License-Identifier: GPL-3.0-or-later */
/* xhprof.c -- what PHP's xhprof and its successors count, as JSON.
 *
 * {"main()": {"ct": 1, "wt": 100}, "main()==>f": {"ct": 3, "wt": 60}}
 *
 * A key is a function, or a function and one that it calls.  The numbers are
 * those of all its calls, with what these call; so a function's own are the sum
 * over the calls of it minus the sum over the calls from it.  "f@1" is f where
 * it is on the stack once already.
 * Sources: phacility/xhprof, xhprof_lib/utils/xhprof_lib.php; perftools,
 * php-profiler's src/Saver/FileSaver.php and xhgui's external/import.php.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/reader.h"
#include "src/profile/call_graph.h"

enum { LEVEL_MAX = 1 << 20 };

static const struct metric {
	const char *key, *name, *gtick;
	bool is_time;		/* else it can shrink */
} metrics[] = {
	{ "wt", "time", "microsecond", true },
	{ "cpu", "cpu", "microsecond", true },
	{ "mu", "memory", "byte", false },
	{ "pmu", "peak-memory", "byte", false },
};

enum { N_METRICS = sizeof metrics / sizeof *metrics };

/* The numbers of one key. */
struct xhprof_amounts {
	uint64_t calls;
	int64_t values[N_METRICS];
};

struct xhprof {
	struct reader reader;
	struct json_reader *json;
	struct names *functions;	/* with their level; node i is number i */
	struct xhprof_amounts *own;		/* [nodes] */
	size_t own_capacity;
	uint64_t n_keys;
	bool has_metric[N_METRICS];
	uint64_t n_below_calls;		/* functions with less time than what
					 * they call */
};

/* ---- functions ---- */

/* Takes "@2" off the end; the level, 1 if there is none. */
static uint32_t
take_level(const char *text, size_t *length)
{
	size_t at = *length;
	uint32_t level = 0, digit = 1;

	while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' &&
	       level < LEVEL_MAX) {
		level += digit * (uint32_t)(text[--at] - '0');
		digit *= 10;
	}
	if (at == *length || at < 2 || text[at - 1] != '@' ||
	    level >= LEVEL_MAX)
		return 1;
	*length = at - 1;
	return level + 1;
}

static uint32_t
xhprof_find_node(struct xhprof *input, const char *text, size_t length,
                 struct error *error)
{
	struct profile *profile = input->reader.profile;
	struct call_node node = { .object = NO_NAME, .file = NO_NAME };
	uint32_t n = names_count(input->functions);
	uint32_t number = names_add(input->functions, text, length, error);

	if (number == NO_NAME || number < n)
		return number;
	node.level = take_level(text, &length);
	node.name = names_add(profile->names, text, length, error);
	if (node.name == NO_NAME ||
	    memory_grow(&input->own, &input->own_capacity, (size_t)n + 1,
	                sizeof *input->own, error) != 0)
		return NO_NAME;
	input->own[n] = (struct xhprof_amounts){ 0 };
	return call_graph_add_node(profile->graph, node, NULL, error);
}

/* ---- keys ---- */

static void
read_metrics(struct xhprof *input, struct xhprof_amounts *amounts)
{
	struct json_token key, token;
	struct decimal decimal;

	while (json_next_key(input->json, &key)) {
		int metric = -1;
		bool is_calls = json_is(&key, "ct");

		for (int i = 0; i < N_METRICS; i++)
			if (json_is(&key, metrics[i].key))
				metric = i;
		if (metric < 0 && !is_calls)
			json_skip_value(input->json);
		else if (is_calls)
			json_get_number(input->json, UINT64_MAX,
			                "a number of calls", &amounts->calls);
		else if (!json_next(input->json, &token))
			return;
		else if (!json_decimal(&token, &decimal) ||
		         !decimal_scale(decimal, 0, &amounts->values[metric],
		                        NULL))
			json_fail(input->json, token.offset, "expected a "
			          "number of 63 bits");
		else
			input->has_metric[metric] = true;
	}
}

/* own += sign * amounts */
static bool
add_amounts(struct xhprof_amounts *own, const struct xhprof_amounts *amounts,
            int64_t sign)
{
	for (int i = 0; i < N_METRICS; i++)
		if (__builtin_add_overflow(own->values[i],
		        sign * amounts->values[i], &own->values[i]))
			return false;
	return true;
}

static bool
xhprof_add_hits(struct xhprof *input, uint32_t arc,
                const struct xhprof_amounts *amounts, uint64_t offset,
                struct error *error)
{
	struct call_graph *graph = input->reader.profile->graph;
	uint64_t *hits = call_graph_hits(graph, arc);

	for (int i = 0; i < N_METRICS; i++) {
		int64_t value = amounts->values[i];

		if (value < 0 && reader_note_below_zero(&input->reader,
		        (uint32_t)i, offset, error) != 0)
			return false;
		if (value > 0 && __builtin_add_overflow(hits[i],
		        (uint64_t)value, &hits[i]))
			return false;
	}
	return !__builtin_add_overflow(graph->arcs[arc].calls, amounts->calls,
	                               &graph->arcs[arc].calls);
}

static void
xhprof_read_key(struct xhprof *input, const struct json_token *key,
                struct error *error)
{
	struct call_graph *graph = input->reader.profile->graph;
	const char *arrow = memmem(key->text, key->length, "==>", 3);
	const char *end = key->text + key->length;
	struct xhprof_amounts amounts = { 0 };
	uint32_t caller = NO_NAME, callee, arc;
	uint64_t offset = key->offset;

	if (arrow != NULL)
		caller = xhprof_find_node(input, key->text,
		                          (size_t)(arrow - key->text), error);
	callee = arrow == NULL ?
	    xhprof_find_node(input, key->text, key->length, error) :
	    xhprof_find_node(input, arrow + 3, (size_t)(end - arrow - 3),
	                     error);
	if (error->is_set ||
	    !json_open_object(input->json, "numbers of calls, an object"))
		return;
	read_metrics(input, &amounts);
	if (error->is_set || json_is_cut_short(input->json))
		return;
	input->n_keys++;
	for (int i = 0; i < N_METRICS; i++)
		if (amounts.values[i] == INT64_MIN)
			json_fail(input->json, offset, "a number below -2^63");
	if (!add_amounts(&input->own[callee], &amounts, 1) ||
	    (arrow != NULL &&
	     !add_amounts(&input->own[caller], &amounts, -1)))
		json_fail(input->json, offset, "a sum exceeds 63 bits");
	if (arrow == NULL || error->is_set)
		return;
	arc = call_graph_arc(graph, caller, callee, error);
	if (arc != UINT32_MAX &&
	    !xhprof_add_hits(input, arc, &amounts, offset, error))
		json_fail(input->json, offset, "a sum exceeds 64 bits");
}

/* XHGui and others have the counts under "profile". */
static void
xhprof_read_object(struct xhprof *input, struct error *error)
{
	struct json_token key;
	unsigned depth = 1;

	while (depth > 0 && !error->is_set) {
		if (!json_next_key(input->json, &key))
			depth--;
		else if (depth == 1 && json_is(&key, "profile"))
			depth += json_open_object(input->json, "an object");
		else if (depth == 1 && (json_is(&key, "meta") ||
		                        json_is(&key, "_id")))
			json_skip_value(input->json);
		else
			xhprof_read_key(input, &key, error);
	}
}

/*
 * One object, or several: a line for each request, as php-profiler appends to a
 * file and XHGui imports it, or an array of such.  The counts of all add up.
 */
static void
xhprof_read_objects(struct xhprof *input, struct error *error)
{
	struct json_token token;

	while (json_next(input->json, &token))
		if (token.type == JSON_OBJECT)
			xhprof_read_object(input, error);
		else if (token.type != JSON_ARRAY &&
		         token.type != JSON_ARRAY_END)
			json_fail(input->json, token.offset,
			          "expected an object");
}

/* ---- the profile ---- */

static int
xhprof_finish(struct xhprof *input, struct error *error)
{
	const struct process process = { 0 };
	struct reader *reader = &input->reader;
	struct call_graph *graph = reader->profile->graph;
	uint32_t columns[N_METRICS], n = 0;
	struct error why = { 0 };

	reader->is_cut_short = json_is_cut_short(input->json);
	reader->place = json_offset(input->json);
	if (input->n_keys == 0)
		return reader_fail_empty(reader, error);
	if (reader_warn_cut_short(reader, "", error) != 0)
		return -1;
	/* Own amounts become hits; clocks can make them less than 0. */
	for (uint32_t node = 0; node < graph->n_nodes; node++) {
		uint64_t *self = call_graph_self(graph, node);
		bool is_below = false;

		for (uint32_t i = 0; i < N_METRICS; i++) {
			int64_t value = input->own[node].values[i];

			if (value < 0 && !metrics[i].is_time &&
			    reader_note_below_zero(reader, i, reader->place,
			                           error) != 0)
				return -1;
			is_below |= value < 0 && metrics[i].is_time;
			self[i] = value > 0 ? (uint64_t)value : 0;
		}
		input->n_below_calls += is_below;
	}
	/* Only the metrics that the file has stay. */
	for (uint32_t i = 0; i < N_METRICS; i++)
		if (input->has_metric[i])
			columns[n++] = i;
		else
			profile_drop_resource(reader->profile, n);
	if (n == 0)
		return reader_fail_empty(reader, error);
	if (reader_drop_below_zero(reader, columns, error) != 0)
		return -1;
	if (input->n_below_calls > 0 &&
	    reader_warn(reader, error, "%" PRIu64 " function%s less time than "
	        "the calls from there; own time counts as 0 then",
	        input->n_below_calls, input->n_below_calls == 1 ? " has" :
	        "s have") != 0)
		return -1;
	if (call_graph_check(graph, &why) != 0)
		return reader_pass_file(reader, &why, error);
	return profile_add_process(reader->profile, &process, error) !=
	       UINT32_MAX ? 0 : -1;
}

static int
xhprof_read_profile(struct xhprof *input, struct error *error)
{
	struct profile *profile = input->reader.profile;

	for (int i = 0; i < N_METRICS; i++)
		if (profile_add_resource(profile, metrics[i].name,
		                         metrics[i].gtick, 1, error) ==
		    UINT32_MAX)
			return -1;
	profile->graph = call_graph_new(N_METRICS, error);
	input->functions = names_new(error);
	input->json = json_reader_new(&input->reader, NULL, error);
	if (profile->graph == NULL || input->functions == NULL ||
	    input->json == NULL)
		return -1;
	profile->graph->has_hits = true;
	json_allow_several(input->json);
	xhprof_read_objects(input, error);
	return error->is_set ? -1 : xhprof_finish(input, error);
}

static struct profile *
xhprof_read(struct source *source, const struct read_options *options,
            struct error *error)
{
	struct xhprof input = { .json = NULL };
	int result = reader_begin(&input.reader, source, options,
	                          READER_OFFSETS, error);

	if (result == 0)
		result = xhprof_read_profile(&input, error);
	json_reader_free(input.json);
	names_free(input.functions);
	free(input.own);
	return reader_end(&input.reader, result);
}

/* Keys are names, so what is sought is the outermost and its numbers. */
static int
xhprof_probe(const void *head, size_t size)
{
	const char *at = head, *end = at + size, *root;

	while (at < end && memchr(" \t\r\n", *at, 4) != NULL)
		at++;
	if (at == end || (*at != '{' && *at != '['))
		return PROBE_NO;
	root = memmem(at, (size_t)(end - at), "\"main()", 7);
	return root != NULL &&
	       memmem(root, (size_t)(end - root), "\"ct\"", 4) != NULL ?
	       PROBE_SURE : PROBE_NO;
}

const struct format format_xhprof = {
	.name = "xhprof",
	.summary = "calls of PHP's xhprof, tideways and XHGui, in JSON",
	.probe = xhprof_probe,
	.read = xhprof_read,
};
