/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_names.h -- names of functions without the numbers of one run or build. */
#ifndef CPPROF_PROFILE_RUN_NAMES_H
#define CPPROF_PROFILE_RUN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/text_buffer.h"

/*
 * Adds a name without what differs from run to run, see run_names.c.  Whether
 * there was anything like that.
 */
bool run_name_add(struct text_buffer *text, const char *bytes, size_t length);

#endif
