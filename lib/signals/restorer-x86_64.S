/* SPDX-License-Identifier: MIT */
/* restorer-x86_64.S -- returns from a signal handler as the C library does, but
 * from this library.
 *
 * The stack pointer points to the ucontext_t with the registers.
 */
	.section .note.GNU-stack, "", @progbits
	.text
	.globl	dispatch_restorer
	.hidden	dispatch_restorer

	.macro	saved register, offset	/* at an offset from rsp */
	.cfi_escape 0x10, \register, 3, 0x77, (\offset & 0x7f) | 0x80, \offset >> 7
	.endm

	.type	dispatch_restorer, @function
	.balign	16, 0x90
	.cfi_startproc simple
	.cfi_signal_frame
	.cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06	/* CFA = *(rsp + 160) */
	saved	8, 40
	saved	9, 48
	saved	10, 56
	saved	11, 64
	saved	12, 72
	saved	13, 80
	saved	14, 88
	saved	15, 96
	saved	5, 104
	saved	4, 112
	saved	6, 120
	saved	3, 128
	saved	1, 136
	saved	0, 144
	saved	2, 152
	saved	7, 160
	saved	16, 168
	nop				/* looked up at pc - 1 */
dispatch_restorer:
	movq	$15, %rax
	syscall
	.cfi_endproc
	.size	dispatch_restorer, . - dispatch_restorer
