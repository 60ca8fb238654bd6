/* SPDX-License-Identifier: MIT */
/* lookup.h -- finds symbols of load modules without the loader.
 *
 * dlsym takes the loader's lock, may allocate, and costs a microsecond.  A
 * process that lives for a millisecond has no time for two hundred calls of it.
 *
 * All functions: async-signal-safe, any thread.  The module must not be
 * unloaded meanwhile.
 */
#ifndef CPPROF_LOOKUP_H
#define CPPROF_LOOKUP_H

#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>

/* A module's tables of dynamic symbols, where they are mapped. */
struct lookup {
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *hash;		/* DT_GNU_HASH */
	const ElfW(Versym) *versions;	/* NULL: none */
	uintptr_t bias;
};

/* False if the module lacks a table, which is NULL then. */
bool lookup_open(const struct link_map *map, struct lookup *lookup);

/* The symbol of that name that the module defines, or NULL. */
const ElfW(Sym) *lookup_symbol(const struct lookup *lookup, const char *name);

/*
 * What dlsym(RTLD_NEXT, name) would find when called from this library, or
 * NULL: the definition in the next library that was loaded with the program.
 * Such libraries are never unloaded.  If one of them has no tables, or the
 * symbol is an indirect function, calls dlsym, which is not async-signal-safe.
 */
void *lookup_next(const char *name);

/*
 * The first definition in the order of loading, but in this library: what the
 * calls of a process into which it was loaded led to before.  NULL: there is
 * none, or an indirect function, which could be any.  Takes the loader's lock.
 */
void *lookup_first(const char *name);

/*
 * Stores the address that lookup_next finds in *place, a pointer to a function.
 * Each wrapper calls it at its first call, because most processes are short and
 * call few of the functions.
 */
void lookup_real(const char *name, void *place);

/*
 * The first module loaded with the program, and in *n how many there are.  They
 * are never unloaded.  The constructor calls this first.
 */
const struct link_map *lookup_loaded(size_t *n);

/*
 * The C library's own versions of functions that we wrap and also call
 * ourselves.  Those with an ellipsis take the arguments that they may be given.
 */
struct real {
#define NEXT(type, name, parameters, arguments) type (*name) parameters;
#include "lib/base/real.def"
#undef NEXT
};

/*
 * The table of real functions.  Each is looked up when it is first called,
 * because constructors of other libraries may call before ours runs.
 */
const struct real *real(void);

/*
 * Looks up the functions that samples show as frames, so that their addresses
 * are known.
 */
void real_prepare(void);

/*
 * Looks up the functions that most forked children call, so that not every
 * child has to.
 */
void real_prepare_for_children(void);

#endif
