/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind.c -- the files of callgrind, cachegrind and those who write alike.
 *
 *	events: Ir
 *	fn=(1) main
 *	16 20			20 instructions of main's own, at line 16
 *	cfn=(2) parse
 *	calls=3 50		main calls parse three times,
 *	16 400			which used 400, at line 16
 *
 * What lines a cost is of is read over: a profile of calls has functions.
 * Almost all lines are costs, so that these are read in one loop that looks at
 * each byte once; whatever begins with a letter goes to line_of_words().
 *
 * Source: Valgrind's "Callgrind Format Specification", and what its version
 * 3.19 and other programs really write: several parts in one file, costs cut
 * off at their last zero, '.' for a zero (old cachegrind), calls with costs
 * before what they are of, rcalls= (old callgrind).
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/callgrind_events.h"
#include "src/formats/callgrind_names.h"
#include "src/formats/format.h"

enum { MAX_LINE = 64 << 20 };

#define NO_NODE_YET UINT32_MAX

struct reader {
	struct source *source;
	const struct read_options *options;
	struct profile *profile;
	struct callgrind_events events;
	struct callgrind_names *names;
	struct call_graph *graph;	/* the profile's; NULL before costs */

	/* The part's head. */
	const char *command;		/* NULL: none; the arena's */
	uint64_t pid, thread;
	bool has_pid, has_thread, is_head;
	bool is_callgrind;		/* the creator is */
	bool has_end;			/* a line that stands behind costs */
	uint32_t n_positions;

	uint32_t object, file, called_object, called_file;
	uint32_t node, callee;
	bool is_call;			/* the next cost is what calls used */
	uint64_t calls;

	uint64_t line_number;
	uint64_t n_skipped;		/* lines, when lenient */
	struct error first_skipped;
};

static int
fail_line(const struct reader *reader, struct error *error, const char *what)
{
	return error_set(error, "%s:%llu: %s", source_name(reader->source),
	                 (unsigned long long)reader->line_number, what);
}

/* A line that fits no rule: skipped when lenient, or the load's error. */
static int
reject_line(struct reader *reader, const char *what, struct error *error)
{
	if (!reader->options->lenient)
		return fail_line(reader, error, what);
	if (reader->n_skipped++ == 0)
		fail_line(reader, &reader->first_skipped, what);
	return 0;
}

/* ---- costs ---- */

static const char *
skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\r')
		at++;
	return at;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What stands behind 0x; NULL where it is no number of 64 bits. */
static const char *
read_hex(const char *at, uint64_t *number)
{
	const char *start = at;
	int digit;

	*number = 0;
	for (; (digit = hex_digit(*at)) >= 0; at++) {
		if (*number >> 60 != 0)
			return NULL;
		*number = *number << 4 | (uint64_t)digit;
	}
	return at > start ? at : NULL;
}

/* Digits, or 0x and hexadecimal ones; NULL where it is no number. */
static const char *
read_number(const char *at, uint64_t *number)
{
	const char *start = at;
	uint64_t sum = 0;

	if (at[0] == '0' && (at[1] | 0x20) == 'x')
		return read_hex(at + 2, number);
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

/* One of a cost's positions: NUMBER, +NUMBER, -NUMBER or *; NULL else. */
static const char *
skip_position(const char *at)
{
	uint64_t number;

	if (*at == '*')
		return at + 1;
	return read_number(*at == '+' || *at == '-' ? at + 1 : at, &number);
}

/* Takes back the first n costs of a line that proved wrong. */
static void
take_back(const struct callgrind_events *events, const char *at, uint64_t *row,
          uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t cost = 0;

		at = skip_blanks(at);
		at = *at == '.' ? at + 1 : read_number(at, &cost);
		row[events->columns[i]] -= cost;
	}
}

/*
 * Adds the costs of a line that ends in '\n' to row[resource].  NULL, or what
 * is wrong, and nothing was added.
 */
static const char *
add_costs(const struct callgrind_events *events, const char *at,
          uint64_t *row)
{
	const char *first = at, *wrong = NULL;
	uint32_t i;

	for (i = 0; *(at = skip_blanks(at)) != '\n'; i++) {
		uint64_t cost = 0, sum;

		if (i == events->n_columns)
			wrong = "more costs than events";
		else if (*at == '.')
			at++;
		else if ((at = read_number(at, &cost)) == NULL)
			wrong = "expected a number of 64 bits as cost";
		else if (__builtin_add_overflow(row[events->columns[i]], cost,
		                                &sum))
			wrong = "the sum of costs passes 64 bits";
		else
			row[events->columns[i]] = sum;
		if (wrong != NULL) {
			take_back(events, first, row, i);
			return wrong;
		}
	}
	return NULL;
}

/* The first cost: from here on it is known what is counted. */
static int
begin_costs(struct reader *reader, struct error *error)
{
	struct error wrong = { 0 };

	if (callgrind_events_fix(&reader->events, reader->profile,
	                         &wrong) != 0)
		return fail_line(reader, error, wrong.text);
	reader->graph = call_graph_new(reader->profile->n_resources, error);
	reader->profile->graph = reader->graph;
	if (reader->graph == NULL)
		return -1;
	reader->graph->has_hits = true;
	return 0;
}

/* The row of counters that the next cost is added to; NULL with *error set. */
static uint64_t *
find_row(struct reader *reader, struct error *error)
{
	uint64_t *calls;
	uint32_t arc;

	if (reader->node == NO_NODE_YET)
		reader->node = callgrind_names_node(reader->names,
		    reader->graph, reader->object, reader->file, "???", 3,
		    error);
	if (reader->node == NO_NODE_YET)
		return NULL;
	if (!reader->is_call)
		return call_graph_self(reader->graph, reader->node);
	arc = call_graph_arc(reader->graph, reader->node, reader->callee,
	                     error);
	if (arc == UINT32_MAX)
		return NULL;
	calls = &reader->graph->arcs[arc].calls;
	if (__builtin_add_overflow(*calls, reader->calls, calls)) {
		fail_line(reader, error, "the sum of calls passes 64 bits");
		return NULL;
	}
	reader->is_call = false;
	reader->called_object = reader->called_file = NO_NAME;
	return call_graph_hits(reader->graph, arc);
}

static int
line_of_costs(struct reader *reader, const char *at, struct error *error)
{
	const char *wrong = NULL;
	uint64_t *row;

	if (reader->graph == NULL && begin_costs(reader, error) != 0)
		return -1;
	for (uint32_t i = 0; i < reader->n_positions && at != NULL; i++)
		at = skip_position(skip_blanks(at));
	if (at == NULL || (*at != ' ' && *at != '\t' && *at != '\r' &&
	                   *at != '\n'))
		return reject_line(reader, reader->n_positions == 1 ?
		                   "expected a position before the costs" :
		                   "expected positions before the costs",
		                   error);
	row = find_row(reader, error);
	if (row == NULL)
		return -1;
	wrong = add_costs(&reader->events, at, row);
	return wrong == NULL ? 0 : reject_line(reader, wrong, error);
}

/* ---- heads ---- */

static const char *
keep_text(struct reader *reader, const char *text, size_t length,
          struct error *error)
{
	while (length > 0 && (*text == ' ' || *text == '\t')) {
		text++;
		length--;
	}
	return arena_text(&reader->profile->arena, text, length, error);
}

/* Number of the process of the part that begins, entered if new. */
static uint32_t
find_process(struct reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;
	struct process process = { .pid = reader->pid,
		                   .command = reader->command };
	size_t length;

	for (uint32_t i = 0; i < profile->n_processes; i++)
		if (profile->processes[i].pid == reader->pid)
			return i;
	if (reader->command != NULL && *reader->command != '\0') {
		length = strcspn(reader->command, " ");
		process.program = arena_text(&profile->arena, reader->command,
		                             length, error);
		if (process.program == NULL)
			return UINT32_MAX;
	}
	return profile_add_process(profile, &process, error);
}

/* A head is over: who ran is entered once. */
static int
end_head(struct reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;
	struct thread thread = { .tid = reader->thread };

	reader->is_head = false;
	if (!reader->has_pid && reader->command == NULL)
		return 0;
	thread.process = find_process(reader, error);
	if (thread.process == UINT32_MAX)
		return -1;
	for (uint32_t i = 0; i < profile->n_threads; i++)
		if (profile->threads[i].tid == thread.tid &&
		    profile->threads[i].process == thread.process)
			return 0;
	return !reader->has_thread || profile_add_thread(profile, &thread,
	    error) != UINT32_MAX ? 0 : -1;
}

/* A line "KEY: ..." ends what was before it. */
static void
begin_head(struct reader *reader)
{
	if (reader->is_head)
		return;
	reader->is_head = true;
	reader->object = reader->file = NO_NAME;
	reader->called_object = reader->called_file = NO_NAME;
	reader->node = reader->callee = NO_NODE_YET;
	reader->is_call = false;
}

static int
set_positions(struct reader *reader, const char *text, size_t length,
              struct error *error)
{
	uint32_t n = 0;

	for (;;) {
		size_t word = 0;

		while (length > 0 && (*text == ' ' || *text == '\t')) {
			text++;
			length--;
		}
		while (word < length && text[word] != ' ' &&
		       text[word] != '\t')
			word++;
		if (word == 0)
			break;
		if (n == 3)
			return reject_line(reader, "more than three positions",
			                   error);
		n++;
		text += word;
		length -= word;
	}
	if (n == 0)
		return reject_line(reader, "expected kinds of positions",
		                   error);
	reader->n_positions = n;
	return 0;
}

static int
set_version(struct reader *reader, const char *text, struct error *error)
{
	uint64_t version;

	text = skip_blanks(text);
	if (read_number(text, &version) == NULL || version > 1)
		return fail_line(reader, error, "expected version 1 of the "
		                 "format");
	return 0;
}

static int
set_number(struct reader *reader, const char *text, uint64_t *number,
           bool *has_number, struct error *error)
{
	if (read_number(skip_blanks(text), number) == NULL)
		return reject_line(reader, "expected a number", error);
	*has_number = true;
	return 0;
}

static int
set_command(struct reader *reader, const char *text, size_t length,
            struct error *error)
{
	reader->command = keep_text(reader, text, length, error);
	return reader->command != NULL ? 0 : -1;
}

static int
set_events(struct reader *reader, const char *text, size_t length,
           struct error *error)
{
	struct error wrong = { 0 };

	if (callgrind_events_columns(&reader->events, reader->profile, text,
	                             length, &wrong) != 0)
		return fail_line(reader, error, wrong.text);
	return 0;
}

static int
define_event(struct reader *reader, const char *text, size_t length,
             struct error *error)
{
	struct error wrong = { 0 };

	if (callgrind_events_define(&reader->events, reader->profile, text,
	                            length, &wrong) != 0)
		return fail_line(reader, error, wrong.text);
	return 0;
}

static bool
is_key(const char *line, size_t length, const char *key)
{
	return strlen(key) == length && memcmp(line, key, length) == 0;
}

/* KEY: TEXT.  Keys that mean nothing here are passed over. */
static int
line_of_head(struct reader *reader, const char *line, size_t key_length,
             size_t length, struct error *error)
{
	const char *text = line + key_length + 1;
	bool has_part;
	uint64_t part;

	length -= key_length + 1;
	if (is_key(line, key_length, "totals") ||
	    is_key(line, key_length, "summary")) {
		reader->has_end |= is_key(line, key_length, "totals");
		return 0;
	}
	begin_head(reader);
	if (is_key(line, key_length, "events"))
		return set_events(reader, text, length, error);
	if (is_key(line, key_length, "event"))
		return define_event(reader, text, length, error);
	if (is_key(line, key_length, "positions"))
		return set_positions(reader, text, length, error);
	if (is_key(line, key_length, "version"))
		return set_version(reader, text, error);
	if (is_key(line, key_length, "cmd"))
		return set_command(reader, text, length, error);
	if (is_key(line, key_length, "pid"))
		return set_number(reader, text, &reader->pid,
		                  &reader->has_pid, error);
	if (is_key(line, key_length, "thread"))
		return set_number(reader, text, &reader->thread,
		                  &reader->has_thread, error);
	if (is_key(line, key_length, "part"))
		return set_number(reader, text, &part, &has_part, error);
	if (is_key(line, key_length, "creator"))
		reader->is_callgrind = memmem(text, length, "callgrind",
		                              9) != NULL;
	return 0;
}

/* ---- names ---- */

/* KEY=NAME of an object or a file. */
static int
set_place(struct reader *reader, uint32_t *place, enum callgrind_kind kind,
          const char *text, size_t length, struct error *error)
{
	struct error wrong = { 0 };
	uint32_t name = callgrind_names_add(reader->names, kind, text, length,
	                                    &wrong);

	if (name == NO_NAME)
		return reject_line(reader, wrong.text, error);
	if (place != NULL)
		*place = name;
	return 0;
}

static int
set_node(struct reader *reader, uint32_t *node, uint32_t object,
         uint32_t file, const char *text, size_t length, struct error *error)
{
	struct error wrong = { 0 };
	uint32_t found;

	if (reader->graph == NULL && begin_costs(reader, error) != 0)
		return -1;
	found = callgrind_names_node(reader->names, reader->graph, object,
	                             file, text, length, &wrong);
	if (found == UINT32_MAX)
		return reject_line(reader, wrong.text, error);
	*node = found;
	return 0;
}

/* fn=, cfn= */
static int
set_function(struct reader *reader, bool is_called, const char *text,
             size_t length, struct error *error)
{
	uint32_t object = reader->object, file = reader->file;

	if (!is_called) {
		reader->called_object = reader->called_file = NO_NAME;
		return set_node(reader, &reader->node, object, file, text,
		                length, error);
	}
	if (reader->called_object != NO_NAME)
		object = reader->called_object;
	if (reader->called_file != NO_NAME)
		file = reader->called_file;
	return set_node(reader, &reader->callee, object, file, text, length,
	                error);
}

static int
set_calls(struct reader *reader, const char *text, struct error *error)
{
	if (reader->callee == NO_NODE_YET)
		return reject_line(reader, "calls of no function; expected "
		                   "cfn= before", error);
	if (read_number(skip_blanks(text), &reader->calls) == NULL)
		return reject_line(reader, "expected a number of calls",
		                   error);
	reader->is_call = true;
	return 0;
}

/* A jump changes nothing but what its names' numbers mean. */
static int
pass_jump(struct reader *reader, enum callgrind_kind kind, const char *text,
          size_t length, struct error *error)
{
	return set_place(reader, NULL, kind, text, length, error);
}

/* KEY=TEXT */
static int
line_of_name(struct reader *reader, const char *line, size_t key_length,
             size_t length, struct error *error)
{
	const char *text = line + key_length + 1;

	length -= key_length + 1;
	if (reader->is_head && end_head(reader, error) != 0)
		return -1;
	if (is_key(line, key_length, "fn"))
		return set_function(reader, false, text, length, error);
	if (is_key(line, key_length, "cfn"))
		return set_function(reader, true, text, length, error);
	if (is_key(line, key_length, "calls") ||
	    is_key(line, key_length, "rcalls"))
		return set_calls(reader, text, error);
	if (is_key(line, key_length, "fl"))
		return set_place(reader, &reader->file, CALLGRIND_FILE, text,
		                 length, error);
	if (is_key(line, key_length, "fi") || is_key(line, key_length, "fe"))
		return set_place(reader, NULL, CALLGRIND_FILE, text, length,
		                 error);
	if (is_key(line, key_length, "cfi") || is_key(line, key_length, "cfl"))
		return set_place(reader, &reader->called_file, CALLGRIND_FILE,
		                 text, length, error);
	if (is_key(line, key_length, "ob"))
		return set_place(reader, &reader->object, CALLGRIND_OBJECT,
		                 text, length, error);
	if (is_key(line, key_length, "cob"))
		return set_place(reader, &reader->called_object,
		                 CALLGRIND_OBJECT, text, length, error);
	if (is_key(line, key_length, "jump") ||
	    is_key(line, key_length, "jcnd"))
		return 0;
	if (is_key(line, key_length, "jfi"))
		return pass_jump(reader, CALLGRIND_FILE, text, length, error);
	if (is_key(line, key_length, "jfn"))
		return pass_jump(reader, CALLGRIND_FUNCTION, text, length,
		                 error);
	return reject_line(reader, "expected a cost, a name or a head", error);
}

/* A line that begins with a letter, length bytes without its end. */
static int
line_of_words(struct reader *reader, const char *line, size_t length,
              struct error *error)
{
	size_t key = 0;

	while (key < length && ((line[key] >= 'a' && line[key] <= 'z') ||
	                        (line[key] >= 'A' && line[key] <= 'Z')))
		key++;
	if (key < length && line[key] == '=')
		return line_of_name(reader, line, key, length, error);
	/* "timeframe (BB): ..." is one, too. */
	while (key < length && line[key] != ':' && line[key] != '=')
		key++;
	if (key < length && line[key] == ':')
		return line_of_head(reader, line, key, length, error);
	return reject_line(reader, "expected a cost, a name or a head", error);
}

/* ---- the whole input ---- */

/* One line, which ends at line[length] in '\n'. */
static int
read_line(struct reader *reader, const char *line, size_t length,
          struct error *error)
{
	char first = *line;

	if ((first >= '0' && first <= '9') || first == '+' || first == '-' ||
	    first == '*') {
		if (reader->is_head && end_head(reader, error) != 0)
			return -1;
		return line_of_costs(reader, line, error);
	}
	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0 || first == '#' || *skip_blanks(line) == '\n')
		return 0;
	return line_of_words(reader, line, length, error);
}

/* The bytes that the whole lines among bytes[size] take, or -1. */
static ssize_t
read_lines(struct reader *reader, const char *bytes, size_t size,
           struct error *error)
{
	const char *line = bytes, *end;

	while ((end = memchr(line, '\n', size - (size_t)(line - bytes)))) {
		reader->line_number++;
		if (read_line(reader, line, (size_t)(end - line), error) != 0)
			return -1;
		line = end + 1;
	}
	return line - bytes;
}

static int
warn_cut(struct reader *reader, const char *what, struct error *error)
{
	return profile_warn(reader->profile, error, "%s:%llu: %s; what came "
	                    "before was read", source_name(reader->source),
	                    (unsigned long long)reader->line_number, what);
}

/* What is behind the last end of line may have been cut anywhere. */
static int
end_source(struct reader *reader, size_t left, struct error *error)
{
	if (reader->graph == NULL)
		return error_set(error, "%s: no costs in it",
		                 source_name(reader->source));
	if (left > 0) {
		reader->line_number++;
		return warn_cut(reader, "the input is cut off in this line",
		                error);
	}
	if (source_is_truncated(reader->source) || reader->is_call ||
	    (reader->is_callgrind && !reader->has_end))
		return warn_cut(reader, "the input is cut off behind this "
		                "line", error);
	return 0;
}

static int
read_source(struct reader *reader, struct error *error)
{
	size_t wanted = 1, size;
	const char *bytes;

	while ((bytes = source_peek(reader->source, wanted, &size, error))) {
		ssize_t taken = read_lines(reader, bytes, size, error);
		size_t left = size - (size_t)taken;

		if (taken < 0)
			return -1;
		if (left > MAX_LINE) {
			reader->line_number++;
			return fail_line(reader, error,
			                 "a line longer than 64 MiB");
		}
		source_skip(reader->source, size < wanted ? size :
		            (size_t)taken);
		if (size < wanted) {
			/* Packed input that is damaged says so here. */
			if (source_peek(reader->source, 1, &size,
			                error) == NULL)
				return -1;
			return end_source(reader, left, error);
		}
		wanted = left * 2 + 1;
		if (progress_step(reader->options->progress,
		                  source_done(reader->source),
		                  source_size(reader->source), error) != 0)
			return -1;
	}
	return -1;
}

static int
finish_profile(struct reader *reader, struct error *error)
{
	struct error wrong = { 0 };

	if (reader->n_skipped > 0 &&
	    profile_warn(reader->profile, error, "%s: %llu lines skipped, the "
	                 "first: %s", source_name(reader->source),
	                 (unsigned long long)reader->n_skipped,
	                 reader->first_skipped.text) != 0)
		return -1;
	if (callgrind_names_finish(reader->names, reader->profile,
	                           reader->is_callgrind, &wrong) != 0 ||
	    callgrind_events_reckon(&reader->events, reader->graph,
	                            &wrong) != 0 ||
	    call_graph_check(reader->graph, &wrong) != 0)
		return error_set(error, "%s: %s", source_name(reader->source),
		                 wrong.text);
	if (reader->graph->n_arcs == 0)
		return profile_warn(reader->profile, error, "%s: no calls in "
		                    "it; what functions used with their "
		                    "descendants is not known",
		                    source_name(reader->source));
	return 0;
}

static void
reader_free(struct reader *reader)
{
	callgrind_events_free(&reader->events);
	callgrind_names_free(reader->names);
	profile_free(reader->profile);
}

static struct profile *
callgrind_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct reader reader = {
		.source = source,
		.options = options,
		.n_positions = 1,
		.is_head = true,
		.object = NO_NAME,
		.file = NO_NAME,
		.called_object = NO_NAME,
		.called_file = NO_NAME,
		.node = NO_NODE_YET,
		.callee = NO_NODE_YET,
	};
	struct profile *profile = NULL;

	reader.profile = profile_new(error);
	reader.names = callgrind_names_new(error);
	if (reader.profile != NULL && reader.names != NULL &&
	    read_source(&reader, error) == 0 &&
	    finish_profile(&reader, error) == 0) {
		profile = reader.profile;
		reader.profile = NULL;
	}
	reader_free(&reader);
	return profile;
}

/* ---- probe ---- */

/* How long the key of a line "KEY:" is; 0: it is none. */
static size_t
head_key(const char *line, size_t length)
{
	size_t n = 0;

	while (n < length && line[n] >= 'a' && line[n] <= 'z')
		n++;
	return n > 0 && n < length && line[n] == ':' ? n : 0;
}

static int
callgrind_probe(const void *head, size_t size)
{
	const char *line = head, *end = line + size;
	bool has_head = false;

	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t length = (size_t)((stop != NULL ? stop : end) - line);
		size_t key = head_key(line, length);

		if (length >= 18 && memcmp(line, "# callgrind format", 18) == 0)
			return PROBE_SURE;
		if (is_key(line, key, "events"))
			return PROBE_SURE;
		if (key > 0)
			has_head = true;
		else if (length > 0 && *line != '#' && *line != '\r')
			return PROBE_NO;
		line += length + 1;
	}
	return has_head ? PROBE_MAYBE : PROBE_NO;
}

const struct format format_callgrind = {
	.name = "callgrind",
	.summary = "what Valgrind's callgrind and cachegrind write",
	.probe = callgrind_probe,
	.read = callgrind_read,
};
