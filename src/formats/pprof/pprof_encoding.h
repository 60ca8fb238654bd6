/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_encoding.h -- encodes profile.proto.
 *
 * Shared by export_pprof.c, which writes resources and samples, and
 * pprof_code.c, which writes modules, functions and locations.
 * Source: google/pprof, proto/profile.proto.
 */
#ifndef CPPROF_FORMATS_PPROF_ENCODING_H
#define CPPROF_FORMATS_PPROF_ENCODING_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/names.h"
#include "src/formats/exporter.h"
#include "src/formats/pprof/protobuf_output.h"

/* Fields of the messages, by their names there. */
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
	LABEL_KEY = 1, LABEL_STR = 2,
	MAPPING_ID = 1, MAPPING_MEMORY_LIMIT = 3, MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6, MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8, MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,
	LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION_ID = 1, LINE_LINE = 2,
	FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

struct pprof_encoding {
	const struct export_source *source;
	struct writer *writer;		/* packs */
	struct names *strings;		/* the table; 0 is empty */
	struct names *functions;	/* struct function_key; ids from 1 */
	struct text_buffer fields;	/* of the profile */
	struct text_buffer message, inner;	/* scratch */
	bool counts_samples;		/* a first value of raw samples */
};

/* The number of a string; 0 with *error set if memory runs out. */
uint64_t pprof_string_id(struct pprof_encoding *encoding, const char *text,
                         size_t length, struct error *error);
uint64_t pprof_text_id(struct pprof_encoding *encoding, const char *text,
                       struct error *error);

/* Likewise for a name of the profile, which may be NO_NAME. */
uint64_t pprof_name_id(struct pprof_encoding *encoding, uint32_t name,
                       struct error *error);

/* Ends the message in encoding->message. */
void pprof_add_message(struct pprof_encoding *encoding, uint32_t field);

/*
 * Writes the fields so far; 0, or -1 with *error set, also by earlier calls.
 */
int pprof_flush(struct pprof_encoding *encoding, struct error *error);

#endif
