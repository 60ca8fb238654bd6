/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_tables.c -- everything in a pprof profile except samples, as in the
 * file.
 */
#include "src/formats/pprof/pprof.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

void
pprof_tables_free(struct pprof_tables *tables)
{
	id_table_free(&tables->mapping_ids);
	id_table_free(&tables->location_ids);
	id_table_free(&tables->function_ids);
	free(tables->types);
	free(tables->mappings);
	free(tables->locations);
	free(tables->functions);
	free(tables->lines);
	free(tables->strings);
	free(tables->text);
}

/*
 * Reads the numbers among a message's fields: that of field i goes to
 * *values[i], unless that is NULL.
 */
static int
pprof_tables_read_numbers(const struct protobuf_field *field,
                          uint64_t *const *values, size_t n, const char *what,
                          struct error *error)
{
	struct protobuf message = protobuf_message(field);
	struct protobuf_field part;
	int found;

	if (field->wire != PROTOBUF_BYTES)
		return error_set(error, "expected a %s", what);
	while ((found = protobuf_next(&message, &part)) == PROTOBUF_FIELD)
		if (part.wire == PROTOBUF_VARINT && part.number < n &&
		    values[part.number] != NULL)
			*values[part.number] = part.value;
	if (found != PROTOBUF_END)
		return error_set(error, "expected a %s, its byte 0x%zx is "
		                 "no field", what,
		                 (size_t)(message.at - field->bytes));
	return 0;
}

static int
read_type(struct pprof_type *type, const struct protobuf_field *field,
          struct error *error)
{
	uint64_t *const values[] = { NULL, &type->name, &type->unit };

	return pprof_tables_read_numbers(field, values, 3, "type of values",
	                                 error);
}

/*
 * The number of a new id, up to which the array *items is grown and zeroed;
 * NO_ID with *error set.
 */
static uint32_t
enter_id(struct id_table *ids, uint64_t id, void *items, size_t *n,
         size_t *capacity, size_t size, struct error *error)
{
	uint32_t number = id_table_add(ids, id, error);
	char *bytes;

	if (number == NO_ID || number < *n)
		return number;
	if (memory_grow(items, capacity, (size_t)number + 1, size,
	                error) != 0)
		return NO_ID;
	memcpy(&bytes, items, sizeof bytes);
	memset(bytes + *n * size, 0, (number + 1 - *n) * size);
	*n = (size_t)number + 1;
	return number;
}

static int
pprof_tables_add_mapping(struct pprof_tables *tables,
                         const struct protobuf_field *field,
                         struct error *error)
{
	struct pprof_mapping mapping = { 0 };
	uint64_t id = 0;
	uint64_t *const values[] = { NULL, &id, &mapping.start,
		&mapping.limit, &mapping.offset, &mapping.path, &mapping.build_id,
		NULL, NULL, &mapping.has_lines };
	uint32_t number;

	if (pprof_tables_read_numbers(field, values, 10, "mapping", error) != 0)
		return -1;
	number = enter_id(&tables->mapping_ids, id, &tables->mappings,
	                  &tables->n_mappings, &tables->mappings_capacity,
	                  sizeof mapping, error);
	if (number == NO_ID)
		return -1;
	tables->mappings[number] = mapping;
	return 0;
}

static int
pprof_tables_add_function(struct pprof_tables *tables,
                          const struct protobuf_field *field,
                          struct error *error)
{
	struct pprof_function function = { .is_known = true };
	uint64_t id = 0;
	uint64_t *const values[] = { NULL, &id, &function.name,
		&function.system_name, &function.file, &function.start_line };
	uint32_t number;

	if (pprof_tables_read_numbers(field, values, 6, "function", error) != 0)
		return -1;
	number = enter_id(&tables->function_ids, id, &tables->functions,
	                  &tables->n_functions, &tables->functions_capacity,
	                  sizeof function, error);
	if (number == NO_ID)
		return -1;
	tables->functions[number] = function;
	return 0;
}

static int
pprof_tables_add_location(struct pprof_tables *tables,
                          const struct protobuf_field *field,
                          struct error *error)
{
	struct pprof_location location = { .first_line = tables->n_lines,
		.is_known = true };
	struct protobuf message = protobuf_message(field);
	struct protobuf_field part;
	uint64_t id = 0;
	uint64_t *const values[] = { NULL, &id, &location.mapping,
		&location.address };
	uint32_t number;

	if (pprof_tables_read_numbers(field, values, 4, "location", error) != 0)
		return -1;
	while (protobuf_next(&message, &part) == PROTOBUF_FIELD)
		if (part.number == LOCATION_LINE) {
			struct pprof_line line = { 0 };
			uint64_t *const parts[] = { NULL, &line.function,
				                    &line.line };

			if (pprof_tables_read_numbers(&part, parts, 3, "line",
			                              error) != 0 ||
			    memory_grow(&tables->lines, &tables->lines_capacity,
			                tables->n_lines + 1, sizeof line,
			                error) != 0)
				return -1;
			tables->lines[tables->n_lines++] = line;
		}
	if (tables->n_lines - location.first_line > UINT32_MAX)
		return error_set(error, "a location of too many lines");
	location.n_lines = (uint32_t)(tables->n_lines - location.first_line);
	number = enter_id(&tables->location_ids, id, &tables->locations,
	                  &tables->n_locations, &tables->locations_capacity,
	                  sizeof location, error);
	if (number == NO_ID)
		return -1;
	tables->locations[number] = location;
	return 0;
}

static int
pprof_tables_read_number(const struct protobuf_field *field, uint64_t *value,
                         struct error *error)
{
	if (field->wire != PROTOBUF_VARINT)
		return error_set(error, "expected a number");
	*value = field->value;
	return 0;
}

int
pprof_tables_read(struct pprof_tables *tables,
                  const struct protobuf_field *field, struct error *error)
{
	struct pprof_type type = { 0 };
	size_t length;

	switch (field->number) {
	case PROFILE_SAMPLE_TYPE:
		if (read_type(&type, field, error) != 0 ||
		    memory_grow(&tables->types, &tables->types_capacity,
		                tables->n_types + 1, sizeof type, error) != 0)
			return -1;
		tables->types[tables->n_types++] = type;
		return 0;
	case PROFILE_MAPPING:
		return pprof_tables_add_mapping(tables, field, error);
	case PROFILE_LOCATION:
		return pprof_tables_add_location(tables, field, error);
	case PROFILE_FUNCTION:
		return pprof_tables_add_function(tables, field, error);
	case PROFILE_STRING_TABLE:
		length = (size_t)field->value;
		if (field->wire != PROTOBUF_BYTES)
			return error_set(error, "expected a string");
		if (memory_grow(&tables->text, &tables->text_capacity,
		                tables->text_size + length + 1, 1,
		                error) != 0 ||
		    memory_grow(&tables->strings, &tables->strings_capacity,
		                tables->n_strings + 1, sizeof *tables->strings,
		                error) != 0)
			return -1;
		memcpy(tables->text + tables->text_size, field->bytes, length);
		tables->strings[tables->n_strings++] = (struct pprof_string){
			tables->text_size, length
		};
		tables->text_size += length;
		return 0;
	case PROFILE_TIME_NANOS:
		return pprof_tables_read_number(field, &tables->time_ns, error);
	case PROFILE_DURATION_NANOS:
		return pprof_tables_read_number(field, &tables->duration_ns,
		                                error);
	case PROFILE_PERIOD_TYPE:
		return read_type(&tables->period_type, field, error);
	case PROFILE_PERIOD:
		return pprof_tables_read_number(field, &tables->period, error);
	case PROFILE_COMMENT:
		if (field->wire == PROTOBUF_VARINT &&
		    tables->n_comments < PPROF_COMMENTS_MAX)
			tables->comments[tables->n_comments++] = field->value;
		return 0;
	case PROFILE_DEFAULT_SAMPLE_TYPE:
		return pprof_tables_read_number(field, &tables->default_type,
		                                error);
	default:
		return 0;
	}
}

const char *
pprof_tables_string(const struct pprof_tables *tables, uint64_t index,
                    size_t *length)
{
	*length = 0;
	if (index >= tables->n_strings)
		return NULL;
	*length = tables->strings[index].length;
	return tables->text + tables->strings[index].begin;
}

const struct pprof_location *
pprof_tables_location(const struct pprof_tables *tables, uint32_t number)
{
	return number < tables->n_locations &&
	       tables->locations[number].is_known ?
	       &tables->locations[number] : NULL;
}

const struct pprof_function *
pprof_tables_function(const struct pprof_tables *tables, uint64_t id)
{
	uint32_t number = id_table_find(&tables->function_ids, id);

	return number < tables->n_functions &&
	       tables->functions[number].is_known ?
	       &tables->functions[number] : NULL;
}
