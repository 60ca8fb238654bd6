/* SPDX-License-Identifier: MIT */
/* output.c -- creates the directory of a recording.
 *
 * Several processes of one run may share it and start at the same moment.  So
 * each takes the directory's lock (flock, as `cpprof record` does) before it
 * looks inside, and starts again if the name refers to another directory by
 * then.
 */
#include "lib/run/start.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/arch.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/cpprofdata.h"

#define PREFIX_SIZE (sizeof CPPROFDATA_FILE_PREFIX - 1)
#define SUFFIX ".cpprof"
#define TRIES 1000		/* to lock, a tenth of a millisecond each */

/* In order: a directory's content is the greatest of its entries'. */
enum output_content {
	EMPTY,
	OF_PAST,		/* of processes that have ended */
	OF_PRESENT,
	OTHER,
	UNREADABLE
};

static enum output_content
content_of(const char *entry)
{
	long pid;

	if (strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0)
		return EMPTY;
	if (strcmp(entry, CPPROFDATA_NAMES_FILE) == 0 ||
	    strncmp(entry, CPPROFDATA_NAMES_FILE ".",
	        sizeof CPPROFDATA_NAMES_FILE) == 0 ||
	    strcmp(entry, CPPROFDATA_BRIEF_FILE) == 0)
		return OF_PAST;
	if (strncmp(entry, CPPROFDATA_FILE_PREFIX, PREFIX_SIZE) != 0)
		return OTHER;
	/* The name begins with the id of the process that wrote it. */
	pid = strtol(entry + PREFIX_SIZE, NULL, 10);
	return pid > 0 && pid <= INT_MAX && pid != getpid() &&
	    (kill((pid_t)pid, 0) == 0 || errno != ESRCH) ? OF_PRESENT :
	    OF_PAST;
}

static enum output_content
content_of_folder(int folder)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	enum output_content most = EMPTY, one;

	if (entries == NULL) {
		if (copy >= 0)
			close(copy);
		return UNREADABLE;
	}
	while ((entry = readdir(entries)) != NULL) {
		one = content_of(entry->d_name);
		if (one > most)
			most = one;
	}
	closedir(entries);
	return most;
}

/*
 * "calc.cpprof" becomes "calc.2.cpprof"; other names become "name.2".  False
 * with errno set if it would be too long.
 */
static bool
number_name(const char *name, unsigned number, char numbered[PATH_MAX])
{
	size_t length = strlen(name), end = sizeof SUFFIX - 1;

	if (length < end || strcmp(name + length - end, SUFFIX) != 0)
		end = 0;
	if ((number == 0 ? snprintf(numbered, PATH_MAX, "%s", name) :
	    snprintf(numbered, PATH_MAX, "%.*s.%u%s", (int)(length - end),
	        name, number, name + length - end)) < PATH_MAX)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/*
 * Renames the recordings so that the newest earlier one has number 1, and so
 * on.  Replaces none.
 */
static bool
move_away(const char *name)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct stat status;
	unsigned free = 0;

	do {
		if (++free == UINT_MAX || !number_name(name, free, to))
			return false;
	} while (lstat(to, &status) == 0);
	for (; free > 0; free--)
		if (!number_name(name, free - 1, from) ||
		    !number_name(name, free, to) ||
		    renameat2(AT_FDCWD, from, AT_FDCWD, to,
		        RENAME_NOREPLACE) != 0)
			return false;
	return true;
}

enum outcome {
	READY,
	AGAIN,			/* the name refers to another directory */
	FAILED
};

/* Stores the absolute path in whole[PATH_MAX]. */
static enum outcome
output_prepare_folder(int folder, const char *name, char *whole)
{
	struct stat opened, named;
	unsigned tries;

	for (tries = 0; flock(folder, LOCK_EX | LOCK_NB) != 0; tries++) {
		if (errno == ENOTSUP || errno == EOPNOTSUPP || errno == ENOSYS)
			break;
		if (errno != EWOULDBLOCK || tries == TRIES)
			return FAILED;
		process_pause();
	}
	if (fstat(folder, &opened) != 0 || stat(name, &named) != 0 ||
	    opened.st_dev != named.st_dev || opened.st_ino != named.st_ino)
		return AGAIN;
	switch (content_of_folder(folder)) {
	case OF_PAST:
		return move_away(name) ? AGAIN : FAILED;
	case OTHER:
		errno = ENOTEMPTY;
		return FAILED;
	case UNREADABLE:
		return FAILED;
	default:
		return realpath(name, whole) != NULL ? READY : FAILED;
	}
}

bool
output_prepare(const char *name, char *path, size_t size)
{
	char whole[PATH_MAX], plain[PATH_MAX];
	enum outcome outcome = AGAIN;
	size_t length;

	if (name == NULL)
		length = (size_t)snprintf(plain, sizeof plain, "%s" SUFFIX,
		    program_invocation_short_name);
	else
		length = (size_t)snprintf(plain, sizeof plain, "%s", name);
	if (length >= sizeof plain) {
		errno = ENAMETOOLONG;
		return false;
	}
	while (length > 1 && plain[length - 1] == '/')
		plain[--length] = '\0';
	while (outcome == AGAIN) {
		int folder, saved;

		if (mkdir(plain, 0700) != 0 && errno != EEXIST)
			return false;
		folder = open(plain, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (folder < 0)
			return false;
		outcome = output_prepare_folder(folder, plain, whole);
		saved = errno;
		/* A child forked meanwhile would keep it locked. */
		flock(folder, LOCK_UN);
		close(folder);
		errno = saved;
	}
	if (outcome == FAILED)
		return false;
	if ((size_t)snprintf(path, size, "%s", whole) < size)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

bool
output_is_abandoned(void)
{
	const int fd = files_open(process.output, O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC, 0);
	long result;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR;
	result = arch_system_call(SYS_flock, fd, LOCK_SH | LOCK_NB, 0, 0);
	files_close(fd);
	return result == 0;
}
