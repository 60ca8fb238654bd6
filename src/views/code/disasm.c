/* SPDX-License-Identifier: GPL-3.0-or-later */
/* disasm.c -- instructions with their hits.
 *
 * Cost, once the hits are known: O(n log n) for n instructions.
 */
#include "src/views/code/code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/views/rows/rows.h"

enum { CONTEXT = 3 };	/* instructions before and after one with hits */

struct disasm_drawing_up {
	const struct view_request *request;
	const struct disassembled *code;
	struct measure measure;
	struct hidden hidden;
	struct table *table;
	const char **group_lines;	/* [n_groups] */
	size_t n_groups;
};

/* ---- which instructions ---- */

static void
want_around(bool *wanted, const bool *is_shown, uint32_t n)
{
	uint32_t last = UINT32_MAX;	/* wanted so far */

	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = i < CONTEXT ? 0 : i - CONTEXT;

		for (uint32_t k = first; is_shown[i] && k < n &&
		     k <= i + CONTEXT; k++)
			wanted[k] = true;
	}
	/* A gap of few instructions is not worth its line. */
	for (uint32_t i = 0; i < n; i++) {
		if (!wanted[i])
			continue;
		for (uint32_t k = last; last != UINT32_MAX &&
		     i - last - 1 <= CONTEXT && k < i; k++)
			wanted[k] = true;
		last = i;
	}
}

static int
disasm_choose(struct disasm_drawing_up *up, bool *wanted, struct error *error)
{
	const struct disassembled *code = up->code;
	uint64_t least = measure_least(up->request->threshold,
	                               code->all.inclusive);
	uint64_t *values = memory_array(code->n, sizeof *values, error);
	bool *is_shown;

	if (values == NULL)
		return -1;
	for (uint32_t i = 0; i < code->n; i++)
		values[i] = code->hits[i].inclusive;
	is_shown = code_hits_choose(values, code->n, code->all.inclusive,
	                            up->request->threshold,
	                            up->request->limit, error);
	if (is_shown != NULL)
		want_around(wanted, is_shown, code->n);
	if (up->request->threshold <= 0 && up->request->limit == SIZE_MAX)
		memset(wanted, true, code->n * sizeof *wanted);
	for (uint32_t i = 0; is_shown != NULL && i < code->n; i++) {
		if (wanted[i] || values[i] == 0)
			continue;
		if (values[i] < least)
			up->hidden.below_threshold++;
		else
			up->hidden.beyond_limit++;
	}
	free(values);
	free(is_shown);
	return is_shown != NULL ? 0 : -1;
}

/* ---- rows ---- */

static void
disasm_add_columns(struct disasm_drawing_up *up)
{
	const bool has_lines = up->code->has_lines;
	const struct column columns[] = {
		{ "fraction", "%", .kind = CELL_PERCENT, .hides_zero = true },
		{ "self", "self", .kind = CELL_HITS, .hides_zero = true },
		{ "hits", "total", .kind = CELL_HITS, .hides_zero = true },
		{ "block", "block", .kind = CELL_COUNT, .is_data_only = true },
		{ "module", "module", .kind = CELL_TEXT, .is_data_only = true },
		{ "address", "address", .kind = CELL_TEXT },
		{ has_lines ? "file" : NULL, "file", .kind = CELL_TEXT,
		  .is_data_only = true },
		{ has_lines ? "line" : NULL, "line", .kind = CELL_COUNT,
		  .is_data_only = true },
		{ "instruction", "instruction", .kind = CELL_TEXT,
		  .is_elastic = true, .cuts_end = true },
	};

	table_add_columns(up->table, columns, sizeof columns / sizeof *columns);
	up->table->group_key = "block";
}

static bool
is_same_line(const struct listed_instruction *a,
             const struct listed_instruction *b)
{
	return a->line == b->line && a->file == b->file;
}

/*
 * Begins a block of rows before an instruction: at a gap, at the beginning of a
 * part if there are several, and where the source line changes.
 */
static int
disasm_begin_block(struct disasm_drawing_up *up,
                   const struct listed_instruction *next,
                   const struct listed_instruction *before, bool is_gap,
                   struct error *error)
{
	bool is_part = up->code->instructions[up->code->n - 1].part !=
	    up->code->instructions[0].part && (before == NULL ||
	    before->part != next->part);
	bool is_line = up->code->has_lines && next->line != 0 &&
	    (is_part || before == NULL || is_gap ||
	     !is_same_line(before, next));
	const char *line = NULL;

	if (before != NULL && !is_gap && !is_part && (!up->code->has_lines ||
	    is_same_line(before, next)))
		return 0;
	if (is_line)
		line = table_text(up->table, error, "%s%s:%" PRIu32 "%s%s",
		    is_gap ? "... " : "", last_component(next->file), next->line,
		    next->source != NULL ? "  " : "",
		    next->source != NULL ?
		    next->source + strspn(next->source, " \t") : "");
	else if (is_part)
		line = table_text(up->table, error, "%s at 0x%" PRIx64,
		                  next->module, next->address);
	else if (is_gap)
		line = "...";
	up->group_lines[up->n_groups++] = line;
	return error->is_set ? -1 : 0;
}

static int
disasm_add_row(struct disasm_drawing_up *up, uint32_t i, struct error *error)
{
	const struct listed_instruction *instruction =
	    &up->code->instructions[i];
	const struct place_hits *hits = &up->code->hits[i];
	const struct cell empty = { .kind = CELL_EMPTY };
	const char *address = table_text(up->table, error, "0x%" PRIx64,
	                                 instruction->address);
	struct cell cells[TABLE_MAX_COLUMNS];
	uint32_t n = 0;

	if (address == NULL)
		return -1;
	cells[n++] = cell_percent(measure_fraction(&up->measure,
	                                           hits->inclusive));
	cells[n++] = cell_hits(hits->self);
	cells[n++] = cell_hits(hits->inclusive);
	cells[n++] = cell_count(up->n_groups);
	cells[n++] = cell_text(instruction->module);
	cells[n++] = cell_text(address);
	if (up->code->has_lines) {
		cells[n++] = instruction->file == NULL ? empty :
		             cell_text(instruction->file);
		cells[n++] = instruction->line == 0 ? empty :
		             cell_count(instruction->line);
	}
	cells[n] = cell_text(instruction->text);
	cells[n].name_begin = instruction->name_begin;
	cells[n].n_name = instruction->n_name;
	return table_add_row(up->table, cells, error);
}

static int
disasm_add_rows(struct disasm_drawing_up *up, const bool *wanted,
                struct error *error)
{
	const struct listed_instruction *before = NULL;

	for (uint32_t i = 0; i < up->code->n; i++) {
		const struct listed_instruction *next =
		    &up->code->instructions[i];
		bool is_gap = i > 0 && before != next - 1;

		if (!wanted[i])
			continue;
		if (disasm_begin_block(up, next, before, is_gap, error) != 0 ||
		    disasm_add_row(up, i, error) != 0)
			return -1;
		before = next;
	}
	up->table->group_lines = up->group_lines;
	up->table->n_group_lines = up->n_groups;
	return 0;
}

static int
disasm_describe(struct disasm_drawing_up *up, struct error *error)
{
	const struct disassembled *code = up->code;
	const char *name = view_name_text(up->request->set->names,
	                                  code->function, up->table, error);
	static const char before[] = "Instructions of ";
	struct view_kind kind = { .schema = "cpprof.instructions/1",
		                  .title_name = code->function,
		                  .title_name_begin = strlen(before),
		                  .ignores_inlined = true };
	struct table *table = up->table;
	uint64_t elsewhere = code->hits[code->n].inclusive;

	if (name != NULL)
		kind.title = table_text(table, error, "%s%s", before, name);
	if (kind.title == NULL ||
	    view_describe(up->request, &kind, &up->measure, &up->hidden,
	                  table, error) != 0 ||
	    table_add_field(table, "hits", NULL,
	                    cell_count(code->all.inclusive), error) != 0 ||
	    table_add_field(table, "self", NULL, cell_count(code->all.self),
	                    error) != 0 ||
	    view_add_totals(up->request, &up->measure, code->all.self,
	                    code->all.inclusive, false, table, error) != 0)
		return -1;
	if (elsewhere > 0) {
		const char *text = hits_text(up->request->set, elsewhere,
		                             table, error);

		if (text == NULL ||
		    table_add_footer(table, error, "%s at addresses that "
		        "belong to no instruction", text) != 0)
			return -1;
	}
	return code->all.inclusive > 0 ? 0 :
	    table_add_footer(table, error, "no hits of %s here",
	                     up->request->set->resource->name);
}

int
view_disasm(const struct view_request *request,
            const struct disassembled *code, struct table *table,
            struct error *error)
{
	struct disasm_drawing_up up = {
		.request = request,
		.code = code,
		.measure = measure_of(request),
		.table = table,
		.hidden = { .is_of_function = true },
		.group_lines = arena_alloc(&table->arena, ((size_t)code->n +
		    1) * sizeof *up.group_lines, error),
	};
	bool *wanted = memory_array(code->n, sizeof *wanted, error);
	int status = -1;

	if (up.group_lines != NULL && wanted != NULL &&
	    disasm_choose(&up, wanted, error) == 0) {
		disasm_add_columns(&up);
		status = disasm_add_rows(&up, wanted, error);
	}
	if (status == 0)
		status = disasm_describe(&up, error);
	free(wanted);
	return status;
}
