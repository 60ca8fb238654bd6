/* SPDX-License-Identifier: GPL-3.0-or-later */
/* selection.c -- the argument of narrow and drop: which stacks are meant. */
#include "src/shell/command/view_command.h"

#include <string.h>

#include "src/base/units.h"
#include "src/profile/sections.h"
#include "src/shell/command/command.h"

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
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

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

static int
read_selection(struct reading *reading, struct value *value)
{
	const struct words *words = reading->words;
	size_t kind = words->n - reading->at < 2 ? 0 :
	    find_kind(&words->words[reading->at]);
	struct pattern_word *word;
	size_t begin;

	if (kind == 0)
		return arg_path_pattern.read(reading, value);
	value->count = kind;
	value->text = words->words[reading->at++].text;
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
