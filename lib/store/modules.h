/* SPDX-License-Identifier: MIT */
/* modules.h -- which load module an address belongs to, as the file names it.
 *
 * A module gets a record when an address in it is first sampled.  Unloading
 * closes the record.  If the same file is loaded again, at any address, its
 * record is opened again; another file at the same address gets a record of its
 * own.
 */
#ifndef CPPROF_MODULES_H
#define CPPROF_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/store/result.h"

#define MODULE_CACHE_SIZE 16

/*
 * A thread's cache of module ranges, most recently used first, so that a few
 * cache lines serve a whole stack.
 */
struct recent_modules {
	struct module_range {
		uint64_t start, end;	/* end 0: unused */
		uint64_t bias;
		uint32_t number;
	} ranges[MODULE_CACHE_SIZE];
	uint64_t epoch;
};

/*
 * Finds the module number and offset of an address; CPPROFDATA_NO_MODULE and
 * the address itself if it is in no module.  Async-signal-safe, on the cache's
 * thread.
 */
enum store_result modules_find(struct recent_modules *cache, uint64_t address,
    uint32_t *module, uint64_t *offset);

/*
 * Empties the cache if a module was unloaded since it was last used.  If so,
 * returns true, and everything that the thread remembers of addresses is
 * invalid.  Async-signal-safe, on the cache's thread.
 */
bool modules_refresh(struct recent_modules *cache);

/*
 * The current epoch.  A cache of an earlier epoch is invalid.
 * Async-signal-safe.
 */
uint64_t modules_epoch(void);

/*
 * Closes the records of modules that are no longer loaded, and starts a new
 * epoch.  Not from a handler, and only with ticks held off.
 */
void modules_unloaded(void);

/*
 * Invalidates a cache in a forked child, since its numbers belong to the
 * parent's file.  Async-signal-safe.
 */
static inline void
modules_forget(struct recent_modules *cache)
{
	cache->epoch = UINT64_MAX;
}

#endif
