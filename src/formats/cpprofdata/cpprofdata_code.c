/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_code.c -- the code that a collector's file has addresses of: its
 * modules, and what the process generated at run time.
 */
#include "src/formats/cpprofdata/cpprofdata_internal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/formats/cpprofdata/cpprofdata_file.h"

enum { HOST_MAX = 256 };

uint32_t
cpprofdata_add_module(const struct cpprofdata_file *file, size_t offset,
                      struct profile *profile, struct names *known,
                      struct error *error)
{
	struct cpprofdata_module record;
	struct module module = { 0 };
	unsigned char build[MODULE_BUILD_MAX];
	uint32_t number = profile->n_modules;
	char *path;

	memcpy(&record, file->bytes + offset, sizeof record);
	path = cpprofdata_copy_string(file, le32toh(record.path), error);
	if (path == NULL)
		return UINT32_MAX;
	module.path = *path != '\0' ? path : "[unknown]";
	module.build_id_size = le32toh(record.build_id_size);
	if (module.build_id_size > sizeof module.build_id)
		module.build_id_size = 0;	/* only its beginning is known */
	memcpy(module.build_id, record.build_id, module.build_id_size);
	module.file_size = le64toh(record.file_size);
	module.file_mtime_ns = le64toh(record.file_mtime_ns);
	if (known != NULL) {
		size_t size = module_build(&module, build);

		number = names_add_pair(known, module.path,
		    strlen(module.path), build, size, error);
	}
	if (number == profile->n_modules) {
		number = profile_add_module(profile, module.path,
		    module.build_id, module.build_id_size, error);
		if (number != UINT32_MAX) {
			profile->modules[number].file_size = module.file_size;
			profile->modules[number].file_mtime_ns =
			    module.file_mtime_ns;
		}
	}
	free(path);
	return number;
}

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
