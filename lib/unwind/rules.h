/* SPDX-License-Identifier: MIT */
/* rules.h -- how to get from the frame at an address to its caller, cached.
 *
 * All threads share the cache without locks.  An entry consists of two words,
 * each stored atomically: the rule, and the rule XOR the key.  A reader that
 * combines words of two different stores gets a wrong key and so a miss.  The
 * key is the address and the epoch, times an odd number.  The epoch empties the
 * cache at once when code is unloaded.  The multiplication keeps differences of
 * a bit or two in rules and addresses from cancelling out.
 *
 * All functions: async-signal-safe, any thread, with a scratch of its own.
 */
#ifndef CPPROF_RULES_H
#define CPPROF_RULES_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dwarf/cfi.h"
#include "dwarf/step.h"
#include "lib/base/readable.h"

/* ---- compact ---- */

/*
 * How most frames are left, in 64 bits.
 *
 * For x86-64; another machine has other kinds, and a compact-*.c of its own.
 */

/*
 * How a frame is left, for all but a few rows in ten thousand.  The CFA is the
 * value of rsp before the call.  The return address lies at CFA - 8.  rbp is
 * unchanged, or was saved at CFA + frame_offset.
 */
enum compact_kind {
	COMPACT_NONE,		/* no table covers the address */
	COMPACT_UNCALLED,	/* no call instruction precedes the address */
	/*
	 * No table covers it, but `record` knows its code (tableless.c).  If
	 * the frame pointer is saved at offset 0, it is lost.
	 */
	COMPACT_CODE_UNKNOWN,	/* but does not tell */
	COMPACT_CODE_OTHER,	/* left as no rule here can say */
	COMPACT_CODE_END,	/* outermost frame */
	COMPACT_CODE_STACK,	/* CFA = rsp + cfa_offset */
	COMPACT_CODE_FRAME,	/* CFA = rbp + cfa_offset */
	COMPACT_BAD,		/* its table is not understood */
	COMPACT_GENERIC,	/* needs the whole row */
	COMPACT_SIGNAL,		/* signal trampoline: needs the whole row */
	COMPACT_END,		/* outermost frame */
	COMPACT_STACK,		/* CFA = rsp + cfa_offset */
	COMPACT_FRAME,		/* CFA = rbp + cfa_offset */
	COMPACT_STACK_LOAD,	/* CFA = *(rsp + cfa_offset) */
	COMPACT_FRAME_LOAD	/* CFA = *(rbp + cfa_offset) */
};

struct compact_rule {
	uint64_t kind : 4;
	uint64_t saves_frame : 1;
	uint64_t traits : 2;	/* TRAIT_* of the code; or TABLELESS_PROVED */
	int64_t frame_offset : 26;
	int64_t cfa_offset : 31;
};

/*
 * The rule of a row at an address; of kind COMPACT_GENERIC if the row has no
 * compact form.  Async-signal-safe, any thread.
 */
struct compact_rule compact_row(const struct cfi_row *row, uint64_t address);

/* ---- tables.c ---- */

/*
 * The unwind tables of the modules in this process, by address.
 *
 * Reads .eh_frame in place, through the index of .eh_frame_hdr, when an address
 * is first seen.  Nothing is built beforehand and nothing is allocated.
 * Source: LSB 5.0 core, 10.6.2.
 *
 * All functions: async-signal-safe, any thread, with a scratch of its own.
 */

/* Prefetches what tables_find needs first for that address. */
void tables_prefetch(uint64_t address, const struct cfi_scratch *scratch);

/*
 * Sets scratch->row, row_start and row_end for an address, which lies in
 * `object` and inside the instruction (for callers, the return address minus
 * 1).
 */
enum cfi_result tables_find(uint64_t address,
    const struct dl_find_object *object, struct cfi_scratch *scratch);

/* How many functions of an object have tables. */
size_t tables_count(const struct dl_find_object *object);

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

/* ---- tableless.c ---- */

/*
 * Rules for code that no table covers, which `record` makes by reading it.
 *
 * All functions: async-signal-safe, any thread.
 */

#define TABLELESS_PROVED 1u	/* the rule is from a table that is not loaded */

/*
 * The rule for an address in `object`: of kind COMPACT_CODE_*, or COMPACT_NONE
 * if `record` has not answered, or not yet.
 */
struct compact_rule tableless_find(uint64_t address,
    const struct dl_find_object *object);

enum tableless_answer {
	TABLELESS_NO,
	TABLELESS_UNKNOWN,	/* its code was not read, or not understood */
	TABLELESS_YES
};

/*
 * Whether the call before a return address may lead to `callee`, an address in
 * code without tables.  TABLELESS_YES also if there is no call of a known target.
 * On the thread of `readable`.
 */
enum tableless_answer tableless_is_called(struct readable *readable,
    uint64_t return_address, uint64_t callee);

/* ---- rules.c ---- */

#define RULES_SET_BITS 11	/* sets of one cache line each */
#define RULES_WAYS 4

struct rules_entry {
	_Atomic uint64_t check, rule;
};

extern struct rules_set {
	_Alignas(64) struct rules_entry ways[RULES_WAYS];
} rules_cache[1u << RULES_SET_BITS];

/* Finds a rule that is not in its set, and inserts it. */
struct compact_rule rules_look_up(struct cfi_scratch *scratch,
    uint64_t address, uint64_t key, struct rules_set *set);

/* Set in an address that is a return address minus 1. */
#define RULES_RETURN ((uint64_t)1 << 47)

static inline uint64_t
rules_key(uint64_t address)
{
	return (address ^ atomic_load_explicit(&tables_epoch,
	    memory_order_relaxed) << 48) * 0x9e3779b97f4a7c15u;
}

static inline struct rules_set *
rules_set_of(uint64_t key)
{
	return &rules_cache[key >> (64 - RULES_SET_BITS) &
	    atomic_load_explicit(&tables_lines, memory_order_relaxed)];
}

/* Prefetches the set of the rule at an address. */
static inline void
rules_prefetch(uint64_t address)
{
	__builtin_prefetch(rules_set_of(rules_key(address)));
}

/*
 * The rule at an address; COMPACT_NONE if no table covers it.  With
 * RULES_RETURN, COMPACT_UNCALLED if no call instruction ends right after the
 * address.
 */
static inline struct compact_rule
rules_find(struct cfi_scratch *scratch, uint64_t address)
{
	const uint64_t key = rules_key(address);
	struct rules_set *set = rules_set_of(key);
	struct compact_rule rule;
	uint64_t word;
	unsigned i;

	_Static_assert(sizeof rule == sizeof word, "a rule is one word");
	for (i = 0; i < RULES_WAYS; i++) {
		word = atomic_load_explicit(&set->ways[i].rule,
		    memory_order_relaxed);
		if ((atomic_load_explicit(&set->ways[i].check,
		    memory_order_relaxed) ^ word) != key)
			continue;
		memcpy(&rule, &word, sizeof rule);
		return rule;
	}
	return rules_look_up(scratch, address, key, set);
}

/* ---- mappings.c ---- */

/*
 * Code that the program itself has mapped from files.
 *
 * The loader does not know it.  node, for example, maps the functions of V8 a
 * second time from its own file, near the code that it compiles; and programs
 * have loaders of their own.
 *
 * All functions: async-signal-safe, any thread.
 */

#define MAPPINGS_MAX_BUILD_ID 32

/* A file that is mapped but that the loader has not loaded.  Never changes. */
struct mapped_file {
	char path[4096];
	uint64_t size, mtime_ns, inode;
	unsigned char build_id[MAPPINGS_MAX_BUILD_ID];
	size_t build_id_size;		/* 0: none */
};

/*
 * Finds the GNU build-id in an ELF file's notes.  Returns its size; 0: there is
 * none.
 */
size_t mappings_find_build_id(const unsigned char *notes, size_t size,
    const unsigned char **build_id);

/*
 * Executable memory, [start, end).  `object` is what the loader says of the
 * same code: address + to_object is the address of the same instruction there.
 * If the loader has not loaded the file, `object` has only its unwind tables
 * (a copy; NULL: none), and address + to_file is the address in the ELF file.
 */
struct mapping {
	uint64_t start, end;
	uint64_t to_object;
	struct dl_find_object object;
	const struct mapped_file *file;	/* NULL: loaded by the loader */
	uint64_t to_file;
};

/*
 * Finds the mapping of a file that contains an address unknown to the loader.
 * False if there is none: code that was made at run time.  Reads the process's
 * list of mappings now and then, for at most about one percent of the time.
 */
bool mappings_find(uint64_t address, struct mapping *mapping);

/*
 * Whether an address lies in accessible memory that is not mapped from a file.
 * Reads the list of mappings, which takes a microsecond for each.  True if it
 * cannot be read.  Not from a handler.
 */
bool mappings_is_memory(uint64_t address);

/*
 * As _dl_find_object, but also finds such mappings.  Then *shift is what to add
 * to the address for the object's tables, otherwise 0.
 */
bool mappings_find_object(uint64_t address, struct dl_find_object *object,
    uint64_t *shift);

#endif
