/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_modules.c -- the files whose code was mapped, as a profile's modules. */
#include "src/formats/perf/perf_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/elf/kernel_symbols.h"

void
perf_modules_free(struct perf_modules *modules)
{
	names_free(modules->files);
	free(modules->places);
}

bool
perf_modules_is_no_file(const char *path)
{
	static const char *const beginnings[] = { "//anon", "[anon", "[heap]",
		"[stack", "/dev/zero", "/anon_hugepage", "/memfd:", "/SYSV",
		NULL };

	for (size_t i = 0; beginnings[i] != NULL; i++)
		if (strncmp(path, beginnings[i],
		            strlen(beginnings[i])) == 0)
			return true;
	return *path == '\0';
}

bool
perf_modules_of_kernel(const char *path, char *place, size_t size)
{
	const char *name = strrchr(path, '/'), *end;

	name = name != NULL ? name + 1 : path;
	end = strstr(name, ".ko");
	if (path[0] == '[') {
		name = path + 1;
		end = strchr(name, ']');
		if (strncmp(path, "[kernel.", 8) == 0 ||
		    strncmp(path, "[guest.", 7) == 0)
			return false;
	} else if (end != NULL && end[3] != '\0' && end[3] != '.') {
		return false;
	}
	if (end == NULL || end == name || (size_t)(end - name) + 3 > size)
		return false;
	snprintf(place, size, "[%.*s]", (int)(end - name), name);
	for (char *at = place; *at != '\0'; at++)
		if (*at == '-')
			*at = '_';
	return is_kernel_module_path(place);
}

/* Enters the module that comes next; its number or NO_MODULE. */
static uint32_t
add_module(struct perf_modules *modules, const char *path,
           const unsigned char *id, size_t id_size, struct error *error)
{
	uint32_t n = modules->profile->n_modules;

	if (memory_grow(&modules->places, &modules->places_capacity,
	                (size_t)n + 1, sizeof *modules->places, error) != 0)
		return NO_MODULE;
	modules->places[n].is_known = false;
	return profile_add_module(modules->profile, path, id,
	                          (uint32_t)id_size, error);
}

uint32_t
perf_modules_find(struct perf_modules *modules, const char *path,
                  const unsigned char *id, size_t id_size,
                  struct error *error)
{
	uint32_t n = names_count(modules->files);
	uint32_t number = names_add_pair(modules->files, path, strlen(path),
	                                 id, id_size, error);

	if (number == NO_NAME)
		return NO_MODULE;
	return number < n ? number :
	    add_module(modules, path, id, id_size, error);
}

/* How far a module's addresses are from offsets in its file, around one. */
static uint64_t
find_shift(struct perf_modules *modules, const struct perf_map *map,
           uint64_t offset)
{
	const struct module *module = &modules->profile->modules[map->module];
	struct perf_place *place = &modules->places[map->module];

	if (!place->is_known || place->offset != map->offset)
		*place = (struct perf_place){ true, map->offset,
			module_cache_address(modules->cache, module->path,
			    module->build_id, module->build_id_size, offset) -
			offset };
	return place->shift;
}

uint64_t
perf_modules_address(struct perf_modules *modules, struct perf_map *map,
                     uint64_t address)
{
	if (!map->has_bias) {
		uint64_t origin = map->offset - map->start;

		map->has_bias = true;
		map->bias = origin + find_shift(modules, map,
		                                address + origin);
	}
	return address + map->bias;
}
