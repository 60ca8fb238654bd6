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
#include <string.h>
#include <unistd.h>

#include "lib/cpprofdata.h"

#define CPU "cpu"
#define LITTLE_NS 20000000	/* is no row, */
#define LITTLE_PART 100		/* nor is a hundredth of all */

/* A header of this machine's collector. */
static bool
unsampled_time_read(int directory, const char *name,
                    struct cpprofdata_header *header)
{
	const int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW |
	                      O_NONBLOCK | O_CLOEXEC);
	const bool is_read = fd >= 0 &&
	    pread(fd, header, sizeof *header, 0) == sizeof *header &&
	    memcmp(header->magic, CPPROFDATA_MAGIC, sizeof header->magic) == 0 &&
	    header->header_size == CPPROFDATA_HEADER_SIZE &&
	    header->n_resources >= 1 &&
	    header->n_resources <= CPPROFDATA_MAX_RESOURCES;

	if (fd >= 0)
		close(fd);
	return is_read;
}

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
	       (entry = readdir(entries)) != NULL)
		is_found = strncmp(entry->d_name, CPPROFDATA_FILE_PREFIX,
		                   strlen(CPPROFDATA_FILE_PREFIX)) == 0 &&
		    unsampled_time_read(directory, entry->d_name, header);
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

int
unsampled_time_add(const struct recording *recording, uint64_t ns,
                   uint64_t all_ns, struct error *error)
{
	struct cpprofdata_header header, made;
	const struct cpprofdata_resource *resource;
	size_t written;
	bool is_there;
	int fd;

	if (ns < LITTLE_NS || ns < all_ns / LITTLE_PART)
		return 0;
	is_there = unsampled_time_read(recording->directory,
	                               CPPROFDATA_BRIEF_FILE, &header);
	if (!is_there && !unsampled_time_find(recording->directory, &header))
		return 0;
	resource = unsampled_time_resource(&header);
	if (resource == NULL || (is_there && resource != header.resources))
		return 0;
	made = is_there ? header : unsampled_time_header(&header, resource);
	made.unsampled_hits = ns / 1000 / resource->interval;
	fd = openat(recording->directory, CPPROFDATA_BRIEF_FILE, O_WRONLY |
	            O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC |
	            (is_there ? 0 : O_CREAT | O_EXCL), 0600);
	if (fd < 0)
		return error_set(error, "%s/%s: %s", recording->path,
		                 CPPROFDATA_BRIEF_FILE, strerror(errno));
	written = (size_t)pwrite(fd, &made, sizeof made, 0);
	close(fd);
	return written == sizeof made ? 0 :
	    error_set(error, "%s/%s: cannot be written", recording->path,
	              CPPROFDATA_BRIEF_FILE);
}
