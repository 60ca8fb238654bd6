/* SPDX-License-Identifier: MIT */
/* cpprof-environment.h -- how the launcher speaks to the preloaded collector.
 *
 * The launcher puts the library's absolute path at the end of LD_PRELOAD
 * (names there are separated by colons or blanks; what the user had stays)
 * and sets the variables below.  Programs that are started by the program
 * inherit them and are sampled too, each process into a file of its own.
 */
#ifndef CPPROF_ENVIRONMENT_H
#define CPPROF_ENVIRONMENT_H

/*
 * Absolute path of the existing directory to write into.  Without it the
 * library does nothing at all.
 */
#define CPPROF_ENVIRONMENT_OUTPUT "CPPROF_OUTPUT"

/*
 * Microseconds of CPU time for one hit, decimal, within the bounds below.
 * Without it CPPROF_INTERVAL_DEFAULT.
 */
#define CPPROF_ENVIRONMENT_INTERVAL "CPPROF_INTERVAL"

/*
 * 4 ms is one tick of a kernel of 250 Hz.  Thread CPU timers are looked at
 * only at ticks, so a shorter interval gives no more samples there, but hits
 * of finer weight.
 */
#define CPPROF_INTERVAL_DEFAULT 4000
#define CPPROF_INTERVAL_MIN 100
#define CPPROF_INTERVAL_MAX 10000000

/*
 * Process id, decimal, of who started the program: only to its own child does
 * the library say on stderr why it cannot sample.  Children of the program may
 * run in places or with rights with which they cannot write, and what they
 * print there is not ours to spoil.  Without the variable all are told.
 */
#define CPPROF_ENVIRONMENT_LAUNCHER "CPPROF_LAUNCHER"

/* The library's file name, to look for beside the program or in libdir. */
#define CPPROF_LIBRARY "libcpprof.so"

#endif
