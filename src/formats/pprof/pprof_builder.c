/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_builder.c -- builds a pprof profile from a text format. */
#include "src/formats/pprof/pprof.h"

#include <string.h>

/* Ends the message; *field becomes the field with it; 0 or -1. */
static int
pprof_builder_end_message(struct pprof_builder *builder, uint32_t number,
                          struct protobuf_field *field, struct error *error)
{
	*field = (struct protobuf_field){ .number = number,
		.wire = PROTOBUF_BYTES, .value = builder->message.length };
	/* Numbers are read without checking where they end. */
	text_add_fill(&builder->message, '\0', PROTOBUF_PADDING);
	if (builder->message.failed || builder->part.failed)
		return error_out_of_memory(error);
	field->bytes = (const unsigned char *)builder->message.bytes;
	return 0;
}

/* Enters the message as a field of the outermost one. */
static int
pprof_builder_enter(struct pprof_builder *builder, uint32_t number,
                    struct error *error)
{
	struct protobuf_field field;

	return pprof_builder_end_message(builder, number, &field, error) == 0 ?
	       pprof_tables_read(&builder->tables, &field, error) : -1;
}

/* The index of a string; UINT64_MAX with *error set. */
static uint64_t
pprof_builder_add_string(struct pprof_builder *builder, const char *text,
                         size_t length, struct error *error)
{
	uint32_t n = names_count(builder->strings);
	uint32_t number = names_add(builder->strings, text, length, error);
	struct protobuf_field field = {
		.number = PROFILE_STRING_TABLE, .wire = PROTOBUF_BYTES,
		.value = length, .bytes = (const unsigned char *)text,
	};

	if (number == NO_NAME || (number == n &&
	    pprof_tables_read(&builder->tables, &field, error) != 0))
		return UINT64_MAX;
	return number;
}

int
pprof_builder_begin(struct pprof_builder *builder, struct reader *reader,
                    struct error *error)
{
	*builder = (struct pprof_builder){ .samples.reader = reader };
	builder->strings = names_new(error);
	builder->functions = names_new(error);
	if (builder->strings == NULL || builder->functions == NULL)
		return -1;
	return pprof_builder_add_string(builder, "", 0, error) == 0 ? 0 : -1;
}

void
pprof_builder_free(struct pprof_builder *builder)
{
	pprof_samples_free(&builder->samples);
	pprof_tables_free(&builder->tables);
	names_free(builder->strings);
	names_free(builder->functions);
	text_free(&builder->message);
	text_free(&builder->part);
}

int
pprof_builder_type(struct pprof_builder *builder, const char *name,
                   size_t name_length, const char *unit, size_t unit_length,
                   struct error *error)
{
	uint64_t name_index = pprof_builder_add_string(builder, name,
	                                               name_length, error);
	uint64_t unit_index = pprof_builder_add_string(builder, unit,
	                                               unit_length, error);

	if (name_index == UINT64_MAX || unit_index == UINT64_MAX)
		return -1;
	text_clear(&builder->message);
	protobuf_add_number(&builder->message, TYPE_TYPE, name_index);
	protobuf_add_number(&builder->message, TYPE_UNIT, unit_index);
	return pprof_builder_enter(builder, PROFILE_SAMPLE_TYPE, error);
}

int
pprof_builder_default_type(struct pprof_builder *builder, const char *name,
                           size_t length, struct error *error)
{
	uint64_t index = pprof_builder_add_string(builder, name, length, error);

	if (index == UINT64_MAX)
		return -1;
	builder->tables.default_type = index;
	return 0;
}

int
pprof_builder_period_type(struct pprof_builder *builder, const char *name,
                          size_t name_length, const char *unit,
                          size_t unit_length, struct error *error)
{
	const struct pprof_type type = {
		pprof_builder_add_string(builder, name, name_length, error),
		pprof_builder_add_string(builder, unit, unit_length, error),
	};

	if (type.name == UINT64_MAX || type.unit == UINT64_MAX)
		return -1;
	builder->tables.period_type = type;
	return 0;
}

int
pprof_builder_comment(struct pprof_builder *builder, const char *text,
                      size_t length, struct error *error)
{
	struct protobuf_field field = { .number = PROFILE_COMMENT,
		.wire = PROTOBUF_VARINT };

	field.value = pprof_builder_add_string(builder, text, length, error);
	return field.value == UINT64_MAX ? -1 :
	       pprof_tables_read(&builder->tables, &field, error);
}

int
pprof_builder_mapping(struct pprof_builder *builder,
                      const struct pprof_builder_mapping *mapping,
                      struct error *error)
{
	struct text_buffer *message = &builder->message;
	uint64_t path = pprof_builder_add_string(builder, mapping->path,
	                                         strlen(mapping->path), error);
	uint64_t build_id = pprof_builder_add_string(builder, mapping->build_id,
	                                             strlen(mapping->build_id),
	                                             error);

	if (path == UINT64_MAX || build_id == UINT64_MAX)
		return -1;
	text_clear(message);
	protobuf_add_number(message, MAPPING_ID, mapping->id);
	protobuf_add_number(message, MAPPING_MEMORY_START, mapping->start);
	protobuf_add_number(message, MAPPING_MEMORY_LIMIT, mapping->limit);
	protobuf_add_number(message, MAPPING_FILE_OFFSET, mapping->offset);
	protobuf_add_number(message, MAPPING_FILENAME, path);
	protobuf_add_number(message, MAPPING_BUILD_ID, build_id);
	protobuf_add_number(message, MAPPING_HAS_LINE_NUMBERS,
	                    mapping->has_lines);
	return pprof_builder_enter(builder, PROFILE_MAPPING, error);
}

uint64_t
pprof_builder_function(struct pprof_builder *builder, const char *name,
                       size_t name_length, const char *file,
                       size_t file_length, struct error *error)
{
	uint32_t n = names_count(builder->functions), number;
	uint64_t name_index = pprof_builder_add_string(builder, name,
	                                               name_length, error);
	uint64_t file_index = pprof_builder_add_string(builder, file,
	                                               file_length, error);
	uint64_t key[2] = { name_index, file_index };

	if (name_index == UINT64_MAX || file_index == UINT64_MAX)
		return 0;
	number = names_add(builder->functions, (const char *)key, sizeof key,
	                   error);
	if (number == NO_NAME)
		return 0;
	if (number < n)
		return (uint64_t)number + 1;
	text_clear(&builder->message);
	protobuf_add_number(&builder->message, FUNCTION_ID,
	                    (uint64_t)number + 1);
	protobuf_add_number(&builder->message, FUNCTION_NAME, name_index);
	protobuf_add_number(&builder->message, FUNCTION_FILENAME, file_index);
	return pprof_builder_enter(builder, PROFILE_FUNCTION, error) == 0 ?
	       (uint64_t)number + 1 : 0;
}

int
pprof_builder_location(struct pprof_builder *builder, uint64_t id,
                       uint64_t mapping, uint64_t address,
                       const struct pprof_line *lines, size_t n,
                       struct error *error)
{
	struct text_buffer *message = &builder->message;

	text_clear(message);
	protobuf_add_number(message, LOCATION_ID, id);
	protobuf_add_number(message, LOCATION_MAPPING_ID, mapping);
	protobuf_add_number(message, LOCATION_ADDRESS, address);
	for (size_t i = 0; i < n; i++) {
		text_clear(&builder->part);
		protobuf_add_number(&builder->part, LINE_FUNCTION_ID,
		                    lines[i].function);
		protobuf_add_number(&builder->part, LINE_LINE,
		                    lines[i].line);
		protobuf_add_message(message, LOCATION_LINE, &builder->part);
	}
	return pprof_builder_enter(builder, PROFILE_LOCATION, error);
}

/* ---- samples ---- */

void
pprof_builder_raw_samples(struct pprof_builder *builder, uint64_t n)
{
	builder->samples.has_raw = true;
	builder->samples.n_raw = n;
}

void
pprof_builder_sample(struct pprof_builder *builder)
{
	text_clear(&builder->message);
}

void
pprof_builder_value(struct pprof_builder *builder, uint64_t value)
{
	protobuf_add_value(&builder->message, SAMPLE_VALUE, value);
}

void
pprof_builder_stack(struct pprof_builder *builder, uint64_t location)
{
	protobuf_add_value(&builder->message, SAMPLE_LOCATION_ID, location);
}

int
pprof_builder_label(struct pprof_builder *builder, const char *key,
                    size_t key_length, const char *text, size_t text_length,
                    struct error *error)
{
	uint64_t key_index = pprof_builder_add_string(builder, key, key_length,
	                                              error);
	uint64_t text_index = pprof_builder_add_string(builder, text,
	                                               text_length, error);

	if (key_index == UINT64_MAX || text_index == UINT64_MAX)
		return -1;
	text_clear(&builder->part);
	protobuf_add_number(&builder->part, LABEL_KEY, key_index);
	protobuf_add_number(&builder->part, LABEL_STR, text_index);
	protobuf_add_message(&builder->message, SAMPLE_LABEL, &builder->part);
	return 0;
}

int
pprof_builder_number(struct pprof_builder *builder, const char *key,
                     size_t key_length, int64_t number, const char *unit,
                     size_t unit_length, struct error *error)
{
	uint64_t key_index = pprof_builder_add_string(builder, key, key_length,
	                                              error);
	uint64_t unit_index = pprof_builder_add_string(builder, unit,
	                                               unit_length, error);

	if (key_index == UINT64_MAX || unit_index == UINT64_MAX)
		return -1;
	text_clear(&builder->part);
	protobuf_add_number(&builder->part, LABEL_KEY, key_index);
	protobuf_add_number(&builder->part, LABEL_NUM, (uint64_t)number);
	protobuf_add_number(&builder->part, LABEL_NUM_UNIT, unit_index);
	protobuf_add_message(&builder->message, SAMPLE_LABEL, &builder->part);
	return 0;
}

int
pprof_builder_end_sample(struct pprof_builder *builder, uint64_t position,
                         struct error *error)
{
	struct protobuf_field field;

	return pprof_builder_end_message(builder, PROFILE_SAMPLE, &field,
	                                 error) == 0 ?
	    pprof_samples_add(&builder->samples, &builder->tables, &field,
	                      position, error) :
	    -1;
}
