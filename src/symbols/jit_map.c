/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit_map.c -- names for code that a process made at run time.
 *
 * Code may be made anew where other code was: of several entries with one
 * start the last counts.
 */
#include "src/symbols/jit_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/arena.h"
#include "src/base/memory.h"

enum { NAME_MAX_LENGTH = 65536 };

struct entry {
	uint64_t start, size;
	size_t number;		/* of the line */
	const char *name;
};

struct jit_map {
	struct entry *entries;	/* by start */
	size_t n, capacity;
	struct arena names;
};

void
jit_map_free(struct jit_map *map)
{
	if (map == NULL)
		return;
	free(map->entries);
	arena_free(&map->names);
	free(map);
}

/* A regular file: one that waits or acts must not be opened. */
static FILE *
open_regular(const char *path)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY |
	                      O_NONBLOCK);
	struct stat status;
	FILE *file = NULL;

	if (descriptor < 0)
		return NULL;
	if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
		file = fdopen(descriptor, "r");
	if (file == NULL)
		close(descriptor);
	return file;
}

static FILE *
open_map(const struct symbol_search *search, uint32_t pid)
{
	static const char *const below[] = { "tmp/", "", NULL };
	FILE *file = NULL;
	char own[64], *path;

	for (size_t i = 0; search != NULL && search->root != NULL &&
	     below[i] != NULL && file == NULL; i++) {
		if (asprintf(&path, "%s/%sperf-%u.map", search->root,
		             below[i], pid) < 0)
			return NULL;
		file = open_regular(path);
		free(path);
	}
	if (file != NULL)
		return file;
	snprintf(own, sizeof own, "/tmp/perf-%u.map", pid);
	return open_regular(own);
}

/* A line that is not understood is passed over. */
static int
add_line(struct jit_map *map, char *line, struct error *error)
{
	struct entry entry = { .number = map->n };
	char *end;

	entry.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return 0;
	line = end + 1;
	entry.size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || end[1] == '\0' || end[1] == '\n')
		return 0;
	end++;
	entry.name = arena_text(&map->names, end,
	                        strnlen(end, NAME_MAX_LENGTH), error);
	if (entry.name == NULL ||
	    memory_grow(&map->entries, &map->capacity, map->n + 1,
	                sizeof entry, error) != 0)
		return -1;
	map->entries[map->n++] = entry;
	return 0;
}

static int
compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int
read_map(struct jit_map *map, FILE *file, struct error *error)
{
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	int result = 0;

	while (result == 0 &&
	       (length = getline(&line, &capacity, file)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		result = add_line(map, line, error);
	}
	free(line);
	if (map->n > 0)
		qsort(map->entries, map->n, sizeof *map->entries,
		      compare_entries);
	return result;
}

struct jit_map *
jit_map_new(const struct symbol_search *search, uint32_t pid,
            struct error *error)
{
	struct jit_map *map = memory_array(1, sizeof *map, error);
	FILE *file;
	int result;

	if (map == NULL)
		return NULL;
	file = open_map(search, pid);
	if (file == NULL)
		return map;
	result = read_map(map, file, error);
	fclose(file);
	if (result == 0)
		return map;
	jit_map_free(map);
	return NULL;
}

const char *
jit_map_find(const struct jit_map *map, uint64_t address)
{
	size_t low = 0, high = map->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->entries[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - map->entries[low - 1].start >=
	    map->entries[low - 1].size)
		return NULL;
	return map->entries[low - 1].name;
}
