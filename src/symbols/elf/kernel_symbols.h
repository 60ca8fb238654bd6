/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_symbols.h -- adds the kernel's symbols to a symbol table. */
#ifndef CPPROF_SYMBOLS_ELF_KERNEL_SYMBOLS_H
#define CPPROF_SYMBOLS_ELF_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/symbols/elf/module_file.h"
#include "src/symbols/elf/symbol_table.h"

/*
 * The path that stands for the kernel.  Since the kernel is loaded at another
 * address with each boot, its addresses here count from its symbol _text.
 */
#define KERNEL_PATH "[kernel]"

bool is_kernel_path(const char *path);

/*
 * Whether the path stands for a loaded module of the kernel, "[ext4]".
 * Addresses in it count from where it was loaded.
 */
bool is_kernel_module_path(const char *path);

/*
 * Adds the functions of the kernel or of one of its modules, from proc/kallsyms
 * below the root of the search, which is trusted to be the right one; or else
 * from this machine's /proc/kallsyms, if the running kernel or its module has
 * the build-id.  (The kernel shows addresses only to root.)  proc/modules next
 * to it says where a module was loaded.  0 with *state, or -1 with *error set
 * for want of memory.
 */
int kernel_symbols_add(struct symbol_table *table,
                       const struct module_file *module,
                       enum module_file_state *state, struct error *error);

/*
 * The build-id of the running kernel, if its release is this one ("6.1.0-18")
 * or release is NULL.  Copies it to id[max] and returns its size in bytes; 0:
 * another release, or unknown.
 */
size_t kernel_build_id(const char *release, unsigned char *id, size_t max);

#endif
