/* SPDX-License-Identifier: GPL-3.0-or-later */
/* legacy.c -- text profiles of gperftools, jemalloc and Go, older than pprof.
 *
 * Heap, growth, contention, thread and goroutine profiles: a header, samples,
 * which are values and addresses, innermost first, and perhaps what was mapped
 * where (reader.h).  Each becomes the pprof profile (pprof.h) that google/pprof
 * would make of it, with the same values.  All addresses are return addresses,
 * less one, except a thread's innermost, which is where it was.
 *
 * Names in the text are preferred to symbols of files: those of a section
 * before the profile, of the lines of a thread, or of comments that Go writes
 * after a sample.  Go writes none for runtime.goexit, the outermost frame of
 * all its stacks, nor for the innermost frames if they are functions of its
 * runtime.
 * Source: google/pprof, profile/legacy_profile.go; gperftools, src/pprof,
 * PrintSymbolizedProfile; Go, runtime/pprof, printStackRecord.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/formats/format.h"
#include "src/formats/legacy/legacy.h"
#include "src/formats/pprof/pprof.h"

/* REPEATED_MAX: of frames that threads repeat, a whole stack with one line. */
enum { LINE_MAX_MIB = 16, REPEATED_MAX = 1 << 20 };

enum legacy_part {
	PART_HEADER,
	PART_SYMBOLS,		/* "--- symbol" */
	PART_ATTRIBUTES,	/* of a contention profile */
	PART_SAMPLES,
	PART_OTHER,		/* sections that mean nothing here */
	PART_MAP,
};

/* The stack of the sample that is read, or was last. */
struct stack {
	uint64_t *addresses;	/* innermost first */
	size_t n, capacity;
	bool has_comments;	/* which name some of its addresses, */
	uint64_t last_comment;	/* so far up to this one */
};

struct legacy_known_address {
	uint64_t address;
	size_t first_line, n_lines;
};

/*
 * Addresses of a text profile, and what it calls them.
 *
 * Each address becomes a location of a pprof profile, whose id is known at
 * once.  Addresses that the text does not name are looked up in the files of
 * its memory map.
 */
struct legacy_addresses {
	struct id_table ids;
	struct legacy_known_address *known;	/* [ids.n] */
	size_t known_capacity;
	struct pprof_line *lines;
	size_t n_lines, lines_capacity;
	uint32_t naming;		/* the address that gets names, NO_ID */
	bool is_naming_over;		/* it has all of them */
};

/*
 * The section "--- symbol" of a text profile.
 *
 * pprof of gperftools writes it before the profile:
 *
 * 	--- symbol
 * 	binary=/path
 * 	0x000000000042ecc3 caller--inlined
 * 	---
 *
 * Its addresses are those of the profile, or these less one.  Inlined calls are
 * joined by "--", innermost last.
 */
struct legacy_symbols {
	char *program;		/* "binary="; NULL: unknown */
	struct names *lines;	/* NULL: none; kept until all addresses of the
				 * profile are known */
};

struct legacy {
	struct reader reader;
	struct pprof_builder builder;
	struct legacy_addresses addresses;
	struct memory_map *map;
	enum legacy_part part;
	struct legacy_header header;
	bool has_types;
	uint64_t n_samples, n_discarded;
	struct legacy_symbols symbols;
	struct stack stack;
	uint64_t sample_line;	/* where it began */
	char *thread;		/* name of the one that is read; NULL: none */
	uint64_t n_repeated;	/* frames of threads "same as previous" */
	bool has_stack;		/* the thread, of its own; in a profile of
				 * jemalloc: one whose values follow */
};

/* ---- addresses and their names ---- */

/* The location of an address, never 0; 0 with *error set. */
static uint64_t
legacy_addresses_add(struct legacy_addresses *addresses, uint64_t address,
                     struct error *error)
{
	uint32_t n = addresses->ids.n;
	uint32_t number = id_table_add(&addresses->ids, address, error);

	if (number == NO_ID ||
	    memory_grow(&addresses->known, &addresses->known_capacity,
	                (size_t)number + 1, sizeof *addresses->known,
	                error) != 0)
		return 0;
	if (number == n)
		addresses->known[number] = (struct legacy_known_address){
			address, 0, 0
		};
	return (uint64_t)number + 1;
}

/* The address that was named last keeps the names that it has. */
static void
legacy_addresses_end_names(struct legacy_addresses *addresses)
{
	addresses->naming = NO_ID;
}

/*
 * Names one level of an address that was added: the function there, or an
 * inlined call; innermost first, the levels of an address one after the other.
 * The first names stay: an address that was named before the last
 * legacy_addresses_end_names keeps its names, and a level that repeats the
 * first one is the next activation of a recursion.  line: 0 unknown; file may
 * be empty.
 */
static int
legacy_addresses_name(struct legacy_addresses *addresses,
                      struct pprof_builder *builder, uint64_t address,
                      struct line_text name, struct line_text file,
                      uint64_t line, struct error *error)
{
	uint32_t number = id_table_find(&addresses->ids, address);
	struct pprof_line new = { .line = line };
	struct legacy_known_address *known;

	if (number == NO_ID)
		return 0;
	known = &addresses->known[number];
	if (addresses->naming != number) {
		addresses->naming = number;
		addresses->is_naming_over = known->n_lines > 0;
	}
	if (addresses->is_naming_over)
		return 0;
	new.function = pprof_builder_function(builder, name.at,
	    line_left(&name), file.at, line_left(&file), error);
	if (new.function == 0 ||
	    memory_grow(&addresses->lines, &addresses->lines_capacity,
	                addresses->n_lines + 1, sizeof new, error) != 0)
		return -1;
	if (known->n_lines == 0)
		known->first_line = addresses->n_lines;
	else if (addresses->lines[known->first_line].function ==
	         new.function &&
	         addresses->lines[known->first_line].line == line) {
		addresses->is_naming_over = true;
		return 0;
	}
	addresses->lines[addresses->n_lines++] = new;
	known->n_lines++;
	return 0;
}

/* Whether an address has a name. */
static bool
legacy_addresses_is_named(const struct legacy_addresses *addresses,
                          uint64_t address)
{
	uint32_t number = id_table_find(&addresses->ids, address);

	return number != NO_ID && addresses->known[number].n_lines > 0;
}

/*
 * Enters the mappings of the map; if there are none, one of the program over
 * all addresses.
 */
static int
legacy_addresses_enter_mappings(const struct memory_mapping *mappings, size_t n,
                                const char *program,
                                struct pprof_builder *builder,
                                struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		struct pprof_builder_mapping mapping = {
			.id = i + 1,
			.start = mappings[i].start,
			.limit = mappings[i].limit,
			.offset = mappings[i].offset,
			.path = mappings[i].path,
			.build_id = mappings[i].build_id,
		};

		if (pprof_builder_mapping(builder, &mapping, error) != 0)
			return -1;
	}
	if (n == 0 && program != NULL) {
		struct pprof_builder_mapping mapping = {
			.id = 1, .limit = UINT64_MAX, .path = program,
			.build_id = "",
		};

		return pprof_builder_mapping(builder, &mapping, error);
	}
	return 0;
}

/*
 * Enters all locations and the map's mappings into the builder.  program: the
 * whole path of the file of all addresses if the map is empty; may be NULL.
 * *n_unnamed: addresses that have neither a name nor a file.
 */
static int
legacy_addresses_finish(struct legacy_addresses *addresses,
                        struct memory_map *map, const char *program,
                        struct pprof_builder *builder, uint64_t *n_unnamed,
                        struct error *error)
{
	size_t n_mappings;
	const struct memory_mapping *mappings = memory_map_all(map,
	                                                       &n_mappings);

	*n_unnamed = 0;
	if (legacy_addresses_enter_mappings(mappings, n_mappings, program,
	                                    builder, error) != 0)
		return -1;
	for (uint32_t i = 0; i < addresses->ids.n; i++) {
		const struct legacy_known_address *known = &addresses->known[i];
		uint64_t mapping = n_mappings > 0 ?
		    memory_map_find(map, known->address) + 1 :
		    program != NULL;

		*n_unnamed += n_mappings == 0 && program == NULL &&
		    known->n_lines == 0;
		if (pprof_builder_location(builder, (uint64_t)i + 1, mapping,
		        known->address, known->n_lines > 0 ?
		        addresses->lines + known->first_line : NULL,
		        known->n_lines, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- symbols ---- */

/* Adds a line of the section. */
static int
legacy_symbols_add(struct legacy_symbols *symbols, struct line_text line,
                   struct error *error)
{
	if (line_take(&line, "binary=")) {
		free(symbols->program);
		symbols->program = memory_text(line.at, line_left(&line),
		                               error);
		return symbols->program != NULL ? 0 : -1;
	}
	if (symbols->lines == NULL)
		symbols->lines = names_new(error);
	return symbols->lines != NULL &&
	    names_add(symbols->lines, line.at, line_left(&line), error) !=
	    NO_NAME ? 0 : -1;
}

/* Drops the address that pprof puts at the end, "main<0000000000001254>". */
static void
drop_address(struct line_text *name)
{
	const char *at = name->end - 1;

	if (name->at == name->end || *at != '>')
		return;
	while (at > name->at && line_is_hex_digit(at[-1]))
		at--;
	if (name->end - 1 - at >= 8 && at - 1 > name->at && at[-1] == '<')
		name->end = at - 1;
}

/* Names an address by the parts of a text, of which the last is innermost. */
static int
name_parts(struct legacy_addresses *addresses, struct pprof_builder *builder,
           uint64_t address, struct line_text names, struct error *error)
{
	legacy_addresses_end_names(addresses);
	for (;;) {
		struct line_text last = names;
		const char *at = names.end;

		while (at - names.at >= 2 && memcmp(at - 2, "--", 2) != 0)
			at--;
		if (at - names.at >= 2)
			last.at = at;
		drop_address(&last);
		if (last.at < last.end &&
		    legacy_addresses_name(addresses, builder, address, last,
		                          line_nothing(), 0, error) != 0)
			return -1;
		if (at - names.at < 2)
			return 0;
		names.end = at - 2;
	}
}

/* Names the addresses that have no name yet. */
static int
legacy_symbols_name(const struct legacy_symbols *symbols,
                    struct legacy_addresses *addresses,
                    struct pprof_builder *builder, struct error *error)
{
	uint32_t n = symbols->lines != NULL ? names_count(symbols->lines) : 0;

	for (uint32_t i = 0; i < n; i++) {
		const char *text = names_text(symbols->lines, i);
		struct line_text line = { text, text +
			names_length(symbols->lines, i) };
		uint64_t address;

		if (!line_take(&line, "0x") || !line_take_hex(&line, &address))
			continue;
		line_trim(&line);
		if (name_parts(addresses, builder, address, line, error) != 0 ||
		    name_parts(addresses, builder, address - 1, line,
		               error) != 0)
			return -1;
	}
	return 0;
}

/* ---- types ---- */

static int
legacy_add_type(struct legacy *legacy, const char *name, const char *unit,
                struct error *error)
{
	return pprof_builder_type(&legacy->builder, name, strlen(name), unit,
	                          strlen(unit), error);
}

/* What values are, once the header is known. */
static int
add_types(struct legacy *legacy, struct error *error)
{
	const struct line_text *name = &legacy->header.name;

	legacy->has_types = true;
	switch (legacy->header.kind) {
	case LEGACY_HEAP:
	case LEGACY_JEMALLOC:
		if (!legacy->header.has_allocated)
			return legacy_add_type(legacy, "objects", "count",
			                       error) == 0 ?
			    legacy_add_type(legacy, "space", "bytes", error) :
			    -1;
		return legacy_add_type(legacy, "alloc_objects", "count",
		                       error) == 0 &&
			legacy_add_type(legacy, "alloc_space", "bytes",
		                        error) == 0 &&
			legacy_add_type(legacy, "inuse_objects", "count",
		                        error) == 0 ?
		    legacy_add_type(legacy, "inuse_space", "bytes", error) :
		    -1;
	case LEGACY_CONTENTION:
		return legacy_add_type(legacy, "contentions", "count", error) ==
			0 ?
		    legacy_add_type(legacy, "delay", "nanoseconds", error) :
		    -1;
	case LEGACY_COUNT:
		return pprof_builder_type(&legacy->builder, name->at,
		                          line_left(name), "count", 5, error);
	default:
		return legacy_add_type(legacy, "thread", "count", error);
	}
}

/* ---- samples ---- */

/*
 * Appends all addresses of the line to the stack.  0; 1: one is too large, so
 * the line is skipped; or -1 with *error set.
 */
static int
legacy_read_addresses(struct legacy *legacy, struct line_text line,
                      struct error *error)
{
	struct stack *stack = &legacy->stack;
	struct error why = { 0 };
	uint64_t address;
	int found;

	while ((found = legacy_take_address(&line, &address, &why)) == 1) {
		if (memory_grow(&stack->addresses, &stack->capacity,
		                stack->n + 1, sizeof address, error) != 0)
			return -1;
		stack->addresses[stack->n++] = address;
	}
	if (found == 0)
		return 0;
	return reader_reject_for(&legacy->reader, &why, error) == 0 ? 1 : -1;
}

/*
 * Makes addresses of calls from return addresses.  A thread's innermost address
 * is not one; some writers repeat it as if it were.
 */
static void
adjust_stack(struct legacy *legacy)
{
	struct stack *stack = &legacy->stack;
	bool is_thread = legacy->header.kind == LEGACY_THREADS;

	for (size_t i = is_thread; i < stack->n; i++)
		stack->addresses[i]--;
	if (is_thread && stack->n > 1 &&
	    stack->addresses[0] == stack->addresses[1] + 1) {
		stack->n--;
		memmove(stack->addresses + 1, stack->addresses + 2,
		        (stack->n - 1) * sizeof *stack->addresses);
	}
}

/* Enters the values with the stack as it is. */
static int
push_sample(struct legacy *legacy, const struct legacy_values *values,
            struct error *error)
{
	const struct stack *stack = &legacy->stack;
	struct pprof_builder *builder = &legacy->builder;
	struct error why = { 0 };

	if (!legacy->has_types && add_types(legacy, error) != 0)
		return -1;
	pprof_builder_raw_samples(builder, values->n_raw);
	pprof_builder_sample(builder);
	for (size_t i = 0; i < stack->n; i++) {
		uint64_t id = legacy_addresses_add(&legacy->addresses,
		    stack->addresses[i], error);

		if (id == 0)
			return -1;
		pprof_builder_stack(builder, id);
	}
	for (int i = 0; i < values->n; i++)
		pprof_builder_value(builder, values->values[i]);
	if (legacy->thread != NULL && legacy->n_repeated <= REPEATED_MAX &&
	    pprof_builder_label(builder, "thread", 6, legacy->thread,
	                        strlen(legacy->thread), error) != 0)
		return -1;
	legacy->n_samples++;
	if (pprof_builder_end_sample(builder, legacy->sample_line, &why) == 0)
		return 0;
	return reader_pass_at(&legacy->reader, legacy->reader.place, &why,
	                      error);
}

/* "1: 9216 [1: 9216] @ 0xc635c8 0x42ecc3" and its like */
static int
legacy_read_sample(struct legacy *legacy, struct line_text line,
                   struct error *error)
{
	struct legacy_values values;
	struct error why = { 0 };
	int result;

	if (legacy_read_values(&legacy->header, &line, &values, &why) != 0)
		return reader_reject_for(&legacy->reader, &why, error);
	legacy->stack.n = 0;
	legacy->stack.has_comments = false;
	legacy->sample_line = legacy->reader.place;
	result = legacy_read_addresses(legacy, line, error);
	if (result != 0)
		return result < 0 ? -1 : 0;
	adjust_stack(legacy);
	return push_sample(legacy, &values, error);
}

/*
 * jemalloc's stacks, "@ 0x1 0x2", are followed by lines of values, of which
 * "t*:" is the sum of all threads.  The one before the first stack is the sum
 * of all stacks; if it is missing, any stack may have both pairs of values.
 */
static int
read_jemalloc(struct legacy *legacy, struct line_text line,
              struct error *error)
{
	struct legacy_header *header = &legacy->header;
	struct legacy_values values;
	struct error why = { 0 };
	int result;

	if (line_take(&line, "@")) {
		legacy->stack.n = 0;
		legacy->sample_line = legacy->reader.place;
		result = legacy_read_addresses(legacy, line, error);
		legacy->has_stack = result == 0;
		adjust_stack(legacy);
		return result < 0 ? -1 : 0;
	}
	if (!line_take(&line, "t*:"))
		return line_begins_with(&line, "t") ? 0 :
		       reader_reject(&legacy->reader, "expected @ ADDRESSES or "
		                     "t*: N: BYTES [N: BYTES]", error);
	if (!legacy->has_types && legacy->has_stack)
		header->has_allocated = true;
	else if (!legacy->has_types) {
		/* The sum has both if any stack has. */
		header->has_allocated = true;
		result = legacy_read_values(header, &line, &values, &why);
		header->has_allocated = result == 0 &&
		    (values.values[0] | values.values[1]) != 0;
		return result != 0 ?
		    reader_reject_for(&legacy->reader, &why, error) :
		    add_types(legacy, error);
	}
	if (legacy_read_values(header, &line, &values, &why) != 0)
		return reader_reject_for(&legacy->reader, &why, error);
	if (!legacy->has_stack)
		return 0;
	legacy->has_stack = false;
	return push_sample(legacy, &values, error);
}

/* ---- names ---- */

/*
 * If comments named some of a stack's addresses but not the outermost one, that
 * one is runtime.goexit, the only function that Go leaves out there.
 */
static int
end_comments(struct legacy *legacy, struct error *error)
{
	static const char exit_name[] = "runtime.goexit";
	const struct stack *stack = &legacy->stack;
	bool is_exit = stack->has_comments && stack->n > 1 &&
	    stack->last_comment != stack->addresses[stack->n - 1] &&
	    !legacy_addresses_is_named(&legacy->addresses,
	                               stack->addresses[stack->n - 1]);

	legacy_addresses_end_names(&legacy->addresses);
	legacy->stack.has_comments = false;
	return !is_exit ? 0 : legacy_addresses_name(&legacy->addresses,
	    &legacy->builder, stack->addresses[stack->n - 1],
	    (struct line_text){ exit_name, exit_name + strlen(exit_name) },
	    line_nothing(), 0, error);
}

/* ---- threads ---- */

/* Enters the thread that was read, if one was. */
static int
legacy_end_thread(struct legacy *legacy, struct error *error)
{
	static const struct legacy_values one = { { 1 }, 1, 1 };
	int result = 0;

	if (legacy->thread == NULL)
		return 0;
	if (legacy->has_stack)
		adjust_stack(legacy);
	else
		legacy->n_repeated += legacy->stack.n;
	/* The first thread cannot share the stack of one before it. */
	if (legacy->has_stack || legacy->n_samples > 0)
		result = push_sample(legacy, &one, error);
	free(legacy->thread);
	legacy->thread = NULL;
	return result;
}

static int
legacy_begin_thread(struct legacy *legacy, struct line_text name,
                    struct error *error)
{
	if (legacy_end_thread(legacy, error) != 0)
		return -1;
	legacy->has_stack = false;
	legacy->sample_line = legacy->reader.place;
	legacy->thread = memory_text(name.at, line_left(&name), error);
	return legacy->thread != NULL ? 0 : -1;
}

/* A line of a thread, or what comes before the first. */
static int
read_thread_line(struct legacy *legacy, struct line_text line,
                 struct error *error)
{
	struct line_text name;
	size_t kept;
	int result;

	if (legacy_is_thread(line, &name))
		return legacy_begin_thread(legacy, name, error);
	if (line_begins_with(&line, "---- no stack trace for")) {
		legacy->part = PART_OTHER;
		return legacy_end_thread(legacy, error);
	}
	if (line_begins_with(&line, "---"))
		return reader_reject(&legacy->reader, "expected a thread: --- "
		                     "Thread ID (name: NAME/TID) stack: ---",
		                     error);
	if (legacy->thread == NULL ||
	    line_has(&line, "same as previous thread"))
		return 0;
	if (legacy->reader.is_unended)
		return reader_reject(&legacy->reader, "expected an end of line",
		                     error);
	/*
	 * Addresses of a thread; while it has none, it shares the last one's
	 * stack.
	 */
	kept = legacy->stack.n;
	if (!legacy->has_stack)
		legacy->stack.n = 0;
	result = legacy_read_addresses(legacy, line, error);
	if (result < 0)
		return -1;
	legacy->has_stack |= legacy->stack.n > 0;
	if (legacy->has_stack) {
		size_t n = legacy->stack.n;
		struct line_text function;
		uint64_t address;

		if (n == 0 || !legacy_read_frame(line, &address, &function))
			return 0;
		address -= n > 1;
		if (legacy_addresses_add(&legacy->addresses, address, error) ==
		    0)
			return -1;
		legacy_addresses_end_names(&legacy->addresses);
		return legacy_addresses_name(&legacy->addresses,
		                             &legacy->builder, address,
		                             function, line_nothing(), 0,
		                             error);
	}
	legacy->stack.n = kept;
	return 0;
}

/* ---- lines ---- */

static int
read_header(struct legacy *legacy, struct line_text line,
            struct error *error)
{
	static const char *const markers[] = { "---", "--- heap", "--- growth",
		"--- contention", "--- profile", NULL };
	struct line_text name;

	if (line.at == line.end || *line.at == '#')
		return 0;
	for (size_t i = 0; markers[i] != NULL; i++)
		if (line_is(&line, markers[i]))
			return 0;
	if (line_is(&line, "--- symbol")) {
		legacy->part = PART_SYMBOLS;
		return 0;
	}
	if (memchr(line.at, '\0', line_left(&line)) != NULL)
		return reader_fail(&legacy->reader, error, "binary data "
		    "after the symbols, as pprof --raw writes them, cannot be "
		    "read; open the profile that they were made of");
	legacy->header = legacy_read_header(line);
	if (legacy->header.kind == LEGACY_NONE)
		return reader_fail(&legacy->reader, error, "expected the "
		    "header of a heap, contention, thread or goroutine "
		    "profile");
	legacy->part = legacy->header.kind == LEGACY_CONTENTION ?
	               PART_ATTRIBUTES : PART_SAMPLES;
	if (legacy->header.kind != LEGACY_JEMALLOC &&
	    add_types(legacy, error) != 0)
		return -1;
	return legacy_is_thread(line, &name) ?
	       legacy_begin_thread(legacy, name, error) : 0;
}

static int
read_sample_line(struct legacy *legacy, struct line_text line,
                 struct error *error)
{
	enum legacy_kind kind = legacy->header.kind;

	if (line_begins_with(&line, "#")) {
		struct legacy_comment comment;

		/* A comment that names an address of the stack before it. */
		if (!legacy_read_comment(line, &comment))
			return 0;
		legacy->stack.has_comments = true;
		legacy->stack.last_comment = comment.address;
		return comment.name.at == comment.name.end ?
		    0 :
		    legacy_addresses_name(&legacy->addresses, &legacy->builder,
		                          comment.address, comment.name,
		                          comment.file, comment.line, error);
	}
	line_trim(&line);
	if (legacy_is_memory_map(line)) {
		legacy->part = PART_MAP;
		return kind == LEGACY_THREADS ?
		    legacy_end_thread(legacy, error) :
		    0;
	}
	if (line.at == line.end)
		return 0;
	if (kind == LEGACY_THREADS)
		return read_thread_line(legacy, line, error);
	if (line_begins_with(&line, "---")) {
		legacy->part = PART_OTHER;
		return 0;
	}
	if (kind == LEGACY_JEMALLOC)
		return read_jemalloc(legacy, line, error);
	return end_comments(legacy, error) == 0 ?
	       legacy_read_sample(legacy, line, error) : -1;
}

static int
read_attribute(struct legacy *legacy, struct line_text line,
               struct error *error)
{
	struct error why = { 0 };
	int found;

	if (line.at == line.end || *line.at == '#')
		return 0;
	found = legacy_read_attribute(&legacy->header, line,
	                              &legacy->n_discarded, &why);
	if (found < 0)
		return reader_pass_at(&legacy->reader, legacy->reader.place,
		                      &why, error);
	if (found > 0)
		return 0;
	legacy->part = PART_SAMPLES;
	return read_sample_line(legacy, line, error);
}

static int
legacy_read_line(void *context, const char *bytes, size_t length,
                 struct error *error)
{
	struct legacy *legacy = context;
	struct line_text whole = { bytes, bytes + length }, line = whole;

	line_trim(&line);
	switch (legacy->part) {
	case PART_SYMBOLS:
		if (!line_begins_with(&line, "---"))
			return legacy_symbols_add(&legacy->symbols, line,
			                          error);
		legacy->part = PART_HEADER;
		return read_header(legacy, line, error);
	case PART_HEADER:
		return read_header(legacy, line, error);
	case PART_ATTRIBUTES:
		return read_attribute(legacy, line, error);
	case PART_SAMPLES:
		return read_sample_line(legacy, whole, error);
	case PART_OTHER:
		if (legacy_is_memory_map(line))
			legacy->part = PART_MAP;
		return 0;
	default:
		return memory_map_add_line(legacy->map, bytes, length, error);
	}
}

/* ---- the whole input ---- */

/*
 * Enters the addresses, with the program that the user gave.  Its path is made
 * whole, since relative paths in a file are not looked up.  Go's goroutines
 * have no map that names the program, so the user is asked for it.
 */
static int
enter_addresses(struct legacy *legacy, struct error *error)
{
	const struct read_options *options = legacy->reader.options;
	const char *given = options->program;
	char *whole = given != NULL ? realpath(given, NULL) : NULL;
	const char *program = whole != NULL ? whole : legacy->symbols.program;
	size_t n_mappings;
	uint64_t n_unnamed;
	int result = legacy_addresses_finish(&legacy->addresses, legacy->map,
	                                     program, &legacy->builder,
	                                     &n_unnamed, error);

	memory_map_all(legacy->map, &n_mappings);
	if (n_mappings == 0 && options->is_program_used != NULL)
		*options->is_program_used = true;
	free(whole);
	if (result != 0 || n_unnamed == 0 ||
	    legacy->header.kind != LEGACY_COUNT)
		return result;
	return reader_warn(&legacy->reader, error, "addresses without a name: "
	                   "%" PRIu64 "; give the program, too: cpprof "
	                   "PROGRAM FILE", n_unnamed);
}

static int
legacy_warn(struct legacy *legacy, struct error *error)
{
	const struct legacy_header *header = &legacy->header;
	struct reader *reader = &legacy->reader;

	if (reader_warn_lines(reader, "", error) != 0)
		return -1;
	if (header->kind == LEGACY_CONTENTION &&
	    (header->cycles_per_second == 0 || header->rate == 0) &&
	    reader_warn(reader, error, "delays are in cycles of the processor, "
	                "not in nanoseconds: cycles/second or the sampling "
	                "period is missing or 0") != 0)
		return -1;
	if (legacy->n_discarded > 0 &&
	    reader_warn(reader, error, "%" PRIu64 " samples were discarded "
	                "when the profile was written; no stack has them",
	                legacy->n_discarded) != 0)
		return -1;
	return legacy->n_repeated <= REPEATED_MAX ? 0 :
	    reader_warn(reader, error, "threads share stacks of more than a "
	                "million frames in all; later ones with a shared stack "
	                "are counted without their names");
}

static int
legacy_read_profile(struct legacy *legacy, struct error *error)
{
	struct reader *reader = &legacy->reader;

	if (reader_lines(reader, LINE_MAX_MIB, legacy_read_line, legacy,
	                 error) != 0)
		return -1;
	if (!legacy->reader.is_cut_short &&
	    legacy_end_thread(legacy, error) != 0)
		return -1;
	if (end_comments(legacy, error) != 0 ||
	    legacy_symbols_name(&legacy->symbols, &legacy->addresses,
	                        &legacy->builder, error) != 0)
		return -1;
	if (legacy->n_samples == 0)
		return reader_fail_empty(reader, error);
	return legacy_warn(legacy, error) == 0 &&
	    enter_addresses(legacy, error) == 0 ?
	    pprof_profile_fill(&legacy->builder.tables,
	                       &legacy->builder.samples, false, error) : -1;
}

static struct profile *
legacy_read(struct source *source, const struct read_options *options,
            struct error *error)
{
	struct legacy legacy = { .part = PART_HEADER,
		.addresses.naming = NO_ID };
	int result = reader_begin(&legacy.reader, source, options,
	                          READER_LINES, error);

	legacy.map = memory_map_new(error);
	if (error->is_set ||
	    pprof_builder_begin(&legacy.builder, &legacy.reader, error) != 0 ||
	    legacy_read_profile(&legacy, error) != 0)
		result = -1;
	pprof_builder_free(&legacy.builder);
	id_table_free(&legacy.addresses.ids);
	free(legacy.addresses.known);
	free(legacy.addresses.lines);
	memory_map_free(legacy.map);
	free(legacy.symbols.program);
	names_free(legacy.symbols.lines);
	free(legacy.stack.addresses);
	free(legacy.thread);
	return reader_end(&legacy.reader, result);
}

/* ---- probe ---- */

/* The first line that is neither blank nor a comment says so. */
static int
legacy_probe(const void *head, size_t size)
{
	struct line_text text = { head, (const char *)head + size };

	while (text.at < text.end) {
		const char *end = memchr(text.at, '\n', line_left(&text));
		struct line_text line = { text.at,
			end != NULL ? end : text.end };

		line_trim(&line);
		if (line.at < line.end && *line.at != '#')
			return line_is(&line, "--- symbol") ||
			       legacy_read_header(line).kind != LEGACY_NONE ?
			       PROBE_SURE : PROBE_NO;
		text.at = end != NULL ? end + 1 : text.end;
	}
	return PROBE_NO;
}

const struct format format_legacy = {
	.name = "gperftools and Go text",
	.summary = "heaps, locks, threads, goroutines; also of jemalloc",
	.probe = legacy_probe,
	.read = legacy_read,
};
