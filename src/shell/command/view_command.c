/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_command.c -- runs a view for a command. */
#include "src/shell/command/view_command.h"

#include <stdlib.h>

#include "src/shell/command/resolve.h"
#include "src/shell/session/session_left.h"
#include "src/shell/terminal/terminal.h"

/*
 * 0, or -1 with *error set: no function matches.  Of two sides either may have
 * what matches; then a name that is unknown is only noted.
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

int
view_command_rooted(struct session *session, view_function *view,
                    const struct value *root, struct table *table,
                    struct error *error)
{
	struct view_request request;

	if (session_need_profile(session, error) != 0)
		return -1;
	request = session_request(session);
	if (root != NULL && root->is_given)
		request.root = root->names[0];
	return view(&request, table, error);
}

int
view_command(struct session *session, view_function *view,
             struct table *table, struct error *error)
{
	return view_command_rooted(session, view, NULL, table, error);
}

/*
 * n_rows: NULL, or an argument that may take the place of limit and threshold:
 * who asks for ten rows wants ten.
 */
static int
show_matching(struct session *session, view_function *view,
              const struct value *n_rows, const struct value *pattern,
              struct table *table, struct error *error)
{
	struct view_request request;

	if (session_need_profile(session, error) != 0)
		return -1;
	request = session_request(session);
	if (n_rows != NULL && n_rows->is_given) {
		request.limit = n_rows->count;
		/* How sure a change is depends on which rows are tested. */
		if (request.compared == NULL)
			request.threshold = 0;
	}
	if (pattern->is_given) {
		if (check_matches(session, &request, pattern, error) != 0)
			return -1;
		request.pattern = pattern->pattern;
	}
	return view(&request, table, error);
}

int
view_command_matching(struct session *session, view_function *view,
                      const struct value *pattern, struct table *table,
                      struct error *error)
{
	return show_matching(session, view, NULL, pattern, table, error);
}

int
view_command_listing(struct session *session, view_function *view,
                     const struct arguments *arguments, struct table *table,
                     struct error *error)
{
	return show_matching(session, view, &arguments->values[0],
	                     &arguments->values[1], table, error);
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
		    request->columns[i - 1].resource_number, error);
		if (totals[i] == NULL)
			return -1;
	}
	return 0;
}

int
view_command_sections(struct session *session, section_view *view,
                      struct section_request *wanted, struct table *table,
                      struct error *error)
{
	struct section_total *totals[COLUMN_SETS_MAX + 1] = { NULL };
	const struct section_total *columns[COLUMN_SETS_MAX];
	struct view_request request;
	int result = 0;

	if (session_need_profile(session, error) != 0)
		return -1;
	request = session_request(session);
	if (request.groups != NULL) {	/* not known by section */
		request.n_columns -= request.groups->n;
		request.groups = NULL;
		request.has_noise = false;
	}
	if (session->profile->tree != NULL)
		result = count_sections(session, &request, totals, error);
	for (size_t i = 0; i < request.n_columns; i++)
		columns[i] = totals[i + 1];
	wanted->totals = totals[0];
	wanted->columns = columns;
	if (result == 0)
		result = view(&request, wanted, table, error);
	wanted->totals = NULL;
	wanted->columns = NULL;
	for (size_t i = 0; i <= request.n_columns; i++)
		free(totals[i]);
	return result;
}
