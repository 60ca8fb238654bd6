/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet.h -- the sum of very many profiles, and what the sum alone would lose.
 *
 * The profiles that were added are its members.  Beside the counts of each
 * stack the sum keeps:
 *
 * - the same counts by random group.  Each member is in one of 32 groups, by a
 *   hash of its identity.  The variance of a path's value needs whole columns
 *   of independent parts of the sum, not moments of its nodes.
 * - for each node and resource the member that has most of it.
 * - the counts by the values of one key, such as "host", if asked for.
 *
 * All of these are sums or maxima over members, ties broken by their
 * identities.  So the members may be added in any order, and sums of them added
 * again: once settled (fleet_settle.h) the sum is the same.  For that reason a
 * resource is here a name, a gtick and an interval together: no count is
 * converted.
 *
 * A fleet belongs to a profile, which has its modules, frames and tallies.
 * Not kept: threads and labels (but by a key), times, warnings.
 */
#ifndef CPPROF_PROFILE_FLEET_H
#define CPPROF_PROFILE_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/index.h"
#include "src/base/names.h"
#include "src/profile/digest_index.h"
#include "src/profile/fleet_lines.h"
#include "src/profile/frame_union.h"
#include "src/profile/profile.h"

enum {
	FLEET_GROUPS = 32,
	FLEET_VALUES_MAX = 1 << 24,
};

#define NO_MEMBER UINT32_MAX

/* A resource, and how much of it each row has. */
struct fleet_resource {
	const char *name, *gtick;
	uint64_t interval;
	uint64_t n_files;	/* that have it; 0: no member so far */
	enum counting counting;	/* in all of them; else unknown */
	uint32_t first_column;	/* in any of them */
	uint64_t lost[N_LOSSES];
	uint64_t total_hits, total_samples;
	uint64_t *hits, *samples;	/* [n_rows], both always there */
	size_t hits_capacity, samples_capacity;
	uint64_t *most_hits;	/* [n_nodes] the weight of a node in the member
				 * that has most of it; 0: nobody has any */
	uint32_t *most_member;	/* [n_nodes], that member, or NO_MEMBER */
	size_t most_capacity, member_capacity;
};

/* A member that has most of some node. */
struct fleet_member {
	const char *id;		/* its identity */
	const char *name;	/* the file that it came from; "": unknown */
	uint64_t order;		/* what identities are compared by first */
};

/* Counts of a row in a part of the sum. */
struct fleet_cell {
	uint32_t row;
	uint32_t code;		/* fleet_code */
	uint64_t hits, samples;	/* of groups only hits */
};

/* Cells, each row and code once while they are added. */
struct fleet_cells {
	struct fleet_cell *cells;
	size_t n, capacity;
	struct index index;
};

/* The part (a group or value) and the resource of a cell. */
static inline uint32_t
fleet_code(uint32_t part, uint32_t resource)
{
	return part << 8 | resource;
}

static inline uint32_t
fleet_part(uint32_t code)
{
	return code >> 8;
}

static inline uint32_t
fleet_resource_of(uint32_t code)
{
	return code & 0xff;
}

/* What all processes of the members have in common. */
struct fleet_process {
	/* NULL: unknown in all; fleet_several: they differ. */
	const char *program, *command, *host;
	uint64_t start_ns, end_ns;	/* the earliest and latest; 0: unknown */
	uint64_t cpu_ns, sampling_ns;	/* sums */
	bool is_cpu_unknown;		/* of a process */
	bool cpu_is_least;		/* of a process */
};

extern const char fleet_several[];

struct fleet {
	struct profile *profile;	/* borrowed: its owner's owner */
	struct frame_union *frames;	/* NULL: read from a file, and whole */

	uint64_t n_members, n_warned;	/* of these, members with warnings */
	uint64_t group_members[FLEET_GROUPS];
	struct fleet_process process;
	struct names *sources;		/* pairs of how a resource was counted
					 * and its number, 4 bytes */

	struct fleet_resource *resources;
	uint32_t n_resources;
	size_t resources_capacity;

	/* The nodes; a parent's number is smaller than its children's. */
	uint32_t n_nodes, n_rows;	/* row 0 has no counts */
	uint32_t *parent, *label, *row;	/* [n_nodes], as in a sample tree */
	size_t parent_capacity, label_capacity, row_capacity;
	uint64_t *returns;		/* [n_nodes]; NULL: not counted */
	size_t returns_capacity;
	uint64_t total_returns;
	/* How children are found, see fleet.c. */
	uint32_t *child, *next;		/* [n_nodes] one of the children;
					 * the next sibling, around */
	unsigned char *n_children;	/* [n_nodes], at most WIDE */
	size_t child_capacity, next_capacity, n_children_capacity;
	struct index index;		/* outermost nodes, children of wide
					 * ones */
	struct digest_index *stacks;	/* by which whole ones are found; NULL:
					 * none so far */
	uint64_t *weight;		/* [weight_nodes][n_weights] of nodes in
					 * one member; else 0 */
	uint64_t *has_weight;		/* a bit for each node; else 0 */
	size_t weight_nodes;
	uint32_t n_weights;

	struct fleet_member *members;	/* at least those that a node names */
	uint32_t n_listed;
	size_t members_capacity;

	struct fleet_lines *lines;	/* counts by group; NULL: they are in
					 * groups, or there are none */
	struct fleet_cells groups;
	const char *key;		/* NULL: counts are kept by no key */
	struct names *values;		/* of the key */
	struct fleet_cells by;		/* what is missing has no value */

	/* Set by fleet_make_tree: how the profile has each resource. */
	uint32_t *shown_as;		/* [n_resources] of the profile */
	uint64_t *factor;		/* [n_resources] its hits that one is */
};

/*
 * An empty fleet, which belongs to the profile and dies with it.  NULL with
 * *error set.
 */
struct fleet *fleet_new(struct profile *profile, struct error *error);

/* The resource, or NULL. */
const struct fleet_resource *fleet_find_resource(const struct fleet *fleet,
                                                 const char *name,
                                                 const char *gtick,
                                                 uint64_t interval);

/* ---- filling; each returns a number, or UINT32_MAX with *error set ---- */

/* The resource, entered if new; then there are less than RESOURCES_MAX others. */
uint32_t fleet_add_resource(struct fleet *fleet, const char *name,
                            const char *gtick, uint64_t interval,
                            struct error *error);

/* The node with that parent (NO_NODE: outermost) and frame, entered if new. */
uint32_t fleet_add_node(struct fleet *fleet, uint32_t parent, uint32_t frame,
                        struct error *error);

/* The member, entered at the end. */
uint32_t fleet_add_member(struct fleet *fleet, const char *id,
                          const char *name, struct error *error);

/* The number of the node's row of counts, entered if it has none. */
uint32_t fleet_need_row(struct fleet *fleet, uint32_t node,
                        struct error *error);

/* Adds to a row; 0, or -1 with *error set where a total passes 64 bits. */
int fleet_add_counts(struct fleet *fleet, uint32_t row, uint32_t resource,
                     uint64_t hits, uint64_t samples, struct error *error);

/* Adds to how often a node was seen to return; likewise. */
int fleet_add_returns(struct fleet *fleet, uint32_t node, uint64_t returns,
                      struct error *error);

/*
 * Makes `member` the one that has most of the node, if it has more than the one
 * before, or as much and the smaller identity.
 */
void fleet_offer_most(struct fleet *fleet, uint32_t resource, uint32_t node,
                      uint64_t hits, uint32_t member);

/*
 * Makes room for at least n columns of the hits of one member, by the nodes
 * that there are; 0, or -1 with *error set.
 */
int fleet_reserve_weights(struct fleet *fleet, uint32_t n,
                          struct error *error);

/* Adds to the member's hits of a node; all are 0 at first. */
static inline void
fleet_add_weight(struct fleet *fleet, uint32_t node, uint32_t column,
                 uint64_t hits)
{
	fleet->weight[(size_t)node * fleet->n_weights + column] += hits;
	fleet->has_weight[node / 64] |= (uint64_t)1 << node % 64;
}

/*
 * Sums up the hits to those of subtrees, offers the member for each node, and
 * makes all 0 again.  resources[n_resources]: those of the columns; nodes[n]:
 * at least those that have hits.
 */
void fleet_offer_weights(struct fleet *fleet, const uint32_t *resources,
                         uint32_t n_resources, const uint32_t *nodes,
                         uint32_t n, uint32_t member);

/* Adds to the hits of a row in a group; 0 or -1. */
int fleet_add_group(struct fleet *fleet, uint32_t row, uint32_t group,
                    uint32_t resource, uint64_t hits, struct error *error);

/*
 * Adds to the cell, which is entered if new.  The row has at least as many
 * counts, so that no sum can pass 64 bits.  0 or -1.
 */
int fleet_add_cell(struct fleet_cells *cells, uint32_t row, uint32_t code,
                   uint64_t hits, uint64_t samples, struct error *error);

/* Sets what a fleet's counts are kept by, unless that is known; 0 or -1. */
int fleet_set_key(struct fleet *fleet, const char *key, struct error *error);

/* Adds a + b, or UINT64_MAX where that passes 64 bits. */
static inline uint64_t
fleet_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
