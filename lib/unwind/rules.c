/* SPDX-License-Identifier: MIT */
/* rules.c -- makes compact rules from tables and traits, and caches them.
 *
 * Most of a function has the same row of its unwind table, so most new
 * addresses share a rule with an address seen earlier.  Therefore rules are
 * also cached with the address range of their row, by the block of code in
 * which they were found.
 */
#include "lib/unwind/rules.h"

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/readable.h"
#include "lib/unwind/traits.h"

#define BLOCK_BITS 11
#define RANGE_SET_BITS 11
#define RANGE_LENGTH_BITS 16
#define ENOUGH_RULES 128	/* half of what the few lines hold */

struct rules_set rules_cache[1u << RULES_SET_BITS] BIG_TABLE;

/*
 * The rules found last in each block of code, like rules_cache.  `check` is the
 * range, first address and length, XOR a hash of its rule.  If a reader
 * combines words of two different stores, it gets a range somewhere in 2^48
 * addresses.
 */
static struct rules_set ranges[1u << RANGE_SET_BITS] BIG_TABLE;

static inline struct rules_entry *
ranges_of_block(uint64_t address)
{
	return ranges[((address >> BLOCK_BITS) * 0x9e3779b97f4a7c15u) >>
	    (64 - RANGE_SET_BITS) & atomic_load_explicit(&tables_lines,
	    memory_order_relaxed)].ways;
}

static inline uint64_t
hash_rule(uint64_t rule, uint64_t epoch)
{
	return (rule ^ epoch) * 0x9e3779b97f4a7c15u;
}

/* The rule of a cached row that contains an address, as a word; 0: none. */
static uint64_t
find_in_ranges(uint64_t address, uint64_t epoch)
{
	const struct rules_entry *ways = ranges_of_block(address);
	uint64_t rule, range;
	unsigned i;

	for (i = 0; i < RULES_WAYS; i++) {
		rule = atomic_load_explicit(&ways[i].rule,
		    memory_order_relaxed);
		range = hash_rule(rule, epoch) ^ atomic_load_explicit(
		    &ways[i].check, memory_order_relaxed);
		if (address - (range >> RANGE_LENGTH_BITS) <
		    range % (1u << RANGE_LENGTH_BITS))
			return rule;
	}
	return 0;
}

static struct compact_rule
make_rule(struct cfi_scratch *scratch, uint64_t address)
{
	struct compact_rule rule = { .kind = COMPACT_NONE };
	struct dl_find_object object;
	uint64_t shift;

	tables_prefetch(address, scratch);
	if (!mappings_find_object(address, &object, &shift))
		return rule;
	switch (tables_find(address + shift, &object, scratch)) {
	case CFI_FOUND:
		scratch->row_start -= shift;
		scratch->row_end -= shift;
		rule = compact_row(&scratch->row, address);
		if (traits_ends_context(scratch->row_start, scratch->row_end))
			rule.kind = COMPACT_END;
		break;
	case CFI_NO_TABLE:
		return tableless_find(address + shift, &object);
	case CFI_BAD:
		rule.kind = COMPACT_BAD;
		break;
	}
	rule.traits = traits_find(address + shift, &object) & 3;
	return rule;
}

/* Inserts a rule at the front of its set and drops the last. */
static void
rules_remember(struct rules_entry *ways, uint64_t word, uint64_t check)
{
	unsigned i;

	for (i = RULES_WAYS - 1; i > 0; i--) {
		atomic_store_explicit(&ways[i].rule, atomic_load_explicit(
		    &ways[i - 1].rule, memory_order_relaxed),
		    memory_order_relaxed);
		atomic_store_explicit(&ways[i].check, atomic_load_explicit(
		    &ways[i - 1].check, memory_order_relaxed),
		    memory_order_relaxed);
	}
	atomic_store_explicit(&ways[0].rule, word, memory_order_relaxed);
	atomic_store_explicit(&ways[0].check, check, memory_order_relaxed);
}

struct compact_rule
rules_look_up(struct cfi_scratch *scratch, uint64_t address, uint64_t key,
    struct rules_set *set)
{
	/*
	 * Read first: what is found now belongs to this epoch, even if another
	 * begins meanwhile.
	 */
	const uint64_t epoch = atomic_load_explicit(&tables_epoch,
	    memory_order_relaxed);
	static _Atomic unsigned n_rules;
	const bool is_return = (address & RULES_RETURN) != 0;
	struct readable readable = { 0 };
	struct compact_rule rule;
	uint64_t word, start, length;

	address &= ~RULES_RETURN;
	word = find_in_ranges(address, epoch);
	if (word != 0) {
		memcpy(&rule, &word, sizeof rule);
	} else {
		rule = make_rule(scratch, address);
		/*
		 * Not cached, because code that is loaded later may lie there.
		 */
		if (rule.kind == COMPACT_NONE)
			return rule;
		memcpy(&word, &rule, sizeof word);
		/*
		 * The rule of the row that was found serves the whole row.  Not
		 * if the CFA is an expression, which may depend on the address.
		 */
		start = scratch->row_start;
		length = scratch->row_end - start;
		if (rule.kind > COMPACT_BAD &&
		    scratch->row.kinds[CFI_CFA] == CFI_REGISTER &&
		    start >> (64 - RANGE_LENGTH_BITS) == 0 &&
		    length >> RANGE_LENGTH_BITS == 0)
			rules_remember(ranges_of_block(address), word,
			    (start << RANGE_LENGTH_BITS | length) ^
			    hash_rule(word, epoch));
	}
	/* The code should be in memory, but check that it can be read. */
	if (is_return && rule.kind > COMPACT_BAD &&
	    rule.kind != COMPACT_SIGNAL &&
	    !arch_follows_call((const unsigned char *)(uintptr_t)address + 1,
	    readable_before(&readable, address + 1, ARCH_CALLING_SIZE))) {
		rule = (struct compact_rule){ .kind = COMPACT_UNCALLED };
		memcpy(&word, &rule, sizeof word);
	}
	rules_remember(set->ways, word, word ^ key);
	/* What was remembered in the few lines is found again in the tables. */
	if (tables_lines == TABLES_FEW_LINES && ++n_rules >= ENOUGH_RULES)
		tables_lines = UINT64_MAX;
	return rule;
}
