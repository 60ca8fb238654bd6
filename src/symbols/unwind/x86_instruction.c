/* SPDX-License-Identifier: GPL-3.0-or-later */
/* x86_instruction.c -- prefixes, opcode, ModRM, displacement, immediate. */
#include "src/symbols/unwind/x86_instruction.h"

#include <endian.h>
#include <string.h>

#define BIT(i) ((uint32_t)1 << (i))

/* What follows an opcode. */
enum {
	MODRM = 1,
	IMM8 = 2,
	IMMZ = 4,		/* 4 bytes, or 2 with the prefix 0x66 */
	IMM16 = 8,
	BAD = 16,
	IMMV = 32,		/* 8 bytes with REX.W, else as IMMZ */
	OFFSET = 64,		/* 8 bytes, or 4 with the prefix 0x67 */
	RELATIVE8 = 128,
	RELATIVE32 = 256,
};

struct x86_reader {
	const unsigned char *at, *end;
	bool has_failed;
};

static uint8_t
x86_take(struct x86_reader *in)
{
	if (in->at < in->end)
		return *in->at++;
	in->has_failed = true;
	return 0;
}

/* A signed number of 1, 2, 4 or 8 bytes. */
static int64_t
x86_take_number(struct x86_reader *in, size_t size)
{
	const unsigned unused = 64 - 8 * (unsigned)size;
	uint64_t number = 0;

	if ((size_t)(in->end - in->at) < size) {
		in->has_failed = true;
		return 0;
	}
	memcpy(&number, in->at, size);
	in->at += size;
	return (int64_t)(le64toh(number) << unused) >> unused;
}

/* ---- opcodes ---- */

static unsigned
x86_one_byte(uint8_t opcode)
{
	if (opcode < 0x40) {
		static const uint8_t columns[8] = { MODRM, MODRM, MODRM, MODRM,
			IMM8, IMMZ, BAD, BAD };

		return columns[opcode & 7];
	}
	if (opcode < 0x60)
		return 0;
	switch (opcode) {
	case 0x63:
	case 0x84 ... 0x8f:
	case 0xd0 ... 0xd3:
	case 0xd8 ... 0xdf:
	case 0xf6: case 0xf7:		/* see x86_operands */
	case 0xfe: case 0xff:
		return MODRM;
	case 0x68: case 0xa9:
		return IMMZ;
	case 0x69: case 0x81: case 0xc7:
		return MODRM | IMMZ;
	case 0x6a: case 0xa8: case 0xcd:
	case 0xb0 ... 0xb7:
	case 0xe4 ... 0xe7:
		return IMM8;
	case 0x6b: case 0x80: case 0x83: case 0xc0: case 0xc1: case 0xc6:
		return MODRM | IMM8;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3: case 0xeb:
		return RELATIVE8;
	case 0xe8: case 0xe9:
		return RELATIVE32;
	case 0xa0 ... 0xa3:
		return OFFSET;
	case 0xb8 ... 0xbf:
		return IMMV;
	case 0xc2: case 0xca:
		return IMM16;
	case 0xc8:
		return IMM16 | IMM8;
	case 0x60 ... 0x62: case 0x82: case 0x9a: case 0xc4: case 0xc5:
	case 0xce: case 0xd4 ... 0xd6: case 0xea:
		return BAD;
	}
	return 0;
}

static unsigned
x86_two_byte(uint8_t opcode, uint8_t prefix)
{
	switch (opcode) {
	case 0x05 ... 0x09: case 0x0b: case 0x0e:
	case 0x30 ... 0x35: case 0x37: case 0x77:
	case 0xa0 ... 0xa2: case 0xa8 ... 0xaa:
	case 0xc8 ... 0xcf:
		return 0;
	case 0x04: case 0x0a: case 0x0c: case 0x24 ... 0x27: case 0x36:
	case 0x39: case 0x3b ... 0x3f: case 0x7a: case 0x7b: case 0xa6:
	case 0xa7:
		return BAD;
	case 0x80 ... 0x8f:
		return RELATIVE32;
	case 0x0f: case 0x70 ... 0x73: case 0xa4: case 0xac: case 0xba:
	case 0xc2: case 0xc4 ... 0xc6:
		return MODRM | IMM8;
	case 0x78:			/* AMD's extrq and insertq */
		return prefix == 0x66 || prefix == 0xf2 ? MODRM | IMM16 :
		    MODRM;
	}
	return MODRM;
}

static unsigned
x86_vector(uint8_t map, uint8_t opcode)
{
	switch (map) {
	case 1:
		if (opcode == 0x77)
			return 0;
		return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
		    (opcode >= 0xc4 && opcode <= 0xc6) ? MODRM | IMM8 : MODRM;
	case 2: case 5: case 6: case 9:
		return MODRM;
	case 3: case 8:
		return MODRM | IMM8;
	case 10:
		return MODRM | IMMZ;
	}
	return BAD;
}

/* ---- parts of an instruction ---- */

/* The bits of prefixes that extend registers. */
struct x86_extension {
	uint8_t r, x, b;	/* 8 or 0 */
};

static void
x86_take_vex(struct x86_reader *in, uint8_t first, struct x86_instruction *i,
             struct x86_extension *extension, uint8_t *map)
{
	static const uint8_t prefixes[] = { 0, 0x66, 0xf3, 0xf2 };
	const uint8_t one = x86_take(in);
	uint8_t last = one;

	i->is_vex = true;
	extension->r = one & 0x80 ? 0 : 8;
	*map = 1;
	if (first != 0xc5) {
		extension->x = one & 0x40 ? 0 : 8;
		extension->b = one & 0x20 ? 0 : 8;
		*map = one & (first == 0x62 ? 7 : 0x1f);
		last = x86_take(in);
		i->is_wide = (last & 0x80) != 0;
	}
	i->extra = (uint8_t)(~last >> 3 & 15);
	i->prefix = prefixes[last & 3];
	if (first == 0x62)
		x86_take(in);		/* masks and lengths of vectors */
}

static void
x86_take_memory(struct x86_reader *in, const struct x86_extension *extension,
                struct x86_instruction *i)
{
	const unsigned rm = i->rm & 7;
	size_t size = i->mod == 1 ? 1 : i->mod == 2 ? 4 : 0;

	i->base = i->rm;
	if (rm == 4) {
		const uint8_t sib = x86_take(in);

		i->scale = (uint8_t)(1 << (sib >> 6));
		i->index = (uint8_t)((sib >> 3 & 7) | extension->x);
		if (i->index == 4)
			i->index = X86_NO_REGISTER;
		i->base = (uint8_t)((sib & 7) | extension->b);
		if (i->mod == 0 && (sib & 7) == 5) {
			i->base = X86_NO_REGISTER;
			size = 4;
		}
	} else if (i->mod == 0 && rm == 5) {
		i->base = X86_NO_REGISTER;
		i->is_relative = true;
		size = 4;
	}
	if (size > 0)
		i->displacement = (int32_t)x86_take_number(in, size);
}

static void
x86_take_modrm(struct x86_reader *in, const struct x86_extension *extension,
               struct x86_instruction *i)
{
	const uint8_t byte = x86_take(in);

	i->has_modrm = true;
	i->mod = byte >> 6;
	i->reg = (uint8_t)((byte >> 3 & 7) | extension->r);
	i->rm = (uint8_t)((byte & 7) | extension->b);
	if (i->mod != 3)
		x86_take_memory(in, extension, i);
}

static void
x86_take_immediate(struct x86_reader *in, unsigned operands,
                   struct x86_instruction *i)
{
	const size_t word = i->is_short && !i->is_wide &&
	    i->map == X86_ONE_BYTE ? 2 : 4;

	if ((operands & IMM16) != 0)
		i->immediate = x86_take_number(in, 2);
	if ((operands & IMM8) != 0)
		i->immediate = x86_take_number(in, 1);
	if ((operands & IMMZ) != 0)
		i->immediate = x86_take_number(in, word);
	if ((operands & IMMV) != 0)
		i->immediate = x86_take_number(in, i->is_wide ? 8 : word);
	if ((operands & OFFSET) != 0)
		i->immediate = x86_take_number(in, i->has_address32 ? 4 : 8);
	if ((operands & RELATIVE8) != 0)
		i->immediate = x86_take_number(in, 1);
	if ((operands & RELATIVE32) != 0)
		i->immediate = x86_take_number(in, 4);
}

/* Reads up to the opcode; returns what follows it. */
static unsigned
x86_take_opcode(struct x86_reader *in, uint8_t byte,
                struct x86_extension *extension, struct x86_instruction *i)
{
	uint8_t map;

	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62 ||
	    (byte == 0x8f && in->at < in->end && (*in->at & 0x1f) >= 8)) {
		if (i->has_rex || i->prefix != 0)
			return BAD;
		x86_take_vex(in, byte, i, extension, &map);
		i->map = map <= 3 ? map : X86_OTHER;
		i->opcode = x86_take(in);
		return x86_vector(map, i->opcode);
	}
	if (byte != 0x0f) {
		i->opcode = byte;
		return x86_one_byte(byte);
	}
	i->opcode = x86_take(in);
	if (i->opcode == 0x38 || i->opcode == 0x3a) {
		i->map = i->opcode == 0x38 ? X86_0F38 : X86_0F3A;
		i->opcode = x86_take(in);
		return i->map == X86_0F38 ? MODRM : MODRM | IMM8;
	}
	i->map = X86_0F;
	return x86_two_byte(i->opcode, i->prefix);
}

/* Reads the prefixes; returns the byte after them. */
static uint8_t
x86_take_prefixes(struct x86_reader *in, struct x86_extension *extension,
                  struct x86_instruction *i)
{
	while (!in->has_failed) {
		const uint8_t byte = x86_take(in);

		if ((byte & 0xf0) == 0x40) {
			i->has_rex = true;
			i->is_wide = (byte & 8) != 0;
			extension->r = byte & 4 ? 8 : 0;
			extension->x = byte & 2 ? 8 : 0;
			extension->b = byte & 1 ? 8 : 0;
			continue;
		}
		switch (byte) {
		case 0x66:
			i->is_short = true;
			if (i->prefix == 0)
				i->prefix = byte;
			break;
		case 0xf2: case 0xf3:
			i->prefix = byte;
			break;
		case 0x67:
			i->has_address32 = true;
			break;
		case 0x64: case 0x65:
			i->has_segment = true;
			break;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0xf0:
			break;
		default:
			return byte;
		}
		/* REX before another prefix has no effect. */
		i->has_rex = i->is_wide = false;
		*extension = (struct x86_extension){ 0 };
	}
	return 0;
}

static enum x86_flow
x86_flow_of(const struct x86_instruction *i, unsigned operands)
{
	const uint8_t opcode = i->opcode;

	if (i->is_vex || i->map > X86_0F)
		return X86_NEXT;
	if (i->map == X86_0F)
		return (operands & RELATIVE32) != 0 ? X86_BRANCH :
		    opcode == 0x0b || opcode == 0xb9 || opcode == 0xff ?
		    X86_STOP : opcode == 0x07 || opcode == 0x35 ? X86_RETURN :
		    X86_NEXT;
	switch (opcode) {
	case 0xe8:
		return X86_CALL;
	case 0xe9: case 0xeb:
		return X86_JUMP;
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf:
		return X86_RETURN;
	case 0xcc: case 0xf1:
		return X86_STOP;
	case 0xf4:
		return X86_HALT;
	case 0xff:
		return (i->reg & 6) == 2 ? X86_CALL_INDIRECT :
		    (i->reg & 6) == 4 ? X86_JUMP_INDIRECT : X86_NEXT;
	}
	return (operands & RELATIVE8) != 0 ? X86_BRANCH : X86_NEXT;
}

bool
x86_decode(const unsigned char *code, size_t size, uint64_t address,
           struct x86_instruction *i)
{
	struct x86_reader in = { .at = code, .end = code +
	    (size < X86_SIZE_MAX ? size : X86_SIZE_MAX) };
	struct x86_extension extension = { 0 };
	unsigned operands;
	uint8_t byte;

	*i = (struct x86_instruction){ .base = X86_NO_REGISTER,
		.index = X86_NO_REGISTER, .extra = X86_NO_REGISTER };
	byte = x86_take_prefixes(&in, &extension, i);
	operands = x86_take_opcode(&in, byte, &extension, i);
	if (operands == BAD || in.has_failed)
		return false;
	if ((operands & MODRM) != 0)
		x86_take_modrm(&in, &extension, i);
	else
		i->rm = (uint8_t)((i->opcode & 7) | extension.b);
	/* test, among others that have no immediate; the last row is not
	 * defined. */
	if (i->map == X86_ONE_BYTE && !i->is_vex) {
		if ((i->opcode & 0xfe) == 0xf6 && (i->reg & 6) == 0)
			operands |= i->opcode == 0xf6 ? IMM8 : IMMZ;
		if ((i->opcode == 0xff && (i->reg & 7) == 7) ||
		    (i->opcode == 0xfe && (i->reg & 7) > 1))
			return false;
	}
	x86_take_immediate(&in, operands, i);
	if (in.has_failed)
		return false;
	i->size = (uint8_t)(in.at - code);
	i->flow = (uint8_t)x86_flow_of(i, operands);
	if ((operands & (RELATIVE8 | RELATIVE32)) != 0)
		i->target = address + i->size + (uint64_t)i->immediate;
	else if (i->is_relative)
		i->target = address + i->size +
		    (uint64_t)(int64_t)i->displacement;
	return true;
}

/* ---- effects ---- */

/* ah to bh, without REX, are parts of rax to rbx. */
static uint32_t
x86_byte_register(const struct x86_instruction *i, uint8_t number)
{
	return BIT(!i->has_rex && number >= 4 && number < 8 ? number - 4 :
	           number);
}

static uint32_t
x86_written_rm(const struct x86_instruction *i, bool is_byte)
{
	if (!i->has_modrm || i->mod != 3)
		return 0;
	return is_byte ? x86_byte_register(i, i->rm) : BIT(i->rm);
}

static uint32_t
x86_written_reg(const struct x86_instruction *i, bool is_byte)
{
	return is_byte ? x86_byte_register(i, i->reg) : BIT(i->reg);
}

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R11 = 11 };

static uint32_t
x86_written_one_byte(const struct x86_instruction *i)
{
	const uint8_t opcode = i->opcode, row = i->reg & 7;
	const bool is_byte = (opcode & 1) == 0;
	const uint8_t low = (uint8_t)(opcode & 7);

	if (opcode < 0x40) {
		if (opcode >= 0x38)	/* cmp */
			return 0;
		return low < 2 ? x86_written_rm(i, is_byte) :
		    low < 4 ? x86_written_reg(i, is_byte) : BIT(RAX);
	}
	switch (opcode) {
	case 0x63: case 0x69: case 0x6b: case 0x8b: case 0x8d:
		return BIT(i->reg);
	case 0x8a:
		return x86_written_reg(i, true);
	case 0x80: case 0x81: case 0x83:
		return row == 7 ? 0 : x86_written_rm(i, is_byte);
	case 0x86: case 0x87:
		return x86_written_rm(i, is_byte) | x86_written_reg(i, is_byte);
	case 0x88: case 0x89: case 0xc0: case 0xc1: case 0xc6: case 0xc7:
	case 0xd0 ... 0xd3:
		return x86_written_rm(i, is_byte);
	case 0x8c: case 0x8f:
		return x86_written_rm(i, false);
	case 0x6c: case 0x6d: case 0x6e: case 0x6f:
	case 0xa4 ... 0xa7: case 0xaa ... 0xaf:
		return BIT(RAX) | BIT(RCX) | BIT(RSI) | BIT(RDI);
	case 0x98: case 0xa0: case 0xa1: case 0xd7: case 0x9f:
	case 0xe4: case 0xe5: case 0xec: case 0xed:
		return BIT(RAX);
	case 0x99:
		return BIT(RDX);
	case 0xc9:
		return BIT(RBP);
	case 0xe0 ... 0xe2:
		return BIT(RCX);
	case 0xcd:			/* a system call of 32-bit programs */
		return UINT16_MAX & ~(BIT(RSP) | BIT(RBP));
	case 0xf6: case 0xf7:
		return row < 2 ? 0 : row < 4 ? x86_written_rm(i, is_byte) :
		    BIT(RAX) | BIT(RDX);
	case 0xfe: case 0xff:
		return row < 2 ? x86_written_rm(i, is_byte) : 0;
	case 0xdf:			/* fnstsw %ax */
		return BIT(RAX);
	}
	return 0;
}

static uint32_t
x86_written_0f(const struct x86_instruction *i)
{
	const uint8_t row = i->reg & 7;

	switch (i->opcode) {
	case 0x05: case 0x34:
		return BIT(RAX) | BIT(RCX) | BIT(R11);
	case 0x00: case 0x1e: case 0x20: case 0x21: case 0xa4: case 0xa5:
	case 0xab: case 0xac: case 0xad: case 0xb3: case 0xbb:
		return x86_written_rm(i, false);
	case 0x01:			/* smsw; rdtscp, xgetbv, rdpkru */
		return row == 4 ? x86_written_rm(i, false) :
		    BIT(RAX) | BIT(RCX) | BIT(RDX);
	case 0x31: case 0x32: case 0x33:
		return BIT(RAX) | BIT(RDX);
	case 0xa2:
		return BIT(RAX) | BIT(RBX) | BIT(RCX) | BIT(RDX);
	case 0xae:			/* rdfsbase, rdgsbase */
		return i->prefix == 0xf3 && row < 2 ?
		    x86_written_rm(i, false) : 0;
	case 0xba:
		return row == 4 ? 0 : x86_written_rm(i, false);
	case 0x90 ... 0x9f:
		return x86_written_rm(i, true);
	case 0xb0:
		return x86_written_rm(i, true) | BIT(RAX);
	case 0xb1:
		return x86_written_rm(i, false) | BIT(RAX);
	case 0xc0:
		return x86_written_rm(i, true) | x86_written_reg(i, true);
	case 0xc1:
		return x86_written_rm(i, false) | BIT(i->reg);
	case 0xc7:
		return x86_written_rm(i, false) | BIT(RAX) | BIT(RDX);
	case 0x7e:
		return i->prefix == 0xf3 ? 0 : x86_written_rm(i, false);
	case 0x02: case 0x03: case 0x2c: case 0x2d: case 0x40 ... 0x4f:
	case 0x50: case 0x78: case 0x79: case 0xaf: case 0xb2:
	case 0xb4 ... 0xb8: case 0xbc ... 0xbf: case 0xc5: case 0xd7:
		return BIT(i->reg);
	}
	return 0;
}

static uint32_t
x86_written_vex(const struct x86_instruction *i)
{
	switch (i->map << 8 | i->opcode) {
	case 0x12c: case 0x12d: case 0x150: case 0x178: case 0x179:
	case 0x193: case 0x1c5: case 0x1d7:
	case 0x2f2: case 0x2f5: case 0x2f7: case 0x3f0:
		return BIT(i->reg);
	case 0x2f3:
		return BIT(i->extra);
	case 0x2f6:
		return BIT(i->reg) | BIT(i->extra);
	case 0x17e:
		return i->prefix == 0xf3 ? 0 : x86_written_rm(i, false);
	case 0x314 ... 0x317:
		return x86_written_rm(i, false);
	}
	/* XOP's few, and scalars of EVEX's map 5. */
	return i->map == X86_OTHER ? x86_written_rm(i, false) | BIT(i->reg) |
	    BIT(i->extra & 15) : 0;
}

uint32_t
x86_written(const struct x86_instruction *i)
{
	if (i->is_vex)
		return x86_written_vex(i);
	switch (i->map) {
	case X86_ONE_BYTE:
		if ((i->opcode & 0xf8) == 0x58 || (i->opcode & 0xf8) == 0xb8)
			return BIT(i->rm);
		if ((i->opcode & 0xf8) == 0xb0)
			return x86_byte_register(i, i->rm);
		if ((i->opcode & 0xf8) == 0x90)
			return BIT(i->rm) | BIT(RAX);
		return x86_written_one_byte(i);
	case X86_0F:
		return (i->opcode & 0xf8) == 0xc8 ?
		    BIT(i->rm) : x86_written_0f(i);
	case X86_0F38:			/* movbe, crc32, adcx */
		return i->opcode == 0xf0 || i->opcode == 0xf1 ||
		    i->opcode == 0xf6 ? BIT(i->reg) : 0;
	case X86_0F3A:
		return i->opcode >= 0x14 && i->opcode <= 0x17 ?
		    x86_written_rm(i, false) : 0;
	}
	return 0;
}

size_t
x86_padding(const unsigned char *code, size_t size)
{
	enum { PADDING_MAX = 4096 };
	size_t at = 0;
	struct x86_instruction i;

	while (at < size && at < PADDING_MAX && x86_decode(code + at, size - at, 0, &i) &&
	       ((i.map == X86_ONE_BYTE && (i.opcode == 0xcc ||
	         (i.opcode == 0x90 && i.rm == 0))) ||
	        (i.map == X86_0F && i.opcode == 0x1f)))
		at += i.size;
	return at;
}
