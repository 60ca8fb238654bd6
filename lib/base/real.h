/* SPDX-License-Identifier: MIT */
/* real.h -- the C library's own versions of functions that we wrap.
 *
 * All functions: async-signal-safe, any thread.
 */
#ifndef CPPROF_REAL_H
#define CPPROF_REAL_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>

/* Those with an ellipsis take the arguments that they may be given. */
struct real {
#define NEXT(type, name, parameters, arguments) type (*name) parameters;
#include "lib/base/real.def"
#undef NEXT
};

/*
 * The table of real functions.  Each is looked up when it is first called,
 * because constructors of other libraries may call before ours runs.
 */
const struct real *real(void);

/*
 * Looks up the functions that samples show as frames, so that their addresses
 * are known.
 */
void real_prepare(void);

/*
 * Looks up the functions that most forked children call, so that not every
 * child has to.
 */
void real_prepare_for_children(void);

#endif
