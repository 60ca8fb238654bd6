/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind.c -- the files of callgrind, cachegrind and similar writers.
 *
 * 	event: Ir : Instruction Fetch	a long name; becomes the gtick's
 * 	event: Sum = Ir + 2 Dr		an event that is computed from others
 * 	events: Ir Dr			what the costs of each line count
 * 	fn=(1) main
 * 	16 20			20 instructions of main's own, at line 16
 * 	cfn=(2) parse
 * 	calls=3 50		main calls parse three times,
 * 	16 400			which used 400, at line 16
 *
 * Almost all lines are costs; a line that begins with a letter has a key.
 * Every event is a resource of interval 1: those of the first events: line in
 * its order, then the derived ones.  Later parts of a file may name the same
 * events in another order, or fewer.
 *
 * Source: Valgrind's "Callgrind Format Specification", and what its version
 * 3.19 and other programs actually write: several parts in one file, costs
 * without trailing zeros, '.'  for a zero (old cachegrind), rcalls= (old
 * callgrind).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/callgrind/callgrind.h"
#include "src/formats/reader.h"

/* Counters of lines: at any rate, and for each byte of the file, packed. */
enum { COUNTERS_FREE = 1 << 25, COUNTERS_A_BYTE = 64 };

#define NO_NODE_YET UINT32_MAX
#define NO_CALL_PLACE UINT32_MAX

enum { LINE_MAX_MIB = 64, MAX_POSITIONS = 3, MAX_TERMS = 100 };

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

struct callgrind_events {
	uint32_t n_columns;
	uint32_t *columns;	/* [n_columns] resources of a line's costs */
	size_t columns_capacity;
	struct event_definition *definitions;
	size_t n_definitions, definitions_capacity;
	bool is_fixed;		/* resources are entered */
	bool is_own;		/* written by cpprof: definitions describe the
				 * original resources */
};

struct callgrind {
	struct reader reader;
	struct callgrind_events events;
	struct callgrind_names *names;
	struct call_graph *graph;	/* the profile's; NULL before the first
					 * cost */

	/* The part's head. */
	const char *command;		/* in the arena; NULL: none */
	uint64_t pid, thread;
	bool has_pid, has_thread, is_head;
	bool is_callgrind;		/* created by callgrind itself */
	bool has_estimates;		/* costs of calls are only estimates */
	bool is_uncounted;		/* numbers of calls are unknown */
	bool has_end;			/* a line that follows costs was
					 * read */
	uint64_t cut_line;		/* before which a part lacks that, the
					 * first; 0: none */
	uint32_t n_positions;
	uint32_t line_column;		/* of the positions, UINT32_MAX: none */

	uint64_t positions[MAX_POSITIONS];	/* of the last cost */
	uint32_t object, file, called_object, called_file;
	uint32_t code_file;		/* of the costs: the function's, or
					 * that of inlined code */
	uint32_t node, callee;
	bool is_call;			/* the next cost is that of calls */
	bool is_jump;			/* the next line is no cost: the place
					 * of a jump */
	uint64_t calls;
	uint32_t place;			/* of the last own costs */
};

/* ---- words ---- */

static inline const char *
callgrind_skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\r')
		at++;
	return at;
}

/*
 * Reads digits, or 0x and hexadecimal digits, up to another character.
 * Returns the position after them; NULL if they are no number of 64 bits.
 */
static const char *
callgrind_number(const char *at, uint64_t *number)
{
	const char *start = at;
	uint64_t sum = 0;

	if (at[0] == '0' && (at[1] | 0x20) == 'x') {
		struct line_text digits = { at + 2, at + 2 };

		while (line_is_hex_digit(*digits.end))
			digits.end++;
		return line_take_hex(&digits, number) ? digits.at : NULL;
	}
	for (; *at >= '0' && *at <= '9'; at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	*number = sum;
	if (at - start < 20)
		return at > start ? at : NULL;
	/* Too long to be sure: once more, with care. */
	for (sum = 0; start < at; start++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, *start - '0', &sum))
			return NULL;
	return at;
}

/* Takes the next word, which ends at a blank; false: there is none. */
static bool
callgrind_take_word(struct line_text *text, struct line_text *word)
{
	*word = line_word(text);
	text->at = word->end;
	return line_left(word) > 0;
}

/* A trimmed copy in the arena, or NULL with *error set. */
static const char *
callgrind_keep(struct profile *profile, struct line_text text,
               struct error *error)
{
	line_trim(&text);
	return arena_text(&profile->arena, text.at, line_left(&text), error);
}

/* ---- events; errors do not name file and line ---- */

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

static struct event_definition *
find_definition(const struct callgrind_events *events, struct line_text name)
{
	for (size_t i = 0; i < events->n_definitions; i++)
		if (line_is(&name, events->definitions[i].name))
			return &events->definitions[i];
	return NULL;
}

static uint32_t
callgrind_find_resource(const struct profile *profile, struct line_text name)
{
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (line_is(&name, profile->resources[r].name))
			return r;
	return UINT32_MAX;
}

static const char *
gtick_of(const struct callgrind_events *events, const char *name)
{
	const struct event_definition *definition = find_definition(events,
	    (struct line_text){ name, name + strlen(name) });

	for (size_t i = 0; known_events[i].name != NULL; i++)
		if (strcmp(known_events[i].name, name) == 0)
			return known_events[i].gtick;
	return definition != NULL && *definition->long_name != '\0' ?
	    definition->long_name : "event";
}

/*
 * Reads what `export callgrind` writes: NAME, or "NAME, INTERVAL GTICK each".
 */
static void
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
		made->gtick = callgrind_keep(profile,
		    (struct line_text){ gtick, end - 5 }, error);
	}
	made->own_name = callgrind_keep(profile,
	    (struct line_text){ text, name_end }, error);
}

/*
 * event: NAME [= FORMULA] [: LONG NAME].  Definitions after the first cost come
 * too late and are ignored.
 */
static int
callgrind_define_event(struct callgrind *input, struct line_text text,
                       struct error *error)
{
	struct callgrind_events *events = &input->events;
	struct profile *profile = input->reader.profile;
	const char *colon = memchr(text.at, ':', line_left(&text));
	const char *name_end = colon != NULL ? colon : text.end;
	const char *equals = memchr(text.at, '=',
	                            (size_t)(name_end - text.at));
	struct event_definition made = { .resource = UINT32_MAX,
		.long_name = "" };

	if (events->is_fixed)
		return 0;
	if (events->n_definitions == RESOURCES_MAX)
		return error_set(error, "more than %d events are defined",
		                 RESOURCES_MAX);
	made.name = callgrind_keep(profile, (struct line_text){ text.at,
	    equals != NULL ? equals : name_end }, error);
	if (colon != NULL)
		made.long_name = callgrind_keep(profile,
		    (struct line_text){ colon + 1, text.end }, error);
	if (equals != NULL)
		made.formula = callgrind_keep(profile,
		    (struct line_text){ equals + 1, name_end }, error);
	if (error->is_set)
		return -1;
	if (*made.name == '\0')
		return error_set(error, "expected an event's name");
	if (events->is_own && made.formula == NULL)
		read_own(&made, profile, error);
	if (error->is_set ||
	    memory_grow(&events->definitions, &events->definitions_capacity,
	                events->n_definitions + 1, sizeof made, error) != 0)
		return -1;
	events->definitions[events->n_definitions++] = made;
	return 0;
}

/* The resource of a new event; UINT32_MAX with *error set. */
static uint32_t
callgrind_enter_event(struct profile *profile, struct callgrind_events *events,
                      struct event_definition *definition,
                      struct line_text name, struct error *error)
{
	const char *copy = callgrind_keep(profile, name, error);

	if (copy == NULL)
		return UINT32_MAX;
	if (definition == NULL)
		return profile_add_resource(profile, copy,
		                            gtick_of(events, copy), 1, error);
	definition->resource = profile_add_resource(profile,
	    definition->own_name, definition->gtick, definition->interval,
	    error);
	return definition->resource;
}

/* events: NAME... */
static int
callgrind_set_columns(struct callgrind *input, struct line_text text,
                      struct error *error)
{
	struct callgrind_events *events = &input->events;
	struct profile *profile = input->reader.profile;
	struct line_text name;

	events->n_columns = 0;
	while (callgrind_take_word(&text, &name)) {
		struct event_definition *definition = find_definition(events,
		                                                      name);
		int shown = (int)(line_left(&name) < 100 ? line_left(&name) :
		                  100);
		uint32_t resource;

		if (definition != NULL && definition->own_name == NULL)
			definition = NULL;
		resource = definition != NULL ? definition->resource :
		           callgrind_find_resource(profile, name);
		for (uint32_t i = 0; i < events->n_columns; i++)
			if (events->columns[i] == resource)
				return error_set(error, "event %.*s is listed "
				                 "twice", shown, name.at);
		if (resource == UINT32_MAX && events->is_fixed)
			return error_set(error, "event %.*s is not among those "
			                 "of the first part", shown, name.at);
		if (resource == UINT32_MAX)
			resource = callgrind_enter_event(profile, events,
			    definition, name, error);
		if (resource == UINT32_MAX ||
		    memory_grow(&events->columns, &events->columns_capacity,
		                (size_t)events->n_columns + 1, sizeof resource,
		                error) != 0)
			return -1;
		events->columns[events->n_columns++] = resource;
	}
	if (events->n_columns == 0)
		return error_set(error, "expected names of events");
	return 0;
}

/*
 * Reads TERM [+ TERM]..., TERM being [FACTOR [*]] NAME.  Returns the number of
 * terms; 0 if it is malformed or an event is unknown.
 */
static size_t
callgrind_read_formula(const struct profile *profile, const char *formula,
                       struct term terms[MAX_TERMS])
{
	for (size_t n = 0; n < MAX_TERMS; n++) {
		struct term *term = &terms[n];
		struct line_text text = { formula,
			formula + strcspn(formula, "+") };

		formula = text.end;
		line_trim(&text);
		term->factor = 1;
		if (line_left(&text) > 0 && *text.at >= '0' &&
		    *text.at <= '9') {
			term->factor = 0;
			for (; line_left(&text) > 0 && *text.at >= '0' &&
			     *text.at <= '9'; text.at++)
				if (__builtin_mul_overflow(term->factor, 10,
				                           &term->factor) ||
				    __builtin_add_overflow(term->factor,
				        *text.at - '0', &term->factor))
					return 0;
			line_skip_blanks(&text);
			line_take(&text, "*");
			line_skip_blanks(&text);
		}
		term->resource = callgrind_find_resource(profile, text);
		if (term->resource == UINT32_MAX)
			return 0;
		if (*formula++ == '\0')
			return n + 1;
	}
	return 0;
}

/* Enters the derived events, at the first cost. */
static int
callgrind_fix_events(struct callgrind_events *events, struct profile *profile,
                     struct error *error)
{
	struct term terms[MAX_TERMS];

	events->is_fixed = true;
	if (events->n_columns == 0)
		return error_set(error, "expected a line \"events:\" before "
		                 "the first cost");
	for (size_t i = 0; i < events->n_definitions; i++) {
		struct event_definition *definition = &events->definitions[i];
		const char *name = definition->name;
		size_t n;

		if (definition->formula == NULL ||
		    callgrind_find_resource(profile, (struct line_text){ name,
		        name + strlen(name) }) != UINT32_MAX)
			continue;
		n = callgrind_read_formula(profile, definition->formula, terms);
		if (n == 0) {
			if (profile_warn(profile, error, "event %s = %s uses "
			                 "events that the file does not have",
			                 name, definition->formula) != 0)
				return -1;
			continue;
		}
		definition->terms = arena_alloc(&profile->arena,
		                                n * sizeof *terms, error);
		if (definition->terms == NULL)
			return -1;
		memcpy(definition->terms, terms, n * sizeof *terms);
		definition->n_terms = n;
		definition->resource = profile_add_resource(profile, name,
		    gtick_of(events, name), 1, error);
		if (definition->resource == UINT32_MAX)
			return -1;
	}
	return 0;
}

/* Computes a derived event of n rows, each with all resources. */
static int
reckon_rows(const struct event_definition *definition, uint64_t *row,
            uint32_t n, uint32_t width, struct error *error)
{
	for (uint32_t i = 0; i < n; i++, row += width) {
		uint64_t *sum = &row[definition->resource], part;

		for (size_t t = 0; t < definition->n_terms; t++) {
			const struct term *term = &definition->terms[t];

			if (__builtin_mul_overflow(row[term->resource],
			                           term->factor, &part) ||
			    __builtin_add_overflow(*sum, part, sum))
				return error_set(error, "event %s exceeds 64 "
				                 "bits", definition->name);
		}
	}
	return 0;
}

/* Computes the derived events, once everything is read. */
static int
callgrind_derive_events(const struct callgrind_events *events,
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

/* ---- the head of a part: the process, and what the lines count ---- */

/* The first line after a head: adds the process and thread if new. */
static int
end_head(struct callgrind *input, struct error *error)
{
	struct profile *profile = input->reader.profile;
	struct thread thread = { .tid = input->thread };
	struct process process = { .pid = input->pid,
		                   .command = input->command };

	input->is_head = false;
	if (!input->has_pid && input->command == NULL)
		return 0;
	while (thread.process < profile->n_processes &&
	       profile->processes[thread.process].pid != input->pid)
		thread.process++;
	if (thread.process == profile->n_processes) {
		if (input->command != NULL && *input->command != '\0') {
			process.program = arena_text(&profile->arena,
			    input->command, strcspn(input->command, " "),
			    error);
			if (process.program == NULL)
				return -1;
		}
		if (profile_add_process(profile, &process, error) ==
		    UINT32_MAX)
			return -1;
	}
	for (uint32_t i = 0; i < profile->n_threads; i++)
		if (profile->threads[i].tid == thread.tid &&
		    profile->threads[i].process == thread.process)
			return 0;
	return !input->has_thread || profile_add_thread(profile, &thread,
	    error) != UINT32_MAX ? 0 : -1;
}

/* A line "KEY: ..." begins a new part. */
static void
begin_head(struct callgrind *input)
{
	if (input->is_head)
		return;
	if (input->is_callgrind && !input->has_end && input->cut_line == 0)
		input->cut_line = input->reader.place;
	input->is_head = true;
	input->has_end = false;
	input->object = input->file = input->code_file = NO_NAME;
	input->called_object = input->called_file = NO_NAME;
	input->node = input->callee = NO_NODE_YET;
	input->place = NO_CALL_PLACE;
	input->is_call = input->is_jump = false;
}

static int
set_positions(struct callgrind *input, struct line_text text,
              struct error *error)
{
	uint32_t n = 0, line_column = UINT32_MAX;
	struct line_text word;

	while (callgrind_take_word(&text, &word)) {
		if (n == MAX_POSITIONS)
			return reader_reject(&input->reader,
			    "more than three positions", error);
		if (line_is(&word, "line"))
			line_column = n;
		n++;
	}
	if (n == 0)
		return reader_reject(&input->reader,
		                     "expected kinds of positions", error);
	input->n_positions = n;
	input->line_column = line_column;
	return 0;
}

static int
callgrind_set_number(struct callgrind *input, struct line_text text,
                     uint64_t *number, bool *has_number, struct error *error)
{
	if (callgrind_number(callgrind_skip_blanks(text.at), number) == NULL)
		return reader_reject(&input->reader, "expected a number",
		                     error);
	*has_number = true;
	return 0;
}

/* KEY: TEXT.  Other keys are skipped. */
static int
head_line(struct callgrind *input, struct line_text key, struct line_text text,
          struct error *error)
{
	struct reader *reader = &input->reader;
	struct error wrong = { 0 };
	bool has_part;
	uint64_t number;

	if (line_is(&key, "totals") || line_is(&key, "summary")) {
		input->has_end |= line_is(&key, "totals");
		return 0;
	}
	begin_head(input);
	if (line_is(&key, "events")) {
		callgrind_set_columns(input, text, &wrong);
	} else if (line_is(&key, "event")) {
		callgrind_define_event(input, text, &wrong);
	} else if (line_is(&key, "positions")) {
		return set_positions(input, text, error);
	} else if (line_is(&key, "version")) {
		if (callgrind_number(callgrind_skip_blanks(text.at),
		                     &number) == NULL || number > 1)
			return reader_fail(reader, error,
			    "expected version 1 of the format");
	} else if (line_is(&key, "cmd")) {
		input->command = callgrind_keep(reader->profile, text, error);
		if (input->command == NULL)
			return -1;
	} else if (line_is(&key, "pid")) {
		return callgrind_set_number(input, text, &input->pid,
		                            &input->has_pid, error);
	} else if (line_is(&key, "thread")) {
		return callgrind_set_number(input, text, &input->thread,
		                            &input->has_thread, error);
	} else if (line_is(&key, "part")) {
		return callgrind_set_number(input, text, &number, &has_part,
		                            error);
	} else if (line_is(&key, "creator")) {
		input->is_callgrind = line_has(&text, "callgrind");
		input->events.is_own = line_has(&text, "cpprof");
	} else if (line_is(&key, "desc")) {
		/* From export_callgrind.c, and from cg_diff. */
		line_trim(&text);
		if (line_begins_with(&text, "Files compared:"))
			return reader_fail(reader, error, "differences of two "
			    "profiles, as cg_diff writes them, are no profile; "
			    "open the two instead");
		input->has_estimates |= line_is(&text, CALLGRIND_ESTIMATES);
		input->is_uncounted |= line_is(&text, CALLGRIND_UNCOUNTED);
	}
	return wrong.is_set ?
	       reader_pass_at(reader, reader->place, &wrong, error) : 0;
}

/*
 * ---- costs ----
 *
 * Most of the time is spent in the loop over the costs of a line, which reads
 * each byte once.
 */

/*
 * Reads one of a cost's positions: NUMBER, or +NUMBER, -NUMBER or * relative
 * to the previous one, *position.  NULL if it is none.
 */
static const char *
read_position(const char *at, uint64_t *position)
{
	uint64_t number;
	char sign = *at;

	if (sign == '*')
		return at + 1;
	at = callgrind_number(sign == '+' || sign == '-' ? at + 1 : at,
	                      &number);
	if (sign == '+')
		number = *position + number;
	else if (sign == '-')
		number = *position - number;
	*position = number;
	return at;
}

/* Subtracts the first n costs of a line that turned out to be malformed. */
static void
subtract_costs(const struct callgrind_events *events, const char *at,
               uint64_t *row, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t cost = 0;

		at = callgrind_skip_blanks(at);
		if (*at == '-')
			at = callgrind_number(at + 1, &cost);
		else if (*at == '.')
			at++;
		else if ((at = callgrind_number(at, &cost)) != NULL)
			row[events->columns[i]] -= cost;
	}
}

/*
 * Adds the costs of a line that ends in '\n' to row[resource].  NULL; or what
 * is wrong, with nothing added.  Costs below zero are noted.
 */
static const char *
callgrind_add_costs(struct callgrind *input, const char *at, uint64_t *row,
                    struct error *error)
{
	const struct callgrind_events *events = &input->events;
	struct reader *reader = &input->reader;
	const char *first = at, *wrong = NULL;
	uint32_t i;

	for (i = 0; *(at = callgrind_skip_blanks(at)) != '\n'; i++) {
		uint64_t cost = 0, sum;

		if (i == events->n_columns)
			wrong = "more costs than events";
		else if (*at == '.')
			at++;
		else if (*at == '-' && callgrind_number(at + 1, &cost) != NULL) {
			at = callgrind_number(at + 1, &cost);
			if (reader_note_below_zero(reader, events->columns[i],
			                           reader->place, error) != 0)
				return NULL;
		} else if ((at = callgrind_number(at, &cost)) == NULL)
			wrong = "expected a number of 64 bits as cost";
		else if (__builtin_add_overflow(row[events->columns[i]], cost,
		                                &sum))
			wrong = "the sum of costs exceeds 64 bits";
		else
			row[events->columns[i]] = sum;
		if (wrong != NULL) {
			subtract_costs(events, first, row, i);
			return wrong;
		}
	}
	return NULL;
}

/* Handles the first cost: from here on the events are known. */
static int
begin_costs(struct callgrind *input, struct error *error)
{
	struct profile *profile = input->reader.profile;
	struct error wrong = { 0 };

	if (callgrind_fix_events(&input->events, profile, &wrong) != 0)
		return reader_pass_at(&input->reader, input->reader.place,
		                      &wrong, error);
	/* Other programs write the format, too, of whatever they measure. */
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (input->is_callgrind && !input->events.is_own)
			profile->resources[r].counting = COUNTING_EXACT;
	input->graph = call_graph_new(profile->n_resources, error);
	profile->graph = input->graph;
	if (input->graph == NULL)
		return -1;
	input->graph->has_hits = true;
	input->graph->places = call_places_new(profile->n_resources, error);
	return input->graph->places != NULL ? 0 : -1;
}

/*
 * The number of a place; UINT32_MAX with *error set.  A line of a few bytes,
 * which packs well, may have a counter of each event.
 */
static uint32_t
callgrind_enter_place(struct callgrind *input, struct call_place place,
                      struct error *error)
{
	struct call_places *places = input->graph->places;

	if ((uint64_t)places->n * places->n_resources <= COUNTERS_FREE +
	    COUNTERS_A_BYTE * source_done(input->reader.source))
		return call_places_at(places, place, error);
	reader_fail(&input->reader, error, "too many lines of code with costs, "
	            SOURCE_UNPACK_FIRST);
	return UINT32_MAX;
}

/*
 * The row of counters that the next cost is added to; NULL with *error set.
 * Most own costs belong to the same place as the cost before.
 */
static uint64_t *
callgrind_find_row(struct callgrind *input, struct error *error)
{
	struct call_graph *graph = input->graph;
	struct call_places *places = graph->places;
	struct call_place place = { .arc = NO_ARC, .file = input->code_file };
	const struct call_place *last = NULL;
	uint64_t line = 0, *calls, *calls_there;
	uint32_t number;

	if (input->node == NO_NODE_YET)
		input->node = callgrind_names_node(input->names,
		    graph, (struct callgrind_home){
			.object = input->object, .file = input->file,
		    }, "???", 3, error);
	if (input->node == NO_NODE_YET)
		return NULL;
	place.node = input->node;
	if (input->line_column < input->n_positions)
		line = input->positions[input->line_column];
	if (line <= UINT32_MAX)
		place.line = (uint32_t)line;
	if (!input->is_call) {
		if (input->place != NO_CALL_PLACE)
			last = &places->items[input->place];
		if (last == NULL || last->node != place.node ||
		    last->file != place.file || last->line != place.line)
			input->place = callgrind_enter_place(input, place,
			                                     error);
		return input->place == NO_CALL_PLACE ? NULL :
		    call_places_hits(places, input->place);
	}

	place.arc = call_graph_arc(graph, input->node, input->callee, error);
	if (place.arc == UINT32_MAX)
		return NULL;
	number = callgrind_enter_place(input, place, error);
	if (number == UINT32_MAX)
		return NULL;
	calls = &graph->arcs[place.arc].calls;
	calls_there = &places->items[number].calls;
	if (__builtin_add_overflow(*calls, input->calls, calls) ||
	    __builtin_add_overflow(*calls_there, input->calls, calls_there)) {
		reader_fail(&input->reader, error,
		            "the sum of calls exceeds 64 bits");
		return NULL;
	}
	input->is_call = false;
	input->called_object = input->called_file = NO_NAME;
	return call_places_hits(places, number);
}

static int
costs_line(struct callgrind *input, const char *at, struct error *error)
{
	const char *wrong = NULL;
	uint64_t *row;

	if (input->graph == NULL && begin_costs(input, error) != 0)
		return -1;
	for (uint32_t i = 0; i < input->n_positions && at != NULL; i++)
		at = read_position(callgrind_skip_blanks(at),
		                   &input->positions[i]);
	if (at == NULL || (*at != ' ' && *at != '\t' && *at != '\r' &&
	                   *at != '\n'))
		return reader_reject(&input->reader,
		    input->n_positions == 1 ?
		    "expected a position before the costs" :
		    "expected positions before the costs", error);
	if (input->is_jump && *callgrind_skip_blanks(at) == '\n') {
		input->is_jump = false;
		return 0;
	}
	row = callgrind_find_row(input, error);
	if (row == NULL)
		return -1;
	wrong = callgrind_add_costs(input, at, row, error);
	if (wrong != NULL)
		return reader_reject(&input->reader, wrong, error);
	return error->is_set ? -1 : 0;
}

/* ---- names ---- */

/* Whether a call's object or file is missing or unknown. */
static bool
is_unknown(const struct callgrind *input, uint32_t text)
{
	return text == NO_NAME || strcmp(names_text(
	    callgrind_names_texts(input->names), text), "???") == 0;
}

/* fn=, cfn= */
static int
callgrind_set_function(struct callgrind *input, bool is_called,
                       struct line_text text, struct error *error)
{
	struct callgrind_home home = { .object = input->object,
		.file = input->file };
	struct error wrong = { 0 };
	uint32_t node;

	if (is_called) {
		home.is_object_guessed = is_unknown(input,
		                                    input->called_object);
		home.is_file_guessed = is_unknown(input, input->called_file);
		if (input->called_object != NO_NAME)
			home.object = input->called_object;
		if (input->called_file != NO_NAME)
			home.file = input->called_file;
	} else {
		input->called_object = input->called_file = NO_NAME;
		input->code_file = input->file;
	}
	if (input->graph == NULL && begin_costs(input, error) != 0)
		return -1;
	node = callgrind_names_node(input->names, input->graph, home, text.at,
	                            line_left(&text), &wrong);
	if (node == UINT32_MAX)
		return reader_reject_for(&input->reader, &wrong, error);
	if (is_called)
		input->callee = node;
	else
		input->node = node;
	return 0;
}

/* KEY=TEXT */
static int
name_line(struct callgrind *input, struct line_text key, struct line_text text,
          struct error *error)
{
	uint32_t jump;		/* only defines the numbers of its names */
	const struct {
		const char *key;
		enum callgrind_kind kind;
		uint32_t *number;
	} names[] = {
		/* The file in which functions are defined. */
		{ "fl", CALLGRIND_FILE, &input->file },
		{ "fi", CALLGRIND_FILE, &input->code_file },
		{ "fe", CALLGRIND_FILE, &input->code_file },
		{ "cfi", CALLGRIND_FILE, &input->called_file },
		{ "cfl", CALLGRIND_FILE, &input->called_file },
		{ "ob", CALLGRIND_OBJECT, &input->object },
		{ "cob", CALLGRIND_OBJECT, &input->called_object },
		{ "jfi", CALLGRIND_FILE, &jump },
		{ "jfn", CALLGRIND_FUNCTION, &jump },
	};

	if (input->is_head && end_head(input, error) != 0)
		return -1;
	if (line_is(&key, "fn"))
		return callgrind_set_function(input, false, text, error);
	if (line_is(&key, "cfn"))
		return callgrind_set_function(input, true, text, error);
	if (line_is(&key, "calls") || line_is(&key, "rcalls")) {
		if (input->callee == NO_NODE_YET)
			return reader_reject(&input->reader, "calls of no "
			    "function; expected cfn= before", error);
		if (callgrind_number(callgrind_skip_blanks(text.at),
		                     &input->calls) == NULL)
			return reader_reject(&input->reader,
			    "expected a number of calls", error);
		if (input->is_uncounted)
			input->calls = 0;
		input->is_call = true;
		return 0;
	}
	if (line_is(&key, "jump") || line_is(&key, "jcnd")) {
		input->is_jump = true;
		return 0;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct error wrong = { 0 };
		uint32_t name;

		if (!line_is(&key, names[i].key))
			continue;
		name = callgrind_names_add(input->names, names[i].kind,
		                           text.at, line_left(&text), &wrong);
		if (name == NO_NAME)
			return reader_reject_for(&input->reader, &wrong, error);
		*names[i].number = name;
		if (names[i].number == &input->file)
			input->code_file = name;
		return 0;
	}
	return reader_reject(&input->reader, "expected a cost, a name or a "
	                     "head", error);
}

/* ---- lines ---- */

static int
callgrind_read_line(void *context, const char *bytes, size_t length,
                    struct error *error)
{
	struct callgrind *input = context;
	struct line_text line = { bytes, bytes + length };
	struct line_text key = { bytes, bytes }, text;
	char first = *bytes;

	if ((first >= '0' && first <= '9') || first == '+' || first == '-' ||
	    first == '*') {
		if (input->is_head && end_head(input, error) != 0)
			return -1;
		return costs_line(input, bytes, error);
	}
	if (length > 0 && line.end[-1] == '\r')
		line.end--;
	if (line.at == line.end || first == '#' ||
	    *callgrind_skip_blanks(bytes) == '\n')
		return 0;
	/*
	 * Part of a name would be another name.  A line that only sums up what
	 * came before loses nothing.
	 */
	if (input->reader.is_unended &&
	    (line_left(&line) <= 7 || !line_begins_with(&line, "totals:")) &&
	    (line_left(&line) <= 8 || !line_begins_with(&line, "summary:")))
		return reader_reject(&input->reader, "expected an end of line",
		                     error);
	while (key.end < line.end && ((*key.end >= 'a' && *key.end <= 'z') ||
	                              (*key.end >= 'A' && *key.end <= 'Z')))
		key.end++;
	text = (struct line_text){ key.end + 1, line.end };
	if (key.end < line.end && *key.end == '=')
		return name_line(input, key, text, error);
	/* "timeframe (BB): ..." is one, too. */
	while (key.end < line.end && *key.end != ':' && *key.end != '=')
		key.end++;
	text.at = key.end + 1;
	if (key.end < line.end && *key.end == ':')
		return head_line(input, key, text, error);
	return reader_reject(&input->reader, "expected a cost, a name or a "
	                     "head", error);
}

/* ---- the whole input ---- */

static int
finish_graph(struct callgrind *input, struct error *error)
{
	const struct callgrind_events *events = &input->events;
	struct call_graph *graph = input->graph;
	struct reader *reader = &input->reader;
	struct error wrong = { 0 };

	if (callgrind_names_resolve(input->names, reader->profile,
	                            input->is_callgrind, &wrong) != 0 ||
	    call_graph_add_places(graph, &wrong) != 0 ||
	    callgrind_derive_events(events, graph, &wrong) != 0 ||
	    call_graph_check(graph, &wrong) != 0)
		return reader_pass_file(reader, &wrong, error);
	/* Estimates are computed again from the numbers of calls.  Of a file
	 * that is cut short, the costs of calls are more than there is. */
	if (input->has_estimates || reader->is_cut_short ||
	    input->cut_line != 0) {
		for (uint32_t i = 0; i < graph->n_arcs; i++)
			memset(call_graph_hits(graph, i), 0,
			       graph->n_resources * sizeof *graph->hits);
		call_places_free(graph->places);
		graph->places = NULL;
		graph->has_hits = false;
	}
	/* What is computed from costs below zero may be so, too. */
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
	if (reader_drop_below_zero(reader, NULL, error) != 0)
		return -1;
	return graph->n_arcs > 0 ? 0 :
	    reader_warn(reader, error, "no calls in it, so the costs of "
	                "functions with their descendants are unknown");
}

static int
callgrind_read_profile(struct callgrind *input, struct error *error)
{
	struct reader *reader = &input->reader;
	uint64_t costs = 0, samples;

	if (reader_lines(reader, LINE_MAX_MIB, callgrind_read_line, input,
	                 error) != 0)
		return -1;
	if (input->graph == NULL)
		return reader_fail_file(reader, error, "no costs in it");
	reader->is_cut_short |= input->is_call ||
	    (input->is_callgrind && !input->has_end);
	if (input->cut_line != 0 &&
	    reader_warn(reader, error, "the part before line %" PRIu64
	                " has no totals, so its end is missing",
	                input->cut_line) != 0)
		return -1;
	if (reader_warn_lines(reader, "", error) != 0 ||
	    finish_graph(input, error) != 0)
		return -1;
	if (!reader->is_cut_short)
		return 0;
	/* What is cut short before its first cost is no profile. */
	for (uint32_t r = 0; r < reader->profile->n_resources && costs == 0;
	     r++)
		costs = profile_hits(reader->profile, r, &samples);
	return costs > 0 ? 0 : reader_fail_empty(reader, error);
}

static struct profile *
callgrind_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct callgrind input = {
		.n_positions = 1,
		.line_column = 0,
		.is_head = true,
		.object = NO_NAME,
		.file = NO_NAME,
		.code_file = NO_NAME,
		.called_object = NO_NAME,
		.called_file = NO_NAME,
		.node = NO_NODE_YET,
		.callee = NO_NODE_YET,
		.place = NO_CALL_PLACE,
	};
	int result;

	reader_begin(&input.reader, source, options, READER_LINES, error);
	input.names = callgrind_names_new(error);
	result = error->is_set ? -1 : callgrind_read_profile(&input, error);
	free(input.events.columns);
	free(input.events.definitions);
	callgrind_names_free(input.names);
	return reader_end(&input.reader, result);
}

/* ---- probe ---- */

static int
callgrind_probe(const void *head, size_t size)
{
	const char *line = head, *end = line + size;
	bool has_head = false;

	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		struct line_text key = { line, line };

		if (stop == NULL)
			stop = end;
		while (key.end < stop && *key.end >= 'a' && *key.end <= 'z')
			key.end++;
		if (key.end == stop || *key.end != ':')
			key.end = line;
		if (stop - line >= 18 &&
		    memcmp(line, "# callgrind format", 18) == 0)
			return PROBE_SURE;
		if (line_is(&key, "events"))
			return PROBE_SURE;
		if (line_left(&key) > 0)
			has_head = true;
		else if (line < stop && *line != '#' && *line != '\r')
			return PROBE_NO;
		line = stop + 1;
	}
	return has_head ? PROBE_MAYBE : PROBE_NO;
}

const struct format format_callgrind = {
	.name = "callgrind",
	.summary = "what Valgrind's callgrind and cachegrind write",
	.probe = callgrind_probe,
	.read = callgrind_read,
};
