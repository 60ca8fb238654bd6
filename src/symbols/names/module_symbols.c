/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_symbols.c -- names for the addresses of one module. */
#include "src/symbols/names/program.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/unwind/code_rules.h"
#include "src/symbols/unwind/stack_unwinder.h"

struct module_symbols {
	char *path;
	unsigned char build_id[BUILD_ID_MAX];
	size_t build_id_size;
	uint64_t size, mtime_ns;	/* as in struct module_file */
	struct symbol_search search;
	bool is_read;
	enum module_symbols_state state;
	struct symbol_table *functions, *stubs;	/* NULL before reading */
	struct symbol_table *ranges;	/* NULL before they are needed */
	struct code_rules *code;	/* likewise */
};

struct module_symbols *
module_symbols_new(const char *path, const void *build_id, size_t size,
                   const struct symbol_search *search, struct error *error)
{
	struct module_symbols *module = memory_array(1, sizeof *module, error);

	if (module == NULL)
		return NULL;
	module->path = memory_string(path, error);
	if (module->path == NULL) {
		free(module);
		return NULL;
	}
	if (size > BUILD_ID_MAX)
		size = BUILD_ID_MAX;
	if (size > 0)
		memcpy(module->build_id, build_id, size);
	module->build_id_size = size;
	if (search != NULL)
		module->search = *search;
	return module;
}

struct module_symbols *
module_symbols_of(const struct module_file *file, struct error *error)
{
	struct module_symbols *module = module_symbols_new(file->path,
	    file->build_id, file->build_id_size, &file->search, error);

	if (module != NULL) {
		module->size = file->size;
		module->mtime_ns = file->mtime_ns;
	}
	return module;
}

static void
forget_tables(struct module_symbols *module)
{
	symbol_table_free(module->functions);
	symbol_table_free(module->stubs);
	symbol_table_free(module->ranges);
	code_rules_free(module->code);
	module->code = NULL;
	module->functions = module->stubs = module->ranges = NULL;
}

void
module_symbols_free(struct module_symbols *module)
{
	if (module == NULL)
		return;
	forget_tables(module);
	free(module->path);
	free(module);
}

static struct module_file
module_symbols_file_of(const struct module_symbols *module)
{
	return (struct module_file){
		.path = module->path,
		.build_id = module->build_id,
		.build_id_size = module->build_id_size,
		.size = module->size,
		.mtime_ns = module->mtime_ns,
		.search = module->search,
	};
}

static const enum module_symbols_state states[] = {
	[MODULE_FILE_OPEN] = MODULE_SYMBOLS_READ,
	[MODULE_FILE_MISSING] = MODULE_SYMBOLS_MISSING,
	[MODULE_FILE_UNREADABLE] = MODULE_SYMBOLS_UNREADABLE,
	[MODULE_FILE_DIFFERS] = MODULE_SYMBOLS_DIFFER,
};

/* Opens the module's own file if it is the build that was profiled. */
static enum module_symbols_state
open_own(const struct module_symbols *module, struct elf_file *file)
{
	const struct module_file wanted = module_symbols_file_of(module);

	return states[module_file_open(&wanted, file)];
}

static bool
is_stripped(const struct elf_file *file)
{
	GElf_Shdr header;

	return elf_file_typed_section(file, SHT_SYMTAB, &header) == NULL;
}

/* own: the module's file, or NULL if it is missing. */
static int
read_files(struct module_symbols *module, const struct elf_file *own,
           struct error *error)
{
	const struct module_file wanted = module_symbols_file_of(module);
	struct symbol_table *functions = module->functions;
	struct elf_file debug;
	int result = 0;

	if (own != NULL &&
	    (elf_symbols_add(functions, own, SHT_DYNSYM, error) != 0 ||
	     elf_symbols_add(functions, own, SHT_SYMTAB, error) != 0))
		return -1;
	if ((own == NULL || is_stripped(own)) &&
	    module_file_open_debug(&wanted, own, &debug)) {
		result = elf_symbols_add(functions, &debug, SHT_SYMTAB, error);
		elf_file_close(&debug);
	}
	if (result == 0 && own != NULL && is_stripped(own))
		result = go_symbols_add(functions, own, error);
	if (result != 0 || symbol_table_sort(functions, error) != 0)
		return -1;
	if (own == NULL)
		return 0;
	return elf_symbols_add_stubs(module->stubs, functions, own,
	                             error) == 0 ?
	    symbol_table_sort(module->stubs, error) : -1;
}

static int
read_kernel(struct module_symbols *module, struct error *error)
{
	const struct module_file wanted = module_symbols_file_of(module);
	enum module_file_state state;

	if (kernel_symbols_add(module->functions, &wanted, &state,
	                       error) != 0)
		return -1;
	module->state = states[state];
	return symbol_table_sort(module->functions, error);
}

static int
module_symbols_read_tables(struct module_symbols *module, struct error *error)
{
	struct elf_file file;
	bool is_open;
	int result;

	module->functions = symbol_table_new(error);
	module->stubs = symbol_table_new(error);
	if (module->functions == NULL || module->stubs == NULL)
		return -1;
	if (is_kernel_path(module->path) ||
	    is_kernel_module_path(module->path))
		return read_kernel(module, error);
	module->state = open_own(module, &file);
	is_open = module->state == MODULE_SYMBOLS_READ;
	result = read_files(module, is_open ? &file : NULL, error);
	if (is_open)
		elf_file_close(&file);
	return result;
}

size_t
module_symbols_count(const struct module_symbols *module)
{
	size_t n = 0;

	if (module->is_read)
		n = symbol_table_count(module->functions) +
		    symbol_table_count(module->stubs);
	return module->ranges == NULL ? n :
	    n + symbol_table_count(module->ranges);
}

int
module_symbols_read(struct module_symbols *module,
                    enum module_symbols_state *state, struct error *error)
{
	if (!module->is_read) {
		if (module_symbols_read_tables(module, error) != 0) {
			forget_tables(module);
			return -1;
		}
		module->is_read = true;
		if (symbol_table_count(module->functions) > 0)
			module->state = MODULE_SYMBOLS_READ;
		else if (module->state == MODULE_SYMBOLS_READ)
			module->state = MODULE_SYMBOLS_NONE;
	}
	*state = module->state;
	return 0;
}

/* Opens the file a second time, since most modules never need their ranges. */
static int
read_ranges(struct module_symbols *module, struct error *error)
{
	struct symbol_table *ranges = symbol_table_new(error);
	struct elf_file file;
	int result = 0;

	if (ranges == NULL)
		return -1;
	if (open_own(module, &file) == MODULE_SYMBOLS_READ) {
		result = unwind_ranges_add(ranges, &file, error);
		elf_file_close(&file);
	}
	if (result != 0 || symbol_table_sort(ranges, error) != 0) {
		symbol_table_free(ranges);
		return -1;
	}
	module->ranges = ranges;
	return 0;
}

/*
 * Whether two addresses are in the same function.  A symbol without size would
 * reach over all functions that stripping has made nameless, up to the next
 * symbol.
 */
static bool
is_one_function(const struct symbol_table *ranges, uint64_t one,
                uint64_t other)
{
	const struct symbol *a = symbol_table_find(ranges, one);
	const struct symbol *b = symbol_table_find(ranges, other);

	return a == b || (a != NULL && b != NULL && a->start == b->start);
}

/* The rules of the module's code; NULL with *error set. */
static struct code_rules *
module_symbols_code(struct module_symbols *module, struct error *error)
{
	const struct module_file file = module_symbols_file_of(module);

	if (module->code == NULL)
		module->code = code_rules_new(&file, error);
	return module->code;
}

/*
 * Whether a symbol without size has an address: the unwind tables know no other
 * function there, and the symbol's code goes on to it.  1, 0, or -1.
 */
static int
module_symbols_reach(struct module_symbols *module, const struct symbol *symbol,
                     uint64_t address, struct error *error)
{
	struct code_rules *code;
	enum code_answer answer;

	if (!is_one_function(module->ranges, symbol->start, address))
		return 0;
	/* The tables are certain about where their functions end. */
	if (address == symbol->start ||
	    symbol_table_find(module->ranges, address) != NULL)
		return 1;
	code = module_symbols_code(module, error);
	if (code == NULL)
		return -1;
	answer = code_rules_reaches(code, symbol->start, address, error);
	return answer == CODE_NO_MEMORY ? -1 : answer != CODE_NO;
}

/*
 * The function outside of symbols, as the unwind tables have it, or the code
 * tells: this may be a part of one that has a symbol.
 */
static int
module_symbols_find_nameless(struct module_symbols *module, uint64_t address,
                             const struct symbol **found, struct error *error)
{
	const struct symbol *named;
	struct code_rules *code;

	*found = symbol_table_find(module->ranges, address);
	if (*found != NULL)
		return 0;
	code = module_symbols_code(module, error);
	if (code == NULL ||
	    code_rules_symbol(code, address, found, error) != 0)
		return -1;
	named = *found == NULL ? NULL :
	    symbol_table_find(module->functions, (*found)->start);
	if (named != NULL && named->start == (*found)->start)
		*found = named;
	return 0;
}

int
module_symbols_find(struct module_symbols *module, uint64_t address,
                    const struct symbol **found, struct error *error)
{
	const struct symbol *unsized;
	int is_reached;

	*found = NULL;
	if (!module->is_read)
		return 0;
	*found = symbol_table_find(module->functions, address);
	if (*found != NULL && (*found)->size > 0)
		return 0;
	unsized = *found;
	*found = symbol_table_find(module->stubs, address);
	if (*found != NULL)
		return 0;
	if (module->ranges == NULL && read_ranges(module, error) != 0)
		return -1;
	is_reached = unsized == NULL ? 0 :
	    module_symbols_reach(module, unsized, address, error);
	if (is_reached > 0)
		*found = unsized;
	return is_reached < 0 ? -1 : is_reached > 0 ? 0 :
	    module_symbols_find_nameless(module, address, found, error);
}

char *
module_symbols_name(const struct symbol *symbol, struct error *error)
{
	char *name = demangle(symbol->name, error);
	char *stub;

	if (name == NULL || !symbol->is_stub)
		return name;
	stub = memory_array(strlen(name) + sizeof "@plt", 1, error);
	if (stub != NULL) {
		strcpy(stub, name);
		strcat(stub, "@plt");
	}
	free(name);
	return stub;
}
