/* SPDX-License-Identifier: MIT */
/* output.h -- creates the directory of a recording that the program itself
 * starts.
 */
#ifndef CPPROF_OUTPUT_H
#define CPPROF_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Creates the directory `name` (NULL: PROGRAM.cpprof) with access for the user
 * only, or uses an empty one or one into which processes that still run are
 * recording.  An earlier recording of that name is first renamed to
 * PROGRAM.1.cpprof, one that has that name to number 2, and so on.  Stores the
 * absolute path in path[size].  False with errno set; EAGAIN: `cpprof record`
 * is recording there.  Not from a handler.
 */
bool output_prepare(const char *name, char *path, size_t size);

#endif
