/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unwind-oracle.h -- compares the collector's stacks with libgcc's.
 *
 * For a signal handler, one thread at a time: oracle_ask records the
 * interrupted stack as _Unwind_Backtrace finds it, oracle_compare checks
 * whether the collector's unwinder finds the same addresses.
 *
 * Where code has no tables the unwinder may find more, by guessing; then it
 * must begin with what libgcc finds.  libgcc takes any word for a return
 * address.  Where it goes on to an address that no call has left, the unwinder
 * must agree up to there.
 */
#ifndef CPPROF_TESTS_UNWIND_ORACLE_H
#define CPPROF_TESTS_UNWIND_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/unwind/unwinder.h"

struct oracle_tally {
	unsigned long n_stacks, n_frames, n_kept;
	unsigned long n_guessed;	/* stacks through code without tables */
	unsigned long n_faults;		/* libgcc's */
	unsigned long n_lost;		/* libgcc took other words for return
					 * addresses */
	unsigned long n_wrong;
	size_t deepest;
	char first_wrong[400];
};

/*
 * False if libgcc faulted: when it installs the context of an exception's
 * handler it overwrites the registers that its own frame saved.  Then those of
 * its caller are lost, and it reads arbitrary memory.  SIGSEGV must not be
 * blocked.
 */
bool oracle_ask(uint64_t pc);

/*
 * The address at which a ucontext_t was interrupted; not inside a handler that
 * has not begun.
 */
uint64_t oracle_pc(const void *context);

/* The number of frames it found. */
size_t oracle_depth(void);

/*
 * Compares the stack of the unwinder, or as much as it walked if the walk was
 * broken off; false, with the difference in the tally, if libgcc's differs.
 */
bool oracle_compare(const struct unwinder *unwinder, const char *which,
    struct oracle_tally *tally);
bool oracle_compare_walked(const struct unwinder *unwinder, const char *which,
    struct oracle_tally *tally);

#endif
