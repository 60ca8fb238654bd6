/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_autofdo.c -- clang's sample profile, in its text format.
 *
 * A place in a program is known by lines that stay when the code around the
 * function changes: the function's symbol, the offset of the line from the
 * function's first line, and the discriminator, which tells blocks on one line
 * apart.  An inlined call has such a place in the function around it, and below
 * that places of its own:
 *
 *	main:120:20           the counts in main add up to 120; it was entered
 *	                      20 times
 *	 3: 20                its fourth line was executed 20 times
 *	 4.2: 40 work:40      another one 40 times, which calls work
 *	 5: sum:60            sum was inlined there, and has 60
 *	  1: 60
 *
 * The compiler wants to know how often a line was executed, and hits are samples
 * of time: a line of many instructions has more of them than one of few.  So an
 * instruction is counted with the hits of its basic block, divided by the
 * number of instructions in it, and a line with the largest count of its
 * instructions, as LLVM's own tools count it.  Where the code cannot be read, a
 * line has its hits.
 * Source: LLVM, llvm/include/llvm/ProfileData/SampleProfReader.h, and
 * FunctionSamples::getHeadSamples in SampleProf.h.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/formats/exporter.h"
#include "src/profile/large_array.h"
#include "src/symbols/code/disassembly.h"

#define AUTOFDO_NO_PLACE UINT32_MAX

enum {
	OFFSET_MASK = 0xffff,	/* LLVM's FunctionSamples::getOffset */
	MODULES_NAMED = 3,
	COUNTS_A_HIT = 1000,	/* so that counts below one hit differ */
};

/* A function, or one inlined in another; a key. */
struct autofdo_function {
	uint32_t parent;	/* the function around it, a smaller number, or
				 * AUTOFDO_NO_PLACE */
	uint32_t offset, discriminator;	/* of the call, or 0 */
	uint32_t symbol;
};

/* A line of a function, or a function that is called there; a key. */
struct autofdo_line {
	uint32_t function;
	uint32_t offset, discriminator;
	uint32_t callee;	/* a symbol; AUTOFDO_NO_PLACE: the line itself */
};

/* Where the hits of a frame are counted. */
struct autofdo_place {
	uint32_t function;	/* the outermost; AUTOFDO_NO_PLACE: the format
				 * has no place for it */
	uint32_t line;		/* in the innermost */
};

struct autofdo {
	const struct profile *profile;
	const struct sample_tree *tree;
	uint32_t resource;
	struct names *symbols;
	struct names *functions;	/* struct autofdo_function */
	struct names *lines;		/* struct autofdo_line */
	uint64_t *totals;		/* [functions] sum of the counts of
					 * their lines and of functions inlined
					 * there */
	uint64_t *counts;		/* [lines] */
	size_t totals_capacity, counts_capacity;
	uint64_t *heads;		/* [symbols] how often functions were
					 * entered */
	struct autofdo_place *places;	/* [frames] */
	uint64_t *hits;		/* [frames] their own */
	uint64_t *lost;		/* [modules + 1] hits without a place; the last
				 * of frames without a module */
	uint64_t all, placed;	/* hits */
	uint64_t uncounted;	/* those whose code cannot be read, */
	uint32_t unread;	/* in a module, or NO_MODULE, */
	enum disassembly_state why;
};

/* ---- places ---- */

/*
 * The symbol as the compiler knows the function before it makes parts and
 * copies of it: clang removes these endings, too.
 */
static uint32_t
autofdo_symbol(struct autofdo *autofdo, uint32_t name, struct error *error)
{
	static const char *const endings[] = { ".llvm.", ".part.", ".cold" };
	const char *text = names_text(autofdo->profile->names, name);
	size_t length = names_length(autofdo->profile->names, name);

	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		const char *at = memmem(text, length, endings[i],
		                        strlen(endings[i]));

		if (at != NULL && at > text)
			length = (size_t)(at - text);
	}
	return names_add(autofdo->symbols, text, length, error);
}

/* Of LLVM's three numbers in a discriminator, the one of the source. */
static uint32_t
base_discriminator(uint32_t discriminator)
{
	if ((discriminator & 1) != 0)
		return 0;
	discriminator >>= 1;
	return (discriminator & 0x20) != 0 ?
	       (discriminator >> 1 & 0xfe0) | (discriminator & 0x1f) :
	       discriminator & 0x1f;
}

/* Whether the text of a location can be read back. */
static bool
autofdo_is_known(const struct names *names, const struct location *location)
{
	const char *text;
	size_t length;

	if (location->linkage == NO_NAME || location->start_line == 0 ||
	    location->line == 0)
		return false;
	text = names_text(names, location->linkage);
	length = names_length(names, location->linkage);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == ':')
			return false;
	return length > 0;
}

static uint32_t
autofdo_offset(const struct location *location)
{
	return (location->line - location->start_line) & OFFSET_MASK;
}

/*
 * The number of a key whose count is at `counts`; AUTOFDO_NO_PLACE with *error
 * set.
 */
static uint32_t
autofdo_enter(struct names *keys, const void *key, size_t size,
              uint64_t **counts, size_t *capacity, struct error *error)
{
	uint32_t n = names_count(keys), number;

	if (memory_grow(counts, capacity, (size_t)n + 1, sizeof **counts,
	                error) != 0)
		return AUTOFDO_NO_PLACE;
	number = names_add(keys, key, size, error);
	if (number == n)
		(*counts)[n] = 0;
	return number;
}

static uint32_t
autofdo_add_line(struct autofdo *autofdo, const struct autofdo_line *line,
                 struct error *error)
{
	return autofdo_enter(autofdo->lines, line, sizeof *line,
	                     &autofdo->counts, &autofdo->counts_capacity,
	                     error);
}

static uint32_t
autofdo_add_function(struct autofdo *autofdo,
                     const struct autofdo_function *function,
                     struct error *error)
{
	return autofdo_enter(autofdo->functions, function, sizeof *function,
	                     &autofdo->totals, &autofdo->totals_capacity,
	                     error);
}

/* Finds the place of a frame; 0, or -1 with *error set. */
static int
autofdo_place_frame(struct autofdo *autofdo, const struct frame *frame,
                    struct autofdo_place *place, struct error *error)
{
	const struct location *locations =
	    &autofdo->profile->locations[frame->first_location];
	struct autofdo_function function = { .parent = AUTOFDO_NO_PLACE };
	struct autofdo_line line = { .callee = AUTOFDO_NO_PLACE };

	*place = (struct autofdo_place){ AUTOFDO_NO_PLACE, AUTOFDO_NO_PLACE };
	for (uint32_t i = 0; i < frame->n_locations; i++)
		if (!autofdo_is_known(autofdo->profile->names, &locations[i]))
			return 0;
	for (uint32_t i = 0; i < frame->n_locations; i++) {
		function.symbol = autofdo_symbol(autofdo, locations[i].linkage,
		                                 error);
		line.function = autofdo_add_function(autofdo, &function, error);
		if (error->is_set)
			return -1;
		if (i == 0)
			place->function = line.function;
		line.offset = autofdo_offset(&locations[i]);
		line.discriminator =
		    base_discriminator(locations[i].discriminator);
		function = (struct autofdo_function){
			.parent = line.function,
			.offset = line.offset,
			.discriminator = line.discriminator,
		};
	}
	place->line = autofdo_add_line(autofdo, &line, error);
	return error->is_set ? -1 : 0;
}

static int
autofdo_place_frames(struct autofdo *autofdo, struct error *error)
{
	const struct profile *profile = autofdo->profile;

	for (uint32_t i = 0; i < profile->n_frames; i++)
		if (autofdo_place_frame(autofdo, &profile->frames[i],
		                &autofdo->places[i], error) != 0)
			return -1;
	return 0;
}

/* ---- hits ---- */

static struct autofdo_line
autofdo_line_of(const struct autofdo *autofdo, uint32_t number)
{
	struct autofdo_line line;

	memcpy(&line, names_text(autofdo->lines, number), sizeof line);
	return line;
}

static struct autofdo_function
autofdo_function_of(const struct autofdo *autofdo, uint32_t number)
{
	struct autofdo_function function;

	memcpy(&function, names_text(autofdo->functions, number),
	       sizeof function);
	return function;
}

/* n * part / whole, or as much as there is room for. */
static uint64_t
autofdo_share(uint64_t n, uint64_t part, uint64_t whole)
{
	unsigned __int128 share = (unsigned __int128)n * part / whole;

	return share > UINT64_MAX ? UINT64_MAX : (uint64_t)share;
}

/* Adds the hits below a call, of which there may be several in a stack. */
static int
autofdo_add_call(struct autofdo *autofdo, const struct autofdo_place *caller,
                 const struct autofdo_place *callee, uint64_t weight,
                 struct error *error)
{
	struct autofdo_line line = autofdo_line_of(autofdo, caller->line);
	uint32_t number;

	line.callee = autofdo_function_of(autofdo, callee->function).symbol;
	number = autofdo_add_line(autofdo, &line, error);
	if (number == AUTOFDO_NO_PLACE)
		return -1;
	count_add(&autofdo->counts[number], weight);
	return 0;
}

static int
autofdo_add_node(struct autofdo *autofdo, uint32_t node,
                 const uint64_t *sums, struct error *error)
{
	const struct sample_tree *tree = autofdo->tree;
	const uint64_t weight = sample_tree_weight(tree, sums, node);
	const uint32_t *label = tree->label;
	const struct frame *frame = &autofdo->profile->frames[label[node]];
	const struct autofdo_place *place = &autofdo->places[label[node]];
	uint64_t hits = sample_tree_hits(tree, autofdo->resource, node);
	uint32_t parent = sample_tree_parent(tree, node);

	autofdo->all += hits;
	autofdo->hits[label[node]] += hits;
	if (place->function == AUTOFDO_NO_PLACE) {
		autofdo->lost[frame->module != NO_MODULE ? frame->module :
		              autofdo->profile->n_modules] += hits;
		return 0;
	}
	autofdo->placed += hits;
	if (parent == NO_NODE || weight == 0 ||
	    autofdo->places[label[parent]].function == AUTOFDO_NO_PLACE)
		return 0;
	return autofdo_add_call(autofdo, &autofdo->places[label[parent]],
	                        place, weight, error);
}

/* Sets the hits of frames, and the counts of calls to the hits below them. */
static int
autofdo_add_hits(struct autofdo *autofdo, struct writer *writer,
                 struct error *error)
{
	const struct sample_tree *tree = autofdo->tree;
	uint64_t *sums = sample_tree_new_sums(tree,
	    tree->hits[autofdo->resource], error);
	int result = sums != NULL ? 0 : -1;

	for (uint32_t n = 0; result == 0 && n < tree->n_nodes; n++) {
		result = autofdo_add_node(autofdo, n, sums, error);
		if (result == 0)
			result = export_may_go_on(n, writer, error);
	}
	large_array_free(sums);
	return result;
}

/* ---- counts ---- */

/* The code of a module's frames, and the hits of its basic blocks. */
struct autofdo_code {
	struct disassembly disassembly;
	size_t *blocks;		/* [instructions] see disassembly_blocks */
	uint64_t *hits;		/* [instructions] of the block that begins
				 * there, */
	uint32_t *lengths;	/* and its instructions */
	size_t *parts;		/* [parts] the first instruction */
};

static void
autofdo_code_free(struct autofdo_code *code)
{
	disassembly_free(&code->disassembly);
	free(code->blocks);
	free(code->hits);
	free(code->lengths);
	free(code->parts);
}

static size_t
autofdo_code_find(const struct autofdo_code *code, uint64_t address)
{
	return disassembly_find(&code->disassembly, 0, code->disassembly.n,
	                        address);
}

/* How often the block of an instruction was executed. */
static uint64_t
autofdo_code_count(const struct autofdo_code *code, size_t at)
{
	size_t block = code->blocks[at];

	return autofdo_share(code->hits[block], COUNTS_A_HIT,
	                     code->lengths[block]);
}

/* Reads the code of frames[n], of one module, sorted by address. */
static int
autofdo_code_read(struct autofdo_code *code, const struct autofdo *autofdo,
                  const uint32_t *frames, size_t n, const char *root,
                  enum disassembly_state *state, struct error *error)
{
	const struct profile *profile = autofdo->profile;
	const struct module_file file = module_file_of(
	    &profile->modules[profile->frames[frames[0]].module],
	    (struct symbol_search){ .root = root });
	struct disassembly *disassembly = &code->disassembly;
	uint64_t *addresses = memory_array(n, sizeof *addresses, error);
	int result = -1;

	for (size_t i = 0; addresses != NULL && i < n; i++)
		addresses[i] = profile->frames[frames[i]].address;
	if (addresses != NULL)
		result = disassembly_add(disassembly, &file, addresses, n,
		                         state, error);
	free(addresses);
	if (result != 0 || *state != DISASSEMBLY_READ)
		return result;
	code->blocks = memory_array(disassembly->n, sizeof *code->blocks,
	                            error);
	code->hits = memory_array(disassembly->n, sizeof *code->hits, error);
	code->lengths = memory_array(disassembly->n, sizeof *code->lengths,
	                             error);
	code->parts = memory_array(disassembly->n_parts, sizeof *code->parts,
	                           error);
	if (error->is_set)
		return -1;
	disassembly_blocks(disassembly, 0, disassembly->n, code->blocks);
	for (size_t i = disassembly->n; i-- > 0;) {
		code->lengths[code->blocks[i]]++;
		code->parts[disassembly->items[i].part] = i;
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = autofdo_code_find(code,
		    profile->frames[frames[i]].address);

		if (at != SIZE_MAX)
			code->hits[code->blocks[at]] +=
			    autofdo->hits[frames[i]];
	}
	return 0;
}

/* Counts a frame's line and entries of its function; code: NULL: none. */
static void
autofdo_count_frame(struct autofdo *autofdo, uint32_t frame,
                    const struct autofdo_code *code)
{
	const struct autofdo_place *place = &autofdo->places[frame];
	uint64_t *count = &autofdo->counts[place->line];
	uint64_t *head = &autofdo->heads[autofdo_function_of(autofdo,
	    place->function).symbol];
	size_t at = code == NULL ? SIZE_MAX : autofdo_code_find(code,
	    autofdo->profile->frames[frame].address);
	uint64_t n;

	if (at == SIZE_MAX) {
		count_add(count, autofdo_share(autofdo->hits[frame],
		                                 COUNTS_A_HIT, 1));
		return;
	}
	n = autofdo_code_count(code, at);
	*count = n > *count ? n : *count;
	n = autofdo_code_count(code, code->parts[
	    code->disassembly.items[at].part]);
	*head = n > *head ? n : *head;
}

/* Counts lines of frames[n], all of a module or without one, by address. */
static int
autofdo_count_module(struct autofdo *autofdo, const uint32_t *frames, size_t n,
                     const char *root, struct error *error)
{
	uint32_t module = autofdo->profile->frames[frames[0]].module;
	enum disassembly_state state = DISASSEMBLY_MISSING;
	struct autofdo_code code = { 0 };
	uint64_t hits = 0;
	size_t first = 0;
	int result = 0;

	while (first < n &&
	       autofdo->places[frames[first]].function == AUTOFDO_NO_PLACE)
		first++;
	if (first < n && module != NO_MODULE)
		result = autofdo_code_read(&code, autofdo, frames, n, root,
		                           &state, error);
	for (size_t i = first; result == 0 && i < n; i++) {
		if (autofdo->places[frames[i]].function == AUTOFDO_NO_PLACE)
			continue;
		autofdo_count_frame(autofdo, frames[i],
		    state == DISASSEMBLY_READ ? &code : NULL);
		hits += autofdo->hits[frames[i]];
	}
	if (state != DISASSEMBLY_READ && hits > autofdo->uncounted) {
		autofdo->uncounted = hits;
		autofdo->unread = module;
		autofdo->why = state;
	}
	autofdo_code_free(&code);
	return result;
}

static int
autofdo_count_modules(struct autofdo *autofdo, const char *root,
                      struct error *error)
{
	const struct profile *profile = autofdo->profile;
	uint32_t *sorted = memory_array(profile->n_frames, sizeof *sorted,
	                                error);
	size_t n = 0, end;
	int result = sorted != NULL ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < profile->n_frames; i++)
		if (!profile->frames[i].is_interpreted)
			sorted[n++] = i;
	if (result == 0)
		profile_sort_frames(profile, sorted, n);
	for (size_t begin = 0; result == 0 && begin < n; begin = end) {
		uint32_t module = profile->frames[sorted[begin]].module;

		for (end = begin; end < n &&
		     profile->frames[sorted[end]].module == module; end++)
			;
		result = autofdo_count_module(autofdo, sorted + begin,
		                              end - begin, root, error);
	}
	free(sorted);
	return result;
}

/*
 * Of the functions that a line calls, each is called as often as its share of
 * the hits below the line says.
 */
static int
autofdo_count_calls(struct autofdo *autofdo, struct error *error)
{
	uint32_t n = names_count(autofdo->lines);
	uint32_t *lines = memory_array(n, sizeof *lines, error);
	uint64_t *below = memory_array(n, sizeof *below, error);
	uint64_t *entries = memory_array(names_count(autofdo->symbols),
	                                 sizeof *entries, error);

	for (uint32_t i = 0; !error->is_set && i < n; i++) {
		struct autofdo_line line = autofdo_line_of(autofdo, i);

		lines[i] = AUTOFDO_NO_PLACE;
		if (line.callee == AUTOFDO_NO_PLACE)
			continue;
		line.callee = AUTOFDO_NO_PLACE;
		lines[i] = autofdo_add_line(autofdo, &line, error);
		if (!error->is_set)
			count_add(&below[lines[i]], autofdo->counts[i]);
	}
	for (uint32_t i = 0; !error->is_set && i < n; i++) {
		uint64_t *count = &autofdo->counts[i];

		if (lines[i] == AUTOFDO_NO_PLACE)
			continue;
		*count = autofdo_share(autofdo->counts[lines[i]], *count,
		                       below[lines[i]]);
		count_add(&entries[autofdo_line_of(autofdo, i).callee],
		            *count);
	}
	/* A function may have no hits where it begins, or where it is called. */
	for (uint32_t i = 0; !error->is_set &&
	     i < names_count(autofdo->symbols); i++)
		if (entries[i] > autofdo->heads[i])
			autofdo->heads[i] = entries[i];
	free(lines);
	free(below);
	free(entries);
	return error->is_set ? -1 : 0;
}

static int
autofdo_count(struct autofdo *autofdo, const char *root, struct error *error)
{
	autofdo->heads = memory_array(names_count(autofdo->symbols),
	                              sizeof *autofdo->heads, error);
	if (autofdo->heads == NULL ||
	    autofdo_count_modules(autofdo, root, error) != 0 ||
	    autofdo_count_calls(autofdo, error) != 0)
		return -1;
	for (uint32_t i = 0; i < names_count(autofdo->lines); i++) {
		struct autofdo_line line = autofdo_line_of(autofdo, i);

		if (line.callee == AUTOFDO_NO_PLACE)
			count_add(&autofdo->totals[line.function],
			            autofdo->counts[i]);
	}
	/* An inlined function has a greater number than the one around it. */
	for (uint32_t i = names_count(autofdo->functions); i-- > 0;) {
		uint32_t parent = autofdo_function_of(autofdo, i).parent;

		if (parent != AUTOFDO_NO_PLACE)
			count_add(&autofdo->totals[parent],
			            autofdo->totals[i]);
	}
	return 0;
}

/* ---- the text ---- */

enum row_kind { ROW_LINE, ROW_CALL, ROW_INLINED };

/* What stands in a function's text, in its order. */
struct autofdo_row {
	uint32_t owner;		/* a function; AUTOFDO_NO_PLACE: the file */
	uint32_t offset, discriminator;
	enum row_kind kind;
	uint32_t number;	/* of a line; of a function if it is inlined or
				 * the file's */
};

struct autofdo_text {
	const struct autofdo *autofdo;
	struct writer *writer;
	struct text_buffer text;
	struct autofdo_row *rows;	/* [n] */
	size_t n;
	struct autofdo_level {
		size_t at, end;		/* rows */
	} *levels;		/* [depth] functions around one another */
	size_t depth, levels_capacity;
};

static uint32_t
autofdo_row_symbol(const struct autofdo *autofdo, const struct autofdo_row *row)
{
	return row->kind == ROW_INLINED ?
	       autofdo_function_of(autofdo, row->number).symbol :
	       autofdo_line_of(autofdo, row->number).callee;
}

static int
autofdo_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Functions of the file by their counts, what is in a function by its lines. */
static int
autofdo_compare_rows(const void *left, const void *right, void *context)
{
	const struct autofdo *autofdo = context;
	const struct autofdo_row *a = left, *b = right;
	int order = autofdo_compare(a->owner, b->owner);

	if (order == 0 && a->owner == AUTOFDO_NO_PLACE)
		order = autofdo_compare(autofdo->totals[b->number],
		                        autofdo->totals[a->number]);
	if (order == 0)
		order = autofdo_compare(a->offset, b->offset);
	if (order == 0)
		order = autofdo_compare(a->discriminator, b->discriminator);
	if (order == 0)
		order = autofdo_compare(a->kind, b->kind);
	if (order == 0 && a->kind != ROW_LINE)
		order = names_compare(autofdo->symbols,
		                      autofdo_row_symbol(autofdo, a),
		                      autofdo_row_symbol(autofdo, b));
	return order;
}

static int
autofdo_make_rows(struct autofdo_text *text, struct error *error)
{
	const struct autofdo *autofdo = text->autofdo;
	uint32_t n_functions = names_count(autofdo->functions);
	uint32_t n_lines = names_count(autofdo->lines);

	text->rows = memory_array((size_t)n_functions + n_lines,
	                          sizeof *text->rows, error);
	if (text->rows == NULL)
		return -1;
	for (uint32_t i = 0; i < n_functions; i++) {
		struct autofdo_function function =
		    autofdo_function_of(autofdo, i);

		text->rows[text->n++] = (struct autofdo_row){
			function.parent, function.offset,
			function.discriminator, ROW_INLINED, i
		};
	}
	for (uint32_t i = 0; i < n_lines; i++) {
		struct autofdo_line line = autofdo_line_of(autofdo, i);

		text->rows[text->n++] = (struct autofdo_row){
			line.function, line.offset, line.discriminator,
			line.callee == AUTOFDO_NO_PLACE ? ROW_LINE : ROW_CALL, i
		};
	}
	return sort_items(text->rows, text->n, sizeof *text->rows,
	                  autofdo_compare_rows, (void *)autofdo, error);
}

/* Goes into a function, whose rows are those with it as owner. */
static int
autofdo_enter_level(struct autofdo_text *text, uint32_t owner,
                    struct error *error)
{
	const struct autofdo_row *rows = text->rows;

	if (memory_grow(&text->levels, &text->levels_capacity, text->depth + 1,
	                sizeof *text->levels, error) != 0)
		return -1;
	text->levels[text->depth++] = (struct autofdo_level){
		partition_point(text->n, i, rows[i].owner < owner),
		partition_point(text->n, i, rows[i].owner <= owner)
	};
	return 0;
}

/* Spaces, one for each function around; then "5.2: ". */
static void
autofdo_begin_row(struct autofdo_text *text, const struct autofdo_row *row)
{
	for (size_t i = 1; i < text->depth; i++)
		text_add_char(&text->text, ' ');
	if (text->depth <= 1)
		return;
	text_add_format(&text->text, "%" PRIu32, row->offset);
	if (row->discriminator != 0)
		text_add_format(&text->text, ".%" PRIu32, row->discriminator);
	text_add_string(&text->text, ": ");
}

static void
autofdo_add_symbol(struct autofdo_text *text, uint32_t symbol, uint64_t count)
{
	const struct names *symbols = text->autofdo->symbols;

	text_add(&text->text, names_text(symbols, symbol),
	         names_length(symbols, symbol));
	text_add_format(&text->text, ":%" PRIu64, count);
}

static int
autofdo_write_function(struct autofdo_text *text, const struct autofdo_row *row,
                       struct error *error)
{
	uint32_t symbol = autofdo_row_symbol(text->autofdo, row);

	autofdo_begin_row(text, row);
	autofdo_add_symbol(text, symbol, text->autofdo->totals[row->number]);
	if (row->owner == AUTOFDO_NO_PLACE)
		text_add_format(&text->text, ":%" PRIu64,
		                text->autofdo->heads[symbol]);
	text_add_char(&text->text, '\n');
	return autofdo_enter_level(text, row->number, error);
}

/*
 * Writes a line with the calls on it, which are rows up to *end.  The line of a
 * call has a row, too, which comes first.
 */
static void
autofdo_write_line(struct autofdo_text *text, size_t at, size_t *end)
{
	const struct autofdo_row *row = &text->rows[at];
	const uint64_t *counts = text->autofdo->counts;

	autofdo_begin_row(text, row);
	text_add_format(&text->text, "%" PRIu64, counts[row->number]);
	for (at++; at < *end && text->rows[at].kind == ROW_CALL &&
	     text->rows[at].offset == row->offset &&
	     text->rows[at].discriminator == row->discriminator; at++) {
		text_add_char(&text->text, ' ');
		autofdo_add_symbol(text,
		    autofdo_row_symbol(text->autofdo, &text->rows[at]),
		    counts[text->rows[at].number]);
	}
	text_add_char(&text->text, '\n');
	*end = at;
}

static int
autofdo_write_rows(struct autofdo_text *text, struct error *error)
{
	uint32_t n_written = 0;

	if (autofdo_enter_level(text, AUTOFDO_NO_PLACE, error) != 0)
		return -1;
	while (text->depth > 0) {
		struct autofdo_level *level = &text->levels[text->depth - 1];
		size_t at = level->at, end = level->end;
		int result = 0;

		if (at == end) {
			text->depth--;
			continue;
		}
		if (text->rows[at].kind == ROW_INLINED) {
			level->at = at + 1;
			result = autofdo_write_function(text, &text->rows[at],
			                                error);
		} else {
			autofdo_write_line(text, at, &end);
			level->at = end;
		}
		if (result != 0 ||
		    export_flush(&text->text, text->writer, error) != 0 ||
		    export_may_go_on(n_written++, text->writer, error) != 0)
			return -1;
	}
	return 0;
}

static int
autofdo_write_text(const struct autofdo *autofdo, struct writer *writer,
                   struct error *error)
{
	struct autofdo_text text = { .autofdo = autofdo, .writer = writer };
	int result = autofdo_make_rows(&text, error);

	if (result == 0)
		result = autofdo_write_rows(&text, error);
	text_free(&text.text);
	free(text.rows);
	free(text.levels);
	return result;
}

/* ---- the whole ---- */

/* Names the modules with the most hits that have no place. */
static void
autofdo_add_lost(const struct autofdo *autofdo, struct text_buffer *remark)
{
	const struct profile *profile = autofdo->profile;
	const char *separator = " (";

	for (int named = 0; named < MODULES_NAMED; named++) {
		uint32_t most = profile->n_modules;

		for (uint32_t i = 0; i < profile->n_modules; i++)
			if (autofdo->lost[i] > (most < profile->n_modules ?
			                        autofdo->lost[most] : 0))
				most = i;
		if (most == profile->n_modules)
			break;
		text_add_format(remark, "%s%s: %.1f%%", separator,
		                profile_module_name(profile, most),
		                100.0 * (double)autofdo->lost[most] /
		                (double)autofdo->all);
		autofdo->lost[most] = 0;
		separator = ", ";
	}
	if (*separator == ',')
		text_add_char(remark, ')');
}

static void
autofdo_add_remark(const struct autofdo *autofdo, struct text_buffer *remark)
{
	static const char *const why[] = {
		[DISASSEMBLY_MISSING] = "cannot be found (symfs DIRECTORY says "
		    "where it is)",
		[DISASSEMBLY_UNREADABLE] = "cannot be read",
		[DISASSEMBLY_DIFFERS] = "was built again since (symfs "
		    "DIRECTORY says where the right one is)",
		[DISASSEMBLY_NO_DECODER] = "cannot be decoded (is capstone "
		    "installed?)",
		[DISASSEMBLY_NO_CODE] = "cannot be found in its file",
	};

	text_add_format(remark, "%.1f%% of %" PRIu64 " hits have a line in a "
	                "function that the compiler can find",
	                100.0 * (double)autofdo->placed /
	                (double)autofdo->all, autofdo->all);
	if (autofdo->placed < autofdo->all) {
		text_add_string(remark, "; the rest has none");
		autofdo_add_lost(autofdo, remark);
	}
	text_add_format(remark, "; counts are %d for each hit, divided by the "
	                "instructions of a block: estimates from samples of "
	                "time, not counts of branches", COUNTS_A_HIT);
	if (autofdo->unread != NO_MODULE)
		text_add_format(remark, "; in %s they are not divided, as its "
		                "code %s", profile_module_name(autofdo->profile,
		                autofdo->unread), why[autofdo->why]);
}

static int
autofdo_check_places(const struct autofdo *autofdo, struct error *error)
{
	if (autofdo->placed > 0)
		return 0;
	return error_set(error, autofdo->all == 0 ? "there are no hits to "
	                 "export" : "no hit has a line in a function that the "
	                 "compiler can find: build the program by clang with "
	                 "-gline-tables-only -fdebug-info-for-profiling, and "
	                 "record it again");
}

static int
autofdo_write(const struct export_source *source, struct writer *writer,
              uint64_t *n_changed, struct error *error)
{
	const struct profile *profile = source->profile;
	struct autofdo autofdo = {
		.profile = profile,
		.tree = profile->tree,
		.resource = source->resource,
		.symbols = names_new(error),
		.functions = names_new(error),
		.lines = names_new(error),
		.places = memory_array(profile->n_frames,
		                       sizeof *autofdo.places, error),
		.hits = memory_array(profile->n_frames, sizeof *autofdo.hits,
		                     error),
		.lost = memory_array((size_t)profile->n_modules + 1,
		                     sizeof *autofdo.lost, error),
		.unread = NO_MODULE,
	};
	int result = -1;

	*n_changed = 0;
	if (!error->is_set && autofdo_place_frames(&autofdo, error) == 0 &&
	    autofdo_add_hits(&autofdo, writer, error) == 0 &&
	    autofdo_check_places(&autofdo, error) == 0 &&
	    autofdo_count(&autofdo, source->symfs, error) == 0)
		result = autofdo_write_text(&autofdo, writer, error);
	if (result == 0)
		autofdo_add_remark(&autofdo, source->remark);
	names_free(autofdo.symbols);
	names_free(autofdo.functions);
	names_free(autofdo.lines);
	free(autofdo.places);
	free(autofdo.hits);
	free(autofdo.heads);
	free(autofdo.lost);
	free(autofdo.totals);
	free(autofdo.counts);
	return result;
}

const struct exporter exporter_autofdo = {
	.summary = "one resource by lines, for clang -fprofile-sample-use",
	.carries = EXPORT_LINES,
	.write = autofdo_write,
};
