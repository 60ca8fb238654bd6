/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_jit.c -- names of run-time generated code, from the files that a
 * process wrote.
 */
#include "src/formats/cpprofdata/cpprofdata_jit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/formats/cpprofdata/cpprofdata_waits.h"

enum { HOST_MAX = 256 };

static bool
is_of_this_machine(const struct cpprofdata_file *file)
{
	char own[HOST_MAX + 1] = "";
	size_t length;
	const char *host = cpprofdata_string(file, file->header.host, HOST_MAX,
	                                     &length);

	return gethostname(own, HOST_MAX) == 0 && length > 0 &&
	    strlen(own) == length && memcmp(own, host, length) == 0;
}

struct jit_map *
cpprofdata_jit_map(const struct cpprofdata_file *file, struct error *error)
{
	struct jit_process process = {
		.pid = file->header.pid,
		.begin_ns = file->header.start_ns,
		.end_ns = cpprofdata_find_end(file).utc_ns,
		/* Then nothing was written. */
		.owner = (uid_t)-1,
	};
	char *directory;
	struct jit_map *map;
	struct stat status;

	if (!is_of_this_machine(file) || stat(file->name, &status) != 0)
		process.begin_ns = UINT64_MAX / 2;
	else
		process.owner = status.st_uid;
	directory = cpprofdata_copy_string(file, file->header.directory,
	                                   error);
	if (directory == NULL)
		return NULL;
	if (directory[0] == '/')
		process.directory = directory;
	map = jit_map_of_process(&process, error);
	free(directory);
	return map;
}
