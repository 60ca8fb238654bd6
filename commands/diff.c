/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/diff.c -- a view as a comparison with the base. */
#include <string.h>

#include "src/shell/command/command.h"
#include "src/shell/command/interpret.h"

static int
read_view(struct reading *reading, struct value *value)
{
	value->text = reading_next_word(reading)->text;
	return 0;
}

static void
complete_views(struct completion *completion, const struct session *session,
               const struct command *command)
{
	(void)session;
	(void)command;
	for (size_t i = 0; commands[i] != NULL; i++)
		if (commands[i]->is_compared)
			completion_offer(completion, commands[i]->name,
			                 strlen(commands[i]->name));
}

/* From the view on it is a command line of its own. */
static size_t
diff_find_view(const struct word *words, size_t n)
{
	(void)words;
	return n > 1 ? 1 : 0;
}

static const struct argument_kind view_kind = {
	.read = read_view,
	.complete = complete_views,
	.find_command = diff_find_view,
	.takes_rest = true,
	.is_raw = true,
};

static const struct argument diff_arguments[] = {
	{ "VIEW ...", &view_kind, ARG_OPTIONAL,
	  "the view to compare, with its arguments (top)" },
	ARGUMENTS_END
};

/* Refuses a line that is no view, or one without rows for both sides. */
static int
check_view(const char *line, struct error *error)
{
	size_t n, n_words;
	const struct command *command = command_of_line(line, strlen(line),
	                                                &n, &n_words, error);
	struct text_buffer known = { 0 };

	if (command == NULL)
		return -1;
	if (command->is_compared)
		return 0;
	for (size_t i = 0; commands[i] != NULL; i++)
		if (commands[i]->is_compared)
			text_add_format(&known, "%s%s", known.length ==
			                0 ? "" : ", ", commands[i]->name);
	error_set(error, "diff cannot compare %s; it takes %s", command->name,
	          text_string(&known));
	text_free(&known);
	return -1;
}

static int
diff_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	const struct value *view = &arguments->values[0];
	const char *line = view->is_given ? view->text : "top";
	const struct subject *compared;
	int status;

	(void)table;
	if (check_view(line, error) != 0 ||
	    (compared = session_compared(session, error)) == NULL)
		return -1;
	session->subject = compared;
	status = interpret_line(session, line, strlen(line), error);
	session->subject = &session->loaded;
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.group = GROUP_COMPARE,
	.summary = "what changed since the base, and whether that is noise",
	.description =
	    "Shows a view as a comparison of the base with the loaded "
	    "profile: top, functions, body, flat, down, up, tree, callers, "
	    "callees, path and flame, with their arguments. Paths are "
	    "canonical on both sides, functions match by name, and steps, "
	    "groups and settings apply to both. What appeared or vanished has "
	    "a row. A row is shown if it has the threshold's share of either "
	    "side; a number of rows does not change that.\n\n"
	    "base and now: what a run used, on average. change: their "
	    "difference, in units and as a percentage of the base; +-: half "
	    "of its 95% interval. visible: the smallest growth that 80 of 100 "
	    "such comparisons would detect. "
	    "verdict: grew or shrank (of the rows so called, at most 5% are "
	    "expected to be noise), likely (the same, from one run on each "
	    "side, which is weaker evidence), moved (in down, up, tree and "
	    "flame: it did not "
	    "change, but of what it calls one grew and one shrank), noise (no "
	    "more than chance), or undecided. A side that is one merged "
	    "profile has its sum, and its random groups of members show the "
	    "noise, as runs would.\n\n"
	    "With one run on each side, a change that is more than chance is "
	    "undecided if equal runs may differ by as much: by less than 15%, "
	    "as most functions do here, or all alike by less than half, as on "
	    "a slower machine. Recordings of cpprof "
	    "record --repeat 3 for each side can decide that. A row is also "
	    "undecided if the hits are neither exact nor counts of samples, "
	    "and there is one run on each side.\n\n"
	    "What changed comes first. In down, up and tree a change is in "
	    "all paths that lead to it: > marks the shortest path that "
	    "changed, >> the longest that has at least 80% of its change.\n\n"
	    "In diff flame, boxes are as wide as the larger side, in the colour "
	    "of their verdict.\n\n"
	    "Amounts are absolute, as for runs that did equal work; see scale.",
	.example = "diff functions",
	.arguments = diff_arguments,
	.run = diff_run,
};
