/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_writer.h -- whether a recording is still being written, or was
 * left without an end. */
#ifndef CPPROF_FORMATS_CPPROFDATA_WRITER_H
#define CPPROF_FORMATS_CPPROFDATA_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the process has the file mapped, so that it may still grow.  False
 * if that is unknown: a process of another machine or another user.
 */
bool cpprofdata_is_written_by(const char *path, uint64_t pid);

/*
 * Records in a file that its process has ended without recording its end; does
 * nothing if it runs, or its end is recorded.
 */
void cpprofdata_note_gone(const char *path);

/*
 * Records in a file that its process runs now, if it keeps waits; false if it
 * keeps none, so that this is not needed.
 */
bool cpprofdata_note_seen(const char *path);

#endif
