/* SPDX-License-Identifier: MIT */
/* attributes.h -- which functions programs see, and where variables lie.
 *
 * Variables that every process uses lie together on few pages.  Each page costs
 * a process a microsecond, and many processes live for one millisecond.  The
 * linker sorts sections by name.
 */
#ifndef CPPROF_ATTRIBUTES_H
#define CPPROF_ATTRIBUTES_H

/* A function that programs see; all others are hidden. */
#define EXPORTED __attribute__((visibility("default")))

/*
 * A function that runs once in each process or thread, when it begins or ends.
 * Cold, so that the code of all of them lies together: each page costs a short
 * process a fault.
 */
#define RUNS_ONCE __attribute__((cold))

/* A table that most processes never touch. */
#define BIG_TABLE __attribute__((section(".bss.cpprof_big"), aligned(4096)))

/* Its start shares a page with the variables.  Only one: settings.c. */
#define BIG_FROM_START __attribute__((section(".bss.cpprof_after.1")))

/* On a page of its own behind that.  Only one: threads.c. */
#define BIG_WITH_START __attribute__((section(".bss.cpprof_after.2"), \
    aligned(4096)))

/*
 * A variable without an initial value that is zero again in every forked child:
 * it is specific to a process (its id, its file, locks).  The kernel zeroes it
 * (MADV_WIPEONFORK), even for forks that no handler of ours sees.  Such
 * variables lie together, because most children execute a program at once, and
 * each page that they write costs two microseconds.  Tables lie apart, because
 * most processes do not touch them.  lib/base/sampling.c has both ends.
 */
#define WIPED __attribute__((section(".bss.cpprof_wiped.1")))
#define WIPED_TABLE __attribute__((section(".bss.cpprof_wiped.2")))

#endif
