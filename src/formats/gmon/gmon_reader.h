/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gmon_reader.h -- shared by the parts of the gmon.out reader.
 *
 * gmon.c reads the records, including calls; gmon_histogram.c reads the
 * histograms.
 */
#ifndef CPPROF_FORMATS_GMON_READER_H
#define CPPROF_FORMATS_GMON_READER_H

#include "src/base/bytes.h"
#include "src/formats/format.h"
#include "src/symbols/names/program.h"

/* Start of one histogram in the file. */
struct gmon_histogram {
	uint64_t low, high;		/* addresses */
	uint32_t n_bins, rate;		/* ticks per second */
	const unsigned char *bins;	/* 16 bits each */
	const char *dimension;		/* [15] */
};

struct gmon_reader {
	struct source *source;
	const struct program *program;
	struct profile *profile;
	struct bytes bytes;
	struct gmon_histogram *histograms;
	size_t n_histograms, capacity;
	uint64_t shares;	/* hits per tick */
	uint64_t n_lost, n_lost_calls;	/* outside of known functions */
};

/* Sets an error at that offset; returns -1. */
static inline int
gmon_fail_at(const struct gmon_reader *reader, size_t offset,
             struct error *error, const char *what)
{
	return error_set(error, "%s: 0x%zx: %s", source_name(reader->source),
	                 offset, what);
}

static inline uint64_t
gmon_read_address(struct gmon_reader *reader)
{
	return bytes_number(&reader->bytes, reader->program->pointer_size);
}

/*
 * Reads the head of a histogram; the bins are read later, when all histograms
 * are known.  0, or -1 with *error set.
 */
int gmon_read_histogram(struct gmon_reader *reader, struct error *error);

/* Enters the resource and the hits of all histograms; likewise. */
int gmon_add_histograms(struct gmon_reader *reader, struct error *error);

#endif
