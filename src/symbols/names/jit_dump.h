/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit_dump.h -- pieces of code made at run time, from jit-PID.dump.
 *
 * New code may take the place of older code, and code may be moved.  So the
 * order matters: the last piece at an address counts.
 */
#ifndef CPPROF_SYMBOLS_NAMES_JIT_DUMP_H
#define CPPROF_SYMBOLS_NAMES_JIT_DUMP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/arena.h"
#include "src/base/error.h"

/* The line of the code up to the next one of the same piece. */
struct jit_line {
	uint64_t offset;	/* from the piece's start */
	const char *file;
	uint32_t line;
};

struct jit_entry {
	uint64_t start, size;
	const char *name;
	const struct jit_line *lines;	/* [n_lines], by offset */
	size_t n_lines;
};

/* Starts with `{ 0 }`. */
struct jit_entries {
	struct jit_entry *items;	/* [n] in their order */
	size_t n, capacity;
	struct arena arena;		/* texts and lines */
};

void jit_entries_free(struct jit_entries *entries);

/* Adds a piece, with a copy of name[length].  0, or -1 with *error set. */
int jit_entries_add(struct jit_entries *entries, const struct jit_entry *entry,
                    const char *name, size_t length, struct error *error);

/*
 * Adds the pieces of a jitdump file, up to the first damaged record; none if it
 * is of another process or no such file.  0, or -1 with *error set for want of
 * memory or after Ctrl-C.
 */
int jit_dump_read(struct jit_entries *entries, FILE *file, uint32_t pid,
                  struct error *error);

#endif
