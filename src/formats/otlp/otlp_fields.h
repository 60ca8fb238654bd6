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

#include <stdint.h>

#include "src/base/text_buffer.h"
#include "src/formats/json/json_reader.h"

enum {
	OTLP_DATA_RESOURCE_PROFILES = 1, OTLP_DATA_DICTIONARY = 2,
	OTLP_RESOURCE_PROFILES_RESOURCE = 1, OTLP_RESOURCE_PROFILES_SCOPES = 2,
	OTLP_RESOURCE_ATTRIBUTES = 1,
	OTLP_SCOPE_PROFILES_PROFILES = 2,
	OTLP_PROFILE_SAMPLE_TYPE = 1, OTLP_PROFILE_SAMPLES = 2,
	OTLP_TYPE_NAME = 1, OTLP_TYPE_UNIT = 2,
	OTLP_DICTIONARY_MAPPINGS = 1, OTLP_DICTIONARY_LOCATIONS = 2,
	OTLP_DICTIONARY_FUNCTIONS = 3, OTLP_DICTIONARY_STRINGS = 5,
	OTLP_DICTIONARY_ATTRIBUTES = 6, OTLP_DICTIONARY_STACKS = 7,
	OTLP_MAPPING_START = 1, OTLP_MAPPING_LIMIT = 2, OTLP_MAPPING_OFFSET = 3,
	OTLP_MAPPING_FILE = 4, OTLP_MAPPING_ATTRIBUTES = 5,
	OTLP_LOCATION_MAPPING = 1, OTLP_LOCATION_ADDRESS = 2, OTLP_LOCATION_LINES = 3,
	OTLP_LINE_FUNCTION = 1, OTLP_LINE_NUMBER = 2,
	OTLP_FUNCTION_NAME = 1, OTLP_FUNCTION_SYSTEM_NAME = 2, OTLP_FUNCTION_FILE = 3,
	OTLP_STACK_LOCATIONS = 1,
	OTLP_ATTRIBUTE_KEY = 1, OTLP_ATTRIBUTE_VALUE = 2,
	OTLP_VALUE_TEXT = 1, OTLP_VALUE_INTEGER = 3,
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

/* Writes what the JSON says as such a message; failures set *error. */
void otlp_json_convert(struct json_reader *json, struct text_buffer *message,
                       struct error *error);

#endif
