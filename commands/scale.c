/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/scale.c -- what diff compares the use of runs per. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/shell/command/command.h"
#include "src/shell/command/resolve.h"

/* In the order of enum scale_kind. */
static const char *const scale_choices[] = {
	"absolute", "work", "by", "robust", NULL
};

static int
scale_read_amount(struct reading *reading, struct value *value)
{
	value->text = reading_next_word(reading)->text;
	return 0;
}

static void
scale_complete_functions(struct completion *completion,
                         const struct session *session,
                         const struct command *command)
{
	arg_function.complete(completion, session, command);
}

static const struct argument_kind amount_kind = {
	.read = scale_read_amount,
	.complete = scale_complete_functions,
	.handle = HANDLE_FUNCTION,
};

static const struct argument scale_arguments[] = {
	{ "absolute|work|by|robust", &arg_choice, ARG_OPTIONAL,
	  "how diff knows the work of a run (default: shows the scale)" },
	{ "N|FUNCTION", &amount_kind, ARG_OPTIONAL,
	  "work: the work of a loaded run, with a base run as 1; by: the "
	  "function" },
	ARGUMENTS_END
};

/* Reads "1.5" or "1500/1000". */
static int
read_work(const char *text, double *work, struct error *error)
{
	char *end;
	double divisor = 1;

	*work = strtod(text, &end);
	if (end != text && *end == '/')
		divisor = strtod(end + 1, &end);
	*work /= divisor;
	if (end == text || *end != '\0' || !isfinite(*work) || !(*work > 0) ||
	    !(divisor > 0))
		return error_set(error, "%.60s: expected a number above 0, "
		                 "such as 1.5 or 1500/1000", text);
	return 0;
}

static int
scale_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	const struct value *choice = &arguments->values[0];
	const struct value *value = &arguments->values[1];
	bool needs_value;
	double work;

	if (!choice->is_given) {
		const struct scale *scale = &session->scale;
		const char *text = scale->kind == SCALE_WORK ?
		    table_text(table, error, "work %.15g", scale->work) :
		    scale->kind == SCALE_BY ?
		    table_text(table, error, "by %s", scale->function) :
		    scale_choices[scale->kind];

		if (text == NULL)
			return -1;
		table->schema = "cpprof.settings/1";
		table->is_plain = true;
		table_add_column(table, "name", "name", CELL_TEXT);
		table_add_column(table, "value", "value", CELL_TEXT);
		return table_add_row(table, (struct cell[]){
			cell_text("scale"), cell_text(text),
		}, error);
	}
	needs_value = choice->count == SCALE_WORK || choice->count == SCALE_BY;
	if (needs_value != value->is_given)
		return error_set(error, needs_value ? "scale %s needs %s" :
		                 "scale %s takes no argument",
		                 scale_choices[choice->count],
		                 choice->count == SCALE_BY ? "a function" :
		                 "a number");
	if (choice->count == SCALE_BY) {
		const struct word word = { .text = value->text,
			                   .length = strlen(value->text) };
		struct arena arena = { 0 };
		size_t n;
		uint32_t *found = resolve_functions(session, &word, &arena, &n,
		                                    error);
		int status = -1;

		if (found != NULL && n > 1)
			error_set(error, "%.60s matches %zu functions",
			          value->text, n);
		else if (found != NULL)
			status = session_scale_by(session, names_text(
			    session->subject->profile->names, found[0]), error);
		arena_free(&arena);
		return status;
	}
	if (choice->count == SCALE_WORK) {
		if (read_work(value->text, &work, error) != 0)
			return -1;
		session->scale.work = work;
	}
	session->scale.kind = (enum scale_kind)choice->count;
	return 0;
}

const struct command command_scale = {
	.name = "scale",
	.words = COMMAND_WORDS(
	    TYPE("work", "scale work N"), TYPE("by", "scale by FUNCTION"),
	    TYPE("robust", "scale robust")),
	.group = GROUP_COMPARE,
	.summary = "what diff divides the use of runs by: work or a function",
	.description =
	    "absolute (the start): diff compares what runs used, which is "
	    "right if all did the same work. work N: a run now does N times "
	    "the work of a run of the base, so its use is divided by N; N may "
	    "be a quotient, such as 1500/1000. by FUNCTION: the hits of a "
	    "function stand for the work of each run. robust: most of the "
	    "use is taken for unchanged, so the work of a run is the "
	    "weighted median of what functions used there as a part of their "
	    "mean; a change of all functions alike cannot be seen then. The "
	    "work that these two say has noise of its own, which the heading "
	    "shows and which is part of all intervals. So a function of few "
	    "samples is no good measure of work.\n\n"
	    "Shares of the total are not among these: if one function gets "
	    "faster, the shares of all others grow although they did not "
	    "change.",
	.example = "scale work 1500/1000",
	.arguments = scale_arguments,
	.choices = scale_choices,
	.run = scale_run,
};
