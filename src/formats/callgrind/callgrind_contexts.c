/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_contexts.c -- names from the texts of a callgrind file. */
#include "src/formats/callgrind/callgrind.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/names/program.h"

enum { MAX_CALLERS = 10000 };

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
callgrind_contexts_read_level(const char *text, size_t length)
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

/* Numbers the function of a node's text, and notes its object. */
static int
list_function(struct resolving *resolving, uint32_t node, struct error *error)
{
	const struct names *texts = resolving->texts;
	uint32_t whole = resolving->profile->graph->nodes[node].name;
	const char *text = names_text(texts, whole);
	uint32_t object = callgrind_names_key(resolving->names, node).object;
	uint32_t n = names_count(resolving->functions);
	uint32_t number = names_add(resolving->functions, text,
	    part_length(text, names_length(texts, whole)), error);

	if (number == NO_NAME ||
	    memory_grow(&resolving->objects, &resolving->objects_capacity,
	                (size_t)n + 1, sizeof *resolving->objects, error) != 0)
		return -1;
	if (number == n)
		resolving->objects[number] = object;
	else if (resolving->objects[number] != object)
		resolving->objects[number] = NO_NAME;
	return 0;
}

static int
callgrind_contexts_list_functions(struct resolving *resolving,
                                  struct error *error)
{
	uint32_t n_nodes = resolving->profile->graph->n_nodes;

	for (uint32_t i = 0; i < n_nodes; i++)
		if (list_function(resolving, i, error) != 0)
			return -1;
	return 0;
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
callgrind_contexts_enter_function(struct resolving *resolving, const char *text,
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

/* function: its number among the listed ones. */
static int
add_caller(struct resolving *resolving, struct call_node *node,
           uint32_t function, struct error *error)
{
	const struct names *functions = resolving->functions;

	if (memory_grow(&resolving->callers, &resolving->callers_capacity,
	                (size_t)node->n_callers + 1, sizeof *resolving->callers,
	                error) != 0)
		return -1;
	resolving->callers[node->n_callers] =
	    callgrind_contexts_enter_function(resolving,
	                                      names_text(functions, function),
	                                      names_length(functions, function),
	                                      resolving->objects[function],
	                                      error);
	return resolving->callers[node->n_callers++] != NO_NAME ? 0 : -1;
}

/*
 * Splits FUNCTION['LEVEL]['CALLER]... 1; 0: the text has another form; or -1
 * with *error set.
 */
static int
split_text(struct resolving *resolving, const char *text, size_t length,
           uint32_t object, struct call_node *node, struct error *error)
{
	const char *end = text + length;
	size_t n = part_length(text, length);

	node->name = callgrind_contexts_enter_function(resolving, text, n,
	                                               object, error);
	if (node->name == NO_NAME)
		return -1;
	for (text += n; text < end; text += n) {
		uint32_t level = 0, caller;

		text++;
		n = part_length(text, (size_t)(end - text));
		if (node->level == 1 && node->n_callers == 0)
			level = callgrind_contexts_read_level(text, n);
		if (level > 0) {
			node->level = level;
			continue;
		}
		caller = find_caller(resolving, text, n, error);
		if (error->is_set)
			return -1;
		if (node->n_callers == MAX_CALLERS || caller == NO_NAME)
			return 0;
		if (add_caller(resolving, node, caller, error) != 0)
			return -1;
	}
	return 1;
}

/*
 * The length of a name that itself contains apostrophes, without the level
 * after it.
 */
static size_t
strip_level(const char *text, size_t length, uint32_t *level)
{
	const char *quote = memrchr(text, '\'', length);
	size_t n = (size_t)(quote - text);

	*level = callgrind_contexts_read_level(quote + 1, length - n - 1);
	if (*level > 0 && n > 0)
		return n;
	*level = 1;
	return length;
}

/* A text as a name of the profile; NO_NAME if it is unknown, "???". */
static uint32_t
callgrind_contexts_enter_place(struct resolving *resolving, uint32_t text,
                               struct error *error)
{
	const struct names *texts = resolving->texts;

	if (text == NO_NAME || strcmp(names_text(texts, text), "???") == 0)
		return NO_NAME;
	return names_add(resolving->profile->names, names_text(texts, text),
	                 names_length(texts, text), error);
}

/* Sets the object and the file in which a node is defined. */
static void
set_home(struct resolving *resolving, uint32_t number, struct call_node *node,
         struct error *error)
{
	struct callgrind_key key = callgrind_names_key(resolving->names,
	                                               number);

	node->object = callgrind_contexts_enter_place(resolving, key.object,
	                                              error);
	node->file = callgrind_contexts_enter_place(resolving, key.file, error);
}

static int
resolve_node(struct resolving *resolving, uint32_t number, bool has_contexts,
             struct error *error)
{
	struct call_graph *graph = resolving->profile->graph;
	const struct names *texts = resolving->texts;
	struct call_node node = { .level = 1 };
	uint32_t whole = graph->nodes[number].name;
	const char *text = names_text(texts, whole);
	size_t length = names_length(texts, whole);
	bool has_parts = has_contexts && memchr(text, '\'', length) != NULL;
	uint32_t object = callgrind_names_key(resolving->names, number).object;
	int result = 0;

	if (has_parts)
		result = split_text(resolving, text, length, object, &node,
		                    error);
	if (result < 0)
		return -1;
	if (result == 0) {
		node = (struct call_node){ .level = 1 };
		if (has_parts)
			length = strip_level(text, length, &node.level);
		node.name = callgrind_contexts_enter_function(resolving, text,
		                                              length, object,
		                                              error);
	}
	set_home(resolving, number, &node, error);
	if (error->is_set)
		return -1;
	return call_graph_set_node(graph, number, node, resolving->callers,
	                           error);
}

static int
callgrind_contexts_add_modules(struct resolving *resolving, struct error *error)
{
	const struct names *texts = resolving->texts;
	uint32_t n_nodes = resolving->profile->graph->n_nodes;
	bool *is_known = memory_array(names_count(texts), sizeof *is_known,
	                              error);

	for (uint32_t i = 0; is_known != NULL && i < n_nodes; i++) {
		struct callgrind_key key = callgrind_names_key(resolving->names,
		                                               i);

		if (key.object == NO_NAME || is_known[key.object])
			continue;
		is_known[key.object] = true;
		if (strcmp(names_text(texts, key.object), "???") != 0 &&
		    profile_add_module(resolving->profile,
		                       names_text(texts, key.object), NULL, 0,
		                       error) == UINT32_MAX)
			break;
	}
	free(is_known);
	return error->is_set ? -1 : 0;
}

static int
resolve_places(struct resolving *resolving, struct error *error)
{
	struct call_places *places = resolving->profile->graph->places;

	for (uint32_t i = 0; i < places->n; i++)
		places->items[i].file =
		    callgrind_contexts_enter_place(resolving,
		                                   places->items[i].file,
		                                   error);
	return error->is_set ? -1 : 0;
}

int
callgrind_contexts_resolve(const struct callgrind_names *names,
                           struct profile *profile, bool has_contexts,
                           struct error *error)
{
	struct resolving resolving = { .names = names,
		.texts = callgrind_names_texts(names), .profile = profile };
	int result = -1;

	resolving.functions = names_new(error);
	if (resolving.functions != NULL &&
	    callgrind_contexts_list_functions(&resolving, error) == 0 &&
	    callgrind_contexts_add_modules(&resolving, error) == 0)
		result = 0;
	for (uint32_t i = 0; result == 0 && i < profile->graph->n_nodes; i++)
		result = resolve_node(&resolving, i, has_contexts, error);
	if (result == 0)
		result = resolve_places(&resolving, error);
	names_free(resolving.functions);
	free(resolving.objects);
	free(resolving.callers);
	return result;
}
