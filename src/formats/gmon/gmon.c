/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gmon.c -- what programs compiled with -pg write: gmon.out.
 *
 * A histogram of the program counter and counts of calls, both as addresses
 * alone, so that the program has to be at hand (read_options.program).  Hits
 * are clock ticks; a bin of the histogram that several functions share is
 * split among them by the addresses that each has of it, as gprof does, and
 * then a hit is that part of a tick.  Calls that stand in the program's code
 * and never happened are arcs without calls.
 *
 * Calls are charged to the function that holds the address where glibc saw
 * them come from; it keeps these rounded down, so that one that is close to a
 * function's beginning can fall to the function before, here as in gprof.
 *
 * Source: sys/gmon_out.h of glibc; gprof's hist.c for the split.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/formats/format.h"
#include "src/symbols/debug_file.h"
#include "src/symbols/program.h"

enum {
	HEADER_SIZE = 20,
	RECORD_HISTOGRAM = 0, RECORD_CALL = 1, RECORD_BLOCKS = 2,
	UNIT_SIZE = 2,		/* bytes: what bins are split by */
	MAX_SHARES = 64,
	MAX_SIZE = 1 << 30,
};

__extension__ typedef unsigned __int128 wide;

static const char magic[8] = "gmon\1\0\0\0";

/* Start of one histogram in the file. */
struct histogram {
	uint64_t low, high;		/* addresses */
	uint32_t n_bins, rate;		/* ticks a second */
	const unsigned char *bins;	/* 16 bits each */
	const char *dimension;		/* [15] */
};

struct reader {
	struct source *source;
	const struct program *program;
	struct profile *profile;
	struct bytes bytes;
	struct histogram *histograms;
	size_t n_histograms, capacity;
	uint64_t shares;	/* hits a tick */
	uint64_t n_lost, n_lost_calls;	/* of no known function */
};

static int
fail_at(const struct reader *reader, size_t offset, struct error *error,
        const char *what)
{
	return error_set(error, "%s: 0x%zx: %s", source_name(reader->source),
	                 offset, what);
}

/* ---- histograms ---- */

static uint64_t
read_address(struct reader *reader)
{
	return bytes_number(&reader->bytes, reader->program->pointer_size);
}

/* Reads a histogram's head; its bins come later, when all are known. */
static int
read_histogram(struct reader *reader, struct error *error)
{
	size_t offset = reader->bytes.offset;
	struct histogram read = { 0 };

	read.low = read_address(reader);
	read.high = read_address(reader);
	read.n_bins = (uint32_t)bytes_number(&reader->bytes, 4);
	read.rate = (uint32_t)bytes_number(&reader->bytes, 4);
	read.dimension = bytes_take(&reader->bytes, 16);
	read.bins = bytes_take(&reader->bytes, (size_t)read.n_bins * 2);
	if (bytes_failed(&reader->bytes))
		return 0;
	if (read.high < read.low || read.rate == 0 ||
	    read.rate > INT32_MAX || read.n_bins > INT32_MAX)
		return fail_at(reader, offset, error, "expected a histogram "
		               "with a range and a rate");
	if (reader->n_histograms > 0 &&
	    (read.rate != reader->histograms[0].rate ||
	     memcmp(read.dimension, reader->histograms[0].dimension, 15)))
		return fail_at(reader, offset, error, "expected all "
		               "histograms to count the same");
	if (memory_grow(&reader->histograms, &reader->capacity,
	                reader->n_histograms + 1, sizeof read, error) != 0)
		return -1;
	reader->histograms[reader->n_histograms++] = read;
	return 0;
}

/* Units from `low` to where bin i begins. */
static uint64_t
bin_start(const struct histogram *histogram, uint32_t i)
{
	long double units = (long double)
	    ((histogram->high - histogram->low) / UNIT_SIZE);

	return histogram->low / UNIT_SIZE +
	    (uint64_t)(units / histogram->n_bins * i);
}

static uint32_t
bin_count(const struct histogram *histogram, uint32_t i)
{
	return (uint32_t)histogram->bins[2 * i] |
	    (uint32_t)histogram->bins[2 * i + 1] << 8;
}

static uint64_t
least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The first function that ends behind a unit, from *at on, which moves up. */
static uint32_t
seek_function(const struct program *program, uint64_t unit, uint32_t at)
{
	while (at < program->n_functions &&
	       program->functions[at].end / UNIT_SIZE <= unit)
		at++;
	return at;
}

/* Units of [begin, end) that a function has. */
static uint64_t
overlap(const struct program_function *function, uint64_t begin, uint64_t end)
{
	uint64_t start = function->start / UNIT_SIZE;
	uint64_t stop = function->end / UNIT_SIZE;

	if (start > begin)
		begin = start;
	end = least_of(stop, end);
	return end > begin ? end - begin : 0;
}

/* Into how many hits a tick must be split, so that all bins come out even. */
static uint64_t
shares_of(const struct reader *reader, const struct histogram *histogram)
{
	const struct program *program = reader->program;
	uint64_t shares = 1;
	uint32_t at = 0;

	for (uint32_t i = 0; i < histogram->n_bins; i++) {
		uint64_t begin = bin_start(histogram, i);
		uint64_t end = bin_start(histogram, i + 1);

		if (bin_count(histogram, i) == 0 || end <= begin)
			continue;
		at = seek_function(program, begin, at);
		if (at < program->n_functions &&
		    overlap(&program->functions[at], begin, end) < end - begin
		    && end - begin > shares)
			shares = end - begin;
	}
	return least_of(shares, MAX_SHARES);
}

static int
add_hits(struct reader *reader, uint32_t function, uint64_t hits,
         struct error *error)
{
	uint64_t *self = call_graph_self(reader->profile->graph, function);

	if (__builtin_add_overflow(*self, hits, self))
		return error_set(error, "%s: the sum of hits passes 64 bits",
		                 source_name(reader->source));
	return 0;
}

/* One bin's ticks to the functions in it, what is left over to the last. */
static int
split_bin(struct reader *reader, uint64_t begin, uint64_t end, uint32_t *at,
          uint64_t ticks, struct error *error)
{
	const struct program *program = reader->program;
	uint64_t left = ticks * reader->shares, all = left, covered = 0;
	uint32_t first, last = UINT32_MAX;

	first = *at = seek_function(program, begin, *at);
	for (uint32_t i = first; i < program->n_functions &&
	     program->functions[i].start / UNIT_SIZE < end; i++)
		covered += overlap(&program->functions[i], begin, end);
	for (uint32_t i = first; covered > 0 && i < program->n_functions &&
	     program->functions[i].start / UNIT_SIZE < end; i++) {
		uint64_t units = overlap(&program->functions[i], begin, end);
		uint64_t part = (uint64_t)((wide)all * units / covered);

		if (units == 0)
			continue;
		last = i;
		left -= part;
		if (add_hits(reader, i, part, error) != 0)
			return -1;
	}
	if (last == UINT32_MAX) {
		reader->n_lost += ticks;
		return 0;
	}
	return add_hits(reader, last, left, error);
}

static int
add_histogram(struct reader *reader, const struct histogram *histogram,
              struct error *error)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < histogram->n_bins; i++) {
		uint64_t ticks = bin_count(histogram, i);
		uint64_t begin = bin_start(histogram, i);
		uint64_t end = bin_start(histogram, i + 1);

		if (end == begin)
			end++;
		if (ticks > 0 && split_bin(reader, begin, end, &at, ticks,
		                           error) != 0)
			return -1;
	}
	return 0;
}

/* What a hit is, in whole gticks: parts of a tick of the clock. */
static int
add_resource(struct reader *reader, struct error *error)
{
	const struct histogram *first = reader->histograms;
	uint64_t parts = reader->shares * (first != NULL ? first->rate : 100);
	const char *gtick = "microsecond";
	uint64_t second = 1000000;
	uint32_t number;

	if (first != NULL && memcmp(first->dimension, "seconds", 8) != 0) {
		char dimension[16] = "";

		memcpy(dimension, first->dimension, 15);
		number = profile_add_resource(reader->profile, "hits",
		                              dimension, 1, error);
		return number == UINT32_MAX ? -1 : 0;
	}
	if (second % parts != 0) {
		gtick = "nanosecond";
		second *= 1000;
	}
	number = profile_add_resource(reader->profile, "cpu", gtick,
	                              second / parts > 0 ? second / parts : 1,
	                              error);
	return number == UINT32_MAX ? -1 : 0;
}

/* ---- calls ---- */

static int
read_call(struct reader *reader, struct error *error)
{
	uint64_t from = read_address(reader), self = read_address(reader);
	uint64_t count = bytes_number(&reader->bytes, 4);
	uint32_t caller = program_find(reader->program, from);
	uint32_t callee = program_find(reader->program, self);
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
		return error_set(error, "%s: the sum of calls passes 64 bits",
		                 source_name(reader->source));
	return 0;
}

static int
skip_blocks(struct reader *reader)
{
	uint64_t n = bytes_number(&reader->bytes, 4);

	bytes_take(&reader->bytes, n * 2 * reader->program->pointer_size);
	return 0;
}

/* ---- the whole file ---- */

static int
read_record(struct reader *reader, struct error *error)
{
	size_t offset = reader->bytes.offset;
	uint64_t kind = bytes_number(&reader->bytes, 1);

	switch (kind) {
	case RECORD_HISTOGRAM:
		return read_histogram(reader, error);
	case RECORD_CALL:
		return read_call(reader, error);
	case RECORD_BLOCKS:
		return skip_blocks(reader);
	}
	return fail_at(reader, offset, error, "expected a record of kind 0, "
	               "1 or 2");
}

/* Whole records; what is left of one that is cut is not believed. */
static int
read_records(struct reader *reader, struct error *error)
{
	while (reader->bytes.offset < reader->bytes.size) {
		size_t offset = reader->bytes.offset;

		if (read_record(reader, error) != 0)
			return -1;
		if (!bytes_failed(&reader->bytes))
			continue;
		if (reader->n_histograms == 0 &&
		    reader->profile->graph->n_arcs == 0)
			return fail_at(reader, offset, error,
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
add_functions(struct reader *reader, const char *path, struct error *error)
{
	const struct program *program = reader->program;
	struct profile *profile = reader->profile;
	uint32_t object = names_add(profile->names, path, strlen(path),
	                            error);

	profile->graph = call_graph_new(1, error);
	if (object == NO_NAME || profile->graph == NULL)
		return -1;
	for (uint32_t i = 0; i < program->n_functions; i++) {
		struct call_node node = {
			.name = program->functions[i].name,
			.object = object,
			.file = NO_NAME,
			.identity = program->functions[i].start,
			.level = 1,
		};

		if (call_graph_add_node(profile->graph, node, NULL,
		                        error) == UINT32_MAX)
			return -1;
	}
	return profile_add_module(profile, path, NULL, 0, error) !=
	    UINT32_MAX ? 0 : -1;
}

static int
add_static_calls(struct reader *reader, struct error *error)
{
	const struct program *program = reader->program;

	for (uint32_t i = 0; i < program->n_calls; i++)
		if (call_graph_arc(reader->profile->graph,
		                   program->calls[i].caller,
		                   program->calls[i].callee,
		                   error) == UINT32_MAX)
			return -1;
	return 0;
}

static int
add_lost(struct reader *reader, struct error *error)
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
read_all(struct reader *reader, const char *path, struct error *error)
{
	reader->bytes.offset = HEADER_SIZE;
	if (reader->bytes.size < HEADER_SIZE)
		return fail_at(reader, reader->bytes.size, error,
		               "cut off in its header");
	if (add_functions(reader, path, error) != 0 ||
	    read_records(reader, error) != 0)
		return -1;
	reader->shares = 1;
	for (size_t i = 0; i < reader->n_histograms; i++) {
		uint64_t shares = shares_of(reader, &reader->histograms[i]);

		if (shares > reader->shares)
			reader->shares = shares;
	}
	if (add_resource(reader, error) != 0)
		return -1;
	for (size_t i = 0; i < reader->n_histograms; i++)
		if (add_histogram(reader, &reader->histograms[i], error) != 0)
			return -1;
	if (add_static_calls(reader, error) != 0 ||
	    add_lost(reader, error) != 0)
		return -1;
	return call_graph_check(reader->profile->graph, error);
}

/* With the program's functions and the whole file at hand. */
static struct profile *
read_gmon(struct source *source, const char *path, struct program *program,
          struct profile *profile, struct error *error)
{
	struct reader reader = { .source = source, .program = program,
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
	.summary = "what programs compiled with -pg write, for gprof",
	.probe = gmon_probe,
	.read = gmon_read,
};
