/* SPDX-License-Identifier: GPL-3.0-or-later */
/* protobuf_output.h -- appends the fields of messages to a text.
 *
 * A nested message is made first, in a text of its own, and then added as
 * bytes.
 * Source: protobuf.dev, "Encoding".
 */
#ifndef CPPROF_FORMATS_PROTOBUF_OUTPUT_H
#define CPPROF_FORMATS_PROTOBUF_OUTPUT_H

#include <stdint.h>

#include "src/base/text_buffer.h"

static inline void
protobuf_add_varint(struct text_buffer *text, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		text_add_char(text, (char)(value | 0x80));
	text_add_char(text, (char)value);
}

/* Adds a field that is a number; 0 is the default, and not written. */
static inline void
protobuf_add_number(struct text_buffer *text, uint32_t field, uint64_t value)
{
	if (value == 0)
		return;
	protobuf_add_varint(text, field << 3);
	protobuf_add_varint(text, value);
}

static inline void
protobuf_add_bytes(struct text_buffer *text, uint32_t field,
                   const char *bytes, size_t n)
{
	protobuf_add_varint(text, field << 3 | 2);
	protobuf_add_varint(text, n);
	text_add(text, bytes, n);
}

static inline void
protobuf_add_message(struct text_buffer *text, uint32_t field,
                     const struct text_buffer *message)
{
	protobuf_add_bytes(text, field, message->bytes, message->length);
	text->failed |= message->failed;
}

#endif
