/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet.h -- what merged profiles hold: stacks of many members, with counts by
 * random group.
 *
 * Members are added one by one or as sums of others; then a sum is put in
 * order, and a profile made of it.
 */
#ifndef CPPROF_PROFILE_FLEET_H
#define CPPROF_PROFILE_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/index.h"
#include "src/base/names.h"
#include "src/profile/profile.h"
#include "src/profile/tree_builder.h"

/* ---- frame_union.c ---- */

/*
 * The modules and frames of several profiles, each once.
 *
 * Frames are the same if their modules, addresses, locations and all else that
 * is known of them are; modules if their paths and builds are (module_build).
 * So which frames a union has does not depend on the order of the profiles.
 */

/* Enters into `sum`, to which nobody else adds modules or frames. */
struct frame_union;

/*
 * sum: without modules and frames.  with_origins: locations keep what compilers
 * know them by (struct location).  NULL with *error set.
 */
struct frame_union *frame_union_new(struct profile *sum, bool with_origins,
                                    struct error *error);
void frame_union_free(struct frame_union *frames);

/* To be called before the frames of each profile; 0 or -1. */
int frame_union_begin(struct frame_union *frames, const struct profile *from,
                      struct error *error);

/* *number: of the sum's equal module, entered if new; 0 or -1. */
int frame_union_module(struct frame_union *frames,
                       const struct module *module, uint32_t *number,
                       struct error *error);

/*
 * *number: of the sum's frame that equals frame `from_number` of another
 * profile, entered if new.  module_map: from that profile's modules to those of
 * the sum.
 */
int frame_union_frame(struct frame_union *frames, const struct profile *from,
                      uint32_t from_number, const uint32_t *module_map,
                      uint32_t *number, struct error *error);

/* ---- fleet_lines.c ---- */

/*
 * The hits of rows by group and resource, while they are added.
 *
 * All hits of a member go to one group.  So each group and resource has an
 * array by row, of which only the lines of eight rows exist that some hit lies
 * in.
 */

enum { ROWS_A_LINE = 8, LINES_A_PAGE = 512 };

struct fleet_lines;

/* NULL with *error set. */
struct fleet_lines *fleet_lines_new(struct error *error);
void fleet_lines_free(struct fleet_lines *lines);

/*
 * Adds hits to a row; code: a small number for the group and resource.  The row
 * has at least as many, so that no sum can pass 64 bits.
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

/* ---- fleet.c ---- */

/*
 * The sum of very many profiles, and what the sum alone would lose.
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
 * again: once put in order (fleet_order) the sum is the same.  For that reason
 * a resource is here a name, a gtick and an interval together: no count is
 * converted.
 *
 * A fleet belongs to a profile, which has its modules, frames and tallies.
 * Not kept: threads and labels (but by a key), times, warnings.
 */

enum {
	FLEET_GROUPS = 32,
	FLEET_VALUES_MAX = 1 << 24,
};

#define NO_MEMBER UINT32_MAX

/* A resource, and how much of it each row has. */
struct fleet_resource {
	struct resource column;	/* but its sources */
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
 * that there are.
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

/* ---- fleet_stacks.c ---- */

/* The nodes of whole stacks in a fleet. */

/* So many are looked up at a time, that their cache misses may overlap. */
enum { FLEET_STACKS_MAX = 32 };

/*
 * Finds the innermost nodes of n stacks, or enters these: lengths[i] >= 1
 * frames of stack i follow those of the one before, innermost first.  n is at
 * most FLEET_STACKS_MAX.
 */
int fleet_find_stacks(struct fleet *fleet, const uint32_t *frames,
                      const uint32_t *lengths, uint32_t n, uint32_t *nodes,
                      struct error *error);

/* ---- fleet_add.c ---- */

/* Adds profiles to a fleet. */

/* Who a profile is, and by what its counts are kept. */
struct fleet_identity {
	const char *id;		/* decides its group, and ties */
	const char *name;	/* of its file; "": unknown */
	const char *key;	/* "host", "process", "thread", "id" or the key
				 * of a label; NULL: none */
};

/*
 * Adds a profile that fleet_accepts as one member; or, if it is a merged
 * profile, all its members, and then only the key of the identity counts.  0,
 * or -1 with *error set: the fleet is then of no more use, since part of the
 * profile may be in it.
 */
int fleet_add_profile(struct fleet *fleet, const struct profile *from,
                      const struct fleet_identity *identity,
                      struct error *error);

/* ---- fleet_accepts.c ---- */

/* Whether a profile can be added to a fleet. */

/*
 * Whether it has stacks, counts by no other key, and neither resources nor hits
 * that are too many together with those of the fleet; if not, *error says what
 * is wrong.  The number of nodes, counts and values is not looked at: their
 * limits are far away.  O(nodes).
 */
bool fleet_accepts(const struct fleet *fleet, const struct profile *from,
                   const struct fleet_identity *identity,
                   struct error *error);

/* ---- fleet_order.c ---- */

/* Puts a fleet into the order in which it is written. */

/*
 * Renumbers everything, so that it depends on the members only and not on the
 * order in which they were added: names, modules, frames, resources and values
 * by their bytes, nodes depth first with siblings by frame, rows by node, cells
 * by part, resource and node, members by identity.  Drops members that no node
 * names and values without counts.  Afterwards nothing can be added.  0, or -1
 * with *error set: then the fleet can only be freed.
 */
int fleet_order(struct fleet *fleet, struct error *error);

/* ---- fleet_sum.c ---- */

/* The sum of merged profiles is a merged profile. */

/*
 * The sum of n >= 1 profiles.  If all are merged profiles that can be added to
 * each other, it has all their members, with their groups and counts by the key;
 * else it is that of profile_merge.  The caller keeps the inputs.  NULL with
 * *error set.
 */
struct profile *fleet_sum_profiles(struct profile *const *profiles, uint32_t n,
                                   struct error *error);

/* ---- fleet_tree.c ---- */

/* A fleet as the profile that views work on. */

/*
 * Gives the profile of an ordered fleet its resources, tree, process and number
 * of files.  Resources of one name and gtick become one, in gticks if their
 * intervals differ.  If counts are kept by a key, each value becomes a section
 * with that label, and what has no value one without.  0, or -1 with *error
 * set, also where a sum in gticks passes 64 bits.
 */
int fleet_make_tree(struct fleet *fleet, struct error *error);

/*
 * The same for what the fleet has of one resource, NULL: of its first, without
 * sections and process: if it has its members apart, the resource of the
 * profile has a part for each member with hits, else a single one.  -1 with
 * *error set also if the fleet has no such resource, or too many members.
 */
int fleet_make_runs(struct fleet *fleet, const char *name,
                    struct error *error);

/* Whether all hits are kept by "id", so that each member is known. */
bool fleet_has_members_apart(const struct fleet *fleet);

/*
 * The stacks of a fleet, with the hits of its random groups.  It lives as long
 * as its owners, and no longer than the fleet.
 */
struct fleet_groups {
	/*
	 * Labels and resources are those of the profile's tree, after which the
	 * groups come as resources of their own: [first, first + n).  The stacks
	 * have no sections.
	 */
	struct sample_tree *tree;
	uint32_t resource;		/* of the profile: whose hits they are */
	uint32_t first, n;		/* only groups that have members */
	double members[FLEET_GROUPS];	/* [n] */
	unsigned n_owners;
};

/* The number of groups that have members. */
uint32_t fleet_count_groups(const struct fleet *fleet);

/*
 * Makes those of one resource, after fleet_make_tree; the caller is an owner.
 * The file has no samples by group: they are the group's part of the row's.
 * NULL with *error set.  O(nodes + cells).
 */
struct fleet_groups *fleet_groups_new(const struct fleet *fleet,
                                      uint32_t resource, struct error *error);

/* Adds an owner, and takes one away; NULL is allowed. */
struct fleet_groups *fleet_groups_share(struct fleet_groups *groups);
void fleet_groups_release(struct fleet_groups *groups);

#endif
