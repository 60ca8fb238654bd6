/* SPDX-License-Identifier: GPL-3.0-or-later */
/* column_list.c -- which resources views show side by side. */
#include "src/shell/session/session.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"

static void
formula_free(struct column_formula *formula)
{
	free(formula->name);
	free(formula->left);
	free(formula->right);
	*formula = (struct column_formula){ 0 };
}

void
column_list_free(struct column_list *list)
{
	for (size_t i = 0; i < list->n_formulas; i++)
		formula_free(&list->formulas[i]);
	free(list->formulas);
	memory_strings_free(list->names, list->n);
	*list = (struct column_list){ 0 };
}

/* The place of a formula, or n_formulas. */
static size_t
find_formula(const struct column_list *list, const char *name)
{
	size_t i = 0;

	while (i < list->n_formulas &&
	       strcmp(list->formulas[i].name, name) != 0)
		i++;
	return i;
}

const struct column_formula *
column_list_formula(const struct column_list *list, const char *name)
{
	size_t i = find_formula(list, name);

	return i < list->n_formulas ? &list->formulas[i] : NULL;
}

int
column_list_define(struct column_list *list,
                   const struct column_formula *formula, struct error *error)
{
	size_t i = find_formula(list, formula->name);
	struct column_formula copy = *formula;

	copy.name = memory_string(formula->name, error);
	copy.left = memory_string(formula->left, error);
	copy.right = memory_string(formula->right, error);
	if (copy.name == NULL || copy.left == NULL || copy.right == NULL ||
	    memory_grow(&list->formulas, &list->formulas_capacity, i + 1,
	                sizeof *list->formulas, error) != 0) {
		formula_free(&copy);
		return -1;
	}
	if (i < list->n_formulas)
		formula_free(&list->formulas[i]);
	else
		list->n_formulas++;
	list->formulas[i] = copy;
	return 0;
}

int
column_list_copy(struct column_list *copy, const struct column_list *list,
                 struct error *error)
{
	int status = 0;

	*copy = (struct column_list){ 0 };
	for (size_t i = 0; status == 0 && i < list->n_formulas; i++)
		status = column_list_define(copy, &list->formulas[i], error);
	if (status == 0)
		status = column_list_set(copy, (const char *const *)list->names,
		                         list->n, error);
	if (status != 0)
		column_list_free(copy);
	return status;
}

/* The place of a name in what is shown, or n. */
static size_t
column_list_find_name(const struct column_list *list, const char *name)
{
	size_t i = 0;

	while (i < list->n && strcmp(list->names[i], name) != 0)
		i++;
	return i;
}

void
column_list_forget(struct column_list *list, const char *name)
{
	size_t at = column_list_find_name(list, name),
	       i = find_formula(list, name);

	if (at < list->n) {
		free(list->names[at]);
		list->n--;
		memmove(&list->names[at], &list->names[at + 1],
		        (list->n - at) * sizeof *list->names);
	}
	if (i < list->n_formulas) {
		formula_free(&list->formulas[i]);
		list->n_formulas--;
		memmove(&list->formulas[i], &list->formulas[i + 1],
		        (list->n_formulas - i) * sizeof *list->formulas);
	}
}

int
column_list_set(struct column_list *list, const char *const *names, size_t n,
                struct error *error)
{
	char **copy = memory_strings(names, n, error);

	if (copy == NULL)
		return -1;
	memory_strings_free(list->names, list->n);
	list->names = copy;
	list->n = n;
	return 0;
}

/* The place of the first resource in the list, or n. */
static size_t
first_resource(const struct column_list *list)
{
	size_t i = 0;

	while (i < list->n &&
	       column_list_formula(list, list->names[i]) != NULL)
		i++;
	return i;
}

int
column_list_follow(struct column_list *list, const char *resource,
                   struct error *error)
{
	size_t first = first_resource(list),
	       at = column_list_find_name(list, resource);
	char *name;

	if (first == list->n || at == first)
		return 0;
	if (at < list->n) {
		name = list->names[first];
		list->names[first] = list->names[at];
		list->names[at] = name;
		return 0;
	}
	name = memory_string(resource, error);
	if (name == NULL)
		return -1;
	free(list->names[first]);
	list->names[first] = name;
	return 0;
}

/* ---- units ---- */

/* How one of a formula's two resources is counted. */
struct column_counted {
	enum unit_kind kind;
	long double gtick;	/* its size in ns or bytes; else 1 */
	long double unit;	/* likewise, of the unit that is shown */
	const char *name;	/* of that unit; "": gticks */
	bool is_named;		/* the formula's name says the unit */
};

static struct column_counted
counted_by(const struct resource *resource)
{
	struct column_counted counted = { .name = "" };

	counted.kind = unit_find(resource->gtick, strlen(resource->gtick),
	                         &counted.gtick, NULL);
	if (counted.kind == UNIT_IS_OTHER)
		counted.gtick = 1;
	counted.unit = counted.gtick;
	return counted;
}

/*
 * Takes the unit that a part of the formula's name is, if it is one.  0, or -1
 * with *error set: the resource does not count it.
 */
static int
take_unit(struct column_counted *counted, const struct column_formula *formula,
          const char *part, size_t n, const char *resource,
          struct error *error)
{
	long double size;
	const char *name;
	enum unit_kind kind = unit_find(part, n, &size, &name);

	if (kind == UNIT_IS_OTHER)
		return 0;
	if (kind != counted->kind)
		return error_set(error, "%.60s: %.60s does not count %s, so "
		                 "it cannot be in %s", formula->name,
		                 resource, kind == UNIT_IS_TIME ? "time" :
		                 "bytes", name);
	counted->unit = size;
	counted->name = name;
	counted->is_named = true;
	return 0;
}

/* Time is in ms and bytes are bytes, but what is per bytes is per KiB. */
static void
choose_unit(struct column_counted *counted, bool is_divisor)
{
	const char *usual = counted->kind == UNIT_IS_TIME ? "ms" :
	                    is_divisor ? "KiB" : "B";

	if (!counted->is_named && counted->kind != UNIT_IS_OTHER)
		unit_find(usual, strlen(usual), &counted->unit,
		          &counted->name);
}

/* The units in the name, as in faults/ms or MiB/s.  0, or -1 as above. */
static int
column_list_take_units(const struct column_formula *formula,
                       struct column_counted *left,
                       struct column_counted *right, struct error *error)
{
	const char *name = formula->name, *slash = strrchr(name, '/');

	if (!formula->is_ratio || slash == NULL)
		return 0;
	return take_unit(right, formula, slash + 1, strlen(slash + 1),
	                 formula->right, error) != 0 ||
	    take_unit(left, formula, name, (size_t)(slash - name),
	              formula->left, error) != 0 ? -1 : 0;
}

/*
 * Chooses the others.  Time / time and bytes / bytes are plain numbers unless
 * the name has both units.  A difference of unlike things is one of gticks.
 */
static void
choose_units(bool is_ratio, struct column_counted *left,
             struct column_counted *right)
{
	bool are_alike = left->kind == right->kind;

	if (is_ratio && are_alike && left->kind != UNIT_IS_OTHER &&
	    !(left->is_named && right->is_named)) {
		/* Only where it divides by 0 does the unit matter. */
		choose_unit(left, false);
		right->unit = left->unit;
		left->name = right->name = "";
	} else if (is_ratio || are_alike) {
		choose_unit(left, false);
		choose_unit(right, is_ratio);
	}
}

/* Fills in all but the sets. */
static int
column_list_derive(const struct column_formula *formula,
                   const struct resource *left, const struct resource *right,
                   struct shown_column *column, struct error *error)
{
	struct column_counted of_left = counted_by(left);
	struct column_counted of_right = counted_by(right);

	if (column_list_take_units(formula, &of_left, &of_right, error) != 0)
		return -1;
	choose_units(formula->is_ratio, &of_left, &of_right);
	*column = (struct shown_column){
		.name = formula->name,
		.kind = formula->is_ratio ? SHOWN_RATIO : SHOWN_DIFFERENCE,
		.left_scale = of_left.gtick / of_left.unit *
		    left->interval * formula->left_factor,
		.right_scale = of_right.gtick / of_right.unit *
		    right->interval * formula->right_factor,
		.left_factor = formula->left_factor,
		.right_factor = formula->right_factor,
		.left_unit = of_left.name,
		.right_unit = of_right.name,
	};
	return 0;
}

int
column_formula_check(const struct column_formula *formula,
                     const struct profile *profile, struct error *error)
{
	uint32_t left = profile_find_resource(profile, formula->left);
	uint32_t right = profile_find_resource(profile, formula->right);
	struct shown_column column;

	if (left == NO_RESOURCE || right == NO_RESOURCE)
		return error_set(error, "%.60s: the profile has no resource "
		                 "%.60s", formula->name,
		                 left == NO_RESOURCE ? formula->left :
		                 formula->right);
	return column_list_derive(formula, &profile->resources[left],
	                          &profile->resources[right], &column, error);
}

static void
add_factor(struct text_buffer *text, double factor, const char *name)
{
	if (factor != 1)
		text_add_format(text, "%.15g * ", factor);
	text_add_word(text, name, strlen(name));
}

void
text_add_formula(struct text_buffer *text,
                 const struct column_formula *formula)
{
	add_factor(text, formula->left_factor, formula->left);
	text_add_string(text, formula->is_ratio ? " / " : " - ");
	add_factor(text, formula->right_factor, formula->right);
}

/* ---- what a profile has of the list ---- */

/* The number of a resource's set, which is made if it has none. */
static uint32_t
column_list_set_of(struct shown_list *list, uint32_t resource)
{
	uint32_t i = 0;

	if (resource == list->resource)
		return 0;
	while (i < list->n_resources && list->resources[i] != resource)
		i++;
	if (i == list->n_resources)
		list->resources[list->n_resources++] = resource;
	return i + 1;
}

static void
show_formula(const struct column_formula *formula,
             const struct profile *profile, struct shown_list *list)
{
	struct shown_column *column = &list->shown[list->n_shown];
	uint32_t left = profile_find_resource(profile, formula->left);
	uint32_t right = profile_find_resource(profile, formula->right);
	struct error error = { 0 };

	if (left == NO_RESOURCE || right == NO_RESOURCE ||
	    column_list_derive(formula, &profile->resources[left],
	                       &profile->resources[right], column, &error) != 0)
		return;
	column->left = column_list_set_of(list, left);
	column->right = column_list_set_of(list, right);
	list->n_shown++;
}

static void
show_resource(const struct profile *profile, uint32_t resource,
              struct shown_list *list)
{
	list->shown[list->n_shown++] = (struct shown_column){
		.name = profile->resources[resource].name,
		.kind = SHOWN_HITS,
		.left = column_list_set_of(list, resource),
	};
}

/* The first resource of the list that the profile has, or NO_RESOURCE. */
static uint32_t
find_first(const struct column_list *list, const struct profile *profile)
{
	uint32_t found = NO_RESOURCE;

	for (size_t i = 0; found == NO_RESOURCE && i < list->n; i++)
		if (column_list_formula(list, list->names[i]) == NULL)
			found = profile_find_resource(profile,
			                              list->names[i]);
	return found;
}

void
column_list_show(const struct column_list *list,
                 const struct profile *profile, uint32_t resource,
                 struct shown_list *shown)
{
	uint32_t first = find_first(list, profile);

	*shown = (struct shown_list){
		.resource = first != NO_RESOURCE ? first : resource,
	};
	for (size_t i = 0; i < list->n; i++) {
		const struct column_formula *formula =
		    column_list_formula(list, list->names[i]);
		uint32_t found;

		if (formula != NULL) {
			show_formula(formula, profile, shown);
			continue;
		}
		found = profile_find_resource(profile, list->names[i]);
		if (found != NO_RESOURCE)
			show_resource(profile, found, shown);
	}
	if (first == NO_RESOURCE && shown->n_shown > 0)
		show_resource(profile, resource, shown);
}
