/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparison_scale.c -- what the amounts of compared runs are per. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"
#include "src/profile/large_array.h"
#include "src/shell/session/comparison.h"
#include "src/views/comparison/comparison.h"

void
comparison_scale_none(struct comparison *comparison)
{
	comparison->compared.work = comparison->shares;
	comparison->compared.scale = NULL;
	comparison->compared.work_hits[0] = 0;
	comparison->compared.work_hits[1] = 0;
}

/* Room for the work of each column; a run of the base did 1, one now `now`. */
static int
begin_scale(struct comparison *comparison, double now, struct error *error)
{
	const uint32_t n_base = comparison->n_runs[0];

	comparison_scale_none(comparison);
	text_free(&comparison->scale);
	free(comparison->work);
	comparison->work = memory_array(comparison->n_base + comparison->n_now,
	                                sizeof *comparison->work, error);
	if (comparison->work == NULL)
		return -1;
	for (uint32_t i = 0; i < n_base + comparison->n_runs[1]; i++)
		comparison->work[i] = i < n_base ? 1 : now;
	return 0;
}

/* 0, or -1 with *error set if its text is not whole. */
static int
use_scale(struct comparison *comparison, struct error *error)
{
	const char *text = text_string(&comparison->scale);

	if (comparison->scale.failed)
		return error_out_of_memory(error);
	comparison->compared.work = comparison->work;
	comparison->compared.scale = text;
	return 0;
}

/* Whole runs, where columns may be groups of one. */
struct whole_runs {
	uint32_t n;
	struct sample_set *sets;	/* [n] those of the base first */
	uint64_t *self[2], *sums[2];	/* of a side that has groups */
};

static void
whole_runs_free(struct whole_runs *whole)
{
	free(whole->sets);
	for (int side = 0; side < 2; side++) {
		free(whole->self[side]);
		large_array_free(whole->sums[side]);
	}
}

/*
 * The columns of each side as runs: if these are groups of one, their sum.
 * Call whole_runs_free even if it fails.
 */
static int
find_whole_runs(struct whole_runs *whole, const struct comparison *comparison,
                struct error *error)
{
	const uint32_t n_columns[2] = { comparison->n_base, comparison->n_now };
	const struct sample_set *columns = comparison->runs;
	const struct sample_tree *tree = columns->tree;

	*whole = (struct whole_runs){ 0 };
	whole->sets = memory_array(n_columns[0] + n_columns[1],
	                           sizeof *whole->sets, error);
	if (whole->sets == NULL)
		return -1;
	for (int side = 0; side < 2; columns += n_columns[side++]) {
		const uint32_t n = n_columns[side];
		struct sample_set *set = &whole->sets[whole->n];
		uint64_t *self;

		if (n <= comparison->n_runs[side]) {
			memcpy(set, columns, n * sizeof *set);
			whole->n += n;
			continue;
		}
		self = memory_array(tree->n_rows, sizeof *self, error);
		whole->self[side] = self;
		if (self == NULL)
			return -1;
		*set = columns[0];
		set->total = set->left = set->n_samples = 0;
		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t row = 0; row < tree->n_rows; row++)
				self[row] += columns[i].self[row];
			set->total += columns[i].total;
			set->left += columns[i].left;
			set->n_samples += columns[i].n_samples;
		}
		set->self = self;
		set->sums = whole->sums[side] =
		    sample_tree_new_sums(tree, self, error);
		if (set->sums == NULL)
			return -1;
		whole->n++;
	}
	return 0;
}

/*
 * Turns the work of the runs, which is at the start of comparison->work, into
 * that of the columns: a group gets its part of its run's.
 */
static void
spread_work(struct comparison *comparison)
{
	uint32_t n_base = comparison->n_base, n_now = comparison->n_now;
	bool base_is_one = n_base > comparison->n_runs[0];
	bool now_is_one = n_now > comparison->n_runs[1];
	const double *shares = comparison->shares;

	/* From the end, since a run comes no later than its columns. */
	for (uint32_t i = n_base + n_now; shares != NULL && i-- > 0;) {
		uint32_t run = i < n_base ? (base_is_one ? 0 : i) :
		    comparison->n_runs[0] + (now_is_one ? 0 : i - n_base);

		comparison->work[i] = comparison->work[run] * shares[i];
	}
}

/*
 * The mean work of a run now, before it is spread.  Columns of several values
 * are what was counted, so theirs is by value.
 */
static double
work_now(const struct comparison *comparison)
{
	double sum = 0, n = comparison->n_runs[1];

	for (uint32_t i = 0; i < comparison->n_runs[1]; i++)
		sum += comparison->work[comparison->n_runs[0] + i];
	if (comparison->sides != NULL)
		n = (double)comparison->values.n[1];
	return sum / n;
}

/* From the work of columns of which each of the base did 1 on average. */
static void
count_by_value(struct comparison *comparison)
{
	double values = (double)comparison->values.n[0];

	for (uint32_t i = 0; i < comparison->n_base + comparison->n_now; i++)
		comparison->work[i] *= values / comparison->n_base;
}

int
comparison_scale_work(struct comparison *comparison, double work,
                      struct error *error)
{
	if (begin_scale(comparison, work, error) != 0)
		return -1;
	spread_work(comparison);
	text_add_format(&comparison->scale, "per unit of work, of which a run "
	                "now does %.6g times that of the base", work);
	return use_scale(comparison, error);
}

int
comparison_scale_calls(struct comparison *comparison, struct error *error)
{
	const double *n_calls = comparison->sides->n_calls;

	if (begin_scale(comparison, n_calls[1] / n_calls[0], error) != 0)
		return -1;
	text_add_format(&comparison->scale, "calls as many as the base has, "
	                "%.4g; now has %.4g", n_calls[0], n_calls[1]);
	return use_scale(comparison, error);
}

/*
 * Ends the scale's text with " (+-2.1%)" if that is known; then the work of
 * runs becomes that of columns.
 */
static int
end_scale(struct comparison *comparison, const struct whole_runs *whole,
          struct error *error)
{
	double uncertain = work_uncertainty(whole->sets, whole->n,
	    comparison->compared.work_hits);

	if (isfinite(uncertain)) {
		text_add_string(&comparison->scale, " (+-");
		text_add_rough_percent(&comparison->scale, uncertain);
		text_add_char(&comparison->scale, ')');
	}
	if (comparison->sides == NULL)
		spread_work(comparison);
	return use_scale(comparison, error);
}

/* Columns that the name of a function takes at most. */
enum { LONGEST_NAME = 120 };

static void
add_use_of(struct comparison *comparison, uint32_t function)
{
	const struct names *names = comparison->subject.profile->names;
	struct text_buffer name = { 0 }, *text = &comparison->scale;

	text_add_printable(&name, names_text(names, function),
	                   names_length(names, function));
	text_add_string(text, "per use of ");
	text_add_elided(text, name.bytes, name.length, LONGEST_NAME);
	text_add_format(text, ", of which a run now has %.4g times that of "
	                "the base", work_now(comparison));
	text->failed |= name.failed;
	text_free(&name);
}

int
comparison_scale_by(struct comparison *comparison, uint32_t function,
                    struct error *error)
{
	struct whole_runs whole = { 0 };
	int result = -1;

	if (begin_scale(comparison, 1, error) == 0 &&
	    find_whole_runs(&whole, comparison, error) == 0)
		result = work_by_function(whole.sets, whole.n,
		    comparison->n_runs[0], function, comparison->work,
		    comparison->compared.work_hits, error);
	if (result == 0 && comparison->sides != NULL)
		count_by_value(comparison);
	if (result == 0) {
		add_use_of(comparison, function);
		result = end_scale(comparison, &whole, error);
	}
	whole_runs_free(&whole);
	return result;
}

int
comparison_scale_robust(struct comparison *comparison, struct error *error)
{
	struct whole_runs whole = { 0 };
	int result = -1;

	if (begin_scale(comparison, 1, error) == 0 &&
	    find_whole_runs(&whole, comparison, error) == 0)
		result = work_robust(whole.sets, whole.n, comparison->n_runs[0],
		                     comparison->work,
		                     comparison->compared.work_hits, error);
	if (result == 0 && comparison->sides != NULL)
		count_by_value(comparison);
	if (result == 0) {
		text_add_format(&comparison->scale, "robust: by most "
		    "functions, a run now does %.4g times the work of one of "
		    "the base", work_now(comparison));
		result = end_scale(comparison, &whole, error);
	}
	whole_runs_free(&whole);
	return result;
}
