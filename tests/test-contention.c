/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-contention.c -- the bookkeeping of waits, against a model.
 *
 * Threads take locks, wait, give up, signal and die at random.  The model knows
 * everything, also holds that nobody waits for.  At each step it gives the time
 * that has passed to each waiting thread, one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/wrap/contention.h"
#include "tests/skip.h"

enum { THREADS = 24, LOCKS = 4, PATHS = 6, CAUSES = CONTENTION_NOT_ENDED + 1 };

/* Columns of the tables: the paths of holders, then the causes. */
enum { COLUMNS = PATHS + CAUSES };

enum model_state {
	IDLE,
	HOLDS,			/* the lock */
	WAITS,			/* for the lock */
	SLEEPS,			/* on the condition of the lock */
	WAITS_AGAIN,		/* for the lock, after that */
	NEEDS			/* a unit of the semaphore */
};

struct model_thread {
	enum model_state state;
	unsigned lock;
	uint32_t path;
	bool is_shared, is_released;
	uint64_t asleep, pending, wake_up;	/* not charged yet */
	uint64_t number;		/* of the wait, for their order */
	struct contention_wait *wait;
};

struct model_lock {
	bool can_be_shared;
	unsigned n_holders;
	bool is_shared;			/* by those who hold it */
	bool is_dead;			/* its owner died */
	uint64_t debts[PATHS];		/* of waits that gave up */
	int value;			/* of its semaphore */
};

static struct model {
	struct contention contention;
	struct model_thread threads[THREADS];
	struct model_lock locks[LOCKS];
	uint64_t now, n_waits, random, waited;
	uint64_t expected[PATHS][COLUMNS], charged[PATHS][COLUMNS];
	bool is_fifo;			/* who is signalled wakes */
} model;

static struct contention_charges charges;

static uint64_t
draw(uint64_t n)
{
	model.random ^= model.random << 13;
	model.random ^= model.random >> 7;
	model.random ^= model.random << 17;
	return (model.random >> 11) % n;
}

static const void *
lock_address(unsigned lock)
{
	return &model.locks[lock];
}

static const void *
condition_address(unsigned lock)
{
	return &model.locks[lock].debts;
}

static bool
is_held(const void *lock)
{
	return ((const struct model_lock *)lock)->n_holders > 0;
}

/* ---- what is charged ---- */

static void
note_charges(uint32_t caller)
{
	for (unsigned i = 0; i < charges.n; i++) {
		const struct contention_charge *charge = &charges.items[i];
		const unsigned column =
		    charge->cause == CONTENTION_BY_CALLER ? caller :
		    charge->cause == CONTENTION_BY_OTHER ? charge->by.number :
		    PATHS + charge->cause;

		model.charged[charge->waiter.number][column] += charge->ns;
	}
	charges.n = 0;
}

static void
move(uint64_t *from, uint32_t path, unsigned column)
{
	model.expected[path][column] += *from;
	*from = 0;
}

/* ---- the model ---- */

static void
pass_time(void)
{
	const uint64_t ns = draw(4) == 0 ? 0 : draw(1000);

	model.now += ns;
	for (unsigned i = 0; i < THREADS; i++) {
		struct model_thread *thread = &model.threads[i];

		if (thread->state <= HOLDS)
			continue;
		model.waited += ns;
		if (thread->is_released)
			thread->wake_up += ns;
		else if (thread->state == WAITS || thread->state == WAITS_AGAIN)
			thread->pending += ns;
		else
			thread->asleep += ns;
	}
}

static bool
waits_for(const struct model_thread *thread, unsigned lock)
{
	return thread->lock == lock && (thread->state == WAITS ||
	    thread->state == WAITS_AGAIN);
}

static void
model_take(unsigned lock, bool is_shared)
{
	model.locks[lock].n_holders++;
	model.locks[lock].is_shared = is_shared;
	for (unsigned i = 0; i < THREADS; i++) {
		struct model_thread *thread = &model.threads[i];

		if (!waits_for(thread, lock) || !thread->is_released ||
		    (is_shared && thread->is_shared))
			continue;
		move(&thread->wake_up, thread->path,
		     PATHS + CONTENTION_WAKE_UP);
		thread->is_released = false;
	}
}

static void
model_release(unsigned lock, uint32_t path)
{
	for (unsigned i = 0; i < THREADS; i++) {
		struct model_thread *thread = &model.threads[i];

		if (!waits_for(thread, lock) || thread->is_released)
			continue;
		move(&thread->pending, thread->path, path);
		thread->is_released = true;
	}
	for (uint32_t waiter = 0; waiter < PATHS; waiter++)
		move(&model.locks[lock].debts[waiter], waiter, path);
}

/* ---- what threads do ---- */

static bool
can_take(unsigned lock, bool is_shared)
{
	const struct model_lock *it = &model.locks[lock];

	return it->n_holders == 0 || (is_shared && it->is_shared);
}

static void
begin(struct model_thread *thread, enum model_state state,
      enum contention_kind kind, const void *object)
{
	const struct contention_path path = { .number = thread->path };

	thread->state = state;
	thread->number = ++model.n_waits;
	thread->is_released = false;
	thread->asleep = thread->pending = thread->wake_up = 0;
	thread->wait = contention_begin(&model.contention, kind, object, &path,
	                                model.now);
	assert_non_null(thread->wait);
	contention_set_thread(thread->wait, thread);
	thread->wait->is_shared = thread->is_shared;
}

static void
end(struct model_thread *thread, enum contention_end how)
{
	contention_end(&model.contention, thread->wait, how, model.now,
	               &charges);
	thread->wait = NULL;
	note_charges(UINT32_MAX);
}

static void
try_lock(struct model_thread *thread)
{
	thread->lock = (unsigned)draw(LOCKS);
	thread->path = (uint32_t)draw(PATHS);
	thread->is_shared = model.locks[thread->lock].can_be_shared &&
	    draw(2) == 0;
	if (!can_take(thread->lock, thread->is_shared)) {
		begin(thread, WAITS, CONTENTION_LOCK,
		      lock_address(thread->lock));
		return;
	}
	if (model.locks[thread->lock].is_dead) {
		/* Without a wait, nothing tells that the owner has died. */
		model.locks[thread->lock].is_dead = false;
	}
	model_take(thread->lock, thread->is_shared);
	thread->state = HOLDS;
	contention_take(&model.contention, lock_address(thread->lock),
	                thread->is_shared, model.now, &charges);
	note_charges(UINT32_MAX);
}

static void
get_lock(struct model_thread *thread)
{
	struct model_lock *lock = &model.locks[thread->lock];
	const bool is_dead = lock->is_dead;

	if (!can_take(thread->lock, thread->is_shared))
		return;
	move(&thread->pending, thread->path, PATHS +
	     (is_dead ? CONTENTION_OWNER_DIED : CONTENTION_NOT_SEEN));
	move(&thread->wake_up, thread->path, PATHS + CONTENTION_WAKE_UP);
	thread->state = HOLDS;
	lock->is_dead = false;
	model_take(thread->lock, thread->is_shared);
	end(thread, is_dead ? CONTENTION_GOT_DEAD : CONTENTION_GOT);
}

static void
give_up(struct model_thread *thread)
{
	if (thread->is_released)
		move(&thread->wake_up, thread->path,
		     PATHS + CONTENTION_WAKE_UP);
	else
		model.locks[thread->lock].debts[thread->path] +=
		    thread->pending;
	thread->state = IDLE;
	end(thread, CONTENTION_WITHOUT);
}

static void
release(struct model_thread *thread)
{
	struct model_lock *lock = &model.locks[thread->lock];
	const uint32_t path = (uint32_t)draw(PATHS);

	thread->state = IDLE;
	if (--lock->n_holders > 0)
		return;
	/* Only a mutex can be robust. */
	if (!lock->can_be_shared && draw(50) == 0) {
		lock->is_dead = true;
		return;
	}
	model_release(thread->lock, path);
	contention_release(&model.contention, lock_address(thread->lock),
	                   model.now, &charges);
	note_charges(path);
}

static void
sleep_on(struct model_thread *thread)
{
	const uint32_t path = thread->path = (uint32_t)draw(PATHS);

	if (model.locks[thread->lock].can_be_shared)
		return;
	model.locks[thread->lock].n_holders--;
	model_release(thread->lock, path);
	contention_release(&model.contention, lock_address(thread->lock),
	                   model.now, &charges);
	note_charges(path);
	begin(thread, SLEEPS, CONTENTION_CONDITION,
	      condition_address(thread->lock));
	thread->wait->mutex = lock_address(thread->lock);
}

/* The oldest thread in a state at a lock, not yet woken; NULL: none. */
static struct model_thread *
oldest(enum model_state state, unsigned lock, bool is_released)
{
	struct model_thread *found = NULL;

	for (unsigned i = 0; i < THREADS; i++) {
		struct model_thread *thread = &model.threads[i];

		if (thread->state == state && thread->lock == lock &&
		    thread->is_released == is_released &&
		    (found == NULL || thread->number < found->number))
			found = thread;
	}
	return found;
}

static void
signal(unsigned lock, uint32_t n)
{
	const uint32_t path = (uint32_t)draw(PATHS);
	const struct contention_wake wake = { .kind = CONTENTION_CONDITION,
		.object = condition_address(lock), .n = n,
		.bits = UINT32_MAX, .by.number = path, .is_held = is_held };
	struct model_thread *thread;

	for (uint32_t i = 0; i < n &&
	     (thread = oldest(SLEEPS, lock, false)) != NULL; i++) {
		move(&thread->asleep, thread->path, path);
		thread->state = WAITS_AGAIN;
		thread->is_released = !is_held(lock_address(lock));
	}
	contention_wake(&model.contention, &wake, model.now, &charges);
	note_charges(path);
}

/* One of those that sleep goes on in place of the one that was signalled. */
static void
change_places(struct model_thread *thread)
{
	struct model_thread *other = &model.threads[draw(THREADS)];
	struct contention_wait *wait = thread->wait;
	struct model_thread copy = *thread;

	if (model.is_fifo || other->state != SLEEPS ||
	    other->lock != thread->lock)
		return;
	*thread = *other;
	*other = copy;
	/* The threads' waits stay what the bookkeeping takes them for. */
	other->wait = thread->wait;
	thread->wait = wait;
}

static void
time_out(struct model_thread *thread)
{
	if (!can_take(thread->lock, false) || model.locks[thread->lock].is_dead)
		return;
	move(&thread->asleep, thread->path, PATHS + CONTENTION_NOT_WOKEN);
	thread->state = HOLDS;
	model_take(thread->lock, false);
	end(thread, CONTENTION_WITHOUT);
}

static void
need_unit(struct model_thread *thread)
{
	thread->lock = (unsigned)draw(LOCKS);
	thread->path = (uint32_t)draw(PATHS);
	thread->is_shared = false;
	if (model.locks[thread->lock].value > 0)
		model.locks[thread->lock].value--;
	else
		begin(thread, NEEDS, CONTENTION_SEMAPHORE,
		      lock_address(thread->lock));
}

static void
post(unsigned lock)
{
	const uint32_t path = (uint32_t)draw(PATHS);
	const struct contention_wake wake = { .kind = CONTENTION_SEMAPHORE,
		.object = lock_address(lock), .n = 1, .bits = UINT32_MAX,
		.renews = model.locks[lock].value == 0, .by.number = path };
	struct model_thread *thread = oldest(NEEDS, lock, false);

	if (thread != NULL) {
		move(&thread->asleep, thread->path, path);
		thread->is_released = true;
	} else if (wake.renews &&
	           (thread = oldest(NEEDS, lock, true)) != NULL) {
		move(&thread->wake_up, thread->path, path);
	}
	model.locks[lock].value++;
	contention_wake(&model.contention, &wake, model.now, &charges);
	note_charges(path);
}

static void
get_unit(struct model_thread *thread)
{
	if (model.locks[thread->lock].value == 0 || !thread->is_released)
		return;
	model.locks[thread->lock].value--;
	move(&thread->wake_up, thread->path, PATHS + CONTENTION_WAKE_UP);
	thread->state = IDLE;
	end(thread, CONTENTION_GOT);
}

static void
lose_patience(struct model_thread *thread)
{
	move(&thread->asleep, thread->path, PATHS + CONTENTION_NOT_WOKEN);
	move(&thread->wake_up, thread->path, PATHS + CONTENTION_NOT_WOKEN);
	thread->state = IDLE;
	end(thread, CONTENTION_WITHOUT);
}

static void
step(void)
{
	struct model_thread *thread = &model.threads[draw(THREADS)];
	const uint64_t choice = draw(16);

	switch (thread->state) {
	case IDLE:
		if (choice < 8)
			try_lock(thread);
		else if (choice < 10)
			need_unit(thread);
		else if (choice < 12)
			post((unsigned)draw(LOCKS));
		else if (choice < 15)
			signal((unsigned)draw(LOCKS), choice == 12 ?
			       CONTENTION_ALL : (uint32_t)choice - 12);
		break;
	case HOLDS:
		if (choice < 4)
			signal(thread->lock, choice == 0 ? CONTENTION_ALL : 1);
		else if (choice < 6)
			sleep_on(thread);
		else
			release(thread);
		break;
	case WAITS:
		if (choice == 0)
			give_up(thread);
		else
			get_lock(thread);
		break;
	case SLEEPS:
		if (choice == 0)
			time_out(thread);
		break;
	case WAITS_AGAIN:
		if (choice < 4)
			change_places(thread);
		else if (!model.locks[thread->lock].is_dead)
			get_lock(thread);
		break;
	case NEEDS:
		if (choice == 0)
			lose_patience(thread);
		else
			get_unit(thread);
		break;
	}
}

static void
end_all(void)
{
	uint32_t at = 0;
	bool is_all;

	for (unsigned i = 0; i < THREADS; i++) {
		struct model_thread *thread = &model.threads[i];

		if (thread->state <= HOLDS)
			continue;
		move(&thread->asleep, thread->path,
		     PATHS + CONTENTION_NOT_ENDED);
		move(&thread->pending, thread->path,
		     PATHS + CONTENTION_NOT_ENDED);
		move(&thread->wake_up, thread->path,
		     PATHS + CONTENTION_NOT_ENDED);
	}
	for (unsigned lock = 0; lock < LOCKS; lock++)
		for (uint32_t path = 0; path < PATHS; path++)
			move(&model.locks[lock].debts[path], path,
			     PATHS + CONTENTION_NOT_ENDED);
	do {
		is_all = contention_charge_all(&model.contention, model.now,
		                               &at, &charges);
		note_charges(UINT32_MAX);
	} while (!is_all);
}

static uint64_t
sum(uint64_t table[PATHS][COLUMNS])
{
	uint64_t n = 0;

	for (unsigned i = 0; i < PATHS; i++)
		for (unsigned j = 0; j < COLUMNS; j++)
			n += table[i][j];
	return n;
}

static void
play(uint64_t seed, uint64_t n_steps, bool is_fifo)
{
	memset(&model, 0, sizeof model);
	charges.n = 0;
	model.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	model.is_fifo = is_fifo;
	model.locks[1].can_be_shared = model.locks[3].can_be_shared = true;
	for (uint64_t i = 0; i < n_steps; i++) {
		pass_time();
		step();
	}
	pass_time();
	end_all();
	assert_int_equal(sum(model.charged), model.waited);
}

/* Each pair of a waiter's and a holder's path, to the nanosecond. */
static void
contention_charges_as_the_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		play(seed, 2000, true);
		for (unsigned i = 0; i < PATHS; i++)
			for (unsigned j = 0; j < COLUMNS; j++)
				if (model.charged[i][j] != model.expected[i][j])
					fail_msg("seed %d: waiter %u, column "
					    "%u: %lu, expected %lu", (int)seed,
					    i, j,
					    (unsigned long)model.charged[i][j],
					    (unsigned long)model.expected[i][j]);
	}
}

/* Who is woken is not who was signalled: still each nanosecond counts once. */
static void
contention_conserves_waits(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++)
		play(seed, 2000, false);
}

static void
contention_conserves_millions_of_events(void **state)
{
	(void)state;
	skip_if_quick();
	play(7, 10000000, true);
	assert_memory_equal(model.charged, model.expected,
	                    sizeof model.charged);
	play(8, 10000000, false);
}

/*
 * A lock made of a futex.  Whoever leaves it wakes a waiter, if there is any, who
 * has it next; or a thread that does not wait takes it in that moment, and the one
 * that was woken waits again.  So each nanosecond of a wait has a holder, or is a
 * wake-up.  The kernel need not wake the one that has waited longest.
 */
enum futex_state { FUTEX_IDLE, FUTEX_HOLDS, FUTEX_WAITS, FUTEX_WOKEN };

static struct futex_model {
	enum futex_state states[THREADS];
	bool is_held, is_handed;	/* both: another one was faster */
} futex_model;

static const char futex_word;

static void
futex_pass_time(void)
{
	const uint64_t ns = draw(1000);

	model.now += ns;
	for (unsigned i = 0; i < THREADS; i++) {
		if (futex_model.states[i] < FUTEX_WAITS)
			continue;
		model.waited += ns;
		if (futex_model.is_held &&
		    futex_model.states[i] == FUTEX_WAITS)
			model.threads[i].pending += ns;
		else
			model.threads[i].wake_up += ns;
	}
}

static void
futex_take(unsigned taker)
{
	futex_model.states[taker] = FUTEX_HOLDS;
	futex_model.is_held = true;
	futex_model.is_handed = false;
	for (unsigned i = 0; i < THREADS; i++)
		move(&model.threads[i].wake_up, model.threads[i].path,
		     PATHS + CONTENTION_WAKE_UP);
}

static void
futex_release(unsigned leaver)
{
	const uint32_t path = (uint32_t)draw(PATHS);
	const struct contention_wake wake = { .kind = CONTENTION_FUTEX,
		.object = &futex_word, .n = 1, .bits = UINT32_MAX };
	const unsigned first = (unsigned)draw(THREADS);

	futex_model.states[leaver] = FUTEX_IDLE;
	futex_model.is_held = false;
	for (unsigned i = 0; i < THREADS; i++) {
		const unsigned other = (first + i) % THREADS;

		move(&model.threads[other].pending, model.threads[other].path,
		     path);
		if (futex_model.states[other] != FUTEX_WAITS ||
		    futex_model.is_handed)
			continue;
		futex_model.states[other] = FUTEX_WOKEN;
		futex_model.is_handed = true;
	}
	contention_wake(&model.contention, &wake, model.now, &charges);
	note_charges(path);
	if (futex_model.states[first] == FUTEX_IDLE && draw(2) == 0) {
		futex_model.states[first] = FUTEX_HOLDS;
		futex_model.is_held = true;
	}
}

/* The one that was woken runs, and finds the lock taken. */
static void
futex_wait_again(unsigned waiter)
{
	struct model_thread *thread = &model.threads[waiter];

	futex_model.states[waiter] = FUTEX_WAITS;
	futex_model.is_handed = false;
	move(&thread->wake_up, thread->path, PATHS + CONTENTION_WAKE_UP);
	end(thread, CONTENTION_GOT);
	begin(thread, WAITS, CONTENTION_FUTEX, &futex_word);
}

static void
futex_lose_patience(unsigned waiter)
{
	struct model_thread *thread = &model.threads[waiter];

	futex_model.states[waiter] = FUTEX_IDLE;
	move(&thread->pending, thread->path, PATHS + CONTENTION_NOT_WOKEN);
	move(&thread->wake_up, thread->path, PATHS + CONTENTION_NOT_WOKEN);
	end(thread, CONTENTION_WITHOUT);
}

static void
futex_step(void)
{
	const unsigned i = (unsigned)draw(THREADS);
	struct model_thread *thread = &model.threads[i];

	switch (futex_model.states[i]) {
	case FUTEX_IDLE:
		thread->path = (uint32_t)draw(PATHS);
		if (!futex_model.is_held && !futex_model.is_handed) {
			futex_take(i);
		} else if (futex_model.is_held) {
			begin(thread, WAITS, CONTENTION_FUTEX, &futex_word);
			futex_model.states[i] = FUTEX_WAITS;
		}
		break;
	case FUTEX_HOLDS:
		/* Until then, it would not know that it has to wake one. */
		if (!futex_model.is_handed)
			futex_release(i);
		break;
	case FUTEX_WAITS:
		if (draw(8) == 0)
			futex_lose_patience(i);
		break;
	case FUTEX_WOKEN:
		if (futex_model.is_held) {
			futex_wait_again(i);
		} else {
			futex_take(i);
			end(thread, CONTENTION_GOT);
		}
		break;
	}
}

/* Each holder is charged with its own hold, however long others wait on. */
static void
contention_charges_holders_of_futexes(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		memset(&model, 0, sizeof model);
		memset(&futex_model, 0, sizeof futex_model);
		charges.n = 0;
		model.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
		for (unsigned i = 0; i < 2000; i++) {
			futex_pass_time();
			futex_step();
		}
		end_all();
		assert_int_equal(sum(model.charged), model.waited);
		assert_memory_equal(model.charged, model.expected,
		                    sizeof model.charged);
	}
}

/* The pieces of the charges of a cause. */
static uint64_t
charged_by(enum contention_cause cause)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < charges.n; i++)
		if (charges.items[i].cause == cause)
			ns += charges.items[i].ns;
	charges.n = 0;
	return ns;
}

/* Who takes a lock before the thread that was woken runs is charged, too. */
static void
contention_charges_faster_holders_of_futexes(void **state)
{
	static struct contention contention;
	const struct contention_path path = { .number = 1 };
	const struct contention_wake wake = { .kind = CONTENTION_FUTEX,
		.object = &futex_word, .n = 1, .bits = UINT32_MAX };
	struct contention_wait *waits[3];

	(void)state;
	charges.n = 0;
	for (unsigned i = 0; i < 3; i++) {
		waits[i] = contention_begin(&contention, CONTENTION_FUTEX,
		    &futex_word, &path, 0);
		contention_set_thread(waits[i], &waits[i]);
	}
	contention_wake(&contention, &wake, 10, &charges);
	assert_int_equal(charged_by(CONTENTION_BY_CALLER), 30);
	/* The faster one.  It wakes the second; the third has waited for it. */
	contention_wake(&contention, &wake, 15, &charges);
	assert_int_equal(charged_by(CONTENTION_BY_CALLER), 10);
	contention_end(&contention, waits[0], CONTENTION_GOT, 16, &charges);
	assert_int_equal(charged_by(CONTENTION_WAKE_UP), 6);
	contention_end(&contention, waits[1], CONTENTION_GOT, 18, &charges);
	assert_int_equal(charged_by(CONTENTION_WAKE_UP), 4);
	/* Since the first ran, somebody has had it. */
	contention_end(&contention, waits[2], CONTENTION_WITHOUT, 20,
	               &charges);
	assert_int_equal(charged_by(CONTENTION_NOT_WOKEN), 4);
	assert_int_equal(contention_may_have(&contention, &futex_word), 0);
}

static uint64_t crowd_total;

static void
add_to_crowd(void)
{
	for (unsigned i = 0; i < charges.n; i++)
		crowd_total += charges.items[i].ns;
	charges.n = 0;
}

/* More waiters, of more paths, than one call can charge: some stay for later. */
static void
contention_conserves_crowds(void **state)
{
	static struct contention contention;
	static struct contention_wait *waits[1000];
	const char lock = 0;
	uint64_t expected = 0;

	(void)state;
	crowd_total = charges.n = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		waits[i] = contention_begin(&contention, CONTENTION_LOCK,
		    &lock, &(struct contention_path){ .number = i }, i);
		expected += 5000 - i;
	}
	for (uint32_t i = 0; i < 1000; i++) {
		contention_release(&contention, &lock, 2000 + i, &charges);
		add_to_crowd();
		contention_take(&contention, &lock, false, 2000 + i, &charges);
		add_to_crowd();
	}
	for (uint32_t i = 0; i < 1000; i++) {
		contention_end(&contention, waits[i], CONTENTION_GOT, 5000,
		               &charges);
		add_to_crowd();
	}
	assert_int_equal(crowd_total, expected);
	assert_int_equal(contention_may_have(&contention, &lock), 0);
}

/* The same of a condition, all of whose waiters are woken at once. */
static void
contention_conserves_crowds_of_sleepers(void **state)
{
	static struct contention contention;
	static struct contention_wait *waits[1000];
	const char condition = 0, mutex = 0;
	const struct contention_wake wake = { .kind = CONTENTION_CONDITION,
		.object = &condition, .n = CONTENTION_ALL, .bits = UINT32_MAX };
	uint64_t expected = 0;

	(void)state;
	crowd_total = charges.n = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		waits[i] = contention_begin(&contention, CONTENTION_CONDITION,
		    &condition, &(struct contention_path){ .number = i }, i);
		waits[i]->mutex = &mutex;
		expected += 3000;
	}
	contention_wake(&contention, &wake, 2000, &charges);
	add_to_crowd();
	for (uint32_t i = 0; i < 1000; i++) {
		contention_end(&contention, waits[i], CONTENTION_GOT, 3000 + i,
		               &charges);
		add_to_crowd();
		contention_release(&contention, &mutex, 3000 + i, &charges);
		add_to_crowd();
	}
	assert_int_equal(crowd_total, expected);
	assert_int_equal(contention_may_have(&contention, &condition), 0);
	assert_int_equal(contention_may_have(&contention, &mutex), 0);
}

/* Who comes while the lock is being left has not waited for its holder. */
static void
contention_knows_that_a_lock_is_free(void **state)
{
	static struct contention contention;
	struct contention_wait *first, *second;
	struct contention_path path = { .number = 1 };
	const char lock = 0;

	(void)state;
	charges.n = 0;
	first = contention_begin(&contention, CONTENTION_LOCK, &lock, &path, 0);
	contention_release(&contention, &lock, 10, &charges);
	charges.n = 0;
	second = contention_begin(&contention, CONTENTION_LOCK, &lock, &path,
	                          12);
	contention_end(&contention, second, CONTENTION_GOT, 20, &charges);
	assert_int_equal(charges.n, 1);
	assert_int_equal(charges.items[0].cause, CONTENTION_WAKE_UP);
	assert_int_equal(charges.items[0].ns, 18);
	charges.n = 0;
	contention_release(&contention, &lock, 50, &charges);
	assert_int_equal(charges.items[0].cause, CONTENTION_BY_CALLER);
	assert_int_equal(charges.items[0].ns, 30);
	charges.n = 0;
	contention_end(&contention, first, CONTENTION_GOT, 60, &charges);
	assert_int_equal(contention_may_have(&contention, &lock), 0);
}

/* Without waits nothing is left: neither entries nor marks in the filter. */
static void
contention_forgets(void **state)
{
	static struct contention contention;
	struct contention_wait *wait;
	const char lock = 0;
	struct contention_path path = { .number = 1 };

	(void)state;
	charges.n = 0;
	wait = contention_begin(&contention, CONTENTION_LOCK, &lock, &path, 10);
	assert_int_equal(contention_may_have(&contention, &lock), 1);
	contention_end(&contention, wait, CONTENTION_WITHOUT, 20, &charges);
	/* Its hold lasts. */
	assert_int_equal(contention_may_have(&contention, &lock), 1);
	assert_int_equal(charges.n, 0);
	contention_release(&contention, &lock, 90, &charges);
	assert_int_equal(charges.n, 1);
	assert_int_equal(charges.items[0].ns, 10);
	assert_int_equal(contention_may_have(&contention, &lock), 0);
	/* Full tables refuse, and nothing is lost. */
	for (uint32_t i = 0; i < CONTENTION_WAITS; i++)
		assert_non_null(contention_begin(&contention, CONTENTION_LOCK,
		    &lock, &path, 0));
	assert_null(contention_begin(&contention, CONTENTION_LOCK, &lock,
	                             &path, 0));
}

static void
contention_knows_the_last_of_a_barrier(void **state)
{
	static struct contention contention;
	struct contention_wait *waits[2];
	struct contention_wake wake = { .kind = CONTENTION_BARRIER,
		.n = CONTENTION_ALL, .bits = UINT32_MAX };
	struct contention_path path = { .number = 1 };
	const char barrier = 0;

	(void)state;
	charges.n = 0;
	wake.object = &barrier;
	assert_false(contention_is_last(&contention, &barrier));
	contention_set_barrier(&contention, &barrier, 3);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 2; i++) {
			assert_false(contention_is_last(&contention,
			                                &barrier));
			waits[i] = contention_begin(&contention,
			    CONTENTION_BARRIER, &barrier, &path, i);
		}
		assert_true(contention_is_last(&contention, &barrier));
		contention_wake(&contention, &wake, 100, &charges);
		assert_int_equal(charges.n, 2);
		assert_int_equal(charges.items[0].ns + charges.items[1].ns,
		                 199);
		charges.n = 0;
		/* The next round begins while these have not run yet. */
		assert_false(contention_is_last(&contention, &barrier));
		for (unsigned i = 0; i < 2; i++)
			contention_end(&contention, waits[i], CONTENTION_GOT,
			               110, &charges);
		assert_int_equal(charges.items[0].cause, CONTENTION_WAKE_UP);
		charges.n = 0;
	}
	contention_set_barrier(&contention, &barrier, 0);
	assert_int_equal(contention_may_have(&contention, &barrier), 0);
}

static void
contention_moves_waiters_of_futexes(void **state)
{
	static struct contention contention;
	struct contention_path path = { .number = 1 };
	const char words[2] = { 0 };
	struct contention_wait *waits[3];
	struct contention_wake wake = { .kind = CONTENTION_FUTEX,
		.object = &words[0], .n = 1, .bits = 2 };

	(void)state;
	charges.n = 0;
	for (unsigned i = 0; i < 3; i++) {
		waits[i] = contention_begin(&contention, CONTENTION_FUTEX,
		    &words[0], &path, 0);
		waits[i]->bits = i + 1;
	}
	/* The second is the oldest that waits for this bit. */
	contention_wake(&contention, &wake, 10, &charges);
	assert_true(waits[1]->is_woken);
	contention_move(&contention, &words[0], &words[1], CONTENTION_ALL);
	wake.bits = UINT32_MAX;
	charges.n = 0;
	contention_wake(&contention, &wake, 20, &charges);
	assert_int_equal(charges.n, 0);
	wake.object = &words[1];
	wake.n = CONTENTION_ALL;
	contention_wake(&contention, &wake, 30, &charges);
	assert_int_equal(charges.n, 2);
	for (unsigned i = 0; i < 3; i++)
		contention_end(&contention, waits[i], CONTENTION_GOT, 30,
		               &charges);
	assert_int_equal(contention_may_have(&contention, &words[0]), 0);
	assert_int_equal(contention_may_have(&contention, &words[1]), 0);
}

static void
contention_counts_files_if_somebody_wakes(void **state)
{
	static struct contention contention;
	struct contention_path path = { .number = 1 };
	const char object = 0;
	const struct contention_wake wake = { .kind = CONTENTION_FILE,
		.object = &object, .n = 1, .bits = UINT32_MAX };
	struct contention_wait *waits[3];
	uint32_t at = 0;

	(void)state;
	charges.n = 0;
	for (unsigned i = 0; i < 3; i++)
		waits[i] = contention_begin(&contention, CONTENTION_FILE,
		    &object, &path, i);
	contention_wake(&contention, &wake, 10, &charges);
	assert_int_equal(charges.n, 1);
	assert_int_equal(charges.items[0].ns, 10);
	/* The second runs in place of the first, which may still wait. */
	charges.n = 0;
	contention_end(&contention, waits[1], CONTENTION_GOT, 20, &charges);
	assert_int_equal(charges.n, 2);
	assert_int_equal(charges.items[0].cause, CONTENTION_BY_OTHER);
	assert_int_equal(charges.items[0].ns, 9);
	assert_int_equal(charges.items[1].cause, CONTENTION_WAKE_UP);
	assert_int_equal(charges.items[1].ns, 10);
	charges.n = 0;
	assert_true(contention_charge_all(&contention, 30, &at, &charges));
	contention_end(&contention, waits[0], CONTENTION_GOT, 40, &charges);
	contention_end(&contention, waits[2], CONTENTION_WITHOUT, 40,
	               &charges);
	assert_int_equal(charges.n, 0);
	assert_int_equal(contention_may_have(&contention, &object), 0);
}

/* ---- single cases, to the nanosecond ---- */

static struct contention books;

static void
begin_books(void)
{
	memset(&books, 0, sizeof books);
	charges.n = 0;
}

static struct contention_wait *
wait_for(enum contention_kind kind, const void *object, uint32_t path,
         uint64_t now_ns)
{
	return contention_begin(&books, kind, object,
	    &(struct contention_path){ .number = path }, now_ns);
}

static void
end_wait(struct contention_wait *wait, enum contention_end how,
         uint64_t now_ns)
{
	charges.n = 0;
	contention_end(&books, wait, how, now_ns, &charges);
}

static void
release_lock(const void *lock, uint64_t now_ns)
{
	charges.n = 0;
	contention_release(&books, lock, now_ns, &charges);
}

/* The oldest that waits for it is woken; of a mutex, by one who holds it. */
static void
wake_one(enum contention_kind kind, const void *object, uint32_t by,
         uint64_t now_ns)
{
	const struct contention_wake wake = { .kind = kind, .object = object,
		.n = 1, .bits = UINT32_MAX, .by.number = by };

	charges.n = 0;
	contention_wake(&books, &wake, now_ns, &charges);
}

static void
assert_charge(unsigned i, enum contention_cause cause, uint32_t waiter,
              uint64_t ns)
{
	assert_true(i < charges.n);
	assert_int_equal(charges.items[i].cause, cause);
	assert_int_equal(charges.items[i].waiter.number, waiter);
	assert_int_equal(charges.items[i].ns, ns);
}

static void
assert_only_charge(enum contention_cause cause, uint32_t waiter, uint64_t ns)
{
	assert_int_equal(charges.n, 1);
	assert_charge(0, cause, waiter, ns);
}

static void
assert_forgotten(const void *object)
{
	assert_int_equal(contention_may_have(&books, object), 0);
}

/* 40 waiters of 32 paths, which one call can charge. */
static void
contention_adds_up_equal_waiters_in_crowds(void **state)
{
	const char lock = 0;

	(void)state;
	begin_books();
	for (uint32_t i = 0; i < 40; i++)
		wait_for(CONTENTION_LOCK, &lock, i % CONTENTION_CHARGES, i);
	release_lock(&lock, 1000);
	assert_int_equal(charges.n, CONTENTION_CHARGES);
	for (uint32_t i = 0; i < CONTENTION_CHARGES; i++)
		assert_charge(i, CONTENTION_BY_CALLER, i, i < 40 - 32 ?
		              1000 - i + 1000 - (i + 32) : 1000 - i);
}

/* A piece without room stays with its wait, and is never another waiter's. */
static void
contention_keeps_what_has_no_room(void **state)
{
	struct contention_wait *waits[40];
	const char lock = 0;

	(void)state;
	begin_books();
	for (uint32_t i = 0; i < 40; i++)
		waits[i] = wait_for(CONTENTION_LOCK, &lock, i, 0);
	release_lock(&lock, 1000);
	assert_int_equal(charges.n, CONTENTION_CHARGES);
	for (uint32_t i = 0; i < CONTENTION_CHARGES; i++)
		assert_charge(i, CONTENTION_BY_CALLER, i, 1000);
	end_wait(waits[39], CONTENTION_GOT, 1010);
	assert_charge(0, CONTENTION_WAKE_UP, 39, 1010);
	for (uint32_t i = 1; i < CONTENTION_CHARGES; i++)
		assert_charge(i, CONTENTION_WAKE_UP, i - 1, 10);
}

/* Nor is it added to one of another cause. */
static void
contention_tells_causes_apart_in_crowds(void **state)
{
	struct contention_wait *writer;
	const char lock = 0;

	(void)state;
	begin_books();
	writer = wait_for(CONTENTION_LOCK, &lock, 0, 0);
	for (uint32_t i = 0; i < 33; i++)
		wait_for(CONTENTION_LOCK, &lock, i % 32, 0)->is_shared = true;
	release_lock(&lock, 100);
	charges.n = 0;
	/* Readers go on beside a reader, a writer does not. */
	contention_take(&books, &lock, true, 150, &charges);
	assert_only_charge(CONTENTION_WAKE_UP, 0, 50);
	end_wait(writer, CONTENTION_GOT, 200);
	assert_charge(0, CONTENTION_NOT_SEEN, 0, 50);
	assert_charge(1, CONTENTION_WAKE_UP, 0, 200);
	for (uint32_t i = 1; i < 31; i++)
		assert_charge(i + 1, CONTENTION_WAKE_UP, i, 100);
	assert_int_equal(charges.n, CONTENTION_CHARGES);
}

/* Threads read the clock before they are serialised. */
static void
contention_takes_a_clock_that_is_behind_as_now(void **state)
{
	struct contention_wait *wait;
	const char lock = 0;

	(void)state;
	begin_books();
	wait = wait_for(CONTENTION_LOCK, &lock, 1, 100);
	release_lock(&lock, 90);
	assert_int_equal(charges.n, 0);
	end_wait(wait, CONTENTION_GOT, 95);
	assert_int_equal(charges.n, 0);
	assert_forgotten(&lock);
}

static void
contention_knows_locks_got_at_once(void **state)
{
	struct contention_wait *wait;
	const char lock = 0;

	(void)state;
	begin_books();
	wait = wait_for(CONTENTION_LOCK, &lock, 1, 0);
	end_wait(wait, CONTENTION_GOT_AT_ONCE, 5);
	assert_int_equal(charges.n, 0);
	assert_forgotten(&lock);
	wait = wait_for(CONTENTION_LOCK, &lock, 1, 20);
	release_lock(&lock, 30);
	assert_only_charge(CONTENTION_BY_CALLER, 1, 10);
	end_wait(wait, CONTENTION_GOT_AT_ONCE, 35);
	assert_only_charge(CONTENTION_WAKE_UP, 1, 5);
	assert_forgotten(&lock);
}

static void
contention_charges_nothing_where_nobody_waited(void **state)
{
	const char object = 0;

	(void)state;
	begin_books();
	for (unsigned kind = CONTENTION_LOCK; kind <= CONTENTION_FILE; kind++) {
		end_wait(wait_for(kind, &object, 1, 0), CONTENTION_NOTHING, 50);
		assert_int_equal(charges.n, 0);
		assert_forgotten(&object);
	}
}

/* A hold that nobody saw begin: its end is seen, and a writer waited for it. */
static void
contention_charges_holds_whose_beginning_was_not_seen(void **state)
{
	struct contention_wait *writer, *reader;
	const char lock = 0;

	(void)state;
	begin_books();
	writer = wait_for(CONTENTION_LOCK, &lock, 1, 0);
	reader = wait_for(CONTENTION_LOCK, &lock, 2, 0);
	reader->is_shared = true;
	release_lock(&lock, 10);
	assert_int_equal(charges.n, 2);
	release_lock(&lock, 30);
	assert_only_charge(CONTENTION_BY_CALLER, 1, 20);
	end_wait(reader, CONTENTION_GOT, 40);
	assert_charge(0, CONTENTION_WAKE_UP, 2, 30);
	assert_charge(1, CONTENTION_WAKE_UP, 1, 10);
	end_wait(writer, CONTENTION_GOT, 45);
	assert_only_charge(CONTENTION_NOT_SEEN, 1, 5);
	assert_forgotten(&lock);
}

static bool
is_always_held(const void *lock)
{
	(void)lock;
	return true;
}

/* Who is woken then waits for the mutex, if somebody holds it. */
static void
contention_goes_on_with_the_mutex(void **state)
{
	const char condition = 0, mutex = 0;
	struct contention_wait *wait;
	struct contention_wake wake = { .kind = CONTENTION_CONDITION,
		.object = &condition, .n = 1, .bits = UINT32_MAX };

	(void)state;
	begin_books();
	for (unsigned is_held = 0; is_held < 2; is_held++) {
		wake.is_held = is_held ? is_always_held : NULL;
		wait = wait_for(CONTENTION_CONDITION, &condition, 1, 0);
		wait->mutex = &mutex;
		charges.n = 0;
		contention_wake(&books, &wake, 10, &charges);
		assert_only_charge(CONTENTION_BY_CALLER, 1, 10);
		if (is_held) {
			release_lock(&mutex, 20);
			assert_only_charge(CONTENTION_BY_CALLER, 1, 10);
		}
		end_wait(wait, CONTENTION_GOT, 25);
		assert_only_charge(CONTENTION_WAKE_UP, 1, is_held ? 5 : 15);
		assert_forgotten(&condition);
		assert_forgotten(&mutex);
	}
}

static void
contention_tells_how_waits_in_queues_end(void **state)
{
	const char object = 0;

	(void)state;
	begin_books();
	end_wait(wait_for(CONTENTION_FUTEX, &object, 1, 0), CONTENTION_GOT, 7);
	assert_only_charge(CONTENTION_NOT_SEEN, 1, 7);
	end_wait(wait_for(CONTENTION_FUTEX, &object, 2, 0), CONTENTION_WITHOUT,
	         8);
	assert_only_charge(CONTENTION_NOT_WOKEN, 2, 8);
	assert_forgotten(&object);
}

static void
contention_charges_those_woken_in_vain_again(void **state)
{
	const char object = 0;
	struct contention_wake wake = { .kind = CONTENTION_SEMAPHORE,
		.object = &object, .n = 1, .bits = UINT32_MAX, .renews = true };

	(void)state;
	begin_books();
	wait_for(CONTENTION_SEMAPHORE, &object, 1, 0);
	wait_for(CONTENTION_SEMAPHORE, &object, 2, 0);
	contention_wake(&books, &wake, 10, &charges);
	assert_only_charge(CONTENTION_BY_CALLER, 1, 10);
	charges.n = 0;
	contention_wake(&books, &wake, 20, &charges);
	assert_only_charge(CONTENTION_BY_CALLER, 2, 20);
	charges.n = 0;
	contention_wake(&books, &wake, 30, &charges);
	assert_only_charge(CONTENTION_BY_CALLER, 1, 20);
	wake_one(CONTENTION_SEMAPHORE, &object, 0, 40);
	assert_int_equal(charges.n, 0);
}

/*
 * Two threads wait for a condition; the first is woken, and the second runs.
 * What each is charged with adds up to what both have waited.
 */
struct change_of_places {
	uint64_t second_ns;		/* when the second begins to wait */
	uint64_t release_ns;		/* when the mutex is left */
	uint64_t by_other, wake_up;	/* pieces of the second */
	uint64_t first;			/* and the last of the first */
};

static void
contention_lets_waiters_change_places(void **state)
{
	static const struct change_of_places cases[] = {
		/* The mutex took 10 of the second's 26, charged to the first. */
		{ 4, 20, 6, 10, 30 },
		/* It came when the first had been woken, */
		{ 11, 20, 0, 10, 29 },
		/* and when the mutex had been left, too. */
		{ 15, 12, 0, 15, 28 },
	};
	const char condition = 0, mutex = 0;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct change_of_places *it = &cases[i];
		struct contention_wake wake = { .kind = CONTENTION_CONDITION,
			.object = &condition, .n = 1, .bits = UINT32_MAX,
			.by.number = 7, .is_held = is_always_held };
		struct contention_wait *waits[2];
		unsigned n = 0;

		begin_books();
		waits[0] = wait_for(CONTENTION_CONDITION, &condition, 1, 0);
		waits[0]->mutex = &mutex;
		waits[1] = it->second_ns < 10 ? wait_for(CONTENTION_CONDITION,
		    &condition, 2, it->second_ns) : NULL;
		contention_wake(&books, &wake, 10, &charges);
		assert_only_charge(CONTENTION_BY_CALLER, 1, 10);
		if (it->release_ns < it->second_ns)
			release_lock(&mutex, it->release_ns);
		if (waits[1] == NULL)
			waits[1] = wait_for(CONTENTION_CONDITION, &condition,
			                    2, it->second_ns);
		waits[1]->mutex = &mutex;
		if (it->release_ns > it->second_ns)
			release_lock(&mutex, it->release_ns);
		assert_only_charge(CONTENTION_BY_CALLER, 1,
		                   it->release_ns - 10);
		end_wait(waits[1], CONTENTION_GOT, 30);
		if (it->by_other > 0) {
			assert_charge(n, CONTENTION_BY_OTHER, 2, it->by_other);
			assert_int_equal(charges.items[n++].by.number, 7);
		}
		assert_charge(n++, CONTENTION_WAKE_UP, 2, it->wake_up);
		assert_int_equal(charges.n, n);
		charges.n = 0;
		contention_wake(&books, &wake, 40, &charges);
		assert_only_charge(CONTENTION_BY_CALLER, 1, it->first);
		end_wait(waits[0], CONTENTION_GOT, 45);
		assert_only_charge(CONTENTION_NOT_SEEN, 1, 5);
		assert_int_equal(10 + it->release_ns - 10 + it->by_other +
		                 it->wake_up + it->first,
		                 40 + 30 - it->second_ns);
		assert_forgotten(&condition);
		assert_forgotten(&mutex);
	}
}

/* Of several that are woken, the oldest is the one whose place is taken. */
static void
contention_changes_places_with_the_oldest_woken(void **state)
{
	struct contention_wait *waits[4];
	const char object = 0;

	(void)state;
	begin_books();
	for (uint32_t i = 0; i < 4; i++)
		waits[i] = wait_for(CONTENTION_SEMAPHORE, &object, i,
		                    i);
	waits[0]->bits = 2;
	contention_wake(&books, &(struct contention_wake){
	    .kind = CONTENTION_SEMAPHORE, .object = &object, .n = 2, .bits = 1,
	    .by.number = 9 }, 10, &charges);
	assert_int_equal(charges.n, 2);
	/* A thread that wakes another may have read its clock later. */
	end_wait(waits[3], CONTENTION_GOT, 8);
	assert_only_charge(CONTENTION_BY_OTHER, 3, 5);
	assert_int_equal(charges.items[0].by.number, 9);
	end_wait(waits[1], CONTENTION_WITHOUT, 20);
	assert_only_charge(CONTENTION_NOT_WOKEN, 1, 10);
	end_wait(waits[2], CONTENTION_GOT, 20);
	assert_only_charge(CONTENTION_WAKE_UP, 2, 10);
	end_wait(waits[0], CONTENTION_WITHOUT, 20);
	assert_only_charge(CONTENTION_NOT_WOKEN, 0, 20);
	assert_forgotten(&object);
}

static void
contention_moves_as_many_as_are_to_move(void **state)
{
	struct contention_wait *waits[4];
	/* Apart, since neighbours share a byte of the filter. */
	static const char words[3][64];
	const void *const from = words[0], *const to = words[1];
	const void *const other = words[2];

	(void)state;
	begin_books();
	for (uint32_t i = 0; i < 4; i++)
		waits[i] = wait_for(CONTENTION_FUTEX, from, i, 0);
	/* What each has waited so far is the caller's. */
	wake_one(CONTENTION_FUTEX, from, 9, 10);
	assert_int_equal(charges.n, 4);
	contention_move(&books, from, from, 1);
	contention_move(&books, from, to, 2);
	wake_one(CONTENTION_FUTEX, from, 9, 20);
	assert_only_charge(CONTENTION_BY_CALLER, 3, 10);
	wake_one(CONTENTION_FUTEX, from, 9, 30);
	assert_int_equal(charges.n, 0);
	wake_one(CONTENTION_FUTEX, to, 9, 40);
	assert_int_equal(charges.n, 2);
	assert_charge(0, CONTENTION_BY_CALLER, 1, 30);
	assert_charge(1, CONTENTION_BY_CALLER, 2, 30);
	wake_one(CONTENTION_FUTEX, to, 9, 50);
	assert_only_charge(CONTENTION_BY_CALLER, 2, 10);
	/* Those who run already do not move. */
	contention_move(&books, from, other, CONTENTION_ALL);
	assert_forgotten(other);
	for (uint32_t i = 0; i < 4; i++) {
		end_wait(waits[i], CONTENTION_GOT, 60);
		assert_only_charge(CONTENTION_WAKE_UP, i,
		                   (const uint64_t[]){ 50, 20, 10, 40 }[i]);
	}
	assert_forgotten(from);
	assert_forgotten(to);
}

/* Waits at the end of the process: 40 of them, then a pair of two. */
static void
contention_charges_all_that_has_not_ended(void **state)
{
	const char lock = 0, condition = 0, mutex = 0;
	uint32_t at = 0, n = 0;
	bool is_all;

	(void)state;
	begin_books();
	for (uint32_t i = 0; i < 40; i++)
		wait_for(CONTENTION_LOCK, &lock, i, i);
	do {
		is_all = contention_charge_all(&books, 100, &at, &charges);
		for (unsigned i = 0; i < charges.n; i++, n++)
			assert_charge(i, CONTENTION_NOT_ENDED, n, 100 - n);
		charges.n = 0;
	} while (!is_all);
	assert_int_equal(n, 40);
	begin_books();
	wait_for(CONTENTION_CONDITION, &condition, 1, 0)->mutex = &mutex;
	wake_one(CONTENTION_CONDITION, &condition, 9, 10);
	charges.n = at = 0;
	assert_true(contention_charge_all(&books, 30, &at, &charges));
	assert_only_charge(CONTENTION_NOT_ENDED, 1, 20);
}

/* Addresses that share a byte of the filter: its count has no room for all. */
static const void *
colliding_object(uintptr_t number)
{
	return (const void *)(number << 40);
}

static void
contention_finds_objects_that_share_the_filter(void **state)
{
	static struct contention_wait *waits[301];

	(void)state;
	begin_books();
	for (uint32_t i = 1; i <= 300; i++) {
		waits[i] = wait_for(CONTENTION_LOCK, colliding_object(i), i, 0);
		assert_int_equal(contention_may_have(&books,
		                                     colliding_object(i)), 1);
	}
	for (uint32_t i = 1; i < 300; i++) {
		release_lock(colliding_object(i), i);
		assert_only_charge(CONTENTION_BY_CALLER, i, i);
		end_wait(waits[i], CONTENTION_GOT, i);
		assert_int_equal(contention_may_have(&books,
		                                     colliding_object(300)), 1);
	}
}

/* Full tables refuse, and what is given back is used again. */
static void
contention_has_room_for_so_many(void **state)
{
	static struct contention_wait *waits[CONTENTION_WAITS];
	static const char objects[CONTENTION_ENTRIES + 1];
	const char other = 0;

	(void)state;
	begin_books();
	for (unsigned round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < CONTENTION_ENTRIES; i++) {
			waits[i] = wait_for(CONTENTION_LOCK, &objects[i], i, 0);
			assert_non_null(waits[i]);
		}
		assert_null(wait_for(CONTENTION_LOCK,
		    &objects[CONTENTION_ENTRIES], 0, 0));
		for (uint32_t i = 0; i < CONTENTION_ENTRIES; i++)
			end_wait(waits[i], CONTENTION_NOTHING, 0);
		for (uint32_t i = 0; i < CONTENTION_WAITS; i++) {
			waits[i] = wait_for(CONTENTION_LOCK, &objects[0], i, 0);
			assert_non_null(waits[i]);
		}
		assert_null(wait_for(CONTENTION_LOCK, &other, 0, 0));
		assert_forgotten(&other);
		for (uint32_t i = 0; i < CONTENTION_WAITS; i++)
			end_wait(waits[i], CONTENTION_NOTHING, 0);
		assert_forgotten(&objects[0]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contention_charges_as_the_model),
		cmocka_unit_test(contention_conserves_waits),
		cmocka_unit_test(contention_conserves_millions_of_events),
		cmocka_unit_test(contention_charges_holders_of_futexes),
		cmocka_unit_test(contention_charges_faster_holders_of_futexes),
		cmocka_unit_test(contention_conserves_crowds),
		cmocka_unit_test(contention_conserves_crowds_of_sleepers),
		cmocka_unit_test(contention_knows_that_a_lock_is_free),
		cmocka_unit_test(contention_forgets),
		cmocka_unit_test(contention_knows_the_last_of_a_barrier),
		cmocka_unit_test(contention_moves_waiters_of_futexes),
		cmocka_unit_test(contention_counts_files_if_somebody_wakes),
		cmocka_unit_test(contention_adds_up_equal_waiters_in_crowds),
		cmocka_unit_test(contention_keeps_what_has_no_room),
		cmocka_unit_test(contention_tells_causes_apart_in_crowds),
		cmocka_unit_test(
		    contention_takes_a_clock_that_is_behind_as_now),
		cmocka_unit_test(contention_knows_locks_got_at_once),
		cmocka_unit_test(
		    contention_charges_nothing_where_nobody_waited),
		cmocka_unit_test(
		    contention_charges_holds_whose_beginning_was_not_seen),
		cmocka_unit_test(contention_goes_on_with_the_mutex),
		cmocka_unit_test(contention_tells_how_waits_in_queues_end),
		cmocka_unit_test(contention_charges_those_woken_in_vain_again),
		cmocka_unit_test(contention_lets_waiters_change_places),
		cmocka_unit_test(
		    contention_changes_places_with_the_oldest_woken),
		cmocka_unit_test(contention_moves_as_many_as_are_to_move),
		cmocka_unit_test(contention_charges_all_that_has_not_ended),
		cmocka_unit_test(
		    contention_finds_objects_that_share_the_filter),
		cmocka_unit_test(contention_has_room_for_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
