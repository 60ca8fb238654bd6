/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sample_tree.h -- every stack seen, shared by prefix.
 *
 * A forest in depth-first order.  Invariants: a parent's number is smaller than
 * its children's; the subtree of n is the range [n, sample_tree_end(n));
 * children of one parent (and roots of a section, see profile.h) have distinct
 * labels; the sum of hits (and samples) of one resource fits 64 bits, so that
 * no weight can overflow.
 *
 * Few nodes have hits of their own, since most stacks end further in.  So own
 * counts are kept in rows, and only those nodes have the number of a row.  As a
 * subtree is a range, its weight is the difference of two running sums of them.
 * Most nodes directly follow their parent, and are its only child.  Only the
 * others have the numbers of their parent and of their end.
 */
#ifndef CPPROF_PROFILE_SAMPLE_TREE_H
#define CPPROF_PROFILE_SAMPLE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"

/* Adds to a count, which is UINT64_MAX where that passes 64 bits. */
static inline void
count_add(uint64_t *count, uint64_t more)
{
	if (__builtin_add_overflow(*count, more, count))
		*count = UINT64_MAX;
}

/* ---- timeline.c ---- */

/*
 * When the hits of a sample tree were counted.
 *
 * The run is divided into at most 64 slices of equal width.  A timeline has,
 * for each row of counts of a tree, the slices that have some of them, in
 * order: entries first[row] .. first[row + 1] - 1.  Most rows have few, so the
 * hits of a subtree by slice, or those of some slices, are found in O(nodes +
 * entries).
 *
 * Invariant: the sum of a row's entries is at most the row's own counts, which
 * stay the truth.  What they lack has no time: its input had none, or the
 * process was killed before it was noted.
 *
 * A level is a resource that is what another one has gained and a third one
 * lost so far, such as the memory in use (profile.h).  It has a value at the end
 * of each slice, which is the sum of all changes up to there.  Its entries are
 * something else: when that part of it came that is left at the end.
 */

enum { TIMELINE_SLICES = 64 };

struct timeline {
	uint64_t origin_ns;	/* when slice 0 begins; UTC since 1970, 0:
				 * unknown */
	uint64_t width_ns;	/* of each slice, at least 1 */
	uint32_t n_slices;	/* up to the last one with hits; at most
				 * TIMELINE_SLICES, at least 1 */
	uint32_t n_rows;	/* of the tree */
	uint32_t n_resources;
	size_t *first;		/* [n_rows + 1] */
	uint8_t *slice;		/* [first[n_rows]] */
	uint64_t **hits;	/* [n_resources][first[n_rows]] */
	uint64_t **samples;	/* likewise, raw samples */
	uint32_t n_levels;
	struct timeline_level *levels;	/* [n_levels] */
	uint64_t shown;		/* bit i: slice i is one of those selected, in
				 * which levels are shown */
};

/* How a level changed in a slice. */
struct level_change {
	uint64_t gained, lost;	/* hits */
	uint64_t samples_gained, samples_lost;
};

struct timeline_level {
	uint32_t resource;
	struct level_change *changes;	/* [first[n_rows]] */
};

/* A tree's own counts, which a timeline divides. */
struct timeline_rows {
	uint32_t n_rows, n_resources;
	uint64_t *const *hits;		/* [n_resources][n_rows] */
	uint64_t *const *samples;	/* likewise; samples[r] is NULL if each
					 * hit is one sample */
};

/* Counts of a row in a part of the run; width_ns 0: at a moment. */
struct moment {
	uint64_t begin_ns, width_ns;
	uint64_t hits, samples;
	uint32_t row, resource;
};

/*
 * The timeline of rows of which moments[n] are known, in any order.  Slices
 * are as wide as the widest of them, or wider by a power of two.  from_ns: what
 * begin_ns counts from.  Freed with timeline_free; NULL with *error set.  Time
 * and memory O(n + rows).
 */
struct timeline *timeline_new(const struct timeline_rows *rows,
                              const struct moment *moments, size_t n,
                              uint64_t from_ns, uint64_t origin_ns,
                              struct error *error);
void timeline_free(struct timeline *timeline);

/* The width of the slices of moments from 0 to last_ns. */
uint64_t timeline_width(uint64_t last_ns);

/*
 * The timeline of rows that are sums of those of another one: row i of `from`
 * became part of row to[i], or of none if that is 0.  Likewise.
 */
struct timeline *timeline_move(const struct timeline *from,
                               const struct timeline_rows *rows,
                               const uint32_t *to, struct error *error);

/* Drops all resources except the first n. */
void timeline_keep_resources(struct timeline *timeline, uint32_t n);

/* Takes out one resource; those after it have smaller numbers then. */
void timeline_drop_resource(struct timeline *timeline, uint32_t resource);

/*
 * Makes a resource a level: what `gain` has and `loss` has not.  0, or -1 with
 * *error set.
 */
int timeline_add_level(struct timeline *timeline, uint32_t resource,
                       uint32_t gain, uint32_t loss, struct error *error);

/* The level that a resource is, or NULL. */
const struct timeline_level *
timeline_find_level(const struct timeline *timeline, uint32_t resource);

/*
 * A row's level at the end of a slice; *samples, unless NULL: those in which it
 * was counted.
 */
uint64_t timeline_level_at(const struct timeline *timeline,
                           const struct timeline_level *level, uint32_t row,
                           uint32_t slice, uint64_t *samples);

/* The last slice of a set that the timeline has; it has one. */
uint32_t timeline_last(const struct timeline *timeline, uint64_t slices);

/* A set of slices. */
struct slice_set {
	uint64_t slices;	/* bit i: slice i */
	bool has_no_time;	/* and what belongs to no slice */
};

#define ALL_TIMES ((struct slice_set){ UINT64_MAX, true })

/* Whether a set is ALL_TIMES. */
static inline bool
slice_set_is_whole(const struct slice_set *set)
{
	return set->slices == UINT64_MAX && set->has_no_time;
}

/*
 * The slices that a part of the run touches, in ns from the start.  None if it
 * lies after the last slice.
 */
struct slice_set timeline_range(const struct timeline *timeline,
                                uint64_t begin_ns, uint64_t end_ns);

/* ---- sample_tree.c ---- */

#define NO_NODE UINT32_MAX

/*
 * Numbers that few nodes have.  A bit for each node says whether it has one; to
 * find it, the bits before that are counted:
 *
 *	node		0 1 2 3 4 ... 31   32 33 ...
 *	has		0 1 0 0 1 ...  0    1  0 ...	node 32 has number[2]
 *	before		0 in block 0	    2 in 1
 */
enum { NODES_A_BLOCK = 32 };

struct node_numbers {
	struct number_block {
		uint32_t has;		/* bit i: its node i has a number */
		uint32_t before;	/* of all nodes before the block */
	} *blocks;		/* [n_nodes / NODES_A_BLOCK + 1] */
	uint32_t *number;	/* [n], in the order of their nodes */
	uint32_t n, n_nodes;
};

/*
 * Makes room for n_nodes nodes in all, of which at most n have numbers.  0, or
 * -1 with *error set; freed with node_numbers_free.
 */
int node_numbers_reserve(struct node_numbers *numbers, size_t n_nodes,
                         size_t n, struct error *error);
void node_numbers_free(struct node_numbers *numbers);

/* Adds the next node, for which there is room. */
static inline void
node_numbers_add(struct node_numbers *numbers, bool has, uint32_t number)
{
	const uint32_t node = numbers->n_nodes++;
	struct number_block *block = &numbers->blocks[node / NODES_A_BLOCK];

	if (has) {
		block->has |= UINT32_C(1) << node % NODES_A_BLOCK;
		numbers->number[numbers->n++] = number;
	}
	if ((node + 1) % NODES_A_BLOCK == 0)
		block[1] = (struct number_block){ 0, numbers->n };
}

/* Adds n nodes without numbers, for which there is room. */
static inline void
node_numbers_skip(struct node_numbers *numbers, size_t n)
{
	size_t block = numbers->n_nodes / NODES_A_BLOCK;

	numbers->n_nodes += (uint32_t)n;
	while (block < numbers->n_nodes / NODES_A_BLOCK)
		numbers->blocks[++block] = (struct number_block){ 0,
			numbers->n };
}

/* Adds the nodes [begin, end) of other ones; there is room. */
void node_numbers_append(struct node_numbers *to,
                         const struct node_numbers *from, uint32_t begin,
                         uint32_t end);

/*
 * Makes all nodes have numbers that do not directly lead to the next one, or
 * lead to several; parents: of n_nodes, at least 1.  The numbers are not set.
 */
int node_numbers_mark_forks(struct node_numbers *forks,
                            const struct node_numbers *parents,
                            struct error *error);

static inline bool
node_numbers_has(const struct node_numbers *numbers, uint32_t node)
{
	return numbers->blocks[node / NODES_A_BLOCK].has >>
	    node % NODES_A_BLOCK & 1;
}

/* The first of the nodes [node, end) that has a number; end: none has. */
static inline uint32_t
node_numbers_next(const struct node_numbers *numbers, uint32_t node,
                  uint32_t end)
{
	while (node < end) {
		const uint32_t has =
		    numbers->blocks[node / NODES_A_BLOCK].has >>
		    node % NODES_A_BLOCK;

		if (has != 0) {
			node += (uint32_t)__builtin_ctz(has);
			break;
		}
		node = (node | (NODES_A_BLOCK - 1)) + 1;
	}
	return node < end ? node : end;
}

/* How many nodes before that one have numbers; node: at most n_nodes. */
static inline uint32_t
node_numbers_before(const struct node_numbers *numbers, uint32_t node)
{
	const struct number_block *block =
	    &numbers->blocks[node / NODES_A_BLOCK];
	const uint32_t bit = UINT32_C(1) << node % NODES_A_BLOCK;
	uint32_t n = block->has & (bit - 1);

	/* Not every processor has an instruction that counts bits. */
	n -= n >> 1 & 0x55555555;
	n = (n & 0x33333333) + (n >> 2 & 0x33333333);
	n = (n + (n >> 4)) & 0x0f0f0f0f;
	return block->before + (n * 0x01010101 >> 24);
}

/* The number of a node that has one. */
static inline uint32_t
node_numbers_get(const struct node_numbers *numbers, uint32_t node)
{
	return numbers->number[node_numbers_before(numbers, node)];
}

struct sample_tree {
	uint32_t n_nodes;
	uint32_t n_resources;
	uint32_t deepest;	/* frames of the deepest stack */
	uint32_t *label;	/* [n_nodes], a frame's or a name's number */
	struct node_numbers parents;	/* of nodes that do not directly follow
					 * theirs; NO_NODE: outermost frames */
	struct node_numbers ends;	/* of all nodes except those with one
					 * child, which end with it */
	struct node_numbers rows;	/* of nodes' own counts, each of one
					 * node */
	uint32_t n_rows;	/* at least 1: all counts of row 0 are 0 */
	uint64_t **hits;	/* [n_resources][n_rows], a node's own */
	uint64_t **samples;	/* likewise, raw samples; samples[r] is NULL if
				 * each hit is one sample */
	uint64_t *returns;	/* [n_nodes], how often the frame was seen to
				 * return; NULL: not counted */
	struct timeline *timeline;	/* when the hits were counted; NULL:
					 * unknown */
	bool borrows_counts;	/* the rows and the timeline belong
					 * to another tree */
};

void sample_tree_free(struct sample_tree *tree);

/*
 * A tree without nodes, with room for n, and with the rows of another one,
 * which must outlive it.  The caller fills in the nodes, and calls
 * sample_tree_find_ends.  NULL with *error set.
 */
struct sample_tree *sample_tree_borrow(const struct sample_tree *from,
                                       uint32_t n, struct error *error);

/* Adds the parent of the next node; NO_NODE for an outermost frame. */
static inline void
tree_add_parent(struct node_numbers *parents, uint32_t parent)
{
	node_numbers_add(parents, parent != parents->n_nodes - 1, parent);
}

/* Adds the row of the next node; 0: it has none. */
static inline void
tree_add_row(struct node_numbers *rows, uint32_t row)
{
	node_numbers_add(rows, row != 0, row);
}

/*
 * Finds where subtrees end, and how deep the stacks are, when the parents of
 * all nodes are known.  0, or -1 with *error set.  O(runs of nodes that follow
 * their parents).
 */
int sample_tree_find_ends(struct sample_tree *tree, struct error *error);

/*
 * To take outermost frames off a tree: adds the nodes below one to parents and
 * rows, and moves their labels there.
 */
void sample_tree_move_up(struct sample_tree *tree, uint32_t root,
                         struct node_numbers *parents,
                         struct node_numbers *rows);

/*
 * In the end, the tree gets these parents and rows, also if *error is set.  0,
 * or -1 with *error set.
 */
int sample_tree_replace_nodes(struct sample_tree *tree,
                              const struct node_numbers *parents,
                              const struct node_numbers *rows,
                              struct error *error);

/* As in a builder, whose nodes are in any order. */
static inline uint32_t
tree_parent(const struct node_numbers *parents, uint32_t node)
{
	return node_numbers_has(parents, node) ?
	    node_numbers_get(parents, node) : node - 1;
}

/* The caller of a node; NO_NODE: it is an outermost frame. */
static inline uint32_t
sample_tree_parent(const struct sample_tree *tree, uint32_t node)
{
	return tree_parent(&tree->parents, node);
}

/* The first node after the subtree of a node. */
static inline uint32_t
sample_tree_end(const struct sample_tree *tree, uint32_t node)
{
	/* If it has none, the next one that has one is the end of its chain. */
	return node_numbers_get(&tree->ends, node);
}

/* Whether a node has no children. */
static inline bool
sample_tree_is_leaf(const struct sample_tree *tree, uint32_t node)
{
	return node + 1 == tree->n_nodes ||
	    node_numbers_has(&tree->parents, node + 1);
}

/* Whether a node has counts of its own. */
static inline bool
sample_tree_has_row(const struct sample_tree *tree, uint32_t node)
{
	return node_numbers_has(&tree->rows, node);
}

/* The row of a node; 0: it has none. */
static inline uint32_t
sample_tree_row(const struct sample_tree *tree, uint32_t node)
{
	return sample_tree_has_row(tree, node) ?
	    node_numbers_get(&tree->rows, node) : 0;
}

/* A node's own hits of a resource, and the raw samples they came in. */
static inline uint64_t
sample_tree_hits(const struct sample_tree *tree, uint32_t resource,
                 uint32_t node)
{
	return tree->hits[resource][sample_tree_row(tree, node)];
}

static inline uint64_t
sample_tree_samples(const struct sample_tree *tree, uint32_t resource,
                    uint32_t node)
{
	const uint64_t *samples = tree->samples[resource];

	return (samples != NULL ? samples : tree->hits[resource])[
	    sample_tree_row(tree, node)];
}

/* A tree's rows of counts, as timelines see them. */
static inline struct timeline_rows
sample_tree_rows(const struct sample_tree *tree)
{
	return (struct timeline_rows){ tree->n_rows, tree->n_resources,
		tree->hits, tree->samples };
}

/* Drops all resources except the first n. */
void sample_tree_keep_resources(struct sample_tree *tree, uint32_t n);

/*
 * The running sums of counts in the order of the nodes: sums[i] is that of the
 * first i rows, sums[tree->rows.n] that of all.
 *
 * self[n_rows]: hits of one resource.  Unit: hits (intervals), not gticks.
 * Freed with large_array_free; NULL with *error set.  O(rows).
 */
uint64_t *sample_tree_new_sums(const struct sample_tree *tree,
                               const uint64_t *self, struct error *error);

/* Likewise, into an array of tree->rows.n + 1. */
void sample_tree_sum(const struct sample_tree *tree, const uint64_t *self,
                     uint64_t *sums);

/*
 * The weight of a node: its own hits and those of all its descendants.  sums:
 * of these hits.  Source: Hall & Goldberg 1993, section 5.3.
 */
static inline uint64_t
sample_tree_weight(const struct sample_tree *tree, const uint64_t *sums,
                   uint32_t node)
{
	return sums[node_numbers_before(&tree->rows, sample_tree_end(tree,
	    node))] -
	    sums[node_numbers_before(&tree->rows, node)];
}

/*
 * Sum of the hits, or samples, of all rows; by the invariant it cannot
 * overflow.
 */
uint64_t sample_tree_total(const struct sample_tree *tree,
                           const uint64_t *counts);

/*
 * The same stacks with other labels.  Node n is replaced by the chain
 * labels[first[label[n]]] .. labels[first[label[n] + 1] - 1], outermost first
 * (several where calls were inlined).  Its hits go to the last, its returns to
 * the first, which is the function that was called.  A node that has none is
 * one with its parent, which gets its hits and children; an outermost node has
 * at least one.  A node with NO_LABEL is left out, with all below it.  Equal
 * siblings are merged, whatever section they came from.  Freed with
 * sample_tree_free; NULL with *error set.  O(N + the greatest label) in time
 * and memory.
 */
#define NO_LABEL UINT32_MAX
struct sample_tree *sample_tree_relabel(const struct sample_tree *tree,
                                        const uint32_t *first,
                                        const uint32_t *labels,
                                        struct error *error);

/*
 * Whether such chains make no absurd number of nodes, as a small hostile file
 * can have it; both functions ask this first.  O(N).
 */
int sample_tree_check_spread(const struct sample_tree *tree,
                             const uint32_t *first, struct error *error);

/*
 * The same for chains that all have labels, different ones: so siblings stay
 * different, and those of different sections are not merged.  The new tree
 * borrows the counts.  *new_part, unless part is NULL, becomes an array of the
 * new nodes, freed with large_array_free: what part[n_nodes] has for the node
 * that each comes from.  O(N + new nodes).
 */
struct sample_tree *sample_tree_spread(const struct sample_tree *tree,
                                       const uint32_t *first,
                                       const uint32_t *labels,
                                       const uint32_t *part,
                                       uint32_t **new_part,
                                       struct error *error);

/*
 * Building.  Nodes are entered in any order, numbered from 0;
 * tree_builder_finish puts them into depth-first order, siblings in the order
 * in which they were entered.  All functions return NO_NODE or -1 or NULL with
 * *error set if memory runs out or a sum would exceed 64 bits.
 */
struct tree_builder;

struct tree_builder *tree_builder_new(uint32_t n_resources,
                                      struct error *error);
void tree_builder_free(struct tree_builder *builder);

/* The number of nodes entered so far. */
uint32_t tree_builder_count(const struct tree_builder *builder);

/*
 * Begins a section: outermost frames entered from here on are not shared with
 * earlier ones, below which nothing more may be entered.  Returns the number
 * of the next node, where the section begins in the finished tree, too.
 */
uint32_t tree_builder_begin_section(struct tree_builder *builder);

/*
 * The child of parent (NO_NODE: an outermost frame) with this label, entered
 * if new.  UINT32_MAX is no valid label.
 */
uint32_t tree_builder_child(struct tree_builder *builder, uint32_t parent,
                            uint32_t label, struct error *error);

/*
 * The same for a chain of n labels, outermost first: each label's node is the
 * child of the one before, and the first one's is the child of parent.  Their
 * numbers go to nodes[n].  Expected O(n); a probe is needed only where the
 * chain leaves the newest stack.  After a failure some of the chain may have
 * been entered.
 */
int tree_builder_chain(struct tree_builder *builder, uint32_t parent,
                       const uint32_t *labels, size_t n, uint32_t *nodes,
                       struct error *error);

/*
 * Likewise, but without a probe, for callers that know that parent has no
 * child labels[0] yet, such as readers of sorted input.
 */
int tree_builder_append(struct tree_builder *builder, uint32_t parent,
                        const uint32_t *labels, size_t n, uint32_t *nodes,
                        struct error *error);

/*
 * Enters n whole stacks.  Their labels follow each other, lengths[i] >= 1 of
 * them for stack i; the nodes of the innermost frames go to nodes[n].  Several
 * stacks are looked up at a time so that their cache misses overlap, which on
 * large trees is several times as fast as one chain after another.
 */
int tree_builder_stacks(struct tree_builder *builder, const uint32_t *labels,
                        const uint32_t *lengths, size_t n, uint32_t *nodes,
                        struct error *error);

/* Adds a resource, the last one, of which no node has hits yet. */
int tree_builder_add_resource(struct tree_builder *builder,
                              struct error *error);

/* Adds own hits and raw samples to a node. */
int tree_builder_add(struct tree_builder *builder, uint32_t node,
                     uint32_t resource, uint64_t hits, uint64_t samples,
                     struct error *error);

/*
 * Takes back all hits and raw samples of nodes from `first` on, of which no
 * times were noted.  O(nodes from first on).
 */
void tree_builder_clear(struct tree_builder *builder, uint32_t first);

/*
 * Notes when hits of a node were counted, which tree_builder_add has added: in
 * the part of the run that begins at begin_ns; width_ns 0: at that moment.
 * Times count from the origin, or if there is none from the earliest of them.
 */
int tree_builder_add_time(struct tree_builder *builder, uint32_t node,
                          uint32_t resource, uint64_t begin_ns,
                          uint64_t width_ns, uint64_t hits, uint64_t samples,
                          struct error *error);

/* Sets the origin of times, which is at utc_ns since 1970; 0: unknown. */
void tree_builder_set_origin(struct tree_builder *builder, uint64_t utc_ns);

/*
 * Adds to the number of times that a node was seen to return; 0 records only
 * that returns are counted.
 */
int tree_builder_add_returns(struct tree_builder *builder, uint32_t node,
                             uint64_t returns, struct error *error);

/*
 * Does early the part of tree_builder_finish that is possible now.  A thread
 * that enters nodes while another one reads may have time for it.  O(nodes
 * entered since the last call).
 */
void tree_builder_order(struct tree_builder *builder);

/*
 * The tree, freed with sample_tree_free.  Afterwards, even after a failure,
 * the builder can only be freed.  O(N).
 */
struct sample_tree *tree_builder_finish(struct tree_builder *builder,
                                        struct error *error);

/* ---- tree_time.c ---- */

/* The part of a sample tree's hits that belongs to some time. */

/*
 * Adds the hits of one resource in nodes [begin, end), by slice, to
 * sums[TIMELINE_SLICES]; of a level, its values.  The tree's selection counts:
 * its row[].
 */
void tree_time_add(const struct sample_tree *tree, uint32_t resource,
                   uint32_t begin, uint32_t end, uint64_t *sums);

/*
 * The same tree with the hits and samples that belong to a set of slices, and
 * a timeline of these.  A level has its value at the end of the last of them.
 * The result shares the arrays of nodes with `tree`, which must outlive it; freed
 * with tree_time_free.  NULL with *error set.
 * O(rows + entries).
 */
struct sample_tree *tree_time_select(const struct sample_tree *tree,
                                     const struct slice_set *set,
                                     struct error *error);
void tree_time_free(struct sample_tree *selection);

#endif
