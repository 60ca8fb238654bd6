/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve_short.c -- the functions that a short name stands for. */
#include "src/shell/command/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/short_name.h"
#include "src/base/text_buffer.h"
#include "src/views/hits/hits.h"

/* Bytes of a word and of the names that an error shows. */
enum { SHOWN = 80, LISTED_SIZE = 700 };

uint64_t *
resolve_function_hits(const struct session *session)
{
	const struct subject *subject = session->subject;
	struct error ignored = { 0 };
	struct function_total *totals;
	uint64_t *hits;
	uint32_t n;

	if (subject->profile == NULL)
		return NULL;
	totals = function_totals(&subject->set, &n, &ignored);
	hits = totals == NULL ? NULL : memory_array(
	    names_count(subject->set.names), sizeof *hits, &ignored);
	for (uint32_t i = 0; hits != NULL && i < n; i++)
		hits[totals[i].name] = totals[i].inclusive;
	free(totals);
	return hits;
}

/* A search for functions. */
struct short_search {
	struct function_set among;
	const char *text;
	size_t length;
	struct name_parts parts;
	const char *last;		/* its last identifier */
	size_t n_last;
	uint32_t *found;		/* [n] */
	size_t n, capacity;
	struct error *error;
};

/* Whether the text can stand for a function. */
static bool
stands_for(struct short_search *search, uint32_t name, bool lacks_scopes)
{
	const struct names *names = search->among.names;
	const char *whole = names_text(names, name);
	size_t n = names_length(names, name);

	/* Most names do not even have the last identifier. */
	if (memmem(whole, n, search->last, search->n_last) == NULL ||
	    name_parts_find(&search->parts, whole, n, search->error) != 0)
		return false;
	return short_name_stands_for(search->text, search->length, whole, n,
	                             &search->parts, lacks_scopes,
	                             search->error);
}

static int
resolve_short_find_functions(struct short_search *search, bool lacks_scopes)
{
	const uint32_t *functions = search->among.functions;

	for (uint32_t i = 0; i < search->among.n && !search->error->is_set;
	     i++) {
		if (!stands_for(search, functions[i], lacks_scopes))
			continue;
		if (memory_grow(&search->found, &search->capacity,
		                search->n + 1, sizeof *search->found,
		                search->error) != 0)
			return -1;
		search->found[search->n++] = functions[i];
	}
	return search->error->is_set ? -1 : 0;
}

/* Adds the functions, as many as an error has room for; whether all. */
static bool
add_list(struct text_buffer *text, const struct short_name *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t before = text->length;

		text_add_string(text, i == 0 ? "" : ", ");
		text_add_word(text, names[i].text, names[i].length);
		if (text->length <= LISTED_SIZE)
			continue;
		text->length = i == 0 ? LISTED_SIZE : before;
		text_add_string(text, i == 0 ? "..." : ", ...");
		return false;
	}
	return true;
}

/*
 * Sets *error, which lists the functions: whole, or if there is no room for
 * that, with what tells them apart.
 */
static void
resolve_short_report_several(const struct short_search *search)
{
	const struct names *names = search->among.names;
	struct short_name *list = memory_array(search->n, sizeof *list,
	                                       search->error);
	struct text_buffer text = { 0 };
	struct arena arena = { 0 };

	if (list == NULL)
		return;
	for (size_t i = 0; i < search->n; i++) {
		list[i].text = list[i].whole =
		    names_text(names, search->found[i]);
		list[i].length = list[i].n_whole =
		    names_length(names, search->found[i]);
	}
	if (!add_list(&text, list, search->n) &&
	    short_names_make(list, search->n, &arena, search->error) == 0) {
		text_clear(&text);
		add_list(&text, list, search->n);
	}
	error_set(search->error, "%.*s is short for %zu functions: %s",
	          search->length > SHOWN ? SHOWN : (int)search->length,
	          search->text, search->n, text_string(&text));
	text_free(&text);
	arena_free(&arena);
	free(list);
}

/*
 * Finds the functions; *lacks_scopes: they have none with all their scopes.
 * Free search->found.
 */
static int
resolve_short_find_all(struct short_search *search, struct function_set among,
                       const char *text, size_t length, bool *lacks_scopes,
                       struct error *error)
{
	*search = (struct short_search){
		.among = among,
		.text = text,
		.length = length,
		.error = error,
	};
	*lacks_scopes = false;
	if (length > 0 &&
	    name_parts_find(&search->parts, text, length, error) == 0) {
		search->last = text + search->parts.last_begin;
		search->n_last = search->parts.last_end -
		    search->parts.last_begin;
		if (resolve_short_find_functions(search, false) == 0 &&
		    search->n == 0) {
			*lacks_scopes = true;
			resolve_short_find_functions(search, true);
		}
	}
	name_parts_free(&search->parts);
	return error->is_set ? -1 : 0;
}

uint32_t
resolve_short_name_among(struct function_set among, const char *text,
                         size_t length, struct error *error)
{
	struct short_search search;
	bool lacks_scopes;
	uint32_t name = NO_NAME;

	if (resolve_short_find_all(&search, among, text, length, &lacks_scopes,
	                           error) == 0) {
		if (search.n == 1)
			name = search.found[0];
		else if (search.n > 1)
			resolve_short_report_several(&search);
	}
	free(search.found);
	return name;
}

static struct function_set
functions_of(const struct session *session)
{
	struct function_set all = {
		.names = session->subject->profile == NULL ? NULL :
		    session->subject->profile->names,
	};

	all.functions = session_functions(session, &all.n);
	return all;
}

uint32_t
resolve_short_name(const struct session *session, const char *text,
                   size_t length, struct error *error)
{
	return resolve_short_name_among(functions_of(session), text, length,
	                                error);
}

uint32_t *
resolve_short_names(const struct session *session, const char *text,
                    size_t length, size_t *n, bool *lacks_scopes,
                    struct error *error)
{
	struct short_search search;

	*n = 0;
	if (resolve_short_find_all(&search, functions_of(session), text, length,
	                           lacks_scopes, error) == 0) {
		*n = search.n;
		return search.found;
	}
	free(search.found);
	return NULL;
}

static void
offer_short_names(struct function_set functions, struct completion *completion)
{
	const struct names *names = functions.names;
	struct short_name *short_names = memory_array(functions.n,
	    sizeof *short_names, &completion->error);
	struct arena arena = { 0 };

	if (short_names == NULL)
		return;
	for (uint32_t i = 0; i < functions.n; i++)
		short_names[i] = (struct short_name){
			.whole = names_text(names, functions.functions[i]),
			.n_whole = names_length(names,
			                        functions.functions[i]),
		};
	if (short_names_make(short_names, functions.n, &arena,
	                     &completion->error) == 0)
		for (uint32_t i = 0; i < functions.n; i++)
			completion_offer_function(completion,
			    short_names[i].text, short_names[i].length,
			    short_names[i].whole, short_names[i].n_whole,
			    functions.hits == NULL ? 0 :
			    functions.hits[functions.functions[i]]);
	arena_free(&arena);
	free(short_names);
}

void
resolve_offer_functions_of(struct function_set functions, bool are_short,
                           struct completion *completion)
{
	if (are_short && functions.n > 0) {
		offer_short_names(functions, completion);
		return;
	}
	for (uint32_t i = 0; i < functions.n; i++) {
		uint32_t name = functions.functions[i];
		const char *text = names_text(functions.names, name);
		size_t length = names_length(functions.names, name);

		completion_offer_function(completion, text, length, text,
		    length, functions.hits == NULL ? 0 : functions.hits[name]);
	}
}

void
resolve_offer_functions(const struct session *session, bool are_short,
                        struct completion *completion)
{
	struct function_set all = functions_of(session);
	uint64_t *hits = resolve_function_hits(session);

	all.hits = hits;
	resolve_offer_functions_of(all, are_short, completion);
	free(hits);
}
