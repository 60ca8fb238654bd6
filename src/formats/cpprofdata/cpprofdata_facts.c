/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_facts.c -- the recording's facts from a file's header. */
#include "src/formats/cpprofdata/cpprofdata_facts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"

enum { COMMAND_MAX = 65536 };

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
add_process(const struct cpprofdata_file *file,
            const struct cpprofdata_end *end, struct profile *profile,
            struct error *error)
{
	const struct cpprofdata_header *header = &file->header;
	char *program = cpprofdata_copy_string(file, header->executable,
	                                       error);
	char *host = cpprofdata_copy_string(file, header->host, error);
	char *command = copy_command(file, error);
	int result = -1;

	if (program != NULL && host != NULL && command != NULL) {
		struct process process = {
			.pid = header->pid,
			.parent_pid = header->parent_pid,
			.program = *program != '\0' ? program : NULL,
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
	free(host);
	free(command);
	return result;
}

/* How a resource was counted, according to the collector. */
static int
add_source(const struct cpprofdata_file *file, struct profile *profile,
           uint32_t r, struct error *error)
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
add_resources(const struct cpprofdata_file *file, struct profile *profile,
              struct error *error)
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
		    add_source(file, profile, i, error) != 0)
			return -1;
	}
	return 0;
}

/*
 * Adds hits that are in no tree.  Older collectors do not record the resource.
 */
static int
add_losses(const struct cpprofdata_file *file, struct profile *profile,
           struct error *error)
{
	static const enum loss losses[CPPROFDATA_N_LOST] = {
		[CPPROFDATA_LOST_FULL] = LOSS_NO_ROOM,
		[CPPROFDATA_LOST_AT_EXIT] = LOSS_THREAD_ENDED,
	};
	const struct cpprofdata_header *header = &file->header;

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

/* Hits still pending when the process ended are lost. */
static int
add_pending(const struct cpprofdata_file *file, struct profile *profile,
            struct error *error)
{
	for (uint32_t r = 0; r < file->n_named; r++) {
		int64_t hits = file->header.pending[r];

		if (hits > 0 && profile_add_loss(profile, r,
		        LOSS_THREAD_ENDED, (uint64_t)hits, error) != 0)
			return -1;
	}
	return 0;
}

/*
 * Adds a tally for each reason, of hits or of samples, whichever is more
 * informative.
 */
static int
add_drops(const struct cpprofdata_file *file, struct profile *profile,
          struct error *error)
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
	};
	const struct cpprofdata_header *header = &file->header;
	/* The file that this one continues has counted the first thread. */
	uint64_t n_threads = header->n_threads - (header->n_threads > 0 &&
	    (header->flags & CPPROFDATA_CONTINUES) != 0);

	if (add_losses(file, profile, error) != 0)
		return -1;
	for (size_t i = CPPROFDATA_N_LOST; i < CPPROFDATA_MAX_DROPS; i++) {
		uint64_t count = drops[i].is_hits ? header->drops[i].hits :
		    header->drops[i].samples;
		/* A newer collector may have reasons unknown here. */
		const char *what = drops[i].what != NULL ? drops[i].what :
		    "samples marked for a reason not known here";

		if (count > 0 && profile_add_tally(profile, what,
		                                   count, error) != 0)
			return -1;
	}
	if (n_threads > 0 && profile_add_tally(profile, "threads started",
	                                       n_threads, error) != 0)
		return -1;
	if ((header->flags & CPPROFDATA_CONFINED) != 0 &&
	    profile_add_tally(profile, "processes not sampled to the "
	                      "end: they forbade themselves system calls", 1,
	                      error) != 0)
		return -1;
	if ((header->flags & CPPROFDATA_IO_URING) != 0 &&
	    profile_add_tally(profile, "processes whose I/O by io_uring is "
	                      "not counted", 1, error) != 0)
		return -1;
	if ((header->flags & CPPROFDATA_CLOCK_GIVEN_UP) != 0 &&
	    profile_add_tally(profile, "processes with CPU time by ticks in "
	                      "threads that switched often", 1, error) != 0)
		return -1;
	if ((header->flags & CPPROFDATA_TRUNCATED) != 0 &&
	    profile_add_tally(profile, "files truncated while recorded, "
	                      "written again when the process ended", 1,
	                      error) != 0)
		return -1;
	if (header->n_threads_unsampled > 0 &&
	    profile_add_tally(profile,
	                      "threads not sampled: no timer available",
	                      header->n_threads_unsampled, error) != 0)
		return -1;
	return 0;
}

int
cpprofdata_add_facts(const struct cpprofdata_file *file,
                     const struct cpprofdata_end *end,
                     struct profile *profile, struct error *error)
{
	if (((file->header.flags & CPPROFDATA_BRIEF) == 0 &&
	     add_process(file, end, profile, error) != 0) ||
	    add_resources(file, profile, error) != 0 ||
	    (!end->is_running && add_pending(file, profile, error) != 0))
		return -1;
	return add_drops(file, profile, error);
}
