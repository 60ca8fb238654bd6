/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_names.c -- functions, files and objects of a callgrind file.
 *
 * "fn=(12) parse" defines (12) from here on, "fn=(12)" uses it, and "fn=parse"
 * needs no number.  Functions, files and objects have separate numbers.  The
 * meaning of a number may change in the next part of a file.
 *
 * While the file is read a function is a node of the graph, with its whole
 * text and the file and object in which it is defined.  At the end the nodes
 * get names.  Callgrind writes the situation of a function into its text:
 * "parse'2" is parse below itself, and with --separate-callers
 * "parse'2'main'(below main)" is the same with its callers, innermost first.
 * All texts must be known to distinguish such a text from names that contain an
 * apostrophe, so texts are split then.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/callgrind/callgrind.h"
#include "src/symbols/names/program.h"

enum { N_KINDS = 3, MAX_CALLERS = 10000 };

/*
 * What identifies a node, as texts; NO_NAME: unknown.  A node's name is the
 * number of its text, and a place's file is that of the file's text.
 */
struct callgrind_key {
	uint32_t text, file, object;
};

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

/* ---- nodes ---- */

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
	struct function *function;

	if (node != UINT32_MAX &&
	    names->functions[node].key.object == key.object)
		return node;
	if (other == UINT32_MAX || home.is_file_guessed)
		other = meaning->node;
	function = other != UINT32_MAX ? &names->functions[other] : NULL;
	if (function != NULL && home.is_object_guessed &&
	    (home.is_file_guessed || function->key.file == key.file))
		return other;
	/* One that was called before may be what a line with a home defines. */
	if (function != NULL && !home.is_object_guessed &&
	    function->is_object_guessed &&
	    (function->is_file_guessed || function->key.file == key.file) &&
	    callgrind_names_find_node(&names->by_key, &key, sizeof key) ==
	        UINT32_MAX) {
		if (callgrind_names_set_node(&names->by_key, &function->key,
		                             sizeof key, UINT32_MAX,
		                             error) != 0)
			return UINT32_MAX;
		*function = (struct function){ .key = key };
		node = callgrind_names_set_node(&names->by_key, &key,
		                                sizeof key, other,
		                                error) == 0 ? other :
		       UINT32_MAX;
	} else {
		node = node_of_key(names, graph, key, home, error);
	}
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

/* ---- names of nodes ---- */

struct resolving {
	const struct callgrind_names *names;
	const struct names *texts;
	struct profile *profile;
	struct names *functions;	/* beginnings of texts, up to an
					 * apostrophe */
	uint32_t *objects;		/* [functions] texts; NO_NAME: unknown,
					 * or several */
	size_t objects_capacity;
	uint32_t *callers;		/* of one node */
	size_t callers_capacity;
};

/*
 * The length of the text before the first apostrophe, not counting the first
 * byte.
 */
static size_t
part_length(const char *text, size_t length)
{
	const char *end = length > 1 ? memchr(text + 1, '\'', length - 1) :
	                  NULL;

	return end == NULL ? length : (size_t)(end - text);
}

/* A level, "2" or more, only digits; 0: it is no level. */
static uint32_t
callgrind_read_level(const char *text, size_t length)
{
	uint32_t level = 0;

	if (length == 0 || length > 9 || *text == '0')
		return 0;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		level = level * 10 + (uint32_t)(text[i] - '0');
	}
	return level >= 2 ? level : 0;
}

/*
 * Callgrind names a function without a symbol by its offset in its object,
 * "0x000000000001ab70", perhaps followed by " [PLT]".  Returns the number of
 * bytes before the first significant digit; 0 for other names.
 */
static size_t
offset_prefix(const char *text, size_t length)
{
	size_t n, zeros = 2;

	if (length < 3 || text[0] != '0' || text[1] != 'x')
		return 0;
	n = 2 + strspn(text + 2, "0123456789abcdef");
	if (n == 2 || (n < length && text[n] != ' '))
		return 0;
	while (zeros + 1 < n && text[zeros] == '0')
		zeros++;
	return zeros;
}

/* Enters a function; one without a symbol is distinguished by its object. */
static uint32_t
callgrind_enter_function(struct resolving *resolving, const char *text,
                                  size_t length, uint32_t object,
                                  struct error *error)
{
	struct names *names = resolving->profile->names;
	size_t prefix = offset_prefix(text, length);
	bool is_unknown = length == 3 && memcmp(text, "???", 3) == 0;
	const char *path;

	/* Valgrind can be asked to leave names mangled. */
	if (object == NO_NAME || (prefix == 0 && !is_unknown))
		return demangle_and_add(names, text, length, error);
	path = names_text(resolving->texts, object);
	if (strcmp(path, "???") == 0)
		return names_add(names, text, length, error);
	return is_unknown ?
	    names_add_format(names, error, "[%s]", last_component(path)) :
	    names_add_format(names, error, "%s+0x%.*s", last_component(path),
	                     (int)(length - prefix), text + prefix);
}

/*
 * The number of a caller among the listed functions; NO_NAME: the text is none
 * of them.  A function without a symbol need not be listed: its text may stand
 * for functions of several objects, which all have names of their own.
 */
static uint32_t
find_caller(struct resolving *resolving, const char *text, size_t length,
            struct error *error)
{
	uint32_t n = names_count(resolving->functions);
	uint32_t number = names_find(resolving->functions, text, length);

	if (number != NO_NAME || offset_prefix(text, length) == 0)
		return number;
	if (memory_grow(&resolving->objects, &resolving->objects_capacity,
	                (size_t)n + 1, sizeof *resolving->objects, error) != 0)
		return NO_NAME;
	resolving->objects[n] = NO_NAME;
	return names_add(resolving->functions, text, length, error);
}

/*
 * Splits FUNCTION['LEVEL]['CALLER]... 1; 0: the text has another form; or -1
 * with *error set.
 */
static int
split_text(struct resolving *resolving, const char *text, size_t length,
           uint32_t object, struct call_node *node, struct error *error)
{
	const struct names *functions = resolving->functions;
	const char *end = text + length;
	size_t n = part_length(text, length);

	node->name = callgrind_enter_function(resolving, text, n, object,
	                                      error);
	if (node->name == NO_NAME)
		return -1;
	for (text += n; text < end; text += n) {
		uint32_t level = 0, caller;

		text++;
		n = part_length(text, (size_t)(end - text));
		if (node->level == 1 && node->n_callers == 0)
			level = callgrind_read_level(text, n);
		if (level > 0) {
			node->level = level;
			continue;
		}
		caller = find_caller(resolving, text, n, error);
		if (error->is_set)
			return -1;
		if (node->n_callers == MAX_CALLERS || caller == NO_NAME)
			return 0;
		if (memory_grow(&resolving->callers,
		                &resolving->callers_capacity,
		                (size_t)node->n_callers + 1,
		                sizeof *resolving->callers, error) != 0)
			return -1;
		caller = callgrind_enter_function(resolving,
		    names_text(functions, caller),
		    names_length(functions, caller),
		    resolving->objects[caller], error);
		if (caller == NO_NAME)
			return -1;
		resolving->callers[node->n_callers++] = caller;
	}
	return 1;
}

/* A text as a name of the profile; NO_NAME if it is unknown, "???". */
static uint32_t
callgrind_enter_text(struct resolving *resolving, uint32_t text,
                               struct error *error)
{
	const struct names *texts = resolving->texts;

	if (text == NO_NAME || strcmp(names_text(texts, text), "???") == 0)
		return NO_NAME;
	return names_add(resolving->profile->names, names_text(texts, text),
	                 names_length(texts, text), error);
}

static int
resolve_node(struct resolving *resolving, uint32_t number, bool has_contexts,
             struct error *error)
{
	struct call_graph *graph = resolving->profile->graph;
	const struct callgrind_key key =
	    resolving->names->functions[number].key;
	struct call_node node = { .level = 1 };
	const char *text = names_text(resolving->texts, key.text);
	size_t length = names_length(resolving->texts, key.text);
	const char *quote = has_contexts ? memrchr(text, '\'', length) : NULL;
	int result = 0;

	if (quote != NULL)
		result = split_text(resolving, text, length, key.object, &node,
		                    error);
	if (result < 0)
		return -1;
	if (result == 0) {
		node = (struct call_node){ .level = 1 };
		/* The name itself has apostrophes, and perhaps a level. */
		if (quote > text) {
			size_t n = (size_t)(quote - text);
			uint32_t level = callgrind_read_level(quote + 1,
			                                      length - n - 1);

			if (level > 0) {
				node.level = level;
				length = n;
			}
		}
		node.name = callgrind_enter_function(resolving, text, length,
		                                     key.object, error);
	}
	node.object = callgrind_enter_text(resolving, key.object, error);
	node.file = callgrind_enter_text(resolving, key.file, error);
	if (error->is_set)
		return -1;
	return call_graph_set_node(graph, number, node, resolving->callers,
	                           error);
}

/* Numbers the functions of all texts, and enters the objects as modules. */
static int
list_functions(struct resolving *resolving, struct error *error)
{
	const struct names *texts = resolving->texts;
	const uint32_t n_nodes = resolving->profile->graph->n_nodes;
	bool *is_module = memory_array(names_count(texts), sizeof *is_module,
	                               error);

	for (uint32_t i = 0; i < n_nodes && !error->is_set; i++) {
		const struct callgrind_key key =
		    resolving->names->functions[i].key;
		const char *text = names_text(texts, key.text);
		uint32_t n = names_count(resolving->functions);
		uint32_t number = names_add(resolving->functions, text,
		    part_length(text, names_length(texts, key.text)), error);

		if (number == NO_NAME ||
		    memory_grow(&resolving->objects,
		                &resolving->objects_capacity, (size_t)n + 1,
		                sizeof *resolving->objects, error) != 0)
			break;
		if (number == n)
			resolving->objects[number] = key.object;
		else if (resolving->objects[number] != key.object)
			resolving->objects[number] = NO_NAME;
	}
	for (uint32_t i = 0; i < n_nodes && !error->is_set; i++) {
		uint32_t object = resolving->names->functions[i].key.object;

		if (object == NO_NAME || is_module[object])
			continue;
		is_module[object] = true;
		if (strcmp(names_text(texts, object), "???") != 0)
			profile_add_module(resolving->profile,
			                   names_text(texts, object), NULL, 0,
			                   error);
	}
	free(is_module);
	return error->is_set ? -1 : 0;
}

int
callgrind_names_resolve(const struct callgrind_names *names,
                        struct profile *profile, bool has_contexts,
                        struct error *error)
{
	struct resolving resolving = { .names = names, .texts = names->texts,
		.profile = profile, .functions = names_new(error) };
	struct call_graph *graph = profile->graph;
	int result = -1;

	if (resolving.functions != NULL)
		result = list_functions(&resolving, error);
	for (uint32_t i = 0; result == 0 && i < graph->n_nodes; i++)
		result = resolve_node(&resolving, i, has_contexts, error);
	for (uint32_t i = 0; result == 0 && i < graph->places->n; i++) {
		struct call_place *place = &graph->places->items[i];

		place->file = callgrind_enter_text(&resolving, place->file,
		                                    error);
	}
	names_free(resolving.functions);
	free(resolving.objects);
	free(resolving.callers);
	return error->is_set ? -1 : result;
}
