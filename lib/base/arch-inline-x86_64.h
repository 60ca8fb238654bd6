/* SPDX-License-Identifier: MIT */
/* arch-inline-x86_64.h -- x86-64: registers and system calls; see arch.h. */
#ifndef CPPROF_ARCH_INLINE_X86_64_H
#define CPPROF_ARCH_INLINE_X86_64_H

#include <asm/perf_regs.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "dwarf/arch.h"

#define ARCH_ELF_MACHINE 62
#define ARCH_AUDIT AUDIT_ARCH_X86_64
#define ARCH_CALL_SIZE 2
#define ARCH_STUB_SIZE 8
#define ARCH_CALLING_SIZE 7
#define ARCH_RETURN_SIZE 9
#define ARCH_JUMP_SIZE 11
#define ARCH_LEAVING_SIZE 32
#define ARCH_N_REGISTERS X86_64_REGISTERS
#define ARCH_FRAME X86_64_RBP
#define ARCH_STACK X86_64_RSP
#define ARCH_RETURN X86_64_RIP
#define ARCH_PERF_REGISTERS (1u << PERF_REG_X86_SP | 1u << PERF_REG_X86_IP)
/* psABI 3.2.1; rsp follows from the frame */
#define ARCH_PRESERVED (1u << X86_64_RBX | 1u << X86_64_RBP | \
	1u << X86_64_R12 | 1u << X86_64_R13 | 1u << X86_64_R14 | \
	1u << X86_64_R15)

/*
 * Inline, so that the frame is the caller's, and its address is taken at once.
 */
static inline __attribute__((always_inline)) void
arch_here(ucontext_t *context)
{
	greg_t *const r = context->uc_mcontext.gregs;

	memset(r, 0, sizeof context->uc_mcontext.gregs);
	__asm__ volatile (
	    "movq %%rsp, %c[rsp](%[r])\n\t"
	    "movq %%rbp, %c[rbp](%[r])\n\t"
	    "movq %%rbx, %c[rbx](%[r])\n\t"
	    "movq %%r12, %c[r12](%[r])\n\t"
	    "movq %%r13, %c[r13](%[r])\n\t"
	    "movq %%r14, %c[r14](%[r])\n\t"
	    "movq %%r15, %c[r15](%[r])\n\t"
	    "leaq 0f(%%rip), %%rdx\n"
	    "0:\tmovq %%rdx, %c[rip](%[r])"
	    : : [r] "a" (r), [rsp] "i" (8 * REG_RSP), [rbp] "i" (8 * REG_RBP),
	    [rbx] "i" (8 * REG_RBX), [r12] "i" (8 * REG_R12),
	    [r13] "i" (8 * REG_R13), [r14] "i" (8 * REG_R14),
	    [r15] "i" (8 * REG_R15), [rip] "i" (8 * REG_RIP)
	    : "rdx", "memory");
}

/* A system call that bypasses the C library.  Returns the result or -errno. */
static inline __attribute__((always_inline)) long
arch_system_call(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile ("syscall" : "=a" (result)
	    : "a" (number), "D" (a), "S" (b), "d" (c), "r" (r10)
	    : "rcx", "r11", "memory");
	return result;
}

static inline __attribute__((always_inline)) long
arch_system_call_6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile ("syscall" : "=a" (result)
	    : "a" (number), "D" (a), "S" (b), "d" (c), "r" (r10), "r" (r8),
	      "r" (r9)
	    : "rcx", "r11", "memory");
	return result;
}

static inline long long *
arch_pc(ucontext_t *context)
{
	return &context->uc_mcontext.gregs[REG_RIP];
}

static inline uint64_t
arch_stack(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

static inline long long
arch_call_number(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RAX];
}

static inline long long *
arch_call_argument(ucontext_t *context, unsigned i)
{
	static const unsigned char registers[] = { REG_RDI, REG_RSI, REG_RDX,
		REG_R10, REG_R8, REG_R9 };

	return &context->uc_mcontext.gregs[registers[i]];
}

/* A system call leaves the address after it in rcx. */
static inline bool
arch_repeats_call(const ucontext_t *context)
{
	return context->uc_mcontext.gregs[REG_RCX] ==
	    context->uc_mcontext.gregs[REG_RIP] + ARCH_CALL_SIZE;
}

static inline ucontext_t *
arch_call_frame(const ucontext_t *context)
{
	return (ucontext_t *)context->uc_mcontext.gregs[REG_RSP];
}

static inline long long *
arch_call_result(ucontext_t *context)
{
	return &context->uc_mcontext.gregs[REG_RAX];
}

/*
 * Whether the processor checks return addresses against a shadow stack.
 * Without one, and on older processors, rdssp does nothing.
 */
static inline bool
arch_has_shadow_stack(void)
{
	uint64_t pointer = 0;

	__asm__ volatile("rdsspq %0" : "+r" (pointer));
	return pointer != 0;
}

#endif
