/* SPDX-License-Identifier: MIT */
/* kernel-modules.c -- where the kernel and its modules are.
 *
 * A process cannot ask the kernel cheaply, and after it has become another user
 * not at all.  So `record` writes the list when the recording begins.  A module
 * that is loaded later is not known.
 */
#include "lib/store/thread-file.h"

#include <string.h>

#include "lib/base/attributes.h"
#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/cpprof-shared.h"

static const struct cpprof_kernel_module *list;
static size_t n_modules;
static bool is_read;

static bool
kernel_module_is_valid(const struct cpprof_kernel_module *module,
    uint64_t after)
{
	return module->start >> 63 != 0 && module->start >= after &&
	    module->end > module->start &&
	    module->build_id_size <= sizeof module->build_id &&
	    memchr(module->path, '\0', sizeof module->path) != NULL;
}

/* How many of the list's first modules are valid. */
static size_t
kernel_modules_count(const struct cpprof_kernel_module *modules, size_t n)
{
	uint64_t after = 0;
	size_t i;

	for (i = 0; i < n && kernel_module_is_valid(&modules[i], after); i++)
		after = modules[i].start + 1;
	return i;
}

/* Read into memory, since somebody may truncate the file. */
static void
kernel_modules_read_file(int fd)
{
	const size_t most = CPPROF_KERNEL_MODULES * sizeof *list;
	struct cpprof_kernel_module *modules;
	struct stat status;
	ssize_t size;

	if (files_status(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_size <= 0 || (uint64_t)status.st_size > most)
		return;
	modules = files_map((size_t)status.st_size, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1);
	if (modules == MAP_FAILED)
		return;
	size = files_read(fd, modules, (size_t)status.st_size);
	n_modules = size <= 0 ? 0 : kernel_modules_count(modules,
	    (size_t)size / sizeof *modules);
	list = modules;
}

bool
kernel_modules_read(void)
{
	static char path[PATH_MAX] BIG_TABLE;
	int fd;

	if (is_read)
		return n_modules > 0;
	is_read = true;
	if (process.reads_no_files || strlen(process.output) +
	    sizeof "/" CPPROF_KERNEL_FILE > sizeof path)
		return false;
	stpcpy(stpcpy(path, process.output), "/" CPPROF_KERNEL_FILE);
	fd = files_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	kernel_modules_read_file(fd);
	files_close(fd);
	return n_modules > 0;
}

/* The kernel's own range may contain those of modules. */
struct kernel_range
kernel_modules_find(uint64_t address)
{
	struct kernel_range range = { .end = UINT64_MAX };
	size_t from = 0, to = n_modules, i;

	/* The first module that begins behind the address. */
	while (from < to) {
		i = from + (to - from) / 2;
		if (list[i].start <= address)
			from = i + 1;
		else
			to = i;
	}
	if (from < n_modules)
		range.end = list[from].start;
	for (i = from; i > 0 && range.module == NULL; i = i > 1 ? 1 : 0) {
		const struct cpprof_kernel_module *module = &list[i - 1];

		if (address < module->end) {
			range.module = module;
			if (module->end < range.end)
				range.end = module->end;
			if (module->start > range.start)
				range.start = module->start;
		} else if (module->end > range.start) {
			range.start = module->end;
		}
	}
	return range;
}
