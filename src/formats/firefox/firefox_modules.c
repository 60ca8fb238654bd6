/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_modules.c -- the libraries of a Firefox profile as modules. */
#include "src/formats/firefox/firefox_modules.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

struct firefox_modules {
	struct profile *profile;
	struct module_cache *cache;
	struct names *seen;		/* module i, by path and code id */
	uint64_t *bases;		/* the address of its first segment */
	size_t bases_capacity;
};

struct firefox_modules *
firefox_modules_new(struct profile *profile, struct module_cache *cache,
                    struct error *error)
{
	struct firefox_modules *modules = memory_array(1, sizeof *modules,
	                                               error);

	if (modules == NULL)
		return NULL;
	modules->profile = profile;
	modules->cache = cache;
	modules->seen = names_new(error);
	if (modules->seen != NULL)
		return modules;
	free(modules);
	return NULL;
}

void
firefox_modules_free(struct firefox_modules *modules)
{
	if (modules == NULL)
		return;
	names_free(modules->seen);
	free(modules->bases);
	free(modules);
}

static size_t
parse_build_id(const char *text, size_t length, unsigned char *id, size_t max)
{
	size_t n = 0;

	for (; n < max && 2 * n + 1 < length &&
	     isxdigit((unsigned char)text[2 * n]) &&
	     isxdigit((unsigned char)text[2 * n + 1]); n++) {
		const char digits[3] = { text[2 * n], text[2 * n + 1], '\0' };

		id[n] = (unsigned char)strtoul(digits, NULL, 16);
	}
	return 2 * n == length ? n : 0;
}

static int
add_module(struct firefox_modules *modules, const char *path,
           size_t path_length, const char *id_text, size_t id_length,
           struct error *error)
{
	unsigned char id[sizeof modules->profile->modules->build_id];
	size_t size = parse_build_id(id_text, id_length, id, sizeof id);
	char *copy = memory_text(path, path_length, error);
	uint32_t module = NO_MODULE;

	if (copy != NULL)
		module = profile_add_module(modules->profile, copy, id,
		                            (uint32_t)size, error);
	if (module != NO_MODULE &&
	    memory_grow(&modules->bases, &modules->bases_capacity,
	                (size_t)module + 1, sizeof *modules->bases,
	                error) == 0)
		modules->bases[module] = module_cache_address(modules->cache,
		    copy, id, size, 0);
	free(copy);
	return error->is_set ? -1 : 0;
}

uint32_t
firefox_modules_find(struct firefox_modules *modules,
                     const struct text_column *libraries, uint32_t library,
                     struct error *error)
{
	size_t path_length, id_length;
	const char *path = text_column_at(libraries, 2 * (size_t)library,
	                                  &path_length);
	const char *id = text_column_at(libraries, 2 * (size_t)library + 1,
	                                &id_length);
	uint32_t n = names_count(modules->seen), module;

	path_length = strnlen(path, path_length);
	if (path_length == 0)
		return NO_MODULE;
	module = names_add_pair(modules->seen, path, path_length, id,
	                        id_length, error);
	if (module == NO_NAME || (module == n &&
	    add_module(modules, path, path_length, id, id_length, error) != 0))
		return NO_MODULE;
	return module;
}

uint64_t
firefox_modules_address(const struct firefox_modules *modules,
                        uint32_t module, uint64_t address)
{
	return modules->bases[module] + address;
}
