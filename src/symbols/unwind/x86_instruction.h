/* SPDX-License-Identifier: GPL-3.0-or-later */
/* x86_instruction.h -- x86-64 instructions: their length, and what the flow of
 * the stack needs of them.
 *
 * capstone decodes them, too, but need not be installed where a program is
 * recorded, and takes 50 times as long.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 2, chapter 2 and appendix A; AMD64 Architecture Programmer's Manual, volume
 * 3, appendix A.
 */
#ifndef CPPROF_SYMBOLS_UNWIND_X86_INSTRUCTION_H
#define CPPROF_SYMBOLS_UNWIND_X86_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { X86_SIZE_MAX = 15 };	/* bytes of an instruction */

/* Which table of opcodes an instruction is in. */
enum x86_map {
	X86_ONE_BYTE,
	X86_0F,
	X86_0F38,
	X86_0F3A,
	X86_OTHER,	/* AMD's XOP and EVEX's further maps: vectors only */
};

/* Where the processor goes on. */
enum x86_flow {
	X86_NEXT,
	X86_JUMP,		/* to the target */
	X86_BRANCH,		/* to the target, or on */
	X86_CALL,		/* of the target, and on */
	X86_JUMP_INDIRECT,	/* to an address in a register or memory */
	X86_CALL_INDIRECT,
	X86_RETURN,
	X86_STOP,		/* ud2, int3 */
	X86_HALT,		/* hlt ends a program, but a compiler may not
				 * know it: perhaps on */
};

enum { X86_NO_REGISTER = 16 };

/* Registers are numbered as the processor does: rax rcx rdx rbx rsp rbp rsi rdi
 * r8 to r15. */
struct x86_instruction {
	uint8_t size;
	uint8_t flow;		/* enum x86_flow */
	uint8_t map;		/* enum x86_map */
	uint8_t opcode;
	uint8_t prefix;		/* 0x66, 0xf2, 0xf3: the last one that selects
				 * among opcodes; 0: none */
	bool is_short;		/* has the prefix 0x66 */
	bool is_vex;		/* VEX, EVEX or XOP */
	bool is_wide;		/* 64-bit operands by REX.W */
	bool has_rex;
	bool has_segment;	/* fs or gs: memory is thread-local */
	bool has_modrm;
	bool has_address32;
	uint8_t mod;		/* 3: rm is a register, else memory */
	uint8_t reg, rm;	/* with REX; rm: without ModRM, the register in
				 * the opcode's lower bits */
	uint8_t extra;		/* VEX's further register */
	uint8_t base, index;	/* of memory; X86_NO_REGISTER: none */
	uint8_t scale;
	bool is_relative;	/* memory at `target`, relative to the next
				 * instruction */
	int32_t displacement;
	int64_t immediate;
	uint64_t target;	/* of a jump, branch or call, or see above */
};

/*
 * Decodes the instruction at an address, which has the bytes code[size].
 * False: it is none, none that a program may use, or it does not end within
 * the bytes.
 */
bool x86_decode(const unsigned char *code, size_t size, uint64_t address,
                struct x86_instruction *instruction);

/* The registers that it may write to, apart from rsp by push, pop and call. */
uint32_t x86_written(const struct x86_instruction *instruction);

/*
 * The bytes of padding between functions at the beginning of code[size], up to
 * 4096 and the instruction that passes these.
 */
size_t x86_padding(const unsigned char *code, size_t size);

#endif
