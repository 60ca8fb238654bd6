/* SPDX-License-Identifier: MIT */
/* constants.h -- DWARF's numbers for call frame information.
 *
 * Names and values are those of DWARF 5 (sections 7.7.1 and 7.24), of the LSB
 * 5.0 core (10.5, pointer encodings) and of the System V ABI for AMD64 (3.6.2,
 * registers).  The prefix differs from the standard's, so that a file can also
 * include <dwarf.h> of elfutils.
 */
#ifndef CPPROF_DWARF_CONSTANTS_H
#define CPPROF_DWARF_CONSTANTS_H

/* Call frame instructions. */
enum {
	/* The opcode is in the upper two bits, an operand in the others. */
	DWARF_CFA_advance_loc = 0x40,
	DWARF_CFA_offset = 0x80,
	DWARF_CFA_restore = 0xc0,
	DWARF_CFA_operand_mask = 0x3f,

	DWARF_CFA_nop = 0x00,
	DWARF_CFA_set_loc = 0x01,
	DWARF_CFA_advance_loc1 = 0x02,
	DWARF_CFA_advance_loc2 = 0x03,
	DWARF_CFA_advance_loc4 = 0x04,
	DWARF_CFA_offset_extended = 0x05,
	DWARF_CFA_restore_extended = 0x06,
	DWARF_CFA_undefined = 0x07,
	DWARF_CFA_same_value = 0x08,
	DWARF_CFA_register = 0x09,
	DWARF_CFA_remember_state = 0x0a,
	DWARF_CFA_restore_state = 0x0b,
	DWARF_CFA_def_cfa = 0x0c,
	DWARF_CFA_def_cfa_register = 0x0d,
	DWARF_CFA_def_cfa_offset = 0x0e,
	DWARF_CFA_def_cfa_expression = 0x0f,
	DWARF_CFA_expression = 0x10,
	DWARF_CFA_offset_extended_sf = 0x11,
	DWARF_CFA_def_cfa_sf = 0x12,
	DWARF_CFA_def_cfa_offset_sf = 0x13,
	DWARF_CFA_val_offset = 0x14,
	DWARF_CFA_val_offset_sf = 0x15,
	DWARF_CFA_val_expression = 0x16,
	DWARF_CFA_GNU_args_size = 0x2e,
	DWARF_CFA_GNU_negative_offset_extended = 0x2f,
};

/* Operations of expressions. */
enum {
	DWARF_OP_addr = 0x03,
	DWARF_OP_deref = 0x06,
	DWARF_OP_const1u = 0x08,
	DWARF_OP_const1s = 0x09,
	DWARF_OP_const2u = 0x0a,
	DWARF_OP_const2s = 0x0b,
	DWARF_OP_const4u = 0x0c,
	DWARF_OP_const4s = 0x0d,
	DWARF_OP_const8u = 0x0e,
	DWARF_OP_const8s = 0x0f,
	DWARF_OP_constu = 0x10,
	DWARF_OP_consts = 0x11,
	DWARF_OP_dup = 0x12,
	DWARF_OP_drop = 0x13,
	DWARF_OP_over = 0x14,
	DWARF_OP_pick = 0x15,
	DWARF_OP_swap = 0x16,
	DWARF_OP_abs = 0x19,
	DWARF_OP_and = 0x1a,
	DWARF_OP_minus = 0x1c,
	DWARF_OP_mul = 0x1e,
	DWARF_OP_neg = 0x1f,
	DWARF_OP_not = 0x20,
	DWARF_OP_or = 0x21,
	DWARF_OP_plus = 0x22,
	DWARF_OP_plus_uconst = 0x23,
	DWARF_OP_shl = 0x24,
	DWARF_OP_shr = 0x25,
	DWARF_OP_shra = 0x26,
	DWARF_OP_xor = 0x27,
	DWARF_OP_bra = 0x28,
	DWARF_OP_eq = 0x29,
	DWARF_OP_ge = 0x2a,
	DWARF_OP_gt = 0x2b,
	DWARF_OP_le = 0x2c,
	DWARF_OP_lt = 0x2d,
	DWARF_OP_ne = 0x2e,
	DWARF_OP_skip = 0x2f,
	DWARF_OP_lit0 = 0x30,		/* to lit31 */
	DWARF_OP_lit31 = 0x4f,
	DWARF_OP_breg0 = 0x70,		/* to breg31 */
	DWARF_OP_breg31 = 0x8f,
	DWARF_OP_bregx = 0x92,
	DWARF_OP_deref_size = 0x94,
	DWARF_OP_nop = 0x96,
};

/* Encodings of pointers: a format, and what the pointer is relative to. */
enum {
	DWARF_EH_PE_absptr = 0x00,
	DWARF_EH_PE_udata2 = 0x02,
	DWARF_EH_PE_udata4 = 0x03,
	DWARF_EH_PE_udata8 = 0x04,
	DWARF_EH_PE_sdata4 = 0x0b,
	DWARF_EH_PE_size_mask = 0x07,
	DWARF_EH_PE_signed = 0x08,
	DWARF_EH_PE_pcrel = 0x10,
	DWARF_EH_PE_datarel = 0x30,
	DWARF_EH_PE_relation_mask = 0xf0,
	DWARF_EH_PE_omit = 0xff,
};

/* DWARF's numbers of the registers of x86-64. */
enum {
	X86_64_RAX, X86_64_RDX, X86_64_RCX, X86_64_RBX,
	X86_64_RSI, X86_64_RDI, X86_64_RBP, X86_64_RSP,
	X86_64_R8, X86_64_R9, X86_64_R10, X86_64_R11,
	X86_64_R12, X86_64_R13, X86_64_R14, X86_64_R15,
	X86_64_RIP,		/* "return address" */
	X86_64_REGISTERS,
};

#endif
