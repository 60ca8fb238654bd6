/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/budget.c -- a file of assertions that may only become tighter.
 *
 * Each line is an assertion as `assert` takes it.  Bounds that budget writes
 * are amounts, since shares grow when something else becomes faster.  Each is a
 * tenth above the value, or more: so far that a second run of the same program
 * is below it with its whole interval in 39 of 40 cases.  That takes 1.96
 * standard errors for the interval, and 1.96 of the difference of two runs; of
 * several loaded runs, as many times more as Student's t of their few degrees
 * of freedom is above 1.96.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"
#include "src/base/writer.h"
#include "src/shell/command/asserting.h"
#include "src/shell/command/command.h"
#include "src/shell/terminal/terminal.h"

/* In standard errors: 1.96 * (1 + sqrt(2)). */
static const double MARGIN = 4.7317;
/* What runs differ by besides chance. */
static const double LEAST_ROOM = 1.1;

enum {
	FEWEST_SAMPLES = 30,	/* a function with fewer may be missing in the
				 * next run by chance */
	WRONG_SHOWN = 10,	/* lines that are no assertions */
};

enum { BUDGET_WRITE, BUDGET_CHECK };

static const char *const budget_choices[] = { "write", "check", NULL };

static const struct argument budget_arguments[] = {
	{ "write|check", &arg_choice, 0, "what to do with the file" },
	{ "FILE", &arg_file, 0, "a line for each assertion" },
	ARGUMENTS_END
};

/* ---- lines of a file ---- */

struct budget_line {
	char *text;		/* without its end */
	bool is_assertion;	/* else a comment or empty */
	bool is_tightened;
};

/* A line, and the part of it before the bound: "functions malloc below ". */
struct claim_line {
	size_t line;
	uint32_t next;		/* another one with that claim; NO_NAME: none */
};

struct budget {
	const char *name;
	struct budget_line *lines;	/* [n] */
	size_t n, capacity;
	/* Which lines have a claim; a line has one for each " below ". */
	struct names *claims;
	uint32_t *last_of;	/* [claims] in claim_lines */
	struct claim_line *claim_lines;		/* [n_claim_lines] */
	size_t last_of_capacity, n_claim_lines, claim_lines_capacity;
};

static void
budget_free(struct budget *budget)
{
	for (size_t i = 0; i < budget->n; i++)
		free(budget->lines[i].text);
	free(budget->lines);
	names_free(budget->claims);
	free(budget->last_of);
	free(budget->claim_lines);
}

/* ---- which lines have a claim ---- */

static const char below[] = " below ";

/* Enters the claims that a line may have; a name may have " below ", too. */
static int
index_line(struct budget *budget, size_t line, struct error *error)
{
	const char *text = budget->lines[line].text, *at = text;

	if (budget->claims == NULL &&
	    (budget->claims = names_new(error)) == NULL)
		return -1;
	while ((at = strstr(at, below)) != NULL) {
		size_t end = (size_t)(at - text) + sizeof below - 1;
		uint32_t number, n = names_count(budget->claims);

		if (memory_grow(&budget->last_of, &budget->last_of_capacity,
		                n + (size_t)1, sizeof *budget->last_of,
		                error) != 0 ||
		    memory_grow(&budget->claim_lines,
		                &budget->claim_lines_capacity,
		                budget->n_claim_lines + 1,
		                sizeof *budget->claim_lines, error) != 0)
			return -1;
		number = names_add(budget->claims, text, end, error);
		if (number == NO_NAME)
			return -1;
		budget->claim_lines[budget->n_claim_lines] =
		    (struct claim_line){
			line, number < n ? budget->last_of[number] : NO_NAME
		    };
		budget->last_of[number] = (uint32_t)budget->n_claim_lines++;
		at++;
	}
	return 0;
}

/* The last of the lines with a claim, in claim_lines; NO_NAME: there is none. */
static uint32_t
find_claim(const struct budget *budget, const char *claim)
{
	uint32_t number = budget->claims == NULL ? NO_NAME :
	    names_find(budget->claims, claim, strlen(claim));

	return number == NO_NAME ? NO_NAME : budget->last_of[number];
}

/* ---- reading ---- */

static int
budget_add_line(struct budget *budget, const char *text, size_t length,
                struct error *error)
{
	const char *first = text + strspn(text, " \t");
	char *copy;

	if (memory_grow(&budget->lines, &budget->capacity, budget->n + 1,
	                sizeof *budget->lines, error) != 0)
		return -1;
	copy = memory_text(text, length, error);
	if (copy == NULL)
		return -1;
	budget->lines[budget->n++] = (struct budget_line){
		.text = copy,
		.is_assertion = *first != '\0' && *first != '#',
	};
	return index_line(budget, budget->n - 1, error);
}

static int
fail_line(const struct budget *budget, size_t i, const struct error *why,
          struct error *error)
{
	return why->is_out_of_memory ? error_pass(error, why) :
	       error_set(error, "%.200s:%zu: %s", budget->name, i + 1,
	                 why->text);
}

static int
budget_take_line(struct budget *budget, char *text, size_t length,
                 struct error *error)
{
	if (length > 0 && text[length - 1] == '\r')
		text[--length] = '\0';
	if (memchr(text, '\0', length) != NULL)
		return error_set(error, "a NUL byte");
	return budget_add_line(budget, text, length, error);
}

static int
budget_read_lines(struct budget *budget, FILE *file, struct error *error)
{
	struct error why = { 0 };
	char *text = NULL;
	size_t capacity = 0, length;
	int status;

	while ((status = text_line_read(file, &text, &capacity, &length,
	                                &why)) == 1)
		if (budget_take_line(budget, text, length, &why) != 0) {
			status = -1;
			break;
		}
	free(text);
	if (status != 0 && ferror(file))	/* no line is at fault */
		return error_set(error, "%.200s: %s", budget->name, why.text);
	return status == 0 ? 0 : fail_line(budget, budget->n, &why, error);
}

/* 1; or 0 if there is no such file; or -1 with *error set. */
static int
budget_read_file(struct budget *budget, struct error *error)
{
	FILE *file = fopen(budget->name, "re");
	int status;

	if (file == NULL && errno == ENOENT)
		return 0;
	if (file == NULL)
		return error_set(error, "%.200s: %s", budget->name,
		                 strerror(errno));
	status = budget_read_lines(budget, file, error);
	fclose(file);
	return status == 0 ? 1 : -1;
}

static const char resource_key[] = "# resource: ";
static const char runs_key[] = "# runs: ";
static const char members_key[] = "# members: ";

/* Refuses a budget of another resource. */
static int
check_resource(const struct budget *budget, const struct session *session,
               struct error *error)
{
	const char *name = session_resource(session)->name;
	size_t length = sizeof resource_key - 1;

	for (size_t i = 0; i < budget->n; i++) {
		const char *text = budget->lines[i].text;

		if (strncmp(text, resource_key, length) == 0 &&
		    strcmp(text + length, name) != 0)
			return error_set(error, "%.200s: the budget is for "
			                 "resource %.60s, but the current one "
			                 "is %.60s; type: resource %.60s",
			                 budget->name, text + length, name,
			                 text + length);
	}
	return 0;
}

/* What the bounds of a file are amounts of. */
struct budget_origin {
	bool is_known;		/* else the file may mean anything */
	unsigned long n_runs, n_members;	/* 0: no line says so */
};

/* The number in a line that begins with the key; left alone in others. */
static int
budget_read_number(const struct budget *budget, size_t i, const char *key,
                   unsigned long *number, struct error *error)
{
	const char *text = budget->lines[i].text;
	size_t length = strlen(key);
	char *end;

	if (strncmp(text, key, length) != 0)
		return 0;
	errno = 0;
	*number = strtoul(text + length, &end, 10);
	if (text[length] >= '1' && text[length] <= '9' && *end == '\0' &&
	    errno == 0)
		return 0;
	return error_set(error, "%.200s:%zu: expected a number from 1 on "
	                 "after '%s'", budget->name, i + 1, key);
}

static int
read_origin(const struct budget *budget, struct budget_origin *origin,
            struct error *error)
{
	*origin = (struct budget_origin){ 0 };
	for (size_t i = 0; i < budget->n; i++) {
		if (budget_read_number(budget, i, runs_key, &origin->n_runs,
		                       error) != 0 ||
		    budget_read_number(budget, i, members_key,
		                       &origin->n_members, error) != 0)
			return -1;
		origin->is_known |= strncmp(budget->lines[i].text, resource_key,
		                            sizeof resource_key - 1) == 0;
	}
	origin->is_known |= origin->n_runs > 0 || origin->n_members > 0;
	if (origin->n_runs == 0)
		origin->n_runs = 1;
	return 0;
}

/*
 * Bounds of the sum of several runs say nothing of another number of them.
 * Those of a merged profile do: fleets grow and shrink, so what is compared is
 * the part of the sum that as many members have on average.
 */
static int
budget_take_origin(const struct budget *budget, struct asserting *asserting,
                   struct error *error)
{
	size_t n_loaded = asserting->n_runs;
	struct budget_origin origin;

	if (read_origin(budget, &origin, error) != 0)
		return -1;
	if (!origin.is_known)
		return 0;
	if (origin.n_members > 0 && asserting->n_members == 0)
		return error_set(error, "%.200s: the bounds are for a merged "
		                 "profile of %lu members, but %s; load one, "
		                 "or begin a new budget",
		                 budget->name, origin.n_members, n_loaded == 1 ?
		                 "the loaded one is not merged" :
		                 "several profiles are loaded");
	if (origin.n_members > 0) {
		asserting->for_members = origin.n_members;
		return 0;
	}
	if (asserting->n_members > 0)
		return error_set(error, "%.200s: its bounds are for %lu run%s, "
		                 "and a merged profile of %" PRIu64 " members "
		                 "is loaded; begin a new budget, or add the "
		                 "line '%sN' if it is of one of N members",
		                 budget->name, origin.n_runs,
		                 origin.n_runs == 1 ? "" : "s together",
		                 asserting->n_members, members_key);
	if (origin.n_runs == n_loaded)
		return 0;
	return error_set(error, "%.200s: its bounds are for %lu run%s, and %zu "
	                 "%s loaded; load as many, or begin a new budget",
	                 budget->name, origin.n_runs,
	                 origin.n_runs == 1 ? "" : "s together", n_loaded,
	                 n_loaded == 1 ? "is" : "are");
}

/* ---- check ---- */

static int
budget_check_line(struct asserting *asserting, const char *text,
                  struct error *error)
{
	const struct command *command = command_lookup("assert", 6, error);
	struct arguments arguments;
	struct assertion assertion;
	int status = arguments_parse_text(&arguments, asserting->session,
	                                  command, text, error);

	if (status == 0)
		status = assertion_of(&assertion, asserting->session,
		                      &arguments, error);
	if (status == 0)
		status = asserting_check(asserting, &assertion, error);
	arguments_free(&arguments);
	return status;
}

/* 0, or -1 with *error set; a wrong line does not end the check of others. */
static int
check_lines(const struct budget *budget, struct asserting *asserting,
            size_t *n, struct error *error)
{
	struct error wrong = { 0 };
	size_t n_wrong = 0;

	for (size_t i = 0; i < budget->n; i++) {
		struct error why = { 0 };

		if (!budget->lines[i].is_assertion)
			continue;
		++*n;
		if (budget_check_line(asserting, budget->lines[i].text,
		                      &why) == 0)
			continue;
		if (why.is_out_of_memory)
			return error_pass(error, &why);
		if (n_wrong++ >= WRONG_SHOWN)
			continue;
		if (wrong.is_set)
			message_note("%s", wrong.text);
		wrong = (struct error){ 0 };
		fail_line(budget, i, &why, &wrong);
	}
	if (n_wrong <= WRONG_SHOWN)
		return n_wrong == 0 ? 0 : error_pass(error, &wrong);
	message_note("%s", wrong.text);
	return error_set(error, "%.200s: %zu more wrong lines", budget->name,
	                 n_wrong - WRONG_SHOWN);
}

static int
budget_check(const struct budget *budget, struct asserting *asserting,
             struct error *error)
{
	size_t n = 0;

	if (check_resource(budget, asserting->session, error) != 0 ||
	    budget_take_origin(budget, asserting, error) != 0 ||
	    asserting_count(asserting, error) != 0 ||	/* no line's fault */
	    check_lines(budget, asserting, &n, error) != 0)
		return -1;
	if (n == 0)
		return error_set(error, "%.200s: no assertions in it",
		                 budget->name);
	return 0;
}

/* ---- write ---- */

/*
 * The bound for an amount, in gticks.  NAN: the groups of the merged profile,
 * or the runs, do not show its noise.
 */
static double
bound_of(const struct asserting *asserting, const struct noisy_amount *of)
{
	const struct resource *resource = asserting->request.set->resource;
	double gticks = (double)resource->interval;
	struct estimate hits = asserting_hits(asserting, of, MARGIN);

	if (asserting_is_exact(asserting, &hits))
		return hits.value * gticks * LEAST_ROOM;
	return isnan(hits.high) ? NAN :
	       gticks * fmax(hits.value * LEAST_ROOM, hits.high);
}

/*
 * Replaces the lines that begin with the claim by another one, if their bounds
 * are greater amounts.
 */
static int
tighten(struct budget *budget, const char *claim, double bound,
        const char *gtick, const char *line_now, struct error *error)
{
	size_t length = strlen(claim);
	uint32_t next = find_claim(budget, claim);

	for (uint32_t i = next; i != NO_NAME; i = next) {
		struct budget_line *line = &budget->lines[
		    budget->claim_lines[i].line];
		const char *end;
		double old;
		char *text;

		next = budget->claim_lines[i].next;
		end = text_read_gticks(line->text + length, gtick, &old);
		if (end == NULL || *end != '\0' || !(bound < old) ||
		    strcmp(line->text, line_now) == 0)
			continue;
		text = memory_string(line_now, error);
		if (text == NULL)
			return -1;
		free(line->text);
		line->text = text;
		line->is_tightened = true;
	}
	return 0;
}

/* Adds a line with that claim, or tightens those that there are. */
static int
budget_write_line(struct budget *budget, const struct asserting *asserting,
                  const struct noisy_amount *of, const char *claim,
                  struct error *error)
{
	const char *gtick = asserting->request.set->resource->gtick;
	const double bound = bound_of(asserting, of);
	struct text_buffer text = { 0 };
	const char *line;
	int status;

	if (isnan(bound))
		return 0;
	text_add_string(&text, claim);
	text_add_least_gticks(&text, bound, gtick);
	line = text_string(&text);
	if (text.failed)
		status = error_out_of_memory(error);
	else if (find_claim(budget, claim) != NO_NAME)
		status = tighten(budget, claim, bound, gtick, line, error);
	else
		status = budget_add_line(budget, line, text.length, error);
	text_free(&text);
	return status;
}

static int
write_one(struct budget *budget, const struct asserting *asserting,
          enum assertion_view view, const struct function_amount *function,
          struct error *error)
{
	const struct noise *noise = &asserting->noise;
	const struct sampled sampled = view == ASSERT_BODY ?
	    function->body.sampled : function->inclusive.sampled;
	struct noisy_amount of;
	struct text_buffer text = { 0 };
	const char *claim;
	bool is_small = (double)sampled.hits <
	    asserting->request.threshold * (double)noise->whole.hits ||
	    sampled.samples < FEWEST_SAMPLES;
	int status = 0;

	noise_function(noise, function->name, view == ASSERT_BODY, &of);
	/* "functions malloc below " */
	text_add_format(&text, "%s ", assertion_views[view]);
	text_add_word(&text,
	              names_text(asserting->request.set->names, function->name),
	              names_length(asserting->request.set->names,
	                           function->name));
	text_add_string(&text, below);
	claim = text_string(&text);
	if (text.failed)
		status = error_out_of_memory(error);
	else if (!is_small || find_claim(budget, claim) != NO_NAME)
		status = budget_write_line(budget, asserting, &of, claim,
		                           error);
	text_free(&text);
	return status;
}

static int
budget_compare_names(const void *a, const void *b, void *context)
{
	const struct function_amount *x = a, *y = b;

	return names_compare(context, x->name, y->name);
}

/* An empty file gets a heading; one that was begun by hand, what it lacks. */
static int
begin_file(struct budget *budget, const struct asserting *asserting,
           struct error *error)
{
	static const char about[] =
	    "# cpprof budget: each line is an assertion; budget check FILE";
	struct budget_origin origin;
	struct text_buffer text;
	int status;

	if (budget->n == 0 &&
	    budget_add_line(budget, about, sizeof about - 1, error) != 0)
		return -1;
	if (read_origin(budget, &origin, error) != 0)
		return -1;
	if (origin.is_known)
		return 0;
	/*
	 * What the bounds that follow are amounts of: the resource, how many
	 * runs.
	 */
	text = (struct text_buffer){ 0 };
	text_add_format(&text, "%s%s", resource_key,
	                session_resource(asserting->session)->name);
	status = text.failed ? error_out_of_memory(error) :
	    budget_add_line(budget, text_string(&text), text.length, error);
	text_clear(&text);
	if (asserting->n_members > 0)
		text_add_format(&text, "%s%" PRIu64, members_key,
		                asserting->n_members);
	else if (asserting->n_runs > 1)
		text_add_format(&text, "%s%zu", runs_key, asserting->n_runs);
	if (status == 0 && text.failed)
		status = error_out_of_memory(error);
	if (status == 0 && text.length > 0)
		status = budget_add_line(budget, text_string(&text),
		                         text.length, error);
	text_free(&text);
	return status;
}

static int
write_budget(struct budget *budget, struct asserting *asserting,
             struct table *table, struct error *error)
{
	struct session *session = asserting->session;
	const struct view_request *request = &asserting->request;
	size_t n_old;
	struct names *names;
	uint32_t n;
	struct function_amount *functions;
	int status;
	struct new_file file;

	if (asserting_count(asserting, error) != 0)
		return -1;
	if (request->no_groups != NULL)
		return error_set(error, "no budget can be written: %s",
		                 request->no_groups);
	if (request->groups == NULL && asserting->noise.source != NOISE_OF_RUNS &&
	    session_resource(session)->counting == COUNTING_UNKNOWN)
		return error_set(error, "no budget can be written: the file "
		                 "does not say how its numbers were sampled");
	if (asserting->noise.whole.hits == 0)
		return error_set(error, "no budget can be written: there are "
		                 "no hits");
	if (begin_file(budget, asserting, error) != 0 ||
	    check_resource(budget, session, error) != 0 ||
	    budget_take_origin(budget, asserting, error) != 0)
		return -1;
	n_old = budget->n;
	names = asserting->session->subject->profile->names;
	n = asserting->noise.n_functions;
	functions = memory_copy(asserting->noise.functions, n, sizeof *functions,
	                        error);
	status = functions != NULL ? 0 : -1;
	if (status == 0)
		qsort_r(functions, n, sizeof *functions, budget_compare_names,
		        names);
	for (int view = ASSERT_FUNCTIONS; view <= ASSERT_BODY; view++)
		for (uint32_t i = 0; status == 0 && i < n; i++)
			status = write_one(budget, asserting,
			                   (enum assertion_view)view,
			                   &functions[i], error);
	free(functions);
	if (status != 0)
		return -1;
	if (new_file_open(&file, budget->name, error) != 0)
		return -1;
	for (size_t i = 0; i < budget->n; i++) {
		writer_put(&file.writer, budget->lines[i].text,
		           strlen(budget->lines[i].text));
		writer_put(&file.writer, "\n", 1);
	}
	if (new_file_close(&file, true, error) != 0)
		return -1;
	/* What became of the lines: those before were n_old. */
	table->schema = "cpprof.budget/1";
	table->is_plain = true;
	table_add_column(table, "change", "change", CELL_TEXT);
	table_add_column(table, "assertion", "assertion", CELL_TEXT);
	for (size_t i = 0; i < budget->n; i++) {
		const struct budget_line *line = &budget->lines[i];
		const char *text;

		if (!line->is_assertion)
			continue;
		text = table_text(table, error, "%s", line->text);
		if (text == NULL || table_add_row(table, (struct cell[]){
		        cell_text(i >= n_old ? "added" :
		                  line->is_tightened ? "tightened" : "kept"),
		        cell_text(text) }, error) != 0)
			return -1;
	}
	return 0;
}

static int
budget_run(struct session *session, const struct arguments *arguments,
           struct table *table, struct error *error)
{
	bool writes = arguments->values[0].count == BUDGET_WRITE;
	struct budget budget = { .name = arguments->values[1].words[0] };
	struct table unused = { 0 };
	struct asserting asserting;
	int found, status = asserting_begin(&asserting, session,
	                                    writes ? &unused : table, error);

	if (status == 0) {
		found = budget_read_file(&budget, error);
		if (found == 0 && !writes)
			error_set(error, "%.200s: %s", budget.name,
			          strerror(ENOENT));
		status = error->is_set ? -1 : writes ?
		    write_budget(&budget, &asserting, table, error) :
		    budget_check(&budget, &asserting, error);
	}
	asserting_end(&asserting);
	budget_free(&budget);
	table_free(&unused);
	return status;
}

const struct command command_budget = {
	.name = "budget",
	.group = GROUP_COMPARE,
	.summary = "writes or checks a file of assertions",
	.description =
	    "check: each line of the file is an assertion as assert takes it; "
	    "all are checked and shown. Empty lines and lines that begin with "
	    "# are skipped. A line that is no assertion is an error, which is "
	    "reported after the others are checked, and so is a file without "
	    "assertions.\n\n"
	    "write: adds a line for each function above the threshold that has "
	    "at least 30 samples, one with its descendants and one for its "
	    "body. Bounds are amounts, because shares grow when something else "
	    "becomes faster. A bound leaves room for a second run of the same "
	    "program: a tenth, or more with few samples, or if several runs "
	    "are loaded that differ by more. Bounds of lines that "
	    "are there already become tighter if the profile allows it, never "
	    "wider; to widen one, edit or delete its line. Lines of other "
	    "forms stay as they are. If several runs are loaded, bounds are "
	    "those of their sum, and check needs as many. Those of a merged "
	    "profile are those of its members together, and the file says how "
	    "many these are; of a profile with more or fewer members, check "
	    "takes the part that so many have on average.",
	.example = "budget write /dev/null",
	.arguments = budget_arguments,
	.choices = budget_choices,
	.run = budget_run,
};
