/* SPDX-License-Identifier: MIT */
/* arch.c -- the table of registers, and its look-up. */
#include "dwarf/arch.h"

/* Where the kernel's struct rt_sigframe has general register i of a context. */
enum {
	X86_64_CONTEXT = 40,	/* in ucontext, which the stack pointer is at */
	AARCH64_CONTEXT = 128 + 176 + 8,	/* siginfo, ucontext, address */
};
#define X86_64_AT(i) (X86_64_CONTEXT + 8 * (i))
#define AARCH64_AT(i) (AARCH64_CONTEXT + 8 * (i))

const struct dwarf_arch dwarf_x86_64 = {
	.elf_machine = 62,
	.n_registers = X86_64_REGISTERS,
	.pc = X86_64_RIP,
	.sp = X86_64_RSP,
	.fp = X86_64_RBP,
	.return_address = X86_64_RIP,
	.address_mask = UINT64_MAX,
	.record_ends_frame = true,

	.perf_registers = 0xff01ff,
	.perf_needed = 1 << 6 | 1 << 7 | 1 << 8,
	.perf_others = 7 << 9,		/* flags, cs and ss */
	.perf_columns = {
		X86_64_RAX, X86_64_RBX, X86_64_RCX, X86_64_RDX, X86_64_RSI,
		X86_64_RDI, X86_64_RBP, X86_64_RSP, X86_64_RIP,
		[16] = X86_64_R8, X86_64_R9, X86_64_R10, X86_64_R11,
		X86_64_R12, X86_64_R13, X86_64_R14, X86_64_R15,
	},

	/* mov $15, %rax; syscall */
	.sigreturn = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05",
	.sigreturn_size = 9,
	.sigreturn_at = {
		[X86_64_R8] = X86_64_AT(0), [X86_64_R9] = X86_64_AT(1),
		[X86_64_R10] = X86_64_AT(2), [X86_64_R11] = X86_64_AT(3),
		[X86_64_R12] = X86_64_AT(4), [X86_64_R13] = X86_64_AT(5),
		[X86_64_R14] = X86_64_AT(6), [X86_64_R15] = X86_64_AT(7),
		[X86_64_RDI] = X86_64_AT(8), [X86_64_RSI] = X86_64_AT(9),
		[X86_64_RBP] = X86_64_AT(10), [X86_64_RBX] = X86_64_AT(11),
		[X86_64_RDX] = X86_64_AT(12), [X86_64_RAX] = X86_64_AT(13),
		[X86_64_RCX] = X86_64_AT(14), [X86_64_RSP] = X86_64_AT(15),
		[X86_64_RIP] = X86_64_AT(16),
	},
};

#define EIGHT(from, at) at(from), at(from + 1), at(from + 2), at(from + 3), \
	at(from + 4), at(from + 5), at(from + 6), at(from + 7)
#define ITSELF(i) i

const struct dwarf_arch dwarf_aarch64 = {
	.elf_machine = 183,
	.n_registers = AARCH64_REGISTERS,
	.pc = AARCH64_PC,
	.sp = AARCH64_SP,
	.fp = AARCH64_X29,
	.return_address = AARCH64_X30,
	/* Addresses have more bits only for programs that ask for these. */
	.address_mask = UINT64_MAX >> 16,

	.perf_registers = UINT64_MAX >> 31,
	.perf_needed = (uint64_t)1 << AARCH64_X29 | (uint64_t)1 << AARCH64_SP |
	    (uint64_t)1 << AARCH64_PC,
	.perf_others = (uint64_t)1 << 46,	/* the size of vectors */
	.perf_columns = {
		EIGHT(0, ITSELF), EIGHT(8, ITSELF), EIGHT(16, ITSELF),
		EIGHT(24, ITSELF), AARCH64_PC
	},

	/* mov x8, #139; svc #0 */
	.sigreturn = "\x68\x11\x80\xd2\x01\x00\x00\xd4",
	.sigreturn_size = 8,
	.is_sigreturn_in_vdso = true,
	.sigreturn_at = {
		EIGHT(0, AARCH64_AT), EIGHT(8, AARCH64_AT),
		EIGHT(16, AARCH64_AT), EIGHT(24, AARCH64_AT), AARCH64_AT(32)
	},
};

static const struct dwarf_arch *const archs[] = { &dwarf_x86_64,
	&dwarf_aarch64 };

enum { N_ARCHS = sizeof archs / sizeof *archs };

const struct dwarf_arch *
dwarf_arch_of_machine(unsigned elf_machine)
{
	for (unsigned i = 0; i < N_ARCHS; i++)
		if (archs[i]->elf_machine == elf_machine)
			return archs[i];
	return NULL;
}

const struct dwarf_arch *
dwarf_arch_of_perf(uint64_t registers)
{
	for (unsigned i = 0; i < N_ARCHS; i++)
		if ((registers & archs[i]->perf_needed) ==
		        archs[i]->perf_needed &&
		    (registers & ~(archs[i]->perf_registers |
		                   archs[i]->perf_others)) == 0)
			return archs[i];
	return NULL;
}
