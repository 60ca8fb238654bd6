/* SPDX-License-Identifier: GPL-3.0-or-later */
/* icicle.c -- the call paths of a root as boxes, for pictures.
 *
 * An icicle has a box for each path of the downward or upward profile, as wide
 * as the path's value there.  The solid part is the path's share of a
 * partition of the root's hits (rows_down says which): what a flame graph
 * shows if there is no recursion.  The rest are hits that passed through the
 * path and re-entered it, and which are solid elsewhere.  So a recursive
 * function has as many boxes as it has canonical paths, not as many as the
 * recursion is deep.  The third picture is the sample tree as it is, which is
 * all solid.
 *
 * If the input has calls without stacks, values are those of
 * flow_paths.c, and
 * nothing is hatched: which hits of a path re-enter it is not known.
 *
 * The boxes below a box are sorted by what is solid, most first.  They lie side
 * by side from the box's left edge and may overhang it on the right, because a
 * hit can belong to several of them.
 *
 * Cost: that of the view; then linear passes over the paths that are wide
 * enough.
 */
#include "src/views/pictures/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/table.h"
#include "src/views/comparison/comparison.h"
#include "src/views/paths/paths.h"

/* What the table owns: the boxes, and the paths that they name. */
struct box_source {
	struct picture picture;
	struct call_paths paths;
	uint32_t *parent, *name;	/* of these, [rows.n] */
	struct rows rows;
	struct measure measure;
	struct picture_box *boxes;
	/* If runs are compared: */
	struct compared_rows compared;	/* the rows that are tested */
	uint32_t *place;		/* [rows.n] of these, from 1; 0: not
					 * tested */
	struct change *changes;		/* [rows.n] */
};

/* ---- the sample tree as rows ---- */

static uint32_t
count_nodes(const struct sample_set *set, uint64_t least)
{
	const struct sample_tree *tree = set->tree;
	uint32_t n = 0, node = 0;

	while (node < tree->n_nodes) {
		if (sample_set_weight(set, node) < least) {
			node = sample_tree_end(tree, node);
		} else {
			n++;
			node++;
		}
	}
	return n;
}

static uint64_t
icicle_count_empty(const struct sample_set *set)
{
	uint64_t n = 0;

	for (uint32_t node = 0; node < set->tree->n_nodes; node++)
		n += sample_set_weight(set, node) == 0;
	return n;
}

/* A node that is kept, and is an ancestor of the next node. */
struct icicle_open_node {
	uint32_t end, row;
};

static void
keep_node(struct rows *rows, const struct sample_set *set,
          const struct sample_set *columns, uint32_t node, uint32_t parent)
{
	uint32_t row = rows->n++;

	rows->items[row] = (struct row){
		.hits = sample_set_weight(set, node),
		.name = set->tree->label[node],
		.parent = parent,
	};
	rows->disjoint[row] = (struct disjoint_hits){
		.own = set->self[sample_tree_row(set->tree, node)],
		.all = sample_set_weight(set, node),
	};
	for (size_t i = 0; i < rows->n_columns; i++)
		rows->columns[i][row] = sample_set_weight(&columns[i], node);
}

static int
keep_nodes(struct rows *rows, const struct view_request *request,
           uint64_t least, struct icicle_open_node *open, struct hidden *hidden,
           struct error *error)
{
	const struct sample_set *set = request->set;
	const struct sample_tree *tree = set->tree;
	uint32_t node = 0, n_open = 0, n_steps = 0;

	while (node < tree->n_nodes) {
		if ((n_steps++ & 0xffff) == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		while (n_open > 0 && open[n_open - 1].end <= node)
			n_open--;
		if (sample_set_weight(set, node) < least) {
			hidden->below_threshold += sample_tree_end(tree, node) -
			    node;
			node = sample_tree_end(tree, node);
		} else if (n_open == request->depth) {
			hidden->too_long += sample_tree_end(tree, node) - node;
			node = sample_tree_end(tree, node);
		} else {
			keep_node(rows, set, request->columns, node,
			          n_open == 0 ? NO_RECORD :
			          open[n_open - 1].row);
			open[n_open++] = (struct icicle_open_node){
				sample_tree_end(tree, node), rows->n - 1,
			};
			node++;
		}
	}
	return 0;
}

static int
rows_tree(struct rows *rows, const struct view_request *request,
          const struct measure *measure, struct hidden *hidden,
          struct error *error)
{
	const struct sample_tree *tree = request->set->tree;
	uint32_t n = count_nodes(request->set, measure->least);
	struct icicle_open_node *open = memory_array((size_t)tree->deepest + 1,
	                                             sizeof *open, error);
	int status = -1;

	if (measure->least > 0)
		hidden->empty = icicle_count_empty(request->set);
	rows->are_paths = true;
	rows->disjoint = memory_array(n, sizeof *rows->disjoint, error);
	if (open != NULL && rows->disjoint != NULL &&
	    rows_make(rows, request->set, n, error) == 0 &&
	    rows_make_columns(rows, request, n, error) == 0)
		status = keep_nodes(rows, request, measure->least, open,
		                    hidden, error);
	free(open);
	return status;
}

/* ---- calls without stacks as rows ---- */

/* A path's own hits are those that its extensions do not account for. */
static int
share_flow(struct rows *rows, struct error *error)
{
	rows->disjoint = memory_array(rows->n, sizeof *rows->disjoint, error);
	if (rows->disjoint == NULL)
		return -1;
	for (uint32_t row = 0; row < rows->n; row++)
		rows->disjoint[row].own = rows->disjoint[row].all =
		    rows->items[row].hits;
	for (uint32_t row = rows->n; row-- > 0;) {
		uint32_t parent = rows->items[row].parent;
		uint64_t hits = rows->items[row].hits, *own;

		if (parent == NO_RECORD)
			continue;
		own = &rows->disjoint[parent].own;
		*own -= *own < hits ? *own : hits;
	}
	return 0;
}

static int
rows_flow(struct rows *rows, const struct view_request *request,
          const struct measure *measure, struct hidden *hidden,
          struct error *error)
{
	int status = rows->is_innermost_first ?
	    flow_paths_up(rows, request, measure, hidden, error) :
	    flow_paths_down(rows, request, measure, hidden, error);

	return status == 0 ? share_flow(rows, error) : status;
}

/* ---- rows of two sets of runs ---- */

/*
 * The verdicts of rows that have the threshold's share of a side, as in the
 * other views; the others are not tested.  place[rows->n]: of the tested ones,
 * from 1.
 */
static int
icicle_test_rows(struct box_source *source, const struct view_request *request,
                 uint32_t *place, struct error *error)
{
	const struct rows *rows = &source->rows;
	struct rows tested = { 0 };
	double least[2];
	int status;

	compare_least(request, least);
	tested.are_paths = true;
	tested.has_estimates = rows->has_estimates;
	tested.items = memory_array(rows->n, sizeof *tested.items, error);
	if (tested.items == NULL ||
	    rows_make_columns(&tested, request, rows->n, error) != 0) {
		rows_free(&tested);
		return -1;
	}
	for (uint32_t row = 0; row < rows->n; row++) {
		struct row *item = &tested.items[tested.n];

		if (!compare_is_shown(request, rows->columns, row, least))
			continue;
		for (size_t i = 0; i < rows->n_columns; i++)
			tested.columns[i][tested.n] = rows->columns[i][row];
		*item = rows->items[row];
		if (item->parent != NO_RECORD)
			item->parent = place[item->parent] - 1;
		place[row] = ++tested.n;
	}
	status = compare_rows(request, &tested, &source->compared, error);
	rows_free(&tested);
	return status;
}

static uint64_t
larger_side(const struct change *change)
{
	return (uint64_t)llround(fmax(fmax(change->base, change->now), 0));
}

typedef int rows_function(struct rows *rows,
                          const struct view_request *request,
                          const struct measure *measure, bool counts_own,
                          struct hidden *hidden, struct error *error);

/*
 * Adds the mean disjoint hits of each row to sums[n], for the runs [begin, end).
 * Each run has all paths of the tree, in the same order.
 */
static int
add_disjoint(const struct view_request *request, rows_function *paths,
             size_t begin, size_t end, uint32_t n, double *sums,
             struct error *error)
{
	const struct measure all = { .least = 0 };
	const double *work = request->compared->work;
	double all_work = 0;

	for (size_t i = begin; i < end; i++)
		all_work += work != NULL ? work[i] : 1;
	for (size_t i = begin; i < end; i++) {
		struct view_request one = *request;
		struct hidden hidden = { 0 };
		struct rows rows = { 0 };
		int status;

		one.set = &request->columns[i];
		one.n_columns = one.samples = 0;
		status = paths(&rows, &one, &all, true, &hidden, error);
		for (uint32_t row = 0; status == 0 && row < n; row++)
			sums[row] += (double)rows.disjoint[row].all /
			             all_work;
		rows_free(&rows);
		if (status != 0)
			return -1;
	}
	return 0;
}

/* Makes the disjoint hits of each row those of its larger side. */
static int
compare_disjoint(struct box_source *source, const struct view_request *request,
                 rows_function *paths, struct error *error)
{
	struct rows *rows = &source->rows;
	size_t n_base = request->compared->n_base;
	double *base = memory_array(rows->n, sizeof *base, error);
	double *now = memory_array(rows->n, sizeof *now, error);
	int status = -1;

	if (base != NULL && now != NULL &&
	    add_disjoint(request, paths, 0, n_base, rows->n, base,
	                 error) == 0 &&
	    add_disjoint(request, paths, n_base, view_count_runs(request),
	              rows->n, now, error) == 0)
		status = 0;
	for (uint32_t row = 0; status == 0 && row < rows->n; row++) {
		bool grew = source->changes[row].change > 0;
		uint64_t hits = rows->items[row].hits;
		uint64_t all = (uint64_t)llround(grew ? now[row] : base[row]);

		rows->disjoint[row].all = all < hits ? all : hits;
	}
	free(base);
	free(now);
	return status;
}

/*
 * Gives rows the width of their larger side.  If paths is NULL, nothing is
 * hatched.
 */
static int
compare_boxes(struct box_source *source, const struct view_request *request,
              rows_function *paths, struct error *error)
{
	struct rows *rows = &source->rows;
	struct compared_rows all = { 0 };
	int status;

	source->place = memory_array(rows->n, sizeof *source->place, error);
	if (source->place == NULL ||
	    icicle_test_rows(source, request, source->place, error) != 0)
		return -1;
	rows->are_paths = false;	/* each row is tested by itself */
	status = compare_rows(request, rows, &all, error);
	rows->are_paths = true;
	for (uint32_t row = 0; status == 0 && row < rows->n; row++) {
		uint64_t hits = larger_side(&all.changes[row]);

		/* A list, unlike a picture, has a threshold. */
		if (request->resolution == 0 && source->place[row] == 0)
			hits = 0;
		rows->items[row].hits = hits;
		rows->disjoint[row] = (struct disjoint_hits){ 0, hits };
	}
	source->changes = all.changes;
	all.changes = NULL;
	compared_rows_free(&all);
	source->measure.denominator = larger_side(&source->compared.whole);
	source->measure.least = 1;
	return status != 0 || paths == NULL ? status :
	    compare_disjoint(source, request, paths, error);
}

static enum row_verdict
icicle_verdict_of(const struct box_source *source, uint32_t row)
{
	uint32_t place = source->place[row];

	return place == 0 ? ROW_NOISE : source->compared.verdicts[place - 1];
}

static enum box_tint
tint_of(const struct box_source *source, uint32_t row)
{
	bool grew;

	if (source->place == NULL)
		return TINT_OF_NAME;
	grew = source->changes[row].change > 0;
	switch (icicle_verdict_of(source, row)) {
	case ROW_GREW:
		return TINT_GREW;
	case ROW_SHRANK:
		return TINT_SHRANK;
	case ROW_LIKELY:
		return grew ? TINT_LIKELY_GREW : TINT_LIKELY_SHRANK;
	case ROW_MOVED:
		return TINT_MOVED;
	default:
		return TINT_UNCHANGED;
	}
}

/* ---- rows as boxes ---- */

/*
 * Sorts siblings by solid hits, then by all hits, then by name, and puts
 * parents before their children.  So what overhangs a box is hatched as far as
 * that is possible.
 */
static int
sort_boxes(struct rows *rows, const struct names *names, struct error *error)
{
	const uint32_t n = rows->n;
	uint32_t *rank = memory_array(n, sizeof *rank, error), n_ranks;
	uint32_t *name = rows_names(rows, error);
	uint32_t *parent = rows_parents(rows, error);
	uint64_t *disjoint = memory_array(n, sizeof *disjoint, error);
	int status = -1;

	rows->order = memory_array(n, sizeof *rows->order, error);
	for (uint32_t i = 0; !error->is_set && i < n; i++) {
		rows->order[i] = i;
		disjoint[i] = rows->disjoint[i].all;
	}
	if (!error->is_set && (n_ranks = order_rank_names(names, name, n, rank,
	        error)) != UINT32_MAX &&
	    order_ascending(rows->order, n, rank, n_ranks, error) == 0 &&
	    rows_order_by_hits(rows, error) == 0 &&
	    order_descending(rows->order, n, disjoint, error) == 0)
		status = order_preorder(rows->order, n, parent, error);
	free(rank);
	free(name);
	free(parent);
	free(disjoint);
	return status;
}

/*
 * A box extends as far as the boxes below it, or its own width.  Rows of fewer
 * hits than `least` have no box.  Rows come after their parents.
 */
static int
measure_extents(const struct rows *rows, uint64_t least, uint64_t *extent,
                uint64_t *all, struct error *error)
{
	*all = 0;
	memset(extent, 0, rows->n * sizeof *extent);
	for (uint32_t row = rows->n; row-- > 0;) {
		uint32_t parent = rows->items[row].parent;
		uint64_t *sum = parent == NO_RECORD ? all : &extent[parent];

		if (rows->items[row].hits < least)
			continue;
		if (extent[row] < rows->items[row].hits)
			extent[row] = rows->items[row].hits;
		if (__builtin_add_overflow(*sum, extent[row], sum))
			return error_set(error, "the picture is too wide: the "
			                 "boxes below one box have more than "
			                 "2^64 hits");
	}
	return 0;
}

/*
 * Likewise, and raises `least` until each box has its part of the picture.
 * Boxes that are too narrow would otherwise leave room that nothing fills.  It
 * rises in small steps, since without them the others need less room.
 */
static int
fit_extents(const struct rows *rows, uint32_t resolution, uint64_t *least,
            uint64_t *extent, uint64_t *all, struct error *error)
{
	for (;;) {
		if (measure_extents(rows, *least, extent, all, error) != 0)
			return -1;
		if (resolution == 0 || *all / resolution < *least)
			return 0;
		if (progress_step(NULL, 0, 0, error) != 0)
			return -1;
		*least += *least / 8 + 1;
	}
}

/* next[row]: where the next box below it begins; depth[row] its depth. */
static void
place_boxes(struct box_source *source, uint64_t least, const uint64_t *extent,
            uint64_t *next, uint32_t *depth)
{
	const struct rows *rows = &source->rows;
	struct picture *picture = &source->picture;
	uint64_t top = 0;

	for (uint32_t i = 0; i < rows->n; i++) {
		uint32_t row = rows->order[i];
		const struct row *item = &rows->items[row];
		const uint32_t parent = item->parent;
		uint64_t *begin = parent == NO_RECORD ? &top : &next[parent];

		if (item->hits < least) {
			picture->n_left_out++;
			continue;
		}
		depth[row] = parent == NO_RECORD ? 0 : depth[parent] + 1;
		if (depth[row] >= picture->n_levels)
			picture->n_levels = depth[row] + 1;
		source->boxes[picture->n_boxes++] = (struct picture_box){
			.begin = *begin,
			.extent = extent[row],
			.value = item->hits,
			.solid = rows->disjoint[row].all,
			.own = rows->disjoint[row].own,
			.record = row,
			.depth = depth[row],
			.is_estimated = item->is_estimated,
			.tint = tint_of(source, row),
		};
		next[row] = *begin;
		*begin += extent[row];
	}
}

static int
make_boxes(struct box_source *source, const struct view_request *request,
           struct error *error)
{
	uint32_t n = source->rows.n;
	uint64_t least = source->measure.least;
	uint64_t *extent = memory_array(n, sizeof *extent, error);
	uint64_t *next = memory_array(n, sizeof *next, error);
	uint32_t *depth = memory_array(n, sizeof *depth, error);
	int status = -1;

	source->boxes = memory_array(n, sizeof *source->boxes, error);
	if (extent != NULL && next != NULL && depth != NULL &&
	    source->boxes != NULL &&
	    fit_extents(&source->rows, request->resolution, &least, extent,
	                &source->picture.extent, error) == 0) {
		place_boxes(source, least, extent, next, depth);
		status = 0;
	}
	free(extent);
	free(next);
	free(depth);
	return status;
}

/* ---- the table ---- */

static void
icicle_free_source(void *row_source)
{
	struct box_source *source = row_source;

	rows_free(&source->rows);
	compared_rows_free(&source->compared);
	free(source->place);
	free(source->changes);
	free(source->parent);
	free(source->name);
	free(source->boxes);
	free(source);
}

static void
icicle_get_row(const struct table *table, size_t i, struct cell *cells)
{
	const struct box_source *source = table->row_source;
	const struct picture_box *box = &source->boxes[i];
	const struct change *change;
	size_t n = 6;

	cells[0] = cell_hits(box->value);
	cells[1] = cell_fraction(measure_fraction(&source->measure,
	                                          box->value));
	cells[2] = cell_hits(box->solid);
	cells[3] = cell_hits(box->own);
	cells[4] = cell_hits(box->begin);
	cells[5] = cell_count(box->depth);
	if (source->rows.has_estimates)
		cells[n++] = cell_flag(box->is_estimated);
	if (source->place != NULL) {
		change = &source->changes[box->record];
		cells[n++] = cell_amount(change->base);
		cells[n++] = cell_amount(change->now);
		cells[n++] = cell_amount(change->change);
		cells[n++] = cell_text(row_verdict_names[
		    icicle_verdict_of(source, box->record)]);
	}
	cells[table->n_columns - 1] = cell_path(&source->paths, box->record);
}

static void
icicle_add_columns(struct table *table, bool has_estimates, bool is_comparison)
{
	const struct column columns[] = {
		{ "hits", "#hits", .kind = CELL_HITS },
		{ "fraction", "usage_fraction", .kind = CELL_FRACTION },
		{ "solid", "solid", .kind = CELL_HITS },
		{ "own", "own", .kind = CELL_HITS },
		{ "begin", "begin", .kind = CELL_HITS },
		{ "depth", "depth", .kind = CELL_COUNT },
		{ has_estimates ? "estimated" : NULL, "~", .kind = CELL_FLAG },
		{ is_comparison ? "base" : NULL, "base", .kind = CELL_AMOUNT },
		{ is_comparison ? "now" : NULL, "now", .kind = CELL_AMOUNT },
		{ is_comparison ? "change" : NULL, "change",
		  .kind = CELL_AMOUNT },
		{ is_comparison ? "verdict" : NULL, "verdict",
		  .kind = CELL_TEXT },
		{ "path", "call path", .kind = CELL_PATH },
	};

	table_add_columns(table, columns, sizeof columns / sizeof *columns);
	table->pattern = "{fraction} ({path}) [{hits}]";
}

static int
describe_comparison(const struct box_source *source,
                    const struct view_request *request,
                    const struct view_kind *kind, const struct hidden *hidden,
                    struct table *table, struct error *error)
{
	return compared_describe(request, kind, &source->compared, hidden,
	                         table, error) != 0 ? -1 :
	    table_add_header(table, error, "width: the larger side; red grew, "
	        "blue shrank (pale: likely), yellow moved, grey noise or below "
	        "the threshold");
}

/* The picture of all boxes; the rows are as many of them as the limit says. */
static int
icicle_give_to_table(struct box_source *source,
                     const struct view_request *request,
                     const struct view_kind *kind, struct hidden *hidden,
                     struct table *table, struct error *error)
{
	struct picture *picture = &source->picture;
	uint32_t n_rows = 0;

	source->parent = rows_parents(&source->rows, error);
	source->name = rows_names(&source->rows, error);
	if (source->parent == NULL || source->name == NULL)
		return -1;
	source->paths = (struct call_paths){
		.names = request->set->names,
		.parent = source->parent,
		.name = source->name,
		.is_innermost_first = source->rows.is_innermost_first,
	};
	picture->paths = &source->paths;
	picture->boxes = source->boxes;
	picture->denominator = source->measure.denominator;
	picture->is_comparison = request->compared != NULL;
	if (request->resolution > 0) {
		picture->n_left_out += hidden->below_threshold -
		                       hidden->empty;
		hidden->below_threshold = 0;
		picture->is_open_ended = request->set->flow != NULL;
		table->picture = picture;
	} else {
		hidden->below_threshold += picture->n_left_out;
		n_rows = rows_limit(request, picture->n_boxes, hidden);
	}
	table->row = icicle_get_row;
	if (request->compared == NULL ?
	    view_describe(request, kind, &source->measure, hidden, table,
	                  error) != 0 :
	    describe_comparison(source, request, kind, hidden, table,
	                        error) != 0)
		return -1;
	icicle_add_columns(table, request->set->flow != NULL,
	                   request->compared != NULL);
	table->n_rows = n_rows;
	return 0;
}

static uint64_t
width_of(const struct sample_set *set, const struct view_request *request,
         bool has_root)
{
	uint64_t width = 0;

	if (has_root && request->root != NO_NAME)
		return measure_function(set, request->root);
	if (set->flow != NULL)
		return set->left;
	for (uint32_t node = 0; node < set->tree->n_nodes;
	     node = sample_tree_end(set->tree, node))
		width += sample_set_weight(set, node);
	return width;
}

/*
 * The least hits, over all runs of the larger side, of a path wide enough to be
 * seen.
 */
static struct measure
measure_runs(const struct view_request *request, bool has_root,
             struct measure measure)
{
	size_t n_base = request->compared->n_base;
	size_t n_runs = view_count_runs(request), n_now = n_runs - n_base;
	double sums[2] = { 0 }, width;

	for (size_t i = 0; i < n_runs; i++)
		sums[i >= n_base] += (double)width_of(&request->columns[i],
		                                      request, has_root);
	width = fmax(sums[0] / (double)n_base, sums[1] / (double)n_now);
	measure.least = (uint64_t)(width * (double)(n_base < n_now ? n_base :
	                           n_now) / request->resolution);
	if (measure.least == 0)
		measure.least = 1;
	return measure;
}

/* What the paths are to be at least, so that they can be seen. */
static struct measure
measure_boxes(const struct view_request *request, bool has_root)
{
	struct measure measure = measure_of(request);
	uint64_t width;

	if (request->resolution == 0)
		return measure;
	if (request->compared != NULL)
		return measure_runs(request, has_root, measure);
	width = width_of(request->set, request, has_root);
	measure.least = width / request->resolution;
	if (measure.least == 0)
		measure.least = 1;
	return measure;
}

/* paths: NULL: the sample tree. */
static int
icicle_draw_boxes(const struct view_request *request,
                  const struct view_kind *kind, rows_function *paths,
                  struct table *table, struct error *error)
{
	struct hidden hidden = { 0 };
	struct box_source *source;
	int status;

	if (request->set->flow != NULL && !kind->has_root)
		return error_set(error, "%s tree draws stacks, and this "
		                 "profile has calls between functions without "
		                 "stacks; try %s down or %s up", table->view,
		                 table->view, table->view);
	if (paths == rows_up && view_need_root(request, table, error) != 0)
		return -1;
	source = memory_array(1, sizeof *source, error);
	if (source == NULL)
		return -1;
	table->row_source = source;
	table->row_source_free = icicle_free_source;
	source->measure = measure_boxes(request, kind->has_root);
	/* The same paths of each run are needed. */
	if (request->compared != NULL && paths != NULL)
		source->measure.least = 0;
	source->rows.is_innermost_first = paths == rows_up;
	status = request->set->flow != NULL ?
	    rows_flow(&source->rows, request, &source->measure, &hidden,
	              error) :
	    paths != NULL ?
	    paths(&source->rows, request, &source->measure, true, &hidden,
	          error) :
	    rows_tree(&source->rows, request, &source->measure, &hidden,
	              error);
	if (status == 0 && request->compared != NULL)
		status = compare_boxes(source, request,
		    request->set->flow != NULL ? NULL : paths, error);
	if (status != 0 ||
	    sort_boxes(&source->rows, request->set->names, error) != 0 ||
	    make_boxes(source, request, error) != 0 ||
	    icicle_give_to_table(source, request, kind, &hidden, table,
	                         error) != 0)
		return -1;
	return source->rows.n > 0 || !kind->has_root ||
	    request->root == NO_NAME ? 0 :
	    view_explain_hidden_root(request, &source->measure, table, error);
}

int
view_icicle_down(const struct view_request *request, struct table *table,
                 struct error *error)
{
	static const struct view_kind kind = {
		.schema = "cpprof.boxes/1",
		.title = "Downward Call Path Icicle",
		.has_root = true,
	};

	return icicle_draw_boxes(request, &kind, rows_down, table, error);
}

int
view_icicle_up(const struct view_request *request, struct table *table,
               struct error *error)
{
	static const struct view_kind kind = {
		.schema = "cpprof.boxes/1",
		.title = "Upward Call Path Icicle",
		.has_root = true,
	};

	return icicle_draw_boxes(request, &kind, rows_up, table, error);
}

int
view_icicle_tree(const struct view_request *request, struct table *table,
                 struct error *error)
{
	static const struct view_kind kind = {
		.schema = "cpprof.boxes/1",
		.title = "Sample Tree Icicle",
	};

	return icicle_draw_boxes(request, &kind, NULL, table, error);
}
