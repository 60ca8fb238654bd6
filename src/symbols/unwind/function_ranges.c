/* SPDX-License-Identifier: GPL-3.0-or-later */
/* function_ranges.c -- the ranges of .eh_frame, without its rules. */
#include "src/symbols/unwind/function_ranges.h"

#include "src/symbols/unwind/unwind_table.h"

int
function_ranges_add(struct symbol_table *table, const struct elf_file *file,
                    struct error *error)
{
	struct cfi_section section;
	struct cfi_cie cie = { 0 };
	struct cfi_fde fde;
	const unsigned char *next;

	if (!unwind_section_find(&section, file, false))
		return 0;
	next = section.start;
	while (cfi_next_fde(&section, &next, &cie, &fde) != NULL) {
		const struct symbol symbol = {
			.name = "",
			.start = fde.start,
			.size = fde.size,
			.limit = fde.start + fde.size,
		};

		if (symbol_table_add(table, &symbol, error) != 0)
			return -1;
	}
	return 0;
}
