/* SPDX-License-Identifier: MIT */
/* fpu.h -- floating-point exceptions, as the machine traps them.
 *
 * Four of the five that IEEE 754 knows can be counted: invalid operation,
 * division by zero, overflow and underflow.  The fifth, inexact, is raised by
 * most instructions there are.  An instruction that raises one that is
 * unmasked faults: nothing of it has been done, and it can be executed once
 * more, masked, for its default result.
 *
 * All functions: async-signal-safe; of the calling thread, or of one that a
 * signal has interrupted (a ucontext_t).
 */
#ifndef CPPROF_FPU_H
#define CPPROF_FPU_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Unmasks what is counted if all is masked: else it is already, or the program
 * has unmasked what it wants itself.  Returns the flags of exceptions that
 * have been raised.
 */
uint32_t fpu_unmask(void);
uint32_t fpu_unmask_in(void *context);

/* Masks it again, what is left of it; not what the program has unmasked. */
void fpu_mask(void);
void fpu_mask_in(void *context);

/*
 * Whether a SIGFPE comes from an instruction that faults because of
 * fpu_unmask.  A program that has an action for SIGFPE is believed to have
 * unmasked what it has not left as it was.
 */
bool fpu_has_faulted(const siginfo_t *info, const void *context,
    bool program_acts);

/* An instruction that is executed again; one for each thread. */
struct fpu_step {
	uintptr_t address, next;	/* of it, and where it leads */
	uint32_t masks;
	uint32_t flags;		/* raised, up to now */
	bool was_traced;	/* the program steps through itself */
};

/* Has it executed, masked; a SIGTRAP comes when it is done. */
void fpu_begin_step(void *context, struct fpu_step *step);

/*
 * At a SIGTRAP: whether it is done.  Then all is unmasked that was, and flags
 * are as the program would find them.  *has_raised: whether it has raised an
 * exception that is counted, as it would have without a fault.
 */
bool fpu_end_step(void *context, struct fpu_step *step, bool *has_raised);

/* Puts the context to the instruction that is done, and behind it again. */
void fpu_go_back(void *context, const struct fpu_step *step);
void fpu_go_on(void *context, const struct fpu_step *step);

/* feenableexcept and feclearexcept, as the C library does them. */
int fpu_enable(int exceptions);
void fpu_clear(int exceptions);

/* Divides 1 by 0, for trying it out; the program's flags stay. */
void fpu_divide_by_zero(void);

#endif
