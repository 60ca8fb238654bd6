/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code.c -- the profile's stacks as places in its code. */
#include "src/shell/session/session.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/profile/large_array.h"
#include "src/profile/sample_tree.h"
#include "src/profile/sections.h"

void
code_free(struct code *code)
{
	sample_tree_free(code->tree);
	large_array_free(code->section);
	node_numbers_free(&code->rows);
	large_array_free(code->label);
	tree_time_free(code->timed);
	large_array_free(code->sums);
	free(code->frame);
	call_flow_free(code->flow);
	*code = (struct code){ 0 };
}

/*
 * The chains of sample_tree_spread: a frame's locations follow each other, so
 * each chain is a range of numbers.
 */
static int
chain_locations(const struct profile *profile, bool has_inlines,
                uint32_t **first, uint32_t **labels, uint32_t *frame,
                struct error *error)
{
	uint32_t n = 0;
	size_t n_labels = 0;

	for (uint32_t i = 0; i < profile->n_locations; i++)
		frame[i] = UINT32_MAX;
	for (uint32_t i = 0; i < profile->n_frames; i++)
		n_labels += profile->frames[i].n_locations;
	*first = memory_array((size_t)profile->n_frames + 1, sizeof **first,
	                      error);
	*labels = memory_array(n_labels, sizeof **labels, error);
	if (*first == NULL || *labels == NULL)
		return -1;
	for (uint32_t i = 0; i < profile->n_frames; i++) {
		const struct frame *of = &profile->frames[i];
		uint32_t n_shown = has_inlines ? of->n_locations : 1;

		(*first)[i] = n;
		for (uint32_t k = 0; k < n_shown; k++) {
			(*labels)[n++] = of->first_location + k;
			frame[of->first_location + k] = i;
		}
	}
	(*first)[profile->n_frames] = n;
	return 0;
}

static int
code_make_tree(struct code *code, const struct profile *profile,
               bool has_inlines, struct error *error)
{
	uint32_t *first = NULL, *labels = NULL;
	uint32_t *section = sections_of_nodes(profile, error);

	code->frame = memory_array(profile->n_locations, sizeof *code->frame,
	                           error);
	if (section != NULL && code->frame != NULL &&
	    chain_locations(profile, has_inlines, &first, &labels,
	                    code->frame, error) == 0)
		code->tree = sample_tree_spread(profile->tree, first, labels,
		                                section, &code->section,
		                                error);
	large_array_free(section);
	free(first);
	free(labels);
	if (code->tree == NULL)
		return -1;
	code->n_locations = profile->n_locations;
	code->has_inlines = has_inlines;
	return 0;
}

void
code_forget_refinement(struct code *code)
{
	code->is_refined = false;
}

static int
code_apply_steps(struct code *code, const struct naming_request *request,
                 struct error *error)
{
	const struct sample_tree *tree = code->tree;
	bool *dropped = memory_array(tree->n_rows, sizeof *dropped, error);
	struct refining *refining = NULL;
	struct slice_set times = ALL_TIMES;
	struct stacks stacks = { 0 };
	struct error why;
	int status;

	if (dropped != NULL &&
	    stacks_make_of_locations(&stacks, request->profile, code->tree,
	                             code->section, code->frame, &request->rule,
	                             steps_granularities(request->steps,
	                                                 request->n_steps),
	                             request->hidden, error) == 0)
		refining = refine_stacks(&stacks, request->steps,
		                         request->n_steps, NULL, &why, error);
	status = refining == NULL ? -1 :
	    node_numbers_reserve(&code->rows, tree->n_nodes, tree->rows.n,
	    error);
	if (refining != NULL)
		refined_rows(refining, dropped, &times);
	/* A stack that was dropped has no counts. */
	for (uint32_t node = 0; status == 0 && node < tree->n_nodes; node++) {
		const uint32_t row = sample_tree_row(tree, node);

		tree_add_row(&code->rows, dropped[row] ? 0 : row);
	}
	if (status == 0 && !slice_set_is_whole(&times)) {
		code->timed = tree_time_select(tree, &times, error);
		status = code->timed != NULL ? 0 : -1;
	}
	refining_free(refining);
	stacks_free(&stacks);
	free(dropped);
	return status;
}

/* What hidden frames did is done by the place that entered them. */
static int
code_hide_frames(struct code *code, const struct naming_request *request,
                 struct error *error)
{
	const struct sample_tree *tree = code->tree;
	struct hidden_known *known;
	unsigned char *joined = NULL;

	if ((request->hidden & HIDES_INNER) == 0)
		return 0;
	known = hidden_known_new(request->profile, error);
	if (known != NULL)
		hidden_join(known, tree, code->frame, request->hidden, &joined,
		            error);
	hidden_known_free(known);
	if (joined != NULL &&
	    large_array_reserve(&code->label, tree->n_nodes,
	                        sizeof *code->label, error) == 0)
		for (uint32_t node = 0; node < tree->n_nodes; node++)
			code->label[node] = joined[node] ?
			    code->label[sample_tree_parent(tree, node)] :
			    tree->label[node];
	large_array_free(joined);
	return error->is_set ? -1 : 0;
}

static int
code_refine(struct code *code, const struct naming_request *request,
            struct error *error)
{
	code->is_refined = false;
	node_numbers_free(&code->rows);
	tree_time_free(code->timed);
	code->timed = NULL;
	large_array_free(code->label);
	code->label = NULL;
	if ((request->n_steps > 0 &&
	     code_apply_steps(code, request, error) != 0) ||
	    code_hide_frames(code, request, error) != 0)
		return -1;
	code->refined = code->timed != NULL ? *code->timed : *code->tree;
	if (request->n_steps > 0)
		code->refined.rows = code->rows;
	if (code->label != NULL)
		code->refined.label = code->label;
	large_array_free(code->sums);
	code->sums = sample_tree_new_sums(&code->refined,
	    code->refined.hits[request->resource], error);
	if (code->sums == NULL)
		return -1;
	code->resource = request->resource;
	code->is_refined = true;
	return 0;
}

/* Groups give functions other names, so their values are those without. */
static int
code_make_flow(struct code *code, const struct naming_request *request,
               struct code_set *set, struct error *error)
{
	const struct profile *profile = request->profile;

	call_flow_free(code->flow);
	code->flow = NULL;
	if (request->n_steps == 0)
		return 0;
	set->flow = code->flow = call_flow_new(profile->graph,
	    names_count(profile->names), request->resource,
	    request->has_static, error);
	return code->flow != NULL ? 0 : -1;
}

int
code_make(struct code *code, const struct naming_request *request,
          struct code_set *set, struct error *error)
{
	const struct profile *profile = request->profile;
	bool has_inlines = request->rule.inlines != INLINES_OFF;

	*set = (struct code_set){
		.profile = profile,
		.resource = request->resource,
	};
	if (profile->tree == NULL)
		return code_make_flow(code, request, set, error);
	if (code->tree == NULL || code->n_locations != profile->n_locations ||
	    code->has_inlines != has_inlines) {
		code_free(code);
		if (code_make_tree(code, profile, has_inlines, error) != 0) {
			code_free(code);
			return -1;
		}
	}
	if ((!code->is_refined || code->resource != request->resource) &&
	    code_refine(code, request, error) != 0)
		return -1;
	set->tree = &code->refined;
	set->frame = code->frame;
	set->self = code->refined.hits[request->resource];
	set->sums = code->sums;
	return 0;
}
