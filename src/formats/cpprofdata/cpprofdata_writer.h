/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_writer.h -- whether a recording is still being written. */
#ifndef CPPROF_FORMATS_CPPROFDATA_WRITER_H
#define CPPROF_FORMATS_CPPROFDATA_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the process has the file mapped, so that it may yet grow.  False
 * where that cannot be known: a process of another machine or another user.
 */
bool cpprofdata_is_written_by(const char *path, uint64_t pid);

#endif
