/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_stacks.c -- a table of stacks of a Firefox profile, to be entered. */
#include "src/formats/firefox/firefox_stacks.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

/* Rows between two checks for an interrupt. */
enum { ROWS_A_STEP = 1 << 14 };

void
firefox_stacks_free(struct firefox_stacks *stacks)
{
	frame_tables_free(&stacks->tables);
	stack_rows_free(&stacks->rows);
	free(stacks->parent);
	free(stacks->label);
}

/* The callers' rows, of either form; 0, or -1 with the error set. */
static int
make_parents(struct firefox_stacks *stacks, struct json_reader *json,
             uint32_t n)
{
	const struct index_column *offsets =
	    &stacks->tables.frames->stack_offset;
	const struct index_column *prefixes =
	    &stacks->tables.frames->stack_prefix;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t back;

		if (prefixes->n > 0) {
			stacks->parent[i] = prefixes->values[i];
			if (prefixes->values[i] != NO_INDEX &&
			    prefixes->values[i] >= n)
				return index_column_fail(prefixes, json,
				    "stackTable.prefix", i, n);
			continue;
		}
		back = offsets->values[i];
		if (back != NO_INDEX && back > i)
			return index_column_fail(offsets, json,
			    "stackTable.prefixOffset", i, n);
		stacks->parent[i] = back == NO_INDEX || back == 0 ? NO_ROW :
		                    i - back;
	}
	return 0;
}

static int
make_labels(struct firefox_stacks *stacks, struct firefox_frames *frames,
            struct json_reader *json, uint32_t n, struct error *error)
{
	const struct index_column *rows = &stacks->tables.frames->stack_frame;
	size_t n_frames = stacks->tables.frames->frame_function.n;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = rows->values[i];

		if (i % ROWS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (row < n_frames)
			stacks->label[i] = firefox_frames_label(frames,
			    &stacks->tables, row, error);
		else if (json_is_cut(json))
			stacks->label[i] = firefox_frames_add_name(frames,
			    "[unknown]", error);
		else
			return index_column_fail(rows, json,
			    "stackTable.frame", i, n_frames);
		if (error->is_set)
			return -1;
	}
	return 0;
}

int
firefox_stacks_begin(struct firefox_stacks *stacks,
                     struct firefox_frames *frames,
                     const struct firefox_tables *tables,
                     struct json_reader *json, struct error *error)
{
	size_t n = tables->stack_frame.n;
	size_t n_callers = tables->stack_prefix.n > 0 ?
	                   tables->stack_prefix.n : tables->stack_offset.n;

	if (n != n_callers && !json_is_cut(json)) {
		json_fail(json, tables->stack_frame.offset,
		          "%zu stacks have %zu callers", n, n_callers);
		return -1;
	}
	if (n > n_callers)
		n = n_callers;
	if (n >= NO_ROW)
		return error_set(error, "more than 4,294,967,294 stacks");
	stacks->parent = memory_array(n, sizeof *stacks->parent, error);
	stacks->label = memory_array(n, sizeof *stacks->label, error);
	stacks->rows = (struct stack_rows){ .parent = stacks->parent,
		.label = stacks->label, .n = (uint32_t)n };
	return !error->is_set &&
	    frame_tables_begin(&stacks->tables, frames, tables, error) == 0 &&
	    make_parents(stacks, json, (uint32_t)n) == 0 &&
	    make_labels(stacks, frames, json, (uint32_t)n, error) == 0 ? 0 : -1;
}
