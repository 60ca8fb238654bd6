/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sides.h -- two parts of one profile that are compared, by the values of a label.
 *
 * The values, such as hosts, stand for runs.  If a side has more of them than
 * SIDE_VALUES_MAX, they are dealt to groups, each of which did the work of its
 * values; by a hash, so that a group is no better than another one.
 */
#ifndef CPPROF_SHELL_SESSION_SIDES_H
#define CPPROF_SHELL_SESSION_SIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/profile/profile.h"
#include "src/refine/section_pattern.h"
#include "src/refine/step.h"

enum { SIDE_VALUES_MAX = 64, SIDE_GROUPS = 32 };

/* What the user asked for. */
struct sides {
	struct section_pattern *patterns[2];	/* the base, now; NULL: now is
						 * all that has other values */
	const char *key;			/* of both */
	char *texts[2];				/* as typed: "host=old*" */
};

/*
 * Copies the words; now NULL: all other values.  Freed with sides_free; NULL
 * with *error set, also if the keys differ.
 */
struct sides *sides_new(const struct pattern_word *base,
                        const struct pattern_word *now, struct error *error);
void sides_free(struct sides *sides);

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

#endif
