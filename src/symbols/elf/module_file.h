/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_file.h -- the files that hold what is known of a module.
 *
 * Files are untrusted, may be absent, and may have been rebuilt since the
 * profile was taken: only the build that was profiled is opened.
 */
#ifndef CPPROF_SYMBOLS_ELF_MODULE_FILE_H
#define CPPROF_SYMBOLS_ELF_MODULE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/profile/profile.h"
#include "src/symbols/elf/debug_file.h"
#include "src/symbols/elf/elf_file.h"

/* What is sought.  All texts are borrowed. */
struct module_file {
	const char *path;		/* where it was mapped from; "[vdso]" or
					 * linux-vdso*: the kernel's own */
	const unsigned char *build_id;	/* [build_id_size] */
	size_t build_id_size;		/* 0: unknown */
	uint64_t size;			/* of the file, where there is no
					 * build-id; 0: unknown, any will do */
	uint64_t mtime_ns;		/* likewise; a copy below the root of the
					 * search may have another */
	struct symbol_search search;
};

/* The files of a module, which is borrowed. */
struct module_file module_file_of(const struct module *module,
                                  struct symbol_search search);

enum module_file_state {
	MODULE_FILE_OPEN,
	MODULE_FILE_MISSING,
	MODULE_FILE_UNREADABLE,		/* no permission, or no ELF program */
	MODULE_FILE_DIFFERS,		/* not the build that was profiled */
};

/*
 * Opens the module's own file: below the root of the search the path, then its
 * last component; then the path itself, if it is absolute; then the file that
 * is held.  A relative path would lead to what lies next to whoever looks at
 * the profile, perhaps in the archive that it came in.  Only with
 * MODULE_FILE_OPEN is there something to close; otherwise the state is that of
 * the file found first.
 */
enum module_file_state module_file_open(const struct module_file *module,
                                        struct elf_file *file);

/*
 * Opens the file that the module's symbols and debug information were moved
 * to, by build-id or by the link in own, the module's file or NULL where that
 * could not be opened.  Returns whether it did; *file is then to be closed.
 */
bool module_file_open_debug(const struct module_file *module,
                            const struct elf_file *own,
                            struct elf_file *file);

#endif
