/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unsampled_time.c -- CPU time that no sample stands for, in a recording.
 *
 * It is in the header of the file of brief processes, which is made if there is
 * none: from another file's header, which describes the resources.
 */
#include "src/shell/record/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cpprofdata.h"

#define CPU "cpu"
#define LITTLE_NS 20000000	/* is no row, */
#define LITTLE_PART 100		/* nor is a hundredth of all */

/* Opens a file of this recording: a regular one, and no other's, too. */
static int
unsampled_time_open(int directory, const char *name, int flags)
{
	const int fd = openat(directory, name, flags | O_NOFOLLOW |
	                      O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_nlink != 1 || status.st_uid != geteuid())) {
		close(fd);
		errno = EEXIST;
		return -1;
	}
	return fd;
}

/* A header of this machine's collector. */
static bool
unsampled_time_read(int fd, struct cpprofdata_header *header)
{
	return pread(fd, header, sizeof *header, 0) == sizeof *header &&
	    memcmp(header->magic, CPPROFDATA_MAGIC, sizeof header->magic) == 0 &&
	    header->header_size == CPPROFDATA_HEADER_SIZE &&
	    header->n_resources >= 1 &&
	    header->n_resources <= CPPROFDATA_MAX_RESOURCES;
}

/* The header of some file of the recording. */
static bool
unsampled_time_find(int directory, struct cpprofdata_header *header)
{
	const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY |
	                        O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	bool is_found = false;

	if (entries == NULL && copy >= 0)
		close(copy);
	while (!is_found && entries != NULL &&
	       (entry = readdir(entries)) != NULL) {
		const int fd = strncmp(entry->d_name, CPPROFDATA_FILE_PREFIX,
		                       strlen(CPPROFDATA_FILE_PREFIX)) != 0 ?
		    -1 : unsampled_time_open(directory, entry->d_name,
		                             O_RDONLY);

		is_found = fd >= 0 && unsampled_time_read(fd, header);
		if (fd >= 0)
			close(fd);
	}
	if (entries != NULL)
		closedir(entries);
	return is_found;
}

/* The resource whose hits are CPU time; NULL: it was not recorded. */
static const struct cpprofdata_resource *
unsampled_time_resource(const struct cpprofdata_header *header)
{
	for (uint32_t i = 0; i < header->n_resources; i++)
		if (strcmp(header->resources[i].name, CPU) == 0 &&
		    header->resources[i].interval > 0)
			return &header->resources[i];
	return NULL;
}

/* The header of a file of brief processes, without any. */
static struct cpprofdata_header
unsampled_time_header(const struct cpprofdata_header *other,
                      const struct cpprofdata_resource *resource)
{
	struct cpprofdata_header header = {
		.version = other->version,
		.header_size = CPPROFDATA_HEADER_SIZE,
		.flags = CPPROFDATA_BRIEF,
		.machine = other->machine,
		.n_resources = 1,
		.node_size = sizeof(struct cpprofdata_node) +
		    sizeof(struct cpprofdata_count),
		.used = CPPROFDATA_HEADER_SIZE,
		.origin_ns = other->origin_ns,
		.origin_mono_ns = other->origin_mono_ns,
		.slice_ns = other->slice_ns,
		.resources[0] = *resource,
	};

	memcpy(header.magic, CPPROFDATA_MAGIC, sizeof header.magic);
	header.resources[0].source = 0;
	return header;
}

/* Makes the file, without brief processes. */
static bool
unsampled_time_make(int directory, uint64_t ns)
{
	struct cpprofdata_header header, made;
	const struct cpprofdata_resource *resource;
	bool is_written;
	int fd;

	if (!unsampled_time_find(directory, &header))
		return true;
	resource = unsampled_time_resource(&header);
	if (resource == NULL)
		return true;
	made = unsampled_time_header(&header, resource);
	made.unsampled_hits = ns / 1000 / resource->interval;
	fd = unsampled_time_open(directory, CPPROFDATA_BRIEF_FILE,
	                         O_WRONLY | O_CREAT | O_EXCL);
	is_written = fd >= 0 && pwrite(fd, &made, sizeof made, 0) ==
	    sizeof made;
	if (fd >= 0)
		close(fd);
	return is_written;
}

/* Writes into the file that is there. */
static bool
unsampled_time_write(int fd, uint64_t ns)
{
	struct cpprofdata_header header;
	uint64_t hits;

	if (!unsampled_time_read(fd, &header) ||
	    (header.flags & CPPROFDATA_BRIEF) == 0 ||
	    unsampled_time_resource(&header) != header.resources)
		return true;
	hits = ns / 1000 / header.resources[0].interval;
	return pwrite(fd, &hits, sizeof hits, offsetof(struct cpprofdata_header,
	    unsampled_hits)) == sizeof hits;
}

int
unsampled_time_add(const struct recording *recording, uint64_t ns,
                   uint64_t all_ns, struct error *error)
{
	bool is_written;
	int fd;

	if (ns < LITTLE_NS || ns < all_ns / LITTLE_PART)
		return 0;
	fd = unsampled_time_open(recording->directory, CPPROFDATA_BRIEF_FILE,
	                         O_RDWR);
	if (fd >= 0) {
		is_written = unsampled_time_write(fd, ns);
		close(fd);
	} else {
		is_written = errno == ENOENT &&
		    unsampled_time_make(recording->directory, ns);
	}
	return is_written ? 0 :
	    error_set(error, "%s/%s cannot be written: %s", recording->path,
	              CPPROFDATA_BRIEF_FILE, strerror(errno));
}
