/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_script.c -- what `perf script` prints.
 *
 * A sample is a line that says of whom and of which event (perf_script_line.h),
 * lines that begin with a tab for its frames, innermost first, and an empty
 * line; or all on one line where no stacks were recorded.  perf script -F may
 * leave out any field of the first line, or all.  Where perf's text was copied
 * by hand or by tools, frames begin with blanks or none, and an empty line may
 * follow a sample's first line.  Each distinct line of a frame is a frame,
 * parsed only once.  Each event is a resource.
 * Time O(bytes), memory that of the tree and of the distinct frames.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/formats/format.h"
#include "src/formats/perf/perf_event.h"
#include "src/formats/perf/perf_script_frames.h"
#include "src/formats/perf/perf_script_line.h"
#include "src/formats/stack_feed.h"
#include "src/formats/text_lines.h"
#include "src/formats/thread_sections.h"

enum { LINE_MAX_MIB = 1, FRAMES_MAX = 1 << 24 };

struct reader {
	struct text_lines lines;
	struct profile *profile;
	struct stack_feed *feed;	/* NULL before the first sample */
	uint64_t *counts;		/* [resources], 0 but for a moment */
	size_t counts_capacity;
	struct names *frames;		/* their lines; numbers are labels */
	struct names *events;		/* event i is resource i */
	struct names *threads;		/* thread i by name, pid and tid, the
					 * numbers as bytes */
	struct names *processes;	/* process i by its pid, as bytes */

	bool is_inside;			/* a sample, */
	uint64_t first_line;		/* which began here, */
	size_t depth;			/* and has so many frames so far */
	bool is_one_line;		/* which were on its first line */
	uint32_t event, thread;
	uint64_t period;
	struct text_buffer copy;	/* of a frame that has no tab */
	bool has_stacks;		/* any sample has a frame */
	uint64_t n_lost;		/* samples, by perf itself */
	bool is_record;			/* no sample, and what follows is its */
	bool is_brief;			/* samples' first lines lack most fields,
					 * or all: any line may be one */
	struct text_buffer brief;	/* that line, until a frame follows */
	bool has_brief;
};

/* ---- events and threads ---- */

/* A text of the profile's; NULL with *error set. */
static const char *
keep_text(struct reader *reader, const struct perf_text *text,
          struct error *error)
{
	return arena_text(&reader->profile->arena, text->text, text->length,
	                  error);
}

/* Without periods samples are counted, not what the event counts. */
static int
add_event(struct reader *reader, const struct perf_text *event,
          bool has_period, struct error *error)
{
	uint32_t n = reader->profile->n_resources;
	const char *name = keep_text(reader, event, error);

	_Static_assert(RESOURCES_MAX == 256, "the message says so");
	if (n >= RESOURCES_MAX)
		return text_lines_fail(&reader->lines, error,
		                       "more than 256 different events");
	if (name == NULL ||
	    profile_add_resource(reader->profile, name, has_period ?
	                         perf_event_gtick(name, event->length) : "", 1,
	                         error) == UINT32_MAX ||
	    memory_grow(&reader->counts, &reader->counts_capacity,
	                (size_t)n + 1, sizeof *reader->counts, error) != 0)
		return -1;
	reader->counts[n] = 0;
	if (reader->feed != NULL)
		return stack_feed_add_resource(reader->feed, error);
	reader->feed = stack_feed_new(source_name(reader->lines.source),
	                              STACK_LINES, 1, error);
	return reader->feed != NULL ? 0 : -1;
}

/* The process of a pid, 0 standing for all that are not known. */
static uint32_t
find_process(struct reader *reader, uint64_t pid, struct error *error)
{
	struct process process = { .pid = pid };
	uint32_t n = names_count(reader->processes);
	uint32_t number = names_add(reader->processes, (const char *)&pid,
	                            sizeof pid, error);

	if (number == NO_NAME)
		return UINT32_MAX;
	return number < n ? number :
	    profile_add_process(reader->profile, &process, error);
}

static int
add_thread(struct reader *reader, const struct perf_script_header *header,
           struct error *error)
{
	struct thread thread = {
		.process = find_process(reader, header->pid, error),
		.tid = header->tid,
		.name = keep_text(reader, &header->comm, error),
	};

	return thread.process != UINT32_MAX && thread.name != NULL &&
	    profile_add_thread(reader->profile, &thread, error) != UINT32_MAX ?
	    0 : -1;
}

static int
find_thread(struct reader *reader, const struct perf_script_header *header,
            struct error *error)
{
	size_t length = header->comm.length;
	char *key = memory_array(length + 2 * sizeof(uint64_t), 1, error);
	uint32_t n = names_count(reader->threads);

	if (key == NULL)
		return -1;
	memcpy(key, header->comm.text, length);
	memcpy(key + length, &header->pid, sizeof(uint64_t));
	memcpy(key + length + sizeof(uint64_t), &header->tid,
	       sizeof(uint64_t));
	reader->thread = names_add(reader->threads, key,
	                           length + 2 * sizeof(uint64_t), error);
	free(key);
	if (reader->thread == NO_NAME)
		return -1;
	return reader->thread < n ? 0 : add_thread(reader, header, error);
}

static int
find_event(struct reader *reader, const struct perf_script_header *header,
           struct error *error)
{
	static const struct perf_text samples = { "samples", 7 };
	const struct perf_text *event = header->event.length > 0 ?
	    &header->event : &samples;
	uint32_t n = names_count(reader->events);

	reader->event = names_add(reader->events, event->text, event->length,
	                          error);
	if (reader->event == NO_NAME)
		return -1;
	return reader->event < n ? 0 :
	       add_event(reader, event, header->has_period, error);
}

/* ---- samples ---- */

/*
 * Puts a frame's line behind those that there are; one that is new is looked
 * at.
 */
static int
add_frame(struct reader *reader, const char *line, size_t length,
          struct error *error)
{
	struct perf_script_frame frame;
	uint32_t *labels, label;

	if (reader->depth >= FRAMES_MAX)
		return text_lines_fail(&reader->lines, error, "a stack of "
		                       "more than 16,777,216 frames");
	label = names_find(reader->frames, line, length);
	if (label == NO_NAME &&
	    !perf_script_read_frame(line, length, &frame))
		return text_lines_reject(&reader->lines, "expected a frame: "
		                         "ADDRESS SYMBOL (OBJECT)", error);
	if (label == NO_NAME)
		label = names_add(reader->frames, line, length, error);
	labels = stack_feed_room(reader->feed, reader->depth + 2, error);
	if (label == NO_NAME || labels == NULL)
		return -1;
	labels[reader->depth++] = label;
	return 0;
}

/* Puts a frame that lacks its tab there as if it had one. */
static int
add_frame_without_tab(struct reader *reader, const char *line, size_t length,
                      struct error *error)
{
	struct text_buffer *copy = &reader->copy;

	while (length > 0 && *line == ' ') {
		line++;
		length--;
	}
	copy->length = 0;
	text_add_char(copy, '\t');
	text_add(copy, line, length);
	if (copy->failed)
		return error_out_of_memory(error);
	return add_frame(reader, copy->bytes, copy->length, error);
}

static int
end_sample(struct reader *reader, struct error *error)
{
	static const char none[] = PERF_SCRIPT_NO_STACK;
	uint32_t *labels;
	int result;

	if (!reader->is_inside)
		return 0;
	reader->is_inside = false;
	reader->has_stacks |= reader->depth > 0;
	if (reader->depth == 0 &&
	    add_frame(reader, none, sizeof none - 1, error) != 0)
		return -1;
	labels = stack_feed_room(reader->feed, reader->depth + 1, error);
	if (labels == NULL)
		return -1;
	labels[reader->depth] = reader->thread;
	reader->counts[reader->event] = reader->period;
	result = stack_feed_push(reader->feed, reader->depth + 1,
	                         reader->first_line, reader->counts, 1, error);
	reader->counts[reader->event] = 0;
	return result;
}

/* Other text hardly looks like an address and an object. */
static bool
is_whole_frame(const char *line, size_t length)
{
	struct perf_script_frame frame;

	return perf_script_read_frame(line, length, &frame) &&
	       frame.has_address && frame.object.length > 0;
}

static int
begin_sample(struct reader *reader, const struct perf_script_header *header,
             struct error *error)
{
	const struct perf_text *rest = &header->rest;

	reader->is_record = header->is_record;
	if (end_sample(reader, error) != 0)
		return -1;
	if (header->is_record) {
		if (__builtin_add_overflow(reader->n_lost, header->n_lost,
		                           &reader->n_lost))
			reader->n_lost = UINT64_MAX;
		return 0;
	}
	if (find_event(reader, header, error) != 0 ||
	    find_thread(reader, header, error) != 0)
		return -1;
	reader->is_inside = true;
	reader->first_line = reader->lines.number;
	reader->depth = 0;
	reader->period = header->period;
	reader->is_one_line = is_whole_frame(rest->text, rest->length);
	return reader->is_one_line ?
	       add_frame(reader, rest->text, rest->length, error) : 0;
}

/*
 * Whether a line without a tab is a frame of the sample.  A command may look
 * like an address ("a 7 1.5: ..."), but hardly with a time and an event.
 */
static bool
is_frame_without_tab(const struct reader *reader, const char *line,
                     size_t length, const struct perf_script_header *header)
{
	return reader->is_inside && !reader->is_one_line &&
	       (header == NULL || !header->has_time) &&
	       is_whole_frame(line, length);
}

static bool
is_blank(const struct perf_text *text)
{
	for (size_t i = 0; i < text->length; i++)
		if (text->text[i] != ' ')
			return false;
	return true;
}

/*
 * Whether a line that has no end must be whole: an object's bracket is closed,
 * or the event is one that there was before.
 */
static bool
is_whole(const struct reader *reader, const char *line, size_t length)
{
	struct perf_script_header header;
	const struct perf_text *event = &header.event, *rest = &header.rest;

	if (is_whole_frame(line, length) || line[0] == '#')
		return true;
	if (!perf_script_read_header(line, length, &header))
		return false;
	return header.is_record || is_whole_frame(rest->text, rest->length) ||
	       (is_blank(rest) && names_find(reader->events, event->text,
	                                     event->length) != NO_NAME);
}

/* ---- samples whose first lines lack most ---- */

/* What was kept as a sample's first line is none. */
static int
reject_brief(struct reader *reader, struct error *error)
{
	int result;

	if (!reader->has_brief)
		return 0;
	reader->has_brief = false;
	reader->lines.number--;
	result = text_lines_reject(&reader->lines, "expected a sample: "
	    "COMMAND TID TIME: PERIOD EVENT:, or fewer of these and a frame "
	    "after it", error);
	reader->lines.number++;
	return result;
}

static int
keep_brief(struct reader *reader, const char *line, size_t length,
           struct error *error)
{
	text_clear(&reader->brief);
	text_add(&reader->brief, line, length);
	reader->has_brief = true;
	return reader->brief.failed ? error_out_of_memory(error) : 0;
}

/* A frame begins a sample, with the line before it if that may be its first. */
static int
begin_brief(struct reader *reader, struct error *error)
{
	struct perf_script_header header;

	if (!reader->has_brief)
		text_clear(&reader->brief);
	reader->has_brief = false;
	perf_script_read_brief(text_string(&reader->brief),
	                       reader->brief.length, &header);
	return begin_sample(reader, &header, error);
}

/*
 * Lines of blanks and something inside a sample are perf's source lines, which
 * say nothing about the stack.
 */
static int
read_line(void *context, const char *line, size_t length, struct error *error)
{
	struct reader *reader = context;
	struct perf_script_header header;
	bool is_header;

	if (length > 0 && line[length - 1] == '\r')
		length--;
	if ((length == 0 || line[0] != '\t') &&
	    reject_brief(reader, error) != 0)
		return -1;
	if (length == 0) {
		reader->is_record = false;
		return reader->depth > 0 ? end_sample(reader, error) : 0;
	}
	if (reader->lines.is_unended && !is_whole(reader, line, length))
		return text_lines_reject(&reader->lines, "expected an end of "
		                         "line", error);
	if (reader->is_brief && !reader->is_inside && !reader->is_record &&
	    perf_script_is_printed_frame(line, length) &&
	    begin_brief(reader, error) != 0)
		return -1;
	if (line[0] == '\t' && reader->is_inside)
		return add_frame(reader, line, length, error);
	is_header = perf_script_read_header(line, length, &header);
	if (is_frame_without_tab(reader, line, length,
	                         is_header ? &header : NULL))
		return add_frame_without_tab(reader, line, length, error);
	if (is_header)
		return begin_sample(reader, &header, error);
	if (line[0] == '#' || (line[0] == ' ' && reader->is_inside) ||
	    (line[0] == '\t' && reader->is_record))
		return 0;
	if (reader->is_brief && line[0] != '\t')
		return keep_brief(reader, line, length, error);
	return text_lines_reject(&reader->lines, "expected a sample: COMMAND "
	                         "TID TIME: PERIOD EVENT:", error);
}

/* ---- the whole input ---- */

/*
 * Input that ends in a line that may not be whole, or in the middle of its
 * packing, was cut off: then the last sample is not believed.
 */
static int
end_source(struct reader *reader, struct error *error)
{
	if (reader->lines.last != LAST_LINE_CUT &&
	    !source_is_truncated(reader->lines.source))
		return end_sample(reader, error) == 0 ?
		       text_lines_warn_unended(&reader->lines, reader->profile,
		                               error) : -1;
	if (reader->feed == NULL)
		return 0;
	reader->is_inside = false;
	return text_lines_warn_cut(&reader->lines, reader->profile,
	                           "the input is cut off here", error);
}

static int
enter_frames(struct reader *reader, struct error *error)
{
	bool lack_symbols;

	if (perf_script_frames_enter(reader->profile, reader->frames,
	        reader->lines.options->modules, &lack_symbols, error) != 0)
		return -1;
	return !lack_symbols ? 0 :
	    profile_warn(reader->profile, error, "%s: no frame has a symbol; "
	                 "print them, too: perf script -F +sym,dso",
	                 source_name(reader->lines.source));
}

static int
finish_profile(struct reader *reader, struct error *error)
{
	struct profile *profile = reader->profile;

	if (text_lines_warn_skipped(&reader->lines, profile, error) != 0)
		return -1;
	if (reader->feed == NULL || stack_feed_count(reader->feed) == 0)
		return error_set(error, "%s: no samples in it",
		                 source_name(reader->lines.source));
	if (!reader->has_stacks &&
	    profile_warn(profile, error, "%s: no sample has an address or a "
	                 "stack; print them, too: perf script -F +ip,sym,dso",
	                 source_name(reader->lines.source)) != 0)
		return -1;
	if (reader->n_lost > 0 &&
	    profile_add_loss(profile, profile->n_resources == 1 ? 0 :
	                     NO_RESOURCE, LOSS_PERF_BEHIND, reader->n_lost,
	                     error) != 0)
		return -1;
	profile->tree = stack_feed_finish(reader->feed, error);
	return profile->tree != NULL &&
	    thread_sections_split(profile, NULL, error) == 0 ?
	    enter_frames(reader, error) : -1;
}

static void
reader_free(struct reader *reader)
{
	stack_feed_free(reader->feed);
	free(reader->counts);
	names_free(reader->frames);
	names_free(reader->events);
	names_free(reader->threads);
	names_free(reader->processes);
	profile_free(reader->profile);
	text_free(&reader->copy);
	text_free(&reader->brief);
}

/* ---- what it is ---- */

/* The next line that is neither empty nor a comment; false: there is none. */
static bool
next_line(const char **at, const char *end, struct perf_text *line)
{
	while (*at < end) {
		const char *text = *at;
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop != NULL ? stop : end) - text);

		*at = text + length + 1;
		if (length > 0 && text[length - 1] == '\r')
			length--;
		*line = (struct perf_text){ text, length };
		if (length > 0 && text[0] != '#')
			return true;
	}
	return false;
}

/*
 * Whether the text begins with a frame that perf printed, or has one after a
 * first line that perf_script_read_header does not accept.
 */
static bool
is_brief(const char *head, size_t size)
{
	const char *at = head, *end = head + size;
	struct perf_script_header header;
	struct perf_text line;

	if (!next_line(&at, end, &line))
		return false;
	if (perf_script_is_printed_frame(line.text, line.length))
		return true;
	if (perf_script_read_header(line.text, line.length, &header) ||
	    at >= end || *at != '\t' || !next_line(&at, end, &line))
		return false;
	return perf_script_is_printed_frame(line.text, line.length);
}

static struct profile *
perf_script_read(struct source *source, const struct read_options *options,
                 struct error *error)
{
	struct reader reader = { .lines = { .source = source,
		.options = options, .longest_mib = LINE_MAX_MIB } };
	struct profile *profile = NULL;
	const char *head;
	size_t size;

	head = source_peek(source, FORMAT_HEAD_SIZE, &size, error);
	if (head == NULL)
		return NULL;
	reader.is_brief = is_brief(head, size < FORMAT_HEAD_SIZE ? size :
	                           FORMAT_HEAD_SIZE);
	reader.profile = profile_new(error);
	reader.frames = names_new(error);
	reader.events = names_new(error);
	reader.threads = names_new(error);
	reader.processes = names_new(error);
	if (!error->is_set &&
	    text_lines_read(&reader.lines, read_line, &reader, error) == 0 &&
	    end_source(&reader, error) == 0 &&
	    finish_profile(&reader, error) == 0) {
		profile = reader.profile;
		reader.profile = NULL;
	}
	reader_free(&reader);
	return profile;
}

/* That is a sample's first; a frame makes sure what is not so clear. */
static int
perf_script_probe(const void *head, size_t size)
{
	const char *at = head, *end = at + size;
	struct perf_script_header header;
	struct perf_text line;

	if (is_brief(head, size))
		return PROBE_SURE;
	if (!next_line(&at, end, &line) ||
	    !perf_script_read_header(line.text, line.length, &header))
		return PROBE_NO;
	if (header.has_time ||
	    is_whole_frame(header.rest.text, header.rest.length))
		return PROBE_SURE;
	return next_line(&at, end, &line) && (line.text[0] == '\t' ||
	       is_whole_frame(line.text, line.length)) ? PROBE_SURE : PROBE_NO;
}

const struct format format_perf_script = {
	.name = "perf script",
	.summary = "what `perf script` prints",
	.probe = perf_script_probe,
	.read = perf_script_read,
};
