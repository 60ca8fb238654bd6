/* SPDX-License-Identifier: MIT */
/* big.h -- tables that most processes never touch.
 *
 * They have a section of their own, so that the variables used by every process
 * lie on few pages.  Each page costs a process a microsecond, and many
 * processes live for one millisecond.  The linker sorts sections by name.
 */
#ifndef CPPROF_BIG_H
#define CPPROF_BIG_H

#define BIG_TABLE __attribute__((section(".bss.cpprof_big")))

#endif
