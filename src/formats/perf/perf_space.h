/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_space.h -- the mappings of one process, by address. */
#ifndef CPPROF_FORMATS_PERF_SPACE_H
#define CPPROF_FORMATS_PERF_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

/* Code that was mapped: bytes [start, end) are a file's from offset on. */
struct perf_map {
	uint64_t start, end, offset;
	uint32_t module;	/* NO_MODULE: made at run time */
	uint32_t name;		/* in the kernel: of that code, NO_NAME:
				 * it is the kernel's own again */
	bool has_bias;
	uint64_t bias;		/* from an address here to the module's own */
};

/* The mappings of one process, or of several until one changes them. */
struct perf_space {
	struct perf_map *maps;	/* by address, apart from each other */
	size_t n, capacity;
	uint32_t n_users;
	uint32_t version;	/* differs from that of any other, and from
				 * this one's before it last changed */
};

/* The mapping that has an address, or NULL; good until the next insertion. */
struct perf_map *perf_space_find(const struct perf_space *space,
                                 uint64_t address);

/* A new mapping takes the place of what was there; 0 or -1 with *error set. */
int perf_space_insert(struct perf_space *space, const struct perf_map *map,
                      struct error *error);

#endif
