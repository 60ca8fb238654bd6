/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampler_kernel.c -- what the kernel counts for the sampled processes.
 *
 * It counts for each process the CPU time of the processes that it has waited
 * for, with their beginnings and ends, which no event sees.  So the sum over the
 * processes that were added, from the beginning to the end, is all that they and
 * what they started have used; but for what still runs, or what nobody has waited
 * for.
 *
 * What they had started before is not sampled.  If such a process ends, all of its
 * time moves into the sum of the one that waits for it, and is taken out again.
 */
#include "src/sample/sampler.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/base/task.h"

#define NO_RELATIVE SIZE_MAX
#define KERNEL_LOOK_NS 20000000	/* from one look to the next, or so many times */
#define KERNEL_LOOK_TIMES 50		/* as long as the last one took */

struct sampler_family {
	uint64_t next_ns;	/* the next look */
	struct sampler_relative {
		uint32_t pid;
		bool is_added;		/* not only started by such a one */
		size_t parent;		/* among these; NO_RELATIVE: none */
		bool has_ended;		/* by the last look */
		uint64_t start;		/* struct task */
		uint64_t begin_ns, last_ns;	/* used by then, with what it
						 * had waited for */
	} *items;
	size_t n, capacity;
};

/* What a process and those that it has waited for have used. */
static bool
sampler_kernel_time(const struct sampler_relative *relative, uint64_t *ns)
{
	const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	struct task task;
	uint64_t own_ns;

	if (!task_read((pid_t)relative->pid, &task) ||
	    task.start != relative->start ||
	    !sampler_cpu_time(relative->pid, &own_ns))
		return false;
	*ns = own_ns + task.waited * tick_ns;
	return true;
}

static size_t
sampler_family_find(const struct sampler_family *family, uint32_t pid)
{
	size_t i = 0;

	while (i < family->n && family->items[i].pid != pid)
		i++;
	return i < family->n ? i : NO_RELATIVE;
}

/* Adds a process, unless it has ended or is there. */
static int
sampler_family_add(struct sampler_family *family, uint32_t pid, bool is_added,
                   struct error *error)
{
	size_t at = sampler_family_find(family, pid);
	struct sampler_relative *relative;
	struct task task;

	if (!task_read((pid_t)pid, &task))
		return 0;
	if (at == NO_RELATIVE) {
		at = family->n;
		if (memory_grow(&family->items, &family->capacity, at + 1,
		                sizeof *family->items, error) != 0)
			return -1;
		family->items[family->n++] = (struct sampler_relative){
			.pid = pid, .start = task.start
		};
	}
	relative = &family->items[at];
	relative->parent = sampler_family_find(family, (uint32_t)task.parent);
	/* It counts from when it is added. */
	if (relative->begin_ns == 0 || (is_added && !relative->is_added)) {
		sampler_kernel_time(relative, &relative->begin_ns);
		relative->last_ns = relative->begin_ns;
	}
	relative->is_added |= is_added;
	return 0;
}

/* The processes that a thread has started. */
static int
sampler_family_add_children(struct sampler_family *family, uint32_t pid,
                            const char *tid, struct error *error)
{
	uint32_t child;
	int status = 0;
	char path[96];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%u/task/%.20s/children", pid, tid);
	file = fopen(path, "re");
	while (status == 0 && file != NULL &&
	       fscanf(file, "%" SCNu32, &child) == 1)
		status = sampler_family_add(family, child, false, error);
	if (file != NULL)
		fclose(file);
	return status;
}

static int
sampler_family_add_of(struct sampler_family *family, uint32_t pid,
                      struct error *error)
{
	const struct dirent *entry;
	int status = 0;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof path, "/proc/%u/task", pid);
	threads = opendir(path);
	while (status == 0 && threads != NULL &&
	       (entry = readdir(threads)) != NULL)
		if (entry->d_name[0] != '.')
			status = sampler_family_add_children(family, pid,
			    entry->d_name, error);
	if (threads != NULL)
		closedir(threads);
	return status;
}

int
sampler_kernel_begin(struct sampler *sampler, uint32_t pid, struct error *error)
{
	struct sampler_family *family = sampler->family;
	size_t at;

	if (sampler->options->events.is_system ||
	    sampler->options->events.is_alone)
		return 0;
	if (family == NULL)
		family = sampler->family = memory_array(1, sizeof *family,
		                                        error);
	if (family == NULL ||
	    sampler_family_add(family, pid, true, error) != 0)
		return -1;
	at = sampler_family_find(family, pid);
	for (; at < family->n; at++)
		if (sampler_family_add_of(family, family->items[at].pid,
		                          error) != 0)
			return -1;
	return 0;
}

bool
sampler_kernel_has(const struct sampler *sampler, uint32_t pid)
{
	const size_t at = sampler->family == NULL ? NO_RELATIVE :
	    sampler_family_find(sampler->family, pid);

	return at != NO_RELATIVE && sampler->family->items[at].is_added;
}

void
sampler_kernel_look(struct sampler *sampler, bool is_last)
{
	struct sampler_family *family = sampler->family;
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t rest_ns;

	if (family == NULL || (!is_last && begin_ns < family->next_ns))
		return;
	for (size_t i = 0; i < family->n; i++)
		if (!family->items[i].has_ended)
			family->items[i].has_ended = !sampler_kernel_time(
			    &family->items[i], &family->items[i].last_ns);
	rest_ns = KERNEL_LOOK_TIMES * (clock_ns(CLOCK_MONOTONIC) - begin_ns);
	family->next_ns = begin_ns +
	    (rest_ns > KERNEL_LOOK_NS ? rest_ns : KERNEL_LOOK_NS);
}

/*
 * When a process ends, its sum moves into that of its parent.  Of a process that
 * was added, what it had used before is not wanted there, and of another all.
 */
uint64_t
sampler_kernel_ns(const struct sampler *sampler)
{
	const struct sampler_family *family = sampler->family;
	uint64_t more_ns = 0, less_ns = 0;

	for (size_t i = 0; family != NULL && i < family->n; i++) {
		const struct sampler_relative *relative = &family->items[i];
		const bool has_moved = relative->has_ended &&
		    relative->parent != NO_RELATIVE &&
		    family->items[relative->parent].is_added;

		if (has_moved)
			less_ns += relative->is_added ? relative->begin_ns :
			    relative->last_ns;
		else if (relative->is_added)
			more_ns += relative->last_ns - relative->begin_ns;
	}
	return more_ns > less_ns ? more_ns - less_ns : 0;
}

void
sampler_kernel_free(struct sampler *sampler)
{
	if (sampler->family != NULL)
		free(sampler->family->items);
	free(sampler->family);
}
