/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_pattern.c -- which stacks a user means, by a path that occurs on them.
 *
 * A path is segments with "..." between.  A node has a state: the segment that
 * is sought, and how much of it has been found.  Once a segment is found, the
 * next one begins below that node; below the last, all nodes match.
 *
 * A segment of plain names is found by the automaton of src/views/path.c.  With
 * patterns, a node ends a canonical path for each name on its stack: the path
 * goes from that name's last activation to the function that it called, from
 * that function's last activation to the one that it called, and so on.  As
 * the names are visited in the order of their last activations, the newest
 * first, each step of a path is known before it is needed.
 */
#include "src/refine/path_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/large_array.h"

enum { NODES_A_STEP = 1 << 16 };

struct path_pattern {
	struct frame_pattern **elements;	/* [n_elements] */
	uint32_t *segment_end;		/* [n_segments] in elements */
	size_t n_elements, n_segments;
};

static bool
is_word(const struct pattern_word *word, const char *text)
{
	return !word->is_exact && word->length == strlen(text) &&
	    memcmp(word->text, text, word->length) == 0;
}

static void
end_segment(struct path_pattern *path)
{
	uint32_t before = path->n_segments == 0 ? 0 :
	                  path->segment_end[path->n_segments - 1];

	if (path->n_elements > before)
		path->segment_end[path->n_segments++] =
		    (uint32_t)path->n_elements;
}

static int
fill(struct path_pattern *path, const struct pattern_word *words, size_t n,
     struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		if (is_word(&words[i], "...")) {
			end_segment(path);
			continue;
		}
		if (is_word(&words[i], "…"))
			return error_set(error, "… replaces what did not fit "
			                 "on the line; add | cat to a view to "
			                 "see whole names and paths");
		path->elements[path->n_elements] =
		    frame_pattern_new(&words[i], error);
		if (path->elements[path->n_elements] == NULL)
			return -1;
		path->n_elements++;
	}
	end_segment(path);
	return path->n_elements > 0 ? 0 :
	    error_set(error, "a path needs at least one function");
}

struct path_pattern *
path_pattern_new(const struct pattern_word *words, size_t n,
                 struct error *error)
{
	struct path_pattern *path = memory_array(1, sizeof *path, error);

	if (path == NULL)
		return NULL;
	path->elements = memory_array(n, sizeof *path->elements, error);
	path->segment_end = memory_array(n, sizeof *path->segment_end, error);
	if (path->elements == NULL || path->segment_end == NULL ||
	    fill(path, words, n, error) != 0) {
		path_pattern_free(path);
		return NULL;
	}
	return path;
}

void
path_pattern_free(struct path_pattern *path)
{
	if (path == NULL)
		return;
	for (size_t i = 0; i < path->n_elements; i++)
		frame_pattern_free(path->elements[i]);
	free(path->elements);
	free(path->segment_end);
	free(path);
}

void
path_pattern_add_text(const struct path_pattern *path,
                      struct text_buffer *text)
{
	size_t segment = 0;

	for (size_t i = 0; i < path->n_elements; i++) {
		if (i > 0)
			text_add_char(text, ' ');
		if (i == path->segment_end[segment]) {
			text_add_string(text, "... ");
			segment++;
		}
		frame_pattern_add_text(path->elements[i], text);
	}
}

/* Where a node stands in the path. */
struct state {
	uint32_t segment;
	uint32_t found : 30;	/* plain: how many names so far; otherwise
				 * how many frames lie above the segment */
	uint32_t is_detour : 1;	/* plain: and then the stack left them */
	uint32_t is_begun : 1;	/* the state has seen a frame */
};

/* A name that has an activation above the current node. */
struct activation {
	uint32_t newer, older;	/* neighbours in the list, names */
	uint32_t depth;		/* of the last activation, from 1; 0: none */
};

/* What a node changed, to be undone on the way up. */
struct change {
	uint32_t name;		/* of the frame */
	uint32_t newer;		/* where its name was in the list */
	uint32_t depth;		/* of its activation before; 0: none */
};

struct matching {
	const struct path_pattern *path;
	const struct refining *refining;
	struct frame_matches *matches;	/* [n_elements] */
	bool *is_plain;			/* [n_segments] */
	bool needs_stack;		/* a segment of three or more is not */
	uint32_t **position;		/* [n_segments][names] of a plain one's
					 * names but the last, from 1; else 0 */
	struct state *states;		/* [n_nodes] */

	/* Only if needs_stack.  The list is a ring around the item `ring`. */
	struct activation *activations;	/* [names + 1] */
	uint32_t *n_matched;		/* [names] calls from its activation
					 * to the node, if all on the way
					 * match; else 0 */
	uint32_t ring;
	struct change *changes;		/* [depth] */
	uint32_t *open;			/* [depth] nodes, outermost first */
	uint32_t depth;
};

static uint32_t
segment_begin(const struct path_pattern *path, uint32_t segment)
{
	return segment == 0 ? 0 : path->segment_end[segment - 1];
}

static uint32_t
name_of(const struct matching *matching, uint32_t node)
{
	const struct refining *refining = matching->refining;

	return refining->kinds[refining->kind[node]].name;
}

static bool
element_matches(const struct matching *matching, uint32_t element,
                uint32_t node)
{
	return matching->matches[element].kinds[
	    matching->refining->kind[node]] != 0;
}

static int
match_elements(struct matching *matching, struct error *error)
{
	const struct refining *refining = matching->refining;

	for (size_t i = 0; i < matching->path->n_elements; i++) {
		const struct frame_pattern *element =
		    matching->path->elements[i];

		if (frame_pattern_match(element, refining->stacks,
		                        refining->kinds, refining->n_kinds,
		                        &matching->matches[i], error) != 0)
			return -1;
		if (matching->matches[i].n > 0)
			continue;
		frame_pattern_report_none(element, refining->stacks,
		                          refining->kinds, refining->n_kinds,
		                          error);
		return 1;
	}
	return 0;
}

/*
 * Prepares the automaton of a segment if its elements are plain names.  In a
 * canonical path only the last name may occur twice; another path with a name
 * twice is no stack's, which is what the general way finds.
 */
static int
prepare_segment(struct matching *matching, uint32_t segment,
                struct error *error)
{
	const struct path_pattern *path = matching->path;
	uint32_t begin = segment_begin(path, segment);
	uint32_t end = path->segment_end[segment];
	uint32_t *position;

	matching->is_plain[segment] = true;
	for (uint32_t i = begin; i < end; i++)
		if (matching->matches[i].name == NO_NAME)
			matching->is_plain[segment] = false;
	if (!matching->is_plain[segment]) {
		matching->needs_stack |= end - begin > 2;
		return 0;
	}
	position = matching->position[segment] = memory_array(
	    names_count(matching->refining->stacks->profile->names),
	    sizeof *position, error);
	if (position == NULL)
		return -1;
	for (uint32_t i = begin; i + 1 < end; i++) {
		uint32_t *at = &position[matching->matches[i].name];

		if (*at != 0) {
			matching->is_plain[segment] = false;
			matching->needs_stack |= end - begin > 2;
		}
		*at = i - begin + 1;
	}
	return 0;
}

static int
prepare_stack(struct matching *matching, struct error *error)
{
	uint32_t n = names_count(matching->refining->stacks->profile->names);
	uint32_t depth = matching->refining->tree->deepest;

	matching->activations = memory_array((size_t)n + 1,
	    sizeof *matching->activations, error);
	matching->n_matched = memory_array(n, sizeof *matching->n_matched,
	                                   error);
	matching->changes = memory_array(depth, sizeof *matching->changes,
	                                 error);
	matching->open = memory_array(depth, sizeof *matching->open, error);
	if (matching->activations == NULL || matching->n_matched == NULL ||
	    matching->changes == NULL || matching->open == NULL)
		return -1;
	for (uint32_t i = 0; i <= n; i++)
		matching->activations[i] = (struct activation){ i, i, 0 };
	matching->ring = n;
	return 0;
}

static int
prepare(struct matching *matching, struct error *error)
{
	const struct path_pattern *path = matching->path;

	matching->matches = memory_array(path->n_elements,
	                                 sizeof *matching->matches, error);
	matching->is_plain = memory_array(path->n_segments,
	                                  sizeof *matching->is_plain, error);
	matching->position = memory_array(path->n_segments,
	                                  sizeof *matching->position, error);
	if (matching->matches == NULL || matching->is_plain == NULL ||
	    matching->position == NULL ||
	    large_array_reserve(&matching->states,
	                        matching->refining->tree->n_nodes,
	                        sizeof *matching->states, error) != 0)
		return -1;
	return match_elements(matching, error);
}

static void
finish(struct matching *matching)
{
	for (size_t i = 0; matching->matches != NULL &&
	     i < matching->path->n_elements; i++)
		free(matching->matches[i].kinds);
	for (size_t i = 0; matching->position != NULL &&
	     i < matching->path->n_segments; i++)
		free(matching->position[i]);
	free(matching->matches);
	free(matching->is_plain);
	free(matching->position);
	large_array_free(matching->states);
	free(matching->activations);
	free(matching->n_matched);
	free(matching->changes);
	free(matching->open);
}

static void
unlink_name(struct activation *activations, uint32_t name)
{
	struct activation *activation = &activations[name];

	activations[activation->newer].older = activation->older;
	activations[activation->older].newer = activation->newer;
}

static void
link_after(struct activation *activations, uint32_t name, uint32_t newer)
{
	uint32_t older = activations[newer].older;

	activations[name].newer = newer;
	activations[name].older = older;
	activations[newer].older = activations[older].newer = name;
}

/* Takes back the newest frame. */
static void
close_node(struct matching *matching)
{
	const struct change *change = &matching->changes[--matching->depth];
	struct activation *activation = &matching->activations[change->name];

	unlink_name(matching->activations, change->name);
	activation->depth = change->depth;
	if (change->depth != 0)
		link_after(matching->activations, change->name,
		           change->newer);
}

/* Makes a frame's name the newest. */
static void
open_node(struct matching *matching, uint32_t node)
{
	uint32_t name = name_of(matching, node);
	struct activation *activation = &matching->activations[name];

	matching->open[matching->depth] = node;
	matching->changes[matching->depth++] = (struct change){ name,
		activation->newer, activation->depth };
	if (activation->depth != 0)
		unlink_name(matching->activations, name);
	activation->depth = matching->depth;
	link_after(matching->activations, name, matching->ring);
}

/*
 * Whether a canonical path that ends at a node that matches the last element
 * matches the elements begin .. last.  The frames above the node are open; the
 * first n_above of them do not count.
 */
static bool
ends_path(struct matching *matching, uint32_t begin, uint32_t last,
          uint32_t n_above)
{
	const struct activation *activations = matching->activations;

	for (uint32_t name = activations[matching->ring].older;
	     name != matching->ring && activations[name].depth > n_above;
	     name = activations[name].older) {
		uint32_t depth = activations[name].depth, n = 1;

		if (depth < matching->depth) {
			uint32_t called = matching->open[depth];

			n = matching->n_matched[name_of(matching, called)];
			n += n != 0;
		}
		if (n == 0 || n > last - begin ||
		    !element_matches(matching, last - n,
		                     matching->open[depth - 1]))
			n = 0;
		matching->n_matched[name] = n;
		if (n == last - begin)
			return true;
	}
	return false;
}

/* Whether the segment that the state seeks ends at the node. */
static bool
segment_ends(struct matching *matching, struct state *state, uint32_t node)
{
	const struct path_pattern *path = matching->path;
	uint32_t begin = segment_begin(path, state->segment);
	uint32_t last = path->segment_end[state->segment] - 1;
	uint32_t parent = matching->refining->tree->parent[node];
	bool is_begun = state->is_begun;

	state->is_begun = true;
	if (matching->is_plain[state->segment]) {
		uint32_t name = name_of(matching, node);
		uint32_t at = matching->position[state->segment][name];

		if (!state->is_detour &&
		    matching->matches[begin + state->found].name == name) {
			state->found++;
		} else if (at != 0 && at <= state->found) {
			state->found = at & 0x3fffffff;
			state->is_detour = false;
		} else {
			state->is_detour = state->found > 0;
		}
		return state->found == last - begin + 1;
	}
	if (!is_begun)
		state->found = matching->depth & 0x3fffffff;
	if (!element_matches(matching, last, node))
		return false;
	if (last == begin)
		return true;
	if (last == begin + 1)
		return is_begun && element_matches(matching, begin, parent);
	return ends_path(matching, begin, last, state->found);
}

/* Moves on to a node; the nodes come in order, perhaps without subtrees. */
static bool
visit(struct matching *matching, uint32_t node)
{
	const struct refining *refining = matching->refining;
	const struct sample_tree *tree = refining->tree;
	uint32_t parent = tree->parent[node];
	struct state state = { 0 };
	bool ends;

	if (parent != NO_NODE)
		state = matching->states[parent];
	if (refining->flags[node] & NODE_JOINED) {
		matching->states[node] = state;
		return false;
	}
	while (matching->depth > 0 &&
	       tree->end[matching->open[matching->depth - 1]] <= node)
		close_node(matching);
	ends = segment_ends(matching, &state, node);
	if (ends && state.segment + 1 == matching->path->n_segments)
		return true;
	if (ends)
		state = (struct state){ .segment = state.segment + 1 };
	matching->states[node] = state;
	if (matching->needs_stack)
		open_node(matching, node);
	return false;
}

static int
match_nodes(struct matching *matching, unsigned char *matched,
            struct error *error)
{
	const struct sample_tree *tree = matching->refining->tree;
	uint32_t node = 0, stop = 0;

	while (node < tree->n_nodes) {
		if (node >= stop) {
			if (progress_step(NULL, 0, 0, error) != 0)
				return -1;
			stop = node + NODES_A_STEP;
		}
		if (visit(matching, node)) {
			memset(matched + node, 1, tree->end[node] - node);
			node = tree->end[node];
		} else {
			node++;
		}
	}
	return 0;
}

int
path_pattern_match(const struct path_pattern *path,
                   const struct refining *refining, unsigned char *matched,
                   struct error *error)
{
	struct matching matching = { .path = path, .refining = refining };
	int status = prepare(&matching, error);

	for (uint32_t i = 0; status == 0 && i < path->n_segments; i++)
		status = prepare_segment(&matching, i, error);
	if (status == 0 && matching.needs_stack)
		status = prepare_stack(&matching, error);
	if (status == 0)
		status = match_nodes(&matching, matched, error);
	finish(&matching);
	return status;
}
