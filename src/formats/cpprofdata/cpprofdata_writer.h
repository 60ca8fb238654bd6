/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_writer.h -- whether a recording is still being written, or was
 * left without an end. */
#ifndef CPPROF_FORMATS_CPPROFDATA_WRITER_H
#define CPPROF_FORMATS_CPPROFDATA_WRITER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the process has the file mapped, so that it may yet grow.  False
 * where that cannot be known: a process of another machine or another user.
 */
bool cpprofdata_is_written_by(const char *path, uint64_t pid);

/*
 * Notes in a file that its process has gone by now, without having said so;
 * nothing where it runs, has said so or was noted.
 */
void cpprofdata_note_gone(const char *path);

/*
 * Notes in a file that its process runs now, if it keeps waits; false if it
 * keeps none, so that nobody will want to know.
 */
bool cpprofdata_note_seen(const char *path);

#endif
