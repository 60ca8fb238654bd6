/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elf_file.h -- one ELF file, opened for its tables only.
 *
 * A file is read with pread where it is needed and never mapped, so that one
 * that shrinks meanwhile ends in a missing table and not in a signal.  What
 * libelf hands out lies within the file; numbers inside it are not checked.
 */
#ifndef CPPROF_SYMBOLS_ELF_ELF_FILE_H
#define CPPROF_SYMBOLS_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <gelf.h>

enum { BUILD_ID_MAX = 64 };	/* bytes; GNU ld writes 16 or 20 */

struct elf_file {
	Elf *elf;
	int descriptor;		/* -1: an image in memory */
};

enum elf_file_state {
	ELF_FILE_OPEN,
	ELF_FILE_MISSING,	/* there is nothing of that name */
	ELF_FILE_UNREADABLE,	/* no permission, no regular file, no ELF; or
				 * most of it is holes */
};

/*
 * Opens a program, a library or a file of their debug symbols.  Only with
 * ELF_FILE_OPEN is there something to close with elf_file_close.
 */
enum elf_file_state elf_file_open(struct elf_file *file, const char *path);

/* The same of any ELF file: what dwz makes calls itself relocatable. */
enum elf_file_state elf_file_open_any(struct elf_file *file,
                                      const char *path);

/* The vdso that the kernel mapped into this very process, likewise. */
enum elf_file_state elf_file_open_own_vdso(struct elf_file *file);

void elf_file_close(struct elf_file *file);

/* The first section of this name, or of this type; NULL: none. */
Elf_Scn *elf_file_named_section(const struct elf_file *file, const char *name,
                                GElf_Shdr *header);
Elf_Scn *elf_file_typed_section(const struct elf_file *file, GElf_Word type,
                                GElf_Shdr *header);

/*
 * The contents of a section, which live until elf_file_close; NULL where it
 * has none in this file or only compressed ones.
 */
Elf_Data *elf_file_contents(Elf_Scn *section);

/*
 * The build-id, from its section or the program's notes; 0: there is none.
 * id[BUILD_ID_MAX]; returns its size in bytes.
 */
size_t elf_file_build_id(const struct elf_file *file, unsigned char *id);

/* Whether the file has exactly this build-id. */
bool elf_file_has_build_id(const struct elf_file *file,
                           const unsigned char *id, size_t size);

#endif
