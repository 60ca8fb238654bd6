/* SPDX-License-Identifier: GPL-3.0-or-later */
/* otlp.c -- OpenTelemetry's profiles, in binary and in JSON.
 *
 * A message has profiles of several resources, and before or behind them a
 * dictionary: tables of strings, functions, locations and stacks that all
 * share.  So the dictionary is read first, and then every sample becomes one of
 * the pprof profile (pprof.h) that this is made into.  An input may have
 * several messages, each with its own dictionary; what they have in common is
 * entered once.
 */
#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/otlp/otlp_fields.h"
#include "src/formats/pprof/pprof.h"
#include "src/formats/source.h"

_Static_assert((int)SOURCE_PADDING >= (int)PROTOBUF_PADDING,
               "fields are read beyond the bytes at hand");

/*
 * Samples share stacks, and tables share strings, so few bytes may stand for
 * much work.  All of it is counted in frames: so many are allowed at any rate,
 * and so many for each byte of the file, packed as it is.
 */
enum {
	FRAMES_FREE = 1 << 24,
	FRAMES_A_BYTE = 512,
	FRAMES_A_ROW = 32,	/* of a table; it may be 2 bytes, or packed */
	BYTES_A_FRAME = 8,	/* of strings that are looked at again */
	PATH_LENGTH = 4096,	/* no path is longer, nor a build-id */
};

struct otlp_string {
	const char *text;
	size_t length;
};

struct otlp_attribute {
	struct otlp_string key;
	struct protobuf value;
	uint64_t unit;
};

struct otlp_function {
	uint64_t name, system_name, file;
	uint64_t id;		/* of the builder; 0: it has no name */
};

struct otlp_location {
	uint64_t mapping, address;
	struct otlp_span lines;
	uint64_t id;		/* of the builder */
};

struct otlp_type {
	struct otlp_string name, unit;
};

/* Arrays that grow; n items of a size. */
struct otlp_array {
	void *items;
	size_t n, capacity;
};

/* What the fields of samples say of the revision. */
struct otlp_guess {
	const struct otlp_revision *sure, *likely;
	uint64_t n_attributes, n_links;	/* in the dictionary */
	bool has_list;			/* in field 2 of some sample */
	bool can_be_values, can_be_attributes;	/* what is in these lists */
};

struct otlp {
	struct reader reader;
	struct pprof_builder builder;
	struct otlp_messages messages;
	/* Of all messages: */
	struct otlp_array types;
	struct names *mapping_keys, *location_keys;	/* the builder's ids - 1
				 * by all that these consist of */
	uint64_t n_samples, n_frames, most_frames;
	bool lacks_times;		/* some samples do */
	bool has_deep_values;		/* some are too deep to be read */
	/* Of the message at hand: */
	struct otlp_revision revision;
	struct otlp_guess guess;
	struct otlp_array strings, attributes, functions, locations, lines, stacks,
	    indices, mappings;	/* of the structs above; lines are pprof_line,
				 * indices numbers, mappings the builder's
				 * ids */
	/* Of what is smaller: */
	struct otlp_array numbers;		/* of the sample at hand */
	struct text_buffer key;		/* of the location or label at hand */
	struct text_buffer text;	/* of the label's value */
	struct text_buffer path, build_id;	/* of the mapping at hand */
	uint64_t pid;			/* of the resource at hand; 0: unknown */
	size_t n_profile_types;			/* of the profile at hand */
	size_t columns[RESOURCES_MAX];		/* of these, in types */
	struct otlp_span locations_of;	/* likewise, in indices */
};

/* Versions 1.10 and later, 1.8 and 1.9, 1.7. */
static const struct otlp_revision revisions[] = {
	{ .stack = 1, .attributes = 2, .values = 4, .times = 5 },
	{ .stack = 1, .values = 2, .attributes = 3, .times = 5 },
	{ .start = 1, .length = 2, .values = 3, .attributes = 4, .times = 6,
	  .locations = 3 },
};

/* ---- arrays ---- */

/* A new item of zeroes; NULL with *error set. */
static void *
array_add(struct otlp_array *array, size_t size, struct error *error)
{
	void *item;

	if (memory_grow(&array->items, &array->capacity, array->n + 1, size,
	                error) != 0)
		return NULL;
	item = (char *)array->items + array->n++ * size;
	memset(item, 0, size);
	return item;
}

static int
otlp_add_number(struct otlp_array *numbers, uint64_t number,
                struct error *error)
{
	uint64_t *item = array_add(numbers, sizeof *item, error);

	if (item == NULL)
		return -1;
	*item = number;
	return 0;
}

static uint64_t *
otlp_number_at(const struct otlp_array *numbers, size_t i)
{
	return (uint64_t *)numbers->items + i;
}

/* ---- fields ---- */

static int
otlp_fail(struct error *error, const char *what)
{
	return error_set(error, "expected %s", what);
}

static int
count_frames(struct otlp *input, uint64_t n, struct error *error)
{
	input->n_frames += n;
	return input->n_frames <= input->most_frames ? 0 :
	       error_set(error, "tables and samples expand to more than %" PRIu64
	                 " frames, " SOURCE_UNPACK_FIRST, input->most_frames);
}

/* 1; 0: the message is over; -1 with *error set. */
static int
otlp_next_field(struct protobuf *message, struct protobuf_field *field,
                const char *what, struct error *error)
{
	int found = protobuf_next(message, field);

	return found == PROTOBUF_FIELD ? 1 : found == PROTOBUF_END ? 0 :
	       otlp_fail(error, what);
}

/* Adds the numbers of a repeated field, packed or not. */
static int
otlp_add_numbers(struct otlp_array *numbers, const struct protobuf_field *field,
                 struct error *error)
{
	const unsigned char *at = field->bytes, *end;
	uint64_t number;

	if (field->wire == PROTOBUF_VARINT)
		return otlp_add_number(numbers, field->value, error);
	if (field->wire != PROTOBUF_BYTES)
		return otlp_fail(error, "numbers");
	end = at + field->value;
	while (at < end) {
		at = protobuf_varint(at, &number);
		if (at == NULL || at > end)
			return otlp_fail(error, "numbers");
		if (otlp_add_number(numbers, number, error) != 0)
			return -1;
	}
	return 0;
}

/* How many numbers a repeated field of 8 bytes each has, or of varints. */
static uint64_t
count_times(const struct protobuf_field *field, bool is_fixed)
{
	uint64_t n = 0;

	if (field->wire != PROTOBUF_BYTES)
		return 1;
	if (is_fixed)
		return field->value / 8;
	for (size_t i = 0; i < field->value; i++)
		n += field->bytes[i] < 0x80;
	return n;
}

/* Sets numbers[i] to field i + 1 of a message, for n fields of numbers. */
static int
otlp_read_numbers(struct protobuf message, uint64_t *numbers, size_t n,
                  const char *what, struct error *error)
{
	struct protobuf_field field = { 0 };
	int found;

	memset(numbers, 0, n * sizeof *numbers);
	while ((found = otlp_next_field(&message, &field, what, error)) > 0)
		if (field.number <= n && field.wire == PROTOBUF_VARINT)
			numbers[field.number - 1] = field.value;
	return found;
}

/* ---- the dictionary ---- */

static struct otlp_string
otlp_string_at(const struct otlp *input, uint64_t index)
{
	const struct otlp_string *strings = input->strings.items;

	return index < input->strings.n ? strings[index] :
	       (struct otlp_string){ "", 0 };
}

/*
 * Reads an attribute.  The key is a text or a string of the table; an item of
 * the table of attributes (is_item) may have a unit.
 */
static int
otlp_read_attribute(const struct otlp *input, struct protobuf message,
                    bool is_item, struct otlp_attribute *attribute,
                    struct error *error)
{
	struct protobuf_field field = { 0 };
	int found;

	while ((found = otlp_next_field(&message, &field, "an attribute",
	                                error)) > 0) {
		bool is_number = field.wire == PROTOBUF_VARINT;

		if (field.number == OTLP_ATTRIBUTE_VALUE)
			attribute->value = protobuf_message(&field);
		else if (field.number == OTLP_ATTRIBUTE_KEY && !is_number)
			attribute->key = (struct otlp_string){
				(const char *)field.bytes, field.value
			};
		else if (field.number == OTLP_ATTRIBUTE_UNIT && is_item &&
		         is_number)
			attribute->unit = field.value;
		else if (is_number && (field.number == OTLP_ATTRIBUTE_KEY ||
		         field.number == OTLP_ATTRIBUTE_KEY_STRING))
			attribute->key = otlp_string_at(input, field.value);
	}
	return found;
}

static int
otlp_add_attribute(struct otlp *input, struct protobuf message,
                   struct error *error)
{
	struct otlp_attribute *attribute = array_add(&input->attributes,
	                                        sizeof *attribute, error);

	return attribute != NULL ? otlp_read_attribute(input, message, true,
	                                               attribute, error) : -1;
}

/* ---- the values of attributes ---- */

/*
 * A value is a text, a number and the like, or an array or list of such.  The
 * values in it are visited one after the other, without recursion.
 */

enum otlp_value_kind { OTLP_VALUE, OTLP_ARRAY, OTLP_LIST };

struct otlp_value_level {
	struct protobuf rest;
	enum otlp_value_kind kind;
	size_t key_length;	/* in the key at hand, with all before it */
};

struct otlp_values {
	struct otlp_value_level levels[3 * OTLP_VALUE_DEPTH];
	size_t depth;
};

/* One value that is no array or list. */
struct otlp_value {
	struct otlp_string text;	/* not of numbers */
	uint64_t number;
	bool is_number;
};

static void
otlp_values_begin(struct otlp_values *values, struct protobuf value,
                  size_t key_length)
{
	values->depth = 1;
	values->levels[0] = (struct otlp_value_level){ value, OTLP_VALUE,
		key_length };
}

/* The text of bytes: as they are if they are printable, else in hexadecimal. */
static void
otlp_add_bytes(struct text_buffer *text, const unsigned char *bytes, size_t n)
{
	size_t i = 0;

	while (i < n) {
		uint32_t character;
		size_t length = utf8_decode((const char *)bytes + i, n - i,
		                            &character);

		if (length == 0 || !character_is_printable(character))
			break;
		i += length;
	}
	if (i == n) {
		text_add(text, (const char *)bytes, n);
		return;
	}
	text_add_string(text, "0x");
	for (i = 0; i < n; i++)
		text_add_format(text, "%02x", bytes[i]);
}

/* The shortest text that is the same number. */
static void
otlp_add_fraction(struct text_buffer *text, const unsigned char *bytes)
{
	char digits[40];
	uint64_t bits;
	double number;

	memcpy(&bits, bytes, sizeof bits);
	bits = le64toh(bits);
	memcpy(&number, &bits, sizeof number);
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof digits, "%.*g", precision, number);
		if (isnan(number) || strtod(digits, NULL) == number)
			break;
	}
	text_add_string(text, digits);
}

/* Whether the field is a value by itself; then *value is that. */
static bool
otlp_read_value(struct otlp *input, const struct protobuf_field *field,
                struct otlp_value *value)
{
	struct text_buffer *text = &input->text;
	enum protobuf_wire wire = field->wire;

	*value = (struct otlp_value){ .text = { "", 0 } };
	text_clear(text);
	if (field->number == OTLP_VALUE_INTEGER && wire == PROTOBUF_VARINT) {
		value->number = field->value;
		value->is_number = true;
		return true;
	}
	if (field->number == OTLP_VALUE_TEXT && wire == PROTOBUF_BYTES)
		text_add(text, (const char *)field->bytes, field->value);
	else if (field->number == OTLP_VALUE_STRING && wire == PROTOBUF_VARINT) {
		value->text = otlp_string_at(input, field->value);
		return true;
	} else if (field->number == OTLP_VALUE_TRUTH && wire == PROTOBUF_VARINT)
		text_add_string(text, field->value != 0 ? "true" : "false");
	else if (field->number == OTLP_VALUE_FRACTION &&
	         wire == PROTOBUF_FIXED64)
		otlp_add_fraction(text, field->bytes);
	else if (field->number == OTLP_VALUE_BYTES && wire == PROTOBUF_BYTES)
		otlp_add_bytes(text, field->bytes, field->value);
	else
		return false;
	if (text->length > 0)
		value->text = (struct otlp_string){ text->bytes, text->length };
	return true;
}

/* Opens what is inside the field of the level, if there are values in it. */
static int
otlp_values_open(struct otlp *input, struct otlp_values *values,
                 const struct protobuf_field *field, struct error *error)
{
	const struct otlp_value_level *top = &values->levels[values->depth - 1];
	struct otlp_value_level next = { protobuf_message(field), OTLP_VALUE,
		top->key_length };
	struct otlp_attribute pair = { .key = { "", 0 } };

	if (top->kind == OTLP_VALUE && field->number == OTLP_VALUE_ARRAY) {
		next.kind = OTLP_ARRAY;
	} else if (top->kind == OTLP_VALUE &&
	           field->number == OTLP_VALUE_LIST) {
		next.kind = OTLP_LIST;
	} else if (top->kind == OTLP_LIST &&
	           field->number == OTLP_LIST_VALUES) {
		if (otlp_read_attribute(input, next.rest, false, &pair,
		                        error) != 0)
			return -1;
		input->key.length = top->key_length;
		text_add_char(&input->key, '.');
		text_add(&input->key, pair.key.text, pair.key.length);
		next.rest = pair.value;
		next.key_length = input->key.length;
	} else if (top->kind != OTLP_ARRAY ||
	           field->number != OTLP_ARRAY_VALUES) {
		return 0;
	}
	if (values->depth == sizeof values->levels / sizeof *values->levels) {
		input->has_deep_values = true;
		return 0;
	}
	values->levels[values->depth++] = next;
	return count_frames(input, 1, error);
}

/* 1: *value is the next one; 0: there are no more; -1 with *error set. */
static int
otlp_next_value(struct otlp *input, struct otlp_values *values,
                struct otlp_value *value, struct error *error)
{
	while (values->depth > 0) {
		struct otlp_value_level *top =
		    &values->levels[values->depth - 1];
		struct protobuf_field field = { 0 };
		int found = otlp_next_field(&top->rest, &field, "a value",
		                            error);

		if (found < 0)
			return -1;
		if (found == 0) {
			values->depth--;
			continue;
		}
		if (top->kind == OTLP_VALUE &&
		    otlp_read_value(input, &field, value)) {
			input->key.length = top->key_length;
			return 1;
		}
		if (otlp_values_open(input, values, &field, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- the other tables ---- */

static int
otlp_add_location(struct otlp *input, struct protobuf message,
                  struct error *error)
{
	struct otlp_location *location = array_add(&input->locations,
	                                      sizeof *location, error);
	struct protobuf_field field = { 0 };
	uint64_t numbers[2];
	int found;

	if (location == NULL)
		return -1;
	location->lines.first = input->lines.n;
	while ((found = otlp_next_field(&message, &field, "a location",
	                                error)) > 0) {
		struct pprof_line *line;

		if (field.number == OTLP_LOCATION_MAPPING)
			location->mapping = field.value;
		else if (field.number == OTLP_LOCATION_ADDRESS)
			location->address = field.value;
		if (field.number != OTLP_LOCATION_LINES)
			continue;
		line = array_add(&input->lines, sizeof *line, error);
		if (line == NULL ||
		    otlp_read_numbers(protobuf_message(&field), numbers, 2,
		                      "a line", error) != 0)
			return -1;
		*line = (struct pprof_line){
			.function = numbers[OTLP_LINE_FUNCTION - 1],
			.line = numbers[OTLP_LINE_NUMBER - 1] };
	}
	location->lines.n = input->lines.n - location->lines.first;
	return found;
}

static int
otlp_add_stack(struct otlp *input, struct protobuf message, struct error *error)
{
	struct otlp_span *stack = array_add(&input->stacks, sizeof *stack, error);
	struct protobuf_field field = { 0 };
	int found;

	if (stack == NULL)
		return -1;
	stack->first = input->indices.n;
	while ((found = otlp_next_field(&message, &field, "a stack",
	                                error)) > 0)
		if (field.number == OTLP_STACK_LOCATIONS &&
		    otlp_add_numbers(&input->indices, &field, error) != 0)
			return -1;
	stack->n = input->indices.n - stack->first;
	return found;
}

static int
otlp_add_function(struct otlp *input, struct protobuf message,
                  struct error *error)
{
	struct otlp_function *function = array_add(&input->functions,
	                                      sizeof *function, error);
	uint64_t numbers[3];

	if (function == NULL ||
	    otlp_read_numbers(message, numbers, 3, "a function", error) != 0)
		return -1;
	*function = (struct otlp_function){
		.name = numbers[OTLP_FUNCTION_NAME - 1],
		.system_name = numbers[OTLP_FUNCTION_SYSTEM_NAME - 1],
		.file = numbers[OTLP_FUNCTION_FILE - 1] };
	return 0;
}

static int
otlp_add_string(struct otlp *input, const struct protobuf_field *field,
                struct error *error)
{
	struct otlp_string *string = array_add(&input->strings, sizeof *string,
	                                  error);

	if (string == NULL)
		return -1;
	*string = (struct otlp_string){ (const char *)field->bytes, field->value };
	return 0;
}

static void
otlp_clear_tables(struct otlp *input)
{
	input->strings.n = input->attributes.n = input->functions.n = 0;
	input->locations.n = input->lines.n = input->stacks.n = 0;
	input->indices.n = input->mappings.n = 0;
}

/* Reads the tables except mappings, which need strings and attributes. */
static int
read_dictionary(struct otlp *input, struct protobuf message,
                struct error *error)
{
	struct protobuf strings = message;
	struct protobuf_field field = { 0 };
	int found, result = 0;

	otlp_clear_tables(input);
	while ((found = otlp_next_field(&strings, &field, "a dictionary",
	                                error)) > 0)
		if (field.number == OTLP_DICTIONARY_STRINGS &&
		    field.wire == PROTOBUF_BYTES &&
		    (count_frames(input, FRAMES_A_ROW, error) != 0 ||
		     otlp_add_string(input, &field, error) != 0))
			return -1;
	if (found < 0)
		return -1;
	while (result == 0 && protobuf_next(&message, &field) ==
	       PROTOBUF_FIELD) {
		struct protobuf item = protobuf_message(&field);

		if (field.wire != PROTOBUF_BYTES)
			continue;
		if (count_frames(input, FRAMES_A_ROW, error) != 0)
			return -1;
		if (field.number == OTLP_DICTIONARY_FUNCTIONS)
			result = otlp_add_function(input, item, error);
		else if (field.number == OTLP_DICTIONARY_LOCATIONS)
			result = otlp_add_location(input, item, error);
		else if (field.number == OTLP_DICTIONARY_ATTRIBUTES)
			result = otlp_add_attribute(input, item, error);
		else if (field.number == OTLP_DICTIONARY_STACKS &&
		         input->revision.stack != 0)
			result = otlp_add_stack(input, item, error);
	}
	return result;
}

/* ---- tables of the pprof profile ---- */

/* Puts a path or a build-id into the buffer, with a NUL. */
static int
keep_string(struct otlp *input, struct text_buffer *kept,
            struct otlp_string string, struct error *error)
{
	if (string.length > PATH_LENGTH)
		string.length = PATH_LENGTH;
	text_clear(kept);
	text_add(kept, string.text, string.length);
	text_add_fill(kept, '\0', 1);
	if (kept->failed)
		return error_out_of_memory(error);
	return count_frames(input, string.length / BYTES_A_FRAME, error);
}

static bool
otlp_is_string(struct otlp_string string, const char *what)
{
	return string.length == strlen(what) &&
	       memcmp(string.text, what, string.length) == 0;
}

/* The attribute of that number, or NULL. */
static const struct otlp_attribute *
attribute_at(const struct otlp *input, uint64_t number)
{
	const struct otlp_attribute *attributes = input->attributes.items;

	return number < input->attributes.n ? &attributes[number] : NULL;
}

static int
enter_mapping(struct otlp *input, struct protobuf message,
              struct error *error)
{
	struct pprof_builder_mapping mapping = { .build_id = "" };
	struct text_buffer *key = &input->key;
	struct protobuf copy = message;
	struct protobuf_field field = { 0 };
	uint64_t numbers[4];
	struct otlp_string file;
	uint32_t n = names_count(input->mapping_keys), number;
	int found;

	input->numbers.n = 0;
	if (otlp_read_numbers(message, numbers, 4, "a mapping", error) != 0)
		return -1;
	while ((found = otlp_next_field(&copy, &field, "a mapping", error)) > 0)
		if (field.number == OTLP_MAPPING_ATTRIBUTES &&
		    otlp_add_numbers(&input->numbers, &field, error) != 0)
			return -1;
	if (found < 0)
		return -1;
	for (size_t i = 0; i < input->numbers.n; i++) {
		const struct otlp_attribute *attribute = attribute_at(input,
		    *otlp_number_at(&input->numbers, i));

		struct otlp_values values;
		struct otlp_value value;

		if (attribute == NULL || !otlp_is_string(attribute->key,
		        "process.executable.build_id.gnu"))
			continue;
		text_clear(key);
		otlp_values_begin(&values, attribute->value, 0);
		found = otlp_next_value(input, &values, &value, error);
		if (found < 0 || (found > 0 &&
		    keep_string(input, &input->build_id, value.text,
		                error) != 0))
			return -1;
		if (found > 0)
			mapping.build_id = input->build_id.bytes;
	}
	file = otlp_string_at(input, numbers[OTLP_MAPPING_FILE - 1]);
	mapping.start = numbers[OTLP_MAPPING_START - 1];
	mapping.limit = numbers[OTLP_MAPPING_LIMIT - 1];
	mapping.offset = numbers[OTLP_MAPPING_OFFSET - 1];
	/* Some leave out how long it is, or that, and where it is. */
	if (mapping.limit <= mapping.start)
		mapping.limit = UINT64_MAX;
	if (keep_string(input, &input->path, file, error) != 0)
		return -1;
	mapping.path = input->path.bytes;
	text_clear(key);
	text_add(key, (const char *)numbers, 3 * sizeof *numbers);
	text_add(key, mapping.path, strlen(mapping.path) + 1);
	text_add_string(key, mapping.build_id);
	if (key->failed)
		return error_out_of_memory(error);
	number = names_add(input->mapping_keys, key->bytes, key->length, error);
	if (number == NO_NAME)
		return -1;
	mapping.id = (uint64_t)number + 1;
	if (otlp_add_number(&input->mappings, mapping.id, error) != 0)
		return -1;
	return number < n ? 0 : pprof_builder_mapping(&input->builder, &mapping,
	                                              error);
}

static int
otlp_enter_mappings(struct otlp *input, struct protobuf dictionary,
                    struct error *error)
{
	struct protobuf_field field = { 0 };

	while (protobuf_next(&dictionary, &field) == PROTOBUF_FIELD)
		if (field.number == OTLP_DICTIONARY_MAPPINGS &&
		    field.wire == PROTOBUF_BYTES &&
		    enter_mapping(input, protobuf_message(&field), error) != 0)
			return -1;
	return 0;
}

static int
enter_location(struct otlp *input, struct otlp_location *location,
               struct error *error)
{
	const struct otlp_function *functions = input->functions.items;
	struct pprof_line unknown = { 0 }, *lines = input->lines.items;
	struct text_buffer *key = &input->key;
	/* The first mapping is that of locations without one. */
	uint64_t mapping = location->mapping != 0 &&
	    location->mapping < input->mappings.n ?
	    *otlp_number_at(&input->mappings, location->mapping) : 0;
	uint32_t n_known = names_count(input->location_keys), number;
	size_t n = 0;

	if (location->lines.n > 0)
		lines += location->lines.first;
	for (size_t l = 0; l < location->lines.n; l++) {
		struct pprof_line line = lines[l];

		line.function = line.function < input->functions.n ?
		                functions[line.function].id : 0;
		if (line.function != 0)
			lines[n++] = line;
	}
	if (n == 0 && mapping == 0 && location->address == 0) {
		unknown.function = pprof_builder_function(&input->builder,
		    "[unknown]", 9, "", 0, error);
		if (unknown.function == 0)
			return -1;
		lines = &unknown;
		n = 1;
	}
	text_clear(key);
	text_add(key, (const char *)&mapping, sizeof mapping);
	text_add(key, (const char *)&location->address,
	         sizeof location->address);
	for (size_t l = 0; l < n; l++) {
		text_add(key, (const char *)&lines[l].function,
		         sizeof lines[l].function);
		text_add(key, (const char *)&lines[l].line,
		         sizeof lines[l].line);
	}
	if (key->failed)
		return error_out_of_memory(error);
	number = names_add(input->location_keys, key->bytes, key->length,
	                   error);
	if (number == NO_NAME)
		return -1;
	location->id = (uint64_t)number + 1;
	return number < n_known ? 0 :
	    pprof_builder_location(&input->builder, location->id, mapping,
	                           location->address, lines, n, error);
}

/* ---- samples ---- */

/* The types of a profile's samples; one without name, if it has none. */
static int
otlp_read_types(const struct otlp *input, struct protobuf message,
                struct otlp_array *types, struct error *error)
{
	struct protobuf_field field = { 0 };
	int found;

	while ((found = otlp_next_field(&message, &field, "a profile",
	                                error)) > 0) {
		struct otlp_type *type;
		uint64_t numbers[2];

		if (field.number != OTLP_PROFILE_SAMPLE_TYPE)
			continue;
		if (types->n == RESOURCES_MAX)
			return error_set(error, "more than %d types of samples",
			                 RESOURCES_MAX);
		type = array_add(types, sizeof *type, error);
		if (type == NULL || otlp_read_numbers(protobuf_message(&field),
		        numbers, 2, "a type of samples", error) != 0)
			return -1;
		type->name = otlp_string_at(input, numbers[OTLP_TYPE_NAME - 1]);
		type->unit = otlp_string_at(input, numbers[OTLP_TYPE_UNIT - 1]);
	}
	if (found == 0 && types->n == 0 &&
	    array_add(types, sizeof(struct otlp_type), error) == NULL)
		return -1;
	return found;
}

static bool
otlp_is_same(struct otlp_string a, struct otlp_string b)
{
	return a.length == b.length &&
	       (a.length == 0 || memcmp(a.text, b.text, a.length) == 0);
}

static size_t
find_type(const struct otlp *input, struct otlp_type wanted)
{
	const struct otlp_type *types = input->types.items;
	size_t i = 0;

	while (i < input->types.n &&
	       (!otlp_is_same(types[i].name, wanted.name) ||
	        !otlp_is_same(types[i].unit, wanted.unit)))
		i++;
	return i;
}

/* Adds a value as a label with the key at hand. */
static int
otlp_add_value(struct otlp *input, const struct otlp_value *value,
               struct otlp_string unit, struct error *error)
{
	const struct text_buffer *key = &input->key;

	if (key->length == 0)
		return 0;
	if (count_frames(input, (key->length + value->text.length +
	                         unit.length) / BYTES_A_FRAME, error) != 0)
		return -1;
	/* A number that is 0 and has no unit is no label of pprof. */
	if (value->is_number && (value->number != 0 || unit.length > 0))
		return pprof_builder_number(&input->builder, key->bytes,
		                            key->length,
		                            (int64_t)value->number, unit.text,
		                            unit.length, error);
	return value->is_number ?
	    pprof_builder_label(&input->builder, key->bytes, key->length, "0",
	                        1, error) :
	    pprof_builder_label(&input->builder, key->bytes, key->length,
	                        value->text.text, value->text.length, error);
}

/* Adds a label for each value in an attribute. */
static int
otlp_add_label(struct otlp *input, const struct otlp_attribute *attribute,
               struct error *error)
{
	static const char *const known[][2] = {
		{ "thread.name", "thread" }, { "thread.id", "thread_id" },
		{ "process.pid", "pid" },
	};
	struct otlp_string key = attribute->key;
	struct otlp_values values;
	struct otlp_value value;
	int found;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (otlp_is_string(key, known[i][0]))
			key = (struct otlp_string){ known[i][1],
				strlen(known[i][1]) };
	text_clear(&input->key);
	text_add(&input->key, key.text, key.length);
	otlp_values_begin(&values, attribute->value, key.length);
	while ((found = otlp_next_value(input, &values, &value, error)) > 0) {
		if (input->key.failed || input->text.failed)
			return error_out_of_memory(error);
		if (otlp_add_value(input, &value,
		                   otlp_string_at(input, attribute->unit),
		                   error) != 0)
			return -1;
	}
	return found;
}

/* The part of the input that a sample has; arrays of numbers[]. */
struct otlp_sample {
	uint64_t stack, start, length, n_times;
	struct otlp_span values, attributes;
};

/* Reads all numbers of one field of a sample, which may be in pieces. */
static int
otlp_read_part(struct otlp *input, struct protobuf message, uint32_t number,
               struct otlp_span *part, struct error *error)
{
	struct protobuf_field field = { 0 };

	part->first = input->numbers.n;
	while (number != 0 && protobuf_next(&message, &field) == PROTOBUF_FIELD)
		if (field.number == number &&
		    otlp_add_numbers(&input->numbers, &field, error) != 0)
			return -1;
	part->n = input->numbers.n - part->first;
	return 0;
}

/* The sum of the values of one type; without values each time counts. */
static int
sum_values(const struct otlp *input, const struct otlp_sample *sample, size_t type,
           uint64_t *sum, struct error *error)
{
	size_t n = sample->values.n, i = 0;
	int64_t total = 0;

	*sum = sample->n_times;
	if (n == 0)
		return 0;
	if (input->n_profile_types > 1) {
		if (n != input->n_profile_types)
			return error_set(error, "a sample of %zu values, "
			                 "expected %zu", n,
			                 input->n_profile_types);
		i = type;
		n = type + 1;
	}
	for (; i < n; i++)
		if (__builtin_add_overflow(total, (int64_t)*otlp_number_at(
		        &input->numbers, sample->values.first + i), &total))
			return error_set(error, "a sum of values exceeds 63 "
			                 "bits");
	*sum = (uint64_t)total;
	return 0;
}

static int
otlp_add_values(struct otlp *input, const struct otlp_sample *sample,
                struct error *error)
{
	uint64_t values[RESOURCES_MAX];

	if (count_frames(input, input->types.n, error) != 0)
		return -1;
	memset(values, 0, input->types.n * sizeof *values);
	for (size_t i = 0; i < input->n_profile_types; i++)
		if (sum_values(input, sample, i, &values[input->columns[i]],
		               error) != 0)
			return -1;
	for (size_t i = 0; i < input->types.n; i++)
		pprof_builder_value(&input->builder, values[i]);
	return 0;
}

/* Where a sample's locations are in indices. */
static int
find_stack(const struct otlp *input, const struct otlp_sample *sample,
           struct otlp_span *stack, struct error *error)
{
	const struct otlp_span *stacks = input->stacks.items;

	if (sample->length > 0) {
		if (sample->start >= input->locations_of.n ||
		    sample->length > input->locations_of.n - sample->start)
			return error_set(error, "a sample of locations %" PRIu64
			    " to %" PRIu64 " of %zu", sample->start,
			    sample->start + sample->length - 1,
			    input->locations_of.n);
		*stack = (struct otlp_span){ input->locations_of.first +
			sample->start, sample->length };
		return 0;
	}
	*stack = (struct otlp_span){ 0, 0 };
	if (input->revision.stack == 0)
		return 0;
	if (sample->stack < input->stacks.n)
		*stack = stacks[sample->stack];
	else if (sample->stack != 0)
		return error_set(error, "a sample of stack %" PRIu64 " of %zu",
		                 sample->stack, input->stacks.n);
	return 0;
}

static int
otlp_add_labels(struct otlp *input, struct otlp_span attributes,
                struct error *error)
{
	bool has_pid = false;

	for (size_t i = 0; i < attributes.n; i++) {
		uint64_t number = *otlp_number_at(&input->numbers,
		                                  attributes.first + i);
		const struct otlp_attribute *attribute = attribute_at(input,
		                                                 number);

		if (attribute == NULL)
			return error_set(error, "attribute %" PRIu64 " of %zu",
			                 number, input->attributes.n);
		has_pid |= otlp_is_string(attribute->key, "process.pid");
		if (otlp_add_label(input, attribute, error) != 0)
			return -1;
	}
	return input->pid == 0 || has_pid ? 0 :
	    pprof_builder_number(&input->builder, "pid", 3,
	                         (int64_t)input->pid, "", 0, error);
}

static int
otlp_add_sample(struct otlp *input, struct protobuf message,
                struct error *error)
{
	struct otlp_sample sample = { 0 };
	struct otlp_span stack;
	const struct otlp_revision *revision = &input->revision;
	const struct otlp_location *locations = input->locations.items;
	struct protobuf again = message;
	struct protobuf_field field = { 0 };
	int found;

	input->numbers.n = 0;
	while ((found = otlp_next_field(&message, &field, "a sample", error)) >
	       0) {
		uint32_t number = field.number;

		if (number == revision->times)
			sample.n_times += count_times(&field,
			    revision->stack != 0 &&
			    field.wire == PROTOBUF_BYTES);
		else if (field.wire != PROTOBUF_VARINT)
			continue;
		else if (number == revision->stack)
			sample.stack = field.value;
		else if (number == revision->start)
			sample.start = field.value;
		else if (number == revision->length)
			sample.length = field.value;
	}
	if (found != 0 ||
	    otlp_read_part(input, again, revision->values, &sample.values,
	                   error) != 0 ||
	    otlp_read_part(input, again, revision->attributes,
	                   &sample.attributes, error) != 0)
		return -1;
	if (find_stack(input, &sample, &stack, error) != 0)
		return -1;
	if (sample.values.n == 0 && sample.n_times == 0)
		return 0;
	if (!input->lacks_times)
		pprof_builder_raw_samples(&input->builder, sample.n_times);
	pprof_builder_sample(&input->builder);
	if (count_frames(input, stack.n, error) != 0)
		return -1;
	for (size_t i = 0; i < stack.n; i++) {
		uint64_t location = *otlp_number_at(&input->indices,
		                                    stack.first + i);

		if (location >= input->locations.n)
			return error_set(error, "location %" PRIu64 " of %zu",
			                 location, input->locations.n);
		pprof_builder_stack(&input->builder, locations[location].id);
	}
	if (otlp_add_values(input, &sample, error) != 0 ||
	    otlp_add_labels(input, sample.attributes, error) != 0)
		return -1;
	input->n_samples++;
	return pprof_builder_end_sample(&input->builder, input->reader.place,
	                                error);
}

/* ---- profiles ---- */

/* Does something with a profile, or with its types. */
typedef int visitor(struct otlp *input, struct protobuf message,
                    struct error *error);

/* Adds those of a profile's types that are new. */
static int
visit_types(struct otlp *input, struct protobuf message, struct error *error)
{
	struct otlp_array types = { 0 };
	int result = otlp_read_types(input, message, &types, error);

	if (result == 0)
		result = count_frames(input, types.n * input->types.n, error);
	for (size_t i = 0; result == 0 && i < types.n; i++) {
		struct otlp_type *new, type = ((struct otlp_type *)
		                               types.items)[i];

		if (find_type(input, type) < input->types.n)
			continue;
		new = input->types.n < RESOURCES_MAX ?
		    array_add(&input->types, sizeof *new, error) : NULL;
		if (new != NULL)
			*new = type;
		else if (!error->is_set)
			error_set(error, "more than %d types of samples",
			          RESOURCES_MAX);
		result = new != NULL ? 0 : -1;
	}
	free(types.items);
	return result;
}

/* Whether all samples have times; then these are the raw samples. */
static int
visit_times(struct otlp *input, struct protobuf message, struct error *error)
{
	struct protobuf_field field = { 0 }, part = { 0 };
	int found;

	while ((found = otlp_next_field(&message, &field, "a profile",
	                                error)) > 0) {
		struct protobuf sample = protobuf_message(&field);
		bool has_times = false;

		if (field.number != OTLP_PROFILE_SAMPLES)
			continue;
		while (protobuf_next(&sample, &part) == PROTOBUF_FIELD)
			has_times |= part.number == input->revision.times;
		input->lacks_times |= !has_times;
	}
	return found;
}

/*
 * ---- revisions ----
 *
 * By the kinds of fields.  Of a list that is not packed, each number is a field
 * by itself; a single one could be the index of a link, if there is such a
 * link.  A sample of 1.8 that has values, and neither attributes nor a link,
 * has the same fields as one of 1.10 that has attributes and no values: then
 * each of its times counts.  So both are tried, sample by sample: attributes
 * must be in the table, and each time has a value if there are several values.
 */

/* What a sample has in one field: a number, or a list that may be unpacked. */
struct otlp_guess_field {
	uint64_t n, last;
	bool is_packed;
};

/* Whether it cannot be a single number, the index of a link. */
static bool
otlp_is_list(const struct otlp_guess *guess,
             const struct otlp_guess_field *field)
{
	return field->is_packed || field->n > 1 ||
	       (field->n > 0 && field->last != 0 &&
	        field->last >= guess->n_links);
}

static void
otlp_guess_fields(struct otlp_guess *guess,
                  const struct otlp_guess_field *fields)
{
	const struct otlp_revision *ten = &revisions[0], *eight = &revisions[1];

	if (guess->sure == &revisions[2])
		return;
	if (otlp_is_list(guess, &fields[eight->attributes]))
		guess->sure = eight;
	else if (otlp_is_list(guess, &fields[ten->values]))
		guess->sure = ten;
	else if (fields[ten->values].n > 0)
		/* Whose link it is has values in front of it. */
		guess->likely = fields[eight->values].n > 0 ||
		    fields[eight->values].is_packed ? eight : ten;
	else if (fields[eight->attributes].n > 0)
		guess->likely = ten;
}

static int
otlp_guess_sample(struct otlp *input, struct protobuf message,
                  struct error *error)
{
	struct otlp_guess *guess = &input->guess;
	struct otlp_guess_field fields[5] = { { 0 } };
	struct protobuf list = message;
	struct protobuf_field field = { 0 };
	struct otlp_span numbers;
	uint64_t n_times = 0;
	int found;

	while ((found = otlp_next_field(&message, &field, "a sample",
	                                error)) > 0) {
		if (field.number == revisions[0].times)
			n_times += count_times(&field, field.wire ==
			                       PROTOBUF_BYTES);
		if (field.number >= sizeof fields / sizeof *fields)
			continue;
		fields[field.number].is_packed |= field.wire == PROTOBUF_BYTES;
		if (field.wire != PROTOBUF_VARINT)
			continue;
		fields[field.number].n++;
		fields[field.number].last = field.value;
	}
	if (found < 0)
		return -1;
	otlp_guess_fields(guess, fields);
	if (guess->sure != NULL)
		return 0;
	input->numbers.n = 0;
	if (otlp_read_part(input, list, 2, &numbers, error) != 0)
		return -1;
	guess->has_list |= numbers.n > 0;
	if (n_times == 0 && numbers.n > 0)
		guess->can_be_attributes = false;
	if (numbers.n != n_times && numbers.n != 1 && n_times > 0)
		guess->can_be_values = false;
	for (size_t i = 0; i < numbers.n; i++) {
		uint64_t number = *otlp_number_at(&input->numbers,
		                                  numbers.first + i);

		if (number >= guess->n_attributes)
			guess->can_be_attributes = false;
	}
	return 0;
}

/* The fields of a profile that have changed tell some revisions, too. */
static void
otlp_guess_profile(struct otlp_guess *guess, const struct protobuf_field *field)
{
	bool is_bytes = field->wire == PROTOBUF_BYTES;

	/* Only 1.7 has locations here, packed or not, and later ones a time. */
	if (field->number == revisions[2].locations &&
	    (is_bytes || field->wire == PROTOBUF_VARINT))
		guess->sure = &revisions[2];
	/* A profile's id, and its dropped attributes. */
	if (guess->sure == NULL &&
	    ((field->number == 8 && is_bytes) ||
	     (field->number == 9 && field->wire == PROTOBUF_VARINT)))
		guess->can_be_attributes = false;
}

static int
visit_revision(struct otlp *input, struct protobuf message,
               struct error *error)
{
	struct protobuf_field field = { 0 };
	int found;

	while ((found = otlp_next_field(&message, &field, "a profile",
	                                error)) > 0) {
		otlp_guess_profile(&input->guess, &field);
		if (field.number == OTLP_PROFILE_SAMPLES &&
		    otlp_guess_sample(input, protobuf_message(&field),
		                      error) != 0)
			return -1;
	}
	return found;
}

static int
otlp_add_samples(struct otlp *input, struct protobuf message,
                 struct error *error)
{
	struct protobuf again = message;
	struct protobuf_field field = { 0 };
	int found;

	input->locations_of.first = input->indices.n;
	while ((found = otlp_next_field(&message, &field, "a profile",
	                                error)) > 0)
		if (input->revision.locations != 0 &&
		    field.number == input->revision.locations &&
		    otlp_add_numbers(&input->indices, &field, error) != 0)
			return -1;
	if (found < 0)
		return -1;
	input->locations_of.n = input->indices.n - input->locations_of.first;
	while (protobuf_next(&again, &field) == PROTOBUF_FIELD)
		if (field.number == OTLP_PROFILE_SAMPLES &&
		    otlp_add_sample(input, protobuf_message(&field),
		                    error) != 0)
			return -1;
	input->indices.n = input->locations_of.first;
	return 0;
}

static int
visit_samples(struct otlp *input, struct protobuf message,
              struct error *error)
{
	struct otlp_array types = { 0 };
	int result = otlp_read_types(input, message, &types, error);

	if (result == 0)
		result = count_frames(input, types.n * input->types.n, error);
	input->n_profile_types = types.n;
	for (size_t i = 0; result == 0 && i < types.n; i++)
		input->columns[i] = find_type(input, ((struct otlp_type *)
		                                      types.items)[i]);
	if (result == 0)
		result = otlp_add_samples(input, message, error);
	free(types.items);
	return result;
}

/* The process of a resource's attributes. */
static int
otlp_read_resource(struct otlp *input, struct protobuf message,
                   struct error *error)
{
	struct protobuf_field field = { 0 };
	int found;

	while ((found = otlp_next_field(&message, &field, "a resource",
	                                error)) > 0) {
		struct otlp_attribute attribute = { .key = { "", 0 } };
		struct otlp_values values;
		struct otlp_value value;

		if (field.number != OTLP_RESOURCE_ATTRIBUTES)
			continue;
		if (otlp_read_attribute(input, protobuf_message(&field), false,
		                        &attribute, error) != 0)
			return -1;
		if (!otlp_is_string(attribute.key, "process.pid"))
			continue;
		text_clear(&input->key);
		otlp_values_begin(&values, attribute.value, 0);
		found = otlp_next_value(input, &values, &value, error);
		if (found < 0)
			return -1;
		if (found > 0 && value.is_number)
			input->pid = value.number;
	}
	return found;
}

/* Reads the resource of profiles, which may be behind them. */
static int
otlp_find_resource(struct otlp *input, struct protobuf message,
                   struct error *error)
{
	struct protobuf_field field = { 0 };

	input->pid = 0;
	while (protobuf_next(&message, &field) == PROTOBUF_FIELD)
		if (field.number == OTLP_RESOURCE_PROFILES_RESOURCE &&
		    otlp_read_resource(input, protobuf_message(&field),
		                       error) != 0)
			return -1;
	return 0;
}

/* Visits all profiles of all scopes of a resource. */
static int
visit_resource(struct otlp *input, struct protobuf message, visitor *visit,
               struct error *error)
{
	struct protobuf_field field = { 0 }, part = { 0 };
	int found;

	if (otlp_find_resource(input, message, error) != 0)
		return -1;
	while ((found = otlp_next_field(&message, &field,
	                                "profiles of a resource", error)) > 0) {
		struct protobuf scope = protobuf_message(&field);

		if (field.number != OTLP_RESOURCE_PROFILES_SCOPES)
			continue;
		while ((found = otlp_next_field(&scope, &part,
		                                "profiles of a scope",
		                                error)) > 0)
			if (part.number == OTLP_SCOPE_PROFILES_PROFILES &&
			    visit(input, protobuf_message(&part), error) != 0)
				return -1;
		if (found < 0)
			return -1;
	}
	return found;
}

static int
visit_profiles(struct otlp *input, struct protobuf message, visitor *visit,
               struct error *error)
{
	struct protobuf_field field = { 0 };

	while (protobuf_next(&message, &field) == PROTOBUF_FIELD)
		if (field.number == OTLP_DATA_RESOURCE_PROFILES &&
		    visit_resource(input, protobuf_message(&field), visit,
		                   error) != 0)
			return -1;
	return 0;
}

/* ---- the whole input ---- */

static int
enter_types(struct otlp *input, struct error *error)
{
	const struct otlp_type *types = input->types.items;

	for (size_t i = 0; i < input->types.n; i++) {
		struct otlp_string name = types[i].name, unit = types[i].unit;

		if (pprof_builder_type(&input->builder, name.text, name.length,
		                       unit.text, unit.length, error) != 0)
			return -1;
	}
	return 0;
}

/*
 * Finds the dictionary, and where the message is cut short.  1: it has none
 * because it is cut short; 0, or -1 with *error set.
 */
static int
find_dictionary(struct otlp *input, size_t message_number,
                struct protobuf *dictionary, struct error *error)
{
	struct protobuf message = otlp_message_at(&input->messages,
	                                          message_number);
	struct protobuf_field field = { 0 };
	bool is_last = message_number + 1 == input->messages.n;
	bool is_there = false;
	int found;

	while ((found = protobuf_next(&message, &field)) == PROTOBUF_FIELD)
		if (field.number == OTLP_DATA_DICTIONARY) {
			*dictionary = protobuf_message(&field);
			is_there = true;
		}
	if (!input->messages.is_json)		/* JSON knows its own */
		input->reader.place = (uint64_t)(message.at -
		                                 input->messages.base);
	if (found == PROTOBUF_MALFORMED)
		return reader_fail(&input->reader, error, "expected a field of "
		                   "a protobuf");
	if (found == PROTOBUF_CUT_SHORT)
		input->reader.is_cut_short = true;
	if (is_there)
		return 0;
	return is_last && input->reader.is_cut_short ? 1 :
	    reader_fail(&input->reader, error, "no dictionary; "
	                "profiles of OTLP before version 1.7 are not read");
}

static int
enter_tables(struct otlp *input, struct protobuf dictionary,
             struct error *error)
{
	if (otlp_enter_mappings(input, dictionary, error) != 0)
		return -1;
	for (size_t i = 0; i < input->functions.n; i++) {
		struct otlp_function *function =
		    (struct otlp_function *)input->functions.items + i;
		struct otlp_string name = otlp_string_at(input, function->name);
		struct otlp_string file = otlp_string_at(input, function->file);

		if (name.length == 0)
			name = otlp_string_at(input, function->system_name);
		if (name.length == 0)
			continue;
		if (count_frames(input,
		                 (name.length + file.length) / BYTES_A_FRAME,
		                 error) != 0)
			return -1;
		function->id = pprof_builder_function(&input->builder,
		                                      name.text, name.length,
		                                      file.text, file.length,
		                                      error);
		if (function->id == 0)
			return -1;
	}
	for (size_t i = 0; i < input->locations.n; i++)
		if (enter_location(input,
		    (struct otlp_location *)input->locations.items + i,
		    error) != 0)
			return -1;
	return 0;
}

/* Of a message in binary. */
static int
otlp_find_revision(struct otlp *input, struct protobuf message,
                   struct protobuf dictionary, struct error *error)
{
	struct otlp_guess *guess = &input->guess;
	struct protobuf_field field = { 0 };
	bool is_second;

	*guess = (struct otlp_guess){ .can_be_values = true,
		.can_be_attributes = true };
	while (protobuf_next(&dictionary, &field) == PROTOBUF_FIELD) {
		guess->n_attributes += field.number ==
		                       OTLP_DICTIONARY_ATTRIBUTES;
		guess->n_links += field.number == OTLP_DICTIONARY_LINKS;
	}
	if (visit_profiles(input, message, visit_revision, error) != 0)
		return -1;
	is_second = guess->has_list && guess->can_be_values &&
	            !guess->can_be_attributes;
	input->revision = guess->sure != NULL ? *guess->sure :
	    guess->likely != NULL ? *guess->likely : revisions[is_second];
	return 0;
}

/* Reads the tables of a message, and which revision it is of. */
static int
otlp_begin_message(struct otlp *input, size_t number,
                   struct protobuf *dictionary, struct error *error)
{
	struct protobuf message = otlp_message_at(&input->messages, number);
	struct error why = { 0 };
	int result = find_dictionary(input, number, dictionary, error);

	if (result != 0)
		return result;
	input->revision = otlp_json_revision;
	if ((!input->messages.is_json &&
	     otlp_find_revision(input, message, *dictionary, &why) != 0) ||
	    read_dictionary(input, *dictionary, &why) != 0)
		return reader_pass_file(&input->reader, &why, error);
	return 0;
}

/* Reads what must be known of all messages before the first sample. */
static int
otlp_read_ahead(struct otlp *input, struct protobuf *dictionary,
                struct error *error)
{
	struct error why = { 0 };

	for (size_t i = 0; i < input->messages.n; i++) {
		int result = otlp_begin_message(input, i, dictionary, error);

		if (result < 0)
			return -1;
		if (result > 0) {
			input->messages.n = i;
			break;
		}
		if (visit_profiles(input, otlp_message_at(&input->messages, i),
		                   visit_types, &why) != 0 ||
		    visit_profiles(input, otlp_message_at(&input->messages, i),
		                   visit_times, &why) != 0)
			return reader_pass_file(&input->reader, &why, error);
	}
	if (input->messages.n == 0)
		return reader_fail_empty(&input->reader, error);
	return enter_types(input, &why) == 0 ? 0 :
	       reader_pass_file(&input->reader, &why, error);
}

static int
otlp_read_messages(struct otlp *input, struct error *error)
{
	struct reader *reader = &input->reader;
	struct protobuf dictionary = { NULL, NULL };
	struct error why = { 0 };

	input->most_frames = FRAMES_FREE + FRAMES_A_BYTE *
	                     source_done(reader->source);
	if (otlp_read_ahead(input, &dictionary, error) != 0)
		return -1;
	for (size_t i = 0; i < input->messages.n; i++) {
		/* The tables of a single message are at hand. */
		if (input->messages.n > 1 &&
		    otlp_begin_message(input, i, &dictionary, error) != 0)
			return -1;
		if (enter_tables(input, dictionary, &why) != 0 ||
		    visit_profiles(input, otlp_message_at(&input->messages, i),
		                   visit_samples, &why) != 0)
			return reader_pass_file(reader, &why, error);
		if (reader_step(reader, error) != 0)
			return -1;
	}
	if (input->n_samples == 0)
		return reader_fail_file(reader, error, "no samples in these "
		                        "profiles of OTLP");
	if (input->has_deep_values &&
	    reader_warn(reader, error, "values of attributes in more than %d "
	                "arrays or lists are not read", OTLP_VALUE_DEPTH) != 0)
		return -1;
	return reader_warn_cut_short(reader, "", error) == 0 ?
	    pprof_profile_fill(&input->builder.tables,
	                       &input->builder.samples, reader->is_cut_short,
	                       error) : -1;
}

static int
otlp_read_input(struct otlp *input, struct error *error)
{
	struct reader *reader = &input->reader;

	input->mapping_keys = names_new(error);
	input->location_keys = names_new(error);
	if (input->mapping_keys == NULL || input->location_keys == NULL ||
	    pprof_builder_begin(&input->builder, reader, error) != 0 ||
	    otlp_messages_find(&input->messages, reader, error) != 0)
		return -1;
	reader->is_cut_short = input->messages.is_cut_short;
	return otlp_read_messages(input, error);
}

static struct profile *
otlp_read(struct source *source, const struct read_options *options,
          struct error *error)
{
	struct otlp input = { .n_samples = 0 };
	int result = reader_begin(&input.reader, source, options,
	                          READER_OFFSETS, error);

	if (result == 0)
		result = otlp_read_input(&input, error);
	source_skip(source, input.messages.n_input);
	pprof_builder_free(&input.builder);
	otlp_messages_free(&input.messages);
	names_free(input.mapping_keys);
	names_free(input.location_keys);
	free(input.strings.items);
	free(input.attributes.items);
	free(input.functions.items);
	free(input.locations.items);
	free(input.lines.items);
	free(input.stacks.items);
	free(input.indices.items);
	free(input.mappings.items);
	free(input.types.items);
	free(input.numbers.items);
	text_free(&input.key);
	text_free(&input.text);
	text_free(&input.path);
	text_free(&input.build_id);
	return reader_end(&input.reader, result);
}

const struct format format_otlp = {
	.name = "OTLP profiles",
	.summary = "profiles of OpenTelemetry, in binary and JSON",
	.probe = otlp_probe,
	.read = otlp_read,
};
