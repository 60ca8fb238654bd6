/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elf_file.h -- one ELF file, opened to read its tables.
 *
 * The file is read with pread where needed and never mapped, so that a file
 * that shrinks meanwhile leads to a missing table and not to a signal.  Data
 * from libelf lie within the file, but the numbers in them have not been
 * checked.
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
	ELF_FILE_MISSING,
	ELF_FILE_UNREADABLE,	/* no permission, no regular file, no ELF, or
				 * most of the file is holes */
};

/*
 * Opens a program, a library or a file of their debug symbols.  Only after
 * ELF_FILE_OPEN must it be closed with elf_file_close.
 */
enum elf_file_state elf_file_open(struct elf_file *file, const char *path);

/* The same for any ELF file: files that dwz makes are marked relocatable. */
enum elf_file_state elf_file_open_any(struct elf_file *file,
                                      const char *path);

/* The same for the vdso that the kernel mapped into this process. */
enum elf_file_state elf_file_open_own_vdso(struct elf_file *file);

void elf_file_close(struct elf_file *file);

/* The first section of this name, or of this type; NULL: none. */
Elf_Scn *elf_file_named_section(const struct elf_file *file, const char *name,
                                GElf_Shdr *header);
Elf_Scn *elf_file_typed_section(const struct elf_file *file, GElf_Word type,
                                GElf_Shdr *header);

/*
 * The contents of a section, valid until elf_file_close; NULL if the file does
 * not have them, or only compressed.
 */
Elf_Data *elf_file_contents(Elf_Scn *section);

/*
 * Copies the build-id, from its section or the program's notes, to
 * id[BUILD_ID_MAX].  Returns its size in bytes; 0: there is none.
 */
size_t elf_file_build_id(const struct elf_file *file, unsigned char *id);

/* Whether the file has exactly this build-id. */
bool elf_file_has_build_id(const struct elf_file *file,
                           const unsigned char *id, size_t size);

/*
 * A copy of the file in memory whose zstd-compressed sections are decompressed:
 * libelf can do that only from 0.189 on, and may be built without.  The bytes
 * are at *image, to be freed after elf_end.  NULL: there is no such section, or
 * it is damaged; only for 64-bit files in this machine's byte order.
 */
Elf *elf_file_decompress(const struct elf_file *file, char **image);

#endif
