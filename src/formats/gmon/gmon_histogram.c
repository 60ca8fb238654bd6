/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gmon_histogram.c -- the histogram of the program counter.
 *
 * Hits are clock ticks.  A bin of the histogram that several functions share
 * is split among them by the number of its addresses that each has, as in
 * gprof; then a hit is a part of a tick.
 *
 * Source: gprof's hist.c.
 */
#include "src/formats/gmon/gmon_reader.h"

#include <string.h>

#include "src/base/memory.h"

enum {
	UNIT_SIZE = 2,		/* bytes: bins are split in these units */
	MAX_SHARES = 64,
};

__extension__ typedef unsigned __int128 wide;

int
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

static int
add_histogram(struct gmon *input, const struct gmon_histogram *histogram,
              struct error *error)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < histogram->n_bins; i++) {
		uint64_t ticks = bin_count(histogram, i);
		uint64_t begin = bin_start(histogram, i);
		uint64_t end = bin_start(histogram, i + 1);

		if (end == begin)
			end++;
		if (ticks > 0 && split_bin(input, begin, end, &at, ticks,
		                           error) != 0)
			return -1;
	}
	return 0;
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

int
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
	for (size_t i = 0; i < input->n_histograms; i++)
		if (add_histogram(input, &input->histograms[i], error) != 0)
			return -1;
	return 0;
}
