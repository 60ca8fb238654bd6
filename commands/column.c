/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/column.c -- defines a column: a ratio or difference of resources. */
#include <string.h>

#include "src/base/text_buffer.h"
#include "src/shell/command/command.h"
#include "src/shell/command/resolve.h"

extern const struct command command_column;

static const struct argument column_arguments[] = {
	{ "NAME = A / B|[N *] A - [N *] B|off", &arg_formula, ARG_OPTIONAL,
	  "the column's name, and what it shows of two resources (default: "
	  "show all that are defined)" },
	ARGUMENTS_END
};

/* A line for each formula. */
static const char *
column_get(const struct session *session, const struct command *setting,
           struct arena *arena, struct error *error)
{
	const struct column_list *list = &session->columns;
	struct text_buffer text = { 0 };

	(void)setting;
	for (size_t i = 0; i < list->n_formulas; i++) {
		const struct column_formula *formula = &list->formulas[i];

		if (i > 0)
			text_add_char(&text, '\n');
		text_add_word(&text, formula->name, strlen(formula->name));
		text_add_string(&text, " = ");
		text_add_formula(&text, formula);
	}
	return text_move(&text, arena, error);
}

static int
column_set(struct session *session, const struct command *setting,
           const struct value *value, struct error *error)
{
	const struct column_formula *formula = value->formula;

	(void)setting;
	if (!value->is_given)
		return 0;	/* what get returns if there is none */
	return formula->left == NULL ?
	    session_forget_column(session, formula->name, error) :
	    session_define_column(session, formula, error);
}

static int
column_run(struct session *session, const struct arguments *arguments,
           struct table *table, struct error *error)
{
	if (arguments->values[0].is_given)
		return column_set(session, &command_column,
		                  &arguments->values[0], error);
	if (setting_show(session, &command_column, table, error) != 0)
		return -1;
	return table->n_rows > 0 ? 0 : table_add_footer(table, error,
	    "no column is defined; define one with: column NAME = A / B, where "
	    "A and B are resources");
}

const struct command command_column = {
	.name = "column",
	.group = GROUP_SETTINGS,
	.summary = "defines a column: a ratio or a difference of two resources",
	.description =
	    "column faults/ms = page-faults / cpu defines the column "
	    "faults/ms, which columns then shows. Both sides are of the same "
	    "stacks, so every row of every view has such a ratio. The units "
	    "come from the name, as in faults/ms or MiB/s; otherwise time is "
	    "counted in ms, and what is per bytes is per KiB. The heading of "
	    "each view says so. 0 / 0 is left empty, and 12 / 0 is shown as "
	    "12/0 (null in JSON). A ratio has no share of the run.\n\n"
	    "Sorting by a ratio puts small functions first. To rank what could "
	    "be gained, define the waste: what could have been done in that "
	    "time, less what was done. column waste = 4 * cycles - instructions "
	    "is the number of instructions that a processor of 4 a cycle did "
	    "not execute, and columns waste cycles sorts by it. A "
	    "difference can be negative. It is counted in the gticks of both, "
	    "or if both are times, in ms.\n\n"
	    "column NAME off removes the column.",
	.example = "column share = Real Time / Real Time",
	.arguments = column_arguments,
	.run = column_run,
	.get = column_get,
	.set = column_set,
};
