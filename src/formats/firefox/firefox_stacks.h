/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_stacks.h -- the threads of a Firefox profile as a sample tree. */
#ifndef CPPROF_FORMATS_FIREFOX_FIREFOX_STACKS_H
#define CPPROF_FORMATS_FIREFOX_FIREFOX_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/firefox/firefox_tables.h"
#include "src/formats/firefox/firefox_thread.h"
#include "src/formats/json/json_reader.h"
#include "src/profile/profile.h"
#include "src/symbols/module_cache.h"

/* "meta", which is about all threads. */
struct firefox_meta {
	uint64_t interval_ns;		/* between samples; 0: unknown */
	uint64_t start_ns;		/* since 1970; 0: unknown */
	enum { CPU_UNKNOWN, CPU_NS, CPU_US, CPU_CYCLES } cpu_unit;
	const char *product;		/* NULL: unknown */
};

struct firefox_stacks;

/*
 * Starts on a profile without frames.  shared, the tables that threads have in
 * common, and meta may be read later.  json names the place of errors.  modules
 * may be NULL.  All must outlive the result, which firefox_stacks_free frees.
 * NULL with *error set.
 */
struct firefox_stacks *firefox_stacks_new(struct profile *profile,
                                          const struct firefox_tables *shared,
                                          const struct firefox_meta *meta,
                                          struct json_reader *json,
                                          struct module_cache *modules,
                                          struct error *error);
void firefox_stacks_free(struct firefox_stacks *stacks);

/*
 * Enters the samples of a thread.  By now meta must have been read, and all
 * tables that the thread's stacks refer to.  is_cut: the input ended early, and
 * rows that are missing become "[unknown]".  0, or -1 with *error set, also for
 * an index that is out of range.
 */
int firefox_stacks_add(struct firefox_stacks *stacks,
                       const struct firefox_thread *thread, bool is_cut,
                       struct error *error);

/* The number of samples entered so far. */
uint64_t firefox_stacks_count(const struct firefox_stacks *stacks);

/*
 * Gives tree and frames to the profile.  A function that has only an address
 * for a name, as samply leaves it, gets the symbol of its library at that
 * address if there is one.  0, or -1 with *error set.
 */
int firefox_stacks_finish(struct firefox_stacks *stacks, struct error *error);

#endif
