/* SPDX-License-Identifier: MIT */
/* rules.c -- from tables and traits to a compact rule, and into the cache. */
#include "lib/rules.h"

#include "lib/traits.h"

struct rules_set rules_cache[1u << RULES_SET_BITS];
_Atomic uint64_t rules_epoch;

static struct compact_rule
make_rule(struct cfi_scratch *scratch, uint64_t address)
{
	struct compact_rule rule = { .kind = COMPACT_NONE };
	struct dl_find_object object;

	if (_dl_find_object((void *)(uintptr_t)address, &object) != 0)
		return rule;
	switch (cfi_find(address, &object, scratch)) {
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

struct compact_rule
rules_look_up(struct cfi_scratch *scratch, uint64_t address, uint64_t key,
    struct rules_set *set)
{
	struct compact_rule rule = make_rule(scratch, address);
	uint64_t word;

	/* Code that appears later may cover the address: not remembered. */
	if (rule.kind != COMPACT_NONE) {
		memcpy(&word, &rule, sizeof word);
		remember(set->ways, word, word ^ key);
	}
	return rule;
}

void
rules_new_epoch(void)
{
	atomic_fetch_add(&rules_epoch, 1);
}
