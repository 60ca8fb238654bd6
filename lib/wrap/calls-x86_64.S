/* SPDX-License-Identifier: MIT */
/* calls-x86_64.S -- the functions that code built with -pg calls at entry.
 *
 * These calls do not follow the calling convention: the caller's argument
 * registers, general and vector, and its static chain are live, while r11 and
 * the flags are free.  So counting a call uses only those.  Only when an
 * interval is complete is everything saved, including all vector state that may
 * hold arguments (x87, SSE, AVX, AVX-512; not AMX tiles, which no code here
 * touches).  Then control passes to the C library's version.  It finds the
 * stack as it would be without us, and writes the same gmon.out.
 */
#define GATE_OPEN 2		/* lib/wrap/wrapped.h */
#define XSAVE_MASK 0xe7
#define XSAVE_SIZE 2816		/* 2688, rounded up to a multiple of 64 */
#define XSAVE_HEADER 512
#define OSXSAVE 27		/* bit of ecx in cpuid leaf 1 */

	.section .note.GNU-stack, "", @progbits
	.text

	.macro	counted name, real
	.globl	\name
	.type	\name, @function
	.balign	16
\name:
	.cfi_startproc
	cmpl	$GATE_OPEN, calls_gate(%rip)
	jne	1f
	movq	calls_left@gottpoff(%rip), %r11
	subq	$1, %fs:(%r11)
	jns	1f
	.cfi_remember_state
	call	cross
	.cfi_restore_state
1:	jmp	*\real(%rip)
	.cfi_endproc
	.size	\name, . - \name
	.endm

	counted	mcount, calls_real_mcount
	counted	_mcount, calls_real_mcount
	counted	__fentry__, calls_real_fentry

	.type	cross, @function
	.balign	16
cross:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	subq	$XSAVE_SIZE, %rsp
	andq	$-64, %rsp
	cmpb	$0, has_xsave(%rip)
	je	2f
	/* The rest of the XSAVE header must be zero. */
	xorl	%edx, %edx
	movq	%rdx, XSAVE_HEADER(%rsp)
	movq	%rdx, XSAVE_HEADER + 8(%rsp)
	movq	%rdx, XSAVE_HEADER + 16(%rsp)
	movq	%rdx, XSAVE_HEADER + 24(%rsp)
	movq	%rdx, XSAVE_HEADER + 32(%rsp)
	movq	%rdx, XSAVE_HEADER + 40(%rsp)
	movq	%rdx, XSAVE_HEADER + 48(%rsp)
	movq	%rdx, XSAVE_HEADER + 56(%rsp)
	movl	$XSAVE_MASK, %eax
	xsave	(%rsp)
	call	calls_cross
	movl	$XSAVE_MASK, %eax
	xorl	%edx, %edx
	xrstor	(%rsp)
	jmp	3f
2:	fxsave	(%rsp)
	call	calls_cross
	fxrstor	(%rsp)
3:	leaq	-64(%rbp), %rsp
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	popq	%rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_endproc
	.size	cross, . - cross

/* Sets has_xsave: whether the processor and the kernel support XSAVE. */
	.globl	calls_prepare
	.hidden	calls_prepare
	.type	calls_prepare, @function
	.balign	16
calls_prepare:
	.cfi_startproc
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	movl	$1, %eax
	cpuid
	btl	$OSXSAVE, %ecx
	setc	has_xsave(%rip)
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	calls_prepare, . - calls_prepare

	.local	has_xsave
	.comm	has_xsave, 1, 1
