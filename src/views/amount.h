/* SPDX-License-Identifier: GPL-3.0-or-later */
/* amount.h -- hits of functions and paths, with the samples they came in. */
#ifndef CPPROF_VIEWS_AMOUNT_H
#define CPPROF_VIEWS_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "src/noise/estimate.h"
#include "src/views/view.h"

struct amount {
	struct sampled sampled;
	bool is_seen;		/* it occurs, perhaps without hits */
	bool is_estimated;	/* hits are, by gprof's rule */
};

struct function_amount {
	uint32_t name;
	uint32_t place;		/* among all, by first appearance */
	struct amount body, inclusive;
};

/*
 * A set whose hits are the samples of another one; where each hit is a sample,
 * that set itself.  0, or -1 with *error set; call sample_counts_free in either
 * case.  O(nodes).
 */
struct sample_counts {
	struct sample_set set;
	uint64_t *weight;	/* NULL: each hit is a sample */
};

int sample_counts_make(struct sample_counts *counts,
                       const struct sample_set *set, struct error *error);
void sample_counts_free(struct sample_counts *counts);

/*
 * All functions that occur; *n of them, to be freed by the caller.  NULL with
 * *error set.  O(nodes).
 */
struct function_amount *amounts_of_functions(const struct sample_set *set,
                                             uint32_t *n,
                                             struct error *error);

/* One path of n >= 1 names.  0, or -1 with *error set.  O(nodes). */
int amount_of_path(const struct sample_set *set, const uint32_t *path,
                   size_t n, struct amount *amount, struct error *error);

/* What the request's fractions are of.  Likewise. */
int amount_of_whole(const struct view_request *request,
                    struct sampled *whole, struct error *error);

#endif
