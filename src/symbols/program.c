/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.c -- the functions of an executable, one after the other. */
#include "src/symbols/program.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/symbols/debug_file.h"
#include "src/symbols/demangle.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/elf_symbols.h"
#include "src/symbols/static_calls.h"

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
	free(program->functions);
	free(program->calls);
	free(program);
}

static int
add_function(struct program *program, const struct symbol *symbol,
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
	    memory_grow(&program->functions, &program->functions_capacity,
	                (size_t)program->n_functions + 1, sizeof function,
	                error) != 0)
		return -1;
	program->functions[program->n_functions++] = function;
	return 0;
}

/* Of several symbols at one place the table has the preferred one last. */
static int
list_functions(struct program *program, struct symbol_table *symbols,
               struct names *names, struct error *error)
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
		if (add_function(program, symbol, names, error) != 0)
			return -1;
		if (next != NULL)
			program->functions[program->n_functions - 1].end =
			    next->start;
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

static int
read_symbols(struct program *program, const struct elf_file *file,
             const char *path, const struct symbol_search *search,
             struct names *names, struct error *error)
{
	struct symbol_table *symbols = symbol_table_new(error);
	int result = -1;

	if (symbols == NULL)
		return -1;
	if (elf_symbols_add(symbols, file, SHT_SYMTAB, error) == 0 &&
	    (symbol_table_count(symbols) > 0 ||
	     add_debug_symbols(symbols, file, path, search, error) == 0) &&
	    list_functions(program, symbols, names, error) == 0)
		result = 0;
	symbol_table_free(symbols);
	if (result == 0 && program->n_functions == 0)
		return error_set(error, "%s: has no symbols of functions",
		                 path);
	return result;
}

struct program *
program_read(const char *path, const struct symbol_search *search,
             struct names *names, struct error *error)
{
	struct program *program = memory_array(1, sizeof *program, error);
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
	if (read_symbols(program, &file, path, search, names, error) == 0)
		result = static_calls_add(program, &file, error);
	elf_file_close(&file);
	if (result == 0)
		return program;
	program_free(program);
	return NULL;
}

uint32_t
program_find(const struct program *program, uint64_t address)
{
	uint32_t low = 0, high = program->n_functions;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct program_function *function =
		    &program->functions[middle];

		if (address < function->start)
			high = middle;
		else if (address >= function->end)
			low = middle + 1;
		else
			return middle;
	}
	return UINT32_MAX;
}
