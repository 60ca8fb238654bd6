/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picture.h -- boxes below boxes: what a flame graph draws.
 *
 * A box is a call path.  It lies below the box of the path that it extends.
 * Its width is its value, in hits.  The left part of it is solid, and the rest
 * is hatched.  The solid parts of a box's children lie side by side within its
 * own solid part, but one hit can be in the hatched parts of many boxes.  So
 * the boxes below a box can need more room than the box, which is its extent.
 */
#ifndef CPPROF_BASE_PICTURE_H
#define CPPROF_BASE_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/call_paths.h"

/* The colours of boxes. */
enum box_tint {
	TINT_OF_NAME,		/* that of the function's name */
	TINT_UNCHANGED, TINT_GREW, TINT_LIKELY_GREW, TINT_SHRANK,
	TINT_LIKELY_SHRANK, TINT_MOVED,
	N_BOX_TINTS
};

struct picture_box {
	uint64_t begin;		/* of the box, from the left edge */
	uint64_t extent;	/* of the box and all boxes below it */
	uint64_t value;		/* width of the box */
	uint64_t solid;		/* at most the value */
	uint64_t own;		/* solid hits that are in no box below it */
	uint32_t record;	/* the path, in picture->paths */
	uint32_t depth;		/* 0: a box on top */
	bool is_estimated;	/* the value is */
	enum box_tint tint;
};

struct picture {
	const struct call_paths *paths;
	/*
	 * [n_boxes] every box before those below it, these from left to right.
	 */
	const struct picture_box *boxes;
	uint32_t n_boxes;
	uint32_t n_levels;
	uint64_t extent;	/* of all boxes */
	uint64_t n_left_out;	/* paths with hits that are too narrow for a
				 * box */
	bool is_open_ended;	/* n_left_out counts only what extends boxes */
	uint64_t denominator;	/* of fractions */
	bool is_comparison;	/* the table has the columns base, now, change
				 * and verdict, which say what tints mean */
};

#endif
