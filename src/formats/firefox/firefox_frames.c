/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_frames.c -- the frames of a Firefox profile, each with a label.
 *
 * A known_frame collects what a row, and the rows that it refers to, say of a
 * frame.  Its bytes are interned, and their number is the label.
 */
#include "src/formats/firefox/firefox.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/symbols/names/address_frames.h"
#include "src/symbols/names/program.h"

/* A frame.  It has no padding, since its bytes are a key. */
struct known_frame {
	uint64_t address;		/* in the module; 0: no module */
	uint32_t module;
	uint32_t function;		/* a name; NO_NAME: the address's */
	uint32_t file, line;
};

_Static_assert(sizeof(struct known_frame) == 24, "its bytes are a key");

struct firefox_frames {
	struct profile *profile;
	const struct firefox_tables *shared;
	struct json_reader *json;
	struct module_cache *cache;
	struct names *modules;		/* module i, by path and code id */
	uint64_t *bases;		/* of module i: its first segment */
	size_t bases_capacity;
	struct names *known;		/* known_frame i, as bytes */
	uint32_t *shared_names;		/* by shared string; NO_NAME: not yet */
};

struct firefox_frames *
firefox_frames_new(struct profile *profile,
                   const struct firefox_tables *shared,
                   struct json_reader *json, struct module_cache *cache,
                   struct error *error)
{
	struct firefox_frames *frames = memory_array(1, sizeof *frames, error);

	if (frames == NULL)
		return NULL;
	frames->profile = profile;
	frames->shared = shared;
	frames->json = json;
	frames->cache = cache;
	frames->modules = names_new(error);
	frames->known = names_new(error);
	if (!error->is_set)
		return frames;
	firefox_frames_free(frames);
	return NULL;
}

void
firefox_frames_free(struct firefox_frames *frames)
{
	if (frames == NULL)
		return;
	names_free(frames->modules);
	free(frames->bases);
	names_free(frames->known);
	free(frames->shared_names);
	free(frames);
}

/* ---- modules ---- */

static size_t
parse_build_id(const char *text, size_t length, unsigned char *id, size_t max)
{
	size_t n = 0;

	for (; n < max && 2 * n + 1 < length &&
	     isxdigit((unsigned char)text[2 * n]) &&
	     isxdigit((unsigned char)text[2 * n + 1]); n++) {
		const char digits[3] = { text[2 * n], text[2 * n + 1], '\0' };

		id[n] = (unsigned char)strtoul(digits, NULL, 16);
	}
	return 2 * n == length ? n : 0;
}

static int
firefox_frames_add_module(struct firefox_frames *frames, const char *path,
                          size_t path_length, const char *id_text,
                          size_t id_length, struct error *error)
{
	unsigned char id[sizeof frames->profile->modules->build_id];
	size_t size = parse_build_id(id_text, id_length, id, sizeof id);
	char *copy = memory_text(path, path_length, error);
	uint32_t module = NO_MODULE;

	if (copy != NULL)
		module = profile_add_module(frames->profile, copy, id,
		                            (uint32_t)size, error);
	if (module != NO_MODULE &&
	    memory_grow(&frames->bases, &frames->bases_capacity,
	                (size_t)module + 1, sizeof *frames->bases,
	                error) == 0)
		frames->bases[module] = module_cache_address(frames->cache,
		    copy, id, size, 0);
	free(copy);
	return error->is_set ? -1 : 0;
}

/*
 * The module of a library, added to the profile when it is new; libraries of
 * the same path and code id are one module.  NO_MODULE: the library has no
 * path, or *error is set.
 */
static uint32_t
firefox_frames_find_module(struct firefox_frames *frames,
                           const struct text_column *libraries,
                           uint32_t library, struct error *error)
{
	size_t path_length, id_length;
	const char *path = text_column_at(libraries, 2 * (size_t)library,
	                                  &path_length);
	const char *id = text_column_at(libraries, 2 * (size_t)library + 1,
	                                &id_length);
	uint32_t n = names_count(frames->modules), module;

	path_length = strnlen(path, path_length);
	if (path_length == 0)
		return NO_MODULE;
	module = names_add_pair(frames->modules, path, path_length, id,
	                        id_length, error);
	if (module == NO_NAME ||
	    (module == n &&
	     firefox_frames_add_module(frames, path, path_length, id, id_length,
	                               error) != 0))
		return NO_MODULE;
	return module;
}

/* ---- tables ---- */

/* n numbers, all of them UINT32_MAX: NO_LABEL, NO_NAME. */
static uint32_t *
unset_numbers(size_t n, struct error *error)
{
	uint32_t *numbers = memory_array(n, sizeof *numbers, error);

	if (numbers != NULL)
		memset(numbers, 0xff, n * sizeof *numbers);
	return numbers;
}

int
frame_tables_begin(struct frame_tables *tables, struct firefox_frames *frames,
                   const struct firefox_tables *of, struct error *error)
{
	const struct firefox_tables *shared = frames->shared;

	tables->frames = of;
	tables->strings = of->has_strings ? of : shared;
	tables->libraries = of->has_libraries ? of : shared;
	tables->sources = of->has_sources ? of : shared;
	tables->labels = unset_numbers(of->frame_function.n, error);
	tables->names = tables->strings == shared ? &frames->shared_names :
	                &tables->own_names;
	if (*tables->names == NULL)
		*tables->names = unset_numbers(tables->strings->strings.n,
		                               error);
	return error->is_set ? -1 : 0;
}

void
frame_tables_free(struct frame_tables *tables)
{
	free(tables->labels);
	free(tables->own_names);
}

/* ---- rows ---- */

/* The rows that a frame refers to, NO_CELL where there is none. */
struct frame_rows {
	uint32_t function, name, file, library;
};

/* For an index out of range: -1 with the error set, or 0 in a cut input. */
static int
miss_row(struct firefox_frames *frames, const struct index_column *column,
         const char *name, size_t row, size_t n)
{
	return json_is_cut_short(frames->json) ? 0 :
	       index_column_fail(column, frames->json, name, row, n);
}

/*
 * The string that is a function's file; 1, 0 and -1 as
 * firefox_frames_find_rows.
 */
static int
firefox_frames_find_file(struct firefox_frames *frames,
                         const struct frame_tables *tables, uint32_t function,
                         uint32_t *string)
{
	const struct index_column *files = &tables->frames->function_file;
	size_t n_strings = tables->strings->strings.n;
	const char *column = "funcTable.fileName";
	uint32_t row = function;

	if (files->n == 0) {
		row = index_column_at(&tables->frames->function_source, row);
		files = &tables->sources->source_file;
		column = "sources.filename";
	}
	*string = index_column_at(files, row);
	return *string == NO_CELL || *string < n_strings ? 1 :
	       miss_row(frames, files, column, row, n_strings);
}

/* Likewise the library of a frame; one that was cut short is NO_CELL. */
static int
firefox_frames_find_library(struct firefox_frames *frames,
                            const struct frame_tables *tables, uint32_t frame,
                            uint32_t function, uint32_t *library)
{
	const struct firefox_tables *of = tables->frames;
	size_t n = tables->libraries->libraries.n / 2;

	*library = index_column_at(&of->frame_library, frame);
	if (of->frame_library.n == 0)
		*library = index_column_at(&of->resource_library,
		    index_column_at(&of->function_resource, function));
	if (*library == NO_CELL || *library < n)
		return 1;
	if (!json_is_cut_short(frames->json)) {
		json_fail(frames->json, of->frame_function.offset,
		          "frame %" PRIu32 " is of library %" PRIu32 " of %zu",
		          frame, *library, n);
		return -1;
	}
	*library = NO_CELL;
	return 1;
}

/*
 * Looks up what a frame refers to.  1: found, 0: the input was cut before it,
 * -1: an index is out of range.
 */
static int
firefox_frames_find_rows(struct firefox_frames *frames,
                         const struct frame_tables *tables, uint32_t frame,
                         struct frame_rows *rows)
{
	const struct index_column *functions = &tables->frames->frame_function;
	const struct index_column *names = &tables->frames->function_name;
	size_t n_strings = tables->strings->strings.n;
	int found;

	rows->function = functions->values[frame];
	if (rows->function >= names->n)
		return miss_row(frames, functions, "frameTable.func", frame,
		                names->n);
	rows->name = names->values[rows->function];
	if (rows->name >= n_strings)
		return miss_row(frames, names, "funcTable.name",
		                rows->function, n_strings);
	found = firefox_frames_find_file(frames, tables, rows->function,
	                                 &rows->file);
	return found <= 0 ?
	    found :
	    firefox_frames_find_library(frames, tables, frame, rows->function,
	                                &rows->library);
}

/* ---- frames ---- */

static uint32_t
add_known(struct firefox_frames *frames, const struct known_frame *known,
          struct error *error)
{
	uint32_t number = names_add(frames->known, (const char *)known,
	                            sizeof *known, error);

	return number == NO_NAME ? NO_LABEL : number;
}

uint32_t
firefox_frames_add_name(struct firefox_frames *frames, const char *name,
                        struct error *error)
{
	struct known_frame known = { .module = NO_MODULE, .file = NO_NAME };

	known.function = names_add(frames->profile->names, name, strlen(name),
	                           error);
	return known.function == NO_NAME ? NO_LABEL :
	       add_known(frames, &known, error);
}

/* "0x1a2b", the name of a function without a symbol. */
static bool
firefox_frames_is_address(const char *text, size_t length)
{
	if (length < 3 || text[0] != '0' || text[1] != 'x')
		return false;
	for (size_t i = 2; i < length; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* Demangling is slow, so each string is demangled only once. */
static uint32_t
firefox_frames_name_function(struct firefox_frames *frames,
                             const struct frame_tables *tables, uint32_t string,
                             struct error *error)
{
	uint32_t *name = &(*tables->names)[string];
	size_t length;
	const char *text = text_column_at(&tables->strings->strings, string,
	                                  &length);

	if (*name == NO_NAME)
		*name = length == 0 ?
		    names_add(frames->profile->names, "(anonymous)", 11,
		              error) :
		    demangle_and_add(frames->profile->names, text, length,
		                     error);
	return *name;
}

static uint32_t
firefox_frames_name_file(struct firefox_frames *frames,
                         const struct frame_tables *tables, uint32_t string,
                         struct error *error)
{
	size_t length;
	const char *text;

	if (string == NO_CELL)
		return NO_NAME;
	text = text_column_at(&tables->strings->strings, string, &length);
	return length == 0 ? NO_NAME :
	       names_add(frames->profile->names, text, length, error);
}

static uint32_t
firefox_frames_find_line(const struct firefox_tables *tables, uint32_t frame,
                         uint32_t function)
{
	uint32_t line = index_column_at(&tables->frame_line, frame);

	if (line == NO_CELL)
		line = index_column_at(&tables->function_line, function);
	return line == NO_CELL ? 0 : line;
}

static uint32_t
firefox_frames_make_label(struct firefox_frames *frames,
                          const struct frame_tables *tables, uint32_t frame,
                          struct error *error)
{
	const struct address_column *addresses =
	    &tables->frames->frame_address;
	uint64_t address = frame < addresses->n ? addresses->values[frame] :
	                   NO_ADDRESS;
	struct known_frame known = { .module = NO_MODULE, .file = NO_NAME,
		.function = NO_NAME };
	struct frame_rows rows = { 0 };
	size_t length;
	const char *name;
	int found = firefox_frames_find_rows(frames, tables, frame, &rows);

	if (found <= 0)
		return found < 0 ? NO_LABEL :
		       firefox_frames_add_name(frames, "[unknown]", error);
	if (address != NO_ADDRESS && rows.library != NO_CELL)
		known.module = firefox_frames_find_module(frames,
		    &tables->libraries->libraries, rows.library, error);
	if (error->is_set)
		return NO_LABEL;
	if (known.module != NO_MODULE)
		known.address = frames->bases[known.module] + address;
	name = text_column_at(&tables->strings->strings, rows.name, &length);
	if (known.module == NO_MODULE ||
	    !firefox_frames_is_address(name, length)) {
		known.function = firefox_frames_name_function(frames, tables,
		                                              rows.name, error);
		known.line = firefox_frames_find_line(tables->frames, frame,
		                                      rows.function);
		known.file = firefox_frames_name_file(frames, tables, rows.file,
		                                      error);
	}
	return error->is_set ? NO_LABEL : add_known(frames, &known, error);
}

uint32_t
firefox_frames_label(struct firefox_frames *frames,
                     struct frame_tables *tables, uint32_t row,
                     struct error *error)
{
	uint32_t *label = &tables->labels[row];

	if (*label == NO_LABEL)
		*label = firefox_frames_make_label(frames, tables, row, error);
	return *label;
}

/* ---- the profile's frames ---- */

static struct known_frame
get_known(const struct firefox_frames *frames, uint32_t label)
{
	struct known_frame known;

	memcpy(&known, names_text(frames->known, label), sizeof known);
	return known;
}

/* Frames without a name go first, since address_frames.h counts from 0. */
static int
firefox_frames_add_addresses(struct firefox_frames *frames, uint32_t *numbers,
                             struct error *error)
{
	struct address_frames *addresses = address_frames_new(error);
	int result = addresses != NULL ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < names_count(frames->known);
	     i++) {
		struct known_frame known = get_known(frames, i);

		if (known.function != NO_NAME)
			continue;
		numbers[i] = address_frames_add(addresses, known.module,
		                                known.address, error);
		result = numbers[i] != UINT32_MAX ? 0 : -1;
	}
	if (result == 0)
		result = address_frames_finish(addresses, frames->profile,
		                               frames->cache, error);
	address_frames_free(addresses);
	return result;
}

static int
add_named(struct firefox_frames *frames, uint32_t *numbers,
          struct error *error)
{
	for (uint32_t i = 0; i < names_count(frames->known); i++) {
		struct known_frame known = get_known(frames, i);
		const struct location location = {
			known.function, known.file, known.line
		};

		if (known.function == NO_NAME)
			continue;
		numbers[i] = profile_add_frame(frames->profile, known.module,
		    known.address, &location, 1, error);
		if (numbers[i] == UINT32_MAX)
			return -1;
		/* Inlined calls are frames of their own already. */
		frames->profile->frames[numbers[i]].has_debug_lines =
		    known.module != NO_MODULE;
	}
	return 0;
}

uint32_t *
firefox_frames_finish(struct firefox_frames *frames, struct error *error)
{
	uint32_t *numbers = memory_array(names_count(frames->known),
	                                 sizeof *numbers, error);

	if (numbers != NULL &&
	    firefox_frames_add_addresses(frames, numbers, error) == 0 &&
	    add_named(frames, numbers, error) == 0)
		return numbers;
	free(numbers);
	return NULL;
}
