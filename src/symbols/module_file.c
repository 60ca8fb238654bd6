/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_file.c -- the files that hold what is known of a module. */
#include "src/symbols/module_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "src/profile/profile.h"

static bool
is_vdso(const char *path)
{
	return strcmp(path, "[vdso]") == 0 ||
	    strncmp(last_component(path), "linux-vdso",
	            strlen("linux-vdso")) == 0;
}

/* What opening a file led to; it is closed again if it is another build. */
static enum module_file_state
check(const struct module_file *module, struct elf_file *file,
      enum elf_file_state state)
{
	if (state == ELF_FILE_MISSING)
		return MODULE_FILE_MISSING;
	if (state == ELF_FILE_UNREADABLE)
		return MODULE_FILE_UNREADABLE;
	if (module->build_id_size == 0 || elf_file_has_build_id(file,
	        module->build_id, module->build_id_size))
		return MODULE_FILE_OPEN;
	elf_file_close(file);
	return MODULE_FILE_DIFFERS;
}

static enum module_file_state
open_below(const struct module_file *module, const char *name,
           struct elf_file *file)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof path, "%s/%s", module->search.root,
	                      name);

	if (length < 0 || length >= (int)sizeof path)
		return MODULE_FILE_MISSING;
	return check(module, file, elf_file_open(file, path));
}

enum module_file_state
module_file_open(const struct module_file *module, struct elf_file *file)
{
	enum module_file_state first = MODULE_FILE_MISSING, state;

	if (is_vdso(module->path))
		return check(module, file, elf_file_open_own_vdso(file));
	if (module->search.root != NULL) {
		first = open_below(module, module->path, file);
		if (first == MODULE_FILE_OPEN)
			return first;
		state = open_below(module, last_component(module->path), file);
		if (state == MODULE_FILE_OPEN)
			return state;
		if (first == MODULE_FILE_MISSING)
			first = state;
	}
	state = check(module, file, elf_file_open(file, module->path));
	return state == MODULE_FILE_OPEN || first == MODULE_FILE_MISSING ?
	    state : first;
}

/* The directory of the file that is open tells where the link leads. */
static bool
open_by_link(const struct module_file *module, const struct elf_file *own,
             struct elf_file *file)
{
	char path[40];

	if (own->descriptor < 0)
		return false;
	snprintf(path, sizeof path, "/proc/self/fd/%d", own->descriptor);
	return debug_file_by_link(file, &module->search, own, path);
}

bool
module_file_open_debug(const struct module_file *module,
                       const struct elf_file *own, struct elf_file *file)
{
	unsigned char id[BUILD_ID_MAX];
	const unsigned char *wanted = module->build_id;
	size_t size = module->build_id_size;

	if (size == 0 && own != NULL) {
		size = elf_file_build_id(own, id);
		wanted = id;
	}
	return debug_file_by_build_id(file, &module->search, wanted, size) ||
	    (own != NULL && open_by_link(module, own, file));
}
