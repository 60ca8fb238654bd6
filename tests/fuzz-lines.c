/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-lines.c -- the reader of debug information, on any bytes.
 *
 * The input is a module; addresses in its code and beyond are looked up.
 * Small programs with debug information make good seeds.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/symbols/lines/module_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QUESTIONS = 600, FIRST = 0x1000, STEP = 3 };

static void
ask(const char *path)
{
	const struct module_file module = {
		.path = path,
		.search = { .debug_directory = "/nowhere" },
	};
	struct module_lines lines = { 0 };
	struct error error = { 0 };
	struct names *names = names_new(&error);
	uint64_t addresses[QUESTIONS];

	for (size_t i = 0; i < QUESTIONS; i++)
		addresses[i] = FIRST + STEP * i;
	if (module_lines_ask(&lines, &module, addresses, QUESTIONS, names,
	                     NULL, &error) == 0 &&
	    lines.n != QUESTIONS)
		abort();
	for (size_t i = 0; i < lines.n_locations; i++)
		if (lines.locations[i].file != NO_NAME &&
		    lines.locations[i].file >= names_count(names))
			abort();
	module_lines_free(&lines);
	names_free(names);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int file = memfd_create("module", MFD_CLOEXEC);
	char path[64];

	if (write(file, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	ask(path);
	close(file);
	return 0;
}
