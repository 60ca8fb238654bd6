/* SPDX-License-Identifier: MIT */
/* exceptions.h -- floating-point exceptions, each trapped and counted.
 *
 * Exceptions that lib/base/fpu.h names are unmasked in threads that are
 * sampled. The instruction that raises some brings a SIGFPE, whose handler has
 * it executed again, masked and alone: it leaves its default result and brings
 * a SIGTRAP, whose handler counts one and unmasks.  So the program goes on as
 * it would; it could only see from its masks what is done.
 *
 * Exceptions are masked again where the program sets the masks itself, and in
 * its signal handlers, which the kernel starts with all masked.  Ticks find
 * that and unmask them, unless SIGFPE is blocked there or it was the program
 * that has unmasked some: those SIGFPE it gets.
 */
#ifndef CPPROF_EXCEPTIONS_H
#define CPPROF_EXCEPTIONS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/sources/source.h"

extern const struct source source_exceptions;

/* Whether they are counted in this process. */
bool exceptions_are_wanted(void);

/*
 * At a SIGFPE: whether it is such a fault.  It is the last where the thread is
 * not sampled any more.  In the handler.
 */
bool exceptions_take(bool is_sampled, const siginfo_t *info, void *context);

/*
 * At a SIGTRAP: whether it is for the program, and not the end of such an
 * execution.  If that has raised an exception, a sample is due (*has_raised):
 * the context is put to the instruction, until exceptions_go_on.  In the
 * handler.
 */
bool exceptions_end_step(void *context, bool *has_raised);
void exceptions_go_on(void *context);

/* At a tick of a thread that is sampled.  In the handler. */
void exceptions_tick(void *context);

/*
 * The program is about to unmask exceptions by feenableexcept: the masks that
 * it finds must not be ours.  And it clears flags by feclearexcept, a set of
 * FE_*.  Both async-signal-safe, on the thread.
 */
void exceptions_program_enables(void);
void exceptions_program_clears(int exceptions);

#endif
