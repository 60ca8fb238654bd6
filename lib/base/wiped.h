/* SPDX-License-Identifier: MIT */
/* wiped.h -- variables that are zero again in every forked child.
 *
 * These are specific to a process (its id, its file, locks), and a child begins
 * with new ones.  The kernel zeroes them (MADV_WIPEONFORK), even for forks that
 * no handler of ours sees.  They lie together, because most children execute a
 * program at once, and each page that they write costs two microseconds.
 */
#ifndef CPPROF_WIPED_H
#define CPPROF_WIPED_H

#include <stdbool.h>

/*
 * Variables without an initial value.  Tables lie apart, because most processes
 * do not touch them.  The linker sorts sections by name; lib/base/wiped.c has
 * both ends.
 */
#define WIPED __attribute__((section(".bss.cpprof_wiped.1")))
#define WIPED_TABLE __attribute__((section(".bss.cpprof_wiped.2")))

/*
 * Wipes these variables from now on in every child.  `one` and `other` are the
 * addresses of two WIPED variables of different files, which show whether the
 * linker has sorted them.  False with errno set if it has not, or if the kernel
 * does not support it.  Once, from the constructor.
 */
bool wiped_begin(const volatile void *one, const volatile void *other);

#endif
