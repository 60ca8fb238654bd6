/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_samples.h -- enters the samples of a pprof profile as they are read.
 *
 * Names and labels are unknown until the strings at the end of the file have
 * been read.  So frames are the numbers of their locations, and a sample's
 * thread is the number of its set of labels, byte for byte.  Numbers may differ
 * from sample to sample (times, sizes), and each set has a tree of its own; so
 * if they have too many combinations they are left out from then on.
 *
 * A list of stacks (stack_list.h) has no sections, so labels are left out of
 * it.
 *
 * A sample counts for a resource if it has hits of it.  So a list has a row of
 * a stack for each choice of values that are 0.  A tree has a node for all of
 * them, and a column that counts the samples without hits of a value, if there
 * are any.
 *
 * Neighbouring samples share most of their frames, so most numbers need not be
 * read: ids are in the file innermost first, so shared ones are the same bytes
 * at the end.
 *
 * Each record of the file is one raw sample, or several with the same stack.
 * If there are two types of values the first one counts raw samples ("samples"
 * and "cpu", "contentions" and "delay").  Otherwise the records are counted as
 * one more type, or the raw samples if the reader knows their number.
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
#include "src/profile/stack_list.h"

/* More sets than this are not distinguished. */
enum { PPROF_LABEL_SETS_MAX = 65536 };

/* Of samples with more values, all count for all resources, and there is no list. */
enum { PPROF_ZEROS_MAX = 32 };

/* More sets than this with numbers, and numbers are left out. */
enum { PPROF_NUMBER_SETS_MAX = 1024 };

/* Start with the reader, which gets the stacks and must outlive this. */
struct pprof_samples {
	struct reader *reader;
	uint64_t position;	/* of the sample at hand */
	struct stack_list *list;	/* gets the stacks instead, unless they
					 * are too many; NULL: none */
	uint32_t n_values;		/* of each sample; 0: none so far */
	bool counts_records;		/* there is one more column of hits */
	uint32_t n_columns;
	uint32_t without[PPROF_ZEROS_MAX];	/* the column that counts
					 * samples without hits of a value; 0:
					 * there are none */
	bool has_raw;			/* the reader knows the raw samples of
					 * each: */
	uint64_t n_raw;
	unsigned char *ids, *last_ids;	/* of locations, encoded */
	size_t n_ids, n_last_ids, ids_capacity, last_ids_capacity; /* bytes */
	size_t last_depth;		/* number of ids in last_ids */
	struct names *label_sets;	/* the empty one is number 0 */
	unsigned char *labels, *last_labels;
	size_t n_labels, n_last_labels, labels_capacity,
	    last_labels_capacity;	/* bytes */
	uint32_t last_set;		/* that of last_labels */
	uint32_t pushed_set;		/* that of last_ids' sample */
	bool has_too_many_sets;
	uint32_t n_number_sets;		/* sets with numbers */
	bool drops_numbers;		/* they were too many */
	bool drops_labels;		/* of a list */
};

void pprof_samples_free(struct pprof_samples *samples);

/* How many stacks have been entered. */
uint64_t pprof_samples_count(const struct pprof_samples *samples);

/*
 * Enters a sample, at the offset or line `position`, and its locations into
 * the tables' ids.  0, or -1 with *error set to what was expected, without
 * file and offset unless the error is about an earlier sample.
 */
int pprof_samples_add(struct pprof_samples *samples,
                      struct pprof_tables *tables,
                      const struct protobuf_field *field, uint64_t position,
                      struct error *error);

#endif
