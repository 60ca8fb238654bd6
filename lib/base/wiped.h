/* SPDX-License-Identifier: MIT */
/* wiped.h -- variables that are zero again in every forked child.
 *
 * What a process has of its own (its id, its file, locks) a child begins
 * afresh. The kernel clears it (MADV_WIPEONFORK), for a fork that no handler of
 * ours sees, too; and it lies together, since most children execute a program
 * at once, and each page that they write to costs them two microseconds.
 */
#ifndef CPPROF_WIPED_H
#define CPPROF_WIPED_H

#include <stdbool.h>

/*
 * Without an initial value.  Of a table most processes touch nothing: they lie
 * apart.  (The linker sorts sections by name; lib/base/wiped.c has both ends.)
 */
#define WIPED __attribute__((section(".bss.cpprof_wiped.1")))
#define WIPED_TABLE __attribute__((section(".bss.cpprof_wiped.2")))

/*
 * From now on they are wiped in every child.  Takes the addresses of two WIPED
 * variables of different files, to see whether the linker has sorted them.
 * False with errno set: they do not lie together, or the kernel cannot.  Once,
 * from the constructor.
 */
bool wiped_begin(const volatile void *one, const volatile void *other);

#endif
