/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind_costs.h -- converts stacks to costs of functions' lines and calls.
 *
 * Recursion is represented as by callgrind --separate-recs=2: a function's
 * activations below itself are a function of their own, of level 2.  So a
 * function of level 1 is never below itself, and both the calls to it, and its
 * own hits plus the calls from it, sum to its inclusive hits; at level 2 some
 * hits count twice.
 */
#ifndef CPPROF_FORMATS_CALLGRIND_COSTS_H
#define CPPROF_FORMATS_CALLGRIND_COSTS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/writer.h"
#include "src/formats/exporter.h"

#define NO_FUNCTION UINT32_MAX

struct cost_function {
	uint32_t module, name;	/* as in a frame and its location */
	uint32_t level;		/* 1 or 2 */
};

/* Hits of a function's line: own ones, or those of calls from there. */
struct cost {
	uint32_t function;
	uint32_t file;		/* a name, or NO_NAME */
	uint32_t line;
	uint32_t callee;	/* NO_FUNCTION: its own */
};

struct callgrind_costs;

/*
 * The costs of a profile with a tree.  Time O(resources * nodes), memory
 * O(costs + nodes).  NULL with *error set, or unset if the writer failed;
 * freed with callgrind_costs_free.
 */
struct callgrind_costs *callgrind_costs_new(const struct export_source *source,
                                            const struct writer *writer,
                                            struct error *error);
void callgrind_costs_free(struct callgrind_costs *costs);

size_t callgrind_costs_count(const struct callgrind_costs *costs);

/*
 * Cost number i, sorted by function, file and line, a line's own hits before
 * its calls.  *hits: of each resource.
 */
struct cost callgrind_costs_get(const struct callgrind_costs *costs, size_t i,
                                const uint64_t **hits);

/*
 * A function by its number; *file: the first file in which it was seen, or
 * NO_NAME.
 */
struct cost_function callgrind_costs_function(
    const struct callgrind_costs *costs, uint32_t function, uint32_t *file);

#endif
