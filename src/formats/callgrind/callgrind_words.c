/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_words.c -- numbers and keys in the lines of callgrind's files. */
#include "src/formats/callgrind/callgrind.h"

#include <string.h>

static int
callgrind_words_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the digits after 0x; NULL if they are no number of 64 bits. */
static const char *
read_hex(const char *at, uint64_t *number)
{
	const char *start = at;
	int digit;

	*number = 0;
	for (; (digit = callgrind_words_hex_digit(*at)) >= 0; at++) {
		if (*number >> 60 != 0)
			return NULL;
		*number = *number << 4 | (uint64_t)digit;
	}
	return at > start ? at : NULL;
}

const char *
callgrind_number(const char *at, uint64_t *number)
{
	const char *start = at;
	uint64_t sum = 0;

	if (at[0] == '0' && (at[1] | 0x20) == 'x')
		return read_hex(at + 2, number);
	for (; *at >= '0' && *at <= '9'; at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	*number = sum;
	if (at - start < 20)
		return at > start ? at : NULL;
	/* Too long to be sure: once more, with care. */
	for (sum = 0; start < at; start++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, *start - '0', &sum))
			return NULL;
	return at;
}

static bool
callgrind_words_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

void
callgrind_trim(const char **text, size_t *length)
{
	while (*length > 0 && callgrind_words_is_blank(**text)) {
		++*text;
		--*length;
	}
	while (*length > 0 && callgrind_words_is_blank((*text)[*length - 1]))
		--*length;
}

size_t
callgrind_next_word(const char **text, size_t *length)
{
	size_t n = 0;

	callgrind_trim(text, length);
	while (n < *length && !callgrind_words_is_blank((*text)[n]))
		n++;
	return n;
}

bool
callgrind_is_key(const char *line, size_t length, const char *key)
{
	return strlen(key) == length && memcmp(line, key, length) == 0;
}
