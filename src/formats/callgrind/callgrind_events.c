/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_events.c -- the events that a callgrind file counts. */
#include "src/formats/callgrind/callgrind.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { MAX_TERMS = 100 };

struct term {
	uint32_t resource;
	uint64_t factor;
};

/* Texts live in the profile's arena. */
struct event_definition {
	const char *name;
	const char *long_name;	/* "": none */
	const char *formula;	/* NULL: a measured event's name */
	uint32_t resource;	/* of a derived event, or one of cpprof's own,
				 * once it is entered */
	struct term *terms;	/* [n_terms] the arena's */
	size_t n_terms;

	/* For an event that cpprof wrote, the original resource. */
	const char *own_name;	/* NULL: not written by cpprof */
	const char *gtick;
	uint64_t interval;
};

/* The gticks of the events of valgrind's tools. */
static const struct {
	const char *name, *gtick;
} known_events[] = {
	{ "Ir", "instruction" }, { "Dr", "data read" },
	{ "Dw", "data write" }, { "I1mr", "cache miss" },
	{ "D1mr", "cache miss" }, { "D1mw", "cache miss" },
	{ "ILmr", "cache miss" }, { "DLmr", "cache miss" },
	{ "DLmw", "cache miss" }, { "I2mr", "cache miss" },
	{ "D2mr", "cache miss" }, { "D2mw", "cache miss" },
	{ "Bc", "conditional branch" }, { "Bcm", "misprediction" },
	{ "Bi", "indirect branch" }, { "Bim", "misprediction" },
	{ "sysCount", "system call" }, { "Ge", "bus event" },
	{ NULL, NULL }
};

void
callgrind_events_free(struct callgrind_events *events)
{
	free(events->columns);
	free(events->definitions);
}

static struct event_definition *
find_definition(const struct callgrind_events *events, const char *name,
                size_t length)
{
	for (size_t i = 0; i < events->n_definitions; i++)
		if (callgrind_is_key(name, length,
		                     events->definitions[i].name))
			return &events->definitions[i];
	return NULL;
}

static uint32_t
callgrind_events_find_resource(const struct profile *profile, const char *name,
                               size_t length)
{
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (callgrind_is_key(name, length,
		                     profile->resources[r].name))
			return r;
	return UINT32_MAX;
}

static const char *
gtick_of(const struct callgrind_events *events, const char *name)
{
	const struct event_definition *definition =
	    find_definition(events, name, strlen(name));

	for (size_t i = 0; known_events[i].name != NULL; i++)
		if (strcmp(known_events[i].name, name) == 0)
			return known_events[i].gtick;
	return definition != NULL && *definition->long_name != '\0' ?
	    definition->long_name : "event";
}

/* A trimmed copy in the arena, or NULL with *error set. */
static const char *
callgrind_events_keep(struct profile *profile, const char *text, size_t length,
                      struct error *error)
{
	callgrind_trim(&text, &length);
	return arena_text(&profile->arena, text, length, error);
}

/*
 * Reads what `export callgrind` writes: NAME, or "NAME, INTERVAL GTICK each".
 */
static int
read_own(struct event_definition *made, struct profile *profile,
         struct error *error)
{
	const char *text = made->long_name, *end = text + strlen(text);
	const char *comma = memrchr(text, ',', (size_t)(end - text));
	const char *name_end = end, *gtick;
	uint64_t interval;

	made->gtick = "";
	made->interval = 1;
	if (comma != NULL && end - comma > 6 && strcmp(end - 5, " each") == 0 &&
	    (gtick = callgrind_number(comma + 2, &interval)) != NULL &&
	    *gtick == ' ' && interval > 0) {
		name_end = comma;
		made->interval = interval;
		made->gtick = callgrind_events_keep(profile, gtick,
		                                    (size_t)(end - 5 - gtick),
		                                    error);
	}
	made->own_name = callgrind_events_keep(profile, text,
	                                       (size_t)(name_end - text),
	                                       error);
	return error->is_set ? -1 : 0;
}

/* NAME [= FORMULA] [: LONG NAME] */
int
callgrind_events_define(struct callgrind_events *events,
                        struct profile *profile, const char *text,
                        size_t length, struct error *error)
{
	const char *end = text + length;
	const char *colon = memchr(text, ':', length);
	const char *name_end = colon != NULL ? colon : end;
	const char *equals = memchr(text, '=', (size_t)(name_end - text));
	struct event_definition made = { .resource = UINT32_MAX };

	if (events->is_fixed)
		return 0;
	if (events->n_definitions == RESOURCES_MAX)
		return error_set(error, "more than %d events are defined",
		                 RESOURCES_MAX);
	made.name = callgrind_events_keep(profile, text,
	                                  (size_t)((equals != NULL ? equals :
	                                                             name_end) -
	                                           text),
	                                  error);
	made.long_name = colon == NULL ?
	    "" :
	    callgrind_events_keep(profile, colon + 1, (size_t)(end - colon - 1),
	                          error);
	if (equals != NULL)
		made.formula = callgrind_events_keep(profile, equals + 1,
		                                     (size_t)(name_end -
		                                              equals - 1),
		                                     error);
	if (error->is_set)
		return -1;
	if (*made.name == '\0')
		return error_set(error, "expected an event's name");
	if (events->is_own && made.formula == NULL &&
	    read_own(&made, profile, error) != 0)
		return -1;
	if (memory_grow(&events->definitions, &events->definitions_capacity,
	                events->n_definitions + 1, sizeof made, error) != 0)
		return -1;
	events->definitions[events->n_definitions++] = made;
	return 0;
}

static uint32_t
callgrind_events_find_event(const struct callgrind_events *events,
                            const struct profile *profile, const char *name,
                            size_t length)
{
	const struct event_definition *definition =
	    find_definition(events, name, length);

	return definition != NULL && definition->own_name != NULL ?
	    definition->resource :
	    callgrind_events_find_resource(profile, name, length);
}

static uint32_t
callgrind_events_enter_event(struct callgrind_events *events,
                             struct profile *profile, const char *name,
                             size_t length, struct error *error)
{
	struct event_definition *definition = find_definition(events, name,
	                                                      length);
	const char *copy = callgrind_events_keep(profile, name, length, error);

	if (copy == NULL)
		return UINT32_MAX;
	if (definition == NULL || definition->own_name == NULL)
		return profile_add_resource(profile, copy,
		                            gtick_of(events, copy), 1, error);
	definition->resource = profile_add_resource(profile,
	    definition->own_name, definition->gtick, definition->interval,
	    error);
	return definition->resource;
}

/* Checks that a resource, UINT32_MAX for a new one, can get another column. */
static int
check_column(const struct callgrind_events *events, uint32_t resource,
             const char *name, size_t length, struct error *error)
{
	int shown = (int)(length < 100 ? length : 100);

	for (uint32_t i = 0; i < events->n_columns; i++)
		if (events->columns[i] == resource)
			return error_set(error, "event %.*s is listed "
			                 "twice", shown, name);
	if (resource == UINT32_MAX && events->is_fixed)
		return error_set(error, "event %.*s is not among those of "
		                 "the first part", shown, name);
	return 0;
}

static int
callgrind_events_add_column(struct callgrind_events *events,
                            struct profile *profile, const char *name,
                            size_t length, struct error *error)
{
	uint32_t resource = callgrind_events_find_event(events, profile, name,
	                                                length);

	if (check_column(events, resource, name, length, error) != 0)
		return -1;
	if (resource == UINT32_MAX)
		resource = callgrind_events_enter_event(events, profile, name,
		                                        length, error);
	if (resource == UINT32_MAX ||
	    memory_grow(&events->columns, &events->columns_capacity,
	                (size_t)events->n_columns + 1, sizeof resource,
	                error) != 0)
		return -1;
	events->columns[events->n_columns++] = resource;
	return 0;
}

int
callgrind_events_columns(struct callgrind_events *events,
                         struct profile *profile, const char *text,
                         size_t length, struct error *error)
{
	size_t n;

	events->n_columns = 0;
	while ((n = callgrind_next_word(&text, &length)) > 0) {
		if (callgrind_events_add_column(events, profile, text, n,
		                                error) != 0)
			return -1;
		text += n;
		length -= n;
	}
	if (events->n_columns == 0)
		return error_set(error, "expected names of events");
	return 0;
}

/* [FACTOR [*]] NAME; false for another form or an unknown event. */
static bool
callgrind_events_read_term(const struct profile *profile, const char *text,
                           size_t length, struct term *term)
{
	callgrind_trim(&text, &length);
	term->factor = 1;
	if (length > 0 && *text >= '0' && *text <= '9') {
		term->factor = 0;
		for (; length > 0 && *text >= '0' && *text <= '9';
		     text++, length--)
			if (__builtin_mul_overflow(term->factor, 10,
			                           &term->factor) ||
			    __builtin_add_overflow(term->factor, *text - '0',
			                           &term->factor))
				return false;
		callgrind_trim(&text, &length);
		if (length > 0 && *text == '*') {
			text++;
			length--;
		}
		callgrind_trim(&text, &length);
	}
	term->resource = callgrind_events_find_resource(profile, text, length);
	return term->resource != UINT32_MAX;
}

/* TERM [+ TERM]...; returns the number of terms, 0 if it is malformed. */
static size_t
callgrind_events_read_formula(const struct profile *profile,
                              const char *formula, struct term *terms)
{
	size_t n = 0;

	for (;;) {
		size_t length = strcspn(formula, "+");

		if (n == MAX_TERMS ||
		    !callgrind_events_read_term(profile, formula, length,
		                                &terms[n]))
			return 0;
		n++;
		if (formula[length] == '\0')
			return n;
		formula += length + 1;
	}
}

static int
fix_definition(struct event_definition *definition,
               const struct callgrind_events *events, struct profile *profile,
               struct error *error)
{
	struct term terms[MAX_TERMS];
	size_t n = callgrind_events_read_formula(profile, definition->formula,
	                                         terms);

	if (n == 0)
		return profile_warn(profile, error, "event %s = %s uses "
		                    "events that the file does not have",
		                    definition->name, definition->formula);
	definition->terms = arena_alloc(&profile->arena, n * sizeof *terms,
	                                error);
	if (definition->terms == NULL)
		return -1;
	memcpy(definition->terms, terms, n * sizeof *terms);
	definition->n_terms = n;
	definition->resource = profile_add_resource(profile, definition->name,
	                                            gtick_of(events,
	                                                definition->name),
	                                            1, error);
	return definition->resource != UINT32_MAX ? 0 : -1;
}

int
callgrind_events_fix(struct callgrind_events *events, struct profile *profile,
                     struct error *error)
{
	events->is_fixed = true;
	events->n_measured = profile->n_resources;
	if (events->n_columns == 0)
		return error_set(error, "expected a line \"events:\" before "
		                 "the first cost");
	for (size_t i = 0; i < events->n_definitions; i++) {
		struct event_definition *definition = &events->definitions[i];

		if (definition->formula != NULL &&
		    callgrind_events_find_resource(profile, definition->name,
		                                   strlen(definition->name)) ==
		        UINT32_MAX &&
		    fix_definition(definition, events, profile, error) != 0)
			return -1;
	}
	return 0;
}

static int
reckon_row(const struct event_definition *definition, uint64_t *row,
           struct error *error)
{
	uint64_t *sum = &row[definition->resource];

	for (size_t i = 0; i < definition->n_terms; i++) {
		const struct term *term = &definition->terms[i];
		uint64_t part;

		if (__builtin_mul_overflow(row[term->resource], term->factor,
		                           &part) ||
		    __builtin_add_overflow(*sum, part, sum))
			return error_set(error, "event %s exceeds 64 bits",
			                 definition->name);
	}
	return 0;
}

/* Computes the derived events of n rows, each with all resources. */
static int
reckon_rows(const struct event_definition *definition, uint64_t *rows,
            uint32_t n, uint32_t width, struct error *error)
{
	for (uint32_t i = 0; i < n; i++)
		if (reckon_row(definition, rows + (size_t)i * width,
		               error) != 0)
			return -1;
	return 0;
}

int
callgrind_events_derive(const struct callgrind_events *events,
                        struct call_graph *graph, struct error *error)
{
	uint32_t width = graph->n_resources;

	for (size_t i = 0; i < events->n_definitions; i++) {
		const struct event_definition *definition =
		    &events->definitions[i];

		if (definition->n_terms > 0 &&
		    (reckon_rows(definition, graph->self, graph->n_nodes,
		                 width, error) != 0 ||
		     reckon_rows(definition, graph->hits, graph->n_arcs,
		                 width, error) != 0 ||
		     reckon_rows(definition, graph->places->hits,
		                 graph->places->n, width, error) != 0))
			return -1;
	}
	return 0;
}

int
callgrind_events_note_below_zero(const struct callgrind_events *events,
                                 struct reader *reader, struct error *error)
{
	for (size_t i = 0; i < events->n_definitions; i++) {
		const struct event_definition *definition =
		    &events->definitions[i];

		for (size_t t = 0; t < definition->n_terms; t++)
			if (reader_is_below_zero(reader,
			        definition->terms[t].resource) &&
			    reader_note_below_zero(reader,
			        definition->resource, reader->place,
			        error) != 0)
				return -1;
	}
	return 0;
}
