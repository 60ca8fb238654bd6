/* SPDX-License-Identifier: MIT */
/* contention.c -- the bookkeeping of waits.
 *
 * An entry exists while a thread waits for its object, or while a hold lasts
 * for which others have waited, and that of a barrier as long as the barrier.
 */
#include "lib/wrap/contention.h"

/*
 * Entries.
 */

static struct contention_entry **
contention_bucket(struct contention *contention, uintptr_t address)
{
	const uint64_t hash = (address >> 3) * UINT64_C(0x9e3779b97f4a7c15);

	return &contention->buckets[(hash >> 40) & (CONTENTION_BUCKETS - 1)];
}

static uint8_t *
contention_filter_at(struct contention *contention, uintptr_t address)
{
	return &contention->filter[contention_hash((const void *)address)];
}

static struct contention_entry *
contention_find(const struct contention *contention, enum contention_kind kind,
    const void *object)
{
	const uintptr_t address = (uintptr_t)object;
	struct contention_entry *entry = *contention_bucket(
	    (struct contention *)contention, address);

	while (entry != NULL && (entry->address != address ||
	    entry->kind != kind))
		entry = entry->next;
	return entry;
}

/* Finds or adds one; NULL: no room. */
static struct contention_entry *
contention_entry(struct contention *contention, enum contention_kind kind,
    const void *object)
{
	struct contention_entry *entry = contention_find(contention, kind,
	    object);
	struct contention_entry **bucket;
	uint8_t *filter;

	if (entry != NULL)
		return entry;
	entry = contention->unused_entries;
	if (entry != NULL)
		contention->unused_entries = entry->next;
	else if (contention->n_entries < CONTENTION_ENTRIES)
		entry = &contention->entries[contention->n_entries++];
	else
		return NULL;
	bucket = contention_bucket(contention, (uintptr_t)object);
	*entry = (struct contention_entry){ .next = *bucket, .kind = kind,
	    .address = (uintptr_t)object };
	*bucket = entry;
	/* A count that is full stays so. */
	filter = contention_filter_at(contention, entry->address);
	if (*filter < UINT8_MAX)
		__atomic_store_n(filter, *filter + 1, __ATOMIC_SEQ_CST);
	return entry;
}

/* Removes an entry that is not needed any more. */
static void
contention_tidy(struct contention *contention, struct contention_entry *entry)
{
	struct contention_entry **link;
	uint8_t *filter;

	if (entry->first != NULL || entry->n_parties != 0)
		return;
	link = contention_bucket(contention, entry->address);
	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	filter = contention_filter_at(contention, entry->address);
	if (*filter < UINT8_MAX)
		__atomic_store_n(filter, *filter - 1, __ATOMIC_RELAXED);
	entry->next = contention->unused_entries;
	contention->unused_entries = entry;
}

/*
 * Waits.
 */

static void
contention_append(struct contention_entry *entry, struct contention_wait *wait)
{
	wait->entry = entry;
	wait->next = NULL;
	wait->previous = entry->last;
	if (entry->last != NULL)
		entry->last->next = wait;
	else
		entry->first = wait;
	entry->last = wait;
}

static void
contention_unlink(struct contention_wait *wait)
{
	struct contention_entry *const entry = wait->entry;

	if (wait->previous != NULL)
		wait->previous->next = wait->next;
	else
		entry->first = wait->next;
	if (wait->next != NULL)
		wait->next->previous = wait->previous;
	else
		entry->last = wait->previous;
	wait->entry = NULL;
}

static void
contention_free(struct contention *contention, struct contention_wait *wait)
{
	if (wait->entry != NULL)
		contention_unlink(wait);
	wait->state = CONTENTION_UNUSED;
	wait->next = contention->unused_waits;
	contention->unused_waits = wait;
}

struct contention_wait *
contention_begin(struct contention *contention, enum contention_kind kind,
    const void *object, const struct contention_path *path, uint64_t now_ns)
{
	struct contention_entry *entry = contention_entry(contention, kind,
	    object);
	struct contention_wait *wait;

	if (entry == NULL)
		return NULL;
	wait = contention->unused_waits;
	if (wait != NULL) {
		contention->unused_waits = wait->next;
	} else if (contention->n_waits < CONTENTION_WAITS) {
		wait = &contention->waits[contention->n_waits++];
	} else {
		contention_tidy(contention, entry);
		return NULL;
	}
	*wait = (struct contention_wait){ .state = CONTENTION_WAITS_NOW,
	    .is_released = entry->is_free, .bits = UINT32_MAX, .path = *path,
	    .since_ns = now_ns };
	contention_append(entry, wait);
	return wait;
}

/*
 * Charges.
 */

static struct contention_charge *
contention_equal_charge(struct contention_charges *charges,
    const struct contention_charge *charge)
{
	unsigned i;

	for (i = 0; i < charges->n; i++) {
		struct contention_charge *const item = &charges->items[i];

		if (item->cause == charge->cause &&
		    item->waiter.number == charge->waiter.number &&
		    (charge->cause != CONTENTION_BY_OTHER ||
		    item->by.number == charge->by.number))
			return item;
	}
	return NULL;
}

/* Wake-ups leave room for the holds that follow them. */
static bool
contention_has_room(struct contention_charges *charges,
    const struct contention_charge *charge, struct contention_charge **room)
{
	const bool is_full = charges->n == CONTENTION_CHARGES;

	*room = is_full || charge->cause == CONTENTION_WAKE_UP ?
	    contention_equal_charge(charges, charge) : NULL;
	if (*room != NULL || is_full)
		return *room != NULL;
	*room = &charges->items[charges->n++];
	**room = *charge;
	(*room)->ns = 0;
	return true;
}

/* A time that another thread has read a moment earlier counts as this one. */
static uint64_t
contention_span(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Charges what the wait has of the time up to now, if there is room. */
static void
contention_charge(struct contention_wait *wait, enum contention_cause cause,
    uint64_t now_ns, struct contention_charges *charges)
{
	const struct contention_charge charge = { .cause = cause,
	    .waiter = wait->path, .by = wait->by };
	const uint64_t ns = wait->debt_ns +
	    (wait->state == CONTENTION_WAITS_NOW ?
	    contention_span(wait->since_ns, now_ns) : 0);
	struct contention_charge *room;

	if (ns == 0 || !contention_has_room(charges, &charge, &room))
		return;
	room->ns += ns;
	wait->debt_ns = 0;
	if (wait->state == CONTENTION_WAITS_NOW)
		wait->since_ns = now_ns;
}

/*
 * Locks.
 */

/*
 * A hold begins, of a thread that does not wait.  Readers share one, so a
 * released reader stays released when another reader takes the lock.  A wait
 * that is not released is for this hold, whose beginning is noted late, or for
 * an earlier one, whose end was not seen.
 */
static void
contention_begin_hold(struct contention_entry *entry, bool is_shared,
    uint64_t now_ns, struct contention_charges *charges)
{
	struct contention_wait *wait;

	entry->is_free = false;
	for (wait = entry->first; wait != NULL; wait = wait->next) {
		if (!wait->is_released || (is_shared && wait->is_shared))
			continue;
		contention_charge(wait, CONTENTION_WAKE_UP, now_ns, charges);
		wait->is_released = false;
	}
}

void
contention_take(struct contention *contention, const void *object,
    bool is_shared, uint64_t now_ns, struct contention_charges *charges)
{
	struct contention_entry *entry = contention_find(contention,
	    CONTENTION_LOCK, object);

	if (entry != NULL)
		contention_begin_hold(entry, is_shared, now_ns, charges);
}

void
contention_release(struct contention *contention, const void *object,
    uint64_t now_ns, struct contention_charges *charges)
{
	struct contention_entry *entry = contention_find(contention,
	    CONTENTION_LOCK, object);
	struct contention_wait *wait, *next;

	if (entry == NULL)
		return;
	entry->is_free = true;
	for (wait = entry->first; wait != NULL; wait = next) {
		next = wait->next;
		/* A reader who may go on has not waited for another one. */
		if (wait->is_released && wait->is_shared)
			continue;
		contention_charge(wait, CONTENTION_BY_CALLER, now_ns, charges);
		if (wait->state == CONTENTION_WAITS_NOW)
			wait->is_released = true;
		else if (wait->debt_ns == 0)
			contention_free(contention, wait);
	}
	contention_tidy(contention, entry);
}

/* What it has waited for the present hold is charged when that ends. */
static void
contention_give_up(struct contention *contention, struct contention_wait *wait,
    uint64_t now_ns)
{
	struct contention_wait *other = wait->entry->first;

	wait->debt_ns += contention_span(wait->since_ns, now_ns);
	wait->state = CONTENTION_GAVE_UP;
	while (other != NULL && (other == wait ||
	    other->state != CONTENTION_GAVE_UP ||
	    other->path.number != wait->path.number))
		other = other->next;
	if (other != NULL) {
		other->debt_ns += wait->debt_ns;
		contention_free(contention, wait);
	}
}

static void
contention_end_of_lock(struct contention *contention,
    struct contention_wait *wait, enum contention_end how, uint64_t now_ns,
    struct contention_charges *charges)
{
	struct contention_entry *const entry = wait->entry;
	const bool is_shared = wait->is_shared;

	if (how == CONTENTION_WITHOUT && !wait->is_released) {
		contention_give_up(contention, wait, now_ns);
		return;
	}
	if (wait->is_released || how != CONTENTION_GOT_AT_ONCE)
		contention_charge(wait, wait->is_released ?
		    CONTENTION_WAKE_UP : how == CONTENTION_GOT_DEAD ?
		    CONTENTION_OWNER_DIED : CONTENTION_NOT_SEEN, now_ns,
		    charges);
	contention_free(contention, wait);
	if (how != CONTENTION_WITHOUT)
		contention_begin_hold(entry, is_shared, now_ns, charges);
	contention_tidy(contention, entry);
}

/*
 * Futexes.  Nothing tells a lock from something else that threads wait for, but
 * while threads wait for a lock, each release wakes one of them.  That one has the
 * lock next; or it waits again, since another thread was faster, which has had the
 * lock since the release.  Which of both is known at its next wait, or at the next
 * wake-up.
 */

/* The thread that was woken last has it: the wait's wake-up ended there. */
static void
contention_end_wake_up(struct contention_wait *wait,
    struct contention_charges *charges)
{
	if (wait->entry->taker == NULL || !wait->is_released || wait->is_woken)
		return;
	contention_charge(wait, CONTENTION_WAKE_UP, wait->entry->taken_ns,
	    charges);
	wait->is_released = false;
}

static void
contention_end_wake_ups(struct contention_entry *entry,
    struct contention_charges *charges)
{
	struct contention_wait *wait;

	for (wait = entry->first; wait != NULL; wait = wait->next)
		contention_end_wake_up(wait, charges);
	entry->taker = NULL;
}

void
contention_set_thread(struct contention_wait *wait, const void *thread)
{
	struct contention_entry *const entry = wait->entry;
	struct contention_wait *other;

	wait->thread = thread;
	if (entry->kind != CONTENTION_FUTEX || entry->taker != thread)
		return;
	for (other = entry->first; other != NULL; other = other->next)
		other->is_released = other->is_woken;
	entry->taker = NULL;
}

static void
contention_wake_futex(struct contention_entry *entry,
    const struct contention_wake *wake, uint64_t now_ns,
    struct contention_charges *charges)
{
	struct contention_wait *wait;
	uint32_t n = wake->n;

	contention_end_wake_ups(entry, charges);
	for (wait = entry->first; wait != NULL; wait = wait->next) {
		if (wait->is_woken || (wait->bits & wake->bits) == 0)
			continue;
		contention_charge(wait, CONTENTION_BY_CALLER, now_ns, charges);
		wait->is_released = true;
		if (n > 0) {
			wait->is_woken = true;
			n--;
		}
	}
}

/* If another one was taken for the waiter, who was woken, that one waits. */
static void
contention_correct_woken(struct contention_wait *wait)
{
	struct contention_wait *other = wait->entry->first;

	if (wait->is_woken)
		return;
	while (other != NULL && !other->is_woken)
		other = other->next;
	if (other == NULL)
		return;
	other->is_woken = false;
	wait->is_released = true;
}

static void
contention_end_of_futex(struct contention *contention,
    struct contention_wait *wait, enum contention_end how, uint64_t now_ns,
    struct contention_charges *charges)
{
	struct contention_entry *const entry = wait->entry;

	if (how == CONTENTION_GOT) {
		contention_end_wake_ups(entry, charges);
		contention_correct_woken(wait);
		entry->taker = wait->thread;
		entry->taken_ns = now_ns;
	} else {
		contention_end_wake_up(wait, charges);
	}
	contention_charge(wait, how == CONTENTION_WITHOUT ?
	    CONTENTION_NOT_WOKEN : wait->is_released ? CONTENTION_WAKE_UP :
	    CONTENTION_NOT_SEEN, now_ns, charges);
	contention_free(contention, wait);
	contention_tidy(contention, entry);
}

/*
 * Queues.
 */

/* The caller wakes the waiter, who then waits for its mutex. */
static void
contention_wake_one(struct contention *contention,
    struct contention_wait *wait, const struct contention_wake *wake,
    uint64_t now_ns, struct contention_charges *charges)
{
	contention_charge(wait, CONTENTION_BY_CALLER, now_ns, charges);
	wait->is_released = true;
	wait->by = wake->by;
	wait->woken_ns = now_ns;
	if (wait->mutex == NULL || wait->again != NULL)
		return;
	wait->again = contention_begin(contention, CONTENTION_LOCK, wait->mutex,
	    &wait->path, now_ns);
	if (wait->again == NULL)
		return;
	wait->again->is_released = wake->is_held == NULL ||
	    !wake->is_held(wait->mutex);
	/* What could not be charged. */
	wait->again->debt_ns = contention_span(wait->since_ns, now_ns);
	wait->since_ns = now_ns;
}

void
contention_wake(struct contention *contention,
    const struct contention_wake *wake, uint64_t now_ns,
    struct contention_charges *charges)
{
	struct contention_entry *entry = contention_find(contention,
	    wake->kind, wake->object);
	struct contention_wait *wait;
	uint32_t n = wake->n;

	if (entry == NULL)
		return;
	if (wake->kind == CONTENTION_FUTEX) {
		contention_wake_futex(entry, wake, now_ns, charges);
		return;
	}
	for (wait = entry->first; wait != NULL && n > 0; wait = wait->next)
		if (!wait->is_released && (wait->bits & wake->bits) != 0) {
			contention_wake_one(contention, wait, wake, now_ns,
			    charges);
			n--;
		}
	wait = entry->first;
	if (wake->renews && n == wake->n && wait != NULL)
		contention_wake_one(contention, wait, wake, now_ns, charges);
}

/* Whether the rest of a wait counts, whoever ends it. */
static bool
contention_counts(const struct contention_wait *wait)
{
	return wait->is_released || wait->entry->kind != CONTENTION_FILE;
}

/*
 * The waiter runs, but another one was taken for the one who was woken.  They
 * change places: the waiter gets the rest of the other's wait for the mutex.
 * Of that, what has been charged already stays with the other one as far as it
 * is older than the waiter.
 */
static void
contention_change_places(struct contention_wait *wait, uint64_t now_ns,
    struct contention_charges *charges)
{
	struct contention_wait *other = wait->entry->first, *again;
	const uint64_t began_ns = wait->since_ns;
	uint64_t woken_ns;

	while (other != NULL && (other == wait || !other->is_released))
		other = other->next;
	if (other == NULL)
		return;
	woken_ns = other->woken_ns < now_ns ? other->woken_ns : now_ns;
	wait->by = other->by;
	wait->is_released = true;
	if (woken_ns > began_ns)
		contention_charge(wait, CONTENTION_BY_OTHER, woken_ns, charges);
	other->is_released = false;
	again = other->again;
	if (again == NULL)
		return;
	other->again = NULL;
	wait->again = again;
	again->path = wait->path;
	if (began_ns > woken_ns)
		other->since_ns += (began_ns < again->since_ns ? began_ns :
		    again->since_ns) - woken_ns;
	if (began_ns > again->since_ns)
		again->since_ns = began_ns;
	/* What could not be charged. */
	if (wait->since_ns < woken_ns)
		again->debt_ns += woken_ns - wait->since_ns;
}

static void
contention_end_of_queue(struct contention *contention,
    struct contention_wait *wait, enum contention_end how, uint64_t now_ns,
    struct contention_charges *charges)
{
	struct contention_entry *const entry = wait->entry;
	const void *const mutex = wait->mutex;
	struct contention_wait *again;

	if (!wait->is_released && how == CONTENTION_GOT)
		contention_change_places(wait, now_ns, charges);
	again = wait->again;
	if (again == NULL && contention_counts(wait))
		contention_charge(wait, how == CONTENTION_WITHOUT ?
		    CONTENTION_NOT_WOKEN : wait->is_released ?
		    CONTENTION_WAKE_UP : CONTENTION_NOT_SEEN, now_ns, charges);
	contention_free(contention, wait);
	contention_tidy(contention, entry);
	if (again != NULL)
		contention_end_of_lock(contention, again, CONTENTION_GOT,
		    now_ns, charges);
	else if (mutex != NULL)
		contention_take(contention, mutex, false, now_ns, charges);
}

void
contention_end(struct contention *contention, struct contention_wait *wait,
    enum contention_end how, uint64_t now_ns,
    struct contention_charges *charges)
{
	struct contention_entry *const entry = wait->entry;

	if (how == CONTENTION_NOTHING) {
		contention_free(contention, wait);
		contention_tidy(contention, entry);
	} else if (entry->kind == CONTENTION_LOCK) {
		contention_end_of_lock(contention, wait, how, now_ns, charges);
	} else if (entry->kind == CONTENTION_FUTEX) {
		contention_end_of_futex(contention, wait, how, now_ns,
		    charges);
	} else {
		contention_end_of_queue(contention, wait, how, now_ns,
		    charges);
	}
}

void
contention_move(struct contention *contention, const void *from,
    const void *to, uint32_t n)
{
	struct contention_entry *entry = contention_find(contention,
	    CONTENTION_FUTEX, from);
	struct contention_entry *other;
	struct contention_wait *wait, *next;

	if (entry == NULL || from == to ||
	    (other = contention_entry(contention, CONTENTION_FUTEX, to)) ==
	    NULL)
		return;
	for (wait = entry->first; wait != NULL && n > 0; wait = next) {
		next = wait->next;
		if (wait->is_woken)
			continue;
		contention_unlink(wait);
		contention_append(other, wait);
		wait->is_released = false;
		n--;
	}
	contention_tidy(contention, entry);
	contention_tidy(contention, other);
}

void
contention_set_barrier(struct contention *contention, const void *barrier,
    uint32_t n_parties)
{
	struct contention_entry *entry = n_parties == 0 ?
	    contention_find(contention, CONTENTION_BARRIER, barrier) :
	    contention_entry(contention, CONTENTION_BARRIER, barrier);

	if (entry == NULL)
		return;
	entry->n_parties = n_parties;
	contention_tidy(contention, entry);
}

bool
contention_is_last(const struct contention *contention, const void *barrier)
{
	const struct contention_entry *entry = contention_find(contention,
	    CONTENTION_BARRIER, barrier);
	const struct contention_wait *wait;
	uint32_t n = 0;

	if (entry == NULL)
		return false;
	for (wait = entry->first; wait != NULL; wait = wait->next)
		n += !wait->is_released;
	return n + 1 == entry->n_parties;
}

bool
contention_charge_all(struct contention *contention, uint64_t now_ns,
    uint32_t *at, struct contention_charges *charges)
{
	for (; *at < contention->n_waits; ++*at) {
		struct contention_wait *wait = &contention->waits[*at];

		if (wait->state == CONTENTION_UNUSED)
			continue;
		if (charges->n > CONTENTION_CHARGES - 2)
			return false;
		contention_end_wake_up(wait, charges);
		/* What follows a condition is its wait for the mutex. */
		if (wait->again == NULL && contention_counts(wait))
			contention_charge(wait, CONTENTION_NOT_ENDED, now_ns,
			    charges);
	}
	return true;
}
