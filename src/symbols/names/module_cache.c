/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_cache.c -- reads the symbols of each module only once. */
#include "src/symbols/names/program.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"

/* Beyond this all modules are freed; a symbol takes 64 bytes and its name. */
enum { SYMBOLS_MAX = 2000000 };

struct module_cache {
	struct symbol_search search;
	struct names *keys;		/* pairs of path and build-id */
	struct module_symbols **modules;	/* by key; NULL: freed */
	size_t capacity;
	size_t n_symbols;
	/* Returned last; it may read more, which the next call counts. */
	struct module_symbols *last;
	size_t last_counted;	/* how many of its symbols are in n_symbols */
};

struct module_cache *
module_cache_new(const struct symbol_search *search, struct error *error)
{
	struct module_cache *cache = memory_array(1, sizeof *cache, error);

	if (cache == NULL)
		return NULL;
	if (search != NULL)
		cache->search = *search;
	cache->keys = names_new(error);
	if (cache->keys == NULL) {
		free(cache);
		return NULL;
	}
	return cache;
}

static void
free_modules(struct module_cache *cache)
{
	for (uint32_t i = 0; i < names_count(cache->keys); i++) {
		module_symbols_free(cache->modules[i]);
		cache->modules[i] = NULL;
	}
	cache->n_symbols = 0;
	cache->last = NULL;
}

void
module_cache_free(struct module_cache *cache)
{
	if (cache == NULL)
		return;
	free_modules(cache);
	free(cache->modules);
	names_free(cache->keys);
	free(cache);
}

struct module_symbols *
module_cache_get(struct module_cache *cache, const struct module *wanted,
                 enum module_symbols_state *state, bool *is_first,
                 struct error *error)
{
	const struct module_file file = module_file_of(wanted, cache->search);
	unsigned char build[MODULE_BUILD_MAX];
	size_t size = module_build(wanted, build);
	uint32_t n = names_count(cache->keys), number;
	struct module_symbols *module;

	if (memory_grow(&cache->modules, &cache->capacity, (size_t)n + 1,
	                sizeof(struct module_symbols *), error) != 0)
		return NULL;
	cache->modules[n] = NULL;
	number = names_add_pair(cache->keys, wanted->path,
	    strlen(wanted->path), build, size, error);
	if (number == NO_NAME)
		return NULL;
	*is_first = number == n;
	if (cache->last != NULL)
		cache->n_symbols += module_symbols_count(cache->last) -
		                    cache->last_counted;
	cache->last = NULL;
	if (cache->modules[number] == NULL) {
		if (cache->n_symbols > SYMBOLS_MAX)
			free_modules(cache);
		cache->modules[number] = module_symbols_of(&file, error);
	}
	module = cache->modules[number];
	if (module == NULL)
		return NULL;
	cache->last = module;
	cache->last_counted = module_symbols_count(module);
	return module_symbols_read(module, state, error) == 0 ? module : NULL;
}

struct symbol_search
module_cache_search(const struct module_cache *cache)
{
	return cache != NULL ? cache->search : (struct symbol_search){ NULL,
		NULL, NULL };
}

uint64_t
module_cache_address(const struct module_cache *cache, const char *path,
                     const void *build_id, size_t size, uint64_t offset)
{
	const struct module_file module = {
		.path = path,
		.build_id = build_id,
		.build_id_size = size,
		.search = module_cache_search(cache),
	};

	return module_file_address(&module, offset);
}
