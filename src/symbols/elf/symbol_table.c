/* SPDX-License-Identifier: GPL-3.0-or-later */
/* symbol_table.c -- overlapping symbols turned into disjoint ranges.
 *
 * Invariant after sorting: the ranges of sized functions are in order and do
 * not overlap, and neither do those of all other symbols.  So an address takes
 * two binary searches, however deep a hostile file nests its symbols.
 */
#include "src/symbols/elf/elf_file.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

/* COMPARED_MAX: bytes of a name that are compared to choose between aliases. */
enum { COMPARED_MAX = 256, STRINGS_MAX = 4 };

struct symbol_range {
	uint64_t start, end;	/* [start, end) */
	uint32_t symbol;
};

struct ranges {
	struct symbol_range *items;
	size_t n, capacity;
};

struct symbol_table {
	struct symbol *symbols;
	size_t n, capacity;
	struct ranges sized, rest;
	char *strings[STRINGS_MAX];
	size_t n_strings;
};

struct symbol_table *
symbol_table_new(struct error *error)
{
	return memory_array(1, sizeof(struct symbol_table), error);
}

void
symbol_table_free(struct symbol_table *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; i < table->n_strings; i++)
		free(table->strings[i]);
	free(table->symbols);
	free(table->sized.items);
	free(table->rest.items);
	free(table);
}

const char *
symbol_table_keep(struct symbol_table *table, const void *strings, size_t size,
                  struct error *error)
{
	char *copy;

	if (table->n_strings == STRINGS_MAX) {
		error_set(error, "more than %d string tables", STRINGS_MAX);
		return NULL;
	}
	copy = memory_text(strings, size, error);
	if (copy == NULL)
		return NULL;
	table->strings[table->n_strings++] = copy;
	return copy;
}

int
symbol_table_add(struct symbol_table *table, const struct symbol *symbol,
                 struct error *error)
{
	if (symbol->start >= symbol->limit || table->n == UINT32_MAX)
		return 0;
	if (memory_grow(&table->symbols, &table->capacity, table->n + 1,
	                sizeof *table->symbols, error) != 0)
		return -1;
	table->symbols[table->n++] = *symbol;
	return 0;
}

size_t
symbol_table_count(const struct symbol_table *table)
{
	return table->n;
}

const struct symbol *
symbol_table_at(const struct symbol_table *table, size_t i)
{
	return &table->symbols[i];
}

static bool
is_sized_function(const struct symbol *symbol)
{
	return !symbol->is_label && symbol->size > 0;
}

/* Where the symbol ends by its own size. */
static uint64_t
symbol_end(const struct symbol *symbol)
{
	if (symbol->size == 0 || symbol->size > symbol->limit - symbol->start)
		return symbol->limit;
	return symbol->start + symbol->size;
}

static size_t
leading_underscores(const char *name)
{
	size_t n = 0;

	while (n < COMPARED_MAX && name[n] == '_')
		n++;
	return n;
}

static int
symbol_table_compare_names(const char *a, const char *b)
{
	size_t a_bars = leading_underscores(a);
	size_t b_bars = leading_underscores(b);
	size_t a_length = strnlen(a, COMPARED_MAX);
	size_t b_length = strnlen(b, COMPARED_MAX);

	if (a_bars != b_bars)
		return a_bars < b_bars ? -1 : 1;
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return strncmp(a, b, COMPARED_MAX);
}

/*
 * By start; of those with the same start the preferred one last, so that it
 * comes to lie on top of the others.
 */
static int
compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (is_sized_function(a) != is_sized_function(b))
		return is_sized_function(a) ? 1 : -1;
	if (a->is_label != b->is_label)
		return a->is_label ? -1 : 1;
	if (a->is_local != b->is_local)
		return a->is_local ? -1 : 1;
	return symbol_table_compare_names(b->name, a->name);
}

static int
ranges_add(struct ranges *ranges, uint64_t start, uint64_t end,
           uint32_t symbol, struct error *error)
{
	if (start >= end)
		return 0;
	if (memory_grow(&ranges->items, &ranges->capacity, ranges->n + 1,
	                sizeof *ranges->items, error) != 0)
		return -1;
	ranges->items[ranges->n++] = (struct symbol_range){ start, end,
		                                            symbol };
	return 0;
}

/*
 * The symbols that are open where the sweep is, innermost last.  One that lies
 * below another may already have ended.
 */
struct open_symbols {
	uint32_t *items;
	size_t n;
	uint64_t reached;
};

/* Gives the addresses up to `end` to the innermost open symbols. */
static int
sweep_to(struct symbol_table *table, struct open_symbols *open, uint64_t end,
         struct error *error)
{
	while (open->n > 0 && open->reached < end) {
		uint32_t symbol = open->items[open->n - 1];
		uint64_t stop = symbol_end(&table->symbols[symbol]);

		if (stop > end)
			stop = end;
		else
			open->n--;
		if (stop <= open->reached)
			continue;
		if (ranges_add(&table->sized, open->reached, stop, symbol,
		               error) != 0)
			return -1;
		open->reached = stop;
	}
	open->reached = end;
	return 0;
}

/* Each symbol is opened and closed once: O(n) after sorting. */
static int
cover_sized(struct symbol_table *table, struct error *error)
{
	struct open_symbols open = { 0 };
	int result = 0;

	open.items = memory_array(table->n, sizeof *open.items, error);
	if (open.items == NULL)
		return -1;
	for (size_t i = 0; i < table->n && result == 0; i++) {
		const struct symbol *symbol = &table->symbols[i];

		if (!is_sized_function(symbol))
			continue;
		result = sweep_to(table, &open, symbol->start, error);
		open.items[open.n++] = (uint32_t)i;
	}
	if (result == 0)
		result = sweep_to(table, &open, UINT64_MAX, error);
	free(open.items);
	return result;
}

/*
 * Of each start the last symbol, which is preferred; it ends at the next start.
 */
static int
cover_rest(struct symbol_table *table, struct error *error)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct symbol *symbol = &table->symbols[i];
		uint64_t end = symbol_end(symbol);

		if (is_sized_function(symbol))
			continue;
		if (i + 1 < table->n && table->symbols[i + 1].start < end)
			end = table->symbols[i + 1].start;
		if (ranges_add(&table->rest, symbol->start, end, (uint32_t)i,
		               error) != 0)
			return -1;
	}
	return 0;
}

/* Some tables are already in this order, like the kernel's, but for aliases. */
static bool
starts_ascend(const struct symbol_table *table)
{
	for (size_t i = 1; i < table->n; i++)
		if (table->symbols[i - 1].start > table->symbols[i].start)
			return false;
	return true;
}

static void
sort_symbols(struct symbol *symbols, size_t n)
{
	if (n > 1)
		qsort(symbols, n, sizeof *symbols, compare_symbols);
}

int
symbol_table_sort(struct symbol_table *table, struct error *error)
{
	if (starts_ascend(table)) {
		size_t begin, end;

		for (begin = 0; begin < table->n; begin = end) {
			end = begin + 1;
			while (end < table->n && table->symbols[end].start ==
			       table->symbols[begin].start)
				end++;
			sort_symbols(table->symbols + begin, end - begin);
		}
	} else {
		sort_symbols(table->symbols, table->n);
	}
	table->sized.n = table->rest.n = 0;
	return cover_sized(table, error) == 0 ? cover_rest(table, error) : -1;
}

static const struct symbol_range *
ranges_find(const struct ranges *ranges, uint64_t address)
{
	size_t n = partition_point(ranges->n, i,
	                           ranges->items[i].start <= address);

	return n > 0 && address < ranges->items[n - 1].end ?
	    &ranges->items[n - 1] : NULL;
}

const struct symbol *
symbol_table_find(const struct symbol_table *table, uint64_t address)
{
	const struct symbol_range *range = ranges_find(&table->sized, address);

	if (range == NULL)
		range = ranges_find(&table->rest, address);
	return range != NULL ? &table->symbols[range->symbol] : NULL;
}
