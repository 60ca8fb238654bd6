/* SPDX-License-Identifier: GPL-3.0-or-later */
/* otlp_json.c -- OTLP's profiles in JSON, as the binary messages.
 *
 * The mapping of protobufs to JSON: names in camel case or as in the
 * definition, numbers of 64 bits as texts.  What is not used is left out.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/formats/json/json_reader.h"
#include "src/formats/otlp/otlp_fields.h"
#include "src/formats/pprof/pprof.h"

enum otlp_json_message {
	DATA, RESOURCE_PROFILES, RESOURCE, SCOPE_PROFILES, PROFILE, TYPE,
	SAMPLE, DICTIONARY, MAPPING, LOCATION, LINE, FUNCTION, STACK,
	ATTRIBUTE, VALUE,
	NUMBER, TEXT		/* no messages */
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
	{ ATTRIBUTE, "value", OTLP_ATTRIBUTE_VALUE, VALUE },
	{ VALUE, "stringvalue", OTLP_VALUE_TEXT, TEXT },
	{ VALUE, "intvalue", OTLP_VALUE_INTEGER, NUMBER },
};

/* data, resource, scope, profile, sample; dictionary, location, line */
enum { DEPTH_MAX = 8, NAME_MAX_LENGTH = 32 };

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

static void
otlp_json_add_value(struct converter *converter, const struct json_token *token)
{
	struct level *level = &converter->levels[converter->depth];
	const struct key *key = level->key;
	uint64_t number;

	if (key->kind == TEXT && token->type == JSON_STRING) {
		protobuf_add_bytes(&level->bytes, key->number, token->text,
		                   token->length);
	} else if (key->kind == NUMBER &&
	           otlp_json_read_number(token, &number)) {
		protobuf_add_value(&level->bytes, key->number, number);
	} else {
		json_fail(converter->json, token->offset, "expected %s as "
		          "\"%s\"", key->kind == NUMBER ? "a whole number" :
		          key->kind == TEXT ? "a text" : "an object",
		          key->name);
	}
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
	/* The definition has no deeper ones. */
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
		otlp_json_add_value(converter, token);
		break;
	default:		/* null and truth values: the default */
		if (!level->is_array)
			level->key = NULL;
		break;
	}
	return true;
}

void
otlp_json_convert(struct json_reader *json, struct text_buffer *message,
                  struct error *error)
{
	struct converter converter = { .json = json };
	struct json_token token;
	bool has_failed = false;

	converter.levels[0].message = DATA;
	if (json_next(json, &token) && token.type != JSON_OBJECT)
		json_fail(json, token.offset, "expected an object");
	while (!error->is_set && json_next(json, &token) &&
	       read_token(&converter, &token))
		;
	json_next(json, &token);	/* more is an error */
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
	for (size_t i = 0; i < DEPTH_MAX; i++)
		has_failed |= converter.levels[i].bytes.failed;
	*message = converter.levels[0].bytes;
	for (size_t i = 1; i < DEPTH_MAX; i++)
		text_free(&converter.levels[i].bytes);
	if (has_failed)
		error_out_of_memory(error);
}
