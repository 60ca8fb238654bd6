/* SPDX-License-Identifier: GPL-3.0-or-later */
/* asserting.h -- what assert and budget claim of a profile, and whether it
 * holds.
 */
#ifndef CPPROF_SHELL_COMMAND_ASSERTING_H
#define CPPROF_SHELL_COMMAND_ASSERTING_H

#include "src/shell/command/command.h"
#include "src/views/hits/hits.h"

/* ---- assertion.c ---- */

/*
 * A claim that something stays below or above a bound.
 *
 * 	functions malloc below 5%
 * 	path (main parse) below 120ms
 * 	up malloc below 5%		each path that the view shows
 * 	change functions parse below 3%
 *
 * A change is that since the base (session_set_base), in points of what shares
 * of the base run are of (session's percent), or in gticks; its bound may be
 * negative.
 */

enum assertion_view { ASSERT_FUNCTIONS, ASSERT_BODY, ASSERT_PATH,
	              ASSERT_DOWN, ASSERT_UP, ASSERT_CALLERS, ASSERT_CALLEES,
	              ASSERT_CHANGE };

/* Their names, as choices of an arg_choice. */
extern const char *const assertion_views[];

struct assertion {
	enum assertion_view view;
	bool is_change;			/* of the view's value */
	const struct pattern_word *words;	/* [n_words] function or path */
	size_t n_words;
	bool is_above;
	bool is_share;
	double bound;			/* a share, or gticks */
	const char *bound_text;		/* as typed */
};

/*
 * FUNCTION|PATH below|above BOUND, the last argument: pattern_words, and in
 * words the last two.  After the view "change", it begins with another view,
 * which is the third of the words.
 */
extern const struct argument_kind arg_bounded;

/*
 * The assertion that arguments with the view and arg_bounded make; it borrows
 * from them.
 */
int assertion_of(struct assertion *assertion, const struct session *session,
                 const struct arguments *arguments, struct error *error);

/* ---- asserting.c ---- */

/*
 * Whether assertions hold for the loaded profile.
 *
 * An assertion holds or is violated only if the 95% interval of each function
 * or path that it names is on one side of the bound.  Otherwise it is
 * undecided, and so is one about a name that does not occur.
 */

/* What several assertions about one profile share. */
struct asserting {
	struct session *session;
	struct view_request request;
	struct table *table;		/* a row for each function and path */
	size_t n_runs;			/* of which amounts are the sum */
	uint64_t n_members;		/* likewise of a merged profile; 0: it
					 * is none */
	uint64_t for_members;		/* of how many members amounts are
					 * shown and bounds are; n_members
					 * until the caller says else */
	struct noise noise;		/* after asserting_count */
	bool is_counted;
	uint64_t n_violated, n_undecided;
};

/* Names the table's columns. */
int asserting_begin(struct asserting *asserting, struct session *session,
                    struct table *table, struct error *error);

/* Adds the rows of an assertion. */
int asserting_check(struct asserting *asserting,
                    const struct assertion *assertion, struct error *error);

/* Leaves the session to know what a script found. */
void asserting_end(struct asserting *asserting);

/* All functions and their noise, counted once. */
int asserting_count(struct asserting *asserting, struct error *error);

/*
 * An amount in hits with an interval of z standard errors; low and high are
 * NAN where groups or runs do not show it.
 */
struct estimate asserting_hits(const struct asserting *asserting,
                               const struct noisy_amount *of, double z);

/* Whether a number decides by itself: nothing but the program made it. */
bool asserting_is_exact(const struct asserting *asserting,
                        const struct estimate *estimate);

#endif
