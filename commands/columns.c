/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/columns.c -- which resources views show side by side. */
#include <string.h>

#include "src/base/text_buffer.h"
#include "src/shell/command/command.h"
#include "src/shell/command/resolve.h"

extern const struct command command_columns, command_column;

static const struct argument columns_arguments[] = {
	{ "NAME...|off", &arg_columns, ARG_OPTIONAL,
	  "resources, and columns that column defines (default: show them)" },
	ARGUMENTS_END
};

static const char *
columns_get(const struct session *session, const struct command *setting,
            struct arena *arena, struct error *error)
{
	const struct column_list *list = &session->columns;
	struct text_buffer text = { 0 };

	(void)setting;
	for (size_t i = 0; i < list->n; i++) {
		if (i > 0)
			text_add_char(&text, ' ');
		text_add_word(&text, list->names[i], strlen(list->names[i]));
	}
	if (list->n == 0)
		text_add_string(&text, "off");
	return text_move(&text, arena, error);
}

static int
columns_set(struct session *session, const struct command *setting,
            const struct value *value, struct error *error)
{
	(void)setting;
	return session_set_columns(session, value->words, value->n_words,
	                           error);
}

static int
columns_run(struct session *session, const struct arguments *arguments,
            struct table *table, struct error *error)
{
	if (arguments->values[0].is_given)
		return columns_set(session, &command_columns,
		                   &arguments->values[0], error);
	return setting_show(session, &command_columns, table, error);
}

const struct command command_columns = {
	.name = "columns",
	.group = GROUP_SETTINGS,
	.summary = "which resources views show side by side",
	.description =
	    "A row of a view is a set of stacks, so it has hits of every "
	    "resource. columns cpu page-faults shows both, each with its share "
	    "of the run: where the program is slow, and why, in one table. "
	    "The first resource in the list becomes the current one; resource "
	    "changes it. Rows below the threshold of the current resource are "
	    "hidden, and rows are sorted by the first column.\n\n"
	    "column defines columns that are computed from two resources, such "
	    "as page faults for each millisecond. top, flat, body, functions, "
	    "down, up, tree, callers, callees, path, modules, threads, "
	    "processes and labels show columns; the other views say that they "
	    "show one resource alone.\n\n"
	    "columns off shows one resource again. Columns that another "
	    "profile lacks are left out there.",
	.example = "columns |Real Time|",
	.arguments = columns_arguments,
	.run = columns_run,
	.get = columns_get,
	.set = columns_set,
};
