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
#include "src/symbols/elf/module_file.h"

enum {
	HEADER_SIZE = 20,
	RECORD_HISTOGRAM = 0, RECORD_CALL = 1, RECORD_BLOCKS = 2,
	MAX_SIZE = 1 << 30,
};

static const char magic[8] = "gmon\1\0\0\0";

/* ---- calls ---- */

static int
read_call(struct gmon_reader *reader, struct error *error)
{
	const struct program_functions *functions =
	    &reader->program->functions;
	uint64_t from = gmon_read_address(reader);
	uint64_t self = gmon_read_address(reader);
	uint64_t count = bytes_number(&reader->bytes, 4);
	uint32_t caller = program_functions_find(functions, from);
	uint32_t callee = program_functions_find(functions, self);
	uint64_t *calls;
	uint32_t arc;

	if (bytes_failed(&reader->bytes))
		return 0;
	if (caller == UINT32_MAX || callee == UINT32_MAX) {
		reader->n_lost_calls += count;
		return 0;
	}
	arc = call_graph_arc(reader->profile->graph, caller, callee, error);
	if (arc == UINT32_MAX)
		return -1;
	calls = &reader->profile->graph->arcs[arc].calls;
	if (__builtin_add_overflow(*calls, count, calls))
		return error_set(error, "%s: the sum of calls exceeds 64 bits",
		                 source_name(reader->source));
	return 0;
}

static int
skip_blocks(struct gmon_reader *reader)
{
	uint64_t n = bytes_number(&reader->bytes, 4);

	bytes_take(&reader->bytes, n * 2 * reader->program->pointer_size);
	return 0;
}

/* ---- the whole file ---- */

static int
read_record(struct gmon_reader *reader, struct error *error)
{
	size_t offset = reader->bytes.offset;
	uint64_t kind = bytes_number(&reader->bytes, 1);

	switch (kind) {
	case RECORD_HISTOGRAM:
		return gmon_read_histogram(reader, error);
	case RECORD_CALL:
		return read_call(reader, error);
	case RECORD_BLOCKS:
		return skip_blocks(reader);
	}
	return gmon_fail_at(reader, offset, error, "expected a record of kind 0, "
	                    "1 or 2");
}

/* Reads complete records; the rest of a record that is cut is ignored. */
static int
read_records(struct gmon_reader *reader, struct error *error)
{
	while (reader->bytes.offset < reader->bytes.size) {
		size_t offset = reader->bytes.offset;

		if (read_record(reader, error) != 0)
			return -1;
		if (!bytes_failed(&reader->bytes))
			continue;
		if (reader->n_histograms == 0 &&
		    reader->profile->graph->n_arcs == 0)
			return gmon_fail_at(reader, offset, error,
			                    "cut off in its first record");
		return profile_warn(reader->profile, error, "%s: 0x%zx: the "
		                    "input is cut off in this record; what "
		                    "came before was read",
		                    source_name(reader->source), offset);
	}
	return 0;
}

/* Each function of the program is a node of the same number. */
static int
add_functions(struct gmon_reader *reader, const char *path, struct error *error)
{
	const struct program *program = reader->program;
	struct profile *profile = reader->profile;
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
add_program(struct profile *profile, const char *path, struct error *error)
{
	const struct process process = { .program = path };

	return profile_add_process(profile, &process, error) == UINT32_MAX ||
	    profile_add_module(profile, path, NULL, 0, error) == UINT32_MAX ?
	    -1 : 0;
}

static int
add_static_calls(struct gmon_reader *reader, struct error *error)
{
	const struct program *program = reader->program;

	for (uint32_t i = 0; i < program->calls.n; i++)
		if (call_graph_arc(reader->profile->graph,
		                   program->calls.items[i].caller,
		                   program->calls.items[i].callee,
		                   error) == UINT32_MAX)
			return -1;
	return 0;
}

static int
add_lost(struct gmon_reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;

	if (reader->n_lost > 0 &&
	    profile_add_tally(profile, "ticks outside the program's functions",
	                      reader->n_lost, error) != 0)
		return -1;
	if (reader->n_lost_calls > 0 &&
	    profile_add_tally(profile, "calls outside the program's functions",
	                      reader->n_lost_calls, error) != 0)
		return -1;
	if (reader->n_lost + reader->n_lost_calls == 0)
		return 0;
	return profile_warn(profile, error, "%s: %" PRIu64 " ticks and %"
	                    PRIu64 " calls are at addresses outside of the "
	                    "program's functions; is it the program that wrote "
	                    "it?", source_name(reader->source),
	                    reader->n_lost, reader->n_lost_calls);
}

static int
read_all(struct gmon_reader *reader, const char *path, struct error *error)
{
	reader->bytes.offset = HEADER_SIZE;
	if (reader->bytes.size < HEADER_SIZE)
		return gmon_fail_at(reader, reader->bytes.size, error,
		                    "cut off in its header");
	if (add_functions(reader, path, error) != 0 ||
	    add_program(reader->profile, path, error) != 0 ||
	    read_records(reader, error) != 0)
		return -1;
	if (gmon_add_histograms(reader, error) != 0 ||
	    add_static_calls(reader, error) != 0 ||
	    add_lost(reader, error) != 0)
		return -1;
	return call_graph_check(reader->profile->graph, error);
}

/*
 * Reads the file, with the program's functions and the whole file in memory.
 */
static struct profile *
read_gmon(struct source *source, const char *path, struct program *program,
          struct profile *profile, struct error *error)
{
	struct gmon_reader reader = { .source = source, .program = program,
		                 .profile = profile };
	size_t size;
	const void *bytes = source_peek(source, SIZE_MAX, &size, error);
	int result = -1;

	if (bytes != NULL && size > MAX_SIZE)
		error_set(error, "%s: more than 1 GiB", source_name(source));
	if (!error->is_set) {
		reader.bytes = bytes_of(bytes, size);
		result = read_all(&reader, path, error);
		source_skip(source, size);
	}
	free(reader.histograms);
	return result == 0 ? profile : NULL;
}

static struct profile *
gmon_read(struct source *source, const struct read_options *options,
          struct error *error)
{
	const struct symbol_search search = { .root = options->symfs };
	struct profile *profile, *read = NULL;
	struct program *program;

	if (options->program == NULL) {
		error_set(error, "%s: needs the program that wrote it beside "
		          "it: cpprof PROGRAM %s", source_name(source),
		          source_name(source));
		return NULL;
	}
	if (options->is_program_used != NULL)
		*options->is_program_used = true;
	profile = profile_new(error);
	if (profile == NULL)
		return NULL;
	program = program_read(options->program, &search, profile->names,
	                       error);
	if (program != NULL)
		read = read_gmon(source, options->program, program, profile,
		                 error);
	program_free(program);
	if (read == NULL)
		profile_free(profile);
	return read;
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
