/* SPDX-License-Identifier: MIT */
/* allowance.h -- what sampling may cost a thread.
 *
 * Time earns half a percent of itself, and each sample costs the time that it
 * takes.  If all would cost more, some are to be deferred: their hits go to the
 * next sample.  So even stacks of 100,000 frames cost only half a percent, with
 * fewer samples of more hits each.
 *
 * Chance decides which samples are deferred, and the mean cost of the last ones
 * how many.  If each expensive sample deferred the next ones, their hits would
 * go to whatever runs after a pause, and deep stacks would get too few.  That
 * still happens where deep stacks and others alternate more slowly than every
 * ten samples or so.
 *
 * All functions: async-signal-safe, on the allowance's thread, without locks,
 * and in integers, as a program may want to know what its own floating point
 * did.
 */
#ifndef CPPROF_ALLOWANCE_H
#define CPPROF_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

/* A mean, in which earlier numbers count less and less. */
struct allowance_mean {
	int64_t sum_ns;
	uint32_t n;		/* as of so many numbers */
};

struct allowance {
	int64_t left_ns;	/* what sampling may still cost */
	struct allowance_mean cost;	/* of samples that were taken */
	struct allowance_mean earned;	/* by those to be taken, deferred ones
					   included */
	uint64_t seed;
};

/* For a thread that begins, with an allowance for some samples at once. */
void allowance_begin(struct allowance *allowance, uint64_t seed);

/* What so much time earns. */
int64_t allowance_of(uint64_t time_ns);

/*
 * Earns what the time does for which a sample is to be taken, and says whether
 * it may be taken now.  is_last: none follows that could take its hits, so it
 * may unless there is a debt.
 */
bool allowance_admit(struct allowance *allowance, uint64_t time_ns,
    bool is_last);

/*
 * A sample has cost so much; it counts in the mean cost as at most most_ns, the
 * most that is usual for such a sample.
 */
void allowance_charge(struct allowance *allowance, int64_t cost_ns,
    int64_t most_ns);

#endif
