/* SPDX-License-Identifier: GPL-3.0-or-later */
/* member.c -- which member of a merged profile has most of some stacks. */
#include "src/shell/session/session.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/fleet.h"
#include "src/profile/sections.h"
#include "src/shell/session/session_left.h"

/* Whether a member with so many hits comes before the best one so far. */
static bool
is_better(uint64_t hits, const char *id, uint64_t best_hits,
          const char *best_id)
{
	return best_id == NULL || hits > best_hits ||
	    (hits == best_hits && strcmp(id, best_id) < 0);
}

static int
report_no_hits(const struct session *session, struct error *error)
{
	return error_set(error, "no member has hits of %s there",
	                 session_resource(session)->name);
}

/* ---- counts by id ---- */

static int
find_by_id(const struct session *session, struct step *step,
           struct found_member *found, struct error *error)
{
	const struct profile *profile = session->subject->profile;
	const struct fleet *fleet = profile->fleet;
	struct section_total *totals = session_section_totals(session,
	    session->subject->resource, step, error);

	if (totals == NULL)
		return -1;
	for (uint32_t i = 0; i <= profile->n_sections; i++) {
		const struct section section = section_of(profile, i);
		const struct label *label = section_label(profile, &section,
		                                          "id");
		const char *id = label == NULL ? NULL :
		    names_text(profile->names, label->value);

		found->of += totals[i].hits;
		if (id == NULL || totals[i].hits == 0 ||
		    !is_better(totals[i].hits, id, found->hits, found->id))
			continue;
		found->id = id;
		found->hits = totals[i].hits;
	}
	free(totals);
	if (found->id == NULL)
		return report_no_hits(session, error);
	found->name = "";
	for (uint32_t m = 0; m < fleet->n_listed; m++)
		if (strcmp(fleet->members[m].id, found->id) == 0)
			found->name = fleet->members[m].name;
	found->knowledge = MEMBER_EXACT;
	return 0;
}

/* ---- the most of each node ---- */

struct member_search {
	const struct fleet *fleet;
	const struct sample_tree *tree;	/* its nodes are the fleet's */
	uint32_t resource;
	bool *dropped;			/* [n_rows] */
	uint64_t *weight, *kept;	/* [n_nodes] of all stacks and of those
					 * that are kept */
	uint64_t *known;		/* [n_listed] of each member */
};

/* A node's own hits that are kept. */
static uint64_t
own_kept(const struct member_search *search, uint32_t node)
{
	return search->dropped[sample_tree_row(search->tree, node)] ? 0 :
	    sample_tree_hits(search->tree, search->resource, node);
}

static void
member_weigh(const struct member_search *search)
{
	const struct sample_tree *tree = search->tree;

	for (uint32_t n = tree->n_nodes; n-- > 0;) {
		search->weight[n] += sample_tree_hits(tree, search->resource,
		                                      n);
		search->kept[n] += own_kept(search, n);
		if (sample_tree_parent(tree, n) != NO_NODE) {
			search->weight[sample_tree_parent(tree, n)] +=
			    search->weight[n];
			search->kept[sample_tree_parent(tree, n)] +=
			    search->kept[n];
		}
	}
}

/* Whether all hits of a node and its descendants are kept. */
static bool
member_is_whole(const struct member_search *search, uint32_t node)
{
	return search->kept[node] > 0 &&
	    search->kept[node] == search->weight[node];
}

/*
 * Adds what is known of a node to its members; returns how many there are: one
 * for each interval of the resource.
 */
static uint32_t
add_most(const struct member_search *search, uint32_t node)
{
	const struct fleet *fleet = search->fleet;
	uint32_t n = 0;

	for (uint32_t r = 0; r < fleet->n_resources; r++) {
		const struct fleet_resource *resource = &fleet->resources[r];
		uint64_t hits, *known;

		if (fleet->shown_as[r] != search->resource ||
		    resource->most_member[node] == NO_MEMBER)
			continue;
		known = &search->known[resource->most_member[node]];
		if (__builtin_mul_overflow(resource->most_hits[node],
		                           fleet->factor[r], &hits))
			hits = UINT64_MAX;
		count_add(known, hits);
		n++;
	}
	return n;
}

static void
choose_best(const struct member_search *search, struct found_member *found)
{
	const struct fleet *fleet = search->fleet;

	for (uint32_t m = 0; m < fleet->n_listed; m++) {
		const struct fleet_member *member = &fleet->members[m];

		if (search->known[m] == 0 ||
		    !is_better(search->known[m], member->id, found->hits,
		               found->id))
			continue;
		found->id = member->id;
		found->name = member->name;
		found->hits = search->known[m];
	}
}

/* Where no node is whole: that of the node which has most of the stacks. */
static void
choose_of_node(const struct member_search *search, struct found_member *found)
{
	uint32_t best = 0;

	for (uint32_t n = 1; n < search->tree->n_nodes; n++)
		if (own_kept(search, n) > own_kept(search, best))
			best = n;
	add_most(search, best);
	choose_best(search, found);
	found->hits = 0;
	found->knowledge = MEMBER_OF_NODE;
}

static void
member_choose(const struct member_search *search, struct found_member *found)
{
	const struct sample_tree *tree = search->tree;
	uint32_t n_parts = 0;
	uint64_t in_parts = 0;

	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		uint32_t parent = sample_tree_parent(tree, n);

		if (parent == NO_NODE)
			found->of += search->kept[n];
		if (!member_is_whole(search, n) ||
		    (parent != NO_NODE && member_is_whole(search, parent)))
			continue;
		n_parts += add_most(search, n);
		in_parts += search->kept[n];
	}
	if (n_parts == 0) {
		choose_of_node(search, found);
		return;
	}
	choose_best(search, found);
	found->knowledge = found->hits == found->of ||
	    (n_parts == 1 && in_parts == found->of) ? MEMBER_EXACT :
	    MEMBER_AT_LEAST;
}

static int
find_by_nodes(const struct session *session, struct step *step,
              struct found_member *found, struct error *error)
{
	const struct subject *subject = session->subject;
	const struct profile *profile = subject->profile;
	struct fleet_groups *groups = NULL;
	struct member_search search = {
		.fleet = profile->fleet,
		.tree = profile->tree,
		.resource = subject->resource,
	};
	const struct sample_tree *tree;
	int result = -1;

	if (profile->n_sections > 0) {
		/* Sections have other nodes than the fleet. */
		groups = fleet_groups_new(profile->fleet, subject->resource,
		                          error);
		if (groups == NULL)
			return -1;
		search.tree = groups->tree;
	}
	tree = search.tree;
	search.dropped = memory_array(tree->n_rows, sizeof *search.dropped,
	                              error);
	search.weight = memory_array(tree->n_nodes, sizeof *search.weight,
	                             error);
	search.kept = memory_array(tree->n_nodes, sizeof *search.kept, error);
	search.known = memory_array(search.fleet->n_listed,
	                            sizeof *search.known, error);
	if (!error->is_set &&
	    session_step_rows(session, step, tree, search.dropped,
	                      error) == 0) {
		member_weigh(&search);
		member_choose(&search, found);
		result = found->id != NULL ? 0 :
		    report_no_hits(session, error);
	}
	free(search.dropped);
	free(search.weight);
	free(search.kept);
	free(search.known);
	fleet_groups_release(groups);
	return result;
}

int
session_find_member(const struct session *session, struct step *step,
                    struct found_member *found, struct error *error)
{
	const struct profile *profile = session->subject->profile;

	*found = (struct found_member){ 0 };
	if (session_need_profile(session, error) != 0)
		return -1;
	if (profile->fleet == NULL)
		return error_set(error, "the profile has no members; cpprof "
		                 "merge makes one that knows them");
	if (profile->n_sections > 0 && profile->fleet->key != NULL &&
	    strcmp(profile->fleet->key, "id") == 0)
		return find_by_id(session, step, found, error);
	if (session_selects_sections(session))
		return error_set(error, "which member has most is not known by "
		                 "label; undo that step, or merge with --by "
		                 "id");
	return find_by_nodes(session, step, found, error);
}
