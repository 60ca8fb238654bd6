/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpuprofile.c -- the .cpuprofile of Chrome, Node.js, Deno and v8-profiler.
 *
 * {"nodes": [{"id", "callFrame": {"functionName", "url", "lineNumber",
 * "columnNumber"}, "hitCount", "children": [id, ...]}, ...], "startTime",
 * "endTime", "samples": [id, ...], "timeDeltas": [...]}, the keys in any order.
 * In traces nodes have "parent" instead of "children".  In the older form
 * "children" holds the nodes themselves, nested as deep as the stacks were; an
 * array of open nodes replaces recursion.
 *
 * Hits are summed up by node, then nodes with hits are entered.  A sample is
 * charged with the time until the next one, as in DevTools: a delta belongs to
 * the sample before it.  Times may go back a little, since V8 takes them on
 * another thread.  A sample before the latest time so far then counts as taken
 * at that time, as in speedscope, so that no time counts twice.
 *
 * A node whose hits are known by line has a row for each line beside its own,
 * with the same caller; what it calls stays below its own row, whose line is
 * unknown: V8 does not say from which line calls were made.
 *
 * A sample's time is spread over the slices of the timeline, which may be
 * narrower.  The sample itself is in the first of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/formats/chrome/cpuprofile.h"
#include "src/symbols/names/program.h"

/* Rows between two checks for an interrupt. */
enum { ROWS_A_STEP = 1 << 16 };

/* Later times, in microseconds, are not noted: 285 years. */
#define MOST_TIME ((int64_t)9000000000000000)

/* Time and samples of a node. */
struct charge {
	uint64_t time, samples;
};

/* A profile of V8 that is being entered. */
struct entering {
	struct v8_reader *input;
	const struct v8_profile *v8;
	bool has_hits;
	bool is_endless;		/* the end of the last sample is not
					 * known */
	int64_t first, last;		/* times of samples; first > last: there
					 * are none by a common clock */
	uint64_t width_ns;		/* of the parts over which a sample's
					 * time is spread */
	uint32_t *parent, *label;	/* [n_rows] */
	uint32_t *nodes;		/* [n_rows], the reader's, of rows that
					 * were entered */
	struct charge *charges;		/* [n_rows] */
	uint32_t n_rows;		/* nodes, then sampled ids without a
					 * node, then lines of nodes */
	uint32_t *rows_of_ids;		/* [v8->id_numbers.n] */
	uint32_t *rows_of_samples;	/* [v8->n_samples] */
	uint32_t first_line;		/* row of the first of */
	struct id_table lines;		/* (node << 32 | line), */
	uint64_t *line_hits;		/* [lines.n] with these ticks */
	size_t line_hits_capacity;
};

void
v8_profile_free(struct v8_profile *v8)
{
	id_table_free(&v8->id_numbers);
	free(v8->nodes);
	free(v8->ids);
	free(v8->samples);
	free(v8->times);
	free(v8->ticks);
	free(v8->lines);
	free(v8->open);
}

void
v8_profile_clear(struct v8_profile *v8)
{
	struct v8_profile empty = {
		.nodes = v8->nodes, .nodes_capacity = v8->nodes_capacity,
		.ids = v8->ids, .ids_capacity = v8->ids_capacity,
		.samples = v8->samples,
		.samples_capacity = v8->samples_capacity,
		.times = v8->times, .times_capacity = v8->times_capacity,
		.ticks = v8->ticks, .ticks_capacity = v8->ticks_capacity,
		.lines = v8->lines, .lines_capacity = v8->lines_capacity,
		.open = v8->open, .open_capacity = v8->open_capacity,
	};

	id_table_free(&v8->id_numbers);
	*v8 = empty;
}

int
v8_begin(struct v8_reader *input, struct source *source,
         const struct read_options *options, struct error *error)
{
	*input = (struct v8_reader){ .error = error };
	if (reader_begin(&input->reader, source, options, READER_OFFSETS,
	                 error) != 0)
		return -1;
	input->json = json_reader_new(&input->reader, input, error);
	return input->json != NULL ? 0 : -1;
}

/* ---- ids and nodes ---- */

/* The index of an id, added if new; NO_ID with *error set. */
static uint32_t
v8_profile_add_id(struct v8_profile *v8, uint64_t id, struct error *error)
{
	uint32_t n = v8->id_numbers.n, number;

	/* Room first: every number must have its place. */
	if (n >= v8->ids_capacity &&
	    memory_grow(&v8->ids, &v8->ids_capacity, (size_t)n + 1,
	                sizeof *v8->ids, error) != 0)
		return NO_ID;
	number = id_table_add(&v8->id_numbers, id, error);
	if (number != NO_ID && number >= n)
		v8->ids[number] = (struct v8_id){ id, NO_ROW, NO_ROW };
	return number;
}

/* Likewise an id in the input. */
static uint32_t
v8_read_id(struct v8_reader *input, const struct json_token *token)
{
	uint64_t id;

	if (json_whole_number(token, INT64_MAX, &id))
		return v8_profile_add_id(input->v8, id, input->error);
	json_refuse(input->json, token, "the id of a node");
	return NO_ID;
}

/* A new node, called by `parent`; NO_ROW with *error set. */
static uint32_t
v8_profile_add_node(struct v8_profile *v8, uint32_t parent, struct error *error)
{
	if (v8->n_nodes >= NO_ROW - 1) {
		error_set(error, "more than 4,294,967,293 nodes");
		return NO_ROW;
	}
	if (memory_grow(&v8->nodes, &v8->nodes_capacity,
	                (size_t)v8->n_nodes + 1, sizeof *v8->nodes,
	                error) != 0)
		return NO_ROW;
	v8->nodes[v8->n_nodes] = (struct v8_node){ .id = NO_ID,
		.parent = parent, .parent_id = NO_ID, .function = NO_NAME,
		.file = NO_NAME };
	return v8->n_nodes++;
}

/* The node has its id, unless another one had it before. */
static void
v8_claim_id(struct v8_profile *v8, uint32_t node)
{
	uint32_t id = v8->nodes[node].id;

	if (id != NO_ID && v8->ids[id].node == NO_ROW)
		v8->ids[id].node = node;
}

/* Notes that a node lists the id as a child; the first one to do so counts. */
static void
set_child(struct v8_profile *v8, uint32_t node, uint32_t id)
{
	if (id != NO_ID && v8->ids[id].parent == NO_ROW)
		v8->ids[id].parent = node;
}

/* ---- reading ---- */

/* A line or column, of which the first is field->number: from 1 on. */
static void
v8_read_place(struct json_reader *json, struct json_token *token, void *into)
{
	const int64_t first = (int64_t)token->field->number;
	uint32_t *to = json_field_in(token, into);
	struct decimal number;
	int64_t place;

	(void)json;
	if (json_decimal(token, &number) &&
	    decimal_scale(number, 0, &place, NULL) && place >= first &&
	    place < UINT32_MAX)
		*to = (uint32_t)(place + 1 - first);
}

static const struct json_field v8_tick_fields[] = {
	{ "line", "a line", JSON_NUMBER, .read = v8_read_place,
	  .at = offsetof(struct v8_tick, line), .number = 1, .or_skip = true },
	{ "ticks", "a number of hits", JSON_NUMBER, .read = json_read_u64,
	  .at = offsetof(struct v8_tick, hits), .or_skip = true },
	{ NULL }
};

/* How many of the node's hits were in each line. */
static void
v8_read_ticks(struct json_reader *json, struct json_token *token, void *into)
{
	struct v8_reader *input = json_context(json);
	struct v8_profile *v8 = input->v8;
	struct v8_node *node = into;

	node->first_tick = v8->n_ticks;
	while (json_next_object(json, token, "a line's hits, an object")) {
		struct v8_tick tick = { 0 };

		json_read_fields(json, v8_tick_fields, &tick);
		if (tick.line > 0 && tick.hits > 0 &&
		    memory_grow(&v8->ticks, &v8->ticks_capacity,
		                v8->n_ticks + 1, sizeof *v8->ticks,
		                input->error) == 0)
			v8->ticks[v8->n_ticks++] = tick;
	}
	node->n_ticks = v8->n_ticks - node->first_tick;
}

static void
v8_read_node_id(struct json_reader *json, struct json_token *token, void *into)
{
	uint32_t *id = json_field_in(token, into);

	*id = v8_read_id(json_context(json), token);
}

static void
v8_read_hits(struct json_reader *json, struct json_token *token, void *into)
{
	struct v8_reader *input = json_context(json);
	struct decimal hits;

	if (json_decimal(token, &hits) && hits.digits < 0)
		input->v8->hits_below_zero = token->offset + 1;
	else
		json_read_u64(json, token, into);
}

#define NODE(member) offsetof(struct v8_node, member)

/* In this newer form lines count from 0. */
static const struct json_field v8_call_frame_fields[] = {
	{ "functionName", "a name", JSON_STRING, .read = json_read_name,
	  .at = NODE(function) },
	{ "url", "a name", JSON_STRING,
	  .read = json_read_name, .at = NODE(file) },
	{ "lineNumber", "a line", JSON_NUMBER, .read = v8_read_place,
	  .at = NODE(line), .number = 0, .or_skip = true },
	{ "columnNumber", "a column", JSON_NUMBER, .read = v8_read_place,
	  .at = NODE(column), .number = 0, .or_skip = true },
	{ NULL }
};

/* All of a node but "children". */
static const struct json_field v8_node_fields[] = {
	{ "id", "the id of a node", JSON_NUMBER, .read = v8_read_node_id,
	  .at = NODE(id) },
	{ "callFrame", "a function, an object", JSON_OBJECT,
	  .fields = v8_call_frame_fields },
	{ "parent", "the id of a node", JSON_NUMBER, .read = v8_read_node_id,
	  .at = NODE(parent_id) },
	{ "hitCount", "how often a node was hit", JSON_NUMBER,
	  .read = v8_read_hits, .at = NODE(hits) },
	{ "positionTicks", "an array of lines", JSON_ARRAY,
	  .read = v8_read_ticks, .or_skip = true },
	{ "functionName", "a name", JSON_STRING, .read = json_read_name,
	  .at = NODE(function) },
	{ "url", "a name", JSON_STRING,
	  .read = json_read_name, .at = NODE(file) },
	{ "lineNumber", "a line", JSON_NUMBER, .read = v8_read_place,
	  .at = NODE(line), .number = 1, .or_skip = true },
	{ "columnNumber", "a column", JSON_NUMBER, .read = v8_read_place,
	  .at = NODE(column), .number = 1, .or_skip = true },
	{ NULL }
};

static void
open_node(struct v8_reader *input, struct v8_profile *v8, size_t *depth)
{
	uint32_t node = v8_profile_add_node(v8, *depth > 0 ?
	                                    v8->open[*depth - 1] : NO_ROW,
	                                    input->error);

	if (node != NO_ROW &&
	    memory_grow(&v8->open, &v8->open_capacity, *depth + 1,
	                sizeof *v8->open, input->error) == 0)
		v8->open[(*depth)++] = node;
}

/*
 * Reads a node whose object is open, and those nested in it.  The values of
 * other keys are read with the keys, so the rest is in "children".  A node
 * without any key is none, of which a packed file can have millions.
 */
static void
read_node(struct v8_reader *input)
{
	struct v8_profile *v8 = input->v8;
	struct json_token token;
	size_t depth = 0;
	bool is_empty = true;

	open_node(input, v8, &depth);
	while (depth > 0 && json_next(input->json, &token)) {
		uint32_t node = v8->open[depth - 1];

		if (token.type == JSON_OBJECT_END) {
			v8->n_nodes -= is_empty;
			depth--;
		} else if (token.type == JSON_OBJECT)
			open_node(input, v8, &depth);
		else if (token.type == JSON_NUMBER)
			set_child(v8, node, v8_read_id(input, &token));
		else if (token.type == JSON_KEY && json_is(&token, "children"))
			json_open_array(input->json, "an array of nodes");
		else if (token.type == JSON_KEY) {
			json_read_key(input->json, v8_node_fields, &token,
			              &v8->nodes[node]);
			v8_claim_id(v8, node);
		} else if (token.type != JSON_ARRAY_END)
			json_refuse(input->json, &token, "a node or its id");
		is_empty = token.type == JSON_OBJECT;
	}
}

static void
v8_read_nodes(struct json_reader *json, struct json_token *token, void *into)
{
	struct v8_profile *v8 = into;

	if (v8->samples_offset == 0)
		v8->samples_offset = token->offset;
	while (json_next_object(json, token, "a node, an object"))
		read_node(json_context(json));
}

static void
v8_read_head(struct json_reader *json, struct json_token *token, void *into)
{
	struct v8_profile *v8 = into;

	if (v8->samples_offset == 0)
		v8->samples_offset = token->offset;
	v8->is_old = true;
	read_node(json_context(json));
}

static void
v8_read_samples(struct json_reader *json, struct json_token *token, void *into)
{
	struct v8_reader *input = json_context(json);
	struct v8_profile *v8 = into;

	while (json_next_element(json, token)) {
		uint32_t id = v8_read_id(input, token);

		if (v8->n_samples == 0)
			v8->samples_offset = token->offset;
		if (id != NO_ID &&
		    memory_grow(&v8->samples, &v8->samples_capacity,
		                v8->n_samples + 1, sizeof *v8->samples,
		                input->error) == 0)
			v8->samples[v8->n_samples++] = id;
	}
}

static int
v8_profile_add_line(struct v8_profile *v8, uint32_t line, struct error *error)
{
	if (memory_grow(&v8->lines, &v8->lines_capacity, v8->n_lines + 1,
	                sizeof *v8->lines, error) != 0)
		return -1;
	v8->lines[v8->n_lines++] = line;
	return 0;
}

static void
v8_read_lines(struct json_reader *json, struct json_token *token, void *into)
{
	while (json_next_element(json, token)) {
		uint64_t line;

		if (!json_whole_number(token, UINT32_MAX - 1, &line))
			line = 0;
		if (v8_profile_add_line(into, (uint32_t)line,
		                        json_error(json)) != 0)
			return;
	}
}

static void
v8_read_times(struct json_reader *json, struct json_token *token, void *into)
{
	struct v8_profile *v8 = into;
	struct decimal number;
	int64_t time;

	if (v8->n_times > 0) {	/* Hermes writes them twice */
		json_skip(json, token);
		return;
	}
	v8->has_times = true;
	v8->are_absolute = strcmp(token->field->key, "timestamps") == 0;
	while (json_next_element(json, token)) {
		if (!json_decimal(token, &number) ||
		    !decimal_scale(number, 0, &time, NULL) ||
		    time > INT64_MAX / 2 || time < -INT64_MAX / 2)
			json_fail(json, token->offset,
			          "expected a time in microseconds");
		else if (memory_grow(&v8->times, &v8->times_capacity,
		                     v8->n_times + 1, sizeof *v8->times,
		                     json_error(json)) == 0)
			v8->times[v8->n_times++] = time;
	}
}

const struct json_field v8_time_fields[] = {
	{ "timeDeltas", "an array of times", JSON_ARRAY,
	  .read = v8_read_times },
	{ "lines", "an array of lines", JSON_ARRAY, .read = v8_read_lines },
	{ "startTime", "a time", JSON_NUMBER, .read = json_read_decimal,
	  .at = offsetof(struct v8_profile, start), .or_skip = true },
	{ "endTime", "a time", JSON_NUMBER, .read = json_read_decimal,
	  .at = offsetof(struct v8_profile, end), .or_skip = true },
	{ NULL }
};

const struct json_field v8_fields[] = {
	{ "nodes", "an array of nodes", JSON_ARRAY, .read = v8_read_nodes },
	{ "head", "a node, an object", JSON_OBJECT, .read = v8_read_head },
	{ "samples", "an array of nodes' ids", JSON_ARRAY,
	  .read = v8_read_samples },
	{ "timestamps", "an array of times", JSON_ARRAY,
	  .read = v8_read_times },
	{ .key = NULL, .fields = v8_time_fields }
};

/* Adds the lines of a piece, before its samples are added. */
static int
v8_profile_append_lines(struct v8_profile *v8, const struct v8_profile *piece,
                        struct error *error)
{
	if (memory_grow(&v8->ticks, &v8->ticks_capacity,
	                v8->n_ticks + piece->n_ticks, sizeof *v8->ticks,
	                error) != 0)
		return -1;
	if (piece->n_ticks > 0)
		memcpy(v8->ticks + v8->n_ticks, piece->ticks,
		       piece->n_ticks * sizeof *v8->ticks);
	v8->n_ticks += piece->n_ticks;
	/* Pieces without any line have no list of them. */
	while (piece->n_lines > 0 && v8->n_lines < v8->n_samples)
		if (v8_profile_add_line(v8, 0, error) != 0)
			return -1;
	for (size_t i = 0; i < piece->n_lines && i < piece->n_samples; i++)
		if (v8_profile_add_line(v8, piece->lines[i], error) != 0)
			return -1;
	return 0;
}

int
v8_profile_append(struct v8_profile *v8, const struct v8_profile *piece,
                  struct error *error)
{
	bool has_begun = v8->n_samples > 0;
	uint32_t base = v8->n_nodes;

	for (uint32_t i = 0; i < piece->n_nodes; i++) {
		const struct v8_node *from = &piece->nodes[i];
		uint32_t parent = from->parent == NO_ROW ? NO_ROW :
		                  base + from->parent;
		uint32_t number = v8_profile_add_node(v8, parent, error);
		struct v8_node *node;

		if (number == NO_ROW)
			return -1;
		node = &v8->nodes[number];
		*node = *from;
		node->parent = parent;
		node->first_tick += v8->n_ticks;
		node->id = NO_ID;
		if (from->id != NO_ID)
			node->id = v8_profile_add_id(v8,
			    piece->ids[from->id].id, error);
		v8_claim_id(v8, number);
		if (from->parent_id != NO_ID)
			node->parent_id = v8_profile_add_id(v8,
			    piece->ids[from->parent_id].id, error);
	}
	for (uint32_t i = 0; i < piece->id_numbers.n; i++)
		if (piece->ids[i].parent != NO_ROW)
			set_child(v8, base + piece->ids[i].parent,
			          v8_profile_add_id(v8, piece->ids[i].id,
			                            error));
	if (error->is_set ||
	    v8_profile_append_lines(v8, piece, error) != 0 ||
	    memory_grow(&v8->samples, &v8->samples_capacity,
	                v8->n_samples + piece->n_samples,
	                sizeof *v8->samples, error) != 0 ||
	    memory_grow(&v8->times, &v8->times_capacity,
	                v8->n_times + piece->n_times, sizeof *v8->times,
	                error) != 0)
		return -1;
	for (size_t i = 0; i < piece->n_samples; i++) {
		uint32_t id = v8_profile_add_id(v8,
		    piece->ids[piece->samples[i]].id, error);

		if (id == NO_ID)
			return -1;
		v8->samples[v8->n_samples++] = id;
	}
	if (piece->n_times > 0)
		memcpy(v8->times + v8->n_times, piece->times,
		       piece->n_times * sizeof *v8->times);
	v8->n_times += piece->n_times;
	v8->has_times |= piece->has_times;
	v8->are_absolute |= piece->are_absolute;
	v8->is_old |= piece->is_old;
	if (v8->samples_offset == 0)
		v8->samples_offset = piece->samples_offset;
	/* "Profile" may have 0 and the piece with the samples the time. */
	if (piece->start.is_there && (!v8->start.is_there || !has_begun))
		v8->start = piece->start;
	if (piece->end.is_there)
		v8->end = piece->end;
	return 0;
}

/* ---- times ---- */

/* Seconds in the older form, microseconds in the newer one; false: too many. */
static bool
find_bound(const struct v8_profile *v8, struct decimal bound, int64_t *time)
{
	return decimal_scale(bound, v8->is_old ? 6 : 0, time, NULL) &&
	       *time <= INT64_MAX / 2 && *time >= -INT64_MAX / 2;
}

/* When a sample was taken, if that of the one before is `last`. */
static bool
find_time(const struct v8_profile *v8, size_t sample, int64_t last,
          int64_t *time)
{
	if (!v8->are_absolute)
		return !__builtin_add_overflow(last, v8->times[sample], time);
	*time = v8->times[sample];
	return true;
}

/* Whether times count from the same as those of the file's other profiles. */
static bool
has_clock(const struct v8_profile *v8)
{
	return v8->has_times && (v8->start.is_there || v8->are_absolute);
}

void
v8_announce(struct v8_reader *input, const struct v8_profile *v8)
{
	int64_t time = 0;

	if (!has_clock(v8) || v8->n_samples == 0 || v8->n_times == 0 ||
	    (v8->start.is_there && !find_bound(v8, v8->start.decimal, &time)) ||
	    !find_time(v8, 0, time, &time) || time < 0 ||
	    (input->has_earliest && time >= input->earliest))
		return;
	input->earliest = time;
	input->has_earliest = true;
}

/* The row of a sample, which was taken at `begin` and lasted until `end`. */
typedef int timed_sample(struct entering *entering, uint32_t row,
                         int64_t begin, int64_t end, struct error *error);

/*
 * Calls `use` for each sample whose time is known.  latest: the greatest time
 * so far, since the clock must not go back.  If there is one time more than
 * samples, it says when the last sample ended (Chromium's DevTools,
 * CPUProfileDataModel.ts).  Else the profile's end does, if it is known by the
 * clock of the samples: deltas count from a start, which must be in the file.
 */
static int
each_timed_sample(struct entering *entering, timed_sample *use,
                  struct error *error)
{
	const struct v8_profile *v8 = entering->v8;
	int64_t time = 0, latest = 0, end = 0;

	if (v8->start.is_there && !find_bound(v8, v8->start.decimal, &time))
		return error_set(error, "a start time that exceeds 63 bits");
	for (size_t i = 0; i <= v8->n_samples && i < v8->n_times; i++) {
		if (i % ROWS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (!find_time(v8, i, time, &time))
			return error_set(error, "the time of sample %zu exceeds "
			                 "63 bits", i);
		if (i > 0 && use(entering, entering->rows_of_samples[i - 1],
		        latest,
		        time > latest ? time : latest, error) != 0)
			return -1;
		if (i == 0 || time > latest)
			latest = time;
	}
	if (v8->n_times != v8->n_samples || v8->n_samples == 0)
		return 0;
	entering->is_endless = !v8->end.is_there ||
	    (!v8->start.is_there && !v8->are_absolute) ||
	    !find_bound(v8, v8->end.decimal, &end);
	if (entering->is_endless || end < latest)
		end = latest;
	return use(entering, entering->rows_of_samples[v8->n_samples - 1],
	           latest, end, error);
}

static int
charge_sample(struct entering *entering, uint32_t row, int64_t begin,
              int64_t end, struct error *error)
{
	(void)error;
	entering->charges[row].time += (uint64_t)end - (uint64_t)begin;
	if (entering->first > entering->last)
		entering->first = begin;
	entering->last = end;
	return 0;
}

/* The nanoseconds of a time; the microseconds are from 0 to MOST_TIME. */
static uint64_t
ns_of(int64_t time)
{
	return (uint64_t)time * 1000;
}

/*
 * Notes when a sample was taken, and spreads its time.  The parts of one that
 * lasts long begin where slices of the timeline do, which may be wider.
 */
static int
note_sample(struct entering *entering, uint32_t row, int64_t begin,
            int64_t end, struct error *error)
{
	struct v8_reader *input = entering->input;
	const uint64_t from = ns_of(input->earliest);
	uint64_t done = 0, at = ns_of(begin);
	uint32_t node = entering->nodes[row];

	if (reader_add_time(&input->reader, node, input->samples - 1, at, 1, 1,
	                    error) != 0)
		return -1;
	do {
		/* The next part begins at a multiple of the width. */
		const uint64_t next = at + entering->width_ns -
		    (at - from) % entering->width_ns;
		const uint64_t until = next < ns_of(end) ?
		    next / 1000 - (uint64_t)begin :
		    (uint64_t)end - (uint64_t)begin;

		if (reader_add_time(&input->reader, node, input->time - 1, at,
		        until - done, at == ns_of(begin), error) != 0)
			return -1;
		done = until;
		at = next;
	} while (done < (uint64_t)end - (uint64_t)begin);
	return 0;
}

/* ---- rows ---- */

/* The node of a row, and in *line the line that it is of, or 0; NULL: none. */
static const struct v8_node *
v8_row_node(const struct entering *entering, uint32_t row, uint32_t *line)
{
	const struct v8_profile *v8 = entering->v8;
	uint64_t id;

	*line = 0;
	if (row < entering->first_line)
		return row < v8->n_nodes ? &v8->nodes[row] : NULL;
	id = entering->lines.ids[row - entering->first_line];
	*line = (uint32_t)id;
	return &v8->nodes[id >> 32];
}

/* A frame of the profile for a row; UINT32_MAX with *error set. */
static uint32_t
v8_add_frame(struct entering *entering, uint32_t row, struct error *error)
{
	static const char scheme[] = "file:///";
	const size_t n = sizeof scheme - 1;
	struct profile *profile = entering->input->reader.profile;
	struct names *names = profile->names;
	struct location location = { .file = NO_NAME,
		.linkage = NO_NAME };
	uint32_t line;
	const struct v8_node *node = v8_row_node(entering, row, &line);
	const char *url = "", *slash;

	if (node == NULL) {
		location.function = names_add(names, "[unknown node]", 14,
		                              error);
	} else {
		if (node->file != NO_NAME)
			url = names_text(names, node->file);
		slash = strrchr(url, '/');
		/* Functions of WebAssembly can have mangled names. */
		if (node->function != NO_NAME)
			location.function = demangle_and_add(names,
			    names_text(names, node->function),
			    names_length(names, node->function), error);
		else if (node->file == NO_NAME)
			location.function = names_add(names, "(anonymous)",
			                              11, error);
		else	/* File, line and column tell them apart. */
			location.function = names_add_format(names, error,
			    "(anonymous %s:%" PRIu32 ":%" PRIu32 ")",
			    slash != NULL && slash[1] != '\0' ? slash + 1 :
			    url, node->line, node->column);
		/* Without any lines, where the function is. */
		location.line = entering->lines.n > 0 ? line : node->line;
		location.start_line = node->line;
		location.file = node->file;
		/* A file: URL becomes the path, as in other formats. */
		if (strncmp(url, scheme, n) == 0 &&
		    names_length(names, node->file) > n)
			location.file = names_add(names, url + n - 1,
			    names_length(names, node->file) - n + 1, error);
	}
	return error->is_set ? UINT32_MAX :
	       profile_add_frame(profile, NO_MODULE, 0, &location, 1, error);
}

static bool
is_root(const struct names *names, const struct v8_node *node)
{
	static const char name[] = "(root)";

	return node->function != NO_NAME &&
	       names_length(names, node->function) == sizeof name - 1 &&
	       memcmp(names_text(names, node->function), name,
	              sizeof name - 1) == 0;
}

/* The row of a line of a node, made if new; NO_ROW with *error set. */
static uint32_t
v8_line_row(struct entering *entering, uint32_t node, uint32_t line,
            struct error *error)
{
	const uint32_t n = entering->lines.n;
	uint32_t number;

	if (n >= NO_ROW - entering->first_line) {
		error_set(error, "more than 4,294,967,294 nodes and lines");
		return NO_ROW;
	}
	if (memory_grow(&entering->line_hits, &entering->line_hits_capacity,
	                (size_t)n + 1, sizeof *entering->line_hits, error) != 0)
		return NO_ROW;
	number = id_table_add(&entering->lines, (uint64_t)node << 32 | line,
	                      error);
	if (number == NO_ID)
		return NO_ROW;
	if (number == n)
		entering->line_hits[n] = 0;
	return entering->first_line + number;
}

/* The hits of a node's lines together; 0: none, or more than are its own. */
static uint64_t
v8_sum_ticks(const struct v8_profile *v8, const struct v8_node *node)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < node->n_ticks; i++)
		if (__builtin_add_overflow(sum, v8->ticks[node->first_tick +
		                           i].hits, &sum))
			return 0;
	return sum <= node->hits ? sum : 0;
}

/* A number near 0.618 n that has no divisor in common with n, which is > 0. */
static uint64_t
v8_stride(uint64_t n)
{
	uint64_t stride = (uint64_t)(0.6180339887 * (double)n);

	for (stride += stride == 0;; stride++) {
		uint64_t a = n, b = stride;

		while (b != 0) {
			const uint64_t rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			return stride;
	}
}

/* How the samples of a node are spread over its lines. */
struct v8_spread {
	uint64_t n, done;	/* its samples, and those that have a line */
	uint64_t stride;	/* 0: it has no lines */
};

/*
 * The line of a node's next sample.  Taken in the order of the stride, each
 * line has its part of all samples, and of any that follow each other nearly
 * the same part.  ends[v8->n_ticks]: of each node, the sums of its ticks up to
 * each.
 */
static uint32_t
v8_guess_line(const struct v8_profile *v8, const struct v8_node *node,
              const uint64_t *ends, struct v8_spread *spread)
{
	const uint64_t sum = ends[node->first_tick + node->n_ticks - 1];
	const uint64_t turn = spread->done++ * spread->stride % spread->n;
	const double at = ((double)turn + 0.5) * (double)sum /
	    (double)spread->n;
	size_t low = node->first_tick, high = low + node->n_ticks - 1;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (at < (double)ends[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return v8->ticks[low].line;
}

/* Makes the rows of a node's lines, with their hits, and the sums of these. */
static int
v8_add_ticks(struct entering *entering, uint32_t number, uint64_t *ends,
             struct error *error)
{
	const struct v8_node *node = &entering->v8->nodes[number];
	uint64_t sum = 0;

	for (size_t k = node->first_tick; k < node->first_tick + node->n_ticks;
	     k++) {
		const struct v8_tick *tick = &entering->v8->ticks[k];
		const uint32_t row = v8_line_row(entering, number, tick->line,
		                                 error);

		if (row == NO_ROW)
			return -1;
		entering->line_hits[row - entering->first_line] += tick->hits;
		sum += tick->hits;
		ends[k] = sum;
	}
	return 0;
}

/* Gives the hits of nodes to their lines, and their samples likewise. */
static int
v8_use_ticks(struct entering *entering, struct error *error)
{
	const struct v8_profile *v8 = entering->v8;
	uint64_t *ends = memory_array(v8->n_ticks, sizeof *ends, error);
	struct v8_spread *spreads = memory_array(v8->n_nodes, sizeof *spreads,
	                                         error);
	int result = ends != NULL && spreads != NULL ? 0 : -1;

	for (size_t i = 0; result == 0 && i < v8->n_samples; i++)
		if (entering->rows_of_samples[i] < v8->n_nodes)
			spreads[entering->rows_of_samples[i]].n++;
	for (uint32_t i = 0; result == 0 && i < v8->n_nodes; i++) {
		if (v8_sum_ticks(v8, &v8->nodes[i]) == 0)
			continue;
		result = v8_add_ticks(entering, i, ends, error);
		if (spreads[i].n > 0)
			spreads[i].stride = v8_stride(spreads[i].n);
	}
	for (size_t i = 0; result == 0 && i < v8->n_samples; i++) {
		uint32_t *row = &entering->rows_of_samples[i];

		if (*row >= v8->n_nodes || spreads[*row].stride == 0)
			continue;
		*row = v8_line_row(entering, *row, v8_guess_line(v8,
		    &v8->nodes[*row], ends, &spreads[*row]), error);
	}
	free(ends);
	free(spreads);
	return result;
}

/* Finds the rows of samples, and makes those of lines. */
static int
v8_find_lines(struct entering *entering, struct error *error)
{
	const struct v8_profile *v8 = entering->v8;

	entering->first_line = entering->n_rows;
	entering->rows_of_samples = memory_array(v8->n_samples,
	                                         sizeof(uint32_t), error);
	if (entering->rows_of_samples == NULL)
		return -1;
	for (size_t i = 0; i < v8->n_samples && !error->is_set; i++) {
		const uint32_t row = entering->rows_of_ids[v8->samples[i]];
		const uint32_t line = i < v8->n_lines ? v8->lines[i] : 0;

		entering->rows_of_samples[i] = line == 0 ||
		    row >= v8->n_nodes ? row :
		    v8_line_row(entering, row, line, error);
	}
	if (!error->is_set && entering->lines.n == 0 && v8->n_ticks > 0)
		v8_use_ticks(entering, error);
	entering->n_rows += entering->lines.n;
	return error->is_set ? -1 : 0;
}

/*
 * Makes rows of the nodes, and of sampled ids without a node.  "(root)", which
 * calls all others, has no frame.
 */
static int
v8_make_rows(struct entering *entering, struct error *error)
{
	const struct v8_profile *v8 = entering->v8;

	entering->n_rows = v8->n_nodes;
	entering->rows_of_ids = memory_array(v8->id_numbers.n,
	                                     sizeof(uint32_t), error);
	if (entering->rows_of_ids == NULL)
		return -1;
	for (uint32_t i = 0; i < v8->id_numbers.n; i++)
		entering->rows_of_ids[i] = v8->ids[i].node;
	for (size_t i = 0; i < v8->n_samples; i++) {
		uint32_t *row = &entering->rows_of_ids[v8->samples[i]];

		if (*row < v8->n_nodes)
			continue;
		if (*row == NO_ROW)
			*row = entering->n_rows++;
		entering->input->n_unknown++;
	}
	if (v8_find_lines(entering, error) != 0)
		return -1;
	entering->parent = memory_array(entering->n_rows, sizeof(uint32_t),
	                                error);
	entering->label = memory_array(entering->n_rows, sizeof(uint32_t),
	                               error);
	entering->charges = memory_array(entering->n_rows,
	                                 sizeof *entering->charges, error);
	entering->nodes = memory_array(entering->n_rows, sizeof(uint32_t),
	                               error);
	if (error->is_set)
		return -1;
	for (uint32_t i = 0; i < entering->n_rows; i++) {
		const struct names *names =
		    entering->input->reader.profile->names;
		uint32_t parent = NO_ROW, line;
		const struct v8_node *node = v8_row_node(entering, i, &line);

		if (node != NULL && node->parent != NO_ROW)
			parent = node->parent;
		else if (node != NULL && node->parent_id != NO_ID)
			parent = v8->ids[node->parent_id].node;
		else if (node != NULL && node->id != NO_ID)
			parent = v8->ids[node->id].parent;
		entering->parent[i] = parent;
		entering->label[i] = node != NULL && parent == NO_ROW &&
		    is_root(names, node) ? NO_LABEL :
		    v8_add_frame(entering, i, error);
	}
	return error->is_set ? -1 : 0;
}

/* Sums up the samples of each row, and their times. */
static int
charge_samples(struct entering *entering, struct error *error)
{
	const struct v8_profile *v8 = entering->v8;

	entering->last = -1;	/* before the first */
	/* Lines of samples are known of those that are listed. */
	for (uint32_t i = 0; v8->n_lines == 0 && i < v8->n_nodes; i++)
		entering->has_hits |= v8->nodes[i].hits > 0;
	for (size_t i = 0; i < v8->n_samples; i++)
		entering->charges[entering->rows_of_samples[i]].samples++;
	if (!v8->has_times)
		return 0;
	if (v8->n_times != v8->n_samples && v8->n_times != v8->n_samples + 1 &&
	    !entering->input->reader.is_cut_short)
		return error_set(error, "%zu samples have %zu times",
		                 v8->n_samples, v8->n_times);
	return each_timed_sample(entering, charge_sample, error);
}

/* The hits of a row: of a node, those that are in none of its lines. */
static uint64_t
v8_row_hits(const struct entering *entering, uint32_t row)
{
	const struct v8_profile *v8 = entering->v8;

	if (!entering->has_hits)
		return entering->charges[row].samples;
	if (row >= entering->first_line)
		return entering->line_hits[row - entering->first_line];
	return row >= v8->n_nodes ? 0 : v8->nodes[row].hits -
	    v8_sum_ticks(v8, &v8->nodes[row]);
}

/* Hits of "(root)" itself need a node, which it has only then. */
static int
v8_enter_row(struct entering *entering, struct stack_rows *rows, uint32_t row,
             struct error *error)
{
	struct v8_reader *input = entering->input;
	const struct v8_profile *v8 = entering->v8;
	const struct charge *charge = &entering->charges[row];
	const uint64_t hits = v8_row_hits(entering, row);
	uint32_t node, frame;

	if (reader_enter_row(&input->reader, rows, row, &node, error) != 0)
		return -1;
	if (node == NO_NODE) {
		frame = v8_add_frame(entering, row, error);
		if (frame == UINT32_MAX)
			return -1;
		node = reader_child(&input->reader, NO_NODE, frame, error);
	}
	entering->nodes[row] = node;
	if (node == NO_NODE)
		return -1;
	if (v8->has_times &&
	    reader_add_hits(&input->reader, node, input->time - 1,
	                    charge->time, charge->samples, error) != 0)
		return -1;
	return reader_add_hits(&input->reader, node, input->samples - 1, hits,
	                       hits, error);
}

static int
enter_rows(struct entering *entering, struct error *error)
{
	struct v8_reader *input = entering->input;
	const struct v8_profile *v8 = entering->v8;
	struct stack_rows rows = { .parent = entering->parent,
		.label = entering->label, .n = entering->n_rows };
	uint64_t length_ns;
	int result = 0;

	if (v8->has_times &&
	    reader_need_resource(&input->reader, &input->time, "time",
	                         "microsecond", 1, error) == NO_RESOURCE)
		return -1;
	if (reader_need_resource(&input->reader, &input->samples, "samples",
	                         "", 1, error) == NO_RESOURCE)
		return -1;
	for (uint32_t i = 0; result == 0 && i < entering->n_rows; i++) {
		if (i % ROWS_A_STEP == 0)
			result = progress_step(NULL, 0, 0, error);
		if (result == 0 && (entering->charges[i].samples > 0 ||
		                    v8_row_hits(entering, i) > 0))
			result = v8_enter_row(entering, &rows, i, error);
	}
	stack_rows_free(&rows);
	if (result != 0)
		return -1;
	if (has_clock(v8) && entering->first <= entering->last &&
	    entering->first >= 0 && entering->last <= MOST_TIME) {
		length_ns = ns_of(entering->last) - ns_of(input->earliest);
		entering->width_ns = timeline_width(length_ns > 0 ?
		                                    length_ns - 1 : 0);
		if (each_timed_sample(entering, note_sample, error) != 0)
			return -1;
	}
	return v8->hits_below_zero == 0 ? 0 :
	    reader_note_below_zero(&input->reader, input->samples - 1,
	                           v8->hits_below_zero - 1, error);
}

int
v8_enter(struct v8_reader *input, const struct v8_profile *v8)
{
	struct entering entering = { .input = input, .v8 = v8 };
	struct error why = { 0 };
	int result = -1;

	if (v8_make_rows(&entering, &why) == 0 &&
	    charge_samples(&entering, &why) == 0 &&
	    enter_rows(&entering, &why) == 0)
		result = 0;
	else
		json_pass(input->json, v8->samples_offset, &why);
	input->n_profiles++;
	input->n_endless += entering.is_endless && !input->reader.is_cut_short;
	free(entering.parent);
	free(entering.label);
	free(entering.charges);
	free(entering.nodes);
	free(entering.rows_of_ids);
	free(entering.rows_of_samples);
	free(entering.line_hits);
	id_table_free(&entering.lines);
	return result;
}

struct profile *
v8_end(struct v8_reader *input, int result)
{
	struct reader *reader = &input->reader;
	struct error *error = input->error;

	if (result == 0)
		result = reader_warn_cut_short(reader, "", error);
	if (result == 0 && input->n_endless > 0)
		result = reader_warn(reader, error, "the last sample has no "
		                     "time in %" PRIu64 " of %" PRIu64
		                     " profiles, of which the file lacks the "
		                     "start or the end", input->n_endless,
		                     input->n_profiles);
	if (result == 0 && input->n_unknown > 0)
		result = reader_warn(reader, error, "samples of nodes that are "
		                     "not in the file: %" PRIu64 ", shown as "
		                     "[unknown node]", input->n_unknown);
	if (result == 0)
		result = reader_finish_stacks(reader, NULL, error);
	if (result == 0)
		result = reader_drop_below_zero(reader, NULL, error);
	json_reader_free(input->json);
	return reader_end(reader, result);
}

/* ---- the format ---- */

static int
cpuprofile_read_file(struct v8_reader *input, struct v8_profile *v8)
{
	const struct process process = { 0 };

	json_read_file(input->json, v8_fields, "an object", v8);
	v8_announce(input, v8);
	if (input->error->is_set || v8_enter(input, v8) != 0)
		return -1;
	if (reader_count_nodes(&input->reader) == 0)
		return reader_fail_empty(&input->reader, input->error);
	return profile_add_process(input->reader.profile, &process,
	                           input->error) != UINT32_MAX ? 0 : -1;
}

static struct profile *
cpuprofile_read(struct source *source, const struct read_options *options,
                struct error *error)
{
	struct v8_reader input;
	struct v8_profile v8 = { .nodes = NULL };
	int result = v8_begin(&input, source, options, error);

	if (result == 0) {
		input.v8 = &v8;
		result = cpuprofile_read_file(&input, &v8);
	}
	v8_profile_free(&v8);
	return v8_end(&input, result);
}

static int
cpuprofile_probe(const void *head, size_t size)
{
	static const char *const keys[] = {
		"nodes[].callFrame", "timeDeltas", "timestamps",
		"head.functionName", "head.callUID", NULL
	};

	return json_probe(head, size, keys);
}

const struct format format_cpuprofile = {
	.name = "cpuprofile",
	.summary = "CPU profiles of V8 (Chrome, Node.js, Deno)",
	.probe = cpuprofile_probe,
	.read = cpuprofile_read,
};
