/* SPDX-License-Identifier: MIT */
/* lookup.c -- searches the GNU hash tables of modules, also for real functions.
 *
 * Sources: the ELF specification, chapter 5; for the GNU hash table
 * https://sourceware.org/legacy-ml/binutils/2006-10/msg00377.html.
 */
#include "lib/base/lookup.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base/process.h"

#define HIDDEN_VERSION 0x8000	/* flag of a versym entry */
#define BITS (8 * sizeof(ElfW(Addr)))

bool
lookup_open(const struct link_map *map, struct lookup *lookup)
{
	const ElfW(Dyn) *entry = map->l_ld;

	*lookup = (struct lookup){ .bias = map->l_addr };
	for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
		uintptr_t at = entry->d_un.d_ptr;

		/*
		 * The loader adds the bias to these in memory, except in
		 * read-only modules.
		 */
		if (at < map->l_addr)
			at += map->l_addr;
		if (entry->d_tag == DT_SYMTAB)
			lookup->symbols = (const ElfW(Sym) *)at;
		else if (entry->d_tag == DT_STRTAB)
			lookup->strings = (const char *)at;
		else if (entry->d_tag == DT_GNU_HASH)
			lookup->hash = (const uint32_t *)at;
		else if (entry->d_tag == DT_VERSYM)
			lookup->versions = (const ElfW(Versym) *)at;
	}
	return lookup->symbols != NULL && lookup->strings != NULL &&
	    lookup->hash != NULL;
}

static uint32_t
gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name != '\0'; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static const ElfW(Sym) *
lookup_find(const struct lookup *lookup, const char *name, uint32_t hash,
    bool is_default)
{
	const uint32_t n_buckets = lookup->hash[0];
	const uint32_t first = lookup->hash[1];
	const uint32_t n_words = lookup->hash[2];
	const ElfW(Addr) *filter = (const void *)(lookup->hash + 4);
	const uint32_t *buckets = (const void *)(filter + n_words);
	const uint32_t *chains = buckets + n_buckets;
	uint32_t i;

	if (n_buckets == 0 || n_words == 0 ||
	    (filter[hash / BITS % n_words] >> hash % BITS &
	    filter[hash / BITS % n_words] >>
	    (hash >> lookup->hash[3]) % BITS & 1) == 0 ||
	    (i = buckets[hash % n_buckets]) < first)
		return NULL;
	for (;; i++) {
		const ElfW(Sym) *symbol = &lookup->symbols[i];

		if (((chains[i - first] ^ hash) | 1) == 1 &&
		    symbol->st_shndx != SHN_UNDEF &&
		    !(is_default && lookup->versions != NULL &&
		    (lookup->versions[i] & HIDDEN_VERSION) != 0) &&
		    strcmp(lookup->strings + symbol->st_name, name) == 0)
			return symbol;
		if ((chains[i - first] & 1) != 0)
			return NULL;
	}
}

const ElfW(Sym) *
lookup_symbol(const struct lookup *lookup, const char *name)
{
	return lookup_find(lookup, name, gnu_hash(name), false);
}

/* The modules that were loaded when this was first called. */
static struct {
	const struct link_map *_Atomic own;
	size_t n, n_after;	/* all, and those after our own */
} loaded;

static void
find_loaded(void)
{
	const struct link_map *map, *own = NULL;
	struct dl_find_object object;
	size_t n = 0, n_after = 0;

	if (atomic_load_explicit(&loaded.own, memory_order_acquire) != NULL)
		return;
	if (_dl_find_object((void *)&loaded, &object) == 0)
		own = object.dlfo_link_map;
	for (map = _r_debug.r_map; map != NULL; map = map->l_next) {
		n++;
		n_after = map == own ? 0 : n_after + 1;
	}
	loaded.n = n;
	loaded.n_after = n_after;
	atomic_store_explicit(&loaded.own, own, memory_order_release);
}

const struct link_map *
lookup_loaded(size_t *n)
{
	find_loaded();
	*n = loaded.n;
	return _r_debug.r_map;
}

/* A search for the first definition of a name. */
struct lookup_search {
	const char *name;
	uint32_t hash;
	const struct link_map *own;
	void *address;
};

static int
lookup_in_module(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct lookup_search *const search = argument;
	struct link_map map = { .l_addr = info->dlpi_addr };
	const ElfW(Sym) *symbol;
	struct lookup lookup;
	ElfW(Half) i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			map.l_ld = (ElfW(Dyn) *)(info->dlpi_addr +
			    info->dlpi_phdr[i].p_vaddr);
	if (map.l_ld == search->own->l_ld || !lookup_open(&map, &lookup))
		return 0;
	symbol = lookup_find(&lookup, search->name, search->hash, true);
	if (symbol == NULL)
		return 0;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC)
		search->address = (void *)(lookup.bias + symbol->st_value);
	return 1;
}

/*
 * Not by dlsym, which finds a call's stub in a program that is not
 * position-independent and takes the function's address.
 */
void *
lookup_first(const char *name)
{
	struct lookup_search search = { .name = name,
	    .hash = gnu_hash(name) };

	find_loaded();
	search.own = atomic_load_explicit(&loaded.own, memory_order_acquire);
	dl_iterate_phdr(lookup_in_module, &search);
	return search.address;
}

void *
lookup_next(const char *name)
{
	const uint32_t hash = gnu_hash(name);
	const ElfW(Sym) *symbol;
	struct lookup lookup;
	const struct link_map *map;
	void *address;
	size_t n;

	find_loaded();
	map = atomic_load_explicit(&loaded.own, memory_order_acquire);
	address = process.is_inside ? lookup_first(name) : NULL;
	if (address != NULL)
		return address;
	for (n = loaded.n_after; map != NULL && n > 0; n--) {
		map = map->l_next;
		if (!lookup_open(map, &lookup))
			break;
		symbol = lookup_find(&lookup, name, hash, true);
		if (symbol == NULL)
			continue;
		if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
			break;
		return (void *)(lookup.bias + symbol->st_value);
	}
	address = dlsym(RTLD_NEXT, name);
	if (address == NULL)
		dlerror();	/* or the program would see the message */
	return address;
}

void
lookup_real(const char *name, void *place)
{
	void *address = lookup_next(name);

	memcpy(place, &address, sizeof address);
}

/* Each real function is looked up when it is first called. */
static struct real next;

#define NEXT(type, name, parameters, arguments)				\
static type								\
first_##name parameters							\
{									\
	lookup_real(#name, &next.name);					\
	return next.name arguments;					\
}
#include "lib/base/real.def"
#undef NEXT

static struct real next = {
#define NEXT(type, name, parameters, arguments) .name = first_##name,
#include "lib/base/real.def"
#undef NEXT
};

const struct real *
real(void)
{
	return &next;
}

void
real_prepare(void)
{
	lookup_real("sigtimedwait", &next.sigtimedwait);
}

void
real_prepare_for_children(void)
{
	if (next.execve == first_execve)
		lookup_real("execve", &next.execve);
	if (next._exit == first__exit)
		lookup_real("_exit", &next._exit);
}
