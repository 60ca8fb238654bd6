/* SPDX-License-Identifier: GPL-3.0-or-later */
/* recording_names.h -- the names kept in a recording's directory.
 *
 * Beside the files of the processes there is one with the names of everything
 * that they sampled, so that the programs may be rebuilt or removed, and the
 * recording moved to another machine.
 */
#ifndef CPPROF_FORMATS_RECORDING_NAMES_H
#define CPPROF_FORMATS_RECORDING_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/progress.h"
#include "src/base/writer.h"
#include "src/profile/profile.h"
#include "src/symbols/elf/module_file.h"
#include "src/symbols/names/kept_names.h"

/* The names of the directory that was read last. */
struct recording_names;

/* Freed with recording_names_free; NULL with *error set. */
struct recording_names *recording_names_new(struct error *error);
void recording_names_free(struct recording_names *names);

/*
 * *kept: the names beside a process's file, NULL if there are none; valid
 * until the next call.  Damage becomes a warning of the profile, once.  0, or
 * -1 with *error set if memory runs out.
 */
int recording_names_beside(struct recording_names *names, const char *file,
                           struct profile *profile,
                           const struct kept_names **kept,
                           struct error *error);

/* Whether a path is that of a file of names, which is no profile by itself. */
bool recording_names_is_file(const char *path);

/*
 * Whether files[n] of one directory lack names that should be kept: there are
 * none, or samples were taken after they were written.
 */
bool recording_names_are_missing(const char *const *files, size_t n);

/*
 * Finds names and lines of everything that files[n] of one directory have
 * sampled, and writes the directory's file of names.  Names kept already stay;
 * a file that cannot be read is skipped.  0, or -1 with *error set if memory
 * runs out or the user interrupts; the writer has errors of its own.
 */
int recording_names_write(const char *const *files, size_t n,
                          const struct symbol_search *search,
                          const struct progress *progress,
                          struct writer *writer, struct error *error);

#endif
