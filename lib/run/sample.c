/* SPDX-License-Identifier: MIT */
/* sample.c -- from registers to counts in the tree, within a budget.
 *
 * Takes no lock that it cannot give up on, allocates only by mmap, and
 * preserves errno.
 *
 * Budget (lib/base/allowance.h): a tick earns for the CPU time that it stands
 * for, another sample for the time since the last.  A sample of few frames is
 * never charged more than it has earned: on a busy machine most of its time is
 * other threads', and deferring samples for that would only distort the shares.
 *
 * If sampling itself uses up the resource, such as time, the thread pauses
 * sampling for REST times as long as the last sample took.  So the program
 * advances even if a sample takes longer than the interval.  A clock whose
 * interval is longer than the pause has none: it would move samples that happen
 * to come soon after another.  Other samples pause, too, if the program makes
 * no progress (lib/run/sample.h).
 */
#include "lib/run/sample.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include "lib/base/arch.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/base/shared.h"
#include "lib/signals/signals.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"
#include "lib/store/thread-file.h"
#include "lib/store/tree.h"
#include "lib/unwind/traits.h"
#include "lib/unwind/trampoline.h"
#include "lib/unwind/unwinder.h"

#define FEW_FRAMES 256
#define REST 4
#define SAMPLE_YIELDS 16
#define SAMPLE_TRIES (SAMPLE_YIELDS + 8)	/* a pause before each more */
#define LAST_TRIES 4		/* to wait for the file, at a thread's end */
#define REST_MAX_NS 100000000
#define NOTE_EVERY 1024		/* samples; for what changes slowly */
/*
 * The most that a handler that did n things can have taken itself; longer means
 * that another thread ran.  If the tree grew, its table of `bytes` bytes may
 * take this in addition.
 */
#define COST_MAX_NS(n) (50000 + 1000 * (int64_t)(n))
#define GROWTH_MAX_NS(bytes) (200000 + 2 * (int64_t)(bytes))

static int64_t
sample_now_ns(void)
{
	return (int64_t)process_clock(CLOCK_MONOTONIC);
}

bool
sample_make_file(void)
{
	static bool has_seen_modules;

	if (datafile_exists())
		return true;
	if (!has_seen_modules) {
		traits_begin();
		process.counts_returns = trampoline_begin(
		    process.counts_returns ? TRAMPOLINE_ALWAYS :
		    TRAMPOLINE_DEEP) && process.counts_returns;
		has_seen_modules = true;
	}
	return datafile_create();
}

/* Creates the file if there is none, unless another thread is doing that. */
static enum store_result
make_file(void)
{
	static bool has_failed;
	static uint32_t failed_pid;
	bool ok;

	if (has_failed && failed_pid == process_own.pid)
		return STORE_FULL;
	if (!datafile_lock())
		return STORE_BUSY;
	ok = sample_make_file();
	if (!ok) {
		has_failed = true;
		failed_pid = process_own.pid;
		shared_give_up(CPPROF_SHARED_NO_FILE, errno);
	}
	datafile_unlock();
	return ok ? STORE_OK : STORE_FULL;
}

void
sample_prepare_file(void)
{
	int saved = errno;

	if (!datafile_exists())
		make_file();
	errno = saved;
}

bool
sample_is_latency(struct thread *thread, uint32_t columns)
{
	return resource_is_wanted(RESOURCE_LATENCY) &&
	    (columns >> (resources.place[RESOURCE_CPU] - 1) & 1) != 0 &&
	    parallel_keeps(thread);
}

/* If the sample counts as latency, its CPU time has the same hits of that. */
static unsigned
column_beside(const struct thread *thread, unsigned column)
{
	return thread->run->is_latency &&
	    column + 1 == resources.place[RESOURCE_CPU] ?
	    resources.place[RESOURCE_LATENCY] - 1u : column;
}

/* Counts hits of the sample at a node, and in the calls that it is in. */
static void
count_at_node(struct thread *thread, unsigned column, const struct node *node,
    uint64_t hits, uint64_t now_ns)
{
	const unsigned beside = column_beside(thread, column);

	tree_count(&thread->file->tree, node, column, hits, now_ns);
	if (thread->calls != NULL)
		open_calls_count(thread, node, column, hits);
	if (beside != column)
		count_at_node(thread, beside, node, hits, now_ns);
}

/* The same, if there is no room for a node. */
static void
count_as_lost(struct thread *thread, unsigned column, uint64_t hits)
{
	const unsigned beside = column_beside(thread, column);

	datafile_count_lost(CPPROFDATA_LOST_FULL, column, hits);
	if (beside != column)
		count_as_lost(thread, beside, hits);
}

/*
 * Counts all pending hits of these columns at one node, at the time now_ns; if
 * the node is NULL, as lost.  With a signal's context, those of perf events are
 * counted below it, if they were spent in the kernel.
 */
static void
count_pending(struct thread *thread, uint32_t columns, const struct node *leaf,
    uint64_t now_ns, const void *context, uint64_t *hits)
{
	unsigned column;

	*hits = 0;
	for (column = 0; column < resources.n; column++) {
		struct account *account = &thread->meters->accounts[column];

		if ((columns >> column & 1) == 0 || account->pending == 0)
			continue;
		if (leaf == NULL)
			count_as_lost(thread, column, account->pending);
		else if (context == NULL)
			count_at_node(thread, column, leaf, account->pending,
			    now_ns);
		else
			perf_stack_count(thread, column, leaf,
			    account->pending, now_ns, context, count_at_node);
		*hits += account->pending;
		/* What is lost is lost in both columns. */
		if (leaf == NULL && column_beside(thread, column) != column)
			*hits += account->pending;
		account->pending = 0;
	}
}

enum store_result
sample_prepare(struct thread *thread)
{
	enum store_result made = STORE_OK;

	if (!datafile_exists())
		made = make_file();
	if (made != STORE_OK)
		return made;
	if (modules_refresh(&thread->file->modules) |
	    phase_refresh(&thread->file->phase))
		unwind_remember(thread->unwinder, 0);
	return thread->file->is_announced ? STORE_OK :
	    thread_file_announce(thread);
}

/* The same before a stack is entered. */
static enum store_result
prepare_stack(struct thread *thread)
{
	enum store_result result = sample_prepare(thread);

	return result == STORE_OK && !thread->file->has_own_name ?
	    thread_file_take_name(thread) : result;
}

enum store_result
sample_enter(struct thread *thread, const void *function, const void *context,
    struct node *leaf)
{
	enum store_result result = prepare_stack(thread);

	if (result != STORE_OK)
		return result;
	slices_prefetch(&thread->file->tree.slices);
	if (!unwind(thread->unwinder, context))
		return STORE_UNSAFE;
	result = insert_stack(thread, leaf);
	if (result == STORE_OK && function != NULL)
		result = insert_function(thread, function, leaf);
	if (result == STORE_OK)
		trampoline_place(thread->unwinder);
	return result;
}

enum store_result
sample_enter_partial(struct thread *thread, const void *function,
    struct node *leaf)
{
	enum store_result result = prepare_stack(thread);

	if (result == STORE_OK)
		result = insert_partial(thread, leaf);
	return result == STORE_OK ? insert_function(thread, function, leaf) :
	    result;
}

/*
 * What the sample says of calls.  One that ends a wait has the stack since the
 * wait began, and one of a thread that had to wait for a processor since then.
 * Boundaries of `real` are at equal distances in time that passes within waits.
 * At ticks, hits of `real` are of waits for a processor, too, of which no call
 * is the likelier to be found; so the time that the thread ran decides.
 */
static void
sample_see_calls(struct thread *thread, const struct sample_request *request,
    uint64_t now_ns)
{
	const unsigned column = resources.place[RESOURCE_REAL] - 1u;
	const struct account *account = &thread->meters->accounts[column];
	const bool is_observed = resource_is_wanted(RESOURCE_REAL) &&
	    (request->columns >> column & 1) != 0 && account->pending > 0;
	const bool waits = is_observed && request->function != NULL &&
	    (thread->waits->columns >> column & 1) != 0;
	struct calls_sample sample = { .now_ns = now_ns, .since_ns = now_ns,
		.boundary_ns = now_ns, .is_of_wait = waits, .weight = waits,
		.gap_ns = call_functions_interval_ns() };
	uint64_t back_ns;

	if (is_observed && !waits)
		sample.weight = open_calls_take_ran(thread, &sample.gap_ns);
	if (is_observed && request->function == NULL &&
	    thread->meters->off_here_ns < now_ns)
		sample.since_ns = now_ns - thread->meters->off_here_ns;
	if (waits && thread->waits->since_ns < now_ns) {
		sample.since_ns = sample.boundary_ns = thread->waits->since_ns;
		back_ns = (account->pending * account->meter.interval -
		    account->meter.left) * 1000;
		if (account->pending * account->meter.interval >
		    account->meter.left && back_ns < now_ns - sample.since_ns)
			sample.boundary_ns = now_ns - back_ns;
	}
	open_calls_see(thread, &sample);
}

/* Counts a sample whose stack is not whole, and notes what changes slowly. */
static void
sample_note_stack(struct thread *thread, uint64_t hits)
{
	static const unsigned char reasons[] = {
		[UNWIND_NO_RULES] = CPPROFDATA_PARTIAL_NO_RULES,
		[UNWIND_BAD_RULES] = CPPROFDATA_PARTIAL_BAD_RULES,
		[UNWIND_BAD_STACK] = CPPROFDATA_PARTIAL_BAD_STACK,
		[UNWIND_TOO_DEEP] = CPPROFDATA_PARTIAL_TOO_DEEP,
		[UNWIND_NO_PYTHON] = CPPROFDATA_PARTIAL_INTERPRETED,
	};
	const struct unwinder *unwinder = thread->unwinder;

	/* What a guess led to is no stack that could be read. */
	if (unwinder->end == UNWIND_BAD_STACK && unwinder->guessed)
		datafile_count_drop(CPPROFDATA_PARTIAL_NO_RULES, 1, hits);
	else if (unwinder->end != UNWIND_COMPLETE)
		datafile_count_drop(reasons[unwinder->end], 1, hits);
	else if (unwinder->guessed)
		datafile_count_drop(CPPROFDATA_GUESSED, 1, hits);
	/* Threads may be renamed; checking from time to time is enough. */
	thread->run->n_samples++;
	if ((thread->run->n_samples & (thread->run->n_samples - 1)) == 0 ||
	    thread->run->n_samples % NOTE_EVERY == 0)
		thread_file_note_name(thread);
	datafile_note_sample();
}

/*
 * Counts what the sample itself has taken: at the sample's node, or, if that is
 * long, as for the first of a process and its file, apart.
 */
static void
sample_count_own(struct thread *thread, struct node leaf, uint64_t start_ns)
{
	uint32_t columns;
	const struct own_work work = perf_own_work(thread, &columns);
	struct node apart;
	uint64_t hits;

	thread->run->own_us = work.us;
	if (columns == 0)
		return;
	if (work.is_long && phase_node(&thread->file->tree, PHASE_SAMPLING,
	    &apart) == STORE_OK)
		leaf = apart;
	count_pending(thread, columns, &leaf, start_ns, NULL, &hits);
}

/* What a forked child used before it could be sampled. */
static void
sample_count_beginning(struct thread *thread, uint64_t now_ns)
{
	struct thread_run *run = thread->run;
	struct node node;

	if (run->beginning_hits == 0 || phase_node(&thread->file->tree,
	    run->beginning_phase, &node) != STORE_OK)
		return;
	count_at_node(thread, resources.place[RESOURCE_CPU] - 1u, &node,
	    run->beginning_hits, now_ns);
	run->beginning_hits = 0;
}

/* What waits for a sample has its place by chance, unless this is its wait. */
static void
note_drawn(const struct thread *thread, const struct sample_request *request)
{
	const unsigned place = resources.place[RESOURCE_REAL];

	if (!request->is_measured && place != 0 &&
	    (request->columns >> (place - 1) & 1) != 0)
		datafile_note_drawn(
		    thread->meters->accounts[place - 1].pending);
}

/* is_last: without room for times, the sample is taken all the same. */
static enum store_result
sample_take_stack(struct thread *thread, const struct sample_request *request,
    const void *context, uint64_t start_ns, bool is_last)
{
	enum store_result result;
	struct node leaf;
	uint64_t hits;

	if (request->counts_sampling)
		unwind_prefetch(thread->unwinder, context);
	result = sample_enter(thread, request->function, context, &leaf);
	if (result != STORE_OK)
		return result;
	if (slices_make_room(&thread->file->tree.slices,
	    thread->file->tree.owner) == STORE_BUSY && !is_last)
		return STORE_BUSY;
	if (process.n_call_functions > 0 &&
	    open_calls_find(thread) == STORE_BUSY)
		return STORE_BUSY;
	if (process.n_call_functions > 0 && thread->calls != NULL)
		sample_see_calls(thread, request, start_ns);
	note_drawn(thread, request);
	count_pending(thread, request->columns, &leaf, start_ns, context,
	    &hits);
	unsampled_note_sample(thread, request->columns, &leaf);
	if (request->overrun > 0)
		datafile_count_drop(CPPROFDATA_OVERRUN, 1, request->overrun);
	sample_note_stack(thread, hits);
	sample_count_beginning(thread, start_ns);
	if (request->clock_ns > 0)
		sample_count_own(thread, leaf, start_ns);
	return STORE_OK;
}

static int64_t
sample_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

void
sample_begin_allowance(struct thread *thread)
{
	const uint64_t now = (uint64_t)sample_now_ns();

	thread->run->last_sample_ns = now;
	allowance_begin(&thread->run->allowance, now ^ (uint64_t)thread->tid << 40);
}

/* Earns, and draws.  False: not now; counts why, and the hits stay pending. */
static bool
sample_admit(struct thread *thread, const struct sample_request *request)
{
	struct thread_run *run = thread->run;
	const bool rests = run->progress.is_lacking ||
	    (request->counts_sampling &&
	    (int64_t)request->clock_ns <= run->rest_ns);
	const bool is_affordable = allowance_admit(&run->allowance,
	    request->time_ns, request->is_last);

	if (thread->held_off > 0)
		datafile_count_drop(CPPROFDATA_DEFERRED_UNSAFE, 1,
		    request->hits);
	else if (!is_affordable ||
	    (rests && sample_now_ns() < run->rest_until_ns))
		datafile_count_drop(CPPROFDATA_DEFERRED_BACK_OFF, 1,
		    request->hits);
	else
		return true;
	resources_note_pending(thread);
	return false;
}

/*
 * Waits until nobody has the file's lock, for at most a tenth of a second.
 * False: has waited long enough.  With signals blocked.
 */
static bool
sample_wait_for_file(int n_tries)
{
	if (n_tries >= LAST_TRIES || process.never_waits)
		return false;
	if (datafile_lock_patiently())
		datafile_unlock();
	return true;
}

/*
 * Takes a sample.  If another thread has the file's lock and does not run, since
 * there are more threads than processors, the lock may stay taken for as long
 * as a short thread lives.  So this one lets others run, which takes no CPU
 * time, before it gives up; other programs, only by a pause.  (A thread that
 * waits is sampled when it goes on.)  The last sample of a thread waits longer.
 */
static enum store_result
sample_take_patiently(struct thread *thread,
    const struct sample_request *request, const void *context,
    uint64_t start_ns)
{
	enum store_result result = sample_take_stack(thread, request, context,
	    start_ns, false);
	int i;

	for (i = process.never_waits ? SAMPLE_YIELDS : 0;
	    result == STORE_BUSY && i < SAMPLE_TRIES; i++) {
		if (i < SAMPLE_YIELDS)
			arch_system_call(SYS_sched_yield, 0, 0, 0, 0);
		else
			process_pause();
		result = sample_take_stack(thread, request, context, start_ns,
		    i + 1 == SAMPLE_TRIES);
	}
	for (i = 0; result == STORE_BUSY && request->is_last &&
	    sample_wait_for_file(i); i++)
		result = sample_take_stack(thread, request, context, start_ns,
		    true);
	return result;
}

/*
 * Takes a sample, or counts why that failed, and charges its time to the
 * thread's allowance.
 */
static void
take_and_charge(struct thread *thread, const struct sample_request *request,
    const void *context)
{
	const int64_t start = sample_now_ns();
	const struct unwinder *unwinder = thread->unwinder;
	const struct tree *tree = &thread->file->tree;
	const size_t memory = tree_memory(tree);
	struct thread_run *run = thread->run;
	uint64_t n_frames, lost;
	int64_t now, most, cost, used;

	thread->is_sampling = true;
	run->own_us = 0;
	run->is_latency = sample_is_latency(thread, request->columns);
	switch (sample_take_patiently(thread, request, context,
	    (uint64_t)start)) {
	case STORE_OK:
		break;
	case STORE_BUSY:
	case STORE_UNSAFE:
		datafile_count_drop(CPPROFDATA_DEFERRED_UNSAFE, 1,
		    request->hits);
		break;
	case STORE_FULL:
		count_pending(thread, request->columns, NULL, (uint64_t)start,
		    NULL, &lost);
		datafile_count_drop(CPPROFDATA_LOST_FULL, 1, lost);
		break;
	}
	resources_note_pending(thread);
	now = sample_now_ns();
	n_frames = unwinder->n_walked + unwinder->n_compared;
	most = COST_MAX_NS(n_frames);
	cost = sample_least(now - start, tree_memory(tree) == memory ? most :
	    most + GROWTH_MAX_NS(tree->n_slots * sizeof(struct tree_slot)));
	/* CPU time, if it is known: not limited to what is usual. */
	used = (int64_t)run->own_us * 1000;
	datafile_count_time((uint64_t)(used > cost ? used : cost));
	allowance_charge(&run->allowance, n_frames > FEW_FRAMES ? cost :
	    sample_least(cost, allowance_of(request->time_ns)), most);
	run->rest_ns = sample_least(REST_MAX_NS, REST *
	    sample_least(cost, most));
	run->rest_until_ns = now + run->rest_ns;
	if (thread->calls != NULL)
		open_calls_resume(thread, (uint64_t)(now - start));
	thread->is_sampling = false;
}

void
sample_take(struct thread *thread, const struct sample_request *request,
    const void *context)
{
	progress_note(&thread->run->progress, context);
	if (sample_admit(thread, request))
		take_and_charge(thread, request, context);
}

uint64_t
sample_time_passed(struct thread *thread)
{
	const uint64_t now = (uint64_t)sample_now_ns();
	const uint64_t passed = now - thread->run->last_sample_ns;

	thread->run->last_sample_ns = now;
	return passed;
}

/*
 * Blocks all signals, as in the handlers, because a handler of the program
 * could jump out of here.  By a raw system call, which includes those that the
 * C library hides.
 */
bool
sample_guard_begin(struct thread *thread, struct sample_guard *guard)
{
	const uint64_t all = signals_blocked_for_work();

	thread_made_call(thread);
	if (arch_system_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all,
	    (long)&guard->mask, sizeof guard->mask) != 0)
		return false;
	own_work_begin(thread);
	thread->is_sampling = true;
	return true;
}

/* A tick that comes now finds this library's code on top. */
void
sample_guard_end(struct thread *thread, const struct sample_guard *guard)
{
	thread->is_sampling = false;
	own_work_end(thread);
	thread_made_call(thread);
	arch_system_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&guard->mask, 0,
	    sizeof guard->mask);
}

bool
sample_work_begins(const struct thread *thread)
{
	if (!sampling_work_begins())
		return false;
	if (!process.is_inside || thread == NULL ||
	    thread->run->stage != THREAD_LEFT)
		return true;
	sampling_work_ends();
	return false;
}

/* The stack of `context`; if that is NULL, the thread's own. */
static void
sample_take_guarded(struct thread *thread,
    const struct sample_request *request, const void *context)
{
	struct sample_guard guard;
	ucontext_t here;

	if (!sample_admit(thread, request) ||
	    !sample_guard_begin(thread, &guard))
		return;
	if (context == NULL)
		arch_here(&here);
	take_and_charge(thread, request, context != NULL ? context : &here);
	sample_guard_end(thread, &guard);
}

void
sample_due(struct thread *thread, unsigned column, uint64_t hits,
    const void *function, const void *context)
{
	if (!sample_work_begins(thread))
		return;
	/* Not in a child of vfork, whose memory is its parent's. */
	if (context != NULL || (!sampling_is_stopped() &&
	    sampling_check_process() && sampling_is_own_process())) {
		const struct sample_request request = {
		    .columns = 1u << column, .hits = hits,
		    .time_ns = sample_time_passed(thread),
		    .function = function,
		    .is_measured = context == NULL &&
		        thread->meters->accounts[column].pending == 0 };

		thread->meters->accounts[column].pending += hits;
		sample_take_guarded(thread, &request, context);
	}
	sampling_work_ends();
}

static uint64_t
sample_block_now(struct thread *thread, struct live_allocation *allocation,
    const void *function)
{
	struct sample_guard guard;
	enum store_result result;
	struct node leaf;
	ucontext_t here;
	uint64_t taken;
	bool is_followed;

	if (sampling_is_stopped() || !sampling_check_process())
		return 0;
	/* Not in a child of vfork, whose memory is its parent's. */
	if (thread == NULL || !sampling_is_own_process() ||
	    thread->held_off > 0 || thread->is_sampling ||
	    !sample_guard_begin(thread, &guard)) {
		datafile_count_drop(CPPROFDATA_NOT_FOLLOWED, 1,
		    allocation->hits[LIVE_BYTES]);
		return 0;
	}
	allocation->now_ns = (uint64_t)sample_now_ns();
	arch_here(&here);
	result = sample_enter(thread, function, &here, &leaf);
	if (result == STORE_BUSY || result == STORE_UNSAFE)
		result = sample_enter_partial(thread, function, &leaf);
	else if (result == STORE_OK)
		sample_note_stack(thread, allocation->hits[LIVE_BYTES]);
	is_followed = result == STORE_OK &&
	    live_add(&thread->file->tree, &leaf, allocation);
	if (!is_followed)
		datafile_count_drop(CPPROFDATA_NOT_FOLLOWED, 1,
		    allocation->hits[LIVE_BYTES]);
	taken = (uint64_t)sample_now_ns() - allocation->now_ns;
	datafile_count_time(taken);
	sample_guard_end(thread, &guard);
	return taken;
}

uint64_t
sample_block(struct thread *thread, struct live_allocation *allocation,
    const void *function)
{
	uint64_t taken = 0;

	if (!sample_work_begins(thread))
		return 0;
	taken = sample_block_now(thread, allocation, function);
	sampling_work_ends();
	return taken;
}

void
sample_take_last(struct thread *thread)
{
	struct sample_request request = { .is_last = true };

	request.columns = resources_end(thread, &request.hits);
	request.time_ns = sample_time_passed(thread);
	if (request.columns != 0)
		sample_take_guarded(thread, &request, NULL);
}

enum store_result
sample_node_apart(struct thread *thread, uint32_t phase, const void *function,
    struct node *node)
{
	enum store_result result = prepare_stack(thread);

	*node = TREE_ROOT;
	if (result == STORE_OK && phase != 0)
		result = phase_node(&thread->file->tree, phase, node);
	else if (result == STORE_OK)
		result = insert_function(thread, function, node);
	return result == STORE_OK && node->twin == NULL ? STORE_FULL : result;
}

bool
sample_count_apart(struct thread *thread, unsigned column, uint64_t hits,
    const char *name)
{
	const uint32_t phase = phase_number(name);
	enum store_result result;
	struct sample_guard guard;
	struct node leaf;
	int i = 0;

	if (!sample_guard_begin(thread, &guard))
		return true;
	thread->meters->accounts[column].pending += hits;
	thread->run->is_latency = sample_is_latency(thread, 1u << column);
	do {
		result = sample_prepare(thread);
		if (result == STORE_OK)
			result = phase_node(&thread->file->tree, phase, &leaf);
	} while (result == STORE_BUSY && sample_wait_for_file(i++));
	if (phase != 0 && result == STORE_OK) {
		count_pending(thread, 1u << column, &leaf,
		    process_clock(CLOCK_MONOTONIC), NULL, &hits);
		datafile_note_sample();
	} else {
		count_pending(thread, 1u << column, NULL, 0, NULL, &hits);
		datafile_count_drop(CPPROFDATA_LOST_FULL, 1, hits);
	}
	resources_note_pending(thread);
	sample_guard_end(thread, &guard);
	return result != STORE_BUSY;
}
