/* SPDX-License-Identifier: GPL-3.0-or-later */
/* relay.c -- a mail relay that grows: the manual's story of a leak.
 *
 * It reads its tables once, takes messages, each into a buffer that it frees
 * again, and remembers the last senders.  Of each tenth message it cannot
 * deliver, it keeps a report until somebody asks for it, which nobody does.
 * Built with -DSTEP=1 it keeps the last 50.  Runs for 40 seconds.
 *
 *	cc -O1 -g -o relay relay.c && cpprof record -r live:64K ./relay
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef STEP
#define STEP 0
#endif
#define NOINLINE __attribute__((noinline, noclone))

enum { N_TABLES = 300, N_SENDERS = 256, N_MESSAGES = 8000, N_REPORTS = 50 };

struct report {
	struct report *next;
	char text[6000];
};

static char *tables[N_TABLES], *senders[N_SENDERS];
static struct report *reports;

static void *
take(size_t size)
{
	void *block = malloc(size);

	if (block == NULL)
		abort();
	memset(block, 1, size);
	return block;
}

static NOINLINE void
read_tables(void)
{
	for (int i = 0; i < N_TABLES; i++)
		tables[i] = take(20000);
}

static NOINLINE void
remember_sender(int number)
{
	char **place = &senders[(unsigned)number * 2654435761u % N_SENDERS];

	free(*place);
	*place = take(8000);
}

#if STEP >= 1
static NOINLINE void
drop_old_reports(void)
{
	struct report **link = &reports, *old;

	for (int i = 0; i < N_REPORTS && *link != NULL; i++)
		link = &(*link)->next;
	while ((old = *link) != NULL) {
		*link = old->next;
		free(old);
	}
}
#endif

static NOINLINE void
keep_report(void)
{
	struct report *report = take(sizeof *report);

	report->next = reports;
	reports = report;
#if STEP >= 1
	drop_old_reports();
#endif
}

static NOINLINE void
bounce(void)
{
	keep_report();
}

static NOINLINE void
handle_message(int number)
{
	char *message = take(30000 + (size_t)number % 7 * 5000);

	remember_sender(number);
	if (number % 10 == 9)
		bounce();
	memset(message, 2, 30000);
	free(message);
}

int
main(void)
{
	const struct timespec pause = { .tv_nsec = 4900000 };

	read_tables();
	for (int i = 0; i < N_MESSAGES; i++) {
		handle_message(i);
		nanosleep(&pause, NULL);
	}
	return 0;
}
