/* SPDX-License-Identifier: MIT */
/* resource.c -- chooses the resources to sample; the accounts of threads. */
#include "lib/sources/resource.h"
#include "lib/sources/sources.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/process.h"
#include "lib/store/datafile.h"
#include "lib/unwind/traits.h"

#define TICK_NS 4000000		/* for sources that only need ticks */
#define WATCH_NS 50000000	/* for a clock that needs none, but may stop */

struct resources resources;
const struct resource_parts *resource_parts;

const struct resource_row resource_rows[RESOURCE_N] = {
#define COUNT(id, name, gtick, interval, least, needs_calls, ...) \
	{ name, gtick, interval, least, needs_calls },
#include "lib/counts.def"
};

/* Reads a decimal number.  Returns its end, or NULL if there is none. */
static const char *
resource_read_number(const char *text, uint64_t *number)
{
	*number = 0;
	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (*number > RESOURCE_INTERVAL_MAX)
			return NULL;
		*number = *number * 10 + (uint64_t)(*text - '0');
	}
	return *number <= RESOURCE_INTERVAL_MAX ? text : NULL;
}

const char resource_no_calls[] =
    "calls of the C library are not seen in a static program";

const struct resource_source *
resources_find_source(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	const struct resource_source *const *sources = resource_sources(row);
	const char *against = "";

	*why = *sources != NULL ? "" : "this machine has no source for it";
	if (process_is_static() && row->needs_calls) {
		*why = resource_no_calls;
		return NULL;
	}
	for (; *sources != NULL; sources++) {
		/*
		 * A trap of a thread that sleeps can come long after its event
		 * was closed, and kills a process without a handler.
		 */
		if (process.is_inside && (*sources)->traps) {
			*why = "the kernel's events cannot be taken out of a "
			    "process that goes on";
			continue;
		}
		/*
		 * It executes programs by an instruction of its own.  A trap that
		 * is due by then reaches the new program, and kills it.  The
		 * kernel takes back signals of timers.
		 */
		if ((*sources)->traps && traits_program_is_go()) {
			*why = "Go executes programs by itself, and an event's "
			    "trap could reach them";
			continue;
		}
		if ((*sources)->probe == NULL ||
		    (*sources)->probe(row, interval, &against))
			return *sources;
		if (*against != '\0')
			*why = against;
	}
	return NULL;
}

static enum resource_id
resource_find_row(const char *name, size_t length)
{
	unsigned id;

	for (id = 0; id < RESOURCE_N; id++)
		if (strlen(resource_rows[id].name) == length &&
		    memcmp(resource_rows[id].name, name, length) == 0)
			break;
	return (enum resource_id)id;
}

bool
resources_next(const char **text, enum resource_id *id, uint64_t *interval,
    const char **problem)
{
	const char *at = *text;
	size_t length;

	while (*at != '\0' && *at != ':' && *at != ',')
		at++;
	length = (size_t)(at - *text);
	*interval = 0;
	*id = resource_find_row(*text, length);
	*problem = "no such resource";
	if (*id == RESOURCE_N)
		return false;
	if (*at == ':')
		at = resource_read_number(at + 1, interval);
	*problem = "not an interval in gticks";
	if (at == NULL || (*at != ',' && *at != '\0'))
		return false;
	*text = *at == ',' ? at + 1 : NULL;
	return true;
}

bool
resource_exists(const char *name)
{
	return resource_find_row(name, strlen(name)) != RESOURCE_N;
}

/*
 * Adds a column.  interval 0: the default; source: NULL to find it.  False with
 * *problem set.
 */
static bool
resources_add(enum resource_id id, uint64_t interval,
    const struct resource_source *source, const char **problem)
{
	struct sampled_resource *column = &resources.columns[resources.n];

	*problem = "a resource is named twice";
	if (resources.place[id] != 0)
		return false;
	*problem = "too many resources";
	if (resources.n == CPPROFDATA_MAX_RESOURCES)
		return false;
	column->row = &resource_rows[id];
	column->interval = interval != 0 ? interval : column->row->interval;
	*problem = "an interval is too short";
	if (column->interval < column->row->least)
		return false;
	column->why = "";
	column->source = source != NULL ? source :
	    resources_find_source(column->row, column->interval, &column->why);
	*problem = column->why;
	if (column->source == NULL)
		return false;
	column->is_paced = interval == 0 && column->source->is_clock;
	resources.place[id] = (unsigned char)++resources.n;
	return true;
}

/*
 * Of `live`, four columns are counted.  Its blocks are sampled by their bytes,
 * so one of them may stand for many, which are counted one by one.
 */
static bool
resources_add_live(uint64_t interval, const char **problem)
{
	static const enum resource_id parts[] = { RESOURCE_ALLOC_BYTES,
		RESOURCE_FREED_BYTES, RESOURCE_ALLOCS, RESOURCE_FREES };
	const struct resource_row *row = &resource_rows[RESOURCE_LIVE];
	const struct resource_source *source;
	const char *why;
	size_t i;

	resources.live_is_paced = interval == 0;
	interval = interval != 0 ? interval : row->interval;
	source = resources_find_source(row, interval, &why);
	*problem = why;
	if (source == NULL)
		return false;
	resources.live_interval = interval;
	for (i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (!resources_add(parts[i], i < 2 ? interval : 1, source,
		    problem))
			return false;
		resources.columns[resources.n - 1].why = why;
	}
	return true;
}

/*
 * The hits of `latency` are those of some samples of `cpu`, which is counted,
 * too, and whose interval is its own.
 */
static bool
resources_tie_latency(uint64_t interval, const char **problem)
{
	struct sampled_resource *const cpu = resources.columns +
	    resources.place[RESOURCE_CPU] - 1;
	struct sampled_resource *const latency = resources.columns +
	    resources.place[RESOURCE_LATENCY] - 1;

	if (!resource_is_wanted(RESOURCE_LATENCY))
		return true;
	if (!resource_is_wanted(RESOURCE_CPU))
		return resources_add(RESOURCE_CPU, interval, NULL, problem);
	*problem = "latency has the interval of cpu";
	if (interval != 0 && interval != cpu->interval)
		return false;
	latency->interval = cpu->interval;
	return true;
}

/* Of `blame`, two columns are counted, both to the nanosecond. */
static bool
resources_add_blame(uint64_t interval, const char **problem)
{
	static const enum resource_id parts[] = { RESOURCE_BLAME,
		RESOURCE_LOCK_WAITS };
	const struct resource_source *source;
	const char *why;
	size_t i;

	*problem = "blame is exact and has no interval";
	if (interval > 1)
		return false;
	source = resources_find_source(&resource_rows[RESOURCE_BLAME], 1,
	    &why);
	*problem = why;
	if (source == NULL)
		return false;
	for (i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (!resources_add(parts[i], 1, source, problem))
			return false;
		resources.columns[resources.n - 1].why = why;
	}
	return true;
}

/* `blame-taken` is another side of `blame`, which is counted, too. */
static bool
resources_tie_taken(const char **problem)
{
	const struct sampled_resource *const taken = resources.columns +
	    resources.place[RESOURCE_BLAME_TAKEN] - 1;

	if (!resource_is_wanted(RESOURCE_BLAME_TAKEN))
		return true;
	*problem = "blame is exact and has no interval";
	if (taken->interval > 1)
		return false;
	return resource_is_wanted(RESOURCE_BLAME) ||
	    resources_add_blame(1, problem);
}

bool
resources_choose(const char *text, bool is_random, const char **problem)
{
	bool has_clock = false, sets_ticks = false, needs_mode = false;
	enum resource_id id;
	uint64_t interval, latency_interval = 0;
	unsigned i, n_metered;

	memset(&resources, 0, sizeof resources);
	resources.is_random = is_random;
	resources.tick_ns = TICK_NS;
	if (text == NULL)
		text = resource_rows[RESOURCE_CPU].name;
	while (text != NULL) {
		if (!resources_next(&text, &id, &interval, problem))
			return false;
		if (id == RESOURCE_LIVE ?
		    !resources_add_live(interval, problem) :
		    id == RESOURCE_BLAME ?
		    !resources_add_blame(interval, problem) :
		    !resources_add(id, interval, NULL, problem))
			return false;
		if (id == RESOURCE_LATENCY)
			latency_interval = interval;
	}
	if (!resources_tie_latency(latency_interval, problem) ||
	    !resources_tie_taken(problem))
		return false;
	n_metered = resources.n - (resources.place[RESOURCE_LATENCY] != 0);
	for (i = 0; i < resources.n; i++) {
		const struct sampled_resource *column = &resources.columns[i];

		if (column->source->sets_ticks)
			resources.tick_ns = column->interval * 1000;
		has_clock |= column->source->is_clock;
		sets_ticks |= column->source->sets_ticks;
		needs_mode |= column->source->needs_mode;
	}
	*problem = NULL;
	/*
	 * If the mode that a tick finds matters, the timer expires at each tick
	 * of the kernel.  If all is counted by a clock, ticks only watch it.
	 */
	resources.needs_mode = needs_mode && tick_mode_is_known();
	if (sets_ticks)
		return true;
	if (has_clock && n_metered == 1 && !needs_mode)
		resources.tick_ns = WATCH_NS;
	else if (resources.needs_mode || has_clock)
		resources.tick_ns = EACH_TICK_NS;
	return true;
}

void
resource_start_meter(struct thread *thread, unsigned column, uint64_t seed)
{
	struct meter *meter = &thread->meters->accounts[column].meter;
	const struct sampled_resource *resource = &resources.columns[column];
	const struct resource_source *source = resource->source;
	const uint64_t interval = resource->interval;

	/* Out of step, at no cost, unless the kernel repeats the traps. */
	if (source->can_be_random && !resources.is_random &&
	    (!source->traps || source->sets_each_trap))
		meter_start_spread(meter, interval, seed);
	else
		meter_start_apart(meter, interval,
		    source->traps ? (interval + 1) / 2 : 1,
		    resources.is_random && source->can_be_random, seed);
}

bool
resources_start(struct thread *thread)
{
	const uint64_t seed = process_ask_clock(CLOCK_REALTIME) +
	    ((uint64_t)thread->tid << 40);
	bool needs_ticks = false;
	int error = 0;
	unsigned i;

	thread->meters->began_ns = 0;
	for (i = 0; i < resources.n; i++) {
		struct account *account = &thread->meters->accounts[i];
		const struct sampled_resource *resource = &resources.columns[i];

		resource_start_meter(thread, i, seed + i);
		account->pending = account->noted = account->unsampled = 0;
		account->needs_ticks = resource->source->needs_ticks;
	}
	for (i = 0; i < resources.n; i++) {
		const struct resource_source *source =
		    resources.columns[i].source;

		if (source->start != NULL && !source->start(thread, i))
			error = errno;
		needs_ticks |= thread->meters->accounts[i].needs_ticks;
	}
	if (resources.needs_mode)
		tick_mode_start(&thread->meters->tick_clocks);
	if (needs_ticks && !resource_parts->start_ticks(thread))
		error = errno;
	for (i = 0; i < resources.n; i++)
		if (resources.columns[i].source->release != NULL)
			resources.columns[i].source->release(thread);
	if (error != 0)
		errno = error;
	return error == 0;
}

void
resources_stop(struct thread *thread)
{
	unsigned i;

	resource_parts->stop_ticks(thread);
	for (i = 0; i < resources.n; i++)
		if (resources.columns[i].source->stop != NULL)
			resources.columns[i].source->stop(thread, i);
}

uint32_t
resources_tick(struct thread *thread, uint64_t expiries, uint64_t *hits,
    uint64_t *overrun)
{
	struct carryover *carryover = thread->meters->carryover;
	uint32_t columns = 0;
	unsigned i;

	*hits = *overrun = 0;
	/*
	 * Take the hits that threads with the same start routine had pending
	 * when they ended.  They are already noted in the file.
	 */
	if (thread->meters->n_expiries < CARRYOVER_TICKS &&
	    atomic_load_explicit(&carryover->has_pending,
	    memory_order_relaxed) &&
	    atomic_exchange(&carryover->has_pending, false))
		for (i = 0; i < resources.n; i++) {
			const uint64_t n = atomic_exchange(
			    &carryover->pending[i], 0);

			thread->meters->accounts[i].pending += n;
			thread->meters->accounts[i].noted += n;
		}
	thread->meters->tick_mode = resources.needs_mode ?
	    tick_mode_read(&thread->meters->tick_clocks) : TICK_NO_MODE;
	for (i = 0; i < resources.n; i++) {
		const struct resource_source *source =
		    resources.columns[i].source;
		uint64_t n;

		if (!thread->meters->accounts[i].needs_ticks &&
		    thread->meters->accounts[i].unsampled == 0)
			continue;
		n = source->hits == NULL ? 0 :
		    source->hits(thread, i, expiries);
		thread->meters->accounts[i].pending += n;
		*hits += n;
		if (i + 1 == resources.place[RESOURCE_CPU] && n > 1)
			*overrun = n - 1;
		if (thread->meters->accounts[i].pending > 0)
			columns |= 1u << i;
	}
	return columns;
}

/* Only `real` has such hits.  A late signal may find it no longer sampled. */
uint32_t
resources_off_cpu(struct thread *thread, bool is_blocked, uint64_t *hits)
{
	const unsigned column = resources.place[RESOURCE_REAL] - 1u;

	*hits = 0;
	if (!resource_is_wanted(RESOURCE_REAL))
		return 0;
	*hits = resources.columns[column].source->hits_off_cpu(thread,
	    is_blocked);
	thread->meters->accounts[column].pending += *hits;
	return *hits > 0 ? 1u << column : 0;
}

void
resources_leave_off_cpu(struct thread *thread, uint64_t hits)
{
	const unsigned column = resources.place[RESOURCE_REAL] - 1u;
	struct account *account = &thread->meters->accounts[column];

	if (account->pending < hits)
		return;
	account->pending -= hits;
	resources.columns[column].source->leave_off_cpu(thread, hits);
	resources_note_pending(thread);
}

void
resources_leave_late(struct thread *thread)
{
	if (resource_is_wanted(RESOURCE_REAL))
		resources_leave_off_cpu(thread, thread->meters->accounts[
		    resources.place[RESOURCE_REAL] - 1u].pending);
}

uint32_t
resources_end(struct thread *thread, uint64_t *hits)
{
	uint32_t columns = 0;
	unsigned i;

	*hits = 0;
	for (i = 0; i < resources.n; i++) {
		const struct resource_source *source =
		    resources.columns[i].source;
		struct account *account = &thread->meters->accounts[i];

		if (source->hits != NULL)
			account->pending += source->hits(thread, i, 0);
		*hits += account->pending;
		if (account->pending > 0)
			columns |= 1u << i;
	}
	return columns;
}

/*
 * Hits of other columns belong to where they were spent, and not to where a
 * tick finds another thread.
 */
void
resources_leave(struct thread *thread)
{
	struct carryover *carryover = thread->meters->carryover;
	unsigned i;

	resources_note_pending(thread);
	for (i = 0; i < resources.n; i++) {
		struct account *account = &thread->meters->accounts[i];
		const bool is_taken = resources.columns[i].source->needs_ticks;

		if (account->pending == 0)
			continue;
		atomic_fetch_add((is_taken ? carryover->pending :
		    carryover->apart) + i, account->pending);
		if (is_taken)
			atomic_store(&carryover->has_pending, true);
		account->pending = account->noted = 0;
	}
}

void
resources_leave_apart(struct thread *thread, uint64_t ns)
{
	struct carryover *carryover = thread->meters->carryover;
	const unsigned column = resources.place[RESOURCE_CPU] - 1u;
	int64_t left, interval_ns, n;

	if (!resource_is_wanted(RESOURCE_CPU))
		return;
	interval_ns = (int64_t)resources.columns[column].interval * 1000;
	left = atomic_fetch_add(&carryover->apart_ns, (int64_t)ns) +
	    (int64_t)ns;
	n = left / interval_ns;
	if (n == 0 || !atomic_compare_exchange_strong(&carryover->apart_ns,
	    &left, left - n * interval_ns))
		return;		/* or the next thread does it */
	atomic_fetch_add(&carryover->apart[column], (uint64_t)n);
	datafile_count_pending(column, n);
}

uint64_t
resources_take_apart(struct carryover *carryover, unsigned column)
{
	const uint64_t n = atomic_exchange(&carryover->pending[column], 0) +
	    atomic_exchange(&carryover->apart[column], 0);

	if (n > 0)
		datafile_count_pending(column, -(int64_t)n);
	return n;
}

void
resources_forget(struct thread *thread)
{
	unsigned i;

	for (i = 0; i < resources.n; i++) {
		struct account *account = &thread->meters->accounts[i];

		if (account->pending > 0)
			datafile_count_drop(CPPROFDATA_LOST_AT_EXIT, 1,
			    account->pending);
		datafile_count_lost(CPPROFDATA_LOST_AT_EXIT, i,
		    account->pending);
		account->pending = 0;
	}
	resources_note_pending(thread);
}

/* A tick that comes meanwhile may change the pending hits and note them. */
void
resources_note_pending(struct thread *thread)
{
	unsigned column;

	for (column = 0; column < resources.n; column++) {
		struct account *account = &thread->meters->accounts[column];
		const uint64_t pending = account->pending;
		const uint64_t noted = account->noted;

		if (pending == noted)
			continue;
		account->noted = pending;
		datafile_count_pending(column, (int64_t)(pending - noted));
	}
}

static void
resource_describe(unsigned column, struct datafile_column *to)
{
	const struct sampled_resource *from = &resources.columns[column];

	*to = (struct datafile_column){
		.name = from->row->name,
		.gtick = from->row->gtick,
		.source = from->source->name,
		.interval = from->interval,
	};
	if (from->source->is_coarse)
		to->flags |= CPPROFDATA_COARSE;
	if (resources.is_random && from->source->can_be_random)
		to->flags |= CPPROFDATA_RANDOM;
}

/* 0: it is not a unit of time. */
static uint64_t
resource_gtick_ns(const char *gtick)
{
	return strcmp(gtick, "microsecond") == 0 ? 1000 :
	    strcmp(gtick, "nanosecond") == 0;
}

void
resources_describe(void)
{
	unsigned i;

	for (i = 0; i < resources.n; i++)
		datafile_columns.step_ns[i] = resources.columns[i].interval *
		    resource_gtick_ns(resources.columns[i].row->gtick);
	datafile_columns.n = resources.n;
	datafile_columns.has_waits = resource_is_wanted(RESOURCE_REAL) ||
	    resource_is_wanted(RESOURCE_IO_TIME);
	datafile_columns.describe = resource_describe;
}

/*
 * One or more intervals have passed.  Not inlined, because most calls do not
 * get here.
 */
static __attribute__((noinline)) void
spend_on(struct thread *thread, unsigned column, uint64_t beyond,
    const void *function)
{
	const int saved = errno;
	const uint64_t hits = meter_cross(
	    &thread->meters->accounts[column].meter, beyond);

	resource_parts->on_due(thread, column, hits, function, NULL);
	errno = saved;
}

void
resource_spend_column(unsigned column, uint64_t gticks, const void *function)
{
	struct thread *thread = thread_self;
	uint64_t beyond;

	if (thread == NULL || thread->is_sampling)
		return;
	if (meter_reaches(&thread->meters->accounts[column].meter, gticks,
	    &beyond))
		spend_on(thread, column, beyond, function);
}

void
resource_hit(struct thread *thread, enum resource_id id, uint64_t hits,
    const void *function)
{
	const int saved = errno;

	resource_parts->on_due(thread, resources.place[id] - 1u, hits,
	    function, NULL);
	errno = saved;
}
