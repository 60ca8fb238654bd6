/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lists.h -- lists of functions, calls, threads and labels. */
#ifndef CPPROF_VIEWS_LISTS_LISTS_H
#define CPPROF_VIEWS_LISTS_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/call_flow.h"
#include "src/profile/profile.h"
#include "src/profile/sections.h"
#include "src/views/rows/rows.h"
#include "src/views/view.h"

/* ---- list_show.c ---- */

/* The usual columns, depending on what the rows have. */
struct row_shape {
	struct column_view columns;
	bool has_paths;		/* else rows are functions */
	bool has_returns, has_estimates;
	struct when when;	/* n is 0: no such column */
};

/* What of a row goes into its cells. */
struct row_values {
	uint64_t hits[COLUMN_SETS_MAX + 1];	/* of the request's own set, and
						 * of each of its columns */
	struct cell path;
	uint64_t returns;
	bool is_estimated;
	const char *when;
};

/*
 * Adds the columns hits, fraction and path, for a flow also estimated, where
 * has_returns also returns, and the pattern of a row; or, if the request shows
 * columns, those as well, in aligned text.  Also does when_add_column.  *shape:
 * what row_shape_cells needs.
 */
int rows_add_columns(struct row_shape *shape,
                     const struct view_request *request,
                     const struct measure *measure, bool has_paths,
                     bool has_returns, struct table *table,
                     struct error *error);

/* Writes the cells of a row in the order of these columns. */
void row_shape_cells(const struct row_shape *shape,
                     const struct row_values *values, struct cell *cells);

/*
 * When the hits of the first n_rows rows came, which are functions, in their
 * order: those of their bodies, or with their descendants.  Lives as long as
 * the table; NULL with *error set.
 */
struct when_text *rows_draw_functions(const struct rows *rows,
                                      uint32_t n_rows,
                                      const struct sample_set *set,
                                      bool are_bodies,
                                      const struct when *when,
                                      struct table *table,
                                      struct error *error);

/*
 * Sorts the rows, applies the limit, and hands the rows to the table, with the
 * columns of rows_add_columns and everything that view_describe adds.  With
 * `when`, O(nodes) for each row that is a path.  Takes the arrays over, even if
 * it fails.
 */
int rows_show(struct rows *rows, const struct view_request *request,
              const struct view_kind *kind, const struct measure *measure,
              struct hidden *hidden, struct table *table,
              struct error *error);

/* ---- bodies.c ---- */

/*
 * Views with a row for each function, by its own body: top and flat.
 */

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

/* ---- functions.c ---- */

/* The outermost functions with their hits: what down shows if there is no root. */
view_function view_outermost;

/* ---- sections.c ---- */

/* Who used it: threads, processes, labels. */

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

/* ---- members.c ---- */

/* Which values of a key use more or less than the others. */

/* The stacks that are compared among the values of a key.  Borrowed. */
struct members_request {
	const char *key;	/* of labels, such as "host" */
	const char *step;	/* what selects the stacks, for people */
	/* [n_sections + 1] of each section of the profile
	 * (profile/sections.h): what the selected stacks have, and all. */
	const struct section_total *part, *whole;
};

/*
 * Fills an empty table as view.h says, but rows have no path: they are values
 * of the key, with the members of cpprof.members/1 in doc/manual.md.
 */
int view_members(const struct view_request *request,
                 const struct members_request *wanted, struct table *table,
                 struct error *error);

/* ---- graph.c ---- */

/* Every function between its callers and its callees. */

/*
 * The call graph profile of all functions, or of one and its cycle.  function:
 * a name; NO_NAME: all.  is_classic: functions that can reach each other are
 * one entry, see below.  Fills an empty table as view.h says; rows
 * have the members of cpprof.graph/1 in doc/manual.md.
 */
int view_graph(const struct view_request *request, uint32_t function,
               bool is_classic, struct table *table, struct error *error);

/* ---- graph_entries.c ---- */

/*
 * The entries of the call graph profile: functions, cycles and the calls among
 * them.
 *
 * In the exact form each function is an entry of its own.  In the classic
 * form, gprof's, functions that can reach each other belong to a cycle, which
 * is an entry, too: calls among its members carry nothing, and what the cycle
 * used as a whole is charged to those that call into it.
 *
 * Source: Graham, Kessler & McKusick 1982, section 5.2.
 */

#define NO_CYCLE UINT32_MAX

/* All calls of one function by another. */
struct graph_call {
	uint32_t caller, callee;	/* names */
	uint64_t calls;
	long double hits, self;
	bool is_estimated;
	bool is_inside;		/* inside a collapsed cycle: carries nothing */
};

/* A function, or a cycle as a whole. */
struct graph_entry {
	uint32_t name;		/* NO_NAME: a cycle */
	uint32_t cycle;		/* the flow's number; of a function in no
				 * collapsed cycle NO_CYCLE */
	long double self, total;
	uint64_t calls, self_calls;
	bool is_estimated;
};

struct graph_entries {
	const struct call_flow *flow;
	const struct names *names;
	bool is_classic;

	struct graph_call *calls;	/* by caller's number */
	uint32_t n_calls;
	uint32_t *first_out;		/* [n_names + 1] in calls and out */
	uint32_t *out;			/* calls by the caller's number, then
					 * by the callee's name in byte
					 * order */
	uint32_t *first_in;		/* [n_names + 1] in in */
	uint32_t *in;			/* the same by callee, then caller */

	struct graph_entry *entries;	/* in the order of their numbers, most
					 * expensive first */
	uint32_t n_entries;
	uint32_t *number;		/* [n_names] of the function's entry;
					 * every function in a call has one */
	uint32_t *cycle_number;		/* [flow->n_cycles] from 1; 0: none */
	uint32_t *cycle_entry;		/* [flow->n_cycles] */
};

/*
 * Makes the entries of a flow; the flow and the names must outlive them.  0,
 * or -1 with *error set and nothing to free.
 */
int graph_entries_make(struct graph_entries *graph,
                       const struct call_flow *flow,
                       const struct names *names, bool is_classic,
                       struct error *error);
void graph_entries_free(struct graph_entries *graph);

#endif
