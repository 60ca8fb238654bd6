/* SPDX-License-Identifier: MIT */
/* rules.c -- from tables and traits to a compact rule, and into the cache.
 *
 * Most addresses that are met first lie where a rule is known already: most of
 * a function has one row.  So rules are also remembered with the addresses
 * for which they hold, by the block of code in which one was met.
 */
#include "lib/unwind/rules.h"

#include "lib/base/big.h"
#include "lib/base/readable.h"
#include "lib/unwind/traits.h"

#define BLOCK_BITS 11
#define RANGE_SET_BITS 11
#define RANGE_LENGTH_BITS 16

struct rules_set rules_cache[1u << RULES_SET_BITS] BIG_TABLE;

/*
 * By block, the rules of rows met last, as in rules_cache; in `check` is the
 * range, first address and length, XOR what its rule hashes to.  So words of
 * two different stores give a range somewhere in 2^48 addresses.
 */
static struct rules_set ranges[1u << RANGE_SET_BITS] BIG_TABLE;

static inline struct rules_entry *
ranges_of_block(uint64_t address)
{
	return ranges[((address >> BLOCK_BITS) * 0x9e3779b97f4a7c15u) >>
	    (64 - RANGE_SET_BITS)].ways;
}

static inline uint64_t
hash_rule(uint64_t rule, uint64_t epoch)
{
	return (rule ^ epoch) * 0x9e3779b97f4a7c15u;
}

/* The rule of a row that is known to hold at an address, as a word; or 0. */
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

	tables_prefetch(address, scratch);
	if (_dl_find_object((void *)(uintptr_t)address, &object) != 0)
		return rule;
	switch (tables_find(address, &object, scratch)) {
	case CFI_FOUND:
		rule = arch_compact(&scratch->row, address);
		break;
	case CFI_NO_TABLE:
		return rule;
	case CFI_BAD:
		rule.kind = COMPACT_BAD;
		break;
	}
	rule.traits = traits_find(address, &object) & 3;
	return rule;
}

/*
 * Whether a call ends right behind an address, whose code has a table and so is
 * in memory; whether it can be read is asked all the same.
 */
static bool
ends_call(uint64_t address)
{
	struct readable readable = { 0 };

	return readable_range(&readable, address - 7, 8) && arch_follows_call(
	    (const unsigned char *)(uintptr_t)address + 1);
}

/* Puts it before the others of its set, of which the last drops out. */
static void
remember(struct rules_entry *ways, uint64_t word, uint64_t check)
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

/*
 * Remembers the rule of the row found last for all of the row, if it is one
 * that holds wherever in the row a program is: not where the CFA comes from an
 * expression, which may look at the address.
 */
static void
remember_row(uint64_t address, uint64_t rule, uint64_t epoch,
    const struct cfi_scratch *scratch)
{
	const uint64_t start = scratch->row_start;
	const uint64_t length = scratch->row_end - start;

	if (scratch->row.kinds[CFI_CFA] != CFI_REGISTER ||
	    start >> (64 - RANGE_LENGTH_BITS) != 0 ||
	    length >> RANGE_LENGTH_BITS != 0)
		return;
	remember(ranges_of_block(address), rule,
	    (start << RANGE_LENGTH_BITS | length) ^
	    hash_rule(rule, epoch));
}

struct compact_rule
rules_look_up(struct cfi_scratch *scratch, uint64_t address, uint64_t key,
    struct rules_set *set)
{
	/* What is found out now holds in this epoch, whatever comes meanwhile. */
	const uint64_t epoch = atomic_load_explicit(&tables_epoch,
	    memory_order_relaxed);
	const bool is_return = (address & RULES_RETURN) != 0;
	struct compact_rule rule;
	uint64_t word;

	address &= ~RULES_RETURN;
	word = find_in_ranges(address, epoch);
	if (word != 0) {
		memcpy(&rule, &word, sizeof rule);
	} else {
		rule = make_rule(scratch, address);
		/* Code that appears later may cover it: not remembered. */
		if (rule.kind == COMPACT_NONE)
			return rule;
		memcpy(&word, &rule, sizeof word);
		if (rule.kind != COMPACT_BAD)
			remember_row(address, word, epoch, scratch);
	}
	if (is_return && rule.kind > COMPACT_BAD &&
	    rule.kind != COMPACT_SIGNAL && !ends_call(address)) {
		rule = (struct compact_rule){ .kind = COMPACT_UNCALLED };
		memcpy(&word, &rule, sizeof word);
	}
	remember(set->ways, word, word ^ key);
	return rule;
}
