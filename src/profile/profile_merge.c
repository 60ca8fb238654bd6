/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile_merge.c -- the sum of several profiles.
 *
 * Everything is entered into an empty profile.  First comes what nodes refer
 * to, with a map from each input's numbers to those of the sum; then the nodes
 * themselves, through one tree builder, which shares equal stacks.  Outermost
 * frames of different threads stay separate.  If the inputs have graphs,
 * call_graph.h does the second part.
 */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/profile/call_graph.h"
#include "src/profile/fleet.h"
#include "src/profile/profile.h"
#include "src/profile/profile_merge.h"
#include "src/profile/sections.h"

enum { NODES_A_STEP = 65536 };

/* The sum while inputs are added. */
struct merge {
	struct profile *sum;
	struct tree_builder *builder;		/* or */
	struct call_graph_sum *graph;
	struct frame_union *frames;
	bool has_sections;
	const struct section_columns *split;	/* NULL: sections are added up */
	bool has_times;			/* of an input so far */
	uint64_t origin_ns;		/* of all of these; 0: they differ */
};

/* Maps from an input's numbers to those of the sum. */
struct maps {
	uint32_t *resource, *module, *frame, *thread, *label_set, *node;
};

static void
merge_free(struct merge *merge)
{
	profile_free(merge->sum);
	tree_builder_free(merge->builder);
	call_graph_sum_free(merge->graph);
	frame_union_free(merge->frames);
}

static void
maps_free(struct maps *maps)
{
	free(maps->resource);
	free(maps->module);
	free(maps->frame);
	free(maps->thread);
	free(maps->label_set);
	free(maps->node);
}

/*
 * Which entries of a profile may be a part of a process whose other part comes
 * in another profile: those that continue, and beginnings.
 */
struct partial {
	const struct profile *profile;
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
profile_merge_compare_numbers(const void *a, const void *b, void *profile)
{
	const struct process *processes = ((struct profile *)profile)->processes;

	return profile_merge_compare_processes(&processes[*(const uint32_t *)a],
	                                       &processes[*(
						   const uint32_t *)b]);
}

/* Looks only if entries of `from` may be the other parts of some. */
static int
partial_find(struct partial *partial, const struct profile *sum,
             const struct profile *from, struct error *error)
{
	bool is_wanted = false;

	*partial = (struct partial){ .profile = sum };
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
	                  profile_merge_compare_numbers, (void *)sum, error);
}

static void
partial_free(struct partial *partial)
{
	free(partial->processes);
	free(partial->main_threads);
}

/* The entry that is the other part of a process; NO_PROCESS: none is. */
static uint32_t
other_part(const struct partial *partial, const struct process *process)
{
	const struct process *processes = partial->profile->processes;
	uint32_t low = 0, high = partial->n;

	if (!is_partial(process))
		return NO_PROCESS;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t found = partial->processes[middle];
		int order = profile_merge_compare_processes(&processes[found],
		                                            process);

		if (order == 0)
			return (process->is_beginning ?
			        processes[found].continues :
			        processes[found].is_beginning) ?
			    found : NO_PROCESS;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NO_PROCESS;
}

/* A beginning is followed by its process, whose facts count from then on. */
static int
replace_process(struct profile *sum, uint32_t beginning,
                const struct process *process, struct error *error)
{
	const uint32_t last = profile_add_process(sum, process, error);

	if (last == UINT32_MAX)
		return -1;
	sum->processes[beginning] = sum->processes[last];
	sum->processes[beginning].continues = false;
	sum->n_processes--;
	return 0;
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
		uint32_t found = other_part(partial, process);

		if (found == NO_PROCESS)
			found = profile_add_process(sum, process, error);
		else if (process->is_beginning)
			sum->processes[found].continues = false;
		else if (replace_process(sum, found, process, error) != 0)
			return -1;
		if (found == UINT32_MAX)
			return -1;
		process_map[i] = found;
	}
	return 0;
}

/*
 * Joins the first thread of a process to that of its other part, and keeps the
 * facts of the part that continues; NO_THREAD: it is another one.
 */
static uint32_t
join_thread(struct profile *sum, const struct partial *partial,
            const struct thread *thread, bool continues, struct error *error)
{
	const uint32_t joined = partial->main_threads[thread->process];
	uint32_t last;

	if (joined == NO_THREAD || thread->tid != sum->threads[joined].tid)
		return NO_THREAD;
	partial->main_threads[thread->process] = NO_THREAD;
	if (!continues)
		return joined;
	last = profile_add_thread(sum, thread, error);
	if (last != UINT32_MAX) {
		sum->threads[joined] = sum->threads[last];
		sum->n_threads--;
	}
	return joined;
}

/* n_processes: how many the sum had before. */
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

		thread.process = is_known ? process_map[thread.process] :
		                 NO_PROCESS;
		thread_map[i] = thread.process < n_processes ?
		    join_thread(sum, partial, &thread, continues, error) :
		    NO_THREAD;
		if (thread_map[i] == NO_THREAD)
			thread_map[i] = profile_add_thread(sum, &thread,
			                                   error);
		if (thread_map[i] == UINT32_MAX || error->is_set)
			return -1;
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
	partial_free(&partial);
	free(process_map);
	return result;
}

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

/* Whether the sum has no such label, as it is known by the column. */
static bool
is_left_out(const struct merge *merge, const struct profile *from,
            const struct label *label)
{
	return merge->split != NULL &&
	    strcmp(names_text(from->names, label->key),
	           merge->split->key) == 0;
}

static int
merge_label_sets(struct merge *merge, const struct profile *from,
                 uint32_t *label_set_map, struct error *error)
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

			if (is_left_out(merge, from, old))
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

/* Adds what was lost, in the sum's unit. */
static void
merge_losses(struct profile *sum, const struct profile *from,
             const uint32_t *resource_map)
{
	for (uint32_t r = 0; r < from->n_resources; r++) {
		const struct resource *resource = &from->resources[r];
		struct resource *to = &sum->resources[resource_map[r]];

		for (int loss = 0; loss < N_LOSSES; loss++) {
			uint64_t hits = resource->lost[loss];

			if (!loss_kinds[loss].counts_samples &&
			    to->interval != resource->interval &&
			    __builtin_mul_overflow(hits, resource->interval,
			                           &hits))
				hits = UINT64_MAX;
			if (__builtin_add_overflow(to->lost[loss], hits,
			                           &to->lost[loss]))
				to->lost[loss] = UINT64_MAX;
		}
	}
}

/* Converts hits to the sum's unit: gticks where intervals differ. */
static int
merge_counts(struct merge *merge, const struct profile *from, uint32_t node,
             const struct maps *maps, struct error *error)
{
	const struct sample_tree *tree = from->tree;

	for (uint32_t r = 0; r < tree->n_resources; r++) {
		const struct resource *to =
		    &merge->sum->resources[maps->resource[r]];
		uint64_t hits = sample_tree_hits(tree, r, node);
		uint64_t samples = sample_tree_samples(tree, r, node);

		if (to->interval != from->resources[r].interval &&
		    __builtin_mul_overflow(hits, from->resources[r].interval,
		                           &hits))
			return error_set(error, "the sum of %s exceeds 64 "
			                 "bits", to->name);
		if ((hits != 0 || samples != 0) &&
		    tree_builder_add(merge->builder, maps->node[node],
		                     maps->resource[r], hits, samples,
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
merge_times(struct merge *merge, const struct profile *from, uint32_t node,
            const struct maps *maps, struct error *error)
{
	const struct sample_tree *tree = from->tree;
	const struct timeline *timeline = tree->timeline;
	const uint32_t row = tree->row[node];

	for (size_t i = timeline->first[row]; i < timeline->first[row + 1];
	     i++)
		for (uint32_t r = 0; r < tree->n_resources; r++) {
			const uint64_t interval =
			    from->resources[r].interval;
			uint64_t hits = timeline->hits[r][i];

			if (merge->sum->resources[maps->resource[r]].interval !=
			    interval)
				hits *= interval;	/* the row's fit */
			if ((hits != 0 || timeline->samples[r][i] != 0) &&
			    tree_builder_add_time(merge->builder,
			        maps->node[node], maps->resource[r],
			        timeline->slice[i] * timeline->width_ns,
			        timeline->width_ns, hits,
			        timeline->samples[r][i], error) != 0)
				return -1;
		}
	return 0;
}

static void
merge_origin(struct merge *merge, const struct profile *from)
{
	const struct timeline *timeline = from->tree->timeline;

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
merge_nodes(struct merge *merge, const struct profile *from, uint32_t begin,
            uint32_t end, const struct maps *maps, struct error *error)
{
	const struct sample_tree *tree = from->tree;

	for (uint32_t n = begin; n < end; n++) {
		uint32_t parent = tree->parent[n];

		if (parent != NO_NODE)
			parent = maps->node[parent];
		maps->node[n] = tree_builder_child(merge->builder, parent,
		                                   maps->frame[tree->label[n]],
		                                   error);
		if (maps->node[n] == NO_NODE ||
		    merge_counts(merge, from, n, maps, error) != 0 ||
		    (tree->timeline != NULL && tree->row[n] != 0 &&
		     merge_times(merge, from, n, maps, error) != 0) ||
		    (n % NODES_A_STEP == 0 &&
		     progress_step(NULL, 0, 0, error) != 0))
			return -1;
	}
	return 0;
}

static int
merge_section(struct merge *merge, const struct profile *from,
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
merge_sections(struct merge *merge, const struct profile *from,
               const struct maps *maps, struct error *error)
{
	struct section between = { 0, 0, NO_THREAD, NO_LABELS };

	for (uint32_t i = 0; i < from->n_sections; i++) {
		const struct section *section = &from->sections[i];

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

static void
profile_merge_add_part(const struct merge *merge, uint32_t section,
                       uint32_t begin, uint32_t end, struct merge_part *parts,
                       size_t *n)
{
	uint32_t column = merge->split->column[section];

	if (begin < end && column != NO_RESOURCE)
		parts[(*n)++] = (struct merge_part){ begin, end, column,
			                             NO_THREAD, NO_LABELS };
}

/* The parts that count, of which there is room for 2 n_sections + 1. */
static size_t
find_parts(const struct merge *merge, const struct profile *from,
           const struct maps *maps, struct merge_part *parts)
{
	uint32_t done = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < from->n_sections; i++) {
		const struct section *section = &from->sections[i];
		size_t before;

		profile_merge_add_part(merge, from->n_sections, done,
		                       section->begin, parts, &n);
		before = n;
		profile_merge_add_part(merge, i, section->begin, section->end,
		                       parts, &n);
		done = section->end;
		if (n == before || !merge->split->keeps_sections)
			continue;
		if (section->thread != NO_THREAD)
			parts[before].thread = maps->thread[section->thread];
		if (section->label_set != NO_LABELS)
			parts[before].label_set =
			    maps->label_set[section->label_set];
	}
	profile_merge_add_part(merge, from->n_sections, done,
	                       from->tree->n_nodes, parts, &n);
	return n;
}

/* Parts that nothing tells apart, as one section of the sum. */
static int
merge_alike(struct merge *merge, const struct profile *from,
            const struct merge_part *parts, size_t n, const struct maps *maps,
            struct error *error)
{
	uint32_t first = tree_builder_begin_section(merge->builder), number;

	for (size_t i = 0; i < n; i++) {
		struct maps own = *maps;

		/* The tree's only resource is that of the column. */
		own.resource = &maps->resource[parts[i].column];
		if (merge_nodes(merge, from, parts[i].begin, parts[i].end,
		                &own, error) != 0)
			return -1;
	}
	number = profile_add_section(merge->sum, first,
	    tree_builder_count(merge->builder), parts->thread, error);
	if (number == UINT32_MAX)
		return -1;
	merge->sum->sections[number].label_set = parts->label_set;
	return 0;
}

static int
split_sections(struct merge *merge, const struct profile *from,
               const struct maps *maps, struct error *error)
{
	struct merge_part *parts = memory_array(2 * (size_t)from->n_sections +
	                                            1,
	                                        sizeof *parts, error);
	size_t n = 0;
	int result = -1;

	if (parts != NULL) {
		n = find_parts(merge, from, maps, parts);
		result = sort_items(parts, n, sizeof *parts,
		                    profile_merge_compare_parts, NULL, error);
	}
	for (size_t begin = 0, end; result == 0 && begin < n; begin = end) {
		for (end = begin + 1; end < n &&
		     profile_merge_compare_parts(&parts[begin], &parts[end],
		                                 NULL) == 0;)
			end++;
		result = merge_alike(merge, from, parts + begin, end - begin,
		                     maps, error);
	}
	free(parts);
	return result;
}

static int
maps_alloc(struct maps *maps, const struct profile *from, struct error *error)
{
	maps->resource = memory_array(from->n_resources, sizeof(uint32_t),
	                              error);
	maps->module = memory_array(from->n_modules, sizeof(uint32_t), error);
	maps->frame = memory_array(from->n_frames, sizeof(uint32_t), error);
	maps->thread = memory_array(from->n_threads, sizeof(uint32_t), error);
	maps->label_set = memory_array(from->n_label_sets, sizeof(uint32_t),
	                               error);
	maps->node = memory_array(from->tree == NULL ? 0 :
	                          from->tree->n_nodes, sizeof(uint32_t),
	                          error);
	return error->is_set ? -1 : 0;
}

static int
merge_graph(struct merge *merge, const struct profile *from,
            const uint32_t *resource_map, struct error *error)
{
	uint64_t *factor = memory_array(from->n_resources, sizeof *factor,
	                                error);
	int result;

	if (factor == NULL)
		return -1;
	for (uint32_t r = 0; r < from->n_resources; r++) {
		uint64_t interval = from->resources[r].interval;

		factor[r] = interval == merge->sum->resources[
		    resource_map[r]].interval ? 1 : interval;
	}
	result = call_graph_sum_add(merge->graph, from->graph, from->names,
	                            resource_map, factor, error);
	free(factor);
	return result;
}

static int
merge_stacks(struct merge *merge, const struct profile *from,
             const struct maps *maps, struct error *error)
{
	merge_origin(merge, from);
	if (merge->split != NULL)
		return split_sections(merge, from, maps, error);
	if (merge->has_sections)
		return merge_sections(merge, from, maps, error);
	return merge_nodes(merge, from, 0, from->tree->n_nodes, maps, error);
}

static int
merge_one(struct merge *merge, const struct profile *from,
          struct error *error)
{
	struct maps maps = { 0 };
	int result = -1;

	if (maps_alloc(&maps, from, error) == 0 &&
	    merge_map_resources(merge->sum, from, maps.resource,
	                        error) == 0 &&
	    merge_modules_and_frames(merge, from, &maps, error) == 0 &&
	    merge_processes_and_threads(merge->sum, from, maps.thread,
	                                error) == 0 &&
	    merge_label_sets(merge, from, maps.label_set, error) == 0 &&
	    merge_tallies_and_warnings(merge->sum, from, error) == 0) {
		merge_losses(merge->sum, from, maps.resource);
		result = merge->graph != NULL ?
		         merge_graph(merge, from, maps.resource, error) :
		         merge_stacks(merge, from, &maps, error);
	}
	maps_free(&maps);
	return result;
}

static int
merge_all(struct merge *merge, struct profile *const *profiles, uint32_t n,
          struct error *error)
{
	merge->sum = profile_new(error);
	if (merge->sum == NULL)
		return -1;
	merge->frames = frame_union_new(merge->sum, error);
	if (merge->frames == NULL ||
	    merge_resources(merge->sum, profiles, n, error) != 0)
		return -1;
	if (profiles[0]->graph != NULL)
		merge->graph = call_graph_sum_new(merge->sum->names,
		                                  merge->sum->n_resources,
		                                  error);
	else
		merge->builder = tree_builder_new(merge->sum->n_resources,
		                                  error);
	if (error->is_set)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		struct error why = { 0 };

		if (progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (merge_one(merge, profiles[i], &why) != 0)
			return interrupt_requested || why.is_out_of_memory ?
			    error_pass(error, &why) :
			    error_set(error, "%s: cannot merge: %s",
			              profile_title(profiles[i]), why.text);
		merge->sum->n_files += profiles[i]->n_files;
	}
	if (merge->graph != NULL)
		merge->sum->graph = call_graph_sum_take(merge->graph, error);
	else
		merge->sum->tree = tree_builder_finish(merge->builder, error);
	return error->is_set ? -1 : 0;
}

/*
 * Checks that the inputs can be added: stacks, arcs with costs and arcs
 * without cannot be mixed.
 */
static int
profile_merge_check_kinds(struct profile *const *profiles, uint32_t n,
                          struct error *error)
{
	bool are_graphs = profiles[0]->graph != NULL;
	const struct call_graph *first = NULL;	/* the first that has arcs */

	for (uint32_t i = 0; i < n; i++) {
		const struct call_graph *graph = profiles[i]->graph;
		const char *name = profile_title(profiles[i]);

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
profile_merge(struct profile *const *profiles, uint32_t n,
              struct error *error)
{
	struct merge merge = { 0 };
	struct profile *sum = NULL;

	if (profile_merge_check_kinds(profiles, n, error) != 0)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		if (profiles[i]->n_sections > 0)
			merge.has_sections = true;
	if (merge_all(&merge, profiles, n, error) == 0) {
		sum = merge.sum;
		merge.sum = NULL;
	}
	merge_free(&merge);
	return sum;
}

struct profile *
profile_split(struct profile *profile, const struct section_columns *split,
              struct error *error)
{
	struct merge merge = { .has_sections = true, .split = split };
	struct profile *sum = NULL;

	if (merge_all(&merge, &profile, 1, error) == 0) {
		sum = merge.sum;
		merge.sum = NULL;
	}
	merge_free(&merge);
	return sum;
}
