/* SPDX-License-Identifier: GPL-3.0-or-later */
/* v8_profile.c -- one CPU profile of V8, as in the file.
 *
 * {"nodes": [{"id", "callFrame": {"functionName", "url", "lineNumber",
 * "columnNumber"}, "hitCount", "children": [id, ...]}, ...], "startTime",
 * "endTime", "samples": [id, ...], "timeDeltas": [...]}, the keys in any order.
 * In traces nodes have "parent" instead of "children".  In the older form
 * "children" holds the nodes themselves, nested as deep as the stacks were; an
 * array of open nodes replaces recursion.
 */
#include "src/formats/chrome/v8_profile.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/reader.h"

/* What all functions below need. */
struct v8_reading {
	struct v8_profile *v8;
	struct json_reader *json;
	struct error *error;
};

void
v8_profile_free(struct v8_profile *v8)
{
	id_table_free(&v8->id_numbers);
	free(v8->nodes);
	free(v8->ids);
	free(v8->samples);
	free(v8->times);
	free(v8->open);
}

void
v8_profile_clear(struct v8_profile *v8)
{
	struct v8_profile empty = {
		.names = v8->names,
		.nodes = v8->nodes, .nodes_capacity = v8->nodes_capacity,
		.ids = v8->ids, .ids_capacity = v8->ids_capacity,
		.samples = v8->samples,
		.samples_capacity = v8->samples_capacity,
		.times = v8->times, .times_capacity = v8->times_capacity,
		.open = v8->open, .open_capacity = v8->open_capacity,
	};

	id_table_free(&v8->id_numbers);
	*v8 = empty;
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

static uint32_t
v8_profile_read_id(struct v8_reading *reading, const struct json_token *token)
{
	uint64_t id;

	if (json_whole_number(token, INT64_MAX, &id))
		return v8_profile_add_id(reading->v8, id, reading->error);
	json_fail(reading->json, token->offset, "expected the id of a node");
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

/* Gives a node an id.  If several nodes claim it, the first one has it. */
static void
set_id(struct v8_profile *v8, uint32_t node, uint32_t id)
{
	if (id == NO_ID)
		return;
	v8->nodes[node].id = id;
	if (v8->ids[id].node == NO_ROW)
		v8->ids[id].node = node;
}

/* Notes that a node lists the id as a child; the first one to do so counts. */
static void
set_child(struct v8_profile *v8, uint32_t node, uint32_t id)
{
	if (id != NO_ID && v8->ids[id].parent == NO_ROW)
		v8->ids[id].parent = node;
}

/* ---- what a node has ---- */

static uint32_t
v8_profile_read_name(struct v8_reading *reading)
{
	struct json_token token;

	if (!json_get_string(reading->json, &token, "a name") ||
	    token.length == 0)
		return NO_NAME;
	return names_add(reading->v8->names, token.text, token.length,
	                 reading->error);
}

/* A line or column, the first being `first`: from 1 on, 0 where unknown. */
static uint32_t
read_place(struct v8_reading *reading, int first)
{
	struct json_token token;
	struct decimal number;
	int64_t place;

	if (!json_get_value(reading->json, &token) ||
	    !json_decimal(&token, &number) ||
	    !decimal_scale(number, 0, &place, NULL) || place < first ||
	    place >= UINT32_MAX)
		return 0;
	return (uint32_t)(place + 1 - first);
}

/* Reads a key that describes a function; false: it is any other key. */
static bool
read_frame_key(struct v8_reading *reading, struct v8_node *node,
               const struct json_token *key, int first_line)
{
	if (json_is(key, "functionName"))
		node->function = v8_profile_read_name(reading);
	else if (json_is(key, "url"))
		node->file = v8_profile_read_name(reading);
	else if (json_is(key, "lineNumber"))
		node->line = read_place(reading, first_line);
	else if (json_is(key, "columnNumber"))
		node->column = read_place(reading, first_line);
	else
		return false;
	return true;
}

/* Reads "callFrame", of the newer form, where lines count from 0. */
static void
read_call_frame(struct v8_reading *reading, struct v8_node *node)
{
	struct json_token key;

	if (!json_open_object(reading->json, "a function, an object"))
		return;
	while (json_next_key(reading->json, &key))
		if (!read_frame_key(reading, node, &key, 0))
			json_skip_value(reading->json);
}

static void
read_hits(struct v8_reading *reading, struct v8_node *node)
{
	struct json_token token;
	struct decimal decimal;

	if (!json_next(reading->json, &token) || token.type == JSON_NULL)
		return;
	if (json_decimal(&token, &decimal) && decimal.digits < 0)
		reading->v8->hits_below_zero = token.offset + 1;
	else if (!json_whole_number(&token, INT64_MAX, &node->hits))
		json_fail(reading->json, token.offset, "expected how often a "
		          "node was hit");
}

/* Reads any key of an open node but "children". */
static void
read_node_key(struct v8_reading *reading, uint32_t number,
              const struct json_token *key)
{
	struct v8_profile *v8 = reading->v8;
	struct v8_node *node = &v8->nodes[number];
	struct json_token token;

	if (json_is(key, "callFrame")) {
		read_call_frame(reading, node);
	} else if (json_is(key, "id")) {
		if (json_next(reading->json, &token))
			set_id(v8, number, v8_profile_read_id(reading, &token));
	} else if (json_is(key, "parent")) {
		if (json_next(reading->json, &token) &&
		    token.type != JSON_NULL)
			node->parent_id = v8_profile_read_id(reading, &token);
	} else if (json_is(key, "hitCount")) {
		read_hits(reading, node);
	} else if (!read_frame_key(reading, node, key, 1)) {
		json_skip_value(reading->json);
	}
}

/* ---- nodes ---- */

static void
v8_profile_open_node(struct v8_reading *reading, size_t *depth)
{
	struct v8_profile *v8 = reading->v8;
	uint32_t node = v8_profile_add_node(v8,
	                                    *depth > 0 ? v8->open[*depth - 1] :
	                                                 NO_ROW,
	                                    reading->error);

	if (node != NO_ROW &&
	    memory_grow(&v8->open, &v8->open_capacity, *depth + 1,
	                sizeof *v8->open, reading->error) == 0)
		v8->open[(*depth)++] = node;
}

/*
 * Reads a node whose object is open, and those nested in it.  The values of
 * other keys are read with the keys, so the rest is in "children".  A node
 * without any key is none, of which a packed file can have millions.
 */
static void
read_node(struct v8_reading *reading)
{
	struct v8_profile *v8 = reading->v8;
	struct json_token token;
	size_t depth = 0;
	bool is_empty = true;

	v8_profile_open_node(reading, &depth);
	while (depth > 0 && json_next(reading->json, &token)) {
		uint32_t node = v8->open[depth - 1];

		if (token.type == JSON_OBJECT_END) {
			v8->n_nodes -= is_empty;
			depth--;
		} else if (token.type == JSON_OBJECT)
			v8_profile_open_node(reading, &depth);
		else if (token.type == JSON_NUMBER)
			set_child(v8, node,
			          v8_profile_read_id(reading, &token));
		else if (token.type == JSON_KEY && json_is(&token, "children"))
			json_open_array(reading->json, "an array of nodes");
		else if (token.type == JSON_KEY)
			read_node_key(reading, node, &token);
		else if (token.type != JSON_ARRAY_END)
			json_fail(reading->json, token.offset,
			          "expected a node or its id");
		is_empty = token.type == JSON_OBJECT;
	}
}

static void
v8_profile_read_nodes(struct v8_reading *reading)
{
	struct json_token token;

	if (!json_open_array(reading->json, "an array of nodes"))
		return;
	while (json_next_object(reading->json, &token, "a node, an object"))
		read_node(reading);
}

static void
v8_profile_read_head(struct v8_reading *reading)
{
	reading->v8->is_old = true;
	if (json_open_object(reading->json, "a node, an object"))
		read_node(reading);
}

/* ---- samples ---- */

static void
v8_profile_read_samples(struct v8_reading *reading)
{
	struct v8_profile *v8 = reading->v8;
	struct json_token token;

	if (!json_open_array(reading->json, "an array of nodes' ids"))
		return;
	while (json_next_element(reading->json, &token)) {
		uint32_t id = v8_profile_read_id(reading, &token);

		if (v8->n_samples == 0)
			v8->samples_offset = token.offset;
		if (id != NO_ID &&
		    memory_grow(&v8->samples, &v8->samples_capacity,
		                v8->n_samples + 1, sizeof *v8->samples,
		                reading->error) == 0)
			v8->samples[v8->n_samples++] = id;
	}
}

static void
v8_profile_read_times(struct v8_reading *reading, bool are_absolute)
{
	struct v8_profile *v8 = reading->v8;
	struct json_token token;
	struct decimal number;
	int64_t time;

	if (v8->n_times > 0) {	/* Hermes writes them twice */
		json_skip_value(reading->json);
		return;
	}
	if (!json_open_array(reading->json, "an array of times"))
		return;
	v8->has_times = true;
	v8->are_absolute = are_absolute;
	while (json_next_element(reading->json, &token)) {
		if (!json_decimal(&token, &number) ||
		    !decimal_scale(number, 0, &time, NULL) ||
		    time > INT64_MAX / 2 || time < -INT64_MAX / 2)
			json_fail(reading->json, token.offset,
			          "expected a time in microseconds");
		else if (memory_grow(&v8->times, &v8->times_capacity,
		                     v8->n_times + 1, sizeof *v8->times,
		                     reading->error) == 0)
			v8->times[v8->n_times++] = time;
	}
}

static bool
v8_profile_read_time(struct v8_reading *reading, struct decimal *time)
{
	struct json_token token;

	return json_get_value(reading->json, &token) &&
	       json_decimal(&token, time);
}

bool
v8_profile_read_key(struct v8_profile *v8, struct json_reader *json,
                    const struct json_token *key, struct error *error)
{
	struct v8_reading reading = { v8, json, error };

	if (v8->samples_offset == 0 &&
	    (json_is(key, "nodes") || json_is(key, "head")))
		v8->samples_offset = key->offset;
	if (json_is(key, "nodes"))
		v8_profile_read_nodes(&reading);
	else if (json_is(key, "head"))
		v8_profile_read_head(&reading);
	else if (json_is(key, "samples"))
		v8_profile_read_samples(&reading);
	else if (json_is(key, "timeDeltas"))
		v8_profile_read_times(&reading, false);
	else if (json_is(key, "timestamps"))
		v8_profile_read_times(&reading, true);
	else if (json_is(key, "startTime"))
		v8->has_start = v8_profile_read_time(&reading, &v8->start);
	else if (json_is(key, "endTime"))
		v8->has_end = v8_profile_read_time(&reading, &v8->end);
	else
		return false;
	return true;
}

/* ---- pieces ---- */

static int
append_nodes(struct v8_profile *v8, const struct v8_profile *piece,
             struct error *error)
{
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
		node->id = NO_ID;
		if (from->id != NO_ID)
			set_id(v8, number,
			       v8_profile_add_id(v8, piece->ids[from->id].id,
			                         error));
		if (from->parent_id != NO_ID)
			node->parent_id = v8_profile_add_id(v8,
			    piece->ids[from->parent_id].id, error);
	}
	for (uint32_t i = 0; i < piece->id_numbers.n; i++)
		if (piece->ids[i].parent != NO_ROW)
			set_child(v8, base + piece->ids[i].parent,
			          v8_profile_add_id(v8, piece->ids[i].id,
			                            error));
	return error->is_set ? -1 : 0;
}

int
v8_profile_append(struct v8_profile *v8, const struct v8_profile *piece,
                  struct error *error)
{
	bool has_begun = v8->n_samples > 0;

	if (append_nodes(v8, piece, error) != 0 ||
	    memory_grow(&v8->samples, &v8->samples_capacity,
	                v8->n_samples + piece->n_samples,
	                sizeof *v8->samples, error) != 0 ||
	    memory_grow(&v8->times, &v8->times_capacity,
	                v8->n_times + piece->n_times, sizeof *v8->times,
	                error) != 0)
		return -1;
	for (size_t i = 0; i < piece->n_samples; i++) {
		uint32_t id =
		    v8_profile_add_id(v8, piece->ids[piece->samples[i]].id,
		                      error);

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
	if (piece->has_start && (!v8->has_start || !has_begun)) {
		v8->start = piece->start;
		v8->has_start = true;
	}
	if (piece->has_end) {
		v8->end = piece->end;
		v8->has_end = true;
	}
	return 0;
}
