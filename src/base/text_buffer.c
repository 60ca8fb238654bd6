/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_buffer.c -- a text that grows. */
#include "src/base/text_buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

void
text_free(struct text_buffer *text)
{
	free(text->bytes);
	*text = (struct text_buffer){ 0 };
}

char *
text_move(struct text_buffer *text, struct arena *arena, struct error *error)
{
	char *copy = NULL;

	if (text->failed)
		error_out_of_memory(error);
	else
		copy = arena_text(arena, text->bytes != NULL ? text->bytes : "",
		                  text->length, error);
	text_free(text);
	return copy;
}

void
text_clear(struct text_buffer *text)
{
	text->length = 0;
}

static bool
text_buffer_grow(struct text_buffer *text, size_t n)
{
	struct error error = { 0 };

	if (text->failed || n > SIZE_MAX - text->length ||
	    memory_grow(&text->bytes, &text->capacity, text->length + n, 1,
	                &error) != 0)
		text->failed = true;
	return !text->failed;
}

/* Room for n >= 1 more bytes, or NULL. */
static char *
text_buffer_reserve(struct text_buffer *text, size_t n)
{
	if ((text->failed || n > text->capacity - text->length) &&
	    !text_buffer_grow(text, n))
		return NULL;
	return text->bytes + text->length;
}

void
text_add(struct text_buffer *text, const char *bytes, size_t n)
{
	char *end = n > 0 ? text_buffer_reserve(text, n) : NULL;

	if (end != NULL) {
		memcpy(end, bytes, n);
		text->length += n;
	}
}

void
text_add_string(struct text_buffer *text, const char *string)
{
	text_add(text, string, strlen(string));
}

void
text_add_char(struct text_buffer *text, char c)
{
	text_add(text, &c, 1);
}

void
text_add_fill(struct text_buffer *text, char c, size_t n)
{
	char *end = n > 0 ? text_buffer_reserve(text, n) : NULL;

	if (end != NULL) {
		memset(end, c, n);
		text->length += n;
	}
}

void
text_add_format(struct text_buffer *text, const char *format, ...)
{
	va_list arguments;
	char *end;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	end = length < 0 ? NULL : text_buffer_reserve(text, (size_t)length + 1);
	if (end == NULL) {
		text->failed = true;
		return;
	}
	va_start(arguments, format);
	vsnprintf(end, (size_t)length + 1, format, arguments);
	va_end(arguments);
	text->length += (size_t)length;
}

const char *
text_string(struct text_buffer *text)
{
	char *end = text_buffer_reserve(text, 1);

	if (end == NULL)
		return "";
	*end = '\0';
	return text->bytes;
}

size_t
text_count_words(const char *text, size_t length)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++)
		n += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
	return n;
}
