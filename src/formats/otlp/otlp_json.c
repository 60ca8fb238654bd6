/* SPDX-License-Identifier: GPL-3.0-or-later */
/* otlp_json.c -- OTLP's profiles in JSON, as the binary messages.
 *
 * The mapping of protobufs to JSON: names in camel case or as in the
 * definition, numbers of 64 bits as texts.  What is not used is left out.
 */
#include <ctype.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "src/formats/json/json_reader.h"
#include "src/formats/otlp/otlp_fields.h"
#include "src/formats/pprof/pprof.h"

enum otlp_json_message {
	DATA, RESOURCE_PROFILES, RESOURCE, SCOPE_PROFILES, PROFILE, TYPE,
	SAMPLE, DICTIONARY, MAPPING, LOCATION, LINE, FUNCTION, STACK,
	ATTRIBUTE, VALUE, ARRAY, LIST,
	NUMBER, TEXT, TRUTH, FRACTION, BASE64	/* no messages */
};

static const struct key {
	enum otlp_json_message in;
	const char *name;	/* in small letters, without '_' */
	uint32_t number;
	enum otlp_json_message kind;
} keys[] = {
	{ DATA, "resourceprofiles", OTLP_DATA_RESOURCE_PROFILES,
	  RESOURCE_PROFILES },
	{ DATA, "dictionary", OTLP_DATA_DICTIONARY, DICTIONARY },
	{ RESOURCE_PROFILES, "resource", OTLP_RESOURCE_PROFILES_RESOURCE,
	  RESOURCE },
	{ RESOURCE_PROFILES, "scopeprofiles", OTLP_RESOURCE_PROFILES_SCOPES,
	  SCOPE_PROFILES },
	{ RESOURCE, "attributes", OTLP_RESOURCE_ATTRIBUTES, ATTRIBUTE },
	{ SCOPE_PROFILES, "profiles", OTLP_SCOPE_PROFILES_PROFILES, PROFILE },
	{ PROFILE, "sampletype", OTLP_PROFILE_SAMPLE_TYPE, TYPE },
	{ PROFILE, "samples", OTLP_PROFILE_SAMPLES, SAMPLE },
	{ PROFILE, "sample", OTLP_PROFILE_SAMPLES, SAMPLE },
	{ PROFILE, "locationindices", 30, NUMBER },
	{ TYPE, "typestrindex", OTLP_TYPE_NAME, NUMBER },
	{ TYPE, "unitstrindex", OTLP_TYPE_UNIT, NUMBER },
	{ SAMPLE, "stackindex", 1, NUMBER },
	{ SAMPLE, "attributeindices", 2, NUMBER },
	{ SAMPLE, "values", 4, NUMBER },
	{ SAMPLE, "value", 4, NUMBER },
	{ SAMPLE, "timestampsunixnano", 5, NUMBER },
	{ SAMPLE, "locationsstartindex", 20, NUMBER },
	{ SAMPLE, "locationslength", 21, NUMBER },
	{ DICTIONARY, "mappingtable", OTLP_DICTIONARY_MAPPINGS, MAPPING },
	{ DICTIONARY, "locationtable", OTLP_DICTIONARY_LOCATIONS, LOCATION },
	{ DICTIONARY, "functiontable", OTLP_DICTIONARY_FUNCTIONS, FUNCTION },
	{ DICTIONARY, "stringtable", OTLP_DICTIONARY_STRINGS, TEXT },
	{ DICTIONARY, "attributetable", OTLP_DICTIONARY_ATTRIBUTES, ATTRIBUTE },
	{ DICTIONARY, "stacktable", OTLP_DICTIONARY_STACKS, STACK },
	{ MAPPING, "memorystart", OTLP_MAPPING_START, NUMBER },
	{ MAPPING, "memorylimit", OTLP_MAPPING_LIMIT, NUMBER },
	{ MAPPING, "fileoffset", OTLP_MAPPING_OFFSET, NUMBER },
	{ MAPPING, "filenamestrindex", OTLP_MAPPING_FILE, NUMBER },
	{ MAPPING, "attributeindices", OTLP_MAPPING_ATTRIBUTES, NUMBER },
	{ LOCATION, "mappingindex", OTLP_LOCATION_MAPPING, NUMBER },
	{ LOCATION, "address", OTLP_LOCATION_ADDRESS, NUMBER },
	{ LOCATION, "lines", OTLP_LOCATION_LINES, LINE },
	{ LOCATION, "line", OTLP_LOCATION_LINES, LINE },
	{ LINE, "functionindex", OTLP_LINE_FUNCTION, NUMBER },
	{ LINE, "line", OTLP_LINE_NUMBER, NUMBER },
	{ FUNCTION, "namestrindex", OTLP_FUNCTION_NAME, NUMBER },
	{ FUNCTION, "systemnamestrindex", OTLP_FUNCTION_SYSTEM_NAME, NUMBER },
	{ FUNCTION, "filenamestrindex", OTLP_FUNCTION_FILE, NUMBER },
	{ STACK, "locationindices", OTLP_STACK_LOCATIONS, NUMBER },
	{ ATTRIBUTE, "key", OTLP_ATTRIBUTE_KEY, TEXT },
	{ ATTRIBUTE, "keystrindex", OTLP_ATTRIBUTE_KEY, NUMBER },
	{ ATTRIBUTE, "unitstrindex", OTLP_ATTRIBUTE_UNIT, NUMBER },
	{ ATTRIBUTE, "value", OTLP_ATTRIBUTE_VALUE, VALUE },
	{ VALUE, "stringvalue", OTLP_VALUE_TEXT, TEXT },
	{ VALUE, "boolvalue", OTLP_VALUE_TRUTH, TRUTH },
	{ VALUE, "intvalue", OTLP_VALUE_INTEGER, NUMBER },
	{ VALUE, "doublevalue", OTLP_VALUE_FRACTION, FRACTION },
	{ VALUE, "arrayvalue", OTLP_VALUE_ARRAY, ARRAY },
	{ VALUE, "kvlistvalue", OTLP_VALUE_LIST, LIST },
	{ VALUE, "bytesvalue", OTLP_VALUE_BYTES, BASE64 },
	{ VALUE, "stringvaluestrindex", OTLP_VALUE_STRING, NUMBER },
	{ ARRAY, "values", OTLP_ARRAY_VALUES, VALUE },
	{ LIST, "values", OTLP_LIST_VALUES, ATTRIBUTE },
};

/*
 * Messages inside each other: data, dictionary, attribute, and a value of
 * OTLP_VALUE_DEPTH arrays or lists, each two or three messages.
 */
enum { DEPTH_MAX = 8 + 3 * OTLP_VALUE_DEPTH, NAME_MAX_LENGTH = 32 };

/* An object that is open. */
struct level {
	enum otlp_json_message message;
	const struct key *key;		/* whose value is read; NULL: none */
	bool is_array;			/* an array of such values is open */
	struct text_buffer bytes;
};

struct converter {
	struct json_reader *json;
	struct level levels[DEPTH_MAX];
	size_t depth;			/* of the innermost one */
};

static const struct key *
find_key(enum otlp_json_message in, const struct json_token *token)
{
	char name[NAME_MAX_LENGTH];
	size_t n = 0;

	for (size_t i = 0; i < token->length; i++) {
		if (token->text[i] == '_')
			continue;
		if (n + 1 == sizeof name)
			return NULL;
		name[n++] = (char)tolower((unsigned char)token->text[i]);
	}
	name[n] = '\0';
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].in == in && strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

/* A number, or its digits as a text; below zero as 64 bits. */
static bool
otlp_json_read_number(const struct json_token *token, uint64_t *number)
{
	const char *at = token->text, *end = at + token->length;
	bool is_negative = at < end && *at == '-';

	*number = 0;
	for (at += is_negative; at < end && *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(*at - '0'),
		                           number))
			return false;
	if (is_negative)
		*number = -*number;
	return at == end && token->length > is_negative;
}

/* Adds a number with a fraction, or "NaN", "Infinity", "-Infinity". */
static bool
otlp_json_add_fraction(struct text_buffer *to, uint32_t field,
                       const struct json_token *token)
{
	char text[64], *end;
	uint64_t bits;
	double number;

	if (token->length == 0 || token->length >= sizeof text)
		return false;
	memcpy(text, token->text, token->length);
	text[token->length] = '\0';
	number = strtod(text, &end);
	if (*end != '\0')
		return false;
	memcpy(&bits, &number, sizeof bits);
	bits = htole64(bits);
	protobuf_add_varint(to, field << 3 | PROTOBUF_FIXED64);
	text_add(to, (const char *)&bits, sizeof bits);
	return true;
}

/* The six bits that a letter of base64 stands for, of both alphabets; or -1. */
static int
otlp_json_six_bits(char c)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at;

	if (c == '-' || c == '_')
		return c == '-' ? 62 : 63;
	at = c != '\0' ? strchr(letters, c) : NULL;
	return at != NULL ? (int)(at - letters) : -1;
}

/* Adds the bytes that a text is in base64, with or without padding. */
static bool
otlp_json_add_base64(struct text_buffer *to, uint32_t field,
                     const struct json_token *token)
{
	size_t n = token->length;
	unsigned bits = 0, n_bits = 0;

	while (n > 0 && token->text[n - 1] == '=')
		n--;
	if (n % 4 == 1)
		return false;
	for (size_t i = 0; i < n; i++)
		if (otlp_json_six_bits(token->text[i]) < 0)
			return false;
	protobuf_add_varint(to, field << 3 | PROTOBUF_BYTES);
	protobuf_add_varint(to, n * 6 / 8);
	for (size_t i = 0; i < n; i++) {
		bits = bits << 6 | (unsigned)otlp_json_six_bits(token->text[i]);
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			text_add_char(to, (char)(bits >> n_bits));
		}
	}
	return true;
}

/* Adds a value that is no object; false: it is not of the key's kind. */
static bool
otlp_json_add_field(struct text_buffer *to, const struct key *key,
                    const struct json_token *token)
{
	bool is_text = token->type == JSON_STRING;
	bool is_truth = token->type == JSON_TRUE || token->type == JSON_FALSE;
	uint64_t number;

	if (key->kind == TRUTH && is_truth)
		protobuf_add_value(to, key->number, token->type == JSON_TRUE);
	else if (key->kind == TEXT && is_text)
		protobuf_add_bytes(to, key->number, token->text, token->length);
	else if (key->kind == NUMBER && !is_truth &&
	         otlp_json_read_number(token, &number))
		protobuf_add_value(to, key->number, number);
	else
		return (key->kind == FRACTION && !is_truth &&
		        otlp_json_add_fraction(to, key->number, token)) ||
		       (key->kind == BASE64 && is_text &&
		        otlp_json_add_base64(to, key->number, token));
	return true;
}

static void
otlp_json_add_value(struct converter *converter, const struct json_token *token)
{
	static const char *const names[] = { [NUMBER] = "a whole number",
		[TEXT] = "a text", [TRUTH] = "true or false",
		[FRACTION] = "a number", [BASE64] = "bytes in base64" };
	struct level *level = &converter->levels[converter->depth];
	const struct key *key = level->key;

	if (!otlp_json_add_field(&level->bytes, key, token))
		json_fail(converter->json, token->offset, "expected %s as "
		          "\"%s\"", key->kind < NUMBER ? "an object" :
		          names[key->kind], key->name);
	if (!level->is_array)
		level->key = NULL;
}

static void
otlp_json_open_object(struct converter *converter,
                      const struct json_token *token)
{
	struct level *level = &converter->levels[converter->depth];

	if (level->key == NULL || level->key->kind >= NUMBER) {
		json_fail(converter->json, token->offset, "an object is not "
		          "expected here");
		return;
	}
	/* Only values of attributes can be so deep; those are left out. */
	if (converter->depth + 1 == DEPTH_MAX) {
		json_skip(converter->json, token);
		if (!level->is_array)
			level->key = NULL;
		return;
	}
	converter->depth++;
	level[1].message = level->key->kind;
	level[1].key = NULL;
	level[1].is_array = false;
	level[1].bytes.length = 0;
}

static void
close_object(struct converter *converter)
{
	struct level *level = &converter->levels[--converter->depth];

	protobuf_add_message(&level->bytes, level->key->number,
	                     &level[1].bytes);
	if (!level->is_array)
		level->key = NULL;
}

/* Whether there may be more. */
static bool
read_token(struct converter *converter, const struct json_token *token)
{
	struct level *level = &converter->levels[converter->depth];

	switch (token->type) {
	case JSON_END:
		return false;
	case JSON_KEY:
		level->key = find_key(level->message, token);
		if (level->key == NULL)
			json_skip_value(converter->json);
		break;
	case JSON_OBJECT:
		otlp_json_open_object(converter, token);
		break;
	case JSON_OBJECT_END:
		if (converter->depth == 0)
			return false;
		close_object(converter);
		break;
	case JSON_ARRAY:
		if (level->key == NULL || level->is_array)
			json_fail(converter->json, token->offset, "an array is "
			          "not expected here");
		level->is_array = true;
		break;
	case JSON_ARRAY_END:
		level->is_array = false;
		level->key = NULL;
		break;
	case JSON_STRING:
	case JSON_NUMBER:
	case JSON_TRUE:
	case JSON_FALSE:
		if (level->key != NULL)
			otlp_json_add_value(converter, token);
		break;
	default:		/* null: the default */
		if (!level->is_array)
			level->key = NULL;
		break;
	}
	return true;
}

bool
otlp_json_convert(struct json_reader *json, struct text_buffer *message,
                  struct error *error)
{
	struct converter converter = { .json = json };
	struct json_token token;
	bool has_failed = false;

	if (!json_next(json, &token))
		return false;
	converter.levels[0].message = DATA;
	if (token.type != JSON_OBJECT)
		json_fail(json, token.offset, "expected an object");
	while (!error->is_set && json_next(json, &token) &&
	       read_token(&converter, &token))
		;
	/*
	 * Where the text is cut short, objects that are read in full count, and
	 * so do those in which they are.
	 */
	while (converter.depth > 0) {
		const struct level *level =
		    &converter.levels[converter.depth];
		const enum otlp_json_message kind = level->message;

		if (kind == SAMPLE || kind > DICTIONARY || kind == TYPE ||
		    kind == RESOURCE)
			converter.depth--;
		else
			close_object(&converter);
	}
	text_add(message, converter.levels[0].bytes.bytes,
	         converter.levels[0].bytes.length);
	for (size_t i = 0; i < DEPTH_MAX; i++) {
		has_failed |= converter.levels[i].bytes.failed;
		text_free(&converter.levels[i].bytes);
	}
	if (has_failed || message->failed)
		error_out_of_memory(error);
	return !error->is_set;
}
