/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_modules.c -- the modules of a collector's file. */
#include "src/formats/cpprofdata/cpprofdata_modules.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

static uint32_t
enter(const struct module *module, struct profile *profile,
      struct names *known, struct error *error)
{
	unsigned char build[MODULE_BUILD_MAX];
	size_t size = module_build(module, build);
	uint32_t number = profile->n_modules;

	if (known != NULL)
		number = names_add_pair(known, module->path,
		    strlen(module->path), build, size, error);
	if (number == NO_NAME || number < profile->n_modules)
		return number;
	if (profile_add_module(profile, module->path, module->build_id,
	                       module->build_id_size, error) == UINT32_MAX)
		return UINT32_MAX;
	profile->modules[number].file_size = module->file_size;
	profile->modules[number].file_mtime_ns = module->file_mtime_ns;
	return number;
}

uint32_t
cpprofdata_add_module(const struct cpprofdata_file *file, size_t offset,
                      struct profile *profile, struct names *known,
                      struct error *error)
{
	struct cpprofdata_module record;
	struct module module = { 0 };
	uint32_t number;
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
	number = enter(&module, profile, known, error);
	free(path);
	return number;
}
