/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_merge.h -- one profile of several. */
#ifndef CPPROF_PROFILE_PROFILE_MERGE_H
#define CPPROF_PROFILE_PROFILE_MERGE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

/* ---- profile_merge.c ---- */

/*
 * Adding counts of profiles, column by column.
 *
 * What is added up and what is kept apart is a matter of parts: columns of the
 * same resource and part become one.  Runs of a program that are compared are
 * parts, since their differences say how sure a number is; so are the groups of
 * a merged profile, and the values of a label.
 */

/* A column of an input, and what it is in the sum. */
struct counted_column {
	uint32_t column;	/* of the input's tree or graph */
	uint32_t resource;	/* of the input's: what the column counts */
	uint32_t part;		/* of that resource, in the sum */
};

/* How the sections of a profile are told apart by columns. */
struct section_columns {
	const uint32_t *column;		/* [n_sections + 1], see sections.h: of
					 * the addend's columns the one that
					 * counts; NO_RESOURCE: none */
	const char *key;		/* of the labels that say so, which the
					 * sum then does not have */
	bool keeps_sections;		/* by threads and other labels */
};

/* A profile that is added, and what of it counts. */
struct addend {
	struct profile *profile;
	const struct sample_tree *tree;	/* the profile's, or another one of its
					 * frames, without sections; NULL: its
					 * graph counts */
	const struct counted_column *columns;	/* [n] */
	uint32_t n;
	const struct section_columns *split;	/* NULL: all columns count.
						 * Otherwise these are alike */
};

/*
 * The sum of n >= 1 addends, all with trees or all with graphs.  Columns of
 * equal names must count the same gtick; if their intervals differ, the sum
 * counts them in gticks (interval 1).  Else as profile_merge.
 */
struct profile *profile_add_up(const struct addend *addends, uint32_t n,
                               struct error *error);

/* ---- merge_resources.c ---- */

/*
 * Gives the sum, which has no resources yet, those of all n addends: first
 * those that most have, whatever the order of the addends.  All must be known
 * before the first hit is added, since the last addend may still change an
 * interval.
 */
int merge_resources(struct profile *sum, const struct addend *addends,
                    uint32_t n, struct error *error);

/*
 * Columns of several files become one: adds to what is known of how its hits
 * were counted what is known of another of the same name, part and gtick.  A
 * sum of different intervals is in gticks.  Not added are the sources, and what
 * was lost, since the interval may still change.  sum->n_files: 0 before the
 * first.  column: the other's place in its file.
 */
void merge_column(struct resource *sum, const struct resource *from,
                  uint32_t column);

/* Adds what was lost; factor: what a hit of it is in hits of `to`. */
void merge_add_losses(struct resource *to, const uint64_t *lost,
                      uint64_t factor);

/*
 * Compares two struct resource: what most files have comes first, whatever the
 * order of the files.
 */
int merge_compare_resources(const void *a, const void *b);

/*
 * Fills map[addend->n] with the numbers of the columns in the sum.  0, or -1
 * with *error set if two of them are the same.
 */
int merge_map_columns(const struct profile *sum, const struct addend *addend,
                      uint32_t *map, struct error *error);

/* ---- profile_adder.c ---- */

/*
 * The sum of very many profiles, few of them in memory.
 *
 * A recording may have a file for each of 30,000 processes, and a profile
 * takes more memory than a small file.  So 64 profiles at a time are replaced
 * by their sum, 64 sums by a sum of the next level, and so on: a node is
 * entered once per level.
 */

enum { ADDER_WIDTH = 64, ADDER_LEVELS = 6 };

/* Starts with `{ 0 }`. */
struct profile_adder {
	struct profile *profiles[ADDER_LEVELS][ADDER_WIDTH];
	uint32_t n[ADDER_LEVELS];
};

/* Takes over a profile, even if it fails. */
int profile_adder_add(struct profile_adder *adder, struct profile *profile,
                      struct error *error);

/*
 * Takes the sum of all profiles off the adder, the same as that of one
 * fleet_sum_profiles in the order in which they were added; a single profile is
 * returned itself.  NULL with *error set.  The adder must not be empty.
 */
struct profile *
profile_adder_take(struct profile_adder *adder, struct error *error);

void profile_adder_free(struct profile_adder *adder);

#endif
