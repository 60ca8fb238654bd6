/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heading.h -- the header and footer lines and the fields of every view. */
#ifndef CPPROF_VIEWS_HEADING_H
#define CPPROF_VIEWS_HEADING_H

#include <stdbool.h>

#include "src/views/measure.h"
#include "src/views/view.h"

/* What the tables of a view have in common. */
struct view_kind {
	const char *schema;	/* "cpprof.paths/1" */
	const char *title;	/* "Downward Call Path Profile" */
	uint32_t title_name;	/* the function that the title's bytes from */
	size_t title_name_begin;	/* here on are; 0: none */
	bool has_root;		/* it is about the request's root, or says that
				 * there is none */
	bool has_columns;	/* it shows the request's columns */
	bool ignores_inlined;	/* it shows the same whether inlined calls
				 * have names or not */
};

/*
 * Describes the view in the table: the fields root, resource.name, .gtick and
 * .interval, total, denominator, hidden and, where there are any, lost and
 * lost_samples; the header lines of the paper, and one for losses of more than
 * one percent, and for each column shown, or saying that the view has none; and
 * a footer with the number of records that are not shown, and why.  Does not
 * touch columns and rows.  0, or -1 with *error set.
 */
int view_describe(const struct view_request *request,
                  const struct view_kind *kind, const struct measure *measure,
                  const struct hidden *hidden, struct table *table,
                  struct error *error);

/*
 * The header line that a view has which shows no columns although they are on.
 * 0, or -1 with *error set.
 */
int view_add_lack_of_columns(const struct view_request *request,
                             struct table *table, struct error *error);

/*
 * What view_describe does for the root, for a view with a heading of its own:
 * the field, which is null without a root; the header line, which then says
 * that there is none.
 */
int view_add_root_field(const struct view_request *request, bool has_root,
                        struct table *table, struct error *error);
int view_add_root(const struct view_request *request, struct table *table,
                  struct error *error);

/* Likewise for the resource: the table's unit, and the fields. */
int view_add_resource(const struct sample_set *set, struct table *table,
                      struct error *error);

/* The header line of a function's code: what it used itself, and in all. */
int view_add_totals(const struct view_request *request,
                    const struct measure *measure, uint64_t self,
                    uint64_t inclusive, bool is_estimated,
                    struct table *table, struct error *error);

/* Likewise the footer with the records that are not shown. */
int view_add_hidden(const struct view_request *request,
                    const struct hidden *hidden, struct table *table,
                    struct error *error);

/*
 * Says in a footer which inlined functions are not among the names of the set,
 * and what would show them; adds the field modules_without_inlined if their
 * debug information is too large.  0, or -1 with *error set.
 */
int view_add_inlined(const struct sample_set *set, struct table *table,
                     struct error *error);

/*
 * If no row is shown because the root itself is below the threshold, adds a
 * footer that says so, and which threshold would show it.  One scan of the
 * labels.  0, or -1 with *error set.
 */
int view_explain_hidden_root(const struct view_request *request,
                             const struct measure *measure,
                             struct table *table, struct error *error);

/* What a record is. */
enum hidden_path {
	HIDDEN_NAME,	/* a function */
	HIDDEN_CALLER,	/* a path from a function to the root */
	HIDDEN_CALLEE,	/* a path from the root to a function */
};

/*
 * If no row is shown, adds a footer that says why: no function matches the
 * pattern, or all records are below the threshold; then it names the largest
 * and a threshold that would show it.  n_kept: the rows that are not below.
 * 0, or -1 with *error set.
 */
int view_explain_hidden_rows(const struct view_request *request,
                             const struct measure *measure,
                             const struct hidden *hidden, uint32_t n_kept,
                             enum hidden_path path, struct table *table,
                             struct error *error);

/* Whether the request's pattern, if it has one, matches the name. */
bool view_wants(const struct view_request *request, uint32_t name);

/*
 * A function's name as a string, complete even if it holds NULs; it lives as
 * long as table and names.  NULL with *error set.
 */
const char *view_name_text(const struct names *names, uint32_t name,
                           struct table *table, struct error *error);

/* 0 if the request has a root function, else -1 with *error set. */
int view_need_root(const struct view_request *request,
                   const struct table *table, struct error *error);

#endif
