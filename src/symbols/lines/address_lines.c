/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address_lines.c -- lines and inlined calls for a profile's addresses.
 *
 * For each module, the addresses that were asked for are kept in ascending
 * order, each with its chain of locations.  Addresses that are new are read in
 * a child process (debug_lines.h) and merged in.
 */
#include "src/symbols/lines/address_lines.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/symbols/lines/debug_lines.h"
#include "src/symbols/names/program.h"

enum { MODULES_NAMED = 3 };	/* of those without debug information */

/* The chain of an address: locations[first] .. [first + n - 1]. */
struct address_known_address {
	uint64_t address;
	uint32_t first;
	uint32_t n;		/* 0: nothing is known */
};

/* What is known of a module. */
struct module_lines {
	struct address_known_address *addresses;	/* [n] ascending */
	size_t n, capacity;
	/* Outermost first; the outermost function is NO_NAME.  Names are in
	 * address_lines.names. */
	struct location *locations;
	size_t n_locations, locations_capacity;
	enum debug_lines_state state;	/* once addresses were asked for */
};

struct address_lines {
	struct symbol_search search;
	struct names *keys;		/* pairs of path and build-id */
	struct module_lines *modules;	/* by key */
	size_t capacity;
	struct names *names;		/* functions and files */
};

struct address_lines *
address_lines_new(const struct symbol_search *search, struct error *error)
{
	struct address_lines *lines = memory_array(1, sizeof *lines, error);

	if (lines == NULL)
		return NULL;
	if (search != NULL)
		lines->search = *search;
	lines->keys = names_new(error);
	lines->names = names_new(error);
	if (lines->keys != NULL && lines->names != NULL)
		return lines;
	address_lines_free(lines);
	return NULL;
}

void
address_lines_free(struct address_lines *lines)
{
	if (lines == NULL)
		return;
	for (uint32_t i = 0; lines->keys != NULL &&
	     i < names_count(lines->keys); i++) {
		free(lines->modules[i].addresses);
		free(lines->modules[i].locations);
	}
	free(lines->modules);
	names_free(lines->keys);
	names_free(lines->names);
	free(lines);
}

/* What is known of a module, which is added if new; NULL with *error set. */
static struct module_lines *
address_lines_find_module(struct address_lines *lines,
                          const struct module *module, struct error *error)
{
	uint32_t n = names_count(lines->keys), number;
	unsigned char build[MODULE_BUILD_MAX];
	size_t size = module_build(module, build);

	if (memory_grow(&lines->modules, &lines->capacity, (size_t)n + 1,
	                sizeof *lines->modules, error) != 0)
		return NULL;
	lines->modules[n] = (struct module_lines){ 0 };
	number = names_add_pair(lines->keys, module->path,
	    strlen(module->path), build, size, error);
	return number != NO_NAME ? &lines->modules[number] : NULL;
}

bool
address_lines_were_read(const struct address_lines *lines,
                        const struct module *module)
{
	unsigned char build[MODULE_BUILD_MAX];
	size_t size = module_build(module, build);
	uint32_t number = names_find_pair(lines->keys, module->path,
	    strlen(module->path), build, size);

	return number != NO_NAME && lines->modules[number].n > 0 &&
	    lines->modules[number].state == DEBUG_LINES_READ;
}

static int
address_lines_compare_addresses(const void *left, const void *right)
{
	const struct address_known_address *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* What is known of an address; NULL: it was never asked for. */
static const struct address_known_address *
address_lines_find_address(const struct module_lines *module, uint64_t address)
{
	const struct address_known_address key = { .address = address };

	if (module->n == 0)
		return NULL;
	return bsearch(&key, module->addresses, module->n, sizeof key,
	               address_lines_compare_addresses);
}

/* ---- reading a module's debug information ---- */

/* Addresses that are asked for. */
struct address_reading {
	struct module_lines *lines;
	const struct module_file *module;
	struct module_symbols *symbols;	/* NULL before they are needed */
	struct names *names;
	struct address_known_address *new;	/* [n] ascending */
};

/* The module's symbol at an address, if it has one with a name. */
static int
find_symbol(struct address_reading *reading, uint64_t address,
            const struct symbol **symbol, struct error *error)
{
	enum module_symbols_state state;

	*symbol = NULL;
	if (reading->symbols == NULL)
		reading->symbols = module_symbols_of(reading->module, error);
	if (reading->symbols == NULL ||
	    module_symbols_read(reading->symbols, &state, error) != 0 ||
	    module_symbols_find(reading->symbols, address, symbol,
	                        error) != 0)
		return -1;
	if (*symbol != NULL && *(*symbol)->name == '\0')
		*symbol = NULL;
	return 0;
}

/* *name: NO_NAME for an unknown function. */
static int
address_lines_add_function(struct address_reading *reading,
                           const struct debug_location *location,
                           uint32_t *name, struct error *error)
{
	const struct symbol *symbol = NULL;
	char *text;

	*name = NO_NAME;
	if (location->function == NULL)
		return 0;
	if (location->copy != 0 &&
	    find_symbol(reading, location->copy, &symbol, error) != 0)
		return -1;
	text = symbol != NULL ? module_symbols_name(symbol, error) :
	    demangle(location->function, error);
	if (text == NULL)
		return -1;
	*name = names_add(reading->names, text, strlen(text), error);
	free(text);
	return *name != NO_NAME ? 0 : -1;
}

/*
 * *name: NO_NAME if there is no file, which libdw may call "???", or if the
 * path is too long for any system.
 */
static int
address_lines_add_file(struct names *names,
                       const struct debug_location *location, uint32_t *name,
                       struct error *error)
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
address_lines_add_linkage(struct names *names,
                          const struct debug_location *location,
                          uint32_t *name, struct error *error)
{
	const char *linkage = location->declared.linkage;

	*name = NO_NAME;
	if (linkage == NULL)
		return 0;
	*name = names_add(names, linkage, strlen(linkage), error);
	return *name != NO_NAME ? 0 : -1;
}

/* Takes the chain of one address. */
static int
take_chain(void *context, size_t which, const struct debug_location *chain,
           size_t n, struct error *error)
{
	struct address_reading *reading = context;
	struct module_lines *lines = reading->lines;

	if (lines->n_locations + n > UINT32_MAX)
		return error_set(error, "more than 4,294,967,295 lines");
	if (memory_grow(&lines->locations, &lines->locations_capacity,
	                lines->n_locations + n, sizeof *lines->locations,
	                error) != 0)
		return -1;
	reading->new[which].first = (uint32_t)lines->n_locations;
	reading->new[which].n = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		struct location *location =
		    &lines->locations[lines->n_locations++];

		location->line = chain[i].line;
		location->start_line = chain[i].declared.start_line;
		location->discriminator = chain[i].discriminator;
		if (address_lines_add_function(reading, &chain[i],
		                               &location->function,
		                               error) != 0 ||
		    address_lines_add_file(reading->names, &chain[i],
		                           &location->file, error) != 0 ||
		    address_lines_add_linkage(reading->names, &chain[i],
		                              &location->linkage, error) != 0)
			return -1;
	}
	return 0;
}

/*
 * Reads the locations of addresses[n], ascending, none of them known.  With a
 * state other than DEBUG_LINES_READ and _SPLIT nothing is known of them.  0; or
 * -1 with *error set, and the addresses are as before.
 */
static int
read_module(struct address_lines *lines, struct module_lines *module,
            const struct module_file *wanted, const uint64_t *addresses,
            size_t n, const struct progress *progress, struct error *error)
{
	struct address_reading reading = {
		.lines = module,
		.module = wanted,
		.names = lines->names,
		.new = memory_array(n, sizeof *reading.new, error),
	};
	const struct debug_lines_request request = {
		.addresses = addresses,
		.n = n,
		.found = take_chain,
		.context = &reading,
		.progress = progress,
	};
	size_t n_before = module->n_locations;
	struct elf_file file;
	int result = 0;

	if (reading.new == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		reading.new[i].address = addresses[i];
	module->state = DEBUG_LINES_NONE;
	if (debug_lines_open(wanted, &file)) {
		result = debug_lines_read_in_child(&file, &wanted->search,
		    &request, &module->state, error);
		elf_file_close(&file);
	}
	if (result != 0 || (module->state != DEBUG_LINES_READ &&
	                    module->state != DEBUG_LINES_SPLIT)) {
		module->n_locations = n_before;
		for (size_t i = 0; i < n; i++)
			reading.new[i].n = 0;
	}
	if (result == 0)
		result = memory_grow(&module->addresses, &module->capacity,
		                     module->n + n, sizeof *reading.new,
		                     error);
	if (result == 0) {
		memcpy(module->addresses + module->n, reading.new,
		       n * sizeof *reading.new);
		module->n += n;
		qsort(module->addresses, module->n, sizeof *reading.new,
		      address_lines_compare_addresses);
	}
	module_symbols_free(reading.symbols);
	free(reading.new);
	return result;
}

/* Whether the file with a module's debug information is that small. */
static bool
is_small(const struct module_file *wanted, uint64_t most_bytes)
{
	struct elf_file file;
	struct stat status;
	bool is_small;

	if (!debug_lines_open(wanted, &file))
		return true;
	is_small = file.descriptor >= 0 &&
	    fstat(file.descriptor, &status) == 0 &&
	    (uint64_t)status.st_size <= most_bytes;
	elf_file_close(&file);
	return is_small;
}

int
address_lines_find(struct address_lines *lines, const struct module *module,
                   const uint64_t *addresses, size_t n, uint64_t most_bytes,
                   int (*found)(void *context, size_t which,
                                const struct location *chain, size_t n,
                                const struct names *names,
                                struct error *error),
                   void *context, struct error *error)
{
	const struct module_file wanted = module_file_of(module,
	                                                 lines->search);
	struct module_lines *known = address_lines_find_module(lines, module,
	                                                       error);
	uint64_t *asked = memory_array(n, sizeof *asked, error);
	size_t n_asked = 0;
	int status = 0;

	if (known == NULL || asked == NULL) {
		free(asked);
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		if (address_lines_find_address(known, addresses[i]) == NULL)
			asked[n_asked++] = addresses[i];
	if (n_asked > 0 && (most_bytes == UINT64_MAX ||
	                    is_small(&wanted, most_bytes)))
		status = read_module(lines, known, &wanted, asked, n_asked,
		                     NULL, error);
	free(asked);
	for (size_t i = 0; status == 0 && i < n; i++) {
		const struct address_known_address *at =
		    address_lines_find_address(known, addresses[i]);

		if (at != NULL && at->n > 0)
			status = found(context, i, known->locations +
			               at->first, at->n, lines->names, error);
	}
	return status;
}

/* ---- giving lines to a profile ---- */

/* What one profile needs. */
struct applying {
	struct address_lines *lines;
	struct profile *profile;
	const struct progress *progress;
	uint32_t *frames;		/* [n] frames that lack lines, by module
					 * and address */
	size_t n;
	uint64_t *addresses;		/* [n] room */
	uint32_t *names;		/* [n_names] number in the profile of
					 * each of lines->names; NO_NAME: not
					 * yet added */
	size_t names_capacity;
	uint32_t n_names;
	struct location *chain;
	size_t chain_capacity;
	uint32_t without[MODULES_NAMED];	/* modules without */
	uint32_t n_without;		/* debug information */
};

/* The number of a name in the profile; NO_NAME for NO_NAME. */
static uint32_t
name_in_profile(struct applying *applying, uint32_t name, struct error *error)
{
	const struct names *names = applying->lines->names;

	if (name == NO_NAME)
		return NO_NAME;
	if (memory_grow(&applying->names, &applying->names_capacity,
	                (size_t)name + 1, sizeof *applying->names,
	                error) != 0)
		return NO_NAME;
	while (applying->n_names <= name)
		applying->names[applying->n_names++] = NO_NAME;
	if (applying->names[name] == NO_NAME)
		applying->names[name] = names_add(applying->profile->names,
		    names_text(names, name), names_length(names, name),
		    error);
	return applying->names[name];
}

static int
set_chain(struct applying *applying, uint32_t number,
          const struct location *chain, uint32_t n, struct error *error)
{
	struct profile *profile = applying->profile;
	const struct frame *frame = &profile->frames[number];

	if (memory_grow(&applying->chain, &applying->chain_capacity, n,
	                sizeof *chain, error) != 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t function = i == 0 ?
		    profile->locations[frame->first_location].function :
		    name_in_profile(applying, chain[i].function, error);

		if (function == NO_NAME && !error->is_set)
			function = names_add(profile->names, "[inlined]",
			                     strlen("[inlined]"), error);
		applying->chain[i] = (struct location){
			.function = function,
			.file = name_in_profile(applying, chain[i].file,
			                        error),
			.line = chain[i].line,
			.linkage = name_in_profile(applying, chain[i].linkage,
			                           error),
			.start_line = chain[i].start_line,
			.discriminator = chain[i].discriminator,
		};
	}
	if (error->is_set)
		return -1;
	return profile_set_debug_lines(profile, number, applying->chain, n,
	                               error);
}

static int
address_lines_warn_of_module(struct applying *applying, uint32_t module,
                             enum debug_lines_state state, struct error *error)
{
	const char *path = applying->profile->modules[module].path;

	if (state == DEBUG_LINES_DAMAGED)
		return profile_warn(applying->profile, error,
		    "%s: debug information is damaged; its lines and inlined "
		    "calls are not shown", path);
	if (state == DEBUG_LINES_SPLIT)
		return profile_warn(applying->profile, error,
		    "%s has inlined calls in split files (.dwo), which are "
		    "not read: its lines are shown, inlined calls of such "
		    "units are not", path);
	if (state == DEBUG_LINES_INCOMPLETE)
		return profile_warn(applying->profile, error,
		    "the debug information of %s refers to a file that is "
		    "not there; no line or inlined call of it is shown",
		    path);
	if (state == DEBUG_LINES_NONE && *path == '/') {
		if (applying->n_without < MODULES_NAMED)
			applying->without[applying->n_without] = module;
		applying->n_without++;
	}
	return 0;
}

/* frames[n] are those of one module, by address. */
static int
apply_module(struct applying *applying, const uint32_t *frames, size_t n,
             struct error *error)
{
	const struct profile *profile = applying->profile;
	uint32_t number = profile->frames[frames[0]].module;
	const struct module_file wanted = module_file_of(
	    &profile->modules[number], applying->lines->search);
	struct module_lines *module = address_lines_find_module(applying->lines,
	    &profile->modules[number], error);
	uint64_t *addresses = applying->addresses;
	size_t n_asked = 0;
	bool is_first;

	if (module == NULL || progress_step(NULL, 0, 0, error) != 0)
		return -1;
	is_first = module->n == 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t address = profile->frames[frames[i]].address;

		if (address_lines_find_address(module, address) == NULL &&
		    (n_asked == 0 || addresses[n_asked - 1] != address))
			addresses[n_asked++] = address;
	}
	if (n_asked > 0 &&
	    (read_module(applying->lines, module, &wanted, addresses, n_asked,
	                 applying->progress, error) != 0 ||
	     (is_first &&
	      address_lines_warn_of_module(applying, number, module->state,
	                                   error) != 0)))
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct address_known_address *found =
		    address_lines_find_address(module,
		                               profile->frames[frames[i]]
		                                   .address);

		if (found->n > 0 && set_chain(applying, frames[i],
		        module->locations + found->first, found->n,
		        error) != 0)
			return -1;
	}
	return 0;
}

static int
warn_of_modules_without(struct applying *applying, struct error *error)
{
	struct profile *profile = applying->profile;
	char list[300] = "", more[40] = "";
	size_t length = 0;

	if (applying->n_without == 0)
		return 0;
	for (uint32_t i = 0; i < applying->n_without && i < MODULES_NAMED &&
	     length < sizeof list; i++)
		length += (size_t)snprintf(list + length, sizeof list - length,
		    "%s%.80s", i > 0 ? ", " : "",
		    profile_module_name(profile, applying->without[i]));
	if (applying->n_without > MODULES_NAMED)
		snprintf(more, sizeof more, " and %u more",
		         applying->n_without - MODULES_NAMED);
	return profile_warn(profile, error, "no debug information for %s%s; "
	                    "their lines and inlined calls are not shown",
	                    list, more);
}

static int
apply_all(struct applying *applying, enum lines_wanted wanted,
          struct error *error)
{
	struct profile *profile = applying->profile;
	uint32_t *lacking = applying->frames;
	size_t begin, end;

	for (uint32_t i = 0; i < profile->n_frames; i++)
		if (profile_lacks_lines(profile, &profile->frames[i]) &&
		    (wanted == LINES_ALL || !profile->frames[i].is_deferred))
			lacking[applying->n++] = i;
	profile_sort_frames(profile, lacking, applying->n);
	for (begin = 0; begin < applying->n; begin = end) {
		uint32_t module = profile->frames[lacking[begin]].module;

		for (end = begin + 1; end < applying->n &&
		     profile->frames[lacking[end]].module == module; end++)
			;
		if (apply_module(applying, lacking + begin, end - begin,
		                 error) != 0)
			return -1;
	}
	return warn_of_modules_without(applying, error);
}

int
address_lines_apply(struct address_lines *lines, struct profile *profile,
                    enum lines_wanted wanted, const struct progress *progress,
                    struct error *error)
{
	struct applying applying = {
		.lines = lines,
		.profile = profile,
		.progress = progress,
		.frames = memory_array(profile->n_frames,
		                       sizeof *applying.frames, error),
		.addresses = memory_array(profile->n_frames,
		                          sizeof *applying.addresses, error),
	};
	int result = -1;

	if (applying.frames != NULL && applying.addresses != NULL)
		result = apply_all(&applying, wanted, error);
	free(applying.frames);
	free(applying.addresses);
	free(applying.names);
	free(applying.chain);
	return result;
}
