/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_symbols.h -- names for the addresses of one module.
 *
 * An address here is a virtual address of the ELF file, as in its symbol and
 * segment tables (p_vaddr, st_value): the address at run time minus the load
 * bias.  For a call, ask for the return address minus 1, since the call may be
 * the last instruction of its function.
 *
 * Files are untrusted, may be missing, and may have been rebuilt since the
 * profile was taken.  That is reported as a state and is not an error.
 */
#ifndef CPPROF_SYMBOLS_NAMES_MODULE_SYMBOLS_H
#define CPPROF_SYMBOLS_NAMES_MODULE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/symbols/elf/module_file.h"
#include "src/symbols/elf/symbol_table.h"

enum module_symbols_state {
	MODULE_SYMBOLS_READ,	/* addresses have names */
	MODULE_SYMBOLS_NONE,	/* the right file, but without symbols of code
				 * other than PLT stubs */
	MODULE_SYMBOLS_MISSING,		/* as the states of module_file.h */
	MODULE_SYMBOLS_UNREADABLE,
	MODULE_SYMBOLS_DIFFER,
};

struct module_symbols;

/*
 * The symbols of a module, which is found as module_file.h says.  Copies the
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
 * Finds the symbol that an address belongs to, chosen as symbol_table.h says;
 * but a symbol without size does not reach into the next function that the
 * unwind tables have.  Outside of all symbols, *found is the function from the
 * unwind tables, with an empty name; else NULL.  Equal symbols are equal
 * pointers, valid as long as the module.  Only after module_symbols_read.
 *
 * Reads the unwind tables (unwind_table.h) of the module's own file when
 * they are first needed.  0 with *found, or -1 with *error set for want of
 * memory.
 */
int module_symbols_find(struct module_symbols *module, uint64_t address,
                        const struct symbol **found, struct error *error);

/*
 * A symbol's demangled name (see demangle.h), with "@plt" appended if it is a
 * stub; empty if the symbol has no name.  The caller frees it; NULL with *error
 * set for want of memory.
 */
char *module_symbols_name(const struct symbol *symbol, struct error *error);

#endif
