/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_string.c -- untrusted bytes as a JSON string. */
#include "src/base/text_buffer.h"

#include <inttypes.h>

static void
add_escaped(struct text_buffer *text, uint32_t character)
{
	if (character == '"' || character == '\\') {
		text_add_char(text, '\\');
		text_add_char(text, (char)character);
	} else if (character == '\n') {
		text_add_string(text, "\\n");
	} else if (character == '\t') {
		text_add_string(text, "\\t");
	} else if (character < 0x10000) {
		text_add_format(text, "\\u%04" PRIx32, character);
	} else {
		character -= 0x10000;
		text_add_format(text, "\\u%04" PRIx32 "\\u%04" PRIx32,
		                0xd800 + (character >> 10),
		                0xdc00 + (character & 0x3ff));
	}
}

/* The number of bytes at the front that need no escape. */
static size_t
json_string_plain_run(const char *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && bytes[i] >= 0x20 && bytes[i] < 0x7f &&
	       bytes[i] != '"' && bytes[i] != '\\')
		i++;
	return i;
}

void
text_add_json_string(struct text_buffer *text, const char *bytes, size_t n)
{
	text_add_char(text, '"');
	for (size_t at = 0; at < n;) {
		size_t length = json_string_plain_run(bytes + at, n - at);
		uint32_t character;

		if (length > 0) {
			text_add(text, bytes + at, length);
			at += length;
			continue;
		}
		length = utf8_decode(bytes + at, n - at, &character);
		if (length == 0)
			text_add_string(text, "\xef\xbf\xbd");
		else if (character == '"' || character == '\\' ||
		         !character_is_printable(character))
			add_escaped(text, character);
		else
			text_add(text, bytes + at, length);
		at += length == 0 ? 1 : length;
	}
	text_add_char(text, '"');
}
