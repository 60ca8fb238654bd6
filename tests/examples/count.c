/* SPDX-License-Identifier: GPL-3.0-or-later */
/* count.c -- how many functions match a pattern. */
#include "src/shell/command/command.h"

static const struct argument count_arguments[] = {
	{ "PATTERN", &arg_pattern, 0, "the functions to count" },
	ARGUMENTS_END
};

static int
count_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	const struct pattern *pattern = arguments->values[0].pattern;
	const struct names *names;
	const uint32_t *functions;
	uint64_t n_matches = 0;
	uint32_t n;
	struct cell cell;

	if (session_need_profile(session, error) != 0)
		return -1;
	names = session->subject->profile->names;
	functions = session_functions(session, &n);
	for (uint32_t i = 0; i < n; i++)
		n_matches += pattern_matches(pattern,
		                             names_text(names, functions[i]),
		                             names_length(names, functions[i]));
	table->schema = "example.count/1";
	table_add_column(table, "functions", "functions", CELL_COUNT);
	cell = cell_count(n_matches);
	return table_add_row(table, &cell, error);
}

const struct command command_count = {
	.name = "count",
	.group = GROUP_ASK,
	.summary = "the number of functions that match a pattern",
	.description = "Counts the functions by their current names.",
	.example = "count db_*",
	.arguments = count_arguments,
	.run = count_run,
};
