/* SPDX-License-Identifier: GPL-3.0-or-later */
/* legacy.c -- text profiles of gperftools, jemalloc and Go, older than pprof.
 *
 * Heap, growth, contention, thread and goroutine profiles (legacy_lines.h):
 * a header, samples, which are values and addresses, innermost first, and
 * perhaps what was mapped where (memory_map.h).  Each becomes the pprof profile
 * (pprof_builder.h) that google/pprof would make of it, with the same values.
 * All addresses are return addresses, less one, except a thread's innermost,
 * which is where it was.
 *
 * Names in the text are preferred to symbols of files (legacy_addresses.h):
 * those of a section before the profile (legacy_symbols.h), of the lines of a
 * thread, or of comments that Go writes after a sample.  Go writes none for
 * runtime.goexit, the outermost frame of all its stacks, nor for the innermost
 * frames if they are functions of its runtime.
 * Source: google/pprof, profile/legacy_profile.go; gperftools, src/pprof,
 * PrintSymbolizedProfile; Go, runtime/pprof, printStackRecord.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/formats/format.h"
#include "src/formats/legacy/legacy_addresses.h"
#include "src/formats/legacy/legacy_lines.h"
#include "src/formats/legacy/legacy_symbols.h"
#include "src/formats/pprof/pprof_profile.h"
#include "src/formats/text_lines.h"

/* REPEATED_MAX: of frames that threads repeat, a whole stack with one line. */
enum { LINE_MAX_MIB = 16, REPEATED_MAX = 1 << 20 };

enum part {
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

struct reader {
	struct text_lines lines;
	struct pprof_builder builder;
	struct legacy_addresses *addresses;
	struct memory_map *map;
	enum part part;
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

static int
fail(const struct reader *reader, const struct error *why,
     struct error *error)
{
	return text_lines_fail(&reader->lines, error, why->text);
}

static int
reject(struct reader *reader, const struct error *why, struct error *error)
{
	return text_lines_reject(&reader->lines, why->text, error);
}

/* ---- types ---- */

static int
add_type(struct reader *reader, const char *name, const char *unit,
         struct error *error)
{
	return pprof_builder_type(&reader->builder, name, strlen(name), unit,
	                          strlen(unit), error);
}

static int
add_heap_types(struct reader *reader, struct error *error)
{
	if (!reader->header.has_allocated)
		return add_type(reader, "objects", "count", error) == 0 ?
		       add_type(reader, "space", "bytes", error) : -1;
	return add_type(reader, "alloc_objects", "count", error) == 0 &&
	       add_type(reader, "alloc_space", "bytes", error) == 0 &&
	       add_type(reader, "inuse_objects", "count", error) == 0 ?
	       add_type(reader, "inuse_space", "bytes", error) : -1;
}

/* What values are, once the header is known. */
static int
add_types(struct reader *reader, struct error *error)
{
	const struct line_text *name = &reader->header.name;

	reader->has_types = true;
	switch (reader->header.kind) {
	case LEGACY_HEAP:
	case LEGACY_JEMALLOC:
		return add_heap_types(reader, error);
	case LEGACY_CONTENTION:
		return add_type(reader, "contentions", "count", error) == 0 ?
		       add_type(reader, "delay", "nanoseconds", error) : -1;
	case LEGACY_COUNT:
		return pprof_builder_type(&reader->builder, name->at,
		                          line_left(name), "count", 5, error);
	default:
		return add_type(reader, "thread", "count", error);
	}
}

/* ---- samples ---- */

/*
 * Appends all addresses of the line to the stack.  0; 1: one is too large, so
 * the line is skipped; or -1 with *error set.
 */
static int
read_addresses(struct reader *reader, struct line_text line,
               struct error *error)
{
	struct stack *stack = &reader->stack;
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
	return reject(reader, &why, error) == 0 ? 1 : -1;
}

/*
 * Makes addresses of calls from return addresses.  A thread's innermost address
 * is not one; some writers repeat it as if it were.
 */
static void
adjust_stack(struct reader *reader)
{
	struct stack *stack = &reader->stack;
	bool is_thread = reader->header.kind == LEGACY_THREADS;

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
push_sample(struct reader *reader, const struct legacy_values *values,
            struct error *error)
{
	const struct stack *stack = &reader->stack;
	struct pprof_builder *builder = &reader->builder;
	struct error why = { 0 };

	if (!reader->has_types && add_types(reader, error) != 0)
		return -1;
	pprof_builder_raw_samples(builder, values->n_raw);
	pprof_builder_sample(builder);
	for (size_t i = 0; i < stack->n; i++) {
		uint64_t id = legacy_addresses_add(reader->addresses,
		    stack->addresses[i], error);

		if (id == 0)
			return -1;
		pprof_builder_stack(builder, id);
	}
	for (int i = 0; i < values->n; i++)
		pprof_builder_value(builder, values->values[i]);
	if (reader->thread != NULL && reader->n_repeated <= REPEATED_MAX &&
	    pprof_builder_label(builder, "thread", 6, reader->thread,
	                        strlen(reader->thread), error) != 0)
		return -1;
	reader->n_samples++;
	if (pprof_builder_end_sample(builder, reader->sample_line, &why) == 0)
		return 0;
	return fail(reader, &why, error);
}

/* "1: 9216 [1: 9216] @ 0xc635c8 0x42ecc3" and its like */
static int
read_sample(struct reader *reader, struct line_text line,
            struct error *error)
{
	struct legacy_values values;
	struct error why = { 0 };
	int result;

	if (legacy_read_values(&reader->header, &line, &values, &why) != 0)
		return reject(reader, &why, error);
	reader->stack.n = 0;
	reader->stack.has_comments = false;
	reader->sample_line = reader->lines.number;
	result = read_addresses(reader, line, error);
	if (result != 0)
		return result < 0 ? -1 : 0;
	adjust_stack(reader);
	return push_sample(reader, &values, error);
}

/*
 * jemalloc's stacks, "@ 0x1 0x2", are followed by lines of values, of which
 * "t*:" is the sum of all threads.  The one before the first stack is the sum
 * of all stacks; if it is missing, any stack may have both pairs of values.
 */
static int
read_jemalloc(struct reader *reader, struct line_text line,
              struct error *error)
{
	struct legacy_header *header = &reader->header;
	struct legacy_values values;
	struct error why = { 0 };
	int result;

	if (line_take(&line, "@")) {
		reader->stack.n = 0;
		reader->sample_line = reader->lines.number;
		result = read_addresses(reader, line, error);
		reader->has_stack = result == 0;
		adjust_stack(reader);
		return result < 0 ? -1 : 0;
	}
	if (!line_take(&line, "t*:"))
		return line_begins_with(&line, "t") ? 0 :
		       text_lines_reject(&reader->lines, "expected @ ADDRESSES "
		                         "or t*: N: BYTES [N: BYTES]", error);
	if (!reader->has_types && reader->has_stack)
		header->has_allocated = true;
	else if (!reader->has_types) {
		/* The sum has both if any stack has. */
		header->has_allocated = true;
		result = legacy_read_values(header, &line, &values, &why);
		header->has_allocated = result == 0 &&
		    (values.values[0] | values.values[1]) != 0;
		return result != 0 ? reject(reader, &why, error) :
		       add_types(reader, error);
	}
	if (legacy_read_values(header, &line, &values, &why) != 0)
		return reject(reader, &why, error);
	if (!reader->has_stack)
		return 0;
	reader->has_stack = false;
	return push_sample(reader, &values, error);
}

/* ---- names ---- */

/* A comment that names an address of the stack before it. */
static int
read_comment(struct reader *reader, struct line_text line,
             struct error *error)
{
	struct legacy_comment comment;

	if (!legacy_read_comment(line, &comment))
		return 0;
	reader->stack.has_comments = true;
	reader->stack.last_comment = comment.address;
	return comment.name.at == comment.name.end ? 0 :
	       legacy_addresses_name(reader->addresses, &reader->builder,
	                             comment.address, comment.name,
	                             comment.file, comment.line, error);
}

/*
 * If comments named some of a stack's addresses but not the outermost one, that
 * one is runtime.goexit, the only function that Go leaves out there.
 */
static int
end_comments(struct reader *reader, struct error *error)
{
	static const char exit_name[] = "runtime.goexit";
	const struct stack *stack = &reader->stack;
	bool is_exit = stack->has_comments && stack->n > 1 &&
	    stack->last_comment != stack->addresses[stack->n - 1] &&
	    !legacy_addresses_is_named(reader->addresses,
	                               stack->addresses[stack->n - 1]);

	legacy_addresses_end_names(reader->addresses);
	reader->stack.has_comments = false;
	return !is_exit ? 0 : legacy_addresses_name(reader->addresses,
	    &reader->builder, stack->addresses[stack->n - 1],
	    (struct line_text){ exit_name, exit_name + strlen(exit_name) },
	    line_nothing(), 0, error);
}

/* ---- threads ---- */

/* Enters the thread that was read, if one was. */
static int
end_thread(struct reader *reader, struct error *error)
{
	static const struct legacy_values one = { { 1 }, 1, 1 };
	int result = 0;

	if (reader->thread == NULL)
		return 0;
	if (reader->has_stack)
		adjust_stack(reader);
	else
		reader->n_repeated += reader->stack.n;
	/* The first thread cannot share the stack of one before it. */
	if (reader->has_stack || reader->n_samples > 0)
		result = push_sample(reader, &one, error);
	free(reader->thread);
	reader->thread = NULL;
	return result;
}

static int
begin_thread(struct reader *reader, struct line_text name,
             struct error *error)
{
	if (end_thread(reader, error) != 0)
		return -1;
	reader->has_stack = false;
	reader->sample_line = reader->lines.number;
	reader->thread = memory_text(name.at, line_left(&name), error);
	return reader->thread != NULL ? 0 : -1;
}

/* The line of a frame may name its address. */
static int
name_thread_frame(struct reader *reader, struct line_text line,
                  struct error *error)
{
	size_t n = reader->stack.n;
	struct line_text name;
	uint64_t address;

	if (n == 0 || !legacy_read_frame(line, &address, &name))
		return 0;
	address -= n > 1;
	if (legacy_addresses_add(reader->addresses, address, error) == 0)
		return -1;
	legacy_addresses_end_names(reader->addresses);
	return legacy_addresses_name(reader->addresses, &reader->builder,
	    address, name, line_nothing(), 0, error);
}

/* Addresses of a thread; while it has none, it shares the last one's stack. */
static int
read_thread_frames(struct reader *reader, struct line_text line,
                   struct error *error)
{
	size_t kept = reader->stack.n;
	int result;

	if (!reader->has_stack)
		reader->stack.n = 0;
	result = read_addresses(reader, line, error);
	if (result < 0)
		return -1;
	reader->has_stack |= reader->stack.n > 0;
	if (reader->has_stack)
		return name_thread_frame(reader, line, error);
	reader->stack.n = kept;
	return 0;
}

/* A line of a thread, or what comes before the first. */
static int
read_thread_line(struct reader *reader, struct line_text line,
                 struct error *error)
{
	struct line_text name;

	if (legacy_is_thread(line, &name))
		return begin_thread(reader, name, error);
	if (line_begins_with(&line, "---- no stack trace for")) {
		reader->part = PART_OTHER;
		return end_thread(reader, error);
	}
	if (line_begins_with(&line, "---"))
		return text_lines_reject(&reader->lines, "expected a thread: "
		                         "--- Thread ID (name: NAME/TID) "
		                         "stack: ---", error);
	if (reader->thread == NULL ||
	    line_has(&line, "same as previous thread"))
		return 0;
	if (reader->lines.is_unended)
		return text_lines_reject(&reader->lines, "expected an end of "
		                         "line", error);
	return read_thread_frames(reader, line, error);
}

/* ---- lines ---- */

static int
read_header(struct reader *reader, struct line_text line,
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
		reader->part = PART_SYMBOLS;
		return 0;
	}
	if (memchr(line.at, '\0', line_left(&line)) != NULL)
		return text_lines_fail(&reader->lines, error, "binary data "
		    "after the symbols, as pprof --raw writes them, cannot be "
		    "read; open the profile that they were made of");
	reader->header = legacy_read_header(line);
	if (reader->header.kind == LEGACY_NONE)
		return text_lines_fail(&reader->lines, error, "expected the "
		    "header of a heap, contention, thread or goroutine "
		    "profile");
	reader->part = reader->header.kind == LEGACY_CONTENTION ?
	               PART_ATTRIBUTES : PART_SAMPLES;
	if (reader->header.kind != LEGACY_JEMALLOC &&
	    add_types(reader, error) != 0)
		return -1;
	return legacy_is_thread(line, &name) ?
	       begin_thread(reader, name, error) : 0;
}

static int
read_sample_line(struct reader *reader, struct line_text line,
                 struct error *error)
{
	enum legacy_kind kind = reader->header.kind;

	if (line_begins_with(&line, "#"))
		return read_comment(reader, line, error);
	line_trim(&line);
	if (legacy_is_memory_map(line)) {
		reader->part = PART_MAP;
		return kind == LEGACY_THREADS ? end_thread(reader, error) : 0;
	}
	if (line.at == line.end)
		return 0;
	if (kind == LEGACY_THREADS)
		return read_thread_line(reader, line, error);
	if (line_begins_with(&line, "---")) {
		reader->part = PART_OTHER;
		return 0;
	}
	if (kind == LEGACY_JEMALLOC)
		return read_jemalloc(reader, line, error);
	return end_comments(reader, error) == 0 ?
	       read_sample(reader, line, error) : -1;
}

static int
read_attribute(struct reader *reader, struct line_text line,
               struct error *error)
{
	struct error why = { 0 };
	int found;

	if (line.at == line.end || *line.at == '#')
		return 0;
	found = legacy_read_attribute(&reader->header, line,
	                              &reader->n_discarded, &why);
	if (found < 0)
		return fail(reader, &why, error);
	if (found > 0)
		return 0;
	reader->part = PART_SAMPLES;
	return read_sample_line(reader, line, error);
}

static int
read_line(void *context, const char *bytes, size_t length,
          struct error *error)
{
	struct reader *reader = context;
	struct line_text whole = { bytes, bytes + length }, line = whole;

	line_trim(&line);
	switch (reader->part) {
	case PART_SYMBOLS:
		if (!line_begins_with(&line, "---"))
			return legacy_symbols_add(&reader->symbols, line,
			                          error);
		reader->part = PART_HEADER;
		return read_header(reader, line, error);
	case PART_HEADER:
		return read_header(reader, line, error);
	case PART_ATTRIBUTES:
		return read_attribute(reader, line, error);
	case PART_SAMPLES:
		return read_sample_line(reader, whole, error);
	case PART_OTHER:
		if (legacy_is_memory_map(line))
			reader->part = PART_MAP;
		return 0;
	default:
		return memory_map_add_line(reader->map, bytes, length, error);
	}
}

/* ---- the whole input ---- */

static bool
is_cut(const struct reader *reader)
{
	return reader->lines.last == LAST_LINE_CUT ||
	       source_is_truncated(reader->lines.source);
}

/* What was cut may have a thread whose stack is not whole. */
static int
end_source(struct reader *reader, struct profile *profile,
           struct error *error)
{
	if (is_cut(reader) && text_lines_warn_cut(&reader->lines, profile,
	                                  "the input is cut off here",
	                                  error) != 0)
		return -1;
	if (!is_cut(reader) && (end_thread(reader, error) != 0 ||
	                        text_lines_warn_unended(&reader->lines,
	                                                profile, error) != 0))
		return -1;
	return end_comments(reader, error) == 0 &&
	    legacy_symbols_name(&reader->symbols, reader->addresses,
	                        &reader->builder, error) == 0 ?
	       text_lines_warn_skipped(&reader->lines, profile, error) : -1;
}

/*
 * Enters the addresses, with the program that the user gave.  Its path is made
 * whole, since relative paths in a file are not looked up.  Go's goroutines
 * have no map that names the program, so the user is asked for it.
 */
static int
enter_addresses(struct reader *reader, struct profile *profile,
                struct error *error)
{
	const char *given = reader->lines.options->program;
	char *whole = given != NULL ? realpath(given, NULL) : NULL;
	const char *program = whole != NULL ? whole : reader->symbols.program;
	size_t n_mappings;
	uint64_t n_unnamed;
	int result = legacy_addresses_finish(reader->addresses, reader->map,
	                                     program, &reader->builder,
	                                     &n_unnamed, error);

	memory_map_all(reader->map, &n_mappings);
	if (n_mappings == 0 && reader->lines.options->is_program_used != NULL)
		*reader->lines.options->is_program_used = true;
	free(whole);
	if (result != 0 || n_unnamed == 0 ||
	    reader->header.kind != LEGACY_COUNT)
		return result;
	return profile_warn(profile, error, "%s: addresses without a name: %"
	                    PRIu64 "; give the program, too: cpprof PROGRAM "
	                    "FILE", source_name(reader->lines.source),
	                    n_unnamed);
}

static int
fill_profile(struct reader *reader, struct profile *profile,
             struct error *error)
{
	const struct read_options *options = reader->lines.options;
	const char *name = source_name(reader->lines.source);

	if (end_source(reader, profile, error) != 0)
		return -1;
	if (reader->n_samples == 0 && is_cut(reader))
		return text_lines_fail(&reader->lines, error, "the input is "
		                       "cut off here; no samples before that");
	if (reader->n_samples == 0)
		return error_set(error, "%s: no samples in it", name);
	if (reader->header.kind == LEGACY_CONTENTION &&
	    (reader->header.cycles_per_second == 0 ||
	     reader->header.rate == 0) &&
	    profile_warn(profile, error, "%s: delays are in cycles of the "
	                 "processor, not in nanoseconds: cycles/second or the "
	                 "sampling period is missing or 0", name) != 0)
		return -1;
	if (reader->n_discarded > 0 &&
	    profile_warn(profile, error, "%s: %" PRIu64 " samples were "
	                 "discarded when the profile was written; no stack has "
	                 "them", name, reader->n_discarded) != 0)
		return -1;
	if (reader->n_repeated > REPEATED_MAX &&
	    profile_warn(profile, error, "%s: threads share stacks of "
	                 "more than a million frames in all; later ones with a "
	                 "shared stack are counted without their names",
	                 name) != 0)
		return -1;
	if (enter_addresses(reader, profile, error) != 0)
		return -1;
	return pprof_profile_fill(profile, &reader->builder.tables,
	                          &reader->builder.samples, false,
	                          options->modules, error);
}

static void
reader_free(struct reader *reader)
{
	pprof_builder_free(&reader->builder);
	legacy_addresses_free(reader->addresses);
	memory_map_free(reader->map);
	legacy_symbols_free(&reader->symbols);
	free(reader->stack.addresses);
	free(reader->thread);
}

static struct profile *
legacy_read(struct source *source, const struct read_options *options,
            struct error *error)
{
	struct reader reader = { .lines = { .source = source,
		.options = options, .longest_mib = LINE_MAX_MIB } };
	struct profile *profile = NULL;

	reader.addresses = legacy_addresses_new(error);
	reader.map = memory_map_new(error);
	if (pprof_builder_begin(&reader.builder, source_name(source),
	                        error) == 0 && !error->is_set &&
	    text_lines_read(&reader.lines, read_line, &reader, error) == 0)
		profile = profile_new(error);
	if (profile != NULL && fill_profile(&reader, profile, error) != 0) {
		profile_free(profile);
		profile = NULL;
	}
	reader_free(&reader);
	return profile;
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
	.summary = "heap, contention, thread and goroutine profiles in text",
	.probe = legacy_probe,
	.read = legacy_read,
};
