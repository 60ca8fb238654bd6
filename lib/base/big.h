/* SPDX-License-Identifier: MIT */
/* big.h -- tables that most processes never touch.
 *
 * Kept apart, so that the variables that all touch lie on few pages: each page
 * costs a process a microsecond, and many processes live for one millisecond.
 * (The linker sorts sections by name.)
 */
#ifndef CPPROF_BIG_H
#define CPPROF_BIG_H

#define BIG_TABLE __attribute__((section(".bss.cpprof_big")))

#endif
