/* SPDX-License-Identifier: MIT */
/* fpu.h -- floating-point exceptions and how the machine traps them.
 *
 * Four of the five exceptions of IEEE 754 are counted: invalid operation,
 * division by zero, overflow and underflow.  Most instructions raise the fifth,
 * inexact.  An instruction that raises an unmasked exception faults before it
 * has any effect.  It can be executed again with all exceptions masked, for its
 * default result.
 *
 * All functions: async-signal-safe, for the calling thread or for one that a
 * signal has interrupted (`context`, a ucontext_t).
 */
#ifndef CPPROF_FPU_H
#define CPPROF_FPU_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Unmask the exceptions that are counted, if all are masked.  If some are
 * unmasked, they were unmasked here before or by the program.  Returns the
 * flags of exceptions already raised.
 */
uint32_t fpu_unmask(void);
uint32_t fpu_unmask_in(void *context);

/* Mask again what fpu_unmask has unmasked, but not what the program has. */
void fpu_mask(void);
void fpu_mask_in(void *context);

/*
 * Whether a SIGFPE comes from an instruction that faulted because of
 * fpu_unmask.  If the program has an action for SIGFPE (program_acts) and the
 * masks have changed since, it is assumed to have unmasked them itself.
 */
bool fpu_has_faulted(const siginfo_t *info, const void *context,
    bool program_acts);

/* An instruction that is executed again; one per thread. */
struct fpu_step {
	uintptr_t address, next;	/* its address, and that of the next
					   instruction */
	uint32_t masks;
	uint32_t flags;		/* raised so far */
	bool was_traced;	/* the program single-steps itself */
};

/*
 * Executes the instruction with all exceptions masked.  A SIGTRAP follows it.
 */
void fpu_begin_step(void *context, struct fpu_step *step);

/*
 * At a SIGTRAP: whether the step is complete.  If so, restores the masks, and
 * leaves the flags as the program would find them.  *has_raised: whether the
 * instruction has raised an exception that is counted.
 */
bool fpu_end_step(void *context, struct fpu_step *step, bool *has_raised);

/*
 * Set the context's pc back to the instruction that was executed, and forward
 * again.
 */
void fpu_go_back(void *context, const struct fpu_step *step);
void fpu_go_on(void *context, const struct fpu_step *step);

/* As feenableexcept and feclearexcept of the C library. */
int fpu_enable(int exceptions);
void fpu_clear(int exceptions);

/* Divides 1 by 0 as a test.  Preserves the program's flags. */
void fpu_divide_by_zero(void);

#endif
