/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jackknife.h -- how far off a share of a sum of many profiles may be.
 *
 * The profiles that were added up, its members, are a sample of all that could
 * have been, and they differ.  Each is in one of several random groups.  If the
 * share hardly changes when a group is left out, another fleet would have
 * nearly the same; so the changes show the standard error, whatever the members
 * differ in (delete-a-group jackknife: Kott 2001; for groups of unequal sizes
 * Busing, Meijer & van der Leeden 1999).
 */
#ifndef CPPROF_NOISE_JACKKNIFE_H
#define CPPROF_NOISE_JACKKNIFE_H

#include <stddef.h>
#include <stdint.h>

/* What each group has of a part, such as a path, and of the whole. */
struct jackknife {
	size_t n;		/* groups, each with at least one member */
	const double *members;	/* [n] of each group */
	const uint64_t *part;		/* [n] hits */
	const uint64_t *whole;		/* [n] hits; NULL: the members, of which
					 * part has a number of hits each */
};

/*
 * The standard error of part / whole, with n - 1 degrees of freedom.  NAN if
 * the groups cannot show it: there are fewer than two, or the hits of the part
 * or of the whole are all in one; also if they have no hits of it.
 */
double jackknife_share_error(const struct jackknife *groups);

#endif
