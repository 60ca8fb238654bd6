/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session_left.c -- what the steps leave, whole or added up. */
#include "src/shell/session/session_left.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/frame_labels.h"
#include "src/refine/refine.h"

/* ---- stacks ---- */

/* What groups leave of a profile of calls. */
static int
group_whole_graph(struct whole_stacks *whole,
                  const struct naming_request *request, struct error *error)
{
	bool is_own;
	struct call_graph *graph = refine_graph(request->profile,
	    request->steps, request->n_steps, NULL, &is_own, NULL, error);

	if (graph == NULL)
		return -1;
	whole->graph = is_own ? graph : NULL;
	whole->refined.profile = *request->profile;
	whole->refined.profile.graph = graph;
	whole->profile = &whole->refined.profile;
	return 0;
}

int
session_whole_stacks(const struct session *session,
                     struct whole_stacks *whole, struct error *error)
{
	const struct subject *subject = session->subject;
	struct profile *profile = subject->profile;
	struct naming_request request = session_naming_request(session, profile,
	                                               subject->resource);

	*whole = (struct whole_stacks){
		.profile = profile,
		.named = subject->naming.tree,
	};
	if (profile->graph != NULL && request.n_steps > 0)
		return group_whole_graph(whole, &request, error);
	if (!subject->naming.is_refined)
		return 0;
	request.hidden = 0;
	request.n_columns = 0;
	if (naming_make(&whole->naming, &request, error) != 0)
		return -1;
	whole->named = whole->naming.tree;
	if (request.n_steps == 0)
		return 0;
	if (naming_stacks(&request, false, &whole->stacks, error) != 0 ||
	    refine_profile(&whole->stacks, request.steps, request.n_steps,
	                   &whole->refined, error) != 0)
		return -1;
	whole->profile = &whole->refined.profile;
	return 0;
}

void
whole_stacks_free(struct whole_stacks *whole)
{
	refined_profile_free(&whole->refined);
	stacks_free(&whole->stacks);
	naming_free(&whole->naming);
	call_graph_free(whole->graph);
}

/* ---- sums ---- */

/*
 * The stacks that steps are applied to: those that the names keep, or others,
 * made in *own.  NULL with *error set; call stacks_free(own) in either case.
 */
static const struct stacks *
find_stacks(const struct session *session,
            const struct naming_request *request, struct stacks *own,
            struct error *error)
{
	if (session->subject->naming.stacks != NULL)
		return &session->subject->naming.stacks->stacks;
	return naming_stacks(request, false, own, error) == 0 ? own : NULL;
}

uint64_t *
session_hits_after(const struct session *session, struct error *error)
{
	const struct subject *subject = session->subject;
	struct naming_request request = session_naming_request(session,
	    subject->profile, subject->resource);
	size_t n = request.n_steps;
	uint64_t *hits = memory_array(n, sizeof *hits, error);
	const struct stacks *stacks;
	struct stacks own = { 0 };
	int result = -1;

	for (size_t i = 0; hits != NULL && i < n; i++)
		hits[i] = subject->set.total;
	if (hits == NULL || n == 0 || subject->profile->tree == NULL)
		return hits;
	stacks = find_stacks(session, &request, &own, error);
	if (stacks != NULL)
		result = refine_hits(stacks, request.steps, n,
		                     subject->resource, hits, error);
	stacks_free(&own);
	if (result == 0)
		return hits;
	free(hits);
	return NULL;
}

/*
 * The stacks after n steps, of which the last must match something.  NULL with
 * *error set.
 */
static struct refining *
session_left_apply_steps(const struct stacks *stacks,
                         const struct naming_request *request,
                         struct error *error)
{
	size_t n = request->n_steps;
	bool *skipped = memory_array(n, sizeof *skipped, error);
	struct refining *refining = NULL;
	struct error why = { 0 };

	if (skipped != NULL)
		refining = refine_stacks(stacks, request->steps, n, skipped,
		                         &why, error);
	if (refining != NULL && skipped[n - 1]) {
		*error = why;
		refining_free(refining);
		refining = NULL;
	}
	free(skipped);
	return refining;
}

struct section_total *
session_section_totals(const struct session *session, uint32_t resource,
                       struct step *step, struct error *error)
{
	const struct subject *subject = session->subject;
	struct naming_request request = session_naming_request(session,
	    subject->profile, subject->resource);
	struct section_total *totals = memory_array(
	    subject->profile->n_sections + (size_t)1, sizeof *totals, error);
	struct step **steps = NULL;
	struct refining *refining = NULL;
	struct stacks stacks = { 0 };
	struct error why;

	if (totals == NULL)
		return NULL;
	if (step != NULL) {
		step->granularity = session->settings.naming.granularity;
		steps = session_steps_and(&request, step, error);
	} else if (request.n_steps == 0) {
		section_totals(subject->profile, subject->profile->tree,
		               resource, totals);
		return totals;
	}
	if (!error->is_set &&
	    naming_stacks(&request, true, &stacks, error) == 0)
		refining = step != NULL ?
		    session_left_apply_steps(&stacks, &request, error) :
		    refine_stacks(&stacks, request.steps, request.n_steps,
		                  NULL, &why, error);
	if (refining != NULL) {
		refined_section_totals(refining, resource, totals);
	} else {
		free(totals);
		totals = NULL;
	}
	refining_free(refining);
	stacks_free(&stacks);
	free(steps);
	return totals;
}

int
session_step_rows(const struct session *session, struct step *step,
                  const struct sample_tree *tree, bool *dropped,
                  struct error *error)
{
	struct naming_request request = session_naming_request(session,
	    session->subject->profile, session->subject->resource);
	struct step **steps = session_steps_and(&request, step, error);
	struct refining *refining = NULL;
	struct stacks stacks = { 0 };
	struct slice_set times;
	int result;

	if (steps == NULL)
		return -1;
	step->granularity = session->settings.naming.granularity;
	if ((tree == request.profile->tree ?
	     naming_stacks(&request, false, &stacks, error) :
	     naming_stacks_of(&request, tree, &stacks, error)) == 0)
		refining = session_left_apply_steps(&stacks, &request, error);
	if (refining != NULL)
		refined_rows(refining, dropped, &times);
	result = refining != NULL ? 0 : -1;
	refining_free(refining);
	stacks_free(&stacks);
	free(steps);
	return result;
}

/* Of each frame its module's name, or if there is none its function's. */
static uint32_t *
name_modules(struct profile *profile, const struct naming_rule *rule,
             struct error *error)
{
	uint32_t *names = memory_array(profile->n_frames, sizeof *names,
	                               error);
	uint32_t *modules = memory_array(profile->n_modules, sizeof *modules,
	                                 error);
	struct frame_labels labels = { 0 };

	for (uint32_t i = 0; !error->is_set && i < profile->n_modules; i++) {
		const char *name = profile_module_name(profile, i);

		modules[i] = names_add(profile->names, name, strlen(name),
		                       error);
	}
	if (!error->is_set &&
	    frame_labels_make(&labels, profile, rule, error) == 0)
		for (uint32_t i = 0; i < profile->n_frames; i++)
			names[i] = profile->frames[i].module != NO_MODULE ?
			    modules[profile->frames[i].module] :
			    labels.labels[labels.first[i + 1] - 1];
	frame_labels_free(&labels);
	free(modules);
	if (!error->is_set)
		return names;
	free(names);
	return NULL;
}

/* As refined_module_hits, of all stacks. */
static uint64_t *
whole_module_hits(const struct session *session, struct error *error)
{
	const struct subject *subject = session->subject;
	const struct sample_tree *tree = subject->profile->tree;
	struct naming_rule rule = session->settings.naming;
	uint32_t *names;
	uint64_t *hits = NULL;

	rule.granularity = GRANULARITY_FUNCTION;
	names = name_modules(subject->profile, &rule, error);
	if (names != NULL)
		hits = memory_array(names_count(subject->profile->names),
		                    sizeof *hits, error);
	for (uint32_t node = 0; hits != NULL && node < tree->n_nodes; node++)
		if (sample_tree_has_row(tree, node))
			hits[names[tree->label[node]]] += sample_tree_hits(
			    tree, subject->resource, node);
	free(names);
	return hits;
}

int
session_module_hits(const struct session *session, uint64_t **hits,
                    struct error *error)
{
	const struct subject *subject = session->subject;
	struct naming_request request = session_naming_request(session,
	    subject->profile, subject->resource);
	struct refining *own = NULL;
	const struct refining *refining = subject->naming.refining;
	struct stacks stacks = { 0 };
	struct error why;

	*hits = NULL;
	if (subject->profile->tree == NULL || subject->profile->n_modules < 2)
		return 0;
	if (request.n_steps == 0 && (request.hidden & HIDES_INNER) == 0) {
		*hits = whole_module_hits(session, error);
		return *hits != NULL ? 0 : -1;
	}
	if (refining == NULL) {
		/* No stack ends there. */
		request.hidden &= ~(unsigned)HIDES_STARTUP;
		if (naming_stacks(&request, false, &stacks, error) == 0)
			refining = own = refine_stacks(&stacks, request.steps,
			    request.n_steps, NULL, &why, error);
	}
	if (refining != NULL)
		*hits = refined_module_hits(refining, subject->resource,
		                            error);
	refining_free(own);
	stacks_free(&stacks);
	return *hits != NULL ? 0 : -1;
}

int
session_module_in_groups(const struct session *session, uint32_t module,
                         struct group_hits *groups, struct error *error)
{
	const struct subject *subject = session->subject;
	struct naming_request request = session_naming_request(session,
	    subject->profile, subject->resource);
	const struct fleet_groups *of = subject->naming.groups;
	struct refining *refining = NULL;
	struct stacks stacks;
	struct error why;
	int result;

	request.hidden &= ~(unsigned)HIDES_STARTUP;
	if (naming_stacks_of(&request, of->tree, &stacks, error) == 0)
		refining = refine_stacks(&stacks, request.steps,
		                         request.n_steps, NULL, &why, error);
	result = refining != NULL ? 0 : -1;
	for (uint32_t g = 0; result == 0 && g < of->n; g++) {
		uint64_t *hits = refined_module_hits(refining, of->first + g,
		                                     error);

		if (hits == NULL)
			result = -1;
		else
			groups->hits[g] = hits[module];
		free(hits);
	}
	refining_free(refining);
	stacks_free(&stacks);
	return result;
}
