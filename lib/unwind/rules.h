/* SPDX-License-Identifier: MIT */
/* rules.h -- how to get from the frame at an address to its caller, cached.
 *
 * All threads share the cache without locks.  An entry consists of two words,
 * each stored atomically: the rule, and the rule XOR the key.  A reader that
 * combines words of two different stores gets a wrong key and so a miss.  The
 * key is the address and the epoch, times an odd number.  The epoch empties the
 * cache at once when code is unloaded.  The multiplication keeps differences of
 * a bit or two in rules and addresses from cancelling out.
 *
 * All functions: async-signal-safe, any thread, with a scratch of its own.
 */
#ifndef CPPROF_RULES_H
#define CPPROF_RULES_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "lib/unwind/compact.h"
#include "lib/unwind/tables.h"

#define RULES_SET_BITS 11	/* sets of one cache line each */
#define RULES_WAYS 4

struct rules_entry {
	_Atomic uint64_t check, rule;
};

extern struct rules_set {
	_Alignas(64) struct rules_entry ways[RULES_WAYS];
} rules_cache[1u << RULES_SET_BITS];

/* Finds a rule that is not in its set, and inserts it. */
struct compact_rule rules_look_up(struct cfi_scratch *scratch,
    uint64_t address, uint64_t key, struct rules_set *set);

/* Set in an address that is a return address minus 1. */
#define RULES_RETURN ((uint64_t)1 << 47)

static inline uint64_t
rules_key(uint64_t address)
{
	return (address ^ atomic_load_explicit(&tables_epoch,
	    memory_order_relaxed) << 48) * 0x9e3779b97f4a7c15u;
}

static inline struct rules_set *
rules_set_of(uint64_t key)
{
	return &rules_cache[key >> (64 - RULES_SET_BITS) &
	    atomic_load_explicit(&tables_lines, memory_order_relaxed)];
}

/* Prefetches the set of the rule at an address. */
static inline void
rules_prefetch(uint64_t address)
{
	__builtin_prefetch(rules_set_of(rules_key(address)));
}

/*
 * The rule at an address; COMPACT_NONE if no table covers it.  With
 * RULES_RETURN, COMPACT_UNCALLED if no call instruction ends right after the
 * address.
 */
static inline struct compact_rule
rules_find(struct cfi_scratch *scratch, uint64_t address)
{
	const uint64_t key = rules_key(address);
	struct rules_set *set = rules_set_of(key);
	struct compact_rule rule;
	uint64_t word;
	unsigned i;

	_Static_assert(sizeof rule == sizeof word, "a rule is one word");
	for (i = 0; i < RULES_WAYS; i++) {
		word = atomic_load_explicit(&set->ways[i].rule,
		    memory_order_relaxed);
		if ((atomic_load_explicit(&set->ways[i].check,
		    memory_order_relaxed) ^ word) != key)
			continue;
		memcpy(&rule, &word, sizeof rule);
		return rule;
	}
	return rules_look_up(scratch, address, key, set);
}

#endif
