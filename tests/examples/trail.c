/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trail.c -- a reader of "trails", a format made up for doc/adding-a-format.md.
 *
 *	trail 1
 *	thread worker
 *	1200 parse_word < parse < main
 *
 * A line is a stack, innermost function first, after the microseconds that it
 * used; or it names the thread of the stacks below.
 */
#include <string.h>

#include "src/formats/reader.h"

enum { LINE_MAX_MIB = 1 };

static int
begin_thread(struct reader *reader, struct line_text name,
             struct error *error)
{
	struct profile *profile = reader->profile;
	struct thread thread = {
		.name = arena_text(&profile->arena, name.at, line_left(&name),
		                   error),
	};

	if (thread.name == NULL)
		return -1;
	reader->thread = profile_add_thread(profile, &thread, error);
	return reader->thread != UINT32_MAX ? 0 : -1;
}

static int
read_stack(struct reader *reader, struct line_text line, struct error *error)
{
	uint64_t microseconds;
	size_t n = 0;

	if (!line_take_number(&line, &microseconds))
		return reader_reject(reader, "expected MICROSECONDS FUNCTION "
		                     "< CALLER < ...", error);
	do {
		struct line_text name = line_word(&line);
		uint32_t *frames = reader_frames(reader, n + 1, error);

		if (frames == NULL)
			return -1;
		if (line_left(&name) == 0)
			return reader_reject(reader, "expected a function",
			                     error);
		frames[n] = reader_named_frame(reader, name.at,
		                               line_left(&name), error);
		if (frames[n++] == UINT32_MAX)
			return -1;
		line.at = name.end;
		line_skip_blanks(&line);
	} while (line_take(&line, "<"));
	reader->hits[0] = microseconds;
	return reader_push(reader, n, reader->place, 1, error);
}

static int
read_line(void *context, const char *bytes, size_t length,
          struct error *error)
{
	struct reader *reader = context;
	struct line_text line = { bytes, bytes + length };

	line_trim(&line);
	if (line.at == line.end || reader->place == 1)
		return 0;
	if (reader->is_unended)		/* the last name may be cut */
		return reader_reject(reader, "expected an end of line", error);
	return line_take(&line, "thread ") ?
	       begin_thread(reader, line, error) :
	       read_stack(reader, line, error);
}

static int
read_profile(struct reader *reader, struct error *error)
{
	const struct process process = { .program = NULL };

	if (profile_add_process(reader->profile, &process, error) ==
	        UINT32_MAX ||
	    reader_add_resource(reader, "time", "microsecond", 1, error) ==
	        NO_RESOURCE ||
	    reader_lines(reader, LINE_MAX_MIB, read_line, reader, error) != 0)
		return -1;
	if (reader_count_stacks(reader) == 0)
		return reader_fail_empty(reader, error);
	return reader_warn_lines(reader, "", error) == 0 ?
	       reader_finish_stacks(reader, NULL, error) : -1;
}

static struct profile *
trail_read(struct source *source, const struct read_options *options,
           struct error *error)
{
	struct reader reader;
	int result = reader_begin(&reader, source, options, READER_LINES,
	                          error);

	if (result == 0)
		result = read_profile(&reader, error);
	return reader_end(&reader, result);
}

static int
trail_probe(const void *head, size_t size)
{
	static const char begin[] = "trail 1\n";

	return size >= sizeof begin - 1 &&
	       memcmp(head, begin, sizeof begin - 1) == 0 ? PROBE_SURE :
	       PROBE_NO;
}

const struct format format_trail = {
	.name = "trail",
	.summary = "a format made up for an example",
	.probe = trail_probe,
	.read = trail_read,
};
