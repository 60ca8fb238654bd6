/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jackknife.c -- how far off a share of a sum of many profiles may be. */
#include "src/noise/noise.h"

#include <math.h>

static double
jackknife_part_of(const struct jackknife *groups, size_t g)
{
	return (double)groups->part[g];
}

static double
whole_of(const struct jackknife *groups, size_t g)
{
	return groups->whole == NULL ? groups->members[g] :
	       (double)groups->whole[g];
}

/* The sum of the groups; *n_with: those that have any of it. */
static double
jackknife_sum_of(double of(const struct jackknife *, size_t),
                 const struct jackknife *groups, size_t *n_with)
{
	double sum = 0;

	*n_with = 0;
	for (size_t g = 0; g < groups->n; g++) {
		sum += of(groups, g);
		*n_with += of(groups, g) > 0;
	}
	return sum;
}

double
jackknife_share_error(const struct jackknife *groups)
{
	size_t n_part, n_whole;
	double part = jackknife_sum_of(jackknife_part_of, groups, &n_part);
	double whole = jackknife_sum_of(whole_of, groups, &n_whole);
	double members = 0, variance = 0;

	if (n_part < 2 || n_whole < 2)
		return NAN;
	for (size_t g = 0; g < groups->n; g++)
		members += groups->members[g];
	for (size_t g = 0; g < groups->n; g++) {
		double without = (part - jackknife_part_of(groups, g)) /
		                 (whole - whole_of(groups, g));
		double off = without - part / whole;

		/* h - 1, where the group is the h-th part of all members. */
		variance += (members / groups->members[g] - 1) * off * off;
	}
	return sqrt(variance / (double)groups->n);
}
