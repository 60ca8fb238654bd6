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

#include "src/profile/profile.h"
#include "src/symbols/lines/address_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QUESTIONS = 600, FIRST = 0x1000, STEP = 3 };

static void
ask(const char *path)
{
	const struct symbol_search search = { .debug_directory = "/nowhere" };
	struct error error = { 0 };
	struct address_lines *lines = address_lines_new(&search, &error);
	struct profile *profile = profile_new(&error);
	const struct location location = {
		.function = names_add(profile->names, "f", 1, &error),
		.file = NO_NAME,
		.linkage = NO_NAME,
	};

	profile_add_module(profile, path, NULL, 0, &error);
	for (uint32_t i = 0; i < QUESTIONS; i++)
		if (profile_add_frame(profile, 0, FIRST + STEP * i, &location,
		                      1, &error) != i)
			abort();
	address_lines_apply(lines, profile, LINES_ALL, NULL, &error);
	for (uint32_t i = 0; i < profile->n_locations; i++) {
		const struct location *found = &profile->locations[i];
		uint32_t n = names_count(profile->names);

		if (found->function >= n ||
		    (found->file != NO_NAME && found->file >= n) ||
		    (found->linkage != NO_NAME && found->linkage >= n))
			abort();
	}
	profile_free(profile);
	address_lines_free(lines);
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
