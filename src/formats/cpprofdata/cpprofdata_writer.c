/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_writer.c -- whether a recording is still being written.
 *
 * A process that was killed, or has executed another program, cannot record
 * its end.  But the process that writes a file has it mapped, as its list of
 * mappings shows.
 */
#include "src/formats/cpprofdata/cpprofdata_writer.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpprofdata.h"

/* Whether a line of /proc/PID/maps ends in a blank and this path. */
static bool
names_path(const char *line, size_t length, const char *path)
{
	size_t n = strlen(path);

	if (length > 0 && line[length - 1] == '\n')
		length--;
	return length > n && line[length - n - 1] == ' ' &&
	    memcmp(line + length - n, path, n) == 0;
}

enum mapped { MAPPED_NOT, MAPPED, MAPPED_UNKNOWN };

static enum mapped
is_mapped_by(const char *path, uint64_t pid)
{
	char name[64], *line = NULL, *whole = realpath(path, NULL);
	enum mapped mapped = MAPPED_NOT;
	size_t capacity = 0;
	ssize_t length;
	FILE *maps;

	snprintf(name, sizeof name, "/proc/%" PRIu64 "/maps", pid);
	maps = whole == NULL ? NULL : fopen(name, "re");
	if (maps == NULL && errno != ENOENT && errno != ESRCH)
		mapped = MAPPED_UNKNOWN;
	while (maps != NULL && mapped == MAPPED_NOT &&
	       (length = getline(&line, &capacity, maps)) > 0)
		if (names_path(line, (size_t)length, whole))
			mapped = MAPPED;
	if (maps != NULL)
		fclose(maps);
	free(line);
	free(whole);
	return mapped;
}

bool
cpprofdata_is_written_by(const char *path, uint64_t pid)
{
	return is_mapped_by(path, pid) == MAPPED;
}

/* Whether the header's process keeps waits and has no recorded end. */
static bool
lacks_end(const struct cpprofdata_header *header)
{
	return (le32toh(header->flags) & CPPROFDATA_WAITS) != 0 &&
	    (header->end_ns | header->end_mono_ns |
	     header->gone_mono_ns) == 0;
}

/*
 * Opens the file read-only: closing a writable descriptor would notify
 * watchers of the file again.
 */
static bool
read_header(const char *path, struct cpprofdata_header *header)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool ok;

	if (fd < 0)
		return false;
	ok = pread(fd, header, sizeof *header, 0) == sizeof *header &&
	    memcmp(header->magic, CPPROFDATA_MAGIC,
	           sizeof header->magic) == 0 &&
	    le32toh(header->version) == CPPROFDATA_VERSION;
	close(fd);
	return ok;
}

/* Writes the present moment to a field of the header. */
static void
write_now(const char *path, size_t field)
{
	struct timespec now;
	uint64_t ns;
	int fd;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = htole64((uint64_t)now.tv_sec * 1000000000 +
	             (uint64_t)now.tv_nsec);
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (pwrite(fd, &ns, sizeof ns, (off_t)field) < 0)
		ns = 0;		/* then it stays as it was */
	close(fd);
}

void
cpprofdata_note_gone(const char *path)
{
	struct cpprofdata_header header;

	if (read_header(path, &header) && lacks_end(&header) &&
	    is_mapped_by(path, le32toh(header.pid)) == MAPPED_NOT)
		write_now(path, offsetof(struct cpprofdata_header,
		                         gone_mono_ns));
}

bool
cpprofdata_note_seen(const char *path)
{
	struct cpprofdata_header header;

	if (!read_header(path, &header))
		return true;
	if (lacks_end(&header) &&
	    is_mapped_by(path, le32toh(header.pid)) == MAPPED)
		write_now(path, offsetof(struct cpprofdata_header,
		                         seen_mono_ns));
	return (le32toh(header.flags) & CPPROFDATA_WAITS) != 0;
}
