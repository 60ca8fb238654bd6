/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address_lines.c -- lines and inlined calls for a profile's addresses. */
#include "src/symbols/lines/address_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/lines/module_lines.h"

enum { MODULES_NAMED = 3 };	/* of those without debug information */

struct address_lines {
	struct symbol_search search;
	struct names *keys;		/* pairs of path and build-id */
	struct module_lines *modules;	/* by key */
	size_t capacity;
	struct names *names;		/* functions and files */
};

/* What one profile needs. */
struct applying {
	struct address_lines *lines;
	struct profile *profile;
	const struct progress *progress;
	uint32_t *frames;		/* [n] that want lines, by module and
					 * address */
	size_t n;
	uint64_t *addresses;		/* [n] room */
	uint32_t *names;		/* of lines->names in the profile, or
					 * NO_NAME: not entered yet */
	size_t names_capacity;
	uint32_t n_names;
	struct location *chain;
	size_t chain_capacity;
	uint32_t without[MODULES_NAMED];	/* modules */
	uint32_t n_without;
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
	if (lines->keys != NULL)
		for (uint32_t i = 0; i < names_count(lines->keys); i++)
			module_lines_free(&lines->modules[i]);
	free(lines->modules);
	names_free(lines->keys);
	names_free(lines->names);
	free(lines);
}

/* What is known of a module, which is entered if new. */
static struct module_lines *
find_module(struct address_lines *lines, const struct module *module,
            struct error *error)
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

static bool
wants_lines(const struct profile *profile, const struct frame *frame)
{
	const struct location *location =
	    &profile->locations[frame->first_location];

	return frame->module != NO_MODULE && !frame->has_debug_lines &&
	    frame->n_locations == 1 && location->file == NO_NAME &&
	    location->line == 0;
}

static int
collect_frames(struct applying *applying, struct error *error)
{
	struct profile *profile = applying->profile;

	applying->frames = memory_array(profile->n_frames,
	                                sizeof *applying->frames, error);
	applying->addresses = memory_array(profile->n_frames,
	                                   sizeof *applying->addresses, error);
	if (applying->frames == NULL || applying->addresses == NULL)
		return -1;
	for (uint32_t i = 0; i < profile->n_frames; i++)
		if (wants_lines(profile, &profile->frames[i]))
			applying->frames[applying->n++] = i;
	profile_sort_frames(profile, applying->frames, applying->n);
	return 0;
}

/* The name's number in the profile, which is NO_NAME for NO_NAME. */
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

/* The name of an inlined function that debug information does not name. */
static uint32_t
unknown_function(struct profile *profile, struct error *error)
{
	return names_add(profile->names, "[inlined]", strlen("[inlined]"),
	                 error);
}

static int
give_chain(struct applying *applying, uint32_t number,
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
			function = unknown_function(profile, error);
		applying->chain[i] = (struct location){
			.function = function,
			.file = name_in_profile(applying, chain[i].file,
			                        error),
			.line = chain[i].line,
		};
	}
	if (error->is_set)
		return -1;
	return profile_set_debug_lines(profile, number, applying->chain, n,
	                               error);
}

static int
warn_of_module(struct applying *applying, uint32_t module,
               enum debug_lines_state state, struct error *error)
{
	const char *path = applying->profile->modules[module].path;

	if (state == DEBUG_LINES_DAMAGED)
		return profile_warn(applying->profile, error,
		    "the debug information of %s is damaged; no line or "
		    "inlined call of it is shown", path);
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

/* Asks for those of frames[n], of one module, of which nothing is known. */
static int
ask(struct applying *applying, struct module_lines *known,
    const uint32_t *frames, size_t n, struct error *error)
{
	const struct profile *profile = applying->profile;
	uint32_t number = profile->frames[frames[0]].module;
	const struct module *module = &profile->modules[number];
	const struct module_file file = module_file_of(module,
	    applying->lines->search);
	bool is_first = known->n == 0;
	size_t n_asked = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t address = profile->frames[frames[i]].address;

		if (module_lines_find(known, address) == NULL &&
		    (n_asked == 0 ||
		     applying->addresses[n_asked - 1] != address))
			applying->addresses[n_asked++] = address;
	}
	if (n_asked == 0)
		return 0;
	if (module_lines_ask(known, &file, applying->addresses, n_asked,
	                     applying->lines->names, applying->progress,
	                     error) != 0)
		return -1;
	return is_first ?
	    warn_of_module(applying, number, known->state, error) : 0;
}

/* frames[n] are those of one module. */
static int
apply_module(struct applying *applying, const uint32_t *frames, size_t n,
             struct error *error)
{
	const struct profile *profile = applying->profile;
	uint32_t number = profile->frames[frames[0]].module;
	struct module_lines *known = find_module(applying->lines,
	    &profile->modules[number], error);

	if (known == NULL || progress_step(NULL, 0, 0, error) != 0 ||
	    ask(applying, known, frames, n, error) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct known_address *found = module_lines_find(known,
		    profile->frames[frames[i]].address);

		if (found->n > 0 && give_chain(applying, frames[i],
		        known->locations + found->first, found->n,
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
	return profile_warn(profile, error, "no debug information for %s%s: "
	                    "no lines or inlined calls there", list, more);
}

static int
apply_all(struct applying *applying, struct error *error)
{
	const struct frame *frames = applying->profile->frames;
	size_t begin, end;

	if (collect_frames(applying, error) != 0)
		return -1;
	for (begin = 0; begin < applying->n; begin = end) {
		uint32_t module = frames[applying->frames[begin]].module;

		for (end = begin + 1; end < applying->n &&
		     frames[applying->frames[end]].module == module; end++)
			;
		if (apply_module(applying, applying->frames + begin,
		                 end - begin, error) != 0)
			return -1;
	}
	return warn_of_modules_without(applying, error);
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

int
address_lines_apply(struct address_lines *lines, struct profile *profile,
                    const struct progress *progress, struct error *error)
{
	struct applying applying = {
		.lines = lines,
		.profile = profile,
		.progress = progress,
	};
	int result = apply_all(&applying, error);

	free(applying.frames);
	free(applying.addresses);
	free(applying.names);
	free(applying.chain);
	return result;
}
