/* SPDX-License-Identifier: GPL-3.0-or-later */
/* times_chart.h -- the timeline as a chart. */
#ifndef CPPROF_VIEWS_TIMES_CHART_H
#define CPPROF_VIEWS_TIMES_CHART_H

#include "src/views/measure.h"
#include "src/views/view.h"
#include "src/views/when.h"

/*
 * Gives the table a chart of `all` hits of the request's set.  Layers: if the
 * request has a path, whose hits are `times`, the path and the other hits; else
 * the functions with the largest bodies, and the others.  0, or -1 with *error
 * set.
 */
int times_add_chart(const struct view_request *request,
                    const struct measure *measure,
                    const struct when_times *times,
                    const struct when_times *all, struct table *table,
                    struct error *error);

#endif
