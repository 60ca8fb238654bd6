/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flames.c -- flame graphs as JSON: d3's trees, and flamebearer's levels.
 *
 * d3-flame-graph draws {"name", "value", "children": [...]}, the keys in any
 * order; a value is that of the node with all its children, and may be left out
 * where it is their sum.  Some write "n", "v" and "c".
 *
 * Pyroscope's {"flamebearer": {"names": [...], "levels": [[offset, total,
 * self, name, ...], ...]}, "metadata": {"units"}} has a list for each depth.  An
 * item begins `offset` behind the end of the one before, and its parent is the
 * item of the level before that it lies in.
 *
 * Nodes are kept in order, parents first, until the input ends: names may come
 * last.  The outermost node stands for the whole, and is left out if it has
 * that name and no hits of its own.
 * Source: spiermar/d3-flame-graph, README.md; grafana/pyroscope,
 * packages/pyroscope-models.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/reader.h"
#include "src/symbols/names/program.h"

enum { ITEM_OFFSET, ITEM_TOTAL, ITEM_SELF, ITEM_NAME, ITEM_SIZE };

struct flames_node {
	uint32_t parent;		/* NO_NODE: none */
	uint32_t name;			/* NO_NAME: none; of levels an index
					 * into their names */
	int64_t value, of_children;	/* of levels: where it ends, -; */
	int64_t self;			/* once it is known */
	bool has_value;
};

struct flames {
	struct reader reader;
	struct json_reader *json;
	struct error *error;
	struct flames_node *nodes;
	size_t n, capacity;
	uint32_t *names;		/* of levels: the profile's */
	size_t n_names, names_capacity;
	size_t level, next_level;	/* where the nodes of the last level
					 * begin and end */
	bool has_levels, is_difference;
	const char *gtick, *resource;
	uint64_t n_rounded, n_below;
};

static uint32_t
flames_read_name(struct flames *input, const struct json_token *token)
{
	return demangle_and_add(input->reader.profile->names, token->text,
	                        token->length, input->error);
}

/* A new node; NULL with the error set. */
static struct flames_node *
flames_add_node(struct flames *input, uint32_t parent)
{
	struct flames_node *node;

	if (input->n >= NO_NODE) {
		json_fail(input->json, json_offset(input->json),
		          "more than %" PRIu32 " nodes", NO_NODE);
		return NULL;
	}
	if (memory_grow(&input->nodes, &input->capacity, input->n + 1,
	                sizeof *node, input->error) != 0)
		return NULL;
	node = &input->nodes[input->n++];
	*node = (struct flames_node){ .parent = parent, .name = NO_NAME };
	return node;
}

static bool
flames_read_number(struct flames *input, const struct json_token *token,
                   int64_t *number)
{
	struct decimal decimal;
	bool is_exact;

	if (!json_decimal(token, &decimal) ||
	    !decimal_scale(decimal, 0, number, &is_exact)) {
		json_fail(input->json, token->offset, "expected a number of "
		          "less than 64 bits");
		return false;
	}
	input->n_rounded += !is_exact;
	return true;
}

/* ---- a tree ---- */

static bool
flames_is_key(const struct json_token *token, const char *name,
              const char *letter)
{
	return json_is(token, name) || json_is(token, letter);
}

/*
 * Reads the tree whose outermost object is open.  The open node is `at`; a
 * list of children is open in it from its '[' to its ']'.
 */
static void
flames_read_tree(struct flames *input)
{
	struct json_token token;
	uint32_t at = 0;

	if (flames_add_node(input, NO_NODE) == NULL)
		return;
	while (json_next(input->json, &token)) {
		struct flames_node *node = &input->nodes[at];

		if (token.type == JSON_OBJECT) {	/* in a list */
			if (flames_add_node(input, at) == NULL)
				return;
			at = (uint32_t)input->n - 1;
		} else if (token.type == JSON_OBJECT_END) {
			if (node->parent == NO_NODE)
				break;
			at = node->parent;
		} else if (token.type == JSON_ARRAY_END) {
			continue;
		} else if (token.type != JSON_KEY) {
			json_fail(input->json, token.offset, "expected a node, "
			          "an object");
		} else if (flames_is_key(&token, "children", "c")) {
			json_open_array(input->json, "an array of nodes");
		} else if (flames_is_key(&token, "name", "n")) {
			if (json_get_string(input->json, &token, "a name"))
				node->name = flames_read_name(input, &token);
		} else if (flames_is_key(&token, "value", "v")) {
			if (json_get_value(input->json, &token) &&
			    token.type != JSON_NULL)
				node->has_value = flames_read_number(input,
				    &token, &node->value);
		} else {
			json_skip_value(input->json);
		}
	}
	json_next(input->json, &token);		/* more is an error */
}

/* What is left of each node's value without its children's. */
static int
flames_find_self(struct flames *input)
{
	for (size_t i = input->n; i-- > 0;) {
		struct flames_node *node = &input->nodes[i];

		if (!node->has_value)
			node->value = node->of_children;
		if (__builtin_sub_overflow(node->value, node->of_children,
		                           &node->self))
			return error_set(input->error, "values of more than 63 "
			                 "bits");
		if (node->parent != NO_NODE &&
		    __builtin_add_overflow(
		        input->nodes[node->parent].of_children, node->value,
		        &input->nodes[node->parent].of_children))
			return error_set(input->error, "values of more than 63 "
			                 "bits");
	}
	return 0;
}

/* ---- levels ---- */

/*
 * Reads a level, whose array is open.  Items are ordered, and so are those of
 * the level before; *end: where the item before ends.
 */
static void
flames_read_level(struct flames *input)
{
	const size_t before = input->level, n_before = input->next_level;
	size_t parent = before;
	int64_t end = 0, item[ITEM_SIZE];
	struct json_token token;
	int n = 0;

	input->level = input->n;
	while (json_next_element(input->json, &token)) {
		struct flames_node *node;

		if (!flames_read_number(input, &token, &item[n++]))
			return;
		if (n < ITEM_SIZE)
			continue;
		n = 0;
		if (item[ITEM_OFFSET] < 0 || item[ITEM_TOTAL] < 0 ||
		    item[ITEM_NAME] < 0 || item[ITEM_NAME] >= NO_NAME ||
		    __builtin_add_overflow(end, item[ITEM_OFFSET], &end) ||
		    __builtin_add_overflow(end, item[ITEM_TOTAL], &end)) {
			json_fail(input->json, token.offset, "expected an "
			          "item: offset, total, self, name");
			return;
		}
		while (parent < n_before && input->nodes[parent].value < end)
			parent++;
		if (before < n_before && parent == n_before) {
			json_fail(input->json, token.offset, "an item that "
			          "lies in none of the level before");
			return;
		}
		node = flames_add_node(input, before < n_before ?
		                       (uint32_t)parent : NO_NODE);
		if (node == NULL)
			return;
		node->name = (uint32_t)item[ITEM_NAME];
		node->value = end;
		node->self = item[ITEM_SELF];
	}
	input->next_level = input->n;
}

static void
flames_read_levels(struct flames *input)
{
	struct json_token token;

	if (!json_open_array(input->json, "an array of levels"))
		return;
	while (json_next_element(input->json, &token)) {
		if (token.type == JSON_ARRAY)
			flames_read_level(input);
		else
			json_fail(input->json, token.offset, "expected a "
			          "level, an array");
	}
}

static void
flames_read_names(struct flames *input)
{
	struct json_token token;

	if (!json_open_array(input->json, "an array of names"))
		return;
	while (json_next_element(input->json, &token)) {
		uint32_t name = NO_NAME;

		if (token.type == JSON_STRING)
			name = flames_read_name(input, &token);
		else
			json_fail(input->json, token.offset, "expected a name");
		if (memory_grow(&input->names, &input->names_capacity,
		                input->n_names + 1, sizeof *input->names,
		                input->error) != 0)
			return;
		input->names[input->n_names++] = name;
	}
}

/* Two profiles have seven numbers an item, which are not read. */
static void
flames_read_metadata(struct flames *input)
{
	static const char *const units[][3] = {
		{ "bytes", "bytes", "byte" },
		{ "objects", "objects", "" },
		{ "lock_nanoseconds", "time", "nanosecond" },
		{ "nanoseconds", "time", "nanosecond" },
	};
	struct json_token key, token;

	if (!json_open_object(input->json, "an object"))
		return;
	while (json_next_key(input->json, &key)) {
		bool is_format = json_is(&key, "format");
		bool is_units = json_is(&key, "units");

		if (!json_get_value(input->json, &token))
			return;
		if (is_format && token.type == JSON_STRING &&
		    json_is(&token, "double"))
			input->is_difference = true;
		for (size_t i = 0; is_units && token.type == JSON_STRING &&
		     i < sizeof units / sizeof *units; i++)
			if (json_is(&token, units[i][0])) {
				input->resource = units[i][1];
				input->gtick = units[i][2];
			}
	}
}

/* Reads the file whose object is open. */
static void
flames_read_flamebearer(struct flames *input)
{
	struct json_token key;
	bool is_inside = false;

	while (json_next(input->json, &key)) {
		if (key.type == JSON_OBJECT_END) {
			if (!is_inside)
				break;
			is_inside = false;
		} else if (json_is(&key, "flamebearer") && !is_inside) {
			is_inside = json_open_object(input->json, "an object");
		} else if (json_is(&key, "names") && is_inside) {
			flames_read_names(input);
		} else if (json_is(&key, "levels") && is_inside) {
			flames_read_levels(input);
		} else if (json_is(&key, "metadata")) {
			flames_read_metadata(input);
		} else {
			json_skip_value(input->json);
		}
	}
	json_next(input->json, &key);		/* more is an error */
	if (input->is_difference)
		reader_fail_file(&input->reader, input->error, "a difference "
		                 "of two profiles; open each of them");
	for (size_t i = 0; i < input->n && !input->error->is_set; i++) {
		struct flames_node *node = &input->nodes[i];

		node->name = node->name < input->n_names ?
		             input->names[node->name] : NO_NAME;
	}
}

/* ---- the profile ---- */

/* Whether the outermost node only stands for the whole. */
static bool
flames_has_whole(const struct flames *input)
{
	static const char *const wholes[] = { "", "root", "all", "total" };
	const struct flames_node *first = input->nodes;
	const char *name = first->name == NO_NAME ? "" :
	    names_text(input->reader.profile->names, first->name);

	if (first->self != 0 || (input->n > 1 &&
	                         input->nodes[1].parent == NO_NODE))
		return false;
	for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
		if (strcmp(name, wholes[i]) == 0)
			return true;
	return false;
}

/* The label of a name: frames are entered in the order of `entered`. */
static uint32_t
flames_label(struct flames *input, struct names *entered, uint32_t name)
{
	struct profile *profile = input->reader.profile;
	uint32_t n = names_count(entered), number;

	if (name == NO_NAME)
		name = names_add(profile->names, "[unknown]", 9, input->error);
	number = names_add(entered, (const char *)&name, sizeof name,
	                   input->error);
	if (number == n)
		profile_add_named_frame(profile, name, input->error);
	return number;
}

static int
flames_enter_nodes(struct flames *input, struct names *entered)
{
	struct error *error = input->error;
	uint32_t resource = reader_add_resource(&input->reader, input->resource,
	                                        input->gtick, 1, error);
	uint32_t *numbers = memory_array(input->n, sizeof *numbers, error);
	const bool has_whole = flames_has_whole(input);

	for (size_t i = 0; i < input->n && !error->is_set; i++) {
		const struct flames_node *node = &input->nodes[i];
		uint32_t parent = node->parent != NO_NODE ?
		                  numbers[node->parent] : NO_NODE;

		if (i == 0 && has_whole) {
			numbers[i] = NO_NODE;
			continue;
		}
		numbers[i] = reader_child(&input->reader, parent,
		    flames_label(input, entered, node->name), error);
		input->n_below += node->self < 0;
		if (!error->is_set && node->self > 0)
			reader_add_hits(&input->reader, numbers[i], resource,
			                (uint64_t)node->self, 1, error);
		if (i % (1 << 16) == 0)
			reader_step(&input->reader, error);
	}
	free(numbers);
	return error->is_set ? -1 : 0;
}

static int
flames_finish(struct flames *input)
{
	struct reader *reader = &input->reader;
	struct error *error = input->error, why = { 0 };
	struct names *entered;

	if (error->is_set)
		return -1;
	if (input->n == 0)
		return reader_fail_empty(reader, error);
	input->error = &why;
	if (!input->has_levels && flames_find_self(input) != 0)
		return reader_pass_file(reader, &why, error);
	entered = names_new(&why);
	if (entered != NULL)
		flames_enter_nodes(input, entered);
	names_free(entered);
	if (why.is_set)
		return reader_pass_file(reader, &why, error);
	if (reader_count_nodes(reader) == 0)
		return reader_fail_empty(reader, error);
	if (input->n_rounded > 0 &&
	    reader_warn(reader, error, "values rounded to whole numbers: %"
	                PRIu64, input->n_rounded) != 0)
		return -1;
	if (input->n_below > 0 &&
	    reader_warn(reader, error, "nodes whose children have more than "
	                "they: %" PRIu64 "; the children count",
	                input->n_below) != 0)
		return -1;
	return reader_warn_cut_short(reader, "", error) == 0 ?
	       reader_finish_stacks(reader, NULL, error) : -1;
}

static const char *const flamebearer_keys[] = { "flamebearer.names",
	"flamebearer.levels", "flamebearer.numTicks", NULL };

/* Whether the head has all of a tree's outermost keys that it must have. */
static int
flames_probe_tree(const void *head, size_t size)
{
	static const char *const keys[][2] = { { "children", NULL },
		{ "name", NULL }, { "value", NULL }, { "c", NULL },
		{ "n", NULL }, { "v", NULL } };
	int found[6];

	for (int i = 0; i < 6; i++) {
		found[i] = json_probe(head, size, keys[i]);
		if (found[i] == PROBE_OUT_OF_MEMORY)
			return found[i];
	}
	for (int i = 0; i < 6; i += 3)
		if (found[i] == PROBE_SURE && (found[i + 1] == PROBE_SURE ||
		                               found[i + 2] == PROBE_SURE))
			return PROBE_LIKELY;
	return PROBE_NO;
}

static int
flames_probe(const void *head, size_t size)
{
	int found = json_probe(head, size, flamebearer_keys);

	return found != PROBE_NO ? found : flames_probe_tree(head, size);
}

static struct profile *
flames_read(struct source *source, const struct read_options *options,
            struct error *error)
{
	struct flames input = { .error = error, .resource = "samples",
		.gtick = "" };
	int result = reader_begin(&input.reader, source, options,
	                          READER_OFFSETS, error);
	struct json_token token;
	const char *head = NULL;
	size_t size = 0;

	if (result == 0)
		head = source_peek(source, FORMAT_HEAD_SIZE, &size, error);
	if (head != NULL) {
		int found = json_probe(head, size < FORMAT_HEAD_SIZE ? size :
		                       FORMAT_HEAD_SIZE, flamebearer_keys);

		input.has_levels = found == PROBE_SURE;
		if (found == PROBE_OUT_OF_MEMORY)
			error_out_of_memory(error);
		else
			input.json = json_reader_new(&input.reader, &input, error);
	}
	if (input.json != NULL && json_next(input.json, &token)) {
		if (token.type != JSON_OBJECT)
			json_fail(input.json, token.offset, "expected an "
			          "object");
		else if (input.has_levels)
			flames_read_flamebearer(&input);
		else
			flames_read_tree(&input);
	}
	result = flames_finish(&input);
	json_reader_free(input.json);
	free(input.nodes);
	free(input.names);
	return reader_end(&input.reader, result);
}

const struct format format_flames = {
	.name = "flame graph JSON",
	.summary = "trees of d3-flame-graph, and Pyroscope's flamebearer",
	.probe = flames_probe,
	.read = flames_read,
};
