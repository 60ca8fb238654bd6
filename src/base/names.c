/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.c -- strings kept once each and named by a small number.
 *
 * Texts lie in an arena and never move.  An open-addressing table of slots, at
 * most half full, holds each name's number and the upper half of its hash, so
 * that a probe reads a text only when it almost certainly matches.
 */
#include "src/base/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "src/base/arena.h"
#include "src/base/memory.h"

struct slot {
	uint32_t name_plus_one;		/* 0: empty */
	uint32_t tag;
};

struct text {
	const char *bytes;
	size_t length;
};

struct names {
	struct arena arena;
	struct text *texts;
	size_t texts_capacity;
	uint32_t n_texts;
	struct slot *slots;
	size_t n_slots;			/* a power of two */
};

struct names *
names_new(struct error *error)
{
	struct names *names = memory_array(1, sizeof *names, error);

	if (names == NULL)
		return NULL;
	names->n_slots = 1024;
	names->slots = memory_array(names->n_slots, sizeof *names->slots,
	                            error);
	if (names->slots == NULL) {
		free(names);
		return NULL;
	}
	return names;
}

void
names_free(struct names *names)
{
	if (names == NULL)
		return;
	arena_free(&names->arena);
	free(names->texts);
	free(names->slots);
	free(names);
}

static uint64_t
hash_text(const char *text, size_t length)
{
	return XXH3_64bits(text, length);
}

/* The slot that holds the text, or the empty one where it belongs. */
static struct slot *
find_slot(const struct names *names, const char *text, size_t length,
          uint64_t hash)
{
	size_t mask = names->n_slots - 1;
	uint32_t tag = (uint32_t)(hash >> 32);

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct slot *slot = &names->slots[i];
		const struct text *known;

		if (slot->name_plus_one == 0)
			return slot;
		if (slot->tag != tag)
			continue;
		known = &names->texts[slot->name_plus_one - 1];
		if (known->length == length &&
		    (length == 0 || memcmp(known->bytes, text, length) == 0))
			return slot;
	}
}

static int
grow_slots(struct names *names, struct error *error)
{
	struct slot *old = names->slots;
	size_t n_new = names->n_slots * 2;
	struct slot *slots = memory_array(n_new, sizeof *slots, error);

	if (slots == NULL)
		return -1;
	for (uint32_t name = 0; name < names->n_texts; name++) {
		const struct text *text = &names->texts[name];
		uint64_t hash = hash_text(text->bytes, text->length);
		size_t i = hash & (n_new - 1);

		while (slots[i].name_plus_one != 0)
			i = (i + 1) & (n_new - 1);
		slots[i].name_plus_one = name + 1;
		slots[i].tag = (uint32_t)(hash >> 32);
	}
	names->slots = slots;
	names->n_slots = n_new;
	free(old);
	return 0;
}

static uint32_t
enter(struct names *names, struct slot *slot, const char *text, size_t length,
      uint64_t hash, struct error *error)
{
	uint32_t name = names->n_texts;
	const char *copy;

	if (name >= NO_NAME - 1) {
		error_set(error, "more than 4,294,967,294 distinct names");
		return NO_NAME;
	}
	if (memory_grow(&names->texts, &names->texts_capacity,
	                (size_t)name + 1, sizeof *names->texts, error) != 0)
		return NO_NAME;
	copy = arena_text(&names->arena, text, length, error);
	if (copy == NULL)
		return NO_NAME;
	names->texts[name] = (struct text){ copy, length };
	names->n_texts++;
	slot->name_plus_one = name + 1;
	slot->tag = (uint32_t)(hash >> 32);
	if (names->n_texts > names->n_slots / 2 &&
	    grow_slots(names, error) != 0)
		return NO_NAME;
	return name;
}

uint32_t
names_add(struct names *names, const char *text, size_t length,
          struct error *error)
{
	uint64_t hash = hash_text(text, length);
	struct slot *slot = find_slot(names, text, length, hash);

	if (slot->name_plus_one != 0)
		return slot->name_plus_one - 1;
	return enter(names, slot, text, length, hash, error);
}

uint32_t
names_add_pair(struct names *names, const char *first, size_t n_first,
               const void *second, size_t n_second, struct error *error)
{
	char *pair = memory_array(n_first + 1 + n_second, 1, error);
	uint32_t name;

	if (pair == NULL)
		return NO_NAME;
	memcpy(pair, first, n_first);
	if (n_second > 0)
		memcpy(pair + n_first + 1, second, n_second);
	name = names_add(names, pair, n_first + 1 + n_second, error);
	free(pair);
	return name;
}

uint32_t
names_add_format(struct names *names, struct error *error, const char *format,
                 ...)
{
	uint32_t name = NO_NAME;
	va_list arguments;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0) {
		error_out_of_memory(error);
		return NO_NAME;
	}
	name = names_add(names, text, (size_t)length, error);
	free(text);
	return name;
}

uint32_t
names_find(const struct names *names, const char *text, size_t length)
{
	const struct slot *slot = find_slot(names, text, length,
	                                    hash_text(text, length));

	return slot->name_plus_one - 1;		/* empty: NO_NAME */
}

uint32_t
names_find_pair(const struct names *names, const char *first, size_t n_first,
                const void *second, size_t n_second)
{
	struct error error = { 0 };
	uint32_t name = NO_NAME;
	char *pair = memory_array(n_first + 1 + n_second, 1, &error);

	if (pair == NULL)
		return NO_NAME;
	memcpy(pair, first, n_first);
	if (n_second > 0)
		memcpy(pair + n_first + 1, second, n_second);
	name = names_find(names, pair, n_first + 1 + n_second);
	free(pair);
	return name;
}

uint32_t
names_count(const struct names *names)
{
	return names->n_texts;
}

const char *
names_text(const struct names *names, uint32_t name)
{
	return names->texts[name].bytes;
}

size_t
names_length(const struct names *names, uint32_t name)
{
	return names->texts[name].length;
}

int
names_compare(const struct names *names, uint32_t a, uint32_t b)
{
	const struct text *x = &names->texts[a], *y = &names->texts[b];
	size_t shorter = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->bytes, y->bytes, shorter);

	if (order != 0)
		return order;
	return (x->length > y->length) - (x->length < y->length);
}
