/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.c -- allocation with checked sizes, failing as a value. */
#include "src/base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *
memory_array(size_t n, size_t size, struct error *error)
{
	void *items = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(n, size, &bytes))
		items = calloc(1, bytes ? bytes : 1);
	if (items == NULL)
		error_out_of_memory(error);
	return items;
}

void *
memory_copy(const void *items, size_t n, size_t size, struct error *error)
{
	void *copy = memory_array(n, size, error);

	if (copy != NULL && n > 0)
		memcpy(copy, items, n * size);
	return copy;
}

char *
memory_text(const char *text, size_t length, struct error *error)
{
	char *copy = memory_array(length + 1, 1, error);

	if (copy != NULL && length > 0)
		memcpy(copy, text, length);
	return copy;
}

char *
memory_string(const char *text, struct error *error)
{
	return memory_text(text, strlen(text), error);
}

char **
memory_strings(const char *const *texts, size_t n, struct error *error)
{
	char **copy = memory_array(n, sizeof *copy, error);

	for (size_t i = 0; copy != NULL && i < n; i++) {
		copy[i] = memory_string(texts[i], error);
		if (copy[i] == NULL) {
			memory_strings_free(copy, n);
			return NULL;
		}
	}
	return copy;
}

void
memory_strings_free(char **texts, size_t n)
{
	for (size_t i = 0; texts != NULL && i < n; i++)
		free(texts[i]);
	free(texts);
}

int
memory_grow(void *items, size_t *capacity, size_t needed, size_t size,
            struct error *error)
{
	size_t wanted = *capacity;
	void *old, *grown;

	if (needed <= *capacity)
		return 0;
	if (wanted < 16)
		wanted = 16;
	while (wanted < needed) {
		if (wanted > SIZE_MAX / 2)
			return error_out_of_memory(error);
		wanted *= 2;
	}
	memcpy(&old, items, sizeof old);
	grown = reallocarray(old, wanted, size);
	if (grown == NULL)
		return error_out_of_memory(error);
	memcpy(items, &grown, sizeof grown);
	*capacity = wanted;
	return 0;
}
