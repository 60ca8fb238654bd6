/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-dwarf.c -- call frame information, on any bytes.
 *
 * The first byte says of which form the section is, eight its address, and the
 * rest is the section.  Each row that is found is left with the section as the
 * stack.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#include <stdlib.h>
#include <string.h>

#include "dwarf/step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 9, ENTRIES_MAX = 100, STACK_START = 0x7000 };

static bool
read_stack(void *context, uint64_t address, size_t size, uint64_t *number)
{
	const struct cfi_section *section = context;
	uint64_t n = (uint64_t)(section->end - section->start);

	if (size == 0 || size > 8)
		abort();
	if (address < STACK_START || n < size ||
	    address - STACK_START > n - size)
		return false;
	*number = 0;
	memcpy(number, section->start + (address - STACK_START), size);
	return true;
}

static void
leave(struct cfi_section *section, const struct cfi_row *row)
{
	struct cfi_machine machine = { .arch = section->arch,
		.read = read_stack, .context = section,
		.preserved = UINT64_MAX };
	struct cfi_registers registers = { .known = UINT64_MAX };
	uint64_t cfa;

	for (int i = 0; i < CFI_REGISTERS; i++)
		registers.value[i] = STACK_START + 8 * (uint64_t)i;
	cfi_step(row, &machine, &registers, &cfa);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cfi_scratch scratch;
	struct cfi_section section;
	const unsigned char *next, *at;
	struct cfi_fde fde;

	if (size <= HEADER)
		return 0;
	section = (struct cfi_section){ .arch = (data[0] & 4) != 0 ?
		&dwarf_aarch64 : &dwarf_x86_64, .start = data + HEADER,
		.end = data + size, .is_debug_frame = data[0] & 1,
		.pointer_size = (data[0] & 2) != 0 ? 4 : 8 };
	memcpy(&section.address, data + 1, 8);
	memset(&scratch, 0, sizeof scratch);
	next = section.start;
	for (int n = 0; n < ENTRIES_MAX && (at = cfi_next_fde(&section, &next,
	     &scratch.cie, &fde)) != NULL; n++) {
		const uint64_t addresses[] = { fde.start,
			fde.start + fde.size / 2, fde.start + fde.size - 1 };

		for (int i = 0; i < 3; i++) {
			if (cfi_find_row(&section, &fde, addresses[i],
			                 &scratch) != CFI_FOUND)
				continue;
			if (addresses[i] - scratch.row_start >=
			    scratch.row_end - scratch.row_start)
				abort();
			leave(&section, &scratch.row);
		}
		if (at < section.start || at >= next || next > section.end)
			abort();
	}
	return 0;
}
