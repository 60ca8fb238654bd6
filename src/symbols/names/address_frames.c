/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address_frames.c -- makes a profile's frames from program addresses.
 *
 * Each address is kept once.  To be named, the addresses are sorted by module
 * and address: then each module is read once, and a name is demangled once for
 * all addresses of its function.
 */
#include "src/symbols/names/address_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "src/base/index.h"
#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/symbols/names/program.h"

/* The module of a frame that has only a name; its address is the name. */
#define BARE_NAME (NO_MODULE - 1)

/* That of an interpreted frame; its address is the key. */
#define INTERPRETED (NO_MODULE - 2)

enum { WARNINGS_MAX = 10 };

struct address {
	uint64_t address;
	uint32_t module;
	uint32_t function;	/* a name, once it is known */
	uint32_t offset;	/* into the function, or NO_OFFSET */
	bool is_as_kept;	/* its name is the kept one */
	bool is_made_up;	/* its name is, for want of a symbol */
	uint8_t placeholder;	/* enum frame_placeholder */
	const struct kept_address *kept;	/* NULL: not kept */
	uint32_t interpreted;	/* number in frames->interpreted */
};

struct address_frames {
	struct address *items;
	size_t n, capacity;
	struct index index;	/* by module and address */
	uint32_t n_unnamed;	/* modules without symbols */
	const struct kept_names *kept;
	/* For addresses in no module, see address_frames_use_jit. */
	bool is_jit;
	const struct kept_range *kept_jit;
	const struct jit_map *jit;
	struct interpreted_frame *interpreted;
	size_t n_interpreted, interpreted_capacity;
};

struct address_frames *
address_frames_new(struct error *error)
{
	return memory_array(1, sizeof(struct address_frames), error);
}

void
address_frames_free(struct address_frames *frames)
{
	if (frames == NULL)
		return;
	free(frames->items);
	free(frames->interpreted);
	index_free(&frames->index);
	free(frames);
}

void
address_frames_use(struct address_frames *frames,
                   const struct kept_names *kept)
{
	frames->kept = kept;
}

void
address_frames_use_jit(struct address_frames *frames,
                       const struct kept_range *kept,
                       const struct jit_map *jit)
{
	frames->is_jit = true;
	frames->kept_jit = kept;
	frames->jit = jit;
}

static bool
address_frames_is_address(const void *items, uint32_t number, const void *key)
{
	const struct address *known = &((const struct address *)items)[number];
	const struct address *sought = key;

	return known->address == sought->address &&
	    known->module == sought->module;
}

uint32_t
address_frames_add(struct address_frames *frames, uint32_t module,
                   uint64_t address, struct error *error)
{
	const struct address new = { address, module, NO_NAME, NO_OFFSET,
		false, false, FRAME_IS_NAMED, NULL, 0 };
	const uint64_t key[2] = { address, module };
	uint32_t hash = (uint32_t)XXH3_64bits(key, sizeof key);
	struct index_slot *slot = index_seek(&frames->index, hash,
	                                     address_frames_is_address,
	                                     frames->items, &new, error);

	if (slot == NULL)
		return UINT32_MAX;
	if (slot->number != 0)
		return slot->number - 1;
	if (frames->n >= UINT32_MAX - 1) {
		error_set(error, "more than 4,294,967,294 addresses");
		return UINT32_MAX;
	}
	if (memory_grow(&frames->items, &frames->capacity, frames->n + 1,
	                sizeof *frames->items, error) != 0)
		return UINT32_MAX;
	frames->items[frames->n] = new;
	index_fill(&frames->index, slot, hash, (uint32_t)frames->n);
	return (uint32_t)frames->n++;
}

uint32_t
address_frames_add_name(struct address_frames *frames, uint32_t name,
                        struct error *error)
{
	return address_frames_add(frames, BARE_NAME, name, error);
}

uint32_t
address_frames_add_interpreted(struct address_frames *frames,
                               const struct interpreted_frame *frame,
                               struct error *error)
{
	size_t n = frames->n;
	uint32_t number;

	if (memory_grow(&frames->interpreted, &frames->interpreted_capacity,
	                frames->n_interpreted + 1,
	                sizeof *frames->interpreted, error) != 0)
		return UINT32_MAX;
	number = address_frames_add(frames, INTERPRETED, frame->key, error);
	if (number == UINT32_MAX || frames->n == n)
		return number;
	frames->items[number].function = frame->location.function;
	frames->items[number].interpreted = (uint32_t)frames->n_interpreted;
	frames->interpreted[frames->n_interpreted++] = *frame;
	return number;
}

/*
 * Names an address outside of all symbols.  In another build an address means
 * nothing, so all have one name.
 */
static void
name_nameless(struct profile *profile, struct address *item, uint64_t address,
              struct module_symbols *symbols, enum module_symbols_state state,
              struct error *error)
{
	const char *path = profile->modules[item->module].path;
	const char *name = profile_module_name(profile, item->module);

	item->is_made_up = true;
	if (path[0] == '[' && module_symbols_count(symbols) == 0) {
		item->function = names_add(profile->names, path, strlen(path),
		                           error);
	} else if (state == MODULE_SYMBOLS_DIFFER) {
		item->placeholder = FRAME_OF_OTHER_BUILD;
		item->function = names_add_format(profile->names, error,
		                                  "[%s]", name);
	} else {
		item->function = names_add_format(profile->names, error,
		    "%s+0x%" PRIx64, name, address);
	}
}

static uint32_t
add_symbol_name(struct profile *profile, const struct symbol *symbol,
                struct error *error)
{
	char *text = module_symbols_name(symbol, error);
	uint32_t name;

	if (text == NULL)
		return NO_NAME;
	name = names_add(profile->names, text, strlen(text), error);
	free(text);
	return name;
}

static int
address_frames_warn_of_module(struct address_frames *frames,
                              struct profile *profile,
                              const struct module *module,
                              enum module_symbols_state state,
                              struct error *error)
{
	static const char *const reasons[] = {
		[MODULE_SYMBOLS_NONE] = "has no symbols",
		[MODULE_SYMBOLS_MISSING] = "is not there",
		[MODULE_SYMBOLS_UNREADABLE] = "cannot be read as a program",
		[MODULE_SYMBOLS_DIFFER] = "is not the build that was profiled",
	};

	const char *path = module->path;

	/* A kernel that was recorded without anything to know it by. */
	if (state == MODULE_SYMBOLS_READ ||
	    (module->build_id_size == 0 && strcmp(path, "[kernel]") == 0) ||
	    frames->n_unnamed++ >= WARNINGS_MAX)
		return 0;
	if (path[0] == '[')
		return profile_warn(profile, error, "%s: no symbols are "
		    "known; its functions are shown as %s", path, path);
	if (state == MODULE_SYMBOLS_DIFFER)
		return profile_warn(profile, error, "%s %s; all its functions "
		    "are shown as [%s]: record anew, or name a directory that "
		    "has the old build with symfs", path, reasons[state],
		    last_component(path));
	return profile_warn(profile, error,
	    "%s %s; its functions are shown as module+offset", path,
	    reasons[state]);
}

static uint32_t
add_kept_name(const struct address_frames *frames, struct profile *profile,
              uint32_t name, struct error *error)
{
	const struct names *texts = kept_names_texts(frames->kept);

	return names_add(profile->names, names_text(texts, name),
	                 names_length(texts, name), error);
}

/*
 * Finds the kept ones among the addresses sorted[n] of one module.  Returns
 * whether all are kept, and with a symbol.
 */
static bool
find_kept(struct address_frames *frames, const struct module *module,
          struct address **sorted, size_t n, size_t *n_kept)
{
	const struct kept_range *range = frames->kept == NULL ? NULL :
	    kept_names_module(frames->kept, module);
	size_t n_symbols = 0;

	*n_kept = 0;
	for (size_t i = 0; i < n && range != NULL; i++) {
		sorted[i]->kept = kept_names_find(frames->kept, range,
		                                  sorted[i]->address);
		*n_kept += sorted[i]->kept != NULL;
		n_symbols += sorted[i]->kept != NULL &&
		    sorted[i]->kept->is_symbol;
	}
	return n_symbols == n;
}

/* Gives sorted[i] its kept name. */
static int
name_as_kept(struct address_frames *frames, struct profile *profile,
             struct address **sorted, size_t i, struct error *error)
{
	struct address *item = sorted[i];

	item->offset = item->kept->offset;
	item->is_made_up = !item->kept->is_symbol;
	if (i > 0 && sorted[i - 1]->kept != NULL &&
	    sorted[i - 1]->kept->function == item->kept->function &&
	    sorted[i - 1]->is_as_kept)
		item->function = sorted[i - 1]->function;
	else
		item->function = add_kept_name(frames, profile,
		                               item->kept->function, error);
	item->is_as_kept = true;
	return item->function != NO_NAME ? 0 : -1;
}

static uint32_t
offset_in(const struct symbol *symbol, uint64_t address)
{
	if (symbol == NULL || address - symbol->start >= NO_OFFSET)
		return NO_OFFSET;
	return (uint32_t)(address - symbol->start);
}

/* Names the addresses sorted[n] of a module whose symbols have been read. */
static int
name_with(struct address_frames *frames, struct module_symbols *symbols,
          enum module_symbols_state state, bool prefers_kept,
          struct profile *profile, struct address **sorted, size_t n,
          struct error *error)
{
	const struct symbol *last = NULL;

	for (size_t i = 0; i < n; i++) {
		struct address *item = sorted[i];
		const struct symbol *symbol;

		if (item->kept != NULL && (state != MODULE_SYMBOLS_READ ||
		        item->kept->is_only_names ||
		        (prefers_kept && item->kept->is_symbol))) {
			if (name_as_kept(frames, profile, sorted, i,
			                 error) != 0)
				return -1;
			last = NULL;
			continue;
		}
		if (module_symbols_find(symbols, item->address, &symbol,
		                        error) != 0)
			return -1;
		if (symbol != NULL && symbol == last) {
			item->function = sorted[i - 1]->function;
			item->is_made_up = sorted[i - 1]->is_made_up;
		} else if (symbol == NULL || *symbol->name == '\0') {
			name_nameless(profile, item, symbol != NULL ?
			    symbol->start : item->address, symbols, state,
			    error);
		} else {
			item->function = add_symbol_name(profile, symbol,
			                                 error);
		}
		if (item->function == NO_NAME)
			return -1;
		item->offset = offset_in(symbol, item->address);
		last = symbol;
	}
	return 0;
}

static int
name_module(struct address_frames *frames, struct profile *profile,
            struct address **sorted, size_t n, struct module_cache *modules,
            struct error *error)
{
	const struct module *module = &profile->modules[sorted[0]->module];
	struct module_symbols *symbols;
	enum module_symbols_state state;
	/* A user who gives a root prefers the files below it. */
	bool is_first, prefers_kept = module_cache_search(modules).root == NULL;
	size_t n_kept;

	if (progress_step(NULL, 0, 0, error) != 0)
		return -1;
	if (find_kept(frames, module, sorted, n, &n_kept) && prefers_kept) {
		for (size_t i = 0; i < n; i++)
			if (name_as_kept(frames, profile, sorted, i,
			                 error) != 0)
				return -1;
		return 0;
	}
	symbols = module_cache_get(modules, module, &state, &is_first, error);
	if (symbols == NULL)
		return -1;
	if (is_first && n_kept < n &&
	    address_frames_warn_of_module(frames, profile, module, state,
	                                  error) != 0)
		return -1;
	return name_with(frames, symbols, state, prefers_kept, profile, sorted,
	                 n, error);
}

/* Names code that was made at run time, by what its process wrote. */
static int
name_jit(struct address_frames *frames, struct profile *profile,
         struct address *item, struct error *error)
{
	struct jit_code code;

	item->kept = frames->kept_jit == NULL ? NULL :
	    kept_names_find(frames->kept, frames->kept_jit, item->address);
	if (item->kept != NULL) {
		item->offset = item->kept->offset;
		item->is_made_up = !item->kept->is_symbol;
		item->function = add_kept_name(frames, profile,
		                               item->kept->function, error);
	} else if (frames->jit != NULL &&
	           jit_map_at(frames->jit, item->address, &code)) {
		if (item->address - code.start < NO_OFFSET)
			item->offset = (uint32_t)(item->address - code.start);
		item->function = names_add(profile->names, code.name,
		                           strlen(code.name), error);
	} else {
		item->placeholder = FRAME_OF_JIT;
		item->function = names_add(profile->names, "[jit]",
		                           strlen("[jit]"), error);
	}
	return item->function != NO_NAME ? 0 : -1;
}

static int
address_frames_compare_addresses(const void *left, const void *right)
{
	const struct address *a = *(struct address *const *)left;
	const struct address *b = *(struct address *const *)right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int
name_all(struct address_frames *frames, struct profile *profile,
         struct address **sorted, struct module_cache *modules,
         struct error *error)
{
	size_t begin, end;

	for (begin = 0; begin < frames->n; begin = end) {
		struct address *item = sorted[begin];
		int result = 0;

		end = begin + 1;
		if (item->module == BARE_NAME) {
			item->function = (uint32_t)item->address;
		} else if (item->module == INTERPRETED) {
			continue;
		} else if (item->module == NO_MODULE && frames->is_jit) {
			result = name_jit(frames, profile, item, error);
		} else if (item->module == NO_MODULE) {
			item->function = names_add_format(profile->names,
			    error, "0x%" PRIx64, item->address);
		} else {
			while (end < frames->n &&
			       sorted[end]->module == item->module)
				end++;
			result = name_module(frames, profile, sorted + begin,
			    end - begin, modules, error);
		}
		if (result != 0 || item->function == NO_NAME)
			return -1;
	}
	if (frames->n_unnamed > WARNINGS_MAX)
		return profile_warn(profile, error,
		    "%u more modules have no usable symbols",
		    frames->n_unnamed - WARNINGS_MAX);
	return 0;
}

/* A location of which only the function is known. */
static struct location
named_location(uint32_t function)
{
	return (struct location){ .function = function, .file = NO_NAME,
		.linkage = NO_NAME };
}

/*
 * The kept lines and inlined calls of an item: how many locations, at least
 * one; 0 with *error set.
 */
static uint32_t
kept_chain(const struct address_frames *frames, struct profile *profile,
           const struct address *item, struct location chain[KEPT_CHAIN_MAX],
           struct error *error)
{
	const struct location *locations = kept_names_locations(frames->kept,
	                                                        item->kept);
	uint32_t n = item->kept->n < KEPT_CHAIN_MAX ? item->kept->n :
	             KEPT_CHAIN_MAX;

	chain[0] = named_location(item->function);
	for (uint32_t i = 0; i < n; i++) {
		chain[i] = locations[i];
		if (i == 0)
			chain[i].function = item->function;
		else if (chain[i].function == NO_NAME)
			chain[i].function = names_add(profile->names,
			    "[inlined]", strlen("[inlined]"), error);
		else
			chain[i].function = add_kept_name(frames, profile,
			    chain[i].function, error);
		if (chain[i].file != NO_NAME)
			chain[i].file = add_kept_name(frames, profile,
			    chain[i].file, error);
		if (chain[i].linkage != NO_NAME)
			chain[i].linkage = add_kept_name(frames, profile,
			    chain[i].linkage, error);
	}
	return error->is_set ? 0 : n > 0 ? n : 1;
}

/* Gives the frame of an item its kept lines and inlined calls. */
static int
enter_lines(const struct address_frames *frames, struct profile *profile,
            uint32_t number, struct error *error)
{
	const struct address *item = &frames->items[number];
	struct location chain[KEPT_CHAIN_MAX];
	uint32_t n = kept_chain(frames, profile, item, chain, error);

	if (n == 0 ||
	    profile_set_debug_lines(profile, number, chain, n, error) != 0)
		return -1;
	profile->frames[number].has_debug_lines = !item->kept->is_told;
	return 0;
}

static void
set_jit_location(struct profile *profile, const char *file, uint32_t line,
                 struct location *location, struct error *error)
{
	location->line = line;
	location->linkage = NO_NAME;
	location->start_line = location->discriminator = 0;
	location->file = file == NULL ? NO_NAME :
	    names_add(profile->names, file, strlen(file), error);
}

/*
 * Likewise what is known of code that was made at run time; a process's own
 * files have no debug information that would be read later.
 */
static uint32_t
jit_chain(const struct address_frames *frames, struct profile *profile,
          const struct address *item, struct location chain[KEPT_CHAIN_MAX],
          struct error *error)
{
	struct jit_code code;
	uint32_t n = 1;

	if (item->kept != NULL)
		return kept_chain(frames, profile, item, chain, error);
	chain[0] = named_location(item->function);
	if (frames->jit == NULL ||
	    !jit_map_at(frames->jit, item->address, &code))
		return n;
	set_jit_location(profile, code.file, code.line, &chain[0], error);
	for (; n <= code.n_calls && n < KEPT_CHAIN_MAX; n++) {
		const struct jit_call *call = &code.calls[n - 1];

		chain[n].function = names_add(profile->names, call->name,
		                              strlen(call->name), error);
		set_jit_location(profile, call->file, call->line, &chain[n],
		                 error);
	}
	return error->is_set ? 0 : n;
}

static int
address_frames_enter_frames(const struct address_frames *frames,
                            struct profile *profile, struct error *error)
{
	for (size_t i = 0; i < frames->n; i++) {
		const struct address *item = &frames->items[i];
		struct location chain[KEPT_CHAIN_MAX];
		uint32_t module = item->module, n = 1;
		uint64_t address = item->address;
		bool is_awaiting = item->kept != NULL &&
		    item->kept->is_awaiting;

		chain[0] = named_location(item->function);
		if (module == BARE_NAME)
			module = NO_MODULE;
		if (item->module == INTERPRETED) {
			const struct interpreted_frame *interpreted =
			    &frames->interpreted[item->interpreted];

			module = interpreted->module;
			chain[0] = interpreted->location;
			address = (uint64_t)interpreted->first_line << 32 |
			    chain[0].line;
			if (interpreted->is_awaiting)
				address |= FRAME_AWAITS;
			is_awaiting = interpreted->is_awaiting;
		}
		if (item->module == BARE_NAME ||
		    (item->kept != NULL && item->kept->is_only_names))
			address = 0;
		if (item->module == NO_MODULE && frames->is_jit)
			n = jit_chain(frames, profile, item, chain, error);
		if (n == 0 ||
		    profile_add_frame(profile, module, address, chain, n,
		                      error) == UINT32_MAX)
			return -1;
		profile->frames[i].function_offset = item->offset;
		profile->frames[i].placeholder = item->placeholder;
		profile->frames[i].is_made_up = item->is_made_up;
		profile->frames[i].is_interpreted =
		    item->module == INTERPRETED ||
		    (item->kept != NULL && item->kept->is_interpreted);
		profile->frames[i].is_awaiting = is_awaiting;
		if (item->kept != NULL && item->kept->has_lines &&
		    enter_lines(frames, profile, (uint32_t)i, error) != 0)
			return -1;
	}
	return 0;
}

static int
name_and_enter(struct address_frames *frames, struct profile *profile,
               struct module_cache *modules, struct error *error)
{
	struct address **sorted = memory_array(frames->n, sizeof *sorted,
	                                       error);
	int result = -1;

	if (sorted == NULL)
		return -1;
	for (size_t i = 0; i < frames->n; i++)
		sorted[i] = &frames->items[i];
	qsort(sorted, frames->n, sizeof(struct address *),
	      address_frames_compare_addresses);
	if (name_all(frames, profile, sorted, modules, error) == 0)
		result = address_frames_enter_frames(frames, profile, error);
	free(sorted);
	return result;
}

int
address_frames_finish(struct address_frames *frames, struct profile *profile,
                      struct module_cache *modules, struct error *error)
{
	struct module_cache *own;
	int result;

	if (modules != NULL)
		return name_and_enter(frames, profile, modules, error);
	own = module_cache_new(NULL, error);
	if (own == NULL)
		return -1;
	result = name_and_enter(frames, profile, own, error);
	module_cache_free(own);
	return result;
}
