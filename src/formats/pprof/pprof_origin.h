/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_origin.h -- what cpprof says of a profile in the comments of its file.
 *
 * profile.proto has no place for intervals.  So the comments of an exported
 * profile are the header lines of collapsed stacks (collapsed_header.h), by
 * which hits come back as they were.  Their resources are the file's types of
 * values in order, behind the raw samples where there is one type more.
 */
#ifndef CPPROF_FORMATS_PPROF_ORIGIN_H
#define CPPROF_FORMATS_PPROF_ORIGIN_H

#include "src/base/error.h"
#include "src/formats/pprof/pprof_tables.h"
#include "src/profile/profile.h"

/*
 * Undoes what export has done, where the comments say that it has and the hits
 * agree: values become hits of their interval, and raw samples are no resource.
 * front: the type whose resource was moved to the front.  0, or -1 with *error
 * set for want of memory.
 */
int pprof_origin_restore(struct profile *profile,
                         const struct pprof_tables *tables,
                         uint32_t front, struct error *error);

#endif
