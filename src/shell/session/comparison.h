/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparison.h -- the runs of a base beside those that are loaded.
 *
 * Replicates are not added up: base and loaded runs become one profile in
 * which each run has counts of its own.  It is made when something is first
 * compared, and named and refined by the same rules as the loaded profile, so
 * that both sides are the same paths.
 *
 * A side that is one merged profile has no replicates, but members that differ:
 * its random groups stand for runs, each of which did a part of the work.
 *
 * The sides can also be parts of the loaded profile (sides.c).  Then the values
 * of a label stand for runs.
 */
#ifndef CPPROF_SHELL_SESSION_COMPARISON_H
#define CPPROF_SHELL_SESSION_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/base/text_buffer.h"
#include "src/formats/format.h"
#include "src/profile/profile.h"
#include "src/refine/refine.h"
#include "src/shell/session/naming.h"
#include "src/views/view.h"

/* ---- runs.c ---- */

/* Several runs of a program, each read by itself. */

/* Start with { 0 }. */
struct runs {
	struct profile **profiles;	/* [n] */
	char **paths;			/* [n] */
	uint32_t n;
	bool are_borrowed;		/* the profiles */
};

/*
 * Reads the runs that paths stand for (format.h).  0, or -1 with *error set
 * and *runs empty.
 */
int runs_read(struct runs *runs, const char *const *paths, size_t n,
              const struct read_options *options, struct error *error);
void runs_free(struct runs *runs);

/*
 * The same for paths of which some may be one run that has been read: `loaded`,
 * from n paths.  It is borrowed if it is one run; else all are read again.
 */
int runs_find(struct runs *runs, struct profile *loaded,
              const char *const *paths, size_t n,
              const struct read_options *options, struct error *error);

/*
 * Adds how much runs vary in what they used of each resource: "cpu 1.02 s on
 * average, 981 ms to 1.10 s, standard deviation 3.1%; ...".
 */
void runs_add_variation(const struct runs *runs, struct text_buffer *text);

/*
 * If paths stand for several runs, adds "; 3 runs: 187 ms, 183 ms, 185 ms": what
 * each used of a resource of `all`, their sum, if they are recordings.  Reads
 * these, but no symbols.
 */
int runs_add_values(const char *const *paths, size_t n,
                    const struct profile *all, uint32_t resource,
                    struct text_buffer *text, struct error *error);

/* ---- sides.c ---- */

/*
 * Two parts of one profile that are compared, by the values of a label, or two
 * parts of the run's time.
 *
 * The values, such as hosts, stand for runs; all numbers within a bound
 * (section_pattern.c) are one value.  If a side has more of them than
 * SIDE_VALUES_MAX, they are dealt to groups, each of which did the work of its
 * values; by a hash, so that a group is no better than another one.
 */

enum { SIDE_VALUES_MAX = 64, SIDE_GROUPS = 32 };

/* A part of the run, in ns from its start. */
struct side_time {
	uint64_t begin_ns, end_ns;
};

/* What the user asked for. */
struct sides {
	struct section_pattern *patterns[2];	/* the base, now; NULL: now is
						 * all that has other values */
	bool are_times;				/* without patterns; */
	struct side_time times[2];		/* texts[1] is NULL: now is the
						 * rest of the run */
	const char *key;			/* of both; of times "time" */
	char *texts[2];				/* as typed: "host=old*" */
	double n_calls[2];			/* of calls: how many each side
						 * has; else 0 */
	char *calls;				/* of calls: what chose them,
						 * "handle above 10ms"; or NULL */
};

/*
 * Copies the words; now NULL: all other values.  Freed with sides_free; NULL
 * with *error set, also if the keys differ.
 */
struct sides *sides_new(const struct pattern_word *base,
                        const struct pattern_word *now, struct error *error);
void sides_free(struct sides *sides);

/*
 * The same of two parts of the run, texts[1] NULL: the rest of it.
 */
struct sides *sides_new_times(const struct side_time *times,
                              const char *const *texts, struct error *error);

/* What a profile has of them.  Start with { 0 }; freed with division_free. */
struct division {
	uint32_t *column;	/* [n_sections + 1], or NO_RESOURCE */
	uint32_t n_sections;
	struct names *values[2];	/* by side */
	uint32_t *columns_of[2];	/* [values] */
	uint32_t n[2];			/* columns, those of the base first */
	double *sizes;			/* [n[0] + n[1]] values in a column;
					 * NULL: 1 each */
};

/*
 * Which values are on which side of a profile, of those that the steps about
 * the key leave.  0, or -1 with *error set: a side has none, or both have one.
 */
int sides_divide(const struct sides *sides, const struct profile *profile,
                 struct step *const *steps, size_t n_steps,
                 struct division *division, struct error *error);

/*
 * The slices of the sides that are times.  0, or -1 with *error set: the profile
 * does not know times, or a side has none.
 */
int sides_slices(const struct sides *sides, const struct profile *profile,
                 struct slice_set sets[2], struct error *error);
void division_free(struct division *division);
/* The *n values of a side, in byte order, freed by the caller; or NULL. */
uint32_t *division_values(const struct division *division, int side,
                          uint32_t *n, struct error *error);
bool division_equals(const struct division *a, const struct division *b);

/*
 * The steps that are not about the key: *n of them, freed with free(); NULL with
 * *error set.
 */
struct step **sides_other_steps(const struct sides *sides,
                                struct step *const *steps, size_t *n,
                                struct error *error);

/* ---- comparison.c ---- */

/* Start with { 0 }. */
struct comparison {
	char **files;			/* [n_files] the base's, as given */
	size_t n_files;
	struct runs base;		/* n is 0: there is no base; or */
	struct sides *sides;		/* NULL: there are none */

	/* For one resource of the loaded profile. */
	struct runs now;
	struct division division;	/* of the loaded profile, if there are
					 * sides */
	uint32_t n_base, n_now;		/* columns of each side: its runs, or
					 * the groups of its only one */
	uint32_t n_runs[2];		/* of each side; of sides, as many as
					 * columns */
	uint32_t *columns;		/* [n_base + n_now] its resources */
	double *shares;			/* [n_base + n_now] the work of each
					 * column: its part of a merged profile,
					 * or how many label values it holds;
					 * NULL: each column is one run */
	uint64_t *known;		/* [n_base + n_now] see compared_runs; or
					 * NULL */
	bool wanted_groups;		/* those of merged profiles */
	bool keeps_sections;		/* if there are sides */
	char *resource;			/* its name */

	/*
	 * The same as views see it.  Its profile is of all runs; NULL: not made
	 * yet.  Its set is their sum; of a flow, its functions.  Its columns are
	 * the runs, and one more for the samples if a sample can stand for
	 * several hits.
	 */
	struct subject subject;
	bool has_names;
	struct sample_set *runs;	/* [subject.n_columns] */
	struct compared_runs compared;
	struct compared_values values;	/* compared.values */
	double *work;			/* [n_base + n_now] of each run */
	struct text_buffer scale;	/* what compared.scale says */
	struct naming *flows;		/* likewise, if it has no stacks */
	uint64_t *self;			/* subject.set.self */
	uint64_t *samples_self, *samples_sums;	/* of the column with the
						 * samples of all */
	uint64_t **run_sums;		/* [n_base + n_now] */
};

void comparison_free(struct comparison *comparison);

/*
 * Frees the profile of all runs and what was made of it.  The base stays.  Call
 * it when the loaded profile or the resource changes.
 */
void comparison_forget_profile(struct comparison *comparison);

/* Whether there is anything to compare with. */
bool comparison_has_base(const struct comparison *comparison);

/* Call this when steps or settings change the names. */
void comparison_forget_names(struct comparison *comparison);

/*
 * Whether the profile is that of the resource, with groups if these are wanted
 * and there are any.
 */
bool comparison_has_profile(const struct comparison *comparison,
                            const char *resource, bool wants_groups);

/*
 * Makes the profile of all runs.  loaded: the session's.  If it was read from
 * several runs, they are read again, each by itself: paths[n] are its files.
 * wants_groups: those of merged profiles stand for runs, but have no labels.
 * 0, or -1 with *error set and nothing made.
 */
int comparison_make_profile(struct comparison *comparison,
                            struct profile *loaded, const char *const *paths,
                            size_t n, uint32_t resource, bool wants_groups,
                            const struct read_options *options,
                            struct error *error);

/*
 * The same if there are sides.  steps[n]: those in force, of which some say what
 * is on a side.  Does nothing if the profile is already that.  keeps_sections:
 * threads and other labels stay known.
 */
int comparison_make_sides(struct comparison *comparison,
                          struct profile *loaded, uint32_t resource,
                          struct step *const *steps, size_t n,
                          bool keeps_sections, struct error *error);

/*
 * Names the stacks of that profile.  request: as for the loaded profile; its
 * profile, resource and before are not used.
 */
int comparison_make_names(struct comparison *comparison,
                          const struct naming_request *request,
                          struct error *error);

/*
 * Each sets what amounts are per: a run; a unit of work, of which a run now
 * does so many times that of the base; what a function used; what most
 * functions used.  Names must have been made.
 */
void comparison_scale_none(struct comparison *comparison);
int comparison_scale_work(struct comparison *comparison, double work,
                          struct error *error);

/* Likewise by the calls of sides that are calls. */
int comparison_scale_calls(struct comparison *comparison,
                           struct error *error);
int comparison_scale_by(struct comparison *comparison, uint32_t function,
                        struct error *error);
int comparison_scale_robust(struct comparison *comparison,
                            struct error *error);

#endif
