/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-demangle.c -- demangling any bytes.
 *
 * The first byte chooses the mangling that the rest should look like, so that
 * few inputs are wasted on other names.
 *
 * clang -fsanitize=fuzzer,address,undefined
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/symbols/names/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const heads[] = { "_Z", "_R", "_D", "" };
	struct error error = { 0 };
	const char *head;
	char *symbol, *name;

	if (size == 0)
		return 0;
	head = heads[data[0] % 4];
	symbol = calloc(1, strlen(head) + size);
	memcpy(symbol, head, strlen(head));
	memcpy(symbol + strlen(head), data + 1, size - 1);
	name = demangle(symbol, &error);
	if (name == NULL || strlen(name) > DEMANGLED_MAX)
		abort();
	free(name);
	free(symbol);
	return 0;
}
