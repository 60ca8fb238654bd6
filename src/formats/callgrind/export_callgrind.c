/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_callgrind.c -- the format of callgrind, as KCachegrind reads it.
 *
 * Functions with the hits of their own lines, and calls between them with the
 * hits spent in these.  Samples do not show how often a call happened, and the
 * header says so.  Functions are distinguished by object, file and name; as in
 * callgrind's own files, the name is followed by the level of recursion, f'2,
 * and in graphs by the callers, f'g'main.
 *
 * For stacks, recursion is represented as by callgrind --separate-recs=2: a
 * function's activations below itself are a function of their own, of level 2.
 * So a function of level 1 is never below itself, and both the calls to it, and
 * its own hits plus the calls from it, sum to its inclusive hits; at level 2
 * some hits count twice.
 * Source: Valgrind's manual, "Callgrind Format Specification".
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/names.h"
#include "src/base/text_buffer.h"
#include "src/formats/callgrind/callgrind.h"
#include "src/formats/exporter.h"
#include "src/profile/call_flow.h"
#include "src/profile/frame_labels.h"
#include "src/profile/stack_list.h"

/* ---- the text, line by line ---- */

/* Untrusted bytes; NULL: unknown. */
struct callgrind_text {
	const char *bytes;
	size_t length;
};

/* What identifies a function in the format. */
struct callgrind_function {
	struct callgrind_text object, file, name;
};

struct callgrind_output {
	const struct export_source *source;
	const struct profile *profile;
	struct writer *writer;
	struct text_buffer text;
	struct names *objects, *files, *functions;	/* numbered so far */
	struct text_buffer key, name;	/* scratch */
	uint64_t n_changed;	/* names that do not fit a line */
};

static struct callgrind_text
callgrind_text_of(const struct names *names, uint32_t name)
{
	if (name == NO_NAME)
		return (struct callgrind_text){ NULL, 0 };
	return (struct callgrind_text){ names_text(names, name),
		                        names_length(names, name) };
}

static struct callgrind_text
callgrind_text_made(const struct text_buffer *text, struct error *error)
{
	if (text->failed)
		error_out_of_memory(error);
	return (struct callgrind_text){ text->bytes, text->length };
}

/* Hands the text to the writer and reports failures. */
static int
callgrind_output_flush(struct callgrind_output *output, struct error *error)
{
	if (error->is_set)
		return -1;
	return export_flush(&output->text, output->writer, error);
}

/*
 * Adds a text up to its line end; returns whether it is complete and
 * unchanged.  Readers skip blanks before it, so a text of only blanks would be
 * lost.
 */
static bool
callgrind_output_add_text(struct text_buffer *text, const char *bytes, size_t n)
{
	bool is_whole = true, is_front = true;

	for (size_t i = 0; i < n; i++) {
		bool is_blank = bytes[i] == ' ' || bytes[i] == '\t';
		bool is_control = !is_blank &&
		    ((unsigned char)bytes[i] < ' ' || bytes[i] == 0x7f);

		is_front &= is_blank;
		text_add_char(text, is_control ? '?' :
		              is_front ? '_' : bytes[i]);
		is_whole &= !is_control && !is_front;
	}
	return is_whole;
}

static bool
callgrind_output_add_string(struct text_buffer *text, const char *string)
{
	return callgrind_output_add_text(text, string, strlen(string));
}

static void
callgrind_output_add_numbers(struct callgrind_output *output,
                             const uint64_t *numbers)
{
	for (uint32_t r = 0; r < output->profile->n_resources; r++)
		text_add_format(&output->text, " %" PRIu64, numbers[r]);
	text_add_char(&output->text, '\n');
}

/*
 * Adds an event's short name: the letters and digits of the resource's name,
 * and its number if the name is not unique.
 */
static void
callgrind_output_add_event(struct text_buffer *text,
                           const struct profile *profile, uint32_t r)
{
	const char *name = profile->resources[r].name;
	bool is_plain = isascii((unsigned char)*name) &&
	    isalpha((unsigned char)*name);

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

/* Adds the header, which says whether calls or only their costs are known. */
static void
callgrind_output_add_header(struct callgrind_output *output,
                            const uint64_t *totals)
{
	const struct profile *profile = output->profile;
	const struct call_graph *graph = profile->graph;
	struct text_buffer *text = &output->text;
	uint32_t i = 0;

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
			callgrind_output_add_string(text, command);
			text_add_char(text, '\n');
		}
	}
	while (graph != NULL && i < graph->n_arcs && graph->arcs[i].calls == 0)
		i++;
	if (graph != NULL && !graph->has_hits)
		text_add_string(text, "desc: " CALLGRIND_ESTIMATES "\n");
	else if (graph == NULL || i == graph->n_arcs)
		text_add_string(text, "desc: " CALLGRIND_UNCOUNTED "\n");
	text_add_string(text, "positions: line\n");
	/* "event: RealTime1 : Real Time, 20 centisecond each" */
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		const struct resource *resource = &profile->resources[r];

		text_add_string(text, "event: ");
		callgrind_output_add_event(text, profile, r);
		text_add_string(text, " : ");
		output->n_changed +=
		    !callgrind_output_add_string(text, resource->name);
		if (*resource->gtick != '\0' || resource->interval != 1) {
			text_add_format(text, ", %" PRIu64 " ",
			                resource->interval);
			callgrind_output_add_string(text, resource->gtick);
			text_add_string(text, " each");
		}
		text_add_char(text, '\n');
	}
	text_add_string(text, "events:");
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		text_add_char(text, ' ');
		callgrind_output_add_event(text, profile, r);
	}
	text_add_string(text, "\nsummary:");
	callgrind_output_add_numbers(output, totals);
}

/*
 * Adds "key=(12) name" at the first use, then "key=(12)"; `names` numbers
 * items by their identity.  An empty name is replaced, since the first form
 * would read as the second.
 */
static void
add_reference(struct callgrind_output *output, const char *key,
              struct names *names, struct callgrind_text identity,
              struct callgrind_text name, struct error *error)
{
	uint32_t n = names_count(names);
	uint32_t number = names_add(names, identity.bytes, identity.length,
	                            error);

	if (number == NO_NAME)
		return;
	text_add_format(&output->text, "%s=(%" PRIu32 ")", key, number + 1);
	if (number == n && name.length == 0) {
		text_add_string(&output->text, " [empty]");
		output->n_changed++;
	} else if (number == n) {
		text_add_char(&output->text, ' ');
		if (!callgrind_output_add_text(&output->text, name.bytes,
		                               name.length))
			output->n_changed++;
	}
	text_add_char(&output->text, '\n');
}

/* Unknown names are "???", as in callgrind's files. */
static void
callgrind_output_add_place(struct callgrind_output *output, const char *key,
                           struct names *names, struct callgrind_text name,
                           struct error *error)
{
	if (name.bytes == NULL)
		name = (struct callgrind_text){ "???", 3 };
	add_reference(output, key, names, name, name, error);
}

/* keys: of its object, file and name. */
static void
callgrind_output_add_function(struct callgrind_output *output,
                              const char *const keys[3],
                              const struct callgrind_function *function,
                              struct error *error)
{
	struct text_buffer *key = &output->key;
	struct callgrind_text identity;

	/* Functions of one name in different objects or files are distinct. */
	text_clear(key);
	text_add(key, function->object.bytes, function->object.length);
	text_add_char(key, '\n');
	text_add(key, function->file.bytes, function->file.length);
	text_add_char(key, '\n');
	text_add(key, function->name.bytes, function->name.length);
	identity = callgrind_text_made(key, error);
	if (error->is_set)
		return;
	if (output->profile->n_modules > 0)
		callgrind_output_add_place(output, keys[0], output->objects,
		                           function->object, error);
	callgrind_output_add_place(output, keys[1], output->files,
	                           function->file, error);
	add_reference(output, keys[2], output->functions, identity,
	              function->name, error);
}

/* Begins the lines of a function. */
static void
callgrind_output_function(struct callgrind_output *output,
                          const struct callgrind_function *function,
                          struct error *error)
{
	static const char *const keys[] = { "ob", "fl", "fn" };

	text_add_char(&output->text, '\n');
	callgrind_output_add_function(output, keys, function, error);
}

/* Begins lines of the same function in another file. */
static void
callgrind_output_file(struct callgrind_output *output, uint32_t file,
                      struct error *error)
{
	callgrind_output_add_place(output, "fi", output->files,
	    callgrind_text_of(output->profile->names, file), error);
}

/* Adds a line's own hits of each resource. */
static void
callgrind_output_hits(struct callgrind_output *output, uint32_t line,
                      const uint64_t *hits)
{
	text_add_format(&output->text, "%" PRIu32, line);
	callgrind_output_add_numbers(output, hits);
}

/*
 * Adds calls from a line; n_calls 0: unknown.  Then 1 is written if they have
 * costs, since callgrind_annotate adds the costs of 0 calls to the caller's
 * own.
 */
static void
callgrind_output_call(struct callgrind_output *output,
                      const struct callgrind_function *callee,
                      uint64_t n_calls, uint32_t line, const uint64_t *hits,
                      struct error *error)
{
	static const char *const keys[] = { "cob", "cfi", "cfn" };

	callgrind_output_add_function(output, keys, callee, error);
	for (uint32_t r = 0; r < output->profile->n_resources; r++)
		if (n_calls == 0 && hits[r] > 0)
			n_calls = 1;
	text_add_format(&output->text, "calls=%" PRIu64 " 0\n", n_calls);
	callgrind_output_hits(output, line, hits);
}

/* ---- the costs of stacks ---- */

#define NO_FUNCTION UINT32_MAX

struct cost_function {
	uint32_t module, name;	/* as in a frame and its location */
	uint32_t level;		/* 1 or 2 */
};

/* Hits of a function's line: own ones, or those of calls from there. */
struct cost {
	uint32_t function;
	uint32_t file;		/* a name, or NO_NAME */
	uint32_t line;
	uint32_t callee;	/* NO_FUNCTION: its own */
};

/* A location of a frame. */
struct costs_place {
	uint32_t outermost;	/* the function, with its level */
	uint32_t inner;
	uint32_t file, line;
};

/* The place of a call. */
struct caller {
	uint32_t function, file, line;
};

struct callgrind_costs {
	struct callgrind_output *output;
	struct names *functions;	/* struct cost_function */
	struct names *keys;		/* struct cost */
	uint64_t *hits;			/* [keys][n_resources] */
	size_t hits_capacity;
	uint32_t *files;		/* [functions] the first known file */
	size_t files_capacity;

	/* Used while costs are added up. */
	struct costs_place *places;		/* [n_locations] */
	uint32_t *n_active;		/* [functions], of the outermost kind:
					 * activations on the stack */
	struct caller *callers;		/* [deepest] innermost of each frame
					 * on the stack */
	uint64_t *sums;			/* of one resource */
};

static uint32_t
callgrind_costs_add_function(struct callgrind_costs *costs,
                             const struct frame *frame,
                             const struct location *location, uint32_t level,
                             struct error *error)
{
	struct cost_function key = { frame->module, location->function,
		level };
	uint32_t n = names_count(costs->functions);
	uint32_t number = names_add(costs->functions, (const char *)&key,
	                            sizeof key, error);

	if (number == NO_NAME ||
	    memory_grow(&costs->files, &costs->files_capacity, (size_t)n + 1,
	                sizeof *costs->files, error) != 0)
		return NO_NAME;
	if (number == n || costs->files[number] == NO_NAME)
		costs->files[number] = location->file;
	return number;
}

/* The places of a frame's locations, outermost first; *n of them. */
static const struct costs_place *
places_of(const struct callgrind_costs *costs, uint32_t label, uint32_t *n)
{
	const struct profile *profile = costs->output->profile;
	const struct frame *frame = &profile->frames[label];

	*n = frame_shown_locations(frame, costs->output->source->inlines);
	return &costs->places[frame->first_location];
}

static int
callgrind_costs_add_cost(struct callgrind_costs *costs, uint32_t resource,
                         const struct caller *caller, uint32_t callee,
                         uint64_t hits, struct error *error)
{
	struct cost key = { caller->function, caller->file, caller->line,
		callee };
	uint32_t n_resources = costs->output->profile->n_resources;
	uint32_t n = names_count(costs->keys);
	uint32_t number = names_add(costs->keys, (const char *)&key,
	                            sizeof key, error);
	uint64_t *count;

	if (number == NO_NAME ||
	    memory_grow(&costs->hits, &costs->hits_capacity,
	                ((size_t)n + 1) * n_resources,
	                sizeof *costs->hits, error) != 0)
		return -1;
	if (number == n)
		memset(&costs->hits[(size_t)n * n_resources], 0,
		       n_resources * sizeof *costs->hits);
	count = &costs->hits[(size_t)number * n_resources + resource];
	if (__builtin_add_overflow(*count, hits, count))
		return error_set(error, "the hits of recursive calls exceed 64 "
		                 "bits");
	return 0;
}

/* Takes the functions of a node's frame off the stack. */
static void
callgrind_costs_leave(struct callgrind_costs *costs, uint32_t node)
{
	uint32_t n;
	const struct costs_place *places = places_of(costs,
	    costs->output->profile->tree->label[node], &n);

	while (n-- > 0)
		costs->n_active[places[n].outermost]--;
}

/*
 * Adds the call of each function of the node, then what the innermost used
 * itself.
 */
static int
callgrind_costs_add_node(struct callgrind_costs *costs, uint32_t resource,
                         const struct stack_walk *walk, struct error *error)
{
	uint32_t node = walk->nodes[walk->depth - 1], n;
	const struct costs_place *places = places_of(costs,
	                                             walk->tree->label[node],
	                                             &n);
	struct caller *caller = walk->depth > 1 ?
	    &costs->callers[walk->depth - 2] : NULL;
	struct caller *own = &costs->callers[walk->depth - 1];

	for (uint32_t i = 0; i < n; i++) {
		bool is_inner = costs->n_active[places[i].outermost]++ > 0;
		uint32_t function = is_inner ? places[i].inner :
		                    places[i].outermost;

		if (caller != NULL &&
		    callgrind_costs_add_cost(costs, resource, caller, function,
		                             sample_tree_weight(walk->tree,
		                                                costs->sums,
		                                                node),
		                             error) != 0)
			return -1;
		*own = (struct caller){ function, places[i].file,
			                places[i].line };
		caller = own;
	}
	return callgrind_costs_add_cost(costs, resource, own, NO_FUNCTION,
	                                sample_tree_hits(walk->tree, resource,
	                                                 node),
	                                error);
}

static int
callgrind_costs_add_resource(struct callgrind_costs *costs, uint32_t resource,
                             struct error *error)
{
	const struct sample_tree *tree = costs->output->profile->tree;
	struct stack_walk walk = { .tree = tree };
	int result = stack_walk_begin(&walk, error);

	sample_tree_sum(tree, tree->hits[resource], costs->sums);
	for (uint32_t n = 0; result == 0 && n < tree->n_nodes; n++) {
		uint32_t parent = sample_tree_parent(tree, n);

		while (walk.depth > 0 && walk.nodes[walk.depth - 1] != parent)
			callgrind_costs_leave(costs, walk.nodes[--walk.depth]);
		stack_walk_to(&walk, n);
		result = callgrind_costs_add_node(costs, resource, &walk,
		                                  error);
		if (result == 0)
			result = export_may_go_on(n, costs->output->writer, error);
	}
	while (walk.depth > 0)
		callgrind_costs_leave(costs, walk.nodes[--walk.depth]);
	free(walk.nodes);
	return result;
}

/* Adds up all costs.  Time O(resources * nodes), memory O(costs + nodes). */
static int
callgrind_costs_add_up(struct callgrind_costs *costs, struct error *error)
{
	const struct profile *profile = costs->output->profile;

	costs->places = memory_array(profile->n_locations,
	                             sizeof *costs->places, error);
	costs->sums = memory_array((size_t)profile->tree->rows.n + 1,
	                           sizeof *costs->sums, error);
	if (costs->places == NULL || costs->sums == NULL)
		return -1;
	for (uint32_t f = 0; f < profile->n_frames; f++) {
		const struct frame *frame = &profile->frames[f];

		for (uint32_t i = 0; i < frame->n_locations; i++) {
			uint32_t at = frame->first_location + i;
			struct location *location = &profile->locations[at];

			costs->places[at] = (struct costs_place){
				callgrind_costs_add_function(costs, frame,
				                             location, 1,
				                             error),
				callgrind_costs_add_function(costs, frame,
				                             location, 2,
				                             error),
				location->file, location->line
			};
		}
	}
	if (error->is_set)
		return -1;
	costs->n_active = memory_array(names_count(costs->functions),
	                               sizeof *costs->n_active, error);
	costs->callers = memory_array(profile->tree->deepest,
	                              sizeof *costs->callers, error);
	if (costs->n_active == NULL || costs->callers == NULL)
		return -1;
	for (uint32_t r = 0; r < profile->n_resources; r++)
		if (callgrind_costs_add_resource(costs, r, error) != 0)
			return -1;
	return 0;
}

static struct cost
key_of(const struct callgrind_costs *costs, uint32_t number)
{
	struct cost key;

	memcpy(&key, names_text(costs->keys, number), sizeof key);
	return key;
}

/* By function, file and line, a line's own hits before its calls. */
static int
compare_costs(const void *a, const void *b, void *context)
{
	struct cost x = key_of(context, *(const uint32_t *)a);
	struct cost y = key_of(context, *(const uint32_t *)b);

	if (x.function != y.function)
		return x.function < y.function ? -1 : 1;
	if (x.file != y.file)
		return x.file < y.file ? -1 : 1;
	if (x.line != y.line)
		return x.line < y.line ? -1 : 1;
	return x.callee + 1 < y.callee + 1 ? -1 : x.callee + 1 > y.callee + 1;
}

/* The numbers from 0 to n - 1, sorted, the caller's to free. */
static uint32_t *
callgrind_sort(uint32_t n,
               int (*compare)(const void *a, const void *b, void *context),
               void *context, struct error *error)
{
	uint32_t *order = memory_array(n, sizeof *order, error);

	for (uint32_t i = 0; order != NULL && i < n; i++)
		order[i] = i;
	if (order != NULL && sort_items(order, n, sizeof *order, compare,
	                                context, error) == 0)
		return order;
	free(order);
	return NULL;
}

static struct callgrind_function
describe_function(struct callgrind_costs *costs, uint32_t number,
                  struct error *error)
{
	const struct profile *profile = costs->output->profile;
	struct text_buffer *text = &costs->output->name;
	struct callgrind_text object = { NULL, 0 }, name;
	struct cost_function key;

	memcpy(&key, names_text(costs->functions, number), sizeof key);
	if (key.module != NO_MODULE)
		object = (struct callgrind_text){
			profile->modules[key.module].path,
			strlen(profile->modules[key.module].path)
		};
	name = callgrind_text_of(profile->names, key.name);
	if (key.level > 1) {
		text_clear(text);
		text_add(text, name.bytes, name.length);
		text_add_format(text, "'%" PRIu32, key.level);
		name = callgrind_text_made(text, error);
	}
	return (struct callgrind_function){ object,
		callgrind_text_of(profile->names, costs->files[number]),
		name };
}

static int
write_costs(struct callgrind_costs *costs, const uint32_t *order,
            struct error *error)
{
	struct callgrind_output *output = costs->output;
	const size_t n = names_count(costs->keys);
	const size_t n_resources = output->profile->n_resources;
	uint32_t last = NO_FUNCTION, file = 0;

	for (size_t i = 0; i < n; i++) {
		const struct cost cost = key_of(costs, order[i]);
		const uint64_t *hits = costs->hits + order[i] * n_resources;
		struct callgrind_function function;

		if (cost.function != last) {
			function = describe_function(costs, cost.function,
			                             error);
			callgrind_output_function(output, &function, error);
			last = cost.function;
			file = costs->files[last];
		}
		if (cost.file != file)
			callgrind_output_file(output, cost.file, error);
		file = cost.file;
		if (cost.callee == NO_FUNCTION) {
			callgrind_output_hits(output, cost.line, hits);
		} else {
			function = describe_function(costs, cost.callee,
			                             error);
			callgrind_output_call(output, &function, 0, cost.line,
			                      hits, error);
		}
		if (callgrind_output_flush(output, error) != 0 ||
		    export_may_go_on((uint32_t)i, output->writer, error) != 0)
			return -1;
	}
	return 0;
}

static int
write_stacks(struct callgrind_output *output, struct error *error)
{
	struct callgrind_costs costs = { .output = output,
		.functions = names_new(error), .keys = names_new(error) };
	uint32_t *order = NULL;
	int result = -1;

	if (!error->is_set && callgrind_costs_add_up(&costs, error) == 0)
		order = callgrind_sort(names_count(costs.keys), compare_costs,
		                       &costs, error);
	if (order != NULL)
		result = write_costs(&costs, order, error);
	free(order);
	names_free(costs.functions);
	names_free(costs.keys);
	free(costs.hits);
	free(costs.files);
	free(costs.places);
	free(costs.n_active);
	free(costs.callers);
	free(costs.sums);
	return result;
}

/* ---- graphs ---- */

struct graph_writing {
	const struct call_graph *graph;
	struct callgrind_output *output;
	struct call_places *places;	/* the graph's, or made here */
	uint32_t *order;		/* [places->n] by node */
};

/* For a graph without places: puts every function at line 0 of its file. */
static int
make_places(const struct call_graph *graph, struct call_places *places,
            struct error *error)
{
	size_t row = graph->n_resources * sizeof *graph->hits;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		uint32_t at = call_places_at(places, (struct call_place){
			.node = i, .arc = NO_ARC,
			.file = graph->nodes[i].file }, error);

		if (at == UINT32_MAX)
			return -1;
		memcpy(call_places_hits(places, at),
		       call_graph_self(graph, i), row);
	}
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		uint32_t caller = graph->arcs[i].caller;
		uint32_t at = call_places_at(places, (struct call_place){
			.node = caller, .arc = i,
			.file = graph->nodes[caller].file }, error);

		if (at == UINT32_MAX)
			return -1;
		places->items[at].calls = graph->arcs[i].calls;
		memcpy(call_places_hits(places, at),
		       call_graph_hits(graph, i), row);
	}
	return 0;
}

/* What arcs used by gprof's rule; several can be one of the flow. */
static int
estimate_calls(const struct profile *profile, struct call_places *places,
               struct error *error)
{
	for (uint32_t r = 0; r < profile->n_resources; r++) {
		struct call_flow *flow = call_flow_new(profile->graph,
		    names_count(profile->names), r, false, error);

		if (flow == NULL)
			return -1;
		for (uint32_t i = 0; i < places->n; i++) {
			const struct call_place *place = &places->items[i];
			const struct flow_arc *arc;
			uint64_t *hits = &call_places_hits(places, i)[r];

			if (place->arc == NO_ARC)
				continue;
			*hits = 0;
			if (place->calls == 0 ||
			    flow->graph_arcs[place->arc] == UINT32_MAX)
				continue;
			arc = &flow->arcs[flow->graph_arcs[place->arc]];
			*hits = (uint64_t)(arc->hits *
			                   (long double)place->calls /
			                   (long double)arc->calls + 0.5L);
		}
		call_flow_free(flow);
	}
	return 0;
}

/* Sorts places by function, those in its own file first. */
static int
compare_places(const void *left, const void *right, void *context)
{
	const struct graph_writing *writing = context;
	const struct call_place *a =
	    &writing->places->items[*(const uint32_t *)left];
	const struct call_place *b =
	    &writing->places->items[*(const uint32_t *)right];
	uint32_t own = writing->graph->nodes[a->node].file;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->file != b->file)
		return a->file == own ? -1 : b->file == own ? 1 :
		    a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	/* NO_ARC comes first. */
	return a->arc + 1 < b->arc + 1 ? -1 : a->arc + 1 > b->arc + 1;
}

static struct callgrind_function
describe_node(const struct graph_writing *writing, uint32_t number,
              struct error *error)
{
	const struct names *names = writing->output->profile->names;
	const struct call_graph *graph = writing->graph;
	const struct call_node *node = &graph->nodes[number];
	struct text_buffer *name = &writing->output->name;
	struct callgrind_text part = callgrind_text_of(names, node->name);

	text_clear(name);
	text_add(name, part.bytes, part.length);
	if (node->level > 1)
		text_add_format(name, "'%" PRIu32, node->level);
	for (uint32_t i = 0; i < node->n_callers; i++) {
		part = callgrind_text_of(names,
		    graph->callers[node->first_caller + i]);
		text_add_char(name, '\'');
		text_add(name, part.bytes, part.length);
	}
	return (struct callgrind_function){
		callgrind_text_of(names, node->object),
		callgrind_text_of(names, node->file),
		callgrind_text_made(name, error)
	};
}

static int
write_nodes(const struct graph_writing *writing, struct error *error)
{
	const struct call_graph *graph = writing->graph;
	struct callgrind_output *output = writing->output;
	uint32_t next = 0;		/* of the sorted places */

	for (uint32_t node = 0; node < graph->n_nodes; node++) {
		struct callgrind_function function = describe_node(writing,
		                                                   node, error);
		uint32_t file = graph->nodes[node].file;

		callgrind_output_function(output, &function, error);
		for (; next < writing->places->n; next++) {
			uint32_t i = writing->order[next];
			const struct call_place *place =
			    &writing->places->items[i];
			const uint64_t *hits =
			    call_places_hits(writing->places, i);

			if (place->node != node)
				break;
			if (place->file != file)
				callgrind_output_file(output, place->file,
				                      error);
			file = place->file;
			if (place->arc == NO_ARC) {
				callgrind_output_hits(output, place->line,
				                      hits);
				continue;
			}
			function = describe_node(writing,
			    graph->arcs[place->arc].callee, error);
			callgrind_output_call(output, &function, place->calls,
			                      place->line, hits, error);
		}
		if (callgrind_output_flush(output, error) != 0 ||
		    export_may_go_on(node, output->writer, error) != 0)
			return -1;
	}
	return 0;
}

static int
write_graph(struct callgrind_output *output, struct error *error)
{
	const struct profile *profile = output->profile;
	struct graph_writing writing = { .graph = profile->graph,
		.output = output, .places = profile->graph->places };
	int result = 0;

	if (writing.places == NULL) {
		writing.places = call_places_new(profile->n_resources, error);
		if (writing.places == NULL ||
		    make_places(writing.graph, writing.places, error) != 0 ||
		    (!writing.graph->has_hits &&
		     estimate_calls(profile, writing.places, error) != 0))
			result = -1;
	}
	if (result == 0)
		writing.order = callgrind_sort(writing.places->n,
		                               compare_places, &writing,
		                               error);
	result = writing.order != NULL ? write_nodes(&writing, error) : -1;
	if (writing.places != profile->graph->places)
		call_places_free(writing.places);
	free(writing.order);
	return result;
}

/* ---- the whole ---- */

static int
callgrind_write(const struct export_source *source, struct writer *writer,
                uint64_t *n_changed, struct error *error)
{
	const struct profile *profile = source->profile;
	struct callgrind_output output = {
		.source = source,
		.profile = profile,
		.writer = writer,
		.objects = names_new(error),
		.files = names_new(error),
		.functions = names_new(error),
	};
	uint64_t *totals = memory_array(profile->n_resources, sizeof *totals,
	                                error);
	int result = -1;

	for (uint32_t r = 0; totals != NULL && r < profile->n_resources; r++)
		totals[r] = profile->tree == NULL ?
		    call_graph_total(profile->graph, r) :
		    sample_tree_total(profile->tree, profile->tree->hits[r]);
	if (!error->is_set) {
		callgrind_output_add_header(&output, totals);
		result = callgrind_output_flush(&output, error);
	}
	if (result == 0)
		result = profile->tree == NULL ? write_graph(&output, error) :
		         write_stacks(&output, error);
	if (result == 0) {
		text_add_string(&output.text, "\ntotals:");
		callgrind_output_add_numbers(&output, totals);
		result = callgrind_output_flush(&output, error);
	}
	*n_changed = output.n_changed;
	names_free(output.objects);
	names_free(output.files);
	names_free(output.functions);
	text_free(&output.text);
	text_free(&output.key);
	text_free(&output.name);
	free(totals);
	return result;
}

const struct exporter exporter_callgrind = {
	.summary = "functions and calls for KCachegrind",
	.holds_graphs = true,
	.carries = EXPORT_RESOURCES | EXPORT_UNITS | EXPORT_LINES,
	.write = callgrind_write,
};
