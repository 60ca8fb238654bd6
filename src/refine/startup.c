/* SPDX-License-Identifier: GPL-3.0-or-later */
/* startup.c -- frames that every stack begins with, folded away. */
#include "src/refine/refine.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/pattern.h"
#include "src/profile/large_array.h"

static const char *const startup_globs[] = {
#define STARTUP(glob) glob,
#include "src/refine/startup.def"
#undef STARTUP
};

enum { N_GLOBS = sizeof startup_globs / sizeof *startup_globs };

bool
startup_has_name(const char *name, size_t n)
{
	bool found = false;

	for (size_t i = 0; !found && i < N_GLOBS; i++) {
		struct error error = { 0 };
		struct pattern *glob = pattern_new(startup_globs[i], &error);

		found = glob != NULL && pattern_matches(glob, name, n);
		pattern_free(glob);
	}
	return found;
}

/* Which names are start-up functions', as far as they have been asked for. */
struct startup_known {
	unsigned hidden;	/* enum hidden_frames */
	struct hidden_known *others;	/* which are not start-up code;
					 * borrowed */
	struct pattern *globs[N_GLOBS];
	unsigned char *by_name;	/* [names] UNKNOWN, STARTUP or OTHER */
};

enum { UNKNOWN, IS_STARTUP, IS_OTHER };

static int
known_begin(struct startup_known *known, const struct profile *profile,
            struct hidden_known *hidden_known, unsigned hidden,
            struct error *error)
{
	*known = (struct startup_known){
		.hidden = hidden,
		.others = hidden_known,
		.by_name = memory_array(names_count(profile->names), 1,
		                        error),
	};
	for (size_t i = 0; !error->is_set && i < N_GLOBS; i++)
		known->globs[i] = pattern_new(startup_globs[i], error);
	return error->is_set ? -1 : 0;
}

static void
known_end(struct startup_known *known)
{
	for (size_t i = 0; i < N_GLOBS; i++)
		pattern_free(known->globs[i]);
	free(known->by_name);
}

static uint32_t
startup_name_of(const struct profile *profile, uint32_t number)
{
	const struct frame *frame = &profile->frames[number];

	return profile->locations[frame->first_location].function;
}

static bool
is_startup(const struct startup_known *known, const struct profile *profile,
           uint32_t number)
{
	uint32_t name = startup_name_of(profile, number);
	const char *text = names_text(profile->names, name);

	if (known->by_name[name] != UNKNOWN)
		return known->by_name[name] == IS_STARTUP;
	known->by_name[name] = IS_OTHER;
	for (size_t i = 0; i < N_GLOBS; i++)
		if (pattern_matches(known->globs[i], text,
		                    names_length(profile->names, name)))
			known->by_name[name] = IS_STARTUP;
	return known->by_name[name] == IS_STARTUP;
}

/* Where the frames of a tree's nodes are. */
static uint32_t
frame_of_node(const struct sample_tree *tree, const uint32_t *frame_of,
              uint32_t node)
{
	uint32_t label = tree->label[node];

	return frame_of == NULL ? label : frame_of[label];
}

/*
 * Whether an outermost node is the _start of a program without symbols: only
 * that calls __libc_start_main.
 */
static bool
is_nameless_start(const struct profile *profile,
                  const struct sample_tree *tree, const uint32_t *frame_of,
                  uint32_t node)
{
	static const char called[] = "__libc_start_main";

	if (!profile->frames[frame_of_node(tree, frame_of, node)].is_made_up)
		return false;
	for (uint32_t child = node + 1; child < sample_tree_end(tree, node);
	     child = sample_tree_end(tree, child)) {
		uint32_t frame = frame_of_node(tree, frame_of, child);

		if (strncmp(names_text(profile->names,
		                       startup_name_of(profile, frame)), called,
		            sizeof called - 1) == 0)
			return true;
	}
	return false;
}

/*
 * Whether a frame is in a C library without symbols.  Outside of all that the
 * program calls, these are functions of startup.def.
 */
static bool
is_nameless_library(const struct profile *profile, uint32_t number)
{
	static const char *const libraries[] = { "libc.so.", "libpthread.so." };
	const char *name = names_text(profile->names,
	                              startup_name_of(profile, number));
	bool found = false;

	for (size_t i = 0; profile->frames[number].is_made_up && !found &&
	     i < sizeof libraries / sizeof *libraries; i++)
		found = strncmp(name, libraries[i], strlen(libraries[i])) == 0;
	return found;
}

/*
 * Whether a node that is outermost, or below such nodes, is start-up code or an
 * interpreter's.
 */
static bool
is_startup_node(const struct startup_known *known,
                const struct profile *profile, const struct sample_tree *tree,
                const uint32_t *frame_of, uint32_t node)
{
	const uint32_t frame = frame_of_node(tree, frame_of, node);

	if ((hidden_kinds_of(known->others, frame) & known->hidden &
	     HIDES_INTERPRETER) != 0)
		return true;
	return (known->hidden & HIDES_STARTUP) != 0 &&
	    (is_startup(known, profile, frame) ||
	     is_nameless_library(profile, frame) ||
	     (sample_tree_parent(tree, node) == NO_NODE &&
	      is_nameless_start(profile, tree, frame_of, node)));
}

int
startup_is_present(const struct profile *profile,
                   struct hidden_known *hidden_known, unsigned hidden,
                   struct error *error)
{
	const struct sample_tree *tree = profile->tree;
	struct startup_known known;
	int result = known_begin(&known, profile, hidden_known, hidden, error);

	for (uint32_t node = 0; result == 0 && node < tree->n_nodes;
	     node = sample_tree_end(tree, node))
		result = is_startup_node(&known, profile, tree, NULL, node);
	known_end(&known);
	return result;
}

/* What becomes of a node. */
enum fate {
	STAYS,			/* a user's frame, or below one */
	GOES,			/* a start-up frame */
	LEADS,			/* likewise, but stacks of nothing else end in
				 * it or below it; or the kernel's, entered from
				 * such a frame */
	GOES_INSIDE,		/* a start-up frame of the second stack of a
				 * pair (LOCK_PAIRS) */
};

/*
 * Start-up frames after the mark of a pair go, too, if the stack has others.
 * Returns how many.
 */
static uint32_t
choose_fates_inside(const struct profile *profile,
                    const struct sample_tree *tree, const uint32_t *frame_of,
                    const struct startup_known *known, unsigned char *fates)
{
	const uint32_t mark = names_find(profile->names, LOCK_PAIRS_MARK,
	                                 strlen(LOCK_PAIRS_MARK));
	uint32_t n = 0;

	if ((known->hidden & HIDES_STARTUP) == 0 || mark == NO_NAME ||
	    profile_find_resource(profile, LOCK_PAIRS) == NO_RESOURCE)
		return 0;
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const uint32_t parent = sample_tree_parent(tree, node);

		if (parent == NO_NODE || fates[node] != STAYS ||
		    sample_tree_has_row(tree, node) ||
		    sample_tree_is_leaf(tree, node) ||
		    (fates[parent] != GOES_INSIDE &&
		     startup_name_of(profile, frame_of_node(tree, frame_of,
		         parent)) != mark) ||
		    !is_startup(known, profile,
		                frame_of_node(tree, frame_of, node)))
			continue;
		fates[node] = GOES_INSIDE;
		n++;
	}
	return n;
}

/* Returns how many nodes go or lead. */
static uint32_t
choose_fates(const struct profile *profile, const struct sample_tree *tree,
             const uint32_t *frame_of, const struct startup_known *known,
             unsigned char *fates)
{
	uint32_t n = 0;

	/* A frame is looked at only below start-up frames. */
	for (uint32_t node = 0; node < tree->n_nodes;) {
		if (is_startup_node(known, profile, tree, frame_of,
		                    node)) {
			fates[node++] = GOES;
			n++;
		} else {
			const uint32_t frame = frame_of_node(tree, frame_of,
			                                     node);
			const bool is_kernel = sample_tree_parent(tree, node) !=
			    NO_NODE &&
			    (hidden_kinds_of(known->others, frame) &
			     HIDES_KERNEL) != 0;

			memset(fates + node, is_kernel ? LEADS : STAYS,
			       sample_tree_end(tree, node) - node);
			node = sample_tree_end(tree, node);
		}
	}
	for (uint32_t node = tree->n_nodes; n > 0 && node-- > 0;) {
		uint32_t parent = sample_tree_parent(tree, node);

		if (fates[node] == GOES && (sample_tree_has_row(tree, node) ||
		                            sample_tree_is_leaf(tree, node)))
			fates[node] = LEADS;
		if (fates[node] == LEADS && parent != NO_NODE)
			fates[parent] = LEADS;
	}
	return n + choose_fates_inside(profile, tree, frame_of, known, fates);
}

struct folding {
	const struct sample_tree *from;
	struct sample_tree *to;
	uint32_t *place;	/* [n_nodes of from] in to */
	const uint32_t *part;	/* [n_nodes of from], or NULL */
	uint32_t *new_part;	/* [n_nodes of to] */
};

static void
startup_copy_node(struct folding *folding, uint32_t node, uint32_t parent,
                  uint32_t row)
{
	struct sample_tree *to = folding->to;
	uint32_t n = to->n_nodes++;

	folding->place[node] = n;
	tree_add_parent(&to->parents, parent);
	to->label[n] = folding->from->label[node];
	tree_add_row(&to->rows, row);
	if (folding->part != NULL)
		folding->new_part[n] = folding->part[node];
	if (to->returns != NULL)
		to->returns[n] = folding->from->returns[node];
}

/*
 * Copies the stacks of start-up frames only, then the others.  Both keep the
 * depth-first order.
 */
static void
startup_copy_nodes(struct folding *folding, const unsigned char *fates)
{
	const struct sample_tree *from = folding->from;

	for (int fate = LEADS; fate >= STAYS; fate -= LEADS)
		for (uint32_t node = 0; node < from->n_nodes; node++) {
			uint32_t parent = sample_tree_parent(from, node);

			if (fates[node] != fate)
				continue;
			while (parent != NO_NODE &&
			       fates[parent] == GOES_INSIDE)
				parent = sample_tree_parent(from, parent);
			startup_copy_node(folding, node,
			                  parent == NO_NODE ||
			                          fates[parent] != fate ?
			                      NO_NODE :
			                      folding->place[parent],
			                  sample_tree_row(from, node));
		}
}

int
startup_fold(const struct profile *profile, struct hidden_known *hidden_known,
             const struct sample_tree *tree,
             const uint32_t *frame_of, unsigned hidden,
             struct sample_tree **folded, uint32_t **part,
             struct error *error)
{
	struct folding folding = { .from = tree, .part = *part };
	unsigned char *fates = NULL;
	struct startup_known known;
	int result = -1;

	if (known_begin(&known, profile, hidden_known, hidden, error) == 0 &&
	    large_array_reserve(&fates, tree->n_nodes, 1, error) == 0)
		result = 0;
	if (result == 0 &&
	    choose_fates(profile, tree, frame_of, &known, fates) > 0) {
		folding.to = sample_tree_borrow(tree, tree->n_nodes, error);
		if (folding.to == NULL ||
		    large_array_reserve(&folding.place, tree->n_nodes,
		                        sizeof *folding.place, error) != 0 ||
		    (*part != NULL &&
		     large_array_reserve(&folding.new_part, tree->n_nodes,
		                         sizeof *folding.new_part,
		                         error) != 0))
			result = -1;
	}
	if (result == 0 && folding.to != NULL) {
		startup_copy_nodes(&folding, fates);
		result = sample_tree_find_ends(folding.to, error);
	}
	if (result == 0 && folding.to != NULL) {
		*folded = folding.to;
		large_array_free(*part);
		*part = folding.new_part;
	} else {
		sample_tree_free(folding.to);
		large_array_free(folding.new_part);
	}
	large_array_free(folding.place);
	large_array_free(fates);
	known_end(&known);
	return result;
}
