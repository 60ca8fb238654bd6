/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine.h -- what steps leave of a profile: narrow, drop, group and the
 * others.
 *
 * A step has a pattern: of frames, of paths, or of sections. Steps are
 * immutable and counted by reference. Applied one after another to a tree, or
 * to a call graph where the profile has no stacks, they give another one with
 * the same names.
 */
#ifndef CPPROF_REFINE_REFINE_H
#define CPPROF_REFINE_REFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/pattern.h"
#include "src/base/text_buffer.h"
#include "src/profile/profile.h"
#include "src/profile/sections.h"
#include "src/refine/refining.h"

/* ---- hidden.c ---- */

/*
 * Frames that views do not show.
 *
 * Those of start-up code are taken off the outer ends of stacks.  Others are
 * inside stacks or at their inner ends: they belong to the frame that called
 * them, which gets their hits.  So neither changes the paths and the inclusive
 * values of the functions that are shown.
 */
enum hidden_frames {
	HIDES_STARTUP = 1 << 0,		/* startup.def */
	HIDES_KERNEL = 1 << 1,		/* @kernel, and what it calls */
	HIDES_INTERPRETER = 1 << 2,	/* interpreter.def, and functions
					 * without a name in that module, of
					 * profiles with interpreted frames;
					 * also at the outer ends of stacks */
	HIDES_AWAIT = 1 << 3,		/* coroutines that await what is below
					 * them */
	/* All kinds inside stacks. */
	HIDES_INNER = HIDES_KERNEL | HIDES_INTERPRETER | HIDES_AWAIT,
};

/*
 * Whether views of a profile with a tree differ where such frames (1 << each)
 * are hidden.  O(frames + outermost nodes); -1 with *error set.
 */
int hidden_is_present(const struct profile *profile, unsigned hidden,
                      struct error *error);

/* Whether all frames of a function are hidden ones of HIDES_INNER. */
bool hidden_has_function(const struct profile *profile, unsigned hidden,
                         uint32_t function);

/*
 * The hits of a resource in stacks that end in the kernel; 0 if the profile does
 * not know its frames.  O(nodes + frames + names).
 */
int hidden_kernel_hits(const struct profile *profile, uint32_t resource,
                       uint64_t *hits, struct error *error);

/* What has been found out of a profile's frames; freed with hidden_known_free,
 * NULL with *error set. */
struct hidden_known;

struct hidden_known *hidden_known_new(const struct profile *profile,
                                      struct error *error);
void hidden_known_free(struct hidden_known *known);

/*
 * What a location of a frame is called where the interpreter's own frames are
 * hidden (HIDES_INTERPRETER), since a part of the interpreter with a name begins
 * there; NO_NAME: it keeps its own.
 */
#define HIDDEN_COLLECTOR_NAME "[garbage collector]"
#define HIDDEN_GIL_WAIT_NAME "[waiting for the GIL]"

uint32_t hidden_part_name(struct hidden_known *known, uint32_t frame,
                          uint32_t k);

/*
 * Finds the nodes whose frames are hidden and belong to their parents' frames:
 * (*joined)[n_nodes], 0 or 1, freed with large_array_free; NULL: there are
 * none.  Outermost hidden frames, such as those of the kernel's threads, stay.
 * frame_of[label] is the frame of a node.  O(nodes + frames + names).
 */
int hidden_join(struct hidden_known *known, const struct sample_tree *tree,
                const uint32_t *frame_of, unsigned hidden,
                unsigned char **joined, struct error *error);

/* Of which kinds in HIDES_INNER a frame is, by its module or its name. */
unsigned hidden_kinds_of(struct hidden_known *known, uint32_t number);

/* ---- startup.c ---- */

/* Frames that every stack begins with, folded away. */

/*
 * Whether some stack begins with a start-up frame, if HIDES_STARTUP is among the
 * hidden ones, or an interpreter's.  O(outermost nodes + names of these); -1
 * with *error set.
 */
int startup_is_present(const struct profile *profile,
                       struct hidden_known *hidden_known, unsigned hidden,
                       struct error *error);

/* Whether a function of that name is one of those, by its name alone. */
bool startup_has_name(const char *name, size_t n);

/*
 * A tree without these frames at the outer ends of stacks; *folded stays NULL if
 * there are none.  A stack that has no other frames of the program, at
 * most the kernel's, keeps them: so it does not depend on HIDES_KERNEL.  To cut
 * a stack at its outer end invents no call path.  frame_of[label] is the frame
 * of a node.  Two outermost nodes of the tree may have the same label, and it
 * borrows the counts.  *part, unless it is NULL, has a number for each node,
 * and becomes that of the nodes of *folded, freed with large_array_free.
 * O(nodes + names).
 */
int startup_fold(const struct profile *profile,
                 struct hidden_known *hidden_known,
                 const struct sample_tree *tree, const uint32_t *frame_of,
                 unsigned hidden, struct sample_tree **folded,
                 uint32_t **part, struct error *error);

/* ---- frame_pattern.c ---- */

/*
 * Which frames a user means.
 *
 * 	main		the function of that name
 * 	parse_*  /^xml/	functions by a glob or a regular expression
 * 	@libssl		functions of a module: its file name, with or without
 * 			what begins at ".so"; globs are allowed
 * 	@libc ...	ready groups, which also know names; see ready_groups.def
 * 	file:GLOB	functions of a source file: its path, or the last
 * 			components of it
 *
 * A word that is the name of a function means that function, whatever
 * characters it has.
 */

/* A word as it was typed. */
struct pattern_word {
	const char *text;
	size_t length;
	bool is_exact;		/* it was between bars: a name as it is */
	bool is_short;		/* it stands for several functions, and means
				 * all of them */
	enum name_reading reading;	/* then: in that way */
};

struct frame_pattern;

/* The name of the i-th ready group, without '@'; NULL: there are no more. */
const char *frame_pattern_ready_group(size_t i);

/*
 * Whether a function belongs to one of the ready groups, so to a library, a
 * runtime or the kernel: by the file name of its module or, where that is NULL,
 * by its own name.  0 or 1, or -1 with *error set.
 */
int frame_pattern_is_ready(const char *module, const char *name,
                           size_t length, struct error *error);

/*
 * The same for the pattern of one ready group: whether a function belongs to
 * it.
 */
bool frame_pattern_has(const struct frame_pattern *group, const char *module,
                       const char *name, size_t length);

/* Copies the word.  Freed with frame_pattern_free; NULL with *error set. */
struct frame_pattern *frame_pattern_new(const struct pattern_word *word,
                                        struct error *error);
void frame_pattern_free(struct frame_pattern *pattern);

/* Adds the word, between bars if it needs them. */
void frame_pattern_add_text(const struct frame_pattern *pattern,
                            struct text_buffer *text);

/* Which kinds of frame a pattern matches among those that are used. */
struct frame_matches {
	uint32_t name;		/* the only name that matches, whatever the
				 * module and the file; NO_NAME: see kinds */
	unsigned char *kinds;	/* [n_kinds] 0 or 1; NULL: see name */
	bool any;		/* some kind matches */
};

/*
 * Looks at the kinds that refining_look has found.  Free matches->kinds with
 * free().  O(1) for the name of a function, else O(kinds) and the time of one
 * match for each name.
 */
int frame_pattern_match(const struct frame_pattern *pattern,
                        const struct refining *refining,
                        struct frame_matches *matches, struct error *error);

static inline bool
frame_matches(const struct frame_matches *matches,
              const struct refining *refining, uint32_t kind)
{
	return matches->kinds == NULL ?
	    refining_name(refining, kind) == matches->name :
	    matches->kinds[kind] != 0;
}

/*
 * Replaces {0} to {9} of a template by what the groups of a regular expression
 * match in a name, and adds the result.
 */
int frame_pattern_expand(const struct frame_pattern *pattern,
                         const char *name, size_t length,
                         const char *template, struct text_buffer *text,
                         struct error *error);

/* How many groups (...) a template may ask for. */
size_t frame_pattern_n_captures(const struct frame_pattern *pattern);

/*
 * Sets *error: no function matches; names similar ones.
 */
int frame_pattern_report_none(const struct frame_pattern *pattern,
                              const struct refining *refining,
                              struct error *error);

/* ---- own_functions.c ---- */

/*
 * Which functions are the user's own: those of the program itself or with a
 * known source, but not those of libraries, runtimes and the kernel.
 */
struct own_functions;

/* For a profile, which must outlive it; own_functions_free. */
struct own_functions *own_functions_new(const struct profile *profile,
                                        struct error *error);
void own_functions_free(struct own_functions *own);

/* Of a name that is no function of the profile, its text decides. */
bool own_functions_have(struct own_functions *own, const struct names *names,
                        uint32_t name);

/* ---- section_pattern.c ---- */

/*
 * Which stacks a user means by thread, process or label.
 *
 * 	thread worker*		threads by name, or by number
 * 	process make		processes by program or number
 * 	label route=/login	a label by its value; label route: any value
 * 	label bytes>=512	by its number; also bytes<512, time>=20ms
 *
 * A name that occurs means that name, whatever characters it has.
 */

struct section_pattern;

/* Copies the word.  Freed with section_pattern_free; NULL with *error set. */
struct section_pattern *section_pattern_new(enum section_kind kind,
                                            const struct pattern_word *word,
                                            struct error *error);
void section_pattern_free(struct section_pattern *pattern);

/* Of a label its key; else NULL. */
const char *section_pattern_key(const struct section_pattern *pattern);

/* Whether it is a label with a bound of its numbers. */
bool section_pattern_is_bound(const struct section_pattern *pattern);

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

/* ---- path_pattern.c ---- */

/*
 * Which stacks a user means, by a path that occurs on them.
 *
 * 	main parse malloc	direct calls side by side
 * 	main ... malloc		any number of frames between, or none
 * 	@app ... /^sql_/	patterns, see frame_pattern.c
 *
 * A path without "..." means the stacks that its line in a profile counts:
 * those that have it as a canonical path (Hall & Goldberg 1993, appendix).
 * With patterns: those that have any path of functions that match.  After "..."
 * the rest must occur below the outermost match of what comes before it.
 */

struct path_pattern;

/* Copies n words.  Freed with path_pattern_free; NULL with *error set. */
struct path_pattern *path_pattern_new(const struct pattern_word *words,
                                      size_t n, struct error *error);
void path_pattern_free(struct path_pattern *path);

/* Adds "main ... malloc". */
void path_pattern_add_text(const struct path_pattern *path,
                           struct text_buffer *text);

/*
 * Sets matched[n_nodes], zeroed by the caller, to 1 for the nodes whose stacks
 * the path means.  0; 1 if no frame matches an element, with *error naming
 * similar ones, or too many patterns are side by side (refining.h); -1 with
 * *error set.  O(nodes) and one look at each kind for each pattern.
 */
int path_pattern_match(const struct path_pattern *path,
                       const struct refining *refining,
                       unsigned char *matched, struct error *error);

/* ---- step.c ---- */

/* One step of a refinement: it renames frames or selects stacks. */

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

/* Whether any of n steps needs the sections of the stacks (refining.h). */
bool steps_need_sections(struct step *const *steps, size_t n);

/* One owner more, which gets the same step; one less: the last one frees it. */
struct step *step_share(struct step *step);
void step_release(struct step *step);

/* The granularities by which n steps name frames, 1 << each. */
unsigned steps_granularities(struct step *const *steps, size_t n);

/* ---- step_apply.c ---- */

/* What a step does to the stacks. */

/*
 * Applies a step to all stacks.  0; 1 if it matches nothing or would leave
 * nothing, with *error saying so and the stacks as they were; -1 with *error
 * set.  O(nodes).
 */
int step_apply(const struct step *step, struct refining *refining,
               struct error *error);

/*
 * Of a step that groups: makes the new kinds and sets (*to)[n_kinds before] to
 * what each kind becomes, to be freed with free() in any case.  Looks at
 * refining->kinds, has_name and by only.  As step_apply.
 */
int step_regroup(const struct step *step, struct refining *refining,
                 uint32_t **to, struct error *error);

/* ---- refine.c ---- */

/*
 * The stacks that the steps of a refinement leave.
 *
 * A step sees names and stacks as the steps before it left them.  The sum of
 * what `narrow PATH` and `drop PATH` leave is what there was before.
 */

/* Stacks to which steps were applied; inside src/refine see refining.h. */
struct refining;

/*
 * Applies n steps.  One that matches nothing, or would leave nothing, is
 * skipped, and skipped[i] set, unless skipped is NULL; *why says why if the last
 * step is.  The stacks must outlive the result, which is freed with
 * refining_free.  NULL with *error set.  O(nodes) for each step.
 */
struct refining *refine_stacks(const struct stacks *stacks,
                               struct step *const *steps, size_t n,
                               bool *skipped, struct error *why,
                               struct error *error);
void refining_free(struct refining *refining);

/*
 * The tree of names that is left, freed with sample_tree_free; equal siblings
 * are merged.  NULL with *error set.  O(nodes).
 */
struct sample_tree *refined_tree(const struct refining *refining,
                                 struct error *error);

/*
 * The rows of the stacks' tree whose stacks were dropped: sets
 * dropped[tree->n_rows].  Of the others, the hits of *times are left.  O(nodes).
 */
void refined_rows(const struct refining *refining, bool *dropped,
                  struct slice_set *times);

/*
 * Hits and raw samples of one resource that are left in each section of the
 * profile: totals[n_sections + 1] (profile/sections.h).  The stacks were made
 * with their sections.  O(nodes).
 */
void refined_section_totals(const struct refining *refining, uint32_t resource,
                            struct section_total *totals);

/*
 * The hits of a resource that are left, by the module of the frame in which each
 * stack ends: [names_count] by the module's name, and by that of the group or
 * function if there is no module.  Freed with free; NULL with *error set.
 * O(nodes).
 */
uint64_t *refined_module_hits(const struct refining *refining,
                              uint32_t resource, struct error *error);

/*
 * The hits of a resource that are left after each step: sets hits[n].  Steps
 * that match nothing are skipped.  O(nodes) for each step.
 */
int refine_hits(const struct stacks *stacks, struct step *const *steps,
                size_t n, uint32_t resource, uint64_t *hits,
                struct error *error);

/* A profile of what steps leave, for files of other tools. */
struct refined_profile {
	struct profile profile;	/* borrows what is not below from the one that
				 * was refined */
	struct sample_tree *tree;
	struct section *sections;
	struct frame *frames;		/* NULL: borrowed */
	struct location *locations;
};

/*
 * Makes *refined from what n steps leave.  Its frames are those of the stacks'
 * profile or, if a step makes groups, bare names.  Its threads are known only
 * if there are no groups and no frame has inlined locations.  The stacks must
 * have their start-up frames and outlive it.  Call refined_profile_free even
 * if it fails.
 */
int refine_profile(const struct stacks *stacks, struct step *const *steps,
                   size_t n, struct refined_profile *refined,
                   struct error *error);
void refined_profile_free(struct refined_profile *refined);

/* ---- refinement.c ---- */

/* The steps of a session, with undo and redo. */

/* What was in force at some time. */
struct step_list {
	size_t n;
	struct step *steps[];
};

/* Start with `{ 0 }`; free with refinement_free. */
struct refinement {
	struct step_list **history;	/* [n_history], oldest first */
	size_t n_history, capacity;
	size_t at;		/* how many of them have happened; the others
				 * have been undone */
};

/* Gives up the steps of all lists, also those that were undone. */
void refinement_free(struct refinement *refinement);

/* The *n steps in force, in order; valid until the next change. */
struct step *const *refinement_steps(const struct refinement *refinement,
                                     size_t *n);

/*
 * Each makes a new list of steps the one in force, and forgets what was undone:
 * with one more step, which the refinement owns from then on; without the
 * groups of that name; without any.  0, or -1 with *error set: out of memory;
 * no group has that name; there is no step.
 */
int refinement_add(struct refinement *refinement, struct step *step,
                   struct error *error);
int refinement_remove_group(struct refinement *refinement, const char *name,
                            struct error *error);
int refinement_clear(struct refinement *refinement, struct error *error);

/* Goes n lists back or forward; 0, or -1 with *error set: not so many. */
int refinement_undo(struct refinement *refinement, size_t n,
                    struct error *error);
int refinement_redo(struct refinement *refinement, size_t n,
                    struct error *error);

/* ---- refine_graph.c ---- */

/*
 * The calls that the steps of a refinement leave.
 *
 * A profile of calls without stacks can be grouped: the functions of a group
 * become one node of the call graph.  Own hits add up, and so do calls into the
 * group and out of it; calls within the group are no calls any more.  Which
 * stacks to keep, or by which function a stack entered a group, such a profile
 * does not say.
 */

/* 0, or -1 with *error saying why a step is not possible without stacks. */
int refine_graph_check(const struct step *step, struct error *error);

/*
 * The graph of a profile of calls after n steps.  A step that matches nothing,
 * or is not possible, is skipped, and skipped[i] set; *why says why if the last
 * step is.  Both may be NULL.  *is_own: whether the caller must free the graph;
 * false: it is the profile's.  NULL with *error set.  O(nodes + arcs + places),
 * and O(nodes) for each step.
 */
struct call_graph *refine_graph(struct profile *profile,
                                struct step *const *steps, size_t n,
                                bool *skipped, bool *is_own,
                                struct error *why, struct error *error);

#endif
