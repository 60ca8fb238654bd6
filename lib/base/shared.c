/* SPDX-License-Identifier: MIT */
/* shared.c -- counts in the recording's shared memory. */
#include "lib/base/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/meter.h"
#include "lib/base/process.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)
#define MOST_TAKEN_NS 1000000000
#define ANSWER_NS 5000000000	/* how long `record` may not be at work */
#define ANSWER_LOOK_NS 100000000	/* between two looks whether it is there, */
#define PAUSES_TO_LOOK 64		/* or while all places are taken */

static struct cpprof_shared *page;
static bool is_file;			/* not the memfd */
static char name[32];			/* of the memfd, */
static ino_t inode;			/* and to recognise it */
static uint64_t reported_ns WIPED;	/* of the process's CPU clock */
static bool is_counted WIPED;		/* as given up */
static uint64_t listed_as WIPED;	/* 0: not in the list of processes */

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
shared_add(uint64_t *number, uint64_t n)
{
	__atomic_fetch_add(number, n, __ATOMIC_RELAXED);
}

/* Maps memory of the right size and with the magic number; NULL otherwise. */
static struct cpprof_shared *
shared_map(int fd, const struct stat *status)
{
	struct cpprof_shared *memory = status->st_size != CPPROF_SHARED_SIZE ?
	    MAP_FAILED : files_map(CPPROF_SHARED_SIZE,
	    MAP_SHARED | MAP_POPULATE, fd);

	if (memory == MAP_FAILED)
		return NULL;
	if (memory->magic == CPPROF_SHARED_MAGIC)
		return memory;
	files_unmap(memory, CPPROF_SHARED_SIZE);
	return NULL;
}

/* Maps the file in the recording's directory. */
static struct cpprof_shared *
map_file(const char *directory)
{
	struct cpprof_shared *memory = NULL;
	char path[PATH_MAX];
	struct stat status;
	int fd;

	if (strlen(directory) + sizeof "/" CPPROF_SHARED_FILE > sizeof path)
		return NULL;
	stpcpy(stpcpy(path, directory), "/" CPPROF_SHARED_FILE);
	fd = files_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	if (files_status(fd, &status) == 0 && S_ISREG(status.st_mode))
		memory = shared_map(fd, &status);
	files_close(fd);
	return memory;
}

bool
shared_replace_mapping(const void *address)
{
	return is_file && (uintptr_t)address - (uintptr_t)page <
	    CPPROF_SHARED_SIZE && files_map_part(page, CPPROF_SHARED_SIZE,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
	    0) != MAP_FAILED;
}

/* What names this process and no other of any PID namespace. */
static uint64_t
identity(void)
{
	return (uint64_t)process_pid_namespace() << 32 | process_own.pid;
}

void
shared_begin(const char *path, const char *directory)
{
	const char *text = (const char *)getauxval(AT_EXECFN);
	uint64_t own, found, ns;
	struct stat status;
	size_t at;
	int fd;

	if (path == NULL || page != NULL)
		return;
	/* Sealed memory cannot shrink, so reading it cannot fault. */
	fd = strlen(path) >= sizeof name ? -1 :
	    files_open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd >= 0 && (files_control(fd, F_GET_SEALS) & SEALS) == SEALS &&
	    files_status(fd, &status) == 0)
		page = shared_map(fd, &status);
	if (fd >= 0)
		files_close(fd);
	if (page != NULL) {
		strcpy(name, path);
		inode = status.st_ino;
	} else {
		page = map_file(directory);
		is_file = page != NULL;
	}
	if (page == NULL)
		return;
	for (kind_of_program = 0; *text != '\0'; text++)
		kind_of_program = meter_random(kind_of_program +
		    (unsigned char)*text);
	kind_of_program |= 1;
	shared_add(&page->n_images, 1);
	/*
	 * Takes over what the process had used when it executed this program.
	 * Nothing if another process has taken the place meanwhile, which
	 * clears the id first.
	 */
	own = identity();
	at = meter_random(own) % CPPROF_SHARED_EXECS;
	if (__atomic_load_n(&page->execs[at].process, __ATOMIC_ACQUIRE) != own)
		return;
	found = __atomic_load_n(&page->execs[at].cpu_ns, __ATOMIC_ACQUIRE);
	ns = found & ~CPPROF_SHARED_IS_COUNTED;
	if (!__atomic_compare_exchange_n(&page->execs[at].process, &own, 0,
	    false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) ||
	    ns > process_own.start_cpu_ns)
		return;
	reported_ns = ns;
	is_counted = found != ns;
}

void
shared_end(void)
{
	if (page != NULL)
		files_unmap(page, CPPROF_SHARED_SIZE);
	page = NULL;
	is_file = false;
}

void
shared_note_exec(void)
{
	const uint64_t own = page != NULL ? identity() : 0;
	const size_t at = meter_random(own) % CPPROF_SHARED_EXECS;
	struct cpprof_shared *shared = page;
	struct stat status;
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
	if (is_counted)
		ns |= CPPROF_SHARED_IS_COUNTED;
	/* Where the new program cannot open the memory that is mapped here. */
	if (!is_file && (files_status_of(name, &status) != 0 ||
	    status.st_ino != inode))
		shared = map_file(process.output);
	if (shared == NULL)
		return;
	__atomic_exchange_n(&shared->execs[at].process, 0, __ATOMIC_ACQ_REL);
	__atomic_store_n(&shared->execs[at].cpu_ns, ns, __ATOMIC_RELEASE);
	__atomic_store_n(&shared->execs[at].process, own, __ATOMIC_RELEASE);
	if (shared != page)
		files_unmap(shared, CPPROF_SHARED_SIZE);
}

void
shared_note_end(bool ends)
{
	if (page != NULL)
		shared_add(&page->n_ended, ends ? 1 : (uint64_t)-1);
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
		shared_add(&page->n_images, 1);
}

void
shared_count(enum cpprof_shared_reason reason, int error)
{
	if (page == NULL)
		return;
	shared_add(&page->n_reasons[reason], 1);
	if (error != 0)
		__atomic_store_n(&page->error, (uint64_t)error,
		    __ATOMIC_RELAXED);
}

void
shared_uncount(enum cpprof_shared_reason reason)
{
	if (page != NULL)
		shared_add(&page->n_reasons[reason], (uint64_t)-1);
}

void
shared_give_up(enum cpprof_shared_reason reason, int error)
{
	if (!is_counted)
		shared_count(reason, error);
	is_counted = process_own.is_given_up = true;
}

void
shared_count_ring(void)
{
	if (page != NULL)
		shared_add(&page->n_rings, 1);
}

void
shared_count_recorded(void)
{
	if (page != NULL)
		shared_add(&page->n_recorded, 1);
}

void
shared_count_tracer(void)
{
	if (page != NULL)
		shared_add(&page->n_tracers, 1);
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
	shared_add(&page->cpu_ns, now - reported);
	shared_add(&page->before_ns, before_ns);
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

uint64_t
shared_pace(uint64_t us)
{
	static uint64_t own_us;
	uint64_t *const sum = page != NULL ? &page->paced_us : &own_us;

	return us == 0 ? __atomic_load_n(sum, __ATOMIC_RELAXED) :
	    __atomic_add_fetch(sum, us, __ATOMIC_RELAXED);
}

/*
 * The usual delay begins at the longest.  It falls by a quarter of the distance to
 * a shorter one, and rises by 1 at a longer one, so that at most some quarter of
 * the delays are shorter.  What threads note at the same time may be lost.
 */
uint32_t
shared_trap_delay(uint32_t us)
{
	static uint32_t own_us;
	uint32_t *const usual = page != NULL ? &page->trap_delay_us : &own_us;
	uint32_t there = __atomic_load_n(usual, __ATOMIC_RELAXED);

	if (us == TRAP_DELAY_UNKNOWN)
		return there != 0 ? there : us;
	if (there == 0)
		there = TRAP_DELAY_MAX_US;
	if (us < there)
		there -= (there - us + 3) / 4;
	else if (us > there)
		there++;
	there += there == 0;		/* which would be not known */
	__atomic_store_n(usual, there, __ATOMIC_RELAXED);
	return there;
}

/* Not private: other processes wait for the same word. */
static void
shared_futex(uint32_t *word, int operation, uint32_t value,
             const struct timespec *timeout)
{
	arch_system_call(SYS_futex, (long)word, operation, (long)value,
	    (long)timeout);
}

/*
 * Another user may not look at it, but learns that it is there.  Below another
 * root directory, or in another PID namespace, the name may lead nowhere: there
 * only the time tells (struct patience).
 */
static bool
shared_has_recorder(void)
{
	struct stat status;

	if (files_status_of(name, &status) == 0)
		return status.st_ino == inode;
	return errno != ENOENT ||
	    process_pid_namespace() != page->pid_namespace;
}

bool
shared_takes_questions(void)
{
	return page != NULL && !is_file && !process.never_waits &&
	    page->pid_namespace != 0 && shared_has_recorder();
}

bool
shared_take_spare(uint32_t *number)
{
	uint32_t taken, n;

	if (page == NULL)
		return false;
	n = __atomic_add_fetch(&page->n_files_needed, 1, __ATOMIC_RELAXED);
	if (n % CPPROF_SHARED_SPARES_ASK == 0)
		shared_futex(&page->n_files_needed, FUTEX_WAKE, 1, NULL);
	taken = __atomic_load_n(&page->n_spares_taken, __ATOMIC_RELAXED);
	do {
		if (taken >= __atomic_load_n(&page->n_spares, __ATOMIC_ACQUIRE))
			return false;
	} while (!__atomic_compare_exchange_n(&page->n_spares_taken, &taken,
	    taken + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	*number = taken;
	return true;
}

/*
 * Whether a process has died.  Then it is no longer there, or its parent has
 * not waited for it yet.
 */
static bool
shared_is_dead(uint32_t process_id)
{
	char path[32], line[256], *at = path + sizeof path;
	const long error = arch_system_call(SYS_kill, (long)process_id, 0, 0,
	    0);
	ssize_t n = 0;
	int fd;

	if (error != 0)
		return error == -ESRCH;
	at -= sizeof "/stat";
	memcpy(at, "/stat", sizeof "/stat");
	for (; process_id > 0; process_id /= 10)
		*--at = (char)('0' + process_id % 10);
	at -= strlen("/proc/");
	memcpy(at, "/proc/", strlen("/proc/"));
	fd = files_open(at, O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		n = files_read(fd, line, sizeof line - 1);
		files_close(fd);
	}
	line[n > 0 ? n : 0] = '\0';
	/* "4711 (name) Z", where the name may have parentheses, too. */
	at = strrchr(line, ')');
	return at != NULL && (at[2] == 'Z' || at[2] == 'X');
}

/*
 * Waiting for `record`: many processes may ask at once, and a busy machine may let
 * it run so rarely that the samples before its next answer take it seconds.  So it
 * may take any time as long as it is at work.
 */
struct patience {
	uint32_t n_steps;
	uint64_t end_ns;
};

static bool
patience_is_left(struct patience *patience)
{
	const uint64_t now = process_clock(CLOCK_MONOTONIC);
	const uint32_t n = __atomic_load_n(&page->n_steps, __ATOMIC_RELAXED);

	if (patience->end_ns == 0 || n != patience->n_steps)
		patience->end_ns = now + ANSWER_NS;
	patience->n_steps = n;
	return page->pid_namespace != 0 && now < patience->end_ns &&
	    shared_has_recorder();
}

/*
 * A place for a question; NULL: all are taken.  A question that was asked keeps
 * its place until `record` has answered it, even if nobody reads that.
 */
static struct cpprof_shared_question *
shared_try_place(uint64_t own)
{
	size_t i;

	for (i = 0; i < CPPROF_SHARED_QUESTIONS; i++) {
		struct cpprof_shared_question *place = &page->questions[i];
		uint64_t asker = 0;

		if (__atomic_compare_exchange_n(&place->asker, &asker, own,
		    false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return place;
	}
	for (i = 0; i < CPPROF_SHARED_QUESTIONS; i++) {
		struct cpprof_shared_question *place = &page->questions[i];
		uint64_t asker = __atomic_load_n(&place->asker,
		    __ATOMIC_ACQUIRE);
		const uint32_t state = __atomic_load_n(&place->state,
		    __ATOMIC_ACQUIRE);

		if (state != CPPROF_SHARED_ASKED &&
		    state != CPPROF_SHARED_READ && asker >> 32 == own >> 32 &&
		    shared_is_dead((uint32_t)asker) &&
		    __atomic_compare_exchange_n(&place->asker, &asker, own,
		    false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return place;
	}
	return NULL;
}

/* Waits for one, since many processes may ask at once. */
static struct cpprof_shared_question *
shared_take_place(void)
{
	const uint64_t own = (uint64_t)process_pid_namespace() << 32 |
	    process_id();
	struct cpprof_shared_question *place = shared_try_place(own);
	struct patience patience = { 0 };
	unsigned i;

	for (i = 0; place == NULL && (i % PAUSES_TO_LOOK != 0 ||
	    patience_is_left(&patience)); i++) {
		process_pause();
		place = shared_try_place(own);
	}
	return place;
}

bool
shared_ask(uint32_t process_id, enum cpprof_shared_wish wish)
{
	const struct timespec pause = { .tv_nsec = ANSWER_LOOK_NS };
	struct cpprof_shared_question *question = shared_take_place();
	uint32_t state = CPPROF_SHARED_ASKED;
	struct patience patience = { 0 };

	if (question == NULL)
		return false;
	question->process = process_id;
	question->wish = wish;
	__atomic_store_n(&question->state, state, __ATOMIC_RELEASE);
	__atomic_fetch_add(&page->n_asked, 1, __ATOMIC_RELEASE);
	shared_futex(&page->n_asked, FUTEX_WAKE, 1, NULL);
	while (state < CPPROF_SHARED_YES && patience_is_left(&patience)) {
		shared_futex(&question->state, FUTEX_WAIT, state, &pause);
		state = __atomic_load_n(&question->state, __ATOMIC_ACQUIRE);
	}
	/* `record` hangs: nobody else need wait for it. */
	if (state < CPPROF_SHARED_YES) {
		page->pid_namespace = 0;
		return false;
	}
	__atomic_store_n(&question->state, CPPROF_SHARED_NOT_ASKED,
	    __ATOMIC_RELAXED);
	__atomic_store_n(&question->asker, 0, __ATOMIC_RELEASE);
	return state == CPPROF_SHARED_YES;
}

/* Not `is_file`: `record` looks only at the memfd. */
bool
shared_answers_codes(void)
{
	return page != NULL && !is_file && !process.never_waits &&
	    __atomic_load_n(&page->answers_codes, __ATOMIC_RELAXED) != 0;
}

bool
shared_ask_code(const struct cpprof_code_module *module)
{
	size_t i;

	for (i = 0; i < CPPROF_SHARED_CODES; i++) {
		struct cpprof_shared_code *code = &page->codes[i];
		uint32_t state = CPPROF_SHARED_CODE_FREE;

		if (!__atomic_compare_exchange_n(&code->state, &state,
		    CPPROF_SHARED_CODE_TAKEN, false, __ATOMIC_ACQUIRE,
		    __ATOMIC_RELAXED))
			continue;
		code->module = *module;
		__atomic_store_n(&code->state, CPPROF_SHARED_CODE_ASKED,
		    __ATOMIC_RELEASE);
		__atomic_fetch_add(&page->n_codes_asked, 1, __ATOMIC_RELEASE);
		shared_futex(&page->n_codes_asked, FUTEX_WAKE, 1, NULL);
		return true;
	}
	return false;
}

uint32_t
shared_code_answers(void)
{
	return page == NULL ? 0 :
	    __atomic_load_n(&page->n_codes_answered, __ATOMIC_ACQUIRE);
}

/* Those places that were ever in use. */
struct cpprof_shared_process *
shared_processes(size_t *n, uint64_t *own)
{
	*n = 0;
	*own = listed_as;
	if (page == NULL || listed_as == 0)
		return NULL;
	*n = __atomic_load_n(&page->n_places, __ATOMIC_RELAXED);
	if (*n > CPPROF_SHARED_PROCESSES)
		*n = CPPROF_SHARED_PROCESSES;
	return page->processes;
}

static bool
shared_claim(struct cpprof_shared_process *place, uint64_t found, uint64_t own)
{
	return __atomic_compare_exchange_n(&place->process, &found, own, false,
	    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void
shared_unlist(struct cpprof_shared_process *place, uint64_t found)
{
	shared_claim(place, found, 0);
}

/* Only if all places are taken: one whose process is gone; NULL: none is. */
static struct cpprof_shared_process *
shared_inherit_place(uint64_t own)
{
	size_t i;

	for (i = 0; i < CPPROF_SHARED_PROCESSES; i++) {
		struct cpprof_shared_process *place = &page->processes[i];
		const uint64_t found = __atomic_load_n(&place->process,
		    __ATOMIC_RELAXED);

		if (process_cpu_time_of((uint32_t)found) == 0 &&
		    found >> 32 == own >> 32 &&
		    shared_claim(place, found, own))
			return place;
	}
	return NULL;
}

/*
 * The place that this process has had since before an exec, or the first free
 * one, so that the list stays short.
 */
static struct cpprof_shared_process *
shared_find_place(uint64_t own)
{
	struct cpprof_shared_process *place = page->processes;
	size_t n = __atomic_load_n(&page->n_places, __ATOMIC_RELAXED), i;

	for (i = 0; i < n && i < CPPROF_SHARED_PROCESSES; i++)
		if (__atomic_load_n(&place[i].process, __ATOMIC_RELAXED) == own)
			return &place[i];
	for (i = 0; i < CPPROF_SHARED_PROCESSES; i++)
		if (__atomic_load_n(&place[i].process, __ATOMIC_RELAXED) == 0 &&
		    shared_claim(&place[i], 0, own))
			break;
	if (i == CPPROF_SHARED_PROCESSES)
		return shared_inherit_place(own);
	while (n < i + 1 && !__atomic_compare_exchange_n(&page->n_places, &n,
	    i + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
	return &place[i];
}

void
shared_list_process(void)
{
	struct cpprof_shared_process *place;
	uint64_t now, cpu;

	if (page == NULL)
		return;
	listed_as = identity();
	place = shared_find_place(listed_as);
	if (place == NULL) {
		shared_add(&page->n_unlisted, 1);
		return;
	}
	now = process_ask_clock(CLOCK_MONOTONIC);
	cpu = process_ask_clock(CLOCK_PROCESS_CPUTIME_ID);
	place->cpu_ns = place->measured_cpu_ns = cpu;
	place->seen_ns = place->measured_ns = now;
	place->ran_ns = place->waited_ns = 0;
	place->n_threads = place->share = CPPROF_SHARED_ONE;
}
