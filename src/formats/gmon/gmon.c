/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gmon.c -- gmon.out, as written by programs compiled with -pg.
 *
 * A histogram of the program counter and counts of calls, both only as
 * addresses, so that the program is needed (read_options.program).  Calls in
 * the program's code that never happened are arcs without calls.
 *
 * Calls are charged to the function with the address from which glibc saw them
 * come.  glibc rounds these down, so a call close to a function's beginning
 * can be charged to the function before, here as in gprof.
 *
 * Source: sys/gmon_out.h of glibc.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/formats/gmon/gmon_reader.h"
#include "src/symbols/elf/elf_file.h"

enum {
	HEADER_SIZE = 20,
	RECORD_HISTOGRAM = 0, RECORD_CALL = 1, RECORD_BLOCKS = 2,
	MAX_SIZE = 1 << 30,
};

static const char magic[8] = "gmon\1\0\0\0";

/* ---- calls ---- */

static int
read_call(struct gmon *input, struct error *error)
{
	const struct program_functions *functions =
	    &input->program->functions;
	uint64_t from = gmon_read_address(input);
	uint64_t self = gmon_read_address(input);
	uint64_t count = bytes_number(&input->bytes, 4);
	uint32_t caller = program_functions_find(functions, from);
	uint32_t callee = program_functions_find(functions, self);
	struct call_graph *graph = input->reader.profile->graph;
	uint64_t *calls;
	uint32_t arc;

	if (bytes_failed(&input->bytes))
		return 0;
	if (caller == UINT32_MAX || callee == UINT32_MAX) {
		input->n_lost_calls += count;
		return 0;
	}
	arc = call_graph_arc(graph, caller, callee, error);
	if (arc == UINT32_MAX)
		return -1;
	calls = &graph->arcs[arc].calls;
	if (__builtin_add_overflow(*calls, count, calls))
		return reader_fail_file(&input->reader, error,
		                        "the sum of calls exceeds 64 bits");
	return 0;
}

static int
skip_blocks(struct gmon *input)
{
	uint64_t n = bytes_number(&input->bytes, 4);

	bytes_take(&input->bytes, n * 2 * input->program->pointer_size);
	return 0;
}

/* ---- the whole file ---- */

static int
gmon_read_record(struct gmon *input, struct error *error)
{
	size_t offset = input->bytes.offset;
	uint64_t kind = bytes_number(&input->bytes, 1);

	switch (kind) {
	case RECORD_HISTOGRAM:
		return gmon_read_histogram(input, error);
	case RECORD_CALL:
		return read_call(input, error);
	case RECORD_BLOCKS:
		return skip_blocks(input);
	}
	return reader_fail_at(&input->reader, offset, error,
	                      "expected a record of kind 0, 1 or 2");
}

/* Reads whole records; the rest of one that is cut short is left out. */
static int
gmon_read_records(struct gmon *input, struct error *error)
{
	struct reader *reader = &input->reader;

	while (input->bytes.offset < input->bytes.size) {
		reader->place = input->bytes.offset;
		if (gmon_read_record(input, error) != 0)
			return -1;
		if (!bytes_failed(&input->bytes))
			continue;
		if (input->n_histograms == 0 &&
		    reader->profile->graph->n_arcs == 0)
			return reader_fail(reader, error,
			                   "cut short in its first record");
		reader->is_cut_short = true;
		return reader_warn_cut_short(reader, "", error);
	}
	return 0;
}

/* Each function of the program is a node of the same number. */
static int
add_functions(struct gmon *input, const char *path, struct error *error)
{
	const struct program *program = input->program;
	struct profile *profile = input->reader.profile;
	uint32_t object = names_add(profile->names, path, strlen(path),
	                            error);

	profile->graph = call_graph_new(1, error);
	if (object == NO_NAME || profile->graph == NULL)
		return -1;
	for (uint32_t i = 0; i < program->functions.n; i++) {
		struct call_node node = {
			.name = program->functions.items[i].name,
			.object = object,
			.file = NO_NAME,
			.identity = program->functions.items[i].start,
			.level = 1,
		};

		if (call_graph_add_node(profile->graph, node, NULL,
		                        error) == UINT32_MAX)
			return -1;
	}
	return 0;
}

/*
 * Enters the process that wrote the file; if gprof -s summed several files,
 * the others are unknown.
 */
static int
gmon_add_program(struct profile *profile, const char *path, struct error *error)
{
	const struct process process = { .program = path };

	return profile_add_process(profile, &process, error) == UINT32_MAX ||
	    profile_add_module(profile, path, NULL, 0, error) == UINT32_MAX ?
	    -1 : 0;
}

static int
add_static_calls(struct gmon *input, struct error *error)
{
	const struct program *program = input->program;

	for (uint32_t i = 0; i < program->calls.n; i++)
		if (call_graph_arc(input->reader.profile->graph,
		                   program->calls.items[i].caller,
		                   program->calls.items[i].callee,
		                   error) == UINT32_MAX)
			return -1;
	return 0;
}

static int
gmon_add_lost(struct gmon *input, struct error *error)
{
	struct profile *profile = input->reader.profile;

	if (input->n_lost > 0 &&
	    profile_add_tally(profile, "ticks outside the program's functions",
	                      input->n_lost, error) != 0)
		return -1;
	if (input->n_lost_calls > 0 &&
	    profile_add_tally(profile, "calls outside the program's functions",
	                      input->n_lost_calls, error) != 0)
		return -1;
	if (input->n_lost + input->n_lost_calls == 0)
		return 0;
	return reader_warn(&input->reader, error, "%" PRIu64 " ticks and %"
	                   PRIu64 " calls are at addresses outside of the "
	                   "program's functions; is it the program that wrote "
	                   "it?", input->n_lost, input->n_lost_calls);
}

static int
gmon_read_all(struct gmon *input, const char *path, struct error *error)
{
	input->bytes.offset = HEADER_SIZE;
	if (input->bytes.size < HEADER_SIZE)
		return reader_fail_at(&input->reader, input->bytes.size, error,
		                    "cut short in its header");
	if (add_functions(input, path, error) != 0 ||
	    gmon_add_program(input->reader.profile, path, error) != 0 ||
	    gmon_read_records(input, error) != 0)
		return -1;
	if (gmon_add_histograms(input, error) != 0 ||
	    add_static_calls(input, error) != 0 ||
	    gmon_add_lost(input, error) != 0)
		return -1;
	return call_graph_check(input->reader.profile->graph, error);
}

/* With the program's functions at hand. */
static int
gmon_read_profile(struct gmon *input, const char *path, struct error *error)
{
	struct reader *reader = &input->reader;
	size_t size;
	const void *bytes = reader_peek(reader, SIZE_MAX, &size, error);
	int result;

	if (bytes == NULL)
		return -1;
	if (size > MAX_SIZE)
		return reader_fail_file(reader, error, "more than 1 GiB");
	input->bytes = bytes_of(bytes, size);
	result = gmon_read_all(input, path, error);
	source_skip(reader->source, size);
	return result;
}

static struct profile *
gmon_read(struct source *source, const struct read_options *options,
          struct error *error)
{
	const struct symbol_search search = { .root = options->symfs };
	const char *path = options->program;
	struct gmon input = { .program = NULL };
	struct program *program = NULL;
	int result = reader_begin(&input.reader, source, options,
	                          READER_OFFSETS, error);

	if (result == 0 && path == NULL)
		result = reader_fail_file(&input.reader, error, "needs the "
		    "program that wrote it beside it: cpprof PROGRAM %s",
		    source_name(source));
	if (result == 0 && options->is_program_used != NULL)
		*options->is_program_used = true;
	if (result == 0)
		program = program_read(path, &search,
		                       input.reader.profile->names, error);
	input.program = program;
	result = program != NULL ? gmon_read_profile(&input, path, error) : -1;
	free(input.histograms);
	program_free(program);
	return reader_end(&input.reader, result);
}

static int
gmon_probe(const void *head, size_t size)
{
	return size >= sizeof magic && memcmp(head, magic, sizeof magic) == 0 ?
	    PROBE_SURE : PROBE_NO;
}

const struct format format_gmon = {
	.name = "gmon.out",
	.summary = "what programs compiled with -pg write for gprof",
	.probe = gmon_probe,
	.read = gmon_read,
};
