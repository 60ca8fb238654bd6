/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_modules.c -- the files whose code was mapped, as a profile's modules. */
#include "src/formats/perf/perf_modules.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

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

uint32_t
perf_modules_find(struct perf_modules *modules, const char *path,
                  const unsigned char *id, size_t id_size,
                  struct error *error)
{
	size_t length = strlen(path);
	char *key = memory_array(length + 1 + id_size, 1, error);
	uint32_t n = names_count(modules->files), number;

	if (key == NULL)
		return NO_MODULE;
	memcpy(key, path, length);
	memcpy(key + length + 1, id, id_size);
	number = names_add(modules->files, key, length + 1 + id_size, error);
	free(key);
	if (number == NO_NAME || number < n)
		return number == NO_NAME ? NO_MODULE : number;
	return profile_add_module(modules->profile, path, id,
	                          (uint32_t)id_size, error);
}

uint64_t
perf_modules_address(const struct perf_modules *modules, struct perf_map *map,
                     uint64_t address)
{
	const struct module *module = &modules->profile->modules[map->module];

	if (!map->has_bias) {
		uint64_t offset = address - map->start + map->offset;

		map->has_bias = true;
		map->bias = module_cache_address(modules->cache,
		    module->path, module->build_id, module->build_id_size,
		    offset) - address;
	}
	return address + map->bias;
}
