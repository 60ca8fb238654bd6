/* SPDX-License-Identifier: MIT */
/* allowance.c -- when the next sample may be taken. */
#include "lib/base/allowance.h"

#include "lib/base/meter.h"

#define PART_OF_TIME 200	/* of the time may be spent on sampling */
#define FIRST_NS 1000000	/* the first allowance, and the largest */
#define DEBT_MOST_NS 2000000	/* more is forgiven */
#define MEAN_OF 64		/* samples, for what they cost and earn */
#define CERTAIN 65536		/* of chances */

void
allowance_begin(struct allowance *allowance, uint64_t seed)
{
	allowance->left_ns = FIRST_NS;
	allowance->recent_cost_ns = allowance->recent_earned_ns = 0;
	allowance->seed = seed;
}

int64_t
allowance_of(uint64_t time_ns)
{
	return (int64_t)(time_ns / PART_OF_TIME);
}

static int64_t
allowance_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Adds a sample to the sum of what the last MEAN_OF have had, in which earlier
 * ones count less and less.  The first stands for all.
 */
static void
allowance_add_recent(int64_t *recent_ns, int64_t ns)
{
	*recent_ns += *recent_ns == 0 ? ns * MEAN_OF :
	    ns - *recent_ns / MEAN_OF;
}

/*
 * What is left is enough for all samples as long as half of the first one is
 * there, and then for as many as on average cost what they earn.  So what one
 * has cost hardly decides about the next.
 */
static bool
allowance_is_enough(struct allowance *allowance)
{
	if (allowance->left_ns < 0)
		return false;
	if (allowance->left_ns >= FIRST_NS / 2 ||
	    allowance->recent_cost_ns <= allowance->recent_earned_ns)
		return true;
	allowance->seed = meter_random(allowance->seed + 1);
	return (int64_t)(allowance->seed >> 48) <
	    allowance->recent_earned_ns * CERTAIN / allowance->recent_cost_ns;
}

bool
allowance_allows(struct allowance *allowance, uint64_t time_ns, bool is_last)
{
	const int64_t earned = allowance_of(time_ns);

	allowance->left_ns = allowance_least(FIRST_NS,
	    allowance->left_ns + earned);
	allowance_add_recent(&allowance->recent_earned_ns, earned);
	return is_last ? allowance->left_ns >= 0 : allowance_is_enough(allowance);
}

void
allowance_charge(struct allowance *allowance, int64_t cost_ns, int64_t most_ns)
{
	allowance->left_ns -= cost_ns;
	if (allowance->left_ns < -DEBT_MOST_NS)
		allowance->left_ns = -DEBT_MOST_NS;
	allowance_add_recent(&allowance->recent_cost_ns,
	    allowance_least(cost_ns, most_ns));
}
