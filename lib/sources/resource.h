/* SPDX-License-Identifier: MIT */
/* resource.h -- the resources that this process samples.
 *
 * lib/resources.def lists what there is; CPPROF_RESOURCES in the environment
 * chooses some, each with an interval.  A chosen resource has a column: its
 * place in the file's header and in every node's counts.  A thread has a meter
 * for each column (lib/base/meter.h) and owes it the hits that are in no sample
 * yet.
 *
 * Who stands before a function of the C library spends, after the real one has
 * done its work:
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
	const struct source *const *sources;	/* best first; ends with NULL */
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

/* A thread's part of a column. */
struct account {
	struct meter meter;
	uint64_t owed;		/* hits that are in no sample yet */
	uint64_t put_off;	/* of them, as the file has it */
	uint64_t seen;		/* what the source counted so far */
	bool needs_ticks;	/* whether the source as such does or not */

	/* Of perf events (source-perf.c): */
	bool is_armed;		/* traps may be counted */
	int fd;			/* -1: none any more */
	uint64_t event_id;	/* by which it is known to be ours still */
	uint64_t period;	/* gticks to its next trap */
	uint64_t unsampled;	/* hits that were found when it was held */
	void *page;		/* NULL: none */
};

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

/* Begins and ends a thread's accounts, on that thread; false: errno says why a
 * source could not start, the others have. */
bool resources_start(struct thread *thread);
void resources_stop(struct thread *thread);

/*
 * What the sources have counted since the last tick goes to what the thread
 * owes.  Returns the set of columns that owe something, *hits the new hits and
 * *overrun those of CPU time beyond one.  Handler.
 */
uint32_t resources_tick(struct thread *thread, uint64_t expiries,
    uint64_t *hits, uint64_t *overrun);

/*
 * When the thread ends or sampling is stopped, on the thread, with ticks
 * stopped: what it owes and has spent since its last tick goes into one last
 * sample of its present stack.
 */
void resources_take_rest(struct thread *thread);

/* What the thread still owes is counted as lost.  Handler. */
void resources_forget(struct thread *thread);

#endif
