/* SPDX-License-Identifier: GPL-3.0-or-later */
/* earlier.c -- numbers the earlier recordings of a program. */
#include "src/shell/record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char suffix[] = ".cpprof";

size_t
earlier_name(const char *name, unsigned n, char *text, size_t size)
{
	int stem = (int)(strlen(name) - (sizeof suffix - 1));
	int written = n == 0 ? snprintf(text, size, "%s", name) :
	    snprintf(text, size, "%.*s.%u%s", stem, name, n, suffix);

	return written < 0 ? size : (size_t)written;
}

int
earlier_rename(const char *from, const char *to)
{
	struct stat status;

	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	/* Some file systems do not support RENAME_NOREPLACE. */
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (lstat(to, &status) == 0)
		return EEXIST;
	return rename(from, to) == 0 ? 0 : errno;
}

/* The n-th name to the one numbered m; 0, or an errno. */
static int
renumber(const char *name, unsigned n, unsigned m)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (earlier_name(name, n, from, sizeof from) >= sizeof from ||
	    earlier_name(name, m, to, sizeof to) >= sizeof to)
		return ENAMETOOLONG;
	return earlier_rename(from, to);
}

unsigned
earlier_move(const char *name, struct error *error)
{
	char text[PATH_MAX];
	struct stat taken;
	unsigned n = 0;
	int status = 0;

	/* The first number that no file has. */
	do
		if (++n == UINT_MAX ||
		    earlier_name(name, n, text, sizeof text) >= sizeof text)
			status = ENAMETOOLONG;
	while (status == 0 && lstat(text, &taken) == 0);
	for (unsigned i = n; status == 0 && i > 0; i--) {
		status = renumber(name, i - 1, i);
		for (unsigned k = i + 1; status != 0 && k <= n; k++)
			renumber(name, k, k - 1);
	}
	if (status == 0)
		return n;
	error_set(error, "%s: cannot rename the earlier recording: %s; "
	          "choose another directory with -o", name, strerror(status));
	return 0;
}

void
earlier_move_back(const char *name, unsigned n)
{
	for (unsigned i = 1; i <= n; i++)
		if (renumber(name, i, i - 1) != 0)
			break;
}
