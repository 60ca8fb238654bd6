/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording.c -- the directory that a recording goes into. */
#include "src/shell/recording.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cpprofdata.h"

/* Calls each for every entry but . and ..; stops where that is not 0. */
static int
for_each_entry(const char *name,
               int (*each)(const char *path, const char *entry, void *context,
                           struct error *error),
               void *context, struct error *error)
{
	DIR *directory = opendir(name);
	const struct dirent *entry;
	int result = 0;

	if (directory == NULL)
		return error_set(error, "%s: %s", name, strerror(errno));
	while (result == 0 && (entry = readdir(directory)) != NULL) {
		char path[PATH_MAX];

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if ((size_t)snprintf(path, sizeof path, "%s/%s", name,
		                     entry->d_name) < sizeof path)
			result = each(path, entry->d_name, context, error);
	}
	closedir(directory);
	return result;
}

static int
is_ours(const char *entry)
{
	return strncmp(entry, CPPROFDATA_FILE_PREFIX,
	               sizeof CPPROFDATA_FILE_PREFIX - 1) == 0;
}

static int
check_entry(const char *path, const char *entry, void *context,
            struct error *error)
{
	(void)context;
	if (is_ours(entry))
		return 0;
	return error_set(error, "%s is no recording's: choose another "
	                 "directory with -o", path);
}

static int
remove_entry(const char *path, const char *entry, void *context,
             struct error *error)
{
	(void)entry, (void)context;
	if (unlink(path) == 0 || errno == ENOENT)
		return 0;
	return error_set(error, "%s: %s", path, strerror(errno));
}

int
recording_prepare(const char *name, char *path, size_t size,
                  struct error *error)
{
	char *whole;

	if (mkdir(name, 0700) != 0) {
		if (errno != EEXIST)
			return error_set(error, "%s: %s (-o names another "
			                 "directory)", name, strerror(errno));
		if (for_each_entry(name, check_entry, NULL, error) != 0 ||
		    for_each_entry(name, remove_entry, NULL, error) != 0)
			return -1;
	}
	whole = realpath(name, NULL);
	if (whole == NULL)
		return error_set(error, "%s: %s", name, strerror(errno));
	if ((size_t)snprintf(path, size, "%s", whole) >= size)
		error_set(error, "%s: path too long", name);
	free(whole);
	return error->is_set ? -1 : 0;
}

static int
summarise_entry(const char *path, const char *entry, void *context,
                struct error *error)
{
	struct error unreadable = { 0 };

	(void)error;
	if (is_ours(entry))
		cpprofdata_summarise(path, context, &unreadable);
	return 0;
}

int
recording_summarise(const char *path, struct cpprofdata_summary *summary,
                    struct error *error)
{
	return for_each_entry(path, summarise_entry, summary, error);
}
