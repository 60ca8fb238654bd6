/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench-views.c -- how long each view takes on a large tree.
 *
 * 	bench-views [NODES]	a tree of random walks over a call graph
 * 	bench-views PROFILE	the tree of a profile
 *
 * Prints milliseconds, best of five, and the same in passes: a pass is the
 * time to sum up the weights of all nodes once (weigh_nodes).  Views
 * with a root run for the most expensive functions and for those with the most
 * nodes, and print their slowest time.  "+3" is a view with the hits of three
 * more resources.  Without a PROFILE two chains follow:
 * 100,000 distinct frames, and 2,000,000 frames of two functions that call
 * each other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/walks.h"
#include "src/base/memory.h"
#include "src/formats/format.h"
#include "src/output/output.h"
#include "src/profile/large_array.h"
#include "src/views/advice/advice.h"
#include "src/views/hits/hits.h"

enum { RUNS = 5, ROOTS = 10, N_COLUMNS = 3 };

/* ---- pictures ---- */

static int
discard(void *context, const char *bytes, size_t n)
{
	(void)context;
	(void)bytes;
	(void)n;
	return 0;
}

/* A picture as SVG, with everything that flame FILE.svg does but the file. */
static int
draw(view_function *view, const struct view_request *request,
     struct table *table, struct error *error)
{
	const struct layout layout = { .digits = 4 };
	struct view_request finer = *request;
	static struct writer writer;

	finer.resolution = 1200;
	writer_start(&writer, discard, NULL);
	return view(&finer, table, error) != 0 ? -1 :
	    output_svg(table, &layout, &writer, error);
}

static int
draw_tree(const struct view_request *request, struct table *table,
          struct error *error)
{
	return draw(view_icicle_tree, request, table, error);
}

static int
draw_down(const struct view_request *request, struct table *table,
          struct error *error)
{
	return draw(view_icicle_down, request, table, error);
}

static int
draw_up(const struct view_request *request, struct table *table,
        struct error *error)
{
	return draw(view_icicle_up, request, table, error);
}

static int
explain(const struct view_request *request, struct table *table,
        struct error *error)
{
	return view_explain(request, &(struct explain_request){ 0 }, NULL,
	                    table, error);
}

static const struct {
	const char *name;
	view_function *view;
	bool has_root, has_columns;
} views[] = {
	{ "top", view_top, false, false },
	{ "explain", explain, true, false },
	{ "flat", view_flat, false, false },
	{ "body", view_body, false, false },
	{ "functions", view_functions, false, false },
	{ "tree", view_tree, false, false },
	{ "down", view_down, true, false },
	{ "up", view_up, true, false },
	{ "callers", view_callers, true, false },
	{ "callees", view_callees, true, false },
	{ "top +3", view_top, false, true },
	{ "functions +3", view_functions, false, true },
	{ "tree +3", view_tree, false, true },
	{ "down +3", view_down, true, true },
	{ "up +3", view_up, true, true },
	{ "callers +3", view_callers, true, true },
	{ "icicle_tree", view_icicle_tree, false, false },
	{ "icicle_down", view_icicle_down, true, false },
	{ "icicle_up", view_icicle_up, true, false },
	{ "svg_tree", draw_tree, false, false },
	{ "svg_down", draw_down, true, false },
	{ "svg_up", draw_up, true, false },
};

/* A function, and its number of nodes. */
struct candidate {
	uint32_t name;
	uint64_t hits, n_nodes;
};

static void
die(const struct error *error)
{
	fprintf(stderr, "bench-views: %s\n", error->text);
	exit(1);
}

static double
now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* The names function_0, function_1, ... */
static struct names *
make_names(uint32_t n, struct error *error)
{
	struct names *names = names_new(error);
	char text[32];

	for (uint32_t i = 0; names != NULL && i < n; i++) {
		snprintf(text, sizeof text, "function_%" PRIu32, i);
		names_add(names, text, strlen(text), error);
	}
	if (error->is_set)
		die(error);
	return names;
}

/* One stack of n frames, which are n_names functions in turn. */
static struct sample_tree *
make_chain(uint32_t n, uint32_t n_names, struct error *error)
{
	struct tree_builder *builder = tree_builder_new(1, error);
	uint32_t *labels = memory_array(n, sizeof *labels, error);
	uint32_t *nodes = memory_array(n, sizeof *nodes, error);
	struct sample_tree *tree = NULL;

	for (uint32_t i = 0; labels != NULL && i < n; i++)
		labels[i] = i % n_names;
	if (builder != NULL && labels != NULL && nodes != NULL &&
	    tree_builder_chain(builder, NO_NODE, labels, n, nodes,
	                       error) == 0 &&
	    tree_builder_add(builder, nodes[n - 1], 0, 1000, 1000,
	                     error) == 0)
		tree = tree_builder_finish(builder, error);
	tree_builder_free(builder);
	free(labels);
	free(nodes);
	if (tree == NULL)
		die(error);
	return tree;
}

static int
compare_hits(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->hits < y->hits) - (x->hits > y->hits);
}

static int
compare_nodes(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->n_nodes < y->n_nodes) - (x->n_nodes > y->n_nodes);
}

/*
 * At most ROOTS of the most expensive functions and ROOTS of the most
 * frequent.
 */
static size_t
choose_roots(const struct sample_set *set, uint32_t *roots,
             struct error *error)
{
	uint32_t n;
	struct function_total *totals = function_totals(set, &n, error);
	uint64_t *n_nodes = memory_array(names_count(set->names),
	                                 sizeof *n_nodes, error);
	struct candidate *list = memory_array(n, sizeof *list, error);
	size_t n_roots = 0, half;

	if (totals == NULL || n_nodes == NULL || list == NULL)
		die(error);
	half = n < ROOTS ? n : ROOTS;
	for (uint32_t node = 0; node < set->tree->n_nodes; node++)
		n_nodes[set->tree->label[node]]++;
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct candidate){ totals[i].name,
			totals[i].inclusive, n_nodes[totals[i].name] };
	qsort(list, n, sizeof *list, compare_hits);
	for (size_t i = 0; i < half; i++)
		roots[n_roots++] = list[i].name;
	qsort(list, n, sizeof *list, compare_nodes);
	for (size_t i = 0; i < half; i++)
		roots[n_roots++] = list[i].name;
	free(totals);
	free(n_nodes);
	free(list);
	return n_roots;
}

/*
 * Best of RUNS, in milliseconds; sets *rows and *hidden to what the view
 * showed.
 */
static double
time_view(view_function *view, const struct view_request *request,
          size_t *rows, uint64_t *hidden)
{
	double best = 0;

	for (int run = 0; run < RUNS; run++) {
		struct table table = { 0 };
		struct error error = { 0 };
		double start = now_ms(), spent;

		if (view(request, &table, &error) != 0)
			die(&error);
		spent = now_ms() - start;
		if (run == 0 || spent < best)
			best = spent;
		*rows = table.n_rows;
		for (size_t i = 0; i < table.n_fields; i++)
			if (strcmp(table.fields[i].key, "hidden") == 0)
				*hidden = table.fields[i].value.count;
		table_free(&table);
	}
	return best;
}

/* The weight of each node, in one pass over them. */
static void
weigh_nodes(const struct sample_set *set, uint64_t *weight)
{
	const struct sample_tree *tree = set->tree;

	for (uint32_t n = 0; n < tree->n_nodes; n++)
		weight[n] = set->self[sample_tree_row(tree, n)];
	for (uint32_t n = tree->n_nodes; n-- > 0;)
		if (sample_tree_parent(tree, n) != NO_NODE)
			weight[sample_tree_parent(tree, n)] += weight[n];
}

static double
time_pass(const struct sample_set *set, uint64_t *weight)
{
	double best = 0;

	for (int run = 0; run < RUNS; run++) {
		double start = now_ms(), spent;

		weigh_nodes(set, weight);
		spent = now_ms() - start;
		if (run == 0 || spent < best)
			best = spent;
	}
	return best;
}

static void
time_rooted(size_t view, struct view_request request, const uint32_t *roots,
            size_t n_roots, double pass)
{
	size_t rows = 0, these_rows;
	uint64_t hidden = 0, this_hidden;
	double slowest = 0;
	uint32_t root = NO_NAME;

	for (size_t i = 0; i < n_roots; i++) {
		double spent;

		request.root = roots[i];
		spent = time_view(views[view].view, &request, &these_rows,
		                  &this_hidden);
		if (spent <= slowest)
			continue;
		slowest = spent;
		root = roots[i];
		rows = these_rows;
		hidden = this_hidden;
	}
	printf("  %-12s %8.2f ms %6.1f passes, %zu rows, %" PRIu64
	       " hidden, root %s\n", views[view].name, slowest,
	       slowest / pass, rows, hidden,
	       names_text(request.set->names, root));
}

/* Sets with sums of their own, as those of other resources have. */
static void
make_columns(const struct sample_set *set, struct sample_set *columns,
             struct error *error)
{
	for (int i = 0; i < N_COLUMNS; i++) {
		columns[i] = *set;
		columns[i].sums = sample_tree_new_sums(set->tree, set->self,
		                                       error);
		if (columns[i].sums == NULL)
			die(error);
	}
}

static void
time_views(const char *what, const struct sample_tree *tree,
           const struct names *names, struct error *error)
{
	static const struct resource resource = {
		.name = "hits", .gtick = "", .interval = 1
	};
	uint64_t *weight = memory_array(tree->n_nodes, sizeof *weight, error);
	struct sample_set set = {
		.tree = tree, .names = names, .resource = &resource,
		.self = tree->hits[0],
		.sums = sample_tree_new_sums(tree, tree->hits[0], error),
		.total = sample_tree_total(tree, tree->hits[0]),
	};
	struct sample_set columns[N_COLUMNS];
	struct view_request request = {
		.set = &set, .root = NO_NAME, .threshold = 0.01,
		.limit = SIZE_MAX, .depth = 1000,
	};
	uint32_t roots[2 * ROOTS];
	size_t n_roots, rows;
	uint64_t hidden = 0;
	double pass;

	if (error->is_set)
		die(error);
	set.left = set.n_samples = set.total;
	pass = time_pass(&set, weight);
	make_columns(&set, columns, error);
	n_roots = choose_roots(&set, roots, error);
	printf("%s: %" PRIu32 " nodes, %" PRIu32 " deep, %" PRIu64
	       " hits, a pass %.2f ms\n", what, tree->n_nodes, tree->deepest,
	       set.total, pass);
	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		double spent;

		request.columns = columns;
		request.n_columns = views[i].has_columns ? N_COLUMNS : 0;
		if (views[i].has_root) {
			time_rooted(i, request, roots, n_roots, pass);
			continue;
		}
		spent = time_view(views[i].view, &request, &rows, &hidden);
		printf("  %-12s %8.2f ms %6.1f passes, %zu rows, %" PRIu64
		       " hidden\n", views[i].name, spent, spent / pass, rows,
		       hidden);
	}
	for (int i = 0; i < N_COLUMNS; i++)
		large_array_free((void *)columns[i].sums);
	large_array_free((void *)set.sums);
	free(weight);
}

static void
time_profile(const char *path, struct error *error)
{
	const struct naming_rule rule = { GRANULARITY_FUNCTION, INLINES_AUTO };
	struct read_options options = { 0 };
	struct profile *profile = load_profiles(&path, 1, &options, error);
	struct sample_tree *tree = NULL;
	bool is_own = false;

	if (profile != NULL)
		tree = profile_named_tree(profile, &rule, &is_own, error);
	if (tree == NULL)
		die(error);
	time_views(path, tree, profile->names, error);
	if (is_own)
		sample_tree_free(tree);
	profile_free(profile);
}

static void
time_generated(uint32_t n, struct error *error)
{
	static const struct {
		const char *what;
		uint32_t n_nodes, n_names;
	} chains[] = {
		{ "distinct frames", 100000, 100000 },
		{ "mutual recursion", 2000000, 2 },
	};
	struct names *names = make_names(WALK_FUNCTIONS, error);
	uint32_t begin;
	struct sample_tree *tree = walks_new(n, &begin, 1, error);

	if (tree == NULL)
		die(error);
	time_views("random walks", tree, names, error);
	sample_tree_free(tree);
	names_free(names);
	for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
		names = make_names(chains[i].n_names, error);
		tree = make_chain(chains[i].n_nodes, chains[i].n_names,
		                  error);
		time_views(chains[i].what, tree, names, error);
		sample_tree_free(tree);
		names_free(names);
	}
}

int
main(int argc, char **argv)
{
	struct error error = { 0 };
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;

	if (n > 0 && n < NO_NODE)
		time_generated((uint32_t)n, &error);
	else
		time_profile(argv[1], &error);
	return 0;
}
