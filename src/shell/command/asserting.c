/* SPDX-License-Identifier: GPL-3.0-or-later */
/* asserting.c -- whether claims hold for the loaded profile. */
#include "src/shell/command/asserting.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"
#include "src/formats/format.h"
#include "src/profile/fleet.h"
#include "src/shell/command/resolve.h"
#include "src/views/comparison/comparison.h"
#include "src/views/hits/hits.h"

enum verdict { VERDICT_HOLDS, VERDICT_VIOLATED, VERDICT_UNDECIDED };

static const char *const verdict_names[] = { "holds", "violated", "undecided" };

/* ---- one row ---- */

/* What an assertion says of one function or path. */
struct asserting_finding {
	enum verdict verdict;
	const char *why;		/* undecided: why; or NULL */
	struct estimate estimate;	/* in the bound's unit */
	bool has_value, has_interval;
};

static double
asserting_interval_of(const struct asserting *asserting)
{
	return (double)asserting->request.set->resource->interval;
}

/* The part of an amount that is asserted: that of so many members. */
static double
asserting_part_of(const struct asserting *asserting)
{
	return asserting->n_members == 0 ? 1 :
	       (double)asserting->for_members / (double)asserting->n_members;
}

struct estimate
asserting_hits(const struct asserting *asserting,
               const struct noisy_amount *of, double z)
{
	struct estimate estimate = noise_hits(&asserting->noise, of, z);
	double part = asserting_part_of(asserting);

	estimate.value *= part;
	estimate.low *= part;
	estimate.high *= part;
	return estimate;
}

/* The value in the bound's unit, with an interval if chance has made it. */
static struct estimate
estimate_of(const struct asserting *asserting,
            const struct assertion *assertion, const struct noisy_amount *of)
{
	double gticks = asserting_interval_of(asserting);
	struct estimate estimate;

	if (assertion->is_share)
		return noise_share(&asserting->noise, of, ESTIMATE_95);
	estimate = asserting_hits(asserting, of, ESTIMATE_95);
	estimate.value *= gticks;
	estimate.low *= gticks;
	estimate.high *= gticks;
	return estimate;
}

static enum verdict
asserting_decide(const struct assertion *assertion,
                 const struct estimate *estimate)
{
	if (assertion->is_above)
		return estimate->low > assertion->bound ? VERDICT_HOLDS :
		       estimate->high <= assertion->bound ? VERDICT_VIOLATED :
		       VERDICT_UNDECIDED;
	return estimate->high < assertion->bound ? VERDICT_HOLDS :
	       estimate->low >= assertion->bound ? VERDICT_VIOLATED :
	       VERDICT_UNDECIDED;
}

/* Why nothing is known of how far off a value may be; NULL: it is known. */
static const char *
why_unknown(const struct asserting *asserting, const struct noisy_amount *of,
            const struct estimate *estimate)
{
	const struct view_request *request = &asserting->request;
	const enum noise_source source = asserting->noise.source;

	if (of->amount.is_estimated)
		return "its value is an estimate";
	if (request->no_groups != NULL)
		return request->no_groups;
	if (isnan(estimate->low))
		return source == NOISE_OF_RUNS ? "no run has hits of it, and "
		    "the files do not say how their numbers were sampled" :
		    "fewer than two random groups of the members have hits "
		    "of it";
	if (source == NOISE_OF_SAMPLING &&
	    request->set->resource->counting == COUNTING_UNKNOWN)
		return "the file does not say how its numbers were sampled";
	return NULL;
}

bool
asserting_is_exact(const struct asserting *asserting,
                   const struct estimate *estimate)
{
	const enum noise_source source = asserting->noise.source;

	return asserting->request.set->resource->counting == COUNTING_EXACT &&
	    (source == NOISE_OF_SAMPLING ||
	     (source == NOISE_OF_RUNS && isnan(estimate->low)));
}

static struct asserting_finding
judge(const struct asserting *asserting, const struct assertion *assertion,
      const struct noisy_amount *of)
{
	const enum noise_source source = asserting->noise.source;
	struct asserting_finding finding = { .verdict = VERDICT_UNDECIDED };

	if (!of->amount.is_seen) {
		finding.why = "no stack has it";
		return finding;
	}
	if (assertion->is_share && asserting->noise.whole.hits == 0) {
		finding.why = "there are no hits, so there are no shares";
		return finding;
	}
	finding.has_value = true;
	finding.estimate = estimate_of(asserting, assertion, of);
	if (asserting_is_exact(asserting, &finding.estimate))
		finding.estimate.low = finding.estimate.high =
		    finding.estimate.value;
	finding.why = why_unknown(asserting, of, &finding.estimate);
	if (finding.why != NULL)
		return finding;
	finding.has_interval = true;
	finding.verdict = asserting_decide(assertion, &finding.estimate);
	if (finding.verdict == VERDICT_UNDECIDED)
		finding.why = source == NOISE_OF_GROUPS ?
		    "the bound is inside the interval: merge more members" :
		    source == NOISE_OF_RUNS ?
		    "the bound is inside the interval: record longer, or more runs" :
		    "the bound is inside the interval: record longer";
	return finding;
}

static void
add_quantity(struct text_buffer *text, const struct asserting *asserting,
             const struct assertion *assertion, double quantity)
{
	const char *gtick = asserting->request.set->resource->gtick;

	if (assertion->is_share)
		text_add_format(text, "%.4g%%", quantity * 100);
	else
		text_add_gticks(text, quantity < 0x1p64 ?
		                (uint64_t)(quantity + 0.5) : UINT64_MAX, 1,
		                gtick);
}

/* A change has a sign. */
static void
add_signed(struct text_buffer *text, const struct asserting *asserting,
           const struct assertion *assertion, double quantity)
{
	if (assertion->is_change)
		text_add_char(text, quantity < 0 ? '-' : '+');
	add_quantity(text, asserting, assertion, fabs(quantity));
}

/* "7.31% (95%: 6.5% to 8.2%)" */
static void
add_result(struct text_buffer *text, const struct asserting *asserting,
           const struct assertion *assertion,
           const struct asserting_finding *finding)
{
	const struct estimate *estimate = &finding->estimate;

	if (finding->has_value)
		add_signed(text, asserting, assertion, estimate->value);
	if (finding->has_interval && estimate->low < estimate->high) {
		text_add_string(text, " (95%: ");
		add_signed(text, asserting, assertion, estimate->low);
		text_add_string(text, " to ");
		add_signed(text, asserting, assertion, estimate->high);
		text_add_char(text, ')');
	}
	if (finding->has_value && !assertion->is_share &&
	    !assertion->is_change) {
		/*
		 * What an amount is the sum of, if that is more than one run.
		 * How many members have a label is not known, as little as
		 * their groups.
		 */
		if (asserting->n_runs > 1)
			text_add_format(text, " in %zu runs together",
			                asserting->n_runs);
		else if (asserting->for_members != asserting->n_members)
			text_add_format(text,
			                " per %" PRIu64 " members (the profile "
			                "has %" PRIu64 ")",
			                asserting->for_members,
			                asserting->n_members);
		else if (asserting->n_members > 1 &&
		         asserting->request.no_groups == NULL)
			text_add_format(text,
			                " in %" PRIu64 " members together",
			                asserting->n_members);
	}
	if (finding->why != NULL)
		text_add_format(text, "%s%s", finding->has_value ? "; " : "",
		                finding->why);
}

/* "functions malloc below 5%"; n 0: with the words as typed. */
static void
asserting_add_claim(struct text_buffer *text, const struct assertion *assertion,
                    const struct names *names, const uint32_t *path, size_t n)
{
	bool is_path = assertion->view == ASSERT_PATH;

	text_add_format(text, "%s%s %s", assertion->is_change ? "change " : "",
	                assertion_views[assertion->view], is_path ? "(" : "");
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			text_add_char(text, ' ');
		text_add_word(text, names_text(names, path[i]),
		              names_length(names, path[i]));
	}
	for (size_t i = 0; n == 0 && i < assertion->n_words; i++) {
		const struct pattern_word *word = &assertion->words[i];

		if (i > 0)
			text_add_char(text, ' ');
		if (word->is_exact)
			text_add_word(text, word->text, word->length);
		else
			text_add_string(text, word->text);
	}
	text_add_format(text, "%s %s %s", is_path ? ")" : "",
	                assertion->is_above ? "above" : "below",
	                assertion->bound_text);
}

static struct cell
number_cell(bool is_known, double number)
{
	return is_known ? cell_fraction(number) :
	       (struct cell){ .kind = CELL_EMPTY };
}

/* path[n]: the names; n 0: what was typed does not occur. */
static int
add_finding(struct asserting *asserting, const struct assertion *assertion,
            const struct asserting_finding *finding, const uint32_t *path,
            size_t n, struct error *error)
{
	struct table *table = asserting->table;
	const struct names *names = asserting->request.set->names;
	struct text_buffer claim = { 0 }, result = { 0 };
	const char *claim_text, *result_text;
	struct cell path_of = { .kind = CELL_EMPTY };

	asserting_add_claim(&claim, assertion, names, path, n);
	add_result(&result, asserting, assertion, finding);
	claim_text = text_move(&claim, &table->arena, error);
	result_text = text_move(&result, &table->arena, error);
	if (n > 0)
		path_of = table_path(table, names, path, n, error);
	if (error->is_set)
		return -1;
	asserting->n_violated += finding->verdict == VERDICT_VIOLATED;
	asserting->n_undecided += finding->verdict == VERDICT_UNDECIDED;
	return table_add_row(table, (struct cell[]){
		cell_text(verdict_names[finding->verdict]),
		cell_text(claim_text),
		path_of,
		number_cell(finding->has_value, finding->estimate.value),
		number_cell(finding->has_interval, finding->estimate.low),
		number_cell(finding->has_interval, finding->estimate.high),
		cell_fraction(assertion->bound),
		cell_text(assertion->is_share ? "share" :
		          asserting->request.set->resource->gtick),
		finding->why != NULL ? cell_text(finding->why) :
		    (struct cell){ .kind = CELL_EMPTY },
		cell_text(result_text),
	}, error);
}

/* ---- all rows of an assertion ---- */

int
asserting_begin(struct asserting *asserting, struct session *session,
                struct table *table, struct error *error)
{
	static const struct column columns[] = {
		{ "verdict", "verdict", .kind = CELL_TEXT },
		{ "assertion", "assertion", .kind = CELL_TEXT },
		{ "path", "path", .kind = CELL_PATH, .is_data_only = true },
		{ "value", "value", .kind = CELL_FRACTION,
		  .is_data_only = true },
		{ "low", "low", .kind = CELL_FRACTION, .is_data_only = true },
		{ "high", "high", .kind = CELL_FRACTION, .is_data_only = true },
		{ "bound", "bound", .kind = CELL_FRACTION,
		  .is_data_only = true },
		{ "unit", "unit", .kind = CELL_TEXT, .is_data_only = true },
		{ "why", "why", .kind = CELL_TEXT, .is_data_only = true },
		{ "result", "result", .kind = CELL_TEXT, .is_text_only = true },
	};
	struct run_list list;
	int status;

	*asserting = (struct asserting){ .session = session, .table = table };
	if (session_need_profile(session, error) != 0)
		return -1;
	/* How many runs were loaded, which views show as a sum. */
	list = (struct run_list){ 0 };
	status = run_list_add_paths(&list, (const char *const *)session->files,
	                            session->n_files, error);
	asserting->n_runs = list.n;
	run_list_free(&list);
	if (status != 0)
		return -1;
	asserting->request = session_request(session);
	/* Several merged profiles are one of all their members. */
	if (session->subject->profile->fleet != NULL) {
		asserting->n_runs = 1;
		asserting->n_members = asserting->for_members =
		    session->subject->profile->fleet->n_members;
	}
	table->schema = "cpprof.assert/1";
	table->is_plain = true;
	table_add_columns(table, columns, sizeof columns / sizeof *columns);
	return table_add_field(table, "resource", NULL, cell_text(
	    asserting->request.set->resource->name), error);
}

void
asserting_end(struct asserting *asserting)
{
	struct session *session = asserting->session;

	noise_free(&asserting->noise);
	if (session->is_interactive)
		return;
	session->has_violated |= asserting->n_violated > 0;
	session->has_undecided |= asserting->n_undecided > 0;
}

int
asserting_count(struct asserting *asserting, struct error *error)
{
	const struct sample_set *runs = NULL;
	size_t n_runs = 0;

	if (asserting->is_counted)
		return 0;
	if (session_noise_request(asserting->session, &asserting->request,
	                          error) != 0)
		return -1;
	if (asserting->n_runs > 1) {
		runs = session_runs(asserting->session, &n_runs, error);
		if (runs == NULL)
			return -1;
	}
	asserting->is_counted = noise_make(&asserting->noise,
	                                   &asserting->request, runs, n_runs,
	                                   error) == 0;
	if (!asserting->is_counted)
		noise_free(&asserting->noise);
	return asserting->is_counted ? 0 : -1;
}

/* ---- rows ---- */

/* The functions or paths that an assertion is about. */
struct claimed {
	size_t n;
	const uint32_t *names;	/* row i: names[ends[i - 1]] to [ends[i]] */
	const size_t *ends;	/* [n] */
};

static const uint32_t *
claimed_path(const struct claimed *claimed, size_t row, size_t *n)
{
	size_t begin = row == 0 ? 0 : claimed->ends[row - 1];

	*n = claimed->ends[row] - begin;
	return claimed->names + begin;
}

/* The views whose rows are paths. */
static view_function *const path_views[] = {
	[ASSERT_DOWN] = view_down, [ASSERT_UP] = view_up,
	[ASSERT_CALLERS] = view_callers, [ASSERT_CALLEES] = view_callees,
	[ASSERT_CHANGE] = NULL,
};

static int
claim_rows(struct claimed *claimed, const struct table *table,
           struct arena *arena, struct error *error)
{
	size_t *ends = arena_alloc(arena, (table->n_rows + 1) * sizeof *ends,
	                           error);
	struct cell cells[TABLE_MAX_COLUMNS];
	const struct cell *cell = &cells[table_handle_column(table)];
	uint32_t *names;
	size_t all = 0;

	if (ends == NULL)
		return -1;
	for (size_t i = 0; i < table->n_rows; i++) {
		table_get_row(table, i, cells);
		ends[i] = all += call_paths_length(cell->path.paths,
		                                   cell->path.record);
	}
	names = arena_alloc(arena, (all + 1) * sizeof *names, error);
	if (names == NULL)
		return -1;
	for (size_t i = 0; i < table->n_rows; i++) {
		table_get_row(table, i, cells);
		call_paths_get(cell->path.paths, cell->path.record,
		               names + (i == 0 ? 0 : ends[i - 1]));
	}
	*claimed = (struct claimed){ table->n_rows, names, ends };
	return 0;
}

/*
 * The paths that a view shows around a function; if all are below the
 * threshold, the first of them, so that there is something to decide.
 */
static int
asserting_find_rows(const struct asserting *asserting, enum assertion_view view,
                    uint32_t function, struct claimed *claimed,
                    struct arena *arena, struct error *error)
{
	struct view_request request = asserting->request;
	struct table table = { 0 };
	int status;

	request.root = function;
	request.folds_chains = false;
	request.has_when = request.has_noise = false;
	if (request.groups != NULL) {	/* the rows are asked one by one */
		request.n_columns -= request.groups->n;
		request.groups = NULL;
	}
	status = path_views[view](&request, &table, error);
	if (status == 0 && table.n_rows == 0) {
		table_free(&table);
		table = (struct table){ 0 };
		request.threshold = 0;
		request.limit = 1;
		status = path_views[view](&request, &table, error);
	}
	if (status == 0)
		status = claim_rows(claimed, &table, arena, error);
	table_free(&table);
	return status;
}

/* ---- changes ---- */

/* What the runs have of the rows. */
struct counts {
	struct rows rows;	/* columns: hits in the runs; is_estimated: in
				 * one of them */
	bool *occurs;		/* [n] in a stack with hits of one of them */
};

static int
asserting_count_functions(const struct sample_set *run,
                          const struct assertion *assertion,
                          const struct claimed *claimed, struct counts *counts,
                          uint64_t *column, struct error *error)
{
	const bool is_body = assertion->view == ASSERT_BODY;
	uint32_t n;
	struct function_total *totals = function_totals(run, &n, error);
	/* Of each name, from 1; 0: it has no total. */
	uint32_t *place = memory_array(names_count(run->names), sizeof *place,
	                               error);

	for (uint32_t i = 0; !error->is_set && i < n; i++)
		place[totals[i].name] = i + 1;
	for (size_t row = 0; !error->is_set && row < claimed->n; row++) {
		const uint32_t at = place[claimed->names[row]];

		if (at == 0)
			continue;
		column[row] = is_body ? totals[at - 1].self :
		    totals[at - 1].inclusive;
		counts->occurs[row] |= totals[at - 1].inclusive > 0;
		counts->rows.items[row].is_estimated |= !is_body &&
		    totals[at - 1].is_estimated;
	}
	free(totals);
	free(place);
	return error->is_set ? -1 : 0;
}

static int
asserting_count_paths(const struct sample_set *run,
                      const struct claimed *claimed, struct counts *counts,
                      uint64_t *column, struct error *error)
{
	for (size_t row = 0; row < claimed->n; row++) {
		struct amount amount;
		size_t n;
		const uint32_t *path = claimed_path(claimed, row, &n);

		if (amount_of_path(run, path, n, &amount, error) != 0)
			return -1;
		column[row] = amount.sampled.hits;
		counts->occurs[row] |= amount.sampled.hits > 0;
		counts->rows.items[row].is_estimated |= amount.is_estimated;
	}
	return 0;
}

/* What is allocated stays the caller's, even if it fails. */
static int
count_rows(const struct view_request *request,
           const struct assertion *assertion, const struct claimed *claimed,
           struct counts *counts, struct error *error)
{
	const bool are_paths = assertion->view == ASSERT_PATH;

	*counts = (struct counts){
		.occurs = memory_array(claimed->n, sizeof *counts->occurs,
		                       error),
	};
	if (counts->occurs == NULL ||
	    rows_make(&counts->rows, request->set, (uint32_t)claimed->n,
	              error) != 0 ||
	    rows_make_columns(&counts->rows, request, (uint32_t)claimed->n,
	                      error) != 0)
		return -1;
	counts->rows.n = (uint32_t)claimed->n;
	for (size_t i = 0; i < request->n_columns; i++) {
		const struct sample_set *run = &request->columns[i];
		uint64_t *column = counts->rows.columns[i];

		if ((are_paths ?
		         asserting_count_paths(run, claimed, counts, column,
		                               error) :
		         asserting_count_functions(run, assertion, claimed,
		                                   counts, column, error)) != 0)
			return -1;
	}
	return 0;
}

/* Whether the runs' numbers are exact, so that they decide by themselves. */
static bool
asserting_are_exact(const struct view_request *request)
{
	for (size_t i = 0; i < request->n_columns; i++)
		if (request->columns[i].resource->counting != COUNTING_EXACT)
			return false;
	return true;
}

/* What a comparison says of a row, in the bound's unit. */
static struct asserting_finding
judge_change(const struct asserting *asserting,
             const struct assertion *assertion, const struct change *change,
             bool occurs, bool is_estimated)
{
	const struct view_request *request = &asserting->request;
	struct asserting_finding finding = { .verdict = VERDICT_UNDECIDED };
	double unit = asserting_interval_of(asserting), whole;

	if (assertion->is_share) {
		whole = compare_whole(request);
		unit = whole > 0 ? 1 / whole : 0;
	}
	if (!occurs) {
		finding.why = "no run has hits of it";
		return finding;
	}
	if (unit == 0) {
		finding.why = "the base has no hits, so there are no shares";
		return finding;
	}
	finding.has_value = true;
	finding.estimate = (struct estimate){ change->change * unit,
		change->low * unit, change->high * unit };
	if (is_estimated) {
		finding.why = "its value is an estimate";
		return finding;
	}
	if (isnan(change->low) && asserting_are_exact(request)) {
		finding.estimate.low = finding.estimate.high =
		    finding.estimate.value;
	} else if (isnan(change->low)) {
		finding.why = "the files do not say how their numbers were "
		    "sampled, and there is one run on each side";
		return finding;
	}
	finding.has_interval = true;
	finding.verdict = asserting_decide(assertion, &finding.estimate);
	if (finding.verdict == VERDICT_UNDECIDED)
		finding.why = "the bound is inside the interval: record "
		    "longer, or more runs";
	/* The interval has nothing of how equal runs differ. */
	if (finding.verdict == VERDICT_VIOLATED &&
	    change->verdict == CHANGE_NEEDS_RUNS) {
		finding.verdict = VERDICT_UNDECIDED;
		finding.why = "one run on each side, and equal runs may differ "
		    "as much: compare three of each (record --repeat 3)";
	}
	return finding;
}

/* The request compares. */
static int
check_changes(struct asserting *asserting, const struct assertion *assertion,
              const struct claimed *claimed, struct error *error)
{
	const struct view_request *request = &asserting->request;
	struct compared_rows compared = { 0 };
	struct counts counts;
	int status = count_rows(request, assertion, claimed, &counts, error);

	if (status == 0)
		status = compare_rows(request, &counts.rows, &compared, error);
	for (size_t i = 0; status == 0 && i < claimed->n; i++) {
		const struct asserting_finding finding = judge_change(asserting,
		    assertion, &compared.changes[i], counts.occurs[i],
		    counts.rows.items[i].is_estimated);
		size_t n;
		const uint32_t *path = claimed_path(claimed, i, &n);

		status = add_finding(asserting, assertion, &finding, path, n,
		                     error);
	}
	compared_rows_free(&compared);
	rows_free(&counts.rows);
	free(counts.occurs);
	return status;
}

/* ---- values ---- */

static int
check_values(struct asserting *asserting, const struct assertion *assertion,
             const struct claimed *claimed, struct error *error)
{
	for (size_t i = 0; i < claimed->n; i++) {
		size_t n;
		const uint32_t *path = claimed_path(claimed, i, &n);
		struct noisy_amount of;
		struct asserting_finding finding;

		if (assertion->view != ASSERT_PATH)
			noise_function(&asserting->noise, *path,
			               assertion->view == ASSERT_BODY, &of);
		else if (noise_path(&asserting->noise, path, n, &of,
		                    error) != 0)
			return -1;
		finding = judge(asserting, assertion, &of);
		if (add_finding(asserting, assertion, &finding, path, n,
		                error) != 0)
			return -1;
	}
	return 0;
}

static int
check_claimed(struct asserting *asserting, const struct assertion *assertion,
              const struct claimed *claimed, struct error *error)
{
	return (assertion->is_change ? check_changes :
	        check_values)(asserting, assertion, claimed, error);
}

/*
 * The functions that a word names: *n of them in the arena.  None, with
 * why->is_set, if there is no such function; NULL with *error set for a bad
 * pattern.
 */
static uint32_t *
asserting_find_functions(const struct asserting *asserting,
                         const struct pattern_word *typed, struct arena *arena,
                         size_t *n, struct error *why, struct error *error)
{
	const struct word word = { .text = typed->text,
		.length = typed->length, .is_quoted = typed->is_exact };
	struct pattern *pattern = resolve_pattern(asserting->session, &word,
	                                          error);
	uint32_t *found;

	*n = 0;
	if (pattern == NULL)
		return NULL;
	pattern_free(pattern);
	found = resolve_functions(asserting->session, &word, arena, n, why);
	if (found != NULL)
		return found;
	if (why->is_out_of_memory) {
		error_out_of_memory(error);
		return NULL;
	}
	*n = 0;
	return arena_alloc(arena, sizeof *found, error);
}

/* Asserts each path that a view shows around each of the functions. */
static int
check_views(struct asserting *asserting, const struct assertion *assertion,
            const uint32_t *functions, size_t n, struct arena *arena,
            struct error *error)
{
	const struct asserting_finding none = { .verdict = VERDICT_UNDECIDED,
		.why = "the view has no row" };
	struct assertion of_path = *assertion;

	of_path.view = ASSERT_PATH;
	for (size_t i = 0; i < n; i++) {
		struct claimed claimed;

		if (asserting_find_rows(asserting, assertion->view,
		                        functions[i], &claimed, arena,
		                        error) != 0 ||
		    (claimed.n == 0 ? add_finding(asserting, assertion, &none,
		                                  NULL, 0, error) :
		                      check_claimed(asserting, &of_path,
		                                    &claimed, error)) != 0)
			return -1;
	}
	return 0;
}

/* One function to a row. */
static int
check_each(struct asserting *asserting, const struct assertion *assertion,
           const uint32_t *functions, size_t n, struct arena *arena,
           struct error *error)
{
	size_t *ends = arena_alloc(arena, n * sizeof *ends, error);

	if (ends == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		ends[i] = i + 1;
	return check_claimed(asserting, assertion, &(struct claimed){
		n, functions, ends }, error);
}

static int
check_words(struct asserting *asserting, const struct assertion *assertion,
            struct arena *arena, struct error *error)
{
	uint32_t *path = arena_alloc(arena, assertion->n_words *
	                             sizeof *path, error);
	struct error why = { 0 };

	if (path == NULL)
		return -1;
	for (size_t i = 0; i < assertion->n_words; i++) {
		size_t n;
		uint32_t *found = asserting_find_functions(asserting,
		    &assertion->words[i], arena, &n, &why, error);

		if (found == NULL)
			return -1;
		if (n == 0) {
			struct asserting_finding finding = {
				.verdict = VERDICT_UNDECIDED,
				.why = table_text(asserting->table, error, "%s",
				                  why.text),
			};

			return finding.why == NULL ? -1 :
			    add_finding(asserting, assertion, &finding, NULL, 0,
			                error);
		}
		if (assertion->view != ASSERT_PATH)
			return (path_views[assertion->view] != NULL ?
			        check_views : check_each)(asserting,
			    assertion, found, n, arena, error);
		if (n > 1)
			return error_set(error, "%.60s matches %zu functions; "
			                 "assert path needs exact names",
			                 assertion->words[i].text, n);
		path[i] = found[0];
	}
	return check_claimed(asserting, assertion, &(struct claimed){
		1, path, &assertion->n_words }, error);
}

/* Asks the runs of the base and the loaded ones together. */
static int
check_compared(struct asserting *asserting, const struct assertion *assertion,
               struct arena *arena, struct error *error)
{
	struct session *session = asserting->session;
	const struct view_request request = asserting->request;
	const struct subject *compared = session_compared(session, error);
	int status;

	if (compared == NULL)
		return -1;
	session->subject = compared;
	asserting->request = session_request(session);
	status = check_words(asserting, assertion, arena, error);
	asserting->request = request;
	session->subject = &session->loaded;
	return status;
}

int
asserting_check(struct asserting *asserting,
                const struct assertion *assertion, struct error *error)
{
	struct arena arena = { 0 };
	int status;

	if (assertion->is_change)
		status = check_compared(asserting, assertion, &arena, error);
	else if ((status = asserting_count(asserting, error)) == 0)
		status = check_words(asserting, assertion, &arena, error);
	arena_free(&arena);
	return status;
}
