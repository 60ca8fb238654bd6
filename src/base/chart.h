/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chart.h -- hits from the start of a run to its end, in layers.
 *
 * Each slice of the run is a bar, and each layer a part of every bar.  A hit
 * belongs to one layer, so the layers of a bar add up to its hits.
 */
#ifndef CPPROF_BASE_CHART_H
#define CPPROF_BASE_CHART_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/table.h"

struct chart_layer {
	struct cell name;		/* CELL_NAME, CELL_PATH or CELL_TEXT */
	bool is_rest;			/* all that is in no other layer */
	uint64_t hits;			/* of all slices */
	double fraction;		/* of what fractions are relative to */
	const uint64_t *slices;		/* [n_slices] hits */
};

struct chart {
	const struct chart_layer *layers;	/* the first is drawn lowest */
	uint32_t n_layers, n_slices;
	uint64_t width_ns;		/* of a slice */
};

#endif
