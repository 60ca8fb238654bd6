/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scripted.c -- does what a small script says, and measures itself.
 *
 * scripted 'SCRIPT': words between blanks.
 *
 *	a TIME		computes in part_a for that much CPU time of its thread;
 *			likewise b, c and d
 *	reads TIME	the same in calls of read; likewise faults (of pages) and
 *			calls (short system calls)
 *	sleep TIME	sleeps
 *	repeat N { .. }	does that N times
 *	any { .. }	does one of the statements, drawn at random
 *	deep N { .. }	does that below N calls of deeper()
 *	thread N { .. }	does that in N new threads
 *	join		waits for all threads that this one has started
 *	fork N { .. }	does that in N forked children at once, and waits for them
 *	vfork { .. }, spawn { .. }	executes scripted in a child, and waits for it
 *	exec { .. }	executes scripted in this process, which it ends
 *	itimer TIME { .. }, timer TIME { .. }	does that in a handler of a
 *			signal, that often, while the main thread computes in
 *			part_rest; until N of it are through: itimer TIME N { .. }
 *	lock { .. }	does that with the one lock held
 *
 * TIME is 200us, 3ms or 1s, or ~200us: drawn between 0 and twice that.
 *
 * Prints one line of JSON, its books by the CPU clocks of the threads
 * themselves, of all processes together:
 *
 *	{"parts": {"part_a": {"ns": 2000000, "times": 2, "pieces": 9}, ..},
 *	 "cpu_ns": .., "wall_ns": .., "waited_ns": ..}
 *
 * ns is without parts that a handler ran inside.  cpu_ns: CPU time of all
 * processes; waited_ns: what threads waited for a processor, as the kernel
 * counts it.  The clock is read outside of the parts; what a profiler costs
 * within a part is in ns, too, but not in the pieces of work, which are equal in a,
 * b, c and d.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/spin.h"

#define NOINLINE __attribute__((noinline, noclone))
#define PAGE 4096
#define N_PAGES 16
#define MOST_WORDS 512

extern char **environ;

/*
 * The parts.
 */

static int zeros, null;

static inline __attribute__((always_inline)) void
read_zeros(long n)
{
	static __thread char buffer[1 << 12];

	while (n-- > 0 && read(zeros, buffer, sizeof buffer) > 0)
		sink++;
}

static inline __attribute__((always_inline)) void
touch_pages(long n)
{
	for (; n > 0; n -= N_PAGES) {
		const size_t size = N_PAGES * PAGE;
		char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(memory, size, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < size; i += PAGE)
			((volatile char *)memory)[i] = 1;
		munmap(memory, size);
	}
}

static inline __attribute__((always_inline)) void
make_calls(long n)
{
	for (; n > 0; n--) {
		syscall(SYS_getppid);
		sink += (unsigned)write(null, "x", 1);
	}
}

/*
 * Uses that much CPU time in work(n), n pieces of work, of which `least` take
 * some microseconds.  Seldom reads the clock (tests/programs/spin.h says why):
 * after half of what is left, at the speed so far, and never late by more than
 * a piece.
 */
static inline __attribute__((always_inline)) long
use(int64_t wanted, long least, void (*work)(long n))
{
	const int64_t start = thread_ns();
	int64_t used = 0;
	long done = 0, n = least;

	while (used < wanted) {
		work(n);
		done += n;
		used = thread_ns() - start;
		n = (long)((double)done * (double)(wanted - used) /
		    (2 * (double)(used + 1)));
		if (n > 8 * done)
			n = 8 * done;
		if (n < least)
			n = least;
	}
	sink++;
	return done;
}

#define PART(name, least, work) \
	static NOINLINE long part_##name(int64_t ns) \
	{ return use(ns, least, work); }
PART(a, 2000, spin_round)
PART(b, 2000, spin_round)
PART(c, 2000, spin_round)
PART(d, 2000, spin_round)
PART(reads, 8, read_zeros)
PART(faults, N_PAGES, touch_pages)
PART(calls, 8, make_calls)

enum { N_PARTS = 8, REST = 7 };

static const struct {
	const char *name;
	long (*run)(int64_t ns);	/* returns the pieces of work */
} parts[N_PARTS] = {
	{ "a", part_a }, { "b", part_b }, { "c", part_c }, { "d", part_d },
	{ "reads", part_reads }, { "faults", part_faults },
	{ "calls", part_calls }, { "rest", NULL },
};

/*
 * The books, which all processes share.
 */

static struct books {
	struct {
		_Atomic int64_t ns, times, pieces;
	} parts[N_PARTS];
	_Atomic int64_t cpu_ns, waited_ns;
	_Atomic uint64_t draws;
} *books;
static int books_fd;			/* kept by programs that are executed */
#define BOOKS "SCRIPTED_BOOKS"		/* "child FD" or, after exec, "self FD" */

/* Of the part that this thread is in: what parts inside it have used. */
static __thread volatile int64_t inside_ns;

static void
charge(int part, int64_t start, int64_t outer)
{
	const int64_t ns = thread_ns() - start;

	books->parts[part].ns += ns - inside_ns;
	books->parts[part].times++;
	inside_ns = outer + ns;
}

static NOINLINE void
run_part(int part, int64_t ns)
{
	const int64_t outer = inside_ns;
	int64_t start;

	inside_ns = 0;
	start = thread_ns();
	books->parts[part].pieces += parts[part].run(ns);
	charge(part, start, outer);
}

static void __attribute__((noreturn))
fail(const char *what)
{
	fprintf(stderr, "scripted: ");
	perror(what);
	exit(2);
}

static void
open_books(void)
{
	const char *given = getenv(BOOKS);

	if (given)
		books_fd = atoi(strchr(given, ' '));
	else if ((books_fd = memfd_create("books", 0)) < 0 ||
	    ftruncate(books_fd, sizeof *books) != 0)
		fail("books");
	books = mmap(NULL, sizeof *books, PROT_READ | PROT_WRITE, MAP_SHARED,
	    books_fd, 0);
	if (books == MAP_FAILED)
		fail("books");
}

/* What this thread waited for a processor. */
static void
note_waits(void)
{
	char text[80];
	long long waited;
	const int fd = open("/proc/thread-self/schedstat", O_RDONLY);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (n > 0) {
		text[n] = '\0';
		if (sscanf(text, "%*s %lld", &waited) == 1)
			books->waited_ns += waited;
	}
}

/* Of this process and of all that it has waited for, with their ends. */
static void
note_cpu_time(void)
{
	struct timespec own;
	struct rusage of;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
	getrusage(RUSAGE_CHILDREN, &of);
	books->cpu_ns = own.tv_sec * INT64_C(1000000000) + own.tv_nsec +
	    (of.ru_utime.tv_sec + of.ru_stime.tv_sec) * INT64_C(1000000000) +
	    (of.ru_utime.tv_usec + of.ru_stime.tv_usec) * INT64_C(1000);
}

/*
 * The script.
 */

static struct word {
	char *text;
	int end;		/* of "{": its "}" */
} words[MOST_WORDS];
static int n_words;

static NOINLINE void run_block(int at, int end);

static void __attribute__((noreturn))
refuse(int at, const char *expected)
{
	fprintf(stderr, "scripted: word %d, %s: expected %s\n", at + 1,
	    at < n_words ? words[at].text : "the end", expected);
	exit(2);
}

static void
read_script(char *script)
{
	int open[64], n_open = 0;

	for (char *word = strtok(script, " \n"); word;
	    word = strtok(NULL, " \n")) {
		if (n_words == MOST_WORDS || n_open == 64)
			refuse(n_words, "a shorter script");
		words[n_words].text = word;
		if (strcmp(word, "{") == 0)
			open[n_open++] = n_words;
		if (strcmp(word, "}") == 0) {
			if (n_open == 0)
				refuse(n_words, "{ before it");
			words[open[--n_open]].end = n_words;
		}
		n_words++;
	}
	if (n_open > 0)
		refuse(n_words, "}");
}

/* splitmix64, one sequence for all: lengths keep step with nothing. */
static uint64_t
draw(uint64_t below)
{
	uint64_t x = (books->draws += UINT64_C(0x9e3779b97f4a7c15));

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x ^ x >> 31) % (below ? below : 1);
}

static int64_t
time_of(int at)
{
	const char *text = at < n_words ? words[at].text : "";
	const int is_drawn = *text == '~';
	char *unit;
	int64_t ns = strtol(text + is_drawn, &unit, 10);

	if (strcmp(unit, "us") == 0)
		ns *= 1000;
	else if (strcmp(unit, "ms") == 0)
		ns *= 1000000;
	else if (strcmp(unit, "s") == 0)
		ns *= 1000000000;
	else
		refuse(at, "a time, such as 200us");
	return is_drawn ? (int64_t)draw(2 * (uint64_t)ns) : ns;
}

static long
number_of(int at)
{
	char *end;
	const long n = at < n_words ? strtol(words[at].text, &end, 10) : -1;

	if (n < 0 || *end != '\0')
		refuse(at, "a number");
	return n;
}

/* The number of the "}" of the block that begins there. */
static int
block_end(int at)
{
	if (at >= n_words || strcmp(words[at].text, "{") != 0)
		refuse(at, "{");
	return words[at].end;
}

static NOINLINE void
deeper(long n, int at, int end)
{
	if (n > 0)
		deeper(n - 1, at, end);
	else
		run_block(at, end);
	sink++;
}

/*
 * Threads.
 */

struct block {
	int at, end;
};

static __thread pthread_t *threads;
static __thread int n_threads;

static void *
run_thread(void *argument)
{
	const struct block block = *(struct block *)argument;

	free(argument);
	run_block(block.at, block.end);
	note_waits();
	return NULL;
}

static void
start_threads(long n, int at, int end)
{
	threads = realloc(threads, (size_t)(n_threads + n) * sizeof *threads);
	while (n-- > 0) {
		struct block *block = malloc(sizeof *block);

		*block = (struct block){ at, end };
		if (pthread_create(&threads[n_threads], NULL, run_thread,
		    block) != 0)
			fail("pthread_create");
		n_threads++;
	}
}

static void
join_threads(void)
{
	while (n_threads > 0)
		pthread_join(threads[--n_threads], NULL);
}

/*
 * Processes.
 */

static void
fork_children(long n, int at, int end)
{
	for (long i = 0; i < n; i++) {
		const pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0) {
			inside_ns = n_threads = 0;
			run_block(at, end);
			note_waits();
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

/* Executes this program with the words of a block, in the way `how`. */
static void
execute(const char *how, int at, int end)
{
	char script[4096] = "", *arguments[] = { (char[]){ "scripted" }, script,
		NULL };
	char of_books[40];
	pid_t pid = 0;

	snprintf(of_books, sizeof of_books, "%s %d",
	    strcmp(how, "exec") == 0 ? "self" : "child", books_fd);
	setenv(BOOKS, of_books, 1);
	for (; at < end; at++)
		snprintf(script + strlen(script), sizeof script - strlen(script),
		    "%s ", words[at].text);
	if (strcmp(how, "spawn") == 0)
		errno = posix_spawn(&pid, "/proc/self/exe", NULL, NULL,
		    arguments, environ);
	else if (strcmp(how, "vfork") == 0)
		pid = vfork();
	if (pid == 0 && strcmp(how, "spawn") != 0) {
		execv("/proc/self/exe", arguments);
		_exit(127);
	}
	if (pid < 0 || (strcmp(how, "spawn") == 0 && errno != 0))
		fail(how);
	waitpid(pid, NULL, 0);
}

/*
 * Timers.
 */

static struct block expired;
static _Atomic long n_expired;

static void
expire(int number)
{
	(void)number;
	run_block(expired.at, expired.end);
	n_expired++;
}

static NOINLINE void
part_rest(long n)
{
	while (n_expired < n)
		spin_round(2000);
}

static void
run_timer(const char *how, int64_t ns, long n, struct block block)
{
	const struct timeval often = { ns / 1000000000, ns / 1000 % 1000000 };
	const struct timespec as_often = { ns / 1000000000, ns % 1000000000 };
	struct sigaction action = { .sa_handler = expire,
		.sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGALRM };
	const int64_t outer = inside_ns;
	timer_t timer = 0;
	int64_t start;

	expired = block;
	n_expired = 0;
	inside_ns = 0;
	start = thread_ns();
	sigaction(SIGALRM, &action, NULL);
	if (strcmp(how, "itimer") == 0)
		setitimer(ITIMER_REAL, &(struct itimerval){ often, often },
		    NULL);
	else if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		timer_settime(timer, 0,
		    &(struct itimerspec){ as_often, as_often }, NULL);
	part_rest(n);
	if (strcmp(how, "itimer") == 0)
		setitimer(ITIMER_REAL, &(struct itimerval){ .it_value = { 0 } },
		    NULL);
	else
		timer_delete(timer);
	signal(SIGALRM, SIG_IGN);
	charge(REST, start, outer);
}

/*
 * Statements.
 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The end of the statement at a word: the number of the next one. */
static int
after(int at)
{
	const char *word = words[at].text;

	if (strcmp(word, "join") == 0)
		return at + 1;
	for (at++; at < n_words && strcmp(words[at].text, "{") != 0; at++)
		if (strpbrk(words[at].text, "0123456789") == NULL)
			return at;
	for (size_t i = 0; i < N_PARTS; i++)
		if (strcmp(word, parts[i].name) == 0)
			return at;
	return strcmp(word, "sleep") == 0 ? at : block_end(at) + 1;
}

static void
run_any(int at, int end)
{
	int starts[64], n = 0;

	for (; at < end && n < 64; at = after(at))
		starts[n++] = at;
	at = starts[draw((uint64_t)n)];
	run_block(at, after(at));
}

static void
sleep_for(int64_t ns)
{
	struct timespec left = { ns / 1000000000, ns % 1000000000 };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

/* Blocks with a number before them. */
static void
run_counted(const char *word, long n, int at, int end)
{
	if (strcmp(word, "repeat") == 0)
		while (n-- > 0)
			run_block(at, end);
	else if (strcmp(word, "deep") == 0)
		deeper(n, at, end);
	else if (strcmp(word, "thread") == 0)
		start_threads(n, at, end);
	else
		fork_children(n, at, end);
}

static int
is_one_of(const char *word, const char *const *list)
{
	while (*list && strcmp(word, *list) != 0)
		list++;
	return *list != NULL;
}

static const char *const counted[] = { "repeat", "deep", "thread", "fork",
	NULL };
static const char *const executing[] = { "vfork", "spawn", "exec", NULL };
static const char *const timing[] = { "itimer", "timer", NULL };

static void
run_statement(int at)
{
	const char *word = words[at].text;

	for (int i = 0; i < N_PARTS; i++)
		if (parts[i].run && strcmp(word, parts[i].name) == 0) {
			run_part(i, time_of(at + 1));
			return;
		}
	if (strcmp(word, "join") == 0)
		join_threads();
	else if (strcmp(word, "sleep") == 0)
		sleep_for(time_of(at + 1));
	else if (is_one_of(word, counted))
		run_counted(word, number_of(at + 1), at + 3,
		    block_end(at + 2));
	else if (is_one_of(word, executing))
		execute(word, at + 2, block_end(at + 1));
	else if (is_one_of(word, timing))
		run_timer(word, time_of(at + 1), number_of(at + 2),
		    (struct block){ at + 4, block_end(at + 3) });
	else if (strcmp(word, "any") == 0)
		run_any(at + 2, block_end(at + 1));
	else if (strcmp(word, "lock") == 0) {
		pthread_mutex_lock(&lock);
		run_block(at + 2, block_end(at + 1));
		pthread_mutex_unlock(&lock);
	} else
		refuse(at, "a part or a statement");
}

static NOINLINE void
run_block(int at, int end)
{
	for (; at < end; at = after(at))
		run_statement(at);
}

static void
print_books(int64_t wall_ns)
{
	const char *between = "";

	printf("{\"parts\": {");
	for (int i = 0; i < N_PARTS; i++)
		if (books->parts[i].times) {
			printf("%s\"part_%s\": {\"ns\": %lld, \"times\": %lld, "
			    "\"pieces\": %lld}",
			    between, parts[i].name,
			    (long long)books->parts[i].ns,
			    (long long)books->parts[i].times,
			    (long long)books->parts[i].pieces);
			between = ", ";
		}
	printf("}, \"cpu_ns\": %lld, \"wall_ns\": %lld, \"waited_ns\": %lld}\n",
	    (long long)books->cpu_ns, (long long)wall_ns,
	    (long long)books->waited_ns);
}

static int64_t
wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int
main(int argc, char **argv)
{
	const char *kind = getenv(BOOKS);
	const int64_t start = wall_clock();

	if (argc != 2) {
		fprintf(stderr, "usage: scripted 'SCRIPT'\n");
		return 2;
	}
	open_books();
	zeros = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	read_script(argv[1]);
	run_block(0, n_words);
	join_threads();
	note_waits();
	if (kind == NULL || strncmp(kind, "child", 5) != 0) {
		note_cpu_time();
		print_books(wall_clock() - start);
	}
	return 0;
}
