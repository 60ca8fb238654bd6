/* SPDX-License-Identifier: GPL-3.0-or-later */
/* observed_calls.c -- entering, adding and finding observed calls. */

#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/profile/profile.h"

const struct observed_calls *
observed_calls_find(const struct profile *profile, const char *function)
{
	for (uint32_t i = 0; i < profile->n_calls; i++)
		if (strcmp(profile->calls[i].function, function) == 0)
			return &profile->calls[i];
	return NULL;
}

struct observed_calls *
observed_calls_enter(struct profile *profile, const char *function,
                     struct error *error)
{
	struct observed_calls *known =
	    (struct observed_calls *)observed_calls_find(profile, function);
	const char *copy;

	if (known != NULL)
		return known;
	copy = arena_text(&profile->arena, function, strlen(function), error);
	if (copy == NULL || memory_grow(&profile->calls,
	        &profile->calls_capacity, (size_t)profile->n_calls + 1,
	        sizeof *profile->calls, error) != 0)
		return NULL;
	known = &profile->calls[profile->n_calls++];
	*known = (struct observed_calls){ .function = copy };
	return known;
}

static bool
length_bin_is_before(const struct length_bin *a, const struct length_bin *b)
{
	return a->least_ns != b->least_ns ? a->least_ns < b->least_ns :
	    a->tail_ns != b->tail_ns ? a->tail_ns < b->tail_ns :
	    a->without_wait_ns < b->without_wait_ns;
}

int
observed_calls_add(struct length_bin **bins, size_t *n, size_t *capacity,
                   const struct length_bin *more, struct error *error)
{
	const size_t at = partition_point(*n, i,
	                                  length_bin_is_before(&(*bins)[i],
	                                                       more));
	struct length_bin *bin;

	if (at == *n || length_bin_is_before(more, &(*bins)[at])) {
		if (memory_grow(bins, capacity, *n + 1, sizeof **bins,
		                error) != 0)
			return -1;
		memmove(*bins + at + 1, *bins + at, (*n - at) * sizeof **bins);
		(*bins)[at] = *more;
		++*n;
		return 0;
	}
	bin = *bins + at;
	count_add(&bin->n, more->n);
	count_add(&bin->spread_ns, more->spread_ns);
	return 0;
}

int
observed_calls_merge(struct profile *profile, const struct profile *from,
                     struct error *error)
{
	for (uint32_t i = 0; i < from->n_calls; i++) {
		const struct observed_calls *calls = &from->calls[i];
		struct observed_calls *sum = observed_calls_enter(profile,
		    calls->function, error);

		if (sum == NULL)
			return -1;
		sum->n_places += calls->n_places;
		if (calls->interval_ns > sum->interval_ns)
			sum->interval_ns = calls->interval_ns;
		for (int reason = 0; reason < N_UNFINISHED; reason++)
			sum->unfinished[reason] += calls->unfinished[reason];
		for (size_t k = 0; k < calls->n_lengths; k++)
			if (observed_calls_add(&sum->lengths, &sum->n_lengths,
			        &sum->lengths_capacity, &calls->lengths[k],
			        error) != 0)
				return -1;
		for (size_t k = 0; k < calls->n_tails; k++)
			if (observed_calls_add(&sum->tails, &sum->n_tails,
			        &sum->tails_capacity, &calls->tails[k],
			        error) != 0)
				return -1;
		for (size_t k = 0; k < calls->n_by_chance; k++)
			if (observed_calls_add(&sum->by_chance, &sum->n_by_chance,
			        &sum->by_chance_capacity, &calls->by_chance[k],
			        error) != 0)
				return -1;
	}
	return 0;
}

uint64_t
observed_calls_longest(const struct observed_calls *calls)
{
	const uint64_t certain_ns = calls->n_lengths == 0 ? 0 :
	    calls->lengths[calls->n_lengths - 1].end_ns;
	const uint64_t by_chance_ns = calls->n_by_chance == 0 ? 0 :
	    calls->by_chance[calls->n_by_chance - 1].end_ns;

	return certain_ns > by_chance_ns ? certain_ns : by_chance_ns;
}

uint64_t
observed_calls_unfinished(const struct observed_calls *calls)
{
	uint64_t sum = 0;

	for (int i = 0; i < N_UNFINISHED; i++)
		sum += calls->unfinished[i];
	return sum;
}

uint64_t
observed_calls_class_bound(uint64_t ns)
{
	uint64_t step, below;

	if (ns < 16)
		return ns;
	/* A class is an eighth of a power of two, lib/cpprofdata.h. */
	step = (uint64_t)1 << (60 - __builtin_clzll(ns));
	below = ns / step * step;
	return ns - below < step / 2 ? below : below + step;
}

void
observed_calls_free(struct profile *profile)
{
	for (uint32_t i = 0; i < profile->n_calls; i++) {
		free(profile->calls[i].lengths);
		free(profile->calls[i].tails);
		free(profile->calls[i].by_chance);
	}
	free(profile->calls);
}
