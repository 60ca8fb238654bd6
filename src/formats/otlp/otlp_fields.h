/* SPDX-License-Identifier: GPL-3.0-or-later */
/* otlp_fields.h -- the fields of OTLP's profiles, and their revisions.
 *
 * The messages are alpha, and their numbers have changed; what has the same
 * number in all revisions is listed here once.
 * Source: open-telemetry/opentelemetry-proto, profiles/v1development, of
 * versions 1.7 (2025-05) to 1.11 (2026-08).
 */
#ifndef CPPROF_FORMATS_OTLP_FIELDS_H
#define CPPROF_FORMATS_OTLP_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/text_buffer.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/pprof/pprof.h"
#include "src/formats/reader.h"

enum {
	OTLP_DATA_RESOURCE_PROFILES = 1, OTLP_DATA_DICTIONARY = 2,
	OTLP_RESOURCE_PROFILES_RESOURCE = 1, OTLP_RESOURCE_PROFILES_SCOPES = 2,
	OTLP_RESOURCE_ATTRIBUTES = 1,
	OTLP_SCOPE_PROFILES_PROFILES = 2,
	OTLP_PROFILE_SAMPLE_TYPE = 1, OTLP_PROFILE_SAMPLES = 2,
	OTLP_TYPE_NAME = 1, OTLP_TYPE_UNIT = 2,
	OTLP_DICTIONARY_MAPPINGS = 1, OTLP_DICTIONARY_LOCATIONS = 2,
	OTLP_DICTIONARY_FUNCTIONS = 3, OTLP_DICTIONARY_LINKS = 4,
	OTLP_DICTIONARY_STRINGS = 5,
	OTLP_DICTIONARY_ATTRIBUTES = 6, OTLP_DICTIONARY_STACKS = 7,
	OTLP_MAPPING_START = 1, OTLP_MAPPING_LIMIT = 2, OTLP_MAPPING_OFFSET = 3,
	OTLP_MAPPING_FILE = 4, OTLP_MAPPING_ATTRIBUTES = 5,
	OTLP_LOCATION_MAPPING = 1, OTLP_LOCATION_ADDRESS = 2, OTLP_LOCATION_LINES = 3,
	OTLP_LINE_FUNCTION = 1, OTLP_LINE_NUMBER = 2,
	OTLP_FUNCTION_NAME = 1, OTLP_FUNCTION_SYSTEM_NAME = 2, OTLP_FUNCTION_FILE = 3,
	OTLP_STACK_LOCATIONS = 1,
	/* In the table the third is the unit, elsewhere the key's string. */
	OTLP_ATTRIBUTE_KEY = 1, OTLP_ATTRIBUTE_VALUE = 2,
	OTLP_ATTRIBUTE_UNIT = 3, OTLP_ATTRIBUTE_KEY_STRING = 3,
	OTLP_VALUE_TEXT = 1, OTLP_VALUE_TRUTH = 2, OTLP_VALUE_INTEGER = 3,
	OTLP_VALUE_FRACTION = 4, OTLP_VALUE_ARRAY = 5, OTLP_VALUE_LIST = 6,
	OTLP_VALUE_BYTES = 7, OTLP_VALUE_STRING = 8,
	OTLP_ARRAY_VALUES = 1, OTLP_LIST_VALUES = 1,
};

/* Arrays and lists inside each other in the value of an attribute. */
enum { OTLP_VALUE_DEPTH = 16 };

/* Part of an array. */
struct otlp_span {
	size_t first, n;
};

/* Numbers of a sample's and a profile's fields; 0: there is no such field. */
struct otlp_revision {
	uint32_t stack;			/* index into the table of stacks */
	uint32_t start, length;		/* or a range of the profile's */
	uint32_t locations;		/* list of locations */
	uint32_t attributes, values, times;
};

/* That of what otlp_json_convert writes: of all revisions. */
static const struct otlp_revision otlp_json_revision = {
	.stack = 1, .attributes = 2, .values = 4, .times = 5,
	.start = 20, .length = 21, .locations = 30,
};

/*
 * Appends the next object of the JSON as such a message; false: there is none,
 * or *error is set.
 */
bool otlp_json_convert(struct json_reader *json, struct text_buffer *message,
                       struct error *error);

/* ---- otlp_messages.c ---- */

/*
 * The messages of an input: one, or several one after the other, as the
 * Collector's file exporter writes them.  JSON has a message a line; messages
 * of protobuf, and all that are packed one by one, have their length before
 * them, as four bytes, the highest first, or as a varint.
 */
struct otlp_messages {
	struct otlp_span *spans;	/* of base */
	size_t n, capacity;
	const unsigned char *base;	/* the source's bytes, or these: */
	struct text_buffer bytes;
	size_t n_input;		/* the source's bytes that are at hand */
	bool is_json;		/* they are of otlp_json_revision */
	bool is_cut_short;	/* the last one may be */
};

/*
 * Finds all of them in the whole input.  messages begins as { 0 }, is freed in
 * any case, and good until the next call on the source.
 */
int otlp_messages_find(struct otlp_messages *messages, struct reader *reader,
                       struct error *error);
void otlp_messages_free(struct otlp_messages *messages);

static inline struct protobuf
otlp_message_at(const struct otlp_messages *messages, size_t i)
{
	const unsigned char *at = messages->base + messages->spans[i].first;

	return (struct protobuf){ at, at + messages->spans[i].n };
}

/* The probe of the format. */
int otlp_probe(const void *head, size_t size);

#endif
