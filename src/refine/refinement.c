/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refinement.c -- the steps of a session, with undo and redo. */
#include "src/refine/refine.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

static void
free_list(struct step_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		step_release(list->steps[i]);
	free(list);
}

static void
cut_history(struct refinement *refinement, size_t n)
{
	while (refinement->n_history > n)
		free_list(refinement->history[--refinement->n_history]);
}

void
refinement_free(struct refinement *refinement)
{
	cut_history(refinement, 0);
	free(refinement->history);
	*refinement = (struct refinement){ 0 };
}

struct step *const *
refinement_steps(const struct refinement *refinement, size_t *n)
{
	const struct step_list *list = refinement->at == 0 ? NULL :
	    refinement->history[refinement->at - 1];

	*n = list == NULL ? 0 : list->n;
	return list == NULL ? NULL : list->steps;
}

/* Puts an empty list with room for n steps into force. */
static struct step_list *
new_list(struct refinement *refinement, size_t n, struct error *error)
{
	struct step_list *list = memory_array(1, sizeof *list +
	                                      n * sizeof *list->steps, error);

	if (list == NULL || memory_grow(&refinement->history,
	    &refinement->capacity, refinement->at + 1,
	    sizeof *refinement->history, error) != 0) {
		free(list);
		return NULL;
	}
	cut_history(refinement, refinement->at);
	refinement->history[refinement->n_history++] = list;
	refinement->at++;
	return list;
}

int
refinement_add(struct refinement *refinement, struct step *step,
               struct error *error)
{
	size_t n;
	struct step *const *steps = refinement_steps(refinement, &n);
	struct step_list *list = new_list(refinement, n + 1, error);

	if (list == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		list->steps[list->n++] = step_share(steps[i]);
	list->steps[list->n++] = step;
	return 0;
}

static bool
makes_group(const struct step *step, const char *name)
{
	return step->name != NULL && strcmp(step->name, name) == 0;
}

int
refinement_remove_group(struct refinement *refinement, const char *name,
                        struct error *error)
{
	size_t n, n_left = 0;
	struct step *const *steps = refinement_steps(refinement, &n);
	struct step_list *list;

	for (size_t i = 0; i < n; i++)
		n_left += !makes_group(steps[i], name);
	if (n_left == n)
		return error_set(error, "there is no group %.80s; steps lists "
		                 "the groups", name);
	list = new_list(refinement, n_left, error);
	if (list == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!makes_group(steps[i], name))
			list->steps[list->n++] = step_share(steps[i]);
	return 0;
}

int
refinement_clear(struct refinement *refinement, struct error *error)
{
	size_t n;

	refinement_steps(refinement, &n);
	if (n == 0)
		return error_set(error, "there are no steps");
	return new_list(refinement, 0, error) != NULL ? 0 : -1;
}

int
refinement_undo(struct refinement *refinement, size_t n, struct error *error)
{
	if (refinement->at == 0)
		return error_set(error, "there is nothing to undo");
	if (n > refinement->at)
		return error_set(error, "only %zu change%s can be undone",
		                 refinement->at,
		                 refinement->at == 1 ? "" : "s");
	refinement->at -= n;
	return 0;
}

int
refinement_redo(struct refinement *refinement, size_t n, struct error *error)
{
	size_t most = refinement->n_history - refinement->at;

	if (most == 0)
		return error_set(error, "there is nothing to redo");
	if (n > most)
		return error_set(error, "only %zu change%s can be made again",
		                 most, most == 1 ? "" : "s");
	refinement->at += n;
	return 0;
}
