/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug_file.h -- the file that a stripped module's symbols were moved to. */
#ifndef CPPROF_SYMBOLS_ELF_DEBUG_FILE_H
#define CPPROF_SYMBOLS_ELF_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/symbols/elf/elf_file.h"

/* Where distributions install such files. */
#define DEBUG_DIRECTORY "/usr/lib/debug"

/* Where modules and their debug files are sought.  The texts are borrowed. */
struct symbol_search {
	const char *root;		/* a directory that holds a copy of
					 * another machine's files and is asked
					 * first; NULL: none */
	const char *debug_directory;	/* NULL: DEBUG_DIRECTORY */
	const char *held;		/* a module's file that may have been
					 * removed since; taken only where it
					 * is sure to be the build; NULL:
					 * none */
};

/*
 * Opens .build-id/xx/yyyy.debug below the debug directory (below the root's
 * first), which must carry that build-id.  Returns whether it did; *file is
 * then to be closed.
 */
bool debug_file_by_build_id(struct elf_file *file,
                            const struct symbol_search *search,
                            const unsigned char *id, size_t size);

/*
 * Opens the file that the module's .gnu_debuglink names, in the module's own
 * directory, in .debug below it, or in the debug directory's copy of the own
 * directory.  It is taken when its build-id is the module's, or, for a module
 * without build-id, when its CRC is the one in the link.  path: where the
 * module was opened from.
 * Source: gdb manual, "Debugging Information in Separate Files".
 */
bool debug_file_by_link(struct elf_file *file,
                        const struct symbol_search *search,
                        const struct elf_file *module, const char *path);

/*
 * Opens the file that several debug files share (dwz makes such), by its
 * build-id or else by name, absolute or from the directory of `file`, which
 * names it.
 */
bool debug_file_supplement(struct elf_file *supplement,
                           const struct symbol_search *search,
                           const struct elf_file *file, const char *name,
                           const unsigned char *id, size_t size);

#endif
