/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof.h -- the parts of pprof's format, for the files of this folder and for
 * formats that are like it.
 *
 * The first section reads and writes protobuf's fields.  pprof_profile.c makes a
 * profile of a message; readers of text make the message first, with
 * pprof_builder.c.
 */
#ifndef CPPROF_PPROF_PPROF_H
#define CPPROF_PPROF_PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/base/text_buffer.h"
#include "src/formats/reader.h"
#include "src/profile/profile.h"
#include "src/profile/stack_list.h"
#include "src/symbols/names/program.h"

/* ---- protobuf ---- */

/*
 * The encoding of pprof profiles, and their fields.
 *
 * A nested message is written to a text of its own, and then added as bytes.
 * Numbers are read without checking for the end of the bytes.  So
 * PROTOBUF_PADDING bytes of any value after the end must be readable, and the
 * position is checked after reading.
 * Source: protobuf.dev, "Encoding"; google/pprof, proto/profile.proto.
 */

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
	FUNCTION_FILENAME = 4, FUNCTION_START_LINE = 5,
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
	PROTOBUF_CUT_SHORT,	/* it ends inside a field */
	PROTOBUF_MALFORMED,	/* no field begins here */
};

/*
 * Reads the next field.  After PROTOBUF_CUT_SHORT a field of bytes whose tag
 * and size are complete has its number, wire and value set; otherwise its
 * number is 0.
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
		return PROTOBUF_CUT_SHORT;
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
			return PROTOBUF_CUT_SHORT;
		at += field->value;
		break;
	case PROTOBUF_VARINT:
	case PROTOBUF_BYTES:
		at = protobuf_varint(at, &field->value);
		if (at != NULL && at > message->end)
			return PROTOBUF_CUT_SHORT;
		if (at == NULL)
			return PROTOBUF_MALFORMED;
		if (field->wire == PROTOBUF_VARINT)
			break;
		field->number = (uint32_t)(tag >> 3);
		if (field->value > (size_t)(message->end - at))
			return PROTOBUF_CUT_SHORT;
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

/* Adds a field that is a number, also if it is 0, as in lists. */
static inline void
protobuf_add_value(struct text_buffer *text, uint32_t field, uint64_t value)
{
	protobuf_add_varint(text, field << 3);
	protobuf_add_varint(text, value);
}

/* The same, but 0 is the default, and not written. */
static inline void
protobuf_add_number(struct text_buffer *text, uint32_t field, uint64_t value)
{
	if (value != 0)
		protobuf_add_value(text, field, value);
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

/* ---- pprof_tables.c ---- */

/*
 * Everything in a pprof profile except samples, as in the file.
 *
 * Messages refer to each other by ids and to strings by index, and may come in
 * any order, strings mostly last.  So everything is kept as it is, and looked
 * up when the file has been read.
 * Source: google/pprof, proto/profile.proto.
 */

enum { PPROF_COMMENTS_MAX = 300 };

/* The location of samples without any: an id that no location may have. */
#define PPROF_NO_STACK 0

/* All names are indices of strings. */
struct pprof_type {
	uint64_t name, unit;
};

struct pprof_mapping {
	uint64_t start, limit, offset, path, build_id;
	uint64_t has_lines;	/* the writer looked up all of them */
};

struct pprof_line {
	uint64_t function;	/* id */
	uint64_t line;		/* 0: unknown */
};

struct pprof_location {
	uint64_t mapping;	/* id, 0: none */
	uint64_t address;
	size_t first_line;
	uint32_t n_lines;	/* innermost first; 0: only an address */
	bool is_known;
};

struct pprof_function {
	uint64_t name, system_name, file;
	uint64_t start_line;	/* 0: unknown */
	bool is_known;
};

struct pprof_string {
	size_t begin, length;
};

/* Start with `{ 0 }`.  Items with ids are at the numbers of their ids. */
struct pprof_tables {
	struct id_table mapping_ids, location_ids, function_ids;
	struct pprof_type *types;
	struct pprof_mapping *mappings;
	struct pprof_location *locations;
	struct pprof_function *functions;
	struct pprof_line *lines;
	struct pprof_string *strings;
	char *text;
	size_t n_types, n_mappings, n_locations, n_functions, n_lines,
	    n_strings, text_size;
	size_t types_capacity, mappings_capacity, locations_capacity,
	    functions_capacity, lines_capacity, strings_capacity,
	    text_capacity;
	uint64_t time_ns, duration_ns;
	struct pprof_type period_type;
	uint64_t period;		/* of its unit between two samples; 0:
					 * unknown */
	uint64_t default_type;		/* a string, 0: none */
	uint64_t comments[PPROF_COMMENTS_MAX];	/* strings */
	size_t n_comments;		/* further ones are skipped */
};

void pprof_tables_free(struct pprof_tables *tables);

/*
 * Enters one field of the outermost message, except samples; unknown ones are
 * skipped.  0, or -1 with *error set to what was expected, without file and
 * offset.
 */
int pprof_tables_read(struct pprof_tables *tables,
                      const struct protobuf_field *field,
                      struct error *error);

/* The string with an index, in place; NULL if there is none. */
const char *pprof_tables_string(const struct pprof_tables *tables,
                                uint64_t index, size_t *length);

/* Likewise the item with an id, or NULL. */
const struct pprof_location *
pprof_tables_location(const struct pprof_tables *tables, uint32_t number);
const struct pprof_function *
pprof_tables_function(const struct pprof_tables *tables, uint64_t id);

/* ---- pprof_frames.c ---- */

/* A profile's frames from the locations of a pprof file. */

/*
 * Enters modules, names and frames into a profile that has none.  Locations
 * with lines keep their names; the others are looked up in the symbols of
 * their modules.  Returns the frame of each location's number, all different,
 * to be freed by the caller; NULL with *error set.  If a location has more
 * than 256 lines the outer ones are left out, with a warning that begins with
 * the file's name.  may_lack as in pprof_profile.c; modules: as in struct
 * read_options.
 */
uint32_t *pprof_frames_enter(struct profile *profile, const char *name,
                             const struct pprof_tables *tables,
                             bool is_cut_short,
                             struct module_cache *modules,
                             struct error *error);

/* ---- pprof_samples.c ---- */

/*
 * Enters the samples of a pprof profile as they are read.
 *
 * Names and labels are unknown until the strings at the end of the file have
 * been read.  So frames are the numbers of their locations, and a sample's
 * thread is the number of its set of labels, byte for byte.  Numbers may differ
 * from sample to sample (times, sizes), and each set has a tree of its own; so
 * if they have too many combinations they are left out from then on.
 *
 * A list of stacks (stack_list.h) has no sections, so labels are left out of
 * it.
 *
 * A sample counts for a resource if it has hits of it.  So a list has a row of
 * a stack for each choice of values that are 0.  A tree has a node for all of
 * them, and a column that counts the samples without hits of a value, if there
 * are any.
 *
 * Neighbouring samples share most of their frames, so most numbers need not be
 * read: ids are in the file innermost first, so shared ones are the same bytes
 * at the end.
 *
 * Each record of the file is one raw sample, or several with the same stack.
 * If there are two types of values the first one counts raw samples ("samples"
 * and "cpu", "contentions" and "delay").  Otherwise the records are counted as
 * one more type, or the raw samples if the reader knows their number.
 */

/* More sets than this are not distinguished. */
enum { PPROF_LABEL_SETS_MAX = 65536 };

/* Samples with more values count for all resources, and no list is made. */
enum { PPROF_ZEROS_MAX = 32 };

/* More sets than this with numbers, and numbers are left out. */
enum { PPROF_NUMBER_SETS_MAX = 1024 };

/* Start with the reader, which gets the stacks and must outlive this. */
struct pprof_samples {
	struct reader *reader;
	uint64_t position;	/* of the sample at hand */
	struct stack_list *list;	/* gets the stacks instead, unless they
					 * are too many; NULL: none */
	uint32_t n_values;		/* of each sample; 0: none so far */
	bool counts_records;		/* there is one more column of hits */
	uint32_t n_columns;
	uint32_t without[PPROF_ZEROS_MAX];	/* the column that counts
					 * samples without hits of a value; 0:
					 * there are none */
	bool has_raw;			/* the reader knows the raw samples of
					 * each: */
	uint64_t n_raw;
	unsigned char *ids, *last_ids;	/* of locations, encoded */
	size_t n_ids, n_last_ids, ids_capacity, last_ids_capacity; /* bytes */
	size_t last_depth;		/* number of ids in last_ids */
	struct names *label_sets;	/* the empty one is number 0 */
	unsigned char *labels, *last_labels;
	size_t n_labels, n_last_labels, labels_capacity,
	    last_labels_capacity;	/* bytes */
	uint32_t last_set;		/* that of last_labels */
	uint32_t pushed_set;		/* that of last_ids' sample */
	bool has_too_many_sets;
	uint32_t n_number_sets;		/* sets with numbers */
	bool drops_numbers;		/* they were too many */
	bool drops_labels;		/* of a list */
};

void pprof_samples_free(struct pprof_samples *samples);

/* How many stacks have been entered. */
uint64_t pprof_samples_count(const struct pprof_samples *samples);

/*
 * Enters a sample, at the offset or line `position`, and its locations into
 * the tables' ids.  0, or -1 with *error set to what was expected, without
 * file and offset unless the error is about an earlier sample.
 */
int pprof_samples_add(struct pprof_samples *samples,
                      struct pprof_tables *tables,
                      const struct protobuf_field *field, uint64_t position,
                      struct error *error);

/*
 * Of several resources, cpprof writes a type of values "cpu-samples" that
 * counts the raw samples of the resource "cpu", before the resources' types.
 * This ends its name.
 */
#define PPROF_RAW_SAMPLES "-samples"

/* ---- pprof_labels.c ---- */

/* What the labels of a pprof file's samples say. */

/*
 * Fills sections[label sets]: the labels of each set of the samples' reader,
 * and the thread that they name, both entered into the reader's profile.  The
 * profile has the file's process already; labels that name others add these.
 * Warns of labels that are not read.
 */
int pprof_labels_enter(const struct pprof_tables *tables,
                       const struct pprof_samples *samples,
                       struct reader_section *sections, struct error *error);

/* Whether producers name or number threads by labels with that key. */
bool pprof_is_thread_key(const char *key);

/* ---- pprof_profile.c ---- */

/* Makes a profile of everything in a pprof file. */

/*
 * Fills the profile of the samples' reader from tables and samples, at least
 * one.  may_lack: entries missing in the tables are named by their numbers,
 * since the file is cut short or lines of it were skipped; otherwise they are
 * an error.  0, or -1 with *error set, which names the file and, if known, the
 * place.
 */
int pprof_profile_fill(const struct pprof_tables *tables,
                       const struct pprof_samples *samples, bool may_lack,
                       struct error *error);

/* ---- pprof_builder.c ---- */

/*
 * Builds a pprof profile from a text format.
 *
 * Older formats of gperftools and Go, and the output of `go tool pprof -raw`,
 * have as text what profile.proto has as messages.  Their readers enter each
 * item here, where it becomes a message.  So the code that reads pprof files
 * handles threads, raw samples and symbols of addresses.
 *
 * Errors name neither file nor line.
 */

/* Start with pprof_builder_begin. */
struct pprof_builder {
	struct pprof_tables tables;
	struct pprof_samples samples;
	struct names *strings;		/* number i is string i of the tables */
	struct names *functions;	/* of name and file; id is number + 1 */
	struct text_buffer message, part;	/* being built */
};

/* reader: gets the stacks; it must outlive the builder. */
int pprof_builder_begin(struct pprof_builder *builder, struct reader *reader,
                        struct error *error);
void pprof_builder_free(struct pprof_builder *builder);

/* A type of values, all before the first sample. */
int pprof_builder_type(struct pprof_builder *builder, const char *name,
                       size_t name_length, const char *unit,
                       size_t unit_length, struct error *error);

/* The type that is shown first; the last one if this is never called. */
int pprof_builder_default_type(struct pprof_builder *builder,
                               const char *name, size_t length,
                               struct error *error);

/* How far apart samples were taken: the period is in the tables. */
int pprof_builder_period_type(struct pprof_builder *builder,
                              const char *name, size_t name_length,
                              const char *unit, size_t unit_length,
                              struct error *error);

/* A comment, such as those by which pprof_profile.c restores intervals. */
int pprof_builder_comment(struct pprof_builder *builder, const char *text,
                          size_t length, struct error *error);

struct pprof_builder_mapping {
	uint64_t id;			/* not 0 */
	uint64_t start, limit, offset;
	const char *path, *build_id;	/* not NULL; "": unknown */
	bool has_lines;			/* the writer has looked them all up */
};

int pprof_builder_mapping(struct pprof_builder *builder,
                          const struct pprof_builder_mapping *mapping,
                          struct error *error);

/* The id of a function, the same for the same texts; 0 with *error set. */
uint64_t pprof_builder_function(struct pprof_builder *builder,
                                const char *name, size_t name_length,
                                const char *file, size_t file_length,
                                struct error *error);

/*
 * lines[n]: innermost first, function as pprof_builder_function gave it; n is 0
 * if only the address is known.
 */
int pprof_builder_location(struct pprof_builder *builder, uint64_t id,
                           uint64_t mapping, uint64_t address,
                           const struct pprof_line *lines, size_t n,
                           struct error *error);

/*
 * Sets how many raw samples each of the next samples stands for; without a
 * call before the first sample, they are counted as described in
 * pprof_samples.c.
 */
void pprof_builder_raw_samples(struct pprof_builder *builder, uint64_t n);

/* Begins a sample; values and locations (ids, innermost first) follow. */
void pprof_builder_sample(struct pprof_builder *builder);
void pprof_builder_value(struct pprof_builder *builder, uint64_t value);
void pprof_builder_stack(struct pprof_builder *builder, uint64_t location);
int pprof_builder_label(struct pprof_builder *builder, const char *key,
                        size_t key_length, const char *text,
                        size_t text_length, struct error *error);
int pprof_builder_number(struct pprof_builder *builder, const char *key,
                         size_t key_length, int64_t number, const char *unit,
                         size_t unit_length, struct error *error);

/* Ends it; position: its line. */
int pprof_builder_end_sample(struct pprof_builder *builder, uint64_t position,
                             struct error *error);

#endif
