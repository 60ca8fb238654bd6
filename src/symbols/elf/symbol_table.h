/* SPDX-License-Identifier: GPL-3.0-or-later */
/* symbol_table.h -- which symbol an address belongs to.
 *
 * Symbols are entered in any order and sorted once.  Every address then has
 * at most one answer, and the same on every machine:
 * - sized functions first: of those that contain the address, the one that
 *   starts last, so that the inner of two nested ones wins;
 * - where no sized function lies, the last function without size or label that
 *   starts at or before the address, up to its size or else to the next symbol
 *   of either kind, never beyond its section;
 * - of several at one start: functions over labels, visible outside their
 *   file over local, fewer leading underscores, then shorter, then byte order.
 *   (Global and weak count alike: in libc `read` is weak, `__read` global.)
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
	const char *name;	/* lives as long as the table; empty: unknown */
	bool is_label;		/* code without a type, as assemblers leave */
	bool is_local;
	bool is_stub;		/* of the procedure linkage table */
};

struct symbol_table;

/* An empty table, freed with symbol_table_free; NULL with *error set. */
struct symbol_table *symbol_table_new(struct error *error);
void symbol_table_free(struct symbol_table *table);

/*
 * A copy of a string table, kept as long as the symbols whose names lie in
 * it.  The copy ends in a NUL.  NULL with *error set.
 */
const char *symbol_table_keep(struct symbol_table *table, const void *strings,
                              size_t size, struct error *error);

/* Enters a symbol; one that has no place before its limit is passed over. */
int symbol_table_add(struct symbol_table *table, const struct symbol *symbol,
                     struct error *error);

/* To be called when all are entered, and before find.  O(n log n). */
int symbol_table_sort(struct symbol_table *table, struct error *error);

size_t symbol_table_count(const struct symbol_table *table);

/*
 * Symbol i < count of a sorted table, by start; of several at one start the
 * preferred one is the last.
 */
const struct symbol *symbol_table_at(const struct symbol_table *table,
                                     size_t i);

/* The symbol that the address belongs to, or NULL.  O(log n). */
const struct symbol *symbol_table_find(const struct symbol_table *table,
                                       uint64_t address);

#endif
