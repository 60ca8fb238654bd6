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
#include "src/refine/refining.h"

#include <stdlib.h>

#include "src/base/memory.h"

enum { NONE = UINT32_MAX };

/* The last activation of a name.  What is used together lies together. */
struct chain_activation {
	uint64_t matches;	/* elements that its frame matches */
	uint64_t reached;	/* elements that end a path here */
	uint64_t callers;	/* what some caller has reached, but for the
				 * last element; see n_callers */
	uint32_t called;	/* a name; NONE: it is the newest frame */
	bool is_open;
	uint32_t n_callers[];	/* [n_elements] whose last call is to the name,
				 * and which have reached the element */
};

/* What a frame replaced. */
struct chain_change {
	uint64_t matches;
	uint32_t name, called;
	bool was_open;
};

struct path_chains {
	uint32_t n_elements;
	size_t size;		/* of an activation */
	unsigned char *activations;	/* [n_names], size bytes each */
	struct chain_change *changes;	/* [deepest] */
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
	chains->size = sizeof(struct chain_activation) +
	    (n_elements + 1) / 2 * sizeof(uint64_t);
	chains->activations = memory_array(n_names, chains->size, error);
	chains->changes = memory_array(deepest, sizeof *chains->changes,
	                               error);
	if (chains->activations == NULL || chains->changes == NULL) {
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
	free(chains->changes);
	free(chains);
}

static struct chain_activation *
activation_of(const struct path_chains *chains, uint32_t name)
{
	return (struct chain_activation *)(chains->activations +
	                                   name * chains->size);
}

static uint64_t
last_element(const struct path_chains *chains)
{
	return UINT64_C(1) << (chains->n_elements - 1);
}

static uint64_t
find_reached(const struct chain_activation *activation)
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
	const uint64_t last = last_element(chains);

	/* Nobody asks for callers that have reached the last element. */
	for (reached &= ~last; reached != 0 && name != NONE;
	     reached &= ~last) {
		struct chain_activation *activation = activation_of(chains,
		                                                    name);
		uint64_t before = activation->reached;

		for (; reached != 0; reached &= reached - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(reached);

			activation->n_callers[bit] += (uint32_t)by;
			if (activation->n_callers[bit] == (by > 0 ? 1 : 0))
				activation->callers ^= UINT64_C(1) << bit;
		}
		activation->reached = find_reached(activation);
		reached = before ^ activation->reached;
		name = activation->called;
	}
}

/*
 * A name that is not open is called: its only caller is the newest frame, which
 * has reached some elements.
 */
static void
open_first(const struct path_chains *chains,
           struct chain_activation *activation, uint64_t matches,
           uint64_t callers)
{
	for (uint32_t i = 0; i < chains->n_elements; i++)
		activation->n_callers[i] = callers >> i & 1;
	activation->callers = callers & ~last_element(chains);
	activation->called = NONE;
	activation->is_open = true;
	activation->matches = matches;
	activation->reached = find_reached(activation);
}

/* A name that is open is called again, perhaps by itself. */
static void
path_chains_open_again(struct path_chains *chains, uint32_t name,
                       uint64_t matches, uint32_t caller)
{
	struct chain_activation *activation = activation_of(chains, name);

	count_caller(chains, activation->called, activation->reached, -1);
	activation->called = NONE;
	activation->matches = matches;
	activation->reached = find_reached(activation);
	if (caller != name)
		count_caller(chains, name,
		             activation_of(chains, caller)->reached, 1);
}

void
path_chains_push(struct path_chains *chains, uint32_t name, uint64_t matches)
{
	struct chain_activation *activation = activation_of(chains, name);
	uint32_t caller = chains->depth == 0 ? NONE :
	                  chains->changes[chains->depth - 1].name;
	struct chain_activation *newest = caller == NONE ? NULL :
	                            activation_of(chains, caller);

	chains->changes[chains->depth++] = (struct chain_change){
		.matches = activation->matches,
		.name = name,
		.called = activation->called,
		.was_open = activation->is_open,
	};
	if (activation->is_open)
		path_chains_open_again(chains, name, matches, caller);
	else
		open_first(chains, activation, matches,
		           newest == NULL ? 0 : newest->reached);
	if (newest != NULL && caller != name)
		newest->called = name;
}

/* Takes away what path_chains_open_again has done. */
static void
close_again(struct path_chains *chains, const struct chain_change *change,
            uint32_t caller)
{
	struct chain_activation *activation = activation_of(chains,
	                                                    change->name);

	if (caller != change->name) {
		count_caller(chains, change->name,
		             activation_of(chains, caller)->reached, -1);
		activation_of(chains, caller)->called = NONE;
	}
	activation->called = change->called;
	activation->matches = change->matches;
	activation->reached = find_reached(activation);
	count_caller(chains, activation->called, activation->reached, 1);
}

void
path_chains_pop(struct path_chains *chains)
{
	const struct chain_change *change = &chains->changes[--chains->depth];
	uint32_t caller = chains->depth == 0 ? NONE : change[-1].name;

	if (change->was_open) {
		close_again(chains, change, caller);
		return;
	}
	activation_of(chains, change->name)->is_open = false;
	if (caller != NONE)
		activation_of(chains, caller)->called = NONE;
}

bool
path_chains_reach(const struct path_chains *chains)
{
	uint32_t newest = chains->changes[chains->depth - 1].name;

	return (activation_of(chains, newest)->reached &
	        last_element(chains)) != 0;
}
