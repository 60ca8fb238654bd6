/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merged_file.h -- the file of a merged profile; doc/merged.md describes it. */
#ifndef CPPROF_FORMATS_MERGED_FILE_H
#define CPPROF_FORMATS_MERGED_FILE_H

#include "src/base/error.h"
#include "src/base/writer.h"
#include "src/profile/fleet.h"

#define MERGED_MAGIC "cpprof merged profile 1\n"

/* How a text is kept that may be missing, or differ between members. */
enum merged_text { MERGED_NO_TEXT, MERGED_TEXTS_DIFFER, MERGED_TEXT };

/* Bits of a frame's flags; the placeholder begins at the third. */
enum {
	MERGED_MADE_UP = 1, MERGED_DEBUG_LINES = 2,
	MERGED_PLACEHOLDER = 4,		/* times enum frame_placeholder */
	MERGED_INTERPRETED = 16, MERGED_AWAITING = 32,
	MERGED_FRAME_FLAGS = 64
};

/* Added to how a resource was counted, if its most hits of a drawn sample
 * follow. */
enum { MERGED_DRAWN = 4 };

/* Bits of the process's flags. */
enum { MERGED_CPU_UNKNOWN = 1, MERGED_CPU_LEAST = 2 };

/*
 * Writes an ordered fleet, packed.  0, or -1 with *error set, or unset where
 * the writer failed.
 */
int merged_write(const struct fleet *fleet, struct writer *writer,
                 struct error *error);

#endif
