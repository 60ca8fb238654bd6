/* SPDX-License-Identifier: GPL-3.0-or-later */
/* naming.h -- the profile's stacks as names, with the sums of a resource.
 *
 * Views work on this: the tree of names at one granularity or, if the profile
 * has calls but no stacks, the flow through the calls.
 */
#ifndef CPPROF_SHELL_SESSION_NAMING_H
#define CPPROF_SHELL_SESSION_NAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/fleet.h"
#include "src/profile/profile.h"
#include "src/refine/refine.h"
#include "src/views/view.h"

/* The names that occur; naming_functions sorts them on the first call. */
struct function_list {
	uint32_t n;
	bool is_sorted;
	uint32_t names[];
};

enum { NAMING_COLUMNS_MAX = 16 };

/* The sums, or the flow, of another resource. */
struct naming_column {
	uint32_t resource;		/* of the tree */
	bool counts_samples;		/* sums are of these, not of hits */
	uint64_t *sums;			/* sample_tree_new_sums; NULL: a flow */
	struct call_flow *flow;
};

/* What names are to be made of. */
struct naming_request {
	struct profile *profile;
	struct naming_rule rule;
	unsigned hidden;		/* enum hidden_frames, 1 << each */
	struct step *const *steps;	/* [n_steps] of the refinement */
	size_t n_steps;
	uint32_t resource;		/* one of the profile's */
	/* Others, for columns beside it. */
	uint32_t columns[NAMING_COLUMNS_MAX];
	size_t n_columns;
	/*
	 * More columns have what tells the noise of the resource: of a merged
	 * profile the hits of each of its groups, if there are several and the
	 * steps ask for no labels; of another one the samples, if not each hit
	 * of the tree is one.
	 */
	bool wants_noise;
	bool has_static;		/* a flow also has the calls that never
					 * happened */
	const struct naming *before;	/* NULL, or one whose stacks are used
					 * again if they fit */
};

/* Stacks before any step, with a reference count. */
struct kept_stacks {
	struct stacks stacks;
	struct fleet_groups *groups;	/* whose tree it is; NULL: the
					 * profile's */
	struct naming_rule rule;
	unsigned granularities;		/* of the steps, 1 << each */
	unsigned hidden;		/* frames */
	bool has_sections;
	unsigned n_owners;
};

struct naming {
	struct naming_rule rule;
	const struct profile *profile;
	const struct names *names;	/* the profile's */
	struct sample_tree *tree;	/* NULL: a flow */
	bool tree_is_own;
	uint64_t *sums;			/* of the resource, likewise */
	struct call_flow *flow;		/* of the resource */
	struct naming_column *columns;	/* [n_columns] as requested; those of
					 * noise come last */
	size_t n_columns;
	struct fleet_groups *groups;	/* NULL: no column is that of a group */
	bool is_refined;		/* the tree is what steps left, or has
					 * no start-up frames */
	bool *skipped;			/* [n_steps] steps that matched nothing,
					 * or would have left nothing */
	struct error why_last;		/* why the last step was skipped; unset
					 * if it was not */
	struct kept_stacks *stacks;	/* for the next step; NULL: none yet */
	struct refining *refining;	/* these after the steps; NULL: no step
					 * was applied to them */
	struct function_list *functions;
	unsigned char *occurs;		/* [n_names] whether in the tree */
	uint32_t n_names;
};

/*
 * Makes names, and the sums of a resource.  0, or -1 with *error set and
 * *naming empty.  The profile must outlive the naming.
 */
int naming_make(struct naming *naming, const struct naming_request *request,
                struct error *error);

/*
 * Gives the stacks other names: name i becomes renamed[i], of n names.  Steps
 * have been applied by the names before.  request: that which made it; its
 * columns have no flows.  0, or -1 with *error set and *naming freed.
 */
int naming_rename(struct naming *naming, const struct naming_request *request,
                  const uint32_t *renamed, uint32_t n, struct error *error);
void naming_free(struct naming *naming);

/* Whether names made by a request have columns of groups. */
bool naming_wants_groups(const struct naming_request *request);

/*
 * Makes the columns of a request anew, for names that were made by an equal
 * request but for the resources.  Neither has groups.  0, or -1 with *error set
 * and nothing changed.
 */
int naming_make_columns(struct naming *naming,
                        const struct naming_request *request,
                        struct error *error);

/* Call this when the profile's frames have changed: no stacks are kept. */
void naming_forget_stacks(struct naming *naming);

/*
 * The stacks that names are made of, before any step.  has_sections: with the
 * sections of their nodes, also if no step asks for them.  Call stacks_free
 * even if it fails.
 */
int naming_stacks(const struct naming_request *request, bool has_sections,
                  struct stacks *stacks, struct error *error);

/*
 * The same for another tree of the profile's frames, which has no sections and
 * must outlive the stacks; no step asks for labels.
 */
int naming_stacks_of(const struct naming_request *request,
                     const struct sample_tree *tree, struct stacks *stacks,
                     struct error *error);

/*
 * What views, and the names in command lines, are about: the loaded profile, or
 * the runs of a comparison together.
 */
struct subject {
	struct profile *profile;
	struct naming naming;
	uint32_t resource;		/* index into profile->resources */
	struct sample_set set;		/* of that resource, for views */
	/* What view_request says of each. */
	const struct sample_set *columns;	/* [n_columns] */
	size_t n_columns, samples;
	const struct compared_runs *compared;
	uint32_t root;			/* a name, or NO_NAME */
};

/* The name that occurs with that text, or NO_NAME. */
uint32_t naming_find(const struct naming *naming, const char *text,
                     size_t length);

/* The *n names that occur, in byte order. */
const uint32_t *naming_functions(const struct naming *naming, uint32_t *n);

#endif
