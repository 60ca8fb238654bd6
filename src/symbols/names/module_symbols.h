/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_symbols.h -- names for the addresses of one module.
 *
 * An address here is always a virtual address of the ELF file: what its symbol
 * and segment tables (p_vaddr, st_value) count in, which is the address at run
 * time less the load bias.  For a call, ask for the return address less one:
 * the call may be the last instruction of its function.
 *
 * Files are untrusted, may be absent, and may have been rebuilt since the
 * profile was taken.  All that is an answer (the state), not an error.
 */
#ifndef CPPROF_SYMBOLS_NAMES_MODULE_SYMBOLS_H
#define CPPROF_SYMBOLS_NAMES_MODULE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/symbols/elf/debug_file.h"
#include "src/symbols/elf/module_file.h"
#include "src/symbols/elf/symbol_table.h"

enum module_symbols_state {
	MODULE_SYMBOLS_READ,	/* addresses have names */
	MODULE_SYMBOLS_NONE,	/* the right file, but no symbols of code; at
				 * most those of PLT stubs */
	MODULE_SYMBOLS_MISSING,		/* as the states of module_file.h */
	MODULE_SYMBOLS_UNREADABLE,
	MODULE_SYMBOLS_DIFFER,
};

struct module_symbols;

/*
 * Symbols of a module, sought as module_file.h says; build_id[size], size <= 64,
 * is copied, and so are the path and the search, whose texts stay the caller's
 * and in place; NULL for no root and DEBUG_DIRECTORY.
 *
 * Nothing is opened before the first question.  Freed with
 * module_symbols_free; NULL with *error set for want of memory.
 */
struct module_symbols *module_symbols_new(const char *path,
                                          const void *build_id, size_t size,
                                          const struct symbol_search *search,
                                          struct error *error);
struct module_symbols *module_symbols_of(const struct module_file *module,
                                         struct error *error);
void module_symbols_free(struct module_symbols *module);

/*
 * Reads the symbols unless that is done: .symtab and .dynsym of the file, of a
 * stripped one also those of its separate debug file (which alone will do,
 * where the file is gone but its build-id known), and PLT stubs.  0 with
 * *state, or -1 with *error set for want of memory.
 */
int module_symbols_read(struct module_symbols *module,
                        enum module_symbols_state *state,
                        struct error *error);

/* How many symbols and ranges of functions have been read so far. */
size_t module_symbols_count(const struct module_symbols *module);

/*
 * What an address belongs to: the symbol, chosen as symbol_table.h says, except
 * that one without size does not reach into another function's unwind table;
 * outside of all symbols the function as its unwind table bounds it, whose name
 * is empty; else NULL.  Equal symbols are equal pointers, good as long as the
 * module.  Only after module_symbols_read.
 *
 * Unwind tables (function_ranges.h) are read from the module's own file when
 * first needed.  0 with *found, or -1 with *error set for want of memory.
 */
int module_symbols_find(struct module_symbols *module, uint64_t address,
                        const struct symbol **found, struct error *error);

/*
 * A symbol's demangled name (see demangle.h), with "@plt" behind it if it is a
 * stub; empty if it is.  The caller frees it; NULL with *error set for want of
 * memory.
 */
char *module_symbols_name(const struct symbol *symbol, struct error *error);

#endif
