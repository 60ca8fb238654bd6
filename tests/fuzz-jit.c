/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-jit.c -- the reader of jitdump files, on any bytes after a header.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/symbols/names/address_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint32_t header[10] = { 0x4a695444, 1, 40, 62, 0, 7 };
	struct jit_entries entries = { 0 };
	struct error error = { 0 };
	char *bytes = malloc(sizeof header + size);
	FILE *file;

	memcpy(bytes, header, sizeof header);
	if (size > 0)
		memcpy(bytes + sizeof header, data, size);
	file = fmemopen(bytes, sizeof header + size, "r");
	jit_dump_read(&entries, file, 7, &error);
	for (size_t i = 0; i < entries.n; i++)
		for (size_t k = 0; k < entries.items[i].n_lines; k++)
			if (entries.items[i].lines[k].offset == 1 << 30)
				abort();
	jit_entries_free(&entries);
	fclose(file);
	free(bytes);
	return 0;
}
