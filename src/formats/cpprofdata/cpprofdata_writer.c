/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_writer.c -- whether a recording is still being written.
 *
 * A process that was killed, or has executed another program, says no more
 * that it has ended.  But the one that writes a file has it mapped, which its
 * list of mappings tells.
 */
#include "src/formats/cpprofdata/cpprofdata_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool
cpprofdata_is_written_by(const char *path, uint64_t pid)
{
	char name[64], *line = NULL, *whole = realpath(path, NULL);
	bool is_mapped = false;
	size_t capacity = 0;
	ssize_t length;
	FILE *maps;

	snprintf(name, sizeof name, "/proc/%" PRIu64 "/maps", pid);
	maps = whole == NULL ? NULL : fopen(name, "re");
	while (maps != NULL && !is_mapped &&
	       (length = getline(&line, &capacity, maps)) > 0)
		is_mapped = names_path(line, (size_t)length, whole);
	if (maps != NULL)
		fclose(maps);
	free(line);
	free(whole);
	return is_mapped;
}
