/* SPDX-License-Identifier: GPL-3.0-or-later */
/* task.c -- reads the state of a thread from /proc. */
#include "src/base/task.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

bool
task_read(pid_t tid, struct task *task)
{
	char path[64], line[1024];
	uint64_t user, kernel;
	const char *end;
	FILE *file;
	size_t n;

	/* In /proc/TID/stat, the kernel would add up all threads. */
	snprintf(path, sizeof path, "/proc/%ld/task/%ld/stat", (long)tid,
	         (long)tid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	n = fread(line, 1, sizeof line - 1, file);
	fclose(file);
	line[n] = '\0';
	/* The name before it may have spaces and parentheses. */
	end = strrchr(line, ')');
	if (end == NULL || sscanf(end + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u "
	    "%*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %*d %*d %ld %*d %" SCNu64,
	    &task->state, &task->parent, &user, &kernel, &task->n_threads,
	    &task->start) != 6)
		return false;
	task->waited = user + kernel;
	return true;
}

static bool
task_is_over(pid_t tid)
{
	struct task task;

	return !task_read(tid, &task) || task.state == 'Z' || task.state == 'X';
}

pid_t
task_of_process(pid_t pid)
{
	const struct dirent *entry;
	char path[64];
	DIR *threads;
	pid_t found = 0;

	if (!task_is_over(pid))
		return pid;
	snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
	threads = opendir(path);
	while (found == 0 && threads != NULL &&
	       (entry = readdir(threads)) != NULL) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !task_is_over(tid))
			found = tid;
	}
	if (threads != NULL)
		closedir(threads);
	return found;
}

static int
task_add_children_of(pid_t pid, const char *tid, pid_t **pids, size_t *n,
                     size_t *capacity, struct error *error)
{
	int child, status = 0;
	char path[96];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%ld/task/%.20s/children", (long)pid,
	         tid);
	file = fopen(path, "re");
	while (status == 0 && file != NULL && fscanf(file, "%d", &child) == 1) {
		status = memory_grow(pids, capacity, *n + 1, sizeof **pids,
		                     error);
		if (status == 0)
			(*pids)[(*n)++] = child;
	}
	if (file != NULL)
		fclose(file);
	return status;
}

int
task_add_children(pid_t pid, pid_t **pids, size_t *n, size_t *capacity,
                  struct error *error)
{
	const struct dirent *entry;
	char path[64];
	DIR *threads;
	int status = 0;

	snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
	threads = opendir(path);
	while (status == 0 && threads != NULL &&
	       (entry = readdir(threads)) != NULL)
		if (entry->d_name[0] != '.')
			status = task_add_children_of(pid, entry->d_name, pids,
			                              n, capacity, error);
	if (threads != NULL)
		closedir(threads);
	return status;
}
