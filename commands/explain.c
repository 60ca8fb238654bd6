/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/explain.c -- what dominates, how sure that is, and what to ask. */
#include <stdlib.h>
#include <string.h>

#include "src/shell/command/argument_kinds.h"
#include "src/shell/command/view_command.h"

static bool
is_words(const struct word *word)
{
	return !word->is_quoted && strcmp(word->text, "--words") == 0;
}

/* --words N, two words. */
static int
read_words(struct reading *reading, struct value *value)
{
	if (++reading->at == reading->words->n)
		return error_set(reading->error, "--words needs a number");
	return arg_rows.read(reading, value);
}

static const struct argument_kind words_kind = {
	.read = read_words,
	.wants = is_words,
};

static const struct argument explain_arguments[] = {
	{ "--words N", &words_kind, ARG_OPTIONAL | ARG_ANYWHERE,
	  "how many words the findings and commands may have (a screen)" },
	ARGUMENTS_END
};

static int
explain_run(struct session *session, const struct arguments *arguments,
            struct table *table, struct error *error)
{
	struct view_request request;
	uint64_t *module_hits;
	int status;

	if (session_need_profile(session, error) != 0 ||
	    session_module_hits(session, &module_hits, error) != 0)
		return -1;
	request = session_request(session);
	request.n_columns = 0;
	request.module_hits = module_hits;
	if (arguments->values[0].is_given)
		request.n_words = arguments->values[0].count;
	status = view_explain(&request, table, error);
	free(module_hits);
	return status;
}

const struct command command_explain = {
	.name = "explain",
	.summary = "what dominates, how sure that is, and what to type next",
	.description =
	    "Shows on one screen what dominates the current resource in what "
	    "the refinement left, by fixed rules: the hot path from the root, "
	    "as long as one callee holds more than half of its caller, and "
	    "why it stops; the bodies that used most; functions that "
	    "re-enter; the callers of the first body; a module that holds "
	    "most; stacks that the root is not on, or that were cut. Each "
	    "share has its standard error. Commands that look further are "
	    "below. Section 2.11 of the manual has the rules.\n\n"
	    "--words N is for programs that read a limited text: findings "
	    "and commands then have at most N words in all; what comes "
	    "first matters most. With format json, each row has the kind of "
	    "its finding, its sentence, and the numbers.",
	.example = "explain",
	.arguments = explain_arguments,
	.run = explain_run,
};
