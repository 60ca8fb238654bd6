/* SPDX-License-Identifier: GPL-3.0-or-later */
/* symbol_table.h -- which symbol an address belongs to.
 *
 * Symbols are added in any order and then sorted.  Every address then belongs
 * to at most one symbol, the same on every machine:
 * - to the sized function that contains it; of several, to the one that starts
 *   last, so that the inner of two nested ones wins;
 * - else to the last label or function without size that starts at or before
 *   the address, which reaches up to its size, or else to the next symbol of
 *   either kind, but never beyond its section;
 * - of several with the same start, functions win over labels, then symbols
 *   that are visible outside their file over local ones, then fewer leading
 *   underscores, then the shorter name, then byte order.  (Global and weak make
 *   no difference: in libc, `read` is weak and `__read` global.)
 */
#ifndef CPPROF_SYMBOLS_ELF_SYMBOL_TABLE_H
#define CPPROF_SYMBOLS_ELF_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

struct symbol {
	uint64_t start;
	uint64_t size;		/* bytes, 0: unknown */
	uint64_t limit;		/* where its section ends */
	const char *name;	/* valid as long as the table; empty: unknown */
	bool is_label;		/* code without a type, from assemblers */
	bool is_local;
	bool is_stub;		/* of the procedure linkage table */
};

struct symbol_table;

/* An empty table, freed with symbol_table_free; NULL with *error set. */
struct symbol_table *symbol_table_new(struct error *error);
void symbol_table_free(struct symbol_table *table);

/*
 * Copies a string table that has names of symbols; the copy, which ends in a
 * NUL, lives as long as the table.  NULL with *error set.
 */
const char *symbol_table_keep(struct symbol_table *table, const void *strings,
                              size_t size, struct error *error);

/* Adds a symbol, unless it starts at its limit or after it. */
int symbol_table_add(struct symbol_table *table, const struct symbol *symbol,
                     struct error *error);

/* Must be called after the last addition, before find.  O(n log n). */
int symbol_table_sort(struct symbol_table *table, struct error *error);

size_t symbol_table_count(const struct symbol_table *table);

/*
 * Symbol i < count of a sorted table, by start; of several with the same start
 * the preferred one is the last.
 */
const struct symbol *symbol_table_at(const struct symbol_table *table,
                                     size_t i);

/* The symbol that the address belongs to, or NULL.  O(log n). */
const struct symbol *symbol_table_find(const struct symbol_table *table,
                                       uint64_t address);

#endif
