/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elf_zstd.h -- ELF files whose sections zstd has compressed.
 *
 * libelf before 0.189 knows zlib alone, and later ones may have been built so.
 */
#ifndef CPPROF_SYMBOLS_ELF_ELF_ZSTD_H
#define CPPROF_SYMBOLS_ELF_ELF_ZSTD_H

#include "src/symbols/elf/elf_file.h"

/*
 * The same file in memory, with these sections unpacked: *image, which must be
 * freed after elf_end.  NULL where it has none, or where it makes no sense; for
 * files of 64 bits in this machine's byte order.
 */
Elf *unpacked_elf_begin(const struct elf_file *file, char **image);

#endif
