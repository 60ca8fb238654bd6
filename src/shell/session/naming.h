/* SPDX-License-Identifier: GPL-3.0-or-later */
/* naming.h -- the profile's stacks as names, with one resource's weights.
 *
 * What views work on: the tree of names at one granularity, or, where the
 * profile has calls and no stacks, the flow through these.
 */
#ifndef CPPROF_SHELL_SESSION_NAMING_H
#define CPPROF_SHELL_SESSION_NAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/error.h"
#include "src/profile/profile.h"

/* The names that occur; sorted by naming_functions when first asked. */
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
 * Names and weights of a profile, of its resource of that number; has_static:
 * a flow has the calls that never happened, too.  0, or -1 with *error set and
 * *naming empty.  The profile must outlive it.
 */
int naming_make(struct naming *naming, struct profile *profile,
                const struct naming_rule *rule, uint32_t resource,
                bool has_static, struct error *error);
void naming_free(struct naming *naming);

/* Whether a name occurs; the number of one that does, or NO_NAME. */
bool naming_has(const struct naming *naming, uint32_t name);
uint32_t naming_find(const struct naming *naming, const char *text,
                     size_t length);

/* The *n names that occur, in byte order. */
const uint32_t *naming_functions(const struct naming *naming, uint32_t *n);

#endif
