/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_target.c -- whether a process can be sampled, and what to do if not.
 */
#include "src/sample/sample.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/task.h"

/* The value of a line "NAME:\tVALUE" of /proc/PID/status; "" if it has none. */
static void
sample_target_status(const char *status, const char *name, char *value,
                     size_t size)
{
	const char *line = strstr(status, name);

	*value = '\0';
	if (line == NULL)
		return;
	line += strlen(name);
	line += strspn(line, ": \t");
	snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
}

/* Reads the beginning of a file; its size, or -1 with errno set. */
static ssize_t
sample_target_read(const char *path, char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, size - 1);

	if (fd >= 0)
		close(fd);
	bytes[n > 0 ? n : 0] = '\0';
	return n;
}

/* Whether the user is root, or the process is theirs. */
static bool
sample_target_is_own(const char *uids)
{
	unsigned real, effective, saved;

	return geteuid() == 0 ||
	    (sscanf(uids, "%u %u %u", &real, &effective, &saved) == 3 &&
	     real == geteuid() && effective == geteuid() &&
	     saved == geteuid());
}

/* The first machine's word size of the program: ELFCLASS32, ELFCLASS64; or 0. */
static int
sample_target_class(pid_t pid)
{
	char path[64], head[EI_NIDENT + 1];

	snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
	return sample_target_read(path, head, sizeof head) == EI_NIDENT &&
	    memcmp(head, ELFMAG, SELFMAG) == 0 ? head[EI_CLASS] : 0;
}

int
sample_target_check(pid_t pid, struct error *error)
{
	char path[64], status[4096], name[32], uids[64], kernel[8];
	char number[32], link[8];
	pid_t task;		/* a first thread that has ended shows nothing */

	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	if (sample_target_read(path, status, sizeof status) < 0) {
		if (access("/proc/self", F_OK) != 0)
			return error_set(error, "/proc is not mounted here: "
			                 "mount it, or sample the process from "
			                 "where it is");
		return error_set(error, "no process %ld: it has ended, or is "
		                 "in another PID namespace; see ps -e",
		                 (long)pid);
	}
	sample_target_status(status, "Name", name, sizeof name);
	sample_target_status(status, "\nUid", uids, sizeof uids);
	sample_target_status(status, "\nKthread", kernel, sizeof kernel);
	sample_target_status(status, "\nTgid", number, sizeof number);
	if (pid == getpid())
		return error_set(error, "process %ld is cpprof itself, which "
		                 "waits while it samples: name another process",
		                 (long)pid);
	task = task_of_process(pid);
	if (task == 0)
		return error_set(error, "process %ld (%s) has ended, and its "
		                 "parent has not waited for it yet: nothing of "
		                 "it runs", (long)pid, name);
	snprintf(path, sizeof path, "/proc/%ld/exe", (long)task);
	if (kernel[0] == '1' || (kernel[0] == '\0' &&
	    readlink(path, link, sizeof link) < 0 && errno == ENOENT))
		return error_set(error, "process %ld (%s) is a thread of the "
		                 "kernel and has no code of a program: perf "
		                 "record -g -p %ld records it, and cpprof opens "
		                 "the file", (long)pid, name, (long)pid);
	if (!sample_target_is_own(uids))
		return error_set(error, "process %ld (%s) belongs to another "
		                 "user (%.*s): run cpprof as that user or as "
		                 "root", (long)pid, name,
		                 (int)strcspn(uids, " \t"), uids);
	if (strtol(number, NULL, 10) != pid)
		return error_set(error, "%ld is a thread of process %s: name "
		                 "that, and choose the thread afterwards with "
		                 "narrow thread", (long)pid, number);
	switch (sample_target_class(task)) {
	case ELFCLASS32:
		return error_set(error, "process %ld (%s) is a 32-bit program, "
		                 "whose stacks cannot be unwound: perf record "
		                 "-p %ld records its functions, and cpprof "
		                 "opens the file", (long)pid, name, (long)pid);
	case 0:
		snprintf(path, sizeof path, "/proc/%ld/maps", (long)task);
		if (access(path, R_OK) != 0)
			return error_set(error, "process %ld (%s) may not be "
			                 "looked at, as it runs with other "
			                 "rights than yours or forbids it: run "
			                 "cpprof as root", (long)pid, name);
		break;
	}
	return 0;
}
