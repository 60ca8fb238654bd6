/* SPDX-License-Identifier: GPL-3.0-or-later */
/* assertion.c -- reads a claim that something stays below or above a bound. */
#include "src/shell/command/asserting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/units.h"
#include "src/shell/command/command.h"

const char *const assertion_views[] = {
	[ASSERT_FUNCTIONS] = "functions",
	[ASSERT_BODY] = "body",
	[ASSERT_PATH] = "path",
	[ASSERT_DOWN] = "down",
	[ASSERT_UP] = "up",
	[ASSERT_CALLERS] = "callers",
	[ASSERT_CALLEES] = "callees",
	[ASSERT_CHANGE] = "change",
	NULL
};

/* The view of which a change is meant; ASSERT_CHANGE: none. */
static enum assertion_view
assertion_find_view(const char *word)
{
	int view = 0;

	while (view < ASSERT_CHANGE && strcmp(word, assertion_views[view]) != 0)
		view++;
	return (enum assertion_view)view;
}

static int
read_bounded(struct reading *reading, struct value *value)
{
	const bool is_change = reading->arguments->values[0].count ==
	    ASSERT_CHANGE;
	const struct words *words = reading->words;
	struct words before = *words;
	struct reading of_words = *reading;
	const char **texts = arena_alloc(&reading->arguments->arena,
	                                 3 * sizeof *texts, reading->error);

	if (texts == NULL)
		return -1;
	if (words->n < reading->at + 3 + is_change ||
	    (strcmp(words->words[words->n - 2].text, "below") != 0 &&
	     strcmp(words->words[words->n - 2].text, "above") != 0))
		return error_set(reading->error, "expected below or above and "
		                 "a bound at the end: functions malloc below "
		                 "5%%");
	texts[0] = words->words[words->n - 2].text;
	texts[1] = words->words[words->n - 1].text;
	value->words = texts;
	value->n_words = 2;
	if (is_change) {
		texts[value->n_words++] = words->words[of_words.at++].text;
		if (assertion_find_view(texts[2]) == ASSERT_CHANGE)
			return error_set(reading->error, "%.60s: expected "
			                 "one of functions, body, path, down, "
			                 "up, callers, callees after assert "
			                 "change", texts[2]);
	}
	before.n -= 2;
	of_words.words = &before;
	value->pattern_words = path_words_read(&of_words,
	                                       &value->n_pattern_words);
	reading->at = words->n;
	return value->pattern_words == NULL ? -1 : 0;
}

static void
complete_bounded(struct completion *completion, const struct session *session,
                 const struct command *command)
{
	const struct subject *subject = session->subject;

	static const char *const words[] = { "below", "above" };
	uint32_t n;
	const uint32_t *functions;

	if (completion->n_before == 1 &&
	    strcmp(completion->before[0].text, "change") == 0) {
		arg_choice.complete(completion, session, command);
		return;
	}
	for (size_t i = 0; i < 2; i++)
		completion_offer(completion, words[i], strlen(words[i]));
	if (subject->profile == NULL)
		return;
	functions = session_functions(session, &n);
	for (uint32_t i = 0; functions != NULL && i < n; i++)
		completion_offer(completion, names_text(
		    subject->profile->names, functions[i]),
		    names_length(subject->profile->names, functions[i]));
}

const struct argument_kind arg_bounded = {
	.read = read_bounded,
	.complete = complete_bounded,
	.handle = HANDLE_PATH,
	.takes_rest = true,
};

int
assertion_of(struct assertion *assertion, const struct session *session,
             const struct arguments *arguments, struct error *error)
{
	const struct value *claim = &arguments->values[1];
	const struct resource *resource;
	const char *text, *end;
	bool is_negative;
	size_t n;

	*assertion = (struct assertion){
		.view = (enum assertion_view)arguments->values[0].count,
		.words = claim->pattern_words,
		.n_words = claim->n_pattern_words,
		.is_above = strcmp(claim->words[0], "above") == 0,
		.bound_text = claim->words[1],
		.is_change = claim->n_words > 2,
	};
	if (assertion->is_change)
		assertion->view = assertion_find_view(claim->words[2]);
	if (assertion->view != ASSERT_PATH && assertion->n_words > 1)
		return error_set(error, "%s needs one function; put a name "
		                 "with blanks between bars, and a path after "
		                 "assert path", assertion_views[assertion->view]);
	/* "5%" or, in the resource's unit, "120ms". */
	resource = session_resource(session);
	text = assertion->bound_text;
	is_negative = assertion->is_change && *text == '-';
	text += is_negative || (assertion->is_change && *text == '+');
	n = strspn(text, "0123456789.");
	assertion->is_share = n > 0 && strcmp(text + n, "%") == 0;
	if (assertion->is_share) {
		char *number_end;

		assertion->bound = strtod(text, &number_end) / 100;
		end = number_end == text + n ? number_end + 1 : NULL;
	} else {
		end = text_read_gticks(text, resource->gtick,
		                       &assertion->bound);
	}
	if (is_negative)
		assertion->bound = -assertion->bound;
	if (end != NULL && *end == '\0' && isfinite(assertion->bound))
		return 0;
	return error_set(error, "%.40s: expected a share of the run such as "
	                 "5%%, or an amount of %s such as %s",
	                 assertion->bound_text, resource->name,
	                 gticks_example(resource->gtick));
}
