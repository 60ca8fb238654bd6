/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.h -- names of functions in programs, libraries and the kernel. */
#ifndef CPPROF_SYMBOLS_NAMES_PROGRAM_H
#define CPPROF_SYMBOLS_NAMES_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/symbols/elf/elf_file.h"

/* ---- demangle.c ---- */

/* Symbols as their programmers wrote them. */

/*
 * The readable form of a C++, Rust or D symbol with its parameters.  Any other
 * name, and one beyond the limits below, is returned as it is.  The caller
 * frees it; NULL with *error set for want of memory.
 *
 * ".cold" is dropped: compilers append it to the name of a function for its
 * unlikely part, if they placed that elsewhere.  Control jumps there and back,
 * so it is the same activation of the same function.  Other clones
 * (.constprop.0, .part.1) are called and keep their suffix.  A version
 * ("memcpy@@GLIBC_2.14") is dropped.
 *
 * Names are untrusted.  A few bytes can stand for gigabytes of text, since each
 * substitution may double it.  So a name longer than MANGLED_MAX bytes, or
 * whose text is longer than DEMANGLED_MAX bytes, is not demangled; a name
 * longer than DEMANGLED_MAX is cut there and ends in "...".
 */
enum { MANGLED_MAX = 8192, DEMANGLED_MAX = 65536 };

char *demangle(const char *symbol, struct error *error);

/*
 * Adds text[length] to the names; demangled if it begins like a mangled name,
 * or if it is a Rust name that a C++ demangler left half readable, such as
 * "_$LT$T$GT$::f::h0123456789abcdef".  NO_NAME with *error set for want of
 * memory.
 */
uint32_t demangle_and_add(struct names *names, const char *text,
                          size_t length, struct error *error);

/* ---- program.c ---- */

/*
 * An executable as gprof sees it: functions, and calls in them.
 *
 * Each function reaches from its symbol to the next one, so that every address
 * of the code belongs to some function.
 */

struct program_function {
	uint64_t start, end;	/* [start, end), in the ELF file's addresses */
	uint32_t name;		/* demangled */
};

struct program_functions {
	struct program_function *items;		/* [n] by start */
	uint32_t n;
	size_t capacity;
};

/* A call in the code; functions by their number. */
struct static_call {
	uint32_t caller, callee;
};

struct static_calls {
	struct static_call *items;	/* [n] each once */
	uint32_t n;
	size_t capacity;
};

struct program {
	unsigned char pointer_size;	/* 4 or 8 */
	struct program_functions functions;
	struct static_calls calls;
};

/* Whether there is a program or a library in a regular file of that name. */
bool program_is_one(const char *path);

/*
 * Reads the functions of a program, or of a stripped one from its separate
 * debug file; adds their names to `names`; and finds the calls in its code.
 * Freed with program_free.  NULL with *error set, its text beginning with the
 * path: no such file, no ELF program, no symbols of code, want of memory.
 */
struct program *program_read(const char *path,
                             const struct symbol_search *search,
                             struct names *names, struct error *error);
void program_free(struct program *program);

/* The number of the function that an address belongs to, or UINT32_MAX. */
uint32_t program_functions_find(const struct program_functions *functions,
                                uint64_t address);

/* The number of the first function that starts at or after an address, or n. */
uint32_t program_functions_from(const struct program_functions *functions,
                                uint64_t address);

/*
 * Finds direct calls and jumps from one function to the start of another, by
 * decoding the code of each function from its start on.  Only for x86; code
 * that cannot be decoded is skipped.  Time O(code), memory O(functions +
 * calls). calls: empty at first.
 */
int static_calls_find(struct static_calls *calls,
                      const struct program_functions *functions,
                      const struct elf_file *file, struct error *error);

/* ---- module_symbols.c ---- */

/*
 * Names for the addresses of one module.
 *
 * An address here is a virtual address of the ELF file, as in its symbol and
 * segment tables (p_vaddr, st_value): the address at run time minus the load
 * bias.  For a call, ask for the return address minus 1, since the call may be
 * the last instruction of its function.
 *
 * Files are untrusted, may be missing, and may have been rebuilt since the
 * profile was taken.  That is reported as a state and is not an error.
 */

enum module_symbols_state {
	MODULE_SYMBOLS_READ,	/* addresses have names */
	MODULE_SYMBOLS_NONE,	/* the right file, but without symbols of code
				 * other than PLT stubs */
	MODULE_SYMBOLS_MISSING,		/* as the states of elf_file.h */
	MODULE_SYMBOLS_UNREADABLE,
	MODULE_SYMBOLS_DIFFER,
};

struct module_symbols;

/*
 * The symbols of a module, which is found as elf_file.h says.  Copies the
 * path, build_id[size <= 64] and the search (NULL: an empty one), but not the
 * texts of the search.  Opens no file.  Freed with module_symbols_free; NULL
 * with *error set for want of memory.
 */
struct module_symbols *module_symbols_new(const char *path,
                                          const void *build_id, size_t size,
                                          const struct symbol_search *search,
                                          struct error *error);
struct module_symbols *module_symbols_of(const struct module_file *module,
                                         struct error *error);
void module_symbols_free(struct module_symbols *module);

/*
 * Reads the symbols, unless that has been done: .symtab, .dynsym and PLT stubs
 * of the file; if the file is stripped, or missing while its build-id is known,
 * also .symtab of its separate debug file.  0 with *state, or -1 with *error
 * set for want of memory.
 */
int module_symbols_read(struct module_symbols *module,
                        enum module_symbols_state *state,
                        struct error *error);

/* How many symbols and ranges of functions have been read so far. */
size_t module_symbols_count(const struct module_symbols *module);

/*
 * Finds the symbol that an address belongs to, chosen as elf_file.h says;
 * but a symbol without size ends where its code does, as it is decoded, and
 * before the next function that the unwind tables have.  Outside of all symbols,
 * *found is the function from the unwind tables or the code, with an empty name;
 * else NULL.  Equal symbols are equal pointers, valid as long as the module.
 * Only after module_symbols_read.
 *
 * Reads the unwind tables (stack_unwinder.h) and the code (code_rules.h) of the
 * module's own file when they are first needed.  0 with *found, or -1 with
 * *error set for want of memory.
 */
int module_symbols_find(struct module_symbols *module, uint64_t address,
                        const struct symbol **found, struct error *error);

/*
 * A symbol's demangled name (see demangle.c), with "@plt" appended if it is a
 * stub; empty if the symbol has no name.  The caller frees it; NULL with *error
 * set for want of memory.
 */
char *module_symbols_name(const struct symbol *symbol, struct error *error);

/* ---- module_cache.c ---- */

/*
 * Reads the symbols of each module only once.
 *
 * The processes of a run map the same libraries, and so do runs that are
 * merged.
 */

struct module_cache;

/*
 * An empty cache, freed with module_cache_free.  search: see
 * module_symbols_new.  NULL with *error set.
 */
struct module_cache *module_cache_new(const struct symbol_search *search,
                                      struct error *error);
void module_cache_free(struct module_cache *cache);

/*
 * The symbols of a module, owned by the cache.  *state: see
 * module_symbols_read; *is_first: whether this is the first call for the
 * module.  Valid until the next call, which may free all modules if their
 * symbols take too much memory (some hundred MB).  NULL with *error set for
 * want of memory.
 */
struct module_symbols *module_cache_get(struct module_cache *cache,
                                        const struct module *module,
                                        enum module_symbols_state *state,
                                        bool *is_first, struct error *error);

/* Where the cache searches for files; for NULL, an empty search. */
struct symbol_search module_cache_search(const struct module_cache *cache);

/*
 * The virtual address, as module_symbols.c defines it, of the byte at an offset
 * of a module's file; the offset itself if there is no such file or byte.
 * cache: may be NULL.  Opens the file, so call it once for each mapping.
 */
uint64_t module_cache_address(const struct module_cache *cache,
                              const char *path, const void *build_id,
                              size_t size, uint64_t offset);

#endif
