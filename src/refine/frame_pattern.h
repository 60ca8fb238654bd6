/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame_pattern.h -- which frames a user means.
 *
 *	main		the function of that name
 *	parse_*  /^xml/	functions by a glob or a regular expression
 *	@libssl		functions of a module: its file name, with or without
 *			what begins at ".so"; globs are allowed
 *	@libc ...	ready groups, which also know names; see ready_groups.def
 *	file:GLOB	functions of a source file: its path, or the last
 *			components of it
 *
 * A word that is the name of a function means that function, whatever
 * characters it has.
 */
#ifndef CPPROF_REFINE_FRAME_PATTERN_H
#define CPPROF_REFINE_FRAME_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/error.h"
#include "src/base/pattern.h"
#include "src/base/text_buffer.h"
#include "src/refine/refining.h"

/* A word as it was typed. */
struct pattern_word {
	const char *text;
	size_t length;
	bool is_exact;		/* it was between bars: a name as it is */
	bool is_short;		/* it is short for several functions, and means
				 * all that it is short for */
	bool lacks_scopes;	/* then: without outer scopes, too */
};

struct frame_pattern;

/* The name of the i-th ready group, without '@'; NULL: there are no more. */
const char *frame_pattern_ready_group(size_t i);

/*
 * Whether a function belongs to one of the ready groups, so to a library, a
 * runtime or the kernel: by the file name of its module or, where that is NULL,
 * by its own name.  0 or 1, or -1 with *error set.
 */
int frame_pattern_is_ready(const char *module, const char *name,
                           size_t length, struct error *error);

/* Copies the word.  Freed with frame_pattern_free; NULL with *error set. */
struct frame_pattern *frame_pattern_new(const struct pattern_word *word,
                                        struct error *error);
void frame_pattern_free(struct frame_pattern *pattern);

/* Adds the word, between bars if it needs them. */
void frame_pattern_add_text(const struct frame_pattern *pattern,
                            struct text_buffer *text);

/* Which kinds of frame a pattern matches among those that are used. */
struct frame_matches {
	uint32_t name;		/* the only name that matches, whatever the
				 * module and the file; NO_NAME: see kinds */
	unsigned char *kinds;	/* [n_kinds] 0 or 1; NULL: see name */
	bool any;		/* some kind matches */
};

/*
 * Looks at the kinds that refining_look has found.  Free matches->kinds with
 * free().  O(1) for the name of a function, else O(kinds) and the time of one
 * match for each name.  0, or -1 with *error set.
 */
int frame_pattern_match(const struct frame_pattern *pattern,
                        const struct refining *refining,
                        struct frame_matches *matches, struct error *error);

static inline bool
frame_matches(const struct frame_matches *matches,
              const struct refining *refining, uint32_t kind)
{
	return matches->kinds == NULL ?
	    refining_name(refining, kind) == matches->name :
	    matches->kinds[kind] != 0;
}

/*
 * Replaces {0} to {9} of a template by what the groups of a regular expression
 * match in a name, and adds the result.  0, or -1 with *error set.
 */
int frame_pattern_expand(const struct frame_pattern *pattern,
                         const char *name, size_t length,
                         const char *template, struct text_buffer *text,
                         struct error *error);

/* How many groups (...) a template may ask for. */
size_t frame_pattern_n_captures(const struct frame_pattern *pattern);

/*
 * Sets *error: no function matches; names similar ones.
 */
int frame_pattern_report_none(const struct frame_pattern *pattern,
                              const struct refining *refining,
                              struct error *error);

#endif
