/* SPDX-License-Identifier: MIT */
/* process.c -- reads environment and /proc once, before the program runs. */
#include "lib/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpprof-environment.h"

#define MAX_ARGUMENTS_SIZE 32768	/* a longer command line is cut */

struct process process;

uint64_t
process_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void
process_forked(void)
{
	process.pid = (uint32_t)getpid();
	process.parent_pid = (uint32_t)getppid();
	process.start_ns = process_now();
}

static bool
read_interval(void)
{
	const char *text = getenv(CPPROF_ENVIRONMENT_INTERVAL);
	unsigned long interval = CPPROF_INTERVAL_DEFAULT;
	char *end;

	if (text != NULL) {
		interval = strtoul(text, &end, 10);
		if (end == text || *end != '\0' ||
		    interval < CPPROF_INTERVAL_MIN ||
		    interval > CPPROF_INTERVAL_MAX)
			return false;
	}
	process.interval_ns = interval * 1000;
	return true;
}

/* The command line, as the kernel has it, into memory of its own. */
static void
read_arguments(void)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t size = 0, i;
	ssize_t n;
	char *text;

	text = mmap(NULL, MAX_ARGUMENTS_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || text == MAP_FAILED)
		goto out;
	while ((n = read(fd, text + size, MAX_ARGUMENTS_SIZE - 1 - size)) > 0)
		size += (size_t)n;
	if (size > 0 && text[size - 1] != '\0')
		text[size++] = '\0';
	process.arguments = text;
	process.arguments_size = size;
	for (i = 0; i < size; i++)
		process.n_arguments += text[i] == '\0';
out:
	if (fd >= 0)
		close(fd);
}

static void
read_executable(void)
{
	ssize_t n = readlink("/proc/self/exe", process.executable,
	    sizeof process.executable - 1);

	process.executable[n > 0 ? n : 0] = '\0';
}

static void
find_own_mapping(void)
{
	struct dl_find_object object;

	if (_dl_find_object((void *)&process, &object) != 0)
		return;
	process.own_start = (uintptr_t)object.dlfo_map_start;
	process.own_end = (uintptr_t)object.dlfo_map_end;
}

bool
process_init(const char **problem)
{
	const char *output = getenv(CPPROF_ENVIRONMENT_OUTPUT);

	*problem = NULL;
	if (output == NULL || *output == '\0' || getauxval(AT_SECURE) != 0)
		return false;
	if (*output != '/' || strlen(output) >= sizeof process.output - 64) {
		*problem = CPPROF_ENVIRONMENT_OUTPUT
		    " is not a usable absolute path";
		return false;
	}
	if (!read_interval()) {
		*problem = CPPROF_ENVIRONMENT_INTERVAL
		    " is not a usable number of microseconds";
		return false;
	}
	strcpy(process.output, output);
	process_forked();
	read_arguments();
	read_executable();
	find_own_mapping();
	if (gethostname(process.host, sizeof process.host - 1) != 0)
		process.host[0] = '\0';
	if (getcwd(process.directory, sizeof process.directory) == NULL)
		process.directory[0] = '\0';
	return true;
}
