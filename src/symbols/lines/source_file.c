/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source_file.c -- finds and reads the source files that a profile names. */
#include "src/symbols/lines/address_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"

/* Joins two parts of a path; whether the whole fits. */
static bool
source_file_join(char path[PATH_MAX], const char *directory, const char *name)
{
	int n = snprintf(path, PATH_MAX, "%s/%s", directory, name);

	return n >= 0 && n < PATH_MAX;
}

/* Opens a candidate; whether there is such a file, readable or not. */
static bool
source_file_try_path(struct source_file *source, const char *path,
                     int *descriptor)
{
	/* Not blocking: the path may name a pipe. */
	*descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*descriptor < 0 && errno != EACCES && errno != EPERM)
		return false;
	if (source->path != path)
		snprintf(source->path, sizeof source->path, "%s", path);
	return true;
}

/* The path without slashes at its start, then without each component. */
static bool
source_file_try_directory(struct source_file *source, const char *directory,
                          const char *path, int *descriptor)
{
	while (*path != '\0') {
		path += strspn(path, "/");
		if (*path != '\0' &&
		    source_file_join(source->path, directory, path) &&
		    source_file_try_path(source, source->path, descriptor))
			return true;
		path += strcspn(path, "/");
	}
	return false;
}

static bool
source_file_find(struct source_file *source, const char *path,
                 const struct source_search *search, int *descriptor)
{
	for (size_t i = 0; i < search->n_directories; i++)
		if (source_file_try_directory(source, search->directories[i],
		                              path, descriptor))
			return true;
	if (search->root != NULL &&
	    source_file_join(source->path, search->root, path) &&
	    source_file_try_path(source, source->path, descriptor))
		return true;
	return strlen(path) < sizeof source->path &&
	    source_file_try_path(source, path, descriptor);
}

/* Reads at most size bytes; returns their number. */
static size_t
source_file_read_bytes(int descriptor, char *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(descriptor, bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

static int
source_file_read_file(struct source_file *source, int descriptor,
                      struct error *error)
{
	struct stat status;
	MD5_CTX md5;
	size_t size;
	char *bytes;

	source->state = SOURCE_UNREADABLE;
	if (descriptor < 0 || fstat(descriptor, &status) != 0 ||
	    !S_ISREG(status.st_mode) || status.st_size > SOURCE_MAX)
		return 0;
	size = (size_t)status.st_size;
	bytes = memory_array(size + 1, 1, error);
	if (bytes == NULL)
		return -1;
	size = source_file_read_bytes(descriptor, bytes, size);
	source->mtime_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
	                   (uint64_t)status.st_mtim.tv_nsec;
	MD5Init(&md5);
	MD5Update(&md5, (const unsigned char *)bytes, size);
	MD5Final(source->digest, &md5);
	if (text_lines_split(&source->text, bytes, size, error) != 0)
		return -1;
	source->state = SOURCE_READ;
	return 0;
}

int
source_file_read(struct source_file *source, const char *path,
                 const struct source_search *search, struct error *error)
{
	int descriptor, status;

	*source = (struct source_file){ .state = SOURCE_MISSING };
	if (!source_file_find(source, path, search, &descriptor))
		return 0;
	status = source_file_read_file(source, descriptor, error);
	if (descriptor >= 0)
		close(descriptor);
	return status;
}

void
source_file_free(struct source_file *source)
{
	text_lines_free(&source->text);
}
