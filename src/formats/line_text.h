/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line_text.h -- a line in pieces, for readers of text formats. */
#ifndef CPPROF_FORMATS_LINE_TEXT_H
#define CPPROF_FORMATS_LINE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Where the first byte is that no text holds, or size. */
static inline size_t
line_find_binary(const char *bytes, size_t size)
{
	size_t i = 0;

	while (i < size && ((unsigned char)bytes[i] >= ' ' ||
	                    memchr("\t\n\r\033", bytes[i], 4) != NULL))
		i++;
	return i;
}

/* What is left of a line, in place. */
struct line_text {
	const char *at, *end;
};

/* An empty one. */
static inline struct line_text
line_nothing(void)
{
	static const char nothing[1];

	return (struct line_text){ nothing, nothing };
}

static inline size_t
line_left(const struct line_text *text)
{
	return (size_t)(text->end - text->at);
}

static inline bool
line_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static inline void
line_skip_blanks(struct line_text *text)
{
	while (text->at < text->end && line_is_blank(*text->at))
		text->at++;
}

/* Takes blanks off both ends. */
static inline void
line_trim(struct line_text *text)
{
	line_skip_blanks(text);
	while (text->end > text->at && line_is_blank(text->end[-1]))
		text->end--;
}

static inline bool
line_begins_with(const struct line_text *text, const char *with)
{
	size_t length = strlen(with);

	return line_left(text) >= length &&
	       memcmp(text->at, with, length) == 0;
}

static inline bool
line_ends_with(const struct line_text *text, const char *with)
{
	size_t length = strlen(with);

	return line_left(text) >= length &&
	       memcmp(text->end - length, with, length) == 0;
}

static inline bool
line_is(const struct line_text *text, const char *what)
{
	return line_left(text) == strlen(what) &&
	       memcmp(text->at, what, line_left(text)) == 0;
}

static inline bool
line_has(const struct line_text *text, const char *what)
{
	return memmem(text->at, line_left(text), what, strlen(what)) != NULL;
}

/* Each takes what it names off the front; or takes nothing: false. */
static inline bool
line_take(struct line_text *text, const char *with)
{
	if (!line_begins_with(text, with))
		return false;
	text->at += strlen(with);
	return true;
}

/* Below 2^63, as the formats' numbers are. */
static inline bool
line_take_number(struct line_text *text, uint64_t *number)
{
	const char *at = text->at;
	uint64_t sum = 0;

	for (; at < text->end && *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum) ||
		    sum > INT64_MAX)
			return false;
	if (at == text->at)
		return false;
	text->at = at;
	*number = sum;
	return true;
}

static inline bool
line_is_hex_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	       (c >= 'A' && c <= 'F');
}

static inline bool
line_take_hex(struct line_text *text, uint64_t *number)
{
	const char *at = text->at;
	uint64_t sum = 0;

	for (; at < text->end && line_is_hex_digit(*at); at++) {
		if (sum >> 60 != 0)
			return false;
		sum = sum << 4 | (uint64_t)(*at <= '9' ? *at - '0' :
		                            (*at | 0x20) - 'a' + 10);
	}
	if (at == text->at)
		return false;
	text->at = at;
	*number = sum;
	return true;
}

/* Skips blanks; the word after them, which stays; empty at the end. */
static inline struct line_text
line_word(struct line_text *text)
{
	struct line_text word;

	line_skip_blanks(text);
	word = (struct line_text){ text->at, text->at };
	while (word.end < text->end && !line_is_blank(*word.end))
		word.end++;
	return word;
}

#endif
