/* SPDX-License-Identifier: MIT */
/* settings.h -- what the environment asks of the collector.
 *
 * Functions: from the constructor or cpprof_start, before there is a second
 * sampled thread; not from a handler.
 */
#ifndef CPPROF_SETTINGS_H
#define CPPROF_SETTINGS_H

#include <stdbool.h>

/*
 * Reads the environment, the words of the command line, and /proc (the C
 * library may not know them yet) into `process`, and chooses the resources.
 * `output` is the directory for the files; NULL: the environment names it.
 *
 * False if the process is not to be sampled: no directory is named, it is
 * setuid, or a debugger, a tracer or valgrind watches it, which would show the
 * user every tick.  *problem then says what is wrong, or is NULL if nothing is;
 * errno is set.
 */
bool settings_read(char **environment, char **words, const char *output,
    const char **problem);

/* The value of a variable of the environment, or NULL. */
const char *settings_variable(char **environment, const char *name);

#endif
