/* SPDX-License-Identifier: MIT */
/* dispatch-x86_64.S -- the stubs that make stopped system calls.
 *
 * A stub makes the call with the registers unchanged and continues where the
 * program would have.  Only rip differs, so the call may block, be interrupted
 * and restarted, create a thread or never return.  The stub of a site is
 * dispatch_stubs + 8 i if dispatch_sites[i] is the site.
 *
 * For unwinders, a stub is a signal frame that was entered at its site.  The
 * unwind table finds the site by the distance of dispatch_sites from the stubs,
 * so the loader need not relocate anything here or touch the page.
 */
#include "lib/sources/dispatch-sites.h"

	.section .note.GNU-stack, "", @progbits

	.section cpprof_dispatch, "ax", @progbits
	.globl	dispatch_stubs
	.hidden	dispatch_stubs

	.type	dispatch_stubs, @function
	.balign	16
	nop				/* unwinders also look up pc - 1 */
	.balign	16, 0x90
dispatch_stubs:
	.set	i, 0
	.rept	DISPATCH_SITES
	syscall
	jmp	*dispatch_sites + i(%rip)
	.set	i, i + 8
	.endr
.Lstubs_end:
	.size	dispatch_stubs, . - dispatch_stubs

	.section .eh_frame, "aw", @progbits
	.balign	8
.Lcie:
	.long	.Lcie_end - .Lcie_begin
.Lcie_begin:
	.long	0
	.byte	1
	.asciz	"zRS"
	.uleb128 1			/* code alignment */
	.sleb128 -8			/* data alignment */
	.byte	16			/* return address: rip */
	.uleb128 1
	.byte	0x1b			/* pcrel, sdata4 */
	.byte	0x0c, 7, 0		/* CFA = rsp */
	.balign	8
.Lcie_end:
	.long	.Lfde_end - .Lfde_begin
.Lfde_begin:
	.long	.Lfde_begin - .Lcie
	.long	dispatch_stubs - 1 - .
	.long	.Lstubs_end - dispatch_stubs + 1
	.uleb128 0
	.byte	0x10, 16		/* rip is saved at */
	.uleb128 .Lexpression_end - .Lexpression
.Lexpression:
	.byte	0x80, 0			/* breg16 0: rip */
	.byte	0x09, 0xf8		/* const1s -8: the stub's start */
	.byte	0x1a			/* and */
	.byte	0x0d			/* const4s */
.Lto_stubs:
	.long	dispatch_stubs - .
	.byte	0x1c			/* minus */
	.byte	0x0d			/* const4s */
.Lto_sites:
	.long	dispatch_sites - .
	.byte	0x22			/* plus */
	.byte	0x08			/* const1u */
	.byte	.Lto_sites - .Lto_stubs
	.byte	0x22			/* plus */
.Lexpression_end:
	.balign	8
.Lfde_end:
