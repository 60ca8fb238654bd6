/* SPDX-License-Identifier: MIT */
/* compact.h -- how most frames are left, in 64 bits.
 *
 * For x86-64; another machine has other kinds, and a compact-*.c of its own.
 */
#ifndef CPPROF_COMPACT_H
#define CPPROF_COMPACT_H

#include <stdint.h>

#include "dwarf/step.h"

/*
 * How a frame is left, for all but a few rows in ten thousand.  The CFA is the
 * value of rsp before the call.  The return address lies at CFA - 8.  rbp is
 * unchanged, or was saved at CFA + frame_offset.
 */
enum compact_kind {
	COMPACT_NONE,		/* no table covers the address */
	COMPACT_UNCALLED,	/* no call instruction precedes the address */
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
	uint64_t traits : 2;	/* TRAIT_* of the code */
	int64_t frame_offset : 26;
	int64_t cfa_offset : 31;
};

/*
 * The rule of a row at an address; of kind COMPACT_GENERIC if the row has no
 * compact form.  Async-signal-safe, any thread.
 */
struct compact_rule compact_row(const struct cfi_row *row, uint64_t address);

#endif
