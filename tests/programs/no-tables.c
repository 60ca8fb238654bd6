/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * no-tables.c -- works 0.3 s where the register of the frame pointer has
 * something else, in code without unwind tables, as compilers may use it.  Its
 * stack pointer comes from memory, so that the code does not tell where the
 * frame is either.
 */
#include <stdint.h>
#include <string.h>
#include <time.h>

/* Two words each look like a frame; nothing is at the second. */
enum { N_WORDS = 64, NEXT = 32 };

__attribute__((noinline)) static void
work(uintptr_t *words)
{
	static uintptr_t stack;
	uintptr_t n = 200000;

	__asm__ volatile("push %%rbp\n\tmov %%rsp, %2\n\tmov %1, %%rbp\n\t"
	                 "mov %2, %%rsp\n1:\tdec %0\n\t"
	                 "jnz 1b\n\tpop %%rbp" : "+r" (n) :
	                 "r" (words), "m" (stack) : "memory", "cc");
}

int
main(void)
{
	uintptr_t words[N_WORDS];

	memset(words, 0, sizeof words);
	words[0] = (uintptr_t)&words[NEXT];
	words[1] = 0x1234;
	words[NEXT] = 0x10;
	words[NEXT + 1] = 0x5678;
	while (clock() < CLOCKS_PER_SEC / 10 * 3)
		work(words);
	return 0;
}
