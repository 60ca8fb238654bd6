/* SPDX-License-Identifier: GPL-3.0-or-later */
/* named_file.c -- opens a file because a profile names it.
 *
 * The path is opened twice.  The first descriptor (O_PATH) only says what the
 * file is, without opening it.  The second must be of the same file: another
 * one may have taken its place in the meantime.
 */
#include "src/base/named_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef CONFIGFS_MAGIC
#define CONFIGFS_MAGIC 0x62656570	/* in no header */
#endif

/* Whether the kernel makes up the contents of the file's file system. */
static bool
is_of_kernel(int descriptor)
{
	static const unsigned long kinds[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
		SECURITYFS_MAGIC, SELINUX_MAGIC, CGROUP_SUPER_MAGIC,
		CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC, PSTOREFS_MAGIC,
		EFIVARFS_MAGIC, DEVPTS_SUPER_MAGIC, RDTGROUP_SUPER_MAGIC,
		BINFMTFS_MAGIC, CONFIGFS_MAGIC,
	};
	struct statfs status;

	if (fstatfs(descriptor, &status) != 0)
		return true;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if ((unsigned long)status.f_type == kinds[i])
			return true;
	return false;
}

static enum named_file_state
named_file_failed(int number)
{
	switch (number) {
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
		return NAMED_FILE_MISSING;
	case EACCES:
	case EPERM:
		return NAMED_FILE_FORBIDDEN;
	case ELOOP:
		return NAMED_FILE_IS_LINK;
	default:
		return NAMED_FILE_OTHER;
	}
}

enum named_file_state
named_file_open(const char *path, int more_flags, int *descriptor,
                struct stat *status)
{
	const int place = open(path, O_PATH | O_CLOEXEC | more_flags);
	struct stat first = { 0 }, second;
	int number;

	*descriptor = -1;
	if (place < 0)
		return named_file_failed(errno);
	if (fstat(place, &first) != 0 || !S_ISREG(first.st_mode) ||
	    is_of_kernel(place)) {
		close(place);
		return S_ISLNK(first.st_mode) ? NAMED_FILE_IS_LINK :
		    NAMED_FILE_OTHER;
	}
	*descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
	                   more_flags);
	number = errno;
	close(place);
	if (*descriptor < 0)
		return named_file_failed(number);
	if (fstat(*descriptor, &second) == 0 &&
	    first.st_dev == second.st_dev && first.st_ino == second.st_ino) {
		if (status != NULL)
			*status = second;
		return NAMED_FILE_OPEN;
	}
	close(*descriptor);
	*descriptor = -1;
	return NAMED_FILE_OTHER;
}

bool
named_file_real_path(int descriptor, char path[PATH_MAX])
{
	char link[40];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
	n = readlink(link, path, PATH_MAX - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return path[0] == '/';
}

bool
named_file_is_below(const char *real_path, const char *directory)
{
	char *real = realpath(directory, NULL);
	const size_t n = real != NULL ? strlen(real) : 0;
	const bool is_below = n > 1 && strncmp(real_path, real, n) == 0 &&
	    real_path[n] == '/';

	free(real);
	return is_below;
}
