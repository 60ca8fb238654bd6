/* SPDX-License-Identifier: GPL-3.0-or-later */
/* held_fork.c -- forks, and the kernel is in the middle of that until a file is made.
 *
 * held_fork GO HOW MS: the first thread forks.  The kernel waits until the event
 * of that is read, by userfaultfd(2), which another thread does when it finds the
 * file GO.  A third one changes its deep stack all the time until then.  The child
 * uses MS milliseconds of CPU time,
 *	itself		in part_child()
 *	exec		in part_new() of the program that it executes
 *	fork		in part_grandchild() of a child of its own
 *	thread		in part_thread(), of a thread
 *	late		itself; and its parent forks only after the file is made, and
 *			is in the kernel until then
 *	crowd		itself; and its parent has 50 threads more, which wait
 * Exit status 77: this kernel, or this user, has no such events.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spin.h"

#define NOINLINE __attribute__((noinline, noclone))

static const char *go;
static int events;		/* of userfaultfd */

/* No two of them are the same code, which the compiler would merge. */
static NOINLINE void
part_child(int ms)
{
	spin(ms);
	sink += 1;
}

static NOINLINE void
part_new(int ms)
{
	spin(ms);
	sink += 2;
}

static NOINLINE void
part_grandchild(int ms)
{
	spin(ms);
	sink += 3;
}

static NOINLINE void *
part_thread(void *ms)
{
	spin(*(int *)ms);
	sink += 4;
	return NULL;
}

static NOINLINE void
wander(int depth, unsigned choice)
{
	volatile char frame[400];

	frame[0] = (char)depth;
	if (depth > 0)
		wander(depth - 1, choice * 1103515245 + 12345);
	if (depth > 0 && (choice >> 16 & 7) == 0)
		wander(depth - 1, choice * 22695477 + 1);
	sink += (unsigned)frame[0];
}

static void *
run_wander(void *unused)
{
	for (unsigned i = 0; access(go, F_OK) != 0; i++)
		wander(60, i * 7919);
	return unused;
}

static void *
read_event(void *unused)
{
	struct uffd_msg message;

	while (access(go, F_OK) != 0)
		usleep(1000);
	if (read(events, &message, sizeof message) != sizeof message)
		_exit(2);
	/* Else the child's own forks would wait, too. */
	close((int)message.arg.fork.ufd);
	return unused;
}

static void *
wait_for_ever(void *unused)
{
	pause();
	return unused;
}

static void
make_crowd(void)
{
	pthread_t thread;

	for (int i = 0; i < 50; i++)
		if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
			_exit(2);
}

/* Events of forks, in which a page of memory is copied. */
static int
ask_for_events(void)
{
	struct uffdio_api api = { .api = UFFD_API,
		.features = UFFD_FEATURE_EVENT_FORK };
	struct uffdio_register asked = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	events = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	asked.range.start = (uintptr_t)page;
	asked.range.len = size;
	return events >= 0 && page != MAP_FAILED &&
	    ioctl(events, UFFDIO_API, &api) == 0 &&
	    ioctl(events, UFFDIO_REGISTER, &asked) == 0 ? 0 : -1;
}

/* In the kernel, as if it forked, until the file is made. */
static void
stay_in_kernel(void)
{
	if (vfork() == 0) {
		while (access(go, F_OK) != 0)
			usleep(1000);
		_exit(0);
	}
}

static void
run_child(const char *how, int ms, char **argv)
{
	pthread_t thread;

	if (strcmp(how, "exec") == 0) {
		execl(argv[0], argv[0], go, "new", argv[3], NULL);
	} else if (strcmp(how, "fork") == 0) {
		if (fork() == 0)
			part_grandchild(ms);
		else
			wait(NULL);
	} else if (strcmp(how, "thread") == 0) {
		if (pthread_create(&thread, NULL, part_thread, &ms) == 0)
			pthread_join(thread, NULL);
	} else {
		part_child(ms);
	}
	_exit(0);
}

int
main(int argc, char **argv)
{
	pthread_t wanderer, reader;
	int ms;

	if (argc != 4)
		return 2;
	go = argv[1];
	ms = atoi(argv[3]);
	if (strcmp(argv[2], "new") == 0) {
		part_new(ms);
		return 0;
	}
	if (ask_for_events() != 0)
		return 77;
	if (pthread_create(&wanderer, NULL, run_wander, NULL) != 0 ||
	    pthread_create(&reader, NULL, read_event, NULL) != 0)
		return 2;
	if (strcmp(argv[2], "crowd") == 0)
		make_crowd();
	if (strcmp(argv[2], "late") == 0)
		stay_in_kernel();
	if (fork() == 0)
		run_child(argv[2], ms, argv);
	wait(NULL);
	pthread_join(wanderer, NULL);
	return 0;
}
