/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_buffer.h -- a text that grows.
 *
 * Sticky: when memory runs out the text stops growing and `failed` is set;
 * check it once, before using the text.
 */
#ifndef CPPROF_BASE_TEXT_BUFFER_H
#define CPPROF_BASE_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/arena.h"

/* Start with `{ 0 }`.  bytes[length] is not followed by a NUL. */
struct text_buffer {
	char *bytes;
	size_t length, capacity;
	bool failed;
};

void text_free(struct text_buffer *text);

/* Empties it and keeps its memory; what failed stays so. */
void text_clear(struct text_buffer *text);

void text_add(struct text_buffer *text, const char *bytes, size_t n);
void text_add_string(struct text_buffer *text, const char *string);
void text_add_char(struct text_buffer *text, char c);
void text_add_fill(struct text_buffer *text, char c, size_t n);
void text_add_format(struct text_buffer *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Frees the text; a copy of it in the arena, with a NUL at its end.  NULL with
 * *error set when memory is short or was so before.
 */
char *text_move(struct text_buffer *text, struct arena *arena,
                struct error *error);

/* The text followed by a NUL, valid until the next call; "" if it failed. */
const char *text_string(struct text_buffer *text);

/* How many words `length` bytes have, separated by spaces. */
size_t text_count_words(const char *text, size_t length);

#endif
