/* SPDX-License-Identifier: GPL-3.0-or-later */
/* section_pattern.c -- which stacks a user means by thread, process or label.
 */
#include "src/refine/refine.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"

struct section_pattern {
	enum section_kind kind;
	bool is_exact;		/* typed between bars */
	char *text;		/* as typed */
	char *key;		/* of a label */
	const char *value;	/* in text; NULL: any value of the label */
	struct label_bound bound;	/* of its numbers, or none */
	struct pattern *exact, *general;
};

static const char *const kind_words[] = {
	[SECTION_THREAD] = "thread", [SECTION_PROCESS] = "process",
	[SECTION_LABEL] = "label",
};

/* Reads "512" or "20ms"; false: it is neither. */
static bool
read_bound(const char *text, struct label_bound *bound)
{
	const char *end;
	uint64_t ns;

	if (strspn(text, "0123456789.") == strlen(text) && *text != '\0') {
		bound->number = strtod(text, NULL);
		return true;
	}
	end = text_read_duration(text, &ns);
	bound->is_time = true;
	bound->number = (double)ns;
	return end != NULL && *end == '\0';
}

/* Takes "key>=20ms" or "key<20ms" apart; the length of the key, or 0. */
static size_t
split_bound(struct section_pattern *pattern)
{
	struct label_bound bound = { 0 };

	for (size_t i = strlen(pattern->text); i-- > 0;) {
		const char *at = pattern->text + i;

		if (*at != '<' && (at[0] != '>' || at[1] != '='))
			continue;
		bound.kind = *at == '<' ? BOUND_BELOW : BOUND_AT_LEAST;
		if (!read_bound(at + (*at == '<' ? 1 : 2), &bound))
			return 0;
		pattern->bound = bound;
		return i;
	}
	return 0;
}

/* Takes "key=value" apart. */
static int
split_label(struct section_pattern *pattern, struct error *error)
{
	const size_t bounded = split_bound(pattern);
	const char *sign = bounded > 0 ? NULL : strchr(pattern->text, '=');
	size_t length = bounded > 0 ? bounded : sign != NULL ?
	                (size_t)(sign - pattern->text) :
	                strlen(pattern->text);

	if (length == 0)
		return error_set(error, "expected a label: KEY=VALUE, or KEY "
		                 "for any value, or KEY>=NUMBER");
	pattern->value = sign != NULL ? sign + 1 : NULL;
	pattern->key = memory_text(pattern->text, length, error);
	return pattern->key != NULL ? 0 : -1;
}

static int
section_pattern_fill(struct section_pattern *pattern,
                     const struct pattern_word *word, struct error *error)
{
	pattern->text = memory_text(word->text, word->length, error);
	if (pattern->text == NULL)
		return -1;
	pattern->value = pattern->text;
	if (pattern->kind == SECTION_LABEL && split_label(pattern, error) != 0)
		return -1;
	if (pattern->value == NULL)
		return 0;
	pattern->exact = pattern_new_exact(pattern->value, error);
	if (pattern->exact != NULL && !pattern->is_exact)
		pattern->general = pattern_new(pattern->value, error);
	return error->is_set ? -1 : 0;
}

struct section_pattern *
section_pattern_new(enum section_kind kind, const struct pattern_word *word,
                    struct error *error)
{
	struct section_pattern *pattern = memory_array(1, sizeof *pattern,
	                                               error);

	if (pattern == NULL)
		return NULL;
	pattern->kind = kind;
	pattern->is_exact = word->is_exact;
	if (section_pattern_fill(pattern, word, error) == 0)
		return pattern;
	section_pattern_free(pattern);
	return NULL;
}

void
section_pattern_free(struct section_pattern *pattern)
{
	if (pattern == NULL)
		return;
	if (pattern->exact != NULL)
		pattern_free(pattern->exact);
	if (pattern->general != NULL)
		pattern_free(pattern->general);
	free(pattern->text);
	free(pattern->key);
	free(pattern);
}

const char *
section_pattern_key(const struct section_pattern *pattern)
{
	return pattern->key;
}

bool
section_pattern_is_bound(const struct section_pattern *pattern)
{
	return pattern->bound.kind != BOUND_NONE;
}

void
section_pattern_add_text(const struct section_pattern *pattern,
                         struct text_buffer *text)
{
	size_t length = strlen(pattern->text);

	text_add_format(text, "%s ", kind_words[pattern->kind]);
	if (pattern->is_exact)
		text_add_between_bars(text, pattern->text, length);
	else
		text_add_printable(text, pattern->text, length);
}

int
section_pattern_match(const struct section_pattern *pattern,
                      const struct profile *profile, bool *is_selected,
                      struct error *error)
{
	struct section_selector selector = { pattern->kind, pattern->key,
		pattern->exact, pattern->bound };

	if (!sections_know(profile, pattern->kind)) {
		sections_report_none(profile, &selector, pattern->text, error);
		return 1;
	}
	if (sections_select(profile, &selector, is_selected) > 0)
		return 0;
	selector.pattern = pattern->general;
	if (pattern->general != NULL) {
		uint32_t n = sections_select(profile, &selector, is_selected);

		if (pattern_check(pattern->general, error) != 0)
			return -1;
		if (n > 0)
			return 0;
	}
	sections_report_none(profile, &selector, pattern->value != NULL ?
	                     pattern->value : pattern->text +
	                     strlen(pattern->key), error);
	return 1;
}
