/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording.h -- the directory that a recording goes into. */
#ifndef CPPROF_SHELL_RECORDING_H
#define CPPROF_SHELL_RECORDING_H

#include <stddef.h>

#include "src/base/error.h"
#include "src/formats/cpprofdata/cpprofdata_summary.h"

/*
 * Makes the directory `name` for the user alone, or empties it of an earlier
 * recording; one that holds anything else is left as it is and an error.
 * Writes its absolute path to path[size].  0, or -1 with *error set.
 */
int recording_prepare(const char *name, char *path, size_t size,
                      struct error *error);

/* Adds up what the files in it hold; unreadable ones count nothing. */
int recording_summarise(const char *path, struct cpprofdata_summary *summary,
                        struct error *error);

#endif
