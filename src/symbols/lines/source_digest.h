/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source_digest.h -- the digest that debug information has of a source file.
 *
 * Line tables of DWARF 5 may have the MD5 of each file as it was compiled;
 * clang writes it.
 */
#ifndef CPPROF_SYMBOLS_LINES_SOURCE_DIGEST_H
#define CPPROF_SYMBOLS_LINES_SOURCE_DIGEST_H

#include <stdbool.h>

#include "src/base/md5.h"
#include "src/symbols/elf/module_file.h"

/*
 * Finds the MD5 of a source file by its path, as address_lines.h has it, in the
 * debug information of a module.  Reads the headers of the line tables, every
 * number checked; not if they are compressed.  Whether there is one.
 */
bool source_digest_find(const struct module_file *module, const char *path,
                        unsigned char digest[MD5_SIZE]);

#endif
