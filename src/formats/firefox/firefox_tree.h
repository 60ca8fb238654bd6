/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_tree.h -- the threads of a Firefox profile as a sample tree. */
#ifndef CPPROF_FORMATS_FIREFOX_FIREFOX_TREE_H
#define CPPROF_FORMATS_FIREFOX_FIREFOX_TREE_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/firefox/firefox_tables.h"
#include "src/formats/firefox/firefox_thread.h"
#include "src/formats/json/json_reader.h"
#include "src/formats/reader.h"

/* "meta", which is about all threads. */
struct firefox_meta {
	uint64_t interval_ns;		/* between samples; 0: unknown */
	uint64_t start_ns;		/* since 1970; 0: unknown */
	enum { CPU_UNKNOWN, CPU_NS, CPU_US, CPU_CYCLES,
	       N_CPU_UNITS } cpu_unit;
	const char *product;		/* NULL: unknown */
};

struct firefox_tree;

/*
 * Begins with a reader whose profile has no frames.  shared, the tables that
 * threads have in common, and meta may be read later.  json: the reader's,
 * names the place of errors.  All must outlive the result, which
 * firefox_tree_free frees.  NULL with *error set.
 */
struct firefox_tree *firefox_tree_new(struct reader *reader,
                                      const struct firefox_tables *shared,
                                      const struct firefox_meta *meta,
                                      struct json_reader *json,
                                      struct error *error);
void firefox_tree_free(struct firefox_tree *tree);

/*
 * Enters the samples of a thread.  By now meta must have been read, and all
 * tables that the thread's stacks refer to.  Rows that a cut input lacks become
 * "[unknown]"; else an index that is out of range is an error.  0, or -1 with
 * *error set, which must be the one of json.
 */
int firefox_tree_add(struct firefox_tree *tree,
                     const struct firefox_thread *thread, struct error *error);

/* The number of samples entered so far. */
uint64_t firefox_tree_count(const struct firefox_tree *tree);

/*
 * Gives tree and frames to the profile, after which nothing can be added.  0,
 * or -1 with *error set.
 */
int firefox_tree_finish(struct firefox_tree *tree, struct error *error);

#endif
