/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-unwind.c -- the reader of unwind tables, on any bytes.
 *
 * The first byte says of which form the section is, eight say where, the rest
 * is the section; it also serves as the stack of the frames that are left.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#include <stdlib.h>
#include <string.h>

#include "src/symbols/unwind_expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 9, ENTRIES_MAX = 100 };

/* What the rules of one row compute. */
static void
leave(const struct unwind_section *section, const struct unwind_row *row)
{
	struct stack_frame frame = {
		.stack = section->bytes.data,
		.stack_start = 0x7000,
		.stack_size = section->bytes.size,
	};
	const uint64_t cfa = 0x7000;
	uint64_t value;

	for (int i = 0; i < STACK_REGISTERS; i++)
		frame.registers[i] = 0x7000 + 8 * (uint64_t)i;
	if (row->cfa.kind == UNWIND_COMPUTED)
		unwind_expression_evaluate(&row->cfa, &frame, NULL, &value);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		if (row->rules[i].kind >= UNWIND_SAVED_AT)
			unwind_expression_evaluate(&row->rules[i], &frame,
			                           &cfa, &value);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_section section = { 0 };
	struct unwind_entry entry = { 0 };
	size_t offset = 0, n = 0, at;

	if (size < HEADER)
		return 0;
	section.is_debug = data[0] & 1;
	section.pointer_size = (data[0] & 2) != 0 ? 4 : 8;
	memcpy(&section.address, data + 1, 8);
	section.bytes = bytes_of(data + HEADER, size - HEADER);
	while (n++ < ENTRIES_MAX &&
	       unwind_entries_next(&section, &offset, &entry, &at)) {
		const uint64_t addresses[] = { entry.start,
			entry.start + entry.size / 2,
			entry.start + entry.size - 1 };

		for (int i = 0; i < 3; i++) {
			struct unwind_row row;

			if (unwind_rules_at(&section, &entry, addresses[i],
			                    &row))
				leave(&section, &row);
		}
		if (at >= offset || offset > section.bytes.size)
			abort();
	}
	return 0;
}
