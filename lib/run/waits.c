/* SPDX-License-Identifier: MIT */
/* waits.c -- where threads wait: finds the node of a wait, and notes it in the
 * thread's record.
 */
#include "lib/run/sample.h"

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/python/python.h"
#include "lib/signals/signals.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"
#include "lib/store/thread-file.h"
#include "lib/store/tree.h"
#include "lib/unwind/trampoline.h"
#include "lib/unwind/unwinder.h"

#define N_SETS 16		/* of sites; a power of two */
#define N_WAYS 4		/* sites in each set; a power of two */
#define MAX_WORDS 120		/* words of the stack that identify a site */
#define TRIES_MAX 200		/* to use the file, with a pause each */
#define WAIT_BUDGET_PART 50		/* of the time may be spent walking */
#define WAIT_ALLOWANCE_MAX_NS 2000000
#define WAIT_COST_MAX_NS 200000

/*
 * A site at which the thread has waited, and the stack at that time.  With
 * frame 0, that of a function below CPPROFDATA_PARTIAL, which needs no words.
 */
struct site {
	uintptr_t frame;
	const void *function;		/* NULL: the site is unused */
	struct node node;
	uint32_t generation, phase;	/* that the node depends on, */
	uint64_t epoch;			/* and of modules */
	uint64_t python;		/* signature of its Python frames */
	uint32_t n_words;
	struct waits_word {
		uintptr_t at;
		uint64_t value;
	} words[MAX_WORDS];
};

struct wait_sites {
	struct site sites[N_SETS][N_WAYS];
	unsigned next_way;
};

static struct site *
waits_set_of(const struct thread *thread, uintptr_t frame,
    const void *function)
{
	const uint64_t h = (frame / 8 ^ (uintptr_t)function) *
	    0x9e3779b97f4a7c15u;

	return thread->waits->sites->sites[(size_t)(h >> 40) % N_SETS];
}

/*
 * A number for the Python frames of the present stack.  False: there are some
 * that cannot be told.
 */
static bool
waits_sign_python(struct thread *thread, uint64_t *signature)
{
	bool ok;

	thread_hold_off();
	ok = python_signature(thread->python, thread->unwinder, thread->tid,
	    signature);
	thread_resume();
	return ok;
}

/* The site that remembers the present stack. */
static const struct site *
find_site(struct thread *thread, uintptr_t frame, const void *function)
{
	const struct site *site = waits_set_of(thread, frame, function);
	const struct site *const end = site + N_WAYS;
	uint64_t python = 0;
	uint32_t i;

	if (frame != 0 && !waits_sign_python(thread, &python))
		return NULL;
	for (; site < end; site++) {
		if (site->frame != frame || site->function != function ||
		    site->generation != thread->waits->generation ||
		    site->epoch != modules_epoch() ||
		    site->phase != phase_current() || site->python != python)
			continue;
		for (i = 0; i < site->n_words; i++) {
			uint64_t word;

			memcpy(&word, (const void *)site->words[i].at,
			    sizeof word);
			if (word != site->words[i].value &&
			    (!trampoline_is_stub(word) ||
			    trampoline_true_return(site->words[i].at + 8) !=
			    site->words[i].value))
				break;
		}
		if (i == site->n_words)
			return site;
	}
	return NULL;
}

static bool
waits_add_word(struct site *site, const struct readable *readable, uintptr_t at,
    uint64_t value)
{
	if (site->n_words == MAX_WORDS || !readable_own(readable, at))
		return false;
	site->words[site->n_words++] = (struct waits_word){ at, value };
	return true;
}

/*
 * Records the words that the walk has used, from the frame outwards: return
 * addresses, and saved frame pointers if a frame further out depends on its
 * own.  (Otherwise that register may hold anything.)  False if these words do
 * not determine the stack.
 */
static bool
waits_add_words(struct site *site, const struct unwinder *unwinder,
                uintptr_t frame)
{
	const struct walked_frame *frames = unwinder->stack.frames;
	const struct readable *readable = &unwinder->readable;
	bool needs_fp = unwinder->stack.n > 0 &&
	    (frames[0].flags & FRAME_HAS_TABLE) == 0;
	size_t i;

	for (i = 1; i < unwinder->stack.n; i++) {
		const struct walked_frame *caller = &frames[i - 1];
		const uintptr_t at = caller->sp - 8;
		const uint64_t ra = caller->address +
		    !(caller->flags & FRAME_EXACT);
		uint64_t word;

		if (at <= frame)
			return true;
		if ((frames[i].flags & FRAME_UNCHECKED) != 0 ||
		    !waits_add_word(site, readable, at, ra))
			return false;
		/*
		 * The stack's mark moves, and frames outside it were not
		 * compared.
		 */
		memcpy(&word, (const void *)at, sizeof word);
		if (word != ra && !trampoline_is_call(unwinder, at + 8))
			return false;
		if (frames[i].fp_slot != 0 && needs_fp && !waits_add_word(site,
		    readable, frames[i].fp_slot, caller->fp))
			return false;
		if (frames[i].fp_slot != 0)
			needs_fp = false;
		if ((frames[i].flags & (FRAME_BY_FP | FRAME_GUESSED)) != 0)
			needs_fp = true;
	}
	return false;
}

/*
 * Another thread may be adding to the file.  That will not take long, while the
 * wait may.
 */
static enum store_result
waits_enter(struct thread *thread, const void *function, const void *context,
    struct node *node)
{
	enum store_result result;
	int i;

	for (i = 0;; i++) {
		result = context != NULL ? sample_enter(thread, function,
		    context, node) : sample_enter_partial(thread, function,
		    node);
		if (result != STORE_BUSY || i == TRIES_MAX)
			return result;
		process_pause();
	}
}

/*
 * Finds the node, by walking the stack from this library's caller outwards
 * unless `frame` is 0, and remembers the site.  With signals blocked.
 */
static __attribute__((noinline)) bool
waits_walk(struct thread *thread, uintptr_t frame, const void *function,
    struct node *node)
{
	struct site *site;
	ucontext_t here;

	arch_here(&here);
	if (waits_enter(thread, function, frame != 0 ? &here : NULL, node) !=
	    STORE_OK)
		return false;
	/* Others may exist for that place, with other callers. */
	site = waits_set_of(thread, frame, function) +
	    thread->waits->sites->next_way++ % N_WAYS;
	site->function = NULL;
	site->n_words = 0;
	site->python = 0;
	if (frame != 0 && (!waits_add_words(site, thread->unwinder, frame) ||
	    !waits_sign_python(thread, &site->python)))
		return true;
	site->frame = frame;
	site->node = *node;
	site->generation = thread->waits->generation;
	site->phase = thread->file->phase;
	site->epoch = thread->file->modules.epoch;
	site->function = function;
	return true;
}

/* Earns the time that has passed; whether the last walks have left enough. */
static bool
may_walk(struct thread *thread, uint64_t now_ns)
{
	const uint64_t earned = (now_ns - thread->waits->last_check_ns) /
	    WAIT_BUDGET_PART;

	thread->waits->last_check_ns = now_ns;
	if (earned >= WAIT_ALLOWANCE_MAX_NS)
		thread->waits->allowance_ns = WAIT_ALLOWANCE_MAX_NS;
	else
		thread->waits->allowance_ns += (int64_t)earned;
	if (thread->waits->allowance_ns > WAIT_ALLOWANCE_MAX_NS)
		thread->waits->allowance_ns = WAIT_ALLOWANCE_MAX_NS;
	return thread->waits->allowance_ns >= 0;
}

/* Finds the node with signals blocked; `frame` as for waits_walk. */
static __attribute__((noinline)) uint64_t
find_anew(struct thread *thread, uintptr_t frame, const void *function,
    uint64_t now_ns, struct node *found)
{
	struct sample_guard guard;
	struct node node;
	uint64_t cost_ns;
	void *memory;

	if (thread->held_off > 0 || thread->is_sampling ||
	    !sampling_is_own_process() || !sample_guard_begin(thread, &guard))
		return now_ns;
	if (thread->waits->sites == NULL) {
		memory = files_map(sizeof *thread->waits->sites,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (memory != MAP_FAILED)
			thread->waits->sites = memory;
	}
	if (thread->waits->sites != NULL &&
	    waits_walk(thread, frame, function, &node))
		*found = node;
	sample_guard_end(thread, &guard);
	/* At most what a walk can take; the rest was other threads'. */
	cost_ns = process_clock(CLOCK_MONOTONIC) - now_ns;
	if (cost_ns > WAIT_COST_MAX_NS)
		cost_ns = WAIT_COST_MAX_NS;
	thread->waits->allowance_ns -= (int64_t)cost_ns;
	datafile_count_time(cost_ns);
	return process_clock(CLOCK_MONOTONIC);
}

/* Counts calls that have returned: the thread may wait for a long time. */
static __attribute__((noinline)) void
waits_end_calls(struct thread *thread)
{
	struct sample_guard guard;

	if (thread->held_off > 0 || thread->is_sampling ||
	    !sampling_is_own_process() || !sample_guard_begin(thread, &guard))
		return;
	open_calls_end(thread, false);
	sample_guard_end(thread, &guard);
}

/* waits_find_node, while the recording goes on. */
static uint64_t
waits_find(struct thread *thread, uintptr_t frame, const void *function,
    uint64_t now_ns, struct node *node)
{
	const struct site *site = NULL;

	if (!sampling_check_process())
		return now_ns;
	if (thread->calls != NULL && open_calls_have_returned(thread))
		waits_end_calls(thread);
	if (thread->waits->sites != NULL)
		site = find_site(thread, frame, function);
	/* Without time for a walk, only the function below is entered. */
	if (site == NULL && !may_walk(thread, now_ns)) {
		frame = 0;
		if (thread->waits->sites != NULL)
			site = find_site(thread, frame, function);
	}
	if (site == NULL)
		return find_anew(thread, frame, function, now_ns, node);
	*node = site->node;
	return now_ns;
}

uint64_t
waits_find_node(struct thread *thread, uintptr_t frame, const void *function,
    uint64_t now_ns, struct node *node)
{
	*node = TREE_ROOT;
	if (!sample_work_begins(thread))
		return now_ns;
	now_ns = waits_find(thread, frame, function, now_ns, node);
	sampling_work_ends();
	return now_ns;
}

/*
 * The threads' records.
 */

static uint64_t
left_of(const struct thread *thread, enum resource_id id)
{
	return resource_is_wanted(id) ?
	    thread->meters->accounts[resources.place[id] - 1].meter.left : 0;
}

/*
 * In a process that goes on, a wait that is under way when sampling is stopped
 * stays noted, as one of a process that is killed, and is charged up to then.
 */
static void
publish(struct thread *thread, const struct cpprofdata_wait *wait)
{
	bool bus_was_blocked;

	if (!sample_work_begins(thread))
		return;
	if (sampling_check_process() && thread->file->wait_mapped != NULL &&
	    !(process.is_inside && sampling_is_stopped())) {
		bus_was_blocked = signals_unblock_bus_if_needed();
		thread_file_note_wait(thread, wait);
		signals_block_bus_again(bus_was_blocked);
	}
	sampling_work_ends();
}

void
waits_begin(struct thread *thread, uint32_t columns, uint64_t since_ns,
    uint64_t gathered_ns)
{
	const struct cpprofdata_wait wait = {
		.since_ns = since_ns,
		.node = thread->waits->node.number,
		.columns = columns,
		.left = left_of(thread, RESOURCE_REAL),
		.io_left = left_of(thread, RESOURCE_IO_TIME),
		.gathered_ns = gathered_ns,
	};

	thread->waits->since_ns = since_ns;
	thread->waits->columns = columns;
	publish(thread, &wait);
}

void
waits_end(struct thread *thread, uint64_t since_ns, uint64_t gathered_ns)
{
	const struct cpprofdata_wait wait = {
		.since_ns = since_ns,
		.node = CPPROFDATA_NO_NODE,
		.left = left_of(thread, RESOURCE_REAL),
		.gathered_ns = gathered_ns,
	};

	thread->waits->columns = 0;
	publish(thread, &wait);
}

void
waits_begin_thread(struct thread *thread, uint64_t since_ns)
{
	struct sample_guard guard;

	if (!sample_guard_begin(thread, &guard))
		return;
	if (sample_prepare(thread) == STORE_OK)
		waits_end(thread, since_ns, 0);
	sample_guard_end(thread, &guard);
}

void
waits_charge_last(struct thread *thread, uint64_t now_ns)
{
	const uint64_t us = (now_ns - thread->waits->since_ns) / 1000;
	unsigned column;

	for (column = 0; column < resources.n; column++) {
		uint64_t hits;

		if ((thread->waits->columns >> column & 1) == 0 ||
		    thread->waits->node.twin == NULL)
			continue;
		hits = meter_spend(&thread->meters->accounts[column].meter, us);
		if (hits > 0)
			tree_count(&thread->file->tree, &thread->waits->node,
			    column, hits, now_ns);
	}
	waits_end(thread, 0, 0);
}

void
waits_forget(struct thread *thread)
{
	thread->waits->generation++;
	thread->waits->columns = 0;
	thread->waits->node = TREE_ROOT;
}
