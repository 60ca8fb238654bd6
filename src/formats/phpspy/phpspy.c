/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phpspy.c -- what phpspy, the sampling profiler of PHP, prints.
 *
 *	0 usleep <internal>:-1
 *	1 Worker::run /srv/app.php:12
 *	2 <main> /srv/app.php:30
 *	# pid = 1234
 *	# uri = /login
 *
 * A sample is its frames, innermost first, remarks, and an empty line.  Of the
 * remarks only "pid" is read.
 * Source: adsr/phpspy, event_fout.c.
 */
#include <string.h>

#include "src/formats/reader.h"

enum { LINE_MAX_MIB = 1 };

struct phpspy {
	struct reader reader;
	struct names *frames;		/* their texts; number i is frame i */
	struct names *pids;		/* thread i, by the text */
	size_t depth;			/* frames of the sample so far */
	uint64_t first_line;
	uint32_t thread;
};

/* ---- frames ---- */

/* "FUNCTION FILE:LINE", where FILE may be missing. */
static int
phpspy_enter_frame(struct phpspy *input, struct line_text text,
                   struct error *error)
{
	struct profile *profile = input->reader.profile;
	struct location location = { .file = NO_NAME,
		.linkage = NO_NAME };
	struct line_text name = text, file, line;
	const char *blank = memrchr(text.at, ' ', line_left(&text));
	const char *colon = memrchr(text.at, ':', line_left(&text));
	uint64_t number;

	if (blank != NULL && colon != NULL && colon > blank) {
		name.end = blank;
		file = (struct line_text){ blank + 1, colon };
		line = (struct line_text){ colon + 1, text.end };
		if (!line_is(&file, "<internal>") && file.at < file.end)
			location.file = names_add(profile->names, file.at,
			                          line_left(&file), error);
		if (line_take_number(&line, &number) && line.at == line.end &&
		    number <= UINT32_MAX)
			location.line = (uint32_t)number;
	}
	line_trim(&name);
	location.function = names_add(profile->names, name.at,
	                              line_left(&name), error);
	if (location.function == NO_NAME || error->is_set)
		return -1;
	return profile_add_frame(profile, NO_MODULE, 0, &location, 1, error) !=
	       UINT32_MAX ? 0 : -1;
}

static int
phpspy_read_frame(struct phpspy *input, uint64_t number, struct line_text text,
                  struct error *error)
{
	uint32_t n = names_count(input->frames), frame, *room;

	if (number != input->depth)
		return reader_reject(&input->reader, "expected the next frame "
		                     "of the sample, or an empty line", error);
	line_skip_blanks(&text);
	if (text.at == text.end)
		return reader_reject(&input->reader, "expected NUMBER FUNCTION "
		                     "FILE:LINE", error);
	frame = names_add(input->frames, text.at, line_left(&text), error);
	room = reader_frames(&input->reader, input->depth + 1, error);
	if (frame == NO_NAME || room == NULL ||
	    (frame == n && phpspy_enter_frame(input, text, error) != 0))
		return -1;
	if (input->depth == 0) {
		input->first_line = input->reader.place;
		input->thread = NO_THREAD;
	}
	room[input->depth++] = frame;
	return 0;
}

/* ---- samples ---- */

/* KEY = VALUE; only that of the process, "pid = 1234", is read. */
static int
read_remark(struct phpspy *input, struct line_text text, struct error *error)
{
	struct profile *profile = input->reader.profile;
	struct line_text key = text;
	const char *sign = memchr(text.at, '=', line_left(&text));
	uint32_t n = names_count(input->pids);
	struct process process = { 0 };
	struct thread thread = { 0 };

	if (sign == NULL)
		return 0;
	key.end = sign;
	line_trim(&key);
	text.at = sign + 1;
	line_trim(&text);
	if (!line_is(&key, "pid"))
		return 0;
	input->thread = names_add(input->pids, text.at, line_left(&text),
	                          error);
	if (input->thread == NO_NAME)
		return -1;
	if (input->thread < n)
		return 0;
	if (!line_take_number(&text, &process.pid))
		process.pid = 0;
	thread.tid = process.pid;
	thread.process = profile_add_process(profile, &process, error);
	return thread.process != UINT32_MAX &&
	       profile_add_thread(profile, &thread, error) != UINT32_MAX ? 0 :
	       -1;
}

static int
phpspy_end_sample(struct phpspy *input, struct error *error)
{
	struct reader *reader = &input->reader;
	size_t depth = input->depth;

	if (depth == 0)
		return 0;
	input->depth = 0;
	reader->thread = input->thread;
	reader->hits[0] = 1;
	return reader_push(reader, depth, input->first_line, 1, error);
}

static int
phpspy_read_line(void *context, const char *bytes, size_t length,
                 struct error *error)
{
	struct phpspy *input = context;
	struct line_text line = { bytes, bytes + length };
	uint64_t number;

	line_trim(&line);
	if (line.at == line.end)
		return phpspy_end_sample(input, error);
	if (input->reader.is_unended)
		return reader_reject(&input->reader, "expected an end of line",
		                     error);
	if (line_take(&line, "#"))
		return read_remark(input, line, error);
	if (!line_take_number(&line, &number) || line.at == line.end ||
	    *line.at != ' ')
		return reader_reject(&input->reader, "expected NUMBER FUNCTION "
		                     "FILE:LINE", error);
	if (number == 0 && input->depth > 0 &&
	    phpspy_end_sample(input, error) != 0)
		return -1;
	return phpspy_read_frame(input, number, line, error);
}

/* ---- the whole input ---- */

static int
phpspy_read_profile(struct phpspy *input, struct error *error)
{
	const struct process process = { 0 };
	struct reader *reader = &input->reader;

	input->frames = names_new(error);
	input->pids = names_new(error);
	if (input->frames == NULL || input->pids == NULL ||
	    reader_add_resource(reader, "samples", "", 1, error) ==
	        NO_RESOURCE ||
	    reader_lines(reader, LINE_MAX_MIB, phpspy_read_line, input,
	                 error) != 0 ||
	    (!reader->is_cut_short && phpspy_end_sample(input, error) != 0))
		return -1;
	if (reader_count_stacks(reader) == 0)
		return reader_fail_empty(reader, error);
	if (reader->profile->n_processes == 0 &&
	    profile_add_process(reader->profile, &process, error) ==
	        UINT32_MAX)
		return -1;
	reader->profile->resources[0].counting = COUNTING_SAMPLED;
	return reader_warn_lines(reader, "", error) == 0 ?
	       reader_finish_stacks(reader, NULL, error) : -1;
}

static struct profile *
phpspy_read(struct source *source, const struct read_options *options,
            struct error *error)
{
	struct phpspy input = { .frames = NULL };
	int result = reader_begin(&input.reader, source, options, READER_LINES,
	                          error);

	if (result == 0)
		result = phpspy_read_profile(&input, error);
	names_free(input.frames);
	names_free(input.pids);
	return reader_end(&input.reader, result);
}

/* Frames 0, 1, ... each with a place, from the first line on. */
static int
phpspy_probe(const void *head, size_t size)
{
	struct line_text rest = { head, (const char *)head + size };
	uint64_t expected = 0, number;

	while (rest.at < rest.end) {
		const char *stop = memchr(rest.at, '\n', line_left(&rest));
		struct line_text line = { rest.at,
			stop != NULL ? stop : rest.end };
		const char *colon;

		if (stop == NULL && expected > 0)
			break;
		rest.at = line.end + 1;
		line_trim(&line);
		if (line.at == line.end || *line.at == '#') {
			if (expected > 0)
				break;
			continue;
		}
		colon = memrchr(line.at, ':', line_left(&line));
		if (!line_take_number(&line, &number) || number != expected ||
		    line.at == line.end || *line.at != ' ' || colon == NULL ||
		    colon + 1 == line.end || memrchr(line.at + 1, ' ',
		        (size_t)(colon - line.at - 1)) == NULL)
			return PROBE_NO;
		for (const char *at = colon + 1 + (colon[1] == '-');
		     at < line.end; at++)
			if (*at < '0' || *at > '9')
				return PROBE_NO;
		expected++;
	}
	return expected > 0 ? PROBE_SURE : PROBE_NO;
}

const struct format format_phpspy = {
	.name = "phpspy",
	.summary = "stacks that phpspy prints",
	.probe = phpspy_probe,
	.read = phpspy_read,
};
