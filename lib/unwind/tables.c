/* SPDX-License-Identifier: MIT */
/* tables.c -- finds the frame description for an address.
 *
 * The index of .eh_frame_hdr is sorted by address and refers to the frame
 * description entry (FDE) of each function.  In a big program, a binary search
 * in it touches a dozen cache lines that are in no cache, which takes longer
 * than everything else.  So the row found last is remembered for each page of
 * code.  The next search begins there, or at the row of a nearby page.  This is
 * only a hint, which threads share without locks and which may be wrong: the
 * search finds the right row from any starting point.
 */
#include "lib/unwind/rules.h"

#include "lib/base/attributes.h"

/*
 * Everything that the index of .eh_frame_hdr refers to lies within this
 * distance.
 */
#define TABLE_REACH ((size_t)1 << 31)

#define HINT_PAGES 8u		/* in a cache line */
#define HINT_BITS 9
#define HINT_ROW_BITS 28
#define HINT_ROWS ((uint64_t)1 << HINT_ROW_BITS)
#define PAGE_BITS 12
#define FIRST_STRIDE 8		/* rows: a cache line */

_Atomic uint64_t tables_epoch;
_Atomic uint64_t tables_lines = TABLES_FEW_LINES;

struct module_table {
	const unsigned char *header, *start, *end;
	const struct cfi_index_row *rows;
	size_t n;
};

/*
 * By page: 36 bits of its number, and a row.  Neighbouring pages are adjacent.
 */
static struct {
	_Alignas(64) _Atomic uint64_t pages[HINT_PAGES];
} hints[1u << HINT_BITS] BIG_TABLE;

static inline _Atomic uint64_t *
hints_near(uint64_t page)
{
	return hints[(page / HINT_PAGES * 0x9e3779b97f4a7c15u) >>
	    (64 - HINT_BITS) & atomic_load_explicit(&tables_lines,
	    memory_order_relaxed)].pages;
}

/* The row remembered for this page or for the nearest one; SIZE_MAX: none. */
static size_t
find_hint(uint64_t page)
{
	const _Atomic uint64_t *near = hints_near(page);
	uint64_t i, hint;

	/*
	 * The page itself, then pages whose numbers differ in one bit, and so
	 * on.
	 */
	for (i = 0; i < HINT_PAGES; i++) {
		hint = atomic_load_explicit(&near[(page ^ i) % HINT_PAGES],
		    memory_order_relaxed);
		if (hint >> HINT_ROW_BITS == (page ^ i))
			return hint % HINT_ROWS;
	}
	return SIZE_MAX;
}

void
tables_prefetch(uint64_t address, const struct cfi_scratch *scratch)
{
	const char *at = (const char *)scratch;
	size_t i;

	__builtin_prefetch(hints_near(address >> PAGE_BITS));
	for (i = 0; i < offsetof(struct cfi_scratch, remembered); i += 64)
		__builtin_prefetch(at + i, 1);
}

/* Reads the header of a module's index.  False: it is of an unknown kind. */
static bool
open_table(const struct dl_find_object *object, struct module_table *table)
{
	table->header = object->dlfo_eh_frame;
	table->start = object->dlfo_map_start;
	table->end = object->dlfo_map_end;
	/*
	 * If a program's segments have gaps between them, the loader reports
	 * only the segment with the address.  The index has 32-bit offsets.
	 */
	if (table->header < table->start || table->header >= table->end) {
		table->start = (uintptr_t)table->header > TABLE_REACH ?
		    table->header - TABLE_REACH : (const unsigned char *)1;
		table->end = table->header + TABLE_REACH;
	}
	return cfi_index_open(table->header, table->end, &table->rows, &table->n);
}

/*
 * The number of rows at or below the address: near row `near` (SIZE_MAX: none),
 * in strides that double, and then by halves.
 */
static size_t
tables_search(const struct module_table *table, int64_t address, size_t near)
{
	const struct cfi_index_row *rows = table->rows;
	size_t stride = FIRST_STRIDE, low = 0, high = table->n;

	if (near < table->n && rows[near].address <= address) {
		for (low = near; high - low > stride &&
		    rows[low + stride].address <= address; stride *= 2)
			low += stride;
		if (high - low > stride)
			high = low + stride;
		low++;
	} else if (near < table->n) {
		for (high = near; high > stride &&
		    rows[high - stride].address > address; stride *= 2)
			high -= stride;
		if (high > stride)
			low = high - stride;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

enum cfi_result
tables_find(uint64_t address, const struct dl_find_object *object,
    struct cfi_scratch *scratch)
{
	const unsigned char *header = object->dlfo_eh_frame;
	const uint64_t page = address >> PAGE_BITS;
	const size_t near = find_hint(page);
	const struct cfi_index_row *row;
	struct cfi_section section;
	struct module_table table;
	struct cfi_fde fde;
	size_t n;

	if (header == NULL)
		return CFI_NO_TABLE;
	/* Fetched now, together with the header. */
	if (near != SIZE_MAX)
		__builtin_prefetch(header + CFI_INDEX_HEADER + near * sizeof *row);
	if (!open_table(object, &table))
		return CFI_BAD;
	n = tables_search(&table,
	    (int64_t)(address - (uint64_t)(uintptr_t)header), near);
	if (n == 0)
		return CFI_NO_TABLE;
	if (n <= HINT_ROWS)
		atomic_store_explicit(&hints_near(page)[page % HINT_PAGES],
		    page << HINT_ROW_BITS | (n - 1), memory_order_relaxed);
	row = &table.rows[n - 1];
	if (row->fde > table.end - table.header ||
	    row->fde < table.start - table.header)
		return CFI_BAD;
	section = (struct cfi_section){ .arch = DWARF_OWN_ARCH,
	    .start = table.start, .end = table.end,
	    .address = (uintptr_t)table.start, .pointer_size = sizeof(void *),
	    .generation = atomic_load_explicit(&tables_epoch,
	    memory_order_relaxed) };
	if (!cfi_read_fde(&section, table.header + row->fde, &scratch->cie,
	    &fde))
		return CFI_BAD;
	return cfi_find_row(&section, &fde, address, scratch);
}

size_t
tables_count(const struct dl_find_object *object)
{
	struct module_table table;

	return object->dlfo_eh_frame != NULL && open_table(object, &table) ?
	    table.n : 0;
}

void
tables_new_epoch(void)
{
	atomic_fetch_add(&tables_epoch, 1);
}
