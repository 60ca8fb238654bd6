/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_segments.c -- where the bytes of a module's file are in memory. */
#include "src/symbols/elf/module_segments.h"

static uint64_t
find_address(const struct elf_file *file, uint64_t offset)
{
	size_t n;

	if (elf_getphdrnum(file->elf, &n) != 0)
		return offset;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(file->elf, (int)i, &segment) != NULL &&
		    segment.p_type == PT_LOAD && offset >= segment.p_offset &&
		    offset - segment.p_offset < segment.p_filesz)
			return offset - segment.p_offset + segment.p_vaddr;
	}
	return offset;
}

uint64_t
module_address_of_offset(const struct module_file *module, uint64_t offset)
{
	struct elf_file file;

	if (module_file_open(module, &file) != MODULE_FILE_OPEN)
		return offset;
	offset = find_address(&file, offset);
	elf_file_close(&file);
	return offset;
}
