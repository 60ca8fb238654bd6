/* SPDX-License-Identifier: GPL-3.0-or-later */
/* short_name.h -- names of functions as people say them.
 *
 * The short name of "int ns::Box<int>::put<char>(char) const" is
 * "ns::Box::put". Short names are made for reading: files and other programs
 * get whole names. What can be left out is found by src/base/name_parts.h; a
 * short name is never longer than the whole one and always has its last
 * identifier.
 */
#ifndef CPPROF_BASE_SHORT_NAME_H
#define CPPROF_BASE_SHORT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/arena.h"
#include "src/base/name_parts.h"
#include "src/base/printable.h"
#include "src/base/text_buffer.h"

/* Two texts, which are followed by a NUL; the short one may be the whole. */
struct short_name {
	const char *whole;
	size_t n_whole;
	const char *text;
	size_t length;
};

/*
 * Sets the short texts of n names whose whole texts differ, so that the short
 * ones differ, too.  Of names that would be the same, each keeps the template
 * arguments, parameters and so on in which it differs from another one of them:
 * "put<int>", "put<char>".  "…" then replaces arguments before these.
 *
 * New texts are in the arena, the others are the whole ones.  0, or -1 with
 * *error set for want of memory.
 */
int short_names_make(struct short_name *names, size_t n, struct arena *arena,
                     struct error *error);

/* Adds the short form of one name as if there were no others; likewise. */
int text_add_short_name(struct text_buffer *text, struct name_parts *parts,
                        const char *name, size_t n, struct error *error);

/*
 * Whether typed[n_typed] can stand for a name: it is the name without any of
 * the parts that a short name can lack, and "…" stands for what it replaces in
 * short names and where these are cut.  lacks_scopes: outer scopes may be
 * missing, too.  Time is O(n_typed n).  `parts` are those of the name; memory
 * as short_names_make, then false with *error set.
 */
bool short_name_stands_for(const char *typed, size_t n_typed,
                           const char *name, size_t n,
                           const struct name_parts *parts, bool lacks_scopes,
                           struct error *error);

#endif
