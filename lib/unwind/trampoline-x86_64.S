/* SPDX-License-Identifier: MIT */
/* trampoline-x86_64.S -- the stub that marked frames return to.
 *
 * A function returns here with the stack pointer at its CFA (psABI 3.2.2).  Its
 * slot, right below, holds the address of the stub.  Callers that know the
 * function may rely on any general register (gcc -fipa-ra), so all registers
 * and the flags are preserved.  Vector registers are not touched, nor does the
 * C code called from here use them.
 *
 * The unwind tables are written by hand, because the true return address is
 * found by an expression that contains the address of trampoline.c's table.
 * The loader must fill that in, so this .eh_frame is writable until then.  The
 * expression depends only on the CFA, not on what the slot holds, because an
 * unwinder may use it long after it has read the slot.
 */
#include "lib/unwind/trampoline-table.h"

	.section .note.GNU-stack, "", @progbits

	.section cpprof_trampoline, "ax", @progbits
	.globl	trampoline_stub, trampoline_land
	.hidden	trampoline_stub, trampoline_land
	.type	trampoline_stub, @function
	.type	trampoline_land, @function

	/*
	 * Unwinders look up the byte before a return address, and so do
	 * debuggers for its name.
	 */
	.balign	16
	.type	trampoline_frame, @function
trampoline_frame:
	.skip	16, 0x90
	.size	trampoline_frame, . - trampoline_frame
trampoline_stub:
	leaq	-112(%rsp), %rsp
.Lentered:
	movq	%rax, 80(%rsp)
	lahf
	seto	%al
	movq	%rax, 72(%rsp)
	movq	%rcx, 64(%rsp)
	movq	%rdx, 56(%rsp)
	movq	%rsi, 48(%rsp)
	movq	%rdi, 40(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 24(%rsp)
	movq	%r10, 16(%rsp)
	movq	%r11, 8(%rsp)
	leaq	112(%rsp), %rdi
	call	trampoline_hit		/* slot = true return address */
	movq	8(%rsp), %r11
	movq	16(%rsp), %r10
	movq	24(%rsp), %r9
	movq	32(%rsp), %r8
	movq	40(%rsp), %rdi
	movq	48(%rsp), %rsi
	movq	56(%rsp), %rdx
	movq	64(%rsp), %rcx
	movq	72(%rsp), %rax
	addb	$0x7f, %al		/* overflows if al was 1 */
	sahf
	movq	80(%rsp), %rax
	leaq	104(%rsp), %rsp
.Lleaving:
	ret
.Lstub_end:
	.size	trampoline_stub, . - trampoline_stub

	/*
	 * The unwinder continues here as if the true caller had called its
	 * _Unwind_Resume: rax is the exception, rdx that function.
	 */
	.balign	16
	.skip	16, 0x90
trampoline_land:
	leaq	-8(%rsp), %rsp
.Lland_1:
	pushq	%rdx
.Lland_2:
	pushq	%rax
.Lland_3:
	leaq	24(%rsp), %rdi
	subq	$8, %rsp
.Lland_4:
	call	trampoline_landed	/* slot = true return address */
	addq	$8, %rsp
.Lland_5:
	popq	%rdi
.Lland_6:
	popq	%rax
.Lland_7:
	jmp	*%rax
.Lland_end:
	.size	trampoline_land, . - trampoline_land

	.macro	return_address		/* DW_CFA_expression for register 16 */
	.byte	0x10, 16
	.uleb128 .Lexpression_end\@ - .Lexpression\@
.Lexpression\@:				/* the CFA is on the stack */
	.byte	0x12, 0x44, 0x25, 0x27	/* dup lit20 shr xor */
	.byte	0x0c			/* const4u */
	.long	TRAMPOLINE_KEY_MASK
	.byte	0x1a, 0x32, 0x24	/* and lit2 shl */
	.byte	0x03			/* addr */
	.quad	trampoline_table + TRAMPOLINE_RETURN_OFFSET
	.byte	0x22			/* plus */
.Lexpression_end\@:
	.endm

	.macro	cfa_offset to, from, bytes
	.byte	0x02, \to - \from	/* DW_CFA_advance_loc1 */
	.byte	0x0e			/* DW_CFA_def_cfa_offset */
	.uleb128 \bytes
	.endm

	.section .eh_frame, "aw", @progbits
	.balign	8
.Lcie:
	.long	.Lcie_end - .Lcie_begin
.Lcie_begin:
	.long	0
	.byte	1
	.asciz	"zPR"
	.uleb128 1			/* code alignment */
	.sleb128 -8			/* data alignment */
	.byte	16			/* return address: rip */
	.uleb128 6
	.byte	0x1b			/* personality: pcrel sdata4 */
	.long	trampoline_personality - .
	.byte	0x1b			/* addresses in FDEs likewise */
	.byte	0x0c, 7, 0		/* DW_CFA_def_cfa rsp, 0 */
	.balign	8
.Lcie_end:

	.long	.Lfde1_end - .Lfde1
.Lfde1:
	.long	.Lfde1 - .Lcie
	.long	trampoline_stub - 1 - .
	.long	.Lstub_end - trampoline_stub + 1
	.uleb128 0
	return_address
	cfa_offset .Lentered, (trampoline_stub-1), 112
	cfa_offset .Lleaving, .Lentered, 8
	.balign	8
.Lfde1_end:

	.long	.Lfde2_end - .Lfde2
.Lfde2:
	.long	.Lfde2 - .Lcie
	.long	trampoline_land - 1 - .
	.long	.Lland_end - trampoline_land + 1
	.uleb128 0
	return_address
	cfa_offset .Lland_1, (trampoline_land-1), 8
	cfa_offset .Lland_2, .Lland_1, 16
	cfa_offset .Lland_3, .Lland_2, 24
	cfa_offset .Lland_4, .Lland_3, 32
	cfa_offset .Lland_5, .Lland_4, 24
	cfa_offset .Lland_6, .Lland_5, 16
	cfa_offset .Lland_7, .Lland_6, 8
	.balign	8
.Lfde2_end:
