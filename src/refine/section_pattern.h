/* SPDX-License-Identifier: GPL-3.0-or-later */
/* section_pattern.h -- which stacks a user means by thread, process or label.
 *
 *	thread worker*		threads by name, or by number
 *	process make		processes by program or number
 *	label route=/login	a label by its value; label route: any value
 *
 * A name that occurs means that name, whatever characters it has.
 */
#ifndef CPPROF_REFINE_SECTION_PATTERN_H
#define CPPROF_REFINE_SECTION_PATTERN_H

#include "src/profile/sections.h"
#include "src/refine/frame_pattern.h"

struct section_pattern;

/* Copies the word.  Freed with section_pattern_free; NULL with *error set. */
struct section_pattern *section_pattern_new(enum section_kind kind,
                                            const struct pattern_word *word,
                                            struct error *error);
void section_pattern_free(struct section_pattern *pattern);

/* Of a label its key; else NULL. */
const char *section_pattern_key(const struct section_pattern *pattern);

/* Adds "thread worker*". */
void section_pattern_add_text(const struct section_pattern *pattern,
                              struct text_buffer *text);

/*
 * Sets is_selected[n_sections + 1] of the profile (sections.h).  0; 1 if the
 * pattern matches nothing, with *error naming similar ones; -1 with *error set.
 */
int section_pattern_match(const struct section_pattern *pattern,
                          const struct profile *profile, bool *is_selected,
                          struct error *error);

#endif
