/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampler.c -- processes and threads, from the beginning to the end.
 *
 * The kernel's records say which threads start, end, execute programs and map
 * files.  They are applied in the order of time, and each sample is walked in
 * the machine as it is then (src/formats/perf/perf_machine.c).  A process gets
 * its file with its first sample; when it executes another program it begins a
 * new one.
 */
#include "src/sample/sample.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/base/progress.h"

enum {
	SAMPLER_NAME = 16,		/* of a thread, as the kernel has it */
	SAMPLER_WAIT_MS = 100,		/* between two looks at the buffers */
	SAMPLER_WAIT_CHANGING_MS = 20,	/* while processes start, of which /proc
					 * must tell before they are gone */
	SAMPLER_WAIT_EAGER_MS = 4,	/* while stacks change before they are
					 * read */
	SAMPLER_LATE_MAX = 5,		/* stacks, before copies grow */
	SAMPLER_ARGUMENTS_MAX = 65536,
	SAMPLER_SCANS_MAX = 100,	/* of a process that starts threads all
					 * the time */
};

#define SAMPLER_HURRY_NS UINT64_C(1000000000)	/* how long waits stay short */
#define SAMPLER_MUCH_NS UINT64_C(50000000)	/* CPU time of a process that
						 * should have a sample */
#define SAMPLER_CHECK_NS UINT64_C(250000000)	/* between two looks at CPU
						 * times and for processes that
						 * are gone */

struct sampler_process;

struct sampler_thread {
	uint32_t tid;
	char name[SAMPLER_NAME + 1];
	struct sampler_process *process;
	struct sampler_thread *next;	/* of the process */
	struct sample_thread *record;	/* NULL: no sample yet */
	unsigned n_grown;		/* how often copies had grown when it
					 * got its events */
};

struct sampler_process {
	uint32_t pid, parent_pid;
	uint32_t origin;		/* of its events: the number of the
					 * process that was added, or NO_ID */
	bool is_elsewhere;		/* its paths lead to other files */
	struct sampler_thread *threads;
	uint64_t n_live, n_started;
	uint64_t start_mono_ns;		/* of its program, or of sampling */
	bool continues;			/* ran another program before */
	struct sample_file *file;	/* NULL: no sample yet */
	uint64_t n_samples;		/* of this file */
	/* CPU time of the process when its file began, at the last look, and
	 * how much of it was charged to no stack. */
	uint64_t cpu_begin_ns, cpu_ns, unseen_ns;
	bool has_cpu;
	struct sample_python_process *python;	/* NULL: no interpreter */
	uint32_t space_version;		/* in which one was looked for */
};

struct sampler {
	const struct sampler_options *options;
	uint64_t random;		/* state of a generator */
	struct sample_events *events;
	struct profile *profile;	/* has the machine's modules */
	struct sample_held *held;
	struct module_cache *modules;
	struct perf_machine *machine;
	struct sample_walker *walker;
	struct sample_python *python;
	struct sample_interpreters *interpreters;
	enum {
		SAMPLER_NO_PYTHON,
		SAMPLER_WANTS_PYTHON,	/* a process with an interpreter was
					 * found */
		SAMPLER_WATCHES,	/* and the events are made for it */
		SAMPLER_READS_PYTHON,	/* or that has failed */
	} python_state;
	struct id_table pids, tids;	/* their numbers index: */
	struct sampler_process **processes;	/* NULL: ended */
	uint32_t *n_inheritors;	/* live processes that have the events of the
				 * process that was added, including itself */
	struct sampler_thread **threads;
	size_t processes_capacity, inheritors_capacity, threads_capacity;
	size_t n_live;			/* processes */
	struct sample_place *path;
	size_t path_capacity;
	uint64_t now_ns;		/* of the last record */
	uint64_t eager_until_ns, changing_until_ns, next_check_ns;
	uint64_t lost;			/* records, not in any file yet */
	uint64_t own_begin_ns;
	uint32_t first;		/* process that was added first */
	int first_fd;		/* its pidfd; -1: none */
	unsigned n_late;	/* stacks that changed before they were read,
				 * since copies grew */
	unsigned n_grown;	/* how often they have */
	uint32_t n_checks;
	struct sampler_result result;
};

static uint64_t
sampler_clock(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- what is there ---- */

static struct sampler_process *
sampler_find_process(const struct sampler *sampler, uint32_t pid)
{
	uint32_t number = id_table_find(&sampler->pids, pid);

	return number == NO_ID ? NULL : sampler->processes[number];
}

static struct sampler_thread *
sampler_find_thread(const struct sampler *sampler, uint32_t tid)
{
	uint32_t number = id_table_find(&sampler->tids, tid);

	return number == NO_ID ? NULL : sampler->threads[number];
}

/* CPU time of a process so far; false: it is gone. */
static bool
sampler_cpu_time(uint32_t pid, uint64_t *ns)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid((pid_t)pid, &clock) != 0 ||
	    clock_gettime(clock, &time) != 0)
		return false;
	*ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	return true;
}

/* The process of a pid, added if it is not there; NULL with *error set. */
static struct sampler_process *
sampler_need_process(struct sampler *sampler, uint32_t pid,
                     uint32_t parent_pid, struct error *error)
{
	const uint32_t n = sampler->pids.n;
	uint32_t number = id_table_add(&sampler->pids, pid, error);
	struct sampler_process *process;

	if (number == NO_ID ||
	    memory_grow(&sampler->processes, &sampler->processes_capacity,
	                (size_t)number + 1, sizeof(struct sampler_process *),
	                error) != 0 ||
	    memory_grow(&sampler->n_inheritors, &sampler->inheritors_capacity,
	                (size_t)number + 1, sizeof(uint32_t), error) != 0)
		return NULL;
	if (number >= n) {
		sampler->processes[number] = NULL;
		sampler->n_inheritors[number] = 0;
	}
	if (sampler->processes[number] != NULL)
		return sampler->processes[number];
	process = memory_array(1, sizeof *process, error);
	if (process == NULL)
		return NULL;
	process->pid = pid;
	process->origin = NO_ID;
	process->parent_pid = parent_pid;
	process->start_mono_ns = sampler->now_ns;
	sampler->processes[number] = process;
	sampler->n_live++;
	return process;
}

/* Likewise a thread. */
static struct sampler_thread *
sampler_need_thread(struct sampler *sampler, uint32_t pid, uint32_t parent_pid,
                    uint32_t tid, struct error *error)
{
	const uint32_t n = sampler->tids.n;
	struct sampler_process *process = sampler_need_process(sampler, pid,
	                                                       parent_pid,
	                                                       error);
	uint32_t number = id_table_add(&sampler->tids, tid, error);
	struct sampler_thread *thread;

	if (process == NULL || number == NO_ID ||
	    memory_grow(&sampler->threads, &sampler->threads_capacity,
	                (size_t)number + 1, sizeof(struct sampler_thread *),
	                error) != 0)
		return NULL;
	if (number >= n)
		sampler->threads[number] = NULL;
	if (sampler->threads[number] != NULL)
		return sampler->threads[number];
	thread = memory_array(1, sizeof *thread, error);
	if (thread == NULL)
		return NULL;
	thread->tid = tid;
	thread->process = process;
	thread->next = process->threads;
	process->threads = thread;
	process->n_live++;
	process->n_started++;
	sampler->threads[number] = thread;
	return thread;
}

/* ---- files ---- */

/* What a link of /proc/PID leads to, in place[size]; "" if it is not known. */
static void
sampler_read_link(uint32_t pid, const char *link, char *place, size_t size)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof path, "/proc/%u/%s", pid, link);
	length = readlink(path, place, size - 1);
	place[length > 0 ? length : 0] = '\0';
}

static size_t
sampler_read_file(uint32_t pid, const char *name, char *place, size_t size)
{
	char path[64];
	ssize_t length = 0;
	size_t n = 0;
	int fd;

	snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && n < size &&
	       (length = read(fd, place + n, size - n)) > 0)
		n += (size_t)length;
	if (fd >= 0)
		close(fd);
	return n;
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

static int
sampler_begin_file(struct sampler *sampler, struct sampler_process *process,
                   struct error *error)
{
	char executable[PATH_MAX], directory[PATH_MAX];
	char *arguments = memory_array(SAMPLER_ARGUMENTS_MAX, 1, error);
	struct sample_facts facts = {
		.pid = process->pid,
		.parent_pid = process->parent_pid,
		.start_mono_ns = process->start_mono_ns,
		.executable = executable,
		.directory = directory,
		.arguments = arguments,
		.continues = process->continues,
	};
	struct stat status;
	char path[64];

	if (arguments == NULL)
		return -1;
	facts.has_kernel = sample_events_see_kernel(sampler->events);
	snprintf(path, sizeof path, "/proc/%u", process->pid);
	facts.user = stat(path, &status) == 0 ? status.st_uid : (uid_t)-1;
	sampler_read_link(process->pid, "exe", executable, sizeof executable);
	if (executable[0] == '\0')	/* it has ended */
		snprintf(executable, sizeof executable, "%s",
		         sampler_program_path(sampler, process->pid));
	if (executable[0] == '\0' && process->threads != NULL)
		snprintf(executable, sizeof executable, "%s",
		         process->threads->name);
	sampler_read_link(process->pid, "cwd", directory, sizeof directory);
	facts.arguments_size = sampler_read_file(process->pid, "cmdline",
	    arguments, SAMPLER_ARGUMENTS_MAX);
	process->file = sample_file_new(sampler->options->recording, &facts,
	                                error);
	free(arguments);
	if (process->file == NULL)
		return -1;
	sampler->result.n_processes += !process->continues;
	return 0;
}

/*
 * Charges CPU time that went by without samples: in the kernel, where that may
 * not be seen, and in threads that ended before their next sample.  It belongs
 * to no stack that is known.
 */
static void
sampler_charge_unseen(struct sampler *sampler, struct sampler_process *process)
{
	const struct sample_recording *recording = sampler->options->recording;
	const struct sample_place partial = { CPPROFDATA_PARTIAL, 0 };
	const uint64_t used = process->cpu_ns - process->cpu_begin_ns;
	struct error ignored = { 0 };
	uint64_t interval_ns, seen_ns, hits;
	struct sampler_thread *thread = process->threads;

	/* Of the whole machine, samples are by processor: a process may have
	 * none by chance. */
	if (thread == NULL || sampler->options->events.is_system ||
	    strcmp(recording->resources[0].name, "cpu") != 0)
		return;
	interval_ns = recording->resources[0].interval * 1000;
	/* What each thread has used on each processor since its last sample
	 * there is not missing. */
	seen_ns = (sample_file_hits(process->file, 0) + process->n_live *
	           sample_events_n_processors(sampler->events)) * interval_ns;
	if (used < seen_ns + interval_ns)
		return;
	hits = (used - seen_ns) / interval_ns;
	while (thread->next != NULL && thread->record == NULL)
		thread = thread->next;
	if (thread->record == NULL)
		thread->record = sample_file_thread(process->file, thread->tid,
		                                    thread->name, &ignored);
	if (thread->record == NULL)
		return;
	sample_file_count(process->file, thread->record, &partial, 1, 0, hits,
	                  sampler->now_ns);
	sample_file_drop(process->file, CPPROFDATA_PARTIAL_UNSEEN, 0, 1, hits);
	process->unseen_ns += hits * interval_ns;
	sampler->result.unseen_ns += hits * interval_ns;
}

/*
 * A process that has ended cannot be asked for its CPU time any more: what the
 * samples stand for, if it is more than was known.
 */
static void
sampler_estimate_cpu(const struct sampler *sampler,
                     struct sampler_process *process)
{
	const struct sample_recording *recording = sampler->options->recording;
	uint64_t seen_ns;

	if (strcmp(recording->resources[0].name, "cpu") != 0)
		return;
	seen_ns = sample_file_hits(process->file, 0) *
	    recording->resources[0].interval * 1000;
	if (seen_ns > process->cpu_ns - process->cpu_begin_ns)
		process->cpu_ns = process->cpu_begin_ns + seen_ns;
}

/*
 * Notes the CPU time of a process in its file.  Gives it a file if it has none
 * and has used so much that there should be samples.
 */
static void
sampler_note_cpu(struct sampler *sampler, struct sampler_process *process)
{
	struct error ignored = { 0 };
	uint64_t own, share;
	bool has_cpu = process->has_cpu &&
	    sampler_cpu_time(process->pid, &process->cpu_ns);

	if (process->file == NULL && has_cpu && process->cpu_ns -
	        process->cpu_begin_ns > SAMPLER_MUCH_NS)
		sampler_begin_file(sampler, process, &ignored);
	if (process->file == NULL)
		return;
	if (has_cpu)
		sampler_charge_unseen(sampler, process);
	else
		sampler_estimate_cpu(sampler, process);
	own = sampler_clock(CLOCK_PROCESS_CPUTIME_ID) - sampler->own_begin_ns;
	share = sampler->result.n_samples == 0 ? 0 :
	    (uint64_t)((double)own * (double)process->n_samples /
	               (double)sampler->result.n_samples);
	sample_file_note_cpu(process->file, process->cpu_ns -
	                     process->cpu_begin_ns, share);
	sample_file_note_threads(process->file, process->n_started);
}

static void
sampler_end_file(struct sampler *sampler, struct sampler_process *process,
                 uint64_t mono_ns)
{
	sample_python_remove(sampler->python, process->python);
	process->python = NULL;
	process->space_version = PERF_NO_VERSION;
	if (process->file == NULL)
		return;
	sampler_note_cpu(sampler, process);
	sampler->result.cpu_ns += process->cpu_ns - process->cpu_begin_ns;
	sample_file_finish(process->file, mono_ns);
	sample_file_free(process->file);
	process->file = NULL;
	process->n_samples = 0;
	for (struct sampler_thread *thread = process->threads; thread != NULL;
	     thread = thread->next)
		thread->record = NULL;
}

/* ---- ends and beginnings ---- */

static void
sampler_remove_thread(struct sampler *sampler, struct sampler_thread *thread,
                      uint64_t mono_ns)
{
	struct sampler_process *process = thread->process;
	struct sampler_thread **link = &process->threads;

	while (*link != thread)
		link = &(*link)->next;
	*link = thread->next;
	if (thread->record != NULL && process->file != NULL)
		sample_thread_end(process->file, thread->record, mono_ns);
	sampler->threads[id_table_find(&sampler->tids, thread->tid)] = NULL;
	process->n_live--;
	free(thread);
}

/* The process counts by the events of one that was added. */
static void
sampler_set_origin(struct sampler *sampler, struct sampler_process *process,
                   uint32_t origin)
{
	if (process->origin != NO_ID || origin == NO_ID)
		return;
	process->origin = origin;
	sampler->n_inheritors[origin]++;
}

/* Closes the events that nobody has any more. */
static void
sampler_leave_origin(struct sampler *sampler,
                     const struct sampler_process *process)
{
	const uint32_t origin = process->origin;

	if (origin != NO_ID && --sampler->n_inheritors[origin] == 0)
		sample_events_remove(sampler->events,
		    (pid_t)sampler->pids.ids[origin]);
}

static void
sampler_remove_process(struct sampler *sampler,
                       struct sampler_process *process, uint64_t mono_ns)
{
	while (process->threads != NULL)
		sampler_remove_thread(sampler, process->threads, mono_ns);
	sampler_end_file(sampler, process, mono_ns);
	sampler->processes[id_table_find(&sampler->pids, process->pid)] = NULL;
	sampler_leave_origin(sampler, process);
	sampler->n_live--;
	free(process);
}

/* A PERF_FORK or PERF_EXIT record: { pid, ppid, tid, ptid, time }. */
static int
sampler_apply_task(struct sampler *sampler, const struct perf_record *record,
                   struct error *error)
{
	struct bytes in = bytes_of(record->bytes + PERF_HEADER_SIZE,
	                           record->size - PERF_HEADER_SIZE);
	const uint32_t pid = (uint32_t)bytes_number(&in, 4);
	const uint32_t parent_pid = (uint32_t)bytes_number(&in, 4);
	const uint32_t tid = (uint32_t)bytes_number(&in, 4);
	const uint32_t parent_tid = (uint32_t)bytes_number(&in, 4);
	struct sampler_thread *thread = sampler_find_thread(sampler, tid);
	const struct sampler_thread *parent;
	struct sampler_process *process;

	if (bytes_failed(&in))
		return 0;
	if (record->type == PERF_EXIT) {
		if (thread == NULL)
			return 0;
		process = thread->process;
		if (process->n_live == 1)
			sampler_note_cpu(sampler, process);
		sampler_remove_thread(sampler, thread, sampler->now_ns);
		if (process->n_live == 0)
			sampler_remove_process(sampler, process,
			                       sampler->now_ns);
		return 0;
	}
	if (pid != parent_pid && sampler->options->events.is_alone)
		return 0;
	/* If its end was lost, another thread had this id before. */
	if (thread != NULL && thread->process->pid != pid)
		sampler_remove_thread(sampler, thread, sampler->now_ns);
	parent = sampler_find_thread(sampler, parent_tid);
	thread = sampler_need_thread(sampler, pid, pid != parent_pid ?
	                             parent_pid : 0, tid, error);
	if (thread == NULL)
		return -1;
	if (parent != NULL) {
		memcpy(thread->name, parent->name, sizeof thread->name);
		sampler_set_origin(sampler, thread->process,
		                   parent->process->origin);
		if (pid != parent_pid)
			thread->process->is_elsewhere =
			    parent->process->is_elsewhere;
	}
	if (pid != parent_pid)
		thread->process->has_cpu = true;
	return 0;
}

/*
 * Estimates the CPU time of a process at this record, which its clock has
 * passed: it has run since then, if it has run at all.
 */
static void
sampler_stop_cpu(const struct sampler *sampler,
                 struct sampler_process *process)
{
	const uint64_t passed = sampler_clock(CLOCK_MONOTONIC) -
	    sampler->now_ns;
	uint64_t ns;

	if (sampler_cpu_time(process->pid, &ns) && ns > passed &&
	    ns - passed > process->cpu_ns)
		process->cpu_ns = ns - passed;
	process->has_cpu = false;	/* its clock is not to be asked */
}

/* A thread that executes a program ends all others, maybe unreported. */
static void
sampler_remove_others(struct sampler *sampler, struct sampler_thread *thread)
{
	struct sampler_thread *next;

	for (struct sampler_thread *other = thread->process->threads;
	     other != NULL; other = next) {
		next = other->next;
		if (other != thread)
			sampler_remove_thread(sampler, other, sampler->now_ns);
	}
}

/* A PERF_COMM record: { pid, tid, name }. */
static int
sampler_apply_name(struct sampler *sampler, const struct perf_record *record,
                   struct error *error)
{
	struct bytes in = bytes_of(record->bytes + PERF_HEADER_SIZE,
	                           record->size - PERF_HEADER_SIZE);
	const uint32_t pid = (uint32_t)bytes_number(&in, 4);
	const uint32_t tid = (uint32_t)bytes_number(&in, 4);
	const char *name = (const char *)in.data + in.offset;
	struct sampler_thread *thread;
	struct sampler_process *process;

	if (bytes_failed(&in) || sampler_find_process(sampler, pid) == NULL)
		return 0;
	thread = sampler_need_thread(sampler, pid, 0, tid, error);
	if (thread == NULL)
		return -1;
	process = thread->process;
	if ((record->misc & PERF_MISC_COMM_EXEC) != 0) {
		sampler_remove_others(sampler, thread);
		/* The samples of the program before are complete. */
		process->continues |= process->file != NULL;
		sampler_stop_cpu(sampler, process);
		sampler_end_file(sampler, process, sampler->now_ns);
		process->start_mono_ns = sampler->now_ns;
		process->cpu_begin_ns = process->cpu_ns;
		process->has_cpu = true;
		process->is_elsewhere = sample_held_is_elsewhere(pid);
		process->n_started = 1;
	}
	snprintf(thread->name, sizeof thread->name, "%.*s",
	         (int)strnlen(name, in.size - in.offset), name);
	/* Views tell threads of one process apart by their present names. */
	if (thread->record != NULL)
		sample_thread_rename(thread->record, thread->name);
	return 0;
}

/* Looks for an interpreter in a process, if its mappings have changed. */
static int
sampler_look_for_python(struct sampler *sampler,
                        struct sampler_process *process, struct error *error)
{
	if (process->python != NULL)
		return 0;
	if (sample_interpreters_look(sampler->interpreters, process->pid,
	        &process->space_version, &process->python,
	        &sampler->result.refuses_python, error) != 0)
		return -1;
	if (process->python != NULL &&
	    sampler->python_state == SAMPLER_NO_PYTHON)
		sampler->python_state = SAMPLER_WANTS_PYTHON;
	return 0;
}

/* ---- samples ---- */

/* The module's number in the process's file; UINT32_MAX: no room for it. */
static uint32_t
sampler_module(struct sampler *sampler, struct sampler_process *process,
               uint32_t number)
{
	const struct module *module = &sampler->profile->modules[number];
	struct cpprofdata_module record = {
		.opened_ns = sampler->options->recording->origin_ns,
		.n_opened = 1,
		.build_id_size = module->build_id_size,
		.flags = strcmp(module->path, "[vdso]") == 0 ?
		    CPPROFDATA_MODULE_VDSO : 0,
	};
	struct error ignored = { 0 };
	struct stat status;

	memcpy(record.build_id, module->build_id, sizeof record.build_id);
	if (record.build_id_size == 0 && module->file_size > 0) {
		record.file_size = module->file_size;
		record.file_mtime_ns = module->file_mtime_ns;
	} else if (record.build_id_size == 0 && module->path[0] == '/' &&
	    stat(module->path, &status) == 0) {
		record.file_size = (uint64_t)status.st_size;
		record.file_mtime_ns = (uint64_t)status.st_mtim.tv_sec *
		    1000000000 + (uint64_t)status.st_mtim.tv_nsec;
		record.file_inode = status.st_ino;
	}
	return sample_file_module(process->file, number, &record, module->path,
	                          &ignored);
}

/* The Python frames of a sample. */
struct sampler_frames {
	const struct sample_python_frame *frames;	/* outermost first */
	size_t n;
};

/*
 * Makes the path of a stack in the process's file; its length.  Python frames
 * stand below the frame of the evaluation loop that runs them, and all of the
 * loop's frames have one place then.
 */
static size_t
sampler_make_path(struct sampler *sampler, struct sampler_process *process,
                  const struct sample_stack *stack,
                  const struct sampler_frames *python, struct error *error)
{
	size_t n = 0, at = 0;

	if (memory_grow(&sampler->path, &sampler->path_capacity, stack->n +
	                python->n + 1, sizeof *sampler->path, error) != 0)
		return 0;
	if (stack->is_partial)
		sampler->path[n++] = (struct sample_place){
			CPPROFDATA_PARTIAL, 0
		};
	for (size_t i = stack->n; i-- > 0;) {
		const struct sample_frame *frame = &stack->frames[i];
		struct sample_place place = { CPPROFDATA_NO_MODULE,
			frame->address };

		if (frame->module != NO_MODULE)
			place.module = sampler_module(sampler, process,
			                              frame->module);
		if (python->n > 0 &&
		    sample_python_is_loop(process->python, frame))
			place.offset -= frame->pc -
			    sample_python_loop(process->python);
		sampler->path[n++] = place;
		for (; at < python->n && python->frames[at].native ==
		     stack->n - 1 - i; at++)
			sampler->path[n++] = (struct sample_place){
				CPPROFDATA_INTERPRETED,
				(uint64_t)python->frames[at].function << 32 |
				    python->frames[at].offset
			};
	}
	return n;
}

/* Finds the Python frames of a sample; counts those that are not known. */
static int
sampler_find_frames(struct sampler *sampler, struct sampler_process *process,
                    const struct perf_sample *sample,
                    const struct sample_stack *stack,
                    struct sampler_frames *python, struct error *error)
{
	size_t at = stack->n_kernel;
	int found;

	python->n = 0;
	if (process->python == NULL)
		return 0;
	while (at < stack->n && !sample_python_is_loop(process->python,
	                                               &stack->frames[at]))
		at++;
	if (at == stack->n)
		return 0;
	found = sample_python_frames(sampler->python, process->python,
	    process->file, sample, stack, &python->frames, &python->n, error);
	if (found > 0) {
		sampler->result.n_python++;
		return 0;
	}
	python->n = 0;
	sampler->result.n_no_python++;
	sample_file_drop(process->file, CPPROFDATA_UNINTERPRETED,
	                 sample->event, 1, 1);
	return found;
}

/*
 * Whether a sample counts as latency, too: one of CPU time does with the
 * probability 1 / n if n sampled threads run.
 */
static bool
sampler_is_latency(struct sampler *sampler, uint32_t event)
{
	const struct sample_recording *recording = sampler->options->recording;
	const size_t n = sample_events_n_running(sampler->events);

	if (!recording->has_latency ||
	    strcmp(recording->resources[event].name, "cpu") != 0)
		return false;
	sampler->random = sampler->random * 6364136223846793005u + 1;
	return n <= 1 || (sampler->random >> 33) % n == 0;
}

static int
sampler_add_sample(struct sampler *sampler, const struct perf_record *record,
                   struct error *error)
{
	const struct perf_events *events =
	    sample_events_table(sampler->events);
	const struct sample_stack *stack;
	struct sampler_thread *thread;
	struct sampler_process *process;
	struct sampler_frames python;
	struct perf_sample sample;
	size_t n;

	/* What cannot be read is no sample of these events. */
	if (perf_sample_read(&sample, events, record, error) != 0 ||
	    sample.event == UINT32_MAX || sample.pid == 0)
		return error->is_set ? -1 : 0;
	/* A thread that has left its process has no number any more. */
	if (sample.pid == UINT32_MAX || sample.tid == UINT32_MAX) {
		sampler->lost++;
		return 0;
	}
	if (sampler->options->events.is_system &&
	    sample.pid == (uint32_t)getpid())
		return 0;
	/* Before Linux 5.13, child processes inherit the events. */
	if (sampler->options->events.is_alone &&
	    sampler_find_process(sampler, sample.pid) == NULL)
		return 0;
	thread = sampler_need_thread(sampler, sample.pid, 0, sample.tid,
	                             error);
	if (thread == NULL)
		return -1;
	process = thread->process;
	if (process->file == NULL &&
	    sampler_begin_file(sampler, process, error) != 0)
		return -1;
	if (thread->record == NULL) {
		struct error full = { 0 };

		thread->record = sample_file_thread(process->file, thread->tid,
		                                    thread->name, &full);
		if (thread->record == NULL) {
			sample_file_drop(process->file, CPPROFDATA_LOST_FULL,
			                 sample.event, 1, 1);
			return 0;
		}
	}
	stack = sample_walk(sampler->walker, &events->attrs[sample.event],
	                    &sample, error);
	if (stack == NULL)
		return -1;
	if (stack->is_partial && stack->why == CPPROFDATA_PARTIAL_LATE) {
		sampler->eager_until_ns = sampler->now_ns + SAMPLER_HURRY_NS;
		sampler->n_late++;
	}
	if (sampler_look_for_python(sampler, process, error) != 0 ||
	    sampler_find_frames(sampler, process, &sample, stack, &python,
	                        error) != 0)
		return -1;
	n = sampler_make_path(sampler, process, stack, &python, error);
	if (n == 0)
		return error->is_set ? -1 : 0;
	sample_file_count(process->file, thread->record, sampler->path, n,
	                  sample.event, 1, sample.time);
	if (sampler_is_latency(sampler, sample.event))
		sample_file_count(process->file, thread->record, sampler->path,
		                  n, sampler->options->recording->n_resources -
		                  1, 1, sample.time);
	if (stack->is_partial)
		sample_file_drop(process->file, stack->why, sample.event, 1, 1);
	else if (stack->was_guessed)
		sample_file_drop(process->file, CPPROFDATA_GUESSED,
		                 sample.event, 1, 1);
	if (sampler->lost > 0) {
		sample_file_drop(process->file, CPPROFDATA_LOST_FULL,
		                 sample.event, sampler->lost, sampler->lost);
		sampler->lost = 0;
	}
	process->n_samples++;
	sampler->result.n_samples++;
	return 0;
}

/* ---- files that only a process can reach ---- */

/*
 * A module without a build-id is known by its file's size and time.  The
 * machine has the mapping already.
 */
static int
sampler_note_file(struct sampler *sampler, uint32_t pid, uint64_t start,
                  const struct stat *status, struct error *error)
{
	const struct perf_space *space = perf_machine_space(sampler->machine,
	                                                    pid, error);
	const struct perf_map *map = space != NULL ?
	    perf_space_find(space, start) : NULL;
	struct module *module;

	if (map == NULL || map->module == NO_MODULE)
		return error->is_set ? -1 : 0;
	module = &sampler->profile->modules[map->module];
	if (module->build_id_size == 0) {
		module->file_size = (uint64_t)status->st_size;
		module->file_mtime_ns = (uint64_t)status->st_mtim.tv_sec *
		    1000000000 + (uint64_t)status->st_mtim.tv_nsec;
	}
	return 0;
}

/*
 * Holds the file of a mapping that the kernel reports, of a process with other
 * paths.
 */
static int
sampler_hold_mapped(struct sampler *sampler, const struct perf_record *record,
                    struct error *error)
{
	enum { PATH = PERF_HEADER_SIZE + 64 };	/* where the path begins */
	const struct sampler_process *process;
	struct memory_mapping mapping = { .build_id = "" };
	char held[SAMPLE_HELD_PATH];
	struct stat status;

	if (record->size <= PATH ||
	    (record->misc & PERF_MISC_MMAP_DATA) != 0 ||
	    memchr(record->bytes + PATH, '\0', record->size - PATH) == NULL)
		return 0;
	process = sampler_find_process(sampler, (uint32_t)(perf_number_at(
	    record->bytes + PERF_HEADER_SIZE) & UINT32_MAX));
	if (process == NULL || !process->is_elsewhere)
		return 0;
	mapping.start = perf_number_at(record->bytes + PERF_HEADER_SIZE + 8);
	mapping.limit = mapping.start +
	    perf_number_at(record->bytes + PERF_HEADER_SIZE + 16);
	mapping.path = (const char *)record->bytes + PATH;
	if (!sample_held_add(sampler->held, process->pid, &mapping, true,
	                     &status, held, error))
		return error->is_set ? -1 : 0;
	return sampler_note_file(sampler, process->pid, mapping.start, &status,
	                         error);
}

int
sampler_take(void *context, const struct perf_record *record,
             struct error *error)
{
	struct sampler *sampler = context;
	const uint64_t time = perf_events_time(
	    sample_events_table(sampler->events), record);
	struct error damage = { 0 };

	if (time > sampler->now_ns)
		sampler->now_ns = time;
	switch (record->type) {
	case PERF_SAMPLE:
		return sampler_add_sample(sampler, record, error);
	case PERF_LOST:
		if (record->size >= PERF_HEADER_SIZE + 16) {
			const uint64_t n = perf_number_at(record->bytes +
			    PERF_HEADER_SIZE + 8);

			sampler->lost += n;
			sampler->result.n_lost += n;
		}
		return 0;
	case PERF_FORK:
		sampler->changing_until_ns = sampler->now_ns +
		    SAMPLER_HURRY_NS;
		if (sampler_apply_task(sampler, record, error) != 0)
			return -1;
		break;
	case PERF_EXIT:
		return sampler_apply_task(sampler, record, error);
	case PERF_COMM:
		if (sampler_apply_name(sampler, record, error) != 0)
			return -1;
		break;
	}
	if (perf_machine_apply(sampler->machine, record, &damage) != 0 &&
	    damage.is_out_of_memory)
		return error_pass(error, &damage);
	return record->type == PERF_MMAP2 ?
	    sampler_hold_mapped(sampler, record, error) : 0;
}

/* Takes all records that there are. */
static int
sampler_drain(struct sampler *sampler, struct error *error)
{
	sample_python_collect(sampler->python);
	return sample_events_drain(sampler->events, sampler_take, sampler,
	                           error);
}

/* ---- processes that run already ---- */

/* Applies a mapping with a build-id, as the kernel would report it. */
static int
sampler_apply_map(struct sampler *sampler, uint32_t pid, uint16_t misc,
                  const struct memory_mapping *mapping,
                  const unsigned char *id, size_t id_size, struct error *error)
{
	unsigned char bytes[PERF_HEADER_SIZE + 64 + PATH_MAX] = { 0 };
	const size_t length = strlen(mapping->path) + 1;
	const uint64_t numbers[] = { mapping->start,
		mapping->limit - mapping->start, mapping->offset };
	const uint32_t type = PERF_MMAP2, ids[] = { pid, pid };
	struct perf_record record;
	uint16_t size;

	if (length > PATH_MAX)
		return 0;
	/* The kernel's records have up to 20 bytes of it. */
	if (id_size > 0 && id_size <= 20) {
		misc |= PERF_MISC_MMAP_BUILD_ID;
		bytes[PERF_HEADER_SIZE + 32] = (unsigned char)id_size;
		memcpy(bytes + PERF_HEADER_SIZE + 36, id, id_size);
	}
	size = (uint16_t)(PERF_HEADER_SIZE + 64 + (length + 7) / 8 * 8);
	memcpy(bytes, &type, 4);
	memcpy(bytes + 4, &misc, 2);
	memcpy(bytes + 6, &size, 2);
	memcpy(bytes + PERF_HEADER_SIZE, ids, 8);
	memcpy(bytes + PERF_HEADER_SIZE + 8, numbers, sizeof numbers);
	memcpy(bytes + PERF_HEADER_SIZE + 64, mapping->path, length);
	record = perf_record_at(bytes, 0);
	return perf_machine_apply(sampler->machine, &record, error);
}

/* The module of a file that is mapped already and has a build-id, or NULL. */
static const struct module *
sampler_find_module(const struct sampler *sampler, const char *path)
{
	for (uint32_t i = 0; i < sampler->profile->n_modules; i++) {
		const struct module *module = &sampler->profile->modules[i];

		if (module->build_id_size > 0 &&
		    strcmp(module->path, path) == 0)
			return module;
	}
	return NULL;
}

static int
sampler_apply_mapping(struct sampler *sampler, uint32_t pid,
                      const struct memory_mapping *mapping,
                      struct error *error)
{
	const struct sampler_process *process = sampler_find_process(sampler,
	                                                             pid);
	const bool has_moved = process->is_elsewhere ||
	    sample_held_has_moved(mapping);
	const struct module *known = has_moved ? NULL :
	    sampler_find_module(sampler, mapping->path);
	const char *path = mapping->path;
	unsigned char id[BUILD_ID_MAX];
	char held[SAMPLE_HELD_PATH];
	struct elf_file file;
	struct stat status;
	size_t id_size = 0;

	/* Most processes have the same libraries. */
	if (known != NULL)
		return sampler_apply_map(sampler, pid, PERF_MODE_USER, mapping,
		                         known->build_id,
		                         known->build_id_size, error);
	if (has_moved && sample_held_add(sampler->held, pid, mapping,
	        process->is_elsewhere, &status, held, error))
		path = held;
	if (error->is_set)
		return -1;
	if (*path == '/' && elf_file_open(&file, path) == ELF_FILE_OPEN) {
		id_size = elf_file_build_id(&file, id);
		elf_file_close(&file);
	}
	if (sampler_apply_map(sampler, pid, PERF_MODE_USER, mapping, id,
	                      id_size, error) != 0)
		return -1;
	return path != held ? 0 :
	    sampler_note_file(sampler, pid, mapping->start, &status, error);
}

/*
 * Applies where the kernel and its modules are.  If that is hidden, the machine
 * has no kernel.
 */
static int
sampler_apply_kernel(struct sampler *sampler, struct error *error)
{
	struct memory_mapping mapping = { .path = "[kernel.kallsyms]_text" };
	struct kernel_module module = { 0 };
	struct module *kernel;
	uint64_t base = kernel_base();
	uint32_t number;
	int result;

	if (base == 0)
		return 0;
	mapping.start = mapping.offset = base;
	mapping.limit = UINT64_MAX;
	result = sampler_apply_map(sampler, UINT32_MAX, PERF_MODE_KERNEL,
	                           &mapping, NULL, 0, error);
	number = perf_machine_kernel(sampler->machine, &base, error);
	if (result != 0 || number == NO_MODULE)
		return -1;
	kernel = &sampler->profile->modules[number];
	kernel->build_id_size = (uint32_t)kernel_build_id(NULL,
	    kernel->build_id, sizeof kernel->build_id);
	while (kernel_module_next(&module)) {
		mapping = (struct memory_mapping){ .path = module.path,
			.start = module.start,
			.limit = module.start + module.size };
		if (result == 0)
			result = sampler_apply_map(sampler, UINT32_MAX,
			    PERF_MODE_KERNEL, &mapping, module.build_id,
			    module.build_id_size, error);
	}
	return result;
}

/* Applies all mappings of code that the process has. */
static int
sampler_read_maps(struct sampler *sampler, uint32_t pid, pid_t tid,
                  struct error *error)
{
	struct memory_map *map = memory_map_new(error);
	const struct memory_mapping *mappings;
	char path[64], *line = NULL;
	size_t capacity = 0, n = 0;
	ssize_t length;
	int result = map != NULL ? 0 : -1;
	FILE *file;

	/* A process whose first thread has ended has them in the others. */
	snprintf(path, sizeof path, "/proc/%u/task/%ld/maps", pid, (long)tid);
	file = fopen(path, "re");
	while (result == 0 && file != NULL &&
	       (length = getline(&line, &capacity, file)) > 0)
		result = memory_map_add_line(map, line, (size_t)length -
		    (line[length - 1] == '\n'), error);
	if (file != NULL)
		fclose(file);
	free(line);
	mappings = result == 0 ? memory_map_all(map, &n) : NULL;
	for (size_t i = 0; result == 0 && i < n; i++)
		result = sampler_apply_mapping(sampler, pid, &mappings[i],
		                               error);
	memory_map_free(map);
	return result;
}

/*
 * Adds the threads of a process that are not sampled yet; *n_new: how many
 * there were.
 */
static int
sampler_scan(struct sampler *sampler, uint32_t pid, enum sample_begin begin,
             size_t *n_new, struct error *error)
{
	char path[64], name[SAMPLER_NAME + 1];
	const struct dirent *entry;
	DIR *directory;
	int result = 0;

	snprintf(path, sizeof path, "/proc/%u/task", pid);
	directory = opendir(path);
	*n_new = 0;
	while (result >= 0 && directory != NULL &&
	       (entry = readdir(directory)) != NULL) {
		const long tid = strtol(entry->d_name, NULL, 10);
		struct sampler_thread *thread;

		if (tid <= 0 || sampler_find_thread(sampler,
		                                    (uint32_t)tid) != NULL)
			continue;
		result = sampler->options->events.is_system ? 1 :
		    sample_events_add(sampler->events, (pid_t)tid, begin,
		                      error);
		if (result <= 0)
			continue;
		thread = sampler_need_thread(sampler, pid, 0, (uint32_t)tid,
		                             error);
		if (thread == NULL) {
			result = -1;
			continue;
		}
		snprintf(path, sizeof path, "task/%ld/comm", tid);
		name[sampler_read_file(pid, path, name, SAMPLER_NAME)] = '\0';
		name[strcspn(name, "\n")] = '\0';
		snprintf(thread->name, sizeof thread->name, "%s", name);
		/* Of a program that is to be executed, the kernel reports it. */
		if (++*n_new == 1 && thread->process->n_live == 1 &&
		    begin == SAMPLE_NOW) {
			thread->process->is_elsewhere =
			    sample_held_is_elsewhere(pid);
			result = sampler_read_maps(sampler, pid, (pid_t)tid,
			                           error);
		}
	}
	if (directory != NULL)
		closedir(directory);
	return result < 0 ? -1 : 0;
}

/*
 * Gives all threads new events.  Threads that are started meanwhile are known
 * after the records have been taken.
 */
static int
sampler_renew(struct sampler *sampler, struct error *error)
{
	struct error why = { 0 };
	bool has_all = true, found = true;
	int status = 0;

	sampler->n_grown++;
	if (sampler->options->events.is_system) {
		has_all = sample_events_add(sampler->events, -1,
		                            SAMPLE_NOW, &why) > 0;
		found = false;
	}
	for (int i = 0; status == 0 && has_all && found &&
	     i < SAMPLER_SCANS_MAX; i++) {
		found = false;
		for (uint32_t k = 0; has_all && k < sampler->tids.n; k++) {
			struct sampler_thread *thread = sampler->threads[k];

			if (thread == NULL ||
			    thread->n_grown == sampler->n_grown)
				continue;
			thread->n_grown = sampler->n_grown;
			found = true;
			has_all = sample_events_add(sampler->events,
			    (pid_t)thread->tid, SAMPLE_NOW, &why) >= 0;
		}
		status = sampler_drain(sampler, error);
	}
	sample_events_grown(sampler->events, has_all && !found);
	return status;
}

/* Makes copies of stacks larger. */
static int
sampler_grow(struct sampler *sampler, struct error *error)
{
	sampler->n_late = 0;
	return sample_events_grow(sampler->events) ?
	    sampler_renew(sampler, error) : 0;
}

/* Begins to read Python's frames.  What stands in the way is told by counts. */
static int
sampler_begin_python(struct sampler *sampler, struct error *error)
{
	struct error ignored = { 0 };

	if (sampler->python_state == SAMPLER_WANTS_PYTHON &&
	    sample_events_watch(sampler->events) &&
	    sampler_renew(sampler, error) != 0)
		return -1;
	sampler->python_state = SAMPLER_READS_PYTHON;
	sample_python_begin(sampler->python, &ignored);
	return 0;
}

int
sampler_add_system(struct sampler *sampler, struct error *error)
{
	return sample_events_add(sampler->events, -1, SAMPLE_NOW,
	                         error) < 0 ? -1 : 0;
}

int
sampler_add(struct sampler *sampler, pid_t pid, enum sample_begin begin,
            struct error *error)
{
	struct sampler_process *process;
	size_t n_new = 1;
	uint64_t cpu_ns = 0;

	sampler->now_ns = sampler_clock(CLOCK_MONOTONIC);
	if (sampler_find_process(sampler, (uint32_t)pid) != NULL)
		return 0;
	sampler_cpu_time((uint32_t)pid, &cpu_ns);
	/* What is there from the beginning need not be made anew. */
	if (sample_events_n_processors(sampler->events) == 0 &&
	    sample_interpreters_expect(pid)) {
		sample_events_watch(sampler->events);
		sampler->python_state = SAMPLER_WATCHES;
	}
	/*
	 * What a process does meanwhile is in the buffers, and is applied after
	 * what is read here.
	 */
	if (sampler->options->events.is_system) {
		if (sampler_scan(sampler, (uint32_t)pid, begin, &n_new,
		                 error) != 0)
			return -1;
		n_new = 0;
	}
	/*
	 * Threads that are started meanwhile by one that is sampled already are
	 * reported, those of others are found by looking again.
	 */
	for (int i = 0; n_new > 0 && i < SAMPLER_SCANS_MAX; i++) {
		if (sampler_scan(sampler, (uint32_t)pid, begin, &n_new,
		                 error) != 0)
			return -1;
		if (n_new > 0 && sampler_drain(sampler, error) != 0)
			return -1;
	}
	process = sampler_find_process(sampler, (uint32_t)pid);
	if (sampler->first == 0 && !sampler->options->events.is_system) {
		sampler->first = (uint32_t)pid;
		sampler->first_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	}
	if (process == NULL)
		return error_set(error, "process %ld has just ended",
		                 (long)pid);
	if (!sampler->options->events.is_system)
		sampler_set_origin(sampler, process,
		    id_table_find(&sampler->pids, (uint64_t)pid));
	process->has_cpu = true;
	process->cpu_begin_ns = process->cpu_ns = cpu_ns;
	if (begin == SAMPLE_AT_EXEC)
		sampler->changing_until_ns = sampler->now_ns + SAMPLER_HURRY_NS;
	if (sampler_look_for_python(sampler, process, error) != 0)
		return -1;
	return sampler->python_state == SAMPLER_WATCHES ?
	    sampler_begin_python(sampler, error) : 0;
}

void
sampler_remove(struct sampler *sampler, pid_t pid)
{
	struct sampler_process *process =
	    sampler_find_process(sampler, (uint32_t)pid);

	if (process == NULL)
		return;
	for (const struct sampler_thread *thread = process->threads;
	     thread != NULL; thread = thread->next)
		sample_events_remove(sampler->events, (pid_t)thread->tid);
	sampler_remove_process(sampler, process, sampler->now_ns);
}

/* ---- the whole ---- */

struct sampler *
sampler_new(const struct sampler_options *options, struct error *error)
{
	struct sampler *sampler = memory_array(1, sizeof *sampler, error);
	struct symbol_search search = { .root = options->symfs };
	struct sample_space space;

	if (sampler == NULL)
		return NULL;
	sampler->options = options;
	sampler->first_fd = -1;
	sampler->own_begin_ns = sampler_clock(CLOCK_PROCESS_CPUTIME_ID);
	sampler->profile = profile_new(error);
	sampler->held = sample_held_new(error);
	if (sampler->held != NULL) {
		search.held = sample_held_files(sampler->held);
		sampler->modules = module_cache_new(&search, error);
	}
	if (sampler->profile != NULL && sampler->modules != NULL)
		sampler->machine = perf_machine_new(sampler->profile,
		                                    sampler->modules, error);
	space = (struct sample_space){ sampler->machine, sampler->profile,
		sampler->modules };
	if (sampler->machine != NULL &&
	    sampler_apply_kernel(sampler, error) == 0)
		sampler->walker = sample_walker_new(&space, error);
	if (sampler->walker != NULL)
		sampler->events = sample_events_new(&options->events, error);
	if (sampler->events != NULL)
		sampler->python = sample_python_new(sampler->events, error);
	if (sampler->python != NULL)
		sampler->interpreters = sample_interpreters_new(&space,
		    sampler->python, error);
	if (sampler->interpreters != NULL)
		return sampler;
	sampler_free(sampler);
	return NULL;
}

const struct perf_events *
sampler_events(const struct sampler *sampler)
{
	return sample_events_table(sampler->events);
}

void
sampler_free(struct sampler *sampler)
{
	if (sampler == NULL)
		return;
	for (uint32_t i = 0; i < sampler->pids.n; i++)
		if (sampler->processes[i] != NULL)
			sampler_remove_process(sampler, sampler->processes[i],
			                       sampler->now_ns);
	if (sampler->first_fd >= 0)
		close(sampler->first_fd);
	sample_interpreters_free(sampler->interpreters);
	sample_python_free(sampler->python);
	sample_events_free(sampler->events);
	sample_walker_free(sampler->walker);
	perf_machine_free(sampler->machine);
	module_cache_free(sampler->modules);
	profile_free(sampler->profile);
	sample_held_free(sampler->held);
	id_table_free(&sampler->pids);
	id_table_free(&sampler->tids);
	free(sampler->processes);
	free(sampler->n_inheritors);
	free(sampler->threads);
	free(sampler->path);
	free(sampler);
}

/*
 * Whether nothing of a process runs: it is gone, or nobody has waited for it
 * yet.  (A first thread that has ended before others is a zombie, too.)
 */
static bool
sampler_is_over(uint32_t pid)
{
	char stat[1024], *end, state;
	const size_t n = sampler_read_file(pid, "stat", stat, sizeof stat - 1);
	long n_threads;

	stat[n] = '\0';
	end = strrchr(stat, ')');
	return end == NULL || (sscanf(end + 1, " %c %*d %*d %*d %*d %*d %*u "
	    "%*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld", &state,
	    &n_threads) == 2 && state == 'Z' && n_threads <= 1);
}

/*
 * Notes CPU times, and removes a process whose end was not reported: one of
 * them is looked at in turn.
 */
static void
sampler_check(struct sampler *sampler)
{
	const uint32_t turn = sampler->n_checks++ % (sampler->pids.n + 1);

	for (uint32_t i = 0; i < sampler->pids.n; i++) {
		struct sampler_process *process = sampler->processes[i];

		if (process == NULL)
			continue;
		if ((kill((pid_t)process->pid, 0) != 0 && errno == ESRCH) ||
		    (i == turn && sampler_is_over(process->pid)))
			sampler_remove_process(sampler, process,
			                       sampler->now_ns);
		else
			sampler_note_cpu(sampler, process);
	}
}

/*
 * How long to wait for samples; what is left of the time, if that is less.  -1
 * where there is nothing to sample.
 */
static int
sampler_wait_ms(const struct sampler *sampler, uint64_t now_ns,
                uint64_t end_ns)
{
	const int wait_ms = now_ns < sampler->eager_until_ns ?
	    SAMPLER_WAIT_EAGER_MS : now_ns < sampler->changing_until_ns ?
	    SAMPLER_WAIT_CHANGING_MS : SAMPLER_WAIT_MS;

	if (sampler->n_live == 0)
		return -1;
	return (end_ns - now_ns) / 1000000 < (uint64_t)wait_ms ?
	    (int)((end_ns - now_ns) / 1000000) + 1 : wait_ms;
}

int
sampler_run(struct sampler *sampler, struct sampler_result *result,
            struct error *error)
{
	const uint64_t duration_ns = sampler->options->duration_ns;
	const uint64_t end_ns = duration_ns == 0 ? UINT64_MAX :
	    sampler_clock(CLOCK_MONOTONIC) + duration_ns;
	bool is_over = false;
	int status = 0;

	while (status == 0 && !is_over && !interrupt_requested &&
	       (sampler->n_live > 0 || sampler->options->attend != NULL)) {
		const uint64_t now_ns = sampler_clock(CLOCK_MONOTONIC);

		if (now_ns >= end_ns || (sampler->options->ends_with_first &&
		    sampler_find_process(sampler, sampler->first) == NULL))
			break;
		if (sample_events_wait(sampler->events, sampler->first_fd,
		        sampler->options->attend != NULL ?
		        sampler->options->asking : -1,
		        sampler_wait_ms(sampler, now_ns, end_ns))) {
			close(sampler->first_fd);
			sampler->first_fd = -1;
		}
		if (sampler->options->attend != NULL)
			is_over = sampler->options->attend(
			    sampler->options->context, sampler);
		status = sampler_drain(sampler, error);
		if (status == 0 && (sampler->python_state ==
		        SAMPLER_WANTS_PYTHON || sampler->python_state ==
		        SAMPLER_WATCHES))
			status = sampler_begin_python(sampler, error);
		if (status == 0 && sampler->n_late >= SAMPLER_LATE_MAX)
			status = sampler_grow(sampler, error);
		if (status == 0 && now_ns >= sampler->next_check_ns) {
			sampler_check(sampler);
			sampler->next_check_ns = now_ns + SAMPLER_CHECK_NS;
		}
	}
	sampler->now_ns = sampler_clock(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < sampler->pids.n; i++)
		if (sampler->processes[i] != NULL)
			sampler_remove_process(sampler, sampler->processes[i],
			                       sampler->now_ns);
	sampler->result.own_cpu_ns = sampler_clock(CLOCK_PROCESS_CPUTIME_ID) -
	    sampler->own_begin_ns;
	sampler->result.sees_kernel =
	    sample_events_see_kernel(sampler->events);
	*result = sampler->result;
	result->held = sampler->held;
	sampler->held = NULL;	/* and nothing is sampled any more */
	return status;
}
