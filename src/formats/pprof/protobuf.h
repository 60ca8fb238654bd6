/* SPDX-License-Identifier: GPL-3.0-or-later */
/* protobuf.h -- the encoding of pprof profiles.
 *
 * Numbers are read without checking for the end of the bytes.  So
 * PROTOBUF_PADDING bytes of any value after the end must be readable, and the
 * position is checked after reading.
 * Source: protobuf.dev, "Encoding".
 */
#ifndef CPPROF_FORMATS_PROTOBUF_H
#define CPPROF_FORMATS_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROTOBUF_PADDING = 32, VARINT_MAX = 10 };

enum protobuf_wire {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2,
	PROTOBUF_FIXED32 = 5,
};

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

#endif
