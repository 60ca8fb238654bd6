/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-symbols.c -- the readers of ELF files, on any bytes.
 *
 * The first byte is the step between the addresses that are looked up, the
 * rest is the module.  Small programs, stripped and not, and the vdso make
 * good seeds.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/symbols/names/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QUESTIONS = 1000 };

static void
ask(struct module_symbols *module, uint64_t step)
{
	struct error error = { 0 };
	enum module_symbols_state state;

	if (module_symbols_read(module, &state, &error) != 0)
		return;
	for (uint64_t i = 0; i < QUESTIONS; i++) {
		const struct symbol *symbol;

		if (module_symbols_find(module, i * step, &symbol,
		                        &error) == 0 && symbol != NULL)
			free(module_symbols_name(symbol, &error));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct symbol_search nowhere = { .debug_directory = "/nowhere" };
	struct error error = { 0 };
	struct module_symbols *module;
	char path[64];
	int file;

	if (size == 0)
		return 0;
	file = memfd_create("module", MFD_CLOEXEC);
	if (write(file, data + 1, size - 1) != (ssize_t)size - 1)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	module = module_symbols_new(path, NULL, 0, &nowhere, &error);
	ask(module, data[0] + 1);
	module_symbols_free(module);
	close(file);
	return 0;
}
