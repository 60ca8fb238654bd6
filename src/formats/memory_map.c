/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory_map.c -- what was mapped where, as profiles of gperftools end with it. */
#include "src/formats/reader.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* No path is longer; a short line must not become a long one. */
enum { ATTRIBUTES_MAX = 16, VALUE_MAX = 4096 };

struct attribute {
	const char *name, *value;	/* the arena's */
	size_t name_length, value_length;
};

struct memory_map {
	struct arena arena;
	struct memory_mapping *mappings;
	size_t n, capacity;
	struct attribute attributes[ATTRIBUTES_MAX];
	size_t n_attributes;
	bool is_sorted;
};

struct memory_map *
memory_map_new(struct error *error)
{
	return memory_array(1, sizeof(struct memory_map), error);
}

void
memory_map_free(struct memory_map *map)
{
	if (map == NULL)
		return;
	arena_free(&map->arena);
	free(map->mappings);
	free(map);
}

/* ---- lines ---- */

/* Skips a prefix that glog wrote, "... file.cc:99] ". */
static void
pass_log_prefix(struct line_text *text)
{
	const char *bracket = memchr(text->at, ']', line_left(text));
	const char *digit = bracket;

	if (bracket == NULL || text->end - bracket < 2 ||
	    (bracket[1] != ' ' && bracket[1] != '\t') ||
	    memchr(text->at, '[', (size_t)(bracket - text->at)) != NULL)
		return;
	while (digit > text->at && digit[-1] >= '0' && digit[-1] <= '9')
		digit--;
	if (digit < bracket && digit > text->at && digit[-1] == ':')
		text->at = bracket + 1;
}

/* "400000-fcb000:", where the '-' may be a blank and the ':' missing */
static bool
memory_map_take_range(struct line_text *text, struct memory_mapping *mapping)
{
	line_skip_blanks(text);
	line_take(text, "0x");
	if (!line_take_hex(text, &mapping->start))
		return false;
	if (!line_take(text, "-") &&
	    (text->at == text->end || *text->at != ' '))
		return false;
	line_skip_blanks(text);
	line_take(text, "0x");
	if (!line_take_hex(text, &mapping->limit))
		return false;
	line_take(text, ":");
	return text->at == text->end || *text->at == ' ' || *text->at == '\t';
}

/* "r-xp"; whether what is mapped may be run; true without permissions. */
static bool
take_permissions(struct line_text *text)
{
	struct line_text word = line_word(text);

	for (const char *at = word.at; at < word.end; at++)
		if (strchr("-rwxps", *at) == NULL)
			return true;
	text->at = word.end;
	return word.at == word.end ||
	       memchr(word.at, 'x', line_left(&word)) != NULL;
}

/* "00001000 fe:00 123", as /proc has it; false: another form. */
static bool
take_device(struct line_text *text, uint64_t *offset, uint64_t *inode)
{
	struct line_text ahead = *text;
	uint64_t number;

	line_skip_blanks(&ahead);
	if (!line_take_hex(&ahead, offset))
		return false;
	if (!line_take(&ahead, ":")) {
		line_skip_blanks(&ahead);
		if (!line_take_hex(&ahead, &number) ||
		    !line_take(&ahead, ":"))
			return false;
	} else {
		*offset = 0;
	}
	if (!line_take_hex(&ahead, &number))
		return false;
	line_skip_blanks(&ahead);
	if (!line_take_number(&ahead, inode))
		return false;
	*text = ahead;
	return true;
}

/* The attribute whose name the text begins with, or NULL. */
static const struct attribute *
find_attribute(const struct memory_map *map, struct line_text text)
{
	for (size_t i = 0; i < map->n_attributes; i++) {
		const struct attribute *attribute = &map->attributes[i];

		if (line_left(&text) >= attribute->name_length &&
		    memcmp(text.at, attribute->name,
		           attribute->name_length) == 0)
			return attribute;
	}
	return NULL;
}

/*
 * The text with every "$name" replaced, in the buffer of VALUE_MAX bytes;
 * unchanged if that is too short.
 */
static struct line_text
replace_attributes(const struct memory_map *map, struct line_text text,
                   char *buffer)
{
	size_t n = 0;
	struct line_text rest = text;

	if (map->n_attributes == 0 ||
	    memchr(text.at, '$', line_left(&text)) == NULL)
		return text;
	while (rest.at < rest.end) {
		const struct attribute *attribute = NULL;
		struct line_text piece = { rest.at, rest.at + 1 };

		if (*rest.at++ == '$')
			attribute = find_attribute(map, rest);
		if (attribute != NULL) {
			piece.at = attribute->value;
			piece.end = piece.at + attribute->value_length;
			rest.at += attribute->name_length;
		}
		if (line_left(&piece) > VALUE_MAX - n)
			return text;
		memcpy(buffer + n, piece.at, line_left(&piece));
		n += line_left(&piece);
	}
	return (struct line_text){ buffer, buffer + n };
}

/* What follows the path in short lines: "(@1000) BUILDID". */
static void
read_short_end(struct line_text text, struct memory_mapping *mapping,
               struct line_text *build_id)
{
	struct line_text word, rest;

	line_skip_blanks(&text);
	if (line_take(&text, "(@")) {
		if (!line_take_hex(&text, &mapping->offset))
			mapping->offset = 0;
		line_take(&text, ")");
	}
	word = rest = line_word(&text);
	while (rest.at < rest.end && line_is_hex_digit(*rest.at))
		rest.at++;
	if (rest.at == rest.end)
		*build_id = word;
}

/* Whether the line is a mapping; one of no code has no path. */
static bool
memory_map_read_mapping(struct line_text text, struct memory_mapping *mapping,
                        struct line_text *path, struct line_text *build_id)
{
	bool is_code;

	*mapping = (struct memory_mapping){ 0 };
	*path = *build_id = (struct line_text){ text.end, text.end };
	if (!memory_map_take_range(&text, mapping))
		return false;
	is_code = take_permissions(&text);
	if (take_device(&text, &mapping->offset, &mapping->inode)) {
		line_skip_blanks(&text);
		*path = text;
		if (line_ends_with(path, " (deleted)"))
			path->end -= strlen(" (deleted)");
	} else {
		*path = line_word(&text);
		text.at = path->end;
		read_short_end(text, mapping, build_id);
	}
	if (!is_code)
		path->end = path->at;
	return true;
}

int
memory_map_add_line(struct memory_map *map, const char *line, size_t length,
                    struct error *error)
{
	struct line_text text = { line, line + length }, path, build_id;
	struct memory_mapping mapping;
	char buffer[VALUE_MAX];

	line_trim(&text);
	pass_log_prefix(&text);
	text = replace_attributes(map, text, buffer);
	if (!memory_map_read_mapping(text, &mapping, &path, &build_id)) {
		struct line_text name = text, value;
		const char *sign = memchr(text.at, '=', line_left(&text));
		struct attribute attribute;

		/* "build=/home/me" */
		if (sign == NULL || map->n_attributes == ATTRIBUTES_MAX)
			return 0;
		value = (struct line_text){ sign + 1, text.end };
		name.end = sign;
		line_trim(&name);
		line_trim(&value);
		if (name.at == name.end || line_left(&value) > VALUE_MAX)
			return 0;
		attribute.name_length = line_left(&name);
		attribute.name = arena_text(&map->arena, name.at,
		                            line_left(&name), error);
		attribute.value_length = line_left(&value);
		attribute.value = arena_text(&map->arena, value.at,
		                             line_left(&value), error);
		if (attribute.name == NULL || attribute.value == NULL)
			return -1;
		map->attributes[map->n_attributes++] = attribute;
		return 0;
	}
	if (path.at == path.end || mapping.limit <= mapping.start)
		return 0;
	mapping.path = arena_text(&map->arena, path.at, line_left(&path),
	                          error);
	mapping.build_id = arena_text(&map->arena, build_id.at,
	                              line_left(&build_id), error);
	if (mapping.path == NULL || mapping.build_id == NULL ||
	    memory_grow(&map->mappings, &map->capacity, map->n + 1,
	                sizeof mapping, error) != 0)
		return -1;
	map->mappings[map->n++] = mapping;
	return 0;
}

/* ---- addresses ---- */

static int
compare_mappings(const void *left, const void *right)
{
	const struct memory_mapping *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

const struct memory_mapping *
memory_map_all(struct memory_map *map, size_t *n)
{
	if (!map->is_sorted && map->n > 0) {
		uint64_t last_limit = 0;

		qsort(map->mappings, map->n, sizeof *map->mappings,
		      compare_mappings);
		/*
		 * Some writers leave out the first part of a file that is
		 * mapped in adjacent parts: what lies before one, as far as its
		 * offset reaches back and nothing else is mapped, is of that
		 * file.
		 */
		for (size_t i = 0; i < map->n; i++) {
			struct memory_mapping *mapping = &map->mappings[i];
			uint64_t limit = mapping->limit;

			if (mapping->offset != 0 &&
			    mapping->offset <= mapping->start &&
			    mapping->start - mapping->offset >= last_limit) {
				mapping->start -= mapping->offset;
				mapping->offset = 0;
			}
			if (limit > last_limit)
				last_limit = limit;
		}
	}
	map->is_sorted = true;
	*n = map->n;
	return map->mappings;
}

size_t
memory_map_find(const struct memory_map *map, uint64_t address)
{
	size_t n = partition_point(map->n, i,
	                           map->mappings[i].start <= address);

	return n > 0 && address < map->mappings[n - 1].limit ? n - 1 : SIZE_MAX;
}
