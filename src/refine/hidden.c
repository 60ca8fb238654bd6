/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hidden.c -- frames inside stacks that views do not show.
 *
 * A kind of them is a ready group, or the functions of an interpreter that run
 * other functions.  Where a hidden frame has a caller, the two become one frame,
 * the caller's: hits of the one are hits of the other, and what the one calls is
 * called by the other.
 *
 * Two parts of the interpreter do more than run functions, and get a name that
 * tells what they do.  A part begins with a function of interpreter.def, and ends
 * with the first function that Python code, or another module, has:
 *
 *	work  _Py_RunGC  gc_collect_main  deduce_unreachable
 *	work  [garbage collector]-------------------------->
 */
#include "src/refine/refine.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"

/*
 * Parts of the interpreter that have a name; bits beside those of enum
 * hidden_frames.
 */
enum {
	HIDDEN_IN_COLLECTOR = 1 << 4, HIDDEN_IN_GIL_WAIT = 1 << 5,
	HIDDEN_IN_PART = HIDDEN_IN_COLLECTOR | HIDDEN_IN_GIL_WAIT,
	HIDDEN_IN_HOLDER = 1 << 6,	/* behind LOCK_PAIRS_MARK */

	/* Of a function of an interpreter: what it calls. */
	HIDDEN_WAITS = 1 << 0,		/* waits for conditions */
	HIDDEN_CALLS = 1 << 1		/* the interpreter's functions */
};

static const struct {
	const char *glob;
	unsigned char kind;
} interpreter_globs[] = {
#define INTERPRETER(glob) { glob, HIDES_INTERPRETER },
#define GARBAGE_COLLECTOR(glob) { glob, HIDDEN_IN_COLLECTOR },
#define GIL_WAIT(glob) { glob, HIDDEN_IN_GIL_WAIT },
#include "src/refine/interpreter.def"
#undef GIL_WAIT
#undef GARBAGE_COLLECTOR
#undef INTERPRETER
};

static const struct {
	unsigned kind;		/* of enum hidden_frames */
	const char *group;
	bool has_callees;	/* what such a frame calls, and belongs to no
				 * module, is of the same kind */
} hidden_kinds[] = {
	{ HIDES_KERNEL, "@kernel", true },
};

enum {
	N_HIDDEN_KINDS = sizeof hidden_kinds / sizeof *hidden_kinds,
	N_INTERPRETER_GLOBS = sizeof interpreter_globs /
	                      sizeof *interpreter_globs,
	HIDDEN_IS_KNOWN = 1 << 7,	/* in the arrays below */
};

struct hidden_known {
	const struct profile *profile;
	struct frame_pattern *groups[N_HIDDEN_KINDS];
	unsigned char *by_name, *by_module;	/* [names], [n_modules] the
						 * kinds, once known */
	/* Of interpreters; NULL: no frame is interpreted. */
	struct pattern *globs[N_INTERPRETER_GLOBS];
	bool *has_interpreter;		/* [n_modules] */
	unsigned char *runs;		/* [names] likewise HIDES_INTERPRETER,
					 * or the part that begins there; and
					 * what the function calls */
	bool *waits;			/* [n_frames] for a condition */
	uint32_t collector, gil_wait;	/* names of the parts */
	uint32_t mark;			/* LOCK_PAIRS_MARK; NO_NAME: none */
};

/* The modules of interpreters by the name of the evaluation loop. */
static void
hidden_find_loops(struct hidden_known *known, uint32_t loop)
{
	const struct profile *profile = known->profile;

	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		if (frame->module != NO_MODULE && profile->locations[
		        frame->first_location].function == loop)
			known->has_interpreter[frame->module] = true;
	}
}

/*
 * Likewise of a stripped interpreter: what runs an interpreted frame is the loop,
 * or another interpreted frame.
 */
static void
hidden_find_nameless_loops(struct hidden_known *known)
{
	const struct profile *profile = known->profile;
	const struct sample_tree *tree = profile->tree;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const uint32_t parent = sample_tree_parent(tree, node);
		const struct frame *runs;

		if (parent == NO_NODE ||
		    !profile->frames[tree->label[node]].is_interpreted)
			continue;
		runs = &profile->frames[tree->label[parent]];
		if (!runs->is_interpreted && runs->module != NO_MODULE)
			known->has_interpreter[runs->module] = true;
	}
}

/* Whether a function of the C library waits for a condition, by its name. */
static bool
hidden_is_condition_wait(const char *name)
{
	static const char wait[] = "pthread_cond_";

	name += strspn(name, "_");
	return strncmp(name, wait, sizeof wait - 1) == 0 &&
	    strstr(name, "wait") != NULL;
}

/*
 * Finds the functions that take and hand over the GIL where no symbol says so:
 * only these wait for conditions.  (The interpreter's locks are semaphores.)  One
 * that also calls functions of the interpreter may do more than that, so of it
 * only the place of the call is known.
 */
static void
hidden_find_gil_waits(struct hidden_known *known, uint32_t loop)
{
	const struct profile *profile = known->profile;
	const struct sample_tree *tree = profile->tree;

	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const struct frame *frame =
		    &profile->frames[tree->label[node]], *caller;
		const uint32_t parent = sample_tree_parent(tree, node);
		uint32_t function;

		if (parent == NO_NODE)
			continue;
		caller = &profile->frames[tree->label[parent]];
		function = profile->locations[caller->first_location].function;
		if (caller->is_interpreted || caller->module == NO_MODULE ||
		    !known->has_interpreter[caller->module] ||
		    function == loop)
			continue;
		if (frame->is_interpreted || (frame->module != NO_MODULE &&
		        known->has_interpreter[frame->module])) {
			known->runs[function] |= HIDDEN_CALLS;
		} else if (hidden_is_condition_wait(names_text(profile->names,
		               profile->locations[
		                   frame->first_location].function))) {
			known->waits[tree->label[parent]] = true;
			known->runs[function] |= HIDDEN_WAITS;
		}
	}
}

/* Finds the modules that have interpreters, if any frame is interpreted. */
static int
hidden_find_interpreters(struct hidden_known *known, struct error *error)
{
	static const char loop[] = "_PyEval_EvalFrameDefault";
	const struct profile *profile = known->profile;
	const uint32_t name = names_find(profile->names, loop,
	                                 sizeof loop - 1);
	bool found = false;

	for (uint32_t i = 0; i < profile->n_frames && !found; i++)
		found = profile->frames[i].is_interpreted;
	if (!found)
		return 0;
	known->has_interpreter = memory_array(profile->n_modules,
	    sizeof *known->has_interpreter, error);
	known->runs = memory_array(names_count(profile->names), 1, error);
	known->waits = memory_array(profile->n_frames, sizeof *known->waits,
	                            error);
	known->mark = names_find(profile->names, LOCK_PAIRS_MARK,
	                         strlen(LOCK_PAIRS_MARK));
	known->collector = names_add(profile->names, HIDDEN_COLLECTOR_NAME,
	                             strlen(HIDDEN_COLLECTOR_NAME), error);
	known->gil_wait = names_add(profile->names, HIDDEN_GIL_WAIT_NAME,
	                            strlen(HIDDEN_GIL_WAIT_NAME), error);
	if (error->is_set)
		return -1;
	if (name != NO_NAME)
		hidden_find_loops(known, name);
	/* Another module's interpreter may be stripped. */
	hidden_find_nameless_loops(known);
	hidden_find_gil_waits(known, name);
	for (size_t i = 0; i < N_INTERPRETER_GLOBS; i++)
		if ((known->globs[i] = pattern_new(interpreter_globs[i].glob,
		                                   error)) == NULL)
			return -1;
	return 0;
}

struct hidden_known *
hidden_known_new(const struct profile *profile, struct error *error)
{
	struct hidden_known *known = memory_array(1, sizeof *known, error);

	if (known == NULL)
		return NULL;
	known->profile = profile;
	known->by_name = memory_array(names_count(profile->names), 1, error);
	known->by_module = memory_array(profile->n_modules, 1, error);
	for (size_t i = 0; !error->is_set && i < N_HIDDEN_KINDS; i++) {
		const struct pattern_word word = {
			.text = hidden_kinds[i].group,
			.length = strlen(hidden_kinds[i].group),
		};

		known->groups[i] = frame_pattern_new(&word, error);
	}
	if (!error->is_set && hidden_find_interpreters(known, error) == 0)
		return known;
	hidden_known_free(known);
	return NULL;
}

void
hidden_known_free(struct hidden_known *known)
{
	if (known == NULL)
		return;
	for (size_t i = 0; i < N_HIDDEN_KINDS; i++)
		frame_pattern_free(known->groups[i]);
	for (size_t i = 0; i < N_INTERPRETER_GLOBS; i++)
		pattern_free(known->globs[i]);
	free(known->by_name);
	free(known->by_module);
	free(known->has_interpreter);
	free(known->runs);
	free(known->waits);
	free(known);
}

/* Whether a module is "python3.11", which beside a library only has main. */
static bool
is_python(const struct profile *profile, uint32_t module)
{
	return strncmp(profile_module_name(profile, module), "python",
	               strlen("python")) == 0;
}

/*
 * Whether a function of that name runs others, if it is an interpreter's, or
 * begins one of its parts.
 */
static unsigned
hidden_runs(struct hidden_known *known, uint32_t name)
{
	const struct names *names = known->profile->names;
	unsigned char *runs = &known->runs[name];

	if ((*runs & HIDDEN_IS_KNOWN) == 0) {
		*runs |= HIDDEN_IS_KNOWN;
		for (size_t i = 0; i < N_INTERPRETER_GLOBS; i++)
			if (pattern_matches(known->globs[i],
			                    names_text(names, name),
			                    names_length(names, name)))
				*runs |= interpreter_globs[i].kind;
	}
	return *runs & ~(unsigned)HIDDEN_IS_KNOWN;
}

/* The part of the interpreter that begins with location k of a frame; or 0. */
static unsigned
hidden_part_of(struct hidden_known *known, uint32_t number, uint32_t k)
{
	const struct frame *frame = &known->profile->frames[number];
	unsigned runs;

	if (known->runs == NULL || frame->module == NO_MODULE ||
	    frame->is_interpreted || !known->has_interpreter[frame->module])
		return 0;
	runs = hidden_runs(known, known->profile->locations[
	    frame->first_location + k].function);
	if (k == 0 && (known->waits[number] ||
	        (runs & (HIDDEN_WAITS | HIDDEN_CALLS)) == HIDDEN_WAITS))
		return HIDDEN_IN_GIL_WAIT;
	return runs & HIDDEN_IN_PART;
}

uint32_t
hidden_part_name(struct hidden_known *known, uint32_t number, uint32_t k)
{
	const unsigned part = hidden_part_of(known, number, k);

	return part == 0 ? NO_NAME : part == HIDDEN_IN_GIL_WAIT ?
	    known->gil_wait : known->collector;
}

/* Whether location k of a frame is an interpreter's own. */
static bool
is_interpreters(struct hidden_known *known, const struct frame *frame,
                uint32_t k)
{
	const uint32_t name = known->profile->locations[
	    frame->first_location + k].function;

	if (known->runs == NULL || frame->module == NO_MODULE ||
	    frame->is_interpreted)
		return false;
	if (known->has_interpreter[frame->module])
		return frame->is_made_up ||
		    (hidden_runs(known, name) & HIDES_INTERPRETER) != 0 ||
		    strcmp(names_text(known->profile->names, name),
		           "main") == 0;
	return is_python(known->profile, frame->module) &&
	    strcmp(names_text(known->profile->names, name), "main") == 0;
}

/*
 * As hidden_kinds_of, of location k of the frame: an inlined function may be
 * hidden where its caller is not.
 */
static unsigned
hidden_kinds_of_location(struct hidden_known *known, uint32_t number,
                         uint32_t k)
{
	const struct frame *frame = &known->profile->frames[number];
	const unsigned kinds = hidden_kinds_of(known, number);

	return k > 0 && is_interpreters(known, frame, k) ?
	    kinds | HIDES_INTERPRETER : kinds;
}

unsigned
hidden_kinds_of(struct hidden_known *known, uint32_t number)
{
	const struct profile *profile = known->profile;
	const struct frame *frame = &profile->frames[number];
	const uint32_t name = profile->locations[frame->first_location].function;
	const bool has_module = frame->module != NO_MODULE;
	unsigned char *kinds = has_module ? &known->by_module[frame->module] :
	    &known->by_name[name];

	if (*kinds == 0) {
		const char *module = has_module ?
		    profile_module_name(profile, frame->module) : NULL;

		*kinds = HIDDEN_IS_KNOWN;
		for (size_t i = 0; i < N_HIDDEN_KINDS; i++)
			if (frame_pattern_has(known->groups[i], module,
			        names_text(profile->names, name),
			        names_length(profile->names, name)))
				*kinds |= (unsigned char)hidden_kinds[i].kind;
	}
	return (*kinds & ~(unsigned)HIDDEN_IS_KNOWN) |
	    (frame->is_awaiting ? HIDES_AWAIT : 0) |
	    (is_interpreters(known, frame, 0) ? HIDES_INTERPRETER : 0);
}

int
hidden_is_present(const struct profile *profile, unsigned hidden,
                  struct error *error)
{
	struct hidden_known *known = hidden_known_new(profile, error);
	int found = 0;

	if (known == NULL)
		return -1;
	if ((hidden & HIDES_STARTUP) != 0)
		found = startup_is_present(profile, known, hidden, error);
	for (uint32_t i = 0; (hidden & HIDES_INNER) != 0 && found == 0 &&
	     i < profile->n_frames; i++)
		for (uint32_t k = 0; k < profile->frames[i].n_locations; k++)
			found |= (hidden_kinds_of_location(known, i, k) &
			          hidden) != 0;
	hidden_known_free(known);
	return found;
}

bool
hidden_has_function(const struct profile *profile, unsigned hidden,
                    uint32_t function)
{
	struct error ignored = { 0 };
	struct hidden_known *known = hidden_known_new(profile, &ignored);
	bool found = false, is_hidden = true;

	for (uint32_t i = 0; known != NULL && i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		for (uint32_t k = 0; k < frame->n_locations; k++) {
			if (profile->locations[frame->first_location +
			        k].function != function)
				continue;
			found = true;
			is_hidden &= (hidden_kinds_of_location(known, i, k) &
			              hidden) != 0 ||
			    ((hidden & HIDES_INTERPRETER) != 0 &&
			     hidden_part_of(known, i, k) != 0);
		}
	}
	hidden_known_free(known);
	return found && is_hidden;
}

int
hidden_kernel_hits(const struct profile *profile, uint32_t resource,
                   uint64_t *hits, struct error *error)
{
	const struct sample_tree *tree = profile->tree;
	struct hidden_known *known = hidden_known_new(profile, error);
	bool *is_kernel = known == NULL ? NULL :
	    memory_array(tree->n_nodes, sizeof *is_kernel, error);

	*hits = 0;
	for (uint32_t node = 0; is_kernel != NULL && node < tree->n_nodes;
	     node++) {
		const uint32_t frame = tree->label[node];
		const uint32_t parent = sample_tree_parent(tree, node);

		/* What it calls without a module is its own, too. */
		is_kernel[node] =
		    (hidden_kinds_of(known, frame) & HIDES_KERNEL) != 0 ||
		    (profile->frames[frame].module == NO_MODULE &&
		     parent != NO_NODE && is_kernel[parent]);
		if (is_kernel[node] && sample_tree_has_row(tree, node))
			*hits += sample_tree_hits(tree, resource, node);
	}
	free(is_kernel);
	hidden_known_free(known);
	return is_kernel != NULL ? 0 : -1;
}

/*
 * The kinds of a frame's location in or at the beginning of a part of the
 * interpreter, from what they are elsewhere, and from the caller's.
 */
static unsigned
hidden_kinds_in_part(struct hidden_known *known, uint32_t number, uint32_t k,
                     unsigned caller, unsigned kinds)
{
	const struct frame *frame = &known->profile->frames[number];
	const bool is_native = frame->module != NO_MODULE &&
	    !frame->is_interpreted;
	const unsigned part = caller & HIDDEN_IN_PART;
	unsigned own;

	if (known->runs == NULL)
		return kinds;
	kinds |= caller & HIDDEN_IN_HOLDER;
	if (frame->module == NO_MODULE && known->profile->locations[
	        frame->first_location].function == known->mark)
		return kinds | HIDDEN_IN_HOLDER;
	if (is_native && (part == HIDDEN_IN_GIL_WAIT ||
	        (part == HIDDEN_IN_COLLECTOR &&
	         known->has_interpreter[frame->module])))
		return kinds | HIDES_INTERPRETER | part;
	own = hidden_part_of(known, number, k);
	/* Who has held the GIL and hands it over does not wait for it. */
	if (own == HIDDEN_IN_GIL_WAIT && (kinds & HIDDEN_IN_HOLDER) != 0)
		return kinds | HIDES_INTERPRETER | own;
	/* Of a stripped interpreter, it has no name of its own. */
	return own == 0 ? kinds : (kinds & ~(unsigned)HIDES_INTERPRETER) | own;
}

/*
 * The kinds of a node, by its location and by its caller's kinds.  A frame's
 * locations have consecutive labels.
 */
static unsigned
hidden_kinds_of_node(struct hidden_known *known, const uint32_t *frame_of,
                     uint32_t label, unsigned caller)
{
	const uint32_t frame = frame_of[label];
	unsigned kinds;
	uint32_t k = 0;

	while (k < label && k + 1 < known->profile->frames[frame].n_locations &&
	       frame_of[label - k - 1] == frame)
		k++;
	kinds = hidden_kinds_in_part(known, frame, k, caller,
	                             hidden_kinds_of_location(known, frame, k));
	if (known->profile->frames[frame].module != NO_MODULE)
		return kinds;
	for (size_t i = 0; i < N_HIDDEN_KINDS; i++)
		if (hidden_kinds[i].has_callees)
			kinds |= caller & hidden_kinds[i].kind;
	return kinds;
}

int
hidden_join(struct hidden_known *known, const struct sample_tree *tree,
            const uint32_t *frame_of, unsigned hidden,
            unsigned char **joined, struct error *error)
{
	unsigned char *kinds = NULL, *is_joined = NULL;
	bool any = false;

	*joined = NULL;
	if (large_array_reserve(&kinds, tree->n_nodes, 1, error) != 0 ||
	    large_array_zeroed(&is_joined, tree->n_nodes, 1, error) != 0) {
		large_array_free(kinds);
		return -1;
	}
	for (uint32_t node = 0; node < tree->n_nodes; node++) {
		const uint32_t parent = sample_tree_parent(tree, node);
		const bool has_caller = parent != NO_NODE;

		kinds[node] = (unsigned char)hidden_kinds_of_node(known,
		    frame_of, tree->label[node],
		    has_caller ? kinds[parent] : 0);
		/* Without a caller that is shown, it stays. */
		if (!has_caller || (kinds[node] & hidden) == 0 ||
		    ((kinds[parent] & hidden) != 0 && !is_joined[parent]))
			continue;
		is_joined[node] = 1;
		any = true;
	}
	large_array_free(kinds);
	if (any)
		*joined = is_joined;
	else
		large_array_free(is_joined);
	return 0;
}
