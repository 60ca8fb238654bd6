/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view.h -- every view is one function: a request in, a table out.
 *
 * The request is what views have in common.  A view that asks for more takes it
 * as another argument, which its room declares: lists/lists.h, code/code.h,
 * advice/advice.h.
 *
 * A view takes a tree of names and the hits that count, wherever they come
 * from: a granularity gives another tree, and a refinement another tree or
 * another set of hits.
 * Costs are stated in N nodes, D depth, F distinct names, M records.
 */
#ifndef CPPROF_VIEWS_VIEW_H
#define CPPROF_VIEWS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/base/pattern.h"
#include "src/base/table.h"
#include "src/noise/noise.h"
#include "src/profile/call_flow.h"
#include "src/profile/fleet.h"
#include "src/profile/profile.h"
#include "src/profile/sections.h"

/*
 * The samples that a view describes, of one resource. Borrowed.  Either a tree
 * with its hits, or, where the input has no stacks, a flow.
 */
struct sample_set {
	const struct sample_tree *tree;		/* labels are names */
	const struct call_flow *flow;		/* NULL: a tree */
	const struct names *names;
	const struct resource *resource;
	const uint64_t *self;		/* [n_rows] hits, refined */
	const uint64_t *sums;		/* of self, sample_tree_new_sums */
	uint64_t total;			/* hits of the whole run, unrefined; of
					 * a level at the time that is left */
	const char *whole;		/* what total is of, if that is not
					 * "the whole run"; else NULL */
	uint64_t left;			/* hits that the refinement left */
	size_t n_steps;			/* of the refinement; 0: left is total */
	uint64_t n_samples;		/* raw samples of the whole run */
	/* Hits of stacks with frames that share a placeholder name. */
	uint64_t placeholders[N_FRAME_PLACEHOLDERS];
	const struct profile *profile;	/* whose samples they are */
	uint32_t resource_number;	/* in the profile and in the tree */
	const struct naming_rule *rule;	/* of the names */
};

/* The hits of a node of the set's tree and of all below it. */
static inline uint64_t
sample_set_weight(const struct sample_set *set, uint32_t node)
{
	return sample_tree_weight(set->tree, set->sums, node);
}

/*
 * The columns of a table that shows several resources.  A set is 0 for the
 * request's own and i + 1 for its columns[i].
 */
enum shown_kind {
	SHOWN_HITS,		/* the hits of the left set, and their share */
	SHOWN_RATIO,		/* left / right */
	SHOWN_DIFFERENCE,	/* left - right */
};

/* Beside the sets that are shown there are those of random groups. */
enum {
	SHOWN_COLUMNS_MAX = 8,
	COLUMN_SETS_MAX = 2 * SHOWN_COLUMNS_MAX + FLEET_GROUPS,
};

struct shown_column {
	const char *name;
	enum shown_kind kind;
	uint32_t left, right;		/* sets */
	/* Of ratios and differences: what a hit counts for, factor included. */
	long double left_scale, right_scale;
	double left_factor, right_factor;
	const char *left_unit, *right_unit;	/* such as "ms"; "": gticks */
};

/*
 * What stands for runs if the sides are parts of one profile: the values of a
 * label, such as hosts.
 */
struct compared_values {
	bool are_times;			/* the sides are parts of the run; then
					 * each has one value, and key is
					 * "time" */
	const char *key;		/* of the label */
	const char *sides[2];		/* as asked for, "host=old*"; now NULL:
					 * all other values */
	uint64_t n[2];			/* values of a side; if it has fewer
					 * columns, each of these has several */
	uint64_t unlabelled;		/* hits without the label, which are on
					 * no side */
};

/*
 * Two sets of runs that are compared: the request's columns, first those of the
 * base; its own set is their sum.  See comparison/comparison.h.
 */
struct compared_runs {
	size_t n_base;		/* below n_columns, at least 1 */
	const double *work;	/* [n_columns] that each run did; NULL: all did
				 * the same */
	double work_hits[2];	/* how many hits say so, of the runs of the base
				 * and of the others (change_columns); 0: the
				 * work is known */
	/*
	 * [n_columns] what each run used as a whole, in hits, by an account that
	 * no sampling is part of; NULL: unknown.
	 */
	const uint64_t *known;
	/*
	 * A side can be one merged profile, whose random groups are its
	 * columns; they share its work by their members.  0: its columns are
	 * runs.
	 */
	uint64_t base_members, now_members;
	const struct compared_values *values;	/* NULL: runs are files */
	const char *scale;	/* what amounts are per, for people; NULL: they
				 * are absolute */
	uint32_t n_renamed;	/* names that differ between the sides by
				 * numbers of one run, and are one; */
	uint32_t renamed[2];	/* the first of them, and what it became */
};

/* What fractions are relative to. */
enum percent_base { PERCENT_TOTAL, PERCENT_ROOT, PERCENT_REFINED };

struct view_request {
	const struct sample_set *set;
	/*
	 * The same tree with the hits of other resources; or, where the input
	 * has no stacks, flows of the same functions.  Rows have hits of these,
	 * too (struct rows).
	 */
	const struct sample_set *columns;	/* [n_columns] */
	size_t n_columns;		/* at most COLUMN_SETS_MAX */
	/*
	 * Which numbers the table has and in which order; the rows are sorted
	 * by the first.  Each set is the left one of a SHOWN_HITS at most once,
	 * and the request's own once.
	 */
	const struct shown_column *shown;	/* [n_shown] */
	size_t n_shown;			/* at most SHOWN_COLUMNS_MAX; 0: the
					 * hits of the set alone */
	bool lacks_columns;		/* columns are on, but the view cannot
					 * show them; n_shown is 0 */
	bool has_noise;			/* rows have the standard error of their
					 * share, if that is known */
	size_t samples;			/* index + 1 of the column that holds
					 * the samples of the set; 0: each hit
					 * is one sample.  In a comparison, the
					 * last column */
	/*
	 * If the set is that of a merged profile: the last groups->n of the
	 * columns are those of its groups, which show the noise.  NULL, and
	 * no_groups NULL: no merged profile.
	 */
	const struct fleet_groups *groups;
	const char *no_groups;		/* why there is no noise, for people */
	const struct compared_runs *compared;	/* NULL: the rows are those of
						 * the set */
	uint32_t root;		/* a name; NO_NAME: none */
	double threshold;	/* rows below this fraction are hidden */
	size_t limit;		/* rows at most, SIZE_MAX off */
	size_t depth;		/* names a path may have, SIZE_MAX off */
	enum percent_base percent;
	bool folds_chains;	/* down, up: paths that one longer path shows
				 * as well are left out, see rows_fold */
	const struct pattern *pattern;	/* of functions; NULL: all.  For top,
					 * flat, body, functions */
	const uint32_t *path;		/* path, timeline: the names of one
					 * call path */
	size_t n_path;
	bool has_when;		/* a column says when each row's hits came, in
				 * views that show functions or paths */
	uint32_t resolution;	/* icicles, timeline: the table has a picture or
				 * a chart, in which what is narrower than this
				 * part of it is left out; 0: it has none, and
				 * the threshold decides */
};

/* The compared runs: all columns but that of their samples. */
static inline size_t
view_count_runs(const struct view_request *request)
{
	return request->n_columns - (request->samples > 0);
}

/*
 * Fills an empty table: the fields root (null if the view has none),
 * resource.name, .gtick and .interval, total, denominator and hidden (the
 * exact number of records not shown); text header and footer; columns, of
 * which every view has hits, fraction and path; rows.  0, or -1 with *error
 * set: no root where a view needs one, interrupted, more call paths than
 * paths/paths.h allows, out of memory.  The caller frees the table in either
 * case.  Rows borrow the set and the request's names, so the table must be
 * freed first.
 *
 * A record is hidden if it is below the threshold, otherwise if it is longer
 * than depth, otherwise if it is folded, otherwise if it is beyond the limit.
 * path always shows its one row; in tree the depth of a node is its path's
 * length.  Each view's file states its cost.
 *
 * For a flow, rows also have the column estimated: whether hits, in top and
 * flat inclusive, is computed by gprof's rule instead of measured.  Hidden
 * paths are counted if they extend a path shown; their own extensions are not.
 */
typedef int view_function(const struct view_request *request,
                          struct table *table, struct error *error);

view_function view_top, view_modules, view_flat, view_body, view_functions, view_down,
    view_up, view_tree, view_callers, view_callees, view_path, view_never;

/*
 * The hits of each slice of time, of the request's path if n_path > 0, else of
 * all stacks; -1 with *error set if the input has no times.  The rows have
 * begin_ns and end_ns in place of a path.
 */
view_function view_timeline;

/*
 * What of the request's resource, a level, is there at the end, and since when;
 * of the times that are left.  -1 with *error set if it is no level.  The rows
 * also have oldest_ns, median_ns and newest_ns.
 */
view_function view_leaks;

/*
 * Who waited for whom, whatever the request's resource; -1 with *error set if
 * the profile does not say.  Rows have two paths: that which waited, and "by",
 * that which it waited for.
 */
view_function view_waits;

/*
 * Pictures (icicle.c): rows are boxes, each before those below it.  They also
 * have the columns solid, own, begin and depth, and the table a picture if
 * there is a resolution.
 */
view_function view_icicle_down, view_icicle_up, view_icicle_tree;

/* Who used it: threads, processes, labels (lists/sections.c). */

/* What is shown of the profile's sections (profile/sections.h).  Borrowed. */
struct section_request {
	const struct section_total *totals;	/* [n_sections + 1] what the
						 * refinement left of each;
						 * NULL: no stacks */
	/* [n_columns] the same of each of the request's columns. */
	const struct section_total *const *columns;
	bool is_each;		/* threads, processes: a row for each, not for
				 * each name */
	const char *label_key;	/* labels: the one to show; NULL: all */
};

/*
 * Fills an empty table as view.h says, but rows have no path.  They sum to the
 * hits that the set's stacks have, except that a stack with two values of a
 * label counts for both.  0, or -1 with *error set, also if the profile has no
 * stacks or none of what is asked for.
 */
typedef int section_view(const struct view_request *request,
                         const struct section_request *wanted,
                         struct table *table, struct error *error);

section_view view_threads, view_processes, view_labels;

#endif
