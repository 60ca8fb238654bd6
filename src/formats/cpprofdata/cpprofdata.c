/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata.c -- from the collector's records to a profile.
 *
 * Reads lib/cpprofdata.h's format, also while it is being written: one
 * process, each thread record a section, frames named by the modules' symbols
 * (see symbols/address_frames.h).  "[partial]" stands for the outer frames of
 * a stack that could not be walked to its end.  A file that is cut short or
 * damaged after its header gives what is complete, and a warning; a node
 * without all its ancestors is left out with its hits.  Time O(bytes), memory a
 * small multiple of the bytes.
 *
 * The nodes of a thread are entered in the order of their numbers, in which a
 * parent comes before its children.  Threads follow each other, since a
 * section of the profile is one thread.  Every number in a record is checked;
 * records with invalid ones are counted and skipped.
 */
#include <endian.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cpprofdata.h"
#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/formats/cpprofdata/cpprofdata_internal.h"
#include "src/formats/reader.h"
#include "src/symbols/names/address_frames.h"

enum {
	COMMAND_MAX = 65536,		/* of a command line */
	PHASE_MAX = 255,		/* of a phase's name */
	HOST_MAX = 256,
	NODES_A_STEP = 65536,		/* between checks for Ctrl-C */
};

/* A level that the file's resources make, and the profile's resource. */
struct level_made {
	uint32_t resource, gain, loss;
};

struct cpprofdata_recording {
	struct reader reader;
	struct cpprofdata_file file;
	struct tree_builder *builder;	/* its own, since a thread's nodes are
					 * a section and may count returns */
	struct address_frames *frames;
	struct interpreted_functions *functions;
	struct call_parts *calls;
	uint32_t *built;		/* the builder's node of each node
					 * record, or NO_NODE */
	uint32_t *frame;		/* and its frame; NULL: not needed */
	uint32_t pairs;			/* the resource of pairs of paths, or
					 * NO_RESOURCE */
	struct cpprofdata_end end;	/* of the process */
	uint64_t n_waiting;		/* waiting threads at that time */
	uint64_t n_seen;		/* nodes so far */
	uint64_t n_left_out, n_unknown;	/* of these, without all their
					 * ancestors; and of modules not in the
					 * file */
	size_t first_left_out;		/* offset of the first */
	uint64_t n_outside;		/* nodes in no module */
	struct jit_map *jit;		/* names for these; NULL: not needed */
	struct kept_names *own_names;	/* NULL: the recording's names count */
	struct level_made levels[CPPROFDATA_MAX_RESOURCES];
	uint32_t n_levels;
};

static int
cpprofdata_probe(const void *head, size_t size)
{
	const size_t n = sizeof CPPROFDATA_MAGIC - 1;

	return size >= n && memcmp(head, CPPROFDATA_MAGIC, n) == 0 ?
	    PROBE_SURE : PROBE_NO;
}

/* ---- the facts in the header ---- */

/* The arguments, joined by blanks. */
static char *
copy_command(const struct cpprofdata_file *file, struct error *error)
{
	char *command = memory_array(COMMAND_MAX + 1, 1, error);
	uint64_t number = file->header.arguments;
	size_t n = 0, length;

	if (command == NULL || number == 0)
		return command;
	for (uint32_t i = 0; i < file->header.n_arguments; i++) {
		const char *text;

		if (n == COMMAND_MAX || cpprofdata_runs_find(
		        &file->runs[CPPROFDATA_STRINGS], number) == NULL)
			break;
		if (i > 0)
			command[n++] = ' ';
		text = cpprofdata_string(file, number, COMMAND_MAX - n,
		                         &length);
		memcpy(command + n, text, length);
		n += length;
		number += length + 1;
	}
	return command;
}

static int
cpprofdata_add_process(const struct cpprofdata_file *file,
                       const struct cpprofdata_end *end,
                       struct profile *profile, struct error *error)
{
	const struct cpprofdata_header *header = &file->header;
	char *program = cpprofdata_copy_string(file,
	    header->started_as != 0 ? header->started_as : header->executable,
	    error);
	char *title = cpprofdata_copy_string(file, header->title, error);
	char *host = cpprofdata_copy_string(file, header->host, error);
	char *command = copy_command(file, error);
	int result = -1;

	if (program != NULL && title != NULL && host != NULL &&
	    command != NULL) {
		struct process process = {
			.pid = header->pid,
			.parent_pid = header->parent_pid,
			.program = *program != '\0' ? program : NULL,
			.title = *title != '\0' ? title : NULL,
			.command = *command != '\0' ? command : NULL,
			.host = *host != '\0' ? host : NULL,
			.start_ns = header->start_ns,
			.end_ns = end->utc_ns,
			.is_running = end->is_running,
			.cpu_ns = header->cpu_ns,
			/* Both are of the same moment. */
			.sampling_ns = header->cpu_sampling_ns != 0 ?
			    header->cpu_sampling_ns : header->sampling_ns,
			.cpu_is_least = !end->is_running &&
			    header->end_ns == 0 && header->end_mono_ns == 0,
			.continues = (header->flags &
			    CPPROFDATA_CONTINUES) != 0,
		};

		if (profile_add_process(profile, &process,
		                        error) != UINT32_MAX)
			result = 0;
	}
	free(program);
	free(title);
	free(host);
	free(command);
	return result;
}

/* How a resource was counted, according to the collector. */
static int
cpprofdata_add_source(const struct cpprofdata_file *file,
                      struct profile *profile, uint32_t r, struct error *error)
{
	const struct cpprofdata_resource *raw = &file->header.resources[r];
	char *name = cpprofdata_copy_string(file, raw->source, error);
	struct text_buffer text = { 0 };
	int result = -1;

	if (name == NULL)
		return -1;
	if (*name == '\0') {
		free(name);
		return 0;
	}
	text_add_string(&text, name);
	if ((raw->flags & CPPROFDATA_RANDOM) != 0)
		text_add_string(&text, ", random intervals");
	if ((raw->flags & CPPROFDATA_COARSE) != 0)
		text_add_string(&text, ", places to a tick");
	result = profile_add_source(profile, &profile->resources[r],
	                            text_string(&text), error);
	if (text.failed)
		result = error_out_of_memory(error);
	text_free(&text);
	free(name);
	return result;
}

static int
cpprofdata_add_resources(const struct cpprofdata_file *file,
                         struct profile *profile, struct error *error)
{
	const struct cpprofdata_header *header = &file->header;

	for (uint32_t i = 0; i < file->n_named; i++) {
		const struct cpprofdata_resource *raw = &header->resources[i];
		char name[sizeof raw->name + 1] = "";
		char gtick[sizeof raw->gtick + 1] = "";

		memcpy(name, raw->name, sizeof raw->name);
		memcpy(gtick, raw->gtick, sizeof raw->gtick);
		if (profile_find_resource(profile, name) != NO_RESOURCE)
			return error_set(error,
			    "%s: 0x%zx: a second resource of that name",
			    file->name,
			    offsetof(struct cpprofdata_header, resources[i]));
		if (profile_add_resource(profile, name, gtick,
		                         raw->interval, error) == UINT32_MAX ||
		    cpprofdata_add_source(file, profile, i, error) != 0)
			return -1;
		/* An export with an interval of 1 may be of any format. */
		if (raw->interval > 1 || profile->resources[i].source != NULL)
			profile->resources[i].counting = COUNTING_SAMPLED;
		if ((header->flags & CPPROFDATA_DRAWN) != 0 &&
		    profile->resources[i].kind != NULL &&
		    profile->resources[i].kind->measures_waits)
			profile->resources[i].drawn_most =
			    header->drawn_most > 0 ? header->drawn_most : 1;
	}
	return 0;
}

/* Adds the levels whose gain and loss are resources of the file. */
static int
cpprofdata_add_levels(struct cpprofdata_recording *input, struct error *error)
{
	struct profile *profile = input->reader.profile;

	for (const struct count_kind *kind = made_counts; kind->name != NULL;
	     kind++) {
		const struct level_made level = {
			.resource = profile->n_resources,
			.gain = profile_find_resource(profile, kind->gain),
			.loss = profile_find_resource(profile, kind->loss),
		};
		const struct resource *gain;

		if (level.gain == NO_RESOURCE || level.loss == NO_RESOURCE ||
		    profile_find_resource(profile, kind->name) != NO_RESOURCE ||
		    input->n_levels == CPPROFDATA_MAX_RESOURCES)
			continue;
		gain = &profile->resources[level.gain];
		if (gain->interval != profile->resources[level.loss].interval)
			continue;
		if (profile_add_resource(profile, kind->name, gain->gtick,
		        gain->interval, error) == UINT32_MAX ||
		    profile_add_source(profile,
		        &profile->resources[level.resource],
		        arena_format(&profile->arena, error,
		                     "%s less %s", kind->gain, kind->loss),
		        error) != 0)
			return -1;
		profile->resources[level.resource].counting =
		    profile->resources[level.gain].counting;
		input->levels[input->n_levels++] = level;
	}
	return 0;
}

/*
 * Adds hits that are in no tree: those still pending when the process ended,
 * and those dropped, whose resource older collectors do not record.
 */
static int
cpprofdata_add_losses(const struct cpprofdata_file *file, bool is_running,
                      struct profile *profile, struct error *error)
{
	static const enum loss losses[CPPROFDATA_N_LOST] = {
		[CPPROFDATA_LOST_FULL] = LOSS_NO_ROOM,
		[CPPROFDATA_LOST_AT_EXIT] = LOSS_THREAD_ENDED,
	};
	const struct cpprofdata_header *header = &file->header;

	for (uint32_t r = 0; r < file->n_named && !is_running; r++)
		if (header->pending[r] > 0 && profile_add_loss(profile, r,
		        LOSS_THREAD_ENDED, (uint64_t)header->pending[r],
		        error) != 0)
			return -1;
	for (size_t i = 0; i < CPPROFDATA_N_LOST; i++) {
		uint64_t left = header->drops[i].hits;

		for (uint32_t r = 0; r < file->n_named; r++) {
			uint64_t hits = header->lost[i][r];

			if (hits == 0)
				continue;
			left -= hits < left ? hits : left;
			if (profile_add_loss(profile, r, losses[i], hits,
			                     error) != 0)
				return -1;
		}
		if (left > 0 && profile_add_loss(profile, file->n_named == 1 ?
		        0 : NO_RESOURCE, losses[i], left, error) != 0)
			return -1;
	}
	return 0;
}

/*
 * Whether the collector has sampled CPU time, and without the kernel's frames.
 * Of what was sampled from outside, that time is a tally of its own.
 */
static bool
cpprofdata_folds_kernel(const struct cpprofdata_file *file)
{
	const struct cpprofdata_header *header = &file->header;

	if ((header->flags & (CPPROFDATA_OUTSIDE | CPPROFDATA_KERNEL_FRAMES |
	                      CPPROFDATA_BRIEF)) != 0)
		return false;
	for (uint32_t r = 0; r < file->n_named; r++) {
		const struct count_kind *kind = cpprofdata_count_kind(file, r);

		if (kind != NULL && kind->is_cpu_time)
			return true;
	}
	return false;
}

/*
 * Adds a tally for each reason why samples were late or incomplete, of hits or
 * of samples, whichever is more informative, and what the flags say.
 */
static int
cpprofdata_add_tallies(const struct cpprofdata_file *file,
                       struct profile *profile, struct error *error)
{
	static const struct {
		const char *what;
		bool is_hits;
	} drops[CPPROFDATA_MAX_DROPS] = {
		[CPPROFDATA_DEFERRED_UNSAFE] =
		    { "samples taken late: collector was busy", false },
		[CPPROFDATA_DEFERRED_BACK_OFF] =
		    { "samples taken late: to keep sampling cheap", false },
		[CPPROFDATA_PARTIAL_NO_RULES] =
		    { "stacks incomplete: code without unwind tables", false },
		[CPPROFDATA_PARTIAL_BAD_RULES] =
		    { "stacks incomplete: invalid unwind tables", false },
		[CPPROFDATA_PARTIAL_BAD_STACK] =
		    { "stacks incomplete: unreadable stack memory", false },
		[CPPROFDATA_PARTIAL_TOO_DEEP] =
		    { "stacks incomplete: too deep for memory", false },
		[CPPROFDATA_OVERRUN] =
		    { "hits counted with the next sample", true },
		[CPPROFDATA_GUESSED] =
		    { "stacks partly guessed: code without unwind tables",
		      false },
		[CPPROFDATA_PARTIAL_LATE] =
		    { "stacks incomplete: changed before all was read",
		      false },
		[CPPROFDATA_PARTIAL_INTERPRETED] =
		    { "stacks incomplete: Python frames unknown", false },
		[CPPROFDATA_UNINTERPRETED] =
		    { "samples without their Python frames: thread ran on "
		      "before they were read", false },
		[CPPROFDATA_NOT_FOLLOWED] =
		    { "allocations not followed: too many, or collector was "
		      "busy", false },
		[CPPROFDATA_NO_KERNEL_FRAMES] =
		    { "hits whose frames of the kernel are unknown: in new "
		      "threads, threads that switch often, or long "
		      "stays in it", true },
		[CPPROFDATA_PARTIAL_UNSEEN] =
		    { "hits without a stack: in the kernel, unseen, or in "
		      "short threads", true },
	};
	static const struct {
		uint32_t flag;
		const char *what;
	} flags[] = {
		{ CPPROFDATA_OUTSIDE, "processes sampled from outside" },
		{ CPPROFDATA_KERNEL_FRAMES, "processes with frames of the "
		  "kernel" },
		{ CPPROFDATA_CONFINED, "processes not sampled to the "
		  "end: they forbade themselves system calls" },
		{ CPPROFDATA_IO_URING, "processes whose I/O by io_uring is "
		  "not counted" },
		{ CPPROFDATA_CLOCK_GIVEN_UP, "processes with CPU time by ticks "
		  "in threads that switched often" },
		{ CPPROFDATA_TIMERS_AT_TICKS, "processes whose timers' handlers "
		  "ticks can miss: allow perf events" },
		{ CPPROFDATA_LIVE_LOST, "processes whose freed memory is not "
		  "known to the end: a child was killed in the collector" },
		{ CPPROFDATA_UNKNOWN_PYTHON, "processes of a Python whose "
		  "functions cannot be read" },
		{ CPPROFDATA_TRUNCATED, "files truncated while recorded, "
		  "written again when the process ended" },
	};
	const struct cpprofdata_header *header = &file->header;
	/* The file that this one continues has counted the first thread. */
	uint64_t n_threads = header->n_threads - (header->n_threads > 0 &&
	    (header->flags & CPPROFDATA_CONTINUES) != 0);

	for (size_t i = CPPROFDATA_N_LOST; i < CPPROFDATA_MAX_DROPS; i++) {
		uint64_t count = drops[i].is_hits ? header->drops[i].hits :
		    header->drops[i].samples;
		/* A newer collector may have reasons unknown here. */
		const char *what = drops[i].what != NULL ? drops[i].what :
		    "samples with an unknown mark (from a newer collector)";

		if (count > 0 && profile_add_tally(profile, what,
		                                   count, error) != 0)
			return -1;
	}
	if (header->hits_at_ticks > 0 &&
	    profile_add_tally(profile, TALLY_KERNEL_TICKS,
	                      header->hits_at_ticks, error) != 0)
		return -1;
	if (n_threads > 0 && profile_add_tally(profile, "threads started",
	                                       n_threads, error) != 0)
		return -1;
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if ((header->flags & flags[i].flag) != 0 &&
		    profile_add_tally(profile, flags[i].what, 1, error) != 0)
			return -1;
	if (cpprofdata_folds_kernel(file) &&
	    profile_add_tally(profile, "processes whose time in the kernel is "
	                      "the calling function's", 1, error) != 0)
		return -1;
	if (header->n_threads_unsampled > 0 &&
	    profile_add_tally(profile,
	                      "threads not sampled: no timer available",
	                      header->n_threads_unsampled, error) != 0)
		return -1;
	return 0;
}

/* ---- code: modules, and what the process generated at run time ---- */

uint32_t
cpprofdata_add_module(const struct cpprofdata_file *file,
                      const unsigned char *bytes, struct profile *profile,
                      struct names *known, struct error *error)
{
	struct cpprofdata_module record;
	struct module module = { 0 };
	unsigned char build[MODULE_BUILD_MAX];
	uint32_t number = profile->n_modules;
	char *path;

	memcpy(&record, bytes, sizeof record);
	path = cpprofdata_copy_string(file, le32toh(record.path), error);
	if (path == NULL)
		return UINT32_MAX;
	module.path = *path != '\0' ? path : "[unknown]";
	module.build_id_size = le32toh(record.build_id_size);
	if (module.build_id_size > sizeof module.build_id)
		module.build_id_size = 0;	/* only its beginning is known */
	memcpy(module.build_id, record.build_id, module.build_id_size);
	module.file_size = le64toh(record.file_size);
	module.file_mtime_ns = le64toh(record.file_mtime_ns);
	if (known != NULL) {
		size_t size = module_build(&module, build);

		number = names_add_pair(known, module.path,
		    strlen(module.path), build, size, error);
	}
	if (number == profile->n_modules) {
		number = profile_add_module(profile, module.path,
		    module.build_id, module.build_id_size, error);
		if (number != UINT32_MAX) {
			profile->modules[number].file_size = module.file_size;
			profile->modules[number].file_mtime_ns =
			    module.file_mtime_ns;
		}
	}
	free(path);
	return number;
}

static bool
is_of_this_machine(const struct cpprofdata_file *file)
{
	char own[HOST_MAX + 1] = "";
	size_t length;
	const char *host = cpprofdata_string(file, file->header.host, HOST_MAX,
	                                     &length);

	return gethostname(own, HOST_MAX) == 0 && length > 0 &&
	    strlen(own) == length && memcmp(own, host, length) == 0;
}

struct jit_map *
cpprofdata_jit_map(const struct cpprofdata_file *file, struct error *error)
{
	struct jit_process process = {
		.pid = file->header.pid,
		.begin_ns = file->header.born_ns != 0 &&
		    file->header.born_ns < file->header.start_ns ?
		    file->header.born_ns : file->header.start_ns,
		.end_ns = cpprofdata_find_end(file).utc_ns,
		/* Then nothing was written. */
		.owner = (uid_t)-1,
	};
	const char *slash = strrchr(file->name, '/');
	char *directory, *recording;
	struct jit_map *map;
	struct stat status;

	if (!is_of_this_machine(file) || stat(file->name, &status) != 0)
		process.begin_ns = UINT64_MAX / 2;
	else
		process.owner = (file->header.flags & CPPROFDATA_OUTSIDE) !=
		    0 ? (uid_t)file->header.user : status.st_uid;
	directory = cpprofdata_copy_string(file, file->header.directory,
	                                   error);
	if (directory == NULL)
		return NULL;
	if (directory[0] == '/')
		process.directory = directory;
	recording = slash == NULL ? strdup(".") :
	    strndup(file->name, (size_t)(slash - file->name));
	process.recording = recording;
	map = recording == NULL ? NULL : jit_map_of_process(&process, error);
	if (recording == NULL)
		error_out_of_memory(error);
	free(recording);
	free(directory);
	return map;
}

/* ---- threads and nodes ---- */

/*
 * The builder's node of a node record of that owner, or of any; NO_NODE: it has
 * none.
 */
static uint32_t
built_node(const struct cpprofdata_recording *input, uint32_t number,
           uint32_t owner)
{
	const struct cpprofdata_run *run = cpprofdata_runs_find(
	    &input->file.runs[CPPROFDATA_NODES], number);

	return run != NULL && (run->owner == owner ||
	                       owner == CPPROFDATA_ANY_THREAD) ?
	       input->built[run->n_before + (number - run->first)] : NO_NODE;
}

static int
cpprofdata_add_thread(struct cpprofdata_recording *input,
                      const unsigned char *bytes, struct error *error)
{
	struct cpprofdata_thread raw;
	char name[sizeof raw.name + 1] = "";
	struct thread thread = { .process = 0 };

	memcpy(&raw, bytes, sizeof raw);
	memcpy(name, raw.name, sizeof raw.name);
	thread.tid = le32toh(raw.tid);
	thread.name = name[0] != '\0' ? name : NULL;
	thread.n_earlier = le32toh(raw.n_threads);
	if (thread.n_earlier > 0)
		thread.n_earlier--;
	return profile_add_thread(input->reader.profile, &thread,
	                          error) != UINT32_MAX ? 0 : -1;
}

/* The frame that is only this name. */
static uint32_t
cpprofdata_named_frame(struct cpprofdata_recording *input, const char *text,
                       struct error *error)
{
	struct names *names = input->reader.profile->names;
	uint32_t name = names_add(names, text, strlen(text), error);

	return name == NO_NAME ? UINT32_MAX :
	    address_frames_add_name(input->frames, name, error);
}

static uint32_t
cpprofdata_frame_of(struct cpprofdata_recording *input,
                    const struct cpprofdata_node *node, struct error *error)
{
	uint32_t number = le32toh(node->module), module = NO_MODULE;
	char text[PHASE_MAX + 3] = "[unknown]";
	size_t length;
	const char *name;

	if (number == CPPROFDATA_PARTIAL)
		return cpprofdata_named_frame(input, "[partial]", error);
	if (number == CPPROFDATA_PHASE) {
		/* A phase is no function, so its name is put in brackets. */
		name = cpprofdata_string(&input->file, le64toh(node->offset),
		                         PHASE_MAX, &length);
		if (length > 0)
			snprintf(text, sizeof text, "[%.*s]", (int)length,
			         name);
		return cpprofdata_named_frame(input, text, error);
	}
	if (number == CPPROFDATA_INTERPRETED) {
		struct interpreted_frame frame;

		return interpreted_functions_find(input->functions,
		    le64toh(node->offset), &frame, error) != 0 ? UINT32_MAX :
		    address_frames_add_interpreted(input->frames, &frame,
		                                   error);
	}
	if (number == CPPROFDATA_NO_MODULE) {
		input->n_outside++;
	} else {
		module = cpprofdata_index_of(
		    &input->file.runs[CPPROFDATA_MODULES], number);
		if (module == UINT32_MAX) {
			input->n_unknown++;
			return cpprofdata_named_frame(input, text, error);
		}
	}
	return address_frames_add(input->frames, module,
	                          le64toh(node->offset), error);
}

static int
cpprofdata_add_counts(struct cpprofdata_recording *input, uint32_t node,
                      uint32_t resource, const struct cpprofdata_count *count,
                      struct error *error)
{
	return (count->hits | count->samples) == 0 ? 0 :
	    tree_builder_add(input->builder, node, resource, count->hits,
	                     count->samples, error);
}

/* While the file is written, a loss may be there before its gain. */
static uint64_t
cpprofdata_left(uint64_t gain, uint64_t loss)
{
	return gain > loss ? gain - loss : 0;
}

/* Adds a node record, at an offset, with its counts. */
static int
cpprofdata_add_node(struct cpprofdata_recording *input,
                    const struct cpprofdata_run *run, uint64_t k,
                    size_t offset, struct error *error)
{
	const unsigned char *bytes = input->file.bytes + offset;
	struct cpprofdata_count counts[CPPROFDATA_MAX_RESOURCES];
	struct cpprofdata_node node;
	uint32_t number, parent = NO_NODE, frame;
	uint32_t *built = &input->built[run->n_before + k];

	memcpy(&node, bytes, sizeof node);
	bytes += sizeof node;
	number = le32toh(node.parent);
	*built = NO_NODE;
	if (number != CPPROFDATA_NO_NODE) {
		if (number < run->first + k)
			parent = built_node(input, number, run->owner);
		if (parent == NO_NODE) {
			if (input->n_left_out++ == 0)
				input->first_left_out = offset;
			return 0;
		}
	}
	frame = cpprofdata_frame_of(input, &node, error);
	if (frame == UINT32_MAX)
		return -1;
	*built = tree_builder_child(input->builder, parent, frame, error);
	if (*built == NO_NODE)
		return -1;
	if (input->frame != NULL)
		input->frame[run->n_before + k] = frame;
	call_parts_note(input->calls, run->n_before + k,
	                number == CPPROFDATA_NO_NODE ? NO_NODE :
	                cpprofdata_index_of(
	                    &input->file.runs[CPPROFDATA_NODES], number),
	                frame);
	if ((input->file.header.flags & CPPROFDATA_COUNTS_RETURNS) != 0 &&
	    tree_builder_add_returns(input->builder, *built,
	                             le64toh(node.returns), error) != 0)
		return -1;
	for (uint32_t r = 0; r < input->file.n_named; r++) {
		struct cpprofdata_count count;

		memcpy(&count, bytes + r * sizeof count, sizeof count);
		counts[r].hits = le64toh(count.hits);
		counts[r].samples = le64toh(count.samples);
		count = counts[r];
		call_parts_take(input->calls, (uint32_t)(run->first + k), r,
		                &count);
		if (cpprofdata_add_counts(input, *built, r, &count,
		                          error) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < input->n_levels; i++) {
		const struct level_made *level = &input->levels[i];
		const struct cpprofdata_count left = {
			cpprofdata_left(counts[level->gain].hits,
			                counts[level->loss].hits),
			cpprofdata_left(counts[level->gain].samples,
			                counts[level->loss].samples),
		};

		if (cpprofdata_add_counts(input, *built, level->resource,
		                          &left, error) != 0)
			return -1;
	}
	return 0;
}

static int
cpprofdata_compare_runs(const void *left, const void *right)
{
	const struct cpprofdata_run *a = *(struct cpprofdata_run *const *)left;
	const struct cpprofdata_run *b =
	    *(struct cpprofdata_run *const *)right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* ---- when hits were counted ---- */

/* A record of a slice that is valid by itself. */
struct slices_found {
	uint32_t number;	/* of the node's record */
	uint32_t node;		/* the builder's */
	uint32_t resource;
	uint64_t begin_ns, width_ns;
	struct cpprofdata_count count;
};

/* By node, resource and time; the widest first. */
static int
cpprofdata_slices_compare(const void *left, const void *right)
{
	const struct slices_found *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->resource != b->resource)
		return a->resource < b->resource ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->width_ns > b->width_ns ? -1 : a->width_ns < b->width_ns;
}

/* Adds the time of a node's hits, within calls and outside. */
static int
add_slice(struct cpprofdata_recording *input, struct call_time *time,
          const struct slices_found *found, struct error *error)
{
	const unsigned char *bytes = cpprofdata_record_at(&input->file,
	    CPPROFDATA_NODES, found->number);
	struct cpprofdata_count count, rest = found->count;

	memcpy(&count, bytes + sizeof(struct cpprofdata_node) +
	       found->resource * sizeof count, sizeof count);
	time->all = (struct cpprofdata_count){ le64toh(count.hits),
		                               le64toh(count.samples) };
	if (call_parts_add_time(input->calls, time, &rest, input->builder,
	                        error) != 0)
		return -1;
	/* One without counts marks how long the run was. */
	return (rest.hits | rest.samples) == 0 &&
	    (found->count.hits | found->count.samples) != 0 ? 0 :
	    tree_builder_add_time(input->builder, found->node,
	        found->resource, found->begin_ns, found->width_ns, rest.hits,
	        rest.samples, error);
}

/*
 * Adds the times of all nodes' hits.  Records that are invalid are ignored.
 *
 * The collector folds a node's records into wider ones while it may be killed,
 * or read, at any moment.  So a record that lies in a wider one of the same
 * node and resource is ignored, too: its counts are in the wider one.
 */
static int
cpprofdata_add_slices(struct cpprofdata_recording *input, struct error *error)
{
	const struct cpprofdata_file *file = &input->file;
	const struct cpprofdata_runs *runs = &file->runs[CPPROFDATA_SLICES];
	const uint64_t width = file->header.slice_ns;
	struct cpprofdata_record record = { 0 };
	const struct slices_found *last = NULL;
	struct cpprofdata_count before = { 0, 0 };
	struct slices_found *found;
	struct call_time time;
	size_t n = 0;

	if (width == 0)
		return 0;
	tree_builder_set_origin(input->builder, file->header.origin_ns);
	found = memory_array(cpprofdata_runs_count(runs), sizeof *found, error);
	if (found == NULL)
		return -1;
	while (cpprofdata_next(runs, file->bytes, &record)) {
		struct cpprofdata_slice raw;
		uint32_t slice;

		memcpy(&raw, record.bytes, sizeof raw);
		slice = le16toh(raw.slice);
		if (raw.doublings > CPPROFDATA_MAX_DOUBLINGS ||
		    raw.resource >= file->n_named ||
		    slice >= CPPROFDATA_N_SLICES ||
		    width > (UINT64_MAX / CPPROFDATA_N_SLICES) >>
		        raw.doublings)
			continue;
		found[n] = (struct slices_found){
			.number = le32toh(raw.node),
			.node = built_node(input, le32toh(raw.node),
			                   record.owner),
			.resource = raw.resource,
			.begin_ns = (width << raw.doublings) * slice,
			.width_ns = width << raw.doublings,
			.count = { le64toh(raw.count.hits),
			           le64toh(raw.count.samples) },
		};
		n += found[n].node != NO_NODE;
	}
	qsort(found, n, sizeof *found, cpprofdata_slices_compare);
	for (size_t i = 0; i < n && !error->is_set; i++) {
		if (last != NULL && last->number == found[i].number &&
		    last->resource == found[i].resource &&
		    found[i].begin_ns < last->begin_ns + last->width_ns)
			continue;
		time = (struct call_time){ found[i].number, found[i].resource,
			found[i].begin_ns, found[i].width_ns, { 0, 0 },
			{ 0, 0 } };
		if (last != NULL && last->number == found[i].number &&
		    last->resource == found[i].resource) {
			time.before.hits = before.hits + last->count.hits;
			time.before.samples = before.samples +
			    last->count.samples;
		}
		last = &found[i];
		before = time.before;
		add_slice(input, &time, last, error);
	}
	free(found);
	return error->is_set ? -1 : 0;
}

/*
 * Adds the times at which blocks of memory were allocated that are in use: of
 * what the levels have at the end.
 */
static int
cpprofdata_add_blocks(struct cpprofdata_recording *input, struct error *error)
{
	const struct cpprofdata_file *file = &input->file;
	struct cpprofdata_record record = { 0 };
	uint32_t resources[2];

	/* The levels are of bytes and of blocks, in this order. */
	for (size_t i = 0; i < 2; i++)
		resources[i] = profile_find_resource(input->reader.profile,
		                                     made_counts[i].name);
	while (file->header.slice_ns != 0 &&
	       cpprofdata_next(&file->runs[CPPROFDATA_BLOCKS], file->bytes,
	                       &record)) {
		const uint64_t origin_ns = file->header.origin_mono_ns;
		struct cpprofdata_block block;
		uint64_t hits[2], since;
		uint32_t node;

		memcpy(&block, record.bytes, sizeof block);
		node = built_node(input, le32toh(block.node),
		                  CPPROFDATA_ANY_THREAD);
		since = le64toh(block.since_ns);
		hits[0] = le64toh(block.bytes_hits);
		hits[1] = le64toh(block.blocks_hits);
		for (size_t i = 0; i < 2 && node != NO_NODE; i++)
			if (resources[i] != NO_RESOURCE && hits[i] > 0 &&
			    tree_builder_add_time(input->builder, node,
			        resources[i], since > origin_ns ?
			        since - origin_ns : 0, 0, hits[i], 1,
			        error) != 0)
				return -1;
	}
	return 0;
}

/*
 * Adds the times of a charge's hits, which the builder's node has already:
 * evenly from its beginning to its end.
 */
static int
cpprofdata_add_charge_times(struct cpprofdata_recording *input,
                            const struct cpprofdata_charge *charge,
                            uint32_t node, struct error *error)
{
	const struct cpprofdata_header *header = &input->file.header;
	const uint64_t origin_ns = header->origin_mono_ns;
	const uint64_t begin_ns = charge->begin_ns > origin_ns ?
	    charge->begin_ns - origin_ns : 0;
	const uint64_t end_ns = charge->end_ns > origin_ns ?
	    charge->end_ns - origin_ns : 0;
	uint64_t done = 0, width = header->slice_ns, at;

	if (width == 0)
		return 0;
	/* Slices reach up to the end. */
	while (end_ns / width >= CPPROFDATA_N_SLICES &&
	       width <= UINT64_MAX / CPPROFDATA_N_SLICES / 2)
		width *= 2;
	for (at = begin_ns / width * width; done < charge->hits;
	     at += width) {
		const uint64_t passed_ns = at + width - begin_ns;
		const uint64_t whole_ns = end_ns - begin_ns;
		const uint64_t until = passed_ns >= whole_ns ? charge->hits :
		    (uint64_t)((unsigned __int128)charge->hits * passed_ns /
		               whole_ns);
		const bool is_last = until == charge->hits;

		if (until > done && tree_builder_add_time(input->builder, node,
		        charge->resource, at, width, until - done,
		        is_last && charge->is_wait, error) != 0)
			return -1;
		done = until;
	}
	return 0;
}

/* ---- sections ---- */

/* Adds what a thread waited for until the end, after its nodes. */
static int
add_wait(struct cpprofdata_recording *input, uint32_t owner,
         struct error *error)
{
	struct cpprofdata_charge charges[CPPROFDATA_CHARGES_MAX];
	bool waits;
	size_t n = cpprofdata_wait_charges(&input->file, &input->end, owner,
	                                   charges, &waits);

	input->n_waiting += waits;
	for (size_t i = 0; i < n; i++) {
		const struct cpprofdata_charge *charge = &charges[i];
		uint32_t node = NO_NODE, frame;

		if (charge->hits == 0)
			continue;
		if (charge->node != CPPROFDATA_NO_NODE)
			node = built_node(input, charge->node, owner);
		if (node == NO_NODE) {
			frame = cpprofdata_named_frame(input, charge->is_wait ?
			                               "[unknown]" :
			                               "[no sample]", error);
			if (frame == UINT32_MAX)
				return -1;
			node = tree_builder_child(input->builder, NO_NODE,
			                          frame, error);
		}
		if (node == NO_NODE ||
		    tree_builder_add(input->builder, node, charge->resource,
		                     charge->hits, charge->is_wait,
		                     error) != 0 ||
		    cpprofdata_add_charge_times(input, charge, node,
		                                error) != 0)
			return -1;
	}
	return 0;
}

/* Enters the nodes, thread by thread. */
static int
cpprofdata_add_nodes(struct cpprofdata_recording *input, struct error *error)
{
	struct cpprofdata_runs *runs = &input->file.runs[CPPROFDATA_NODES];
	const struct cpprofdata_runs *threads =
	    &input->file.runs[CPPROFDATA_THREADS];
	const struct progress *progress = input->reader.options->progress;
	struct cpprofdata_run **sorted = memory_array(runs->n, sizeof *sorted,
	                                              error);
	struct error why = { 0 };
	size_t i = 0;

	input->built = memory_array(cpprofdata_runs_count(runs),
	                             sizeof *input->built, error);
	if (input->pairs != NO_RESOURCE)
		input->frame = memory_array(cpprofdata_runs_count(runs),
		                            sizeof *input->frame, error);
	if (!error->is_set) {
		for (size_t run = 0; run < runs->n; run++)
			sorted[run] = &runs->items[run];
		qsort(sorted, runs->n, sizeof(struct cpprofdata_run *),
		      cpprofdata_compare_runs);
	}
	while (!error->is_set && i < runs->n) {
		uint32_t owner = sorted[i]->owner;
		uint32_t begin = tree_builder_begin_section(input->builder);

		for (; i < runs->n && sorted[i]->owner == owner; i++) {
			const struct cpprofdata_run *run = sorted[i];
			size_t offset = run->offset;

			for (uint64_t k = 0; k < run->n && !error->is_set;
			     k++, offset += runs->record_size) {
				if (input->n_seen++ % NODES_A_STEP == 0 &&
				    progress_step(progress, offset,
				                  input->file.header.used,
				                  error) != 0)
					break;
				if (cpprofdata_add_node(input, run, k, offset,
				                        &why) != 0)
					reader_pass_at(&input->reader, offset,
					               &why, error);
			}
		}
		if (!error->is_set && add_wait(input, owner, error) == 0 &&
		    profile_add_section(input->reader.profile, begin,
		                        tree_builder_count(input->builder),
		                        cpprofdata_index_of(threads, owner),
		                        error) != UINT32_MAX)
			call_parts_add_sections(input->calls, owner,
			    cpprofdata_index_of(threads, owner),
			    input->reader.profile, input->builder, error);
	}
	free(sorted);
	return error->is_set ? -1 : 0;
}

/* Enters the waits of threads that have no nodes. */
static int
add_waits_without_nodes(struct cpprofdata_recording *input, struct error *error)
{
	const struct cpprofdata_runs *threads =
	    &input->file.runs[CPPROFDATA_THREADS];
	const struct cpprofdata_runs *nodes =
	    &input->file.runs[CPPROFDATA_NODES];
	struct tree_builder *builder = input->builder;
	struct cpprofdata_record record = { 0 };
	bool *has_nodes;

	if ((input->file.header.flags & CPPROFDATA_WAITS) == 0)
		return 0;
	has_nodes = memory_array(cpprofdata_runs_count(threads),
	                         sizeof *has_nodes, error);
	if (has_nodes == NULL)
		return -1;
	for (size_t i = 0; i < nodes->n; i++) {
		uint32_t thread = cpprofdata_index_of(threads,
		                                      nodes->items[i].owner);

		if (thread != UINT32_MAX)
			has_nodes[thread] = true;
	}
	while (!error->is_set &&
	       cpprofdata_next(threads, input->file.bytes, &record)) {
		uint32_t begin;

		if (has_nodes[record.index])
			continue;
		begin = tree_builder_begin_section(builder);
		if (add_wait(input, (uint32_t)record.number, error) == 0 &&
		    tree_builder_count(builder) > begin)
			profile_add_section(input->reader.profile, begin,
			                    tree_builder_count(builder),
			                    (uint32_t)record.index, error);
	}
	free(has_nodes);
	return error->is_set ? -1 : 0;
}

/* ---- pairs: who has waited for whom ---- */

/* A pair of a file, and what its stacks are sorted by. */
struct pair_found {
	uint32_t thread;	/* number of the waiter's record */
	uint32_t waiter, holder;	/* numbers of nodes */
	struct cpprofdata_count count;
};

static int
cpprofdata_add_pair_resource(struct cpprofdata_recording *input,
                             struct error *error)
{
	struct profile *profile = input->reader.profile;

	input->pairs = NO_RESOURCE;
	if (cpprofdata_runs_count(&input->file.runs[CPPROFDATA_PAIRS]) == 0 ||
	    profile_find_resource(profile, LOCK_PAIRS) != NO_RESOURCE)
		return 0;
	input->pairs = profile_add_resource(profile, LOCK_PAIRS, "nanosecond",
	                                    1, error);
	if (input->pairs == NO_RESOURCE)
		return -1;
	profile->resources[input->pairs].counting = COUNTING_SAMPLED;
	return profile_add_source(profile, &profile->resources[input->pairs],
	    "lock-waits with blame", error);
}

static int
pair_compare(const void *left, const void *right)
{
	const struct pair_found *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->waiter != b->waiter)
		return a->waiter < b->waiter ? -1 : 1;
	return a->holder < b->holder ? -1 : a->holder > b->holder;
}

/*
 * Appends the frames of a built node's stack, outermost first, to
 * labels[*n ..].
 */
static int
pair_append_stack(const struct cpprofdata_recording *input, uint32_t number,
                  uint32_t **labels, size_t *n, size_t *capacity,
                  struct error *error)
{
	const struct cpprofdata_runs *runs =
	    &input->file.runs[CPPROFDATA_NODES];
	const size_t begin = *n;

	while (number != CPPROFDATA_NO_NODE) {
		const struct cpprofdata_run *run = cpprofdata_runs_find(runs,
		                                                        number);
		struct cpprofdata_node node;

		if (memory_grow(labels, capacity, *n + 1, sizeof **labels,
		                error) != 0)
			return -1;
		(*labels)[(*n)++] = input->frame[run->n_before +
		                                 (number - run->first)];
		memcpy(&node, input->file.bytes + run->offset +
		       (number - run->first) * runs->record_size, sizeof node);
		number = le32toh(node.parent);
	}
	for (size_t i = begin, k = *n - 1; i < k; i++, k--) {
		uint32_t label = (*labels)[i];

		(*labels)[i] = (*labels)[k];
		(*labels)[k] = label;
	}
	return 0;
}

/* The pairs both of whose nodes are there, sorted; NULL with *error set. */
static struct pair_found *
pair_find_all(const struct cpprofdata_recording *input, size_t *n,
              struct error *error)
{
	const struct cpprofdata_runs *runs =
	    &input->file.runs[CPPROFDATA_PAIRS];
	struct cpprofdata_record record = { 0 };
	struct pair_found *found = memory_array(cpprofdata_runs_count(runs),
	                                        sizeof *found, error);

	*n = 0;
	while (found != NULL &&
	       cpprofdata_next(runs, input->file.bytes, &record)) {
		struct cpprofdata_pair pair;
		struct pair_found *to = &found[*n];

		memcpy(&pair, record.bytes, sizeof pair);
		to->waiter = le32toh(pair.waiter);
		to->holder = le32toh(pair.holder);
		to->count.hits = le64toh(pair.count.hits);
		to->count.samples = le64toh(pair.count.samples);
		if (to->count.hits == 0 ||
		    built_node(input, to->waiter,
		               CPPROFDATA_ANY_THREAD) == NO_NODE ||
		    built_node(input, to->holder,
		               CPPROFDATA_ANY_THREAD) == NO_NODE)
			continue;
		to->thread = cpprofdata_runs_find(
		    &input->file.runs[CPPROFDATA_NODES], to->waiter)->owner;
		++*n;
	}
	if (*n > 1)
		qsort(found, *n, sizeof *found, pair_compare);
	return found;
}

/*
 * Enters each pair as a stack of the waiter's thread: the waiter's path, a mark,
 * and the path that it has waited for.  They are of a resource of their own.
 */
static int
cpprofdata_add_pairs(struct cpprofdata_recording *input, struct error *error)
{
	const struct cpprofdata_runs *threads =
	    &input->file.runs[CPPROFDATA_THREADS];
	struct tree_builder *builder = input->builder;
	struct pair_found *found;
	uint32_t *labels = NULL, *nodes = NULL, mark;
	size_t n_found, capacity = 0, nodes_capacity = 0, i = 0;

	if (input->pairs == NO_RESOURCE)
		return 0;
	found = pair_find_all(input, &n_found, error);
	mark = cpprofdata_named_frame(input, LOCK_PAIRS_MARK, error);
	while (!error->is_set && i < n_found) {
		const uint32_t thread = found[i].thread;
		const uint32_t begin = tree_builder_begin_section(builder);

		for (; i < n_found && found[i].thread == thread; i++) {
			size_t n = 0;

			if (pair_append_stack(input, found[i].waiter, &labels,
			        &n, &capacity, error) != 0 ||
			    memory_grow(&labels, &capacity, n + 1,
			                sizeof *labels, error) != 0)
				break;
			labels[n++] = mark;
			if (pair_append_stack(input, found[i].holder, &labels,
			        &n, &capacity, error) != 0 ||
			    memory_grow(&nodes, &nodes_capacity, n,
			                sizeof *nodes, error) != 0 ||
			    tree_builder_chain(builder, NO_NODE, labels, n,
			                       nodes, error) != 0 ||
			    cpprofdata_add_counts(input, nodes[n - 1],
			        input->pairs, &found[i].count, error) != 0)
				break;
		}
		if (!error->is_set)
			profile_add_section(input->reader.profile, begin,
			                    tree_builder_count(builder),
			                    cpprofdata_index_of(threads,
			                                        thread),
			                    error);
	}
	free(found);
	free(labels);
	free(nodes);
	return error->is_set ? -1 : 0;
}

/* ---- briefs: processes that left a single record ---- */

/* Adds a process with a thread and a section of one node, `frame`. */
static int
cpprofdata_add_brief(struct cpprofdata_recording *input,
                     const struct cpprofdata_brief *brief, uint32_t frame,
                     struct error *error)
{
	struct profile *profile = input->reader.profile;
	struct tree_builder *builder = input->builder;
	const uint64_t origin_ns = input->file.header.origin_ns;
	const uint32_t n_resources = brief->is_of_both == 1 &&
	    input->file.header.n_resources > 1 ? 2 : 1;
	char executable[sizeof brief->executable + 1] = "";
	char name[sizeof brief->name + 1] = "";
	struct process process = {
		.pid = le32toh(brief->pid),
		.parent_pid = le32toh(brief->parent_pid),
		.start_ns = le64toh(brief->start_ns),
		.end_ns = le64toh(brief->start_ns),
		.cpu_ns = le64toh(brief->cpu_ns),
		.cpu_is_least = true,
		.is_beginning = true,
	};
	const struct cpprofdata_count count = { le64toh(brief->count.hits),
		le64toh(brief->count.samples) };
	struct thread thread = {
		.process = (uint32_t)profile->n_processes,
		.tid = le32toh(brief->pid),
	};
	uint32_t number, begin, node;

	memcpy(executable, brief->executable, sizeof brief->executable);
	process.program = executable[0] != '\0' ? executable : NULL;
	memcpy(name, brief->name, sizeof brief->name);
	thread.name = name[0] != '\0' ? name : NULL;
	if (profile_add_process(profile, &process, error) == UINT32_MAX)
		return -1;
	number = profile_add_thread(profile, &thread, error);
	if (number == UINT32_MAX)
		return -1;
	begin = tree_builder_begin_section(builder);
	node = tree_builder_child(builder, NO_NODE, frame, error);
	if (node == NO_NODE)
		return -1;
	if (input->file.header.slice_ns != 0)
		tree_builder_set_origin(builder, origin_ns);
	for (uint32_t i = 0; i < n_resources; i++) {
		if (tree_builder_add(builder, node, i, count.hits,
		        count.samples, error) != 0)
			return -1;
		if (input->file.header.slice_ns != 0 &&
		    tree_builder_add_time(builder, node, i,
		        process.start_ns > origin_ns ?
		        process.start_ns - origin_ns : 0, 0, count.hits,
		        count.samples, error) != 0)
			return -1;
	}
	return profile_add_section(profile, begin, tree_builder_count(builder),
	                           number, error) != UINT32_MAX ? 0 : -1;
}

static int
add_briefs(struct cpprofdata_recording *input, struct error *error)
{
	static const char names[][16] = {
		[CPPROFDATA_LOADING] = "[loading]",
		[CPPROFDATA_FORKING] = "[forking]",
		[CPPROFDATA_SAMPLING] = "[sampling]",
	};
	const struct cpprofdata_file *file = &input->file;
	uint32_t frames[CPPROFDATA_N_BRIEF_KINDS];

	if (file->n_briefs == 0)
		return 0;
	memset(frames, 0xff, sizeof frames);
	for (size_t i = 0; i < file->n_briefs; i++) {
		struct cpprofdata_brief brief;
		unsigned kind;

		memcpy(&brief, file->bytes + CPPROFDATA_HEADER_SIZE +
		       i * sizeof brief, sizeof brief);
		kind = brief.kind < CPPROFDATA_N_BRIEF_KINDS ? brief.kind :
		    CPPROFDATA_LOADING;
		if (frames[kind] == UINT32_MAX)
			frames[kind] = cpprofdata_named_frame(input,
			    names[kind], error);
		if (frames[kind] == UINT32_MAX ||
		    cpprofdata_add_brief(input, &brief, frames[kind],
		        error) != 0)
			return -1;
	}
	return profile_add_tally(input->reader.profile, "threads started",
	                         file->n_briefs, error);
}

/* Hits of no process, thread or moment. */
static int
cpprofdata_add_unsampled(struct cpprofdata_recording *input,
                         struct error *error)
{
	const uint64_t hits = input->file.header.unsampled_hits;
	uint32_t frame, node;

	if (hits == 0 ||
	    (input->file.header.flags & CPPROFDATA_BRIEF) == 0)
		return 0;
	frame = cpprofdata_named_frame(input, "[unsampled]", error);
	node = frame == UINT32_MAX ? NO_NODE :
	    tree_builder_child(input->builder, NO_NODE, frame, error);
	return node == NO_NODE ? -1 :
	    tree_builder_add(input->builder, node, 0, hits, 0, error);
}

/* ---- the whole ---- */

static int
add_waiting_tally(struct cpprofdata_recording *input, struct error *error)
{
	struct profile *profile = input->reader.profile;

	if (input->n_waiting > 0 &&
	    profile_add_tally(profile, input->end.is_running ?
	        "threads waiting now" : "threads waiting at the end",
	        input->n_waiting, error) != 0)
		return -1;
	if (input->n_waiting > 0 && !input->end.is_seen &&
	    profile_add_tally(profile, "processes whose end was "
	        "not observed: waits are charged up to their last sign of life", 1,
	        error) != 0)
		return -1;
	return 0;
}

static int
warn_of_damage(struct cpprofdata_recording *input, struct error *error)
{
	const struct cpprofdata_file *file = &input->file;
	struct reader *reader = &input->reader;

	if (file->damage.is_set &&
	    reader_warn(reader, error, "%s; what comes before is shown",
	                file->damage.text) != 0)
		return -1;
	if (input->n_left_out > 0 &&
	    reader_warn(reader, error, "0x%zx: no such parent; %" PRIu64
	                " node%s without all ancestors left out",
	                input->first_left_out, input->n_left_out,
	                input->n_left_out == 1 ? "" : "s") != 0)
		return -1;
	if (input->n_unknown > 0 &&
	    reader_warn(reader, error, "modules that are not in the file have "
	                "%" PRIu64 " node%s", input->n_unknown,
	                input->n_unknown == 1 ? "" : "s") != 0)
		return -1;
	return 0;
}

/*
 * Names frames by the names that the file or the recording keeps.  Code
 * generated at run time is named by these, too, or by the files that its
 * process wrote.
 */
static int
name_frames(struct cpprofdata_recording *input, struct error *error)
{
	const struct cpprofdata_header *header = &input->file.header;
	const struct kept_names *kept;
	const struct kept_range *range = NULL;
	const char *problem = NULL;
	struct error damage = { 0 };

	kept = input->own_names = names_file_within(&input->file, &damage,
	                                             error);
	if (error->is_set ||
	    (damage.is_set && reader_warn(&input->reader, error, "%s; missing "
	        "names are looked up where the programs were",
	        damage.text) != 0))
		return -1;
	input->reader.profile->was_recorded_here = kept == NULL &&
	    is_of_this_machine(&input->file) &&
	    recording_names_were_made_here(input->file.name);
	if (kept == NULL &&
	    recording_names_beside(input->reader.options->names,
	                           input->file.name, input->reader.profile,
	                           &kept, error) != 0)
		return -1;
	address_frames_use(input->frames, kept);
	if (kept != NULL)
		range = kept_names_process(kept, header->pid,
		                           header->start_ns);
	if (input->n_outside > 0 && range == NULL) {
		input->jit = cpprofdata_jit_map(&input->file, error);
		if (input->jit == NULL)
			return -1;
		problem = jit_map_problem(input->jit);
	}
	if (problem != NULL &&
	    reader_warn(&input->reader, error, "code generated at run time may "
	                "lack names: %s", problem) != 0)
		return -1;
	address_frames_use_jit(input->frames, range, input->jit);
	return address_frames_finish(input->frames, input->reader.profile,
	                             input->reader.options->modules, error);
}

static int
fill_profile(struct cpprofdata_recording *input, struct error *error)
{
	const struct cpprofdata_file *file = &input->file;
	struct profile *profile = input->reader.profile;
	struct cpprofdata_record record = { 0 };
	uint64_t samples = 0;

	input->frames = address_frames_new(error);
	if (input->frames == NULL)
		return -1;
	input->end = cpprofdata_find_end(file);
	if (((file->header.flags & CPPROFDATA_BRIEF) == 0 &&
	     cpprofdata_add_process(file, &input->end, profile, error) != 0) ||
	    cpprofdata_add_resources(file, profile, error) != 0 ||
	    cpprofdata_add_levels(input, error) != 0 ||
	    cpprofdata_add_pair_resource(input, error) != 0 ||
	    cpprofdata_add_losses(file, input->end.is_running, profile,
	                          error) != 0 ||
	    cpprofdata_add_tallies(file, profile, error) != 0)
		return -1;
	input->builder = tree_builder_new(profile->n_resources, error);
	if (input->builder == NULL)
		return -1;
	while (cpprofdata_next(&file->runs[CPPROFDATA_MODULES], file->bytes,
	                       &record))
		if (cpprofdata_add_module(file, record.bytes, profile, NULL,
		                          error) == UINT32_MAX)
			return -1;
	input->functions = interpreted_functions_new(file, profile, error);
	input->calls = call_parts_new(file, error);
	if (input->functions == NULL || input->calls == NULL ||
	    cpprofdata_add_calls(file, profile, error) != 0)
		return -1;
	record = (struct cpprofdata_record){ 0 };
	while (cpprofdata_next(&file->runs[CPPROFDATA_THREADS], file->bytes,
	                       &record))
		if (cpprofdata_add_thread(input, record.bytes, error) != 0)
			return -1;
	if (cpprofdata_add_nodes(input, error) != 0 ||
	    cpprofdata_add_slices(input, error) != 0 ||
	    cpprofdata_add_blocks(input, error) != 0 ||
	    cpprofdata_add_pairs(input, error) != 0 ||
	    add_briefs(input, error) != 0 ||
	    cpprofdata_add_unsampled(input, error) != 0 ||
	    add_waits_without_nodes(input, error) != 0 ||
	    add_waiting_tally(input, error) != 0 ||
	    warn_of_damage(input, error) != 0 ||
	    name_frames(input, error) != 0)
		return -1;
	profile->tree = tree_builder_finish(input->builder, error);
	if (profile->tree == NULL)
		return -1;
	/* What is damaged so early that it has no sample is no profile. */
	for (uint32_t r = 0; r < profile->n_resources && samples == 0; r++)
		profile_hits(profile, r, &samples);
	return !file->damage.is_set || samples > 0 ? 0 :
	    reader_fail_file(&input->reader, error, "%s; no samples before "
	                     "that", file->damage.text);
}

static struct profile *
cpprofdata_read(struct source *source, const struct read_options *options,
                struct error *error)
{
	struct cpprofdata_recording input = { .builder = NULL };
	int result;

	if (reader_begin(&input.reader, source, options, READER_OFFSETS,
	                 error) != 0 ||
	    cpprofdata_file_open(&input.file, source, error) != 0)
		return reader_end(&input.reader, -1);
	result = fill_profile(&input, error);
	free(input.built);
	free(input.frame);
	call_parts_free(input.calls);
	jit_map_free(input.jit);
	kept_names_free(input.own_names);
	tree_builder_free(input.builder);
	address_frames_free(input.frames);
	interpreted_functions_free(input.functions);
	cpprofdata_file_close(&input.file);
	return reader_end(&input.reader, result);
}

const struct format format_cpprofdata = {
	.name = "cpprofdata",
	.summary = "what `cpprof record` writes",
	.probe = cpprofdata_probe,
	.read = cpprofdata_read,
};
