/* SPDX-License-Identifier: MIT */
/* allowance.c -- when the next sample may be taken. */
#include "lib/base/allowance.h"

#include "lib/base/meter.h"

#define PART_OF_TIME 200	/* of the time may be spent on sampling */
#define MOST_NS 1000000		/* the largest allowance, also at first */
#define DEBT_MOST_NS 2000000	/* more is forgiven */
#define MEAN_OF 64		/* numbers */
#define CHANCES 65536

void
allowance_begin(struct allowance *allowance, uint64_t seed)
{
	*allowance = (struct allowance){ .left_ns = MOST_NS, .seed = seed };
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

static void
allowance_add(struct allowance_mean *mean, int64_t ns)
{
	if (mean->n < MEAN_OF)
		mean->n++;
	else
		mean->sum_ns -= mean->sum_ns / MEAN_OF;
	mean->sum_ns += ns;
}

/*
 * With half of the largest allowance, each sample may be taken; with less, as
 * many as on average cost what they earn.  So what one has cost hardly decides
 * about the next.
 */
static bool
allowance_draw(struct allowance *allowance)
{
	const struct allowance_mean *cost = &allowance->cost;
	const struct allowance_mean *earned = &allowance->earned;
	/* What one costs and earns on average, each times both numbers. */
	const int64_t wanted = cost->sum_ns * earned->n;
	const int64_t affordable = earned->sum_ns * cost->n;

	if (allowance->left_ns < 0)
		return false;
	if (allowance->left_ns >= MOST_NS / 2 || wanted <= affordable)
		return true;
	allowance->seed = meter_random(allowance->seed + 1);
	return (int64_t)(allowance->seed >> 48) < affordable * CHANCES / wanted;
}

bool
allowance_admit(struct allowance *allowance, uint64_t time_ns, bool is_last)
{
	/* A long sleep earns no more. */
	const int64_t earned = allowance_least(MOST_NS, allowance_of(time_ns));

	allowance->left_ns = allowance_least(MOST_NS,
	    allowance->left_ns + earned);
	allowance_add(&allowance->earned, earned);
	return is_last ? allowance->left_ns >= 0 : allowance_draw(allowance);
}

void
allowance_charge(struct allowance *allowance, int64_t cost_ns, int64_t most_ns)
{
	allowance->left_ns -= cost_ns;
	if (allowance->left_ns < -DEBT_MOST_NS)
		allowance->left_ns = -DEBT_MOST_NS;
	allowance_add(&allowance->cost, allowance_least(cost_ns, most_ns));
}
