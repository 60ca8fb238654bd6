/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof_origin.h -- a profile's description by cpprof in the comments of its
 * file.
 *
 * profile.proto has no place for intervals.  So the comments of an exported
 * profile are the header lines of collapsed stacks (collapsed_header.h), with
 * which hits are restored.  Their resources are the file's types of values in
 * order; if there is one more type, the first one is raw samples.
 */
#ifndef CPPROF_FORMATS_PPROF_ORIGIN_H
#define CPPROF_FORMATS_PPROF_ORIGIN_H

#include "src/base/error.h"
#include "src/formats/pprof/pprof_tables.h"
#include "src/profile/profile.h"

/*
 * Undoes the conversion by export, if the comments describe it and the hits
 * agree: values become hits of their interval, and raw samples are no
 * resource.  front: the type whose resource was moved to the front.  0, or -1
 * with *error set if memory runs out.
 */
int pprof_origin_restore(struct profile *profile,
                         const struct pprof_tables *tables,
                         uint32_t front, struct error *error);

#endif
