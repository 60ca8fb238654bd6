/* SPDX-License-Identifier: MIT */
/* arch.h -- the registers of the processors whose stacks can be walked.
 *
 * This table is all that a walk knows of a processor.  Registers are numbered
 * as in unwind tables, which have a column for each.
 *
 * Sources: System V ABI for AMD64, 3.6.2; DWARF for the Arm 64-bit
 * Architecture, 4.1; linux, perf_regs.h and sigcontext.h in
 * arch/{x86,arm64}/include/uapi/asm.
 */
#ifndef CPPROF_DWARF_ARCH_H
#define CPPROF_DWARF_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	X86_64_RAX, X86_64_RDX, X86_64_RCX, X86_64_RBX,
	X86_64_RSI, X86_64_RDI, X86_64_RBP, X86_64_RSP,
	X86_64_R8, X86_64_R9, X86_64_R10, X86_64_R11,
	X86_64_R12, X86_64_R13, X86_64_R14, X86_64_R15,
	X86_64_RIP,		/* "return address" */
	X86_64_REGISTERS,
};

enum {			/* x0 to x30 are 0 to 30 */
	AARCH64_X29 = 29,	/* frame pointer */
	AARCH64_X30,		/* return address */
	AARCH64_SP,
	AARCH64_PC,
	AARCH64_REGISTERS,
};

/*
 * Room for the registers of any of them.  A program that walks only stacks of
 * one processor may be compiled with less.
 */
#ifndef DWARF_REGISTERS
#define DWARF_REGISTERS 33
#endif

struct dwarf_arch {
	uint16_t elf_machine;	/* e_machine */
	uint8_t n_registers;
	uint8_t pc, sp, fp;
	/*
	 * The column of return addresses: the pc's where a call pushes them;
	 * else that of the register that a call puts them into.
	 */
	uint8_t return_address;
	/* The bits of a return address; the others may sign it. */
	uint64_t address_mask;
	/*
	 * Frame pointers point to the caller's frame pointer, and after it the
	 * return address.  Whether the caller's stack begins right after these.
	 */
	bool record_ends_frame;

	/*
	 * Registers as perf events number them: the set of those that have a
	 * column, and what it is; those that a walk needs; and others that a
	 * sample may have.
	 */
	uint64_t perf_registers, perf_needed, perf_others;
	uint8_t perf_columns[33];

	/*
	 * The code that a signal handler returns to, which calls rt_sigreturn,
	 * and where the registers lie from the stack pointer on.  Whether the
	 * kernel has such code in the vdso.
	 */
	const char *sigreturn;
	uint8_t sigreturn_size;
	bool is_sigreturn_in_vdso;
	uint16_t sigreturn_at[33];
};

extern const struct dwarf_arch dwarf_x86_64, dwarf_aarch64;

/* This program's own. */
#if defined __x86_64__
#define DWARF_OWN_ARCH (&dwarf_x86_64)
#elif defined __aarch64__
#define DWARF_OWN_ARCH (&dwarf_aarch64)
#else
#error "the registers of this processor are not known"
#endif

/* By e_machine, or by a set of perf's registers.  NULL: unknown. */
const struct dwarf_arch *dwarf_arch_of_machine(unsigned elf_machine);
const struct dwarf_arch *dwarf_arch_of_perf(uint64_t registers);

#endif
