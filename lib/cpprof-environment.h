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

#define CPPROF_ENVIRONMENT_PREFIX "CPPROF_"	/* of all of them */

/*
 * Absolute path of the existing directory to write into.  Without it the
 * library does nothing at all.
 */
#define CPPROF_ENVIRONMENT_OUTPUT "CPPROF_OUTPUT"

/*
 * What to sample: names of lib/resources.def, each perhaps with an interval in
 * gticks, decimal: "cpu:1000,page-faults".  Without it, CPU time.
 */
#define CPPROF_ENVIRONMENT_RESOURCES "CPPROF_RESOURCES"

/* If set, intervals are randomised where they can be. */
#define CPPROF_ENVIRONMENT_RANDOM "CPPROF_RANDOM"

/*
 * If set, only the program that the launcher started is sampled, not the
 * processes that it starts.
 */
#define CPPROF_ENVIRONMENT_ALONE "CPPROF_ALONE"

/* If set, calls are seen to return, and nodes' `returns` are counted. */
#define CPPROF_ENVIRONMENT_RETURNS "CPPROF_RETURNS"

/* Bytes that a process's file may grow to, decimal. */
#define CPPROF_ENVIRONMENT_MAX_SIZE "CPPROF_MAX_SIZE"

/*
 * Process id, decimal, of who started the program: only to its own child does
 * the library say on stderr why it cannot sample.  Children of the program may
 * run in places or with rights with which they cannot write, and what they
 * print there is not ours to spoil.  Without the variable all are told.
 */
#define CPPROF_ENVIRONMENT_LAUNCHER "CPPROF_LAUNCHER"

/*
 * If set, the library samples nothing: it says which of the resources can be
 * had here (lib/run/offer.h), and ends the process.
 */
#define CPPROF_ENVIRONMENT_OFFER "CPPROF_OFFER"

/*
 * Path of the memory that the recording's processes share
 * (lib/cpprof-shared.h), "/proc/PID/fd/N".  Without it, or where it cannot be
 * opened, each is alone.
 */
#define CPPROF_ENVIRONMENT_SHARED "CPPROF_SHARED"

/* The library's file name, to look for beside the program or in libdir. */
#define CPPROF_LIBRARY "libcpprof.so"

#endif
