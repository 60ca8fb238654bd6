/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keep_names.h -- writes names into a recording, once its program has ended.
 *
 * Writes only into a directory that the user owns and nobody else may write to.
 * The names go to a new file, which replaces the old one when it is complete.
 */
#ifndef CPPROF_SHELL_RECORD_KEEP_NAMES_H
#define CPPROF_SHELL_RECORD_KEEP_NAMES_H

#include <stdbool.h>

#include "src/base/error.h"

/* Whether a file of a recording holds names, perhaps unfinished. */
bool keep_names_is_file(const char *entry);

/*
 * Names what the recording in an open directory has sampled so far.  If
 * wants_names is false, the file only says that no names are wanted.  symfs:
 * as in read_options.  program: the program's file, open because it may have
 * been removed or replaced since, or -1.  0, or -1 with *error set and the old
 * names still there.
 */
int keep_names(int directory, bool wants_names, const char *symfs, int program,
               struct error *error);

/*
 * Does the same if names are missing: the recorder was killed before it wrote
 * them, or a process sampled more after the recorder had ended.  Does nothing
 * if path is no such directory or is still being written to.  0, or -1 with
 * *error set if interrupted.
 */
int keep_names_late(const char *path, const char *symfs, struct error *error);

#endif
