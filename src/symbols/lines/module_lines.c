/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_lines.c -- what is known of the addresses of one module. */
#include "src/symbols/lines/module_lines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/names/demangle.h"
#include "src/symbols/names/module_symbols.h"
#include "src/symbols/lines/source_path.h"

struct asking {
	struct module_lines *lines;
	const struct module_file *module;
	struct module_symbols *symbols;		/* NULL: not needed so far */
	struct names *names;
	struct known_address *new;	/* [n] those asked for */
};

void
module_lines_free(struct module_lines *lines)
{
	free(lines->addresses);
	free(lines->locations);
}

static int
compare_addresses(const void *left, const void *right)
{
	const struct known_address *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

const struct known_address *
module_lines_find(const struct module_lines *lines, uint64_t address)
{
	const struct known_address key = { .address = address };

	if (lines->n == 0)
		return NULL;
	return bsearch(&key, lines->addresses, lines->n, sizeof key,
	               compare_addresses);
}

/* The module's symbol there, if it has one with a name. */
static int
find_symbol(struct asking *asking, uint64_t address,
            const struct symbol **symbol, struct error *error)
{
	const struct module_file *module = asking->module;
	enum module_symbols_state state;

	*symbol = NULL;
	if (asking->symbols == NULL)
		asking->symbols = module_symbols_of(module, error);
	if (asking->symbols == NULL ||
	    module_symbols_read(asking->symbols, &state, error) != 0 ||
	    module_symbols_find(asking->symbols, address, symbol,
	                        error) != 0)
		return -1;
	if (*symbol != NULL && *(*symbol)->name == '\0')
		*symbol = NULL;
	return 0;
}

/* *name: NO_NAME for a function that is not known. */
static int
add_function(struct asking *asking, const struct debug_location *location,
             uint32_t *name, struct error *error)
{
	const struct symbol *symbol = NULL;
	char *text;

	*name = NO_NAME;
	if (location->function == NULL)
		return 0;
	if (location->copy != 0 &&
	    find_symbol(asking, location->copy, &symbol, error) != 0)
		return -1;
	text = symbol != NULL ? module_symbols_name(symbol, error) :
	    demangle(location->function, error);
	if (text == NULL)
		return -1;
	*name = names_add(asking->names, text, strlen(text), error);
	free(text);
	return *name != NO_NAME ? 0 : -1;
}

/*
 * *name: NO_NAME where there is none, which libdw may call "???", and for a
 * path that no system would take.
 */
static int
add_file(struct names *names, const struct debug_location *location,
         uint32_t *name, struct error *error)
{
	char clean[PATH_MAX];
	size_t length = location->file == NULL ||
	    strcmp(location->file, "???") == 0 ? 0 :
	    source_path_clean(clean, sizeof clean, location->directory,
	                      location->file);

	*name = NO_NAME;
	if (length == 0)
		return 0;
	*name = names_add(names, clean, length, error);
	return *name != NO_NAME ? 0 : -1;
}

static int
take(void *context, size_t which, const struct debug_location *chain, size_t n,
     struct error *error)
{
	struct asking *asking = context;
	struct module_lines *lines = asking->lines;

	if (lines->n_locations + n > UINT32_MAX)
		return error_set(error, "more than 4,294,967,295 lines");
	if (memory_grow(&lines->locations, &lines->locations_capacity,
	                lines->n_locations + n, sizeof *lines->locations,
	                error) != 0)
		return -1;
	asking->new[which].first = (uint32_t)lines->n_locations;
	asking->new[which].n = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		struct location *location =
		    &lines->locations[lines->n_locations++];

		location->line = chain[i].line;
		if (add_function(asking, &chain[i], &location->function,
		                 error) != 0 ||
		    add_file(asking->names, &chain[i], &location->file,
		             error) != 0)
			return -1;
	}
	return 0;
}

/* The file that has the module's debug information. */
static bool
open_file(const struct module_file *module, struct elf_file *file)
{
	struct elf_file own;
	bool has_own = module_file_open(module, &own) == MODULE_FILE_OPEN;
	bool has_debug;

	if (has_own && debug_lines_exist(&own)) {
		*file = own;
		return true;
	}
	has_debug = module_file_open_debug(module, has_own ? &own : NULL,
	                                   file);
	if (has_own)
		elf_file_close(&own);
	return has_debug;
}

static int
read_file(struct asking *asking, const uint64_t *addresses, size_t n,
          const struct progress *progress, struct error *error)
{
	const struct debug_lines_request request = {
		.addresses = addresses,
		.n = n,
		.found = take,
		.context = asking,
		.progress = progress,
	};
	struct elf_file file;
	int result;

	asking->lines->state = DEBUG_LINES_NONE;
	if (!open_file(asking->module, &file))
		return 0;
	result = debug_lines_read(&file, &asking->module->search, &request,
	                          &asking->lines->state, error);
	elf_file_close(&file);
	return result;
}

/* Enters the new addresses among those that are known. */
static int
enter(struct module_lines *lines, const struct known_address *new, size_t n,
      struct error *error)
{
	if (memory_grow(&lines->addresses, &lines->capacity, lines->n + n,
	                sizeof *new, error) != 0)
		return -1;
	memcpy(lines->addresses + lines->n, new, n * sizeof *new);
	lines->n += n;
	qsort(lines->addresses, lines->n, sizeof *new, compare_addresses);
	return 0;
}

int
module_lines_ask(struct module_lines *lines, const struct module_file *module,
                 const uint64_t *addresses, size_t n, struct names *names,
                 const struct progress *progress, struct error *error)
{
	struct asking asking = {
		.lines = lines,
		.module = module,
		.names = names,
	};
	size_t n_before = lines->n_locations;
	int result;

	asking.new = memory_array(n, sizeof *asking.new, error);
	if (asking.new == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		asking.new[i].address = addresses[i];
	result = read_file(&asking, addresses, n, progress, error);
	if (result != 0 || (lines->state != DEBUG_LINES_READ &&
	                    lines->state != DEBUG_LINES_SPLIT)) {
		lines->n_locations = n_before;
		for (size_t i = 0; i < n; i++)
			asking.new[i].n = 0;
	}
	if (result == 0)
		result = enter(lines, asking.new, n, error);
	module_symbols_free(asking.symbols);
	free(asking.new);
	return result;
}
