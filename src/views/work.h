/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.h -- how much work each of several runs did, to compare per unit of it.
 *
 * The work of a run of the base is 1 on average.
 */
#ifndef CPPROF_VIEWS_WORK_H
#define CPPROF_VIEWS_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/views/view.h"

/*
 * The hits of a function stand for the work: sets work[n], of which the first
 * n_base are the base.  hits: how many there are, of the base and of the other
 * runs.  0, or -1 with *error set: a run has no hits of it.  O(nodes) for each
 * run.
 */
int work_by_function(const struct sample_set *runs, size_t n, size_t n_base,
                     uint32_t function, double *work, double hits[2],
                     struct error *error);

/*
 * Takes most functions for unchanged: the work of a run is the weighted median
 * of what their bodies used there as a part of their mean, over all functions
 * but those which by that median did change; these are found in turns.
 * hits: a sum of so many would have the noise of that median.  0, or -1 with
 * *error set.  O(nodes + names log names) for each run.
 */
int work_robust(const struct sample_set *runs, size_t n, size_t n_base,
                double *work, double hits[2], struct error *error);

/*
 * Half of the 95% interval of the work now, as a part of it, by the noise of
 * sampling alone; NAN if the hits are no counts of samples.
 */
double work_uncertainty(const struct sample_set *runs, size_t n,
                        const double hits[2]);

#endif
