/* SPDX-License-Identifier: MIT */
/* fpu-x86_64.c -- SSE and AVX: MXCSR and the trap flag.
 *
 * x87 instructions are not counted: they fault only at the next x87 instruction
 * that waits, when they cannot be executed again.  But the x87 unit has masks
 * of its own, which the C library changes together with MXCSR's.  If both are
 * equal, the program has set them.
 *
 * If underflow is unmasked, every tiny result faults; if it is masked, only
 * tiny results that are also inexact raise it.  So which exceptions an
 * instruction raises is only known after it was executed.  Whether underflow
 * had been raised before cannot be read from MXCSR, where the fault itself sets
 * it, so it is remembered.
 */
#include "lib/base/fpu.h"

#include <fenv.h>
#include <ucontext.h>

#define FLAGS 0x3fu
#define UNDERFLOW ((uint32_t)FE_UNDERFLOW)
#define MASKS 0x1f80u			/* bit i + 7 masks exception i */
#define COUNTED ((uint32_t)(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | \
    FE_UNDERFLOW) << 7)
#define TRAP_FLAG 0x100

#define SIMD_FAULT 19			/* #XM */

static inline uint32_t
get_control(void)
{
	uint32_t control;

	__asm__ volatile ("stmxcsr %0" : "=m" (control));
	return control;
}

static inline uint16_t
get_x87_control(void)
{
	uint16_t control;

	__asm__ volatile ("fnstcw %0" : "=m" (control));
	return control;
}

static inline void
set_control(uint32_t control)
{
	__asm__ volatile ("ldmxcsr %0" : : "m" (control));
}

static uint32_t
unmask(uint32_t control)
{
	return (control & MASKS) == MASKS ? control & ~COUNTED : control;
}

/*
 * Whether we have unmasked what is unmasked.  Some may have been masked since.
 */
static bool
fpu_x86_64_is_ours(uint32_t control, uint16_t x87_control)
{
	const uint32_t unmasked = ~control & MASKS;

	return unmasked != 0 && (unmasked & ~COUNTED) == 0 &&
	    unmasked != (~(uint32_t)x87_control << 7 & MASKS);
}

static uint32_t
mask(uint32_t control, uint16_t x87_control)
{
	return fpu_x86_64_is_ours(control, x87_control) ? control | MASKS :
	    control;
}

static struct _libc_fpstate *
state_of(const void *context)
{
	return ((const ucontext_t *)context)->uc_mcontext.fpregs;
}

uint32_t
fpu_unmask(void)
{
	const uint32_t control = get_control();

	set_control(unmask(control));
	return control & FLAGS;
}

uint32_t
fpu_unmask_in(void *context)
{
	struct _libc_fpstate *state = state_of(context);

	state->mxcsr = unmask(state->mxcsr);
	return state->mxcsr & FLAGS;
}

void
fpu_mask(void)
{
	set_control(mask(get_control(), get_x87_control()));
}

void
fpu_mask_in(void *context)
{
	struct _libc_fpstate *state = state_of(context);

	state->mxcsr = mask(state->mxcsr, state->cwd);
}

bool
fpu_has_faulted(const siginfo_t *info, const void *context, bool program_acts)
{
	const struct _libc_fpstate *state = state_of(context);
	const greg_t *r = ((const ucontext_t *)context)->uc_mcontext.gregs;
	const uint32_t unmasked = ~state->mxcsr & MASKS;

	return info->si_code > 0 && r[REG_TRAPNO] == SIMD_FAULT &&
	    fpu_x86_64_is_ours(state->mxcsr, state->cwd) &&
	    (unmasked == COUNTED || !program_acts);
}

void
fpu_begin_step(void *context, struct fpu_step *step)
{
	struct _libc_fpstate *state = state_of(context);
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint32_t may_be_spurious = ~step->flags & UNDERFLOW;

	step->address = (uintptr_t)r[REG_RIP];
	step->masks = state->mxcsr & MASKS;
	step->flags = state->mxcsr & FLAGS & ~may_be_spurious;
	step->was_traced = (r[REG_EFL] & TRAP_FLAG) != 0;
	state->mxcsr = (state->mxcsr & ~FLAGS) | MASKS;
	r[REG_EFL] |= TRAP_FLAG;
}

bool
fpu_end_step(void *context, struct fpu_step *step, bool *has_raised)
{
	struct _libc_fpstate *state = state_of(context);
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	if ((uintptr_t)r[REG_RIP] == step->address)
		return false;
	step->next = (uintptr_t)r[REG_RIP];
	*has_raised = (state->mxcsr & COUNTED >> 7) != 0;
	step->flags |= state->mxcsr & FLAGS;
	state->mxcsr = (state->mxcsr & ~MASKS) | step->masks | step->flags;
	if (!step->was_traced)
		r[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	return true;
}

void
fpu_go_back(void *context, const struct fpu_step *step)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] =
	    (greg_t)step->address;
}

void
fpu_go_on(void *context, const struct fpu_step *step)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] =
	    (greg_t)step->next;
}

void
fpu_divide_by_zero(void)
{
	const uint32_t control = get_control();
	double quotient = 1;

	__asm__ volatile ("divsd %1, %0" : "+x" (quotient) : "x" (0.0));
	set_control(control);
}

int
fpu_enable(int exceptions)
{
	const uint16_t control = get_x87_control();
	uint16_t changed;

	exceptions &= FE_ALL_EXCEPT;
	changed = (uint16_t)(control & ~exceptions);
	__asm__ volatile ("fldcw %0" : : "m" (changed));
	set_control(get_control() & ~((uint32_t)exceptions << 7));
	return ~control & FE_ALL_EXCEPT;
}

void
fpu_clear(int exceptions)
{
	fenv_t environment;

	exceptions &= FE_ALL_EXCEPT;
	__asm__ volatile ("fnstenv %0" : "=m" (environment));
	environment.__status_word &= (uint16_t)(exceptions ^ FE_ALL_EXCEPT);
	__asm__ volatile ("fldenv %0" : : "m" (environment));
	set_control(get_control() & ~(uint32_t)exceptions);
}
