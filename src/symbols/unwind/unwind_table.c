/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind_table.c -- copies the sections, and sorts their FDEs by address.
 *
 * The sorted index in .eh_frame_hdr would save no time: it does not say where
 * ranges end, and a file need not have it.
 */
#include "src/symbols/unwind/stack_unwinder.h"

#include <stdlib.h>

#include "src/base/memory.h"

enum {
	SECTIONS = 2,		/* .eh_frame is asked before .debug_frame */
	UNWIND_SECTION_MAX = 256 << 20,	/* bytes, uncompressed */
};

struct unwind_range {
	uint64_t start, end;
	size_t offset;		/* of its FDE in the section */
};

struct unwind_part {
	struct cfi_section section;
	unsigned char *bytes;		/* of the section, a copy */
	struct unwind_range *ranges;		/* by start */
	size_t n, capacity;
};

struct unwind_table {
	struct unwind_part parts[SECTIONS];
};

/*
 * The contents of a section; compressed ones, as Go's linker writes, are
 * decompressed in memory.  NULL: there are none that can be used.
 */
static Elf_Data *
unwind_section_contents(Elf_Scn *section, const GElf_Shdr *header)
{
	GElf_Chdr compressed;

	if ((header->sh_flags & SHF_COMPRESSED) == 0)
		return elf_file_contents(section);
	if (gelf_getchdr(section, &compressed) == NULL ||
	    compressed.ch_size > UNWIND_SECTION_MAX ||
	    elf_compress(section, 0, 0) < 0)
		return NULL;
	return elf_file_contents(section);
}

/*
 * Finds .eh_frame, which every program carries, or .debug_frame, which is debug
 * information.  The bytes live as long as the file is open.  False where there
 * is no such section, or its numbers are big-endian.
 */
static bool
find_section(struct cfi_section *section, const struct elf_file *file,
             bool is_debug_frame)
{
	GElf_Shdr header;
	GElf_Ehdr file_header;
	Elf_Scn *found = elf_file_named_section(file, is_debug_frame ?
	    ".debug_frame" : ".eh_frame", &header);
	Elf_Data *data = found != NULL ?
	    unwind_section_contents(found, &header) : NULL;

	if (data == NULL || data->d_size == 0 ||
	    gelf_getehdr(file->elf, &file_header) == NULL ||
	    file_header.e_ident[EI_DATA] != ELFDATA2LSB)
		return false;
	*section = (struct cfi_section){
		.start = data->d_buf,
		.end = (const unsigned char *)data->d_buf + data->d_size,
		.address = header.sh_addr,
		.pointer_size =
		    file_header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4,
		.is_debug_frame = is_debug_frame,
	};
	return true;
}

int
unwind_ranges_add(struct symbol_table *ranges, const struct elf_file *file,
                  struct error *error)
{
	struct cfi_section section;
	struct cfi_cie cie = { 0 };
	struct cfi_fde fde;
	const unsigned char *next;

	if (!find_section(&section, file, false))
		return 0;
	next = section.start;
	while (cfi_next_fde(&section, &next, &cie, &fde) != NULL) {
		const struct symbol symbol = {
			.name = "",
			.start = fde.start,
			.size = fde.size,
			.limit = fde.start + fde.size,
		};

		if (symbol_table_add(ranges, &symbol, error) != 0)
			return -1;
	}
	return 0;
}

void
unwind_table_free(struct unwind_table *table)
{
	for (size_t i = 0; table != NULL && i < SECTIONS; i++) {
		free(table->parts[i].bytes);
		free(table->parts[i].ranges);
	}
	free(table);
}

size_t
unwind_table_bytes(const struct unwind_table *table)
{
	size_t n = sizeof *table;

	for (size_t i = 0; i < SECTIONS; i++)
		n += (size_t)(table->parts[i].section.end -
		              table->parts[i].section.start) +
		     table->parts[i].capacity * sizeof(struct unwind_range);
	return n;
}

static int
compare_ranges(const void *left, const void *right)
{
	const struct unwind_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int
unwind_table_read_part(struct unwind_part *part, const struct elf_file *file,
                       bool is_debug_frame, struct error *error)
{
	struct cfi_section *section = &part->section;
	struct cfi_cie cie = { 0 };
	struct cfi_fde fde;
	const unsigned char *next, *at;
	bool is_sorted = true;
	size_t size;

	if (!find_section(section, file, is_debug_frame))
		return 0;
	size = (size_t)(section->end - section->start);
	part->bytes = memory_copy(section->start, size, 1, error);
	if (part->bytes == NULL)
		return -1;
	section->start = next = part->bytes;
	section->end = part->bytes + size;
	while ((at = cfi_next_fde(section, &next, &cie, &fde)) != NULL) {
		if (memory_grow(&part->ranges, &part->capacity, part->n + 1,
		                sizeof *part->ranges, error) != 0)
			return -1;
		is_sorted &= part->n == 0 ||
		    part->ranges[part->n - 1].start <= fde.start;
		part->ranges[part->n++] = (struct unwind_range){ fde.start,
			fde.start + fde.size, (size_t)(at - section->start) };
	}
	if (!is_sorted)
		qsort(part->ranges, part->n, sizeof *part->ranges,
		      compare_ranges);
	return 0;
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
		result = unwind_table_read_part(&table->parts[i], &file, i == 1,
		                                error);
	elf_file_close(&file);
	if (result == 0)
		return table;
	unwind_table_free(table);
	return NULL;
}

/* The last range that starts at an address or before it; NULL: none. */
static const struct unwind_range *
unwind_table_find_range(const struct unwind_part *part, uint64_t address)
{
	size_t n = partition_point(part->n, i,
	                           part->ranges[i].start <= address);

	return n > 0 ? &part->ranges[n - 1] : NULL;
}

bool
unwind_table_find(const struct unwind_table *table, uint64_t address,
                  struct cfi_scratch *scratch)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		const struct unwind_part *part = &table->parts[i];
		const struct unwind_range *range =
		    unwind_table_find_range(part, address);
		struct cfi_fde fde;

		if (range == NULL || address >= range->end)
			continue;
		return cfi_read_fde(&part->section,
		    part->section.start + range->offset, &scratch->cie,
		    &fde) && cfi_find_row(&part->section, &fde, address,
		    scratch) == CFI_FOUND;
	}
	return false;
}
