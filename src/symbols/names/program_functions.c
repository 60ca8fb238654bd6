/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program_functions.c -- a program's functions, one after the other. */
#include "src/symbols/names/program_functions.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/names/demangle.h"
#include "src/symbols/elf/elf_symbols.h"

static int
add_function(struct program_functions *functions, const struct symbol *symbol,
             struct names *names, struct error *error)
{
	char *name = demangle(symbol->name, error);
	struct program_function function = {
		.start = symbol->start, .end = symbol->limit,
	};

	if (name == NULL)
		return -1;
	function.name = names_add(names, name, strlen(name), error);
	free(name);
	if (function.name == NO_NAME ||
	    memory_grow(&functions->items, &functions->capacity,
	                (size_t)functions->n + 1, sizeof function,
	                error) != 0)
		return -1;
	functions->items[functions->n++] = function;
	return 0;
}

/* Of several symbols at one place the table has the preferred one last. */
static int
list_functions(struct program_functions *functions,
               struct symbol_table *symbols, struct names *names,
               struct error *error)
{
	size_t n = symbol_table_count(symbols);

	if (symbol_table_sort(symbols, error) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct symbol *symbol = symbol_table_at(symbols, i);
		const struct symbol *next = i + 1 < n ?
		    symbol_table_at(symbols, i + 1) : NULL;

		if (next != NULL && next->start == symbol->start)
			continue;
		if (add_function(functions, symbol, names, error) != 0)
			return -1;
		if (next != NULL)
			functions->items[functions->n - 1].end = next->start;
	}
	return 0;
}

/* From the debug file of a program that has no symbols itself. */
static int
add_debug_symbols(struct symbol_table *symbols, const struct elf_file *file,
                  const char *path, const struct symbol_search *search,
                  struct error *error)
{
	unsigned char id[BUILD_ID_MAX];
	size_t size = elf_file_build_id(file, id);
	struct elf_file debug;
	int result;

	if (!debug_file_by_build_id(&debug, search, id, size) &&
	    !debug_file_by_link(&debug, search, file, path))
		return 0;
	result = elf_symbols_add(symbols, &debug, SHT_SYMTAB, error);
	elf_file_close(&debug);
	return result;
}

int
program_functions_read(struct program_functions *functions,
                       const struct elf_file *file, const char *path,
                       const struct symbol_search *search,
                       struct names *names, struct error *error)
{
	struct symbol_table *symbols = symbol_table_new(error);
	int result = -1;

	if (symbols == NULL)
		return -1;
	if (elf_symbols_add(symbols, file, SHT_SYMTAB, error) == 0 &&
	    (symbol_table_count(symbols) > 0 ||
	     add_debug_symbols(symbols, file, path, search, error) == 0) &&
	    list_functions(functions, symbols, names, error) == 0)
		result = 0;
	symbol_table_free(symbols);
	if (result == 0 && functions->n == 0)
		return error_set(error, "%s: has no symbols of functions",
		                 path);
	return result;
}

void
program_functions_free(struct program_functions *functions)
{
	free(functions->items);
}

uint32_t
program_functions_from(const struct program_functions *functions,
                       uint64_t address)
{
	uint32_t low = 0, high = functions->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (functions->items[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t
program_functions_find(const struct program_functions *functions,
                       uint64_t address)
{
	uint32_t n;

	if (address == UINT64_MAX)
		return UINT32_MAX;
	n = program_functions_from(functions, address + 1);
	return n > 0 && address < functions->items[n - 1].end ? n - 1 :
	    UINT32_MAX;
}
