/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_samples.h -- the samples of a perf.data file as a profile's tree.
 *
 * Each event is a resource, each thread a section.
 */
#ifndef CPPROF_FORMATS_PERF_SAMPLES_H
#define CPPROF_FORMATS_PERF_SAMPLES_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_events.h"
#include "src/formats/perf/perf_records.h"
#include "src/formats/perf/perf_spaces.h"
#include "src/formats/reader.h"

struct perf_samples;

/*
 * reader: gets the stacks.  All are the caller's and outlive the result, which
 * is freed with perf_samples_free; events may still be added.  NULL with *error
 * set.
 */
struct perf_samples *perf_samples_new(struct reader *reader,
                                      const struct perf_events *events,
                                      struct perf_spaces *spaces,
                                      struct error *error);
void perf_samples_free(struct perf_samples *samples);

/*
 * Enters a sample, in the order of time.  0, or -1 with *error set to what was
 * expected, without file and offset.
 */
int perf_samples_enter(struct perf_samples *samples,
                       const struct perf_record *record, struct error *error);

/*
 * Likewise the frames of a thread's process, which its samples before wait for.
 */
int perf_samples_enter_deferred(struct perf_samples *samples,
                                const struct perf_record *record,
                                struct error *error);

/* Whether there were none. */
bool perf_samples_are_none(const struct perf_samples *samples);

/*
 * Gives the profile its tree, resources and sections, of one sample or more;
 * then, once the build-ids of its modules are known, its frames, and warnings
 * of what is not shown of the samples.  0, or -1 with *error set.
 */
int perf_samples_finish_tree(struct perf_samples *samples,
                             struct error *error);
int perf_samples_finish_frames(struct perf_samples *samples,
                               struct error *error);

#endif
