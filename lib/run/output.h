/* SPDX-License-Identifier: MIT */
/* output.h -- the directory of a recording that the program starts itself. */
#ifndef CPPROF_OUTPUT_H
#define CPPROF_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes the directory `name` for the user alone, NULL: PROGRAM.cpprof, or uses
 * an empty one, or one into which others that still run record.  An earlier
 * recording of that name is renamed first: PROGRAM.1.cpprof, and what had that
 * name is number 2, and so on.  Writes its absolute path to path[size].  False
 * with errno set; EAGAIN: `cpprof record` records there.  Not from a handler.
 */
bool output_prepare(const char *name, char *path, size_t size);

#endif
