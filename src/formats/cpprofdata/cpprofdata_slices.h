/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_slices.h -- when the hits of a collector's file were counted. */
#ifndef CPPROF_FORMATS_CPPROFDATA_SLICES_H
#define CPPROF_FORMATS_CPPROFDATA_SLICES_H

#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/formats/cpprofdata/cpprofdata_process.h"
#include "src/profile/sample_tree.h"

/*
 * Adds the times of all nodes' hits, which the builder has already.  built: the
 * builder's node of each node record, by index, or NO_NODE.  Does nothing for a
 * file without slices.  Records that are invalid, or folded into others, are
 * ignored.  O(n log n) for n records.  0, or -1 with *error set.
 */
int cpprofdata_add_slices(const struct cpprofdata_file *file,
                          const uint32_t *built, struct tree_builder *builder,
                          struct error *error);

/*
 * Adds the times of a charge's hits, which the builder's node has already:
 * evenly from its beginning to its end.
 */
int cpprofdata_add_charge_times(const struct cpprofdata_file *file,
                                const struct cpprofdata_charge *charge,
                                uint32_t node, struct tree_builder *builder,
                                struct error *error);

/*
 * Adds the time of counts of the only resource, which the builder's node has
 * already: a moment of UTC.
 */
int cpprofdata_add_brief_time(const struct cpprofdata_file *file,
                              uint64_t utc_ns,
                              const struct cpprofdata_count *count,
                              uint32_t node, struct tree_builder *builder,
                              struct error *error);

#endif
