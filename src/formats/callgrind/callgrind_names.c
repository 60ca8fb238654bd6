/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_names.c -- functions, files and objects of a callgrind file. */
#include "src/formats/callgrind/callgrind_names.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { FIRST_SLOTS = 256, N_KINDS = 3 };

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

struct callgrind_names {
	struct names *texts;	/* of all kinds */
	struct names *keys;	/* struct callgrind_key: the node's number */
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
		if (*meaning != NULL && (*meaning)->text != NO_NAME) {
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

	return read_name(names, kind, text, length, &number, &meaning,
	                 error) == 0 ? number : NO_NAME;
}

uint32_t
callgrind_names_node(struct callgrind_names *names, struct call_graph *graph,
                     uint32_t object, uint32_t file, const char *text,
                     size_t length, struct error *error)
{
	struct callgrind_key key = { .file = file, .object = object };
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

const struct names *
callgrind_names_texts(const struct callgrind_names *names)
{
	return names->texts;
}

struct callgrind_key
callgrind_names_key(const struct callgrind_names *names, uint32_t node)
{
	struct callgrind_key key;

	memcpy(&key, names_text(names->keys, node), sizeof key);
	return key;
}
