/* SPDX-License-Identifier: MIT */
/* output.h -- the directory of a recording that the program starts itself. */
#ifndef CPPROF_OUTPUT_H
#define CPPROF_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes the directory `name` for the user alone, or uses one that holds nothing
 * but a recording's files, and removes those that processes now gone have left;
 * NULL: PROGRAM.cpprof.  Writes its absolute path to path[size].  False with
 * errno set.  Not from a handler.
 */
bool output_prepare(const char *name, char *path, size_t size);

#endif
