/* SPDX-License-Identifier: MIT */
/* resource.c -- which resources there are, which are sampled, and accounts. */
#include "lib/sources/resource.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/process.h"
#include "lib/run/control.h"
#include "lib/run/sample.h"
#include "lib/run/start.h"
#include "lib/run/threads.h"
#include "lib/sources/exceptions.h"
#include "lib/sources/perf.h"
#include "lib/sources/tick-mode.h"
#include "lib/sources/timer.h"
#include "lib/sources/usage.h"
#include "lib/store/datafile.h"
#include "lib/wrap/wrapped.h"

#define TICK_NS 4000000		/* of what is only looked at at ticks */
#define EACH_TICK_NS 50000	/* shorter than any tick of the kernel */
#define TRACEPOINT_MIN 16	/* system calls between its traps */

struct resources resources;

/* Where each comes from, best first. */
static const struct source *const sources[RESOURCE_N][RESOURCE_SOURCES_MAX] = {
	[RESOURCE_CPU] = { &source_perf_clock, &source_perf_user_clock,
	    &source_timer },
	[RESOURCE_USER] = { &source_user },
	[RESOURCE_SYSTEM] = { &source_system },
	[RESOURCE_REAL] = { &source_wall },
	[RESOURCE_PAGE_FAULTS] = { &source_perf_faults, &source_page_faults },
	[RESOURCE_MAJOR_FAULTS] = { &source_perf_major_faults,
	    &source_major_faults },
	[RESOURCE_MINOR_FAULTS] = { &source_perf_minor_faults,
	    &source_minor_faults },
	[RESOURCE_CONTEXT_SWITCHES] = { &source_perf_switches,
	    &source_context_switches },
	[RESOURCE_SYSCALLS] = { &source_perf_syscalls, &source_dispatch,
	    &source_kernel_calls },
	[RESOURCE_BYTES_READ] = { &source_bytes, &source_bytes_seen },
	[RESOURCE_BYTES_WRITTEN] = { &source_bytes, &source_bytes_seen },
	[RESOURCE_IO_TIME] = { &source_io_time },
	[RESOURCE_CALLS] = { &source_calls, &source_no_calls },
	[RESOURCE_ALLOC_BYTES] = { &source_memory, &source_memory_partly,
	    &source_mappings },
	[RESOURCE_ALLOCS] = { &source_memory, &source_memory_partly,
	    &source_mappings },
	[RESOURCE_FP_EXCEPTIONS] = { &source_exceptions },
	[RESOURCE_CYCLES] = { &source_perf_cycles },
	[RESOURCE_INSTRUCTIONS] = { &source_perf_instructions },
	[RESOURCE_CACHE_MISSES] = { &source_perf_cache_misses },
	[RESOURCE_BRANCH_MISSES] = { &source_perf_branch_misses },
};

const struct resource_row resource_rows[RESOURCE_N] = {
#define RESOURCE(id, name, gtick, interval, least, summary) \
	{ name, gtick, interval, least, sources[RESOURCE_##id] },
#include "lib/resources.def"
#undef RESOURCE
};

/* Reads decimal digits; the end of them, or NULL if there is no such number. */
static const char *
read_number(const char *text, uint64_t *number)
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

static const struct source *
find_source_from(unsigned i, const struct resource_row *row, uint64_t interval,
    const char **why)
{
	const char *against = "";

	*why = row->sources[0] != NULL ? "" : "no source of it is known here";
	for (; row->sources[i] != NULL; i++) {
		if (row->sources[i]->probe == NULL ||
		    row->sources[i]->probe(row, interval, &against))
			return row->sources[i];
		if (*against != '\0')
			*why = against;
	}
	return NULL;
}

const struct source *
resources_find_source(const struct resource_row *row, uint64_t interval,
    const char **why)
{
	return find_source_from(0, row, interval, why);
}

/* Gives a resource the next column; NULL, or what is wrong. */
static const char *
add_column(enum resource_id id, uint64_t interval)
{
	struct resource *column = &resources.columns[resources.n];

	if (resources.place[id] != 0)
		return "a resource is named twice";
	if (resources.n == CPPROFDATA_MAX_RESOURCES)
		return "too many resources";
	column->row = &resource_rows[id];
	column->interval = interval != 0 ? interval : column->row->interval;
	if (column->interval < column->row->least)
		return "an interval is too short";
	column->source = resources_find_source(column->row, column->interval,
	    &column->why);
	if (column->source == NULL)
		return column->why;
	resources.place[id] = (unsigned char)++resources.n;
	if (column->source == &source_timer)
		resources.tick_ns = column->interval * 1000;
	return NULL;
}

static enum resource_id
find_row(const char *name, size_t length)
{
	unsigned id;

	for (id = 0; id < RESOURCE_N; id++)
		if (strlen(resource_rows[id].name) == length &&
		    memcmp(resource_rows[id].name, name, length) == 0)
			break;
	return (enum resource_id)id;
}

const char *
resources_next(const char **text, enum resource_id *id, uint64_t *interval)
{
	const char *at = *text;
	size_t length;

	while (*at != '\0' && *at != ':' && *at != ',')
		at++;
	length = (size_t)(at - *text);
	*interval = 0;
	*id = find_row(*text, length);
	if (*id == RESOURCE_N)
		return "no such resource";
	if (*at == ':')
		at = read_number(at + 1, interval);
	if (at == NULL || (*at != ',' && *at != '\0'))
		return "not an interval in gticks";
	*text = *at == ',' ? at + 1 : NULL;
	return NULL;
}

bool
resource_exists(const char *name)
{
	return find_row(name, strlen(name)) != RESOURCE_N;
}

/*
 * The calls that hold the tracepoint's event are counted themselves: where it
 * traps at every one, there would be no end.  Dispatch needs none, and is no
 * dearer where there are many samples.
 */
static void
keep_off_tracepoint(void)
{
	const unsigned place = resources.place[RESOURCE_SYSCALLS];
	struct resource *column = &resources.columns[place - 1];

	if (place == 0 || column->source != &source_perf_syscalls ||
	    column->interval >= TRACEPOINT_MIN)
		return;
	column->source = find_source_from(1, column->row, column->interval,
	    &column->why);
	if (*column->why == '\0')
		column->why = "samples make system calls, too";
}

static bool
is_used(const struct source *source)
{
	unsigned i = 0;

	while (i < resources.n && resources.columns[i].source != source)
		i++;
	return i < resources.n;
}

/* Each tick that finds the thread is looked at, if one's mode matters. */
static void
choose_ticks(void)
{
	const bool has_perf_clock = is_used(&source_perf_clock) ||
	    is_used(&source_perf_user_clock);

	resources.asks_mode = (is_used(&source_user) ||
	    is_used(&source_system) || has_perf_clock) && tick_mode_is_known();
	if ((resources.asks_mode || has_perf_clock) && !is_used(&source_timer))
		resources.tick_ns = EACH_TICK_NS;
}

bool
resources_choose(const char *text, bool is_random, const char **problem)
{
	enum resource_id id;
	uint64_t interval;

	memset(&resources, 0, sizeof resources);
	resources.is_random = is_random;
	resources.tick_ns = TICK_NS;
	if (text == NULL)
		text = resource_rows[RESOURCE_CPU].name;
	while (text != NULL) {
		*problem = resources_next(&text, &id, &interval);
		if (*problem == NULL)
			*problem = add_column(id, interval);
		if (*problem != NULL)
			return false;
	}
	keep_off_tracepoint();
	choose_ticks();
	return true;
}

static void
start_accounts(struct thread *thread)
{
	const uint64_t seed = process_ask_clock(CLOCK_REALTIME) +
	    ((uint64_t)thread->tid << 40);
	unsigned i;

	for (i = 0; i < resources.n; i++) {
		struct account *account = &thread->accounts[i];
		const struct resource *resource = &resources.columns[i];

		meter_start(&account->meter, resource->interval,
		    resources.is_random && resource->source->can_be_random,
		    seed + i);
		account->owed = account->put_off = account->unsampled = 0;
		account->needs_ticks = resource->source->needs_ticks;
	}
}

bool
resources_start(struct thread *thread)
{
	bool needs_ticks = false;
	int error = 0;
	unsigned i;

	start_accounts(thread);
	for (i = 0; i < resources.n; i++) {
		const struct source *source = resources.columns[i].source;

		if (source->start != NULL && !source->start(thread, i))
			error = errno;
		needs_ticks |= thread->accounts[i].needs_ticks;
	}
	if (resources.asks_mode)
		tick_mode_start(&thread->tick_clocks);
	if (needs_ticks && !timer_start(thread))
		error = errno;
	perf_release(thread);
	if (error != 0)
		errno = error;
	return error == 0;
}

void
resources_stop(struct thread *thread)
{
	unsigned i;

	timer_stop(thread);
	for (i = 0; i < resources.n; i++)
		if (resources.columns[i].source->stop != NULL)
			resources.columns[i].source->stop(thread, i);
}

uint32_t
resources_tick(struct thread *thread, uint64_t expiries, uint64_t *hits,
    uint64_t *overrun)
{
	uint32_t columns = 0;
	unsigned i;

	*hits = *overrun = 0;
	thread->tick_mode = resources.asks_mode ?
	    tick_mode_look(&thread->tick_clocks) : TICK_NOT_ASKED;
	for (i = 0; i < resources.n; i++) {
		const struct source *source = resources.columns[i].source;
		uint64_t n;

		if (!thread->accounts[i].needs_ticks &&
		    thread->accounts[i].unsampled == 0)
			continue;
		n = source->hits(thread, i, expiries);
		thread->accounts[i].owed += n;
		*hits += n;
		if (i + 1 == resources.place[RESOURCE_CPU] && n > 1)
			*overrun = n - 1;
		if (thread->accounts[i].owed > 0)
			columns |= 1u << i;
	}
	return columns;
}

/* What was spent since the last tick is owed, too; the columns that owe. */
static uint32_t
add_last_hits(struct thread *thread, uint64_t *hits)
{
	uint32_t columns = 0;
	unsigned i;

	*hits = 0;
	for (i = 0; i < resources.n; i++) {
		const struct source *source = resources.columns[i].source;
		struct account *account = &thread->accounts[i];

		if (source->hits != NULL)
			account->owed += source->hits(thread, i, 0);
		*hits += account->owed;
		if (account->owed > 0)
			columns |= 1u << i;
	}
	return columns;
}

void
resources_take_rest(struct thread *thread)
{
	uint64_t hits;
	uint32_t columns = add_last_hits(thread, &hits);

	if (columns != 0)
		sample_take_here(thread, columns, hits, NULL);
}

void
resources_forget(struct thread *thread)
{
	unsigned i;

	for (i = 0; i < resources.n; i++) {
		struct account *account = &thread->accounts[i];

		if (account->owed > 0)
			datafile_count_drop(CPPROFDATA_LOST_AT_EXIT, 1,
			    account->owed);
		datafile_count_lost(CPPROFDATA_LOST_AT_EXIT, i,
		    account->owed);
		account->owed = 0;
	}
	sample_note_owed(thread);
}

/* An interval has passed, perhaps several. */
static __attribute__((noinline)) void
spend_on(struct thread *thread, unsigned column, uint64_t beyond,
    const void *function)
{
	struct account *account = &thread->accounts[column];
	int saved = errno;
	uint64_t hits = meter_cross(&account->meter, beyond);

	/* A vfork child's are not the parent's, whose memory this is. */
	if (!control_is_stopped() && start_check_process() &&
	    start_is_own_process()) {
		account->owed += hits;
		sample_take_here(thread, 1u << column, hits, function);
	}
	errno = saved;
}

void
resource_spend_column(unsigned column, uint64_t gticks, const void *function)
{
	struct thread *thread = thread_self;
	uint64_t beyond;

	if (thread == NULL || thread->is_sampling)
		return;
	if (meter_reaches(&thread->accounts[column].meter, gticks, &beyond))
		spend_on(thread, column, beyond, function);
}
