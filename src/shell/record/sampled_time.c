/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampled_time.c -- the memory that a recording shares. */
#include "src/shell/record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/cpprof-shared.h"

#define MUCH_NS 100000000	/* of CPU time: 100 samples */
#define LEAST_PART 20		/* of the whole: 5% */
#define REPORT_NS 8000000	/* from one report of a process to the next */
#define EXIT_NS 400000		/* of a process after its last sample */

/* The text for a number of processes or programs. */
static const struct {
	const char *one, *several;
} reasons[CPPROF_SHARED_N_REASONS] = {
	[CPPROF_SHARED_TRACED] = {
		"process was run by a debugger, strace or valgrind",
		"processes were run by a debugger, strace or valgrind" },
	[CPPROF_SHARED_NO_FILE] = {
		"process could not write into the recording",
		"processes could not write into the recording" },
	[CPPROF_SHARED_NO_TIMER] = { "process could have no timer",
		"processes could have no timer" },
	[CPPROF_SHARED_CONFINED] = {
		"process forbade itself the system calls that sampling needs",
		"processes forbade themselves the system calls that sampling "
		"needs" },
	[CPPROF_SHARED_NO_PRELOAD] = {
		"program was started with another environment",
		"programs were started with another environment" },
	[CPPROF_SHARED_STATIC] = { "program links statically",
		"programs link statically" },
	[CPPROF_SHARED_PRIVILEGED] = { "program has rights of its own",
		"programs have rights of their own" },
	[CPPROF_SHARED_OTHER_USER] = {
		"program was started by a process that had become another "
		"user",
		"programs were started by processes that had become another "
		"user" },
	[CPPROF_SHARED_HIDDEN] = {
		"program was started where the recording or the collector "
		"cannot be seen (another root directory or mount namespace)",
		"programs were started where the recording or the collector "
		"cannot be seen (another root directory or mount "
		"namespace)" },
};

/*
 * Whether this process is traced, and so perhaps all that it starts.  A tracer
 * within the recording is noticed by the collector.
 */
static bool
is_traced(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	long tracer = 0;

	while (status != NULL && fgets(line, sizeof line, status) != NULL &&
	       sscanf(line, "TracerPid: %ld", &tracer) != 1)
		;
	if (status != NULL)
		fclose(status);
	return tracer != 0;
}

static void
sampled_time_remove_file(struct sampled_time *time)
{
	if (time->file < 0)
		return;
	unlink(time->file_name);
	close(time->file);
	time->file = -1;
}

void
sampled_time_start(struct sampled_time *time)
{
	void *memory = MAP_FAILED;

	memset(time, 0, sizeof *time);
	time->file = -1;
	time->fd = memfd_create("cpprof", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (time->fd < 0)
		return;
	if (ftruncate(time->fd, CPPROF_SHARED_SIZE) == 0 &&
	    fcntl(time->fd, F_ADD_SEALS,
	          F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		memory = mmap(NULL, CPPROF_SHARED_SIZE, PROT_READ | PROT_WRITE,
		              MAP_SHARED, time->fd, 0);
	if (memory == MAP_FAILED) {
		sampled_time_end(time);
		return;
	}
	time->shared = memory;
	time->shared->magic = CPPROF_SHARED_MAGIC;
	time->shared->n_tracers = is_traced();
	snprintf(time->name, sizeof time->name, "/proc/%ld/fd/%d",
	         (long)getpid(), time->fd);
}

/* The file is only read and written here, since anybody may truncate it. */
void
sampled_time_add_file(struct sampled_time *time, const char *directory)
{
	/* Any process may trace those that do not see its count. */
	const struct cpprof_shared first = {
		.magic = CPPROF_SHARED_MAGIC, .n_tracers = 1
	};

	if (time->shared == NULL ||
	    (size_t)snprintf(time->file_name, sizeof time->file_name, "%s/%s",
	                     directory, CPPROF_SHARED_FILE) >=
	    sizeof time->file_name)
		return;
	time->file = open(time->file_name, O_RDWR | O_CREAT | O_EXCL |
	                  O_CLOEXEC, 0600);
	if (time->file >= 0 && (posix_fallocate(time->file, 0,
	        CPPROF_SHARED_SIZE) != 0 || pwrite(time->file, &first,
	        sizeof first, 0) != sizeof first))
		sampled_time_remove_file(time);
}

/* The sums of both memories; NULL: there is none. */
static const struct cpprof_shared *
sampled_time_add_up(const struct sampled_time *time, struct cpprof_shared *sum)
{
	struct cpprof_shared other = { 0 };

	if (time->shared == NULL)
		return NULL;
	memcpy(sum, time->shared, sizeof *sum);
	if (time->file < 0 || pread(time->file, &other, sizeof other, 0) < 0)
		return sum;
	sum->n_images += other.n_images;
	sum->n_ended += other.n_ended;
	sum->cpu_ns += other.cpu_ns;
	for (size_t i = 0; i < CPPROF_SHARED_N_REASONS; i++)
		sum->n_reasons[i] += other.n_reasons[i];
	sum->n_rings += other.n_rings;
	sum->n_recorded += other.n_recorded;
	sum->n_unlisted += other.n_unlisted;
	if (sum->error == 0)
		sum->error = other.error;
	return sum;
}

void
sampled_time_end(struct sampled_time *time)
{
	sampled_time_remove_file(time);
	if (time->shared != NULL)
		munmap(time->shared, CPPROF_SHARED_SIZE);
	time->shared = NULL;
	if (time->fd >= 0)
		close(time->fd);
	time->fd = -1;
}

bool
sampled_time_is_much(const struct sampled_time *time)
{
	return time->cpu_ns >= MUCH_NS;
}

uint64_t
sampled_time_n_rings(const struct sampled_time *time)
{
	struct cpprof_shared sum;

	return sampled_time_add_up(time, &sum) != NULL ? sum.n_rings : 0;
}

bool
sampled_time_add_unlisted(const struct sampled_time *time,
                          struct text_buffer *text)
{
	struct cpprof_shared sum;

	if (sampled_time_add_up(time, &sum) == NULL || sum.n_unlisted == 0)
		return false;
	text_add_format(text, "%" PRIu64 " process%s began beside %d others "
	                "and %s not seen by these: they have too much latency",
	                sum.n_unlisted, sum.n_unlisted == 1 ? "" : "es",
	                CPPROF_SHARED_PROCESSES,
	                sum.n_unlisted == 1 ? "was" : "were");
	return true;
}

uint64_t
sampled_time_n_recorded(const struct sampled_time *time)
{
	struct cpprof_shared sum;

	return sampled_time_add_up(time, &sum) != NULL ? sum.n_recorded : 0;
}

/* "2 programs link statically, 1 process could have no timer" */
static bool
add_reasons(const struct cpprof_shared *shared, struct text_buffer *text)
{
	bool has_one = false;

	for (unsigned i = 0; i < CPPROF_SHARED_N_REASONS; i++) {
		uint64_t n = shared->n_reasons[i];

		/* Below 0 if it was taken back more often than reported. */
		if (n == 0 || n > INT64_MAX)
			continue;
		text_add_format(text, "%s%" PRIu64 " %s", has_one ? ", " : "",
		                n, n == 1 ? reasons[i].one :
		                reasons[i].several);
		if (i == CPPROF_SHARED_NO_FILE && shared->error > 0 &&
		    shared->error < 200)
			text_add_format(text, shared->error == EACCES ?
			                " (%s: -o needs a directory in which "
			                "its user may write)" : " (%s)",
			                strerror((int)shared->error));
		has_one = true;
	}
	return has_one;
}

void
sampled_time_add_none(const struct sampled_time *time,
                      struct text_buffer *text)
{
	struct cpprof_shared sum;
	const struct cpprof_shared *shared = sampled_time_add_up(time, &sum);

	if (shared != NULL && shared->n_recorded > 0) {
		text_add_string(text, "the files that held them were removed "
		                "or overwritten while the program ran");
		return;
	}
	if (shared != NULL && add_reasons(shared, text))
		return;
	if (shared == NULL || shared->n_images == 0)
		text_add_string(text, "the collector was not loaded, or could "
		                "not begin");
	else if (sampled_time_is_much(time))
		text_add_string(text, "the collector was loaded, but no tick "
		                "reached it");
	else
		text_add_string(text, "almost no CPU time was used");
}

/* What the kernel has counted and no process has reported. */
static uint64_t
sampled_time_missing(const struct sampled_time *time,
                     struct cpprof_shared *shared)
{
	shared->cpu_ns += time->outside_ns;
	return time->cpu_ns > shared->cpu_ns ? time->cpu_ns - shared->cpu_ns : 0;
}

uint64_t
sampled_time_at_ends(const struct sampled_time *time)
{
	struct cpprof_shared shared;
	uint64_t missing, late = 0;

	if (sampled_time_add_up(time, &shared) == NULL)
		return 0;
	for (unsigned i = 0; i < CPPROF_SHARED_N_REASONS; i++)
		if (shared.n_reasons[i] != 0)
			return 0;
	missing = sampled_time_missing(time, &shared);
	/* Those that were killed have samples after their last report. */
	if (shared.n_images > shared.n_ended)
		late = shared.n_images - shared.n_ended;
	return missing / REPORT_NS > late ? missing - late * REPORT_NS : 0;
}

bool
sampled_time_add_missing(const struct sampled_time *time,
                         struct text_buffer *text)
{
	struct cpprof_shared shared;
	uint64_t missing, at_ends;

	if (sampled_time_add_up(time, &shared) == NULL)
		return false;
	missing = sampled_time_missing(time, &shared);
	at_ends = shared.n_images < time->cpu_ns / EXIT_NS ?
	    shared.n_images * EXIT_NS : time->cpu_ns;
	if (missing < MUCH_NS + at_ends ||
	    missing - at_ends < time->cpu_ns / LEAST_PART) {
		/*
		 * What starts a container may leave it to others to wait for
		 * it.  Then its CPU time is not in the kernel's sum.
		 */
		if (shared.n_reasons[CPPROF_SHARED_HIDDEN] == 0)
			return false;
		text_add_string(text, "not everything was sampled: ");
		return add_reasons(&shared, text);
	}
	text_add_format(text, "%.2f of %.2f CPU s were not sampled: ",
	                (double)missing / 1e9, (double)time->cpu_ns / 1e9);
	if (!add_reasons(&shared, text))
		text_add_string(text, "of processes that were killed, or "
		                "never loaded the collector, or of the "
		                "kernel at their ends");
	return true;
}
