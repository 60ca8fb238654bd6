/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_symbols.h -- names for the kernel's own addresses. */
#ifndef CPPROF_SYMBOLS_ELF_KERNEL_SYMBOLS_H
#define CPPROF_SYMBOLS_ELF_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/symbols/elf/module_file.h"
#include "src/symbols/elf/symbol_table.h"

/*
 * The module's path that stands for the kernel, its modules included.  Since
 * it is loaded elsewhere at each boot, its addresses count from its symbol
 * _text on.
 */
#define KERNEL_PATH "[kernel]"

bool is_kernel_path(const char *path);

/*
 * Whether the path is one that stands for a module that the kernel has loaded,
 * "[ext4]".  Its addresses count from where it was loaded on.
 */
bool is_kernel_module_path(const char *path);

/*
 * Enters the functions of the kernel or of its module: from proc/kallsyms below
 * the root of the search, which is taken as it is, or else from this machine's
 * /proc/kallsyms, if the kernel that runs, or its module, has the module's
 * build-id and shows addresses, which it does to root only.  Where a module was
 * loaded stands in proc/modules beside.  0 with *state, or -1 with *error set
 * for want of memory.
 */
int kernel_symbols_add(struct symbol_table *table,
                       const struct module_file *module,
                       enum module_file_state *state, struct error *error);

/*
 * The build-id of the kernel that runs, if it is of this release ("6.1.0-18");
 * id[max]; how many bytes it has, 0 where it is another or not known.
 */
size_t kernel_build_id(const char *release, unsigned char *id, size_t max);

#endif
