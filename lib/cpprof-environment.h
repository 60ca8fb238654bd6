/* SPDX-License-Identifier: MIT */
/* cpprof-environment.h -- how the launcher configures the preloaded collector.
 *
 * The launcher puts the library's absolute path in front of LD_PRELOAD (whose
 * names are separated by colons or blanks), and sets the variables below.
 * Programs that the program starts inherit them and are sampled, too, each
 * process into its own file.
 */
#ifndef CPPROF_ENVIRONMENT_H
#define CPPROF_ENVIRONMENT_H

#define CPPROF_ENVIRONMENT_PREFIX "CPPROF_"	/* of all variables */

/*
 * Absolute path of the existing directory to write into.  Without it, the
 * library does nothing.
 */
#define CPPROF_ENVIRONMENT_OUTPUT "CPPROF_OUTPUT"

/*
 * What to sample: names from lib/counts.def, each optionally with a decimal
 * interval in gticks: "cpu:1000,page-faults".  Without it, CPU time.
 */
#define CPPROF_ENVIRONMENT_RESOURCES "CPPROF_RESOURCES"

/* If set, intervals are randomised if possible. */
#define CPPROF_ENVIRONMENT_RANDOM "CPPROF_RANDOM"

/*
 * If set, only the program that the launcher started is sampled, not the
 * processes that it starts.
 */
#define CPPROF_ENVIRONMENT_ALONE "CPPROF_ALONE"

/* If set, returns of calls are counted in nodes' `returns`. */
#define CPPROF_ENVIRONMENT_RETURNS "CPPROF_RETURNS"

/*
 * The functions whose calls are observed: at most CPPROFDATA_CALL_FUNCTIONS_MAX
 * names, separated by commas.
 */
#define CPPROF_ENVIRONMENT_CALLS "CPPROF_CALLS"

/* The maximal size of a process's file in bytes, decimal. */
#define CPPROF_ENVIRONMENT_MAX_SIZE "CPPROF_MAX_SIZE"

/*
 * Decimal process id of the launcher.  Only a child of that process reports on
 * stderr why it cannot be sampled.  Other descendants may run in places or with
 * permissions that do not let them write, and their output must not be
 * disturbed.  Without the variable, all processes report.
 */
#define CPPROF_ENVIRONMENT_LAUNCHER "CPPROF_LAUNCHER"

/*
 * If set, the library does not sample.  It lists the available resources
 * (lib/run/start.h) and ends the process.  CPPROF_OFFER_INSIDE: those of a process
 * into which it is loaded while that runs.
 */
#define CPPROF_ENVIRONMENT_OFFER "CPPROF_OFFER"
#define CPPROF_OFFER_INSIDE "inside"

/*
 * Path of the memory that the recording's processes share
 * (lib/cpprof-shared.h), "/proc/PID/fd/N".  Without it, or if it cannot be
 * opened, a process shares nothing.
 */
#define CPPROF_ENVIRONMENT_SHARED "CPPROF_SHARED"

/*
 * When the recording began, "UTC:MONOTONIC": ns since 1970, and the same moment
 * by CLOCK_MONOTONIC.  Without it, when the process began.
 */
#define CPPROF_ENVIRONMENT_ORIGIN "CPPROF_ORIGIN"

/*
 * The width of the narrowest slices of time in ns, decimal; for tests.  Without
 * it, 1/64 s.
 */
#define CPPROF_ENVIRONMENT_SLICE "CPPROF_SLICE"

/*
 * If set, stacks end with frames of the kernel where that ran, if the kernel
 * shows them to the process.  CPPROF_KERNEL_FILE of lib/cpprof-shared.h says
 * where the kernel is.
 */
#define CPPROF_ENVIRONMENT_KERNEL "CPPROF_KERNEL"

/*
 * The library's file name, its soname, which is looked for next to the program
 * and in libdir.
 */
#define CPPROF_LIBRARY "libcpprof.so.0"

/*
 * Likewise the agent for Java, which may not have been built.  It is installed in
 * pkglibdir, since no program is linked with it.
 */
#define CPPROF_JAVA_AGENT "libcpprof-java.so"

/*
 * The note, an ELF note without contents, of static programs that are linked
 * with the collector (lib/make-static).
 */
#define CPPROF_STATIC_NOTE "\7\0\0\0\0\0\0\0\1\0\0\0cpprof\0"
#define CPPROF_STATIC_NOTE_SIZE 20

#endif
