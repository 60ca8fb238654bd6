/* SPDX-License-Identifier: GPL-3.0-or-later */
/* firefox_tree.c -- the threads of a Firefox profile as a sample tree.
 *
 * Each thread is a section.  The tree is built with the labels of
 * firefox.h; at the end the profile gets all frames, and labels become
 * theirs.
 */
#include "src/formats/firefox/firefox.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"

/* Charges, or rows, between two checks for an interrupt. */
enum { CHARGES_A_STEP = 1 << 14, ROWS_A_STEP = 1 << 14 };

struct firefox_kind {
	const char *name, *gtick;
};

/* Resources, by what weights and CPU deltas are. */
static const struct firefox_kind weights[N_FIREFOX_WEIGHTS] = {
	[WEIGHT_SAMPLES] = { "samples", "" },
	[WEIGHT_TIME] = { "time", "nanosecond" },
	[WEIGHT_BYTES] = { "bytes", "byte" },
};

static const struct firefox_kind cpu_units[N_CPU_UNITS] = {
	[CPU_UNKNOWN] = { "cpu", "" },
	[CPU_NS] = { "cpu", "nanosecond" },
	[CPU_US] = { "cpu", "nanosecond" },
	[CPU_CYCLES] = { "cpu-cycles", "cycle" },
};

/* A table of stacks.  Starts with zeroes. */
struct firefox_stacks {
	struct frame_tables tables;
	uint32_t *parent, *label;	/* [rows.n] */
	struct stack_rows rows;
};

struct firefox_tree {
	struct reader *reader;
	const struct firefox_tables *shared;
	const struct firefox_meta *meta;
	struct json_reader *json;
	struct firefox_frames *frames;
	struct firefox_stacks common;		/* of the shared tables */
	bool has_common;
	uint32_t n_merged;			/* threads in the last section */
	struct names *pids;			/* process i, by its text */
	uint32_t resources[N_FIREFOX_WEIGHTS];	/* + 1; 0: none yet */
	uint32_t cpu;				/* likewise */
	uint64_t n_samples, n_rounded;
};

/* ---- a table of stacks ---- */

static void
stacks_free(struct firefox_stacks *stacks)
{
	frame_tables_free(&stacks->tables);
	stack_rows_free(&stacks->rows);
	free(stacks->parent);
	free(stacks->label);
}

/* The callers' rows, of either form; 0, or -1 with the error set. */
static int
make_parents(struct firefox_stacks *stacks, struct json_reader *json,
             uint32_t n)
{
	const struct index_column *offsets =
	    &stacks->tables.frames->stack_offset;
	const struct index_column *prefixes =
	    &stacks->tables.frames->stack_prefix;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t back;

		if (prefixes->n > 0) {
			stacks->parent[i] = prefixes->values[i];
			if (prefixes->values[i] != NO_CELL &&
			    prefixes->values[i] >= n)
				return index_column_fail(prefixes, json,
				    "stackTable.prefix", i, n);
			continue;
		}
		back = offsets->values[i];
		if (back != NO_CELL && back > i)
			return index_column_fail(offsets, json,
			    "stackTable.prefixOffset", i, n);
		stacks->parent[i] = back == NO_CELL || back == 0 ? NO_ROW :
		                    i - back;
	}
	return 0;
}

static int
firefox_tree_make_labels(struct firefox_stacks *stacks,
                         struct firefox_frames *frames,
                         struct json_reader *json, uint32_t n,
                         struct error *error)
{
	const struct index_column *rows = &stacks->tables.frames->stack_frame;
	size_t n_frames = stacks->tables.frames->frame_function.n;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = rows->values[i];

		if (i % ROWS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (row < n_frames)
			stacks->label[i] = firefox_frames_label(frames,
			    &stacks->tables, row, error);
		else if (json_is_cut_short(json))
			stacks->label[i] = firefox_frames_add_name(frames,
			    "[unknown]", error);
		else
			return index_column_fail(rows, json,
			    "stackTable.frame", i, n_frames);
		if (error->is_set)
			return -1;
	}
	return 0;
}

/*
 * Begins with the stacks of a thread, or of the shared tables; they and all
 * that they refer to must have been read.  If the input is cut, only complete
 * rows; otherwise an invalid row is an error.
 */
static int
stacks_begin(struct firefox_stacks *stacks, struct firefox_frames *frames,
             const struct firefox_tables *tables, struct json_reader *json,
             struct error *error)
{
	size_t n = tables->stack_frame.n;
	size_t n_callers = tables->stack_prefix.n > 0 ?
	                   tables->stack_prefix.n : tables->stack_offset.n;

	if (n != n_callers && !json_is_cut_short(json)) {
		json_fail(json, tables->stack_frame.offset,
		          "%zu stacks have %zu callers", n, n_callers);
		return -1;
	}
	if (n > n_callers)
		n = n_callers;
	if (n >= NO_ROW)
		return error_set(error, "more than 4,294,967,294 stacks");
	stacks->parent = memory_array(n, sizeof *stacks->parent, error);
	stacks->label = memory_array(n, sizeof *stacks->label, error);
	stacks->rows = (struct stack_rows){ .parent = stacks->parent,
		.label = stacks->label, .n = (uint32_t)n };
	return !error->is_set &&
		frame_tables_begin(&stacks->tables, frames, tables, error) ==
		    0 &&
		make_parents(stacks, json, (uint32_t)n) == 0 &&
		firefox_tree_make_labels(stacks, frames, json, (uint32_t)n,
	                                 error) == 0 ?
	    0 :
	    -1;
}

/* ---- threads ---- */

struct firefox_tree *
firefox_tree_new(struct reader *reader, const struct firefox_tables *shared,
                 const struct firefox_meta *meta, struct json_reader *json,
                 struct error *error)
{
	struct firefox_tree *tree = memory_array(1, sizeof *tree, error);

	if (tree == NULL)
		return NULL;
	tree->reader = reader;
	tree->shared = shared;
	tree->meta = meta;
	tree->json = json;
	tree->frames = firefox_frames_new(reader->profile, shared, json,
	                                  reader->options->modules, error);
	tree->pids = names_new(error);
	if (!error->is_set)
		return tree;
	firefox_tree_free(tree);
	return NULL;
}

void
firefox_tree_free(struct firefox_tree *tree)
{
	if (tree == NULL)
		return;
	stacks_free(&tree->common);
	firefox_frames_free(tree->frames);
	names_free(tree->pids);
	free(tree);
}

uint64_t
firefox_tree_count(const struct firefox_tree *tree)
{
	return tree->n_samples;
}

/* ---- samples ---- */

static uint32_t
need_weight(struct firefox_tree *tree, enum firefox_weight weight,
            struct error *error)
{
	const char *gtick = weights[weight].gtick;
	uint64_t interval = 1;

	if (weight == WEIGHT_SAMPLES && tree->meta->interval_ns > 0) {
		gtick = "nanosecond";
		interval = tree->meta->interval_ns;
	}
	return reader_need_resource(tree->reader, &tree->resources[weight],
	    weights[weight].name, gtick, interval, error);
}

static uint32_t
need_cpu(struct firefox_tree *tree, struct error *error)
{
	const struct firefox_kind *kind = &cpu_units[tree->meta->cpu_unit];

	return reader_need_resource(tree->reader, &tree->cpu, kind->name,
	                            kind->gtick, 1, error);
}

/* The node of a stack; NO_NODE with *error set. */
static uint32_t
firefox_tree_find_node(struct firefox_tree *tree, struct firefox_stacks *stacks,
                       const struct firefox_thread *thread, uint32_t stack,
                       struct error *error)
{
	struct stack_rows *rows = &stacks->rows;
	bool is_cut_short = tree->reader->is_cut_short;
	struct error why = { 0 };
	uint32_t node, label;

	if (stack == NO_CELL || (stack >= rows->n && is_cut_short)) {
		label = firefox_frames_add_name(tree->frames,
		    stack == NO_CELL ? "[no stack]" : "[unknown]", error);
		return label == NO_LABEL ? NO_NODE :
		       reader_child(tree->reader, NO_NODE, label, error);
	}
	if (stack >= rows->n)
		json_fail(tree->json, thread->offset, "a sample of stack %"
		          PRIu32 " of %" PRIu32, stack, rows->n);
	else if (reader_enter_row(tree->reader, rows, stack, &node,
	                          &why) != 0)
		json_pass(tree->json, stacks->tables.frames->stack_frame.offset,
		          &why);
	else
		return node;
	return NO_NODE;
}

/* The hits of a sum of weights, or of CPU deltas. */
static uint64_t
hits_of_weight(const struct firefox_thread *thread, uint64_t weight)
{
	if (thread->weight == WEIGHT_TIME)
		return weight;
	return weight / WEIGHT_ONE + (weight % WEIGHT_ONE >= WEIGHT_ONE / 2);
}

static uint64_t
hits_of_cpu(const struct firefox_tree *tree, uint64_t cpu)
{
	return tree->meta->cpu_unit == CPU_US ? cpu : cpu / DELTA_ONE;
}

static int
add_charge(struct firefox_tree *tree, const struct firefox_thread *thread,
           const struct firefox_charge *charge, uint32_t node,
           struct error *error)
{
	const uint64_t cpu = hits_of_cpu(tree, charge->cpu);
	uint32_t resource = need_weight(tree, thread->weight, error);

	if (thread->weight != WEIGHT_TIME)
		tree->n_rounded += charge->weight % WEIGHT_ONE != 0;
	if (resource == NO_RESOURCE ||
	    reader_add_hits(tree->reader, node, resource,
	                    hits_of_weight(thread, charge->weight),
	                    charge->n_samples, error) != 0)
		return -1;
	tree->n_samples += charge->n_samples;
	if (cpu == 0)
		return 0;
	resource = need_cpu(tree, error);
	return resource != NO_RESOURCE &&
	    reader_add_hits(tree->reader, node, resource, cpu,
	                    charge->n_samples, error) == 0 ? 0 : -1;
}

/* Notes resources of which the thread has numbers below zero. */
static int
note_below_zero(struct firefox_tree *tree, const struct firefox_thread *thread,
                struct error *error)
{
	uint32_t resource;

	if (thread->weight_below_zero != 0) {
		resource = need_weight(tree, thread->weight, error);
		if (resource == NO_RESOURCE ||
		    reader_note_below_zero(tree->reader, resource,
		        thread->weight_below_zero - 1, error) != 0)
			return -1;
	}
	if (thread->cpu_below_zero == 0)
		return 0;
	resource = need_cpu(tree, error);
	return resource != NO_RESOURCE ?
	    reader_note_below_zero(tree->reader, resource,
	                           thread->cpu_below_zero - 1, error) : -1;
}

/* A charge that was added, and the sum of its samples so far. */
struct added {
	uint32_t node;
	uint64_t weight, cpu;
};

/*
 * Notes when the samples were taken.  Sums are rounded as those of the charges
 * are, so that what a sample adds to its sum has its time.
 */
static int
firefox_tree_add_times(struct firefox_tree *tree,
                       const struct firefox_thread *thread, struct added *added,
                       struct error *error)
{
	const uint32_t resource = tree->resources[thread->weight] - 1;

	for (size_t i = 0; i < thread->n_samples; i++) {
		const struct firefox_sample *sample = &thread->samples[i];
		struct added *sum = &added[sample->charge];
		const uint64_t weight = hits_of_weight(thread, sum->weight);
		const uint64_t cpu = hits_of_cpu(tree, sum->cpu);

		if (i % CHARGES_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		sum->weight += sample->weight;
		sum->cpu += sample->cpu;
		if (sample->time_ns == NO_TIME)
			continue;
		if (reader_add_time(tree->reader, sum->node, resource,
		        sample->time_ns,
		        hits_of_weight(thread, sum->weight) - weight, 1,
		        error) != 0 ||
		    (hits_of_cpu(tree, sum->cpu) > cpu &&
		     reader_add_time(tree->reader, sum->node, tree->cpu - 1,
		        sample->time_ns, hits_of_cpu(tree, sum->cpu) - cpu, 1,
		        error) != 0))
			return -1;
	}
	return 0;
}

static int
add_all_charges(struct firefox_tree *tree, const struct firefox_thread *thread,
                struct firefox_stacks *stacks, struct added *added,
                struct error *error)
{
	for (size_t i = 0; i < thread->n_charges; i++) {
		const struct firefox_charge *charge = &thread->charges[i];
		struct error why = { 0 };
		uint32_t node = firefox_tree_find_node(tree, stacks, thread,
		                                       charge->stack, error);

		if (node == NO_NODE || (i % CHARGES_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0))
			return -1;
		if (add_charge(tree, thread, charge, node, &why) != 0) {
			json_pass(tree->json, thread->offset, &why);
			return -1;
		}
		added[i].node = node;
	}
	return firefox_tree_add_times(tree, thread, added, error);
}

static int
add_charges(struct firefox_tree *tree, const struct firefox_thread *thread,
            struct firefox_stacks *stacks, struct error *error)
{
	struct added *added = memory_array(thread->n_charges, sizeof *added,
	                                   error);
	int result = added == NULL ||
	    add_all_charges(tree, thread, stacks, added, error) != 0 ||
	    note_below_zero(tree, thread, error) != 0 ? -1 : 0;

	free(added);
	return result;
}

/* ---- threads ---- */

static uint64_t
firefox_tree_number_of(const char *text)
{
	return text != NULL ? strtoull(text, NULL, 10) : 0;
}

/* The process of a thread, made if new; UINT32_MAX with *error set. */
static uint32_t
firefox_tree_find_process(struct firefox_tree *tree,
                          const struct firefox_thread *thread,
                          struct error *error)
{
	const char *pid = thread->pid != NULL ? thread->pid : "";
	uint32_t n = names_count(tree->pids);
	uint32_t number = names_add(tree->pids, pid, strlen(pid), error);
	struct process process = {
		.pid = firefox_tree_number_of(pid),
		.program = thread->process_name != NULL ?
		    thread->process_name : tree->meta->product,
		.start_ns = tree->meta->start_ns,
	};

	if (number == NO_NAME)
		return UINT32_MAX;
	return number < n ? number :
	       profile_add_process(tree->reader->profile, &process, error);
}

static int
firefox_tree_add_thread(struct firefox_tree *tree,
                        const struct firefox_thread *from,
                        struct firefox_stacks *stacks, struct error *error)
{
	struct reader *reader = tree->reader;
	struct thread thread = { .tid = firefox_tree_number_of(from->tid),
		.name = from->name,
		.process = firefox_tree_find_process(tree, from, error) };

	if (thread.process == UINT32_MAX)
		return -1;
	reader->thread = profile_add_thread(reader->profile, &thread, error);
	if (reader->thread == NO_THREAD ||
	    add_charges(tree, from, stacks, error) != 0)
		return -1;
	stack_rows_reset(&stacks->rows);
	return 0;
}

/*
 * Each thread gets its own nodes for the stacks that it shares with others, so
 * a small file could ask for any number of nodes.  When there are half as many
 * as it may have, all further threads share one set of nodes.
 */
static int
add_shared_thread(struct firefox_tree *tree,
                  const struct firefox_thread *thread, struct error *error)
{
	if (!tree->has_common &&
	    stacks_begin(&tree->common, tree->frames, tree->shared,
	                         tree->json, error) != 0)
		return -1;
	tree->has_common = true;
	if (tree->n_merged == 0 && reader_count_nodes(tree->reader) <
	    source_most_nodes(tree->reader->source) / 2)
		return firefox_tree_add_thread(tree, thread, &tree->common,
		                               error);
	tree->n_merged++;
	tree->reader->thread = NO_THREAD;
	return add_charges(tree, thread, &tree->common, error);
}

int
firefox_tree_add(struct firefox_tree *tree,
                 const struct firefox_thread *thread, struct error *error)
{
	struct firefox_stacks own = { .parent = NULL };
	int result;

	if (!thread->tables.has_stacks)
		return add_shared_thread(tree, thread, error);
	result = stacks_begin(&own, tree->frames, &thread->tables,
	                              tree->json, error);
	if (result == 0)
		result = firefox_tree_add_thread(tree, thread, &own, error);
	stacks_free(&own);
	return result;
}

/* ---- the end ---- */

static int
firefox_tree_warn(struct firefox_tree *tree, struct error *error)
{
	if (tree->n_merged > 0 &&
	    reader_warn(tree->reader, error, "the last %" PRIu32 " threads are "
	                "shown as one: the file has too many that share their "
	                "stacks", tree->n_merged) != 0)
		return -1;
	return tree->n_rounded == 0 ? 0 :
	    reader_warn(tree->reader, error, "stacks whose weights were "
	                "rounded to whole numbers: %" PRIu64, tree->n_rounded);
}

int
firefox_tree_finish(struct firefox_tree *tree, struct error *error)
{
	uint32_t *frames = NULL;
	int result = -1;

	if (firefox_tree_warn(tree, error) == 0)
		frames = firefox_frames_finish(tree->frames, error);
	if (frames != NULL &&
	    reader_finish_stacks(tree->reader, NULL, error) == 0) {
		struct sample_tree *samples = tree->reader->profile->tree;

		for (uint32_t i = 0; i < samples->n_nodes; i++)
			samples->label[i] = frames[samples->label[i]];
		result = reader_drop_below_zero(tree->reader, NULL, error);
	}
	free(frames);
	return result;
}
