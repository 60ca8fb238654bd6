/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.c -- an executable as gprof sees it: functions, and calls in them. */
#include "src/symbols/names/program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/symbols/elf/elf_file.h"

bool
program_is_one(const char *path)
{
	unsigned char magic[4];
	struct stat status;
	bool is_one;
	int descriptor;

	/* A pipe's writer would notice that it is opened and closed again. */
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return false;
	descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (descriptor < 0)
		return false;
	is_one = read(descriptor, magic, 4) == 4 &&
	    memcmp(magic, "\177ELF", 4) == 0;
	close(descriptor);
	return is_one;
}

void
program_free(struct program *program)
{
	if (program == NULL)
		return;
	free(program->functions.items);
	free(program->calls.items);
	free(program);
}

static int
program_add_function(struct program_functions *functions,
                     const struct symbol *symbol, uint64_t end,
                     struct names *names, struct error *error)
{
	struct program_function function = {
		.start = symbol->start, .end = end,
	};
	char *name = demangle(symbol->name, error);

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

/* Adds the symbols of a program that has none itself, from its debug file. */
static int
add_debug_symbols(struct symbol_table *symbols, const struct elf_file *own,
                  const struct module_file *module, struct error *error)
{
	struct elf_file debug;
	int result;

	if (!module_file_open_debug(module, own, &debug))
		return 0;
	result = elf_symbols_add(symbols, &debug, SHT_SYMTAB, error);
	elf_file_close(&debug);
	return result;
}

static int
program_read_functions(struct program_functions *functions,
                       struct symbol_table *symbols,
                       const struct elf_file *file,
                       const struct module_file *module, struct names *names,
                       struct error *error)
{
	size_t n;

	if (elf_symbols_add(symbols, file, SHT_SYMTAB, error) != 0 ||
	    (symbol_table_count(symbols) == 0 &&
	     add_debug_symbols(symbols, file, module, error) != 0) ||
	    symbol_table_sort(symbols, error) != 0)
		return -1;
	n = symbol_table_count(symbols);
	for (size_t i = 0; i < n; i++) {
		const struct symbol *symbol = symbol_table_at(symbols, i);
		const struct symbol *next = i + 1 < n ?
		    symbol_table_at(symbols, i + 1) : NULL;

		/* Of several at one start, the last is preferred. */
		if (next != NULL && next->start == symbol->start)
			continue;
		if (program_add_function(functions, symbol, next != NULL ?
		                         next->start : symbol->limit, names,
		                         error) != 0)
			return -1;
	}
	if (functions->n == 0)
		return error_set(error, "%s: has no symbols of functions",
		                 module->path);
	return 0;
}

struct program *
program_read(const char *path, const struct symbol_search *search,
             struct names *names, struct error *error)
{
	const struct module_file module = { .path = path, .search = *search };
	struct program *program = memory_array(1, sizeof *program, error);
	struct symbol_table *symbols;
	struct elf_file file;
	int result = -1;

	if (program == NULL)
		return NULL;
	if (elf_file_open(&file, path) != ELF_FILE_OPEN) {
		error_set(error, "%s: cannot be read as a program", path);
		program_free(program);
		return NULL;
	}
	program->pointer_size = gelf_getclass(file.elf) == ELFCLASS32 ? 4 : 8;
	symbols = symbol_table_new(error);
	if (symbols != NULL &&
	    program_read_functions(&program->functions, symbols, &file, &module,
	                           names, error) == 0)
		result = static_calls_find(&program->calls,
		                           &program->functions, &file, error);
	symbol_table_free(symbols);
	elf_file_close(&file);
	if (result == 0)
		return program;
	program_free(program);
	return NULL;
}

uint32_t
program_functions_from(const struct program_functions *functions,
                       uint64_t address)
{
	return (uint32_t)partition_point(functions->n, i,
	                                 functions->items[i].start < address);
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
