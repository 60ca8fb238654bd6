/* SPDX-License-Identifier: MIT */
/* exceptions.h -- floating-point exceptions, each trapped and counted.
 *
 * The exceptions that lib/base/fpu.h lists are unmasked in sampled threads.  An
 * instruction that raises one causes a SIGFPE.  Its handler masks the
 * exceptions and single-steps the instruction, which leaves its default result
 * and causes a SIGTRAP.  That handler counts one exception and unmasks again.
 * So the program continues as it would without us; it can notice only by
 * reading the masks.
 *
 * The exceptions become masked when the program sets the masks itself, and in
 * its signal handlers, which the kernel starts with all masked.  Ticks find
 * this and unmask them, unless SIGFPE is blocked or the program itself has
 * unmasked some, in which case the program gets its SIGFPEs.
 *
 * All functions: async-signal-safe, on the thread.
 */
#ifndef CPPROF_EXCEPTIONS_H
#define CPPROF_EXCEPTIONS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/sources/resource.h"

extern const struct resource_source source_exceptions;

/*
 * In the handler of SIGFPE: whether it was caused by our unmasking.  If so,
 * starts the single step; if the thread is not sampled any more, masks the
 * exceptions instead.
 */
bool exceptions_take(bool is_sampled, const siginfo_t *info, void *context);

/*
 * In the handler of SIGTRAP: false if it was the end of a single step of ours
 * and nothing else.  *has_raised: the instruction has raised an exception and a
 * sample is due; the context then points to the instruction until
 * exceptions_go_on.
 */
bool exceptions_end_step(void *context, bool *has_raised);
void exceptions_go_on(void *context);

/* At a tick of a sampled thread, in the handler. */
void exceptions_tick(void *context);

/*
 * To be called before the program unmasks exceptions by feenableexcept, so that
 * it finds the masks as it would without us; after it has cleared flags, a set
 * of FE_*, by feclearexcept.
 */
void exceptions_program_enables(void);
void exceptions_program_clears(int exceptions);

#endif
