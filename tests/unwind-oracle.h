/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind-oracle.h -- the collector's stacks compared with libgcc's.
 *
 * In a signal handler, one thread at a time: oracle_ask takes down the stack
 * that was interrupted as _Unwind_Backtrace tells it, oracle_compare says
 * whether the collector's unwinder tells the same addresses.
 *
 * Where code has no tables the unwinder may know more, by guessing; then what
 * libgcc knows must be what it begins with.  libgcc takes any word for a return
 * address; where it goes on to what no call has left, the unwinder must agree up
 * to there.
 */
#ifndef CPPROF_TESTS_UNWIND_ORACLE_H
#define CPPROF_TESTS_UNWIND_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/unwind/unwind.h"

struct oracle_tally {
	unsigned long n_stacks, n_frames, n_kept;
	unsigned long n_guessed;	/* stacks through code without tables */
	unsigned long n_faults;		/* libgcc's */
	unsigned long n_lost;		/* libgcc took other words for code */
	unsigned long n_wrong;
	size_t deepest;
	char first_wrong[400];
};

/*
 * False if libgcc has faulted: when it installs the context of an exception's
 * handler it overwrites the registers that its own frame has saved, so that
 * its caller's cannot be found any more, and it reads wild memory.  SIGSEGV
 * must not be blocked.
 */
bool oracle_ask(uint64_t pc);

/* Where a ucontext_t was interrupted; not in a handler that has not begun. */
uint64_t oracle_pc(const void *context);

/* How many frames it told. */
size_t oracle_depth(void);

/*
 * The stack of the unwinder, or (for a walk that was broken off) what it has
 * walked; false, and the tally tells, if libgcc's is another.
 */
bool oracle_compare(const struct unwinder *unwinder, const char *which,
    struct oracle_tally *tally);
bool oracle_compare_walked(const struct unwinder *unwinder, const char *which,
    struct oracle_tally *tally);

#endif
