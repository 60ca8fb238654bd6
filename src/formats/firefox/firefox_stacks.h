/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_stacks.h -- threads of a profile of Firefox's as a profile's tree. */
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

/* What the file says of all threads, "meta". */
struct firefox_meta {
	uint64_t interval_ns;		/* between samples; 0: unknown */
	uint64_t start_ns;		/* since 1970; 0: unknown */
	enum { CPU_UNKNOWN, CPU_NS, CPU_US, CPU_CYCLES } cpu_unit;
	const char *product;		/* NULL: unknown */
};

struct firefox_stacks;

/*
 * For a profile that has no frames yet.  shared: the tables that threads have
 * in common, which may still be read; meta likewise.  json: tells where the
 * input is wrong.  modules may be NULL.  All must live as long; freed with
 * firefox_stacks_free.  NULL with *error set.
 */
struct firefox_stacks *firefox_stacks_new(struct profile *profile,
                                          const struct firefox_tables *shared,
                                          const struct firefox_meta *meta,
                                          struct json_reader *json,
                                          struct module_cache *modules,
                                          struct error *error);
void firefox_stacks_free(struct firefox_stacks *stacks);

/*
 * Enters a thread's samples, for which meta must be known and shared too unless
 * the thread has stacks of its own.  is_cut: the input ended early, so that
 * rows may be missing; what they were is then "[unknown]".  0, or -1 with
 * *error set, also for an index that is out of range.
 */
int firefox_stacks_add(struct firefox_stacks *stacks,
                       const struct firefox_thread *thread, bool is_cut,
                       struct error *error);

/* How many samples have come. */
uint64_t firefox_stacks_count(const struct firefox_stacks *stacks);

/*
 * Makes tree and frames the profile's.  A function that is named by its
 * address only, as samply leaves it, has the symbol of its library there if
 * that is found.  0, or -1 with *error set.
 */
int firefox_stacks_finish(struct firefox_stacks *stacks, struct error *error);

#endif
