/* SPDX-License-Identifier: MIT */
/* output.c -- makes or empties the directory that a recording goes into.
 *
 * Several processes may share it, those that are running keep their files.
 */
#include "lib/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cpprofdata.h"

#define PREFIX_SIZE (sizeof CPPROFDATA_FILE_PREFIX - 1)

static bool
is_ours(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strncmp(name, CPPROFDATA_FILE_PREFIX, PREFIX_SIZE) == 0;
}

/* The file's name begins with the id of the process that wrote it. */
static bool
is_of_past(const char *name)
{
	long pid = name[0] == '.' ? 0 : strtol(name + PREFIX_SIZE, NULL, 10);

	if (strcmp(name, CPPROFDATA_BRIEF_FILE) == 0)
		return true;
	return pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) != 0 &&
	    errno == ESRCH;
}

static bool
clear(int folder)
{
	DIR *entries = fdopendir(folder);
	const struct dirent *entry;
	bool ok = true;

	if (entries == NULL) {
		close(folder);
		return false;
	}
	while (ok && (entry = readdir(entries)) != NULL)
		ok = is_ours(entry->d_name);
	if (!ok)
		errno = ENOTEMPTY;
	rewinddir(entries);
	while (ok && (entry = readdir(entries)) != NULL)
		ok = !is_of_past(entry->d_name) ||
		    unlinkat(dirfd(entries), entry->d_name, 0) == 0 ||
		    errno == ENOENT;
	closedir(entries);
	return ok;
}

bool
output_prepare(const char *name, char *path, size_t size)
{
	char whole[PATH_MAX], standard[NAME_MAX + sizeof ".cpprof"];
	int folder;

	snprintf(standard, sizeof standard, "%.*s.cpprof", NAME_MAX,
	    program_invocation_short_name);
	if (name == NULL)
		name = standard;
	if (mkdir(name, 0700) != 0 && errno != EEXIST)
		return false;
	folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || !clear(folder) || realpath(name, whole) == NULL)
		return false;
	if ((size_t)snprintf(path, size, "%s", whole) < size)
		return true;
	errno = ENAMETOOLONG;
	return false;
}
