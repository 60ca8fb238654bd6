/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_held.c -- files of processes that are not where their paths lead.
 *
 * A process in a container has other files at the same paths, and a file that
 * was replaced or removed is still mapped.  Such files are opened by way of the
 * process while it runs, and kept open: the stacks of its samples are walked by
 * them, and its functions are named when it has ended.
 */
#include "src/sample/sample.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/task.h"
#include "src/symbols/elf/elf_file.h"

enum { SAMPLE_HELD_MAX = 1000 };

struct sample_held {
	struct held_files files;	/* what others see of it */
	int *fds;
	struct sample_held_id {
		dev_t device;
		ino_t inode;
	} *ids;				/* [files.n] */
	size_t fds_capacity, ids_capacity;
};

struct sample_held *
sample_held_new(struct error *error)
{
	return memory_array(1, sizeof(struct sample_held), error);
}

void
sample_held_free(struct sample_held *held)
{
	if (held == NULL)
		return;
	for (size_t i = 0; i < held->files.n; i++)
		close(held->fds[i]);
	free(held->fds);
	free(held->ids);
	free(held);
}

const struct held_files *
sample_held_files(const struct sample_held *held)
{
	return &held->files;
}

/* Whether two paths of links in /proc lead to the same. */
static bool
sample_held_is_same(const char *own, const char *other)
{
	struct stat a, b;

	/* Of a process that cannot be looked at, nothing can be opened. */
	return stat(own, &a) != 0 || stat(other, &b) != 0 ||
	    (a.st_ino == b.st_ino && a.st_dev == b.st_dev);
}

bool
sample_held_is_elsewhere(uint32_t pid)
{
	const long task = (long)task_of_process((pid_t)pid);
	char namespace[64], root[64];

	snprintf(namespace, sizeof namespace, "/proc/%ld/ns/mnt", task);
	snprintf(root, sizeof root, "/proc/%ld/root", task);
	return !sample_held_is_same("/proc/self/ns/mnt", namespace) ||
	    !sample_held_is_same("/", root);
}

bool
sample_held_has_moved(const struct memory_mapping *mapping)
{
	struct stat status;

	return mapping->inode != 0 && *mapping->path == '/' &&
	    (stat(mapping->path, &status) != 0 ||
	     status.st_ino != mapping->inode);
}

/* The file of a path if it has that number; -1 otherwise.  0: any has. */
static int
sample_held_try(const char *path, uint64_t inode)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (inode == 0 || status.st_ino == inode))
		return fd;
	close(fd);
	return -1;
}

/*
 * What is mapped there.  A file system in layers may give a file another number
 * than its mapping has: then the path has to do.
 */
static int
sample_held_open(uint32_t pid, const struct memory_mapping *mapping,
                 bool is_elsewhere)
{
	const long task = (long)task_of_process((pid_t)pid);
	char below[PATH_MAX + 64], link[96], program[64];
	int fd;

	snprintf(below, sizeof below, "/proc/%ld/root%s", task, mapping->path);
	snprintf(program, sizeof program, "/proc/%ld/exe", task);
	snprintf(link, sizeof link, "/proc/%ld/map_files/%" PRIx64 "-%" PRIx64,
	         task, mapping->start, mapping->limit);
	fd = sample_held_try(below, mapping->inode);
	if (fd < 0 && mapping->inode != 0)
		fd = sample_held_try(program, mapping->inode);
	if (fd < 0 && mapping->inode != 0)
		fd = sample_held_try(link, mapping->inode);
	if (fd < 0 && is_elsewhere)
		fd = sample_held_try(below, 0);
	return fd;
}

/* Keeps a file open, or closes it if it is held already; the number of it. */
static size_t
sample_held_keep(struct sample_held *held, int fd, const struct stat *status,
                 struct error *error)
{
	const size_t n = held->files.n;
	size_t i = 0;

	while (i < n && (held->ids[i].inode != status->st_ino ||
	                 held->ids[i].device != status->st_dev))
		i++;
	if (i < n || n == SAMPLE_HELD_MAX ||
	    memory_grow(&held->fds, &held->fds_capacity, n + 1,
	                sizeof *held->fds, error) != 0 ||
	    memory_grow(&held->ids, &held->ids_capacity, n + 1,
	                sizeof *held->ids, error) != 0) {
		close(fd);
		return i;
	}
	held->fds[n] = fd;
	held->ids[n] = (struct sample_held_id){ status->st_dev,
		status->st_ino };
	held->files = (struct held_files){ held->fds, n + 1 };
	return n;
}

/*
 * Keeps the separate debug file of a module open that only its process can reach.
 * When the module is named, it is found by its build-id.
 */
static void
sample_held_add_debug(struct sample_held *held, uint32_t pid, const char *path,
                      const char *held_path, struct error *error)
{
	char root[64];
	struct module_file module = { .path = path, .search.root = root };
	struct elf_file own, debug;
	struct stat status;
	unsigned char id[BUILD_ID_MAX];
	int fd;

	snprintf(root, sizeof root, "/proc/%ld/root",
	         (long)task_of_process((pid_t)pid));
	if (elf_file_open(&own, held_path) != ELF_FILE_OPEN)
		return;
	module.build_id = id;
	module.build_id_size = elf_file_build_id(&own, id);
	if (module.build_id_size > 0 &&
	    module_file_open_debug(&module, &own, &debug)) {
		fd = fcntl(debug.descriptor, F_DUPFD_CLOEXEC, 0);
		elf_file_close(&debug);
		if (fd >= 0 && fstat(fd, &status) == 0)
			sample_held_keep(held, fd, &status, error);
		else if (fd >= 0)
			close(fd);
	}
	elf_file_close(&own);
}

bool
sample_held_add(struct sample_held *held, uint32_t pid,
                const struct memory_mapping *mapping, bool is_elsewhere,
                struct stat *status, char path[SAMPLE_HELD_PATH],
                struct error *error)
{
	const int fd = *mapping->path == '/' ?
	    sample_held_open(pid, mapping, is_elsewhere) : -1;
	const size_t n_before = held->files.n;
	size_t number;

	if (fd < 0 || fstat(fd, status) != 0) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	number = sample_held_keep(held, fd, status, error);
	if (number >= held->files.n)
		return false;
	snprintf(path, SAMPLE_HELD_PATH, "/proc/self/fd/%d",
	         held->fds[number]);
	if (is_elsewhere && number == n_before)
		sample_held_add_debug(held, pid, mapping->path, path, error);
	return !error->is_set;
}
