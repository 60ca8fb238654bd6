/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind-oracle.c -- asks libgcc, and compares both stacks frame by frame. */
#include "tests/unwind-oracle.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unwind.h>

#include "lib/base/arch.h"
#include "lib/base/sampling.h"
#include "lib/unwind/traits.h"
#include "lib/unwind/trampoline.h"

#define MAX_FRAMES 200000

/* Of libgcc, which has no header for it. */
struct dwarf_eh_bases {
	void *text, *data, *function;
};
const void *_Unwind_Find_FDE(void *address, struct dwarf_eh_bases *bases);

static struct {
	uint64_t address[MAX_FRAMES];
	size_t n;
} trace;

/* Needed by the trampoline: nothing here is a forked child. */
volatile uint32_t sampling_same_process = 1;

static const uint64_t *expected;	/* in the trace, innermost first */
static size_t n_expected;
static sigjmp_buf after_fault;

static _Unwind_Reason_Code
take_frame(struct _Unwind_Context *context, void *unused)
{
	int is_exact = 0;
	uint64_t ip = _Unwind_GetIPInfo(context, &is_exact);

	(void)unused;
	if (trampoline_is_stub(ip) && !is_exact)
		return _URC_NO_REASON;
	if (trace.n < MAX_FRAMES)
		trace.address[trace.n++] = ip - !is_exact;
	return _URC_NO_REASON;
}

static void
leave_fault(int number)
{
	siglongjmp(after_fault, number);
}

uint64_t
oracle_pc(const void *context)
{
	struct cfi_registers registers;
	uint64_t below;

	arch_registers(context, &registers);
	while ((below = arch_context_below(&registers)) != 0)
		arch_registers((const void *)(uintptr_t)below, &registers);
	return registers.value[ARCH_RETURN];
}

bool
oracle_ask(uint64_t pc)
{
	struct sigaction action = { .sa_handler = leave_fault }, old;
	size_t i;

	trace.n = 0;
	sigaction(SIGSEGV, &action, &old);
	if (sigsetjmp(after_fault, 1) != 0) {
		sigaction(SIGSEGV, &old, NULL);
		return false;
	}
	_Unwind_Backtrace(take_frame, NULL);
	sigaction(SIGSEGV, &old, NULL);
	for (i = 0; i < trace.n && trace.address[i] != pc; i++)
		;
	/* It reports an end marked by 0 as a frame at address 0 - 1. */
	while (trace.n > i && trace.address[trace.n - 1] + 1 < 4096)
		trace.n--;
	expected = &trace.address[i];
	n_expected = trace.n - i;
	return true;
}

size_t
oracle_depth(void)
{
	return n_expected;
}

/* Compares frames from the innermost on; returns how many agree. */
static size_t
count_equal(const struct walked_frame *innermost, ptrdiff_t outwards, size_t n)
{
	size_t i;

	for (i = 0; i < n && i < n_expected; i++) {
		const struct walked_frame *frame =
		    innermost + (ptrdiff_t)i * outwards;

		if (frame->address != expected[i] &&
		    /* libgcc calls a signal trampoline's address inexact */
		    !((frame->flags & FRAME_EXACT) != 0 &&
		    frame->address - expected[i] <= 1))
			break;
	}
	return i;
}

/*
 * Whether libgcc was still right at that frame of a caller: there is a call.
 */
static bool
is_call(uint64_t address)
{
	return traits_is_code(address) && traits_is_code(address - 7) &&
	    arch_follows_call((const unsigned char *)(uintptr_t)address + 1,
	    ARCH_CALLING_SIZE);
}

static bool
has_guess(const struct walked_frame *innermost, ptrdiff_t outwards, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((innermost[(ptrdiff_t)i * outwards].flags &
		    FRAME_GUESSED) != 0)
			return true;
	return false;
}

/*
 * Whether libgcc ends because it has no rules for its outermost frame, as for
 * the _init of a program that was linked without them.
 */
static bool
lacks_rules(void)
{
	struct dwarf_eh_bases bases;

	return n_expected > 0 && _Unwind_Find_FDE((void *)(uintptr_t)
	    expected[n_expected - 1], &bases) == NULL;
}

static bool
compare(const struct unwinder *unwinder, const struct walked_frame *innermost,
    ptrdiff_t outwards, size_t n, const char *which,
    struct oracle_tally *tally)
{
	const size_t n_equal = count_equal(innermost, outwards, n);
	const bool is_guess = has_guess(innermost, outwards, n);

	tally->n_guessed += is_guess;
	if (n_equal < n_expected && n_equal > 0 &&
	    !is_call(expected[n_equal])) {
		tally->n_lost++;
		return true;
	}
	if (n_equal == n_expected && lacks_rules())
		return true;
	if (is_guess ? n_equal == n || n_equal == n_expected :
	    unwinder->end == UNWIND_COMPLETE && n_equal == n &&
	    n_equal == n_expected)
		return true;
	if (tally->n_wrong++ == 0)
		snprintf(tally->first_wrong, sizeof tally->first_wrong,
		    "%s: %zu frames, libgcc %zu, end %d, pc %#lx; from the "
		    "innermost %zu agree, then %#lx, libgcc %#lx", which, n,
		    n_expected, (int)unwinder->end,
		    (unsigned long)expected[0], n_equal, n_equal < n ?
		    (unsigned long)innermost[(ptrdiff_t)n_equal * outwards]
		    .address : 0, n_equal < n_expected ?
		    (unsigned long)expected[n_equal] : 0);
	return false;
}

bool
oracle_compare(const struct unwinder *unwinder, const char *which,
    struct oracle_tally *tally)
{
	const struct frames *stack = &unwinder->stack;

	return compare(unwinder, &stack->frames[stack->n - 1], -1, stack->n,
	    which, tally);
}

bool
oracle_compare_walked(const struct unwinder *unwinder, const char *which,
    struct oracle_tally *tally)
{
	return compare(unwinder, unwinder->fresh.frames, 1, unwinder->fresh.n,
	    which, tally);
}
