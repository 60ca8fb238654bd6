/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_brief.h -- the file of processes that left a single record, such
 * as a sample of their loading: struct cpprofdata_brief.
 */
#ifndef CPPROF_FORMATS_CPPROFDATA_BRIEF_H
#define CPPROF_FORMATS_CPPROFDATA_BRIEF_H

#include "src/formats/cpprofdata/cpprofdata_file.h"
#include "src/profile/profile.h"
#include "src/profile/tree_builder.h"

/*
 * Adds the processes, each with a thread and a section of one node, `frame`.
 * O(processes).  0, or -1 with *error set.
 */
int cpprofdata_add_briefs(const struct cpprofdata_file *file, uint32_t frame,
                          struct tree_builder *builder,
                          struct profile *profile, struct error *error);

#endif
