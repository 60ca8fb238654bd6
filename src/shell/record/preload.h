/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preload.h -- whether the collector can be preloaded, and from which path. */
#ifndef CPPROF_SHELL_RECORD_PRELOAD_H
#define CPPROF_SHELL_RECORD_PRELOAD_H

#include <stddef.h>

#include "src/base/error.h"

/*
 * 0 when a library can be preloaded into the program in that file, or into
 * the interpreter that its #! line names; -1 with *error saying why not:
 * statically linked, set-user-ID, another machine's, not executable.
 */
int preload_check(const char *path, struct error *error);

/*
 * Finds libcpprof.so in the folder of this program (as built) or where it is
 * installed.  Writes a path for LD_PRELOAD to path[size]: the library's own,
 * or, if that contains a blank or a colon, the path of a symbolic link to it,
 * which is made if necessary.  0, or -1 with *error set.
 */
int preload_find_library(char *path, size_t size, struct error *error);

#endif
