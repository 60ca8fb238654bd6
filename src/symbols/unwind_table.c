/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_table.c -- the unwind tables of one module, by address. */
#include "src/symbols/unwind_table.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { SECTIONS = 2 };		/* .eh_frame is asked before .debug_frame */

struct range {
	uint64_t start, end;
	size_t offset;		/* of its description in the section */
};

struct part {
	struct unwind_section section;	/* its bytes a copy */
	struct range *ranges;		/* by start */
	size_t n, capacity;
};

struct unwind_table {
	struct part parts[SECTIONS];
};

void
unwind_table_free(struct unwind_table *table)
{
	for (size_t i = 0; table != NULL && i < SECTIONS; i++) {
		free((unsigned char *)(uintptr_t)
		     table->parts[i].section.bytes.data);
		free(table->parts[i].ranges);
	}
	free(table);
}

size_t
unwind_table_bytes(const struct unwind_table *table)
{
	size_t n = sizeof *table;

	for (size_t i = 0; i < SECTIONS; i++)
		n += table->parts[i].section.bytes.size +
		     table->parts[i].capacity * sizeof(struct range);
	return n;
}

static int
compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int
index_part(struct part *part, struct error *error)
{
	struct unwind_entry entry = { 0 };
	size_t next = 0, at;
	bool is_sorted = true;

	while (unwind_entries_next(&part->section, &next, &entry, &at)) {
		if (memory_grow(&part->ranges, &part->capacity, part->n + 1,
		                sizeof *part->ranges, error) != 0)
			return -1;
		is_sorted &= part->n == 0 ||
		    part->ranges[part->n - 1].start <= entry.start;
		part->ranges[part->n++] = (struct range){ entry.start,
			entry.start + entry.size, at };
	}
	if (!is_sorted)
		qsort(part->ranges, part->n, sizeof *part->ranges,
		      compare_ranges);
	return 0;
}

static int
read_part(struct part *part, const struct elf_file *file, bool is_debug,
          struct error *error)
{
	struct unwind_section found;
	unsigned char *copy;

	if (!unwind_section_find(&found, file, is_debug) ||
	    found.bytes.size == 0)
		return 0;
	copy = memory_array(found.bytes.size, 1, error);
	if (copy == NULL)
		return -1;
	memcpy(copy, found.bytes.data, found.bytes.size);
	found.bytes.data = copy;
	part->section = found;
	return index_part(part, error);
}

struct unwind_table *
unwind_table_read(const struct module_file *module, struct error *error)
{
	struct unwind_table *table = memory_array(1, sizeof *table, error);
	struct elf_file file;
	int result = 0;

	if (table == NULL || module == NULL ||
	    module_file_open(module, &file) != MODULE_FILE_OPEN)
		return table;
	for (size_t i = 0; i < SECTIONS && result == 0; i++)
		result = read_part(&table->parts[i], &file, i == 1, error);
	elf_file_close(&file);
	if (result == 0)
		return table;
	unwind_table_free(table);
	return NULL;
}

/* The last range that starts at an address or before it; NULL: none. */
static const struct range *
find_range(const struct part *part, uint64_t address)
{
	size_t low = 0, high = part->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (part->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &part->ranges[low - 1] : NULL;
}

bool
unwind_table_find(const struct unwind_table *table, uint64_t address,
                  struct unwind_row *row)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		const struct part *part = &table->parts[i];
		const struct range *range = find_range(part, address);
		struct unwind_entry entry = { 0 };
		size_t offset;

		if (range == NULL || address >= range->end)
			continue;
		offset = range->offset;
		return unwind_entries_next(&part->section, &offset, &entry,
		                           NULL) &&
		    unwind_rules_at(&part->section, &entry, address, row);
	}
	return false;
}
