/* SPDX-License-Identifier: MIT */
/* cfi-table.c -- finds the entry for an address.
 *
 * .eh_frame_hdr has a table sorted by address that names the frame description
 * entry of each function.  To halve the table of a big program touches a dozen
 * lines of memory that no cache holds, which takes longer than all the rest;
 * so for each page of code the row found last is remembered, and the next one
 * looked for from there, or from that of a page nearby.  That is a hint, which
 * threads share without locks and which may be wrong: where it leads is as
 * right as the table itself.
 */
#include "lib/base/big.h"
#include "lib/cfi.h"

#include <stdatomic.h>

#include "lib/input.h"

/* Everything that .eh_frame_hdr's table names is at most this far from it. */
#define TABLE_REACH ((size_t)1 << 31)

#define ENCODED_UDATA4 0x03
#define ENCODED_TABLE 0x3b	/* data-relative, signed 4 bytes */

#define HEADER_SIZE 12		/* where the table begins */

#define HINT_PAGES 8u		/* in a cache line */
#define HINT_BITS 9
#define HINT_ROW_BITS 28
#define HINT_ROWS ((uint64_t)1 << HINT_ROW_BITS)
#define PAGE_BITS 12
#define FIRST_STRIDE 8		/* rows: a cache line */

/* One row of .eh_frame_hdr's table, both relative to the header. */
struct table_row {
	int32_t address;
	int32_t fde;
};

struct table {
	const unsigned char *header, *start, *end;
	const struct table_row *rows;
	size_t n;
};

/* By page: 36 bits of its number, and a row.  Pages that follow are together. */
static struct {
	_Alignas(64) _Atomic uint64_t pages[HINT_PAGES];
} hints[1u << HINT_BITS] BIG_TABLE;

static bool
open_table(const struct dl_find_object *object, struct table *table)
{
	struct input in;

	table->header = object->dlfo_eh_frame;
	table->start = object->dlfo_map_start;
	table->end = object->dlfo_map_end;
	/*
	 * Of a program with holes between its segments we are told only the
	 * segment with the address.  The table's offsets are of 32 bits.
	 */
	if (table->header < table->start || table->header >= table->end) {
		table->start = (uintptr_t)table->header > TABLE_REACH ?
		    table->header - TABLE_REACH : (const unsigned char *)1;
		table->end = table->header + TABLE_REACH;
	}
	in = (struct input){ table->header, table->end, false };
	if (*take(&in, 1) != 1)		/* version */
		return false;
	take(&in, 1);			/* encoding of .eh_frame's address */
	if (*take(&in, 1) != ENCODED_UDATA4 || *take(&in, 1) != ENCODED_TABLE)
		return false;
	take(&in, 4);			/* .eh_frame */
	table->n = take_unsigned(&in, 4);
	table->rows = (const struct table_row *)(const void *)in.at;
	return !in.bad && table->n <= (size_t)(table->end - in.at) /
	    sizeof *table->rows;
}

/*
 * How many rows are at or below the address, which is known to be >= low and
 * <= high.
 */
static size_t
halve(const struct table *table, int64_t address, size_t low, size_t high)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The same from row `near`, in strides that double. */
static size_t
search_from(const struct table *table, int64_t address, size_t near)
{
	const struct table_row *rows = table->rows;
	size_t stride = FIRST_STRIDE, low = near, high = near;

	if (rows[near].address <= address) {
		while (table->n - high > stride &&
		    rows[high + stride].address <= address) {
			high += stride;
			stride *= 2;
		}
		low = high + 1;
		high = table->n - high > stride ? high + stride : table->n;
	} else {
		while (low > stride && rows[low - stride].address > address) {
			low -= stride;
			stride *= 2;
		}
		high = low;
		low = low > stride ? low - stride : 0;
	}
	return halve(table, address, low, high);
}

static inline _Atomic uint64_t *
hints_near(uint64_t page)
{
	return hints[(page / HINT_PAGES * 0x9e3779b97f4a7c15u) >>
	    (64 - HINT_BITS)].pages;
}

/* A row remembered for this page, or for the one nearest; SIZE_MAX: none. */
static size_t
find_hint(uint64_t page)
{
	const _Atomic uint64_t *near = hints_near(page);
	uint64_t i, hint;

	/* The page itself, then one that is one bit off, and so on. */
	for (i = 0; i < HINT_PAGES; i++) {
		hint = atomic_load_explicit(&near[(page ^ i) % HINT_PAGES],
		    memory_order_relaxed);
		if (hint >> HINT_ROW_BITS == (page ^ i))
			return hint % HINT_ROWS;
	}
	return SIZE_MAX;
}

void
cfi_prefetch(uint64_t address, const struct cfi_scratch *scratch)
{
	const char *at = (const char *)scratch;
	size_t i;

	__builtin_prefetch(hints_near(address >> PAGE_BITS));
	for (i = 0; i < offsetof(struct cfi_scratch, remembered); i += 64)
		__builtin_prefetch(at + i, 1);
}

/* The last row at or below the address; NULL if there is none. */
static const struct table_row *
find_row(const struct table *table, uint64_t address, size_t near)
{
	const uint64_t page = address >> PAGE_BITS;
	const int64_t at =
	    (int64_t)(address - (uint64_t)(uintptr_t)table->header);
	size_t n;

	n = near < table->n ? search_from(table, at, near) :
	    halve(table, at, 0, table->n);
	if (n == 0)
		return NULL;
	if (n <= HINT_ROWS)
		atomic_store_explicit(&hints_near(page)[page % HINT_PAGES],
		    page << HINT_ROW_BITS | (n - 1), memory_order_relaxed);
	return &table->rows[n - 1];
}

enum cfi_result
cfi_find(uint64_t address, const struct dl_find_object *object,
    struct cfi_scratch *scratch)
{
	const unsigned char *header = object->dlfo_eh_frame;
	const size_t near = find_hint(address >> PAGE_BITS);
	const struct table_row *row;
	struct table table;

	if (header == NULL)
		return CFI_NO_TABLE;
	/* Asked for now, so that it comes together with the header. */
	if (near != SIZE_MAX)
		__builtin_prefetch(header + HEADER_SIZE + near * sizeof *row);
	if (!open_table(object, &table))
		return CFI_BAD;
	row = find_row(&table, address, near);
	if (row == NULL)
		return CFI_NO_TABLE;
	if (row->fde > table.end - table.header ||
	    row->fde < table.start - table.header)
		return CFI_BAD;
	return cfi_run(table.header + row->fde, table.start, table.end,
	    address, scratch);
}
