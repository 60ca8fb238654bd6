/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pictures.h -- views that are drawn: call paths as boxes, a run as a chart. */
#ifndef CPPROF_VIEWS_PICTURES_PICTURES_H
#define CPPROF_VIEWS_PICTURES_PICTURES_H

#include "src/base/error.h"
#include "src/views/rows/rows.h"
#include "src/views/view.h"

/* ---- times_chart.c ---- */

/* The timeline as a chart. */

/*
 * Gives the table a chart of `all` hits of the request's set.  Layers: if the
 * request has a path, whose hits are `times`, the path and the other hits; else
 * the functions with the largest bodies, and the others.
 */
int times_add_chart(const struct view_request *request,
                    const struct measure *measure,
                    const struct when_times *times,
                    const struct when_times *all, struct table *table,
                    struct error *error);

#endif
