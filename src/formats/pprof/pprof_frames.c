/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_frames.c -- a profile's frames from the locations of a pprof file.
 *
 * First the addresses without lines, through the symbols of their modules;
 * then all others.  Two locations may be one address: the second then gets a
 * frame of the same contents, since in the tree they are different.
 */
#include "src/formats/pprof/pprof.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/symbols/names/address_frames.h"
#include "src/symbols/names/program.h"

/*
 * The most calls inlined at one place; of more, those next to the outermost
 * are left out.  The same limit as for debug information, since a stack could
 * repeat them at a byte each.
 */
enum { LINES_MAX = 256 };

/* A mapping's module. */
struct pprof_mapped {
	uint32_t module;
	bool has_bias;
	uint64_t bias;		/* to be added to an address of the process */
};

struct maker {
	struct profile *profile;
	const char *name;	/* of the file */
	const struct pprof_tables *tables;
	bool is_cut_short;
	struct module_cache *modules;	/* may be NULL */
	struct pprof_mapped *mapped;		/* [n_mappings] */
	uint32_t *function_names;	/* [n_functions], NO_NAME: not yet */
	uint32_t *file_names;		/* likewise, of their files */
	uint32_t *linkage_names;	/* likewise, of their symbols */
	uint32_t *frames;		/* [ids], the result */
	struct location locations[LINES_MAX];	/* of one frame */
	uint32_t most_lines;	/* of a location that has too many, or 0 */
};

/* ---- modules ---- */

static size_t
parse_hex(const char *text, size_t length, unsigned char *bytes, size_t max)
{
	size_t n = 0;

	for (; n < max && 2 * n + 1 < length; n++) {
		char digits[3] = { text[2 * n], text[2 * n + 1], '\0' };
		char *end;

		bytes[n] = (unsigned char)strtoul(digits, &end, 16);
		if (end != digits + 2)
			return 0;
	}
	return 2 * n == length ? n : 0;
}

/* Enters one module for all mappings of a file. */
static int
pprof_frames_add_modules(struct maker *maker, struct error *error)
{
	const struct pprof_tables *tables = maker->tables;
	struct profile *profile = maker->profile;
	struct names *seen = names_new(error);

	maker->mapped = memory_array(tables->n_mappings, sizeof *maker->mapped,
	                             error);
	for (size_t i = 0; !error->is_set && i < tables->n_mappings; i++) {
		const struct pprof_mapping *mapping = &tables->mappings[i];
		unsigned char id[sizeof profile->modules->build_id];
		size_t length, id_length;
		const char *path = pprof_tables_string(tables, mapping->path,
		                                       &length);
		const char *id_text = pprof_tables_string(tables,
		    mapping->build_id, &id_length);
		const uint32_t n_seen = names_count(seen);
		uint32_t *module = &maker->mapped[i].module;
		char *copy;

		*module = NO_MODULE;
		if (length > 0)
			*module = names_add_pair(seen, path, length, id_text,
			                         id_length, error);
		if (*module == NO_MODULE || *module < n_seen)
			continue;
		copy = memory_text(path, length, error);
		if (copy != NULL)
			profile_add_module(profile, copy, id, (uint32_t)
			    parse_hex(id_text, id_length, id, sizeof id),
			    error);
		free(copy);
	}
	names_free(seen);
	return error->is_set ? -1 : 0;
}

/* ---- names ---- */

/* "[function 12]" if the file is cut short before it; otherwise an error. */
static uint32_t
add_lost_name(struct maker *maker, const char *what, uint64_t number,
              struct error *error)
{
	if (!maker->is_cut_short) {
		error_set(error, "%s %" PRIu64 " is missing or has no name",
		          what, number);
		return NO_NAME;
	}
	return names_add_format(maker->profile->names, error,
	                        "[%s %" PRIu64 "]", what, number);
}

static uint32_t
pprof_frames_name_function(struct maker *maker, uint64_t id,
                           struct error *error)
{
	const struct pprof_function *function =
	    pprof_tables_function(maker->tables, id);
	size_t length = 0;
	const char *text = NULL;
	uint32_t *name;

	if (function == NULL)
		return add_lost_name(maker, "function", id, error);
	name = &maker->function_names[function - maker->tables->functions];
	if (*name != NO_NAME)
		return *name;
	text = pprof_tables_string(maker->tables, function->name, &length);
	if (text != NULL && length == 0)
		text = pprof_tables_string(maker->tables,
		                           function->system_name, &length);
	if (text == NULL)
		*name = add_lost_name(maker, "function", id, error);
	else if (length == 0)
		*name = names_add(maker->profile->names, "[unknown]", 9,
		                  error);
	else
		*name = demangle_and_add(maker->profile->names, text, length,
		                         error);
	return *name;
}

/* The name of a string, which *name remembers; NO_NAME if it is empty. */
static uint32_t
pprof_frames_name_text(struct maker *maker, uint64_t string, uint32_t *name,
                       struct error *error)
{
	size_t length = 0;
	const char *text = NULL;

	if (*name == NO_NAME)
		text = pprof_tables_string(maker->tables, string, &length);
	if (length > 0)
		*name = names_add(maker->profile->names, text, length, error);
	return *name;
}

static int
fill_location(struct maker *maker, const struct pprof_line *line,
              struct location *location, struct error *error)
{
	const struct pprof_function *function =
	    pprof_tables_function(maker->tables, line->function);
	size_t number;

	*location = (struct location){
		.function = pprof_frames_name_function(maker, line->function,
		                                       error),
		.file = NO_NAME,
		.line = line->line <= UINT32_MAX ? (uint32_t)line->line : 0,
		.linkage = NO_NAME,
	};
	if (location->function == NO_NAME)
		return -1;
	if (function == NULL)
		return 0;
	number = (size_t)(function - maker->tables->functions);
	location->file = pprof_frames_name_text(maker, function->file,
	    &maker->file_names[number], error);
	location->linkage = pprof_frames_name_text(maker,
	    function->system_name, &maker->linkage_names[number], error);
	location->start_line = function->start_line <= UINT32_MAX ?
	    (uint32_t)function->start_line : 0;
	return error->is_set ? -1 : 0;
}

/* ---- frames ---- */

/* Converts a location's address to one in its module, *module. */
static uint64_t
address_in_module(struct maker *maker, const struct pprof_location *location,
                  uint32_t *module)
{
	uint32_t number = id_table_find(&maker->tables->mapping_ids,
	                                location->mapping);
	const struct pprof_mapping *mapping;
	const struct module *file;
	struct pprof_mapped *mapped;
	uint64_t offset;

	*module = NO_MODULE;
	if (location->mapping == 0 || number >= maker->tables->n_mappings)
		return location->address;
	mapping = &maker->tables->mappings[number];
	mapped = &maker->mapped[number];
	*module = mapped->module;
	/* In a mapping of everything they are those in the module already. */
	if (mapped->module == NO_MODULE || location->address < mapping->start ||
	    (mapping->start == 0 && mapping->offset == 0 &&
	     mapping->limit == UINT64_MAX))
		return location->address;
	offset = location->address - mapping->start + mapping->offset;
	if (!mapped->has_bias) {
		file = &maker->profile->modules[mapped->module];
		mapped->has_bias = true;
		mapped->bias = module_cache_address(maker->modules,
		    file->path, file->build_id, file->build_id_size,
		    offset) - location->address;
	}
	return location->address + mapped->bias;
}

/* Makes the frames of locations without lines, which must come first. */
static int
pprof_frames_add_addresses(struct maker *maker, struct error *error)
{
	struct address_frames *addresses = address_frames_new(error);
	int result = addresses != NULL ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < maker->tables->location_ids.n;
	     i++) {
		const struct pprof_location *location =
		    pprof_tables_location(maker->tables, i);
		uint32_t module;
		uint64_t address;

		if (location == NULL || location->n_lines > 0)
			continue;
		address = address_in_module(maker, location, &module);
		maker->frames[i] = address_frames_add(addresses, module,
		                                      address, error);
		result = maker->frames[i] != UINT32_MAX ? 0 : -1;
	}
	if (result == 0)
		result = address_frames_finish(addresses, maker->profile,
		                               maker->modules, error);
	address_frames_free(addresses);
	return result;
}

static uint32_t
pprof_frames_add_lines(struct maker *maker,
                       const struct pprof_location *location,
                       struct error *error)
{
	const struct pprof_line *lines = maker->tables->lines +
	    location->first_line;
	uint32_t n = location->n_lines, module, frame, mapping;
	uint64_t address;

	if (n > LINES_MAX) {
		if (n > maker->most_lines)
			maker->most_lines = n;
		n = LINES_MAX;
	}
	for (uint32_t i = 0; i < n; i++)
		if (fill_location(maker, i == 0 ?
		                  &lines[location->n_lines - 1] :
		                  &lines[n - 1 - i],
		                  &maker->locations[i], error) != 0)
			return UINT32_MAX;
	address = address_in_module(maker, location, &module);
	frame = profile_add_frame(maker->profile, module, address,
	                          maker->locations, n, error);
	if (frame == UINT32_MAX || n != 1 || location->mapping == 0)
		return frame;
	/* If the file has all lines, none are looked up. */
	mapping = id_table_find(&maker->tables->mapping_ids,
	                        location->mapping);
	if (mapping < maker->tables->n_mappings &&
	    maker->tables->mappings[mapping].has_lines != 0)
		maker->profile->frames[frame].has_debug_lines = true;
	return frame;
}

/*
 * Makes the frames of all locations; is_used[n]: for the first n frames of the
 * profile.
 */
static int
pprof_frames_add_frames(struct maker *maker, bool *is_used, struct error *error)
{
	for (uint32_t i = 0; i < maker->tables->location_ids.n; i++) {
		const struct pprof_location *location =
		    pprof_tables_location(maker->tables, i);
		uint32_t *frame = &maker->frames[i];

		if (location == NULL) {
			uint64_t id = maker->tables->location_ids.ids[i];
			uint32_t name = id == PPROF_NO_STACK ?
			    names_add(maker->profile->names, "[no stack]", 10,
			              error) :
			    add_lost_name(maker, "location", id, error);

			/* The file lacks it, or the stack has none. */
			*frame = name == NO_NAME ?
			    UINT32_MAX :
			    profile_add_named_frame(maker->profile, name,
			                            error);
		} else if (location->n_lines > 0) {
			*frame = pprof_frames_add_lines(maker, location, error);
		} else if (is_used[*frame]) {
			struct profile *profile = maker->profile;
			struct frame like = profile->frames[*frame];
			struct location first =
			    profile->locations[like.first_location];

			*frame = profile_add_frame(profile, like.module,
			                           like.address, &first, 1,
			                           error);
		} else {
			is_used[*frame] = true;
		}
		if (*frame == UINT32_MAX)
			return -1;
	}
	return 0;
}

static int
make_frames(struct maker *maker, struct error *error)
{
	size_t n_functions = maker->tables->n_functions;
	bool *is_used;
	int result;

	maker->frames = memory_array(maker->tables->location_ids.n,
	                             sizeof *maker->frames, error);
	maker->function_names = memory_array(n_functions,
	    sizeof *maker->function_names, error);
	maker->file_names = memory_array(n_functions,
	                                 sizeof *maker->file_names, error);
	maker->linkage_names = memory_array(n_functions,
	    sizeof *maker->linkage_names, error);
	if (error->is_set)
		return -1;
	memset(maker->function_names, 0xff,
	       n_functions * sizeof *maker->function_names);
	memset(maker->file_names, 0xff,
	       n_functions * sizeof *maker->file_names);
	memset(maker->linkage_names, 0xff,
	       n_functions * sizeof *maker->linkage_names);
	if (pprof_frames_add_modules(maker, error) != 0 ||
	    pprof_frames_add_addresses(maker, error) != 0)
		return -1;
	is_used = memory_array(maker->profile->n_frames, sizeof *is_used,
	                       error);
	if (is_used == NULL)
		return -1;
	result = pprof_frames_add_frames(maker, is_used, error);
	free(is_used);
	if (result == 0 && maker->most_lines > 0)
		result = profile_warn(maker->profile, error,
		    "%s: a location has %u inlined calls; of more than %d the "
		    "outer ones are left out", maker->name, maker->most_lines,
		    LINES_MAX);
	return result;
}

uint32_t *
pprof_frames_enter(struct profile *profile, const char *name,
                   const struct pprof_tables *tables, bool is_cut_short,
                   struct module_cache *modules, struct error *error)
{
	struct maker maker = { .profile = profile, .name = name, .tables = tables,
		.is_cut_short = is_cut_short, .modules = modules };
	int result = make_frames(&maker, error);

	free(maker.mapped);
	free(maker.function_names);
	free(maker.file_names);
	free(maker.linkage_names);
	if (result == 0)
		return maker.frames;
	free(maker.frames);
	return NULL;
}
