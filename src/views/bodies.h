/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bodies.h -- views with a row for each function, by its own body: top and
 * flat.
 */
#ifndef CPPROF_VIEWS_BODIES_H
#define CPPROF_VIEWS_BODIES_H

#include "src/views/heading.h"
#include "src/views/totals.h"

struct body_row {
	const struct function_total *total;
	uint64_t cumulative;	/* bodies of this row and of all before it */
};

/* What such a view has of its own. */
struct body_view {
	const struct view_kind *kind;
	bool compares_totals;	/* equal bodies are in the order of their
				 * functions' totals, then of names; else of
				 * names */
	/* The columns of the request's own set. */
	void (*add_columns)(struct table *table,
	                    const struct view_request *request);
	/* Fills in the cells of these; returns their number. */
	uint32_t (*fill)(struct cell *cells, const struct body_row *row,
	                 const struct sample_set *set,
	                 const struct measure *measure);
};

/* The whole view, see view_function. */
int view_bodies(const struct view_request *request,
                const struct body_view *view, struct table *table,
                struct error *error);

#endif
