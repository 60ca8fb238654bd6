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
#include "src/formats/perf/perf_event.h"
#include "src/formats/perf/perf_script_frames.h"
#include "src/formats/perf/perf_script_line.h"
#include "src/formats/reader.h"

enum { LINE_MAX_MIB = 1, FRAMES_MAX = 1 << 24 };

struct script {
	struct reader reader;
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
keep_text(struct script *script, const struct perf_text *text,
          struct error *error)
{
	struct profile *profile = script->reader.profile;

	return arena_text(&profile->arena, text->text, text->length,
	                  error);
}

/* Without periods samples are counted, not what the event counts. */
static int
add_event(struct script *script, const struct perf_text *event,
          bool has_period, struct error *error)
{
	struct reader *reader = &script->reader;
	const char *name = keep_text(script, event, error);

	_Static_assert(RESOURCES_MAX == 256, "the message says so");
	if (reader->profile->n_resources >= RESOURCES_MAX)
		return reader_fail(reader, error,
		                   "more than 256 different events");
	return name != NULL &&
	    reader_add_resource(reader, name, has_period ?
	                        perf_event_gtick(name, event->length) : "", 1,
	                        error) != NO_RESOURCE ? 0 : -1;
}

/* The process of a pid, 0 standing for all that are not known. */
static uint32_t
find_process(struct script *script, uint64_t pid, struct error *error)
{
	struct process process = { .pid = pid };
	uint32_t n = names_count(script->processes);
	uint32_t number = names_add(script->processes, (const char *)&pid,
	                            sizeof pid, error);

	if (number == NO_NAME)
		return UINT32_MAX;
	return number < n ? number :
	    profile_add_process(script->reader.profile, &process, error);
}

static int
add_thread(struct script *script, const struct perf_script_header *header,
           struct error *error)
{
	struct thread thread = {
		.process = find_process(script, header->pid, error),
		.tid = header->tid,
		.name = keep_text(script, &header->comm, error),
	};

	return thread.process != UINT32_MAX && thread.name != NULL &&
	    profile_add_thread(script->reader.profile, &thread, error) !=
	        UINT32_MAX ? 0 : -1;
}

static int
find_thread(struct script *script, const struct perf_script_header *header,
            struct error *error)
{
	size_t length = header->comm.length;
	char *key = memory_array(length + 2 * sizeof(uint64_t), 1, error);
	uint32_t n = names_count(script->threads);

	if (key == NULL)
		return -1;
	memcpy(key, header->comm.text, length);
	memcpy(key + length, &header->pid, sizeof(uint64_t));
	memcpy(key + length + sizeof(uint64_t), &header->tid,
	       sizeof(uint64_t));
	script->thread = names_add(script->threads, key,
	                           length + 2 * sizeof(uint64_t), error);
	free(key);
	if (script->thread == NO_NAME)
		return -1;
	return script->thread < n ? 0 : add_thread(script, header, error);
}

static int
find_event(struct script *script, const struct perf_script_header *header,
           struct error *error)
{
	static const struct perf_text samples = { "samples", 7 };
	const struct perf_text *event = header->event.length > 0 ?
	    &header->event : &samples;
	uint32_t n = names_count(script->events);

	script->event = names_add(script->events, event->text, event->length,
	                          error);
	if (script->event == NO_NAME)
		return -1;
	return script->event < n ? 0 :
	       add_event(script, event, header->has_period, error);
}

/* ---- samples ---- */

/*
 * Puts a frame's line behind those that there are; one that is new is looked
 * at.
 */
static int
add_frame(struct script *script, const char *line, size_t length,
          struct error *error)
{
	struct perf_script_frame frame;
	uint32_t *labels, label;

	if (script->depth >= FRAMES_MAX)
		return reader_fail(&script->reader, error, "a stack of more "
		                   "than 16,777,216 frames");
	label = names_find(script->frames, line, length);
	if (label == NO_NAME &&
	    !perf_script_read_frame(line, length, &frame))
		return reader_reject(&script->reader, "expected a frame: "
		                     "ADDRESS SYMBOL (OBJECT)", error);
	if (label == NO_NAME)
		label = names_add(script->frames, line, length, error);
	labels = reader_frames(&script->reader, script->depth + 1, error);
	if (label == NO_NAME || labels == NULL)
		return -1;
	labels[script->depth++] = label;
	return 0;
}

/* Puts a frame that lacks its tab there as if it had one. */
static int
add_frame_without_tab(struct script *script, const char *line, size_t length,
                      struct error *error)
{
	struct text_buffer *copy = &script->copy;

	while (length > 0 && *line == ' ') {
		line++;
		length--;
	}
	copy->length = 0;
	text_add_char(copy, '\t');
	text_add(copy, line, length);
	if (copy->failed)
		return error_out_of_memory(error);
	return add_frame(script, copy->bytes, copy->length, error);
}

static int
end_sample(struct script *script, struct error *error)
{
	static const char none[] = PERF_SCRIPT_NO_STACK;
	struct reader *reader = &script->reader;

	if (!script->is_inside)
		return 0;
	script->is_inside = false;
	script->has_stacks |= script->depth > 0;
	if (script->depth == 0 &&
	    add_frame(script, none, sizeof none - 1, error) != 0)
		return -1;
	/* A rejected frame may have been the only one. */
	if (reader_frames(reader, script->depth, error) == NULL)
		return -1;
	reader->thread = script->thread;
	reader->hits[script->event] = script->period;
	return reader_push(reader, script->depth, script->first_line, 1,
	                   error);
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
begin_sample(struct script *script, const struct perf_script_header *header,
             struct error *error)
{
	const struct perf_text *rest = &header->rest;

	script->is_record = header->is_record;
	if (end_sample(script, error) != 0)
		return -1;
	if (header->is_record) {
		if (__builtin_add_overflow(script->n_lost, header->n_lost,
		                           &script->n_lost))
			script->n_lost = UINT64_MAX;
		return 0;
	}
	if (find_event(script, header, error) != 0 ||
	    find_thread(script, header, error) != 0)
		return -1;
	script->is_inside = true;
	script->first_line = script->reader.place;
	script->depth = 0;
	script->period = header->period;
	script->is_one_line = is_whole_frame(rest->text, rest->length);
	return script->is_one_line ?
	       add_frame(script, rest->text, rest->length, error) : 0;
}

/*
 * Whether a line without a tab is a frame of the sample.  A command may look
 * like an address ("a 7 1.5: ..."), but hardly with a time and an event.
 */
static bool
is_frame_without_tab(const struct script *script, const char *line,
                     size_t length, const struct perf_script_header *header)
{
	return script->is_inside && !script->is_one_line &&
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
is_whole(const struct script *script, const char *line, size_t length)
{
	struct perf_script_header header;
	const struct perf_text *event = &header.event, *rest = &header.rest;

	if (is_whole_frame(line, length) || line[0] == '#')
		return true;
	if (!perf_script_read_header(line, length, &header))
		return false;
	return header.is_record || is_whole_frame(rest->text, rest->length) ||
	       (is_blank(rest) && names_find(script->events, event->text,
	                                     event->length) != NO_NAME);
}

/* ---- samples whose first lines lack most ---- */

/* What was kept as a sample's first line is none. */
static int
reject_brief(struct script *script, struct error *error)
{
	int result;

	if (!script->has_brief)
		return 0;
	script->has_brief = false;
	script->reader.place--;
	result = reader_reject(&script->reader, "expected a sample: COMMAND "
	    "TID TIME: PERIOD EVENT:, or fewer of these and a frame after it",
	    error);
	script->reader.place++;
	return result;
}

static int
keep_brief(struct script *script, const char *line, size_t length,
           struct error *error)
{
	text_clear(&script->brief);
	text_add(&script->brief, line, length);
	script->has_brief = true;
	return script->brief.failed ? error_out_of_memory(error) : 0;
}

/* A frame begins a sample, with the line before it if that may be its first. */
static int
begin_brief(struct script *script, struct error *error)
{
	struct perf_script_header header;

	if (!script->has_brief)
		text_clear(&script->brief);
	script->has_brief = false;
	perf_script_read_brief(text_string(&script->brief),
	                       script->brief.length, &header);
	return begin_sample(script, &header, error);
}

/*
 * Lines of blanks and something inside a sample are perf's source lines, which
 * say nothing about the stack.
 */
static int
read_line(void *context, const char *line, size_t length, struct error *error)
{
	struct script *script = context;
	struct perf_script_header header;
	bool is_header;

	if (length > 0 && line[length - 1] == '\r')
		length--;
	if ((length == 0 || line[0] != '\t') &&
	    reject_brief(script, error) != 0)
		return -1;
	if (length == 0) {
		script->is_record = false;
		return script->depth > 0 ? end_sample(script, error) : 0;
	}
	if (script->reader.is_unended && !is_whole(script, line, length))
		return reader_reject(&script->reader, "expected an end of line",
		                     error);
	if (script->is_brief && !script->is_inside && !script->is_record &&
	    perf_script_is_printed_frame(line, length) &&
	    begin_brief(script, error) != 0)
		return -1;
	if (line[0] == '\t' && script->is_inside)
		return add_frame(script, line, length, error);
	is_header = perf_script_read_header(line, length, &header);
	if (is_frame_without_tab(script, line, length,
	                         is_header ? &header : NULL))
		return add_frame_without_tab(script, line, length, error);
	if (is_header)
		return begin_sample(script, &header, error);
	if (line[0] == '#' || (line[0] == ' ' && script->is_inside) ||
	    (line[0] == '\t' && script->is_record))
		return 0;
	if (script->is_brief && line[0] != '\t')
		return keep_brief(script, line, length, error);
	return reader_reject(&script->reader, "expected a sample: COMMAND TID "
	                     "TIME: PERIOD EVENT:", error);
}

/* ---- the whole input ---- */

static int
enter_frames(struct script *script, struct error *error)
{
	struct reader *reader = &script->reader;
	bool lack_symbols;

	if (perf_script_frames_enter(reader->profile, script->frames,
	        reader->options->modules, &lack_symbols, error) != 0)
		return -1;
	return !lack_symbols ? 0 :
	    reader_warn(reader, error, "no frame has a symbol; print them, "
	                "too: perf script -F +sym,dso");
}

/* Of a cut input the last sample may lack frames and is left out. */
static int
read_profile(struct script *script, struct error *error)
{
	struct reader *reader = &script->reader;
	struct profile *profile = reader->profile;

	if (reader_lines(reader, LINE_MAX_MIB, read_line, script, error) != 0 ||
	    (!reader->is_cut && end_sample(script, error) != 0))
		return -1;
	if (reader_count_stacks(reader) == 0)
		return reader_fail_empty(reader, error);
	if (reader_warn_lines(reader, "", error) != 0)
		return -1;
	if (!script->has_stacks &&
	    reader_warn(reader, error, "no sample has an address or a stack; "
	                "print them, too: perf script -F +ip,sym,dso") != 0)
		return -1;
	if (script->n_lost > 0 &&
	    profile_add_loss(profile, profile->n_resources == 1 ? 0 :
	                     NO_RESOURCE, LOSS_PERF_BEHIND, script->n_lost,
	                     error) != 0)
		return -1;
	return reader_finish_stacks(reader, NULL, error) == 0 ?
	       enter_frames(script, error) : -1;
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
	struct script script = { .is_inside = false };
	int result = reader_begin(&script.reader, source, options,
	                          READER_LINES, error);
	const char *head;
	size_t size;

	script.frames = names_new(error);
	script.events = names_new(error);
	script.threads = names_new(error);
	script.processes = names_new(error);
	head = source_peek(source, FORMAT_HEAD_SIZE, &size, error);
	if (!error->is_set) {
		script.is_brief = is_brief(head, size < FORMAT_HEAD_SIZE ?
		                           size : FORMAT_HEAD_SIZE);
		result = read_profile(&script, error);
	} else {
		result = -1;
	}
	names_free(script.frames);
	names_free(script.events);
	names_free(script.threads);
	names_free(script.processes);
	text_free(&script.copy);
	text_free(&script.brief);
	return reader_end(&script.reader, result);
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
