/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sides.c -- two parts of one profile that are compared, by the values of a label.
 *
 * A step about the same label says which of its values take part.  A host that
 * a step drops is left out; it does not count as a run without hits.  So these
 * steps are done here, and the stacks that are compared have the label no more.
 */
#include "src/shell/session/comparison.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "src/base/memory.h"
#include "src/profile/sections.h"

/* ---- what is asked for ---- */

static int
sides_fill(struct sides *sides, int side, const struct pattern_word *word,
           struct error *error)
{
	struct text_buffer text = { 0 };

	sides->patterns[side] = section_pattern_new(SECTION_LABEL, word,
	                                            error);
	if (sides->patterns[side] == NULL)
		return -1;
	section_pattern_add_text(sides->patterns[side], &text);
	if (text.failed)
		error_out_of_memory(error);
	else
		sides->texts[side] = memory_string(text_string(&text) +
		                                   strlen("label "), error);
	text_free(&text);
	return sides->texts[side] != NULL ? 0 : -1;
}

/* Both patterns must be of one label. */
static int
check_keys(struct sides *sides, struct error *error)
{
	sides->key = section_pattern_key(sides->patterns[0]);
	if (sides->patterns[1] == NULL ||
	    strcmp(section_pattern_key(sides->patterns[1]), sides->key) == 0)
		return 0;
	return error_set(error, "both patterns must name the same label: "
	                 "%.60s=..., not %.60s", sides->key, sides->texts[1]);
}

struct sides *
sides_new(const struct pattern_word *base, const struct pattern_word *now,
          struct error *error)
{
	struct sides *sides = memory_array(1, sizeof *sides, error);

	if (sides == NULL)
		return NULL;
	if (sides_fill(sides, 0, base, error) == 0 &&
	    (now == NULL || sides_fill(sides, 1, now, error) == 0) &&
	    check_keys(sides, error) == 0)
		return sides;
	sides_free(sides);
	return NULL;
}

void
sides_free(struct sides *sides)
{
	if (sides == NULL)
		return;
	for (int side = 0; side < 2; side++) {
		section_pattern_free(sides->patterns[side]);
		free(sides->texts[side]);
	}
	free(sides->calls);
	free(sides);
}

struct sides *
sides_new_times(const struct side_time *times, const char *const *texts,
                struct error *error)
{
	struct sides *sides = memory_array(1, sizeof *sides, error);

	if (sides == NULL)
		return NULL;
	sides->are_times = true;
	sides->key = "time";
	for (int side = 0; side < 2 && texts[side] != NULL; side++) {
		sides->times[side] = times[side];
		sides->texts[side] = memory_string(texts[side], error);
	}
	if (!error->is_set)
		return sides;
	sides_free(sides);
	return NULL;
}

int
sides_slices(const struct sides *sides, const struct profile *profile,
             struct slice_set sets[2], struct error *error)
{
	const struct timeline *timeline = profile->tree == NULL ? NULL :
	                                  profile->tree->timeline;
	uint64_t all;

	if (timeline == NULL)
		return error_set(error, "the profile does not say when its "
		                 "hits were counted; \"help when\" names the "
		                 "formats that do");
	all = UINT64_MAX >> (TIMELINE_SLICES - timeline->n_slices);
	for (int side = 0; side < 2; side++) {
		if (side == 1 && sides->texts[1] == NULL)
			sets[1] = (struct slice_set){ ~sets[0].slices, true };
		else
			sets[side] = timeline_range(timeline,
			    sides->times[side].begin_ns,
			    sides->times[side].end_ns);
		if ((sets[side].slices & all) == 0)
			return error_set(error, "base time: the profile has "
			    "nothing of %.60s", sides->texts[side] != NULL ?
			    sides->texts[side] : "the rest of the run");
	}
	return 0;
}

static bool
is_about_key(const struct sides *sides, const struct step *step)
{
	const char *key = step->kind == STEP_SECTIONS ?
	    section_pattern_key(step->sections) : NULL;

	if (sides->are_times)
		return step->kind == STEP_TIME;
	return key != NULL && strcmp(key, sides->key) == 0;
}

struct step **
sides_other_steps(const struct sides *sides, struct step *const *steps,
                  size_t *n, struct error *error)
{
	struct step **others = memory_array(*n, sizeof *others, error);
	size_t n_others = 0;

	for (size_t i = 0; others != NULL && i < *n; i++)
		if (!is_about_key(sides, steps[i]))
			others[n_others++] = steps[i];
	*n = n_others;
	return others;
}

/* ---- which sections ---- */

/* What is known of each section while they are divided. */
struct chosen {
	const struct sides *sides;
	const struct profile *profile;
	bool *is_kept, *is_on[2];	/* [n_sections + 1] */
};

/* Steps that match nothing are skipped, here as elsewhere. */
static int
do_steps(struct chosen *chosen, struct step *const *steps, size_t n,
         struct error *error)
{
	uint32_t n_sections = chosen->profile->n_sections;
	bool *is_selected = memory_array(n_sections + (size_t)1,
	                                 sizeof *is_selected, error);
	int status = is_selected == NULL ? -1 : 0;

	for (uint32_t i = 0; i <= n_sections; i++)
		chosen->is_kept[i] = true;
	for (size_t k = 0; status >= 0 && k < n; k++) {
		struct error none = { 0 };

		if (!is_about_key(chosen->sides, steps[k]))
			continue;
		status = section_pattern_match(steps[k]->sections,
		    chosen->profile, is_selected, &none);
		if (status < 0)
			error_pass(error, &none);
		for (uint32_t i = 0; status == 0 && i <= n_sections; i++)
			chosen->is_kept[i] &= is_selected[i] !=
			                      steps[k]->drops;
	}
	free(is_selected);
	return status < 0 ? -1 : 0;
}

/* All that has a value of the key and is not in the base. */
static void
take_others(struct chosen *chosen)
{
	struct text_buffer text = { 0 };

	for (uint32_t i = 0; i <= chosen->profile->n_sections; i++)
		chosen->is_on[1][i] = !chosen->is_on[0][i] &&
		    section_add_value(chosen->profile, i, chosen->sides->key,
		                      &text);
	text_free(&text);
}

/* What is allocated stays the caller's, even if it fails. */
static int
sides_choose(struct chosen *chosen, struct step *const *steps, size_t n_steps,
             struct error *error)
{
	const struct sides *sides = chosen->sides;
	size_t n = chosen->profile->n_sections + (size_t)1;

	chosen->is_kept = memory_array(n, sizeof(bool), error);
	chosen->is_on[0] = memory_array(n, sizeof(bool), error);
	chosen->is_on[1] = memory_array(n, sizeof(bool), error);
	if (error->is_set || do_steps(chosen, steps, n_steps, error) != 0)
		return -1;
	for (int side = 0; side < 2; side++)
		if (sides->patterns[side] != NULL &&
		    section_pattern_match(sides->patterns[side],
		        chosen->profile, chosen->is_on[side], error) != 0)
			return -1;
	if (sides->patterns[1] == NULL)
		take_others(chosen);
	return 0;
}

/* ---- values ---- */

/* The number of a section's value on its side, entered if new; or NO_NAME. */
static uint32_t
sides_enter_value(const struct chosen *chosen, uint32_t section, int side,
                  struct division *division, struct error *error)
{
	struct text_buffer text = { 0 };
	uint32_t number;

	/* The numbers within a bound are one value. */
	if (chosen->sides->patterns[side] != NULL &&
	    section_pattern_is_bound(chosen->sides->patterns[side]))
		text_add_string(&text, chosen->sides->texts[side]);
	else if (!section_add_value(chosen->profile, section,
	                            chosen->sides->key, &text))
		text_add_string(&text, NO_VALUE);
	if (chosen->is_on[0][section] && chosen->is_on[1][section]) {
		error_set(error, "%.60s=%.60s matches both patterns; make them "
		          "disjoint", chosen->sides->key, text_string(&text));
		number = NO_NAME;
	} else if (text.failed) {
		error_out_of_memory(error);
		number = NO_NAME;
	} else {
		number = names_add(division->values[side], text_string(&text),
		                   text.length, error);
	}
	text_free(&text);
	return number;
}

/* Whether there are nodes outside all sections. */
static bool
has_outside(const struct profile *profile)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < profile->n_sections; i++)
		n += profile->sections[i].end - profile->sections[i].begin;
	return n < profile->tree->n_nodes;
}

/* Enters the values of all sections, whose column becomes the value's number. */
static int
enter_values(const struct chosen *chosen, struct division *division,
             struct error *error)
{
	uint32_t n = division->n_sections + has_outside(chosen->profile);

	division->column[division->n_sections] = NO_RESOURCE;
	for (uint32_t i = 0; i < n; i++) {
		int side = chosen->is_on[0][i] ? 0 : 1;

		division->column[i] = NO_RESOURCE;
		if (!chosen->is_kept[i] || !chosen->is_on[side][i])
			continue;
		division->column[i] = sides_enter_value(chosen, i, side,
		                                        division, error);
		if (division->column[i] == NO_NAME)
			return -1;
	}
	return 0;
}

static int
sides_check_values(const struct chosen *chosen, const struct division *division,
                   struct error *error)
{
	const struct sides *sides = chosen->sides;
	bool is_all_kept = memchr(chosen->is_kept, false,
	                          division->n_sections + (size_t)1) == NULL;

	for (int side = 0; side < 2; side++) {
		if (names_count(division->values[side]) > 0)
			continue;
		if (sides->texts[side] != NULL && is_all_kept)
			return error_set(error, "there are no stacks of %.200s "
			                 "to compare", sides->texts[side]);
		if (sides->texts[side] != NULL)
			return error_set(error, "the steps remove all stacks "
			                 "of %.200s; \"undo\" takes back the "
			                 "last step", sides->texts[side]);
		return error_set(error, "all values of %.60s match %.200s; "
		    "name what to compare with \"against\". Stacks without "
		    "the label are %.60s=" NO_VALUE, sides->key,
		    sides->texts[0], sides->key);
	}
	return 0;
}

static uint64_t
sides_hash_of(const struct names *names, uint32_t name)
{
	return XXH3_64bits(names_text(names, name), names_length(names, name));
}

static int
compare_hashes(const void *a, const void *b, void *context)
{
	uint64_t x = sides_hash_of(context, *(const uint32_t *)a);
	uint64_t y = sides_hash_of(context, *(const uint32_t *)b);

	return x != y ? (x < y ? -1 : 1) : names_compare_items(a, b, context);
}

/* Gives each value of a side a column; those of the base come first. */
static int
place_values(struct division *division, int side, struct error *error)
{
	struct names *values = division->values[side];
	uint32_t n = names_count(values), first = side * division->n[0];
	bool are_grouped = n > SIDE_VALUES_MAX;
	uint32_t *order = memory_array(n, sizeof *order, error);

	division->columns_of[side] = memory_array(n,
	    sizeof *division->columns_of[side], error);
	if (error->is_set) {
		free(order);
		return -1;
	}
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof *order, are_grouped ? compare_hashes :
	        names_compare_items, values);
	division->n[side] = are_grouped ? SIDE_GROUPS : n;
	for (uint32_t i = 0; i < n; i++)
		division->columns_of[side][order[i]] = first +
		    i % division->n[side];
	free(order);
	return 0;
}

/* How many values each column has, unless it is one everywhere. */
static int
sides_count_values(struct division *division, struct error *error)
{
	uint32_t n = division->n[0] + division->n[1];

	if (names_count(division->values[0]) == division->n[0] &&
	    names_count(division->values[1]) == division->n[1])
		return 0;
	division->sizes = memory_array(n, sizeof *division->sizes, error);
	if (division->sizes == NULL)
		return -1;
	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < names_count(division->values[side]);
		     i++)
			division->sizes[division->columns_of[side][i]]++;
	return 0;
}

static int
sides_divide_values(const struct chosen *chosen, struct division *division,
                    struct error *error)
{
	division->n_sections = chosen->profile->n_sections;
	division->column = memory_array(division->n_sections + (size_t)1,
	                                sizeof *division->column, error);
	division->values[0] = names_new(error);
	division->values[1] = names_new(error);
	if (error->is_set || enter_values(chosen, division, error) != 0 ||
	    sides_check_values(chosen, division, error) != 0 ||
	    place_values(division, 0, error) != 0 ||
	    place_values(division, 1, error) != 0 ||
	    sides_count_values(division, error) != 0)
		return -1;
	for (uint32_t i = 0; i <= division->n_sections; i++)
		if (division->column[i] != NO_RESOURCE)
			division->column[i] = division->columns_of[
			    chosen->is_on[0][i] ? 0 : 1][division->column[i]];
	return 0;
}

int
sides_divide(const struct sides *sides, const struct profile *profile,
             struct step *const *steps, size_t n_steps,
             struct division *division, struct error *error)
{
	struct chosen chosen = { .sides = sides, .profile = profile };
	int result = sides_choose(&chosen, steps, n_steps, error);

	*division = (struct division){ 0 };
	if (result == 0)
		result = sides_divide_values(&chosen, division, error);
	if (result != 0)
		division_free(division);
	free(chosen.is_kept);
	free(chosen.is_on[0]);
	free(chosen.is_on[1]);
	return result;
}

void
division_free(struct division *division)
{
	free(division->column);
	free(division->sizes);
	for (int side = 0; side < 2; side++) {
		names_free(division->values[side]);
		free(division->columns_of[side]);
	}
	*division = (struct division){ 0 };
}

uint32_t *
division_values(const struct division *division, int side, uint32_t *n,
                struct error *error)
{
	struct names *values = division->values[side];
	uint32_t *order;

	*n = names_count(values);
	order = memory_array(*n, sizeof *order, error);
	for (uint32_t i = 0; order != NULL && i < *n; i++)
		order[i] = i;
	if (order != NULL)
		qsort_r(order, *n, sizeof *order, names_compare_items, values);
	return order;
}

bool
division_equals(const struct division *a, const struct division *b)
{
	return a->n_sections == b->n_sections && a->n[0] == b->n[0] &&
	    a->n[1] == b->n[1] &&
	    memcmp(a->column, b->column, (a->n_sections + (size_t)1) *
	           sizeof *a->column) == 0;
}
