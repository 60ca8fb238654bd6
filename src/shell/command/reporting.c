/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reporting.c -- the answers of which a report consists.
 *
 * A report asks what a user would type: each part is a command line, and its
 * table goes to the page as it is.  So the page's numbers are the prompt's.
 *
 * A part that the profile cannot answer (no times, no lines) says why instead.
 * Functions that are in the first rows of top or functions also get their
 * callers and callees; those first of all also their lines and times.
 */
#include "src/shell/command/reporting.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/names.h"
#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/output/output.h"
#include "src/shell/command/interpret.h"

enum {
	OPENED = 120,	/* functions with callers and callees */
	TIMED = 24,	/* functions with times */
	LISTED = 12,	/* functions with lines */
	ROWS_OF_CALLS = 60,
};

/* Boxes below this share are too narrow to be seen. */
#define LEAST_BOX (1.0 / 2000)

struct report {
	struct session *session;
	struct report_page *page;
	struct report_part part;	/* that is being added */
	struct names *opened;		/* functions, by their texts */
	size_t most;			/* of them, after this part */
};

/* Opens the functions of the rows of a list. */
static int
open_functions(struct report *report, const struct table *table,
               struct error *error)
{
	struct cell cells[TABLE_MAX_COLUMNS];
	size_t column = 0;

	while (column < table->n_columns &&
	       (table->columns[column].kind != CELL_NAME ||
	        strcmp(table->columns[column].key, "path") != 0))
		column++;
	if (column == table->n_columns)
		return 0;
	for (size_t i = 0; i < table->n_rows &&
	     names_count(report->opened) < report->most; i++) {
		const struct names *names;
		uint32_t name;

		table_get_row(table, i, cells);
		if (cells[column].kind != CELL_NAME)
			continue;
		names = cells[column].path.paths->names;
		name = cells[column].path.record;
		if (names_add(report->opened, names_text(names, name),
		              names_length(names, name), error) == NO_NAME)
			return -1;
	}
	return 0;
}

static int
take_part(const struct table *table, void *context, struct error *error)
{
	struct report *report = context;

	if (open_functions(report, table, error) != 0)
		return -1;
	return report_page_add(report->page, &report->part, table, error);
}

/* Adds the answer to the part's command, or why there is none. */
static int
add_answer(struct report *report, struct error *error)
{
	struct error lack = { 0 };

	if (interpret_answer(report->session, report->part.command, take_part,
	                     report, &lack) == 0)
		return 0;
	if (interrupt_requested || lack.is_out_of_memory)
		return error_pass(error, &lack);
	return report_page_add_lack(report->page, &report->part,
	                            lack.is_set ? lack.text :
	                            "the prompt says why", error);
}

static int
add_parts(struct report *report, const struct report_part *parts, size_t n,
          struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		report->part = parts[i];
		if (add_answer(report, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- the whole profile ---- */

static int
add_whole(struct report *report, struct error *error)
{
	static const struct report_part lists[] = {
		{ .kind = "explain", .command = "explain", .room = 20000 },
		{ .kind = "info", .command = "info", .room = 40000 },
	};
	static const struct report_part tops[] = {
		{ .kind = "top", .command = "top 300", .room = 90000 },
	};
	static const struct report_part functions[] = {
		{ .kind = "functions", .command = "functions 300",
		  .room = 70000 },
	};
	static const struct report_part others[] = {
		{ .kind = "flame", .command = "flame", .room = 200000,
		  .drops_smallest = true, .has_ends = true },
		{ .kind = "timeline", .command = "timeline", .room = 16000 },
		{ .kind = "threads", .command = "threads", .room = 40000 },
		{ .kind = "processes", .command = "processes",
		  .room = 30000 },
	};

	if (add_parts(report, lists, 2, error) != 0)
		return -1;
	report->most = OPENED / 2;
	if (add_parts(report, tops, 1, error) != 0)
		return -1;
	report->most = OPENED;
	if (add_parts(report, functions, 1, error) != 0)
		return -1;
	report->most = 0;
	return add_parts(report, others, sizeof others / sizeof *others,
	                 error);
}

/* ---- the comparison with the base ---- */

static int
add_comparison(struct report *report, struct error *error)
{
	static const struct report_part parts[] = {
		{ .kind = "diff", .command = "functions 200", .room = 70000 },
		{ .kind = "diff", .command = "top 200", .room = 70000 },
	};
	struct session *session = report->session;
	const struct comparison *comparison = &session->comparison;
	const struct subject *compared;
	struct error lack = { 0 };
	int status;

	if (comparison->sides == NULL && !comparison_has_base(comparison))
		return 0;
	compared = session_compared(session, &lack);
	report->part = parts[0];
	if (compared == NULL && (interrupt_requested || lack.is_out_of_memory))
		return error_pass(error, &lack);
	if (compared == NULL)
		return report_page_add_lack(report->page, &report->part,
		                            lack.text, error);
	session->subject = compared;
	status = add_parts(report, parts, sizeof parts / sizeof *parts, error);
	session->subject = &session->loaded;
	return status;
}

/* ---- single functions ---- */

/* What a view says of each of the first functions that were opened. */
struct report_question {
	const char *kind;
	const char *command;	/* what comes before the name */
	size_t most;		/* functions */
	size_t room;		/* bytes for each */
	bool drops_smallest;
};

static int
add_function(struct report *report, const struct report_question *question,
             uint32_t function, struct error *error)
{
	const char *name = names_text(report->opened, function);
	size_t length = names_length(report->opened, function);
	struct text_buffer line = { 0 };
	int status;

	text_add_string(&line, question->command);
	text_add_char(&line, ' ');
	text_add_between_bars(&line, name, length);
	report->part = (struct report_part){
		.kind = question->kind,
		.command = text_string(&line),
		.function = name,
		.room = question->room,
		.is_brief = true,
		.drops_smallest = question->drops_smallest,
	};
	status = line.failed ? error_out_of_memory(error) :
	    add_answer(report, error);
	text_free(&line);
	return status;
}

static int
add_functions(struct report *report, struct error *error)
{
	static const struct report_question questions[] = {
		{ "callers", "callers", OPENED, 6000, false },
		{ "callees", "callees", OPENED, 6000, false },
		{ "times", "timeline", TIMED, 10000, false },
		{ "lines", "list", LISTED, 10000, true },
	};
	uint32_t n = names_count(report->opened);

	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
		for (uint32_t k = 0; k < n && k < questions[i].most; k++)
			if (add_function(report, &questions[i], k,
			                 error) != 0)
				return -1;
	return 0;
}

/* ---- the report ---- */

/* Composes it under the settings of reports, and takes these back. */
static int
compose_report(struct report *report, struct error *error)
{
	struct session *session = report->session;
	struct settings *settings = &session->settings;
	const struct settings kept = *settings;
	struct error ignored = { 0 };
	int status;

	settings->format = output_formats;
	while (settings->format->draw != output_json)
		settings->format++;
	settings->has_noise = true;
	settings->threshold = LEAST_BOX;
	settings->limit = SIZE_MAX;
	status = kept.has_noise ? 0 :
	    session_settings_changed(session, CHANGES_NAMES, error);
	if (status == 0)
		status = add_whole(report, error);
	if (status == 0)
		status = add_comparison(report, error);
	settings->threshold = 0;
	settings->limit = ROWS_OF_CALLS;
	if (status == 0)
		status = add_functions(report, error);
	session->settings = kept;
	if (!kept.has_noise &&
	    session_settings_changed(session, CHANGES_NAMES, &ignored) != 0 &&
	    status == 0)
		status = error_pass(error, &ignored);
	return status;
}

int
report_write(struct session *session, struct writer *writer,
             uint64_t *left_out, struct error *error)
{
	const struct layout layout = {
		.digits = session->settings.digits,
		.unit = session->settings.unit,
	};
	const struct process *process = session_first_process(session);
	const char *name = process == NULL || process->program == NULL ? "" :
	    last_component(process->program);
	struct report report = { .session = session };
	int status = -1;

	report.page = report_page_new(&layout, error);
	report.opened = names_new(error);
	if (report.page != NULL && report.opened != NULL)
		status = compose_report(&report, error);
	if (status == 0) {
		*left_out = report_page_left_out(report.page);
		status = report_page_write(report.page, *name == '\0' ?
		                           "profile" : name, writer, error);
	}
	report_page_free(report.page);
	names_free(report.opened);
	return status;
}
