/* SPDX-License-Identifier: MIT */
/* tables.h -- the unwind tables of the modules in this process, by address.
 *
 * Reads .eh_frame in place, through the index of .eh_frame_hdr, when an address
 * is first seen.  Nothing is built beforehand and nothing is allocated.
 * Source: LSB 5.0 core, 10.6.2.
 *
 * All functions: async-signal-safe, any thread, with a scratch of its own.
 */
#ifndef CPPROF_UNWIND_TABLES_H
#define CPPROF_UNWIND_TABLES_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>

#include "dwarf/cfi.h"

/* Prefetches what tables_find needs first for that address. */
void tables_prefetch(uint64_t address, const struct cfi_scratch *scratch);

/*
 * Sets scratch->row, row_start and row_end for an address, which lies in
 * `object` and inside the instruction (for callers, the return address minus
 * 1).
 */
enum cfi_result tables_find(uint64_t address,
    const struct dl_find_object *object, struct cfi_scratch *scratch);

/* To be called after code was unmapped: forgets all CIEs read before. */
void tables_new_epoch(void);

/*
 * The number of those calls so far.  Whatever is cached about code must be
 * cached together with the epoch.
 */
extern _Atomic uint64_t tables_epoch;

/*
 * Which lines of a cache are used, of all that a hash may choose: a process
 * that takes a sample or two touches one page of each, and one that takes many
 * all of them.
 */
#define TABLES_FEW_LINES 63	/* a page less one */
extern _Atomic uint64_t tables_lines;

#endif
