/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_cache.c -- modules by build-id and path. */
#include "src/symbols/names/module_cache.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/symbols/elf/module_segments.h"

/* When more are held, all are let go: 64 bytes each, and their names. */
enum { SYMBOLS_MAX = 2000000 };

struct module_cache {
	struct symbol_search search;
	struct names *keys;		/* pairs of path and build-id */
	struct module_symbols **modules;	/* by key; NULL: let go */
	size_t capacity;
	size_t n_symbols;
	/* The one handed out: it may read more, counted at the next call. */
	struct module_symbols *last;
	size_t last_counted;	/* of its symbols, in n_symbols */
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
let_go(struct module_cache *cache)
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
	let_go(cache);
	free(cache->modules);
	names_free(cache->keys);
	free(cache);
}

/* The number of the module's key. */
static uint32_t
add_key(struct module_cache *cache, const struct module *module,
        bool *is_first, struct error *error)
{
	uint32_t n = names_count(cache->keys), number;
	unsigned char build[MODULE_BUILD_MAX];
	size_t size = module_build(module, build);

	if (memory_grow(&cache->modules, &cache->capacity, (size_t)n + 1,
	                sizeof(struct module_symbols *), error) != 0)
		return NO_NAME;
	cache->modules[n] = NULL;
	number = names_add_pair(cache->keys, module->path,
	    strlen(module->path), build, size, error);
	*is_first = number == n;
	return number;
}

static void
count_last(struct module_cache *cache)
{
	size_t n;

	if (cache->last == NULL)
		return;
	n = module_symbols_count(cache->last);
	cache->n_symbols += n - cache->last_counted;
	cache->last_counted = n;
}

struct module_symbols *
module_cache_get(struct module_cache *cache, const struct module *wanted,
                 enum module_symbols_state *state, bool *is_first,
                 struct error *error)
{
	const struct module_file file = module_file_of(wanted, cache->search);
	uint32_t number = add_key(cache, wanted, is_first, error);
	struct module_symbols *module;

	if (number == NO_NAME)
		return NULL;
	count_last(cache);
	if (cache->modules[number] == NULL) {
		if (cache->n_symbols > SYMBOLS_MAX)
			let_go(cache);
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

	return module_address_of_offset(&module, offset);
}
