/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_stacks.h -- a table of stacks of a Firefox profile, to be entered. */
#ifndef CPPROF_FORMATS_FIREFOX_FIREFOX_STACKS_H
#define CPPROF_FORMATS_FIREFOX_FIREFOX_STACKS_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/firefox/firefox_frames.h"
#include "src/formats/firefox/firefox_tables.h"
#include "src/formats/json/json_reader.h"

/* Start with zeroes. */
struct firefox_stacks {
	struct frame_tables tables;
	uint32_t *parent, *label;	/* [rows.n] */
	struct stack_rows rows;
};

/*
 * Begins with the stacks of a thread, or of the shared tables; they and all
 * that they refer to must have been read.  If the input is cut, only complete
 * rows; otherwise an invalid row is an error.  json: as for frames.  0, or -1
 * with *error set; then firefox_stacks_free, too.
 */
int firefox_stacks_begin(struct firefox_stacks *stacks,
                         struct firefox_frames *frames,
                         const struct firefox_tables *tables,
                         struct json_reader *json, struct error *error);
void firefox_stacks_free(struct firefox_stacks *stacks);

#endif
