/* SPDX-License-Identifier: GPL-3.0-or-later */
/* column_argument.c -- the arguments of columns and column.
 *
 * A resource's name may have blanks, and needs no bars for them: in a list the
 * longest run of words that is a resource is one, in a formula all words up to
 * the operator.
 */
#include "src/shell/command/resolve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/short_name.h"

enum { SHOWN = 60 };

static bool
column_argument_is_word(const struct word *word, const char *text)
{
	return !word->is_quoted && strcmp(word->text, text) == 0;
}

/* Words [begin, end) with a blank between them, in the arena. */
static char *
column_argument_join(const struct reading *reading, size_t begin, size_t end)
{
	struct text_buffer text = { 0 };

	for (size_t i = begin; i < end; i++) {
		if (i > begin)
			text_add_char(&text, ' ');
		text_add_string(&text, reading->words->words[i].text);
	}
	return text_move(&text, &reading->arguments->arena, reading->error);
}

/* ---- columns ---- */

static int
column_argument_report_unknown(const struct reading *reading, const char *text)
{
	const struct column_list *list = &reading->session->columns;
	const struct profile *profile = reading->session->subject->profile;
	struct text_buffer message = { 0 };
	struct near near;

	near_start(&near, text, strlen(text));
	for (size_t i = 0; i < list->n_formulas; i++)
		near_offer(&near, list->formulas[i].name,
		           strlen(list->formulas[i].name));
	for (uint32_t r = 0; r < profile->n_resources; r++)
		near_offer(&near, profile->resources[r].name,
		           strlen(profile->resources[r].name));
	text_add_format(&message, "there is no resource %.*s, and no column of "
	                "that name is defined", SHOWN, text);
	near_add(&near, &message);
	if (near.n == 0)
		text_add_string(&message, "; resource lists the resources");
	error_set(reading->error, "%s", text_string(&message));
	text_free(&message);
	return -1;
}

/* Whether a word may begin several resources, which resolve_resource reports. */
static bool
begins_resource(const struct profile *profile, const char *text)
{
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (strncasecmp(profile->resources[r].name, text,
		                strlen(text)) == 0)
			return *text != '\0';
	return false;
}

/* The next name, in full; NULL with *error set. */
static const char *
column_argument_read_name(struct reading *reading)
{
	const struct session *session = reading->session;
	const struct subject *subject = session->subject;
	size_t first = reading->at, end = reading->words->n;
	const char *text;
	uint32_t found;

	for (; subject->profile != NULL && end > first + 1; end--) {
		text = column_argument_join(reading, first, end);
		if (text == NULL)
			return NULL;
		if (profile_find_resource(subject->profile, text) ==
		    NO_RESOURCE)
			continue;
		reading->at = end;
		return text;
	}
	text = reading_next_word(reading)->text;
	if (subject->profile == NULL ||
	    column_list_formula(&session->columns, text) != NULL)
		return text;
	if (!begins_resource(subject->profile, text)) {
		column_argument_report_unknown(reading, text);
		return NULL;
	}
	found = resolve_resource(session, text, reading->error);
	return found == UINT32_MAX ? NULL :
	    subject->profile->resources[found].name;
}

static int
read_columns(struct reading *reading, struct value *value)
{
	size_t most = reading->words->n - reading->at;
	const char **names = arena_alloc(&reading->arguments->arena,
	                                 (most + 1) * sizeof *names,
	                                 reading->error);

	if (names == NULL)
		return -1;
	value->words = names;
	value->text = reading->words->words[reading->at].text;
	if (most == 1 &&
	    column_argument_is_word(&reading->words->words[reading->at],
	                            "off")) {
		reading->at++;
		return 0;
	}
	while (reading->at < reading->words->n) {
		const char *name = column_argument_read_name(reading);

		if (name == NULL)
			return -1;
		for (size_t i = 0; i < value->n_words; i++)
			if (strcmp(names[i], name) == 0)
				return error_set(reading->error, "%.*s is "
				                 "named twice", SHOWN, name);
		names[value->n_words++] = name;
	}
	if (value->n_words > COLUMN_LIST_MAX)
		return error_set(reading->error, "at most %d columns",
		                 COLUMN_LIST_MAX);
	return 0;
}

static void
column_argument_offer(struct completion *completion, const char *text)
{
	completion_offer(completion, text, strlen(text));
}

static void
offer_resources(struct completion *completion, const struct session *session)
{
	const struct profile *profile = session->subject->profile;

	for (uint32_t r = 0; profile != NULL && r < profile->n_resources; r++)
		column_argument_offer(completion, profile->resources[r].name);
}

static void
offer_formulas(struct completion *completion, const struct session *session)
{
	for (size_t i = 0; i < session->columns.n_formulas; i++)
		column_argument_offer(completion,
		                      session->columns.formulas[i].name);
}

static void
complete_columns(struct completion *completion, const struct session *session,
                 const struct command *command)
{
	(void)command;
	if (completion->n_before == 0)
		column_argument_offer(completion, "off");
	offer_formulas(completion, session);
	offer_resources(completion, session);
}

const struct argument_kind arg_columns = {
	.read = read_columns,
	.complete = complete_columns,
	.takes_rest = true,
};

/* ---- column ---- */

static int
report_form(const struct reading *reading)
{
	return error_set(reading->error, "expected NAME = A / B, or NAME = "
	                 "[N *] A - [N *] B, of two resources, with blanks "
	                 "around the signs; or NAME off");
}

static int
read_factor(const struct reading *reading, const char *text, double *factor)
{
	char *end;

	*factor = strtod(text, &end);
	if (strspn(text, "0123456789.eE+-") != strlen(text) || *end != '\0' ||
	    end == text || !(*factor > 0) || *factor > COLUMN_FACTOR_MOST)
		return error_set(reading->error, "%.*s: expected a positive "
		                 "number", SHOWN, text);
	return 0;
}

/* Reads "[N *] RESOURCE", which is the words up to `end`. */
static int
column_argument_read_term(struct reading *reading, size_t end, char **resource,
                          double *factor)
{
	const struct session *session = reading->session;
	const struct subject *subject = session->subject;
	const struct word *words = reading->words->words;
	uint32_t found;

	*factor = 1;
	if (end > reading->at + 1 &&
	    column_argument_is_word(&words[reading->at + 1], "*")) {
		if (read_factor(reading, words[reading->at].text, factor) != 0)
			return -1;
		reading->at += 2;
	}
	if (reading->at >= end)
		return report_form(reading);
	*resource = column_argument_join(reading, reading->at, end);
	reading->at = end;
	if (*resource == NULL || subject->profile == NULL)
		return *resource == NULL ? -1 : 0;
	if (column_list_formula(&session->columns, *resource) != NULL)
		return error_set(reading->error, "%.*s is a formula; use only "
		                 "resources in a formula", SHOWN, *resource);
	found = resolve_resource(session, *resource, reading->error);
	if (found == UINT32_MAX)
		return -1;
	*resource = arena_text(&reading->arguments->arena,
	    subject->profile->resources[found].name,
	    strlen(subject->profile->resources[found].name), reading->error);
	return *resource == NULL ? -1 : 0;
}

static int
column_argument_read_formula(struct reading *reading, struct value *value)
{
	const struct words *words = reading->words;
	size_t left = words->n - reading->at, operator;
	struct column_formula *formula = arena_alloc(
	    &reading->arguments->arena, sizeof *formula, reading->error);
	size_t at;
	const char *name;
	const struct profile *profile;

	if (formula == NULL)
		return -1;
	*formula = (struct column_formula){ 0 };
	value->formula = formula;
	value->text = words->words[reading->at].text;
	formula->name = column_argument_join(reading, reading->at,
	                                     reading->at + 1);
	reading->at++;
	if (formula->name == NULL)
		return -1;
	if (left == 2 &&
	    column_argument_is_word(&words->words[reading->at], "off")) {
		reading->at++;
		return column_list_formula(&reading->session->columns,
		                           formula->name) != NULL ? 0 :
		    error_set(reading->error, "no column %.*s is defined",
		              SHOWN, formula->name);
	}
	if (left < 2 ||
	    !column_argument_is_word(&words->words[reading->at], "="))
		return report_form(reading);
	reading->at++;
	/* The place of the operator, or the number of words. */
	at = reading->at;
	while (at < words->n &&
	       !column_argument_is_word(&words->words[at], "/") &&
	       !column_argument_is_word(&words->words[at], "-"))
		at++;
	operator = at;
	/* A column has no name that something else has. */
	name = formula->name;
	profile = reading->session->subject->profile;
	if (strcmp(name, "off") == 0 || *name == '\0' || (profile != NULL &&
	    profile_find_resource(profile, name) != NO_RESOURCE))
		return error_set(reading->error, "%.*s is %s; give the column "
		                 "another name", SHOWN, *name == '\0' ?
		                 "empty" : name, strcmp(name, "off") == 0 ?
		                 "not a name" : "a resource");
	if (column_argument_read_term(reading, operator, &formula->left,
	                              &formula->left_factor) != 0)
		return -1;
	if (operator == words->n)
		return report_form(reading);
	formula->is_ratio = column_argument_is_word(&words->words[operator],
	                                            "/");
	reading->at++;
	return column_argument_read_term(reading, words->n, &formula->right,
	                                 &formula->right_factor);
}

static void
complete_formula(struct completion *completion, const struct session *session,
                 const struct command *command)
{
	size_t n = completion->n_before;

	(void)command;
	if (n == 0) {
		offer_formulas(completion, session);
	} else if (n == 1) {
		column_argument_offer(completion, "=");
		column_argument_offer(completion, "off");
	} else {
		offer_resources(completion, session);
		column_argument_offer(completion, "/");
		column_argument_offer(completion, "-");
		column_argument_offer(completion, "*");
	}
}

const struct argument_kind arg_formula = {
	.read = column_argument_read_formula,
	.complete = complete_formula,
	.takes_rest = true,
};
