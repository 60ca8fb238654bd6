/* SPDX-License-Identifier: MIT */
/* resource.h -- the resources that this process samples.
 *
 * lib/resources.def lists what there is; CPPROF_RESOURCES in the environment
 * chooses some, each with an interval.  A chosen resource has a column: its
 * place in the file's header and in every node's counts.  A thread has a meter
 * for each column (lib/base/meter.h) and owes it the hits that are in no sample
 * yet.
 *
 * A function that stands before one of the C library's spends, after the real
 * one has done its work:
 *
 *	block = next.malloc(size);
 *	resource_spend_in(RESOURCE_ALLOC_BYTES, size,
 *	    (const void *)next.malloc);
 *
 * Nothing is sampled then but every interval-th gtick, and what is not asked
 * for costs one load and a jump.  The sample is of the stack at the call: the
 * program's caller of the wrapper, and below it the real function.  Frames of
 * this library never show.  What the collector itself spends while it takes a
 * sample does not count; what is spent while ticks are held off does, and is
 * sampled later (owed).  errno is preserved.
 */
#ifndef CPPROF_RESOURCE_H
#define CPPROF_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/meter.h"
#include "lib/cpprofdata.h"
#include "lib/sources/source.h"

enum resource_id {
#define RESOURCE(id, name, gtick, interval, least, summary) RESOURCE_##id,
#include "lib/resources.def"
#undef RESOURCE
	RESOURCE_N
};

#define RESOURCE_SOURCES_MAX 4	/* the NULL behind them included */
#define RESOURCE_INTERVAL_MAX ((uint64_t)1 << 40)

/* A resource there is. */
struct resource_row {
	const char *name, *gtick;	/* at most 23 bytes each */
	uint64_t interval, least;	/* default and smallest, in gticks */
};

/* A resource that is sampled. */
struct resource {
	const struct resource_row *row;
	const struct source *source;
	uint64_t interval;
	const char *why;		/* from no better source, or "" */
};

/*
 * Set up by the constructor, before there is a second thread; read-only then,
 * but for the source of a column that has to be given up
 * (lib/sources/dispatch.c). place[id]: column + 1, or 0 where the resource is
 * not sampled.
 */
extern struct resources {
	struct resource columns[CPPROFDATA_MAX_RESOURCES];
	unsigned n;
	bool is_random;			/* intervals, where they can be */
	uint64_t tick_ns;		/* of CPU time */
	bool asks_mode;			/* in which a tick finds the thread */
	unsigned char place[RESOURCE_N];
} resources;

/*
 * Reads "NAME:INTERVAL,NAME:INTERVAL,...", an interval being a decimal number
 * of gticks and optional, and gives each a column; NULL is "cpu".  False with
 * *problem set.  Once, from the constructor.
 */
bool resources_choose(const char *text, bool is_random, const char **problem);

/*
 * The first of a row's sources that can be used for an interval, or NULL; *why
 * is what speaks against the one before, "" if nothing does.
 */
const struct source *resources_find_source(const struct resource_row *row,
    uint64_t interval, const char **why);

/* Every resource there is, by id. */
extern const struct resource_row resource_rows[RESOURCE_N];

/*
 * What the rooms above and the other sources give, so that this file need not
 * know them: from the constructor, before resources_choose.
 */
struct resource_parts {
	/* The sources of each resource, best first; each list ends with NULL. */
	const struct source *const (*sources)[RESOURCE_SOURCES_MAX];
	/* The ticks of the calling thread, as struct source has them. */
	bool (*start_ticks)(struct thread *thread);
	void (*stop_ticks)(struct thread *thread);
	/*
	 * Hits of a column have become due and are to be sampled: on the thread,
	 * where a function was called (NULL: none), or at a signal's context
	 * (not NULL).  They are not pending yet.  Not in the midst of a sample;
	 * async-signal-safe.
	 */
	void (*on_due)(struct thread *thread, unsigned column, uint64_t hits,
	    const void *function, const void *context);
	/* A column has another source now.  Not from a handler. */
	void (*on_change)(void);
};
extern const struct resource_parts *resource_parts;
void resources_begin(const struct resource_parts *parts);

/* The sources of one of resource_rows. */
static inline const struct source *const *
resource_sources(const struct resource_row *row)
{
	return resource_parts->sources[row - resource_rows];
}

/*
 * Reads the next of such a list, cutting it off; 0 for the interval where none
 * is given.  NULL, or what is wrong.
 */
const char *resources_next(const char **text, enum resource_id *id,
    uint64_t *interval);

/* Whether there is a resource of that name, sampled or not. */
bool resource_exists(const char *name);

static inline bool
resource_is_wanted(enum resource_id id)
{
	return __builtin_expect(resources.place[id] != 0, 0);
}

/*
 * The calling thread has spent gticks of a column's resource here.
 * Async-signal-safe; on a thread that is not sampled nothing happens.
 */
void resource_spend_column(unsigned column, uint64_t gticks,
    const void *function);

/*
 * The same for a resource that may not have been asked for.  The sample shows
 * the function that was called (the real one) as the innermost frame.
 */
static inline void
resource_spend_in(enum resource_id id, uint64_t gticks, const void *function)
{
	if (resource_is_wanted(id))
		resource_spend_column(resources.place[id] - 1u, gticks,
		    function);
}

static inline void
resource_spend(enum resource_id id, uint64_t gticks)
{
	resource_spend_in(id, gticks, NULL);
}

/*
 * Begins and ends a thread's accounts, on that thread.  False: errno says why a
 * source could not start; the others have.  Not from a handler; in a forked
 * child, async-signal-safe.
 */
bool resources_start(struct thread *thread);
void resources_stop(struct thread *thread);

/*
 * Adds what the sources have counted since the last tick to the pending hits.
 * Returns the set of columns that have some, *hits the new ones and *overrun
 * those of CPU time beyond one.  Handler.
 */
uint32_t resources_tick(struct thread *thread, uint64_t expiries,
    uint64_t *hits, uint64_t *overrun);

/*
 * The same for what was spent since the last tick, when the thread ends or
 * sampling is stopped: *hits are all that are pending.  On the thread, with
 * ticks stopped.
 */
uint32_t resources_end(struct thread *thread, uint64_t *hits);

/* The thread's pending hits are counted as lost.  Handler. */
void resources_forget(struct thread *thread);

/*
 * Brings the file up to how many hits of the thread are pending.
 * Async-signal-safe, on the thread.
 */
void resources_note_pending(struct thread *thread);

/*
 * Describes the columns to the file's header, once all are there: from the
 * constructor.
 */
void resources_describe(void);

#endif
