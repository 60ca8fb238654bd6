/* SPDX-License-Identifier: MIT */
/* pairs.c -- who has waited for whom, in the file.
 *
 * The nodes belong to any thread's tree, and these columns are counted only
 * here, with slices of their own.  A pair is found by a hash table, which
 * doubles when it is half full; the old one is not freed, as private memory
 * never is.
 */
#include "lib/store/pairs.h"

#include <stdbool.h>

#include "lib/base/attributes.h"
#include "lib/base/meter.h"
#include "lib/cpprofdata.h"
#include "lib/store/datafile.h"

#define FIRST_PAIRS 256u

struct pair_counts {
	uint32_t waiter, holder;
	struct cpprofdata_count count;	/* no samples: no pair */
	struct cpprofdata_pair *record;	/* the private copy; NULL: not in the
					   file yet */
	struct cpprofdata_pair *mapped;	/* and in the file */
};

static struct pair_columns columns;

static struct {
	struct slices slices;
	struct pair_counts *slots;
	size_t n_slots, n_used;
} pairs WIPED;

void
pairs_begin(const struct pair_columns *these)
{
	columns = *these;
}

static struct pair_counts *
pairs_slot(struct pair_counts *slots, size_t n_slots, uint32_t waiter,
    uint32_t holder)
{
	size_t i = meter_random((uint64_t)waiter << 32 | holder) &
	    (n_slots - 1);

	while (slots[i].count.samples != 0 && (slots[i].waiter != waiter ||
	    slots[i].holder != holder))
		i = (i + 1) & (n_slots - 1);
	return &slots[i];
}

/* False: there is no room for one more. */
static bool
pairs_grow(void)
{
	const size_t n = pairs.n_slots == 0 ? FIRST_PAIRS : 2 * pairs.n_slots;
	struct pair_counts *slots;
	size_t i;

	if (2 * pairs.n_used < pairs.n_slots)
		return true;
	slots = store_memory(n * sizeof *slots);
	if (slots == NULL)
		return pairs.n_used + 1 < pairs.n_slots;
	for (i = 0; i < pairs.n_slots; i++)
		if (pairs.slots[i].count.samples != 0)
			*pairs_slot(slots, n, pairs.slots[i].waiter,
			    pairs.slots[i].holder) = pairs.slots[i];
	pairs.slots = slots;
	pairs.n_slots = n;
	return true;
}

/* Writes a pair to the file, if there is room and the lock is free. */
static void
pairs_write(struct pair_counts *pair)
{
	struct cpprofdata_pair *record, *mapped = NULL;
	uint32_t number;

	if (pair->record != NULL) {
		pair->record->count = pair->count;
		__atomic_store_n(&pair->mapped->count.hits, pair->count.hits,
		    __ATOMIC_RELAXED);
		__atomic_store_n(&pair->mapped->count.samples,
		    pair->count.samples, __ATOMIC_RELAXED);
		return;
	}
	if (!datafile_lock())
		return;
	record = datafile_add_records(CPPROFDATA_PAIRS, sizeof *record, 1,
	    &number);
	if (record != NULL) {
		*record = (struct cpprofdata_pair){ .waiter = pair->waiter,
		    .holder = pair->holder, .count = pair->count };
		datafile_publish(CPPROFDATA_PAIRS, 1);
		mapped = datafile_mapped(CPPROFDATA_PAIRS, record);
	}
	datafile_unlock();
	if (mapped != NULL) {
		pair->record = record;
		pair->mapped = mapped;
	}
}

/* If there is no room, the pair is not known; its parts are counted anyway. */
static void
pairs_count_both(uint32_t waiter, uint32_t holder, uint64_t ns)
{
	struct pair_counts *pair;

	if (!pairs_grow())
		return;
	pair = pairs_slot(pairs.slots, pairs.n_slots, waiter, holder);
	if (pair->count.samples == 0) {
		*pair = (struct pair_counts){ .waiter = waiter, .holder = holder };
		pairs.n_used++;
	}
	pair->count.hits += ns;
	pair->count.samples++;
	pairs_write(pair);
}

void
pairs_end(void)
{
	size_t i;

	for (i = 0; i < pairs.n_slots; i++)
		if (pairs.slots[i].count.samples != 0 &&
		    pairs.slots[i].record == NULL)
			pairs_write(&pairs.slots[i]);
}

static void
pairs_count_one(const struct pair_node *node, unsigned column, uint64_t ns,
                uint64_t now_ns)
{
	if (node->twin != NULL) {
		tree_count_any(&pairs.slices, node->twin, node->number, column,
		    ns, now_ns);
		return;
	}
	datafile_count_drop(CPPROFDATA_LOST_FULL, 1, ns);
	datafile_count_lost(CPPROFDATA_LOST_FULL, column, ns);
}

void
pairs_count(const struct pair_node *waiter, const struct pair_node *holder,
    const struct pair_node *taken, uint64_t ns, uint64_t now_ns)
{
	pairs_count_one(holder, columns.blame, ns, now_ns);
	if (columns.taken != PAIR_NO_COLUMN)
		pairs_count_one(taken, columns.taken, ns, now_ns);
	pairs_count_one(waiter, columns.waits, ns, now_ns);
	if (waiter->twin != NULL && holder->twin != NULL)
		pairs_count_both(waiter->number, holder->number, ns);
}
