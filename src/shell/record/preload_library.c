/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preload_library.c -- the library's path, as LD_PRELOAD can hold it.
 *
 * Blanks and colons separate names there and nothing quotes them, so a path
 * with one is given by a symbolic link.  The link lies in a directory of the
 * user's alone, has the same name for the same path, and is left there: what
 * the program starts may outlive it, and each of its programs looks there.
 */
#include "src/shell/record/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cpprof-environment.h"

static bool
library_in(const char *folder, const char *subfolder, char *path, size_t size)
{
	return (size_t)snprintf(path, size, "%s/%s" CPPROF_LIBRARY, folder,
	                        subfolder) < size && access(path, R_OK) == 0;
}

/* The library itself, wherever that is. */
static int
find_library(char *path, size_t size, struct error *error)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (length < 0)
		length = 0;
	self[length] = '\0';
	if (strrchr(self, '/') != NULL)
		*strrchr(self, '/') = '\0';
	if (!library_in(self, ".libs/", path, size) &&
	    !library_in(LIBDIR, "", path, size) &&
	    !library_in(self, "../lib/", path, size))
		return error_set(error, "%s not found beside %s or in %s",
		                 CPPROF_LIBRARY, self, LIBDIR);
	return 0;
}

static bool
is_preloadable(const char *path)
{
	return strpbrk(path, " :\t\n") == NULL;
}

/*
 * Whether nobody else can put another folder in the place of one in there: it
 * may be another user's, whose library root would then run.
 */
static bool
is_own(const char *folder)
{
	struct stat status;

	return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
	       status.st_uid == geteuid() &&
	       (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Opens a directory that nobody else can write to, made if need be. */
static int
open_own_folder(char *path, size_t size, struct error *error)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	struct stat status;
	int folder;

	if (base == NULL || *base != '/' || !is_preloadable(base) ||
	    !is_own(base) || access(base, W_OK) != 0)
		base = "/tmp";
	if ((size_t)snprintf(path, size, "%s/cpprof-%ld", base,
	                     (long)geteuid()) >= size)
		return error_set(error, "%s: path too long", base);
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return error_set(error, "%s: %s", path, strerror(errno));
	folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return error_set(error, "%s: %s", path, strerror(errno));
	if (fstat(folder, &status) != 0 || status.st_uid != geteuid() ||
	    (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		close(folder);
		return error_set(error, "%s: other users can write to it",
		                 path);
	}
	return folder;
}

/* A file name for a path, always the same: FNV-1a. */
static void
link_name(const char *path, char *name, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *path != '\0'; path++)
		hash = (hash ^ (unsigned char)*path) * 0x100000001b3;
	snprintf(name, size, "%016" PRIx64 "-" CPPROF_LIBRARY, hash);
}

static bool
leads_to(int folder, const char *name, const char *target)
{
	char found[PATH_MAX];
	ssize_t length = readlinkat(folder, name, found, sizeof found - 1);

	if (length < 0)
		return false;
	found[length] = '\0';
	return strcmp(found, target) == 0;
}

/* Replaces the path by a link's that leads there. */
static int
link_library(char *path, size_t size, struct error *error)
{
	char place[PATH_MAX], name[64], target[PATH_MAX];
	int folder = open_own_folder(place, sizeof place, error);
	bool ok;

	if (folder < 0)
		return -1;
	snprintf(target, sizeof target, "%s", path);
	link_name(target, name, sizeof name);
	ok = leads_to(folder, name, target) ||
	    symlinkat(target, folder, name) == 0 ||
	    (unlinkat(folder, name, 0) == 0 &&
	     symlinkat(target, folder, name) == 0) ||
	    leads_to(folder, name, target);	/* another was faster */
	if (!ok)
		error_set(error, "%s/%s: %s", place, name, strerror(errno));
	else if ((size_t)snprintf(path, size, "%s/%s", place, name) >= size)
		ok = error_set(error, "%s: path too long", place) == 0;
	close(folder);
	return ok ? 0 : -1;
}

int
preload_find_library(char *path, size_t size, struct error *error)
{
	if (find_library(path, size, error) != 0)
		return -1;
	return is_preloadable(path) ? 0 : link_library(path, size, error);
}
