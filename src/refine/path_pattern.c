/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_pattern.c -- which stacks a user means, by a path that occurs on them.
 *
 * A path is segments with "..." between.  A node has a state: the segment that
 * is sought, and how much of it has been found.  Once a segment is found, the
 * next one begins below that node; below the last, all nodes match.  Only the
 * states of the nodes above the next one are kept.
 *
 * A segment of plain names is found by the automaton of
 * src/views/advice/path.c, one of three elements or more with patterns by
 * refining.h.
 */
#include "src/refine/refine.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/refine/refining.h"

enum { NODES_A_STEP = 1 << 16 };

struct path_pattern {
	struct frame_pattern **elements;	/* [n_elements] */
	uint32_t *segment_end;		/* [n_segments] in elements */
	size_t n_elements, n_segments;
};

static bool
path_pattern_is_word(const struct pattern_word *word, const char *text)
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
path_pattern_fill(struct path_pattern *path, const struct pattern_word *words,
                  size_t n, struct error *error)
{
	for (size_t i = 0; i < n; i++) {
		if (path_pattern_is_word(&words[i], "...")) {
			end_segment(path);
			continue;
		}
		if (path_pattern_is_word(&words[i], "…"))
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
	    path_pattern_fill(path, words, n, error) != 0) {
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

/* How far a node's stack has matched the pattern. */
struct pattern_state {
	uint32_t segment;
	uint32_t found : 30;	/* plain: how many names so far */
	uint32_t is_detour : 1;	/* plain: and then the stack left them */
	uint32_t is_begun : 1;	/* the state has seen a frame */
};

enum how {
	BY_NAMES,		/* plain names: by the automaton */
	BY_CALLS,		/* one or two elements, each by itself */
	BY_CHAINS,
};

struct segment {
	uint32_t begin, last;	/* elements */
	enum how how;
	bool *is_last;		/* [n_kinds] matches the last element */
	uint32_t *place;	/* BY_NAMES: [n_kinds] which element before the
				 * last has the name, from 1; 0: none */
	struct path_chains *chains;	/* BY_CHAINS */
	uint64_t *element_bits;	/* BY_CHAINS: [n_kinds] bit i: matches element
				 * begin + i */
};

/* A node with nodes below it that are still to come. */
struct pattern_open_node {
	uint32_t end;			/* of its subtree */
	bool is_chained;		/* it is in the chains of its segment */
	struct pattern_state state;
};

struct matching {
	const struct path_pattern *path;
	const struct refining *refining;
	struct frame_matches *matches;	/* [n_elements] */
	struct segment *segments;	/* [n_segments] */
	uint32_t *names;		/* [n_kinds] */
	struct pattern_open_node *open;		/* [depth] outermost first */
	uint32_t n_open;
};

static bool
element_matches(const struct matching *matching, uint32_t element,
                uint32_t kind)
{
	return frame_matches(&matching->matches[element], matching->refining,
	                     kind);
}

static int
match_elements(struct matching *matching, struct error *error)
{
	for (size_t i = 0; i < matching->path->n_elements; i++) {
		const struct frame_pattern *element =
		    matching->path->elements[i];

		if (progress_step(NULL, 0, 0, error) != 0 ||
		    frame_pattern_match(element, matching->refining,
		                        &matching->matches[i], error) != 0)
			return -1;
		if (matching->matches[i].any)
			continue;
		frame_pattern_report_none(element, matching->refining, error);
		return 1;
	}
	return 0;
}

static int
prepare_names(const struct matching *matching, struct segment *segment,
              struct error *error)
{
	const struct frame_matches *elements =
	    &matching->matches[segment->begin];
	uint32_t n = segment->last - segment->begin;
	uint32_t *place_of = memory_array(matching->refining->n_names,
	                                  sizeof *place_of, error);

	segment->place = memory_array(matching->refining->n_kinds,
	                              sizeof *segment->place, error);
	if (place_of == NULL || segment->place == NULL) {
		free(place_of);
		return -1;
	}
	/*
	 * In a canonical path only the last name may occur twice, so no stack
	 * has a path where another one does: its earlier place, which the later
	 * one replaces, is never found.
	 */
	for (uint32_t i = 0; i < n; i++)
		place_of[elements[i].name] = i + 1;
	for (uint32_t kind = 0; kind < matching->refining->n_kinds; kind++)
		segment->place[kind] = place_of[matching->names[kind]];
	free(place_of);
	return 0;
}

static int
prepare_chains(struct matching *matching, struct segment *segment,
               struct error *error)
{
	const struct refining *refining = matching->refining;
	uint32_t n = segment->last - segment->begin;

	if (n > MOST_CHAINED) {
		error_set(error, "a path with patterns may have at most %d "
		          "elements side by side; put ... between some",
		          MOST_CHAINED + 1);
		return 1;
	}
	segment->chains = path_chains_new(n, refining->n_names,
	                                  refining->tree->deepest, error);
	segment->element_bits = memory_array(refining->n_kinds,
	    sizeof *segment->element_bits, error);
	if (segment->chains == NULL || segment->element_bits == NULL)
		return -1;
	for (uint32_t kind = 0; kind < refining->n_kinds; kind++)
		for (uint32_t i = 0; i < n; i++)
			if (element_matches(matching, segment->begin + i,
			                    kind))
				segment->element_bits[kind] |=
				    UINT64_C(1) << i;
	return 0;
}

/* 0; 1 or -1 with *error set, as path_pattern_match. */
static int
prepare_segment(struct matching *matching, size_t number, struct error *error)
{
	const struct path_pattern *path = matching->path;
	struct segment *segment = &matching->segments[number];

	segment->begin = number == 0 ? 0 : path->segment_end[number - 1];
	segment->last = path->segment_end[number] - 1;
	segment->how = BY_NAMES;
	for (uint32_t i = segment->begin; i <= segment->last; i++)
		if (matching->matches[i].name == NO_NAME)
			segment->how = segment->last - segment->begin < 2 ?
			               BY_CALLS : BY_CHAINS;
	segment->is_last = memory_array(matching->refining->n_kinds,
	                                sizeof *segment->is_last, error);
	if (segment->is_last == NULL)
		return -1;
	for (uint32_t kind = 0; kind < matching->refining->n_kinds; kind++)
		segment->is_last[kind] = element_matches(matching,
		                                         segment->last, kind);
	if (segment->how == BY_NAMES)
		return prepare_names(matching, segment, error);
	return segment->how == BY_CHAINS ?
	    prepare_chains(matching, segment, error) : 0;
}

static int
path_pattern_prepare(struct matching *matching, struct error *error)
{
	const struct path_pattern *path = matching->path;
	const struct sample_tree *tree = matching->refining->tree;
	int status;

	matching->matches = memory_array(path->n_elements,
	                                 sizeof *matching->matches, error);
	matching->segments = memory_array(path->n_segments,
	                                  sizeof *matching->segments, error);
	matching->open = memory_array(tree->deepest, sizeof *matching->open,
	                              error);
	matching->names = refining_names(matching->refining, error);
	if (matching->matches == NULL || matching->segments == NULL ||
	    matching->open == NULL || matching->names == NULL)
		return -1;
	status = match_elements(matching, error);
	for (size_t i = 0; status == 0 && i < path->n_segments; i++)
		status = prepare_segment(matching, i, error);
	return status;
}

static void
path_pattern_finish(struct matching *matching)
{
	for (size_t i = 0; matching->matches != NULL &&
	     i < matching->path->n_elements; i++)
		free(matching->matches[i].kinds);
	for (size_t i = 0; matching->segments != NULL &&
	     i < matching->path->n_segments; i++) {
		free(matching->segments[i].is_last);
		free(matching->segments[i].place);
		path_chains_free(matching->segments[i].chains);
		free(matching->segments[i].element_bits);
	}
	free(matching->matches);
	free(matching->segments);
	free(matching->open);
	free(matching->names);
}

/* Whether a segment of plain names ends at a frame; moves the state on. */
static bool
names_end(const struct segment *segment, struct pattern_state *state,
          uint32_t kind)
{
	const uint32_t n = segment->last - segment->begin;
	const uint32_t place = segment->place[kind];

	if (!state->is_detour && (state->found < n ?
	    place == state->found + 1u : segment->is_last[kind])) {
		state->found++;
		return state->found == n + 1;
	}
	if (place != 0 && place <= state->found) {
		state->found = place & 0x3fffffff;
		state->is_detour = false;
	} else {
		state->is_detour = state->found > 0;
	}
	return false;
}

/* Whether the segment that the state seeks ends at the node. */
static bool
segment_ends(const struct matching *matching, struct pattern_state *state,
             uint32_t node)
{
	const struct segment *segment = &matching->segments[state->segment];
	const struct refining *refining = matching->refining;
	const uint32_t kind = refining->kind[node];
	bool is_begun = state->is_begun;

	state->is_begun = true;
	switch (segment->how) {
	case BY_NAMES:
		return names_end(segment, state, kind);
	case BY_CALLS:
		return segment->is_last[kind] &&
		    (segment->last == segment->begin || (is_begun &&
		     element_matches(matching, segment->begin,
		         refining->kind[sample_tree_parent(refining->tree,
		         node)])));
	case BY_CHAINS:
		return is_begun && segment->is_last[kind] &&
		    path_chains_reach(segment->chains);
	}
	return false;
}

/* Takes the nodes away that are not above a node. */
static void
path_pattern_close_nodes(struct matching *matching, uint32_t node)
{
	while (matching->n_open > 0) {
		const struct pattern_open_node *last =
		    &matching->open[matching->n_open - 1];
		uint32_t segment = last->state.segment;

		if (last->end > node)
			return;
		if (last->is_chained)
			path_chains_pop(matching->segments[segment].chains);
		matching->n_open--;
	}
}

/* Moves the state on to a node, and returns whether the path ends there. */
static bool
seek(struct matching *matching, uint32_t node, struct pattern_open_node *open)
{
	const uint32_t kind = matching->refining->kind[node];
	const struct segment *segment =
	    &matching->segments[open->state.segment];

	if (segment_ends(matching, &open->state, node)) {
		open->state = (struct pattern_state){
			.segment = open->state.segment + 1,
		};
		return open->state.segment == matching->path->n_segments;
	}
	/* Nothing is below a leaf, so nobody asks what is above. */
	open->is_chained = segment->how == BY_CHAINS && open->end > node + 1;
	if (open->is_chained)
		path_chains_push(segment->chains, matching->names[kind],
		                 segment->element_bits[kind]);
	return false;
}

/*
 * Moves on to a node, and returns whether the path ends there.  The nodes come
 * in order, perhaps without subtrees.
 */
static bool
path_pattern_visit(struct matching *matching, uint32_t node)
{
	const struct refining *refining = matching->refining;
	struct pattern_open_node open = { .end = sample_tree_end(refining->tree,
	    node) };

	path_pattern_close_nodes(matching, node);
	if (matching->n_open > 0)
		open.state = matching->open[matching->n_open - 1].state;
	if (!is_joined(refining, node) && seek(matching, node, &open))
		return true;
	if (open.end > node + 1)
		matching->open[matching->n_open++] = open;
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
		if (path_pattern_visit(matching, node)) {
			memset(matched + node, 1, sample_tree_end(tree, node) -
			    node);
			node = sample_tree_end(tree, node);
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
	int status = path_pattern_prepare(&matching, error);

	if (status == 0)
		status = match_nodes(&matching, matched, error);
	path_pattern_finish(&matching);
	return status;
}
