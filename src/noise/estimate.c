/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimate.c -- how far off a number from one sampled run may be. */
#include "src/noise/noise.h"

#include <math.h>

static double
phi_of(double hits, double samples, double most)
{
	double phi;

	if (samples <= 0 || hits <= samples)
		return 1;
	phi = hits / samples;
	return most <= 0 || phi <= most ? phi : most * (most / phi);
}

double
sampled_phi(struct sampled sampled)
{
	return phi_of((double)sampled.hits, (double)sampled.samples,
	              (double)sampled.most);
}

double
sampled_size(double hits, double samples, uint64_t most)
{
	return fmax(1, phi_of(hits, samples, (double)most));
}

/* What the whole has besides a part that it contains. */
static struct sampled
estimate_rest_of(struct sampled part, struct sampled whole)
{
	return (struct sampled){
		.hits = whole.hits - part.hits,
		.samples = whole.samples > part.samples ?
		    whole.samples - part.samples : 0,
		.most = whole.most,
	};
}

double
part_phi(struct sampled part, struct sampled whole)
{
	double phi;

	if (part.hits > 0)
		return sampled_phi(part);
	/* What nothing is known of may be of drawn samples only. */
	phi = phi_of((double)whole.hits, (double)whole.samples, 0);
	return whole.most > 0 ? fmin(phi, (double)whole.most) : phi;
}

/* The more the part is of the whole, the less its own says. */
double
share_phi(struct sampled part, struct sampled whole)
{
	double own = part_phi(part, whole), share;

	if (whole.hits == 0 || part.hits > whole.hits)
		return own;
	share = (double)part.hits / (double)whole.hits;
	return (1 - share) * own +
	    share * sampled_phi(estimate_rest_of(part, whole));
}

double
share_error(struct sampled part, struct sampled whole)
{
	double share;

	if (whole.hits == 0 || part.hits == whole.hits)
		return 0;
	if (part.hits > whole.hits)
		return sqrt((double)part.hits * sampled_phi(part)) /
		    (double)whole.hits;
	share = (double)part.hits / (double)whole.hits;
	return sqrt(share * (1 - share) * share_phi(part, whole) /
	            (double)whole.hits);
}

struct estimate
dispersed_hits(uint64_t hits, double phi, double z)
{
	double half = z * z * phi / 2, value = (double)hits;
	double width = sqrt(half * (2 * value + half));

	return (struct estimate){ value, fmax(value + half - width, 0),
		                  value + half + width };
}

struct estimate
hits_estimate(struct sampled part, struct sampled whole, double z)
{
	return dispersed_hits(part.hits, part_phi(part, whole), z);
}

struct estimate
dispersed_share(uint64_t part, uint64_t whole, double phi, double z)
{
	struct estimate share;
	double n, middle, width, z2;

	if (whole == 0)
		return (struct estimate){ 0, 0, 1 };
	if (part > whole) {
		share = dispersed_hits(part, phi, z);
		share.value /= (double)whole;
		share.low /= (double)whole;
		share.high /= (double)whole;
		return share;
	}
	share.value = (double)part / (double)whole;
	/* As many samples of one hit each would say as much. */
	n = (double)whole / phi;
	z2 = z * z / n;
	middle = (share.value + z2 / 2) / (1 + z2);
	width = sqrt(z2 * (share.value * (1 - share.value) + z2 / 4)) /
	    (1 + z2);
	/* The ends are exact where rounding is not. */
	share.low = part == 0 ? 0 : fmax(middle - width, 0);
	share.high = part == whole ? 1 : fmin(middle + width, 1);
	return share;
}

struct estimate
share_estimate(struct sampled part, struct sampled whole, double z)
{
	return dispersed_share(part.hits, whole.hits, share_phi(part, whole),
	                       z);
}
