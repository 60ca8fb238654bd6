/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampler.c -- processes and threads, from the beginning to the end.
 *
 * The kernel's records say which threads start, end, execute programs and map
 * files.  They are applied in the order of time, and each sample is walked in
 * the machine as it is then (src/formats/perf/perf_machine.c).
 */
#include "src/sample/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/bytes.h"
#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/task.h"
#include "src/base/text_buffer.h"

enum {
	SAMPLER_WAIT_MS = 100,		/* between two looks at the buffers */
	SAMPLER_WAIT_CHANGING_MS = 20,	/* while processes start, of which /proc
					 * must tell before they are gone */
	SAMPLER_WAIT_EAGER_MS = 4,	/* while stacks change before they are
					 * read */
	SAMPLER_LOOK_NS = 10000000,	/* between two looks at waits, on
					 * average */
	SAMPLER_LATE_MAX = 5,		/* stacks, before copies grow */
	SAMPLER_SCANS_MAX = 100,	/* of a process that starts threads all
					 * the time */
	SAMPLER_RIGHTS_NS = 10000000,	/* from the record of an execution to that
					 * by which its events end */
};

#define SAMPLER_CHECK_NS UINT64_C(250000000)	/* between two looks at CPU
						 * times and for processes that
						 * are gone */

/* ---- ends and beginnings ---- */

static void
sampler_remove_thread(struct sampler *sampler, struct sampler_thread *thread,
                      uint64_t mono_ns)
{
	struct sampler_process *process = thread->process;
	struct sampler_thread **link = &process->threads;
	/* Later records, if the recording ends here, are not read. */
	const uint64_t until_ns = mono_ns < sampler->seen_ns ? mono_ns :
	    sampler->seen_ns;

	sampler_wait_end(sampler, thread, until_ns);
	sampler_run_end(thread, until_ns);
	while (*link != thread)
		link = &(*link)->next;
	*link = thread->next;
	if (thread->record != NULL && process->file != NULL)
		sample_thread_end(process->file, thread->record, mono_ns);
	sampler->threads[id_table_find(&sampler->tids, thread->tid)] = NULL;
	process->n_live--;
	free(thread->wait.path.places);
	free(thread->look.path.places);
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
		                     sampler_origin(sampler, process));
}

static void
sampler_remove_process(struct sampler *sampler,
                       struct sampler_process *process, uint64_t mono_ns)
{
	while (process->threads != NULL)
		sampler_remove_thread(sampler, process->threads, mono_ns);
	if (process->origin != NO_ID &&
	    sampler->n_inheritors[process->origin] == 1)
		sampler_charge_account(sampler, process);
	sampler_end_file(sampler, process, mono_ns);
	sampler->processes[id_table_find(&sampler->pids, process->pid)] = NULL;
	sampler_leave_origin(sampler, process);
	sampler->n_live--;
	free(process);
}

/*
 * Whether the kernel only reports that a process has lost its events: when a
 * program gets other rights than its caller's, as a setuid program does, it ends
 * them directly after the execution.
 */
static bool
sampler_has_new_rights(const struct sampler *sampler,
                       const struct sampler_process *process)
{
	return !sampler->options->events.is_system && process->n_live == 1 &&
	    process->executed_ns != 0 && sampler->now_ns -
	        process->executed_ns < SAMPLER_RIGHTS_NS &&
	    task_of_process((pid_t)process->pid) != 0;
}

/* Notes a process that is to have events again, after the records. */
static int
sampler_note_regained(struct sampler *sampler, uint32_t pid,
                      struct error *error)
{
	if (memory_grow(&sampler->regained, &sampler->regained_capacity,
	                sampler->n_regained + 1, sizeof *sampler->regained,
	                error) != 0)
		return -1;
	sampler->regained[sampler->n_regained++] = pid;
	return 0;
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
	struct sampler_thread *parent;
	struct sampler_process *process;

	if (bytes_failed(&in))
		return 0;
	if (record->type == PERF_EXIT) {
		if (thread == NULL)
			return 0;
		process = thread->process;
		if (sampler_has_new_rights(sampler, process))
			return sampler_note_regained(sampler, pid, error);
		process->is_over = process->n_live == 1;
		if (process->is_over)
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
	sampler_begin_thread(sampler, thread);
	if (parent != NULL) {
		memcpy(thread->name, parent->name, sizeof thread->name);
		sampler_set_origin(sampler, thread->process,
		                   parent->process->origin);
		if (pid != parent_pid) {
			thread->process->is_elsewhere =
			    parent->process->is_elsewhere;
			if (sampler_inherit_program(sampler, thread->process,
			        parent->process, error) != 0)
				return -1;
		}
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
	const uint64_t passed = clock_ns(CLOCK_MONOTONIC) -
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
		process->start_mono_ns = process->executed_ns =
		    sampler->now_ns;
		process->cpu_begin_ns = process->cpu_ns;
		process->has_cpu = true;
		process->is_elsewhere = sample_held_is_elsewhere(pid);
		process->program = NO_NAME;
		process->n_started = 1;
	}
	snprintf(thread->name, sizeof thread->name, "%.*s",
	         (int)strnlen(name, in.size - in.offset), name);
	/* Views tell threads of one process apart by their present names. */
	if (thread->record != NULL)
		sample_thread_rename(thread->record, thread->name);
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

/* ---- what /proc tells of processes that run already ---- */

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

/*
 * Adds a line of the process's maps.  Memory without a file has the name that
 * the kernel gives it in records of mappings, so that generated code is known
 * to be code.
 */
static int
sampler_add_map_line(struct memory_map *map, const char *line, size_t length,
                     struct error *error)
{
	struct text_buffer named = { 0 };
	int result;

	if (strpbrk(line, "/[") != NULL)
		return memory_map_add_line(map, line, length, error);
	text_add_format(&named, "%.*s //anon", (int)length, line);
	result = named.failed ? error_out_of_memory(error) :
	    memory_map_add_line(map, text_string(&named), named.length, error);
	text_free(&named);
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
		result = sampler_add_map_line(map, line, (size_t)length -
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

static void
sampler_read_name(struct sampler_thread *thread)
{
	char path[64], name[SAMPLER_NAME + 1];

	snprintf(path, sizeof path, "task/%u/comm", thread->tid);
	name[sampler_read_file(thread->process->pid, path, name,
	                       SAMPLER_NAME)] = '\0';
	name[strcspn(name, "\n")] = '\0';
	snprintf(thread->name, sizeof thread->name, "%s", name);
}

/* ---- records ---- */

/* What a sample stands for: its period is longer than an interval. */
static uint64_t
sampler_sample_hits(const struct sampler *sampler, struct sampler_thread *thread,
                    unsigned kind)
{
	const uint64_t interval = sampler_interval(sampler, kind);
	const uint64_t counted = thread->rest[kind] +
	    sample_kind_period(sampler->options->events.kinds[kind].kind,
	                       sampler->options->events.kinds[kind].interval);

	thread->rest[kind] = counted % interval;
	return counted / interval;
}

/*
 * Learns of a process whose records were lost what it is.  (Without them, only
 * the sampling of the whole machine reaches it.)
 */
static int
sampler_meet(struct sampler *sampler, struct sampler_thread *thread,
             struct error *error)
{
	struct sampler_process *process = thread->process;

	sampler_read_name(thread);
	process->is_elsewhere = sample_held_is_elsewhere(process->pid);
	return sampler_read_maps(sampler, process->pid, (pid_t)thread->tid,
	                         error);
}

static int
sampler_add_sample(struct sampler *sampler, const struct perf_record *record,
                   struct error *error)
{
	const struct sample_events_options *options =
	    &sampler->options->events;
	struct sampler_thread *thread;
	struct sampler_ring *ring;
	struct perf_sample sample;
	unsigned resource;
	uint64_t hits;
	bool is_new;

	/* What cannot be read is no sample of these events. */
	if (perf_sample_read(&sample, sample_events_table(sampler->events),
	                     record, error) != 0 ||
	    sample.event == UINT32_MAX || sample.pid == 0)
		return error->is_set ? -1 : 0;
	/* A thread that has left its process has no number any more. */
	ring = sampler_need_ring(sampler, sample_events_ring(sampler->events),
	                         error);
	if (ring == NULL)
		return -1;
	if (sample.pid == UINT32_MAX || sample.tid == UINT32_MAX) {
		ring->lost += 1;
		return 0;
	}
	if (options->is_system && sample.pid == (uint32_t)getpid())
		return 0;
	/* Before Linux 5.13, child processes inherit the events. */
	if (options->is_alone &&
	    sampler_find_process(sampler, sample.pid) == NULL)
		return 0;
	is_new = options->is_system &&
	    sampler_find_process(sampler, sample.pid) == NULL;
	thread = sampler_need_thread(sampler, sample.pid, 0, sample.tid,
	                             error);
	if (thread == NULL ||
	    (is_new && sampler_meet(sampler, thread, error) != 0))
		return -1;
	resource = options->kinds[sample.event].resource;
	if (!sampler_need_record(sampler, thread, error)) {
		if (error->is_set)
			return -1;
		sample_file_drop(thread->process->file, CPPROFDATA_LOST_FULL,
		                 resource, 1, 1);
		return 0;
	}
	/* It runs.  If it waited, the end was lost; where, is not known for all
	 * of that time.  If that was read, it ran meanwhile. */
	thread->wait.path.n = 0;
	sampler_wait_end(sampler, thread, thread->wait.read_ns != 0 ? 0 :
	                 sample.time);
	if (options->kinds[sample.event].kind == &sample_kind_wait) {
		if (sampler_take_wait(sampler, thread, &sample, error) != 0)
			return -1;
	} else {
		hits = sampler_sample_hits(sampler, thread, sample.event);
		if (resource == sampler->wait_resource) {
			sampler_run_count(thread, hits);
			sample_file_note_drawn(thread->process->file, hits);
		}
		if (sampler_count(sampler, thread, &sample, resource, hits,
		                  error) != 0)
			return -1;
	}
	sampler_drop_lost(sampler, ring, thread->process, sample.event,
	                  sample.time, true);
	return 0;
}

/* A PERF_LOST record: { id, how many }. */
static int
sampler_take_lost(struct sampler *sampler, const struct perf_record *record,
                  struct error *error)
{
	struct sampler_ring *ring = sampler_need_ring(sampler,
	    sample_events_ring(sampler->events), error);

	if (ring == NULL)
		return -1;
	if (record->size < PERF_HEADER_SIZE + 16)
		return 0;
	ring->n_reported += perf_number_at(record->bytes + PERF_HEADER_SIZE + 8);
	sampler_note_lost(sampler, ring, ring->n_reported);
	return 0;
}

int
sampler_take(void *context, const struct perf_record *record,
             struct error *error)
{
	struct sampler *sampler = context;
	const uint64_t time = perf_events_time(
	    sample_events_table(sampler->events), record);
	struct error damage = { 0 };

	if (sampler->options->step != NULL)
		sampler->options->step(sampler->options->context);
	if (time > sampler->now_ns)
		sampler->now_ns = time;
	if (time > sampler->seen_ns)
		sampler->seen_ns = time;
	sampler->n_records += record->type != PERF_LOST;
	sampler->n_sample_records += record->type == PERF_SAMPLE;
	switch (record->type) {
	case PERF_SAMPLE:
		return sampler_add_sample(sampler, record, error);
	case PERF_SWITCH:
		sampler_apply_switch(sampler, record);
		return 0;
	case PERF_LOST:
		return sampler_take_lost(sampler, record, error);
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
	int status;

	sample_python_collect(sampler->python);
	status = sample_events_drain(sampler->events, sampler_take, sampler,
	                             error);
	sampler->seen_ns = sample_events_seen_ns(sampler->events);
	return status;
}

/* ---- processes that run already ---- */

/*
 * Adds the threads of a process that are not sampled yet, with what they spend to
 * that account; *n_new: how many there were.
 */
static int
sampler_scan(struct sampler *sampler, uint32_t pid, pid_t account,
             enum sample_begin begin, size_t *n_new, struct error *error)
{
	char path[64];
	const struct dirent *entry;
	DIR *directory;
	int result = 0;

	snprintf(path, sizeof path, "/proc/%u/task", pid);
	directory = opendir(path);
	*n_new = 0;
	while (result >= 0 && directory != NULL &&
	       (entry = readdir(directory)) != NULL) {
		const long tid = strtol(entry->d_name, NULL, 10);
		const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
		struct sampler_thread *thread;

		if (tid <= 0 || sampler_find_thread(sampler,
		                                    (uint32_t)tid) != NULL)
			continue;
		result = sampler->options->events.is_system ? 1 :
		    sample_events_add(sampler->events, account, (pid_t)tid,
		                      begin, error);
		if (result <= 0)
			continue;
		thread = sampler_need_thread(sampler, pid, 0, (uint32_t)tid,
		                             error);
		if (thread == NULL) {
			result = -1;
			continue;
		}
		sampler_read_name(thread);
		/* Of a program that is to be executed, the kernel reports it. */
		if (++*n_new == 1 && thread->process->n_live == 1 &&
		    begin == SAMPLE_NOW) {
			thread->process->is_elsewhere =
			    sample_held_is_elsewhere(pid);
			result = sampler_read_maps(sampler, pid, (pid_t)tid,
			                           error);
		}
		if (result >= 0 && begin == SAMPLE_NOW)
			result = sampler_find_wait(sampler, thread, begin_ns,
			                           error);
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
		has_all = sample_events_add(sampler->events, -1, -1,
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
			    sampler_origin(sampler, thread->process),
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

/*
 * Lets the sampler run at once when there is something to take, where this user
 * may: on a busy machine it would have its turn when the buffers have long been
 * full.  Niceness is not enough, as it counts only within a session.
 */
static void
sampler_hurry(struct sampler *sampler)
{
	const struct sched_param priority = { .sched_priority = 1 };

	sampler->policy = sched_getscheduler(0);
	if (sched_getparam(0, &sampler->priority) != 0 ||
	    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK,
	                       &priority) != 0)
		sampler->policy = -1;
}

static void
sampler_end_hurry(struct sampler *sampler)
{
	if (sampler->policy >= 0)
		sched_setscheduler(0, sampler->policy, &sampler->priority);
	sampler->policy = -1;
}

int
sampler_add_system(struct sampler *sampler, struct error *error)
{
	sampler_hurry(sampler);
	return sample_events_add(sampler->events, -1, -1, SAMPLE_NOW,
	                         error) < 0 ? -1 : 0;
}

int
sampler_add(struct sampler *sampler, pid_t pid, enum sample_begin begin,
            struct error *error)
{
	struct sampler_process *process;
	size_t n_new = 1;
	uint64_t cpu_ns = 0;

	sampler->now_ns = clock_ns(CLOCK_MONOTONIC);
	if (sampler_find_process(sampler, (uint32_t)pid) != NULL)
		return 0;
	sampler_cpu_time((uint32_t)pid, &cpu_ns);
	if (begin == SAMPLE_NOW && sampler->options->attend == NULL &&
	    sampler_kernel_begin(sampler, (uint32_t)pid, error) != 0)
		return -1;
	/* What is there from the beginning need not be made anew.  A process that
	 * executes a program says nothing of that. */
	if (begin == SAMPLE_NOW &&
	    sample_events_n_processors(sampler->events) == 0 &&
	    sample_interpreters_expect(pid)) {
		sample_events_watch(sampler->events);
		sampler->python_state = SAMPLER_WATCHES;
	}
	/*
	 * What a process does meanwhile is in the buffers, and is applied after
	 * what is read here.
	 */
	if (sampler->options->events.is_system) {
		if (sampler_scan(sampler, (uint32_t)pid, pid, begin, &n_new,
		                 error) != 0)
			return -1;
		n_new = 0;
	}
	/*
	 * Threads that are started meanwhile by one that is sampled already are
	 * reported, those of others are found by looking again.
	 */
	for (int i = 0; n_new > 0 && i < SAMPLER_SCANS_MAX; i++) {
		if (sampler_scan(sampler, (uint32_t)pid, pid, begin, &n_new,
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
	sample_events_remove(sampler->events, pid);
	sampler_remove_process(sampler, process, sampler->now_ns);
}

/* ---- orphans: threads that have not inherited all events ---- */

struct sampler_orphan {
	uint32_t tid, pid, parent_pid;
};

struct sampler_orphans {
	struct sampler_orphan *items;
	size_t n, capacity;
};

static int
sampler_orphans_add(struct sampler_orphans *orphans,
                    struct sampler_orphan orphan, struct error *error)
{
	if (memory_grow(&orphans->items, &orphans->capacity, orphans->n + 1,
	                sizeof *orphans->items, error) != 0)
		return -1;
	orphans->items[orphans->n++] = orphan;
	return 0;
}

/* Adds what a process has started, as far as that is not known. */
static int
sampler_find_children(const struct sampler *sampler, uint32_t pid,
                      struct sampler_orphans *orphans, struct error *error)
{
	size_t n = 0, capacity = 0;
	pid_t *children = NULL;
	int status = task_add_children((pid_t)pid, &children, &n, &capacity,
	                               error);

	for (size_t i = 0; status == 0 && i < n; i++) {
		const uint32_t child = (uint32_t)children[i];

		if (sampler_find_process(sampler, child) == NULL)
			status = sampler_orphans_add(orphans,
			    (struct sampler_orphan){ child, child, pid },
			    error);
	}
	free(children);
	return status;
}

/*
 * Gives a thread events that count for an account.  What it has done so far was
 * not reported: if it is all of a process, that may execute another program.
 */
static int
sampler_adopt_thread(struct sampler *sampler, struct sampler_thread *thread,
                     pid_t account, struct error *error)
{
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	struct sampler_process *process = thread->process;
	struct error why = { 0 };

	if (!sample_events_has(sampler->events, (pid_t)thread->tid) &&
	    sample_events_add(sampler->events, account, (pid_t)thread->tid,
	                      SAMPLE_NOW, &why) <= 0)
		return why.is_out_of_memory ? error_pass(error, &why) : 0;
	if (thread->record != NULL)
		return 0;		/* it has inherited them */
	sampler_read_name(thread);
	if (process->n_live == 1) {
		process->is_elsewhere = sample_held_is_elsewhere(process->pid);
		process->program = process->program_link = NO_NAME;
		if (sampler_read_maps(sampler, process->pid,
		                      (pid_t)thread->tid, error) != 0)
			return -1;
	}
	return sampler_find_wait(sampler, thread, begin_ns, error);
}

/*
 * Adopts a thread, the threads of its process that are not known, and notes what
 * it has started.  What may not be sampled is not.
 */
static int
sampler_adopt_one(struct sampler *sampler, const struct sampler_orphan *orphan,
                  struct sampler_orphans *orphans, struct error *error)
{
	const struct sampler_process *parent =
	    sampler_find_process(sampler, orphan->parent_pid);
	struct sampler_thread *thread = sampler_find_thread(sampler,
	                                                    orphan->tid);
	const pid_t account = thread != NULL ?
	    sampler_origin(sampler, thread->process) : parent != NULL ?
	    sampler_origin(sampler, parent) : (pid_t)orphan->pid;
	struct sampler_process *process;
	struct error why = { 0 };
	size_t n_new = 1;

	if (thread != NULL &&
	    sampler_adopt_thread(sampler, thread, account, error) != 0)
		return -1;
	for (int i = 0; n_new > 0 && i < SAMPLER_SCANS_MAX; i++)
		if (sampler_scan(sampler, orphan->pid, account, SAMPLE_NOW,
		                 &n_new, &why) != 0)
			return why.is_out_of_memory ?
			    error_pass(error, &why) : 0;
	process = sampler_find_process(sampler, orphan->pid);
	if (process == NULL)
		return 0;
	if (thread == NULL) {
		process->parent_pid = orphan->parent_pid;
		process->has_cpu = true;
		sampler_set_origin(sampler, process, id_table_find(
		    &sampler->pids, (uint64_t)account));
	}
	return sampler_find_children(sampler, process->pid, orphans, error);
}

/*
 * Gives new events to a process that the kernel has taken its from.  Only root may
 * have them; for others, it goes on without.
 */
static int
sampler_regain_one(struct sampler *sampler, struct sampler_process *process,
                   struct error *error)
{
	struct error why = { 0 };
	const int result = sample_events_add(sampler->events,
	    sampler_origin(sampler, process), (pid_t)process->pid, SAMPLE_NOW,
	    &why);

	if (result > 0)
		return sampler_read_maps(sampler, process->pid,
		                         (pid_t)process->pid, error);
	if (why.is_out_of_memory)
		return error_pass(error, &why);
	/* It was really its end that was reported. */
	if (result == 0)
		sampler_remove_process(sampler, process, sampler->now_ns);
	return 0;
}

static int
sampler_regain(struct sampler *sampler, struct error *error)
{
	while (!error->is_set && sampler->n_regained > 0) {
		struct sampler_process *process = sampler_find_process(sampler,
		    sampler->regained[--sampler->n_regained]);

		if (process != NULL && process->threads != NULL)
			sampler_regain_one(sampler, process, error);
	}
	return error->is_set ? -1 : 0;
}

static int
sampler_adopt(struct sampler *sampler, struct error *error)
{
	struct sampler_orphans orphans = { 0 };
	pid_t tid;

	while (!error->is_set &&
	       sample_events_next_orphan(sampler->events, &tid)) {
		const struct sampler_thread *thread =
		    sampler_find_thread(sampler, (uint32_t)tid);

		if (thread != NULL)
			sampler_orphans_add(&orphans, (struct sampler_orphan){
				thread->tid, thread->process->pid,
				thread->process->parent_pid }, error);
	}
	for (size_t i = 0; i < orphans.n && !error->is_set; i++) {
		const struct sampler_orphan orphan = orphans.items[i];

		sampler_adopt_one(sampler, &orphan, &orphans, error);
	}
	free(orphans.items);
	return error->is_set ? -1 : 0;
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
	sampler->first_fd = sampler->policy = -1;
	sampler->own_begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	sampler->cpu_kind = sampler->wait_resource = UINT_MAX;
	for (unsigned i = 0; i < options->events.n_kinds; i++) {
		const struct sample_kind *kind = options->events.kinds[i].kind;
		const struct count_kind *counted = count_kind_find(kind->name);

		if (counted->is_cpu_time)
			sampler->cpu_kind = i;
		if (counted->measures_waits && kind != &sample_kind_wait) {
			sampler->wait_resource =
			    options->events.kinds[i].resource;
			sampler->run_kind = i;
		}
	}
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
		sampler->python = sample_python_new(sampler->events,
		    sampler->profile, error);
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
	sampler_end_hurry(sampler);
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
	sampler_kernel_free(sampler);
	id_table_free(&sampler->pids);
	id_table_free(&sampler->tids);
	free(sampler->processes);
	free(sampler->n_inheritors);
	free(sampler->threads);
	free(sampler->path);
	free(sampler->rings);
	free(sampler->regained);
	free(sampler);
}

/*
 * Whether nothing of a process runs: it is gone, or nobody has waited for it
 * yet.  (A first thread that has ended before others is a zombie, too.)
 */
static bool
sampler_is_over(uint32_t pid)
{
	struct task task;

	return !task_read((pid_t)pid, &task) ||
	    (task.state == 'Z' && task.n_threads <= 1);
}

/*
 * Notes CPU times and waits that go on, and removes a process whose end was not
 * reported: one of them is looked at in turn.  Records of what it did may not be
 * taken yet when it is found to be over.
 */
static void
sampler_check(struct sampler *sampler)
{
	const uint32_t turn = sampler->n_checks++ % (sampler->pids.n + 1);

	/* Lost samples are not to be taken for other missing CPU time. */
	if (sample_events_were_full(sampler->events))
		sampler_note_all_lost(sampler);
	for (uint32_t i = 0; i < sampler->pids.n; i++) {
		struct sampler_process *process = sampler->processes[i];

		if (process == NULL)
			continue;
		for (struct sampler_thread *thread = process->threads;
		     thread != NULL; thread = thread->next)
			sampler_wait_count(sampler, thread, sampler->seen_ns);
		if (process->gone_ns == 0 &&
		    ((kill((pid_t)process->pid, 0) != 0 && errno == ESRCH) ||
		    (i == turn && sampler_is_over(process->pid))))
			process->gone_ns = clock_ns(CLOCK_MONOTONIC);
		if (process->gone_ns == 0)
			sampler_note_cpu(sampler, process);
		else if (process->gone_ns <= sampler->seen_ns)
			sampler_remove_process(sampler, process,
			                       sampler->now_ns);
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
	const uint64_t look_ns = sampler_kernel_next_ns(sampler);

	if (sampler->n_live == 0)
		return -1;
	if (sampler->options->events.looks_at_waits &&
	    sampler->next_look_ns < end_ns)
		end_ns = sampler->next_look_ns > now_ns ?
		    sampler->next_look_ns : now_ns;
	if (look_ns < end_ns)
		end_ns = look_ns > now_ns ? look_ns : now_ns;
	return (end_ns - now_ns) / 1000000 < (uint64_t)wait_ms ?
	    (int)((end_ns - now_ns) / 1000000) + 1 : wait_ms;
}

/* Takes the records after a look, which say who has waited all the time. */
static int
sampler_look_settle_all(struct sampler *sampler, struct error *error)
{
	const int status = sampler_drain(sampler, error);
	struct sampler_thread *thread;

	for (uint32_t i = 0; i < sampler->pids.n; i++)
		for (thread = sampler->processes[i] == NULL ? NULL :
		     sampler->processes[i]->threads; thread != NULL;
		     thread = thread->next)
			sampler_look_settle(sampler, thread,
			                    sampler->seen_ns);
	return status;
}

/*
 * Looks where all threads are.  Where records are delivered later than others,
 * as with Python, the look before is settled only now.
 */
static int
sampler_look(struct sampler *sampler, struct error *error)
{
	int status = sampler->seen_ns < sampler->look_ns ?
	    sampler_look_settle_all(sampler, error) : 0;
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct sampler_thread *thread;

	sampler->looks_for_ns = sampler->look_ns == 0 ? 0 :
	    now_ns - sampler->look_ns;
	sampler->look_ns = now_ns;
	sampler->next_look_ns = now_ns + SAMPLER_LOOK_NS / 2 +
	    sampler_random(sampler, SAMPLER_LOOK_NS);
	for (uint32_t i = 0; status == 0 && i < sampler->pids.n; i++)
		for (thread = sampler->processes[i] == NULL ? NULL :
		     sampler->processes[i]->threads; status == 0 &&
		     thread != NULL; thread = thread->next)
			status = sampler_look_at(sampler, thread, error);
	return status == 0 ? sampler_look_settle_all(sampler, error) : -1;
}

/* The recording ends, though processes may run on. */
static int
sampler_end(struct sampler *sampler, struct error *error)
{
	uint64_t kernel_ns;
	struct error why = { 0 };
	int status;

	sample_events_stop(sampler->events);
	sampler_kernel_look(sampler, true);
	status = sampler_drain(sampler, &why);
	if (status != 0 && !error->is_set)
		error_pass(error, &why);
	sampler_note_all_lost(sampler);
	sampler->is_ending = true;
	sampler->now_ns = clock_ns(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < sampler->pids.n; i++)
		if (sampler->processes[i] != NULL &&
		    sampler->processes[i]->origin == i)
			sampler_charge_account(sampler, sampler->processes[i]);
	for (uint32_t i = 0; i < sampler->pids.n; i++)
		if (sampler->processes[i] != NULL)
			sampler_remove_process(sampler, sampler->processes[i],
			                       sampler->now_ns);
	kernel_ns = sampler_kernel_ns(sampler);
	sampler->result.unsampled_ns =
	    kernel_ns > sampler->result.counted_ns ?
	    kernel_ns - sampler->result.counted_ns : 0;
	return status;
}

int
sampler_run(struct sampler *sampler, struct sampler_result *result,
            struct error *error)
{
	const uint64_t duration_ns = sampler->options->duration_ns;
	const uint64_t end_ns = duration_ns == 0 ? UINT64_MAX :
	    clock_ns(CLOCK_MONOTONIC) + duration_ns;
	bool is_over = false;
	int status = 0;

	while (status == 0 && !is_over && !interrupt_requested &&
	       (sampler->n_live > 0 || sampler->options->attend != NULL)) {
		const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		if (now_ns >= end_ns || (sampler->options->ends_with_first &&
		    sampler_find_process(sampler, sampler->first) == NULL))
			break;
		if (sample_events_wait(sampler->events, sampler->first_fd,
		        sampler->options->attend != NULL ?
		        sampler->options->asking : -1,
		        sampler_wait_ms(sampler, now_ns, end_ns))) {
			close(sampler->first_fd);
			sampler->first_fd = -1;
			sampler_kernel_look(sampler, true);
		}
		sampler_kernel_look(sampler, false);
		if (sampler->options->attend != NULL)
			is_over = sampler->options->attend(
			    sampler->options->context, sampler);
		status = sampler->options->events.looks_at_waits &&
		    clock_ns(CLOCK_MONOTONIC) >= sampler->next_look_ns ?
		    sampler_look(sampler, error) :
		    sampler_drain(sampler, error);
		if (status == 0 && (sampler->python_state ==
		        SAMPLER_WANTS_PYTHON || sampler->python_state ==
		        SAMPLER_WATCHES))
			status = sampler_begin_python(sampler, error);
		if (status == 0 && sampler->n_late >= SAMPLER_LATE_MAX)
			status = sampler_grow(sampler, error);
		if (status == 0)
			status = sampler_regain(sampler, error);
		if (status == 0)
			status = sampler_adopt(sampler, error);
		if (status == 0 && now_ns >= sampler->next_check_ns) {
			sampler_check(sampler);
			sampler->next_check_ns = now_ns + SAMPLER_CHECK_NS;
		}
	}
	if (sampler_end(sampler, error) != 0)
		status = -1;
	sampler_end_hurry(sampler);
	sampler->result.own_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) -
	    sampler->own_begin_ns;
	sampler->result.n_side_lost =
	    sample_events_n_side_lost(sampler->events);
	sampler->result.sees_kernel =
	    sample_events_see_kernel(sampler->events);
	*result = sampler->result;
	result->held = sampler->held;
	sampler->held = NULL;	/* and nothing is sampled any more */
	return status;
}
