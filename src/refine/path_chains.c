/* SPDX-License-Identifier: GPL-3.0-or-later */
/* path_chains.c -- canonical paths that match patterns, as frames come and go.
 *
 * The names on the stack are a forest: each hangs below the function that its
 * last activation called, and the newest frame is the root, as it has called
 * nothing yet.  Bit i of a name's `reached` says that elements 0 .. i match a
 * path of the forest that ends at the name.  So it has bit i if its frame
 * matches element i, and one of those that called it last has bit i - 1, which
 * are counted.  When a name moves to the top, what it had called loses a
 * caller; a change goes up the forest only as far as some bit changes, and each
 * level shifts the bits by one.
 */
#include "src/refine/path_chains.h"

#include <stdlib.h>

#include "src/base/memory.h"

enum { NONE = UINT32_MAX };

/* The last activation of a name. */
struct activation {
	uint64_t matches;	/* elements that its frame matches */
	uint64_t reached;	/* elements that end a path here */
	uint64_t callers;	/* what some caller has reached; see n_callers */
	uint32_t called;	/* a name; NONE: it is the newest frame */
	bool is_open;
};

/* What a frame replaced. */
struct change {
	uint64_t matches;
	uint32_t name, called;
	bool was_open;
};

struct path_chains {
	uint32_t n_elements;
	struct activation *activations;	/* [n_names] */
	uint32_t *n_callers;	/* [n_names][n_elements] whose last call is to
				 * the name, and which have reached the
				 * element */
	struct change *changes;	/* [deepest] */
	uint32_t depth;
};

struct path_chains *
path_chains_new(uint32_t n_elements, uint32_t n_names, uint32_t deepest,
                struct error *error)
{
	struct path_chains *chains = memory_array(1, sizeof *chains, error);

	if (chains == NULL)
		return NULL;
	chains->n_elements = n_elements;
	chains->activations = memory_array(n_names,
	                                   sizeof *chains->activations, error);
	chains->n_callers = memory_array(n_names,
	    n_elements * sizeof *chains->n_callers, error);
	chains->changes = memory_array(deepest, sizeof *chains->changes,
	                               error);
	if (chains->activations == NULL || chains->n_callers == NULL ||
	    chains->changes == NULL) {
		path_chains_free(chains);
		return NULL;
	}
	return chains;
}

void
path_chains_free(struct path_chains *chains)
{
	if (chains == NULL)
		return;
	free(chains->activations);
	free(chains->n_callers);
	free(chains->changes);
	free(chains);
}

static uint64_t
find_reached(const struct activation *activation)
{
	return activation->matches & (activation->callers << 1 | 1);
}

/*
 * A name has one caller more (by = 1) or less (by = -1) that has reached some
 * elements; and so on for what the name called.
 */
static void
count_caller(struct path_chains *chains, uint32_t name, uint64_t reached,
             int by)
{
	uint64_t last = UINT64_C(1) << (chains->n_elements - 1);

	/* Beyond the last element there is none to be reached. */
	for (reached &= ~last; reached != 0 && name != NONE;
	     reached &= ~last) {
		struct activation *activation = &chains->activations[name];
		uint32_t *n_callers = chains->n_callers +
		    (size_t)name * chains->n_elements;
		uint64_t before = activation->reached;

		for (; reached != 0; reached &= reached - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(reached);

			n_callers[bit] += (uint32_t)by;
			if (n_callers[bit] == (by > 0 ? 1 : 0))
				activation->callers ^= UINT64_C(1) << bit;
		}
		activation->reached = find_reached(activation);
		reached = before ^ activation->reached;
		name = activation->called;
	}
}

void
path_chains_push(struct path_chains *chains, uint32_t name, uint64_t matches)
{
	struct activation *activation = &chains->activations[name];
	uint32_t newest = chains->depth == 0 ? NONE :
	                  chains->changes[chains->depth - 1].name;

	chains->changes[chains->depth++] = (struct change){
		.matches = activation->matches,
		.name = name,
		.called = activation->called,
		.was_open = activation->is_open,
	};
	if (activation->is_open)
		count_caller(chains, activation->called, activation->reached,
		             -1);
	activation->is_open = true;
	activation->called = NONE;
	activation->matches = matches;
	activation->reached = find_reached(activation);
	if (newest == NONE || newest == name)
		return;
	chains->activations[newest].called = name;
	count_caller(chains, name, chains->activations[newest].reached, 1);
}

void
path_chains_pop(struct path_chains *chains)
{
	const struct change *change = &chains->changes[--chains->depth];
	struct activation *activation = &chains->activations[change->name];
	uint32_t newest = chains->depth == 0 ? NONE : change[-1].name;

	if (newest != NONE && newest != change->name) {
		count_caller(chains, change->name,
		             chains->activations[newest].reached, -1);
		chains->activations[newest].called = NONE;
	}
	activation->is_open = change->was_open;
	activation->called = change->called;
	activation->matches = change->matches;
	activation->reached = find_reached(activation);
	if (activation->is_open)
		count_caller(chains, activation->called, activation->reached,
		             1);
}

bool
path_chains_reach(const struct path_chains *chains)
{
	uint32_t newest = chains->changes[chains->depth - 1].name;

	return chains->activations[newest].reached >>
	    (chains->n_elements - 1) & 1;
}
