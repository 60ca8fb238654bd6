/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_labels.h -- what the labels of a pprof file's samples say. */
#ifndef CPPROF_FORMATS_PPROF_LABELS_H
#define CPPROF_FORMATS_PPROF_LABELS_H

#include "src/formats/pprof/pprof_samples.h"
#include "src/formats/pprof/pprof_tables.h"
#include "src/formats/reader.h"

/*
 * Fills sections[label sets]: the labels of each set of the samples' reader,
 * and the thread that they name, both entered into the reader's profile.  The
 * profile has the file's process already; labels that name others add these.
 * Warns of labels that are not read.  0, or -1 with *error set.
 */
int pprof_labels_enter(const struct pprof_tables *tables,
                       const struct pprof_samples *samples,
                       struct reader_section *sections, struct error *error);

/* Whether producers name or number threads by labels with that key. */
bool pprof_is_thread_key(const char *key);

#endif
