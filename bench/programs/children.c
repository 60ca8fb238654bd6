/* SPDX-License-Identifier: GPL-3.0-or-later */
/* children.c -- many short children, one after another.
 *
 * 	children WHAT TIMES
 * spawn: posix_spawn of /bin/true; exec: fork, and the child executes it;
 * fork: the child exits at once; work: it computes for a millisecond or so, always
 * the same.  Prints the cost of one child, including its
 * parent's: CPU time in ms, and page faults.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char *words[] = { (char []){ "true" }, NULL };

static double
milliseconds(struct timeval time)
{
	return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

static void
read_usage(double *ms, double *faults)
{
	static const int whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	struct rusage usage;
	size_t i;

	*ms = *faults = 0;
	for (i = 0; i < 2; i++) {
		getrusage(whose[i], &usage);
		*ms += milliseconds(usage.ru_utime) +
		    milliseconds(usage.ru_stime);
		*faults += (double)usage.ru_minflt;
	}
}

static pid_t
start_child(const char *what)
{
	pid_t child = -1;

	if (strcmp(what, "spawn") == 0) {
		if (posix_spawn(&child, "/bin/true", NULL, NULL, words,
		    environ) != 0)
			child = -1;
		return child;
	}
	child = fork();
	if (child == 0 && strcmp(what, "exec") == 0)
		execv("/bin/true", words);
	if (child == 0 && strcmp(what, "work") == 0)
		for (volatile int i = 0; i < 1500000; i++)
			continue;
	if (child == 0)
		_exit(0);
	return child;
}

int
main(int argc, char **argv)
{
	const long times = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	double ms[2], faults[2];
	pid_t child;
	long i;

	if (times <= 0)
		return 2;
	read_usage(&ms[0], &faults[0]);
	for (i = 0; i < times; i++) {
		child = start_child(argv[1]);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
	}
	read_usage(&ms[1], &faults[1]);
	printf("%f %f\n", (ms[1] - ms[0]) / (double)times,
	    (faults[1] - faults[0]) / (double)times);
	return 0;
}
