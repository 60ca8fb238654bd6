/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve.c -- finds the functions and resources that words name. */
#include "src/shell/command/resolve.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/short_name.h"
#include "src/base/text_buffer.h"
#include "src/refine/refine.h"

/* Bytes of a word, and how many of several functions, that an error shows. */
enum { SHOWN = 80, LISTED = 8 };

/* A function of the profile that views do not show, by the settings or steps.
 * Whether *error is set. */
static bool
report_hidden(const struct session *session, const char *text, size_t length,
              struct error *error)
{
	const struct profile *profile = session->subject->profile;
	const uint32_t name = names_find(profile->names, text, length);
	size_t n_steps;

	if (session->settings.naming.granularity != GRANULARITY_FUNCTION ||
	    name == NO_NAME ||
	    profile_next_frame(profile, name, 0) == profile->n_frames)
		return false;
	refinement_steps(&session->refinement, &n_steps);
	if (session->settings.naming.inlines == INLINES_OFF &&
	    code_is_inlined_only(profile, name,
	                         "inlines is off; say \"inlines auto\"",
	                         error))
		return true;
	if (session->settings.startup == STARTUP_HIDE &&
	    startup_has_name(text, length))
		error_set(error, "%.*s is a start-up function, and these are "
		          "not shown; say \"startup show\"", SHOWN, text);
	else if (session->settings.kernel == KERNEL_HIDE &&
	         hidden_has_function(profile, HIDES_KERNEL, name))
		error_set(error, "%.*s is a function of the kernel, and these "
		          "are not shown; say \"kernel show\"", SHOWN, text);
	else if (session->settings.interpreter == INTERPRETER_HIDE &&
	         hidden_has_function(profile, HIDES_INTERPRETER, name))
		error_set(error, "%.*s is a function by which the interpreter "
		          "runs others, and these are not shown; say "
		          "\"interpreter show\"", SHOWN, text);
	else if (session->settings.await == AWAIT_HIDE &&
	         hidden_has_function(profile, HIDES_AWAIT, name))
		error_set(error, "%.*s only awaits others, and what does is "
		          "not shown; say \"await show\"", SHOWN, text);
	else if (n_steps > 0)
		error_set(error, "the steps left no function %.*s; \"steps\" "
		          "lists them, \"undo\" takes back the last", SHOWN,
		          text);
	return error->is_set;
}

/* Sets an error that ends with the functions that are near. */
static void
report_near(const struct session *session, struct near *near,
            const char *what, const char *text, struct error *error)
{
	struct names *names = session->subject->profile->names;
	struct text_buffer near_ones = { 0 };
	uint32_t n;
	const uint32_t *functions = session_functions(session, &n);
	uint64_t *hits = resolve_function_hits(session);

	for (uint32_t i = 0; i < n; i++)
		near_offer_function(near, names_text(names, functions[i]),
		                    names_length(names, functions[i]),
		                    hits == NULL ? 0 : hits[functions[i]]);
	free(hits);
	near_add(near, &near_ones);
	error_set(error, "%s %.*s%s", what, SHOWN, text,
	          text_string(&near_ones));
	text_free(&near_ones);
}

/* The profile has no such function; names similar ones. */
static void
resolve_report_unknown(const struct session *session, const char *text,
                       size_t length, struct error *error)
{
	struct near near;

	if (report_hidden(session, text, length, error))
		return;
	near_start(&near, text, length);
	report_near(session, &near, "the profile has no function", text,
	            error);
}

/* Counts the functions that match; writes them to found unless it is NULL. */
static size_t
find_matches(const struct session *session, const struct pattern *pattern,
             uint32_t *found)
{
	struct names *names = session->subject->profile->names;
	uint32_t n_functions;
	const uint32_t *functions = session_functions(session, &n_functions);
	size_t n = 0;

	for (uint32_t i = 0; i < n_functions; i++) {
		uint32_t name = functions[i];

		if (!pattern_matches_function(pattern, names_text(names, name),
		                              names_length(names, name)))
			continue;
		if (found != NULL)
			found[n] = name;
		n++;
	}
	return n;
}

bool
resolve_matches(const struct session *session, const struct pattern *pattern)
{
	struct names *names = session->subject->profile->names;
	uint32_t n;
	const uint32_t *functions = session_functions(session, &n);

	for (uint32_t i = 0; i < n; i++)
		if (pattern_matches_function(pattern,
		    names_text(names, functions[i]),
		    names_length(names, functions[i])))
			return true;
	return false;
}

void
resolve_report_no_match(const struct session *session,
                        const struct pattern *pattern, const char *text,
                        struct error *error)
{
	struct near near;
	const char *literal;
	size_t n;

	if (pattern_check(pattern, error) != 0)
		return;
	if (!pattern_is_general(pattern)) {
		resolve_report_unknown(session, text, strlen(text), error);
		return;
	}
	literal = pattern_literal(pattern, &n);
	near_start_part(&near, literal, n);
	report_near(session, &near, "no function matches", text, error);
}

static uint32_t *
resolve_match_functions(const struct session *session, const struct word *word,
                        struct arena *arena, size_t *n, struct error *error)
{
	struct pattern *pattern = pattern_new(word->text, error);
	uint32_t *found = NULL;

	if (pattern == NULL)
		return NULL;
	*n = find_matches(session, pattern, NULL);
	if (*n > 0)
		found = arena_alloc(arena, *n * sizeof *found, error);
	else
		resolve_report_no_match(session, pattern, word->text, error);
	if (found != NULL)
		find_matches(session, pattern, found);
	if (pattern_check(pattern, error) != 0)
		found = NULL;
	pattern_free(pattern);
	return found;
}

bool
resolve_is_function(const struct session *session, const char *text,
                    size_t length)
{
	struct error ignored = { 0 };
	enum name_reading reading;
	size_t n;

	if (session->subject->profile == NULL)
		return false;
	if (session_find_function(session, text, length) != NO_NAME)
		return true;
	free(resolve_short_names(session, text, length, &n, &reading,
	                         &ignored));
	return n > 0;
}

/* The functions for which a word is short, in the arena; NULL: there is none,
 * or *error is set. */
static uint32_t *
short_functions(const struct session *session, const struct word *word,
                struct arena *arena, size_t *n, struct error *error)
{
	enum name_reading reading;
	uint32_t *found = resolve_short_names(session, word->text,
	                                      word->length, n, &reading,
	                                      error);
	uint32_t *copy = found == NULL ? NULL :
	    arena_alloc(arena, *n * sizeof *copy, error);

	if (copy != NULL)
		memcpy(copy, found, *n * sizeof *copy);
	free(found);
	return copy;
}

uint32_t *
resolve_functions(const struct session *session, const struct word *word,
                  struct arena *arena, size_t *n, struct error *error)
{
	uint32_t name, *found;

	if (session_need_profile(session, error) != 0)
		return NULL;
	name = session_find_function(session, word->text, word->length);
	if (name != NO_NAME) {
		*n = 1;
		found = arena_alloc(arena, sizeof *found, error);
		if (found != NULL)
			found[0] = name;
		return found;
	}
	found = short_functions(session, word, arena, n, error);
	if (found != NULL || error->is_set)
		return found;
	if (!word->is_quoted)
		return resolve_match_functions(session, word, arena, n, error);
	resolve_report_unknown(session, word->text, word->length, error);
	return NULL;
}

/* Reports that a pattern matches several functions, and names the largest. */
static void
resolve_report_several(const struct session *session, const char *pattern,
                       uint32_t *found, size_t n, struct error *error)
{
	const struct names *names = session->subject->profile->names;
	uint64_t *hits = resolve_function_hits(session);
	struct text_buffer text = { 0 };

	for (size_t i = 0; i < n && i < LISTED; i++) {
		size_t largest = i;
		uint32_t name;

		for (size_t k = i + 1; hits != NULL && k < n; k++)
			if (hits[found[k]] > hits[found[largest]])
				largest = k;
		text_add_string(&text, i == 0 ? "" : ", ");
		text_add_word(&text, names_text(names, found[largest]),
		              names_length(names, found[largest]));
		name = found[largest];
		memmove(&found[i + 1], &found[i],
		        (largest - i) * sizeof *found);
		found[i] = name;
	}
	error_set(error, "%.*s matches %zu functions: %s%s", SHOWN, pattern, n,
	          text_string(&text), n > LISTED ? ", ..." : "");
	text_free(&text);
	free(hits);
}

uint32_t
resolve_function(const struct session *session, const struct word *word,
                 struct error *error)
{
	struct arena arena = { 0 };
	uint32_t name, *found;
	size_t n;

	if (session_need_profile(session, error) != 0)
		return NO_NAME;
	name = session_find_function(session, word->text, word->length);
	if (name == NO_NAME)
		name = resolve_short_name(session, word->text, word->length,
		                          error);
	if (name != NO_NAME || error->is_set)
		return name;
	found = resolve_functions(session, word, &arena, &n, error);
	if (found != NULL && n == 1)
		name = found[0];
	else if (found != NULL)
		resolve_report_several(session, word->text, found, n, error);
	arena_free(&arena);
	return name;
}

struct pattern *
resolve_pattern(const struct session *session, const struct word *word,
                struct error *error)
{
	struct pattern *pattern = NULL;

	if (session->subject->profile != NULL && session_find_function(session,
	    word->text, word->length) != NO_NAME)
		return pattern_new_exact(word->text, error);
	if (session->subject->profile != NULL) {
		const struct names *names = session->subject->profile->names;
		enum name_reading reading;
		size_t n;
		uint32_t *found = resolve_short_names(session, word->text,
		                                      word->length, &n,
		                                      &reading, error);

		/*
		 * A pattern for the functions for which a word is short; NULL:
		 * there is none, or *error is set.
		 */
		if (n == 1)
			pattern = pattern_new_exact(names_text(names, found[0]),
			                            error);
		else if (n > 1)
			pattern = pattern_new_typed(word->text, reading,
			                            error);
		free(found);
	}
	if (pattern != NULL || error->is_set)
		return pattern;
	return word->is_quoted ? pattern_new_exact(word->text, error)
	    : pattern_new(word->text, error);
}

uint32_t
resolve_resource(const struct session *session, const char *text,
                 struct error *error)
{
	const struct profile *profile = session->subject->profile;
	size_t length = strlen(text), n = 0;
	uint32_t found = UINT32_MAX;
	struct text_buffer known;

	if (session_need_profile(session, error) != 0)
		return UINT32_MAX;
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		const char *name = profile->resources[r].name;

		if (strcmp(name, text) == 0)
			return r;
		if (length > 0 && strncasecmp(name, text, length) == 0) {
			found = r;
			n++;
		}
	}
	if (n == 1)
		return found;
	known = (struct text_buffer){ 0 };
	for (uint32_t r = 0; r < profile->n_resources && r < 20; r++) {
		const char *name = profile->resources[r].name;

		text_add_string(&known, r == 0 ? "" : ", ");
		text_add_word(&known, name, strlen(name));
	}
	error_set(error, "%s %.*s; the profile has %s",
	          n == 0 ? "there is no resource" : "more than one resource "
	          "begins with", SHOWN, text, text_string(&known));
	text_free(&known);
	return UINT32_MAX;
}
