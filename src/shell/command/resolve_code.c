/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve_code.c -- finds the code that a word names: a function or a file. */
#include "src/shell/command/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/pattern.h"
#include "src/base/short_name.h"
#include "src/base/text_buffer.h"

/* Bytes of a word, and how many of several names, that an error shows. */
enum { SHOWN = 80, LISTED = 8 };

/* What each of the profile's names is. */
struct resolve_known {
	const struct names *names;
	uint32_t n_names;
	bool *is_function, *is_file;	/* [n_names] */
};

static void
know(struct resolve_known *known, uint32_t function, uint32_t file)
{
	if (function != NO_NAME)
		known->is_function[function] = true;
	if (file != NO_NAME)
		known->is_file[file] = true;
}

/* Call known_free even if it fails. */
static int
known_make(struct resolve_known *known, const struct profile *profile,
           enum code_kinds kinds, struct error *error)
{
	known->names = profile->names;
	known->n_names = names_count(profile->names);
	known->is_function = memory_array(known->n_names, sizeof(bool), error);
	known->is_file = memory_array(known->n_names, sizeof(bool), error);
	if (known->is_function == NULL || known->is_file == NULL)
		return -1;
	if (profile->graph != NULL) {
		const struct call_graph *graph = profile->graph;

		for (uint32_t i = 0; i < graph->n_nodes; i++)
			know(known, graph->nodes[i].name, graph->nodes[i].file);
		for (uint32_t i = 0;
		     graph->places != NULL && i < graph->places->n; i++)
			know(known, NO_NAME, graph->places->items[i].file);
	}
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		for (uint32_t k = 0; k < frame->n_locations; k++) {
			const struct location *location =
			    &profile->locations[frame->first_location + k];

			know(known, location->function, location->file);
		}
	}
	if (kinds == CODE_FUNCTIONS)
		memset(known->is_file, 0, known->n_names * sizeof(bool));
	return 0;
}

static void
known_free(struct resolve_known *known)
{
	free(known->is_function);
	free(known->is_file);
}

/* The first marked name in byte order that comes after another, or NO_NAME. */
static uint32_t
next_match(const struct resolve_known *known, const bool *is_match,
           uint32_t after)
{
	uint32_t next = NO_NAME;

	for (uint32_t i = 0; i < known->n_names; i++)
		if (is_match[i] && (after == NO_NAME ||
		        names_compare(known->names, i, after) > 0) &&
		    (next == NO_NAME ||
		     names_compare(known->names, i, next) < 0))
			next = i;
	return next;
}

/* Reports that a text may mean several of the names that are marked. */
static int
resolve_code_report_several(const struct resolve_known *known, const char *text,
                            const char *what, const bool *is_match, size_t n,
                            struct error *error)
{
	struct text_buffer list = { 0 };
	uint32_t name = NO_NAME;

	for (size_t i = 0; i < n && i < LISTED; i++) {
		name = next_match(known, is_match, name);
		text_add_string(&list, i == 0 ? "" : ", ");
		text_add_word(&list, names_text(known->names, name),
		              names_length(known->names, name));
	}
	error_set(error, "%.*s matches %zu %s: %s%s", SHOWN, text, n, what,
	          text_string(&list), n > LISTED ? ", ..." : "");
	text_free(&list);
	return -1;
}

static int
resolve_code_report_unknown(const struct session *session,
                            const struct resolve_known *known,
                            enum code_kinds kinds, const char *text,
                            struct error *error)
{
	struct text_buffer near_ones = { 0 };
	uint64_t *hits = resolve_function_hits(session);
	struct near near;

	near_start(&near, text, strlen(text));
	for (uint32_t i = 0; i < known->n_names; i++)
		if (known->is_function[i])
			near_offer_function(&near,
			    names_text(known->names, i),
			    names_length(known->names, i),
			    hits == NULL ? 0 : hits[i]);
	free(hits);
	for (uint32_t i = 0; i < known->n_names; i++) {
		const char *path = names_text(known->names, i);

		if (known->is_file[i])
			near_offer(&near, last_component(path),
			           strlen(last_component(path)));
	}
	near_add(&near, &near_ones);
	error_set(error, "the profile has no function%s %.*s%s",
	          kinds == CODE_FUNCTIONS ? "" : " or source file", SHOWN,
	          text, text_string(&near_ones));
	text_free(&near_ones);
	return -1;
}

/* Whether text[n] is a path, or whole components at the end of it. */
static bool
is_end_of(const char *path, size_t length, const char *text, size_t n)
{
	return n > 0 && n <= length &&
	    memcmp(path + length - n, text, n) == 0 &&
	    (n == length || text[0] == '/' || path[length - n - 1] == '/');
}

/*
 * The file that text[n] names; the whole path counts before ends of others.
 * Marks all that match, and returns their number with one of them in *file.
 */
static size_t
match_files(const struct resolve_known *known, const char *text, size_t n,
            bool *is_match, uint32_t *file)
{
	uint32_t whole = names_find(known->names, text, n);
	size_t n_found = 0;

	if (whole != NO_NAME && known->is_file[whole]) {
		*file = whole;
		return 1;
	}
	for (uint32_t i = 0; i < known->n_names; i++) {
		is_match[i] = known->is_file[i] &&
		    is_end_of(names_text(known->names, i),
		              names_length(known->names, i), text, n);
		if (is_match[i]) {
			*file = i;
			n_found++;
		}
	}
	return n_found;
}

/* The length of FILE in FILE:LINE, and its *line; 0: it has another form. */
static size_t
split_line(const char *text, uint32_t *line)
{
	const char *colon = strrchr(text, ':');
	unsigned long number;
	char *end;

	if (colon == NULL || colon[1] < '0' || colon[1] > '9')
		return 0;
	number = strtoul(colon + 1, &end, 10);
	if (*end != '\0' || number == 0 || number > INT32_MAX)
		return 0;
	*line = (uint32_t)number;
	return (size_t)(colon - text);
}

static int
resolve_file(const struct resolve_known *known, const char *text, size_t n,
             bool *is_match, struct code_scope *scope, struct error *error)
{
	size_t n_found = match_files(known, text, n, is_match, &scope->file);

	if (n_found > 1)
		return resolve_code_report_several(known, text, "files",
		                                   is_match, n_found, error);
	return n_found == 1 ? 1 : 0;
}

/* The known functions, freed with free(); NULL with *error set. */
static uint32_t *
resolve_code_list_functions(const struct resolve_known *known, uint32_t *n,
                            struct error *error)
{
	uint32_t *functions = memory_array(known->n_names, sizeof *functions,
	                                   error);

	*n = 0;
	for (uint32_t i = 0; functions != NULL && i < known->n_names; i++)
		if (known->is_function[i])
			functions[(*n)++] = i;
	if (*n > 0)
		qsort_r(functions, *n, sizeof *functions,
		        names_compare_items, (void *)known->names);
	return functions;
}

/* 1: found; 0: not; -1 with *error set. */
static int
resolve_short_function(const struct resolve_known *known, const char *text,
                       struct code_scope *scope, struct error *error)
{
	struct function_set among = { .names = known->names };
	uint32_t *functions = resolve_code_list_functions(known, &among.n,
	                                                  error);

	if (functions == NULL)
		return -1;
	among.functions = functions;
	scope->function = resolve_short_name_among(among, text, strlen(text),
	                                           error);
	free(functions);
	if (error->is_set)
		return -1;
	return scope->function != NO_NAME ? 1 : 0;
}

/* Likewise. */
static int
resolve_pattern_function(const struct resolve_known *known, const char *text,
                         bool *is_match, struct code_scope *scope,
                         struct error *error)
{
	struct pattern *pattern = pattern_new(text, error);
	size_t n_found;
	int status;

	if (pattern == NULL)
		return -1;
	n_found = 0;
	for (uint32_t i = 0; i < known->n_names; i++) {
		is_match[i] = known->is_function[i] &&
		    pattern_matches_function(pattern,
		        names_text(known->names, i),
		        names_length(known->names, i));
		if (is_match[i]) {
			scope->function = i;
			n_found++;
		}
	}
	status = pattern_check(pattern, error);
	pattern_free(pattern);
	if (status != 0)
		return -1;
	if (n_found > 1)
		return resolve_code_report_several(known, text, "functions",
		                                   is_match, n_found, error);
	return n_found == 1 ? 1 : 0;
}

static int
resolve_code_resolve(const struct session *session,
                     const struct resolve_known *known, enum code_kinds kinds,
                     const char *text, bool *is_match, struct code_scope *scope,
                     uint32_t *line, struct error *error)
{
	uint32_t name = names_find(known->names, text, strlen(text));
	size_t n_file;
	int found = 0;

	if (name != NO_NAME && known->is_function[name]) {
		scope->function = name;
		return 0;
	}
	n_file = kinds == CODE_FUNCTIONS ? 0 : split_line(text, line);
	if (n_file > 0)
		found = resolve_file(known, text, n_file, is_match, scope,
		                     error);
	if (found == 0) {
		*line = 0;
		found = resolve_file(known, text, strlen(text), is_match,
		                     scope, error);
	}
	if (found == 0)
		found = resolve_short_function(known, text, scope, error);
	if (found == 0)
		found = resolve_pattern_function(known, text, is_match, scope,
		                                 error);
	if (found == 0)
		return resolve_code_report_unknown(session, known, kinds, text,
		                                   error);
	return found > 0 ? 0 : -1;
}

int
resolve_code(const struct session *session, enum code_kinds kinds,
             const char *text, struct code_scope *scope, uint32_t *line,
             struct error *error)
{
	struct resolve_known known = { 0 };
	bool *is_match = NULL;
	int status = -1;

	*scope = (struct code_scope){ NO_NAME, NO_NAME };
	*line = 0;
	if (known_make(&known, session->subject->profile, kinds, error) == 0)
		is_match = memory_array(known.n_names, sizeof *is_match,
		                        error);
	if (is_match != NULL)
		status = resolve_code_resolve(session, &known, kinds, text,
		                              is_match, scope, line, error);
	free(is_match);
	known_free(&known);
	return status;
}

void
resolve_code_complete(const struct session *session, enum code_kinds kinds,
                      bool has_short_names, struct completion *completion)
{
	struct resolve_known known = { 0 };

	if (known_make(&known, session->subject->profile, kinds,
	               &completion->error) == 0) {
		struct function_set all = { .names = known.names };
		uint32_t *functions =
		    resolve_code_list_functions(&known, &all.n,
		                                &completion->error);
		uint64_t *hits = resolve_function_hits(session);

		/* Offers the known functions. */
		all.functions = functions;
		all.hits = hits;
		if (functions != NULL)
			resolve_offer_functions_of(all, has_short_names,
			                           completion);
		free(functions);
		free(hits);
		for (uint32_t i = 0; i < known.n_names; i++)
			if (known.is_file[i])
				completion_offer(completion,
				    names_text(known.names, i),
				    names_length(known.names, i));
	}
	known_free(&known);
}
