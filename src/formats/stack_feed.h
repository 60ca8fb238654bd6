/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack_feed.h -- whole stacks, one after the other, for a stack_writer.
 *
 * For readers whose stacks come as numbers, innermost frame first: each stack
 * is compared with the one before, so that only what differs is entered.
 */
#ifndef CPPROF_FORMATS_STACK_FEED_H
#define CPPROF_FORMATS_STACK_FEED_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/formats/stack_writer.h"

struct stack_feed;

/* As stack_writer_new; freed with stack_feed_free. */
struct stack_feed *stack_feed_new(const char *name,
                                  enum stack_positions positions,
                                  uint32_t n_resources, struct error *error);
void stack_feed_free(struct stack_feed *feed);

/* One resource more, the last; 0, or -1 with *error set. */
int stack_feed_add_resource(struct stack_feed *feed, struct error *error);

/*
 * Room for n labels, for the caller to fill, innermost frame first; what was
 * filled in since the last push stays.  NULL with *error set.
 */
uint32_t *stack_feed_room(struct stack_feed *feed, size_t n,
                          struct error *error);

/*
 * Enters the n >= 1 labels in the room as a stack.  counts[n_resources] are
 * its hits; n_samples: how many raw samples they are, 0 for as many as hits.
 * 0, or -1 with *error set, perhaps of an earlier stack.
 */
int stack_feed_push(struct stack_feed *feed, size_t n, uint64_t position,
                    const uint64_t *counts, uint32_t n_samples,
                    struct error *error);

/*
 * Likewise a stack whose outermost n_shared frames are those of the last one,
 * and whose other n_more are in the room, for who knows that without reading
 * them; not 0 both.
 */
int stack_feed_continue(struct stack_feed *feed, size_t n_shared,
                        size_t n_more, uint64_t position,
                        const uint64_t *counts, uint32_t n_samples,
                        struct error *error);

/* How many stacks have been pushed. */
uint64_t stack_feed_count(const struct stack_feed *feed);

/* The tree, freed with sample_tree_free; NULL with *error set. */
struct sample_tree *stack_feed_finish(struct stack_feed *feed,
                                      struct error *error);

#endif
