/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_tasks.c -- the processes and threads that perf watched. */
#include "src/formats/perf/perf_tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

enum { NAME_SIZE = 64 };	/* of a thread; the kernel's has 16 */

struct perf_task {
	uint32_t tid, pid;
	char name[NAME_SIZE];	/* empty: unknown */
	uint32_t number;	/* in the profile, UINT32_MAX: not yet */
};

void
perf_tasks_free(struct perf_tasks *tasks)
{
	free(tasks->processes);
	free(tasks->tasks);
	id_table_free(&tasks->pids);
	id_table_free(&tasks->tids);
}

struct perf_process *
perf_tasks_process(struct perf_tasks *tasks, uint32_t pid, struct error *error)
{
	uint32_t number = id_table_add(&tasks->pids, pid, error);

	if (number == NO_ID)
		return NULL;
	if (number == tasks->n_processes) {
		if (memory_grow(&tasks->processes,
		                &tasks->processes_capacity,
		                tasks->n_processes + 1,
		                sizeof *tasks->processes, error) != 0)
			return NULL;
		tasks->processes[tasks->n_processes++] =
		    (struct perf_process){ .pid = pid, .number = UINT32_MAX };
	}
	return &tasks->processes[number];
}

/* NULL with *error set; good until the next call. */
static struct perf_task *
find_task(struct perf_tasks *tasks, uint32_t pid, uint32_t tid,
            struct error *error)
{
	uint32_t number = id_table_add(&tasks->tids,
	                               (uint64_t)pid << 32 | tid, error);

	if (number == NO_ID)
		return NULL;
	if (number == tasks->n_tasks) {
		if (memory_grow(&tasks->tasks, &tasks->tasks_capacity,
		                tasks->n_tasks + 1,
		                sizeof *tasks->tasks, error) != 0)
			return NULL;
		tasks->tasks[tasks->n_tasks++] = (struct perf_task){
			.tid = tid, .pid = pid, .number = UINT32_MAX };
	}
	return &tasks->tasks[number];
}

/* The process's number in the profile, UINT32_MAX with *error set. */
static uint32_t
enter_process(struct perf_tasks *tasks, uint32_t pid, const char *name,
              struct error *error)
{
	struct perf_process *watched = perf_tasks_process(tasks, pid, error);
	struct process process = { .pid = pid, .program = name };

	if (watched == NULL)
		return UINT32_MAX;
	process.parent_pid = watched->parent;
	if (watched->number == UINT32_MAX)
		watched->number = profile_add_process(tasks->profile,
		                                      &process, error);
	return watched->number;
}

uint32_t
perf_tasks_thread(struct perf_tasks *tasks, uint32_t pid, uint32_t tid,
                   struct error *error)
{
	struct perf_task *task = find_task(tasks, pid, tid, error);
	struct thread thread = { .tid = tid };

	if (task == NULL)
		return UINT32_MAX;
	if (task->number != UINT32_MAX)
		return task->number;
	if (task->name[0] == '\0')	/* as perf calls an unknown one */
		snprintf(task->name, sizeof task->name, ":%u", tid);
	thread.name = task->name;
	thread.process = enter_process(tasks, pid, task->name, error);
	if (thread.process == UINT32_MAX)
		return UINT32_MAX;
	task->number = profile_add_thread(tasks->profile, &thread, error);
	return task->number;
}

int
perf_tasks_rename(struct perf_tasks *tasks, uint32_t pid, uint32_t tid,
                  const char *name, struct error *error)
{
	struct perf_task *task = find_task(tasks, pid, tid, error);

	if (task == NULL)
		return -1;
	if (strncmp(task->name, name, sizeof task->name - 1) != 0)
		task->number = UINT32_MAX;
	snprintf(task->name, sizeof task->name, "%s", name);
	return 0;
}

int
perf_tasks_fork(struct perf_tasks *tasks, uint32_t pid, uint32_t tid,
                uint32_t parent_pid, uint32_t parent_tid, struct error *error)
{
	struct perf_task *task = find_task(tasks, parent_pid, parent_tid,
	                                   error);
	char name[NAME_SIZE];

	if (task == NULL)
		return -1;
	memcpy(name, task->name, sizeof name);
	task = find_task(tasks, pid, tid, error);
	if (task == NULL)
		return -1;
	memcpy(task->name, name, sizeof name);
	task->number = UINT32_MAX;
	return 0;
}
