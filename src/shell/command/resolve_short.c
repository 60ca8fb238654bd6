/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve_short.c -- the functions that a typed name stands for. */
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
	struct typed_name typed;
	struct name_parts parts;
	enum name_reading reading;	/* the closest so far */
	uint32_t *found;		/* [n] by that reading */
	size_t n, capacity;
	struct error *error;
};

static int
resolve_short_add(struct short_search *search, uint32_t name)
{
	const struct names *names = search->among.names;
	const enum name_reading reading = typed_name_stands_for(
	    &search->typed, names_text(names, name),
	    names_length(names, name), search->reading, &search->parts,
	    search->error);

	if (search->error->is_set)
		return -1;
	if (reading == N_NAME_READINGS)
		return 0;
	if (reading < search->reading)
		search->n = 0;
	search->reading = reading;
	if (memory_grow(&search->found, &search->capacity, search->n + 1,
	                sizeof *search->found, search->error) != 0)
		return -1;
	search->found[search->n++] = name;
	return 0;
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
	          search->typed.length > SHOWN ? SHOWN :
	              (int)search->typed.length,
	          search->typed.text, search->n, text_string(&text));
	text_free(&text);
	arena_free(&arena);
	free(list);
}

/* Finds the functions.  Free search->found. */
static int
resolve_short_find_all(struct short_search *search, struct function_set among,
                       const char *text, size_t length, struct error *error)
{
	*search = (struct short_search){
		.among = among,
		.reading = READING_SPARSE,
		.error = error,
	};
	if (typed_name_make(&search->typed, text, length, error) != 0)
		return -1;
	for (uint32_t i = 0; i < among.n && !error->is_set; i++)
		resolve_short_add(search, among.functions[i]);
	name_parts_free(&search->parts);
	return error->is_set ? -1 : 0;
}

uint32_t
resolve_short_name_among(struct function_set among, const char *text,
                         size_t length, struct error *error)
{
	struct short_search search;
	uint32_t name = NO_NAME;

	if (resolve_short_find_all(&search, among, text, length, error) == 0) {
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
                    size_t length, size_t *n, enum name_reading *reading,
                    struct error *error)
{
	struct short_search search;

	*n = 0;
	*reading = N_NAME_READINGS;
	if (resolve_short_find_all(&search, functions_of(session), text, length,
	                           error) == 0 && search.n > 0) {
		*n = search.n;
		*reading = search.reading;
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
