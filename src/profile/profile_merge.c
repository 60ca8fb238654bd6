/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_merge.c -- the sum of several profiles.
 *
 * Everything is entered into an empty profile.  First comes what nodes refer
 * to, with a map from each addend's numbers to those of the sum; then the nodes
 * themselves, through one tree builder, which shares equal stacks.  Outermost
 * frames of different threads stay separate.  If the addends have graphs,
 * call_graph.h does the second part.
 */
#include "src/profile/profile_merge.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/call_graph.h"
#include "src/profile/fleet.h"
#include "src/profile/profile.h"
#include "src/profile/sections.h"

enum { NODES_A_STEP = 65536 };

/* The sum while inputs are added. */
struct merge {
	struct profile *sum;
	struct tree_builder *builder;		/* or */
	struct call_graph_sum *graph;
	struct frame_union *frames;
	bool has_sections;
	bool has_times;			/* of an input so far */
	uint64_t origin_ns;		/* of all of these; 0: they differ */
};

/* Maps from an addend's numbers to those of the sum. */
struct maps {
	uint32_t *column, *module, *frame, *thread, *label_set, *node;
	uint64_t *factor;	/* a hit of a column in hits of the sum, which
				 * has gticks where intervals differ */
};

/* ---- processes and threads ---- */

/*
 * Which entries of the sum may be a part of a process whose other part comes
 * in another profile: those that continue, and beginnings.
 */
struct partial {
	uint32_t *processes;	/* [n] sorted by start and number */
	uint32_t n;
	uint32_t *main_threads;	/* [n_processes] NO_THREAD: none, or it is
				 * joined already */
};

static bool
is_partial(const struct process *process)
{
	return process->continues || process->is_beginning;
}

static int
profile_merge_compare_processes(const struct process *a,
                                const struct process *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static int
profile_merge_compare_numbers(const void *a, const void *b, void *sum)
{
	const struct process *processes = ((struct profile *)sum)->processes;
	const uint32_t *x = a, *y = b;

	return profile_merge_compare_processes(&processes[*x], &processes[*y]);
}

/* Looks only if entries of `from` may be the other parts of some. */
static int
partial_find(struct partial *partial, struct profile *sum,
             const struct profile *from, struct error *error)
{
	bool is_wanted = false;

	*partial = (struct partial){ .n = 0 };
	for (uint32_t i = 0; i < from->n_processes; i++)
		is_wanted |= is_partial(&from->processes[i]);
	if (!is_wanted || sum->n_processes == 0)
		return 0;
	partial->processes = memory_array(sum->n_processes,
	    sizeof *partial->processes, error);
	partial->main_threads = memory_array(sum->n_processes,
	    sizeof *partial->main_threads, error);
	if (partial->processes == NULL || partial->main_threads == NULL)
		return -1;
	for (uint32_t i = 0; i < sum->n_processes; i++) {
		partial->main_threads[i] = NO_THREAD;
		if (is_partial(&sum->processes[i]))
			partial->processes[partial->n++] = i;
	}
	for (uint32_t i = sum->n_threads; i-- > 0;) {
		uint32_t process = sum->threads[i].process;

		if (process < sum->n_processes &&
		    sum->threads[i].tid == sum->processes[process].pid)
			partial->main_threads[process] = i;
	}
	return sort_items(partial->processes, partial->n,
	                  sizeof *partial->processes,
	                  profile_merge_compare_numbers, sum, error);
}

/* The entry of the sum that is the other part of a process, or NO_PROCESS. */
static uint32_t
other_part(const struct partial *partial, const struct profile *sum,
           const struct process *process)
{
	const uint32_t at = (uint32_t)partition_point(partial->n, i,
	    profile_merge_compare_processes(
	        &sum->processes[partial->processes[i]], process) < 0);
	const struct process *found;

	if (!is_partial(process) || at == partial->n)
		return NO_PROCESS;
	found = &sum->processes[partial->processes[at]];
	if (profile_merge_compare_processes(found, process) != 0 ||
	    (process->is_beginning ? !found->continues :
	     !found->is_beginning))
		return NO_PROCESS;
	return partial->processes[at];
}

/*
 * Adds the processes, except where the sum has the other part; process_map:
 * their numbers in the sum.
 */
static int
merge_processes(struct profile *sum, const struct profile *from,
                const struct partial *partial, uint32_t *process_map,
                struct error *error)
{
	for (uint32_t i = 0; i < from->n_processes; i++) {
		const struct process *process = &from->processes[i];
		uint32_t known = other_part(partial, sum, process);

		if (known != NO_PROCESS && process->is_beginning) {
			sum->processes[known].continues = false;
			process_map[i] = known;
			continue;
		}
		process_map[i] = profile_add_process(sum, process, error);
		if (process_map[i] == UINT32_MAX)
			return -1;
		if (known == NO_PROCESS)
			continue;
		/* A beginning is followed by its process, whose facts count
		 * from then on. */
		sum->processes[known] = sum->processes[process_map[i]];
		sum->processes[known].continues = false;
		sum->n_processes--;
		process_map[i] = known;
	}
	return 0;
}

/*
 * Adds the threads.  The first one of a process is that of its other part, whose
 * facts are those of the part that continues.  n_processes: how many the sum had
 * before.
 */
static int
merge_threads(struct profile *sum, const struct profile *from,
              const struct partial *partial, const uint32_t *process_map,
              uint32_t n_processes, uint32_t *thread_map, struct error *error)
{
	for (uint32_t i = 0; i < from->n_threads; i++) {
		struct thread thread = from->threads[i];
		const bool is_known = thread.process < from->n_processes;
		const bool continues = is_known &&
		    from->processes[thread.process].continues;
		uint32_t joined = NO_THREAD;

		thread.process = is_known ? process_map[thread.process] :
		                 NO_PROCESS;
		if (thread.process < n_processes)
			joined = partial->main_threads[thread.process];
		if (joined != NO_THREAD &&
		    thread.tid != sum->threads[joined].tid)
			joined = NO_THREAD;
		if (joined != NO_THREAD)
			partial->main_threads[thread.process] = NO_THREAD;
		thread_map[i] = joined;
		if (joined != NO_THREAD && !continues)
			continue;
		thread_map[i] = profile_add_thread(sum, &thread, error);
		if (thread_map[i] == UINT32_MAX)
			return -1;
		if (joined == NO_THREAD)
			continue;
		sum->threads[joined] = sum->threads[thread_map[i]];
		sum->n_threads--;
		thread_map[i] = joined;
	}
	return 0;
}

static int
merge_processes_and_threads(struct profile *sum, const struct profile *from,
                            uint32_t *thread_map, struct error *error)
{
	uint32_t *process_map = memory_array(from->n_processes,
	                                     sizeof *process_map, error);
	uint32_t n_processes = sum->n_processes;
	struct partial partial;
	int result = -1;

	if (partial_find(&partial, sum, from, error) == 0 &&
	    process_map != NULL &&
	    merge_processes(sum, from, &partial, process_map, error) == 0)
		result = merge_threads(sum, from, &partial, process_map,
		                       n_processes, thread_map, error);
	free(partial.processes);
	free(partial.main_threads);
	free(process_map);
	return result;
}

/* ---- what nodes refer to ---- */

/* The sum's number of a name, which may be NO_NAME. */
static uint32_t
profile_merge_copy_name(struct merge *merge, const struct profile *from,
                        uint32_t name, struct error *error)
{
	if (name == NO_NAME)
		return NO_NAME;
	return names_add(merge->sum->names, names_text(from->names, name),
	                 names_length(from->names, name), error);
}

static int
merge_modules_and_frames(struct merge *merge, const struct profile *from,
                         struct maps *maps, struct error *error)
{
	if (frame_union_begin(merge->frames, from, error) != 0)
		return -1;
	for (uint32_t i = 0; i < from->n_modules; i++)
		if (frame_union_module(merge->frames, &from->modules[i],
		                       &maps->module[i], error) != 0)
			return -1;
	for (uint32_t i = 0; i < from->n_frames; i++)
		if (frame_union_frame(merge->frames, from, i, maps->module,
		                      &maps->frame[i], error) != 0)
			return -1;
	return 0;
}

/* left_out: the key of labels that the sum does not have, or NULL. */
static int
merge_label_sets(struct merge *merge, const struct profile *from,
                 const char *left_out, uint32_t *label_set_map,
                 struct error *error)
{
	struct label *labels = memory_array(from->n_labels, sizeof *labels,
	                                    error);

	if (labels == NULL)
		return -1;
	for (uint32_t i = 0; i < from->n_label_sets && !error->is_set; i++) {
		const struct label_set *set = &from->label_sets[i];
		uint32_t n = 0;

		for (uint32_t k = 0; k < set->n; k++) {
			const struct label *old = &from->labels[set->first +
			                                        k];

			if (left_out != NULL && strcmp(left_out,
			    names_text(from->names, old->key)) == 0)
				continue;
			labels[n++] = (struct label){
				.key = profile_merge_copy_name(merge, from,
				                               old->key, error),
				.value = profile_merge_copy_name(merge, from,
				                                 old->value,
				                                 error),
				.unit = profile_merge_copy_name(merge, from,
				                                old->unit,
				                                error),
			};
		}
		label_set_map[i] = profile_add_label_set(merge->sum, labels, n,
		                                         error);
	}
	free(labels);
	return error->is_set ? -1 : 0;
}

static int
merge_tallies_and_warnings(struct profile *sum, const struct profile *from,
                           struct error *error)
{
	for (uint32_t i = 0; i < from->n_tallies; i++)
		if (profile_copy_tally(sum, &from->tallies[i], error) != 0)
			return -1;
	for (uint32_t i = 0; i < from->n_warnings; i++)
		if (profile_warn(sum, error, "%s", from->warnings[i]) != 0)
			return -1;
	return 0;
}

static int
merge_counts(struct merge *merge, const struct addend *from, uint32_t node,
             const struct maps *maps, struct error *error)
{
	const struct sample_tree *tree = from->tree;

	for (uint32_t c = 0; c < from->n; c++) {
		uint32_t column = from->columns[c].column;
		uint64_t hits = sample_tree_hits(tree, column, node);
		uint64_t samples = sample_tree_samples(tree, column, node);

		if (hits == 0 && samples == 0)
			continue;
		if (__builtin_mul_overflow(hits, maps->factor[c], &hits))
			return error_set(error, "the sum of %s exceeds 64 "
			                 "bits", merge->sum->resources[
			                 maps->column[c]].name);
		if (tree_builder_add(merge->builder, maps->node[node],
		                     maps->column[c], hits, samples,
		                     error) != 0)
			return -1;
	}
	return tree->returns == NULL ? 0 :
	    tree_builder_add_returns(merge->builder, maps->node[node],
	                             tree->returns[node], error);
}

/*
 * Adds when the hits were counted.  Times count from the start of each
 * recording, so a sum of several recordings has no origin.
 */
static int
merge_times(struct merge *merge, const struct addend *from, uint32_t node,
            const struct maps *maps, struct error *error)
{
	const struct sample_tree *tree = from->tree;
	const struct timeline *timeline = tree->timeline;
	const uint32_t row = sample_tree_row(tree, node);

	for (size_t i = timeline->first[row]; i < timeline->first[row + 1];
	     i++)
		for (uint32_t c = 0; c < from->n; c++) {
			const uint32_t column = from->columns[c].column;
			const uint64_t hits = timeline->hits[column][i];
			const uint64_t samples = timeline->samples[column][i];

			/* The product fits, since the row's did. */
			if ((hits != 0 || samples != 0) &&
			    tree_builder_add_time(merge->builder,
			        maps->node[node], maps->column[c],
			        timeline->slice[i] * timeline->width_ns,
			        timeline->width_ns, hits * maps->factor[c],
			        samples, error) != 0)
				return -1;
		}
	return 0;
}

static void
merge_origin(struct merge *merge, const struct timeline *timeline)
{
	if (timeline == NULL)
		return;
	if (merge->has_times && timeline->origin_ns != merge->origin_ns)
		merge->origin_ns = 0;
	else
		merge->origin_ns = timeline->origin_ns;
	merge->has_times = true;
	tree_builder_set_origin(merge->builder, merge->origin_ns);
}

static int
merge_nodes(struct merge *merge, const struct addend *from, uint32_t begin,
            uint32_t end, const struct maps *maps, struct error *error)
{
	const struct sample_tree *tree = from->tree;

	for (uint32_t n = begin; n < end; n++) {
		uint32_t parent = sample_tree_parent(tree, n);

		if (parent != NO_NODE)
			parent = maps->node[parent];
		maps->node[n] = tree_builder_child(merge->builder, parent,
		                                   maps->frame[tree->label[n]],
		                                   error);
		if (maps->node[n] == NO_NODE ||
		    merge_counts(merge, from, n, maps, error) != 0 ||
		    (tree->timeline != NULL && sample_tree_has_row(tree, n) &&
		     merge_times(merge, from, n, maps, error) != 0) ||
		    (n % NODES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
	}
	return 0;
}

/* Another tree than the profile's has no sections. */
static uint32_t
addend_sections(const struct addend *addend)
{
	return addend->tree == addend->profile->tree ?
	       addend->profile->n_sections : 0;
}

static int
merge_section(struct merge *merge, const struct addend *from,
              const struct section *section, const struct maps *maps,
              struct error *error)
{
	uint32_t first = tree_builder_begin_section(merge->builder), number;
	uint32_t thread = section->thread, label_set = section->label_set;

	if (section->begin == section->end)
		return 0;
	if (merge_nodes(merge, from, section->begin, section->end, maps,
	                error) != 0)
		return -1;
	number = profile_add_section(merge->sum, first,
	    tree_builder_count(merge->builder),
	    thread == NO_THREAD ? NO_THREAD : maps->thread[thread], error);
	if (number == UINT32_MAX)
		return -1;
	merge->sum->sections[number].label_set = label_set == NO_LABELS ?
	    NO_LABELS : maps->label_set[label_set];
	return 0;
}

/* Nodes outside all sections get sections without a thread. */
static int
merge_sections(struct merge *merge, const struct addend *from,
               const struct maps *maps, struct error *error)
{
	struct section between = { 0, 0, NO_THREAD, NO_LABELS };
	uint32_t n = addend_sections(from);

	for (uint32_t i = 0; i < n; i++) {
		const struct section *section = &from->profile->sections[i];

		between.end = section->begin;
		if (merge_section(merge, from, &between, maps, error) != 0 ||
		    merge_section(merge, from, section, maps, error) != 0)
			return -1;
		between.begin = section->end;
	}
	between.end = from->tree->n_nodes;
	return merge_section(merge, from, &between, maps, error);
}

/* ---- sections as columns ---- */

/* Nodes that count in one column. */
struct merge_part {
	uint32_t begin, end, column;
	uint32_t thread, label_set;	/* in the sum */
};

/* By what tells them apart in the sum. */
static int
profile_merge_compare_parts(const void *a, const void *b, void *context)
{
	const struct merge_part *x = a, *y = b;

	(void)context;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->label_set != y->label_set)
		return x->label_set < y->label_set ? -1 : 1;
	return 0;
}

/*
 * Fills the parts that count, for which there is room; returns how many.  What
 * lies between sections is without thread and labels.
 */
static size_t
find_parts(const struct addend *from, const struct maps *maps,
           struct merge_part *parts)
{
	const struct section_columns *split = from->split;
	const uint32_t n_sections = from->profile->n_sections;
	uint32_t done = 0;
	size_t n = 0;

	for (uint32_t i = 0; i <= n_sections; i++) {
		const struct section *section = i < n_sections ?
		    &from->profile->sections[i] : NULL;
		struct merge_part part = { done,
			section != NULL ? section->begin : from->tree->n_nodes,
			split->column[n_sections], NO_THREAD, NO_LABELS };

		if (part.begin < part.end && part.column != NO_RESOURCE)
			parts[n++] = part;
		if (section == NULL)
			break;
		part.begin = section->begin;
		part.end = done = section->end;
		part.column = split->column[i];
		if (split->keeps_sections && section->thread != NO_THREAD)
			part.thread = maps->thread[section->thread];
		if (split->keeps_sections && section->label_set != NO_LABELS)
			part.label_set = maps->label_set[section->label_set];
		if (part.begin < part.end && part.column != NO_RESOURCE)
			parts[n++] = part;
	}
	return n;
}

/* Parts that nothing tells apart become one section of the sum. */
static int
merge_split(struct merge *merge, const struct addend *from,
            const struct maps *maps, struct error *error)
{
	struct merge_part *parts = memory_array(
	    2 * (size_t)from->profile->n_sections + 1, sizeof *parts, error);
	const size_t n = parts != NULL ? find_parts(from, maps, parts) : 0;
	int result = parts == NULL ? -1 : sort_items(parts, n, sizeof *parts,
	    profile_merge_compare_parts, NULL, error);

	for (size_t i = 0; result == 0 && i < n;) {
		const struct merge_part *first = &parts[i];
		uint32_t begin = tree_builder_begin_section(merge->builder);
		uint32_t number;

		for (; result == 0 && i < n && profile_merge_compare_parts(
		         first, &parts[i], NULL) == 0; i++) {
			const uint32_t column = parts[i].column;
			struct addend one = *from;
			struct maps own = *maps;

			one.columns += column;
			one.n = 1;
			own.column += column;
			own.factor += column;
			result = merge_nodes(merge, &one, parts[i].begin,
			                     parts[i].end, &own, error);
		}
		if (result != 0)
			break;
		number = profile_add_section(merge->sum, begin,
		    tree_builder_count(merge->builder), first->thread, error);
		if (number != UINT32_MAX)
			merge->sum->sections[number].label_set =
			    first->label_set;
		else
			result = -1;
	}
	free(parts);
	return result;
}

static int
merge_graph(struct merge *merge, const struct addend *from,
            const struct maps *maps, struct error *error)
{
	struct summed_resource *resources = memory_array(from->n,
	    sizeof *resources, error);
	int result;

	if (resources == NULL)
		return -1;
	for (uint32_t c = 0; c < from->n; c++)
		resources[c] = (struct summed_resource){
			from->columns[c].column, maps->column[c],
			maps->factor[c] };
	result = call_graph_sum_add(merge->graph, from->profile->graph,
	                            from->profile->names, resources, from->n,
	                            error);
	free(resources);
	return result;
}

/* What nodes refer to is entered; adds the counts. */
static int
merge_hits(struct merge *merge, const struct addend *addend,
           struct maps *maps, struct error *error)
{
	for (uint32_t c = 0; c < addend->n; c++) {
		const struct resource *from = &addend->profile->resources[
		    addend->columns[c].resource];
		struct resource *to = &merge->sum->resources[maps->column[c]];

		maps->factor[c] = from->interval == to->interval ? 1 :
		                  from->interval;
		/* Of sections, nobody knows in which one it was lost. */
		if (addend->split == NULL)
			merge_add_losses(to, from->lost, maps->factor[c]);
	}
	if (merge->graph != NULL)
		return merge_graph(merge, addend, maps, error);
	merge_origin(merge, addend->tree->timeline);
	if (addend->split != NULL)
		return merge_split(merge, addend, maps, error);
	if (merge->has_sections)
		return merge_sections(merge, addend, maps, error);
	return merge_nodes(merge, addend, 0, addend->tree->n_nodes, maps,
	                   error);
}

static int
merge_one(struct merge *merge, const struct addend *addend,
          struct error *error)
{
	const struct profile *from = addend->profile;
	struct maps maps = {
		.column = memory_array(addend->n, sizeof(uint32_t), error),
		.factor = memory_array(addend->n, sizeof(uint64_t), error),
		.module = memory_array(from->n_modules, sizeof(uint32_t),
		                       error),
		.frame = memory_array(from->n_frames, sizeof(uint32_t), error),
		.thread = memory_array(from->n_threads, sizeof(uint32_t),
		                       error),
		.label_set = memory_array(from->n_label_sets, sizeof(uint32_t),
		                          error),
		.node = memory_array(addend->tree == NULL ? 0 :
		                     addend->tree->n_nodes, sizeof(uint32_t),
		                     error),
	};
	int result = -1;

	if (!error->is_set &&
	    merge_map_columns(merge->sum, addend, maps.column, error) == 0 &&
	    merge_modules_and_frames(merge, from, &maps, error) == 0 &&
	    merge_processes_and_threads(merge->sum, from, maps.thread,
	                                error) == 0 &&
	    merge_label_sets(merge, from, addend->split != NULL ?
	                     addend->split->key : NULL, maps.label_set,
	                     error) == 0 &&
	    merge_tallies_and_warnings(merge->sum, from, error) == 0 &&
	    observed_calls_merge(merge->sum, from, error) == 0)
		result = merge_hits(merge, addend, &maps, error);
	free(maps.column);
	free(maps.factor);
	free(maps.module);
	free(maps.frame);
	free(maps.thread);
	free(maps.label_set);
	free(maps.node);
	return result;
}

static int
merge_all(struct merge *merge, const struct addend *addends, uint32_t n,
          struct error *error)
{
	merge->sum = profile_new(error);
	if (merge->sum == NULL)
		return -1;
	merge->frames = frame_union_new(merge->sum, true, error);
	if (merge->frames == NULL ||
	    merge_resources(merge->sum, addends, n, error) != 0)
		return -1;
	if (addends[0].tree == NULL)
		merge->graph = call_graph_sum_new(merge->sum->names,
		                                  merge->sum->n_resources,
		                                  error);
	else
		merge->builder = tree_builder_new(merge->sum->n_resources,
		                                  error);
	if (error->is_set)
		return -1;
	merge->sum->was_recorded_here = true;
	for (uint32_t i = 0; i < n; i++) {
		struct error why = { 0 };

		if (!addends[i].profile->was_recorded_here)
			merge->sum->was_recorded_here = false;
		if (progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (merge_one(merge, &addends[i], &why) != 0)
			return interrupt_requested || why.is_out_of_memory ?
			    error_pass(error, &why) :
			    error_set(error, "%s: cannot merge: %s",
			              profile_title(addends[i].profile),
			              why.text);
		merge->sum->n_files += addends[i].profile->n_files;
	}
	if (merge->graph != NULL)
		merge->sum->graph = call_graph_sum_take(merge->graph, error);
	else
		merge->sum->tree = tree_builder_finish(merge->builder, error);
	return error->is_set ? -1 : profile_link_levels(merge->sum, error);
}

/*
 * Checks that the inputs can be added: stacks, arcs with costs and arcs
 * without cannot be mixed.
 */
static int
profile_merge_check_kinds(const struct addend *addends, uint32_t n,
                          struct error *error)
{
	bool are_graphs = addends[0].tree == NULL;
	const struct call_graph *first = NULL;	/* the first that has arcs */

	for (uint32_t i = 0; i < n; i++) {
		const struct call_graph *graph = addends[i].profile->graph;
		const char *name = profile_title(addends[i].profile);

		if (!are_graphs && graph != NULL)
			return error_set(error, "%s: cannot merge: calls "
			                 "without stacks, the others have "
			                 "stacks", name);
		if (are_graphs && graph == NULL)
			return error_set(error, "%s: cannot merge: stacks, "
			                 "the others have calls without "
			                 "stacks", name);
		if (graph == NULL || graph->n_arcs == 0)
			continue;
		if (first == NULL)
			first = graph;
		if (graph->has_hits != first->has_hits)
			return error_set(error, "%s: cannot merge: some files "
			                 "have costs of calls, others only "
			                 "their numbers", name);
	}
	return 0;
}

struct profile *
profile_add_up(const struct addend *addends, uint32_t n, struct error *error)
{
	struct merge merge = { 0 };
	struct profile *sum = NULL;

	if (profile_merge_check_kinds(addends, n, error) != 0)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		if (addend_sections(&addends[i]) > 0)
			merge.has_sections = true;
	if (merge_all(&merge, addends, n, error) == 0) {
		sum = merge.sum;
		merge.sum = NULL;
	}
	profile_free(merge.sum);
	tree_builder_free(merge.builder);
	call_graph_sum_free(merge.graph);
	frame_union_free(merge.frames);
	return sum;
}

/* Adds up all columns of the profiles, each as what it is. */
struct profile *
profile_merge(struct profile *const *profiles, uint32_t n,
              struct error *error)
{
	struct addend *addends = memory_array(n, sizeof *addends, error);
	struct counted_column *columns, *next;
	struct profile *sum = NULL;
	size_t n_columns = 0;

	for (uint32_t i = 0; i < n; i++)
		n_columns += profiles[i]->n_resources;
	columns = next = memory_array(n_columns, sizeof *columns, error);
	if (!error->is_set) {
		for (uint32_t i = 0; i < n; i++) {
			const struct profile *from = profiles[i];

			addends[i] = (struct addend){ profiles[i], from->tree,
				next, from->n_resources, NULL };
			for (uint32_t r = 0; r < from->n_resources; r++)
				*next++ = (struct counted_column){
					r, r, from->resources[r].part };
		}
		sum = profile_add_up(addends, n, error);
	}
	free(addends);
	free(columns);
	return sum;
}
