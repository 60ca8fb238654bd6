/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gperftools_maps.c -- the mappings at the end of a gperftools profile.
 *
 * "55ff90c39000-55ff90c3a000 r-xp 00001000 fe:00 123 /path".  A line
 * "build=DIR" defines "$build" at the beginning of the paths after it.
 */
#include "src/formats/gperftools/gperftools_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"

enum { TEXT_MAX = 64 << 20 };

struct map {
	uint64_t start, end, offset;
	uint32_t module;
	uint64_t bias;		/* to be added to an address */
};

struct gperftools_maps {
	struct profile *profile;
	struct module_cache *modules;
	struct names *paths;	/* path i is module i */
	char *build;		/* NULL: not given */
	bool is_cut;
	struct map *maps;	/* by address */
	size_t n, capacity;
};

void
gperftools_maps_free(struct gperftools_maps *maps)
{
	if (maps == NULL)
		return;
	names_free(maps->paths);
	free(maps->build);
	free(maps->maps);
	free(maps);
}

/*
 * The path with "$build" replaced, freed by the caller; NULL with *error set.
 */
static char *
complete_path(const struct gperftools_maps *maps, const char *path,
              struct error *error)
{
	char *complete = NULL;

	if (maps->build == NULL || strncmp(path, "$build", 6) != 0)
		return memory_string(path, error);
	if (asprintf(&complete, "%s%s", maps->build, path + 6) < 0) {
		error_out_of_memory(error);
		return NULL;
	}
	return complete;
}

static uint32_t
add_module(struct gperftools_maps *maps, const char *path,
           struct error *error)
{
	char *complete = complete_path(maps, path, error);
	uint32_t n = names_count(maps->paths), number = NO_NAME;

	if (complete == NULL)
		return NO_MODULE;
	number = names_add(maps->paths, complete, strlen(complete), error);
	if (number == n)
		number = profile_add_module(maps->profile, complete, NULL, 0,
		                            error);
	free(complete);
	return number;		/* NO_NAME is NO_MODULE */
}

static int
add_map(struct gperftools_maps *maps, const char *line, struct error *error)
{
	struct map map = { 0 };
	unsigned long long start, end, offset;
	char kind[5];
	int path_at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &start, &end, kind,
	           &offset, &path_at) != 4 || path_at == 0 ||
	    end <= start || strchr(kind, 'x') == NULL ||
	    line[path_at] == '\0')
		return 0;
	map.start = start;
	map.end = end;
	map.offset = offset;
	map.module = add_module(maps, line + path_at, error);
	if (map.module == NO_MODULE ||
	    memory_grow(&maps->maps, &maps->capacity, maps->n + 1, sizeof map,
	                error) != 0)
		return -1;
	map.bias = module_cache_address(maps->modules,
	    maps->profile->modules[map.module].path, NULL, 0, offset) - start;
	maps->maps[maps->n++] = map;
	return 0;
}

static int
add_line(struct gperftools_maps *maps, const char *line, struct error *error)
{
	if (strncmp(line, "build=", 6) != 0)
		return add_map(maps, line, error);
	free(maps->build);
	maps->build = memory_string(line + 6, error);
	return maps->build != NULL ? 0 : -1;
}

static int
compare_maps(const void *left, const void *right)
{
	const struct map *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Reads the lines of text[size], of which the last may lack its end. */
static int
add_lines(struct gperftools_maps *maps, char *text, size_t size,
          struct error *error)
{
	for (char *line = text, *end; line < text + size; line = end + 1) {
		end = memchr(line, '\n', size - (size_t)(line - text));
		if (end == NULL)
			break;		/* cut, or nothing */
		*end = '\0';
		if (add_line(maps, line, error) != 0)
			return -1;
	}
	if (maps->n > 0)
		qsort(maps->maps, maps->n, sizeof *maps->maps, compare_maps);
	return 0;
}

static int
read_text(struct gperftools_maps *maps, struct source *source,
          struct error *error)
{
	size_t size;
	const char *bytes = source_peek(source, TEXT_MAX, &size, error);
	char *text;
	int result;

	if (bytes == NULL)
		return -1;
	text = memory_text(bytes, size, error);
	if (text == NULL)
		return -1;
	result = add_lines(maps, text, size, error);
	free(text);
	maps->is_cut = size > 0 && bytes[size - 1] != '\n';
	return result;
}

bool
gperftools_maps_is_cut(const struct gperftools_maps *maps)
{
	return maps->is_cut;
}

struct gperftools_maps *
gperftools_maps_read(struct source *source, struct profile *profile,
                     struct module_cache *modules, struct error *error)
{
	struct gperftools_maps *maps = memory_array(1, sizeof *maps, error);

	if (maps == NULL)
		return NULL;
	maps->profile = profile;
	maps->modules = modules;
	maps->paths = names_new(error);
	if (maps->paths != NULL && read_text(maps, source, error) == 0)
		return maps;
	gperftools_maps_free(maps);
	return NULL;
}

uint32_t
gperftools_maps_find(const struct gperftools_maps *maps, uint64_t *address)
{
	size_t low = 0, high = maps->n;
	const struct map *map;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->maps[middle].start <= *address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NO_MODULE;
	map = &maps->maps[low - 1];
	if (*address >= map->end)
		return NO_MODULE;
	*address += map->bias;
	return map->module;
}
