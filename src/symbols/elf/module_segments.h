/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module_segments.h -- where the bytes of a module's file are in memory. */
#ifndef CPPROF_SYMBOLS_ELF_MODULE_SEGMENTS_H
#define CPPROF_SYMBOLS_ELF_MODULE_SEGMENTS_H

#include <stdint.h>

#include "src/symbols/elf/module_file.h"

/*
 * The virtual address, as module_symbols.h defines it, of the byte at an
 * offset of the module's file.  The offset itself where no segment that is
 * loaded holds it, and where there is no such file.
 */
uint64_t module_address_of_offset(const struct module_file *module,
                                  uint64_t offset);

#endif
