/* SPDX-License-Identifier: MIT */
/* lookup.h -- symbols of load modules, found without the loader.
 *
 * dlsym takes the loader's lock, may allocate, and costs a microsecond; a
 * process that lives for one millisecond has no time for two hundred of them.
 * All functions: async-signal-safe, any thread; the module must not be unloaded
 * meanwhile.
 */
#ifndef CPPROF_LOOKUP_H
#define CPPROF_LOOKUP_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tables of a module's dynamic symbols, where they are mapped. */
struct lookup {
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *hash;		/* DT_GNU_HASH */
	const ElfW(Versym) *versions;	/* NULL: none */
	uintptr_t bias;
};

/* False if the module has no such tables. */
bool lookup_open(const struct link_map *map, struct lookup *lookup);

/* What the module itself defines by that name, or NULL. */
const ElfW(Sym) *lookup_symbol(const struct lookup *lookup, const char *name);

/*
 * The same, or what it would give to who asks for no version: not one that is
 * kept for old programs alone.
 */
const ElfW(Sym) *lookup_default(const struct lookup *lookup, const char *name);

/*
 * What dlsym(RTLD_NEXT, name) finds when called from this library, NULL if
 * nothing: the definition of the next library that was loaded with the program.
 * (Those are never unloaded.  Where one of them has no tables, or the symbol is
 * an indirect function, it is dlsym that is asked.)
 */
void *lookup_next(const char *name);

/*
 * Stores that in *place, a pointer to a function.  Each wrapper calls it at its
 * first call: most processes are short and call few of the functions.
 */
void lookup_real(const char *name, void *place);

/* Defines first_NAME, which looks NAME up in a file's `next` and calls it. */
#define FIRST(type, name, parameters, arguments)			\
static type								\
first_##name parameters							\
{									\
	lookup_real(#name, &next.name);					\
	return next.name arguments;					\
}

/*
 * The first of the modules that were loaded with the program, which stay for
 * good, and how many they are; asked for by the constructor first.
 */
const struct link_map *lookup_loaded(size_t *n);

#endif
