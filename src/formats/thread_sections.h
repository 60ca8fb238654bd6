/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thread_sections.h -- sections, where samples of all threads come mixed.
 *
 * A tree is built section after section.  A reader whose samples come in the
 * order of time puts what stands for the thread below the outermost frame of
 * each stack instead, and has that level taken off in the end.
 */
#ifndef CPPROF_FORMATS_THREAD_SECTIONS_H
#define CPPROF_FORMATS_THREAD_SECTIONS_H

#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

/*
 * Takes off the outermost nodes of the profile's tree, none of which has hits
 * of its own.  What was below the one labelled x becomes a section of
 * threads[x], a thread of the profile or NO_THREAD, or where threads is NULL of
 * thread x; no section where all are
 * below one of no thread.  O(nodes).  0, or -1 with *error set for want of
 * memory.
 */
int thread_sections_split(struct profile *profile, const uint32_t *threads,
                          struct error *error);

#endif
