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

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/base/task.h"

#define SAMPLER_KERNEL_NONE SIZE_MAX
#define KERNEL_LOOK_NS 20000000	/* from one look to the next, or so many times */
#define KERNEL_LOOK_TIMES 50		/* as long as the last one took */

struct sampler_kernel {
	uint64_t next_ns;	/* the next look */
	bool is_busy;		/* they used something before the last one */
	struct sampler_kernel_process {
		uint32_t pid;
		bool is_added;		/* not only started by such a one */
		size_t parent;		/* or SAMPLER_KERNEL_NONE */
		bool has_ended;		/* by the last look */
		uint64_t start;		/* struct task */
		uint64_t begin_ns, last_ns;	/* used by then, with what it
						 * had waited for */
	} *items;
	size_t n, capacity;
};

/* What a process and those that it has waited for have used. */
static bool
sampler_kernel_time(const struct sampler_kernel_process *process, uint64_t *ns)
{
	const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	struct task task;
	uint64_t own_ns;

	if (!task_read((pid_t)process->pid, &task) ||
	    task.start != process->start ||
	    !sampler_cpu_time(process->pid, &own_ns))
		return false;
	*ns = own_ns + task.waited * tick_ns;
	return true;
}

/* Not if it cannot be read, as where there are no descriptors. */
static bool
sampler_kernel_is_over(const struct sampler_kernel_process *process)
{
	struct task task;

	return task_read((pid_t)process->pid, &task) ?
	    task.start != process->start || task.state == 'Z' :
	    kill((pid_t)process->pid, 0) != 0 && errno == ESRCH;
}

static bool
sampler_kernel_counts_time(const struct sampler *sampler)
{
	const struct sample_events_options *events = &sampler->options->events;

	return sampler->cpu_kind != UINT_MAX && !events->is_system &&
	    !events->is_alone;
}

static size_t
sampler_kernel_find(const struct sampler_kernel *kernel, uint32_t pid)
{
	size_t i = 0;

	while (i < kernel->n && kernel->items[i].pid != pid)
		i++;
	return i < kernel->n ? i : SAMPLER_KERNEL_NONE;
}

/* Adds a process, unless it has ended or is there. */
static int
sampler_kernel_add(struct sampler_kernel *kernel, uint32_t pid, bool is_added,
                   struct error *error)
{
	size_t at = sampler_kernel_find(kernel, pid);
	struct sampler_kernel_process *process;
	struct task task;

	if (!task_read((pid_t)pid, &task))
		return 0;
	if (at == SAMPLER_KERNEL_NONE) {
		at = kernel->n;
		if (memory_grow(&kernel->items, &kernel->capacity, at + 1,
		                sizeof *kernel->items, error) != 0)
			return -1;
		kernel->items[kernel->n++] = (struct sampler_kernel_process){
			.pid = pid, .start = task.start
		};
	}
	process = &kernel->items[at];
	process->parent = sampler_kernel_find(kernel, (uint32_t)task.parent);
	/* It counts from when it is added. */
	if (process->begin_ns == 0 || (is_added && !process->is_added)) {
		sampler_kernel_time(process, &process->begin_ns);
		process->last_ns = process->begin_ns;
	}
	process->is_added |= is_added;
	return 0;
}

/* Adds what a process has started. */
static int
sampler_kernel_add_children(struct sampler_kernel *kernel, uint32_t pid,
                            struct error *error)
{
	size_t n = 0, capacity = 0;
	pid_t *children = NULL;
	int status = task_add_children((pid_t)pid, &children, &n, &capacity,
	                               error);

	for (size_t i = 0; status == 0 && i < n; i++)
		status = sampler_kernel_add(kernel, (uint32_t)children[i],
		                            false, error);
	free(children);
	return status;
}

int
sampler_kernel_begin(struct sampler *sampler, uint32_t pid, struct error *error)
{
	struct sampler_kernel *kernel = sampler->kernel;
	size_t at;

	if (!sampler_kernel_counts_time(sampler))
		return 0;
	if (kernel == NULL)
		kernel = sampler->kernel = memory_array(1, sizeof *kernel,
		                                        error);
	if (kernel == NULL ||
	    sampler_kernel_add(kernel, pid, true, error) != 0)
		return -1;
	at = sampler_kernel_find(kernel, pid);
	for (; at < kernel->n; at++)
		if (sampler_kernel_add_children(kernel, kernel->items[at].pid,
		                                error) != 0)
			return -1;
	return 0;
}

bool
sampler_kernel_has(const struct sampler *sampler, uint32_t pid)
{
	const size_t at = sampler->kernel == NULL ? SAMPLER_KERNEL_NONE :
	    sampler_kernel_find(sampler->kernel, pid);

	return at != SAMPLER_KERNEL_NONE && sampler->kernel->items[at].is_added;
}

uint64_t
sampler_kernel_next_ns(const struct sampler *sampler)
{
	return sampler->kernel != NULL && sampler->kernel->is_busy ?
	    sampler->kernel->next_ns : UINT64_MAX;
}

void
sampler_kernel_look(struct sampler *sampler, bool is_last)
{
	struct sampler_kernel *kernel = sampler->kernel;
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t rest_ns;

	if (kernel == NULL || (!is_last && begin_ns < kernel->next_ns))
		return;
	kernel->is_busy = false;
	for (size_t i = 0; i < kernel->n; i++) {
		struct sampler_kernel_process *process = &kernel->items[i];
		const uint64_t before_ns = process->last_ns;

		if (!process->has_ended &&
		    !sampler_kernel_time(process, &process->last_ns))
			process->has_ended = sampler_kernel_is_over(process);
		kernel->is_busy |= process->last_ns != before_ns;
	}
	rest_ns = KERNEL_LOOK_TIMES * (clock_ns(CLOCK_MONOTONIC) - begin_ns);
	kernel->next_ns = begin_ns +
	    (rest_ns > KERNEL_LOOK_NS ? rest_ns : KERNEL_LOOK_NS);
}

/*
 * When a process ends, its sum moves into that of its parent.  Of a process that
 * was added, what it had used before is not wanted there, and of another all.
 */
uint64_t
sampler_kernel_ns(const struct sampler *sampler)
{
	const struct sampler_kernel *kernel = sampler->kernel;
	uint64_t more_ns = 0, less_ns = 0;

	for (size_t i = 0; kernel != NULL && i < kernel->n; i++) {
		const struct sampler_kernel_process *process =
		    &kernel->items[i];
		const bool has_moved = process->has_ended &&
		    process->parent != SAMPLER_KERNEL_NONE &&
		    kernel->items[process->parent].is_added;

		if (has_moved)
			less_ns += process->is_added ? process->begin_ns :
			    process->last_ns;
		else if (process->is_added)
			more_ns += process->last_ns - process->begin_ns;
	}
	return more_ns > less_ns ? more_ns - less_ns : 0;
}

void
sampler_kernel_free(struct sampler *sampler)
{
	if (sampler->kernel != NULL)
		free(sampler->kernel->items);
	free(sampler->kernel);
}
