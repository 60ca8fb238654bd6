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
 * Hits are clock ticks.  A bin of the histogram that several functions share is
 * split among them by the number of its addresses that each has, as in gprof;
 * then a hit is a part of a tick.
 *
 * Source: sys/gmon_out.h of glibc; gprof's hist.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/formats/reader.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/names/program.h"

enum {
	HEADER_SIZE = 20,
	RECORD_HISTOGRAM = 0, RECORD_CALL = 1, RECORD_BLOCKS = 2,
	MAX_SIZE = 1 << 30,
	UNIT_SIZE = 2,		/* bytes: bins are split in these units */
	MAX_SHARES = 64,	/* of a tick */
};

__extension__ typedef unsigned __int128 wide;

static const char magic[8] = "gmon\1\0\0\0";

/* Start of one histogram in the file. */
struct gmon_histogram {
	uint64_t low, high;		/* addresses */
	uint32_t n_bins, rate;		/* ticks per second */
	const unsigned char *bins;	/* 16 bits each */
	const char *dimension;		/* [15] */
};

struct gmon {
	struct reader reader;
	const struct program *program;
	struct bytes bytes;
	struct gmon_histogram *histograms;
	size_t n_histograms, capacity;
	uint64_t shares;	/* hits per tick */
	uint64_t n_lost, n_lost_calls;	/* outside of known functions */
};

static uint64_t
gmon_read_address(struct gmon *input)
{
	return bytes_number(&input->bytes, input->program->pointer_size);
}

/* ---- records ---- */

/*
 * Reads the head of a histogram; the bins are read later, when all histograms
 * are known.
 */
static int
gmon_read_histogram(struct gmon *input, struct error *error)
{
	size_t offset = input->bytes.offset;
	struct gmon_histogram read = { 0 };

	read.low = gmon_read_address(input);
	read.high = gmon_read_address(input);
	read.n_bins = (uint32_t)bytes_number(&input->bytes, 4);
	read.rate = (uint32_t)bytes_number(&input->bytes, 4);
	read.dimension = bytes_take(&input->bytes, 16);
	read.bins = bytes_take(&input->bytes, (size_t)read.n_bins * 2);
	if (bytes_failed(&input->bytes))
		return 0;
	if (read.high < read.low || read.rate == 0 ||
	    read.rate > INT32_MAX || read.n_bins > INT32_MAX)
		return reader_fail_at(&input->reader, offset, error,
		                      "expected a histogram with a range and "
		                      "a rate");
	if (input->n_histograms > 0 &&
	    (read.rate != input->histograms[0].rate ||
	     memcmp(read.dimension, input->histograms[0].dimension, 15)))
		return reader_fail_at(&input->reader, offset, error,
		                      "expected all histograms to count the "
		                      "same");
	if (memory_grow(&input->histograms, &input->capacity,
	                input->n_histograms + 1, sizeof read, error) != 0)
		return -1;
	input->histograms[input->n_histograms++] = read;
	return 0;
}


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
gmon_read_record(struct gmon *input, struct error *error)
{
	size_t offset = input->bytes.offset;
	uint64_t kind = bytes_number(&input->bytes, 1);
	uint64_t n;

	switch (kind) {
	case RECORD_HISTOGRAM:
		return gmon_read_histogram(input, error);
	case RECORD_CALL:
		return read_call(input, error);
	case RECORD_BLOCKS:
		n = bytes_number(&input->bytes, 4);
		bytes_take(&input->bytes, n * 2 * input->program->pointer_size);
		return 0;
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

/* ---- the histogram ---- */

/* Units from `low` to the beginning of bin i. */
static uint64_t
bin_start(const struct gmon_histogram *histogram, uint32_t i)
{
	long double units = (long double)
	    ((histogram->high - histogram->low) / UNIT_SIZE);

	return histogram->low / UNIT_SIZE +
	    (uint64_t)(units / histogram->n_bins * i);
}

static uint32_t
bin_count(const struct gmon_histogram *histogram, uint32_t i)
{
	return (uint32_t)histogram->bins[2 * i] |
	    (uint32_t)histogram->bins[2 * i + 1] << 8;
}

static uint64_t
least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The first function that ends after a unit, searched from *at on, which is
 * advanced.
 */
static uint32_t
seek_function(const struct program *program, uint64_t unit, uint32_t at)
{
	while (at < program->functions.n &&
	       program->functions.items[at].end / UNIT_SIZE <= unit)
		at++;
	return at;
}

/* The number of units of [begin, end) in a function. */
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

/*
 * The number of hits per tick with which all bins can be split into whole
 * hits.
 */
static uint64_t
shares_of(const struct gmon *input, const struct gmon_histogram *histogram)
{
	const struct program *program = input->program;
	uint64_t shares = 1;
	uint32_t at = 0;

	for (uint32_t i = 0; i < histogram->n_bins; i++) {
		uint64_t begin = bin_start(histogram, i);
		uint64_t end = bin_start(histogram, i + 1);

		if (bin_count(histogram, i) == 0 || end <= begin)
			continue;
		at = seek_function(program, begin, at);
		if (at < program->functions.n &&
		    overlap(&program->functions.items[at], begin, end) <
		        end - begin &&
		    end - begin > shares)
			shares = end - begin;
	}
	return least_of(shares, MAX_SHARES);
}

static int
gmon_histogram_add_hits(struct gmon *input, uint32_t function, uint64_t hits,
                        struct error *error)
{
	uint64_t *self = call_graph_self(input->reader.profile->graph,
	                                 function);

	if (__builtin_add_overflow(*self, hits, self))
		return reader_fail_file(&input->reader, error,
		                        "the sum of hits exceeds 64 bits");
	return 0;
}

/*
 * Divides a bin's ticks among its functions; the last one gets the remainder.
 */
static int
split_bin(struct gmon *input, uint64_t begin, uint64_t end, uint32_t *at,
          uint64_t ticks, struct error *error)
{
	const struct program *program = input->program;
	uint64_t left = ticks * input->shares, all = left, covered = 0;
	uint32_t first, last = UINT32_MAX;

	first = *at = seek_function(program, begin, *at);
	for (uint32_t i = first; i < program->functions.n &&
	     program->functions.items[i].start / UNIT_SIZE < end; i++)
		covered += overlap(&program->functions.items[i], begin, end);
	for (uint32_t i = first; covered > 0 && i < program->functions.n &&
	     program->functions.items[i].start / UNIT_SIZE < end; i++) {
		uint64_t units = overlap(&program->functions.items[i], begin,
		                         end);
		uint64_t part = (uint64_t)((wide)all * units / covered);

		if (units == 0)
			continue;
		last = i;
		left -= part;
		if (gmon_histogram_add_hits(input, i, part, error) != 0)
			return -1;
	}
	if (last == UINT32_MAX) {
		input->n_lost += ticks;
		return 0;
	}
	return gmon_histogram_add_hits(input, last, left, error);
}

/* The interval of a hit, a part of a clock tick, in whole gticks. */
static int
gmon_histogram_add_resource(struct gmon *input, struct error *error)
{
	const struct gmon_histogram *first = input->histograms;
	uint64_t parts = input->shares * (first != NULL ? first->rate : 100);
	const char *gtick = "microsecond";
	uint64_t second = 1000000;
	uint32_t number;

	if (first != NULL && memcmp(first->dimension, "seconds", 8) != 0) {
		char dimension[16] = "";

		memcpy(dimension, first->dimension, 15);
		number = profile_add_resource(input->reader.profile, "hits",
		                              dimension, 1, error);
		return number == UINT32_MAX ? -1 : 0;
	}
	if (second % parts != 0) {
		gtick = "nanosecond";
		second *= 1000;
	}
	number = profile_add_resource(input->reader.profile, "cpu", gtick,
	                              second / parts > 0 ? second / parts : 1,
	                              error);
	return number == UINT32_MAX ? -1 : 0;
}

/* Enters the resource and the hits of all histograms. */
static int
gmon_add_histograms(struct gmon *input, struct error *error)
{
	input->shares = 1;
	for (size_t i = 0; i < input->n_histograms; i++) {
		uint64_t shares = shares_of(input, &input->histograms[i]);

		if (shares > input->shares)
			input->shares = shares;
	}
	if (gmon_histogram_add_resource(input, error) != 0)
		return -1;
	for (size_t i = 0; i < input->n_histograms; i++) {
		uint32_t at = 0;

		for (uint32_t bin = 0; bin < input->histograms[i].n_bins;
		     bin++) {
			uint64_t ticks = bin_count(&input->histograms[i], bin);
			uint64_t begin = bin_start(&input->histograms[i], bin);
			uint64_t end = bin_start(&input->histograms[i],
			                         bin + 1);

			if (end == begin)
				end++;
			if (ticks > 0 &&
			    split_bin(input, begin, end, &at, ticks, error) !=
			        0)
				return -1;
		}
	}
	return 0;
}

/* ---- the whole file ---- */

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
	                   PRIu64 " calls lie outside the program's functions; "
	                   "check that this program wrote the file",
	                   input->n_lost, input->n_lost_calls);
}

static int
gmon_read_all(struct gmon *input, const char *path, struct error *error)
{
	const struct program *program;

	input->bytes.offset = HEADER_SIZE;
	if (input->bytes.size < HEADER_SIZE)
		return reader_fail_at(&input->reader, input->bytes.size, error,
		                    "cut short in its header");
	if (add_functions(input, path, error) != 0 ||
	    gmon_add_program(input->reader.profile, path, error) != 0 ||
	    gmon_read_records(input, error) != 0)
		return -1;
	if (gmon_add_histograms(input, error) != 0)
		return -1;
	program = input->program;
	for (uint32_t i = 0; i < program->calls.n; i++)
		if (call_graph_arc(input->reader.profile->graph,
		                   program->calls.items[i].caller,
		                   program->calls.items[i].callee,
		                   error) == UINT32_MAX)
			return -1;
	if (gmon_add_lost(input, error) != 0)
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
