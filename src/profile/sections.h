/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sections.h -- which stacks belong to which threads, processes and labels.
 *
 * Everything here is by section (profile.h).  Nodes outside all sections count
 * as one more section, number n_sections, without thread and labels.  So all
 * arrays by section have n_sections + 1 items, and their sums are those of the
 * whole tree.
 */
#ifndef CPPROF_PROFILE_SECTIONS_H
#define CPPROF_PROFILE_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/pattern.h"
#include "src/base/text_buffer.h"
#include "src/profile/profile.h"

#define NO_PROCESS UINT32_MAX

/* What stands for a thread or program without a name, which can be selected. */
#define UNKNOWN_NAME "[unknown]"
/* What stands for the value of stacks without a label. */
#define NO_VALUE "[none]"

/* What sections can be told apart by. */
enum section_kind { SECTION_THREAD, SECTION_PROCESS, SECTION_LABEL };

/* Hits and raw samples of one section. */
struct section_total {
	uint64_t hits, samples;
};

/* The section of that number, up to n_sections. */
struct section section_of(const struct profile *profile, uint32_t number);

/*
 * The process of a section; NO_PROCESS: unknown.  If the profile has only one
 * process, all sections are its.
 */
uint32_t section_process(const struct profile *profile,
                         const struct section *section);

/* A thread's name; a program's, without its path; or UNKNOWN_NAME. */
const char *thread_title(const struct profile *profile, uint32_t thread);
const char *process_title(const struct profile *profile, uint32_t process);

/* The name, without a number, of what no thread is known to have used. */
#define NOT_A_THREAD "[no sample]"

/*
 * How many threads one of the profile stands for: itself and those before it, or
 * 0 if it is NOT_A_THREAD.
 */
uint64_t thread_count(const struct profile *profile, uint32_t thread);

/* The section's first label with that key, or NULL. */
const struct label *section_label(const struct profile *profile,
                                  const struct section *section,
                                  const char *key);

/* Whether any section of a profile with a tree has a thread, process, label. */
bool sections_know(const struct profile *profile, enum section_kind kind);

/* Whether any sample has a label with that key. */
bool sections_has_key(const struct profile *profile, const char *key);

/*
 * Adds the value that a section's labels have of the key, with its unit;
 * several with ", " between.  false: it has no such label.
 */
bool section_add_value(const struct profile *profile, uint32_t number,
                       const char *key, struct text_buffer *text);

/*
 * The section of each node of the profile's tree, n_sections for none; freed
 * with large_array_free.  NULL with *error set.
 */
uint32_t *sections_of_nodes(const struct profile *profile,
                            struct error *error);

/*
 * Adds up one resource: totals[n_sections + 1].  tree: the profile's own, or a
 * copy of it with other rows.  O(nodes).
 */
void section_totals(const struct profile *profile,
                    const struct sample_tree *tree, uint32_t resource,
                    struct section_total *totals);

/* ---- selecting ---- */

/*
 * Which numbers a label may have: all from a bound on, or those below.  A bound
 * with a unit of time is in ns, and numbers are taken by their units.
 */
struct label_bound {
	enum { BOUND_NONE, BOUND_AT_LEAST, BOUND_BELOW } kind;
	bool is_time;
	double number;
};

/*
 * Which sections are meant: those whose thread or process matches, or with a
 * label `key` whose value matches.
 */
struct section_selector {
	enum section_kind kind;
	const char *key;			/* of a label; else NULL */
	const struct pattern *pattern;		/* NULL: any, of a label */
	struct label_bound bound;		/* or of a label */
};

/*
 * Sets is_selected[n_sections + 1], and returns how many are.  A thread matches
 * by its name or its number; a process by its program, with or without its
 * path, or its number; a label by its value, which for a number may be typed
 * without its unit.  UNKNOWN_NAME and NO_VALUE, which no glob or expression
 * matches, select what has no name or no such label.
 */
uint32_t sections_select(const struct profile *profile,
                         const struct section_selector *selector,
                         bool *is_selected);

/*
 * Sets *error for a selector that selects nothing: that the profile has no
 * threads or labels, no such key, or the similar names.  what: the pattern as
 * typed.  Always -1.
 */
int sections_report_none(const struct profile *profile,
                         const struct section_selector *selector,
                         const char *what, struct error *error);

/*
 * Offers each name that a selector of that kind can have, in byte order and
 * once: the threads' names, the programs, the keys of labels (key NULL), or the
 * values of a key.
 */
int sections_offer(const struct profile *profile, enum section_kind kind,
                   const char *key,
                   void (*offer)(void *context, const char *text,
                                 size_t length),
                   void *context, struct error *error);

#endif
