/* SPDX-License-Identifier: GPL-3.0-or-later */
/* assertion.h -- a claim that something stays below or above a bound.
 *
 *	functions malloc below 5%
 *	path (main parse) below 120ms
 *	up malloc below 5%		each path that the view shows
 *	change functions parse below 3%
 *
 * A change is that since the base (session_set_base), in points of what shares
 * of the base run are of (session's percent), or in gticks; its bound may be
 * negative.
 *
 * It holds or is violated only if the 95% interval of each function or path
 * that it names is on one side of the bound.  Otherwise it is undecided, and so
 * is one about a name that does not occur.
 */
#ifndef CPPROF_SHELL_COMMAND_ASSERTION_H
#define CPPROF_SHELL_COMMAND_ASSERTION_H

#include "src/shell/command/arguments.h"
#include "src/views/amount.h"

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
 * from them.  0, or -1 with *error set.
 */
int assertion_of(struct assertion *assertion, const struct session *session,
                 const struct arguments *arguments, struct error *error);

/* What several assertions about one profile share. */
struct asserting {
	struct session *session;
	struct view_request request;
	struct table *table;		/* a row for each function and path */
	size_t n_runs;			/* of which amounts are the sum */
	struct function_amount *functions;	/* [n_functions]; NULL: not
						 * counted yet */
	uint32_t n_functions;
	struct sampled whole;		/* what shares are of */
	bool has_whole;
	uint64_t n_violated, n_undecided;
};

/* Names the table's columns.  0, or -1 with *error set. */
int asserting_begin(struct asserting *asserting, struct session *session,
                    struct table *table, struct error *error);

/* Adds the rows of an assertion.  0, or -1 with *error set. */
int asserting_check(struct asserting *asserting,
                    const struct assertion *assertion, struct error *error);

/* Leaves the session to know what a script found. */
void asserting_end(struct asserting *asserting);

/* All functions, counted once.  0, or -1 with *error set. */
int asserting_count(struct asserting *asserting, struct error *error);

#endif
