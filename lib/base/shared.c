/* SPDX-License-Identifier: MIT */
/* shared.c -- counts in the recording's shared memory. */
#include "lib/base/shared.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "lib/base/files.h"
#include "lib/base/meter.h"
#include "lib/base/process.h"
#include "lib/base/wiped.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
#define MOST_TAKEN_NS 1000000000

static struct cpprof_shared *page;
static uint64_t reported_ns WIPED;	/* of the process's CPU clock */

/*
 * The kind of processes that execute this program, and the kind of this process
 * if it was forked since; 0: not forked, or not from this thread.  A kind is
 * never 0.  The second is thread-local because a child writes to that page
 * anyway.
 */
static uint64_t kind_of_program;
static __thread uint64_t kind_of_child;

bool
shared_is_mapped(void)
{
	return page != NULL;
}

static void
add(uint64_t *number, uint64_t n)
{
	__atomic_fetch_add(number, n, __ATOMIC_RELAXED);
}

static uint64_t
hash(const char *text)
{
	uint64_t sum = 0;

	for (; *text != '\0'; text++)
		sum = meter_random(sum + (unsigned char)*text);
	return sum | 1;
}

/*
 * Only sealed memory is mapped: it cannot shrink, so reading it cannot fault.
 */
static void *
map(const char *name)
{
	int fd = files_open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK, 0);
	void *memory = MAP_FAILED;

	if (fd < 0)
		return MAP_FAILED;
	if ((files_control(fd, F_GET_SEALS) & SEALS) == SEALS &&
	    files_seek(fd, 0, SEEK_END) == CPPROF_SHARED_SIZE)
		memory = files_map(CPPROF_SHARED_SIZE,
		    MAP_SHARED | MAP_POPULATE, fd);
	files_close(fd);
	return memory;
}

/*
 * Takes over what the process had used when it executed this program.  Nothing
 * if another process has taken the place meanwhile, which clears the id first.
 */
static void
take_exec(void)
{
	unsigned at = process_own.pid % CPPROF_SHARED_EXECS;
	uint64_t *const pid = &page->execs[at].pid;
	uint64_t own = process_own.pid, ns;

	if (__atomic_load_n(pid, __ATOMIC_ACQUIRE) != own)
		return;
	ns = __atomic_load_n(&page->execs[at].cpu_ns, __ATOMIC_ACQUIRE);
	if (__atomic_compare_exchange_n(pid, &own, 0, false, __ATOMIC_ACQ_REL,
	    __ATOMIC_RELAXED) && ns <= process_own.start_cpu_ns)
		reported_ns = ns;
}

void
shared_begin(const char *name)
{
	void *memory;

	if (name == NULL || page != NULL)
		return;
	memory = map(name);
	if (memory == MAP_FAILED)
		return;
	page = memory;
	if (page->magic != CPPROF_SHARED_MAGIC) {
		files_unmap(page, CPPROF_SHARED_SIZE);
		page = NULL;
		return;
	}
	kind_of_program = hash((const char *)getauxval(AT_EXECFN));
	take_exec();
	add(&page->n_images, 1);
}

void
shared_note_exec(void)
{
	unsigned at = process_own.pid % CPPROF_SHARED_EXECS;
	uint64_t ns;

	if (page == NULL)
		return;
	/* Time that was not sampled here is not the new program's, either. */
	if (process_own.is_given_up) {
		ns = process_clock(CLOCK_PROCESS_CPUTIME_ID);
	} else {
		shared_report_cpu_time(0);
		ns = reported_ns;
	}
	__atomic_exchange_n(&page->execs[at].pid, 0, __ATOMIC_ACQ_REL);
	__atomic_store_n(&page->execs[at].cpu_ns, ns, __ATOMIC_RELEASE);
	__atomic_store_n(&page->execs[at].pid, process_own.pid,
	    __ATOMIC_RELEASE);
}

uint64_t
shared_time_before(void)
{
	return reported_ns;
}

static uint64_t
own_kind(void)
{
	return kind_of_child != 0 ? kind_of_child : kind_of_program;
}

/*
 * The first access is a read, which maps all pages at once; a write would map
 * only its own.
 */
void
shared_forked(void)
{
	kind_of_child = meter_random(own_kind()) | 1;
	if (page != NULL && *(volatile uint32_t *)&page->magic != 0)
		add(&page->n_images, 1);
}

void
shared_count(enum cpprof_shared_reason reason, int error)
{
	if (page == NULL)
		return;
	add(&page->n_reasons[reason], 1);
	if (error != 0)
		__atomic_store_n(&page->error, (uint64_t)error,
		    __ATOMIC_RELAXED);
}

void
shared_uncount(enum cpprof_shared_reason reason)
{
	if (page != NULL)
		add(&page->n_reasons[reason], (uint64_t)-1);
}

void
shared_give_up(enum cpprof_shared_reason reason, int error)
{
	if (!process_own.is_given_up)
		shared_count(reason, error);
	process_own.is_given_up = true;
}

void
shared_count_ring(void)
{
	if (page != NULL)
		add(&page->n_rings, 1);
}

void
shared_count_recorded(void)
{
	if (page != NULL)
		add(&page->n_recorded, 1);
}

void
shared_count_tracer(void)
{
	if (page != NULL)
		add(&page->n_tracers, 1);
}

bool
shared_has_tracers(void)
{
	/* A statically linked program may trace without being counted. */
	return page == NULL || page->n_tracers != 0 ||
	    page->n_reasons[CPPROF_SHARED_STATIC] != 0;
}

void
shared_report_cpu_time(uint64_t before_ns)
{
	const uint64_t now = process_clock(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t reported = __atomic_load_n(&reported_ns, __ATOMIC_RELAXED);

	/*
	 * Several threads may report at once; the one with the later clock
	 * wins.
	 */
	do {
		if (now <= reported)
			return;
	} while (!__atomic_compare_exchange_n(&reported_ns, &reported, now,
	    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (page == NULL)
		return;
	add(&page->cpu_ns, now - reported);
	add(&page->before_ns, before_ns);
}

/*
 * The account of this kind of process, which is claimed if necessary; NULL: no
 * room.
 */
static int64_t *
account(enum cpprof_shared_time which)
{
	const uint64_t kind = own_kind();
	unsigned i, at;

	for (i = 0; page != NULL && i < 16; i++) {
		uint64_t found = 0;

		at = (unsigned)((kind + i) % CPPROF_SHARED_KINDS);
		if (__atomic_load_n(&page->kinds[at].kind,
		    __ATOMIC_RELAXED) == kind ||
		    __atomic_compare_exchange_n(&page->kinds[at].kind,
		    &found, kind, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    found == kind)
			return &page->kinds[at].unsampled_ns[which];
	}
	return NULL;
}

void
shared_give_time(enum cpprof_shared_time which, int64_t *ns)
{
	int64_t *to = *ns != 0 ? account(which) : NULL;

	if (to == NULL)
		return;
	__atomic_fetch_add(to, *ns, __ATOMIC_RELAXED);
	*ns = 0;
}

/* Limited, because others may have written anything there. */
int64_t
shared_take_time(enum cpprof_shared_time which)
{
	int64_t *from = account(which), there, taken;

	if (from == NULL)
		return 0;
	there = __atomic_load_n(from, __ATOMIC_RELAXED);
	do {
		taken = there;
		if (taken > MOST_TAKEN_NS)
			taken = MOST_TAKEN_NS;
		if (taken < -MOST_TAKEN_NS)
			taken = -MOST_TAKEN_NS;
	} while (!__atomic_compare_exchange_n(from, &there, there - taken,
	    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return taken;
}
