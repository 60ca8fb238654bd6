/* SPDX-License-Identifier: MIT */
/* pairs.h -- counts of waits: for whom, by whom, and both together.
 *
 * All functions: async-signal-safe, any thread, with all signals blocked, and
 * one at a time.
 */
#ifndef CPPROF_PAIRS_H
#define CPPROF_PAIRS_H

#include <stdint.h>

#include "lib/store/tree.h"

/* A node of any tree. */
struct pair_node {
	struct tree_node *twin;
	uint32_t number;
};

/* By which columns waits are counted. */
struct pair_columns {
	unsigned char blame, waits;
	unsigned char taken;	/* PAIR_NO_COLUMN: it is not counted */
};

#define PAIR_NO_COLUMN UINT8_MAX	/* as of a place that is 0 */

/* From the constructor or cpprof_start. */
void pairs_begin(const struct pair_columns *columns);

/*
 * Counts ns of a wait up to now, at the waiter, at the holder, and where what
 * was held was taken.
 */
void pairs_count(const struct pair_node *waiter,
    const struct pair_node *holder, const struct pair_node *taken, uint64_t ns,
    uint64_t now_ns);

/* Tries again to write what could not be written because the file was busy. */
void pairs_end(void);

#endif
