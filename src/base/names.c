/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.c -- strings kept once each and named by a small number.
 *
 * Texts lie in an arena and never move; an index finds them.
 */
#include "src/base/names.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "src/base/index.h"
#include "src/base/memory.h"

struct names_string {
	const char *bytes;
	size_t length;
};

_Static_assert(NO_NAME == NO_INDEX, "what is not found has no name");

struct names {
	struct arena arena;
	struct names_string *texts;
	size_t texts_capacity;
	uint32_t n_texts;
	struct index index;
};

struct names *
names_new(struct error *error)
{
	return memory_array(1, sizeof(struct names), error);
}

void
names_free(struct names *names)
{
	if (names == NULL)
		return;
	arena_free(&names->arena);
	free(names->texts);
	index_free(&names->index);
	free(names);
}

static uint32_t
names_hash_text(const char *text, size_t length)
{
	return (uint32_t)XXH3_64bits(text, length);
}

static bool
names_is_text(const void *texts, uint32_t name, const void *key)
{
	const struct names_string *known = &(
	    (const struct names_string *)texts)[name];
	const struct names_string *sought = key;

	return known->length == sought->length &&
	    (sought->length == 0 ||
	     memcmp(known->bytes, sought->bytes, sought->length) == 0);
}

uint32_t
names_add(struct names *names, const char *text, size_t length,
          struct error *error)
{
	const struct names_string key = { text, length };
	uint32_t hash = names_hash_text(text, length), name = names->n_texts;
	struct index_slot *slot = index_seek(&names->index, hash, names_is_text,
	                                     names->texts, &key, error);
	const char *copy;

	if (slot == NULL)
		return NO_NAME;
	if (slot->number != 0)
		return slot->number - 1;
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
	names->texts[name] = (struct names_string){ copy, length };
	index_fill(&names->index, slot, hash, name);
	return names->n_texts++;
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
	const struct names_string key = { text, length };

	return index_find(&names->index, names_hash_text(text, length),
	                  names_is_text, names->texts, &key);
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
	const struct names_string *x = &names->texts[a], *y = &names->texts[b];
	size_t shorter = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->bytes, y->bytes, shorter);

	if (order != 0)
		return order;
	return (x->length > y->length) - (x->length < y->length);
}

int
names_compare_items(const void *a, const void *b, void *names)
{
	return names_compare(names, *(const uint32_t *)a,
	                     *(const uint32_t *)b);
}
