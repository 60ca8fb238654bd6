/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_tree.h -- every stack seen, shared by prefix.
 *
 * A forest in parallel arrays, in depth-first order.  Invariants: a parent's
 * number is smaller than its children's; the subtree of n is the range
 * [n, end[n]); children of one parent (and roots of one section, see
 * profile.h) have distinct labels; the sum of hits (and of samples) of one
 * resource fits 64 bits, so that no weight can overflow.
 *
 * Few nodes have hits of their own, since most stacks end below them: so these
 * stand in rows, and a node has the number of its row.
 */
#ifndef CPPROF_PROFILE_SAMPLE_TREE_H
#define CPPROF_PROFILE_SAMPLE_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"

#define NO_NODE UINT32_MAX

struct sample_tree {
	uint32_t n_nodes;
	uint32_t n_resources;
	uint32_t deepest;	/* frames of the deepest stack */
	uint32_t *parent;	/* [n_nodes], NO_NODE for an outermost frame */
	uint32_t *end;		/* [n_nodes], first node behind the subtree */
	uint32_t *label;	/* [n_nodes], a frame's or a name's number */
	uint32_t *row;		/* [n_nodes], of a node's own counts, its alone;
				 * 0: it has none */
	uint32_t n_rows;	/* at least 1: all counts of row 0 are 0 */
	uint64_t **hits;	/* [n_resources][n_rows], a node's own */
	uint64_t **samples;	/* likewise, raw samples; samples[r] is NULL
				 * where each hit is one sample */
	uint64_t *returns;	/* [n_nodes], times the frame was seen to
				 * return; NULL where nobody looked */
};

void sample_tree_free(struct sample_tree *tree);

/* A node's own hits of a resource, and the raw samples they came in. */
static inline uint64_t
sample_tree_hits(const struct sample_tree *tree, uint32_t resource,
                 uint32_t node)
{
	return tree->hits[resource][tree->row[node]];
}

static inline uint64_t
sample_tree_samples(const struct sample_tree *tree, uint32_t resource,
                    uint32_t node)
{
	const uint64_t *samples = tree->samples[resource];

	return samples != NULL ? samples[tree->row[node]] :
	       tree->hits[resource][tree->row[node]];
}

/* Keeps the first n resources alone, n at most as many as there are. */
void sample_tree_keep_resources(struct sample_tree *tree, uint32_t n);

/*
 * Weight of every node: its own hits and those of all its descendants.
 *
 * self[n_rows]: hits of one resource.  weight[n_nodes]: the caller's.  Unit:
 * hits (intervals), not gticks.  One backward pass, O(N).
 * Source: Hall & Goldberg 1993, section 5.3.
 */
void sample_tree_weights(const struct sample_tree *tree, const uint64_t *self,
                         uint64_t *weight);

/* Sum of the hits, or samples, of all rows; it fits, says the invariant. */
uint64_t sample_tree_total(const struct sample_tree *tree,
                           const uint64_t *counts);

/*
 * The same stacks with other labels: where node n stood there now stands the
 * chain labels[first[label[n]]] .. labels[first[label[n] + 1] - 1], outermost
 * first (several where calls were inlined, never none), hits on the last, and
 * returns on the first, which is the function that was called.
 * Equal siblings are merged, whatever section they came from.  Freed with
 * sample_tree_free; NULL with *error set.  O(N) and the labels, of which each
 * takes memory up to the greatest.
 */
struct sample_tree *sample_tree_relabel(const struct sample_tree *tree,
                                        const uint32_t *first,
                                        const uint32_t *labels,
                                        struct error *error);

/*
 * Building.  Nodes are entered in any order, numbered from 0; finish puts them
 * into depth-first order, siblings in the order in which they were entered.
 * All functions return NO_NODE or -1 or NULL with *error set for want of
 * memory, or when a sum would pass 64 bits.
 */
struct tree_builder;

struct tree_builder *tree_builder_new(uint32_t n_resources,
                                      struct error *error);
void tree_builder_free(struct tree_builder *builder);

/* How many nodes have been entered. */
uint32_t tree_builder_count(const struct tree_builder *builder);

/*
 * Outermost frames entered from here on are not shared with those before, and
 * nothing more may be entered below those.  Returns the number of the node
 * that comes next, which is where the section begins in the tree, too.
 */
uint32_t tree_builder_begin_section(struct tree_builder *builder);

/*
 * The child of parent (NO_NODE: an outermost frame) with this label, entered
 * if new.  Any label but UINT32_MAX will do.
 */
uint32_t tree_builder_child(struct tree_builder *builder, uint32_t parent,
                            uint32_t label, struct error *error);

/*
 * The same for a chain of n labels, outermost first: each label's node is the
 * child of the one before, the first one's of parent.  Their numbers go to
 * nodes[n].  Expected O(n); a probe only where the chain leaves what is known.
 * After a failure some of the chain may have been entered.
 */
int tree_builder_chain(struct tree_builder *builder, uint32_t parent,
                       const uint32_t *labels, size_t n, uint32_t *nodes,
                       struct error *error);

/*
 * Likewise where the caller knows that parent has no child labels[0] yet, as
 * readers of sorted input do: without a probe.
 */
int tree_builder_append(struct tree_builder *builder, uint32_t parent,
                        const uint32_t *labels, size_t n, uint32_t *nodes,
                        struct error *error);

/*
 * Enters n whole stacks, the labels of which stand one behind the other,
 * lengths[i] >= 1 of them for stack i; the innermost frames' nodes go to
 * nodes[n].  Looks for several stacks at a time, so that memory is waited for
 * together: several times as fast as chain after chain on large trees.
 */
int tree_builder_stacks(struct tree_builder *builder, const uint32_t *labels,
                        const uint32_t *lengths, size_t n, uint32_t *nodes,
                        struct error *error);

/* One resource more, the last, of which no node has hits so far. */
int tree_builder_add_resource(struct tree_builder *builder,
                              struct error *error);

/* Adds to the own hits and raw samples of a node. */
int tree_builder_add(struct tree_builder *builder, uint32_t node,
                     uint32_t resource, uint64_t hits, uint64_t samples,
                     struct error *error);

/*
 * Adds to the times that a node was seen to return: 0 says that someone looked.
 */
int tree_builder_add_returns(struct tree_builder *builder, uint32_t node,
                             uint64_t returns, struct error *error);

/*
 * Does what of tree_builder_finish can be done by now, for which a thread that
 * enters nodes while another one reads may have more time.  O(nodes entered
 * since the last call).
 */
void tree_builder_settle(struct tree_builder *builder);

/*
 * The tree, freed with sample_tree_free; the builder is then good for nothing
 * but to be freed, also after a failure.  O(N).
 */
struct sample_tree *tree_builder_finish(struct tree_builder *builder,
                                        struct error *error);

#endif
