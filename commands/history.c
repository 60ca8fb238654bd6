/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/history.c -- lists the lines typed at the prompt. */
#include "src/shell/command/command.h"

static int
history_run(struct session *session, const struct arguments *arguments,
            struct table *table, struct error *error)
{
	const struct history *history = &session->history;

	(void)arguments;
	table->schema = "cpprof.history/1";
	table->is_plain = true;
	table_add_column(table, "number", "number", CELL_COUNT);
	table_add_column(table, "command", "command", CELL_TEXT);
	for (size_t i = 0; i < history->n; i++) {
		struct cell cells[] = { cell_count(i + 1),
			                cell_text(history->lines[i]) };

		if (table_add_row(table, cells, error) != 0)
			return -1;
	}
	return 0;
}

const struct command command_history = {
	.name = "history",
	.words = COMMAND_WORDS(SHORT("hi")),
	.group = GROUP_PROMPT,
	.summary = "lists the lines typed at the prompt",
	.description =
	    "The lines are kept between sessions in "
	    "$XDG_STATE_HOME/cpprof/history (in ~/.local/state if that is not "
	    "set). The arrow keys and Ctrl-R recall them. Scripts have no "
	    "history.",
	.example = "history",
	.run = history_run,
};
