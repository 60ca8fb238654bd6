/* SPDX-License-Identifier: GPL-3.0-or-later */
/* naming.h -- the profile's stacks as names, with the weights of a resource.
 *
 * Views work on this: the tree of names at one granularity or, if the profile
 * has calls but no stacks, the flow through the calls.
 */
#ifndef CPPROF_SHELL_SESSION_NAMING_H
#define CPPROF_SHELL_SESSION_NAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

/* The names that occur; naming_functions sorts them on the first call. */
struct function_list {
	uint32_t n;
	bool is_sorted;
	uint32_t names[];
};

struct naming {
	struct naming_rule rule;
	const struct names *names;	/* the profile's */
	struct sample_tree *tree;	/* NULL: a flow */
	bool tree_is_own;
	uint64_t *weight;		/* [n_nodes], of the resource */
	struct call_flow *flow;		/* of the resource */
	bool has_static;		/* in the flow */
	struct function_list *functions;
	unsigned char *occurs;		/* [n_names] whether in the tree */
	uint32_t n_names;
};

/*
 * Makes names by a rule, and the weights of one of the profile's resources.
 * has_static: a flow also has the calls that never happened.  0, or -1 with
 * *error set and *naming empty.  The profile must outlive the naming.
 */
int naming_make(struct naming *naming, struct profile *profile,
                const struct naming_rule *rule, uint32_t resource,
                bool has_static, struct error *error);
void naming_free(struct naming *naming);

/* Whether a name occurs; the name with that text, or NO_NAME. */
bool naming_has(const struct naming *naming, uint32_t name);
uint32_t naming_find(const struct naming *naming, const char *text,
                     size_t length);

/* The *n names that occur, in byte order. */
const uint32_t *naming_functions(const struct naming *naming, uint32_t *n);

#endif
