/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampler_kernel.c -- what the kernel counts for the sampled processes.
 *
 * It counts for each process the CPU time of the processes that it has waited
 * for, with their beginnings and ends, which no event sees.  So the sum over the
 * processes that were added, from the beginning to the end, is all that they and
 * what they started have used; but for what still runs, or what nobody has waited
 * for.
 *
 * What they had started before was not sampled.  If such a process ends, all of
 * its time moves into the sum of the one that waits for it: what it had used at
 * the beginning is taken out again.
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

#define KERNEL_LOOK_NS 20000000	/* from one look to the next, or so many times */
#define KERNEL_LOOK_TIMES 50		/* as long as the last one took */

struct sampler_family {
	uint64_t next_ns;	/* the next look */
	struct sampler_relative {
		uint32_t pid;
		bool is_added;		/* not only started by such a one */
		bool has_parent;	/* among these */
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

static struct sampler_relative *
sampler_family_find(const struct sampler_family *family, uint32_t pid)
{
	for (size_t i = 0; i < family->n; i++)
		if (family->items[i].pid == pid)
			return &family->items[i];
	return NULL;
}

/* Adds a process, unless it has ended or is there. */
static int
sampler_family_add(struct sampler_family *family, uint32_t pid, bool is_added,
                   struct error *error)
{
	struct sampler_relative *relative = sampler_family_find(family, pid);
	struct task task;

	if (relative == NULL && task_read((pid_t)pid, &task)) {
		if (memory_grow(&family->items, &family->capacity,
		                family->n + 1, sizeof *family->items,
		                error) != 0)
			return -1;
		relative = &family->items[family->n++];
		*relative = (struct sampler_relative){
			.pid = pid, .start = task.start,
			.has_parent = sampler_family_find(family,
			    (uint32_t)task.parent) != NULL,
		};
		sampler_kernel_time(relative, &relative->begin_ns);
		relative->last_ns = relative->begin_ns;
	}
	if (relative != NULL)
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
	size_t at;

	if (sampler->options->events.is_system ||
	    sampler->options->events.is_alone)
		return 0;
	if (sampler->family == NULL)
		sampler->family = memory_array(1, sizeof *sampler->family,
		                               error);
	if (sampler->family == NULL)
		return -1;
	at = sampler->family->n;
	if (sampler_family_add(sampler->family, pid, true, error) != 0)
		return -1;
	for (; at < sampler->family->n; at++)
		if (sampler_family_add_of(sampler->family,
		        sampler->family->items[at].pid, error) != 0)
			return -1;
	return 0;
}

bool
sampler_kernel_has(const struct sampler *sampler, uint32_t pid)
{
	const struct sampler_relative *relative = sampler->family == NULL ?
	    NULL : sampler_family_find(sampler->family, pid);

	return relative != NULL && relative->is_added;
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
		family->items[i].has_ended = !sampler_kernel_time(
		    &family->items[i], &family->items[i].last_ns);
	rest_ns = KERNEL_LOOK_TIMES * (clock_ns(CLOCK_MONOTONIC) - begin_ns);
	family->next_ns = begin_ns +
	    (rest_ns > KERNEL_LOOK_NS ? rest_ns : KERNEL_LOOK_NS);
}

uint64_t
sampler_kernel_ns(const struct sampler *sampler)
{
	uint64_t more_ns = 0, less_ns = 0;

	for (size_t i = 0; sampler->family != NULL && i < sampler->family->n;
	     i++) {
		const struct sampler_relative *relative =
		    &sampler->family->items[i];

		if (relative->has_ended && relative->has_parent)
			less_ns += relative->begin_ns;
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
