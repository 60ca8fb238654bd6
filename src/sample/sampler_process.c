/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampler_process.c -- processes that are sampled, their threads, and the paths of
 * their samples.
 */
#include "src/sample/sampler.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/memory.h"

/* ---- what is there ---- */

struct sampler_process *
sampler_find_process(const struct sampler *sampler, uint32_t pid)
{
	uint32_t number = id_table_find(&sampler->pids, pid);

	return number == NO_ID ? NULL : sampler->processes[number];
}

struct sampler_thread *
sampler_find_thread(const struct sampler *sampler, uint32_t tid)
{
	uint32_t number = id_table_find(&sampler->tids, tid);

	return number == NO_ID ? NULL : sampler->threads[number];
}

bool
sampler_cpu_time(uint32_t pid, uint64_t *ns)
{
	clockid_t clock;

	if (clock_getcpuclockid((pid_t)pid, &clock) != 0)
		return false;
	*ns = clock_ns(clock);
	return *ns > 0;
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
	process->program = process->program_link = NO_NAME;
	process->parent_pid = parent_pid;
	process->start_mono_ns = sampler->now_ns;
	sampler->processes[number] = process;
	sampler->n_live++;
	return process;
}

struct sampler_thread *
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
	/* Threads with few samples have their share, too. */
	for (unsigned i = 0; i < sampler->options->events.n_kinds; i++)
		thread->rest[i] = sampler_random(sampler,
		                                 sampler_interval(sampler, i));
	thread->process = process;
	thread->next = process->threads;
	process->threads = thread;
	process->n_live++;
	process->n_started++;
	sampler->threads[number] = thread;
	return thread;
}

pid_t
sampler_origin(const struct sampler *sampler,
               const struct sampler_process *process)
{
	return process->origin == NO_ID ? (pid_t)process->pid :
	    (pid_t)sampler->pids.ids[process->origin];
}

size_t
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

uint64_t
sampler_interval(const struct sampler *sampler, unsigned kind)
{
	const struct sample_events_options *options =
	    &sampler->options->events;

	return options->kinds[kind].interval * options->kinds[kind].kind->scale;
}

uint64_t
sampler_random(struct sampler *sampler, uint64_t n)
{
	sampler->random = sampler->random * 6364136223846793005u + 1;
	return (uint64_t)((double)(sampler->random >> 11) * 0x1p-53 *
	                  (double)n);
}

int
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
	    sample_python_is_supported(process->python) &&
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

size_t
sampler_make_path(struct sampler *sampler, struct sampler_process *process,
                  const struct sample_stack *stack,
                  const struct sample_python_stack *python, struct error *error)
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

/*
 * Finds the Python frames of a sample; counts those that are not known.  Takes
 * native frames away that do not belong to the stack.
 */
static int
sampler_find_frames(struct sampler *sampler, struct sampler_process *process,
                    const struct perf_sample *sample,
                    const struct sample_stack *stack,
                    struct sample_python_stack *python, struct error *error)
{
	bool knows_loop;
	size_t at = stack->n_kernel;
	int found;

	*python = (struct sample_python_stack){ 0 };
	if (process->python == NULL)
		return 0;
	knows_loop = sample_python_knows_loop(process->python);
	while (at < stack->n && !sample_python_is_loop(process->python,
	                                               &stack->frames[at]))
		at++;
	if (at == stack->n && knows_loop)
		return 0;
	if (!sample_python_is_supported(process->python)) {
		if (knows_loop)
			sample_file_flag(process->file,
			                 CPPROFDATA_UNKNOWN_PYTHON);
		return 0;
	}
	found = sample_python_frames(sampler->python, process->python,
	    process->file, sample, stack, python, error);
	if (!sample_python_knows_loop(process->python)) {
		/* Nor is it known whether there are such frames. */
		*python = (struct sample_python_stack){ 0 };
		return found;
	}
	if (python->n_outside > 0 || python->is_unfit)
		sample_walk_cut(sampler->walker, python->n_outside,
		                !python->is_unfit);
	if (found > 0) {
		sampler->result.n_python++;
		return 0;
	}
	python->n = 0;
	if (!python->is_unfit) {
		sampler->result.n_no_python++;
		sample_file_drop(process->file, CPPROFDATA_UNINTERPRETED, 0, 1,
		                 1);
	}
	return found;
}

/*
 * Whether a sample counts as latency, too: one of CPU time does with the
 * probability 1 / n if n sampled threads run.
 */
static bool
sampler_is_latency(struct sampler *sampler, unsigned resource)
{
	const size_t n = sample_events_n_running(sampler->events);

	if (!sampler->options->recording->has_latency ||
	    sampler->cpu_kind == UINT_MAX || resource !=
	    sampler->options->events.kinds[sampler->cpu_kind].resource)
		return false;
	return n <= 1 || sampler_random(sampler, n) == 0;
}

const struct sample_stack *
sampler_find_path(struct sampler *sampler, struct sampler_process *process,
                  const struct perf_sample *sample, size_t *n,
                  struct error *error)
{
	const struct perf_events *events =
	    sample_events_table(sampler->events);
	const struct sample_stack *stack = sample_walk(sampler->walker,
	    &events->attrs[sample->event], sample, error);
	struct sample_python_stack python;

	if (stack == NULL)
		return NULL;
	if (stack->is_partial && stack->why == CPPROFDATA_PARTIAL_LATE) {
		sampler->eager_until_ns = sampler->now_ns + SAMPLER_HURRY_NS;
		sampler->n_late++;
	}
	if (sampler_look_for_python(sampler, process, error) != 0 ||
	    sampler_find_frames(sampler, process, sample, stack, &python,
	                        error) != 0)
		return NULL;
	*n = sampler_make_path(sampler, process, stack, &python, error);
	return error->is_set ? NULL : stack;
}

void
sampler_note_stack(struct sampler_process *process,
                   const struct sample_stack *stack, unsigned resource,
                   uint64_t hits)
{
	if (stack->is_partial)
		sample_file_drop(process->file, stack->why, resource, 1, hits);
	else if (stack->was_guessed)
		sample_file_drop(process->file, CPPROFDATA_GUESSED, resource, 1,
		                 hits);
}

int
sampler_count(struct sampler *sampler, struct sampler_thread *thread,
              const struct perf_sample *sample, unsigned resource,
              uint64_t hits, struct error *error)
{
	const struct sampler_options *options = sampler->options;
	struct sampler_process *process = thread->process;
	const struct sample_stack *stack;
	size_t n;

	stack = sampler_find_path(sampler, process, sample, &n, error);
	if (stack == NULL)
		return -1;
	if (n == 0)
		return 0;
	sample_file_count(process->file, thread->record, sampler->path, n,
	                  resource, hits, sample->time);
	if (sampler_is_latency(sampler, resource))
		sample_file_count(process->file, thread->record, sampler->path,
		                  n, options->recording->n_resources - 1, hits,
		                  sample->time);
	sampler_note_stack(process, stack, resource, hits);
	process->n_samples++;
	sampler->result.n_samples++;
	return 0;
}

int
sampler_path_keep(const struct sampler *sampler, struct sampler_path *path,
                  size_t n, struct error *error)
{
	if (memory_grow(&path->places, &path->capacity, n,
	                sizeof *path->places, error) != 0)
		return -1;
	if (n > 0)
		memcpy(path->places, sampler->path, n * sizeof *path->places);
	path->n = n;
	return 0;
}
