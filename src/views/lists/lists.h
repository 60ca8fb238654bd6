/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lists.h -- lists of functions, calls, threads and labels. */
#ifndef CPPROF_VIEWS_LISTS_LISTS_H
#define CPPROF_VIEWS_LISTS_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/noise/noise.h"
#include "src/profile/call_flow.h"
#include "src/profile/profile.h"
#include "src/profile/sections.h"
#include "src/views/rows/rows.h"
#include "src/views/view.h"

/* ---- lists.c ---- */

/*
 * What all lists share.  A list collects rows; sorting, the threshold's and the
 * limit's footers, the columns of other resources, `when` and the comparison
 * with a base are the same for all.
 */

enum { LIST_COLUMNS_MAX = 16 };

struct list;
struct list_view;

/* A list while it is made, and then what the rows of its table come from. */
struct list {
	const struct list_view *view;
	const struct view_request *request;	/* until the view returns */
	const struct sample_set *set;
	struct measure measure;
	struct hidden hidden;
	struct rows rows;
	struct function_total *totals;	/* [rows.n] for columns of functions;
					 * else NULL */
	uint64_t *sums;			/* [n_shown] of this row's hits and of
					 * all before it; NULL without totals */
	uint32_t n_shown;
	struct column_view columns;	/* of other resources */
	const struct list_column *own_columns;
	bool is_there[LIST_COLUMNS_MAX];	/* of these */
	struct when when;
	const struct when_text *texts;	/* [n_shown] if when.n > 0 */
	const void *wanted;		/* the argument of list_show */
	void *found;			/* what collect has found */
	const char *lack;		/* path: why it has no hits; else
					 * NULL */
};

/* A column that the view has whatever `columns` says. */
struct list_column {
	const char *key, *title;
	enum cell_kind kind;
	/* The cell of the i-th row shown. */
	struct cell (*cell)(const struct list *list, uint32_t i);
	bool (*is_there)(const struct list *list);	/* NULL: always */
	const char *beside;		/* the title beside other resources;
					 * NULL: the same */
	const char *short_title;	/* as in struct column */
	bool names_resource;		/* that title is the resource's name */
	bool is_data_beside;		/* in text there is no room beside
					 * these */
	bool gives_way, is_elastic, is_data_only;	/* as in struct
							 * column */
	bool is_after;			/* it follows their columns */
};

/* A row of the table of lists. */
struct list_view {
	struct view_kind kind;
	bool needs_root;
	enum hidden_path row_is;	/* for footers; of functions and calls */
	/* Fills in list->rows, and counts in list->hidden what it leaves out. */
	int (*collect)(struct list *list, struct table *table,
	               struct error *error);
	const struct list_column *columns;	/* up to one without a key;
						 * NULL: hits, share and path,
						 * where there are any returns
						 * and estimates */
	bool orders_by_totals;		/* of equal hits, the larger of
					 * list->totals comes first */
	/*
	 * The order of two rows with the same hits, by their `name`, which is
	 * then no name of a function; NULL: by names.
	 */
	int (*compare)(const struct list *list, uint32_t a, uint32_t b);
	void (*free_found)(void *found);	/* NULL: there is nothing */
	/* Adds to the heading and the footers; NULL: nothing. */
	int (*describe)(const struct list *list, struct table *table,
	                struct error *error);
	/*
	 * For `when`: of which row's name a node of the tree is, or NO_NAME;
	 * NULL: rows are of paths or functions.
	 */
	uint32_t (*name_at)(const void *list, uint32_t node);
};

/* The whole view, see view_function.  wanted: for list->wanted. */
int list_show(const struct list_view *view, const struct view_request *request,
              const void *wanted, struct table *table, struct error *error);

/* The i-th row shown. */
static inline const struct row *
list_row(const struct list *list, uint32_t i)
{
	return &list->rows.items[list->rows.order[i]];
}

/* Cells and conditions of columns that several lists have. */
struct cell list_hits(const struct list *list, uint32_t i);
struct cell list_fraction(const struct list *list, uint32_t i);
struct cell list_when(const struct list *list, uint32_t i);
struct cell list_path(const struct list *list, uint32_t i);
bool list_is_of_flow(const struct list *list);

/* ---- functions.c ---- */

/* The outermost functions with their hits: what down shows if there is no root. */
view_function view_outermost;

/* ---- process_arguments.c ---- */

/*
 * The arguments of each process that not all processes of its program have,
 * with blanks between them, cut after 200 bytes; "": there are none, or they
 * are unknown.  [n_processes], freed with free(); the texts are in the arena.
 * NULL with *error set.
 */
const char **process_arguments_find(const struct profile *profile,
                                    struct arena *arena, struct error *error);

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

/* ---- calls.c ---- */

/* How long observed calls took (profile/observed_calls.h, noise/noise.h). */

struct known_calls {
	struct call_lengths lengths;
	struct call_totals totals;
	struct length_count *counts;	/* what `lengths` points to */
};

/* Freed with known_calls_free.  0, or -1 with *error set. */
int known_calls_make(struct known_calls *known,
                     const struct observed_calls *calls, struct error *error);
void known_calls_free(struct known_calls *known);

/*
 * The lengths of the calls of one function; calls NULL: a row for each function
 * that was observed.
 */
int view_calls(const struct profile *profile,
               const struct observed_calls *calls, struct table *table,
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

/* ---- waits.c ---- */

/*
 * What kind of wait a pair is.  A path waits for another one that holds it up:
 * at a lock, a barrier, a futex.  Or for a thread to end; or at a condition, a
 * semaphore or a pipe, which nobody held, for work or a result.
 */
enum wait_group { WAIT_HELD_UP, WAIT_JOIN, WAIT_IDLE, N_WAIT_GROUPS };

/*
 * That of the pair whose stack ends in `node`, by the names of what waited and
 * of what ended the wait.  mark: the node of LOCK_PAIRS_MARK, or NO_NODE.
 */
enum wait_group waits_group(const struct names *names,
                            const struct sample_tree *tree, uint32_t node,
                            uint32_t mark);

#endif
