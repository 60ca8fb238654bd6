/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_script.c -- what `perf script` prints.
 *
 * A sample has a first line with its thread and event (perf_script_line.h),
 * then its frames, innermost first, each on a line that begins with a tab, and
 * then an empty line.  Without recorded stacks it is all on one line.  perf
 * script -F may leave out any or all fields of the first line.  Where people or
 * tools have copied perf's text, frames may begin with blanks or nothing, and
 * an empty line may follow the first line.  Each distinct line of a frame is
 * parsed once and becomes a frame; each event becomes a resource.
 * Time O(bytes), memory that of the tree and of the distinct frames.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/formats/perf/perf_events.h"
#include "src/formats/perf/perf_script_line.h"
#include "src/formats/reader.h"
#include "src/symbols/names/demangle.h"

enum { LINE_MAX_MIB = 1, FRAMES_MAX = 1 << 24 };

/* The frame of samples that have no stack. */
#define NO_STACK "\t[no stack]"

struct script {
	struct reader reader;
	struct names *frames;		/* their lines; numbers are labels */
	struct names *events;		/* event i is resource i */
	struct names *threads;		/* thread i by name, pid and tid, the
					 * numbers as bytes */
	struct names *processes;	/* process i by its pid, as bytes */

	/* The sample that the last line was part of, if is_inside. */
	bool is_inside;
	uint64_t first_line;
	size_t depth;			/* frames so far */
	bool is_one_line;		/* these were on its first line */
	uint32_t event, thread;
	uint64_t period;
	bool has_time;
	uint64_t time_ns;		/* of the sample */
	struct text_buffer copy;	/* of a frame that has no tab */
	bool has_stacks;		/* any sample has a frame */
	uint64_t n_lost;		/* samples, by perf itself */
	bool is_record;			/* the last line was part of a record
					 * that is not a sample */
	bool is_brief;			/* first lines lack most fields or all,
					 * so that any line may be one: */
	struct text_buffer brief;	/* such a line, until a frame follows */
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

/* Without periods, the unit is samples and not what the event counts. */
static int
add_event(struct script *script, const struct perf_text *event,
          bool has_period, struct error *error)
{
	struct reader *reader = &script->reader;
	const char *name = keep_text(script, event, error);
	uint32_t resource;

	_Static_assert(RESOURCES_MAX == 256, "the message says so");
	if (reader->profile->n_resources >= RESOURCES_MAX)
		return reader_fail(reader, error,
		                   "more than 256 different events");
	if (name == NULL)
		return -1;
	resource = reader_add_resource(reader, name, has_period ?
	                               perf_event_gtick(name, event->length) :
	                               "", 1, error);
	if (resource == NO_RESOURCE)
		return -1;
	reader->profile->resources[resource].counting =
	    COUNTING_SAMPLED;
	return 0;
}

/* The process of a pid; 0 stands for all unknown ones. */
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

	struct process *process;

	if (thread.process == UINT32_MAX || thread.name == NULL)
		return -1;
	/* A process is named by its main thread, or by one of its threads. */
	process = &script->reader.profile->processes[thread.process];
	if (header->pid != 0 &&
	    (process->program == NULL || header->tid == header->pid))
		process->program = thread.name;
	return profile_add_thread(script->reader.profile, &thread, error) !=
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

/* Adds a frame to the sample; parses the line only if it is new. */
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

/* Adds a frame whose line lacks its tab as if it had one. */
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
	static const char none[] = NO_STACK;
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
	reader->has_time = script->has_time;
	reader->time_ns = script->time_ns;
	return reader_push(reader, script->depth, script->first_line, 1,
	                   error);
}

/* Other text is unlikely to look like an address and an object. */
static bool
is_whole_frame(const char *line, size_t length)
{
	struct perf_script_frame frame;

	return perf_script_read_frame(line, length, &frame) &&
	       frame.has_address && frame.object.length > 0;
}

/* What follows the event may be arguments of it instead. */
static bool
is_only_frame(const struct perf_text *rest)
{
	return is_whole_frame(rest->text, rest->length) ||
	       perf_script_is_only_frame(rest);
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
	script->has_time = header->has_time && header->time_ns != UINT64_MAX;
	script->time_ns = header->time_ns;
	script->is_one_line = is_only_frame(rest);
	return script->is_one_line ?
	       add_frame(script, rest->text, rest->length, error) : 0;
}

/*
 * Whether a line without a tab is a frame of the sample.  A command may look
 * like an address ("a 7 1.5: ..."), but then a time follows.
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
 * Whether a line without a line end must be complete: the object's bracket is
 * closed, or the event has occurred before.
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

/* The line that was kept as a sample's first line is none. */
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

/* A frame begins a sample; the line before it, if kept, is the first line. */
static int
begin_brief(struct script *script, struct error *error)
{
	struct perf_script_header header;
	const char *line;

	if (!script->has_brief)
		text_clear(&script->brief);
	script->has_brief = false;
	line = text_string(&script->brief);
	if (script->brief.failed)
		return error_out_of_memory(error);
	perf_script_read_brief(line, script->brief.length, &header);
	return begin_sample(script, &header, error);
}

/*
 * In a sample, lines that begin with blanks are perf's source lines, which say
 * nothing about the stack.
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

/* ---- frames ---- */

struct frame_maker {
	struct profile *profile;
	struct module_cache *modules;
	struct names *objects;	/* module i is object i */
	uint64_t *bias;		/* [modules], from offsets to addresses */
	size_t bias_capacity;
	bool has_symbols;	/* any frame with an address, */
	bool has_bare_addresses;	/* and any without a symbol */
};

/* Adds a module; the offset is that of some code in it. */
static int
add_module(struct frame_maker *maker, const struct perf_text *object,
           uint64_t offset, struct error *error)
{
	uint32_t n = maker->profile->n_modules;
	char *path = memory_text(object->text, object->length, error);
	int result = -1;

	if (path == NULL)
		return -1;
	if (memory_grow(&maker->bias, &maker->bias_capacity, (size_t)n + 1,
	                sizeof *maker->bias, error) == 0 &&
	    profile_add_module(maker->profile, path, NULL, 0, error) !=
	        NO_MODULE) {
		maker->bias[n] = 0;
		if (path[0] == '/')
			maker->bias[n] = module_cache_address(maker->modules,
			    path, NULL, 0, offset) - offset;
		result = 0;
	}
	free(path);
	return result;
}

static bool
is_known(const struct perf_text *object)
{
	size_t length = object->length;

	return length > 0 &&
	    !(length == 7 && memcmp(object->text, "inlined", 7) == 0) &&
	    !(length == 9 && memcmp(object->text, "[unknown]", 9) == 0);
}

/*
 * The frame's symbol, demangled if perf did not do that (it may have been built
 * without a demangler, or asked not to).  Without a symbol (-F ip,dso) the name
 * is OBJECT+0xADDRESS, or if the object is missing, too, "[unknown]".
 */
static uint32_t
name_frame(struct frame_maker *maker, const struct perf_script_frame *frame,
           struct error *error)
{
	struct names *names = maker->profile->names;
	const char *object = frame->object.text;
	const char *end = object + frame->object.length, *slash;

	if (frame->lacks_symbol)
		maker->has_bare_addresses = true;
	else if (frame->has_address)
		maker->has_symbols = true;
	if (!frame->lacks_symbol || !is_known(&frame->object))
		return demangle_and_add(names, frame->symbol.text,
		                        frame->symbol.length, error);
	slash = memrchr(object, '/', frame->object.length);
	if (slash != NULL && slash + 1 < end)
		object = slash + 1;
	return names_add_format(names, error, "%.*s+0x%" PRIx64,
	                        (int)(end - object), object, frame->address);
}

/*
 * An address in a call chain counts from the start of the object's file; with
 * it the frame becomes one of a module.
 */
static int
enter_frame(struct frame_maker *maker, const char *line, size_t length,
          struct error *error)
{
	struct profile *profile = maker->profile;
	struct location location = { .file = NO_NAME };
	struct perf_script_frame frame;
	uint32_t module;

	perf_script_read_frame(line, length, &frame);
	location.function = name_frame(maker, &frame, error);
	if (location.function == NO_NAME)
		return -1;
	/* Without the tab, the address is one in the process and of no use. */
	if (line[0] != '\t' || !frame.has_address || !is_known(&frame.object))
		return profile_add_named_frame(profile, location.function,
		                               error) != UINT32_MAX ? 0 : -1;
	module = names_add(maker->objects, frame.object.text,
	                   frame.object.length, error);
	if (module == NO_NAME ||
	    (module == profile->n_modules &&
	     add_module(maker, &frame.object, frame.address, error) != 0))
		return -1;
	return profile_add_frame(profile, module,
	                         frame.address + maker->bias[module],
	                         &location, 1, error) != UINT32_MAX ? 0 : -1;
}

/* Gives the profile a frame for each distinct line, under the same number. */
static int
enter_frames(struct script *script, struct error *error)
{
	struct reader *reader = &script->reader;
	struct frame_maker maker = { .profile = reader->profile,
		.modules = reader->options->modules,
		.objects = names_new(error) };
	const struct names *lines = script->frames;
	uint32_t n = names_count(lines);

	for (uint32_t i = 0; maker.objects != NULL && i < n; i++)
		if (enter_frame(&maker, names_text(lines, i),
		                names_length(lines, i), error) != 0)
			break;
	names_free(maker.objects);
	free(maker.bias);
	if (error->is_set)
		return -1;
	return maker.has_symbols || !maker.has_bare_addresses ? 0 :
	    reader_warn(reader, error, "no frame has a symbol; print them, "
	                "too: perf script -F +sym,dso");
}

/* ---- the whole input ---- */

/* The last sample of a cut input may lack frames and is left out. */
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

/* ---- recognising ---- */

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

/* By the first line of a sample; a frame settles what is not so clear. */
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
	if (header.has_time || is_only_frame(&header.rest))
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
