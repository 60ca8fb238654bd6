/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_command.c -- runs the commands that only show a view. */
#include "src/shell/command/view_command.h"

#include <stdlib.h>

#include "src/shell/command/resolve.h"
#include "src/shell/session/session_left.h"
#include "src/shell/terminal/terminal.h"

const struct argument listing_arguments[] = {
	{ "N|all", &arg_rows, ARG_OPTIONAL | ARG_ANYWHERE,
	  "how many rows (default: as limit and threshold say)" },
	{ "PATTERN", &arg_pattern, ARG_OPTIONAL,
	  "which functions to list (default: all)" },
	ARGUMENTS_END
};

/*
 * Fails if no function matches.  In a comparison a function can be on one side
 * only, so an unknown name is only noted.
 */
static int
check_matches(const struct session *session,
              const struct view_request *request, const struct value *pattern,
              struct error *error)
{
	struct error unknown = { 0 };

	if (resolve_matches(session, pattern->pattern))
		return 0;
	resolve_report_no_match(session, pattern->pattern, pattern->text,
	                        &unknown);
	if (request->compared == NULL)
		return error_pass(error, &unknown);
	if (!pattern_is_general(pattern->pattern))
		message_note("%s", unknown.text);
	return 0;
}

/* Puts an argument that was given into the request. */
static int
view_command_take(const struct session *session,
                  const struct argument *argument, const struct value *value,
                  struct view_request *request, struct error *error)
{
	if (argument->kind == &arg_function) {
		request->root = value->names[0];
	} else if (argument->kind == &arg_rows) {
		/* Who asks for ten rows wants ten. */
		request->limit = value->count;
		/*
		 * How sure a change is depends on which rows are tested, and
		 * who asks for all tests all.
		 */
		if (request->compared == NULL || value->count == SIZE_MAX)
			request->threshold = 0;
	} else if (argument->kind == &arg_path) {
		request->path = value->names;
		request->n_path = value->n_names;
	} else if (argument->kind == &arg_pattern) {
		if (check_matches(session, request, value, error) != 0)
			return -1;
		request->pattern = value->pattern;
	}
	return 0;
}

/* The totals of the request's columns, and of its own set before them. */
static int
count_sections(const struct session *session,
               const struct view_request *request,
               struct section_total *totals[COLUMN_SETS_MAX + 1],
               struct error *error)
{
	for (size_t i = 0; i <= request->n_columns; i++) {
		totals[i] = session_section_totals(session, i == 0 ?
		    request->set->resource_number :
		    request->columns[i - 1].resource_number, NULL, error);
		if (totals[i] == NULL)
			return -1;
	}
	return 0;
}

/* Shows a view of threads, processes or labels. */
static int
view_command_sections(struct session *session, const struct command *command,
                      const struct value *argument, struct table *table,
                      struct error *error)
{
	struct section_total *totals[COLUMN_SETS_MAX + 1] = { NULL };
	const struct section_total *columns[COLUMN_SETS_MAX];
	struct view_request request = session_request(session);
	struct section_request wanted = { .columns = columns };
	int result = 0;

	if (argument->is_given && command->choices != NULL)
		wanted.is_each = true;
	else if (argument->is_given)
		wanted.label_key = argument->text;
	if (request.groups != NULL) {	/* not known by section */
		request.n_columns -= request.groups->n;
		request.groups = NULL;
		request.has_noise = false;
	}
	if (session->subject->profile->tree != NULL)
		result = count_sections(session, &request, totals, error);
	for (size_t i = 0; i < request.n_columns; i++)
		columns[i] = totals[i + 1];
	wanted.totals = totals[0];
	if (result == 0)
		result = command->section_view(&request, &wanted, table, error);
	for (size_t i = 0; i <= request.n_columns; i++)
		free(totals[i]);
	return result;
}

int
view_command(struct session *session, const struct command *command,
             const struct arguments *arguments, struct table *table,
             struct error *error)
{
	const struct argument *argument = command->arguments;
	struct view_request request;

	if (session_need_profile(session, error) != 0)
		return -1;
	if (command->section_view != NULL)
		return view_command_sections(session, command,
		                             &arguments->values[0], table,
		                             error);
	request = session_request(session);
	for (size_t i = 0; argument != NULL && argument[i].name != NULL; i++)
		if (arguments->values[i].is_given &&
		    view_command_take(session, &argument[i],
		                      &arguments->values[i], &request,
		                      error) != 0)
			return -1;
	return command->view(&request, table, error);
}
