/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tableless-hand.S -- functions written by hand, without any directive of unwind
 * tables: see tests/stepped.py.  With INSIDE, it is part of another program.
 */
	.text
	.globl outer
#ifndef INSIDE
	.globl _start
_start:
	mov	$300, %r12d
1:	call	outer
	dec	%r12d
	jnz	1b
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	hlt
#endif

/* Saves with mov, and lets the stack pointer come back by a copy. */
outer:
	lea	-40(%rsp), %rsp
	mov	%rbx, 8(%rsp)
	mov	%r13, 16(%rsp)
	mov	%rsp, %r13
	mov	$3, %ebx
1:	push	%rbx
	push	$7
	call	middle
	mov	%r13, %rsp
	dec	%ebx
	jnz	1b
	mov	8(%rsp), %rbx
	mov	16(%rsp), %r13
	add	$40, %rsp
	ret

/* The frame pointer's frame is made in a branch. */
middle:
	test	$1, %bl
	jz	1f
	push	%rbp
	mov	%rsp, %rbp
	and	$-32, %rsp
	sub	$64, %rsp
	call	*inner_pointer(%rip)
	leave
	jmp	last
1:	sub	$24, %rsp
	call	inner
	add	$24, %rsp
	ret

inner:
	pushf
	popf
	call	last
	xor	%eax, %eax
	ret

/* Pops its own return address, and pushes it again. */
last:
	pop	%rdx
	mov	$5, %ecx
1:	imul	%rcx, %rax
	loop	1b
	push	%rdx
	ret

	.data
	.balign	8
inner_pointer:
	.quad	inner

	.section .note.GNU-stack, "", @progbits
