/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_callgrind.c -- the format of callgrind, as KCachegrind reads it.
 *
 * Functions with the hits of their own lines, and arcs between them with the
 * hits that were spent in the calls; how often calls happened no sample knows,
 * and `calls=0` says so.
 *
 * Recursion is told as callgrind --separate-recs=2 tells it: a function's
 * activations below itself are a function of their own, named f'2.  So f is
 * never below itself, and both the arcs to it, and its own hits with the arcs
 * from it, sum to its inclusive hits; of f'2 some count twice.
 *
 * Time O(resources times nodes), memory O(arcs).
 * Source: Valgrind's manual, "Callgrind Format Specification".
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/formats/exporter.h"
#include "src/profile/frame_labels.h"
#include "src/profile/stack_walk.h"

#define NO_FUNCTION UINT32_MAX

/* What the format tells functions by. */
struct function_key {
	uint32_t module, file, name;
	uint32_t level;		/* 1: outermost activations, 2: all others */
};

/* Hits of a function's line: its own, or spent in calls from there. */
struct cost_key {
	uint32_t function;
	uint32_t line;
	uint32_t callee;	/* NO_FUNCTION: its own */
};

/* A location of a frame. */
struct place {
	uint32_t outermost;	/* the function, by its level */
	uint32_t inner;
	uint32_t line;
};

/* Where something is called from. */
struct caller {
	uint32_t function, line;
};

struct annotating {
	const struct export_source *source;
	struct writer *writer;
	struct names *functions;	/* struct function_key */
	struct names *costs;		/* struct cost_key */
	uint64_t *hits;			/* [costs][n_resources] */
	size_t hits_capacity;

	struct place *places;		/* [n_locations] */
	uint32_t *n_active;		/* [functions], by outermost: on the
					 * stack */
	struct caller *callers;		/* [deepest] innermost of each frame
					 * on the stack */
	uint64_t *weight;		/* [n_nodes] of one resource */

	struct text_buffer text;
	unsigned char *defined;		/* by number, DEFINED_... */
	uint64_t n_changed;
};

enum { DEFINED_FUNCTION = 1, DEFINED_FILE = 2, DEFINED_OBJECT = 4 };

/* ---- places ---- */

static uint32_t
add_function_key(struct annotating *annotating, const struct frame *frame,
                 const struct location *location, uint32_t level,
                 struct error *error)
{
	struct function_key key = { frame->module, location->file,
		location->function, level };

	return names_add(annotating->functions, (const char *)&key,
	                 sizeof key, error);
}

static int
find_places(struct annotating *annotating, struct error *error)
{
	const struct profile *profile = annotating->source->profile;

	for (uint32_t f = 0; f < profile->n_frames; f++) {
		const struct frame *frame = &profile->frames[f];

		for (uint32_t i = 0; i < frame->n_locations; i++) {
			uint32_t at = frame->first_location + i;
			struct location *location = &profile->locations[at];

			annotating->places[at] = (struct place){
				add_function_key(annotating, frame, location,
				                 1, error),
				add_function_key(annotating, frame, location,
				                 2, error),
				location->line
			};
		}
	}
	return error->is_set ? -1 : 0;
}

/* The places that a frame stands for, outermost first; *n of them. */
static const struct place *
places_of(const struct annotating *annotating, uint32_t label, uint32_t *n)
{
	const struct profile *profile = annotating->source->profile;
	const struct frame *frame = &profile->frames[label];

	*n = frame_shown_locations(frame, annotating->source->inlines);
	return &annotating->places[frame->first_location];
}

/* ---- costs ---- */

static int
add_cost(struct annotating *annotating, uint32_t resource,
         const struct caller *caller, uint32_t callee, uint64_t hits,
         struct error *error)
{
	struct cost_key key = { caller->function, caller->line, callee };
	uint32_t n_resources = annotating->source->profile->n_resources;
	uint32_t n = names_count(annotating->costs);
	uint32_t number = names_add(annotating->costs, (const char *)&key,
	                            sizeof key, error);
	uint64_t *count;

	if (number == NO_NAME ||
	    memory_grow(&annotating->hits, &annotating->hits_capacity,
	                ((size_t)n + 1) * n_resources,
	                sizeof *annotating->hits, error) != 0)
		return -1;
	if (number == n)
		memset(&annotating->hits[(size_t)n * n_resources], 0,
		       n_resources * sizeof *annotating->hits);
	count = &annotating->hits[(size_t)number * n_resources + resource];
	if (__builtin_add_overflow(*count, hits, count))
		return error_set(error, "the hits of recursive calls pass 64 "
		                 "bits");
	return 0;
}

/* The functions of a node's frame leave the stack. */
static void
leave(struct annotating *annotating, uint32_t node)
{
	uint32_t n;
	const struct place *places = places_of(annotating,
	    annotating->source->profile->tree->label[node], &n);

	while (n-- > 0)
		annotating->n_active[places[n].outermost]--;
}

/*
 * The call of each of the functions of the node that was walked to, then what
 * the innermost used itself.
 */
static int
add_node(struct annotating *annotating, uint32_t resource,
         const struct stack_walk *walk, struct error *error)
{
	uint32_t node = walk->nodes[walk->depth - 1], n;
	const struct place *places = places_of(annotating,
	                                       walk->tree->label[node], &n);
	struct caller *caller = walk->depth > 1 ?
	    &annotating->callers[walk->depth - 2] : NULL;
	struct caller *own = &annotating->callers[walk->depth - 1];

	for (uint32_t i = 0; i < n; i++) {
		bool is_inner =
		    annotating->n_active[places[i].outermost]++ > 0;
		uint32_t function = is_inner ? places[i].inner :
		                    places[i].outermost;

		if (caller != NULL &&
		    add_cost(annotating, resource, caller, function,
		             annotating->weight[node], error) != 0)
			return -1;
		*own = (struct caller){ function, places[i].line };
		caller = own;
	}
	return add_cost(annotating, resource, own, NO_FUNCTION,
	                walk->tree->hits[resource][node], error);
}

static int
add_resource(struct annotating *annotating, uint32_t resource,
             struct error *error)
{
	const struct sample_tree *tree = annotating->source->profile->tree;
	struct stack_walk walk = { .tree = tree };
	int result = stack_walk_begin(&walk, error);

	sample_tree_weights(tree, tree->hits[resource], annotating->weight);
	for (uint32_t n = 0; result == 0 && n < tree->n_nodes; n++) {
		uint32_t parent = tree->parent[n];

		while (walk.depth > 0 && walk.nodes[walk.depth - 1] != parent)
			leave(annotating, walk.nodes[--walk.depth]);
		stack_walk_to(&walk, n);
		result = add_node(annotating, resource, &walk, error);
		if (result == 0)
			result = export_may_go_on(n, annotating->writer,
			                          error);
	}
	while (walk.depth > 0)
		leave(annotating, walk.nodes[--walk.depth]);
	free(walk.nodes);
	return result;
}

static int
add_costs(struct annotating *annotating, struct error *error)
{
	const struct profile *profile = annotating->source->profile;

	annotating->places = memory_array(profile->n_locations,
	                                  sizeof *annotating->places, error);
	annotating->weight = memory_array(profile->tree->n_nodes,
	                                  sizeof *annotating->weight, error);
	if (annotating->places == NULL || annotating->weight == NULL ||
	    find_places(annotating, error) != 0)
		return -1;
	annotating->n_active = memory_array(
	    names_count(annotating->functions),
	    sizeof *annotating->n_active, error);
	annotating->callers = memory_array(profile->tree->deepest,
	                                   sizeof *annotating->callers,
	                                   error);
	if (annotating->n_active == NULL || annotating->callers == NULL)
		return -1;
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (add_resource(annotating, r, error) != 0)
			return -1;
	return 0;
}

/* ---- the text ---- */

static int
flush(struct annotating *annotating, struct error *error)
{
	return export_flush(&annotating->text, annotating->writer, error);
}

/* A text up to the end of the line; whether all of it stands as it is. */
static bool
add_text(struct text_buffer *text, const char *bytes, size_t n)
{
	bool is_whole = true;

	for (size_t i = 0; i < n; i++) {
		bool is_control = (unsigned char)bytes[i] < ' ' ||
		    bytes[i] == 0x7f;

		text_add_char(text, is_control ? '?' : bytes[i]);
		is_whole &= !is_control;
	}
	return is_whole;
}

/* "(12) name" when a number of its kind is first used, then "(12)". */
static void
add_reference(struct annotating *annotating, const char *key, uint32_t number,
              unsigned char kind, const char *text, size_t length,
              const char *suffix)
{
	bool is_whole = true;

	text_add_format(&annotating->text, "%s=(%" PRIu32 ")", key,
	                number + 1);
	if (!(annotating->defined[number] & kind)) {
		annotating->defined[number] |= kind;
		text_add_char(&annotating->text, ' ');
		is_whole = add_text(&annotating->text, text, length);
		text_add_string(&annotating->text, suffix);
	}
	text_add_char(&annotating->text, '\n');
	annotating->n_changed += !is_whole;
}

/* Module and file unknown are "???", as callgrind writes them. */
static void
add_function(struct annotating *annotating, uint32_t function, bool is_callee)
{
	const struct profile *profile = annotating->source->profile;
	struct function_key key;

	memcpy(&key, names_text(annotating->functions, function), sizeof key);
	if (profile->n_modules > 0) {
		bool is_known = key.module != NO_MODULE;
		const char *path = is_known ?
		    profile->modules[key.module].path : "???";

		add_reference(annotating, is_callee ? "cob" : "ob",
		              is_known ? key.module : profile->n_modules,
		              DEFINED_OBJECT, path, strlen(path), "");
	}
	if (key.file != NO_NAME)
		add_reference(annotating, is_callee ? "cfi" : "fl", key.file,
		              DEFINED_FILE,
		              names_text(profile->names, key.file),
		              names_length(profile->names, key.file), "");
	else
		add_reference(annotating, is_callee ? "cfi" : "fl",
		              names_count(profile->names), DEFINED_FILE,
		              "???", 3, "");
	add_reference(annotating, is_callee ? "cfn" : "fn", function,
	              DEFINED_FUNCTION, names_text(profile->names, key.name),
	              names_length(profile->names, key.name),
	              key.level > 1 ? "'2" : "");
}

static void
add_hits(struct annotating *annotating, const uint64_t *hits)
{
	for (uint32_t r = 0; r < annotating->source->profile->n_resources; r++)
		text_add_format(&annotating->text, " %" PRIu64, hits[r]);
	text_add_char(&annotating->text, '\n');
}

static const struct cost_key *
cost_key(const struct annotating *annotating, uint32_t cost,
         struct cost_key *key)
{
	return memcpy(key, names_text(annotating->costs, cost), sizeof *key);
}

/* By function, then line; a line's own hits before its calls. */
static int
compare_costs(const void *a, const void *b, void *context)
{
	struct cost_key x, y;

	cost_key(context, *(const uint32_t *)a, &x);
	cost_key(context, *(const uint32_t *)b, &y);
	if (x.function != y.function)
		return x.function < y.function ? -1 : 1;
	if (x.line != y.line)
		return x.line < y.line ? -1 : 1;
	return x.callee + 1 < y.callee + 1 ? -1 : x.callee + 1 > y.callee + 1;
}

static int
write_cost(struct annotating *annotating, uint32_t cost, uint32_t *function,
           struct error *error)
{
	uint32_t n_resources = annotating->source->profile->n_resources;
	const uint64_t *hits = &annotating->hits[(size_t)cost * n_resources];
	struct cost_key key;

	cost_key(annotating, cost, &key);
	if (key.function != *function) {
		text_add_char(&annotating->text, '\n');
		add_function(annotating, key.function, false);
		*function = key.function;
	}
	if (key.callee != NO_FUNCTION) {
		add_function(annotating, key.callee, true);
		text_add_string(&annotating->text, "calls=0 0\n");
	}
	text_add_format(&annotating->text, "%" PRIu32, key.line);
	add_hits(annotating, hits);
	return flush(annotating, error);
}

static int
write_costs(struct annotating *annotating, struct error *error)
{
	uint32_t n = names_count(annotating->costs), function = NO_FUNCTION;
	uint32_t *order = memory_array(n, sizeof *order, error);
	int result = order != NULL ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < n; i++)
		order[i] = i;
	if (result == 0)
		qsort_r(order, n, sizeof *order, compare_costs, annotating);
	for (uint32_t i = 0; result == 0 && i < n; i++) {
		result = write_cost(annotating, order[i], &function, error);
		if (result == 0)
			result = export_may_go_on(i, annotating->writer,
			                          error);
	}
	free(order);
	return result;
}

/* ---- the header ---- */

/*
 * An event's short name is letters and digits: those of the resource's name,
 * and its number where that is not enough to tell it from others.
 */
static void
add_event(struct text_buffer *text, const struct profile *profile, uint32_t r)
{
	const char *name = profile->resources[r].name;
	bool is_plain = isalpha((unsigned char)*name);

	if (!is_plain)
		text_add_char(text, 'E');
	for (; *name != '\0'; name++) {
		if (isascii((unsigned char)*name) &&
		    isalnum((unsigned char)*name))
			text_add_char(text, *name);
		else
			is_plain = false;
	}
	if (!is_plain)
		text_add_format(text, "%" PRIu32, r + 1);
}

/* "event: RealTime1 : Real Time, 20 centisecond each" */
static void
add_event_names(struct annotating *annotating)
{
	const struct profile *profile = annotating->source->profile;
	struct text_buffer *text = &annotating->text;

	for (uint32_t r = 0; r < profile->n_resources; r++) {
		const struct resource *resource = &profile->resources[r];

		text_add_string(text, "event: ");
		add_event(text, profile, r);
		text_add_string(text, " : ");
		add_text(text, resource->name, strlen(resource->name));
		if (*resource->gtick != '\0') {
			text_add_format(text, ", %" PRIu64 " ",
			                resource->interval);
			add_text(text, resource->gtick,
			         strlen(resource->gtick));
			text_add_string(text, " each");
		}
		text_add_char(text, '\n');
	}
	text_add_string(text, "events:");
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		text_add_char(text, ' ');
		add_event(text, profile, r);
	}
}

static void
add_totals(struct annotating *annotating, const char *key)
{
	const struct profile *profile = annotating->source->profile;

	text_add_format(&annotating->text, "%s:", key);
	for (uint32_t r = 0; r < profile->n_resources; r++)
		text_add_format(&annotating->text, " %" PRIu64,
		    sample_tree_total(profile->tree->hits[r],
		                      profile->tree->n_nodes));
	text_add_char(&annotating->text, '\n');
}

static int
write_header(struct annotating *annotating, struct error *error)
{
	const struct profile *profile = annotating->source->profile;
	struct text_buffer *text = &annotating->text;

	text_add_string(text, "# callgrind format\nversion: 1\n"
	                "creator: cpprof (names as callgrind's)\n");
	if (profile->n_processes > 0) {
		const struct process *process = &profile->processes[0];
		const char *command = process->command != NULL ?
		    process->command : process->program;

		if (process->pid != 0)
			text_add_format(text, "pid: %" PRIu64 "\n",
			                process->pid);
		if (command != NULL) {
			text_add_string(text, "cmd: ");
			add_text(text, command, strlen(command));
			text_add_char(text, '\n');
		}
	}
	text_add_string(text, "positions: line\n");
	add_event_names(annotating);
	text_add_char(text, '\n');
	add_totals(annotating, "summary");
	return flush(annotating, error);
}

/* ---- the whole ---- */

static int
write_file(struct annotating *annotating, struct error *error)
{
	const struct profile *profile = annotating->source->profile;
	size_t n_defined;

	annotating->functions = names_new(error);
	annotating->costs = names_new(error);
	if (annotating->functions == NULL || annotating->costs == NULL ||
	    add_costs(annotating, error) != 0)
		return -1;
	n_defined = (size_t)names_count(profile->names) + profile->n_modules +
	    names_count(annotating->functions) + 1;
	annotating->defined = memory_array(n_defined, 1, error);
	if (annotating->defined == NULL ||
	    write_header(annotating, error) != 0 ||
	    write_costs(annotating, error) != 0)
		return -1;
	text_add_char(&annotating->text, '\n');
	add_totals(annotating, "totals");
	return flush(annotating, error);
}

static int
callgrind_write(const struct export_source *source, struct writer *writer,
                uint64_t *n_changed, struct error *error)
{
	struct annotating annotating = { .source = source, .writer = writer };
	int result = write_file(&annotating, error);

	*n_changed = annotating.n_changed;
	names_free(annotating.functions);
	names_free(annotating.costs);
	free(annotating.hits);
	free(annotating.places);
	free(annotating.n_active);
	free(annotating.callers);
	free(annotating.weight);
	free(annotating.defined);
	text_free(&annotating.text);
	return result;
}

const struct exporter exporter_callgrind = {
	.summary = "functions and calls, for KCachegrind",
	.carries = EXPORT_RESOURCES | EXPORT_UNITS | EXPORT_NAMES |
	    EXPORT_LINES,
	.write = callgrind_write,
};
