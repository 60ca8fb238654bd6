/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compared_heading.h -- the heading of a comparison of two sets of runs. */
#ifndef CPPROF_VIEWS_COMPARED_HEADING_H
#define CPPROF_VIEWS_COMPARED_HEADING_H

#include "src/views/compare.h"
#include "src/views/heading.h"

/* "grew", "shrank", "likely", "moved", "noise", "undecided". */
extern const char *const row_verdict_names[N_ROW_VERDICTS];

/* Hits, or an empty cell where nothing is known. */
struct cell amount_or_nothing(double amount);

/*
 * What view_describe does for other views: the schema cpprof.diff/1 with its
 * fields, header lines for both sides, the scale and the noise, and the footer.
 * 0, or -1 with *error set.
 */
int compared_describe(const struct view_request *request,
                      const struct view_kind *kind,
                      const struct compared_rows *compared,
                      const struct hidden *hidden, struct table *table,
                      struct error *error);

#endif
