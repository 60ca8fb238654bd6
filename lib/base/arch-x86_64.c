/* SPDX-License-Identifier: MIT */
/* arch-x86_64.c -- x86-64: the signal context, and instructions around calls. */
#include "lib/base/arch.h"

#include <string.h>
#include <ucontext.h>

/* DWARF numbering to gregset_t's; psABI figure 3.36. */
static const unsigned char greg_of[ARCH_N_REGISTERS] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	REG_RIP
};

void
arch_registers(const void *context, struct cfi_registers *registers)
{
	const ucontext_t *ucontext = context;
	int i;

	for (i = 0; i < ARCH_N_REGISTERS; i++)
		registers->value[i] =
		    (uint64_t)ucontext->uc_mcontext.gregs[greg_of[i]];
	registers->known = (1u << ARCH_N_REGISTERS) - 1;
}

uint64_t
arch_context_return(const void *context)
{
	const ucontext_t *ucontext = context;

	return *(const uint64_t *)(uintptr_t)
	    ucontext->uc_mcontext.gregs[REG_RSP];
}

/*
 * call r/m of that length: ff /2 with a register, memory, SIB or displacement.
 */
static bool
is_indirect_call(const unsigned char *ra, size_t size, size_t length)
{
	return size >= length && *(ra - length) == 0xff &&
	    (*(ra - length + 1) & 0x38) == 0x10;
}

bool
arch_follows_call(const unsigned char *ra, size_t size)
{
	/* call rel32 */
	return (size >= 5 && ra[-5] == 0xe8) || is_indirect_call(ra, size, 2) ||
	    is_indirect_call(ra, size, 3) || is_indirect_call(ra, size, 4) ||
	    is_indirect_call(ra, size, 6) || is_indirect_call(ra, size, 7);
}

uint64_t
arch_call_target(const unsigned char *ra, size_t size)
{
	int32_t distance;

	if (size < 5 || ra[-5] != 0xe8)
		return 0;
	memcpy(&distance, ra - 4, sizeof distance);
	return (uint64_t)(uintptr_t)ra + (uint64_t)(int64_t)distance;
}

/* endbr64; bnd jmp *n(%rip) */
bool
arch_jumps_through_memory(const unsigned char *code, size_t size)
{
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (size >= sizeof endbr && memcmp(code, endbr, sizeof endbr) == 0) {
		code += sizeof endbr;
		size -= sizeof endbr;
	}
	if (size > 0 && *code == 0xf2) {
		code++;
		size--;
	}
	return size >= 6 && code[0] == 0xff && code[1] == 0x25;
}

/*
 * add $n, %rsp.  Returns the size of the instruction, or 0; *added becomes n.
 */
static size_t
is_add(const unsigned char *code, size_t size, int32_t *added)
{
	if (size < 4 || code[0] != 0x48 || code[2] != 0xc4)
		return 0;
	*added = (int8_t)code[3];
	if (code[1] == 0x83)
		return 4;
	if (code[1] != 0x81 || size < 7)
		return 0;
	memcpy(added, code + 3, sizeof *added);
	return 7;
}

/*
 * The size of an instruction that sets the result before a function returns:
 * xor %eax, %eax; mov $n, %eax; or mov of a register to %eax or %rax.  0: it is
 * something else.
 */
static size_t
is_result(const unsigned char *code, size_t size)
{
	const size_t prefix = size > 0 && (*code & 0xf8) == 0x48;

	if (size >= 2 && code[0] == 0x31 && code[1] == 0xc0)
		return 2;
	if (size >= 5 && code[0] == 0xb8)
		return 5;
	return size >= prefix + 2 && code[prefix] == 0x89 &&
	    (code[prefix + 1] & 0xc7) == 0xc0 &&
	    (prefix == 0 || (*code & 1) == 0) ? prefix + 2 : 0;
}

/*
 * Recognises add $n, %rsp, then pops, then ret, with instructions that set the
 * result between them.
 */
bool
arch_is_left(const unsigned char *code, size_t size, uint64_t *cfa,
    int64_t *saved_at)
{
	const unsigned char *end = code + size;

	*cfa = 0;
	*saved_at = -1;
	while (code < end && *code != 0xc3) {
		const bool is_numbered = *code == 0x41;	/* r8 to r15 */
		int32_t added;
		size_t n = is_result(code, (size_t)(end - code));

		if (n > 0) {
			code += n;
			continue;
		}
		n = is_add(code, (size_t)(end - code), &added);
		if (n > 0 && added >= 0) {
			*cfa += (uint64_t)added;
			code += n;
			continue;
		}
		code += is_numbered;
		if (code == end || (*code & 0xf8) != 0x58 ||
		    (*code == 0x5c && !is_numbered))	/* pop %rsp */
			return false;
		if (*code == 0x5d && !is_numbered)
			*saved_at = (int64_t)*cfa;
		*cfa += 8;
		code++;
	}
	*cfa += 8;
	return code < end;
}

/* mov $15, %rax, or %eax; syscall */
bool
arch_is_signal_return(const unsigned char *code, size_t size)
{
	static const unsigned char with_rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0,
		0x0f, 0x05 };
	static const unsigned char with_eax[] = { 0xb8, 15, 0, 0, 0, 0x0f,
		0x05 };

	return (size >= sizeof with_rax &&
	    memcmp(code, with_rax, sizeof with_rax) == 0) ||
	    (size >= sizeof with_eax &&
	    memcmp(code, with_eax, sizeof with_eax) == 0);
}

/*
 * The handler's arguments are the number, siginfo_t and ucontext_t; rax is 0.
 */
uint64_t
arch_context_below(const struct cfi_registers *registers)
{
	const uint64_t *value = registers->value;
	const uint64_t context = value[1], number = value[5];

	return context == value[ARCH_STACK] + 8 && number - 1 < 64 &&
	    value[0] == 0 && value[4] > context ? context : 0;
}
