/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_file.h -- finds the files of a module: its own, and those of its debug
 * information.
 *
 * Files are untrusted, may be missing, and may have been rebuilt since the
 * profile was taken.  Only the build that was profiled is opened.
 */
#ifndef CPPROF_SYMBOLS_ELF_MODULE_FILE_H
#define CPPROF_SYMBOLS_ELF_MODULE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/profile/profile.h"
#include "src/symbols/elf/elf_file.h"

/* Where distributions install separate debug files. */
#define DEBUG_DIRECTORY "/usr/lib/debug"

/* Where to search.  The texts are borrowed. */
struct symbol_search {
	const char *root;		/* searched first: a directory with a
					 * copy of another machine's files;
					 * NULL: none */
	const char *debug_directory;	/* NULL: DEBUG_DIRECTORY */
	const char *held;		/* a module's file that may have been
					 * removed since; used only if it is
					 * certain to be the build; NULL:
					 * none */
};

/* What to find.  All texts are borrowed. */
struct module_file {
	const char *path;		/* where it was mapped from; "[vdso]" or
					 * linux-vdso*: the kernel's own */
	const unsigned char *build_id;	/* [build_id_size] */
	size_t build_id_size;		/* 0: unknown */
	/* Of the file, for want of a build-id; size 0: unknown, any will do.
	 * A copy below the root of the search may have another mtime. */
	uint64_t size, mtime_ns;
	struct symbol_search search;
};

/* The files of a profile's module, which is borrowed. */
struct module_file module_file_of(const struct module *module,
                                  struct symbol_search search);

enum module_file_state {
	MODULE_FILE_OPEN,
	MODULE_FILE_MISSING,
	MODULE_FILE_UNREADABLE,		/* no permission, or no ELF program */
	MODULE_FILE_DIFFERS,		/* not the build that was profiled */
};

/*
 * Opens the module's own file.  Tries the path below the root of the search,
 * then its last component there, then the path itself if it is absolute, then
 * the held file.  (A relative path could lead to a file next to the profile,
 * perhaps from the same archive.)  Only with MODULE_FILE_OPEN must *file be
 * closed; else the state is that of the file that was found first.
 */
enum module_file_state module_file_open(const struct module_file *module,
                                        struct elf_file *file);

/*
 * Opens the separate file that the module's symbols and debug information were
 * moved to: by build-id, .build-id/xx/yyyy.debug in the debug directory; or by
 * the .gnu_debuglink of `own`, in that file's directory, in .debug below it, or
 * in the debug directory's copy of it.  A file that was found by link must have
 * the module's build-id or, if the module has none, the link's CRC.
 *
 * own: the module's file, or NULL if it could not be opened.  Returns whether
 * the file was found; it must then be closed.
 * Source: gdb manual, "Debugging Information in Separate Files".
 */
bool module_file_open_debug(const struct module_file *module,
                            const struct elf_file *own,
                            struct elf_file *file);

/*
 * Opens the file that several debug files share (dwz makes such files): by its
 * build-id, or else by its name, which is absolute or starts from the directory
 * of the file that names it.  Returns likewise.
 */
bool module_file_open_supplement(const struct symbol_search *search,
                                 const struct elf_file *file,
                                 const char *name, const unsigned char *id,
                                 size_t id_size, struct elf_file *supplement);

/*
 * The virtual address, as module_symbols.h defines it, of the byte at an offset
 * of the module's own file.  The offset itself if no loaded segment has that
 * byte, or if there is no such file.
 */
uint64_t module_file_address(const struct module_file *module,
                             uint64_t offset);

#endif
