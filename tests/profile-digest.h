/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile-digest.h -- one number for all that a profile says.
 *
 * Profiles that say the same have the same digest, however their names are
 * numbered.
 */
#ifndef TESTS_PROFILE_DIGEST_H
#define TESTS_PROFILE_DIGEST_H

#include <stdint.h>
#include <string.h>

#include "src/profile/call_graph.h"
#include "src/profile/profile.h"

#define DIGEST_START 0xcbf29ce484222325

static inline uint64_t
digest_number(uint64_t digest, uint64_t number)
{
	digest = (digest ^ number) * 0x9e3779b97f4a7c15;
	return digest ^ digest >> 29;
}

static inline uint64_t
digest_bytes(uint64_t digest, const void *bytes, size_t n)
{
	const unsigned char *byte = bytes;

	digest = digest_number(digest, n);
	for (size_t i = 0; i < n; i++)
		digest = (digest ^ byte[i]) * 0x100000001b3;
	return digest;
}

/* NULL and "" are not the same. */
static inline uint64_t
digest_text(uint64_t digest, const char *text)
{
	return text == NULL ? digest_number(digest, UINT64_MAX) :
	       digest_bytes(digest, text, strlen(text));
}

static inline uint64_t
digest_name(uint64_t digest, const struct names *names, uint32_t name)
{
	return name == NO_NAME ? digest_number(digest, UINT64_MAX) :
	       digest_bytes(digest, names_text(names, name),
	                    names_length(names, name));
}

/* When the hits of a node were counted. */
static inline uint64_t
digest_times(uint64_t digest, const struct timeline *timeline, uint32_t row)
{
	for (size_t i = timeline->first[row]; i < timeline->first[row + 1];
	     i++) {
		digest = digest_number(digest, timeline->slice[i]);
		for (uint32_t r = 0; r < timeline->n_resources; r++) {
			digest = digest_number(digest, timeline->hits[r][i]);
			digest = digest_number(digest,
			                       timeline->samples[r][i]);
		}
	}
	return digest;
}

static inline uint64_t
digest_frames(uint64_t digest, const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->n_modules; i++) {
		const struct module *module = &profile->modules[i];

		digest = digest_text(digest, module->path);
		digest = digest_bytes(digest, module->build_id,
		                      module->build_id_size);
		digest = digest_number(digest, module->file_size);
		digest = digest_number(digest, module->file_mtime_ns);
	}
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		digest = digest_number(digest, frame->address);
		digest = digest_number(digest, frame->module);
		digest = digest_number(digest, frame->function_offset);
		digest = digest_number(digest, frame->placeholder);
		digest = digest_number(digest, frame->is_made_up);
		digest = digest_number(digest, frame->has_debug_lines);
		for (uint32_t j = 0; j < frame->n_locations; j++) {
			const struct location *location =
			    &profile->locations[frame->first_location + j];

			digest = digest_name(digest, profile->names,
			                     location->function);
			digest = digest_name(digest, profile->names,
			                     location->file);
			digest = digest_number(digest, location->line);
		}
	}
	return digest;
}

static inline uint64_t
digest_threads(uint64_t digest, const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->n_processes; i++) {
		const struct process *process = &profile->processes[i];

		digest = digest_number(digest, process->pid);
		digest = digest_number(digest, process->parent_pid);
		digest = digest_text(digest, process->program);
		digest = digest_text(digest, process->command);
		digest = digest_text(digest, process->host);
		digest = digest_number(digest, process->start_ns);
		digest = digest_number(digest, process->end_ns);
		digest = digest_number(digest, process->is_running);
		digest = digest_number(digest, process->cpu_ns);
		digest = digest_number(digest, process->sampling_ns);
	}
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		digest = digest_number(digest, profile->threads[i].process);
		digest = digest_number(digest, profile->threads[i].tid);
		digest = digest_text(digest, profile->threads[i].name);
	}
	for (uint32_t i = 0; i < profile->n_sections; i++) {
		digest = digest_number(digest, profile->sections[i].begin);
		digest = digest_number(digest, profile->sections[i].end);
		digest = digest_number(digest, profile->sections[i].thread);
	}
	return digest;
}

static inline uint64_t
digest_facts(uint64_t digest, const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->n_resources; i++) {
		const struct resource *resource = &profile->resources[i];

		digest = digest_text(digest, resource->name);
		digest = digest_text(digest, resource->gtick);
		digest = digest_number(digest, resource->interval);
		digest = digest_text(digest, resource->source);
		for (int loss = 0; loss < N_LOSSES; loss++)
			digest = digest_number(digest, resource->lost[loss]);
	}
	for (uint32_t i = 0; i < profile->n_tallies; i++) {
		digest = digest_text(digest, profile->tallies[i].what);
		digest = digest_number(digest, profile->tallies[i].count);
		digest = digest_number(digest, profile->tallies[i].loss);
	}
	for (uint32_t i = 0; i < profile->n_warnings; i++)
		digest = digest_text(digest, profile->warnings[i]);
	return digest;
}

static inline uint64_t
digest_tree(uint64_t digest, const struct sample_tree *tree)
{
	for (uint32_t n = 0; n < tree->n_nodes; n++) {
		digest = digest_number(digest, sample_tree_parent(tree, n));
		digest = digest_number(digest, tree->label[n]);
		for (uint32_t i = 0; i < tree->n_resources; i++) {
			digest = digest_number(digest,
			                       sample_tree_hits(tree, i, n));
			digest = digest_number(digest,
			    sample_tree_samples(tree, i, n));
		}
		if (tree->returns != NULL)
			digest = digest_number(digest, tree->returns[n]);
		if (tree->timeline != NULL)
			digest = digest_times(digest, tree->timeline,
			                      sample_tree_row(tree, n));
	}
	if (tree->timeline != NULL) {
		digest = digest_number(digest, tree->timeline->origin_ns);
		digest = digest_number(digest, tree->timeline->width_ns);
		digest = digest_number(digest, tree->timeline->n_slices);
	}
	return digest;
}

static inline uint64_t
digest_graph(uint64_t digest, const struct call_graph *graph,
             const struct names *names)
{
	uint32_t n = graph->n_resources;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		const struct call_node *node = &graph->nodes[i];

		digest = digest_name(digest, names, node->name);
		digest = digest_name(digest, names, node->object);
		digest = digest_name(digest, names, node->file);
		digest = digest_number(digest, node->level);
		digest = digest_number(digest, node->n_callers);
		digest = digest_number(digest, node->is_part);
		digest = digest_bytes(digest, call_graph_self(graph, i),
		                      n * sizeof(uint64_t));
	}
	for (uint32_t i = 0; i < graph->n_arcs; i++) {
		digest = digest_number(digest, graph->arcs[i].caller);
		digest = digest_number(digest, graph->arcs[i].callee);
		digest = digest_number(digest, graph->arcs[i].calls);
		digest = digest_bytes(digest, call_graph_hits(graph, i),
		                      n * sizeof(uint64_t));
	}
	return digest;
}

static inline uint64_t
digest_of_profile(const struct profile *profile)
{
	uint64_t digest = digest_frames(DIGEST_START, profile);

	digest = digest_threads(digest, profile);
	digest = digest_facts(digest, profile);
	return profile->tree != NULL ? digest_tree(digest, profile->tree) :
	       digest_graph(digest, profile->graph, profile->names);
}

#endif
