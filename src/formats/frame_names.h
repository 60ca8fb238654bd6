/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame_names.h -- numbers of frame names, as fast as text can be read.
 *
 * The set of names in base/names.h is for all uses; this one is for the one
 * loop that sees every frame of a gigabyte of text.  A name is read in pieces
 * of 64 bytes, without a branch on its length: bytes after its end are read and
 * masked off.  Names hold no NUL, so equal pieces, padded with NULs, are equal
 * names.  That saves 3 to 9 % of the CPU time of a load of collapsed stacks.
 */
#ifndef CPPROF_FORMATS_FRAME_NAMES_H
#define CPPROF_FORMATS_FRAME_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

/* This many bytes after a name must be readable, whatever they are. */
enum { FRAME_NAMES_PADDING = 64 };

struct frame_names;

/*
 * For a profile that has neither names nor frames yet, which must outlive it.
 * Freed with frame_names_free; NULL with *error set.
 */
struct frame_names *frame_names_new(struct profile *profile,
                                    struct error *error);
void frame_names_free(struct frame_names *frames);

/*
 * The numbers of n names in a line, one after the other with a byte between
 * them: the first begins at line[begin], and the one after name i at
 * line[next[i]].  None has a NUL; an empty one is "[unknown]".  A new name is
 * entered into the profile both as a name and as a frame, under the same
 * number; a mangled one as demangle_and_add has it, once.  0, or -1 with *error
 * set for want of memory.
 */
int frame_names_add(struct frame_names *frames, const char *line, size_t begin,
                    const uint32_t *next, size_t n, uint32_t *numbers,
                    struct error *error);

#endif
