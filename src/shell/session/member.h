/* SPDX-License-Identifier: GPL-3.0-or-later */
/* member.h -- which member of a merged profile has most of some stacks.
 *
 * With counts by id, that is known exactly.  Otherwise the profile has, for
 * each node of the tree, the member that has most of it with its descendants.
 * Stacks that are more than one such node are cut into the outermost nodes that
 * are theirs alone, and the hits that a member is known to have are summed up.
 */
#ifndef CPPROF_SHELL_SESSION_MEMBER_H
#define CPPROF_SHELL_SESSION_MEMBER_H

#include "src/refine/step.h"
#include "src/shell/session/session.h"

/* How well a member's hits are known. */
enum member_knowledge {
	MEMBER_EXACT,		/* it has these, and no other has more */
	MEMBER_AT_LEAST,	/* it has these or more; of no other is as much
				 * known */
	MEMBER_OF_NODE,		/* it has most of the node, with its
				 * descendants, that has most of these stacks */
};

/* The texts are the profile's. */
struct found_member {
	const char *id;		/* its identity */
	const char *name;	/* its file when it was merged; "": unknown, as
				 * from standard input */
	enum member_knowledge knowledge;
	uint64_t hits;		/* of the stacks; of MEMBER_OF_NODE 0 */
	uint64_t of;		/* what all members have */
};

/*
 * The member with most hits of the stacks that a step would keep, of the
 * current resource.  The step stays the caller's.  0, or -1 with *error set: no
 * merged profile, no such stacks, or a step in force asks for labels and the
 * counts are not by id.  O(nodes) for each step.
 */
int session_find_member(const struct session *session, struct step *step,
                        struct found_member *found, struct error *error);

#endif
