/* SPDX-License-Identifier: GPL-3.0-or-later */
/* planted.c -- a service with one of twenty mistakes, for tests/planted.py.
 *
 *	planted MISTAKE		serves for most of a second
 *
 * Each request does ordinary work, measures what that cost, and makes the
 * mistake until it cost nine times as much.  So the mistake is nine tenths of
 * the run on any processor.  The lines to change end in a comment, "planted".
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 600, SIDE = 800, LONG = 6000 };

static volatile unsigned long result;
static unsigned seed = 1;

static unsigned
draw(void)
{
	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

static double
seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- ordinary work ---- */

static unsigned long
checksum(const char *text, size_t n)
{
	unsigned long sum = 5381;

	for (size_t i = 0; i < n; i++)
		sum = sum * 33 + (unsigned char)text[i];
	return sum;
}

static void
parse_request(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + draw() % 26);
	result += checksum(text, n);
}

static void
serve_ordinary(void)
{
	char text[20000];

	parse_request(text, sizeof text);
	result += checksum(text, sizeof text);
}

/* ---- processor time ---- */

static void
join_words(void)
{
	static char all[LONG * 4];

	all[0] = '\0';
	for (int i = 0; i < LONG / 2; i++)
		strcat(all, "word, "); /* planted */
	result += checksum(all, 100);
}

static void
to_upper(void)
{
	static char text[LONG + 1];

	memset(text, 'x', LONG);
	for (size_t i = 0; i < strlen(text); i++) /* planted */
		text[i] = (char)(text[i] - 'x' + 'X');
	result += (unsigned char)text[5];
}

static char keys[KEYS][16];

static int
find_key(const char *key)
{
	for (int i = 0; i < KEYS; i++)
		if (strcmp(keys[i], key) == 0) /* planted */
			return i;
	return -1;
}

static void
look_up(void)
{
	for (int i = 0; i < KEYS; i++)
		snprintf(keys[i], sizeof keys[i], "customer-%05d", i);
	for (int i = 0; i < KEYS; i++)
		result += (unsigned)find_key(keys[KEYS - 1 - i / 4]);
}

static void
sum_columns(void)
{
	static double cells[SIDE][SIDE];
	double sum = 0;

	cells[draw() % SIDE][draw() % SIDE] = draw();
	for (int times = 0; times < 6; times++)
		for (int column = 0; column < SIDE; column++)
			for (int row = 0; row < SIDE; row++) /* planted */
				sum += cells[row][column]; /* planted */
	result += (unsigned long)sum;
}

static int
compare_numbers(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void
insert_sorted(void)
{
	static int numbers[400];

	for (int n = 1; n < 400; n++) {
		numbers[n - 1] = (int)(draw() % 10000);
		qsort(numbers, (size_t)n, sizeof *numbers, /* planted */
		      compare_numbers); /* planted */
	}
	result += (unsigned)numbers[7];
}

static unsigned __attribute__((noipa))
count_ways(unsigned n)
{
	if (n < 2)
		return 1;
	return count_ways(n - 1) + count_ways(n - 2); /* planted */
}

static void
plan_route(void)
{
	result += count_ways(29);
}

struct order {
	char text[4000];
};

static unsigned __attribute__((noipa))
check_order(struct order order)
{
	return (unsigned char)order.text[17];
}

static void
check_orders(void)
{
	static struct order orders[8];

	for (int i = 0; i < 20000; i++)
		result += check_order(orders[i % 8]); /* planted */
}

static void
mix_digits(void)
{
	volatile unsigned long base = 10;
	unsigned long number = draw() + 1000000000000UL;

	for (int i = 0; i < 200000; i++)
		number = number / base * 7 + 1000000000 + (unsigned)i; /* planted */
	result += number;
}

static void
copy_words(void)
{
	static char words[800];		/* so long that free() is nothing */

	memset(words, 'w', sizeof words - 1);
	for (int i = 0; i < 20000; i++) {
		char *word = strdup(words);	/* planted */

		result += (unsigned char)word[i % 20];
		free(word);
	}
}

static void
print_numbers(void)
{
	char text[40];

	for (int i = 0; i < 8000; i++) {
		snprintf(text, sizeof text, "%d,%.3f", i, i / 7.0); /* planted */
		result += (unsigned char)text[0];
	}
}

static void
clear_buffer(void)
{
	static char buffer[12 << 20];

	memset(buffer, (int)(draw() % 7), sizeof buffer); /* planted */
	result += (unsigned char)buffer[draw() % sizeof buffer];
}

static void
load_settings(void)
{
	for (int i = 0; i < 200; i++) {
		char line[200];
		FILE *file = fopen("/proc/self/status", "r"); /* planted */

		if (file == NULL || /* planted */
		    fgets(line, sizeof line, file) == NULL) /* planted */
			exit(1);
		result += (unsigned char)line[0];
		fclose(file);
	}
}

/* ---- waiting ---- */

static void
retry_later(void)
{
	usleep(8000); /* planted */
}

static void
wait_for_answer(void)
{
	struct timespec pause = { 0, 6000000 };

	for (int i = 0; i < 2; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL); /* planted */
}

static void
run_helper(void)
{
	if (system("sleep 0.02") != 0) /* planted */
		exit(1);
}

/* ---- waiting for each other ---- */

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char journal[LONG];

static void
update_table(void)
{
	double end;

	pthread_mutex_lock(&table_lock);
	end = seconds(CLOCK_THREAD_CPUTIME_ID) + 0.004;
	while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		result += checksum(journal, sizeof journal); /* planted */
	pthread_mutex_unlock(&table_lock); /* planted */
}

static void
write_log(void)
{
	pthread_mutex_lock(&log_lock);
	usleep(4000); /* planted */
	pthread_mutex_unlock(&log_lock); /* planted */
}

/* ---- memory that is kept ---- */

struct session {
	struct session *next;
	char data[4096];
};

static struct session *sessions;

static void
begin_session(void)
{
	struct session *session = malloc(sizeof *session); /* planted */

	if (session == NULL)
		exit(1);
	session->next = sessions;
	sessions = session;
}

static void
begin_sessions(void)
{
	for (int i = 0; i < 20; i++)
		begin_session();
}

static char *
cache_page(void)
{
	return calloc(1, 60000); /* planted */
}

static void
serve_page(void)
{
	static char *pages[100000];
	static int n;

	if (n < 100000)
		pages[n++] = cache_page();
	result += (unsigned char)pages[0][0];
}

static void
report_failure(void)
{
	for (int i = 0; i < 30; i++) {
		char *message = malloc(3000); /* planted */

		if (message == NULL)
			exit(1);
		snprintf(message, 3000, "request %u failed", draw());
		/* Only half of them are freed. */
		if (i % 2 == 0)
			free(message);
		else
			result += (unsigned char)message[0];
	}
}

/* ---- the service ---- */

/* What a mistake costs. */
enum cost { CPU_TIME, REAL_TIME, MEMORY };

static const struct mistake {
	const char *name;
	void (*serve)(void);
	enum cost cost;
	int n_threads;
} mistakes[] = {
	{ "join_words", join_words, CPU_TIME, 1 },
	{ "to_upper", to_upper, CPU_TIME, 1 },
	{ "look_up", look_up, CPU_TIME, 1 },
	{ "sum_columns", sum_columns, CPU_TIME, 1 },
	{ "insert_sorted", insert_sorted, CPU_TIME, 1 },
	{ "plan_route", plan_route, CPU_TIME, 1 },
	{ "check_orders", check_orders, CPU_TIME, 1 },
	{ "mix_digits", mix_digits, CPU_TIME, 1 },
	{ "copy_words", copy_words, CPU_TIME, 1 },
	{ "print_numbers", print_numbers, CPU_TIME, 1 },
	{ "clear_buffer", clear_buffer, CPU_TIME, 1 },
	{ "load_settings", load_settings, CPU_TIME, 1 },
	{ "retry_later", retry_later, REAL_TIME, 1 },
	{ "wait_for_answer", wait_for_answer, REAL_TIME, 1 },
	{ "run_helper", run_helper, REAL_TIME, 1 },
	{ "update_table", update_table, REAL_TIME, 4 },
	{ "write_log", write_log, REAL_TIME, 4 },
	{ "begin_sessions", begin_sessions, MEMORY, 1 },
	{ "serve_page", serve_page, MEMORY, 1 },
	{ "report_failure", report_failure, MEMORY, 1 },
};

static void
serve_for_seconds(const struct mistake *mistake, clockid_t clock)
{
	const double end = seconds(clock) + 0.8;
	double begin, ordinary;

	do {
		begin = seconds(clock);
		serve_ordinary();
		ordinary = seconds(clock) - begin;
		do
			mistake->serve();
		while (seconds(clock) - begin < 10 * ordinary);
	} while (seconds(clock) < end);
}

static void *
serve(void *context)
{
	const struct mistake *mistake = context;

	switch (mistake->cost) {
	case CPU_TIME:
		serve_for_seconds(mistake, CLOCK_THREAD_CPUTIME_ID);
		break;
	case REAL_TIME:
		serve_for_seconds(mistake, CLOCK_MONOTONIC);
		break;
	case MEMORY:	/* 80 to 170 MB */
		for (int i = 0; i < 2000; i++) {
			serve_ordinary();
			mistake->serve();
		}
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
		const struct mistake *mistake = &mistakes[i];
		pthread_t threads[4];

		if (argc < 2 || strcmp(argv[1], mistake->name) != 0)
			continue;
		for (int k = 1; k < mistake->n_threads; k++)
			pthread_create(&threads[k], NULL, serve,
			               (void *)mistake);
		serve((void *)mistake);
		for (int k = 1; k < mistake->n_threads; k++)
			pthread_join(threads[k], NULL);
		return 0;
	}
	fprintf(stderr, "usage: planted MISTAKE\n");
	return 2;
}
