/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_probe.c -- recognises JSON formats by their keys. */
#include "src/formats/json/json_reader.h"

#include <string.h>

#include "src/formats/format.h"

enum { LEVELS_MAX = 4, PATH_MAX_SIZE = 200 };

/* Where in the text the reader is. */
struct probe_place {
	char path[PATH_MAX_SIZE];
	size_t length;			/* of the path, with the last key */
	size_t begin[LEVELS_MAX + 1];	/* its length at each level */
	unsigned level;			/* may be above LEVELS_MAX */
};

static void
json_probe_add_text(struct probe_place *place, const char *text, size_t length)
{
	if (length > sizeof place->path - place->length)
		length = sizeof place->path - place->length;
	memcpy(place->path + place->length, text, length);
	place->length += length;
}

static void
enter_key(struct probe_place *place, const struct json_token *key)
{
	if (place->level > LEVELS_MAX)
		return;
	place->length = place->begin[place->level];
	if (place->length > 0)
		json_probe_add_text(place, ".", 1);
	json_probe_add_text(place, key->text, key->length);
}

static void
json_probe_enter_value(struct probe_place *place, enum json_type type)
{
	if (place->level == 0)
		place->length = 0;
	if (type == JSON_ARRAY && place->level < LEVELS_MAX)
		json_probe_add_text(place, "[]", 2);
	if (++place->level <= LEVELS_MAX)
		place->begin[place->level] = place->length;
}

static void
leave_value(struct probe_place *place)
{
	if (place->level <= LEVELS_MAX)
		place->length = place->begin[place->level];
	place->level--;
	/* In an array the next value is another of the same path. */
	if (place->level > 0 && place->level <= LEVELS_MAX)
		place->length = place->begin[place->level];
}

static bool
is_one_of(const struct probe_place *place, const char *const *paths)
{
	for (; *paths != NULL; paths++)
		if (place->level <= LEVELS_MAX &&
		    strlen(*paths) == place->length &&
		    memcmp(*paths, place->path, place->length) == 0)
			return true;
	return false;
}

static bool
has_key(struct json_reader *json, const char *const *paths)
{
	struct probe_place place = { .length = 0 };
	struct json_token token;

	while (json_next(json, &token)) {
		switch (token.type) {
		case JSON_KEY:
			enter_key(&place, &token);
			if (is_one_of(&place, paths))
				return true;
			break;
		case JSON_OBJECT:
		case JSON_ARRAY:
			json_probe_enter_value(&place, token.type);
			break;
		case JSON_OBJECT_END:
		case JSON_ARRAY_END:
			leave_value(&place);
			break;
		default:
			break;
		}
	}
	return false;
}

static bool
may_be_json(const char *head, size_t size)
{
	size_t blank = 0;

	while (blank < size && strchr(" \t\r\n", head[blank]) != NULL &&
	       head[blank] != '\0')
		blank++;
	return blank < size && (head[blank] == '{' || head[blank] == '[');
}

int
json_probe(const void *head, size_t size, const char *const *paths)
{
	struct error error = { 0 };
	const struct read_options options = { .lenient = false };
	struct reader reader = { .options = &options,
		.places = READER_OFFSETS };
	struct json_reader *json = NULL;
	struct source *source;
	int answer = PROBE_NO;

	if (!may_be_json(head, size))
		return PROBE_NO;
	source = source_of_memory("head", head, size, &error);
	if (source != NULL) {
		reader.source = source;
		json = json_reader_new(&reader, &error);
	}
	if (json != NULL && has_key(json, paths))
		answer = PROBE_SURE;
	/* What is wrong with the text is the reader's to say. */
	if (error.is_out_of_memory)
		answer = PROBE_OUT_OF_MEMORY;
	json_reader_free(json);
	source_close(source);
	return answer;
}
