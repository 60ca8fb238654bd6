/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_file.c -- the files that hold what is known of a module. */
#include "src/symbols/elf/module_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool
is_vdso(const char *path)
{
	return strcmp(path, "[vdso]") == 0 ||
	    strncmp(last_component(path), "linux-vdso",
	            strlen("linux-vdso")) == 0;
}

struct module_file
module_file_of(const struct module *module, struct symbol_search search)
{
	return (struct module_file){
		.path = module->path,
		.build_id = module->build_id,
		.build_id_size = module->build_id_size,
		.size = module->file_size,
		.mtime_ns = module->file_mtime_ns,
		.search = search,
	};
}

/* Whether an open file is the build, as far as that can be told. */
static bool
is_build(const struct module_file *module, const struct elf_file *file,
         bool is_copy)
{
	struct stat status;
	uint64_t mtime_ns;

	if (module->build_id_size > 0)
		return elf_file_has_build_id(file, module->build_id,
		                             module->build_id_size);
	if (module->size == 0 || file->descriptor < 0 ||
	    fstat(file->descriptor, &status) != 0)
		return true;
	mtime_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000 +
	    (uint64_t)status.st_mtim.tv_nsec;
	return module->size == (uint64_t)status.st_size &&
	    (is_copy || module->mtime_ns == mtime_ns);
}

/* What opening a file led to; it is closed again if it is another build. */
static enum module_file_state
check(const struct module_file *module, struct elf_file *file,
      enum elf_file_state state, bool is_copy)
{
	if (state == ELF_FILE_MISSING)
		return MODULE_FILE_MISSING;
	if (state == ELF_FILE_UNREADABLE)
		return MODULE_FILE_UNREADABLE;
	if (is_build(module, file, is_copy))
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
	return check(module, file, elf_file_open(file, path), true);
}

static bool
open_held(const struct module_file *module, struct elf_file *file)
{
	const char *held = module->search.held;

	return held != NULL &&
	    (module->build_id_size > 0 || module->size > 0) &&
	    check(module, file, elf_file_open(file, held), false) ==
	    MODULE_FILE_OPEN;
}

enum module_file_state
module_file_open(const struct module_file *module, struct elf_file *file)
{
	enum module_file_state first = MODULE_FILE_MISSING, state;

	if (is_vdso(module->path))
		return check(module, file, elf_file_open_own_vdso(file), true);
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
	state = *module->path == '/' ?
	    check(module, file, elf_file_open(file, module->path), false) :
	    MODULE_FILE_MISSING;
	if (state != MODULE_FILE_OPEN && open_held(module, file))
		return MODULE_FILE_OPEN;
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
