/* SPDX-License-Identifier: GPL-3.0-or-later */
/* function_ranges.c -- the ranges of .eh_frame, without its rules. */
#include "src/symbols/unwind/function_ranges.h"

#include "src/symbols/unwind_entries.h"

int
function_ranges_add(struct symbol_table *table, const struct elf_file *file,
                    struct error *error)
{
	struct unwind_section section;
	struct unwind_entry entry = { 0 };
	size_t offset = 0;

	if (!unwind_section_find(&section, file, false))
		return 0;
	while (unwind_entries_next(&section, &offset, &entry, NULL)) {
		const struct symbol symbol = {
			.name = "",
			.start = entry.start,
			.size = entry.size,
			.limit = entry.start + entry.size,
		};

		if (symbol_table_add(table, &symbol, error) != 0)
			return -1;
	}
	return 0;
}
