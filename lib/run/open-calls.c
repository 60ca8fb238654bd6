/* SPDX-License-Identifier: MIT */
/* open-calls.c -- observes calls: when each began and ended, and its hits.
 *
 * A call is open from the first sample of time that finds its function until it
 * returns to its mark.  The mark only notes when (lib/unwind/trampoline.c); the
 * call is counted at the thread's next sample or wait, as its length is only
 * then known to be right: the mark has been hit, and nothing else has ended it.
 * Whatever leaves the frame otherwise ends the call as unfinished: it has no
 * length, and its hits are counted as such.
 *
 * Calls of several functions nest.  So each hit has a class for each function.
 * In the file, open calls and their hits are counted as unfinished ones, so the
 * file is right whenever the process is killed; what has ended is moved to its
 * class.
 */
#include "lib/run/sample.h"

#include <string.h>
#include <time.h>

#include "lib/base/process.h"
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"
#include "lib/store/datafile.h"
#include "lib/store/thread-file.h"
#include "lib/unwind/trampoline.h"
#include "lib/unwind/unwinder.h"

#define N_FUNCTIONS CPPROFDATA_CALL_FUNCTIONS_MAX
#define OPEN_CLASS (CPPROFDATA_CALL_NO_LENGTH - 1)
#define FIRST_KEPT 128
#define MOST_RESERVED 1024
#define MOST_KEPT ((size_t)1 << 16)

_Static_assert(UNWIND_CALLS == N_FUNCTIONS, "one mark for each function");

/*
 * When, and how much of the thread's time was sampled up to then: what it has
 * computed and what its measured calls took, but not its waits for a processor.
 * Ticks come in the former alone.
 */
struct calls_moment {
	uint64_t ns, sampled_ns;
};

/* A call of one function. */
struct open_call {
	bool is_open, is_new;
	bool has_length;	/* unless something went wrong */
	bool is_counted;	/* in the file, as CALL_LEFT */
	enum cpprofdata_call_reason reason;	/* if it has none */
	uint64_t cfa;		/* of its frame */
	bool began_waiting;	/* when it was first seen */
	uint64_t waited_ns;	/* for a processor, until then */
	uint64_t n_seen;	/* samples of time */
	uint64_t weight;	/* intervals that the first one stands for */
	uint64_t gap_ns;	/* sampled time since the sample before */
	struct calls_moment since;	/* in it at least since then */
	struct calls_moment boundary;	/* that was sampled */
	struct calls_moment without;	/* while no call is open: the last one
					   at which there was certainly none;
					   0: unknown */
};

/*
 * Hits of open calls, as far as the file has them.  Those of one key are one, so
 * a call that never ends keeps no more than the tree has nodes.
 */
struct kept_hits {
	union call_key key;
	uint64_t hits, samples;
	uint32_t slot;		/* which leads here; see thread_calls */
};

struct thread_calls {
	struct open_call open[N_FUNCTIONS];
	size_t places[N_FUNCTIONS];	/* of the unwinder's frames, that of the
					   outermost call + 1; 0: none */
	size_t n_ranges;	/* where functions were known to be then */
	bool is_blind;		/* modules with others were just being read */
	struct meter ran;	/* ns; see open_calls_take_ran */
	uint64_t gap_ns;	/* of `ran`, since it last was an interval */
	uint64_t sampled_ns;	/* of the thread, at the last sample */
	struct kept_hits *kept;
	uint32_t *slots;	/* [2 * capacity] by hash: index + 1, or 0 */
	size_t n_kept, capacity;	/* a power of two */
};

static unsigned
open_calls_bin(uint64_t ns)
{
	unsigned shift;

	if (ns < 1u << CPPROFDATA_CALL_BITS)
		return (unsigned)ns;
	shift = 63u - (unsigned)__builtin_clzll(ns) - CPPROFDATA_CALL_BITS;
	return ((shift + 1) << CPPROFDATA_CALL_BITS) +
	    (unsigned)(ns >> shift) - (1u << CPPROFDATA_CALL_BITS);
}

static uint16_t
open_calls_class(uint64_t ns)
{
	return (uint16_t)((open_calls_bin(ns) >>
	    CPPROFDATA_CALL_CLASS_BITS) + 1);
}

static bool
open_calls_add_key(struct thread *thread, const union call_key *key, uint64_t n,
    uint64_t other)
{
	struct tree *tree = &thread->file->tree;

	return call_counts_add(&tree->calls, CPPROFDATA_CALLS, tree->owner,
	    key, n, other);
}

static bool
open_calls_add(struct thread *thread, unsigned function,
    enum cpprofdata_call_kind kind, unsigned bin, uint64_t n, uint64_t other)
{
	const union call_key key = { .calls = { .function = function,
	    .kind = (uint16_t)kind, .bin = (uint16_t)bin } };

	return open_calls_add_key(thread, &key, n, other);
}

static uint64_t
open_calls_sampled(const struct thread *thread, uint64_t cpu_ns)
{
	return cpu_ns + thread->meters->in_calls_ns;
}

static uint64_t
open_calls_sampled_now(const struct thread *thread)
{
	return open_calls_sampled(thread,
	    process_clock(CLOCK_THREAD_CPUTIME_ID));
}

/*
 * How much was sampled between two moments.  What is computed in measured calls
 * is in both clocks; so it is at most what has passed.
 */
static uint64_t
open_calls_between(const struct calls_moment *from,
    const struct calls_moment *to)
{
	const uint64_t passed_ns = to->ns > from->ns ? to->ns - from->ns : 0;
	const uint64_t ns = to->sampled_ns > from->sampled_ns ?
	    to->sampled_ns - from->sampled_ns : 0;

	return ns < passed_ns ? ns : passed_ns;
}

/*
 * Counts hits in the file, those of open calls as of unfinished ones.  Numbers
 * below 0 take hits back that were counted.
 */
static bool
open_calls_count_hits(struct thread *thread, const union call_key *key,
    uint64_t hits, uint64_t samples)
{
	struct tree *tree = &thread->file->tree;
	union call_key counted = *key;
	unsigned f;

	for (f = 0; f < N_FUNCTIONS; f++)
		if (counted.counts.classes[f] == OPEN_CLASS)
			counted.counts.classes[f] = CPPROFDATA_CALL_NO_LENGTH;
	return call_counts_add(&tree->call_counts, CPPROFDATA_CALL_COUNTS,
	    tree->owner, &counted, hits, samples);
}

/* The slot that leads to the kept hits of a key, or the empty one for them. */
static uint32_t
open_calls_slot(const struct thread_calls *calls, const union call_key *key)
{
	const uint32_t last = (uint32_t)(2 * calls->capacity - 1);
	uint32_t slot = call_key_hash(key) & last;

	while (calls->slots[slot] != 0 &&
	    !call_key_equal(&calls->kept[calls->slots[slot] - 1].key, key))
		slot = (slot + 1) & last;
	return slot;
}

/*
 * Enters all kept hits in slots that are empty.  Those whose keys have become
 * equal, since a call of one function has ended, become one.
 */
static void
open_calls_enter_kept(struct thread_calls *calls)
{
	const size_t n = calls->n_kept;
	size_t i;

	calls->n_kept = 0;
	for (i = 0; i < n; i++) {
		struct kept_hits kept = calls->kept[i], *same;

		kept.slot = open_calls_slot(calls, &kept.key);
		if (calls->slots[kept.slot] != 0) {
			same = &calls->kept[calls->slots[kept.slot] - 1];
			same->hits += kept.hits;
			same->samples += kept.samples;
			continue;
		}
		calls->kept[calls->n_kept++] = kept;
		calls->slots[kept.slot] = (uint32_t)calls->n_kept;
	}
}

/* Forgets kept hits that are in no open call any more. */
static void
open_calls_forget_ended(struct thread_calls *calls)
{
	size_t i, n = 0;
	unsigned f;

	for (i = 0; i < calls->n_kept; i++) {
		const struct kept_hits *kept = &calls->kept[i];

		for (f = 0; f < N_FUNCTIONS && kept->key.counts.classes[f] !=
		    OPEN_CLASS; f++)
			;
		calls->slots[kept->slot] = 0;
		if (f < N_FUNCTIONS)
			calls->kept[n++] = *kept;
	}
	calls->n_kept = n;
	open_calls_enter_kept(calls);
}

/* A call has ended, and its hits are moved to their class. */
static void
open_calls_close(struct thread *thread, unsigned function, uint16_t class)
{
	struct thread_calls *calls = thread->calls;
	size_t i;

	calls->open[function].is_open = false;
	for (i = 0; i < calls->n_kept; i++) {
		struct kept_hits *kept = &calls->kept[i];
		union call_key key = kept->key;

		if (key.counts.classes[function] != OPEN_CLASS)
			continue;
		key.counts.classes[function] = class;
		/* If there is no room, they stay where they are. */
		if (!open_calls_count_hits(thread, &key, kept->hits,
		    kept->samples))
			key.counts.classes[function] =
			    CPPROFDATA_CALL_NO_LENGTH;
		else
			open_calls_count_hits(thread, &kept->key, -kept->hits,
			    -kept->samples);
		kept->key = key;
	}
	open_calls_forget_ended(calls);
}

/* It has ended without a length. */
static void
open_calls_close_unfinished(struct thread *thread, unsigned function)
{
	const struct open_call *call = &thread->calls->open[function];

	if (call->reason != CPPROFDATA_CALL_LEFT || !call->is_counted) {
		open_calls_add(thread, function, CPPROFDATA_CALL_UNFINISHED,
		    call->reason, 1, 0);
		if (call->is_counted)
			open_calls_add(thread, function,
			    CPPROFDATA_CALL_UNFINISHED, CPPROFDATA_CALL_LEFT,
			    -UINT64_C(1), 0);
	}
	open_calls_close(thread, function, CPPROFDATA_CALL_NO_LENGTH);
}

/* How long a call took, and how much of that was sampled. */
struct calls_length {
	uint64_t ns, sampled_ns;
	uint64_t tail_ns;	/* of that, after the first sample */
	uint64_t spread_ns;	/* in which it began */
	uint64_t waited_ns;	/* for a processor, at the first sample */
};

/*
 * On average it began in the middle of the time in which it may have begun.  But
 * if it was seen only once, it may be short, and where the thread had to wait for
 * a processor, most of that time was probably before it.  Its part before the
 * first sample is as long as its tail, on average, but not known to less than an
 * interval.
 */
static struct calls_length
open_calls_length(const struct open_call *call, const struct calls_moment *end)
{
	const uint64_t half_ns = call_functions_interval_ns() / 2;
	const bool may_be_short = call->n_seen < 2 || call->began_waiting;
	struct calls_length length = {
		.ns = end->ns - call->since.ns,
		.sampled_ns = open_calls_between(&call->since, end),
		.tail_ns = open_calls_between(&call->boundary, end),
		.spread_ns = call->since.ns - call->without.ns,
		.waited_ns = call->waited_ns,
	};
	const uint64_t sampled_ns = open_calls_between(&call->without,
	    &call->since), waited_ns = length.spread_ns - sampled_ns;
	uint64_t before_ns = sampled_ns / 2;

	if (may_be_short && before_ns > half_ns)
		before_ns = length.tail_ns < half_ns ? half_ns :
		    length.tail_ns < before_ns ? length.tail_ns : before_ns;
	length.sampled_ns += before_ns;
	/* Its part of the waits in between. */
	length.ns += before_ns + (sampled_ns == 0 ? waited_ns / 2 :
	    (uint64_t)((unsigned __int128)waited_ns * before_ns / sampled_ns));
	return length;
}

static void
open_calls_count_length(struct thread *thread, unsigned function,
    const struct calls_length *length)
{
	const struct open_call *call = &thread->calls->open[function];
	const uint64_t interval_ns = call_functions_interval_ns();
	/* Of longer ones each is seen, however late. */
	const uint64_t weight = length->tail_ns < interval_ns ? call->weight :
	    1;
	const unsigned tail = open_calls_bin(length->tail_ns);
	/*
	 * Of its waits for a processor it has that at its sample.  Where samples
	 * come just before a thread loses the processor, many calls have a later
	 * wait for each that is not seen and has none; that one is at another
	 * sample, and counts there.
	 */
	const union call_key by_chance = { .calls = { .function = function,
	    .kind = CPPROFDATA_CALL_BY_CHANCE, .tail = (uint16_t)tail,
	    .bin = (uint16_t)open_calls_bin(length->sampled_ns +
	    length->waited_ns),
	    .without_wait = (uint16_t)open_calls_bin(length->sampled_ns) } };

	if (length->sampled_ns < call->gap_ns)
		open_calls_add_key(thread, &by_chance, weight,
		    weight * length->spread_ns);
	else
		open_calls_add(thread, function, CPPROFDATA_CALL_LENGTHS,
		    open_calls_bin(length->ns), 1, length->spread_ns);
	open_calls_add(thread, function, CPPROFDATA_CALL_TAILS, tail, weight,
	    weight * weight);
}

/* It has returned to its mark. */
static void
open_calls_finish(struct thread *thread, unsigned function)
{
	struct open_call *call = &thread->calls->open[function];
	const struct call_mark *mark = &thread->unwinder->calls[function];
	const struct calls_moment end = { mark->end_ns,
		open_calls_sampled(thread, mark->end_cpu_ns) };
	struct calls_length length;

	if (!call->has_length || end.ns < call->since.ns ||
	    call->since.ns < call->without.ns) {
		call->without = end;
		open_calls_close_unfinished(thread, function);
		return;
	}
	if (call->is_counted)
		open_calls_add(thread, function, CPPROFDATA_CALL_UNFINISHED,
		    CPPROFDATA_CALL_LEFT, -UINT64_C(1), 0);
	length = open_calls_length(call, &end);
	open_calls_count_length(thread, function, &length);
	call->without = end;
	open_calls_close(thread, function, open_calls_class(length.ns));
}

/* It was left at an unknown time, or its end will not be seen. */
static void
open_calls_abandon(struct thread *thread, unsigned function)
{
	struct open_call *call = &thread->calls->open[function];

	call->without.ns = 0;
	open_calls_close_unfinished(thread, function);
}

/* The outermost frame of each function, as `places` says. */
static void
open_calls_find_frames(struct thread *thread)
{
	struct thread_calls *calls = thread->calls;
	struct unwinder *unwinder = thread->unwinder;
	const struct frames *stack = &unwinder->stack;
	const size_t n_ranges = call_functions_refresh();
	size_t i = n_ranges == calls->n_ranges ? unwinder->n_same : 0;
	unsigned f;

	calls->n_ranges = n_ranges;
	calls->is_blind = !call_functions_are_known();
	for (f = 0; f < N_FUNCTIONS; f++)
		if (calls->places[f] > i)
			calls->places[f] = 0;
	for (; i < stack->n; i++) {
		const struct tree_node *node =
		    tree_node_of_returns(stack->frames[i].at.returns);

		if (node == NULL)
			continue;
		f = call_functions_find(node->module, node->offset);
		if (f < N_FUNCTIONS && calls->places[f] == 0)
			calls->places[f] = i + 1;
	}
	unwinder->n_same = stack->n;
}

/*
 * A moment up to the present sample.  Since then the thread has been in a
 * measured call, which is sampled, or waited for a processor.
 */
static struct calls_moment
open_calls_moment(const struct thread *thread,
    const struct calls_sample *sample, uint64_t ns)
{
	const uint64_t now_ns = thread->calls->sampled_ns;
	const uint64_t waited_ns = sample->is_of_wait ? sample->now_ns - ns : 0;

	return (struct calls_moment){ ns, now_ns > waited_ns ?
		now_ns - waited_ns : 0 };
}

static void
open_calls_begin(struct thread *thread, unsigned function,
    const struct calls_sample *sample)
{
	struct unwinder *unwinder = thread->unwinder;
	struct open_call *call = &thread->calls->open[function];
	const size_t index = thread->calls->places[function] - 1;
	const bool is_marked = trampoline_mark_call(unwinder, function, index);

	call->is_open = call->is_new = true;
	call->is_counted = open_calls_add(thread, function,
	    CPPROFDATA_CALL_UNFINISHED, CPPROFDATA_CALL_LEFT, 1, 0);
	call->n_seen = 1;
	call->weight = sample->weight;
	call->gap_ns = sample->gap_ns;
	call->began_waiting = sample->since_ns < sample->now_ns;
	call->waited_ns = sample->is_of_wait ? 0 :
	    sample->now_ns - sample->since_ns;
	call->has_length = is_marked && call->without.ns != 0;
	call->reason = !is_marked ? CPPROFDATA_CALL_NOT_MARKED :
	    call->without.ns == 0 ? CPPROFDATA_CALL_BEGAN_BEFORE :
	    CPPROFDATA_CALL_LEFT;
	call->cfa = index > 0 ? unwinder->stack.frames[index - 1].sp : 0;
	/* The thread may have waited for something before the call. */
	call->since = sample->since_ns <= call->without.ns ? call->without :
	    open_calls_moment(thread, sample, sample->since_ns);
	call->boundary = sample->boundary_ns <= call->since.ns ? call->since :
	    open_calls_moment(thread, sample, sample->boundary_ns);
}

/* Whether an open call of that function is still the one on the stack. */
static bool
open_calls_goes_on(struct thread *thread, unsigned function)
{
	struct open_call *call = &thread->calls->open[function];
	struct unwinder *unwinder = thread->unwinder;
	const size_t place = thread->calls->places[function];

	if (place == 0)
		return unwinder->end != UNWIND_COMPLETE &&
		    unwinder->calls[function].state == CALL_MARKED;
	if (unwinder->calls[function].state == CALL_MARKED)
		return trampoline_is_marked(unwinder, function, place - 1);
	/* Without a mark, which a jump has taken back: as far as can be seen. */
	call->has_length = false;
	if (call->reason == CPPROFDATA_CALL_LEFT)
		call->reason = CPPROFDATA_CALL_NOT_MARKED;
	return place > 1 && unwinder->stack.frames[place - 2].sp == call->cfa;
}

static void
open_calls_see_function(struct thread *thread, unsigned function,
    const struct calls_sample *sample)
{
	struct thread_calls *calls = thread->calls;
	struct open_call *call = &calls->open[function];
	struct unwinder *unwinder = thread->unwinder;

	if (call->is_open && unwinder->calls[function].state == CALL_RETURNED) {
		unwinder->calls[function].state = CALL_UNMARKED;
		open_calls_finish(thread, function);
	} else if (call->is_open && !open_calls_goes_on(thread, function)) {
		trampoline_unmark_call(unwinder, function);
		open_calls_abandon(thread, function);
	}
	if (call->is_open)
		call->n_seen += sample->weight > 0;
	if (call->is_open)
		return;
	if (calls->places[function] != 0 && sample->weight > 0 &&
	    unwinder->end == UNWIND_COMPLETE)
		open_calls_begin(thread, function, sample);
	if (call->is_open)
		return;
	/* The thread may be in a call that is not seen. */
	if (calls->is_blind)
		call->without.ns = 0;
	else if (calls->places[function] == 0 &&
	    unwinder->end == UNWIND_COMPLETE)
		call->without = (struct calls_moment){ sample->now_ns,
			calls->sampled_ns };
}

/* How many of the functions are on the stack or have an open call. */
static size_t
open_calls_current(const struct thread_calls *calls)
{
	size_t n = 0;
	unsigned f;

	for (f = 0; f < N_FUNCTIONS; f++)
		n += calls->places[f] != 0 || calls->open[f].is_open;
	return n;
}

enum store_result
open_calls_find(struct thread *thread)
{
	struct tree *tree = &thread->file->tree;
	enum store_result result;
	size_t n, n_hits;

	if (thread->calls == NULL) {
		thread->calls = store_memory(sizeof *thread->calls);
		if (thread->calls == NULL)
			return STORE_FULL;
		meter_start(&thread->calls->ran, call_functions_interval_ns(),
		    resources.is_random, thread->tid);
	}
	open_calls_find_frames(thread);
	n = open_calls_current(thread->calls);
	if (n == 0)
		return STORE_OK;
	/* What was kept and this sample may move at the end of each. */
	n_hits = (n + 1) * (thread->calls->n_kept + 2 * resources.n);
	/* Of each, one may end, and another one begin and end. */
	result = call_counts_reserve(&tree->calls, CPPROFDATA_CALLS,
	    tree->owner, 8 * n);
	return result != STORE_OK ? result :
	    call_counts_reserve(&tree->call_counts, CPPROFDATA_CALL_COUNTS,
	    tree->owner, n_hits < MOST_RESERVED ? n_hits : MOST_RESERVED);
}

uint64_t
open_calls_take_ran(struct thread *thread, uint64_t *gap_ns)
{
	struct thread_calls *calls = thread->calls;
	const uint64_t ran_ns = thread->meters->ran_ns;
	const uint64_t n = meter_spend(&calls->ran, ran_ns);

	thread->meters->ran_ns = 0;
	*gap_ns = calls->gap_ns + ran_ns;
	calls->gap_ns = n > 0 ? 0 : *gap_ns;
	return n;
}

void
open_calls_see(struct thread *thread, const struct calls_sample *sample)
{
	unsigned f;

	thread->calls->sampled_ns = open_calls_sampled_now(thread);
	for (f = 0; f < process.n_call_functions &&
	    thread->run->began_ns != 0; f++)
		thread->calls->open[f].without = (struct calls_moment){
			thread->run->began_ns, thread->meters->began_ns };
	thread->run->began_ns = 0;
	for (f = 0; f < process.n_call_functions; f++)
		open_calls_see_function(thread, f, sample);
}

/* The time after the first sample does not include that sample. */
void
open_calls_resume(struct thread *thread, uint64_t taken_ns)
{
	const uint64_t sampled_ns = open_calls_sampled_now(thread) -
	    thread->calls->sampled_ns;
	unsigned f;

	for (f = 0; f < process.n_call_functions; f++) {
		struct open_call *call = &thread->calls->open[f];

		if (call->is_open && call->is_new) {
			call->boundary.ns += taken_ns;
			call->boundary.sampled_ns += sampled_ns;
		}
		call->is_new = false;
	}
}

/* Room for one more.  False: there is none. */
static bool
open_calls_reserve(struct thread_calls *calls)
{
	const size_t capacity = calls->capacity > 0 ? 2 * calls->capacity :
	    FIRST_KEPT;
	const size_t each = sizeof(struct kept_hits) + 2 * sizeof(uint32_t);
	struct kept_hits *kept;

	if (calls->n_kept < calls->capacity)
		return true;
	if (capacity > MOST_KEPT)
		return false;
	kept = store_memory(capacity * each);
	if (kept == NULL)
		return false;
	if (calls->kept != NULL) {
		memcpy(kept, calls->kept, calls->n_kept * sizeof *kept);
		store_free(calls->kept, calls->capacity * each);
	}
	calls->kept = kept;
	calls->slots = (uint32_t *)(kept + capacity);
	calls->capacity = capacity;
	open_calls_enter_kept(calls);
	return true;
}

void
open_calls_count(struct thread *thread, const struct node *leaf,
    unsigned column, uint64_t hits)
{
	struct thread_calls *calls = thread->calls;
	union call_key key = { .counts = { .node = leaf->number,
	    .resource = column } };
	bool is_inside = false;
	struct kept_hits *kept;
	uint32_t slot;
	unsigned f;

	if (calls == NULL)
		return;
	for (f = 0; f < process.n_call_functions; f++)
		if (calls->open[f].is_open) {
			key.counts.classes[f] = OPEN_CLASS;
			is_inside = true;
		}
	if (!is_inside)
		return;
	if (!open_calls_reserve(calls) ||
	    !open_calls_count_hits(thread, &key, hits, 1))
		return;
	slot = open_calls_slot(calls, &key);
	if (calls->slots[slot] == 0) {
		calls->kept[calls->n_kept++] = (struct kept_hits){
			.key = key, .slot = slot };
		calls->slots[slot] = (uint32_t)calls->n_kept;
	}
	kept = &calls->kept[calls->slots[slot] - 1];
	kept->hits += hits;
	kept->samples++;
}

bool
open_calls_refer(const struct thread *thread)
{
	const struct thread_calls *calls = thread->calls;
	unsigned f;

	for (f = 0; calls != NULL && f < N_FUNCTIONS; f++)
		if (calls->open[f].is_open)
			return true;
	return calls != NULL && calls->n_kept > 0;
}

bool
open_calls_have_returned(const struct thread *thread)
{
	unsigned f;

	for (f = 0; thread->calls != NULL && f < N_FUNCTIONS; f++)
		if (thread->unwinder->calls[f].state == CALL_RETURNED)
			return true;
	return false;
}

void
open_calls_end(struct thread *thread, bool all)
{
	struct unwinder *unwinder = thread->unwinder;
	unsigned f;

	for (f = 0; f < process.n_call_functions; f++) {
		if (!thread->calls->open[f].is_open)
			continue;
		if (unwinder->calls[f].state == CALL_RETURNED) {
			unwinder->calls[f].state = CALL_UNMARKED;
			open_calls_finish(thread, f);
		} else if (all) {
			trampoline_unmark_call(unwinder, f);
			open_calls_abandon(thread, f);
		}
	}
	/* The next thread with this state has another stack. */
	if (!all)
		return;
	for (f = 0; f < N_FUNCTIONS; f++) {
		thread->calls->open[f].without.ns = 0;
		thread->calls->places[f] = 0;
	}
	unwinder->n_same = 0;
}

void
open_calls_forked(struct thread *thread)
{
	trampoline_withdraw_calls(thread->unwinder);
	trampoline_forget_calls(thread->unwinder);
	thread->calls = NULL;
}
