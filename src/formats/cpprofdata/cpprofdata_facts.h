/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_facts.h -- the recording's facts from a file's header. */
#ifndef CPPROF_FORMATS_CPPROFDATA_FACTS_H
#define CPPROF_FORMATS_CPPROFDATA_FACTS_H

#include "src/formats/cpprofdata/cpprofdata_waits.h"
#include "src/profile/profile.h"

/*
 * Gives the profile its process, its resources, numbered as in the file, and
 * the tallies of what was dropped, late or truncated.  0, or -1 with *error
 * set.
 */
int cpprofdata_add_facts(const struct cpprofdata_file *file,
                         const struct cpprofdata_end *end,
                         struct profile *profile, struct error *error);

#endif
