/* SPDX-License-Identifier: GPL-3.0-or-later */
/* view_command.c -- runs a view for a command. */
#include "src/shell/command/view_command.h"

#include <string.h>

#include "src/shell/command/resolve.h"
#include "src/shell/terminal/message.h"

/* A name that is no pattern and matches nothing is perhaps mistyped. */
static void
note_unknown(const struct session *session, const struct value *pattern)
{
	size_t length = strlen(pattern->text);
	struct error unknown = { 0 };

	if (pattern_is_general(pattern->pattern) ||
	    session_find_function(session, pattern->text, length) != NO_NAME)
		return;
	resolve_report_unknown(session, pattern->text, length, &unknown);
	message_note("%s", unknown.text);
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

int
view_command_matching(struct session *session, view_function *view,
                      const struct value *pattern, struct table *table,
                      struct error *error)
{
	struct view_request request;

	if (session_need_profile(session, error) != 0)
		return -1;
	request = session_request(session);
	if (pattern->is_given) {
		request.pattern = pattern->pattern;
		note_unknown(session, pattern);
	}
	return view(&request, table, error);
}
