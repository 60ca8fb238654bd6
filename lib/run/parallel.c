/* SPDX-License-Identifier: MIT */
/* parallel.c -- whether a sample of CPU time is one of `latency`, too.
 *
 * A sample counts as latency with the probability 1 / n if n recorded threads
 * run at that moment, its own included.  So hits of latency are whole ones, and
 * what they stand for is, on average, the time in which any thread ran.
 *
 * n is not counted; runners are found one after the other.  The sample is kept
 * when the k-th is found with the probability (k - 1) / k, so that it is kept
 * with 1 / n after all n, and the search ends as soon as it is not.
 *
 * Threads of this process: the kernel brings the clock of a running thread up
 * to date when another one reads it.  So a thread runs now if and only if its
 * clock advances between two reads; that of a thread that has slept since
 * somebody looked last needs one.  A read takes 0.2 microseconds.  So each
 * thread is asked that was seen to have run lately, and of the others a few,
 * in turn: what these miss is at most the little that such threads run.  Of
 * very many, only every so many-th is asked, and stands for as many.
 *
 * Other processes: their clocks are updated only when the kernel's tick finds
 * them or they stop running.  One that has not advanced for a while sleeps.  Of
 * one that has used much CPU time lately, the kernel tells the state and
 * processor, by a file in /proc, which takes 4 microseconds.  One that could
 * run may wait for its processor, perhaps behind programs that are not
 * recorded: then it counts with the share that it got lately of the time in
 * which it could run.  Others, those with several threads, and all where the
 * file cannot be read, count with the number that ran lately on average.  A
 * process with several threads never opens a file here: another thread of the
 * program, which opens one at that moment, might expect the same descriptor.
 */
#include "lib/run/sample.h"

#include <sched.h>
#include <stddef.h>

#include "lib/base/attributes.h"
#include "lib/base/proc.h"
#include "lib/base/process.h"
#include "lib/base/shared.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#define MOST_ASKED 256			/* threads at a sample */
#define SLEEPERS_ASKED 16		/* of those that did not run lately */
#define LATELY_NS 100000000
#define ASLEEP_NS 30000000		/* since the clock has advanced */
#define MEASURE_NS 40000000		/* at least between two measurements */
#define LEAST_NS 2000000		/* of time to run, for one */
#define ONE CPPROF_SHARED_ONE
#define MUCH (ONE / 8)			/* of a processor */
#define THREADS_MAX (1024 * ONE)

/* The search for threads that run, at one sample. */
struct search {
	struct thread *self;
	uint64_t now_ns;
	uint64_t n;		/* found so far */
	uint64_t random;
	bool is_kept;
	bool reads_files;
};

static uint64_t
parallel_draw(struct search *search)
{
	search->random++;
	return meter_random(search->random);
}

/* Another n threads run. */
static void
parallel_find(struct search *search, uint64_t n)
{
	search->n += n;
	if (parallel_draw(search) % search->n < n)
		search->is_kept = false;
}

/* With that probability, in 1 / ONE, or so many and one more with it. */
static void
parallel_find_part(struct search *search, uint64_t n)
{
	const uint64_t whole = n / ONE +
	    (parallel_draw(search) % ONE < n % ONE);

	if (whole > 0)
		parallel_find(search, whole);
}

/* ---- threads of this process ---- */

static bool
parallel_is_other(const struct search *search, const struct thread *thread)
{
	return thread != search->self && thread->run->stage == THREAD_RUNNING;
}

static bool
parallel_ran_lately(const struct search *search, const struct thread *thread)
{
	return search->now_ns - thread->run->ran_ns < LATELY_NS;
}

/* Others may look at the same thread at the same time, which does no harm. */
static bool
parallel_runs(const struct search *search, struct thread *thread)
{
	const uint64_t before = thread->run->looked_at_ns;
	const uint64_t first = process_thread_cpu_time(thread->tid);
	uint64_t second;

	if (first == before || first == 0)
		return false;
	second = process_thread_cpu_time(thread->tid);
	thread->run->looked_at_ns = second;
	thread->run->ran_ns = search->now_ns;
	return second > first;
}

static void
parallel_search_threads(struct search *search)
{
	struct thread *const all = *search->self->run->all, *thread;
	size_t n = 0, n_late = 0, step, late = 0, sleeper;

	for (thread = all; thread != NULL; thread = thread->next)
		if (parallel_is_other(search, thread)) {
			n++;
			n_late += parallel_ran_lately(search, thread);
		}
	search->reads_files = n == 0 && !process.reads_no_files;
	if (n == 0)
		return;
	step = n_late / MOST_ASKED + 1;
	late = parallel_draw(search) % step;
	sleeper = parallel_draw(search) % n;
	for (thread = all; thread != NULL && search->is_kept;
	    thread = thread->next) {
		if (!parallel_is_other(search, thread))
			continue;
		if (parallel_ran_lately(search, thread)) {
			if (late++ % step == 0 && parallel_runs(search, thread))
				parallel_find(search, step);
		} else if (sleeper++ % n < SLEEPERS_ASKED &&
		    parallel_runs(search, thread)) {
			parallel_find(search, 1);
		}
	}
}

/* ---- other processes ---- */

enum parallel_state {
	PARALLEL_UNKNOWN, PARALLEL_STOPPED, PARALLEL_READY
};

/*
 * Whether a process of one thread could run, on another processor than this
 * one; it cannot run on this one.
 */
static enum parallel_state
parallel_read_state(uint32_t pid)
{
	char path[PROC_PATH_SIZE];
	struct proc_state now;

	if (!proc_read_state(proc_of_process(path, pid), &now) ||
	    (now.state != 'Z' && now.n_threads != 1))
		return PARALLEL_UNKNOWN;
	return now.state != 'R' || now.processor == (uint64_t)sched_getcpu() ?
	    PARALLEL_STOPPED : PARALLEL_READY;
}

/* How many threads ran on average, in 1 / ONE, by their CPU time. */
static uint64_t
parallel_rate(uint64_t used_ns, uint64_t passed_ns)
{
	const uint64_t n = used_ns > UINT64_MAX / ONE || passed_ns == 0 ? 0 :
	    used_ns * ONE / passed_ns;

	return n < THREADS_MAX ? n : THREADS_MAX;
}

static void
parallel_measure(struct search *search, struct cpprof_shared_process *place,
    uint32_t pid, uint64_t cpu_ns)
{
	uint64_t since = __atomic_load_n(&place->measured_ns, __ATOMIC_RELAXED);
	char path[PROC_PATH_SIZE];
	struct proc_schedule now;
	uint64_t ran, waited;

	/* The one who changes it measures. */
	if (search->now_ns < since || search->now_ns - since < MEASURE_NS ||
	    !__atomic_compare_exchange_n(&place->measured_ns, &since,
	    search->now_ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	place->n_threads = (uint32_t)parallel_rate(cpu_ns -
	    place->measured_cpu_ns, search->now_ns - since);
	place->measured_cpu_ns = cpu_ns;
	if (place->n_threads < MUCH || !search->reads_files ||
	    !proc_read_schedule(proc_of_process(path, pid), &now))
		return;
	/* Of its first thread. */
	ran = now.ran_ns - place->ran_ns;
	waited = now.waited_ns - place->waited_ns;
	place->ran_ns = now.ran_ns;
	place->waited_ns = now.waited_ns;
	if (ran < UINT64_MAX / ONE / 2 && waited < UINT64_MAX / ONE / 2 &&
	    ran + waited >= LEAST_NS)
		place->share = (uint32_t)(ran * ONE / (ran + waited));
}

/* What it has used since the last measurement counts as well. */
static uint64_t
parallel_rate_of(const struct search *search,
    const struct cpprof_shared_process *place, uint64_t cpu_ns)
{
	const uint64_t since = place->measured_ns, n = place->n_threads;
	const uint64_t now = search->now_ns > since ? parallel_rate(cpu_ns -
	    place->measured_cpu_ns, search->now_ns - since) : 0;

	if (now > n)
		return now;
	return n < THREADS_MAX ? n : THREADS_MAX;
}

static void
parallel_search_process(struct search *search,
    struct cpprof_shared_process *place, uint64_t found)
{
	const uint32_t pid = (uint32_t)found;
	const uint64_t cpu_ns = process_cpu_time_of(pid);
	uint64_t rate;
	uint32_t share;

	if (cpu_ns == 0) {
		shared_unlist(place, found);
		return;
	}
	parallel_measure(search, place, pid, cpu_ns);
	if (cpu_ns != place->cpu_ns) {
		place->cpu_ns = cpu_ns;
		place->seen_ns = search->now_ns;
	} else if (search->now_ns - place->seen_ns > ASLEEP_NS) {
		return;
	}
	rate = parallel_rate_of(search, place, cpu_ns);
	switch (search->reads_files && rate >= MUCH ?
	    parallel_read_state(pid) : PARALLEL_UNKNOWN) {
	case PARALLEL_READY:
		share = place->share;
		parallel_find_part(search, share < ONE ? share : ONE);
		break;
	case PARALLEL_UNKNOWN:
		parallel_find_part(search, rate);
		break;
	case PARALLEL_STOPPED:
		break;
	}
}

/* Only those of this PID namespace can be looked at. */
static void
parallel_search_processes(struct search *search)
{
	uint64_t own, found;
	size_t n, i;
	struct cpprof_shared_process *places = shared_processes(&n, &own);

	for (i = 0; i < n && search->is_kept; i++) {
		found = __atomic_load_n(&places[i].process, __ATOMIC_RELAXED);
		if (found != 0 && found != own && found >> 32 == own >> 32)
			parallel_search_process(search, &places[i], found);
	}
}

/* ---- the sample ---- */

bool
parallel_keeps(struct thread *self)
{
	struct search search = { .self = self, .n = 1, .is_kept = true,
		.now_ns = process_clock(CLOCK_MONOTONIC) };

	self->run->ran_ns = search.now_ns;
	search.random = self->run->latency_seed + search.now_ns +
	    ((uint64_t)self->tid << 40);
	parallel_search_threads(&search);
	if (search.is_kept)
		parallel_search_processes(&search);
	self->run->latency_seed = search.random;
	return search.is_kept;
}

/* The first thread, as each process begins with one. */
static bool
parallel_start(struct thread *thread, unsigned column)
{
	static bool is_listed WIPED;

	(void)thread, (void)column;
	if (!is_listed)
		shared_list_process();
	is_listed = true;
	return true;
}

const struct resource_source source_latency = {
	.name = "samples of cpu, and how many threads ran then",
	.start = parallel_start
};
