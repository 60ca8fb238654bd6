/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampler_waits.c -- real time in which threads do not run.
 *
 * The real time of a thread is that in which it runs, which is sampled, and its
 * waits.  These are measured, between the records of the switches with which one
 * begins and ends, and counted at the stack of the sample before the first.  So
 * that a wait shorter than an interval has its share of hits, and most short
 * ones need no stack, a random part of an interval is added to each: a wait of w
 * intervals has w hits on average.
 *
 * Users who may not sample the kernel get the records of switches, but no sample
 * before them.  For them, the sampler looks about every 10 ms where threads wait,
 * and counts the time since the last look there: any moment of a wait has the
 * same chance to be found.  The records that follow say whether the thread stood
 * still while its stack was read.
 *
 * The events of a thread start before the record that it runs and stop after the
 * record that it has left: the switch itself is in both times.  For a thread that
 * does nothing but wake another one that may be a tenth of its time.  So waits
 * have less by what the hits of its events have more than it ran by the records.
 */
#include "src/sample/sampler.h"

#include <string.h>

#include "src/base/clock.h"
#include "src/base/memory.h"

enum { SAMPLER_LONG_NS = 1000000000 };	/* a wait that is not read again */

/*
 * Takes from ns of a wait what hits have already.  By chance these are up to two
 * intervals ahead of the events: one that had begun before, and one of rests.
 */
static uint64_t
sampler_wait_left(struct sampler_wait *wait, uint64_t ns, uint64_t interval_ns)
{
	const uint64_t own_ns = wait->run_ns + wait->taken_ns + 2 * interval_ns;
	const uint64_t hits_ns = wait->n_run * interval_ns;
	uint64_t twice_ns = hits_ns > own_ns ? hits_ns - own_ns : 0;

	if (twice_ns > ns)
		twice_ns = ns;
	wait->taken_ns += twice_ns;
	return ns - twice_ns;
}

/* The hits of that much more of a wait; what is left makes later ones. */
static uint64_t
sampler_wait_hits(const struct sampler *sampler, struct sampler_wait *wait,
                  uint64_t ns)
{
	const uint64_t interval_ns = 1000 * sampler->options->recording->
	    resources[sampler->wait_resource].interval;

	ns = sampler_wait_left(wait, ns, interval_ns) + wait->rest_ns;
	wait->rest_ns = ns % interval_ns;
	return ns / interval_ns;
}

/* Begins the wait of a thread, whose place is not known yet. */
static void
sampler_wait_begin(struct sampler *sampler, struct sampler_wait *wait,
                   uint64_t begin_ns)
{
	wait->state = SAMPLER_WAITS;
	wait->has_left = wait->is_seen = wait->is_first = false;
	wait->begin_ns = begin_ns;
	wait->rest_ns = sampler_random(sampler, 1000 * sampler->options->
	    recording->resources[sampler->wait_resource].interval);
	wait->read_ns = 0;
	wait->path.n = 0;
}

void
sampler_begin_thread(struct sampler *sampler, struct sampler_thread *thread)
{
	if (sampler->wait_resource == UINT_MAX)
		return;
	sampler_wait_begin(sampler, &thread->wait, sampler->now_ns);
	thread->wait.has_left = thread->wait.is_first = true;
}

/* Counts that much of the wait of a thread. */
static void
sampler_wait_add(struct sampler *sampler, struct sampler_thread *thread,
                 uint64_t ns, uint64_t mono_ns)
{
	static const struct sample_place nowhere = { CPPROFDATA_PARTIAL, 0 };
	const struct sampler_path *path = &thread->wait.path;
	struct sampler_process *process = thread->process;
	const uint64_t hits = sampler_wait_hits(sampler, &thread->wait, ns);
	struct error ignored = { 0 };

	if (hits == 0 || !sampler_need_record(sampler, thread, &ignored))
		return;
	if (path->n == 0)
		sample_file_drop(process->file, CPPROFDATA_PARTIAL_UNSEEN,
		                 sampler->wait_resource, 1, hits);
	if (path->n == 0 && !thread->wait.is_first)
		sampler->result.lost_wait_ns += 1000 * hits * sampler->options->
		    recording->resources[sampler->wait_resource].interval;
	sample_file_count(process->file, thread->record, path->n > 0 ?
	                  path->places : &nowhere, path->n > 0 ? path->n : 1,
	                  sampler->wait_resource, hits, mono_ns);
	if (sampler->options->events.looks_at_waits)
		sample_file_note_drawn(process->file, hits);
	process->n_samples++;
	sampler->result.n_samples++;
}

void
sampler_wait_count(struct sampler *sampler, struct sampler_thread *thread,
                   uint64_t until_ns)
{
	struct sampler_wait *wait = &thread->wait;
	const uint64_t begin_ns = wait->begin_ns;

	if (wait->state != SAMPLER_WAITS || wait->is_seen ||
	    until_ns <= begin_ns || until_ns <= wait->read_ns)
		return;
	wait->begin_ns = until_ns;
	wait->read_ns = 0;
	sampler_wait_add(sampler, thread, until_ns - begin_ns, until_ns);
}

void
sampler_run_end(struct sampler_thread *thread, uint64_t time)
{
	struct sampler_wait *wait = &thread->wait;

	if (wait->run_begin_ns != 0 && time > wait->run_begin_ns) {
		wait->run_ns += time - wait->run_begin_ns;
		thread->process->run_ns += time - wait->run_begin_ns;
	}
	wait->run_begin_ns = 0;
}

void
sampler_run_count(struct sampler_thread *thread, uint64_t hits)
{
	thread->process->n_run += hits;
	if (thread->wait.run_begin_ns != 0)
		thread->wait.n_run += hits;
}

void
sampler_wait_end(struct sampler *sampler, struct sampler_thread *thread,
                 uint64_t time)
{
	sampler_wait_count(sampler, thread, time);
	thread->wait.state = SAMPLER_RUNS;
}

int
sampler_take_wait(struct sampler *sampler, struct sampler_thread *thread,
                  const struct perf_sample *sample, struct error *error)
{
	const uint64_t ns = sample_events_wait_ns(sampler->events);
	struct sampler_wait *wait = &thread->wait;
	const struct sample_stack *stack;
	uint64_t hits;
	size_t n;

	sampler_wait_begin(sampler, wait, sample->time);
	if (ns != UINT64_MAX) {
		hits = sampler_wait_hits(sampler, wait, ns);
		wait->state = SAMPLER_COUNTED;
		return hits == 0 ? 0 : sampler_count(sampler, thread, sample,
		    sampler->wait_resource, hits, error);
	}
	stack = sampler_find_path(sampler, thread->process, sample, &n, error);
	if (stack == NULL)
		return -1;
	sampler_note_stack(thread->process, stack, sampler->wait_resource, 0);
	return sampler_path_keep(sampler, &wait->path, n, error);
}

void
sampler_look_settle(struct sampler *sampler, struct sampler_thread *thread,
                    uint64_t until_ns)
{
	struct sampler_wait *wait = &thread->wait;
	struct sampler_look *look = &thread->look;
	const struct sampler_path path = wait->path;

	if (look->begin_ns == 0 || until_ns < look->begin_ns)
		return;
	if (wait->state == SAMPLER_WAITS && wait->is_seen &&
	    wait->begin_ns <= look->begin_ns) {
		if (wait->path.n == 0 && until_ns >= look->end_ns) {
			wait->path = look->path;
			look->path = path;
		}
		sampler_wait_add(sampler, thread, sampler->looks_for_ns,
		                 look->begin_ns);
	}
	look->begin_ns = 0;
}

void
sampler_apply_switch(struct sampler *sampler, const struct perf_record *record)
{
	struct sampler_thread *thread;
	struct sampler_wait *wait;

	if (sampler->wait_resource == UINT_MAX ||
	    record->size < PERF_HEADER_SIZE + 24)
		return;
	thread = sampler_find_thread(sampler, sample_record_tid(record));
	if (thread == NULL)
		return;
	wait = &thread->wait;
	if ((record->misc & PERF_MISC_SWITCH_OUT) == 0) {
		sampler_look_settle(sampler, thread, sampler->now_ns);
		sampler_wait_end(sampler, thread, sampler->now_ns);
		if (wait->run_begin_ns != 0)	/* that it left was lost */
			wait->run_ns = wait->n_run = wait->taken_ns = 0;
		wait->run_begin_ns = sampler->now_ns;
		return;
	}
	sampler_run_end(thread, sampler->now_ns);
	if (wait->state == SAMPLER_RUNS || wait->is_seen) {
		/* Without looks, its sample was lost.  Who would go on, but has
		 * no processor, is not found by looks. */
		sampler_wait_begin(sampler, wait, sampler->now_ns);
		wait->is_seen = sampler->options->events.looks_at_waits &&
		    (record->misc & PERF_MISC_SWITCH_OUT_PREEMPT) == 0;
	} else if (wait->state == SAMPLER_WAITS && !wait->has_left)
		wait->begin_ns = sampler->now_ns;
	wait->has_left = true;
}

/* Reads where a thread waits: 1; 0 if it runs; -1 with *error set. */
static int
sampler_read_place(struct sampler *sampler, struct sampler_thread *thread,
                   struct sampler_path *path, struct error *error)
{
	static const struct sample_python_stack no_python = { 0 };
	const struct sample_stack *stack;
	size_t n;

	stack = sample_walk_waiting(sampler->walker, thread->process->pid,
	                            thread->tid, error);
	if (stack == NULL || !sampler_need_record(sampler, thread, error))
		return error->is_set ? -1 : 0;
	n = sampler_make_path(sampler, thread->process, stack, &no_python,
	                      error);
	if (error->is_set || sampler_path_keep(sampler, path, n, error) != 0)
		return -1;
	sampler_note_stack(thread->process, stack, sampler->wait_resource, 0);
	return 1;
}

int
sampler_find_wait(struct sampler *sampler, struct sampler_thread *thread,
                  uint64_t begin_ns, struct error *error)
{
	struct sampler_wait *wait = &thread->wait;
	int found = 1;

	if (sampler->wait_resource == UINT_MAX)
		return 0;
	sampler_wait_begin(sampler, wait, begin_ns);
	wait->has_left = true;
	wait->is_seen = sampler->options->events.looks_at_waits;
	if (!wait->is_seen)
		found = sampler_read_place(sampler, thread, &wait->path,
		                           error);
	wait->read_ns = clock_ns(CLOCK_MONOTONIC);
	if (found <= 0)
		wait->state = SAMPLER_RUNS;
	return found < 0 ? -1 : 0;
}

int
sampler_look_at(struct sampler *sampler, struct sampler_thread *thread,
                struct error *error)
{
	const struct sampler_wait *wait = &thread->wait;
	struct sampler_look *look = &thread->look;
	int found = 1;

	look->begin_ns = clock_ns(CLOCK_MONOTONIC);
	look->path.n = 0;
	if (wait->state != SAMPLER_WAITS || wait->path.n == 0 ||
	    look->begin_ns < wait->begin_ns + SAMPLER_LONG_NS)
		found = sampler_read_place(sampler, thread, &look->path,
		                           error);
	/* One that runs may wait for a processor: records tell. */
	look->end_ns = found == 0 ? look->begin_ns :
	    clock_ns(CLOCK_MONOTONIC);
	return found < 0 ? -1 : 0;
}
