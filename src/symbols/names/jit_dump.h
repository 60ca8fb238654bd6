/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jit_dump.h -- pieces of code that were made at run time, in their order.
 *
 * Code may be made where other code was, or be moved: what came last counts.
 */
#ifndef CPPROF_SYMBOLS_NAMES_JIT_DUMP_H
#define CPPROF_SYMBOLS_NAMES_JIT_DUMP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/arena.h"
#include "src/base/error.h"

/* A line from here to the next of the same piece. */
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
	struct jit_entry *items;	/* as they came */
	size_t n, capacity;
	struct arena arena;		/* texts and lines */
};

void jit_entries_free(struct jit_entries *entries);

/* Adds one behind the others; name[length] is copied.  0 or -1. */
int jit_entries_add(struct jit_entries *entries, const struct jit_entry *entry,
                    const char *name, size_t length, struct error *error);

/*
 * Adds what a jitdump file holds, as far as it makes sense; one of another
 * process, and what is no such file, holds nothing.  0, or -1 with *error set
 * for want of memory or when interrupted.
 */
int jit_dump_read(struct jit_entries *entries, FILE *file, uint32_t pid,
                  struct error *error);

#endif
