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
 */
#ifndef CPPROF_SHELL_COMMAND_ASSERTION_H
#define CPPROF_SHELL_COMMAND_ASSERTION_H

#include "src/shell/command/arguments.h"

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

#endif
