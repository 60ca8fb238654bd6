/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_names.c -- functions, files and objects of a callgrind file. */
#include "src/formats/callgrind/callgrind.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/reader.h"

enum { N_KINDS = 3 };

/* The meaning of a number in parentheses. */
struct meaning {
	uint64_t id;
	uint32_t text;
	uint32_t node;		/* of a function, the node named last;
				 * UINT32_MAX: none yet */
};

struct meanings {
	struct id_table ids;
	struct meaning *items;		/* [ids.n] */
	size_t capacity;
};

/* A node of the graph. */
struct function {
	struct callgrind_key key;
	bool is_object_guessed, is_file_guessed;
};

/* A function's number as used in an object, or in a file. */
struct use {
	uint64_t id;
	uint32_t text, place;
};

/* Keys of some kind, and the node of each. */
struct node_table {
	struct names *keys;
	uint32_t *nodes;	/* [keys]; UINT32_MAX: no longer valid */
	size_t capacity;
};

struct callgrind_names {
	struct names *texts;	/* of all kinds */
	struct node_table by_key;	/* struct callgrind_key */
	struct node_table by_object;	/* struct use */
	struct node_table by_file;	/* likewise: the last one */
	struct function *functions;	/* [nodes] */
	size_t functions_capacity;
	struct meanings meanings[N_KINDS];
};

struct callgrind_names *
callgrind_names_new(struct error *error)
{
	struct callgrind_names *names = memory_array(1, sizeof *names, error);

	if (names == NULL)
		return NULL;
	names->texts = names_new(error);
	names->by_key.keys = names_new(error);
	names->by_object.keys = names_new(error);
	names->by_file.keys = names_new(error);
	if (names->texts == NULL || names->by_key.keys == NULL ||
	    names->by_object.keys == NULL || names->by_file.keys == NULL) {
		callgrind_names_free(names);
		return NULL;
	}
	return names;
}

static void
node_table_free(struct node_table *table)
{
	names_free(table->keys);
	free(table->nodes);
}

void
callgrind_names_free(struct callgrind_names *names)
{
	if (names == NULL)
		return;
	names_free(names->texts);
	node_table_free(&names->by_key);
	node_table_free(&names->by_object);
	node_table_free(&names->by_file);
	free(names->functions);
	for (int i = 0; i < N_KINDS; i++) {
		id_table_free(&names->meanings[i].ids);
		free(names->meanings[i].items);
	}
	free(names);
}

/* What the id means so far; NULL: nothing. */
static struct meaning *
find_meaning(const struct meanings *meanings, uint64_t id)
{
	uint32_t number = id_table_find(&meanings->ids, id);

	return number != NO_ID ? &meanings->items[number] : NULL;
}

/* Sets the meaning of the id from here on; NULL with *error set. */
static struct meaning *
define(struct meanings *meanings, uint64_t id, uint32_t text,
       struct error *error)
{
	struct meaning *known = find_meaning(meanings, id);
	uint32_t number;

	if (known == NULL) {
		if (memory_grow(&meanings->items, &meanings->capacity,
		                (size_t)meanings->ids.n + 1,
		                sizeof *meanings->items, error) != 0)
			return NULL;
		number = id_table_add(&meanings->ids, id, error);
		if (number == NO_ID)
			return NULL;
		known = &meanings->items[number];
	} else if (known->text == text) {
		return known;
	}
	*known = (struct meaning){ id, text, UINT32_MAX };
	return known;
}

/*
 * Reads "(ID)" and the blanks after it; returns the number of bytes, 0 if
 * there is none.
 */
static size_t
callgrind_names_read_id(const char *text, size_t length, uint64_t *id)
{
	size_t i = 1;

	if (length < 3 || text[0] != '(' || text[1] < '0' || text[1] > '9')
		return 0;
	*id = 0;
	for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
		if (__builtin_mul_overflow(*id, 10, id) ||
		    __builtin_add_overflow(*id, text[i] - '0', id))
			return 0;
	if (i == length || text[i] != ')')
		return 0;
	i++;
	while (i < length && (text[i] == ' ' || text[i] == '\t'))
		i++;
	return i;
}

/*
 * Sets *text_number for a text, and *meaning if it has a number (otherwise
 * NULL).
 */
static int
callgrind_names_read_name(struct callgrind_names *names,
                          enum callgrind_kind kind, const char *text,
                          size_t length, uint32_t *text_number,
                          struct meaning **meaning, struct error *error)
{
	struct meanings *meanings = &names->meanings[kind];
	uint64_t id = 0;
	size_t taken;

	while (length > 0 && (*text == ' ' || *text == '\t')) {
		text++;
		length--;
	}
	taken = callgrind_names_read_id(text, length, &id);
	*meaning = NULL;
	if (taken > 0 && taken == length) {
		*meaning = find_meaning(meanings, id);
		if (*meaning != NULL) {
			*text_number = (*meaning)->text;
			return 0;
		}
		if (kind == CALLGRIND_FUNCTION)
			return error_set(error, "(%llu) has no name yet",
			                 (unsigned long long)id);
		*meaning = NULL;
		*text_number = names_add(names->texts, "???", 3, error);
		return *text_number != NO_NAME ? 0 : -1;
	}
	*text_number = names_add(names->texts, text + taken, length - taken,
	                         error);
	if (*text_number == NO_NAME)
		return -1;
	if (taken > 0) {
		*meaning = define(meanings, id, *text_number, error);
		return *meaning != NULL ? 0 : -1;
	}
	return 0;
}

uint32_t
callgrind_names_add(struct callgrind_names *names, enum callgrind_kind kind,
                    const char *text, size_t length, struct error *error)
{
	struct meaning *meaning;
	uint32_t number;

	return callgrind_names_read_name(names, kind, text, length, &number,
	                                 &meaning, error) == 0 ?
	    number :
	    NO_NAME;
}

static uint32_t
callgrind_names_find_node(const struct node_table *table, const void *key,
                          size_t size)
{
	uint32_t number = names_find(table->keys, key, size);

	return number == NO_NAME ? UINT32_MAX : table->nodes[number];
}

static int
callgrind_names_set_node(struct node_table *table, const void *key, size_t size,
                         uint32_t node, struct error *error)
{
	uint32_t number = names_add(table->keys, key, size, error);

	if (number == NO_NAME ||
	    memory_grow(&table->nodes, &table->capacity, (size_t)number + 1,
	                sizeof *table->nodes, error) != 0)
		return -1;
	table->nodes[number] = node;
	return 0;
}

/* The node of the key, entered if it is new. */
static uint32_t
node_of_key(struct callgrind_names *names, struct call_graph *graph,
            struct callgrind_key key, struct callgrind_home home,
            struct error *error)
{
	uint32_t node = callgrind_names_find_node(&names->by_key, &key,
	                                          sizeof key);

	if (node != UINT32_MAX)
		return node;
	node = graph->n_nodes;
	if (memory_grow(&names->functions, &names->functions_capacity,
	                (size_t)node + 1, sizeof *names->functions,
	                error) != 0 ||
	    callgrind_names_set_node(&names->by_key, &key, sizeof key, node,
	                             error) != 0)
		return UINT32_MAX;
	names->functions[node] = (struct function){
		.key = key,
		.is_object_guessed = home.is_object_guessed,
		.is_file_guessed = home.is_file_guessed,
	};
	return call_graph_add_node(graph, (struct call_node){
		.name = key.text, .object = NO_NAME,
		.file = NO_NAME, .level = 1,
	}, NULL, error);
}

/*
 * Whether a node that was called before may be the function that a line with a
 * home defines.
 */
static bool
is_awaited(const struct callgrind_names *names, uint32_t node,
           struct callgrind_key key)
{
	const struct function *function = &names->functions[node];

	return function->is_object_guessed &&
	    (function->is_file_guessed || function->key.file == key.file) &&
	    callgrind_names_find_node(&names->by_key, &key, sizeof key) ==
	    UINT32_MAX;
}

/* Gives a node its actual home. */
static int
move_home(struct callgrind_names *names, uint32_t node,
          struct callgrind_key key, struct error *error)
{
	struct function *function = &names->functions[node];

	if (callgrind_names_set_node(&names->by_key, &function->key, sizeof key,
	                             UINT32_MAX, error) != 0)
		return -1;
	*function = (struct function){ .key = key };
	return callgrind_names_set_node(&names->by_key, &key, sizeof key, node,
	                                error);
}

/*
 * The node that a number means in an object where it had another meaning last.
 */
static uint32_t
find_numbered(struct callgrind_names *names, struct call_graph *graph,
              const struct meaning *meaning, struct callgrind_key key,
              struct callgrind_home home, struct error *error)
{
	struct use object = { meaning->id, key.text, key.object };
	struct use file = { meaning->id, key.text, key.file };
	uint32_t node = callgrind_names_find_node(&names->by_object, &object,
	                                          sizeof object);
	uint32_t other = callgrind_names_find_node(&names->by_file, &file,
	                                           sizeof file);

	if (node != UINT32_MAX &&
	    names->functions[node].key.object == key.object)
		return node;
	if (other == UINT32_MAX || home.is_file_guessed)
		other = meaning->node;
	if (other != UINT32_MAX && home.is_object_guessed &&
	    (home.is_file_guessed ||
	     names->functions[other].key.file == key.file))
		return other;
	if (other != UINT32_MAX && !home.is_object_guessed &&
	    is_awaited(names, other, key))
		node = move_home(names, other, key, error) == 0 ? other :
		       UINT32_MAX;
	else
		node = node_of_key(names, graph, key, home, error);
	if (node == UINT32_MAX ||
	    callgrind_names_set_node(&names->by_object, &object, sizeof object,
	                             node, error) != 0 ||
	    callgrind_names_set_node(&names->by_file, &file, sizeof file, node,
	                             error) != 0)
		return UINT32_MAX;
	return node;
}

uint32_t
callgrind_names_node(struct callgrind_names *names, struct call_graph *graph,
                     struct callgrind_home home, const char *text,
                     size_t length, struct error *error)
{
	struct callgrind_key key = { .file = home.file,
		.object = home.object };
	struct meaning *meaning;
	uint32_t node;

	if (callgrind_names_read_name(names, CALLGRIND_FUNCTION, text, length,
	                              &key.text, &meaning, error) != 0)
		return UINT32_MAX;
	if (meaning == NULL)
		node = node_of_key(names, graph, key, home, error);
	else if (meaning->node != UINT32_MAX &&
	         names->functions[meaning->node].key.object == key.object)
		node = meaning->node;
	else
		node = find_numbered(names, graph, meaning, key, home, error);
	if (node == UINT32_MAX)
		return UINT32_MAX;
	names->functions[node].is_object_guessed &= home.is_object_guessed;
	names->functions[node].is_file_guessed &= home.is_file_guessed;
	if (meaning != NULL)
		meaning->node = node;
	return node;
}

const struct names *
callgrind_names_texts(const struct callgrind_names *names)
{
	return names->texts;
}

struct callgrind_key
callgrind_names_key(const struct callgrind_names *names, uint32_t node)
{
	return names->functions[node].key;
}
