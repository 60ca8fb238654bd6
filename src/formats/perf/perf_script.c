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
#include "src/formats/perf/perf_data.h"
#include "src/formats/perf/perf_script_line.h"
#include "src/formats/reader.h"
#include "src/symbols/names/program.h"

enum { LINE_MAX_MIB = 1, FRAMES_MAX = 1 << 24, COMMAND_WIDTH = 16 };

/* The frame of samples that have no stack. */
#define NO_STACK "\t[no stack]"

/* How a text prints samples whose first line lacks the time and the event. */
struct script_layout {
	unsigned known;			/* fields that all of them have */
	bool is_brief;			/* frames follow them; any line is one */
	bool is_flat;			/* each is a sample of one line */
	bool is_bare;			/* the same, but nothing tells what */
	bool is_plain;			/* all have at least a thread and an
					 * event */
	bool has_no_periods;		/* what could be one is always 0, and
					 * another field */
	bool has_narrow_addresses;	/* these follow the time, without
					 * perf's columns */
};

struct script_named_process {
	uint32_t number;		/* in the profile */
	bool has_main;			/* it has its main thread's name */
};

struct script {
	struct reader reader;
	struct names *frames;		/* their lines; numbers are labels */
	struct names *events;		/* event i is resource i */
	struct names *threads;		/* thread i by name, pid and tid, the
					 * numbers as bytes */
	struct names *pids;		/* as bytes */
	struct script_named_process *processes;	/* the last one of each pid */
	size_t processes_capacity;

	/* The sample that the last line was part of, if is_inside. */
	bool is_inside;
	uint64_t first_line;
	size_t depth;			/* frames so far */
	bool is_one_line;		/* these were on its first line */
	bool is_flat;			/* it has no other line */
	uint32_t event, thread;
	uint64_t period;
	bool has_time;
	uint64_t time_ns;		/* of the sample */
	struct text_buffer copy;	/* of a frame that has no tab */
	bool has_stacks;		/* any sample has a frame */
	bool has_symbols;		/* a line has, of unknown columns */
	bool has_periods;		/* any sample's is not 0 */
	bool has_branches;		/* a line has, before a sample with a
					 * frame */
	uint64_t n_lost;		/* samples, by perf itself */
	bool is_record;			/* the last line was part of a record
					 * that is not a sample */
	struct script_layout layout;
	struct text_buffer brief;	/* a first line that lacks most fields
					 * or all, until a frame follows */
	bool has_brief;
	bool begins_empty;		/* the input's first line is empty */
	uint64_t n_empty;		/* lines since the last sample */
};

/* ---- events and threads ---- */

/* A text of the profile's; NULL with *error set. */
static const char *
perf_script_keep_text(struct script *script, const struct perf_text *text,
                      struct error *error)
{
	struct profile *profile = script->reader.profile;

	return arena_text(&profile->arena, text->text, text->length,
	                  error);
}

/* The last process of a pid; 0 stands for all unknown ones. */
static struct script_named_process *
perf_script_find_process(struct script *script, uint64_t pid,
                         struct error *error)
{
	struct process process = { .pid = pid };
	uint32_t n = names_count(script->pids);
	uint32_t number = names_add(script->pids, (const char *)&pid,
	                            sizeof pid, error);

	if (number < n)
		return &script->processes[number];
	if (number == NO_NAME ||
	    memory_grow(&script->processes, &script->processes_capacity,
	                (size_t)number + 1, sizeof *script->processes,
	                error) != 0)
		return NULL;
	script->processes[number] = (struct script_named_process){
		profile_add_process(script->reader.profile, &process, error),
		false };
	return script->processes[number].number == UINT32_MAX ? NULL :
	       &script->processes[number];
}

/*
 * A process is named by its main thread, or by one of its threads.  A new name
 * of the main thread is another program that it executes.
 */
static int
name_process(struct script *script, struct script_named_process *named,
             const struct perf_script_header *header, const char *name,
             struct error *error)
{
	struct profile *profile = script->reader.profile;
	const struct process another = { .pid = header->pid };
	const bool is_main = header->tid == header->pid;

	if (header->pid == 0)
		return 0;
	if (is_main && named->has_main) {
		named->number = profile_add_process(profile, &another, error);
		if (named->number == UINT32_MAX)
			return -1;
	}
	if (is_main || profile->processes[named->number].program == NULL)
		profile->processes[named->number].program = name;
	named->has_main |= is_main;
	return 0;
}

static int
perf_script_find_thread(struct script *script,
                        const struct perf_script_header *header,
                        struct error *error)
{
	size_t length = header->comm.length;
	char *key = memory_array(length + 2 * sizeof(uint64_t), 1, error);
	uint32_t n = names_count(script->threads);
	static const struct perf_text idle = { "swapper", 7 };
	struct script_named_process *process;
	struct thread thread;

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
	if (script->thread < n)
		return 0;
	process = perf_script_find_process(script, header->pid, error);
	thread = (struct thread){
		.tid = header->tid,
		/* perf may know no name of the kernel's idle threads. */
		.name = perf_script_keep_text(script, header->tid == 0 &&
		    header->comm.length == 2 &&
		    memcmp(header->comm.text, ":0", 2) == 0 ? &idle :
		    &header->comm, error),
	};
	if (process == NULL || thread.name == NULL ||
	    name_process(script, process, header, thread.name, error) != 0)
		return -1;
	thread.process = process->number;
	return profile_add_thread(script->reader.profile, &thread, error) !=
	       UINT32_MAX ? 0 : -1;
}

static int
perf_script_find_event(struct script *script,
                       const struct perf_script_header *header,
                       struct error *error)
{
	static const struct perf_text samples = { "samples", 7 };
	static const struct perf_text period = { "period", 6 };
	const struct perf_text *event = header->event.length > 0 ?
	    &header->event : header->has_period ? &period : &samples;
	uint32_t n = names_count(script->events);
	struct reader *reader;
	const char *name;
	uint32_t resource;

	script->event = names_add(script->events, event->text, event->length,
	                          error);
	if (script->event == NO_NAME)
		return -1;
	if (script->event < n)
		return 0;
	reader = &script->reader;
	name = perf_script_keep_text(script, event, error);
	_Static_assert(RESOURCES_MAX == 256, "the message says so");
	if (reader->profile->n_resources >= RESOURCES_MAX)
		return reader_fail(reader, error,
		                   "more than 256 different events");
	if (name == NULL)
		return -1;
	/* Without periods, the unit is samples, not what the event counts. */
	resource = reader_add_resource(reader, name, header->has_period ?
	                               perf_event_gtick(name, event->length) :
	                               "", 1, error);
	if (resource == NO_RESOURCE)
		return -1;
	reader->profile->resources[resource].counting = COUNTING_SAMPLED;
	return 0;
}

/* ---- samples ---- */

/* Adds a frame to the sample; parses the line only if it is new. */
static int
perf_script_add_frame(struct script *script, const char *line, size_t length,
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

static int
perf_script_end_sample(struct script *script, struct error *error)
{
	static const char none[] = NO_STACK;
	struct reader *reader = &script->reader;

	if (!script->is_inside)
		return 0;
	script->is_inside = false;
	script->has_stacks |= script->depth > 0;
	if (script->depth == 0 &&
	    perf_script_add_frame(script, none, sizeof none - 1, error) != 0)
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

/* "1.5: 400570 f": hexadecimal digits and a word. */
static bool
is_narrow_frame(const struct perf_script_header *header)
{
	struct perf_script_frame frame;

	return header->has_time && header->event.length == 0 &&
	       !header->has_period &&
	       perf_script_read_frame(header->rest.text, header->rest.length,
	                              &frame) &&
	       frame.has_address && !frame.lacks_symbol;
}

/*
 * Finds the frame in what follows the event, which may be arguments of it
 * instead.  perf may lack the columns in text that others have copied.
 */
static bool
find_frame(const struct script *script, const struct perf_script_header *header,
           struct perf_text *frame)
{
	const struct perf_text *rest = &header->rest;

	*frame = *rest;
	if (header->fields & PERF_SCRIPT_ADDRESS)
		return true;
	return perf_script_find_frame(rest, frame) ||
	       is_whole_frame(rest->text, rest->length) ||
	       (script->layout.has_narrow_addresses && is_narrow_frame(header));
}

/* "0 5500001000 main": a symbol that begins with what may be an address. */
static bool
has_two_addresses(const char *line, size_t length)
{
	enum { DIGITS_MIN = 6 };
	struct perf_script_frame frame;
	size_t n = 0;

	if (!perf_script_read_frame(line, length, &frame) ||
	    !frame.has_address)
		return false;
	while (n < frame.symbol.length && frame.symbol.text[n] != ' ')
		n++;
	if (n < DIGITS_MIN || n == frame.symbol.length)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strchr("0123456789abcdef", frame.symbol.text[i]) == NULL)
			return false;
	return true;
}

static int
perf_script_begin_sample(struct script *script,
                         const struct perf_script_header *header,
                         struct error *error)
{
	struct perf_text frame;

	script->is_record = header->is_record;
	if (header->is_doubtful)
		return reader_reject(&script->reader, "a number that may be a "
		    "period or an address; print both and the event: perf "
		    "script -F comm,tid,time,period,event,ip,sym,dso", error);
	if (perf_script_end_sample(script, error) != 0)
		return -1;
	script->has_symbols |= header->has_symbol;
	script->has_periods |= header->period > 0;
	if (header->is_record) {
		if (__builtin_add_overflow(script->n_lost, header->n_lost,
		                           &script->n_lost))
			script->n_lost = UINT64_MAX;
		return 0;
	}
	if (perf_script_find_event(script, header, error) != 0 ||
	    perf_script_find_thread(script, header, error) != 0)
		return -1;
	script->is_inside = true;
	script->first_line = script->reader.place;
	script->depth = 0;
	script->period = header->period;
	script->has_time = header->has_time && header->time_ns != UINT64_MAX;
	script->time_ns = header->time_ns;
	script->is_one_line = find_frame(script, header, &frame);
	if (!script->is_one_line)
		return 0;
	if (has_two_addresses(frame.text, frame.length)) {
		script->is_inside = false;
		return reader_reject(&script->reader, "two numbers of which "
		    "either may be the address of the sample; print fewer "
		    "fields: perf script -F comm,tid,time,period,event,ip,sym,"
		    "dso", error);
	}
	return perf_script_add_frame(script, frame.text, frame.length, error);
}

static bool
perf_script_is_blank(const struct perf_text *text)
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
perf_script_is_whole(const struct script *script, const char *line,
                     size_t length)
{
	struct perf_script_header header;
	const struct perf_text *event = &header.event, *rest = &header.rest;
	struct perf_text frame;

	if (is_whole_frame(line, length) || line[0] == '#')
		return true;
	if (!perf_script_read_header(line, length, &header))
		return false;
	return header.is_record || is_whole_frame(rest->text, rest->length) ||
	    (perf_script_find_frame(rest, &frame) &&
	     is_whole_frame(frame.text, frame.length)) ||
	    (perf_script_is_blank(rest) &&
	     names_find(script->events, event->text, event->length) != NO_NAME);
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

/*
 * Of a text of stacks alone (-F ip,sym), each of which begins and ends with an
 * empty line: a sample without a stack is two such lines.
 */
static int
add_empty_samples(struct script *script, struct error *error)
{
	struct perf_script_header header;
	uint64_t n = script->begins_empty ? script->n_empty / 2 : 0;

	script->n_empty = 0;
	perf_script_read_columns("", 0, 0, &header);
	while (n-- > 0)
		if (perf_script_begin_sample(script, &header, error) != 0 ||
		    perf_script_end_sample(script, error) != 0)
			return -1;
	return 0;
}

/* Reads a first line by what all of them have. */
static bool
read_columns(const struct script *script, const char *line, size_t length,
             struct perf_script_header *header)
{
	bool is_one = perf_script_read_columns(line, length,
	                                       script->layout.known, header);

	/* A period is at least 1; it is a weight, or something else. */
	if (header->has_period && script->layout.has_no_periods) {
		header->period = 1;
		header->has_period = false;
		if (!(header->fields & PERF_SCRIPT_EVENT))
			header->event.length = 0;
	}
	return is_one;
}

/* A frame begins a sample; the line before it, if kept, is the first line. */
static int
begin_brief(struct script *script, struct error *error)
{
	struct perf_script_header header;
	const char *line;

	if (add_empty_samples(script, error) != 0)
		return -1;
	if (!script->has_brief)
		text_clear(&script->brief);
	script->has_brief = false;
	line = text_string(&script->brief);
	if (script->brief.failed)
		return error_out_of_memory(error);
	read_columns(script, line, script->brief.length, &header);
	return perf_script_begin_sample(script, &header, error);
}

/*
 * Branches, registers and other fields, the last line of a sample with a stack:
 * they begin with one blank or with none, or are an address in its column;
 * source lines, between frames, with two.
 */
static bool
ends_sample(const char *line, size_t length)
{
	enum { COLUMN = 16 };

	if (perf_script_is_branches(line, length) ||
	    (length >= 2 && line[0] == ' ' && line[1] != ' '))
		return true;
	for (size_t i = 0; i < length && line[0] == ' '; i++)
		if (line[i] != ' ' && strchr("0123456789abcdef", line[i]) ==
		    NULL)
			return false;
	return length == COLUMN && line[0] == ' ';
}

/* A sample of one line that has neither time nor event. */
static bool
read_flat_sample(const struct script *script, const char *line, size_t length,
               struct perf_script_header *header)
{
	unsigned known = script->layout.known;

	return script->layout.is_flat &&
	       read_columns(script, line, length, header) &&
	       header->fields == known;
}

/* The last line is cut short; if it is no frame, the sample before it ended. */
static int
perf_script_reject_unended(struct script *script, const char *line,
                           size_t length, struct error *error)
{
	size_t i = 0;

	while (i < length && (line[i] == ' ' || line[i] == '\t'))
		i++;
	if (i < length && line[0] != '\t' &&
	    strchr("0123456789abcdef", line[i]) == NULL &&
	    perf_script_end_sample(script, error) != 0)
		return -1;
	return reader_reject(&script->reader, "expected an end of line", error);
}

static int
perf_script_read_line(void *context, const char *line, size_t length,
                      struct error *error)
{
	struct script *script = context;
	struct perf_script_header header;
	bool is_header;

	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (!script->has_stacks && !script->has_branches)
		script->has_branches = perf_script_has_branches(line, length);
	if (length > 0 && line[0] != '\t' && reject_brief(script, error) != 0)
		return -1;
	if (length == 0) {
		script->is_record = false;
		if (script->has_brief) {
			const char *brief = text_string(&script->brief);
			struct perf_script_header columns;

			/*
			 * An empty line after the one that is kept: a sample
			 * without a stack, if its fields are those of the
			 * others and the last ends in perf's blank.
			 */
			if (brief[script->brief.length - 1] != ' ' ||
			    !read_columns(script, brief,
			                  script->brief.length, &columns) ||
			    columns.fields != script->layout.known)
				return reject_brief(script, error);
			script->has_brief = false;
			return perf_script_begin_sample(script, &columns,
			                                error) == 0 ?
			    perf_script_end_sample(script, error) :
			    -1;
		}
		if (script->is_inside)
			return script->depth > 0 ?
			    perf_script_end_sample(script, error) : 0;
		script->begins_empty |= script->reader.place == 1;
		script->n_empty += script->begins_empty;
		return 0;
	}
	if (script->reader.is_unended &&
	    !perf_script_is_whole(script, line, length))
		return perf_script_reject_unended(script, line, length, error);
	if (script->layout.is_brief && !script->is_inside &&
	    !script->is_record &&
	    perf_script_is_printed_frame(line, length) &&
	    begin_brief(script, error) != 0)
		return -1;
	if (line[0] == '\t' && script->is_inside) {
		/* perf prints a stack in place of the address, not with it. */
		if (script->is_one_line &&
		    perf_script_is_printed_frame(line, length)) {
			script->is_one_line = false;
			script->depth = 0;
		}
		return perf_script_add_frame(script, line, length, error);
	}
	is_header = perf_script_read_header(line, length, &header);
	/*
	 * A command may look like an address ("a 7 1.5: ..."), but a time
	 * follows.
	 */
	if (script->is_inside && !script->is_one_line && !script->is_flat &&
	    (!is_header || !header.has_time) && is_whole_frame(line, length)) {
		struct text_buffer *copy = &script->copy;

		/* Adds a frame whose line lacks its tab as if it had one. */
		while (length > 0 && *line == ' ') {
			line++;
			length--;
		}
		copy->length = 0;
		text_add_char(copy, '\t');
		text_add(copy, line, length);
		if (copy->failed)
			return error_out_of_memory(error);
		return perf_script_add_frame(script, copy->bytes, copy->length,
		                             error);
	}
	if (!is_header && script->depth > 0 && script->is_inside &&
	    !script->is_one_line && ends_sample(line, length))
		return perf_script_end_sample(script, error);
	if (is_header || read_flat_sample(script, line, length, &header)) {
		script->is_flat = !is_header;
		return perf_script_begin_sample(script, &header, error);
	}
	/*
	 * In a sample, lines that begin with blanks are perf's source lines,
	 * registers or branches, which say nothing about the stack.
	 */
	if (line[0] == '#' ||
	    (script->is_inside &&
	     (line[0] == ' ' || line[0] == '|' ||
	      perf_script_is_branches(line, length))) ||
	    (line[0] == '\t' && script->is_record))
		return 0;
	if (script->layout.is_brief && line[0] != '\t') {
		if (perf_script_end_sample(script, error) != 0)
			return -1;
		text_clear(&script->brief);
		text_add(&script->brief, line, length);
		script->has_brief = true;
		return script->brief.failed ? error_out_of_memory(error) : 0;
	}
	return reader_reject(&script->reader, "expected a sample: COMMAND TID "
	    "TIME: PERIOD EVENT:; perf script -F comm,tid,time,period,event,"
	    "ip,sym,dso prints all that is needed", error);
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

static bool
perf_script_is_known(const struct perf_text *object)
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
	if (!frame->lacks_symbol || !perf_script_is_known(&frame->object))
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
perf_script_enter_frame(struct frame_maker *maker, const char *line,
                        size_t length, struct error *error)
{
	struct profile *profile = maker->profile;
	struct location location = { .file = NO_NAME,
		.linkage = NO_NAME };
	struct perf_script_frame frame;
	uint32_t module;

	perf_script_read_frame(line, length, &frame);
	location.function = name_frame(maker, &frame, error);
	if (location.function == NO_NAME)
		return -1;
	/* Without the tab, the address is one in the process and of no use. */
	if (line[0] != '\t' || !frame.has_address ||
	    !perf_script_is_known(&frame.object))
		return profile_add_named_frame(profile, location.function,
		                               error) != UINT32_MAX ? 0 : -1;
	module = names_add(maker->objects, frame.object.text,
	                   frame.object.length, error);
	if (module == NO_NAME)
		return -1;
	if (module == profile->n_modules) {
		uint32_t n = maker->profile->n_modules;
		char *path = memory_text(frame.object.text, frame.object.length,
		                         error);
		int result = -1;

		/* Adds a module; the offset is that of some code in it. */
		if (path == NULL)
			return -1;
		if (memory_grow(&maker->bias, &maker->bias_capacity,
		                (size_t)n + 1, sizeof *maker->bias,
		                error) == 0 &&
		    profile_add_module(maker->profile, path, NULL, 0, error) !=
		        NO_MODULE) {
			maker->bias[n] = 0;
			if (path[0] == '/')
				maker->bias[n] =
				    module_cache_address(maker->modules, path,
				                         NULL, 0,
				                         frame.address) -
				    frame.address;
			result = 0;
		}
		free(path);
		if (result != 0)
			return -1;
	}
	return profile_add_frame(profile, module,
	                         frame.address + maker->bias[module],
	                         &location, 1, error) != UINT32_MAX ? 0 : -1;
}

/* Gives the profile a frame for each distinct line, under the same number. */
static int
perf_script_enter_frames(struct script *script, struct error *error)
{
	struct reader *reader = &script->reader;
	struct frame_maker maker = { .profile = reader->profile,
		.modules = reader->options->modules,
		.objects = names_new(error) };
	const struct names *lines = script->frames;
	uint32_t n = names_count(lines);

	for (uint32_t i = 0; maker.objects != NULL && i < n; i++)
		if (perf_script_enter_frame(&maker, names_text(lines, i),
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

/*
 * The last sample of an input that is cut short may lack frames, unless it has
 * only one line: left out.
 */
static int
perf_script_read_profile(struct script *script, struct error *error)
{
	struct reader *reader = &script->reader;
	struct profile *profile = reader->profile;

	if (reader_lines(reader, LINE_MAX_MIB, perf_script_read_line, script,
	                 error) != 0 ||
	    ((!reader->is_cut_short || script->is_one_line) &&
	     perf_script_end_sample(script, error) != 0) ||
	    add_empty_samples(script, error) != 0)
		return -1;
	if (reader_count_stacks(reader) == 0)
		return reader_fail_empty(reader, error);
	if (!script->has_stacks && script->has_branches)
		return reader_fail_file(reader, error, "samples with branch "
		    "stacks and no address, which say nothing of where time "
		    "went; print it, too: perf script -F +ip,sym,dso");
	if (!script->has_stacks && script->has_symbols)
		return reader_fail_file(reader, error, "columns of perf script "
		    "of which several may be the address of the sample; print "
		    "others: perf script -F comm,tid,time,period,event,ip,sym,"
		    "dso");
	if (!script->has_periods)
		return reader_fail_file(reader, error, "all periods are 0, so "
		    "nothing was counted; print them with their events: perf "
		    "script -F comm,tid,time,period,event,ip,sym,dso");
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
	       perf_script_enter_frames(script, error) : -1;
}

/* ---- recognising ---- */

/* The line that begins at *at, without its end; false: there is none. */
static bool
perf_script_take_line(const char **at, const char *end, struct perf_text *line)
{
	const char *stop;

	if (*at >= end)
		return false;
	stop = memchr(*at, '\n', (size_t)(end - *at));
	*line = (struct perf_text){ *at,
		(size_t)((stop != NULL ? stop : end) - *at) };
	*at += line->length + 1;
	if (line->length > 0 && line->text[line->length - 1] == '\r')
		line->length--;
	return true;
}

/* The next line that is neither empty nor a comment; false: there is none. */
static bool
next_line(const char **at, const char *end, struct perf_text *line)
{
	while (perf_script_take_line(at, end, line))
		if (line->length > 0 && line->text[0] != '#')
			return true;
	return false;
}

/* The first lines of samples at the beginning of a text. */
struct survey {
	size_t n;			/* that lack time and event */
	size_t n_ended;			/* of these, that end in a blank, or in
					 * fields that are not read: */
	size_t n_column;		/* of which perf's columns tell */
	size_t n_marked;		/* with what only perf prints */
	unsigned known;			/* fields that all of these have */
	size_t n_located;		/* of these, that have an address, or
					 * end in an event */
	unsigned known_located;		/* fields that all of those have */
	size_t n_remarks;		/* of these, that may be none */
	size_t n_periods;		/* of these, that have one above 0 */
	size_t n_headers;		/* lines with both, or a thread and an
					 * event; */
	size_t n_vague;			/* of these, that other text could be */
	size_t n_times, n_narrow;	/* with a time and no event; of these,
					 * with an address behind it */
};

/* Whether a line can be nothing else: perf's columns begin with a command. */
static bool
is_located(const struct perf_text *line,
           const struct perf_script_header *header)
{
	const struct perf_text *event = &header->event;

	if (header->fields & PERF_SCRIPT_ADDRESS)
		return true;
	if (!(header->fields & PERF_SCRIPT_EVENT))
		return false;
	if (header->has_other || header->rest.length == 0)
		return header->has_other;
	return perf_script_is_blank(&header->rest) ||
	       (header->comm.text - line->text + header->comm.length ==
	            COMMAND_WIDTH &&
	        memchr(event->text, ':', event->length) != NULL);
}

static void
survey_line(struct survey *survey, const struct perf_text *line,
            bool has_stack)
{
	struct perf_script_header header;
	bool is_columns;

	if (perf_script_read_header(line->text, line->length, &header)) {
		survey->n_headers++;
		survey->n_vague += !header.has_time && !header.is_record &&
		    line->text[0] != ' ' && !perf_script_is_blank(&header.rest);
		if (header.has_time && header.event.length == 0) {
			survey->n_times++;
			survey->n_narrow += is_narrow_frame(&header);
		}
		return;
	}
	is_columns = perf_script_read_columns(line->text, line->length,
	                                      PERF_SCRIPT_ALL, &header);
	survey->n++;
	survey->known &= header.fields;
	survey->n_periods += header.has_period && header.period > 0;
	if (has_stack)
		return;
	survey->n_ended += is_columns && line->length > 0 &&
	    (line->text[line->length - 1] == ' ' || header.has_other);
	survey->n_column += is_columns && header.has_column;
	survey->n_marked += perf_script_has_mark(line->text, line->length);
	if (is_columns && is_located(line, &header)) {
		survey->n_located++;
		survey->known_located &= header.fields;
	} else if (line->text[0] == ' ' || line->text[0] == '|') {
		survey->n_remarks++;
	}
}

/*
 * Surveys the lines in front of frames.  Whether there are any, and the first
 * line is such a line, a frame, or something else of perf's.
 */
static bool
survey_stacks(struct survey *survey, const char *at, const char *end)
{
	struct perf_text line, before = { at, 0 };
	struct perf_script_header header;
	bool is_found = false, is_stack = false, is_first = true;

	while (perf_script_take_line(&at, end, &line)) {
		bool is_frame = perf_script_is_printed_frame(line.text,
		                                             line.length);

		if (is_frame && !is_stack)
			survey_line(survey, &before, true);
		is_found |= is_frame;
		if (is_first && line.length > 0 && line.text[0] != '#') {
			is_first = false;
			if (!is_frame && (at >= end || *at != '\t') &&
			    !perf_script_read_header(line.text, line.length,
			                             &header))
				return false;
		}
		if (!is_frame && is_stack && line.length > 0 &&
		    line.text[0] == ' ') {
			if (ends_sample(line.text, line.length))
				is_stack = false;
			continue;
		}
		if (!is_frame && is_stack &&
		    perf_script_is_branches(line.text, line.length)) {
			is_stack = false;
			continue;
		}
		is_stack = is_frame || (line.length > 0 && is_stack &&
		                        line.text[0] == '\t');
		if (line.length == 0 || line.text[0] != '#')
			before = line;
	}
	return is_found;
}

/*
 * What the first lines of samples have in common, of those that
 * perf_script_read_header does not accept.
 */
static struct script_layout
find_layout(const char *head, size_t size)
{
	struct survey survey = { .known = PERF_SCRIPT_ALL,
		.known_located = PERF_SCRIPT_ALL };
	const char *at = head, *end = head + size;
	struct script_layout layout = { 0 };
	struct perf_text line;

	if (size == FORMAT_HEAD_SIZE) {
		const char *last = memrchr(head, '\n', size);

		end = last != NULL ? last + 1 : end;
	}
	if (survey_stacks(&survey, head, end)) {
		layout.is_brief = survey.n > 0;
		layout.known = survey.known;
	} else {
		while (next_line(&at, end, &line))
			survey_line(&survey, &line, false);
		layout.known = survey.n_located > 0 ? survey.known_located :
		               survey.known;
		layout.is_flat = survey.n > 0 && (survey.n_located > 0 ?
		    survey.n_located + survey.n_remarks == survey.n :
		    survey.n_ended == survey.n &&
		    (survey.known & ~PERF_SCRIPT_EVENT) != 0);
	}
	layout.has_no_periods = survey.n_periods == 0;
	layout.is_bare = survey.n >= 2 && (survey.n_column == survey.n ||
	    survey.n_marked > 0) && !layout.is_flat && !layout.is_brief;
	layout.is_plain = survey.n == 0 && survey.n_headers >= 2 &&
	    survey.n_vague == 0;
	layout.has_narrow_addresses = survey.n_times > 0 &&
	    survey.n_narrow == survey.n_times;
	return layout;
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
	script.pids = names_new(error);
	head = source_peek(source, FORMAT_HEAD_SIZE, &size, error);
	if (!error->is_set) {
		script.layout = find_layout(head, size < FORMAT_HEAD_SIZE ?
		                            size : FORMAT_HEAD_SIZE);
		result = script.layout.is_bare ?
		    reader_fail_file(&script.reader, error, "columns of perf "
		        "script, but too few to tell what they are; print "
		        "more: perf script -F comm,tid,time,event,ip,sym,dso") :
		    perf_script_read_profile(&script, error);
	} else {
		result = -1;
	}
	names_free(script.frames);
	names_free(script.events);
	names_free(script.threads);
	names_free(script.pids);
	free(script.processes);
	text_free(&script.copy);
	text_free(&script.brief);
	return reader_end(&script.reader, result);
}

/* An object of JSON, whose keys and values may look like a line of perf's. */
static bool
begins_json(const char *at, size_t size)
{
	const char *end = at + size;

	while (at < end && memchr(" \t\r\n", *at, 4) != NULL)
		at++;
	if (at == end || *at++ != '{')
		return false;
	while (at < end && memchr(" \t\r\n", *at, 4) != NULL)
		at++;
	return at < end && *at == '"';
}

/* By the first line of a sample; a frame settles what is not so clear. */
static int
perf_script_probe(const void *head, size_t size)
{
	const struct script_layout layout = find_layout(head, size);
	const char *at = head, *end = at + size;
	struct perf_script_header header;
	struct perf_text line, frame;

	if (begins_json(head, size))
		return PROBE_NO;
	if (layout.is_brief || layout.is_flat || layout.is_bare)
		return PROBE_SURE;
	if (!next_line(&at, end, &line) ||
	    !perf_script_read_header(line.text, line.length, &header))
		return PROBE_NO;
	if (header.has_time || header.is_record || layout.is_plain ||
	    is_whole_frame(header.rest.text, header.rest.length) ||
	    perf_script_find_frame(&header.rest, &frame))
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
