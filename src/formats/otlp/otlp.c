/* SPDX-License-Identifier: GPL-3.0-or-later */
/* otlp.c -- OpenTelemetry's profiles, in binary and in JSON.
 *
 * A message has profiles of several resources, and behind them a dictionary:
 * tables of strings, functions, locations and stacks that all share.  So the
 * dictionary is read first, and then every sample becomes one of the pprof
 * profile (pprof.h) that this is made into.
 */
#include <inttypes.h>
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

/* Part of an array. */
struct otlp_span {
	size_t first, n;
};

struct otlp_string {
	const char *text;
	size_t length;
};

struct otlp_attribute {
	struct otlp_string key, text;
	uint64_t number;
	bool is_number;
};

struct otlp_function {
	uint64_t name, system_name, file;
	uint64_t id;		/* of the builder; 0: it has no name */
};

struct otlp_location {
	uint64_t mapping, address;
	struct otlp_span lines;
};

struct otlp_type {
	uint64_t name, unit;
};

/* Arrays that grow; n items of a size. */
struct otlp_array {
	void *items;
	size_t n, capacity;
};

struct otlp {
	struct reader reader;
	struct pprof_builder builder;
	struct otlp_revision revision;
	struct otlp_array strings, attributes, functions, locations, lines, stacks,
	    indices, types;		/* of the structs above; lines are
					 * pprof_line, indices numbers */
	struct otlp_array numbers;		/* of the sample at hand */
	uint64_t n_mappings, n_samples, n_frames, most_frames;
	struct text_buffer path, build_id;	/* of the mapping at hand */
	bool lacks_times;		/* some samples do */
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

/* The key is a text, or a string of the table, which may come later. */
static int
otlp_read_attribute(struct protobuf message, struct otlp_attribute *attribute,
                    uint64_t *key, struct error *error)
{
	struct protobuf_field field = { 0 };
	int found;

	*key = 0;
	while ((found = otlp_next_field(&message, &field, "an attribute",
	                                error)) > 0) {
		if (field.number == OTLP_ATTRIBUTE_KEY &&
		    field.wire == PROTOBUF_BYTES)
			attribute->key = (struct otlp_string){
				(const char *)field.bytes, field.value
			};
		else if (field.number == OTLP_ATTRIBUTE_KEY)
			*key = field.value;
		else if (field.number == OTLP_ATTRIBUTE_VALUE) {
			struct protobuf value = protobuf_message(&field);
			struct protobuf_field part = { 0 };

			while ((found = otlp_next_field(&value, &part,
			                                "a value", error)) >
			       0) {
				if (part.number == OTLP_VALUE_TEXT &&
				    part.wire == PROTOBUF_BYTES)
					attribute->text = (struct otlp_string){
						(const char *)part.bytes,
						part.value
					};
				if (part.number == OTLP_VALUE_INTEGER &&
				    part.wire == PROTOBUF_VARINT) {
					attribute->number = part.value;
					attribute->is_number = true;
				}
			}
			if (found != 0)
				return -1;
		}
	}
	return found;
}

static int
otlp_add_attribute(struct otlp *input, struct protobuf message,
                   struct error *error)
{
	struct otlp_attribute *attribute = array_add(&input->attributes,
	                                        sizeof *attribute, error);
	uint64_t key;

	if (attribute == NULL ||
	    otlp_read_attribute(message, attribute, &key, error) != 0)
		return -1;
	if (attribute->key.text == NULL)
		attribute->key = otlp_string_at(input, key);
	return 0;
}

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

/* Reads the tables except mappings, which need strings and attributes. */
static int
read_dictionary(struct otlp *input, struct protobuf message,
                struct error *error)
{
	struct protobuf strings = message;
	struct protobuf_field field = { 0 };
	int found, result = 0;

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
	struct protobuf copy = message;
	struct protobuf_field field = { 0 };
	uint64_t numbers[4];
	struct otlp_string file;
	int found;

	mapping.id = ++input->n_mappings;
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

		if (attribute != NULL && attribute->text.text != NULL &&
		    otlp_is_string(attribute->key,
		        "process.executable.build_id.gnu")) {
			if (keep_string(input, &input->build_id,
			                attribute->text, error) != 0)
				return -1;
			mapping.build_id = input->build_id.bytes;
		}
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
	return pprof_builder_mapping(&input->builder, &mapping, error);
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
enter_location(struct otlp *input, size_t i, struct error *error)
{
	const struct otlp_location *location =
	    (struct otlp_location *)input->locations.items + i;
	const struct otlp_function *functions = input->functions.items;
	struct pprof_line *lines = input->lines.items;
	uint64_t mapping = location->mapping < input->n_mappings ?
	                   location->mapping + 1 : 0;
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
	/* The first mapping is that of locations without one. */
	if (location->mapping == 0)
		mapping = 0;
	if (n == 0 && mapping == 0 && location->address == 0) {
		struct pprof_line line = {
			.function = pprof_builder_function(&input->builder,
			    "[unknown]", 9, "", 0, error)
		};

		return line.function == 0 ? -1 :
		    pprof_builder_location(&input->builder, i + 1, 0, 0, &line,
		                           1, error);
	}
	return pprof_builder_location(&input->builder, i + 1, mapping,
	                              location->address, lines, n, error);
}

/* ---- samples ---- */

/* The types of a profile's samples; one without name, if it has none. */
static int
otlp_read_types(struct protobuf message, struct otlp_array *types,
                struct error *error)
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
		*type = (struct otlp_type){ numbers[OTLP_TYPE_NAME - 1],
			numbers[OTLP_TYPE_UNIT - 1] };
	}
	if (found == 0 && types->n == 0 &&
	    array_add(types, sizeof(struct otlp_type), error) == NULL)
		return -1;
	return found;
}

static size_t
find_type(const struct otlp *input, struct otlp_type wanted)
{
	const struct otlp_type *types = input->types.items;
	size_t i = 0;

	while (i < input->types.n && (types[i].name != wanted.name ||
	                              types[i].unit != wanted.unit))
		i++;
	return i;
}

static int
otlp_add_label(struct otlp *input, const struct otlp_attribute *attribute,
               struct error *error)
{
	static const char *const known[][2] = {
		{ "thread.name", "thread" }, { "thread.id", "thread_id" },
		{ "process.pid", "pid" },
	};
	struct otlp_string key = attribute->key;

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (otlp_is_string(key, known[i][0]))
			key = (struct otlp_string){ known[i][1],
				strlen(known[i][1]) };
	if (key.length == 0)
		return 0;
	if (count_frames(input, (key.length + attribute->text.length) /
	                 BYTES_A_FRAME, error) != 0)
		return -1;
	return attribute->is_number ?
	    pprof_builder_number(&input->builder, key.text, key.length,
	                         (int64_t)attribute->number, "", 0, error) :
	    pprof_builder_label(&input->builder, key.text, key.length,
	                        attribute->text.text != NULL ?
	                            attribute->text.text : "",
	                        attribute->text.length, error);
}

/* The part of the input that a sample has; arrays of numbers[]. */
struct otlp_sample {
	uint64_t stack, start, length, n_times;
	struct otlp_span values, attributes;
};

/* Appends the numbers of a field of a sample to what it has of these. */
static int
otlp_add_part(struct otlp *input, const struct protobuf_field *field,
              struct otlp_span *part, struct error *error)
{
	size_t first = input->numbers.n;

	if (otlp_add_numbers(&input->numbers, field, error) != 0)
		return -1;
	if (part->n == 0)
		part->first = first;
	else if (part->first + part->n != first)
		return error_set(error, "fields of a sample in another order "
		                 "than its definition has");
	part->n += input->numbers.n - first;
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
	const struct otlp_attribute pid = { .key = { "process.pid", 11 },
		.number = input->pid, .is_number = true };
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
					    otlp_add_label(input, &pid, error);
}

static int
otlp_add_sample(struct otlp *input, struct protobuf message,
                struct error *error)
{
	struct otlp_sample sample = { 0 };
	struct otlp_span stack;
	const struct otlp_revision *revision = &input->revision;
	struct protobuf_field field = { 0 };
	int found;

	input->numbers.n = 0;
	while ((found = otlp_next_field(&message, &field, "a sample", error)) >
	       0) {
		uint32_t number = field.number;
		int result = 0;

		if (number == revision->values)
			result = otlp_add_part(input, &field, &sample.values,
			                       error);
		else if (number == revision->attributes)
			result = otlp_add_part(input, &field,
			                       &sample.attributes, error);
		else if (number == revision->times)
			sample.n_times += count_times(&field,
			    revision->stack != 0 &&
			    field.wire == PROTOBUF_BYTES);
		else if (number == revision->stack)
			sample.stack = field.value;
		else if (number == revision->start)
			sample.start = field.value;
		else if (number == revision->length)
			sample.length = field.value;
		if (result != 0)
			return -1;
	}
	if (found != 0)
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
		pprof_builder_stack(&input->builder, location + 1);
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
	int result = otlp_read_types(message, &types, error);

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

/* Which revision the samples of a profile must be of, by kinds of fields. */
static int
visit_revision(struct otlp *input, struct protobuf message,
               struct error *error)
{
	struct protobuf_field field = { 0 }, part = { 0 };
	int found;

	while ((found = otlp_next_field(&message, &field, "a profile",
	                                error)) > 0) {
		struct protobuf sample = protobuf_message(&field);

		if (field.number != OTLP_PROFILE_SAMPLES)
			continue;
		while ((found = otlp_next_field(&sample, &part, "a sample",
		                                error)) > 0) {
			bool is_list = part.wire == PROTOBUF_BYTES;
			const struct otlp_revision *sure = NULL;

			if (part.number == 2 && !is_list)
				sure = &revisions[2];
			else if (input->revision.start == 0 &&
			         ((part.number == 3 && is_list) ||
			          (part.number == 4 && !is_list)))
				sure = &revisions[1];
			else if (input->revision.start == 0 &&
			         ((part.number == 4 && is_list) ||
			          (part.number == 3 && !is_list)))
				sure = &revisions[0];
			if (sure != NULL)
				input->revision = *sure;
		}
		if (found < 0)
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
	int result = otlp_read_types(message, &types, error);

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
		struct otlp_attribute attribute = { 0 };
		uint64_t key;

		if (field.number != OTLP_RESOURCE_ATTRIBUTES)
			continue;
		if (otlp_read_attribute(protobuf_message(&field), &attribute,
		                        &key, error) != 0)
			return -1;
		if (attribute.key.text == NULL)
			attribute.key = otlp_string_at(input, key);
		if (attribute.is_number &&
		    otlp_is_string(attribute.key, "process.pid"))
			input->pid = attribute.number;
	}
	return found;
}

/* Visits all profiles of all scopes of a resource. */
static int
visit_resource(struct otlp *input, struct protobuf message, visitor *visit,
               struct error *error)
{
	struct protobuf_field field = { 0 }, part = { 0 };
	int found;

	input->pid = 0;
	while ((found = otlp_next_field(&message, &field,
	                                "profiles of a resource", error)) > 0) {
		struct protobuf scope = protobuf_message(&field);

		if (field.number == OTLP_RESOURCE_PROFILES_RESOURCE &&
		    otlp_read_resource(input, scope, error) != 0)
			return -1;
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
		struct otlp_string name = otlp_string_at(input, types[i].name);
		struct otlp_string unit = otlp_string_at(input, types[i].unit);

		if (pprof_builder_type(&input->builder, name.text, name.length,
		                       unit.text, unit.length, error) != 0)
			return -1;
	}
	return 0;
}

/* Finds the dictionary, and where the message is cut short. */
static int
find_dictionary(struct otlp *input, struct protobuf message,
                struct protobuf *dictionary, struct error *error)
{
	struct protobuf start = message;
	struct protobuf_field field = { 0 };
	bool is_there = false;
	int found;

	while ((found = protobuf_next(&message, &field)) == PROTOBUF_FIELD)
		if (field.number == OTLP_DATA_DICTIONARY) {
			*dictionary = protobuf_message(&field);
			is_there = true;
		}
	if (input->revision.stack == 0)		/* JSON knows its own */
		input->reader.place = (uint64_t)(message.at - start.at);
	if (found == PROTOBUF_MALFORMED)
		return reader_fail(&input->reader, error, "expected a field of "
		                   "a protobuf");
	if (found == PROTOBUF_CUT_SHORT)
		input->reader.is_cut_short = true;
	if (!is_there && input->reader.is_cut_short)
		return reader_fail_empty(&input->reader, error);
	if (!is_there)
		return reader_fail(&input->reader, error, "no dictionary; "
		    "profiles of OTLP before version 1.7 are not read");
	return 0;
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
		if (enter_location(input, i, error) != 0)
			return -1;
	return 0;
}

static int
read_message(struct otlp *input, struct protobuf message, struct error *error)
{
	struct reader *reader = &input->reader;
	struct protobuf dictionary = { NULL, NULL };
	struct error why = { 0 };

	input->most_frames = FRAMES_FREE + FRAMES_A_BYTE *
	                     source_done(reader->source);
	if (find_dictionary(input, message, &dictionary, error) != 0)
		return -1;
	if ((input->revision.stack == 0 &&
	     (input->revision = revisions[0],
	      visit_profiles(input, message, visit_revision, &why) != 0)) ||
	    read_dictionary(input, dictionary, &why) != 0 ||
	    visit_profiles(input, message, visit_types, &why) != 0 ||
	    visit_profiles(input, message, visit_times, &why) != 0 ||
	    enter_types(input, &why) != 0 ||
	    visit_profiles(input, message, visit_samples, &why) != 0)
		return reader_pass_file(reader, &why, error);
	if (input->n_samples == 0)
		return reader_fail_file(reader, error, "no samples in these "
		                        "profiles of OTLP");
	if (enter_tables(input, dictionary, &why) != 0)
		return reader_pass_file(reader, &why, error);
	return reader_warn_cut_short(reader, "", error) == 0 ?
	    pprof_profile_fill(&input->builder.tables,
	                       &input->builder.samples, reader->is_cut_short,
	                       error) : -1;
}

static int
read_binary(struct otlp *input, struct error *error)
{
	struct source *source = input->reader.source;
	size_t size;
	const char *bytes = source_peek(source, SIZE_MAX, &size, error);
	const unsigned char *at = (const unsigned char *)bytes;
	int result;

	if (bytes == NULL)
		return -1;
	input->reader.is_cut_short = source_is_cut_short(source);
	result = read_message(input, (struct protobuf){ at, at + size }, error);
	source_skip(source, size);
	return result;
}

static int
read_json(struct otlp *input, struct error *error)
{
	struct json_reader *json = json_reader_new(&input->reader, error);
	struct text_buffer message = { 0 };
	const unsigned char *at;
	int result = -1;

	if (json != NULL)
		otlp_json_convert(json, &message, error);
	if (!error->is_set) {
		size_t size = message.length;

		text_add_fill(&message, '\0', PROTOBUF_PADDING);
		if (message.failed)
			error_out_of_memory(error);
		at = (const unsigned char *)message.bytes;
		input->revision = otlp_json_revision;
		input->reader.is_cut_short = json_is_cut_short(json);
		input->reader.place = json_offset(json);
		if (!error->is_set)
			result = read_message(input, (struct protobuf){ at,
			                      at + size }, error);
	}
	text_free(&message);
	json_reader_free(json);
	return result;
}

static bool
otlp_is_json(const char *head, size_t size)
{
	size_t i = 0;

	while (i < size && memchr(" \t\r\n", head[i], 4) != NULL)
		i++;
	return i < size && head[i] == '{';
}

static struct profile *
otlp_read(struct source *source, const struct read_options *options,
          struct error *error)
{
	struct otlp input = { .n_samples = 0 };
	int result = reader_begin(&input.reader, source, options,
	                          READER_OFFSETS, error);
	const char *head = NULL;
	size_t size;

	if (result == 0)
		result = pprof_builder_begin(&input.builder, &input.reader,
		                             error);
	if (result == 0)
		head = source_peek(source, FORMAT_HEAD_SIZE, &size, error);
	if (head == NULL)
		result = -1;
	else
		result = otlp_is_json(head, size) ? read_json(&input, error) :
		         read_binary(&input, error);
	pprof_builder_free(&input.builder);
	free(input.strings.items);
	free(input.attributes.items);
	free(input.functions.items);
	free(input.locations.items);
	free(input.lines.items);
	free(input.stacks.items);
	free(input.indices.items);
	free(input.types.items);
	free(input.numbers.items);
	text_free(&input.path);
	text_free(&input.build_id);
	return reader_end(&input.reader, result);
}

/* ---- probe ---- */

static bool
has_text(const char *head, size_t size, const char *text)
{
	return memmem(head, size, text, strlen(text)) != NULL;
}

/*
 * Goes into the field of bytes of that number that comes next, after fields of
 * bytes of smaller numbers; what lies beyond the head counts as there.
 */
static bool
enter_field(struct protobuf *message, uint32_t number)
{
	struct protobuf_field field = { 0 };
	int found;

	do {
		const unsigned char *at = message->at;
		uint64_t tag, size;

		found = protobuf_next(message, &field);
		if (found == PROTOBUF_CUT_SHORT && field.number == number &&
		    (at = protobuf_varint(at, &tag)) != NULL &&
		    (at = protobuf_varint(at, &size)) != NULL) {
			message->at = at;
			return true;
		}
		if (found != PROTOBUF_FIELD || field.wire != PROTOBUF_BYTES ||
		    field.number > number)
			return false;
	} while (field.number < number);
	*message = protobuf_message(&field);
	return true;
}

/* Resource, scope, profile, sample type: a message of small numbers. */
static bool
has_sample_type(struct protobuf message)
{
	struct protobuf_field field = { 0 };

	if (!enter_field(&message, OTLP_DATA_RESOURCE_PROFILES) ||
	    !enter_field(&message, OTLP_RESOURCE_PROFILES_SCOPES) ||
	    !enter_field(&message, OTLP_SCOPE_PROFILES_PROFILES) ||
	    protobuf_next(&message, &field) != PROTOBUF_FIELD ||
	    field.wire != PROTOBUF_BYTES)
		return false;
	if (field.number == OTLP_PROFILE_SAMPLES)
		return true;
	message = protobuf_message(&field);
	while (protobuf_next(&message, &field) == PROTOBUF_FIELD)
		if (field.number > 3 || field.wire != PROTOBUF_VARINT)
			return false;
	return message.at == message.end;
}

static int
otlp_probe(const void *head, size_t size)
{
	/* With the padding that readers of fields want. */
	unsigned char copy[FORMAT_HEAD_SIZE + PROTOBUF_PADDING];

	if (size > FORMAT_HEAD_SIZE)
		size = FORMAT_HEAD_SIZE;
	if (otlp_is_json(head, size))
		return (has_text(head, size, "\"resourceProfiles\"") ||
		        has_text(head, size, "\"resource_profiles\"") ||
		        (has_text(head, size, "\"dictionary\"") &&
		         (has_text(head, size, "\"stringTable\"") ||
		          has_text(head, size, "\"string_table\"")))) ?
		    PROBE_SURE :
		    PROBE_NO;
	memcpy(copy, head, size);
	memset(copy + size, 0, PROTOBUF_PADDING);
	return has_sample_type((struct protobuf){ copy, copy + size }) ?
	       PROBE_SURE : PROBE_NO;
}

const struct format format_otlp = {
	.name = "OTLP profiles",
	.summary = "profiles of OpenTelemetry, in binary and JSON",
	.probe = otlp_probe,
	.read = otlp_read,
};
