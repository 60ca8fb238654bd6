/* SPDX-License-Identifier: GPL-3.0-or-later */
/* selection.c -- the argument of narrow and drop: which stacks are meant. */
#include "src/shell/command/view_command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/units.h"
#include "src/profile/sections.h"
#include "src/shell/command/command.h"
#include "src/views/lists/lists.h"

/* What may come before a pattern; the value's count is its index + 1. */
static const struct {
	const char *word;
	enum section_kind kind;
	bool is_time;
} kinds[] = {
	{ "thread", SECTION_THREAD, false },
	{ "process", SECTION_PROCESS, false },
	{ "label", SECTION_LABEL, false },
	{ "time", SECTION_THREAD, true },
	{ "calls", SECTION_LABEL, false },
};

enum { N_KINDS = sizeof kinds / sizeof *kinds, KIND_CALLS = N_KINDS };

/* The index of a kind, from 1; 0: the word is none. */
static size_t
find_kind(const struct word *word)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (!word->is_quoted && strcmp(word->text, kinds[i].word) == 0)
			return i + 1;
	return 0;
}

int
selection_read_words(const struct reading *reading, size_t begin, size_t end,
                     struct pattern_word *word)
{
	const struct word *first = &reading->words->words[begin];
	const struct word *last = &reading->words->words[end - 1];

	*word = (struct pattern_word){
		.text = first->text,
		.length = first->length,
		.is_exact = first->is_quoted,
	};
	if (first != last)
		*word = (struct pattern_word){
			.text = arena_text(&reading->arguments->arena,
			    reading->line + first->begin,
			    last->end - first->begin, reading->error),
			.length = last->end - first->begin,
		};
	return word->text != NULL ? 0 : -1;
}

/* ---- calls ---- */

static const char *const bound_words[] = { "above", "below" };

/* Whether a word is above, 1, or below, 2. */
static size_t
bound_word(const struct word *word)
{
	for (size_t i = 0; i < 2; i++)
		if (!word->is_quoted && strcmp(word->text, bound_words[i]) == 0)
			return i + 1;
	return 0;
}

/* Where above or below is, from `begin` on; 0: nowhere. */
static size_t
selection_find_bound(const struct words *words, size_t begin)
{
	for (size_t i = begin; i < words->n && i < begin + 2; i++)
		if (bound_word(&words->words[i]) != 0)
			return i;
	return 0;
}

/*
 * Says why no function of that name was found: it has a longer name, or is an
 * interpreted one.
 */
static void
calls_explain_missing(const struct profile *profile, const char *function,
                      struct error *error)
{
	const size_t length = strlen(function);

	for (uint32_t i = 0; i < names_count(profile->names); i++) {
		const char *text = names_text(profile->names, i);
		const size_t n = strcspn(text, "(");

		/* "srv::Server::handle(int)" */
		if (n > length + 2 &&
		    strncmp(text + n - length - 2, "::", 2) == 0 &&
		    strncmp(text + n - length, function, length) == 0) {
			error_set(error, "no function %.60s was found in the "
			          "files that were sampled; record --calls "
			          "%.*s, if you mean that one", function,
			          (int)(n < 120 ? n : 120), text);
			return;
		}
		/* "handle (server.py)" */
		if (n == length + 1 && text[n] == '(' && text[n - 1] == ' ' &&
		    strncmp(text, function, length) == 0) {
			error_set(error, "%.60s is interpreted, and only calls "
			          "of compiled functions can be followed; "
			          "down \"%.60s\" shows what it uses", text,
			          text);
			return;
		}
	}
	error_set(error, "no function %.60s was found in the files that were "
	          "sampled: it may be inlined everywhere, or they lack "
	          "symbols", function);
}

const struct observed_calls *
calls_of_function(const struct profile *profile, const char *function,
                  struct error *error)
{
	const struct observed_calls *calls = function != NULL ?
	    observed_calls_find(profile, function) :
	    profile->n_calls == 1 ? &profile->calls[0] : NULL;
	const char *names = profile->n_calls > 0 ? profile->calls[0].function :
	    "";

	if (profile->n_calls == 0)
		error_set(error, "the profile has no lengths of calls; record "
		          "it with: cpprof record --calls FUNCTION");
	else if (calls == NULL && function == NULL)
		error_set(error, "calls of %u functions were observed; name "
		          "one, such as %.60s", profile->n_calls, names);
	else if (calls == NULL)
		error_set(error, "calls of %.60s were not observed, but those "
		          "of %.60s", function, names);
	else if (calls->n_places == 0)
		calls_explain_missing(profile, calls->function, error);
	else if (observed_calls_longest(calls) == 0)
		error_set(error, "no call of %.60s was seen to its end; narrow "
		          "label call:%.60s=unfinished has the %" PRIu64
		          " unfinished", calls->function, calls->function,
		          observed_calls_unfinished(calls));
	else
		return calls;
	return NULL;
}

/* "20ms" or "p99"; the length in ns. */
static int
read_length(const char *text, const struct observed_calls *calls,
            const struct known_calls *known, double *ns, struct error *error)
{
	struct call_estimate length;
	const char *end;
	uint64_t read;
	double share;
	char *share_end;

	if (*text != 'p') {
		end = text_read_duration(text, &read);
		*ns = (double)read;
		if (end != NULL && *end == '\0' && read > 0)
			return 0;
	} else {
		share = strtod(text + 1, &share_end) / 100;
		if (share_end != text + 1 && *share_end == '\0' && share > 0 &&
		    share < 1) {
			length = call_lengths_quantile(&known->lengths,
			    &known->totals, share);
			*ns = length.value;
			return length.value > 0 ? 0 : error_set(error, "%s of "
			    "%.60s is below the interval, %.3g ms, in which "
			    "calls are not known one by one; take a larger "
			    "one or a length", text, calls->function,
			    known->lengths.interval / 1e6);
		}
	}
	return error_set(error, "%.60s: expected a length, such as 20ms, or a "
	                 "percentile, such as p99", text);
}

/* Whether calls can be told apart by that length, and some took longer. */
static int
check_bound(const char *text, const struct observed_calls *calls,
            const struct known_calls *known, uint64_t bound, bool is_above,
            struct error *error)
{
	const double longest = (double)observed_calls_longest(calls);

	if ((double)bound < known->lengths.interval)
		return error_set(error, "%s: calls shorter than the interval, "
		                 "%.3g ms, are not known one by one", text,
		                 known->lengths.interval / 1e6);
	if (is_above && (double)bound >= longest)
		return error_set(error, "%s: no call of %.60s took so long; "
		                 "the longest took %.3g ms", text,
		                 calls->function, longest / 1e6);
	return 0;
}

/* "call:handle>=20971us" */
static int
word_of_calls(const struct reading *reading,
              const struct observed_calls *calls, const char *sign,
              uint64_t bound_ns, struct pattern_word *word)
{
	const char *text = arena_format(&reading->arguments->arena,
	    reading->error, CALL_KEY "%s%s%" PRIu64 "us", calls->function, sign,
	    bound_ns / 1000);

	if (text == NULL)
		return -1;
	*word = (struct pattern_word){ .text = text, .length = strlen(text) };
	return 0;
}

/* The words from `begin` on, as the shell reads them; NULL with *error set. */
static const char *
words_from(const struct reading *reading, size_t begin)
{
	const struct words *words = reading->words;
	struct text_buffer text = { 0 };

	for (size_t i = begin; i < words->n; i++) {
		if (i > begin)
			text_add_char(&text, ' ');
		text_add_word(&text, words->words[i].text,
		              strlen(words->words[i].text));
	}
	return text_move(&text, &reading->arguments->arena, reading->error);
}

int
selection_read_calls(const struct reading *reading, size_t begin,
                     struct calls_selection *selection)
{
	const struct profile *profile = reading->session->subject->profile;
	const struct words *words = reading->words;
	const size_t at = selection_find_bound(words, begin);
	const bool is_above = at > 0 && bound_word(&words->words[at]) == 1;
	const struct observed_calls *calls;
	struct known_calls known;
	const char *length;
	uint64_t bound = 0;
	double ns = 0, n_above;
	int status = -1;

	if (at == 0 || at > begin + 1 || at + 2 != words->n)
		return error_set(reading->error, "expected calls [FUNCTION] "
		                 "above LENGTH, or below LENGTH");
	length = words->words[at + 1].text;
	if (session_need_profile(reading->session, reading->error) != 0)
		return -1;
	calls = calls_of_function(profile, at > begin ?
	                          words->words[begin].text : NULL,
	                          reading->error);
	if (calls == NULL)
		return -1;
	if (known_calls_make(&known, calls, reading->error) == 0 &&
	    read_length(length, calls, &known, &ns, reading->error) == 0) {
		bound = observed_calls_class_bound((uint64_t)ns);
		n_above = call_lengths_above(&known.lengths,
		                             (double)bound).value;
		selection->n_these = is_above ? n_above :
		    known.totals.all.value - n_above;
		selection->n_others = known.totals.all.value -
		    selection->n_these;
		status = check_bound(length, calls, &known, bound, is_above,
		                     reading->error);
	}
	if (status == 0)
		status = word_of_calls(reading, calls, is_above ? ">=" : "<",
		                       bound, &selection->these);
	if (status == 0)
		status = word_of_calls(reading, calls, is_above ? "<" : ">=",
		                       bound, &selection->others);
	known_calls_free(&known);
	if (status == 0)
		selection->words = words_from(reading, begin);
	return status == 0 && selection->words != NULL ? 0 : -1;
}

void
selection_complete_calls(struct completion *completion,
                         const struct session *session,
                         const struct command *command)
{
	const struct profile *profile = session->subject->profile;

	(void)command;
	for (uint32_t i = 0; profile != NULL && i < profile->n_calls; i++)
		completion_offer(completion, profile->calls[i].function,
		                 strlen(profile->calls[i].function));
}

static int
read_selection(struct reading *reading, struct value *value)
{
	const struct words *words = reading->words;
	size_t kind = words->n - reading->at < 2 ? 0 :
	    find_kind(&words->words[reading->at]);
	struct pattern_word *word;
	size_t begin;

	/* A path that begins with a function of that name has no such word. */
	if (kind == KIND_CALLS && selection_find_bound(words, reading->at + 1) == 0)
		kind = 0;
	if (kind == 0)
		return arg_path_pattern.read(reading, value);
	value->count = kind;
	value->text = reading_next_word(reading)->text;
	/*
	 * Names of threads have blanks, so all that is left of the line is one
	 * word.
	 */
	word = arena_alloc(&reading->arguments->arena, sizeof *word,
	                   reading->error);
	begin = reading->at;
	if (word == NULL)
		return -1;
	reading->at = reading->words->n;
	value->pattern_words = word;
	value->n_pattern_words = 1;
	if (kind == KIND_CALLS) {
		struct calls_selection calls;

		if (selection_read_calls(reading, begin, &calls) != 0)
			return -1;
		*word = calls.these;
		return 0;
	}
	return selection_read_words(reading, begin, reading->at, word);
}

bool
selection_read_range(const char *text, uint64_t *begin_ns, uint64_t *end_ns)
{
	*begin_ns = 0;
	*end_ns = UINT64_MAX;
	if (*text != '.')
		text = text_read_duration(text, begin_ns);
	if (text == NULL || text[0] != '.' || text[1] != '.')
		return false;
	text += 2;
	if (*text == '\0')
		return true;
	text = text_read_duration(text, end_ns);
	return text != NULL && *text == '\0' && *begin_ns < *end_ns;
}

struct step *
selection_step(bool drops, const struct value *value, struct error *error)
{
	if (value->count > 0 && kinds[value->count - 1].is_time) {
		const struct pattern_word *word = value->pattern_words;
		uint64_t begin_ns, end_ns;

		if (memchr(word->text, '\0', word->length) != NULL ||
		    !selection_read_range(word->text, &begin_ns, &end_ns)) {
			error_set(error,
			          "%.40s: expected a part of the run, such as "
			          "2s..5s, 500ms.. or ..1.5s",
			          word->text);
			return NULL;
		}
		return step_new_time(drops, begin_ns, end_ns, error);
	}
	return value->count == 0 ?
	    step_new_path(drops, value->pattern_words, value->n_pattern_words,
	                  error) :
	    step_new_sections(drops, kinds[value->count - 1].kind,
	                      value->pattern_words, error);
}

/* ---- completion ---- */

struct offering {
	struct completion *completion;
	const char *key;	/* NULL: none before the text */
};

static void
selection_offer(void *context, const char *text, size_t length)
{
	struct offering *offering = context;
	struct completion *completion = offering->completion;
	const char *whole;

	if (offering->key == NULL) {
		completion_offer(completion, text, length);
		return;
	}
	whole = arena_format(&completion->arena, &completion->error,
	                     "%s=%.*s", offering->key, (int)length, text);
	if (whole != NULL)
		completion_offer(completion, whole, strlen(whole));
}

void
selection_complete_labels(struct completion *completion,
                          const struct profile *profile)
{
	struct offering offering = { completion, NULL };
	const char *sign = memchr(completion->prefix, '=',
	                          completion->prefix_length);

	if (sign != NULL) {
		offering.key = arena_text(&completion->arena,
		    completion->prefix, (size_t)(sign - completion->prefix),
		    &completion->error);
		if (offering.key == NULL)
			return;
	}
	sections_offer(profile, SECTION_LABEL, offering.key, selection_offer,
	               &offering, &completion->error);
}

static void
complete_selection(struct completion *completion,
                   const struct session *session,
                   const struct command *command)
{
	const struct subject *subject = session->subject;
	struct offering offering = { completion, NULL };
	size_t kind = completion->n_before == 0 ? 0 :
	    find_kind(&completion->before[0]);

	if (kind == 0) {
		for (size_t i = 0; completion->n_before == 0 && i < N_KINDS;
		     i++)
			completion_offer(completion, kinds[i].word,
			                 strlen(kinds[i].word));
		arg_path_pattern.complete(completion, session, command);
	} else if (subject->profile == NULL || completion->n_before > 1 ||
	           kinds[kind - 1].is_time) {
		return;
	} else if (kind == KIND_CALLS) {
		selection_complete_calls(completion, session, command);
		for (size_t i = 0; i < 2; i++)
			completion_offer(completion, bound_words[i],
			                 strlen(bound_words[i]));
	} else if (kinds[kind - 1].kind == SECTION_LABEL) {
		selection_complete_labels(completion, subject->profile);
	} else {
		sections_offer(subject->profile, kinds[kind - 1].kind, NULL,
		               selection_offer, &offering, &completion->error);
	}
}

const struct argument_kind arg_selection = {
	.read = read_selection,
	.complete = complete_selection,
	.handle = HANDLE_PATH,
	.takes_rest = true,
};
