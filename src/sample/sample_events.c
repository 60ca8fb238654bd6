/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_events.c -- opens perf events and empties their ring buffers.
 *
 * The owner of a processor's ring buffer is an event of this process that never
 * happens.  So the buffer stays when sampled threads end, and polling it does
 * not report their end.  Descriptors of ended threads stay open: what their
 * inherited events count is written through them.
 *
 * The size of a copy cannot be changed.  To make copies larger, all threads get
 * new events, a generation of them.  Both generations count for a while, and
 * records are taken of the old one up to a moment and of the new one from then
 * on.  A thread that is started meanwhile may inherit new events besides having
 * its own; then only its own count.
 *
 * Of the whole machine, the records of what processes do (mappings, names,
 * starts, ends, switches) come from an event of their own, into a ring of their
 * own: where programs are started without end, they would leave no room for
 * samples.  (For single processes, threads would inherit one event more.)
 */
/* Before perf_data.h, whose marks of call chains have the same names. */
#include <linux/perf_event.h>

#include "src/base/clock.h"
#include "src/sample/sample.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/task.h"

enum {
	SAMPLE_COPY = 8192,		/* bytes of a stack that are copied */
	SAMPLE_COPY_MAX = 61440,	/* a record has 64 KiB at most */
	SAMPLE_WAIT_PART = 8,		/* of that, where a wait begins, as there
					 * may be very many; outer frames
					 * mostly stay until they are read */
	SAMPLE_GENERATIONS = 5,
	SAMPLE_LEFT_NS = 1000000,	/* records that are younger stay in the
					 * rings, if samples are watched */
	SAMPLE_STOP_NS = 150000,	/* from a sample to the moment in which
					 * its thread is off the processor */
	SAMPLE_RING_PAGES = 128,	/* what every user may lock */
	SAMPLE_RING_PAGES_ROOT = 512,	/* on few processors */
	SAMPLE_RING_PAGES_MANY = 2048,	/* where waits are sampled, or the whole
					 * machine, as there may be very many
					 * samples before this process runs
					 * again; fewer on many processors */
	SAMPLE_CPUS_FEW = 16,
	SAMPLE_SIDE_PAGES = 256,	/* of the ring of what processes do */
	SAMPLE_RING_LEAST = 8,
	SAMPLE_LEAST_PART = 32,		/* of an interval, between samples, */
	SAMPLE_LEAST_NS = 100000,	/* but more than one costs */
	SAMPLE_SELDOM = 1000000,	/* gticks, of an event that is only tried */
	SAMPLE_LATE_MOST = 8,		/* intervals that are made up for */
	SAMPLE_CPUS_MAX = 4096,
	SAMPLE_ATTRS_MAX = SAMPLE_KINDS_MAX + 1,	/* and the side event */
	SAMPLE_FORMAT_LOST = 1 << 4,	/* PERF_FORMAT_LOST, which older headers
					 * lack */
};

const struct sample_kind sample_kinds[] = {
#define OUTSIDE(...) { __VA_ARGS__ },
#include "lib/counts.def"
	{ NULL, NULL, 0, 0, 0, false }
};

const struct sample_kind sample_kind_wait = {
	"real", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1, true
};

/* The ring buffer of a processor. */
struct sample_ring {
	int cpu, owner;
	struct perf_event_mmap_page *page;
	size_t size;		/* of the data, a power of two */
	uint32_t running;	/* the sampled thread that runs there, as far as
				 * the records delivered tell; 0: none */
	int clock;		/* the event that counts the processor's time,
				 * whoever uses it; -1: none */
	uint64_t clock_id, clock_interval_ns;
	uint64_t n_lost_closed;		/* lost records of events that are not
					 * open any more */
};

/* A record that was taken out of a ring. */
struct sample_taken {
	uint64_t time;
	size_t begin;		/* in the bytes taken */
	size_t ring;
	uint64_t wait_ns;	/* of a sample of sample_kind_wait */
};

/*
 * While waits are looked for backwards: when a thread leaves its processor next,
 * and when it runs again after that.  UINT64_MAX: not known.
 */
struct sample_switch {
	uint64_t out_ns, in_ns;
};

/* The thread that an event was opened for. */
struct sample_owner {
	pid_t tid;
	unsigned generation;
	uint32_t account;
	unsigned kind;
};

/* What the events of one account have counted and samples do not stand for. */
struct sample_account {
	int64_t unseen[SAMPLE_ATTRS_MAX];	/* without the open events */
};

/* A thread that has events of its own. */
struct sample_opened {
	unsigned generation;	/* of the newest */
	uint64_t time_ns;	/* when all were open; 0: it has ended */
	bool may_fork;		/* it may be in a fork that began before that */
};

struct sample_events {
	struct sample_events_options options;
	bool sees_kernel;
	/* Of each kind, and of the event that reports what processes do, where
	 * that is none of the kinds: its number is n_kinds. */
	struct perf_event_attr attrs[SAMPLE_ATTRS_MAX];
	unsigned n_attrs;
	unsigned wait;			/* the kind sample_kind_wait;
					 * SAMPLE_KINDS_MAX: there is none */
	struct perf_events table;
	struct sample_ring *rings;	/* [n_rings] */
	struct sample_ring *sides;	/* [n_sides] of the same processors,
					 * for what processes do; n_sides is
					 * 0 or n_rings */
	size_t n_rings, n_sides;
	uint64_t n_side_lost;		/* records that found no room there */
	struct sample_open {
		int fd;
		pid_t tid;
		uint64_t id;
		unsigned kind;
		size_t ring;
		uint32_t account;
	} *fds;				/* [n_fds] */
	struct id_table processes;	/* that were added; their numbers index: */
	struct sample_account *accounts;
	size_t accounts_capacity;
	pthread_mutex_t clocks;		/* of the rings' events */
	size_t n_fds, fds_capacity;
	size_t n_old;			/* while both generations are open:
					 * those of the old one, the first */
	bool cannot_grow;
	bool watches;			/* each sample wakes, and it is reported
					 * when threads run */
	int half_full;			/* eventfd: a ring is; -1: none */
	bool has_lost;			/* records, in this round */
	bool were_full;			/* see sample_events_were_full */
	size_t turn;			/* of the record that is delivered */
	uint32_t copy;			/* bytes of a stack that are copied */
	unsigned generation;		/* of the newest events */
	uint64_t begin_ns[SAMPLE_GENERATIONS + 1];	/* records of each are
							 * taken from here to
							 * the next one's */
	struct sample_owner *owners;	/* by number in table.ids */
	size_t owners_capacity;
	struct id_table tids;		/* their numbers index: */
	struct sample_opened *opened;
	size_t opened_capacity;
	pid_t *orphans;			/* [n_orphans]: see next_orphan */
	size_t n_orphans, orphans_capacity;
	unsigned char *bytes;		/* [n_bytes] records of this round */
	size_t n_bytes, bytes_capacity;
	struct sample_taken *taken;	/* [n_taken] */
	size_t n_taken, taken_capacity;
	uint64_t seen_ns;		/* up to here records have been taken */
	struct id_table switched;	/* threads; their numbers index: */
	struct sample_switch *switches;
	size_t switches_capacity;
	unsigned char whole[PERF_RECORD_SIZE_MAX + 1];	/* a record that was
							 * in two pieces */
};

const struct sample_kind *
sample_kind_find(const char *name)
{
	for (const struct sample_kind *kind = sample_kinds; kind->name != NULL;
	     kind++)
		if (strcmp(kind->name, name) == 0)
			return kind;
	return NULL;
}

uint64_t
sample_kind_period(const struct sample_kind *kind, uint64_t interval)
{
	return cpprofdata_period(interval * kind->scale);
}

static int
sample_event_open(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1,
	                    PERF_FLAG_FD_CLOEXEC);
}

/* The number in a file; INT_MIN: there is none. */
static int
sample_events_setting(const char *path)
{
	FILE *file = fopen(path, "re");
	int number = INT_MIN;

	if (file == NULL)
		return INT_MIN;
	if (fscanf(file, "%d", &number) != 1)
		number = INT_MIN;
	fclose(file);
	return number;
}

/* The kernel's number of the tracepoint; INT_MIN: it cannot be read. */
static int
sample_events_tracepoint(void)
{
	static const char *const paths[] = {
		"/sys/kernel/tracing/events/raw_syscalls/sys_enter/id",
		"/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter/id",
	};
	int number = sample_events_setting(paths[0]);

	return number != INT_MIN ? number : sample_events_setting(paths[1]);
}

/* The fields that all events and the owners of rings have in common. */
static struct perf_event_attr
sample_event_attr(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = type,
		.config = config,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
		    PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_hv = 1,
		.exclude_guest = 1,
	};
}

static struct perf_event_attr
sample_kind_attr(const struct sample_kind *kind, bool sees_kernel)
{
	struct perf_event_attr attr = sample_event_attr(kind->type,
	                                                kind->config);

	if (kind->type == PERF_TYPE_TRACEPOINT)
		attr.config = (uint64_t)sample_events_tracepoint();
	attr.sample_period = sample_kind_period(kind, SAMPLE_SELDOM);
	/* As the resources of this type are defined. */
	attr.exclude_kernel = !sees_kernel || kind->type == PERF_TYPE_HARDWARE;
	return attr;
}

int
sample_kind_try(const struct sample_kind *kind, bool *sees_kernel)
{
	int fd = -1, why = 0;

	if (kind->type == PERF_TYPE_TRACEPOINT &&
	    sample_events_tracepoint() == INT_MIN)
		return ENXIO;
	for (int kernel = 1; fd < 0 && kernel >= kind->is_kernel; kernel--) {
		struct perf_event_attr attr = sample_kind_attr(kind,
		                                               kernel != 0);

		*sees_kernel = kernel != 0;
		fd = sample_event_open(&attr, 0, -1);
		why = fd < 0 ? errno : 0;
	}
	if (fd >= 0)
		close(fd);
	return why;
}

int
sample_events_keep_stacks(void)
{
	struct perf_event_attr attr = sample_kind_attr(&sample_kinds[0], true);

	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr.exclude_callchain_user = 1;
	attr.disabled = 1;
	return sample_event_open(&attr, 0, -1);
}

void
sample_events_explain(int number, struct text_buffer *text)
{
	const int paranoid = sample_events_setting(
	    "/proc/sys/kernel/perf_event_paranoid");

	/* The kernel's setting cannot be read where files are the matter. */
	if (number == ENOSYS)
		text_add_string(text, "this kernel has no perf events");
	else if (number == ENOENT || number == ENODEV ||
	         number == EOPNOTSUPP)
		text_add_string(text, "this machine has no such event");
	else if (number == ENXIO)
		text_add_string(text, "its number cannot be read from tracefs: "
		                "run cpprof as root, where "
		                "/sys/kernel/tracing is mounted (mount -t "
		                "tracefs none /sys/kernel/tracing)");
	else if (number == EMFILE || number == ENFILE)
		text_add_string(text, "too many open files: raise the limit "
		                "with ulimit -n, or sample fewer threads");
	else if (number == ENOMEM || number == ENOSPC)
		text_add_format(text, "the kernel has no room for more perf "
		                "events (%s)", strerror(number));
	else if (number == EACCES && paranoid > 2)
		text_add_format(text, "kernel.perf_event_paranoid is %d, which "
		                "forbids perf events: run cpprof as root, or "
		                "set it to 2 with sysctl -w "
		                "kernel.perf_event_paranoid=2", paranoid);
	else if (number == EACCES && paranoid > 1)
		text_add_format(text, "kernel.perf_event_paranoid is %d, which "
		                "hides the kernel: run cpprof as root, or set "
		                "it to 1 with sysctl -w "
		                "kernel.perf_event_paranoid=1", paranoid);
	else if (number == EPERM)
		text_add_string(text, "perf events are forbidden here, as "
		                "seccomp does in most containers: run cpprof "
		                "outside the container, or start that with "
		                "--cap-add PERFMON or --security-opt "
		                "seccomp=unconfined");
	else
		text_add_format(text, "perf events are forbidden (%s)",
		                strerror(number));
}

/* ---- rings ---- */

/* How many pages a processor's buffer is to have. */
static size_t
sample_ring_pages(const struct sample_events *events, long n_cpus)
{
	const bool are_many = events->wait < SAMPLE_KINDS_MAX ||
	    events->options.is_system;
	size_t pages = SAMPLE_RING_PAGES_MANY;

	if (geteuid() != 0 || n_cpus > SAMPLE_CPUS_FEW)
		return SAMPLE_RING_PAGES;
	while (pages > SAMPLE_RING_PAGES_ROOT &&
	       (!are_many || pages * (size_t)n_cpus >
	        SAMPLE_RING_PAGES_ROOT * SAMPLE_CPUS_FEW))
		pages /= 2;
	return pages;
}

/* Maps as large a buffer as the user may lock. */
static bool
sample_ring_map(struct sample_ring *ring, size_t page_size, size_t most)
{
	for (size_t pages = most; pages >= SAMPLE_RING_LEAST;
	     pages /= 2) {
		void *at = mmap(NULL, (pages + 1) * page_size, PROT_READ |
		                PROT_WRITE, MAP_SHARED, ring->owner, 0);

		if (at == MAP_FAILED)
			continue;
		ring->page = at;
		ring->size = pages * page_size;
		return true;
	}
	return false;
}

/*
 * Opens a ring of so many pages, or as many as can be had: an errno, with *error
 * set if it is for want of memory.
 */
static int
sample_ring_open(struct sample_ring *ring, int cpu, size_t pages,
                 struct error *error)
{
	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr = sample_event_attr(PERF_TYPE_SOFTWARE,
	    PERF_COUNT_SW_DUMMY);
	int number;

	attr.exclude_kernel = 1;
	/* Else it wakes this process when it is half full, which is too late for
	 * stacks that are read then. */
	attr.watermark = pages > SAMPLE_RING_PAGES_ROOT;
	attr.wakeup_watermark = attr.watermark ?
	    SAMPLE_RING_PAGES_ROOT / 2 * (uint32_t)page_size : 0;
	*ring = (struct sample_ring){ .cpu = cpu, .clock = -1,
		.owner = sample_event_open(&attr, 0, cpu) };
	if (ring->owner < 0)
		return errno;
	if (sample_ring_map(ring, page_size, pages))
		return 0;
	number = errno;
	close(ring->owner);
	error_set(error, "no memory for the samples of a processor (%s): raise "
	          "kernel.perf_event_mlock_kb, or end other recordings",
	          strerror(number));
	return number;
}

static void
sample_ring_close(struct sample_ring *ring)
{
	munmap(ring->page, ring->size + (size_t)sysconf(_SC_PAGESIZE));
	close(ring->owner);
}

/* Opens the rings of a processor; an errno, as above. */
static int
sample_events_open_ring(struct sample_events *events, int cpu, size_t pages,
                        struct error *error)
{
	int number = sample_ring_open(&events->rings[events->n_rings], cpu,
	                              pages, error);

	if (number != 0)
		return number;
	events->n_rings++;
	if (events->n_attrs == events->options.n_kinds)
		return 0;
	number = sample_ring_open(&events->sides[events->n_sides], cpu,
	                          SAMPLE_SIDE_PAGES, error);
	events->n_sides += number == 0;
	return number;
}

static int
sample_events_open_rings(struct sample_events *events, struct error *error)
{
	const long n = sysconf(_SC_NPROCESSORS_CONF);
	const size_t pages = sample_ring_pages(events, n);
	struct text_buffer why = { 0 };
	int number = ENODEV;

	events->rings = memory_array((size_t)(n > 0 ? n : 1),
	                             sizeof *events->rings, error);
	events->sides = memory_array((size_t)(n > 0 ? n : 1),
	                             sizeof *events->sides, error);
	if (events->rings == NULL || events->sides == NULL)
		return -1;
	for (int cpu = 0; cpu < n && cpu < SAMPLE_CPUS_MAX; cpu++) {
		number = sample_events_open_ring(events, cpu, pages, error);
		/* ENODEV: the processor is off */
		if (number != 0 && number != ENODEV)
			break;
	}
	if (error->is_set)
		return -1;
	if (number == 0 || (number == ENODEV && events->n_rings > 0))
		return 0;
	sample_events_explain(number, &why);
	error_set(error, "%s", text_string(&why));
	text_free(&why);
	return -1;
}

/* ---- events ---- */

/* The event of a kind, as it is opened. */
static struct perf_event_attr
sample_events_kind_attr(const struct sample_events *events, unsigned i)
{
	const struct sample_events_options *options = &events->options;
	struct perf_event_attr attr = sample_kind_attr(options->kinds[i].kind,
	    events->sees_kernel);

	attr.sample_period = sample_kind_period(options->kinds[i].kind,
	                                        options->kinds[i].interval);
	attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
	    PERF_SAMPLE_CALLCHAIN;
	/* The process's frames are unwound, the kernel's are not. */
	attr.exclude_callchain_user = 1;
	/* That of a tracepoint is always the same, in what traces. */
	attr.exclude_callchain_kernel = attr.exclude_kernel ||
	    attr.type == PERF_TYPE_TRACEPOINT;
	attr.sample_regs_user = DWARF_OWN_ARCH->perf_registers;
	attr.sample_stack_user = i == events->wait ?
	    events->copy / SAMPLE_WAIT_PART : events->copy;
	attr.inherit = !options->is_system;
	attr.inherit_thread = options->is_alone;
	attr.exclude_idle = options->is_system;
	/* Else only a buffer that is half full wakes this process. */
	attr.watermark = !events->watches;
	attr.wakeup_events = events->watches;
	return attr;
}

/* Lets an event report what processes do. */
static void
sample_events_report_tasks(const struct sample_events *events,
                           struct perf_event_attr *attr)
{
	attr->context_switch = events->watches ||
	    events->options.counts_running || events->options.looks_at_waits ||
	    events->wait < SAMPLE_KINDS_MAX;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->build_id = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->ksymbol = events->sees_kernel;
}

static void
sample_events_fill_attrs(struct sample_events *events)
{
	const unsigned n_kinds = events->options.n_kinds;

	for (unsigned i = 0; i < n_kinds; i++)
		events->attrs[i] = sample_events_kind_attr(events, i);
	if (events->n_attrs > n_kinds) {
		events->attrs[n_kinds] = sample_event_attr(PERF_TYPE_SOFTWARE,
		    PERF_COUNT_SW_DUMMY);
		events->attrs[n_kinds].watermark = 1;
	}
	for (unsigned i = 0; i < events->n_attrs; i++)
		events->attrs[i].read_format = SAMPLE_FORMAT_LOST;
	sample_events_report_tasks(events, &events->attrs[
	    events->n_attrs > n_kinds ? n_kinds : 0]);
}

struct sample_events *
sample_events_new(const struct sample_events_options *options,
                  struct error *error)
{
	struct sample_events *events = memory_array(1, sizeof *events, error);

	if (events == NULL)
		return NULL;
	events->options = *options;
	pthread_mutex_init(&events->clocks, NULL);
	events->sees_kernel = true;
	events->half_full = -1;
	events->copy = SAMPLE_COPY;
	events->begin_ns[1] = UINT64_MAX;
	events->wait = SAMPLE_KINDS_MAX;
	for (unsigned i = 0; i < options->n_kinds; i++)
		if (options->kinds[i].kind == &sample_kind_wait)
			events->wait = i;
	events->n_attrs = options->n_kinds + options->is_system;
	sample_events_fill_attrs(events);
	for (unsigned i = 0; i < events->n_attrs; i++)
		perf_events_add(&events->table, (const unsigned char *)
		                &events->attrs[i], sizeof events->attrs[i],
		                error);
	if (!error->is_set)
		return events;
	sample_events_free(events);
	return NULL;
}

/* Tries each event, and whether it may be sampled in the kernel. */
static int
sample_events_try(struct sample_events *events, struct error *error)
{
	for (unsigned i = 0; i < events->options.n_kinds; i++) {
		const struct sample_kind *kind =
		    events->options.kinds[i].kind;
		struct text_buffer why = { 0 };
		bool sees_kernel;
		int number = sample_kind_try(kind, &sees_kernel);

		events->sees_kernel &= sees_kernel;
		if (number == 0)
			continue;
		sample_events_explain(number, &why);
		error_set(error, "%s cannot be sampled from outside: %s",
		          kind->name, text_string(&why));
		text_free(&why);
		return -1;
	}
	sample_events_fill_attrs(events);
	return 0;
}

/* Before the first thread. */
static int
sample_events_open(struct sample_events *events, struct error *error)
{
	struct rlimit limit;

	/* Each thread takes a file for each processor. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return sample_events_try(events, error) == 0 ?
	    sample_events_open_rings(events, error) : -1;
}

void
sample_events_free(struct sample_events *events)
{
	if (events == NULL)
		return;
	for (size_t i = 0; i < events->n_fds; i++)
		close(events->fds[i].fd);
	if (events->half_full >= 0)
		close(events->half_full);
	for (size_t i = 0; i < events->n_rings; i++)
		sample_ring_close(&events->rings[i]);
	for (size_t i = 0; i < events->n_sides; i++)
		sample_ring_close(&events->sides[i]);
	free(events->owners);
	id_table_free(&events->processes);
	free(events->accounts);
	id_table_free(&events->tids);
	free(events->opened);
	free(events->orphans);
	id_table_free(&events->switched);
	free(events->switches);
	free(events->bytes);
	free(events->taken);
	perf_events_free(&events->table);
	free(events->rings);
	free(events->sides);
	free(events->fds);
	free(events);
}

bool
sample_events_see_kernel(const struct sample_events *events)
{
	return events->sees_kernel;
}

size_t
sample_events_n_processors(const struct sample_events *events)
{
	return events->n_rings;
}

const struct perf_events *
sample_events_table(const struct sample_events *events)
{
	return &events->table;
}

/* Opens event i, of attrs, on the processor of a ring; an errno. */
static int
sample_events_open_one(struct sample_events *events, unsigned i,
                       uint32_t account, pid_t tid, size_t number,
                       struct error *error)
{
	const struct sample_ring *ring = i < events->options.n_kinds ?
	    &events->rings[number] : &events->sides[number];
	struct perf_event_attr *attr = &events->attrs[i];
	uint64_t id;
	int fd;

	if (memory_grow(&events->fds, &events->fds_capacity, events->n_fds + 1,
	                sizeof *events->fds, error) != 0)
		return ENOMEM;
	fd = sample_event_open(attr, tid, ring->cpu);
	/* Before Linux 6.0 lost records are not counted, before 5.12 there are
	 * no build-ids, before 5.13 no threads without children. */
	if (fd < 0 && errno == EINVAL && attr->read_format != 0) {
		attr->read_format = 0;
		fd = sample_event_open(attr, tid, ring->cpu);
	}
	if (fd < 0 && errno == EINVAL && attr->build_id) {
		attr->build_id = 0;
		fd = sample_event_open(attr, tid, ring->cpu);
	}
	if (fd < 0 && errno == EINVAL && attr->inherit_thread) {
		attr->inherit_thread = 0;
		fd = sample_event_open(attr, tid, ring->cpu);
	}
	if (fd < 0)
		return errno;
	events->fds[events->n_fds++] = (struct sample_open){ .fd = fd,
		.tid = tid, .kind = i, .ring = number,
		.account = account };
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->owner) != 0 ||
	    ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
		return errno;
	events->fds[events->n_fds - 1].id = id;
	if (perf_events_add_id(&events->table, id, i, error) != 0 ||
	    memory_grow(&events->owners, &events->owners_capacity,
	                events->table.ids.n, sizeof *events->owners,
	                error) != 0)
		return ENOMEM;
	events->owners[id_table_find(&events->table.ids, id)] =
	    (struct sample_owner){ tid, events->generation, account, i };
	return 0;
}

/* Notes that a thread has events of its own. */
static int
sample_events_note(struct sample_events *events, pid_t tid,
                   enum sample_begin begin, struct error *error)
{
	const uint32_t number = id_table_add(&events->tids, (uint64_t)tid,
	                                     error);
	struct task task = { 0 };

	if (number == NO_ID ||
	    memory_grow(&events->opened, &events->opened_capacity,
	                (size_t)number + 1, sizeof *events->opened,
	                error) != 0)
		return -1;
	/* After the events are open, and before it is said when they were.  A
	 * thread that forks is never in the state S. */
	if (begin == SAMPLE_NOW)
		task_read(tid, &task);
	events->opened[number] = (struct sample_opened){
		events->generation, clock_ns(CLOCK_MONOTONIC),
		begin == SAMPLE_NOW && task.state != 'S'
	};
	return 0;
}

/* Opens all events of a thread; an errno. */
static int
sample_events_open_thread(struct sample_events *events, uint32_t account,
                          pid_t tid, enum sample_begin begin,
                          struct error *error)
{
	const size_t n_before = events->n_fds;
	int number = 0;

	for (size_t k = 0; number == 0 && k < events->n_rings; k++)
		for (unsigned i = 0; number == 0 &&
		     i < events->n_attrs; i++)
			number = sample_events_open_one(events, i, account,
			    tid, k, error);
	if (number == 0 && tid > 0 &&
	    sample_events_note(events, tid, begin, error) != 0)
		number = ENOMEM;
	while (number != 0 && events->n_fds > n_before)
		close(events->fds[--events->n_fds].fd);
	return number;
}

/* Notes the newest events that count a processor's time. */
static void
sample_events_find_clocks(struct sample_events *events)
{
	for (size_t i = 0; i < events->n_rings; i++)
		events->rings[i].clock = -1;
	for (size_t i = 0; i < events->n_fds; i++) {
		const struct sample_open *open = &events->fds[i];
		const struct perf_event_attr *attr =
		    &events->attrs[open->kind];

		if (open->tid >= 0 || attr->type != PERF_TYPE_SOFTWARE ||
		    attr->config != PERF_COUNT_SW_CPU_CLOCK)
			continue;
		events->rings[open->ring].clock = open->fd;
		events->rings[open->ring].clock_id = open->id;
		events->rings[open->ring].clock_interval_ns =
		    events->attrs[open->kind].sample_period;
	}
}

/* The account of a process, made if it is not there; NO_ID with *error set. */
static uint32_t
sample_events_need_account(struct sample_events *events, pid_t process,
                           struct error *error)
{
	const uint32_t n = events->processes.n;
	const uint32_t number = id_table_add(&events->processes,
	                                     (uint64_t)process, error);

	if (number == NO_ID ||
	    memory_grow(&events->accounts, &events->accounts_capacity,
	                (size_t)number + 1, sizeof *events->accounts,
	                error) != 0)
		return NO_ID;
	if (number >= n)
		events->accounts[number] = (struct sample_account){ 0 };
	return number;
}

int
sample_events_add(struct sample_events *events, pid_t process, pid_t tid,
                  enum sample_begin begin, struct error *error)
{
	uint32_t account;
	struct text_buffer why = { 0 };
	int number;

	if (events->n_rings == 0 && sample_events_open(events, error) != 0)
		return -1;
	for (unsigned i = 0; i < events->n_attrs; i++)
		events->attrs[i].disabled = events->attrs[i].enable_on_exec =
		    begin == SAMPLE_AT_EXEC;
	pthread_mutex_lock(&events->clocks);
	account = sample_events_need_account(events, process, error);
	number = account == NO_ID ? ENOMEM :
	    sample_events_open_thread(events, account, tid, begin, error);
	if (tid < 0)
		sample_events_find_clocks(events);
	pthread_mutex_unlock(&events->clocks);
	if (number == 0)
		return 1;
	if (number == ESRCH)
		return 0;
	if (tid < 0 && number == EACCES)
		return error_set(error, "the whole machine is sampled only for "
		                 "root, and where "
		                 "kernel.perf_event_paranoid is 0 or less: run "
		                 "cpprof as root, or sample your own processes "
		                 "with -p");
	sample_events_explain(number, &why);
	if (tid < 0)
		error_set(error, "the whole machine: %s", text_string(&why));
	else
		error_set(error, "thread %ld: %s", (long)tid,
		          text_string(&why));
	text_free(&why);
	return -1;
}

/* What an event has counted, and how many records found no room. */
struct sample_count {
	uint64_t value;
	uint64_t n_lost;		/* 0 where the kernel does not tell */
};

static struct sample_count
sample_event_read(int fd)
{
	uint64_t numbers[2] = { 0 };

	if (read(fd, numbers, sizeof numbers) < (ssize_t)sizeof *numbers)
		numbers[0] = 0;
	return (struct sample_count){ numbers[0], numbers[1] };
}

uint64_t
sample_events_n_lost(const struct sample_events *events, size_t ring)
{
	uint64_t n = events->n_rings == 0 ? 0 :
	    events->rings[ring].n_lost_closed;

	for (size_t i = 0; i < events->n_fds; i++)
		if (events->fds[i].ring == ring &&
		    events->fds[i].kind < events->options.n_kinds)
			n += sample_event_read(events->fds[i].fd).n_lost;
	return n;
}

uint64_t
sample_events_n_side_lost(const struct sample_events *events)
{
	return events->n_side_lost;
}

size_t
sample_events_ring(const struct sample_events *events)
{
	return events->n_taken > 0 ? events->taken[events->turn].ring : 0;
}

bool
sample_events_were_full(const struct sample_events *events)
{
	return events->were_full;
}

/* Closes an event that has counted. */
static void
sample_events_close(struct sample_events *events,
                    const struct sample_open *open)
{
	const struct sample_count count = sample_event_read(open->fd);

	if (open->kind < events->options.n_kinds)
		events->rings[open->ring].n_lost_closed += count.n_lost;
	events->accounts[open->account].unseen[open->kind] +=
	    (int64_t)count.value;
	close(open->fd);
}

/* What an open event has counted so far is not to be counted. */
static void
sample_events_begin_count(struct sample_events *events,
                          const struct sample_open *open)
{
	events->accounts[open->account].unseen[open->kind] -=
	    (int64_t)sample_event_read(open->fd).value;
}

void
sample_events_remove(struct sample_events *events, pid_t process)
{
	const uint32_t account = id_table_find(&events->processes,
	                                       (uint64_t)process);
	size_t n = 0, n_old = 0;

	for (size_t i = 0; i < events->n_fds; i++) {
		if (events->fds[i].account == account) {
			sample_events_close(events, &events->fds[i]);
			continue;
		}
		n_old += i < events->n_old;
		events->fds[n++] = events->fds[i];
	}
	events->n_fds = n;
	events->n_old = n_old;
}

void
sample_events_stop(const struct sample_events *events)
{
	for (size_t i = 0; i < events->n_fds; i++)
		ioctl(events->fds[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void
sample_events_charge(struct sample_events *events, pid_t process,
                     unsigned kind, uint64_t hits)
{
	const uint32_t account = id_table_find(&events->processes,
	                                       (uint64_t)process);

	if (account != NO_ID)
		events->accounts[account].unseen[kind] -=
		    (int64_t)(hits * events->options.kinds[kind].interval *
		              events->options.kinds[kind].kind->scale);
}

bool
sample_events_take_unseen(struct sample_events *events, pid_t process,
                          int64_t unseen[SAMPLE_KINDS_MAX])
{
	const uint32_t account = id_table_find(&events->processes,
	                                       (uint64_t)process);
	struct sample_account *of = &events->accounts[account];

	if (account == NO_ID)
		return false;
	memcpy(unseen, of->unseen, SAMPLE_KINDS_MAX * sizeof *unseen);
	memset(of->unseen, 0, sizeof of->unseen);
	for (size_t i = 0; i < events->n_fds; i++) {
		const struct sample_open *open = &events->fds[i];
		int64_t value;

		if (open->account != account ||
		    open->kind >= events->options.n_kinds)
			continue;
		value = (int64_t)sample_event_read(open->fd).value;
		unseen[open->kind] += value;
		of->unseen[open->kind] -= value;
	}
	/* Before Linux 5.13, child processes inherit the events. */
	return !events->options.is_alone || events->attrs[0].inherit_thread;
}

/* ---- larger copies ---- */

/* Begins a new generation; false: there cannot be one. */
static bool
sample_events_renew(struct sample_events *events)
{
	if (events->cannot_grow || events->n_rings == 0 ||
	    events->generation + 1 >= SAMPLE_GENERATIONS)
		return false;
	events->generation++;
	events->begin_ns[events->generation] = UINT64_MAX;
	events->begin_ns[events->generation + 1] = UINT64_MAX;
	sample_events_fill_attrs(events);
	events->n_old = events->n_fds;
	return true;
}

bool
sample_events_grow(struct sample_events *events)
{
	const uint32_t copy = events->copy;

	events->copy = copy * 2 < SAMPLE_COPY_MAX ? copy * 2 : SAMPLE_COPY_MAX;
	if (sample_events_renew(events))
		return true;
	events->copy = copy;
	return false;
}

bool
sample_events_watch(struct sample_events *events)
{
	const bool is_first = events->n_rings == 0;

	events->watches = true;
	return !is_first && sample_events_renew(events);
}

void
sample_events_grown(struct sample_events *events, bool has_all)
{
	const size_t n_new = events->n_fds - events->n_old;

	/* Then the old ones go on, and nothing is ever taken of the new. */
	events->cannot_grow = !has_all;
	events->generation -= !has_all;
	pthread_mutex_lock(&events->clocks);
	while (!has_all && events->n_fds > events->n_old)
		close(events->fds[--events->n_fds].fd);
	if (has_all) {
		events->begin_ns[events->generation] = clock_ns(CLOCK_MONOTONIC);
		/* Up to now, only the old ones have counted. */
		for (size_t i = events->n_old; i < events->n_fds; i++)
			sample_events_begin_count(events, &events->fds[i]);
		for (size_t i = 0; i < events->n_old; i++)
			sample_events_close(events, &events->fds[i]);
		memmove(events->fds, events->fds + events->n_old,
		        n_new * sizeof *events->fds);
		events->n_fds = n_new;
	}
	sample_events_find_clocks(events);
	pthread_mutex_unlock(&events->clocks);
}

/* ---- records ---- */

/* A thread's own events; NULL: it has none. */
static struct sample_opened *
sample_events_opened(const struct sample_events *events, uint32_t tid)
{
	const uint32_t number = id_table_find(&events->tids, tid);
	struct sample_opened *opened = number == NO_ID ? NULL :
	    &events->opened[number];

	return opened != NULL && opened->time_ns != 0 ? opened : NULL;
}

bool
sample_events_has(const struct sample_events *events, pid_t tid)
{
	const struct sample_opened *opened = sample_events_opened(events,
	    (uint32_t)tid);

	return opened != NULL && opened->generation == events->generation;
}

/*
 * A thread was started: { pid, parent's pid, tid, parent's tid }.  If that had
 * begun when the parent's events were opened, it has not inherited them all.
 */
static int
sample_events_note_fork(struct sample_events *events,
                        const struct perf_record *record, uint64_t time,
                        struct error *error)
{
	struct sample_opened *opened;
	uint32_t tids[2];

	if (record->size < PERF_HEADER_SIZE + 16)
		return 0;
	memcpy(tids, record->bytes + PERF_HEADER_SIZE + 8, sizeof tids);
	opened = sample_events_opened(events, tids[1]);
	if (opened == NULL || (!opened->may_fork && time > opened->time_ns))
		return 0;
	/* The next one begins after this. */
	opened->may_fork &= time <= opened->time_ns;
	if (memory_grow(&events->orphans, &events->orphans_capacity,
	                events->n_orphans + 1, sizeof *events->orphans,
	                error) != 0)
		return -1;
	events->orphans[events->n_orphans++] = (pid_t)tids[0];
	return 0;
}

bool
sample_events_next_orphan(struct sample_events *events, pid_t *tid)
{
	if (events->n_orphans == 0)
		return false;
	*tid = events->orphans[--events->n_orphans];
	return true;
}

/* The thread of an event whose record this is; NULL: it is not known. */
static const struct sample_owner *
sample_events_owner(const struct sample_events *events,
                    const struct perf_record *record)
{
	const bool is_sample = record->type == PERF_SAMPLE;
	const size_t least = PERF_HEADER_SIZE + (is_sample ? 16 : 8);
	uint32_t number;

	if (record->type == PERF_LOST || record->size < least)
		return NULL;
	number = id_table_find(&events->table.ids, perf_number_at(
	    record->bytes + (is_sample ? PERF_HEADER_SIZE :
	                     record->size - 8)));
	return number == NO_ID ? NULL : &events->owners[number];
}

/* A sample stands for the period of its event. */
static void
sample_events_note_sample(struct sample_events *events,
                          const struct sample_owner *owner)
{
	events->accounts[owner->account].unseen[owner->kind] -=
	    (int64_t)events->attrs[owner->kind].sample_period;
}

/*
 * Whether a record counts that an event of its owner's has written: if that is of
 * the generation that counts at its time and, of a thread with events of its own,
 * of these.  To be asked in the order of time.
 */
static bool
sample_events_counts(struct sample_events *events,
                     const struct sample_owner *owner,
                     const struct perf_record *record, uint64_t time)
{
	const bool is_sample = record->type == PERF_SAMPLE;
	struct sample_opened *opened;
	size_t tid_at;
	uint32_t tid;

	if (time < events->begin_ns[owner->generation] ||
	    time >= events->begin_ns[owner->generation + 1])
		return false;
	/* Of a sample { id, pid, tid }, of a new thread { pid, ppid, tid }, of
	 * a new program { pid, tid }. */
	if (is_sample)
		tid_at = 12;
	else if (record->type == PERF_FORK)
		tid_at = 8;
	else if (record->type == PERF_COMM &&
	         (record->misc & PERF_MISC_COMM_EXEC) != 0)
		tid_at = 4;
	else
		return true;
	memcpy(&tid, record->bytes + PERF_HEADER_SIZE + tid_at, sizeof tid);
	opened = sample_events_opened(events, tid);
	if (opened == NULL || opened->generation != owner->generation)
		return true;
	if (owner->tid == (pid_t)tid) {
		/* Where it stands is in no fork. */
		opened->may_fork &= !is_sample || time <= opened->time_ns ||
		    (record->misc & PERF_MODE_MASK) != PERF_MODE_USER;
		return true;
	}
	if (is_sample && time <= opened->time_ns)
		return true;
	if (is_sample) {
		/* What it stands for was counted, as well as by its own. */
		sample_events_note_sample(events, owner);
		return false;
	}
	/* A new thread that has the number of one that has ended; or another
	 * thread has executed a program, and keeps its events under the number
	 * of the first, whose events are gone. */
	if (time > opened->time_ns)
		opened->time_ns = 0;
	return true;
}

/* Keeps a copy of a record from a ring of that number. */
static int
sample_events_take(struct sample_events *events, size_t ring,
                   const struct perf_record *record, struct error *error)
{
	const uint64_t time = perf_events_time(&events->table, record);

	events->has_lost |= record->type == PERF_LOST;
	if (memory_grow(&events->taken, &events->taken_capacity,
	                events->n_taken + 1, sizeof *events->taken,
	                error) != 0 ||
	    memory_grow(&events->bytes, &events->bytes_capacity,
	                events->n_bytes + record->size, 1, error) != 0)
		return -1;
	memcpy(events->bytes + events->n_bytes, record->bytes, record->size);
	events->taken[events->n_taken++] = (struct sample_taken){
		time, events->n_bytes, ring, UINT64_MAX
	};
	events->n_bytes += record->size;
	return 0;
}

/* By time; of one time, as they were taken. */
static int
sample_events_compare(const void *left, const void *right)
{
	const struct sample_taken *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Sorts the records taken, and leaves only those that count. */
static int
sample_events_sort(struct sample_events *events, struct error *error)
{
	size_t n = 0;

	if (events->n_taken > 0)
		qsort(events->taken, events->n_taken, sizeof *events->taken,
		      sample_events_compare);
	for (size_t i = 0; i < events->n_taken; i++) {
		const struct sample_taken taken = events->taken[i];
		const struct perf_record record = perf_record_at(
		    events->bytes + taken.begin, 0);
		const struct sample_owner *owner = sample_events_owner(events,
		                                                       &record);

		if (record.type == PERF_FORK && sample_events_note_fork(events,
		        &record, taken.time, error) != 0)
			return -1;
		if (owner != NULL && !sample_events_counts(events, owner,
		                                           &record, taken.time))
			continue;
		if (owner != NULL && record.type == PERF_SAMPLE)
			sample_events_note_sample(events, owner);
		events->taken[n++] = taken;
	}
	events->n_taken = n;
	return 0;
}

/* Notes how many records of what processes do were lost: they are no samples. */
static void
sample_events_note_side_lost(struct sample_events *events,
                             const struct perf_record *record)
{
	events->has_lost = true;
	if (record->size >= PERF_HEADER_SIZE + 16)
		events->n_side_lost += perf_number_at(record->bytes +
		    PERF_HEADER_SIZE + 8);
}

/*
 * Takes all records up to a moment out of a ring, which is that of a processor's
 * samples or of what processes do there.
 */
static int
sample_ring_drain(struct sample_events *events, struct sample_ring *rings,
                  size_t number, uint64_t until_ns, struct error *error)
{
	const struct sample_ring *ring = &rings[number];
	const unsigned char *data = (const unsigned char *)ring->page +
	    ring->page->data_offset;
	const uint64_t head = __atomic_load_n(&ring->page->data_head,
	                                      __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	int result = 0;

	/* What does not fit any more is missing. */
	if (head - tail > ring->size - PERF_RECORD_SIZE_MAX) {
		events->has_lost = true;
		events->were_full |= rings == events->rings;
	}
	while (result == 0 && tail < head) {
		const size_t at = (size_t)tail & (ring->size - 1);
		const size_t left = ring->size - at;
		struct perf_record record = perf_record_at(data + at, tail);

		/* The kernel writes multiples of 8, so the head is whole. */
		if (record.size < PERF_HEADER_SIZE || record.size > head - tail)
			break;
		if (record.size > left) {
			memcpy(events->whole, data + at, left);
			memcpy(events->whole + left, data, record.size - left);
			record.bytes = events->whole;
		}
		if (perf_events_time(&events->table, &record) > until_ns)
			break;
		if (rings == events->sides && record.type == PERF_LOST)
			sample_events_note_side_lost(events, &record);
		else
			result = sample_events_take(events, number, &record,
			                            error);
		tail += record.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	return result;
}

/* Records other than samples end with { pid, tid, time, id }. */
uint32_t
sample_record_tid(const struct perf_record *record)
{
	uint32_t tid;

	memcpy(&tid, record->bytes + record->size - 20, sizeof tid);
	return tid;
}

/* The thread of a record in sample_events_find_waits; NULL with *error set. */
static struct sample_switch *
sample_events_switch(struct sample_events *events, uint32_t tid,
                     struct error *error)
{
	const uint32_t n = events->switched.n;
	const uint32_t number = id_table_add(&events->switched, tid, error);

	if (number == NO_ID ||
	    memory_grow(&events->switches, &events->switches_capacity,
	                events->switched.n, sizeof *events->switches,
	                error) != 0)
		return NULL;
	if (number >= n)
		events->switches[number] = (struct sample_switch){ UINT64_MAX,
			UINT64_MAX };
	return &events->switches[number];
}

/*
 * Measures the waits whose ends are among the records taken, from the last one
 * backwards.  A wait begins with the record of its switch, which comes after its
 * sample: until then the thread runs, and copies its stack.
 */
static int
sample_events_find_waits(struct sample_events *events, struct error *error)
{
	for (uint32_t i = 0; i < events->switched.n; i++)
		events->switches[i] = (struct sample_switch){ UINT64_MAX,
			UINT64_MAX };
	for (size_t i = events->n_taken; i-- > 0;) {
		struct sample_taken *taken = &events->taken[i];
		const struct perf_record record = perf_record_at(
		    events->bytes + taken->begin, 0);
		const bool is_sample = record.type == PERF_SAMPLE;
		struct sample_switch *thread;
		uint32_t tid;

		if ((!is_sample && record.type != PERF_SWITCH) ||
		    record.size < PERF_HEADER_SIZE + 24)
			continue;
		if (is_sample)		/* { id, pid, tid } */
			memcpy(&tid, record.bytes + PERF_HEADER_SIZE + 12,
			       sizeof tid);
		else
			tid = sample_record_tid(&record);
		thread = sample_events_switch(events, tid, error);
		if (thread == NULL)
			return -1;
		if (!is_sample) {
			if ((record.misc & PERF_MISC_SWITCH_OUT) != 0)
				thread->out_ns = taken->time;
			else
				*thread = (struct sample_switch){ UINT64_MAX,
					taken->time };
			continue;
		}
		if (thread->out_ns != UINT64_MAX &&
		    thread->in_ns != UINT64_MAX)
			taken->wait_ns = thread->in_ns - thread->out_ns;
		/* If an earlier wait has no end before this, that was lost. */
		*thread = (struct sample_switch){ UINT64_MAX, UINT64_MAX };
	}
	return 0;
}

uint64_t
sample_events_wait_ns(const struct sample_events *events)
{
	return events->n_taken > 0 ? events->taken[events->turn].wait_ns :
	    UINT64_MAX;
}

uint64_t
sample_events_seen_ns(const struct sample_events *events)
{
	return events->seen_ns;
}

/*
 * Which thread runs on the processor of a record.  One that ends is not
 * switched out, since its events have ended before.
 */
static void
sample_events_note_running(struct sample_events *events,
                           struct sample_ring *ring,
                           const struct perf_record *record)
{
	const unsigned char *body = record->bytes + PERF_HEADER_SIZE;
	uint32_t tid;

	if (record->size < PERF_HEADER_SIZE + 24)
		return;
	switch (record->type) {
	case PERF_SAMPLE:		/* { id, pid, tid } */
		memcpy(&tid, body + 12, sizeof tid);
		if (tid != UINT32_MAX)
			ring->running = tid;
		break;
	case PERF_SWITCH:
	case PERF_SWITCH_CPU_WIDE:
		tid = sample_record_tid(record);
		ring->running = (record->misc & PERF_MISC_SWITCH_OUT) != 0 ?
		    0 : tid;
		break;
	case PERF_EXIT:			/* { pid, ppid, tid } */
		memcpy(&tid, body + 8, sizeof tid);
		for (size_t i = 0; i < events->n_rings; i++)
			if (events->rings[i].running == tid)
				events->rings[i].running = 0;
		break;
	default:
		break;
	}
}

size_t
sample_events_n_running(const struct sample_events *events)
{
	size_t n = 0;

	for (size_t i = 0; i < events->n_rings; i++)
		n += events->rings[i].running != 0;
	return n;
}

int
sample_events_drain(struct sample_events *events, sample_deliver *deliver,
                    void *context, struct error *error)
{
	/*
	 * So that what the threads did afterwards is known, too; and what other
	 * threads did until then.
	 */
	const bool measures_waits = events->wait < SAMPLE_KINDS_MAX;
	const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) -
	    (events->watches ? SAMPLE_LEFT_NS : 0);
	int result = 0;

	events->n_taken = events->n_bytes = 0;
	events->has_lost = false;
	for (size_t i = 0; i < events->n_rings; i++)
		if (sample_ring_drain(events, events->rings, i, until_ns,
		        error) != 0)
			return -1;
	for (size_t i = 0; i < events->n_sides; i++)
		if (sample_ring_drain(events, events->sides, i, until_ns,
		        error) != 0)
			return -1;
	if (sample_events_sort(events, error) != 0)
		return -1;
	events->seen_ns = until_ns;
	if (measures_waits && sample_events_find_waits(events, error) != 0)
		return -1;
	for (size_t i = 0; result == 0 && i < events->n_taken; i++) {
		const struct perf_record record = perf_record_at(
		    events->bytes + events->taken[i].begin, 0);

		events->turn = i;
		if (events->options.counts_running)
			sample_events_note_running(events,
			    &events->rings[events->taken[i].ring], &record);
		result = deliver(context, &record, error);
	}
	return result;
}

bool
sample_events_wait(const struct sample_events *events, int process,
                   int asking, int timeout_ms)
{
	struct pollfd polled[2 * SAMPLE_CPUS_MAX + 3];
	eventfd_t ignored;
	nfds_t n = 0;

	/* poll() passes over -1. */
	polled[n++] = (struct pollfd){ process, POLLIN, 0 };
	polled[n++] = (struct pollfd){ asking, POLLIN, 0 };
	polled[n++] = (struct pollfd){ events->half_full, POLLIN, 0 };
	for (size_t i = 0; events->half_full < 0 && i < events->n_rings; i++)
		polled[n++] = (struct pollfd){ events->rings[i].owner, POLLIN,
			0 };
	for (size_t i = 0; i < events->n_sides; i++)
		polled[n++] = (struct pollfd){ events->sides[i].owner, POLLIN,
			0 };
	if (poll(polled, n, timeout_ms) <= 0)
		return false;
	if (events->half_full >= 0 && polled[2].revents != 0) {
		eventfd_read(events->half_full, &ignored);
		nanosleep(&(struct timespec){ .tv_nsec = SAMPLE_LEFT_NS },
		          NULL);
	}
	return polled[0].revents != 0;
}

/* ---- samples as they happen ---- */

int
sample_events_begin_watch(struct sample_events *events, struct error *error)
{
	events->half_full = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return events->half_full >= 0 ? 0 :
	    error_set(error, "eventfd: %s", strerror(errno));
}

int
sample_events_processor(const struct sample_events *events, size_t i)
{
	return events->rings[i].cpu;
}

/* Copies bytes out of a ring. */
static void
sample_ring_copy(const struct sample_ring *ring, uint64_t from, void *to,
                 size_t size)
{
	const unsigned char *data = (const unsigned char *)ring->page +
	    ring->page->data_offset;
	const size_t at = (size_t)from & (ring->size - 1);
	const size_t left = ring->size - at < size ? ring->size - at : size;

	memcpy(to, data + at, left);
	memcpy((unsigned char *)to + left, data, size - left);
}

void
sample_events_hurry(const struct sample_events *events)
{
	eventfd_write(events->half_full, 1);
}

bool
sample_events_wait_sample(const struct sample_events *events, size_t i,
                          int stop)
{
	struct pollfd polled[] = {
		{ events->rings[i].owner, POLLIN, 0 }, { stop, POLLIN, 0 },
	};

	poll(polled, 2, -1);
	return polled[1].revents == 0;
}

bool
sample_events_next_sample(const struct sample_events *events, size_t i,
                          uint64_t *position, struct sample_seen *seen)
{
	const struct sample_ring *ring = &events->rings[i];
	/* A sample begins with { head, id, pid, tid, time }. */
	unsigned char bytes[PERF_HEADER_SIZE + 24];
	const uint64_t head = __atomic_load_n(&ring->page->data_head,
	                                      __ATOMIC_ACQUIRE);

	while (*position < head) {
		const uint64_t tail = __atomic_load_n(&ring->page->data_tail,
		                                      __ATOMIC_ACQUIRE);
		struct perf_record record;

		if (*position < tail)
			*position = tail;
		if (head - *position < sizeof bytes)
			break;
		sample_ring_copy(ring, *position, bytes, sizeof bytes);
		/* It may have been taken out and written over meanwhile: the
		 * tail is to be read after the bytes. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (*position < __atomic_load_n(&ring->page->data_tail,
		                                __ATOMIC_ACQUIRE))
			continue;
		record = perf_record_at(bytes, 0);
		if (record.size < PERF_HEADER_SIZE)
			break;
		*position += record.size;
		if (record.type != PERF_SAMPLE || record.size < sizeof bytes)
			continue;
		seen->event = perf_number_at(bytes + PERF_HEADER_SIZE);
		memcpy(&seen->pid, bytes + PERF_HEADER_SIZE + 8, 4);
		memcpy(&seen->tid, bytes + PERF_HEADER_SIZE + 12, 4);
		seen->time = perf_number_at(bytes + PERF_HEADER_SIZE + 16);
		return true;
	}
	*position = head > *position ? head : *position;
	if (head - __atomic_load_n(&ring->page->data_tail, __ATOMIC_RELAXED) >
	    ring->size / 2)
		sample_events_hurry(events);
	return false;
}

/* An exponential distance of that mean. */
static double
sample_draw_distance(struct sample_draw *draw, double mean)
{
	/* Source: Marsaglia, "Xorshift RNGs", 2003. */
	draw->state ^= draw->state << 13;
	draw->state ^= draw->state >> 7;
	draw->state ^= draw->state << 17;
	return -mean * log(((double)(draw->state >> 11) + 0.5) * 0x1p-53);
}

void
sample_events_note_clock(struct sample_events *events, size_t i,
                         const struct sample_seen *seen,
                         struct sample_draw *draw)
{
	const struct sample_ring *ring = &events->rings[i];

	pthread_mutex_lock(&events->clocks);
	if (ring->clock >= 0 && ring->clock_id == seen->event)
		draw->newest_ns = seen->time;
	pthread_mutex_unlock(&events->clocks);
}

void
sample_events_draw(struct sample_events *events, size_t i,
                   struct sample_draw *draw)
{
	const struct sample_ring *ring = &events->rings[i];
	uint64_t least_ns, wanted_ns, passed_ns, next_ns;

	if (draw->newest_ns == 0)
		return;
	least_ns = ring->clock_interval_ns / SAMPLE_LEAST_PART;
	if (least_ns < SAMPLE_LEAST_NS)
		least_ns = ring->clock_interval_ns < SAMPLE_LEAST_NS ?
		    ring->clock_interval_ns : SAMPLE_LEAST_NS;
	wanted_ns = (uint64_t)sample_draw_distance(draw,
	    (double)ring->clock_interval_ns);
	passed_ns = clock_ns(CLOCK_MONOTONIC) - draw->newest_ns + draw->late_ns;
	next_ns = wanted_ns > passed_ns + least_ns ? wanted_ns - passed_ns :
	    least_ns;
	/* By what this distance is too long, the next ones are shorter. */
	draw->late_ns = next_ns + passed_ns - wanted_ns;
	if (draw->late_ns > SAMPLE_LATE_MOST * ring->clock_interval_ns)
		draw->late_ns = SAMPLE_LATE_MOST * ring->clock_interval_ns;
	draw->newest_ns = 0;
	pthread_mutex_lock(&events->clocks);
	if (ring->clock >= 0)
		ioctl(ring->clock, PERF_EVENT_IOC_PERIOD, &next_ns);
	pthread_mutex_unlock(&events->clocks);
}

bool
sample_events_was_stopped(const struct sample_events *events, uint32_t tid,
                          uint64_t begin_ns, uint64_t end_ns)
{
	const uint64_t time = events->taken[events->turn].time;
	const struct perf_record sample = perf_record_at(events->bytes +
	    events->taken[events->turn].begin, 0);
	/* In the kernel it may also have begun to wait. */
	const bool is_user = (sample.misc & PERF_MODE_MASK) == PERF_MODE_USER;
	bool is_stopped = false;

	if (events->has_lost)
		return false;
	for (size_t i = events->turn + 1; i < events->n_taken &&
	     events->taken[i].time <= end_ns; i++) {
		const struct perf_record record = perf_record_at(
		    events->bytes + events->taken[i].begin, 0);

		if ((record.type != PERF_SWITCH &&
		     record.type != PERF_SWITCH_CPU_WIDE) ||
		    record.size < PERF_HEADER_SIZE + 24)
			continue;
		if (sample_record_tid(&record) != tid)
			continue;
		if ((record.misc & PERF_MISC_SWITCH_OUT) == 0)
			return false;
		if (!is_stopped && (events->taken[i].time > begin_ns ||
		    events->taken[i].time - time > SAMPLE_STOP_NS ||
		    (is_user && (record.misc &
		                 PERF_MISC_SWITCH_OUT_PREEMPT) == 0)))
			return false;
		is_stopped = true;
	}
	return is_stopped;
}
