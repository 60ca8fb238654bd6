/* SPDX-License-Identifier: MIT */
/* arch-x86_64.h -- x86-64: registers and the compact rule; see arch.h. */
#ifndef CPPROF_ARCH_X86_64_H
#define CPPROF_ARCH_X86_64_H

#include <stdint.h>

#define ARCH_ELF_MACHINE 62
#define ARCH_N_REGISTERS 17	/* rax rdx rcx rbx rsi rdi rbp rsp r8-r15 rip */
#define ARCH_FRAME 6
#define ARCH_STACK 7
#define ARCH_RETURN 16
/* rbx, rbp, r12-r15 (psABI 3.2.1); rsp follows from the frame */
#define ARCH_PRESERVED ((1u << 3) | (1u << 6) | 0xf000u)

/*
 * How a frame is left, for all but a few rows in ten thousand.  CFA is the
 * value of rsp before the call; the return address lies at CFA - 8, and rbp
 * is unchanged or was saved at CFA + frame_offset.
 */
enum compact_kind {
	COMPACT_NONE,		/* no table covers the address */
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
	int64_t frame_offset : 27;
	int64_t cfa_offset : 32;
};

#endif
