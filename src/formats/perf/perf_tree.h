/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_tree.h -- from the samples of a perf.data file to a profile's tree.
 *
 * Each event becomes a resource, each thread a section.
 */
#ifndef CPPROF_FORMATS_PERF_TREE_H
#define CPPROF_FORMATS_PERF_TREE_H

#include <stdbool.h>

#include "src/base/error.h"
#include "src/formats/perf/perf_events.h"
#include "src/formats/perf/perf_machine.h"
#include "src/formats/perf/perf_records.h"
#include "src/formats/reader.h"

struct perf_tree;

/*
 * The reader has the profile to fill.  All arguments must outlive the result,
 * which perf_tree_free frees; events may still be added.  NULL with *error set.
 */
struct perf_tree *perf_tree_new(struct reader *reader,
                                const struct perf_events *events,
                                struct perf_machine *machine,
                                struct error *error);
void perf_tree_free(struct perf_tree *tree);

/*
 * Adds a sample; they must come in the order of time.  0, or -1 with *error set
 * to what was expected, without file and offset.
 */
int perf_tree_add(struct perf_tree *tree, const struct perf_record *record,
                  struct error *error);

/*
 * Likewise adds a deferred call chain: the process's frames that earlier
 * samples of its thread wait for.
 */
int perf_tree_add_deferred(struct perf_tree *tree,
                           const struct perf_record *record,
                           struct error *error);

/* Whether no sample was added. */
bool perf_tree_is_empty(const struct perf_tree *tree);

/*
 * perf_tree_finish gives the profile its tree, resources and sections, from one
 * sample or more.  Then, once the build-ids of its modules are known,
 * perf_tree_finish_frames adds the frames, and warnings of what the tree does
 * not show of the samples.  0, or -1 with *error set.
 */
int perf_tree_finish(struct perf_tree *tree, struct error *error);
int perf_tree_finish_frames(struct perf_tree *tree, struct error *error);

#endif
