/* SPDX-License-Identifier: GPL-3.0-or-later */
/* utf8.c -- characters in untrusted bytes. */
#include "src/base/text_buffer.h"

struct utf8_range {
	uint32_t first, last;
};

/* Controls, and characters that reorder or hide their neighbours. */
static const struct utf8_range unprintable[] = {
	{ 0x0000, 0x001f },	/* C0 */
	{ 0x007f, 0x009f },	/* DEL, C1 */
	{ 0x00ad, 0x00ad },	/* soft hyphen */
	{ 0x061c, 0x061c },	/* Arabic letter mark */
	{ 0x180e, 0x180e },
	{ 0x200b, 0x200f },	/* zero width, directional marks */
	{ 0x2028, 0x202e },	/* separators, bidirectional overrides */
	{ 0x2060, 0x206f },	/* word joiner, isolates */
	{ 0xfe00, 0xfe0f },	/* variation selectors */
	{ 0xfeff, 0xfeff },	/* byte order mark */
	{ 0xfff0, 0xfffb },
	{ 0xfffe, 0xffff },
	{ 0xe0000, 0xe0fff },	/* tags */
};

size_t
utf8_decode(const char *bytes, size_t n, uint32_t *character)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char first = (unsigned char)bytes[0];
	size_t length;
	uint32_t value;

	if (first < 0x80) {
		*character = first;
		return 1;
	}
	length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc0 || first > 0xf4 || length > n)
		return 0;
	value = first & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	if (value < smallest[length] || value > 0x10ffff ||
	    (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*character = value;
	return length;
}

bool
character_is_printable(uint32_t character)
{
	if (character < 0x7f)
		return character >= 0x20;
	for (size_t i = 0; i < sizeof unprintable / sizeof *unprintable; i++)
		if (character >= unprintable[i].first &&
		    character <= unprintable[i].last)
			return false;
	return true;
}
