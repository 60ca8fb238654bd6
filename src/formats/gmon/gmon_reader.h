/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gmon_reader.h -- shared by the parts of the gmon.out reader.
 *
 * gmon.c reads the records, including calls; gmon_histogram.c reads the
 * histograms.
 */
#ifndef CPPROF_FORMATS_GMON_READER_H
#define CPPROF_FORMATS_GMON_READER_H

#include "src/base/bytes.h"
#include "src/formats/reader.h"
#include "src/symbols/names/program.h"

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

static inline uint64_t
gmon_read_address(struct gmon *input)
{
	return bytes_number(&input->bytes, input->program->pointer_size);
}

/*
 * Reads the head of a histogram; the bins are read later, when all histograms
 * are known.
 */
int gmon_read_histogram(struct gmon *input, struct error *error);

/* Enters the resource and the hits of all histograms; likewise. */
int gmon_add_histograms(struct gmon *input, struct error *error);

#endif
