/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step.h -- one step of a refinement: it renames frames or selects stacks. */
#ifndef CPPROF_REFINE_STEP_H
#define CPPROF_REFINE_STEP_H

#include "src/refine/path_pattern.h"
#include "src/refine/section_pattern.h"

enum step_kind {
	STEP_GROUP,		/* frames that match take a name */
	STEP_ENTRIES,		/* frames that match belong to the frame that
				 * entered them from outside */
	STEP_PATH,		/* stacks with a path */
	STEP_SECTIONS,		/* stacks of threads, processes or labels */
	STEP_TIME,		/* hits of a part of the run */
};

/* Unchangeable once made, and shared by counting. */
struct step {
	enum step_kind kind;
	enum granularity granularity;	/* how it names frames; by function,
					 * unless its maker says otherwise */
	bool drops;		/* all but groups: keeps the other stacks or
				 * hits */
	char *name;		/* of groups; may have {1} */
	struct frame_pattern **patterns;	/* [n_patterns], of groups */
	size_t n_patterns;
	struct path_pattern *path;
	struct section_pattern *sections;
	uint64_t begin_ns, end_ns;	/* since the start; UINT64_MAX: no
					 * end */
	char *text;		/* as a command that makes the step */
	unsigned n_owners;
};

/*
 * Each copies the words and returns a step with one owner; NULL with *error
 * set.  A group has n >= 1 patterns.
 */
struct step *step_new_group(const char *name, bool keeps_entries,
                            const struct pattern_word *patterns, size_t n,
                            struct error *error);
struct step *step_new_path(bool drops, const struct pattern_word *words,
                           size_t n, struct error *error);
struct step *step_new_sections(bool drops, enum section_kind kind,
                               const struct pattern_word *word,
                               struct error *error);

/*
 * The hits of the slices of time that a part of the run touches; end_ns
 * UINT64_MAX: up to its end.  It drops those in these slices, and then keeps
 * what has no time.
 */
struct step *step_new_time(bool drops, uint64_t begin_ns, uint64_t end_ns,
                           struct error *error);

/* Whether any of n steps needs the sections of the stacks (stacks.h). */
bool steps_need_sections(struct step *const *steps, size_t n);

/* One owner more, which gets the same step; one less: the last one frees it. */
struct step *step_share(struct step *step);
void step_release(struct step *step);

/* The granularities by which n steps name frames, 1 << each. */
unsigned steps_granularities(struct step *const *steps, size_t n);

#endif
