/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_names.c -- functions, files and objects of a callgrind file. */
#include "src/formats/callgrind/callgrind_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { FIRST_SLOTS = 256, MAX_CALLERS = 10000, N_KINDS = 3 };

/* What a number in parentheses means. */
struct meaning {
	uint64_t id;
	uint32_t text;		/* NO_NAME: an empty slot */
	uint32_t node;		/* of a function; UINT32_MAX before */
};

/* Found by open addressing, at most half full. */
struct meanings {
	struct meaning *slots;
	size_t n, n_slots;
};

/* What tells nodes apart. */
struct node_key {
	uint32_t text, file, object;
};

struct callgrind_names {
	struct names *texts;	/* of all kinds */
	struct names *keys;	/* struct node_key: the node's number */
	struct meanings meanings[N_KINDS];
};

struct callgrind_names *
callgrind_names_new(struct error *error)
{
	struct callgrind_names *names = memory_array(1, sizeof *names, error);

	if (names == NULL)
		return NULL;
	names->texts = names_new(error);
	names->keys = names_new(error);
	if (names->texts == NULL || names->keys == NULL) {
		callgrind_names_free(names);
		return NULL;
	}
	return names;
}

void
callgrind_names_free(struct callgrind_names *names)
{
	if (names == NULL)
		return;
	names_free(names->texts);
	names_free(names->keys);
	for (int i = 0; i < N_KINDS; i++)
		free(names->meanings[i].slots);
	free(names);
}

static struct meaning *
find_slot(const struct meanings *meanings, uint64_t id)
{
	size_t mask = meanings->n_slots - 1;
	size_t i = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

	while (meanings->slots[i].text != NO_NAME &&
	       meanings->slots[i].id != id)
		i = (i + 1) & mask;
	return &meanings->slots[i];
}

static int
grow_meanings(struct meanings *meanings, struct error *error)
{
	struct meanings grown = { .n = meanings->n };

	grown.n_slots = meanings->n_slots == 0 ? FIRST_SLOTS :
	                meanings->n_slots * 2;
	grown.slots = memory_array(grown.n_slots, sizeof *grown.slots, error);
	if (grown.slots == NULL)
		return -1;
	for (size_t i = 0; i < grown.n_slots; i++)
		grown.slots[i].text = NO_NAME;
	for (size_t i = 0; i < meanings->n_slots; i++)
		if (meanings->slots[i].text != NO_NAME)
			*find_slot(&grown, meanings->slots[i].id) =
			    meanings->slots[i];
	free(meanings->slots);
	*meanings = grown;
	return 0;
}

/* Lets the id mean this text from here on. */
static struct meaning *
define(struct meanings *meanings, uint64_t id, uint32_t text,
       struct error *error)
{
	struct meaning *slot;

	if (2 * (meanings->n + 1) > meanings->n_slots &&
	    grow_meanings(meanings, error) != 0)
		return NULL;
	slot = find_slot(meanings, id);
	if (slot->text == text)
		return slot;
	meanings->n += slot->text == NO_NAME;
	*slot = (struct meaning){ id, text, UINT32_MAX };
	return slot;
}

/* Reads "(ID)" and blanks behind it; the bytes taken, or 0: no such thing. */
static size_t
read_id(const char *text, size_t length, uint64_t *id)
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
 * What the text means: sets *text_number, and *meaning where it is numbered
 * (else NULL).  0, or -1 with *error set.
 */
static int
read_name(struct callgrind_names *names, enum callgrind_kind kind,
          const char *text, size_t length, uint32_t *text_number,
          struct meaning **meaning, struct error *error)
{
	struct meanings *meanings = &names->meanings[kind];
	uint64_t id = 0;
	size_t taken;

	while (length > 0 && (*text == ' ' || *text == '\t')) {
		text++;
		length--;
	}
	taken = read_id(text, length, &id);
	*meaning = NULL;
	if (taken > 0 && taken == length) {
		if (meanings->n_slots > 0)
			*meaning = find_slot(meanings, id);
		if (*meaning == NULL || (*meaning)->text == NO_NAME)
			return error_set(error, "(%llu) has no name yet",
			                 (unsigned long long)id);
		*text_number = (*meaning)->text;
		return 0;
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

	return read_name(names, kind, text, length, &number, &meaning,
	                 error) == 0 ? number : NO_NAME;
}

uint32_t
callgrind_names_node(struct callgrind_names *names, struct call_graph *graph,
                     uint32_t object, uint32_t file, const char *text,
                     size_t length, struct error *error)
{
	struct node_key key = { .file = file, .object = object };
	struct meaning *meaning;
	uint32_t node;

	if (read_name(names, CALLGRIND_FUNCTION, text, length, &key.text,
	              &meaning, error) != 0)
		return UINT32_MAX;
	if (meaning != NULL && meaning->node != UINT32_MAX)
		return meaning->node;
	node = names_add(names->keys, (const char *)&key, sizeof key, error);
	if (node == graph->n_nodes)
		node = call_graph_add_node(graph, (struct call_node){
			.name = key.text, .object = NO_NAME,
			.file = NO_NAME, .level = 1,
		}, NULL, error);
	if (meaning != NULL)
		meaning->node = node;
	return node;
}

/* ---- taking texts apart ---- */

struct finish {
	struct callgrind_names *names;
	struct profile *profile;
	struct names *functions;	/* what stands before an apostrophe in
					 * some text */
	uint32_t *callers;		/* of one node */
	size_t callers_capacity;
};

/* Length of what stands before the first apostrophe behind the first byte. */
static size_t
part_length(const char *text, size_t length)
{
	const char *end = length > 1 ? memchr(text + 1, '\'', length - 1) :
	                  NULL;

	return end == NULL ? length : (size_t)(end - text);
}

/* "2" and more, in digits alone; 0 is no level. */
static uint32_t
read_level(const char *text, size_t length)
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

static int
list_functions(struct finish *finish, struct error *error)
{
	const struct call_graph *graph = finish->profile->graph;
	const struct names *texts = finish->names->texts;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		const char *text = names_text(texts, graph->nodes[i].name);
		size_t length = names_length(texts, graph->nodes[i].name);

		if (names_add(finish->functions, text,
		              part_length(text, length), error) == NO_NAME)
			return -1;
	}
	return 0;
}

static int
add_caller(struct finish *finish, struct call_node *node, const char *text,
           size_t length, struct error *error)
{
	if (memory_grow(&finish->callers, &finish->callers_capacity,
	                (size_t)node->n_callers + 1, sizeof *finish->callers,
	                error) != 0)
		return -1;
	finish->callers[node->n_callers] =
	    names_add(finish->profile->names, text, length, error);
	return finish->callers[node->n_callers++] != NO_NAME ? 0 : -1;
}

/*
 * Takes FUNCTION['LEVEL]['CALLER]... apart.  1, 0 where the text is not that,
 * or -1 with *error set.
 */
static int
take_apart(struct finish *finish, const char *text, size_t length,
           struct call_node *node, struct error *error)
{
	const char *end = text + length;
	size_t n = part_length(text, length);

	node->name = names_add(finish->profile->names, text, n, error);
	if (node->name == NO_NAME)
		return -1;
	for (text += n; text < end; text += n) {
		uint32_t level = 0;

		text++;
		n = part_length(text, (size_t)(end - text));
		if (node->level == 1 && node->n_callers == 0)
			level = read_level(text, n);
		if (level > 0) {
			node->level = level;
			continue;
		}
		if (node->n_callers == MAX_CALLERS ||
		    names_find(finish->functions, text, n) == NO_NAME)
			return 0;
		if (add_caller(finish, node, text, n, error) != 0)
			return -1;
	}
	return 1;
}

/* The length of a name that holds quotes itself, less the level behind it. */
static size_t
strip_level(const char *text, size_t length, uint32_t *level)
{
	const char *quote = memrchr(text, '\'', length);
	size_t n = (size_t)(quote - text);

	*level = read_level(quote + 1, length - n - 1);
	if (*level > 0 && n > 0)
		return n;
	*level = 1;
	return length;
}

/* A text as a name of the profile; NO_NAME where it is not known, "???". */
static uint32_t
enter_place(struct finish *finish, uint32_t text, struct error *error)
{
	const struct names *texts = finish->names->texts;

	if (text == NO_NAME || strcmp(names_text(texts, text), "???") == 0)
		return NO_NAME;
	return names_add(finish->profile->names, names_text(texts, text),
	                 names_length(texts, text), error);
}

/* Where a node is defined. */
static void
set_home(struct finish *finish, uint32_t number, struct call_node *node,
         struct error *error)
{
	struct node_key key;

	memcpy(&key, names_text(finish->names->keys, number), sizeof key);
	node->object = enter_place(finish, key.object, error);
	node->file = enter_place(finish, key.file, error);
}

static int
finish_node(struct finish *finish, uint32_t number, bool has_contexts,
            struct error *error)
{
	struct call_graph *graph = finish->profile->graph;
	const struct names *texts = finish->names->texts;
	struct call_node node = { .level = 1 };
	uint32_t whole = graph->nodes[number].name;
	const char *text = names_text(texts, whole);
	size_t length = names_length(texts, whole);
	bool has_parts = has_contexts && memchr(text, '\'', length) != NULL;
	int result = 0;

	if (has_parts)
		result = take_apart(finish, text, length, &node, error);
	if (result < 0)
		return -1;
	if (result == 0) {
		node = (struct call_node){ .level = 1 };
		if (has_parts)
			length = strip_level(text, length, &node.level);
		node.name = names_add(finish->profile->names, text, length,
		                      error);
	}
	set_home(finish, number, &node, error);
	if (error->is_set)
		return -1;
	return call_graph_set_node(graph, number, node, finish->callers,
	                           error);
}

static int
add_modules(struct finish *finish, struct error *error)
{
	const struct names *texts = finish->names->texts;
	const struct names *keys = finish->names->keys;
	bool *is_known = memory_array(names_count(texts), sizeof *is_known,
	                              error);

	for (uint32_t i = 0; is_known != NULL && i < names_count(keys); i++) {
		struct node_key key;

		memcpy(&key, names_text(keys, i), sizeof key);
		if (key.object == NO_NAME || is_known[key.object])
			continue;
		is_known[key.object] = true;
		if (strcmp(names_text(texts, key.object), "???") != 0 &&
		    profile_add_module(finish->profile,
		                       names_text(texts, key.object), NULL, 0,
		                       error) == UINT32_MAX)
			break;
	}
	free(is_known);
	return error->is_set ? -1 : 0;
}

static int
finish_places(struct finish *finish, struct error *error)
{
	struct call_places *places = finish->profile->graph->places;

	for (uint32_t i = 0; i < places->n; i++)
		places->items[i].file = enter_place(finish,
		    places->items[i].file, error);
	return error->is_set ? -1 : 0;
}

int
callgrind_names_finish(struct callgrind_names *names, struct profile *profile,
                       bool has_contexts, struct error *error)
{
	struct finish finish = { .names = names, .profile = profile };
	int result = -1;

	finish.functions = names_new(error);
	if (finish.functions != NULL && list_functions(&finish, error) == 0 &&
	    add_modules(&finish, error) == 0)
		result = 0;
	for (uint32_t i = 0; result == 0 && i < profile->graph->n_nodes; i++)
		result = finish_node(&finish, i, has_contexts, error);
	if (result == 0)
		result = finish_places(&finish, error);
	names_free(finish.functions);
	free(finish.callers);
	return result;
}
