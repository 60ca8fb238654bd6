/* SPDX-License-Identifier: MIT */
/* allowance.h -- what sampling may cost a thread.
 *
 * Time earns half a percent of itself, and each sample costs the time that it
 * takes.  If all would cost more, some are to be deferred: their hits go to the
 * next sample.  So even stacks of 100,000 frames cost only half a percent, with
 * fewer samples of more hits each.
 *
 * Which are deferred is a matter of chance, and how many follows from what
 * several have cost.  If one that was expensive deferred the next ones, their
 * hits would go to what comes after a pause, and never to what has long stacks.
 * That still happens where these and others do not alternate within some
 * samples.
 *
 * All functions: async-signal-safe, on the allowance's thread, without locks,
 * and in integers, as a program may want to know what its own floating point
 * did.
 */
#ifndef CPPROF_ALLOWANCE_H
#define CPPROF_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

struct allowance {
	int64_t left_ns;	/* what sampling may still cost */
	/* What the last samples have cost, and those earned that were to be
	   taken, deferred ones included; as sums of so many. */
	int64_t recent_cost_ns, recent_earned_ns;
	uint64_t seed;
};

/* For a thread that begins, with an allowance for some samples at once. */
void allowance_begin(struct allowance *allowance, uint64_t seed);

/* What so much time earns. */
int64_t allowance_of(uint64_t time_ns);

/*
 * Earns what the time does for which a sample is to be taken, and says whether
 * it may be taken now.  is_last: none follows that could take its hits, so that
 * any allowance is enough.
 */
bool allowance_allows(struct allowance *allowance, uint64_t time_ns,
    bool is_last);

/* A sample has cost so much, where at most most_ns is usual. */
void allowance_charge(struct allowance *allowance, int64_t cost_ns,
    int64_t most_ns);

#endif
