/* SPDX-License-Identifier: MIT */
/* modules.h -- which load module an address belongs to, as the file names it.
 *
 * Modules get a record when an address in them is first met.  Unloading closes
 * the record; the same file loaded again, anywhere, opens it again; another
 * file in the same place gets another.
 */
#ifndef CPPROF_MODULES_H
#define CPPROF_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#define MODULE_CACHE_SIZE 16

/*
 * A thread's memory of where modules are, those used of late first: so few
 * lines of memory tell of a whole stack.
 */
struct module_cache {
	struct module_range {
		uint64_t start, end;	/* end 0: none */
		uint64_t bias;
		uint32_t number;
	} ranges[MODULE_CACHE_SIZE];
	uint64_t epoch;
};

enum modules_result {
	MODULES_OK,
	MODULES_BUSY,	/* another thread is adding something */
	MODULES_FULL	/* no room for a record */
};

/*
 * Module number and offset of an address; CPPROFDATA_NO_MODULE and the address
 * itself if it lies in none.  Async-signal-safe, on the cache's thread.
 */
enum modules_result modules_find(struct module_cache *cache, uint64_t address,
    uint32_t *module, uint64_t *offset);

/*
 * Empties the cache if a module was unloaded since it was used; true if so,
 * and then whatever the thread remembers of addresses is void.
 * Async-signal-safe, on the cache's thread.
 */
bool modules_refresh(struct module_cache *cache);

/* Where a cache's epoch has to be for it to hold.  Async-signal-safe. */
uint64_t modules_epoch(void);

/*
 * Closes the records of modules that are no longer loaded, and starts a new
 * epoch.  Not from a handler, and with ticks held off.
 */
void modules_unloaded(void);

/* In a forked child: the numbers are of the parent's file.  Async-signal-safe. */
static inline void
modules_forget(struct module_cache *cache)
{
	cache->epoch = UINT64_MAX;
}

#endif
