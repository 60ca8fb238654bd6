/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hits.h -- the hits of functions, calls and call paths, and how far off they
 * may be.  Numbers only: nothing here knows a table.
 */
#ifndef CPPROF_VIEWS_HITS_HITS_H
#define CPPROF_VIEWS_HITS_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/base/names.h"
#include "src/noise/noise.h"
#include "src/profile/call_flow.h"
#include "src/profile/fleet.h"
#include "src/profile/profile.h"
#include "src/views/view.h"

/* ---- measure.c ---- */

/* What fractions are relative to, and which rows are shown. */

struct measure {
	uint64_t denominator;	/* hits */
	uint64_t least;		/* rows with fewer hits are hidden */
};

/*
 * Why records are not shown; each record counts once, for the first reason
 * that applies.
 */
struct hidden {
	uint64_t below_threshold, too_long, beyond_limit;
	bool is_of_function;	/* the threshold is a share of the function
				 * that is shown */
	uint64_t folded;	/* see rows_fold */
	uint64_t empty;		/* of those below the threshold, the records
				 * without hits; for icicles */
	uint64_t least_searched;	/* paths of fewer hits were too many to
					 * search; 0: all were searched */
	/*
	 * Of those below the threshold, where hidden_add_small counted them:
	 * the one with the most hits, of equals the first.
	 */
	uint64_t largest;
	uint32_t largest_name;
};

/*
 * Counts a record below the threshold whose own name is `name`: the function,
 * or of a path the one that tells it from its neighbours.
 */
void hidden_add_small(struct hidden *hidden, uint32_t name, uint64_t hits);

/* All records that are not shown. */
uint64_t hidden_sum(const struct hidden *hidden);

/*
 * What fractions of a set's hits are relative to.  O(1); O(N) if percentages
 * are of the root.
 */
uint64_t measure_denominator(const struct view_request *request,
                             const struct sample_set *set);

/*
 * What the threshold is a share of: the hits that the refinement left, or of
 * the root if percentages are.  Likewise.
 */
uint64_t measure_threshold_base(const struct view_request *request,
                                const struct sample_set *set);

/*
 * The measure of a request.  If it compares runs, rows of at least that many
 * hits include all that have the threshold's share of a side.  Likewise; for
 * each run then.
 */
struct measure measure_of(const struct view_request *request);

/* hits as a share of the denominator; 0 if that is 0. */
double measure_fraction(const struct measure *measure, uint64_t hits);

/*
 * The smallest whole number of hits that is not below threshold * denominator.
 * The threshold stands for the decimal that the user typed.  So a product that
 * differs from a whole number only through the threshold's last bit is that
 * number: 0.07 of 100 hits is 7.
 */
uint64_t measure_least(double threshold, uint64_t denominator);

/* Hits of a flow, rounded to whole ones for display. */
uint64_t measure_hits(long double hits);

/*
 * Value of the path (function): hits of the stacks that contain it.  One scan
 * of the labels, O(N).
 */
uint64_t measure_function(const struct sample_set *set, uint32_t function);

/* The hits of the function's own body, likewise. */
uint64_t measure_body(const struct sample_set *set, uint32_t function);

/*
 * The first node with that label, starting at `node`; n_nodes if there is
 * none.
 */
uint32_t measure_next_node(const struct sample_tree *tree, uint32_t node,
                           uint32_t function);

/* ---- totals.c ---- */

/* Body and body+descendants of every function. */

struct function_total {
	uint32_t name;
	uint64_t self;		/* hits of its body */
	uint64_t inclusive;	/* hits of the stacks that contain it */
	bool is_estimated;	/* inclusive is; never of a tree */
	uint64_t calls;		/* of it by others; 0: unknown */
	uint64_t returns;	/* those seen, if the tree counts them */
};

/*
 * One item for each name in the tree, in order of first appearance; *n of
 * them, to be freed by the caller.  A node adds its weight unless an ancestor
 * of the same name has added its own: in preorder, unless it lies before the
 * end of the last subtree that was added.  The bodies sum to the total.  O(N),
 * one pass; memory O(F).  For a flow, the functions are in the order of their
 * names' numbers.  NULL with *error set.
 */
struct function_total *function_totals(const struct sample_set *set,
                                       uint32_t *n, struct error *error);

/* ---- path_hits.c ---- */

/* The value of one call path in a tree, and when its hits came. */

struct path_hits {
	uint64_t hits;
	bool is_seen;		/* it is in a stack */
	bool is_canonical;	/* otherwise no stack can have this path */
};

/*
 * The value of path[n], n >= 1, in a set that is a tree.  times: NULL, or
 * [TIMELINE_SLICES] to which its hits by slice are added; then the tree has a
 * timeline.  O(nodes) for a path of any length, and with times O(entries).
 */
int path_hits_find(const struct sample_set *set, const uint32_t *path,
                   size_t n, struct path_hits *found, uint64_t *times,
                   struct error *error);

/*
 * The same for n_sets sets of one tree.  ends_there: counts only stacks that
 * end in the path.  No name is then twice in it (struct rows, own).
 */
int path_hits_of_sets(const struct sample_set *sets, size_t n_sets,
                      const uint32_t *path, size_t n, bool ends_there,
                      uint64_t *hits, struct error *error);

/*
 * Whether only the last name of a path occurs twice in it, as in every
 * canonical path.
 */
int path_is_canonical(const struct sample_set *set, const uint32_t *path,
                      size_t n, bool *is_canonical, struct error *error);

/* ---- flow_steps.c ---- */

/*
 * How much of an amount goes along calls, one call after the other.
 *
 * How the value of a path is computed (flow_paths.c): the path's newest name
 * has an amount at each of its vertices, what passes through there along the
 * path.
 */

struct flow_amount {
	uint32_t vertex;
	bool is_exact;		/* hits are */
	bool is_whole;		/* and everything that the vertex has */
	bool is_entry;		/* reached from outside of its cycle */
	long double hits;
};

struct flow_amounts {
	struct flow_amount *items;
	size_t n, capacity;
};

/* Start with `{ 0 }`. */
struct flow_steps {
	const struct call_flow *flow;
	bool is_up;			/* from callees to callers */
	struct flow_amounts reached;	/* by one more call */
	uint32_t *slot;		/* [n_vertices] place in reached, from 1 */
};

/* Call flow_steps_end even if it fails. */
int flow_steps_begin(struct flow_steps *steps, const struct call_flow *flow,
                     struct error *error);
void flow_steps_end(struct flow_steps *steps);

int flow_amounts_add(struct flow_amounts *amounts, struct flow_amount amount,
                     struct error *error);

/* Adds the whole function, at each of its vertices; likewise. */
int flow_amounts_of(const struct call_flow *flow, uint32_t name,
                    struct flow_amounts *amounts, struct error *error);

/* The sum of n amounts, in whole hits. */
void flow_amounts_sum(const struct flow_amount *amounts, size_t n,
                      uint64_t *hits, bool *is_estimated);

/*
 * Fills `reached` with what n amounts become after one more call, to one name
 * or, if that is NO_NAME, to all; is_first: they are whole functions.  0, or -1
 * as above.
 */
int flow_step(struct flow_steps *steps, const struct flow_amount *from,
              size_t n, bool is_first, uint32_t name, struct error *error);

/* The value of path[n], n >= 1; overwrites `reached`.  Likewise. */
int flow_steps_value(struct flow_steps *steps, const uint32_t *path, size_t n,
                     uint64_t *hits, bool *is_estimated, struct error *error);

/* The value of path[n], n >= 1. */
int flow_path_value(const struct call_flow *flow, const uint32_t *path,
                    size_t n, uint64_t *hits, bool *is_estimated,
                    struct error *error);

/* ---- outermost.c ---- */

/*
 * The functions that stacks begin with.
 *
 * Those of calls without stacks are the functions that no other one calls; if
 * there is none, the one with the most hits.  Functions without hits count only
 * if the set has no hits at all.
 */

/*
 * Which functions they are, by name: [names], to be freed by the caller; NULL
 * with *error set.  O(outermost nodes + names).
 */
bool *outermost_functions(const struct sample_set *set, struct error *error);

/* The only one, or NO_NAME if there are several. */
uint32_t outermost_only(const struct sample_set *set);

/*
 * The one that most hits begin with, of equals the first in byte order; NO_NAME
 * if the set is empty, or with *error set.
 */
uint32_t outermost_heaviest(const struct sample_set *set,
                            struct error *error);

/* ---- amount.c ---- */

/* Hits of functions and paths, with the samples they came in. */

/*
 * The most hits of a drawn sample (struct sampled) of n sets together; 0 if one
 * has no measured ones, or if their intervals differ.
 */
uint64_t sampled_most(const struct sample_set *sets, size_t n);

/* Hits of a resource, and samples, as noise.h wants them. */
struct sampled sampled_of(const struct resource *resource, uint64_t hits,
                          uint64_t samples);

struct amount {
	struct sampled sampled;
	bool is_seen;		/* it occurs, perhaps without hits */
	bool is_estimated;	/* hits are, by gprof's rule */
};

struct function_amount {
	uint32_t name;
	uint32_t place;		/* among all, by first appearance */
	struct amount body, inclusive;
};

/*
 * All functions that occur; *n of them, to be freed by the caller.  NULL with
 * *error set.  O(nodes).
 */
struct function_amount *amounts_of_functions(const struct sample_set *set,
                                             uint32_t *n,
                                             struct error *error);

/* One path of n >= 1 names.  O(nodes). */
int amount_of_path(const struct sample_set *set, const uint32_t *path,
                   size_t n, struct amount *amount, struct error *error);

/* What the request's fractions are of.  Likewise. */
int amount_of_whole(const struct view_request *request,
                    struct sampled *whole, struct error *error);

/* ---- group_noise.c ---- */

/*
 * How far off numbers of a merged profile may be.
 *
 * Its members differ by more than the chance of sampling, and its random groups
 * show by how much (noise/noise.h).  Views compute that for all of their
 * rows (rows/rows.h); this is for single functions and paths.
 */

/* What each group has of something. */
struct group_hits {
	uint64_t hits[FLEET_GROUPS];
};

/* The groups of a request that has some; borrowed. */
struct group_noise {
	const struct fleet_groups *groups;
	const struct sample_set *sets;	/* [groups->n] */
	struct group_hits whole;	/* what shares are of */
};

struct group_noise group_noise_of(const struct view_request *request);

/* What the groups have of a path of n >= 1 names.  O(nodes). */
int group_noise_path(const struct group_noise *noise, const uint32_t *path,
                     size_t n, struct group_hits *hits, struct error *error);

/* What they have of a function. */
struct group_function {
	struct group_hits body, inclusive;
};

/*
 * All functions in the order of amounts_of_functions, to be freed by the
 * caller.  NULL with *error set.  O(nodes) for each group.
 */
struct group_function *group_noise_functions(const struct group_noise *noise,
                                             struct error *error);

/*
 * The standard error of the share of the whole that the groups have part[n] of;
 * NAN if fewer than two of them have hits of it, so that it is unknown.
 */
double group_share_error(const struct group_noise *noise,
                         const uint64_t *part);

/*
 * That share, and the sum of the part's hits, with intervals that contain the
 * true value as often as those of z standard errors that are known exactly.
 * low and high are NAN as above.
 */
struct estimate group_share_estimate(const struct group_noise *noise,
                                     const struct group_hits *part,
                                     struct sampled of_part,
                                     struct sampled of_whole, double z);
struct estimate group_hits_estimate(const struct group_noise *noise,
                                    const struct group_hits *part,
                                    struct sampled of_part, double z);

/* ---- run_noise.c ---- */

/*
 * How far off numbers of several loaded runs may be.
 *
 * Views show the sum of the runs.  These vary by more than the chance of
 * sampling, and each of them by itself shows by how much, as in a comparison:
 * noise.h fits that to the bodies of all functions.  An amount varies with the
 * length of a run; a share varies about that of the sum, however long a run is.
 */

/* How a number of the sum varies as an amount, and as a share. */
struct run_spread {
	struct change_spread hits, share;
};

struct run_noise {
	/* The caller's. */
	const struct view_request *request;	/* for the sum */
	const struct sample_set *sets;	/* [n] the runs; their names have other
					 * numbers */
	size_t n;
	struct sampled sum;		/* what shares are of */

	double *whole;			/* [n] the hits of that in each run */
	struct change_noise of_hits, of_shares;
	/* Of the functions of the sum, by place; NULL: nothing is known. */
	struct run_spread *body, *inclusive;
};

/*
 * Counts all functions in each of n > 1 runs and fits the noise.
 * functions[n_functions]: those of the sum, by place.  Call run_noise_free
 * even if it fails.  O(nodes) for each run.
 */
int run_noise_make(struct run_noise *noise, const struct view_request *request,
                   const struct sample_set *sets, size_t n,
                   struct sampled sum, const struct function_amount *functions,
                   uint32_t n_functions, struct error *error);
void run_noise_free(struct run_noise *noise);

/*
 * The spread of a path of n >= 1 names of the sum, which has that part of it.
 * O(nodes) for each run.
 */
int run_noise_path(const struct run_noise *noise, const uint32_t *path,
                   size_t n, struct sampled part, struct run_spread *spread,
                   struct error *error);

/*
 * The hits of a part of the sum, and its share of a whole, with intervals that
 * contain the true value as often as those of z standard errors that are known
 * exactly.  They are never narrower than those of sampling alone.  low and high
 * are NAN if nothing shows how the runs vary.
 */
struct estimate run_hits_estimate(const struct run_spread *spread,
                                  struct sampled part, double z);
struct estimate run_share_estimate(const struct run_spread *spread,
                                   struct sampled part, struct sampled whole,
                                   double z);

/* ---- amount_noise.c ---- */

/*
 * How far off the numbers of a request may be, whatever makes them vary: chance
 * in sampling; members of a merged profile that differ, by its random groups;
 * runs that differ, if several are loaded.
 */

/*
 * Whether the errors of its shares are known.  The request is one for noise
 * (session_noise_request).
 */
bool noise_is_known(const struct view_request *request);

enum noise_source { NOISE_OF_SAMPLING, NOISE_OF_GROUPS, NOISE_OF_RUNS };

struct noise {
	enum noise_source source;
	const struct sample_set *set;
	struct sampled whole;		/* what shares are of */
	struct function_amount *functions;	/* [n_functions], by place */
	uint32_t n_functions;
	uint32_t *place;		/* [names] of each in these, from 1;
					 * 0: it does not occur */
	struct group_noise groups;
	struct group_function *group_functions;	/* [n_functions], by place */
	struct run_noise runs;
};

/*
 * Counts all functions of a request for noise, which must outlive it.
 * runs[n_runs]: those that were loaded, if there are several; else n_runs is 0.
 * Call noise_free even if it fails.  O(nodes) for each run or group.
 */
int noise_make(struct noise *noise, const struct view_request *request,
               const struct sample_set *runs, size_t n_runs,
               struct error *error);
void noise_free(struct noise *noise);

/* An amount, with what its source of noise shows of it. */
struct noisy_amount {
	struct amount amount;
	struct group_hits groups;	/* NOISE_OF_GROUPS */
	struct run_spread runs;		/* NOISE_OF_RUNS */
};

/* A function's body, or it with its descendants; of any name. */
void noise_function(const struct noise *noise, uint32_t name, bool is_body,
                    struct noisy_amount *found);

/* A path of n >= 1 names.  O(nodes) for each run or group. */
int noise_path(const struct noise *noise, const uint32_t *path, size_t n,
               struct noisy_amount *found, struct error *error);

/*
 * The hits and the share of the whole, with intervals of z standard errors;
 * low and high are NAN where nothing shows them.
 */
struct estimate noise_hits(const struct noise *noise,
                           const struct noisy_amount *of, double z);
struct estimate noise_share(const struct noise *noise,
                            const struct noisy_amount *of, double z);

#endif
