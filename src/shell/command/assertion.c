/* SPDX-License-Identifier: GPL-3.0-or-later */
/* assertion.c -- a claim that something stays below or above a bound. */
#include "src/shell/command/assertion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/printable.h"
#include "src/base/units.h"
#include "src/shell/command/path_words.h"
#include "src/shell/command/resolve.h"
#include "src/views/compare.h"
#include "src/views/totals.h"

const char *const assertion_views[] = {
	[ASSERT_FUNCTIONS] = "functions",
	[ASSERT_BODY] = "body",
	[ASSERT_PATH] = "path",
	[ASSERT_CHANGE] = "change",
	NULL
};

enum verdict { VERDICT_HOLDS, VERDICT_VIOLATED, VERDICT_UNDECIDED };

static const char *const verdict_names[] = { "holds", "violated", "undecided" };

/* ---- what is typed ---- */

/* The view of which a change is meant; ASSERT_CHANGE: none. */
static enum assertion_view
find_view(const char *word)
{
	int view = 0;

	while (view < ASSERT_CHANGE && strcmp(word, assertion_views[view]) != 0)
		view++;
	return (enum assertion_view)view;
}

static int
read_bounded(struct reading *reading, struct value *value)
{
	const bool is_change = reading->arguments->values[0].count ==
	    ASSERT_CHANGE;
	const struct words *words = reading->words;
	struct words before = *words;
	struct reading of_words = *reading;
	const char **texts = arena_alloc(&reading->arguments->arena,
	                                 3 * sizeof *texts, reading->error);

	if (texts == NULL)
		return -1;
	if (words->n < reading->at + 3 + is_change ||
	    (strcmp(words->words[words->n - 2].text, "below") != 0 &&
	     strcmp(words->words[words->n - 2].text, "above") != 0))
		return error_set(reading->error, "expected below or above and "
		                 "a bound at the end: functions malloc below "
		                 "5%%");
	texts[0] = words->words[words->n - 2].text;
	texts[1] = words->words[words->n - 1].text;
	value->words = texts;
	value->n_words = 2;
	if (is_change) {
		texts[value->n_words++] = words->words[of_words.at++].text;
		if (find_view(texts[2]) == ASSERT_CHANGE)
			return error_set(reading->error, "%.60s: expected "
			                 "functions, body or path after assert "
			                 "change", texts[2]);
	}
	before.n -= 2;
	of_words.words = &before;
	value->pattern_words = path_words_read(&of_words,
	                                       &value->n_pattern_words);
	reading->at = words->n;
	return value->pattern_words == NULL ? -1 : 0;
}

static void
complete_bounded(struct completion *completion, const struct session *session,
                 const struct command *command)
{
	static const char *const words[] = { "below", "above" };
	uint32_t n;
	const uint32_t *functions;

	(void)command;
	for (size_t i = 0; i < 2; i++)
		completion_offer(completion, words[i], strlen(words[i]));
	if (session->profile == NULL)
		return;
	functions = session_functions(session, &n);
	for (uint32_t i = 0; functions != NULL && i < n; i++)
		completion_offer(completion, names_text(
		    session->profile->names, functions[i]),
		    names_length(session->profile->names, functions[i]));
}

const struct argument_kind arg_bounded = {
	.read = read_bounded,
	.complete = complete_bounded,
	.handle = HANDLE_PATH,
	.takes_rest = true,
};

/* "5%" or, in the resource's unit, "120ms". */
static int
read_bound(struct assertion *assertion, const struct session *session,
           struct error *error)
{
	const struct resource *resource = session_resource(session);
	const char *text = assertion->bound_text, *end;
	size_t n = strspn(text, "0123456789.");

	assertion->is_share = n > 0 && strcmp(text + n, "%") == 0;
	if (assertion->is_share) {
		char *number_end;

		assertion->bound = strtod(text, &number_end) / 100;
		end = number_end == text + n ? number_end + 1 : NULL;
	} else {
		end = text_read_gticks(text, resource->gtick,
		                       &assertion->bound);
	}
	if (end != NULL && *end == '\0' && isfinite(assertion->bound))
		return 0;
	return error_set(error, "%.40s: expected a share of the run such as "
	                 "5%%, or an amount of %s such as %s", text,
	                 resource->name, gticks_example(resource->gtick));
}

int
assertion_of(struct assertion *assertion, const struct session *session,
             const struct arguments *arguments, struct error *error)
{
	const struct value *claim = &arguments->values[1];

	*assertion = (struct assertion){
		.view = (enum assertion_view)arguments->values[0].count,
		.words = claim->pattern_words,
		.n_words = claim->n_pattern_words,
		.is_above = strcmp(claim->words[0], "above") == 0,
		.bound_text = claim->words[1],
		.is_change = claim->n_words > 2,
	};
	if (assertion->is_change)
		assertion->view = find_view(claim->words[2]);
	if (assertion->view != ASSERT_PATH && assertion->n_words > 1)
		return error_set(error, "%s needs one function; put a name "
		                 "with blanks between bars, and a path after "
		                 "assert path", assertion_views[assertion->view]);
	return read_bound(assertion, session, error);
}

/* ---- one row ---- */

/* What an assertion says of one function or path. */
struct finding {
	enum verdict verdict;
	const char *why;		/* undecided: why; or NULL */
	struct estimate estimate;	/* in the bound's unit */
	bool has_value, has_interval;
};

static double
interval_of(const struct asserting *asserting)
{
	return (double)asserting->request.set->resource->interval;
}

/* The value in the bound's unit, with an interval if chance has made it. */
static struct estimate
estimate_of(const struct asserting *asserting,
            const struct assertion *assertion, struct sampled sampled)
{
	double gticks = interval_of(asserting);
	struct estimate estimate;

	if (assertion->is_share)
		return share_estimate(sampled, asserting->whole, ESTIMATE_95);
	estimate = hits_estimate(sampled, asserting->whole, ESTIMATE_95);
	estimate.value *= gticks;
	estimate.low *= gticks;
	estimate.high *= gticks;
	return estimate;
}

static enum verdict
decide(const struct assertion *assertion, const struct estimate *estimate)
{
	if (assertion->is_above)
		return estimate->low > assertion->bound ? VERDICT_HOLDS :
		       estimate->high <= assertion->bound ? VERDICT_VIOLATED :
		       VERDICT_UNDECIDED;
	return estimate->high < assertion->bound ? VERDICT_HOLDS :
	       estimate->low >= assertion->bound ? VERDICT_VIOLATED :
	       VERDICT_UNDECIDED;
}

static struct finding
judge(const struct asserting *asserting, const struct assertion *assertion,
      const struct amount *amount)
{
	enum counting counting = asserting->request.set->resource->counting;
	struct finding finding = { .verdict = VERDICT_UNDECIDED };

	if (!amount->is_seen) {
		finding.why = "no stack has it";
		return finding;
	}
	if (assertion->is_share && asserting->whole.hits == 0) {
		finding.why = "there are no hits, so there are no shares";
		return finding;
	}
	finding.has_value = true;
	finding.estimate = estimate_of(asserting, assertion, amount->sampled);
	if (amount->is_estimated) {
		finding.why = "its value is an estimate";
		return finding;
	}
	if (counting == COUNTING_UNKNOWN) {
		finding.why = "the file does not say how its numbers were "
		    "sampled";
		return finding;
	}
	finding.has_interval = true;
	if (counting == COUNTING_EXACT)
		finding.estimate.low = finding.estimate.high =
		    finding.estimate.value;
	finding.verdict = decide(assertion, &finding.estimate);
	if (finding.verdict == VERDICT_UNDECIDED)
		finding.why = "the bound is inside the interval: record "
		    "longer";
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
           const struct assertion *assertion, const struct finding *finding)
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
	if (finding->why != NULL)
		text_add_format(text, "%s%s", finding->has_value ? "; " : "",
		                finding->why);
}

/* "functions malloc below 5%" */
static void
add_claim(struct text_buffer *text, const struct assertion *assertion,
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
	text_add_format(text, "%s %s %s", is_path ? ")" : "",
	                assertion->is_above ? "above" : "below",
	                assertion->bound_text);
}

/* The same with the words as typed, for what does not occur. */
static void
add_typed_claim(struct text_buffer *text, const struct assertion *assertion)
{
	bool is_path = assertion->view == ASSERT_PATH;

	text_add_format(text, "%s%s %s", assertion->is_change ? "change " : "",
	                assertion_views[assertion->view], is_path ? "(" : "");
	for (size_t i = 0; i < assertion->n_words; i++) {
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

/* A text that lives as long as the table; frees the buffer. */
static const char *
keep(struct table *table, struct text_buffer *text, struct error *error)
{
	const char *kept = text->failed ? NULL :
	    table_text(table, error, "%s", text_string(text));

	if (text->failed)
		error_out_of_memory(error);
	text_free(text);
	return kept;
}

static struct cell
number_cell(bool is_known, double number)
{
	return is_known ? cell_fraction(number) :
	       (struct cell){ .kind = CELL_EMPTY };
}

static struct cell
path_cell(struct table *table, const struct names *names,
          const uint32_t *path, size_t n, struct error *error)
{
	struct call_paths *paths = arena_alloc(&table->arena, sizeof *paths,
	                                       error);
	uint32_t *parent = arena_alloc(&table->arena, n * sizeof *parent,
	                               error);
	uint32_t *name = arena_alloc(&table->arena, n * sizeof *name, error);

	if (paths == NULL || parent == NULL || name == NULL)
		return (struct cell){ .kind = CELL_EMPTY };
	for (size_t i = 0; i < n; i++) {
		parent[i] = i == 0 ? NO_RECORD : (uint32_t)i - 1;
		name[i] = path[i];
	}
	*paths = (struct call_paths){ .names = names, .parent = parent,
		                      .name = name };
	return cell_path(paths, (uint32_t)n - 1);
}

/* path[n]: the names; n 0: what was typed does not occur. */
static int
add_finding(struct asserting *asserting, const struct assertion *assertion,
            const struct finding *finding, const uint32_t *path, size_t n,
            struct error *error)
{
	struct table *table = asserting->table;
	const struct names *names = asserting->request.set->names;
	struct text_buffer claim = { 0 }, result = { 0 };
	const char *claim_text, *result_text;
	struct cell path_of = { .kind = CELL_EMPTY };

	if (n > 0)
		add_claim(&claim, assertion, names, path, n);
	else
		add_typed_claim(&claim, assertion);
	add_result(&result, asserting, assertion, finding);
	claim_text = keep(table, &claim, error);
	result_text = keep(table, &result, error);
	if (n > 0)
		path_of = path_cell(table, names, path, n, error);
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
	*asserting = (struct asserting){ .session = session, .table = table };
	if (session_need_profile(session, error) != 0)
		return -1;
	asserting->request = session_request(session);
	table->schema = "cpprof.assert/1";
	table->is_plain = true;
	table_add_column(table, "verdict", "verdict", CELL_TEXT);
	table_add_column(table, "assertion", "assertion", CELL_TEXT);
	table_add_column(table, "path", "path", CELL_PATH)->is_data_only =
	    true;
	table_add_column(table, "value", "value", CELL_FRACTION)->
	    is_data_only = true;
	table_add_column(table, "low", "low", CELL_FRACTION)->is_data_only =
	    true;
	table_add_column(table, "high", "high", CELL_FRACTION)->
	    is_data_only = true;
	table_add_column(table, "bound", "bound", CELL_FRACTION)->
	    is_data_only = true;
	table_add_column(table, "unit", "unit", CELL_TEXT)->is_data_only =
	    true;
	table_add_column(table, "why", "why", CELL_TEXT)->is_data_only = true;
	table_add_column(table, "result", "result", CELL_TEXT)->is_text_only =
	    true;
	return table_add_field(table, "resource", NULL, cell_text(
	    asserting->request.set->resource->name), error);
}

void
asserting_end(struct asserting *asserting)
{
	struct session *session = asserting->session;

	free(asserting->functions);
	if (session->is_interactive)
		return;
	session->has_violated |= asserting->n_violated > 0;
	session->has_undecided |= asserting->n_undecided > 0;
}

int
asserting_count(struct asserting *asserting, struct error *error)
{
	if (!asserting->has_whole &&
	    amount_of_whole(&asserting->request, &asserting->whole,
	                    error) != 0)
		return -1;
	asserting->has_whole = true;
	if (asserting->functions == NULL)
		asserting->functions = amounts_of_functions(
		    asserting->request.set, &asserting->n_functions, error);
	return asserting->functions == NULL ? -1 : 0;
}

static const struct function_amount *
find_amount(const struct asserting *asserting, uint32_t name)
{
	for (uint32_t i = 0; i < asserting->n_functions; i++)
		if (asserting->functions[i].name == name)
			return &asserting->functions[i];
	return NULL;
}

/* ---- changes ---- */

/* Writes a column: the hits that a run has of functions, or of a path. */
static int
fill_column(const struct sample_set *run, const struct assertion *assertion,
            const uint32_t *names, size_t n, uint64_t *column,
            struct error *error)
{
	struct function_total *totals;
	struct amount amount;
	uint32_t n_totals;

	if (assertion->view == ASSERT_PATH) {
		if (amount_of_path(run, names, n, &amount, error) != 0)
			return -1;
		*column = amount.sampled.hits;
		return 0;
	}
	totals = function_totals(run, &n_totals, error);
	if (totals == NULL)
		return -1;
	for (uint32_t i = 0; i < n_totals; i++)
		for (size_t row = 0; row < n; row++)
			if (totals[i].name == names[row])
				column[row] = assertion->view == ASSERT_BODY ?
				    totals[i].self : totals[i].inclusive;
	free(totals);
	return 0;
}

/* What a comparison says of a row, in the bound's unit. */
static struct finding
judge_change(const struct asserting *asserting,
             const struct assertion *assertion,
             const struct compared_rows *compared, size_t row)
{
	const struct change *change = &compared->changes[row];
	struct finding finding = { .verdict = VERDICT_UNDECIDED };
	double unit = interval_of(asserting);

	if (assertion->is_share)
		unit = compared->whole.base > 0 ? 1 / compared->whole.base : 0;
	if (change->base == 0 && change->now == 0) {
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
	if (isnan(change->low)) {
		finding.why = "the files do not say how their numbers were "
		    "sampled, and there is one run a side";
		return finding;
	}
	finding.has_interval = true;
	finding.verdict = decide(assertion, &finding.estimate);
	if (finding.verdict == VERDICT_UNDECIDED)
		finding.why = "the bound is inside the interval: record "
		    "longer, or more runs";
	return finding;
}

static void
free_columns(uint64_t **columns, size_t n)
{
	for (size_t i = 0; columns != NULL && i < n; i++)
		free(columns[i]);
	free(columns);
}

/* The hits in each run, of n_rows rows; NULL with *error set. */
static uint64_t **
make_columns(const struct view_request *request,
             const struct assertion *assertion, const uint32_t *names,
             size_t n, size_t n_rows, struct error *error)
{
	uint64_t **columns = memory_array(request->n_columns, sizeof *columns,
	                                  error);

	for (size_t i = 0; columns != NULL && i < request->n_columns; i++) {
		columns[i] = memory_array(n_rows, sizeof **columns, error);
		if (columns[i] == NULL ||
		    fill_column(&request->columns[i], assertion, names, n,
		                columns[i], error) != 0) {
			free_columns(columns, request->n_columns);
			return NULL;
		}
	}
	return columns;
}

/* The request compares.  names[n]: functions, or one path. */
static int
check_changes(struct asserting *asserting, const struct assertion *assertion,
              const uint32_t *names, size_t n, struct error *error)
{
	const struct view_request *request = &asserting->request;
	const bool is_path = assertion->view == ASSERT_PATH;
	const size_t n_rows = is_path ? 1 : n;
	uint64_t **columns = make_columns(request, assertion, names, n,
	                                  n_rows, error);
	struct compared_rows compared = { 0 };
	int status = -1;

	if (columns != NULL)
		status = compare_rows(request, columns, NULL,
		                      (uint32_t)n_rows, &compared, error);
	for (size_t i = 0; status == 0 && i < n_rows; i++) {
		const struct finding finding = judge_change(asserting,
		    assertion, &compared, i);

		status = add_finding(asserting, assertion, &finding,
		                     &names[i], is_path ? n : 1, error);
	}
	compared_rows_free(&compared);
	free_columns(columns, request->n_columns);
	return status;
}

/* ---- values ---- */

static int
check_functions(struct asserting *asserting,
                const struct assertion *assertion, const uint32_t *names,
                size_t n, struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		const struct function_amount *found = find_amount(asserting,
		                                                  names[i]);
		struct amount none = { 0 };
		struct finding finding = judge(asserting, assertion,
		    found == NULL ? &none :
		    assertion->view == ASSERT_BODY ? &found->body :
		    &found->inclusive);

		if (add_finding(asserting, assertion, &finding, &names[i], 1,
		                error) != 0)
			return -1;
	}
	return 0;
}

static int
check_path(struct asserting *asserting, const struct assertion *assertion,
           const uint32_t *path, size_t n, struct error *error)
{
	struct amount amount;
	struct finding finding;

	if (amount_of_path(asserting->request.set, path, n, &amount,
	                   error) != 0)
		return -1;
	finding = judge(asserting, assertion, &amount);
	return add_finding(asserting, assertion, &finding, path, n, error);
}

/*
 * The functions that a word names: *n of them in the arena.  None, with
 * why->is_set, if there is no such function; NULL with *error set for a bad
 * pattern.
 */
static uint32_t *
find_functions(const struct asserting *asserting,
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

static int
add_absent(struct asserting *asserting, const struct assertion *assertion,
           const struct error *why, struct error *error)
{
	struct finding finding = {
		.verdict = VERDICT_UNDECIDED,
		.why = table_text(asserting->table, error, "%s", why->text),
	};

	return finding.why == NULL ? -1 :
	    add_finding(asserting, assertion, &finding, NULL, 0, error);
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
		uint32_t *found = find_functions(asserting,
		    &assertion->words[i], arena, &n, &why, error);

		if (found == NULL)
			return -1;
		if (n == 0)
			return add_absent(asserting, assertion, &why, error);
		if (assertion->view != ASSERT_PATH && assertion->is_change)
			return check_changes(asserting, assertion, found, n,
			                     error);
		if (assertion->view != ASSERT_PATH)
			return check_functions(asserting, assertion, found, n,
			                       error);
		if (n > 1)
			return error_set(error, "%.60s matches %zu functions; "
			                 "assert path needs exact names",
			                 assertion->words[i].text, n);
		path[i] = found[0];
	}
	return (assertion->is_change ? check_changes : check_path)(asserting,
	    assertion, path, assertion->n_words, error);
}

/* Asks the runs of the base and the loaded ones together. */
static int
check_compared(struct asserting *asserting, const struct assertion *assertion,
               struct arena *arena, struct error *error)
{
	const struct view_request request = asserting->request;
	int status;

	if (session_begin_comparison(asserting->session, error) != 0)
		return -1;
	asserting->request = session_request(asserting->session);
	status = check_words(asserting, assertion, arena, error);
	asserting->request = request;
	session_end_comparison(asserting->session);
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
