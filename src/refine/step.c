/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step.c -- one step of a refinement: it renames frames or selects stacks. */
#include "src/refine/refine.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"

static int
step_keep_text(struct step *step, struct text_buffer *text, struct error *error)
{
	const char *line = text_string(text);

	if (text->failed)
		error_out_of_memory(error);
	else
		step->text = memory_text(line, text->length, error);
	text_free(text);
	return step->text != NULL ? 0 : -1;
}

/* Whether the name asks for no group (...) that the pattern lacks. */
static int
check_captures(const char *name, const struct frame_pattern *pattern,
               struct error *error)
{
	size_t n = frame_pattern_n_captures(pattern);

	for (const char *at = name; (at = strchr(at, '{')) != NULL; at++)
		if (at[1] >= '0' && at[1] <= '9' && at[2] == '}' &&
		    (size_t)(at[1] - '0') > n)
			return error_set(error, "{%c} needs a regular "
			                 "expression with %c group%s (...)",
			                 at[1], at[1], at[1] == '1' ? "" : "s");
	return 0;
}

static int
fill_group(struct step *step, const char *name,
           const struct pattern_word *patterns, size_t n, struct error *error)
{
	struct text_buffer text = { 0 };

	step->name = memory_string(name, error);
	step->patterns = memory_array(n, sizeof *step->patterns, error);
	if (step->name == NULL || step->patterns == NULL)
		return -1;
	text_add_string(&text, "group ");
	text_add_word(&text, name, strlen(name));
	text_add_string(&text, step->kind == STEP_ENTRIES ? " =>" : " =");
	for (size_t i = 0; i < n; i++) {
		struct frame_pattern *pattern =
		    frame_pattern_new(&patterns[i], error);

		step->patterns[i] = pattern;
		if (pattern == NULL ||
		    check_captures(name, pattern, error) != 0) {
			step->n_patterns = i + (pattern != NULL);
			text_free(&text);
			return -1;
		}
		text_add_char(&text, ' ');
		frame_pattern_add_text(pattern, &text);
	}
	step->n_patterns = n;
	return step_keep_text(step, &text, error);
}

struct step *
step_new_group(const char *name, bool keeps_entries,
               const struct pattern_word *patterns, size_t n,
               struct error *error)
{
	struct step *step;

	if (name[0] == '\0') {
		error_set(error, "a group needs a name");
		return NULL;
	}
	step = memory_array(1, sizeof *step, error);
	if (step == NULL)
		return NULL;
	step->kind = keeps_entries ? STEP_ENTRIES : STEP_GROUP;
	step->n_owners = 1;
	if (fill_group(step, name, patterns, n, error) != 0) {
		step_release(step);
		return NULL;
	}
	return step;
}

struct step *
step_new_path(bool drops, const struct pattern_word *words, size_t n,
              struct error *error)
{
	struct step *step = memory_array(1, sizeof *step, error);
	struct text_buffer text = { 0 };

	if (step == NULL)
		return NULL;
	step->kind = STEP_PATH;
	step->drops = drops;
	step->n_owners = 1;
	step->path = path_pattern_new(words, n, error);
	if (step->path != NULL) {
		text_add_string(&text, drops ? "drop (" : "narrow (");
		path_pattern_add_text(step->path, &text);
		text_add_char(&text, ')');
	}
	if (step->path == NULL || step_keep_text(step, &text, error) != 0) {
		step_release(step);
		return NULL;
	}
	return step;
}

struct step *
step_new_sections(bool drops, enum section_kind kind,
                  const struct pattern_word *word, struct error *error)
{
	struct step *step = memory_array(1, sizeof *step, error);
	struct text_buffer text = { 0 };

	if (step == NULL)
		return NULL;
	step->kind = STEP_SECTIONS;
	step->drops = drops;
	step->n_owners = 1;
	step->sections = section_pattern_new(kind, word, error);
	if (step->sections != NULL) {
		text_add_string(&text, drops ? "drop " : "narrow ");
		section_pattern_add_text(step->sections, &text);
	}
	if (step->sections == NULL || step_keep_text(step, &text, error) != 0) {
		step_release(step);
		return NULL;
	}
	return step;
}

struct step *
step_new_time(bool drops, uint64_t begin_ns, uint64_t end_ns,
              struct error *error)
{
	struct step *step = memory_array(1, sizeof *step, error);
	struct text_buffer text = { 0 };

	if (step == NULL)
		return NULL;
	step->kind = STEP_TIME;
	step->drops = drops;
	step->n_owners = 1;
	step->begin_ns = begin_ns;
	step->end_ns = end_ns;
	text_add_string(&text, drops ? "drop time " : "narrow time ");
	text_add_duration(&text, begin_ns);
	text_add_string(&text, "..");
	if (end_ns != UINT64_MAX)
		text_add_duration(&text, end_ns);
	if (step_keep_text(step, &text, error) != 0) {
		step_release(step);
		return NULL;
	}
	return step;
}

bool
steps_need_sections(struct step *const *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (steps[i]->kind == STEP_SECTIONS)
			return true;
	return false;
}

struct step *
step_share(struct step *step)
{
	step->n_owners++;
	return step;
}

void
step_release(struct step *step)
{
	if (step == NULL || --step->n_owners > 0)
		return;
	for (size_t i = 0; i < step->n_patterns; i++)
		frame_pattern_free(step->patterns[i]);
	free(step->patterns);
	path_pattern_free(step->path);
	section_pattern_free(step->sections);
	free(step->name);
	free(step->text);
	free(step);
}

unsigned
steps_granularities(struct step *const *steps, size_t n)
{
	unsigned granularities = 0;

	for (size_t i = 0; i < n; i++)
		granularities |= 1u << steps[i]->granularity;
	return granularities;
}
