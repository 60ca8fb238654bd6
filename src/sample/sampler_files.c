/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampler_files.c -- the file of a process, from its beginning to its end: its CPU
 * time, and what was used that no sample stands for.
 *
 * A process gets its file with its first sample; when it executes another program
 * it begins a new one.
 *
 * What has no sample is known in two ways.  While a process runs, its CPU clock,
 * or the time between the records of its switches, shows what is missing beyond
 * an interval for each thread and processor.  When all that count by the events
 * of one origin have ended, these say to the last unit what they have counted.
 */
#include "src/sample/sampler.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/base/task.h"
#include "src/profile/sections.h"

enum {
	SAMPLER_ARGUMENTS_MAX = 65536,
	SAMPLER_ROOM = 8,	/* intervals by which samples of a processor may
				 * be ahead of its time or behind, as each thread
				 * has its own */
};

#define SAMPLER_MUCH_NS UINT64_C(50000000)	/* CPU time of a process that
						 * should have a sample */

/* ---- the beginning ---- */

/* What a link of /proc/PID leads to, in place[size]; "" if it is not known. */
static void
sampler_read_link(uint32_t pid, const char *link, char *place, size_t size)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%ld/%s",
	         (long)task_of_process((pid_t)pid), link);
	length = readlink(path, place, size - 1);
	place[length > 0 ? length : 0] = '\0';
}

/*
 * The path of the link by which a process's program was executed, in
 * link[PATH_MAX]; "" if there is none, or it is not known.
 */
static void
sampler_read_started_as(uint32_t pid, const char *executable,
                        const char *directory, char *link)
{
	enum { PAGE = 4096 };
	const pid_t task = task_of_process((pid_t)pid);
	char exe[64], name[PATH_MAX / 2], path[2 * PATH_MAX];
	struct iovec local = { name, sizeof name - 1 }, remote[2];
	uint64_t auxv[64] = { 0 }, at = 0;
	struct stat named, run;
	ssize_t length;
	int n;

	link[0] = '\0';
	sampler_read_file((uint32_t)task, "auxv", (char *)auxv, sizeof auxv);
	for (size_t i = 0; i + 1 < sizeof auxv / sizeof *auxv; i += 2)
		if (auxv[i] == AT_EXECFN)
			at = auxv[i + 1];
	/* The stack may end with its page, or with the next one. */
	remote[0] = (struct iovec){ (void *)(uintptr_t)at, PAGE - at % PAGE };
	remote[1] = (struct iovec){ (void *)(uintptr_t)(at - at % PAGE + PAGE),
		PAGE };
	length = at == 0 ? 0 :
	    process_vm_readv(task, &local, 1, remote, 2, 0);
	name[length > 0 ? length : 0] = '\0';
	if (name[0] == '\0' || strcmp(last_component(name),
	                              last_component(executable)) == 0)
		return;
	snprintf(exe, sizeof exe, "/proc/%ld/exe", (long)task);
	n = snprintf(path, sizeof path, "/proc/%ld/root", (long)task);
	snprintf(path + n, sizeof path - (size_t)n, "%s%s%s", name[0] == '/' ?
	         "" : directory, name[0] == '/' ? "" : "/", name);
	/* Of a script, it is another file. */
	if (stat(path, &named) == 0 && stat(exe, &run) == 0 &&
	    named.st_ino == run.st_ino && named.st_dev == run.st_dev)
		snprintf(link, PATH_MAX, "%s", path + n);
}

/* The path of the module that a process's program was mapped from, if known. */
static const char *
sampler_program_path(const struct sampler *sampler, uint32_t pid)
{
	struct error ignored = { 0 };
	const struct perf_space *space = perf_machine_space(sampler->machine,
	                                                    pid, &ignored);

	for (size_t i = 0; space != NULL && i < space->n; i++)
		if (space->maps[i].module != NO_MODULE)
			return sampler->profile->modules[space->maps[i].module]
			    .path;
	return "";
}

/* Reads from /proc what a process's program is, and enters it. */
static int
sampler_read_program(struct sampler *sampler, struct sampler_process *process,
                     struct error *error)
{
	struct names *names = sampler->profile->names;
	char executable[PATH_MAX], directory[PATH_MAX], link[PATH_MAX];

	sampler_read_link(process->pid, "exe", executable, sizeof executable);
	if (executable[0] == '\0')	/* it has ended */
		snprintf(executable, sizeof executable, "%s",
		         sampler_program_path(sampler, process->pid));
	if (executable[0] == '\0' && process->threads != NULL)
		snprintf(executable, sizeof executable, "%s",
		         process->threads->name);
	sampler_read_link(process->pid, "cwd", directory, sizeof directory);
	sampler_read_started_as(process->pid, executable, directory, link);
	process->program_link = names_add(names, link, strlen(link), error);
	process->program = names_add(names, executable, strlen(executable),
	                             error);
	return error->is_set ? -1 : 0;
}

int
sampler_inherit_program(struct sampler *sampler,
                        struct sampler_process *process,
                        struct sampler_process *parent, struct error *error)
{
	if (parent->program == NO_NAME &&
	    sampler_read_program(sampler, parent, error) != 0)
		return -1;
	process->program = parent->program;
	process->program_link = parent->program_link;
	return 0;
}

/*
 * When a process began, UTC: what it has written since is its own, though
 * sampling began later.  0: unknown.
 */
static uint64_t
sampler_born_ns(uint32_t pid)
{
	const uint64_t second_ns = 1000000000;
	const long rate = sysconf(_SC_CLK_TCK);
	struct task task;
	uint64_t age_ns;

	if (rate <= 0 || !task_read(task_of_process((pid_t)pid), &task))
		return 0;
	age_ns = clock_ns(CLOCK_BOOTTIME) -
	    task.start * (second_ns / (uint64_t)rate);
	return clock_ns(CLOCK_REALTIME) - age_ns;
}

static int
sampler_begin_file(struct sampler *sampler, struct sampler_process *process,
                   struct error *error)
{
	const struct names *names = sampler->profile->names;
	char executable[PATH_MAX], directory[PATH_MAX];
	char *arguments = memory_array(SAMPLER_ARGUMENTS_MAX, 1, error);
	struct sample_facts facts = {
		.pid = process->pid,
		.parent_pid = process->parent_pid,
		.start_mono_ns = process->start_mono_ns,
		.directory = directory,
		.arguments = arguments,
		.continues = process->continues,
	};
	struct stat status;
	char path[64];

	if (arguments == NULL)
		return -1;
	if (process->executed_ns == 0)
		facts.born_ns = sampler_born_ns(process->pid);
	facts.has_kernel = sample_events_see_kernel(sampler->events);
	snprintf(path, sizeof path, "/proc/%u", process->pid);
	facts.user = stat(path, &status) == 0 ? status.st_uid : (uid_t)-1;
	if (process->program == NO_NAME &&
	    sampler_read_program(sampler, process, error) != 0) {
		free(arguments);
		return -1;
	}
	facts.executable = names_text(names, process->program);
	facts.started_as = names_text(names, process->program_link);
	sampler_read_link(process->pid, "cwd", directory, sizeof directory);
	/* It may have executed another program since. */
	sampler_read_link(process->pid, "exe", executable, sizeof executable);
	if (strcmp(executable, facts.executable) == 0)
		facts.arguments_size = sampler_read_file((uint32_t)
		    task_of_process((pid_t)process->pid), "cmdline",
		    arguments, SAMPLER_ARGUMENTS_MAX);
	process->file = sample_file_new(sampler->options->recording, &facts,
	                                error);
	free(arguments);
	if (process->file == NULL)
		return -1;
	sampler->result.n_processes += !process->continues;
	return 0;
}

bool
sampler_need_record(struct sampler *sampler, struct sampler_thread *thread,
                    struct error *error)
{
	struct sampler_process *process = thread->process;
	struct error full = { 0 };

	if (process->file == NULL &&
	    sampler_begin_file(sampler, process, error) != 0)
		return false;
	if (thread->record == NULL)
		thread->record = sample_file_thread(process->file, thread->tid,
		                                    thread->name, &full);
	return thread->record != NULL;
}

/* ---- what has no sample ---- */

struct sampler_ring *
sampler_need_ring(struct sampler *sampler, size_t number, struct error *error)
{
	if (memory_grow(&sampler->rings, &sampler->rings_capacity, number + 1,
	                sizeof *sampler->rings, error) != 0)
		return NULL;
	while (sampler->n_rings <= number)
		sampler->rings[sampler->n_rings++] = (struct sampler_ring){ 0 };
	return &sampler->rings[number];
}

void
sampler_note_lost(struct sampler *sampler, struct sampler_ring *ring, uint64_t n)
{
	const uint64_t more = n > ring->n_lost ? n - ring->n_lost : 0;
	/* Of the whole machine, other records have a ring of their own. */
	const double share = sampler->options->events.is_system ? 1 :
	    (double)(sampler->n_sample_records + 1) /
	    (double)(sampler->n_records + 1);

	/* What is lost of waits shows in the switches that follow. */
	if (sampler->wait_resource == UINT_MAX)
		ring->lost += (double)more * share;
	ring->n_lost += more;
	sampler->result.n_lost += more;
}

/*
 * How many of n lost samples the time of a processor up to then has room for;
 * is_sample: one that was not lost stands for an interval of it.
 */
static uint64_t
sampler_fit_lost(struct sampler_ring *ring, uint64_t n, uint64_t time,
                 bool is_sample, uint64_t interval_ns)
{
	const int64_t interval = (int64_t)interval_ns;
	const int64_t most = SAMPLER_ROOM * interval;
	uint64_t room;

	if (ring->room_ns > most)
		ring->room_ns = most;
	if (ring->sample_ns != 0 && time > ring->sample_ns)
		ring->room_ns += (int64_t)(time - ring->sample_ns);
	if (ring->sample_ns != 0 && is_sample)
		ring->room_ns -= interval;
	if (ring->room_ns < -most)
		ring->room_ns = -most;
	if (time > ring->sample_ns)
		ring->sample_ns = time;
	room = ring->room_ns > 0 ? (uint64_t)(ring->room_ns / interval) : 0;
	if (n > room)
		n = room;
	ring->room_ns -= (int64_t)n * interval;
	return n;
}

void
sampler_drop_lost(struct sampler *sampler, struct sampler_ring *ring,
                  struct sampler_process *process, unsigned kind, uint64_t time,
                  bool is_sample)
{
	const struct sample_events_options *options =
	    &sampler->options->events;
	const struct sample_kind *of = options->kinds[kind].kind;
	uint64_t n = (uint64_t)ring->lost;

	ring->lost -= (double)n;
	if (of->type == sample_kinds[0].type &&
	    of->config == sample_kinds[0].config)
		n = sampler_fit_lost(ring, n, time, is_sample,
		                     sampler_interval(sampler, kind));
	if (n == 0)
		return;
	sample_file_drop(process->file, CPPROFDATA_LOST_FULL,
	                 options->kinds[kind].resource, n, n);
	sample_events_charge(sampler->events, sampler_origin(sampler, process),
	                     kind, n);
}

void
sampler_drop_all_lost(struct sampler *sampler, struct sampler_process *process)
{
	for (size_t i = 0; i < sampler->n_rings; i++)
		if (sampler->rings[i].lost >= 1)
			sampler_drop_lost(sampler, &sampler->rings[i], process,
			                  0, sampler->now_ns, false);
}

void
sampler_note_all_lost(struct sampler *sampler)
{
	struct error ignored = { 0 };

	for (size_t i = 0;
	     i < sample_events_n_processors(sampler->events); i++) {
		struct sampler_ring *ring = sampler_need_ring(sampler, i,
		                                              &ignored);

		if (ring != NULL)
			sampler_note_lost(sampler, ring,
			    sample_events_n_lost(sampler->events, i));
	}
}

/*
 * Puts down lost samples of a kind in the file of a process, as far as they are
 * whole, but at most so many.  Returns their hits.
 */
static uint64_t
sampler_put_lost(struct sampler *sampler, struct sampler_process *process,
                 unsigned kind, uint64_t most)
{
	struct error ignored = { 0 };
	uint64_t n = 0;

	for (size_t i = 0; i < sampler->n_rings && n < most; i++) {
		struct sampler_ring *ring = &sampler->rings[i];
		uint64_t some = (uint64_t)ring->lost;

		if (some > most - n)
			some = most - n;
		if (some > 0 && process->file == NULL &&
		    sampler_begin_file(sampler, process, &ignored) != 0)
			return 0;
		ring->lost -= (double)some;
		n += some;
	}
	if (n == 0)
		return 0;
	sample_file_drop(process->file, CPPROFDATA_LOST_FULL,
	                 sampler->options->events.kinds[kind].resource, n, n);
	return n;
}

/* Charges hits of a kind that belong to no stack or thread that is known. */
static bool
sampler_charge_partial(struct sampler *sampler,
                       struct sampler_process *process, unsigned kind,
                       uint64_t hits)
{
	const struct sample_events_options *options =
	    &sampler->options->events;
	const struct sample_place partial = { CPPROFDATA_PARTIAL, 0 };
	const unsigned resource = options->kinds[kind].resource;
	struct sampler_unseen *unseen = &sampler->result.unseen[resource];
	struct error ignored = { 0 };

	if (process->no_thread == NULL)
		process->no_thread = sample_file_thread(process->file, 0,
		    NOT_A_THREAD, &ignored);
	if (process->no_thread == NULL)
		return false;
	sample_file_count(process->file, process->no_thread, &partial, 1,
	                  resource, hits, sampler->now_ns);
	sample_file_drop(process->file, CPPROFDATA_PARTIAL_UNSEEN, resource, 1,
	                 hits);
	unseen->kind = options->kinds[kind].kind;
	unseen->interval = options->kinds[kind].interval;
	unseen->hits += hits;
	return true;
}

/*
 * Charges time that went by without samples, of used_ns in which the threads of
 * a process ran: what is known to be lost as such, and the rest, in the kernel,
 * where that may not be seen, or in threads that ended before their next sample,
 * as partial.  n_seen: hits of the kind that have samples, or were charged
 * before.  Returns the hits.
 */
static uint64_t
sampler_charge_unseen(struct sampler *sampler, struct sampler_process *process,
                      unsigned kind, uint64_t used_ns, uint64_t n_seen)
{
	const struct sample_events_options *options =
	    &sampler->options->events;
	const uint64_t interval_ns = options->kinds[kind].interval * 1000;
	uint64_t seen_ns, hits, n_lost;

	/* Of the whole machine, samples are by processor: a process may have
	 * none by chance. */
	if (options->is_system)
		return 0;
	/* What each thread has used on each processor since its last sample
	 * there is not missing. */
	seen_ns = (n_seen + process->n_live *
	           sample_events_n_processors(sampler->events)) * interval_ns;
	if (used_ns < seen_ns + interval_ns)
		return 0;
	hits = (used_ns - seen_ns) / interval_ns;
	n_lost = sampler_put_lost(sampler, process, kind, hits);
	if (hits > n_lost && !sampler_charge_partial(sampler, process, kind,
	                                             hits - n_lost))
		hits = n_lost;
	sample_events_charge(sampler->events, sampler_origin(sampler, process),
	                     kind, hits);
	return hits;
}

/* The CPU time that the hits in a process's file stand for. */
static uint64_t
sampler_cpu_of_hits(const struct sampler *sampler,
                    const struct sampler_process *process)
{
	const struct sample_events_options *options =
	    &sampler->options->events;

	return sampler->cpu_kind == UINT_MAX ? 0 :
	    sample_file_hits(process->file,
	                     options->kinds[sampler->cpu_kind].resource) *
	    options->kinds[sampler->cpu_kind].interval * 1000;
}

/* The CPU time of a process: what its hits stand for, if that is more. */
static void
sampler_estimate_cpu(const struct sampler *sampler,
                     struct sampler_process *process)
{
	const uint64_t seen_ns = sampler_cpu_of_hits(sampler, process);

	if (seen_ns > process->cpu_ns - process->cpu_begin_ns)
		process->cpu_ns = process->cpu_begin_ns + seen_ns;
}

/* Writes CPU times into the file: the process's, and what it has cost. */
static void
sampler_write_cpu(const struct sampler *sampler,
                  const struct sampler_process *process)
{
	const uint64_t own = clock_ns(CLOCK_PROCESS_CPUTIME_ID) -
	    sampler->own_begin_ns;
	const uint64_t share = sampler->result.n_samples == 0 ? 0 :
	    (uint64_t)((double)own * (double)process->n_samples /
	               (double)sampler->result.n_samples);
	sample_file_note_cpu(process->file, process->cpu_ns -
	                     process->cpu_begin_ns, share);
	sample_file_note_threads(process->file, process->n_started);
}

/*
 * The most CPU time that a process can have used since the records that were
 * applied: this process may have waited for a processor meanwhile.
 */
static uint64_t
sampler_ahead_ns(const struct sampler *sampler,
                 const struct sampler_process *process)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t n = sample_events_n_processors(sampler->events);

	if (process->is_over || process->gone_ns != 0 ||
	    now_ns <= sampler->seen_ns)
		return 0;
	if (process->n_live > 0 && process->n_live < n)
		n = process->n_live;
	return (now_ns - sampler->seen_ns) * n;
}

void
sampler_note_cpu(struct sampler *sampler, struct sampler_process *process)
{
	const unsigned cpu = sampler->cpu_kind;
	struct error ignored = { 0 };
	uint64_t cpu_ns;
	bool has_cpu = process->has_cpu &&
	    sampler_cpu_time(process->pid, &cpu_ns);

	/* What was estimated when it executed a program may be too much, and
	 * its number may be another process's by now. */
	if (has_cpu && cpu_ns > process->cpu_ns)
		process->cpu_ns = cpu_ns;
	if (process->file == NULL && has_cpu && process->cpu_ns -
	        process->cpu_begin_ns > SAMPLER_MUCH_NS)
		sampler_begin_file(sampler, process, &ignored);
	if (process->file == NULL)
		return;
	if (has_cpu && cpu != UINT_MAX) {
		const unsigned resource =
		    sampler->options->events.kinds[cpu].resource;
		const uint64_t used_ns = process->cpu_ns -
		    process->cpu_begin_ns;
		const uint64_t ahead_ns = sampler_ahead_ns(sampler, process);

		if (used_ns > ahead_ns)
			sampler_charge_unseen(sampler, process, cpu,
			    used_ns - ahead_ns,
			    sample_file_hits(process->file, resource) +
			    sample_file_n_lost(process->file, resource));
	}
	/* By the records of switches, between which waits are measured, too. */
	if (sampler->wait_resource != UINT_MAX)
		process->n_run += sampler_charge_unseen(sampler, process,
		    sampler->run_kind, process->run_ns, process->n_run);
	/* One that has ended cannot be asked any more. */
	if (!has_cpu)
		sampler_estimate_cpu(sampler, process);
	sampler_write_cpu(sampler, process);
}

/* Charges what is left of accounts, as far as it makes hits; returns them. */
static uint64_t
sampler_charge_left(struct sampler *sampler, struct sampler_process *process,
                    unsigned kind)
{
	const int64_t interval = (int64_t)sampler_interval(sampler, kind);
	const int64_t hits = sampler->unseen[kind] / interval;
	struct error ignored = { 0 };

	if (hits <= 0 || (process->file == NULL &&
	    sampler_begin_file(sampler, process, &ignored) != 0) ||
	    !sampler_charge_partial(sampler, process, kind, (uint64_t)hits))
		return 0;
	sampler->unseen[kind] -= hits * interval;
	return (uint64_t)hits;
}

/*
 * Puts down what is known to be lost, as far as accounts lack it: the rest of
 * the lost records were no samples.
 */
static void
sampler_charge_lost(struct sampler *sampler, struct sampler_process *process,
                    unsigned kind)
{
	const int64_t interval = (int64_t)sampler_interval(sampler, kind);
	const int64_t hits = sampler->unseen[kind] / interval;

	if (hits > 0)
		sampler->unseen[kind] -= interval * (int64_t)sampler_put_lost(
		    sampler, process, kind, (uint64_t)hits);
}

void
sampler_charge_account(struct sampler *sampler,
                       struct sampler_process *process)
{
	const struct sample_events_options *options =
	    &sampler->options->events;
	int64_t unseen[SAMPLE_KINDS_MAX];

	/* No record may follow that would tell. */
	if (process->gone_ns != 0 || sampler->n_live == 1 ||
	    sample_events_were_full(sampler->events))
		sampler_note_all_lost(sampler);
	sampler_note_cpu(sampler, process);
	if (!sample_events_take_unseen(sampler->events,
	        sampler_origin(sampler, process), unseen)) {
		if (process->file != NULL)
			sampler_drop_all_lost(sampler, process);
		return;
	}
	for (unsigned i = 0; i < options->n_kinds; i++) {
		/* If switches are lost, time in which threads ran counts as
		 * waits.  So it is by the records of switches, too. */
		if (options->kinds[i].resource == sampler->wait_resource)
			continue;
		sampler->unseen[i] += unseen[i];
		sampler_charge_lost(sampler, process, i);
		if (sampler_charge_left(sampler, process, i) > 0)
			sampler_estimate_cpu(sampler, process);
	}
}

/* Charges what a process that ends has run for after its last samples. */
static void
sampler_charge_run(struct sampler *sampler, struct sampler_process *process)
{
	const struct sample_events_options *options =
	    &sampler->options->events;
	uint64_t seen_ns;

	if (sampler->wait_resource == UINT_MAX || options->is_system)
		return;
	seen_ns = process->n_run *
	    options->kinds[sampler->run_kind].interval * 1000;
	if (process->run_ns > seen_ns)
		sampler->unseen[sampler->run_kind] +=
		    (int64_t)(process->run_ns - seen_ns);
	process->n_run += sampler_charge_left(sampler, process,
	                                      sampler->run_kind);
}

/*
 * What is in its file of a process: by its clock or, where samples stand for more,
 * by these.  What runs on is in no sum of the kernel yet, unless it was added.
 */
static void
sampler_note_counted(struct sampler *sampler,
                     const struct sampler_process *process)
{
	const uint64_t used_ns = process->cpu_ns - process->cpu_begin_ns;
	const uint64_t hits_ns = sampler_cpu_of_hits(sampler, process);

	if (!sampler->is_ending || sampler_kernel_has(sampler, process->pid))
		sampler->result.counted_ns += used_ns > hits_ns ? used_ns :
		    hits_ns;
}

/* ---- the end ---- */

void
sampler_end_file(struct sampler *sampler, struct sampler_process *process,
                 uint64_t mono_ns)
{
	sample_python_remove(sampler->python, process->python);
	process->python = NULL;
	process->space_version = PERF_NO_VERSION;
	sampler_note_cpu(sampler, process);
	sampler_charge_run(sampler, process);
	process->run_ns = process->n_run = 0;
	if (process->file == NULL)
		return;
	/*
	 * Of the whole machine, it belongs to whoever runs next.  Elsewhere,
	 * accounts say how much of it was samples.
	 */
	if (sampler->options->events.is_system && sampler->is_ending)
		sampler_drop_all_lost(sampler, process);
	sampler_write_cpu(sampler, process);
	sampler->result.cpu_ns += process->cpu_ns - process->cpu_begin_ns;
	sampler_note_counted(sampler, process);
	sample_file_finish(process->file, mono_ns);
	sample_file_free(process->file);
	process->file = NULL;
	process->no_thread = NULL;
	process->n_samples = 0;
	/* Paths are by the file's numbers of modules. */
	for (struct sampler_thread *thread = process->threads; thread != NULL;
	     thread = thread->next) {
		thread->record = NULL;
		thread->wait.path.n = thread->look.begin_ns = 0;
	}
}
