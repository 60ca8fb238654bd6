/* SPDX-License-Identifier: MIT */
/* trampoline-table.h -- where true return addresses are kept.
 *
 * Included by C, by assembly, and used in the expression of the stub's unwind
 * tables.
 */
#ifndef CPPROF_TRAMPOLINE_TABLE_H
#define CPPROF_TRAMPOLINE_TABLE_H

/*
 * A CFA's entry has index ((cfa ^ cfa >> 20) & KEY_MASK) / 8.  There is no
 * search, since expressions in unwind tables should not loop.
 */
#define TRAMPOLINE_ENTRIES 8192
#define TRAMPOLINE_KEY_MASK ((TRAMPOLINE_ENTRIES - 1) * 8)
#define TRAMPOLINE_RETURN_OFFSET 8

#ifndef __ASSEMBLER__

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum trampoline_state {
	TRAMPOLINE_EMPTY,
	TRAMPOLINE_SET,		/* the slot holds the stub, or did */
	TRAMPOLINE_FIRED,	/* the frame has returned or was skipped: no
				   copy of the stub's address is left */
	TRAMPOLINE_RESTORED,	/* the slot holds the true address again, but
				   someone may have read the stub's before */
	TRAMPOLINE_LOST		/* the slot was overwritten, or moved with its
				   stack, at an unknown time */
};

struct trampoline_entry {
	_Atomic uint64_t cfa;
	uint64_t true_return;
	struct unwinder *owner;
	uint32_t generation;	/* of the owner's stack */
	uint16_t state;
	_Atomic uint16_t is_locked;	/* must not be reused for another
					   slot */
};

_Static_assert(sizeof(struct trampoline_entry) == 32,
    "as the expression shifts");
_Static_assert(offsetof(struct trampoline_entry, true_return) ==
    TRAMPOLINE_RETURN_OFFSET, "as the expression adds");

extern struct trampoline_entry trampoline_table[TRAMPOLINE_ENTRIES]
    __attribute__((visibility("hidden")));

#endif
#endif
