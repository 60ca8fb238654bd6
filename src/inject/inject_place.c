/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inject_place.c -- a directory that a process in another mount namespace sees.
 *
 * Such a process sees neither the library nor the recording's directory.  It
 * must not be given a descriptor of that, by which it could leave its container.
 * So the library and the recording are put into a new directory in a temporary
 * one of its own, which is found as the process finds it, below its root; at the
 * end, the files are copied from there.
 */
#include "src/inject/inject.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpprof-environment.h"
#include "lib/cpprofdata.h"

enum { MOST_SUFFIXES = 1000 };

/* Opens a directory by the path that the process has for it. */
static int
inject_open_below(int root, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

/* Makes the directory in one of these, where files may be executed. */
static int
inject_place_make_in(struct inject_place *place, int root, const char *path)
{
	const int parent = inject_open_below(root, path);
	struct statvfs status;
	struct timespec now;

	if (parent < 0)
		return -1;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(place->name, sizeof place->name, "cpprof-%ld-%09ld",
	         (long)getpid(), now.tv_nsec);
	snprintf(place->path, sizeof place->path, "%s/%s", path, place->name);
	if (fstatvfs(parent, &status) == 0 &&
	    (status.f_flag & ST_NOEXEC) != 0) {
		errno = EACCES;
	} else if (mkdirat(parent, place->name, 0700) == 0) {
		place->parent = parent;
		place->directory = openat(parent, place->name, O_RDONLY |
		    O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		return place->directory >= 0 ? 0 : -1;
	}
	close(parent);
	return -1;
}

/* Copies a file; its size, or -1. */
static int
inject_copy(int from, int to)
{
	char bytes[65536];
	ssize_t n;

	while ((n = read(from, bytes, sizeof bytes)) > 0)
		if (write(to, bytes, (size_t)n) != n)
			return -1;
	return n == 0 ? 0 : -1;
}

/* Copies the library there. */
static int
inject_place_add_library(const struct inject_place *place, const char *library,
                         uid_t user, gid_t group)
{
	const int from = open(library, O_RDONLY | O_CLOEXEC);
	const int to = openat(place->directory, CPPROF_LIBRARY, O_WRONLY |
	    O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int result = from >= 0 && to >= 0 && inject_copy(from, to) == 0 &&
	    fchmod(to, 0755) == 0 &&
	    (user == geteuid() || fchown(to, user, group) == 0) ? 0 : -1;

	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return result;
}

/*
 * The user and group by which a process opens files, as seen from here.  The
 * owner of its directory in /proc is root if it has changed its user.
 */
static bool
inject_find_user(pid_t pid, uid_t *user, gid_t *group)
{
	bool has_user = false, has_group = false;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof line, file) != NULL) {
		has_user |= sscanf(line, "Uid: %*u %*u %*u %u", user) == 1;
		has_group |= sscanf(line, "Gid: %*u %*u %*u %u", group) == 1;
	}
	if (file != NULL)
		fclose(file);
	return has_user && has_group;
}

bool
inject_place_is_needed(pid_t pid)
{
	uid_t user;
	gid_t group;

	return inject_find_user(pid, &user, &group) && user != geteuid() &&
	    user != 0;
}

int
inject_place_make(struct inject_place *place, pid_t pid, const char *library,
                  struct error *error)
{
	static const char *const paths[] = { "/tmp", "/var/tmp", "/dev/shm",
		"/run" };
	char name[64];
	int root, result = -1, why = 0;
	uid_t user;
	gid_t group;

	*place = (struct inject_place){ .parent = -1, .directory = -1 };
	snprintf(name, sizeof name, "/proc/%ld/root", (long)pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0 || !inject_find_user(pid, &user, &group)) {
		if (root >= 0)
			close(root);
		return error_set(error, "process %ld: its root directory "
		                 "cannot be opened: %s", (long)pid,
		                 strerror(errno));
	}
	for (size_t i = 0; result != 0 && i < sizeof paths / sizeof *paths;
	     i++) {
		result = inject_place_make_in(place, root, paths[i]);
		if (result == 0 && ((user != geteuid() &&
		    fchown(place->directory, user, group) != 0) ||
		    flock(place->directory, LOCK_EX | LOCK_NB) != 0 ||
		    inject_place_add_library(place, library, user,
		                             group) != 0)) {
			result = -1;
			why = errno;
			inject_place_remove(place);
		} else if (result != 0) {
			why = errno;
		}
	}
	close(root);
	if (result == 0)
		return 0;
	return error_set(error, "process %ld is in another mount namespace, and "
	                 "none of /tmp, /var/tmp, /dev/shm and /run there can "
	                 "take the collector: %s; sample it from outside, "
	                 "without --inside", (long)pid, strerror(why));
}

/* Makes a file in the recording that no other process of that number has. */
static int
inject_make_copy(int directory, const char *name)
{
	char own[NAME_MAX + 1];
	int fd = -1;

	snprintf(own, sizeof own, "%s", name);
	for (unsigned i = 1; i < MOST_SUFFIXES; i++) {
		fd = openat(directory, own, O_WRONLY | O_CREAT | O_EXCL |
		            O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			break;
		snprintf(own, sizeof own, "%.200s.%u", name, i);
	}
	return fd;
}

static bool
inject_is_recording(const char *name)
{
	return strncmp(name, CPPROFDATA_FILE_PREFIX,
	               sizeof CPPROFDATA_FILE_PREFIX - 1) == 0;
}

bool
inject_place_collect(const struct inject_place *place, int directory)
{
	const int copy = openat(place->directory, ".", O_RDONLY | O_DIRECTORY |
	                        O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	bool ok = entries != NULL;

	while (entries != NULL && (entry = readdir(entries)) != NULL) {
		struct stat status;
		int from, to;

		if (!inject_is_recording(entry->d_name))
			continue;
		from = openat(place->directory, entry->d_name, O_RDONLY |
		              O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (from < 0 || fstat(from, &status) != 0 ||
		    !S_ISREG(status.st_mode)) {
			ok = false;
		} else {
			to = inject_make_copy(directory, entry->d_name);
			ok &= to >= 0 && inject_copy(from, to) == 0;
			if (to >= 0)
				close(to);
		}
		if (from >= 0)
			close(from);
	}
	if (entries != NULL)
		closedir(entries);
	else if (copy >= 0)
		close(copy);
	return ok;
}

void
inject_place_remove(struct inject_place *place)
{
	const int copy = place->directory < 0 ? -1 :
	    openat(place->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (entries != NULL && (entry = readdir(entries)) != NULL)
		if (*entry->d_name != '.')
			unlinkat(place->directory, entry->d_name, 0);
	if (entries != NULL)
		closedir(entries);
	if (place->directory >= 0)
		close(place->directory);
	if (place->parent >= 0) {
		unlinkat(place->parent, place->name, AT_REMOVEDIR);
		close(place->parent);
	}
	place->directory = place->parent = -1;
}
