/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/specialise.c -- what to copy to make call paths optimisable. */
#include <stdlib.h>
#include <string.h>

#include "src/shell/command/command.h"
#include "src/shell/command/view_command.h"
#include "src/views/advice/advice.h"

static const double DEFAULT_TIMES = 2, MOST_TIMES = 1e9;

static bool
is_times(const struct word *word)
{
	return !word->is_quoted && strcmp(word->text, "--times") == 0;
}

/* --times K, two words. */
static int
specialise_read_times(struct reading *reading, struct value *value)
{
	const char *text;
	char *end;

	if (++reading->at == reading->words->n)
		return error_set(reading->error, "--times needs a number");
	text = reading_next_word(reading)->text;
	value->fraction = strtod(text, &end);
	if (strspn(text, "0123456789.") < strlen(text) || end == text ||
	    *end != '\0' || !(value->fraction > 1) ||
	    value->fraction > MOST_TIMES)
		return error_set(reading->error, "%.60s: expected a number "
		                 "above 1, such as 4 for 4 times cheaper",
		                 text);
	return 0;
}

static void
complete_times(struct completion *completion, const struct session *session,
               const struct command *command)
{
	(void)session;
	(void)command;
	completion_offer(completion, "--times", strlen("--times"));
}

static const struct argument_kind times_kind = {
	.read = specialise_read_times,
	.complete = complete_times,
	.wants = is_times,
};

static const struct argument specialise_arguments[] = {
	{ "--times K", &times_kind, ARG_OPTIONAL | ARG_ANYWHERE,
	  "also show what K times cheaper saves (2)" },
	{ "PATH [PATH...]", &arg_paths, 0,
	  "a path, or several, each in parentheses or a row such as %3" },
	ARGUMENTS_END
};

static int
specialise_run(struct session *session, const struct arguments *arguments,
               struct table *table, struct error *error)
{
	const struct value *times = &arguments->values[0];
	const struct value *paths = &arguments->values[1];
	const struct specialise_request wanted = {
		.path = paths->names,
		.path_ends = paths->path_ends,
		.n_paths = paths->n_paths,
		.times = times->is_given ? times->fraction : DEFAULT_TIMES,
	};
	struct view_request request;

	if (session_need_profile(session, error) != 0)
		return -1;
	if (session->settings.naming.granularity != GRANULARITY_FUNCTION)
		return error_set(error, "specialise copies functions; type "
		                 "\"granularity function\" first");
	request = session_request(session);
	return view_specialise(&request, &wanted, table, error);
}

const struct command command_specialise = {
	.name = "specialise",
	.words = COMMAND_WORDS(ALIAS("specialize")),
	.group = GROUP_ASK,
	.summary = "which copies of functions make a call path optimisable",
	.description =
	    "Says how to change the program so that the last function of a "
	    "path can be optimised for its calls along this path alone: "
	    "which functions to copy (qsort_1 is a copy of qsort), which "
	    "call in which of them then goes to a copy, and which copy to "
	    "optimise. First it shortens the path to the shortest context "
	    "with the same hits, which needs fewest copies. Under recursion, "
	    "functions that call back into the path are copied as well, as "
	    "few as possible; these are detours.\n\n"
	    "Each row has the hits that need this change. Above the rows is "
	    "what the run would use if the optimised copy were free, and if "
	    "it were K times cheaper. Savings of several paths are those of "
	    "all of them together: a stack that has several of them counts "
	    "once.",
	.example = "specialise (address_information db_get_property)",
	.arguments = specialise_arguments,
	.run = specialise_run,
};
