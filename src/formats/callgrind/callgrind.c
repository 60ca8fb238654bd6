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
 * Almost all lines are costs; whatever begins with a letter is told by its key.
 *
 * Source: Valgrind's "Callgrind Format Specification", and what its version
 * 3.19 and other programs really write: several parts in one file, costs cut
 * off at their last zero, '.' for a zero (old cachegrind), rcalls= (old
 * callgrind).
 */
#include <stdlib.h>
#include <string.h>

#include "src/formats/callgrind/callgrind_reader.h"

enum { MAX_LINE = 64 << 20 };

int
callgrind_fail(const struct callgrind_reader *reader, struct error *error,
               const char *what)
{
	return error_set(error, "%s:%llu: %s", source_name(reader->source),
	                 (unsigned long long)reader->line_number, what);
}

int
callgrind_reject(struct callgrind_reader *reader, const char *what,
                 struct error *error)
{
	if (!reader->options->lenient)
		return callgrind_fail(reader, error, what);
	if (reader->n_skipped++ == 0)
		callgrind_fail(reader, &reader->first_skipped, what);
	return 0;
}

/* A line that begins with a letter, length bytes without its end. */
static int
line_of_words(struct callgrind_reader *reader, const char *line, size_t length,
              struct error *error)
{
	size_t key = 0;

	while (key < length && ((line[key] >= 'a' && line[key] <= 'z') ||
	                        (line[key] >= 'A' && line[key] <= 'Z')))
		key++;
	if (key < length && line[key] == '=')
		return callgrind_name_line(reader, line, key, length, error);
	/* "timeframe (BB): ..." is one, too. */
	while (key < length && line[key] != ':' && line[key] != '=')
		key++;
	if (key < length && line[key] == ':')
		return callgrind_head_line(reader, line, key, length, error);
	return callgrind_reject(reader, "expected a cost, a name or a head", error);
}

/* ---- the whole input ---- */

/* One line, which ends at line[length] in '\n'. */
static int
read_line(struct callgrind_reader *reader, const char *line, size_t length,
          struct error *error)
{
	char first = *line;

	if ((first >= '0' && first <= '9') || first == '+' || first == '-' ||
	    first == '*') {
		if (reader->is_head && callgrind_end_head(reader, error) != 0)
			return -1;
		return callgrind_costs_line(reader, line, error);
	}
	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0 || first == '#' || *skip_blanks(line) == '\n')
		return 0;
	return line_of_words(reader, line, length, error);
}

/* The bytes that the whole lines among bytes[size] take, or -1. */
static ssize_t
read_lines(struct callgrind_reader *reader, const char *bytes, size_t size,
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
warn_cut(struct callgrind_reader *reader, const char *what, struct error *error)
{
	return profile_warn(reader->profile, error, "%s:%llu: %s; what came "
	                    "before was read", source_name(reader->source),
	                    (unsigned long long)reader->line_number, what);
}

/* What is behind the last end of line may have been cut anywhere. */
static int
end_source(struct callgrind_reader *reader, size_t left, struct error *error)
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
read_source(struct callgrind_reader *reader, struct error *error)
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
			return callgrind_fail(reader, error,
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
finish_profile(struct callgrind_reader *reader, struct error *error)
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
reader_free(struct callgrind_reader *reader)
{
	callgrind_events_free(&reader->events);
	callgrind_names_free(reader->names);
	profile_free(reader->profile);
}

static struct profile *
callgrind_read(struct source *source, const struct read_options *options,
               struct error *error)
{
	struct callgrind_reader reader = {
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
		if (callgrind_is_key(line, key, "events"))
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
