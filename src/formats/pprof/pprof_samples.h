/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_samples.h -- the samples of a pprof profile, while they come.
 *
 * Neither names nor labels can be told before the strings at the file's end
 * have been read.  So frames are the numbers of their locations, and below the
 * outermost frame stands the number of the sample's set of labels: all those
 * whose values are strings, byte for byte.
 *
 * Neighbours share most of their frames, so most numbers need not be read: ids
 * stand innermost first, and those that two samples share are the same bytes
 * at the end.
 *
 * Each record of the file is one raw sample, or several that had one stack.
 * Where there are two types of values the first tells how many ("samples" and
 * "cpu", "contentions" and "delay").  Else the records are counted as if that
 * were one type more, or the raw samples if the reader knows how many they are.
 */
#ifndef CPPROF_FORMATS_PPROF_SAMPLES_H
#define CPPROF_FORMATS_PPROF_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/formats/pprof/pprof_tables.h"
#include "src/formats/reader.h"

/* More sets than this are not told apart. */
enum { PPROF_LABEL_SETS_MAX = 65536 };

/* Fields of a label. */
enum { PPROF_LABEL_KEY = 1, PPROF_LABEL_STRING = 2 };

/* Start with the reader, which gets the stacks and must outlive this. */
struct pprof_samples {
	struct reader *reader;
	uint32_t n_values;		/* of each sample; 0: none so far */
	bool counts_records;		/* there is one column of hits more */
	bool has_raw;			/* the reader says how many raw samples
					 * each is: */
	uint64_t n_raw;
	unsigned char *ids, *last_ids;	/* of locations, encoded */
	size_t n_ids, n_last_ids, ids_capacity, last_ids_capacity; /* bytes */
	size_t last_depth;		/* how many ids are in last_ids */
	struct names *label_sets;	/* the empty one is number 0 */
	unsigned char *labels, *last_labels;
	size_t n_labels, n_last_labels, labels_capacity,
	    last_labels_capacity;	/* bytes */
	uint32_t last_set;		/* that of last_labels */
	uint32_t pushed_set;		/* that of last_ids' sample */
	bool has_too_many_sets;
};

void pprof_samples_free(struct pprof_samples *samples);

/*
 * Enters one sample, of the offset or line `position`, and its locations into
 * the tables' ids.  0, or -1 with *error set to what was expected, without file
 * and offset unless it is of an earlier sample.
 */
int pprof_samples_add(struct pprof_samples *samples,
                      struct pprof_tables *tables,
                      const struct protobuf_field *field, uint64_t position,
                      struct error *error);

#endif
