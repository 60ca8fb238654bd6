/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording_names.h -- what a recording's directory keeps of names.
 *
 * Beside the files of the processes there is one with the names of all that
 * they sampled, so that the programs may be rebuilt, removed or left behind.
 */
#ifndef CPPROF_FORMATS_RECORDING_NAMES_H
#define CPPROF_FORMATS_RECORDING_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/base/writer.h"
#include "src/profile/profile.h"
#include "src/symbols/elf/debug_file.h"
#include "src/symbols/names/kept_names.h"

/* The names of the directory that was asked for last. */
struct recording_names;

/* Freed with recording_names_free; NULL with *error set. */
struct recording_names *recording_names_new(struct error *error);
void recording_names_free(struct recording_names *names);

/*
 * *kept: the names beside a process's file, NULL where there are none; good
 * until the next call.  What is wrong with them is a warning of the profile,
 * once.  0, or -1 with *error set for want of memory.
 */
int recording_names_beside(struct recording_names *names, const char *file,
                           struct profile *profile,
                           const struct kept_names **kept,
                           struct error *error);

/* Whether a path is that of such a file, which is no profile by itself. */
bool recording_names_is_file(const char *path);

/*
 * Whether files[n] of one directory lack names that were to be kept: there are
 * none, or something was sampled after they were written.
 */
bool recording_names_are_missing(const char *const *files, size_t n);

/*
 * Finds names and lines of all that files[n] of one directory have sampled,
 * and writes what that directory is to keep.  What it keeps already stays; a
 * file that cannot be read is passed over.  0, or -1 with *error set for want
 * of memory or when interrupted; the writer has errors of its own.
 */
int recording_names_write(const char *const *files, size_t n,
                          const struct symbol_search *search,
                          const struct progress *progress,
                          struct writer *writer, struct error *error);

#endif
