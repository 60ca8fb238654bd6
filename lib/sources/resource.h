/* SPDX-License-Identifier: MIT */
/* resource.h -- the resources that this process samples.
 *
 * lib/counts.def lists all resources.  CPPROF_RESOURCES in the environment
 * chooses some, each with an interval.  Each chosen resource has a column: its
 * place in the file's header and in the counts of every node.  For each column,
 * a thread has a meter (lib/base/meter.h) and its pending hits, which are those
 * that are in no sample yet.
 *
 * The wrapper of a library function spends after the real function has
 * returned:
 *
 * 	block = next.malloc(size);
 * 	resource_spend_in(RESOURCE_ALLOC_BYTES, size,
 * 	    (const void *)next.malloc);
 *
 * Only every interval-th gtick causes a sample.  A resource that is not sampled
 * costs one load and a jump.  The sample shows the stack at the call: the
 * program's caller of the wrapper, and below it the real function.  Frames of
 * this library never show.  What the collector itself spends during a sample is
 * not counted.  What is spent while ticks are held off is counted and sampled
 * later.  errno is preserved.
 */
#ifndef CPPROF_RESOURCE_H
#define CPPROF_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/meter.h"
#include "lib/cpprofdata.h"

/* ---- source ---- */

/*
 * Where the gticks of a resource come from.
 *
 * lib/collector.c lists the sources of each resource, best first.  The
 * constructor takes the first that can work in this process, and the file names
 * it.  There are three kinds:
 *
 *  - spending: wrappers of library functions call resource_spend_in.  Such a
 *   source has no functions but perhaps `probe`.
 *  - counts: `hits` is called at every tick of the thread's CPU timer, and what
 *   was spent between two ticks is charged to the stack of the second.  The CPU
 *   timer is one: it also sets the ticks at which it is asked.
 *  - events: the kernel signals the thread at each interval (`start`, `stop`),
 *   and `hits` returns the number of intervals that have passed.
 */

struct carryover;
struct resource_row;
struct thread;

struct resource_source {
	/* For info and `record --list`, such as "perf event". */
	const char *name;

	/*
	 * Whether the source can work here and is the one to use for that
	 * interval.  If not, *why is the reason ("the kernel forbids perf
	 * events"), or "" if another source is as good.  Called once, by the
	 * constructor.  NULL: always.
	 */
	bool (*probe)(const struct resource_row *row, uint64_t interval,
	    const char **why);

	/*
	 * Start and stop the source for the calling thread and the resource in
	 * `column`.  False with errno set if it cannot start.  Not from a
	 * handler; async-signal-safe in a forked child.  NULL: nothing to do.
	 */
	bool (*start)(struct thread *thread, unsigned column);
	void (*stop)(struct thread *thread, unsigned column);

	/*
	 * The hits of the calling thread since the last call, at a tick with
	 * that many expiries of its timer; with 0 expiries, the thread ends.
	 * In the handler, or with ticks stopped.  NULL: none.
	 */
	uint64_t (*hits)(struct thread *thread, unsigned column,
	    uint64_t expiries);

	/*
	 * The hits of time off the processor, of the calling thread and those
	 * like it: a tick of another one has found it waiting, and it goes on
	 * now.  is_blocked: not for a processor.  leave_off_cpu takes such hits
	 * back.  In the handler.  NULL: none.
	 */
	uint64_t (*hits_off_cpu)(struct thread *thread, bool is_blocked);
	void (*leave_off_cpu)(struct thread *thread, uint64_t hits);

	/*
	 * Called after all of the thread's sources have started.  NULL: nothing
	 * to do.
	 */
	void (*release)(struct thread *thread);

	bool needs_ticks;	/* `hits` must be called at each tick */
	bool sets_ticks;	/* ticks come at its interval, which is in us */
	bool is_clock;		/* its traps follow the CPU clock; ticks find
				   what they do not see */
	bool traps;		/* each interval costs a trap, so random ones
				   are at least half as long as their mean */
	bool sets_each_trap;	/* none is repeated by the kernel */
	bool is_user_time;	/* a perf event of time that is not spent in
				   the kernel, in us */
	bool needs_mode;	/* it matters whether ticks find the thread in
				   the kernel */
	bool is_coarse;		/* charges to where a tick found the thread, not
				   to where it was spent */
	bool can_be_random;	/* intervals can be randomised */
	bool is_of_wrappers;	/* wrappers of library calls count, each its
				   own call */

	/*
	 * For the source's own use: what the kernel counts (enum usage), and
	 * which perf event it is.
	 */
	unsigned usage;
	uint32_t event_type;
	uint64_t event;
};

/* ---- resource.c ---- */

enum resource_id {
#define COUNT(id, ...) RESOURCE_##id,
#include "lib/counts.def"
	RESOURCE_N
};

#define EACH_TICK_NS 50000	/* shorter than any tick of the kernel */
#define RESOURCE_SOURCES_MAX 5	/* including the final NULL */
#define RESOURCE_INTERVAL_MAX ((uint64_t)1 << 40)

/* A resource that exists. */
struct resource_row {
	const char *name, *gtick;	/* at most 23 bytes each */
	uint64_t interval, least;	/* default and smallest, in gticks */
	bool needs_calls;		/* of the C library, by which it is
					   counted */
};

/* Why such a resource is not sampled in a static program. */
extern const char resource_no_calls[];

/* A resource that is sampled. */
struct sampled_resource {
	const struct resource_row *row;
	const struct resource_source *source;
	uint64_t interval;
	bool is_paced;			/* nobody chose the interval, so samples
					   may stand for several, see
					   sources.h */
	const char *why;		/* why no better source is used, or
					   "" */
};

/*
 * Set up by the constructor, before there is a second thread, and read-only
 * afterwards.  Only a column's source may change (lib/sources/dispatch.c).
 * place[id]: column + 1; 0 if the resource is not sampled.
 */
extern struct resources {
	struct sampled_resource columns[CPPROFDATA_MAX_RESOURCES];
	unsigned n;
	bool is_random;			/* intervals are randomised if
					   possible */
	uint64_t tick_ns;		/* of CPU time */
	bool needs_mode;			/* see TICK_* of sources.h */
	uint64_t live_interval;			/* of `live`; 0: it is not
						   sampled */
	bool live_is_paced;			/* nobody chose that */
	unsigned char place[RESOURCE_N];
} resources;

/*
 * Parses "NAME:INTERVAL,NAME:INTERVAL,..."  and gives each resource a column.
 * An interval is a decimal number of gticks and optional.  NULL means "cpu".
 * False with *problem set to a message.  Once, from the constructor.
 */
bool resources_choose(const char *text, bool is_random, const char **problem);

/*
 * The first of a row's sources that can be used for an interval, or NULL.  *why
 * is the reason against the source before it, or "".
 */
const struct resource_source *resources_find_source(
    const struct resource_row *row, uint64_t interval, const char **why);

/* All resources, by id. */
extern const struct resource_row resource_rows[RESOURCE_N];

/*
 * What the rooms above and the sources provide, so that this file does not
 * depend on them.  Set by the constructor before resources_choose.
 */
struct resource_parts {
	/* The sources of each resource, best first, ending with NULL. */
	const struct resource_source *const (*sources)[RESOURCE_SOURCES_MAX];
	/*
	 * Start and stop the ticks of the calling thread, as in struct
	 * resource_source.
	 */
	bool (*start_ticks)(struct thread *thread);
	void (*stop_ticks)(struct thread *thread);
	/*
	 * Called when hits of a column are due and not yet pending, to sample
	 * them: on the thread, at a call of `function` (NULL: none), or at a
	 * signal's context (not NULL).  Not during a sample.
	 * Async-signal-safe.
	 */
	void (*on_due)(struct thread *thread, unsigned column, uint64_t hits,
	    const void *function, const void *context);
	/* Called when a column has got another source.  Not from a handler. */
	void (*on_change)(void);
};
extern const struct resource_parts *resource_parts;

/* The sources of a row of resource_rows. */
static inline const struct resource_source *const *
resource_sources(const struct resource_row *row)
{
	return resource_parts->sources[row - resource_rows];
}

/*
 * Parses the next entry of such a list and advances *text, to NULL at the end.
 * *interval is 0 if none is given.  False with *problem set to a message.
 */
bool resources_next(const char **text, enum resource_id *id,
    uint64_t *interval, const char **problem);

/* Whether a resource of that name exists, sampled or not.  Any thread. */
bool resource_exists(const char *name);

static inline bool
resource_is_wanted(enum resource_id id)
{
	return __builtin_expect(resources.place[id] != 0, 0);
}

/*
 * Records that the calling thread has spent gticks of a column's resource.
 * Does nothing on a thread that is not sampled.  Async-signal-safe.
 */
void resource_spend_column(unsigned column, uint64_t gticks,
    const void *function);

/*
 * The same for a resource that may not be sampled.  `function`, the real one
 * that was called, becomes the sample's innermost frame; NULL: none.
 */
static inline void
resource_spend_in(enum resource_id id, uint64_t gticks, const void *function)
{
	if (resource_is_wanted(id))
		resource_spend_column(resources.place[id] - 1u, gticks,
		    function);
}

/* The same of hits that are due already, on that thread, for one that is. */
void resource_hit(struct thread *thread, enum resource_id id, uint64_t hits,
    const void *function);

/* Begins a meter of a thread, at a random point of an interval. */
void resource_start_meter(struct thread *thread, unsigned column, uint64_t seed);

/*
 * Begin and end a thread's accounts, on that thread.  False if a source could
 * not start, with errno set; the others have started.  Not from a handler;
 * async-signal-safe in a forked child.
 */
bool resources_start(struct thread *thread);
void resources_stop(struct thread *thread);

/*
 * Adds what the sources have counted since the last tick to the pending hits.
 * Returns the set of columns that have some; *hits are the new ones, *overrun
 * those of CPU time beyond the first.  In the handler.
 */
uint32_t resources_tick(struct thread *thread, uint64_t expiries,
    uint64_t *hits, uint64_t *overrun);

/*
 * The same at a signal of another thread's tick, which has found this one off
 * the processor.
 */
uint32_t resources_off_cpu(struct thread *thread, bool is_blocked,
    uint64_t *hits);

/*
 * Afterwards, with the same hits: if no sample could be taken, these are left to
 * where another thread is found so, since this one's next sample is elsewhere.
 */
void resources_leave_off_cpu(struct thread *thread, uint64_t hits);

/*
 * When the thread ends, before resources_end: does the same with the hits of
 * `real` of samples that could not be taken.  Where the thread ends is no better
 * a place for them.
 */
void resources_leave_late(struct thread *thread);

/*
 * As resources_tick, for what was spent since the last tick, when the thread
 * ends or sampling is stopped; *hits are all pending ones.  On the thread, with
 * ticks stopped.
 */
uint32_t resources_end(struct thread *thread, uint64_t *hits);

/*
 * When the thread ends: leaves its pending hits to other threads with the same
 * start routine; or if only its own stack is right for them, to be counted apart
 * when the process ends.  Those that nobody takes stay pending in the file,
 * which reports them as lost.  With ticks stopped.
 */
void resources_leave(struct thread *thread);

/*
 * The same for CPU time that the thread has used before it was counted
 * (began_ns of its meters) and after that.
 */
void resources_leave_apart(struct thread *thread, uint64_t ns);

/*
 * At the end of the process: takes the hits of ended threads that no thread has
 * taken.  Async-signal-safe, any thread.
 */
uint64_t resources_take_apart(struct carryover *carryover, unsigned column);

/*
 * Counts the thread's pending hits as lost.  In the handler, or with ticks
 * stopped.
 */
void resources_forget(struct thread *thread);

/*
 * Writes the number of the thread's pending hits to the file.
 * Async-signal-safe, on the thread.
 */
void resources_note_pending(struct thread *thread);

/*
 * Describes the columns for the file's header, when all are known.  From the
 * constructor.
 */
void resources_describe(void);

#endif
