/* SPDX-License-Identifier: MIT */
/* settings.h -- reads the collector's settings from the environment.
 *
 * Functions: from the constructor or cpprof_start, before there is a second
 * sampled thread; not from a handler.
 */
#ifndef CPPROF_SETTINGS_H
#define CPPROF_SETTINGS_H

#include <stdbool.h>

/*
 * Reads the environment, the command line, and /proc into `process` (the C
 * library may not have them yet), and chooses the resources.  `output` is the
 * directory of the files; NULL: the environment names it.
 *
 * False if the process is not to be sampled: no directory is named, it is
 * setuid, or a debugger, a tracer or valgrind watches it, which would show the
 * user every tick.  *problem is then a message, or NULL.  errno is set.
 */
bool settings_read(char **environment, char **words, const char *output,
    const char **problem);

/* The value of an environment variable, or NULL. */
const char *settings_variable(char **environment, const char *name);

#endif
