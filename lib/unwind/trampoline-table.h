/* SPDX-License-Identifier: MIT */
/* trampoline-table.h -- where true return addresses are kept, for C, assembly
 * and the expression in the stub's unwind tables. */
#ifndef CPPROF_TRAMPOLINE_TABLE_H
#define CPPROF_TRAMPOLINE_TABLE_H

/*
 * A CFA's entry is the ((cfa ^ cfa >> 20) & KEY_MASK) / 8th: no search, since
 * unwind tables cannot loop well.
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
	TRAMPOLINE_FIRED,	/* the frame has returned, or gone on without:
				   no copy is left */
	TRAMPOLINE_RESTORED,	/* the slot holds the truth again, but the
				   stub may have been read from it */
	TRAMPOLINE_LOST		/* the slot was overwritten, or moved away
				   with its stack, nobody knows when */
};

struct trampoline_entry {
	_Atomic uint64_t cfa;
	uint64_t true_return;
	struct unwinder *owner;
	uint32_t generation;	/* of the owner's stack */
	uint16_t state;
	_Atomic uint16_t is_locked;	/* may not become another slot's */
};

_Static_assert(sizeof(struct trampoline_entry) == 32,
    "as the expression shifts");
_Static_assert(offsetof(struct trampoline_entry, true_return) ==
    TRAMPOLINE_RETURN_OFFSET, "as the expression adds");

extern struct trampoline_entry trampoline_table[TRAMPOLINE_ENTRIES]
    __attribute__((visibility("hidden")));

#endif
#endif
