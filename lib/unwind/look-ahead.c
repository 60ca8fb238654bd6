/* SPDX-License-Identifier: MIT */
/* look-ahead.c -- guesses from the stack which rules a walk will need. */
#include "lib/unwind/unwind.h"

#include <string.h>

#include "lib/base/arch.h"
#include "lib/unwind/rules.h"

#define AHEAD_BYTES 768		/* of the stack: a few frames */
#define AHEAD_NEAR ((uint64_t)16 << 20)

static inline bool
look_ahead_is_near(uint64_t word, uint64_t address)
{
	return word - address + AHEAD_NEAR < 2 * AHEAD_NEAR;
}

/* Stops at the first remembered frame whose return address is unchanged. */
void
look_ahead(const struct unwinder *unwinder, const void *context)
{
	const struct readable *readable = &unwinder->readable;
	const struct frames *stack = &unwinder->stack;
	const struct walked_frame *frame = &stack->frames[stack->n];
	struct cfi_registers registers;
	uint64_t at, end, near, other, word;

	arch_registers(context, &registers);
	near = other = registers.value[ARCH_RETURN];
	at = registers.value[ARCH_STACK];
	if (at % 8 != 0 || !readable_own(readable, at))
		return;
	end = readable->high - at < AHEAD_BYTES ? readable->high :
	    at + AHEAD_BYTES;
	rules_prefetch(near);
	if (stack->n > 0)
		other = stack->frames[stack->n / 2].address;
	for (; at + 8 <= end; at += 8) {
		memcpy(&word, (const void *)(uintptr_t)at, 8);
		if (!look_ahead_is_near(word, near) &&
		    !look_ahead_is_near(word, other))
			continue;
		while (frame > stack->frames && frame[-1].sp < at + 8)
			frame--;
		if (frame > stack->frames && frame[-1].sp == at + 8 &&
		    frame[-1].address + 1 == word)
			break;
		rules_prefetch((word - 1) | RULES_RETURN);
	}
}
