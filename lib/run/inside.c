/* SPDX-License-Identifier: MIT */
/* inside.c -- sampling of a process into which the library was loaded while it
 * ran (lib/cpprof-inside.h).
 *
 * A thread of the collector begins and ends it, so that no thread of the
 * program has to wait or is disturbed.  Meanwhile it looks for threads that the
 * program has started, because functions of the library that the program would
 * call to start one do not stand in front of the C library's.
 *
 * Forked children have no such thread.  They see by themselves that the
 * recording has ended.
 */
#include "lib/run/start.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/base/arch.h"
#include "lib/base/attributes.h"
#include "lib/base/lookup.h"
#include "lib/base/process.h"
#include "lib/base/sampling.h"
#include "lib/cpprof-inside.h"
#include "lib/signals/signals.h"

#define LOOK_NS 50000000	/* between two looks at threads and wishes */
#define RECORDER_LOOKS 20	/* between two looks at the recorder */
#define SOON_LOOKS 100		/* at what a stopped thread has left */
#define STACK_SIZE ((size_t)256 << 10)
#define MAX_SETTINGS 32

EXPORTED extern struct cpprof_inside cpprof_inside;
EXPORTED int cpprof_inside_start(void);

struct cpprof_inside cpprof_inside BIG_TABLE;

static void
inside_set_state(enum cpprof_inside_state state)
{
	__atomic_store_n(&cpprof_inside.state, state, __ATOMIC_RELEASE);
}

/* The settings, as an environment. */
static void
inside_split_settings(char *environment[MAX_SETTINGS + 1])
{
	char *at = cpprof_inside.settings;
	char *const end = at + sizeof cpprof_inside.settings - 1;
	size_t n = 0;

	*end = '\0';
	for (; n < MAX_SETTINGS && at < end && *at != '\0';
	    at += strlen(at) + 1)
		environment[n++] = at;
	environment[n] = NULL;
}

static void
inside_fail(const char *problem, int error)
{
	snprintf(cpprof_inside.problem, sizeof cpprof_inside.problem, "%s",
	    problem != NULL ? problem : "");
	cpprof_inside.error = (uint32_t)error;
	inside_set_state(CPPROF_INSIDE_FAILED);
}

static bool
inside_begin(void)
{
	char *environment[MAX_SETTINGS + 1];
	const char *problem = NULL;

	inside_split_settings(environment);
	if (!control_begin_inside(environment, &problem)) {
		inside_fail(problem, errno);
		return false;
	}
	cpprof_inside.ticks_mask = signals_wanted();
	inside_set_state(CPPROF_INSIDE_SAMPLING);
	return true;
}

static void *
inside_run(void *unused)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS },
	    long_pause = { .tv_sec = 1 };
	sigset_t all;
	unsigned i;

	/* The C library leaves out its own signals. */
	sigfillset(&all);
	real()->pthread_sigmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, CPPROF_INSIDE_THREAD);
	for (i = 0; settings_have_tracer() && i < PROCESS_LONG_WAITS; i++)
		process_pause();	/* cpprof itself */
	if (!inside_begin())
		return unused;
	for (i = 1; __atomic_load_n(&cpprof_inside.wants_end,
	    __ATOMIC_ACQUIRE) == 0; i++) {
		if (i % RECORDER_LOOKS == 0 && output_is_abandoned())
			break;
		control_wake_new();
		arch_system_call(SYS_nanosleep, (long)&pause, 0, 0, 0);
	}
	control_end_inside();
	inside_set_state(CPPROF_INSIDE_ENDED);
	for (i = 0; !control_clean_up(); i++)
		arch_system_call(SYS_nanosleep, i < SOON_LOOKS ? (long)&pause :
		    (long)&long_pause, 0, 0, 0);
	return unused;
}

/*
 * The calling thread was stopped somewhere, and has all signals blocked.  So
 * this does as little as possible on it.
 */
int
cpprof_inside_start(void)
{
	uint32_t state = __atomic_load_n(&cpprof_inside.state,
	    __ATOMIC_ACQUIRE);
	pthread_attr_t attributes;
	pthread_t thread;
	int result;

	if (state == CPPROF_INSIDE_STARTING || state == CPPROF_INSIDE_SAMPLING)
		return EBUSY;
	if (sampling_is_on()) {
		inside_fail("it is recorded already", 0);
		return EBUSY;
	}
	process.is_inside = true;
	cpprof_inside.magic = CPPROF_INSIDE_MAGIC;
	cpprof_inside.wants_end = 0;
	cpprof_inside.error = 0;
	cpprof_inside.problem[0] = '\0';
	inside_set_state(CPPROF_INSIDE_STARTING);
	result = pthread_attr_init(&attributes);
	if (result == 0) {
		pthread_attr_setdetachstate(&attributes,
		    PTHREAD_CREATE_DETACHED);
		pthread_attr_setstacksize(&attributes, STACK_SIZE);
		result = real()->pthread_create(&thread, &attributes,
		    inside_run, NULL);
		pthread_attr_destroy(&attributes);
	}
	if (result != 0)
		inside_fail("cannot start a thread", result);
	return result;
}
