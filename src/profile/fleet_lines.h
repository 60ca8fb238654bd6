/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet_lines.h -- the hits of rows by group and resource, while they are added.
 *
 * All hits of a member go to one group.  So each group and resource has an
 * array by row, of which only the lines of eight rows exist that some hit lies
 * in.
 */
#ifndef CPPROF_PROFILE_FLEET_LINES_H
#define CPPROF_PROFILE_FLEET_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"

enum { ROWS_A_LINE = 8, LINES_A_PAGE = 512 };

struct fleet_lines;

/* NULL with *error set. */
struct fleet_lines *fleet_lines_new(struct error *error);
void fleet_lines_free(struct fleet_lines *lines);

/*
 * Adds hits to a row; code: a small number for the group and resource.  The row
 * has at least as many, so that no sum can pass 64 bits.  0, or -1 with *error
 * set.
 */
int fleet_lines_add(struct fleet_lines *lines, uint32_t row, uint32_t code,
                    uint64_t hits, struct error *error);

/* Has the line brought into the cache, if there is one. */
void fleet_lines_prefetch(const struct fleet_lines *lines, uint32_t row,
                          uint32_t code);

/* The number of codes that may have hits. */
uint32_t fleet_lines_codes(const struct fleet_lines *lines);

/*
 * Calls `take` for each row that has hits of the code, in ascending order, and
 * frees them.  0, or -1 as soon as `take` returns that.
 */
int fleet_lines_take(struct fleet_lines *lines, uint32_t code,
                     int (*take)(void *context, uint32_t row, uint32_t code,
                                 uint64_t hits, struct error *error),
                     void *context, struct error *error);

#endif
