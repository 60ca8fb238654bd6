/* SPDX-License-Identifier: GPL-3.0-or-later */
/* column_list.h -- which resources views show side by side.
 *
 * The list has names of resources and of formulas, which the user has defined:
 * A / B or N * A - M * B of two resources.  All are kept as texts, so that they
 * survive another profile; what that lacks is passed over.
 *
 * The current resource is the first one in the list (column_list_follow).
 */
#ifndef CPPROF_SHELL_SESSION_COLUMN_LIST_H
#define CPPROF_SHELL_SESSION_COLUMN_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/text_buffer.h"
#include "src/profile/profile.h"
#include "src/views/view.h"

/* One is left for the current resource, which is always shown. */
enum { COLUMN_LIST_MAX = SHOWN_COLUMNS_MAX - 1 };

/* Factors are below it, so that no value can become infinite. */
#define COLUMN_FACTOR_MOST 1e15

struct column_formula {
	char *name;
	char *left, *right;	/* resources */
	double left_factor, right_factor;	/* positive */
	bool is_ratio;		/* else a difference */
};

/* Start with { 0 }. */
struct column_list {
	struct column_formula *formulas;	/* [n_formulas] */
	size_t n_formulas, formulas_capacity;
	char **names;		/* [n] what is shown, in order; n is 0: columns
				 * are off */
	size_t n;
};

void column_list_free(struct column_list *list);

/* A copy.  0, or -1 with *error set and nothing to free. */
int column_list_copy(struct column_list *copy, const struct column_list *list,
                     struct error *error);

/* The formula of that name, or NULL. */
const struct column_formula *
column_list_formula(const struct column_list *list, const char *name);

/*
 * Adds a copy of a formula, or replaces the one of that name.  0, or -1 with
 * *error set.
 */
int column_list_define(struct column_list *list,
                       const struct column_formula *formula,
                       struct error *error);

/* Removes a formula, also from what is shown. */
void column_list_forget(struct column_list *list, const char *name);

/* Copies the names to show.  0, or -1 with *error set and nothing changed. */
int column_list_set(struct column_list *list, const char *const *names,
                    size_t n, struct error *error);

/*
 * Another resource became the current one: if it is in the list, it changes
 * places with the first resource there, else it takes its place.  0, or -1 with
 * *error set and nothing changed.
 */
int column_list_follow(struct column_list *list, const char *resource,
                       struct error *error);

/*
 * Whether a formula has a value in a profile; else -1 with *error saying why
 * not: it lacks a resource, or counts none of the units in the name.
 */
int column_formula_check(const struct column_formula *formula,
                         const struct profile *profile, struct error *error);

/* Adds "A / B" or "4 * A - B" as it is typed. */
void text_add_formula(struct text_buffer *text,
                      const struct column_formula *formula);

/* What a list shows of a profile. */
struct shown_list {
	uint32_t resource;	/* that is or becomes the current one */
	struct shown_column shown[SHOWN_COLUMNS_MAX];
	size_t n_shown;
	uint32_t resources[COLUMN_SETS_MAX];	/* of the sets besides it */
	size_t n_resources;
};

/*
 * resource: the current one, if the list names none that the profile has.  The
 * names are borrowed from the list.  O(names).
 */
void column_list_show(const struct column_list *list,
                      const struct profile *profile, uint32_t resource,
                      struct shown_list *shown);

#endif
