/* SPDX-License-Identifier: MIT */
/* big.h -- tables that most processes never touch, or of which only the start.
 *
 * They have sections of their own, so that the variables used by every process
 * lie on few pages.  Each page costs a process a microsecond, and many
 * processes live for one millisecond.  The linker sorts sections by name.
 */
#ifndef CPPROF_BIG_H
#define CPPROF_BIG_H

#define BIG_TABLE __attribute__((section(".bss.cpprof_big"), aligned(4096)))

/* Its start shares a page with the variables.  Only one: settings.c. */
#define BIG_FROM_START __attribute__((section(".bss.cpprof_after.1")))

/* On a page of its own behind that.  Only one: threads.c. */
#define BIG_WITH_START __attribute__((section(".bss.cpprof_after.2"), \
    aligned(4096)))

#endif
