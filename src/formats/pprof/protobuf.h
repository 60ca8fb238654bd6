/* SPDX-License-Identifier: GPL-3.0-or-later */
/* protobuf.h -- the encoding of pprof profiles, and their fields.
 *
 * A nested message is written to a text of its own, and then added as bytes.
 * Numbers are read without checking for the end of the bytes.  So
 * PROTOBUF_PADDING bytes of any value after the end must be readable, and the
 * position is checked after reading.
 * Source: protobuf.dev, "Encoding"; google/pprof, proto/profile.proto.
 */
#ifndef CPPROF_FORMATS_PROTOBUF_H
#define CPPROF_FORMATS_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/text_buffer.h"

enum { PROTOBUF_PADDING = 32, VARINT_MAX = 10 };

/* Fields of the messages, by their names in profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	TYPE_TYPE = 1, TYPE_UNIT = 2,
	SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3,
	LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3, LABEL_NUM_UNIT = 4,
	MAPPING_ID = 1, MAPPING_MEMORY_START = 2, MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILE_OFFSET = 4, MAPPING_FILENAME = 5, MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9, MAPPING_HAS_INLINE_FRAMES = 10,
	LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION_ID = 1, LINE_LINE = 2,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

enum protobuf_wire {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2,
	PROTOBUF_FIXED32 = 5,
};

/* ---- reading ---- */

/* The rest of a message. */
struct protobuf {
	const unsigned char *at, *end;
};

struct protobuf_field {
	uint32_t number;
	enum protobuf_wire wire;
	uint64_t value;			/* of bytes: their number */
	const unsigned char *bytes;	/* of bytes: the first */
};

/*
 * The position after the number at `at`; NULL if it has more than ten bytes.
 */
static inline const unsigned char *
protobuf_varint(const unsigned char *at, uint64_t *value)
{
	uint64_t number = *at & 0x7f;

	if (*at++ < 0x80) {
		*value = number;
		return at;
	}
	for (int i = 1; i < VARINT_MAX; i++) {
		number |= (uint64_t)(*at & 0x7f) << (7 * i);
		if (*at++ < 0x80) {
			*value = number;
			return at;
		}
	}
	return NULL;
}

enum {
	PROTOBUF_FIELD,		/* *field is set, the message moved on */
	PROTOBUF_END,		/* the message is over */
	PROTOBUF_CUT,		/* it ends inside a field */
	PROTOBUF_MALFORMED,	/* no field begins here */
};

/*
 * Reads the next field.  After PROTOBUF_CUT a field of bytes whose tag and
 * size are complete has its number, wire and value set; otherwise its number
 * is 0.
 */
static inline int
protobuf_next(struct protobuf *message, struct protobuf_field *field)
{
	const unsigned char *at = message->at;
	uint64_t tag;
	size_t left;

	field->number = 0;
	if (at >= message->end)
		return PROTOBUF_END;
	at = protobuf_varint(at, &tag);
	if (at != NULL && at > message->end)
		return PROTOBUF_CUT;
	if (at == NULL || tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
		return PROTOBUF_MALFORMED;
	field->wire = (enum protobuf_wire)(tag & 7);
	left = (size_t)(message->end - at);
	switch (tag & 7) {
	case PROTOBUF_FIXED64:
	case PROTOBUF_FIXED32:
		field->bytes = at;
		field->value = (tag & 7) == PROTOBUF_FIXED64 ? 8 : 4;
		if (left < field->value)
			return PROTOBUF_CUT;
		at += field->value;
		break;
	case PROTOBUF_VARINT:
	case PROTOBUF_BYTES:
		at = protobuf_varint(at, &field->value);
		if (at != NULL && at > message->end)
			return PROTOBUF_CUT;
		if (at == NULL)
			return PROTOBUF_MALFORMED;
		if (field->wire == PROTOBUF_VARINT)
			break;
		field->number = (uint32_t)(tag >> 3);
		if (field->value > (size_t)(message->end - at))
			return PROTOBUF_CUT;
		field->bytes = at;
		at += field->value;
		break;
	default:
		return PROTOBUF_MALFORMED;
	}
	field->number = (uint32_t)(tag >> 3);
	message->at = at;
	return PROTOBUF_FIELD;
}

/* The message in a field of bytes; an empty one for other fields. */
static inline struct protobuf
protobuf_message(const struct protobuf_field *field)
{
	if (field->wire != PROTOBUF_BYTES)
		return (struct protobuf){ NULL, NULL };
	return (struct protobuf){ field->bytes, field->bytes + field->value };
}

/* ---- writing: appends the fields of messages to a text ---- */

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
