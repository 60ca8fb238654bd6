/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keep_names.h -- writes names into a recording, once its program has ended.
 *
 * Only into a directory that is the user's own and that nobody else may write
 * to, and only as a whole: beside, and then in place of what was there.
 */
#ifndef CPPROF_SHELL_RECORD_KEEP_NAMES_H
#define CPPROF_SHELL_RECORD_KEEP_NAMES_H

#include <stdbool.h>

#include "src/base/error.h"

/* Whether an entry of a recording's directory is such a file, or was to be. */
bool keep_names_is_file(const char *entry);

/*
 * Keeps the names of what the recording in an open directory has sampled so
 * far; wants_names false: keeps none, and says that none are wanted.  symfs as
 * in read_options; program: the file that was run, which may have been removed
 * or replaced meanwhile, or -1.  0, or -1 with *error set, and what was kept
 * before stays.
 */
int keep_names(int directory, bool wants_names, const char *symfs, int program,
               struct error *error);

/*
 * Does so for a directory whose recorder was killed before it could: one that
 * keeps nothing, or not what a process that it left behind had sampled later,
 * and in which nothing is being written any more.  Leaves anything else as it
 * is.  0, or -1 with *error set when interrupted.
 */
int keep_names_late(const char *path, const char *symfs, struct error *error);

#endif
