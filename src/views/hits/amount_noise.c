/* SPDX-License-Identifier: GPL-3.0-or-later */
/* amount_noise.c -- how far off numbers may be, whatever makes them vary. */
#include "src/views/hits/hits.h"

#include <stdlib.h>

#include "src/base/memory.h"
#include "src/noise/noise.h"

bool
noise_is_known(const struct view_request *request)
{
	if (request->no_groups != NULL)
		return false;
	return request->groups != NULL || (request->set->flow == NULL &&
	    request->set->resource->counting == COUNTING_SAMPLED);
}

int
noise_make(struct noise *noise, const struct view_request *request,
           const struct sample_set *runs, size_t n_runs, struct error *error)
{
	const struct sample_set *set = request->set;

	*noise = (struct noise){
		.source = n_runs > 0 ? NOISE_OF_RUNS :
		    request->groups != NULL ? NOISE_OF_GROUPS :
		    NOISE_OF_SAMPLING,
		.set = set,
	};
	if (amount_of_whole(request, &noise->whole, error) != 0)
		return -1;
	noise->place = memory_array(names_count(set->names),
	                            sizeof *noise->place, error);
	noise->functions = amounts_of_functions(set, &noise->n_functions,
	                                        error);
	if (noise->place == NULL || noise->functions == NULL)
		return -1;
	for (uint32_t i = 0; i < noise->n_functions; i++)
		noise->place[noise->functions[i].name] = i + 1;
	if (noise->source == NOISE_OF_RUNS)
		return run_noise_make(&noise->runs, request, runs, n_runs,
		                      noise->whole, noise->functions,
		                      noise->n_functions, error);
	if (noise->source == NOISE_OF_SAMPLING)
		return 0;
	noise->groups = group_noise_of(request);
	noise->group_functions = group_noise_functions(&noise->groups, error);
	return noise->group_functions == NULL ? -1 : 0;
}

void
noise_free(struct noise *noise)
{
	free(noise->functions);
	free(noise->place);
	free(noise->group_functions);
	run_noise_free(&noise->runs);
	*noise = (struct noise){ 0 };
}

void
noise_function(const struct noise *noise, uint32_t name, bool is_body,
               struct noisy_amount *found)
{
	const uint32_t place = noise->place[name];

	*found = (struct noisy_amount){ 0 };
	if (place == 0)
		return;
	found->amount = is_body ? noise->functions[place - 1].body :
	    noise->functions[place - 1].inclusive;
	if (noise->source == NOISE_OF_GROUPS)
		found->groups = is_body ?
		    noise->group_functions[place - 1].body :
		    noise->group_functions[place - 1].inclusive;
	if (noise->source == NOISE_OF_RUNS)
		found->runs = is_body ? noise->runs.body[place - 1] :
		    noise->runs.inclusive[place - 1];
}

int
noise_path(const struct noise *noise, const uint32_t *path, size_t n,
           struct noisy_amount *found, struct error *error)
{
	*found = (struct noisy_amount){ 0 };
	if (amount_of_path(noise->set, path, n, &found->amount, error) != 0)
		return -1;
	if (noise->source == NOISE_OF_GROUPS)
		return group_noise_path(&noise->groups, path, n,
		                        &found->groups, error);
	if (noise->source == NOISE_OF_RUNS)
		return run_noise_path(&noise->runs, path, n,
		                      found->amount.sampled, &found->runs,
		                      error);
	return 0;
}

struct estimate
noise_hits(const struct noise *noise, const struct noisy_amount *of, double z)
{
	const struct sampled part = of->amount.sampled;

	if (noise->source == NOISE_OF_GROUPS)
		return group_hits_estimate(&noise->groups, &of->groups, part,
		                           z);
	if (noise->source == NOISE_OF_RUNS)
		return run_hits_estimate(&of->runs, part, z);
	return hits_estimate(part, noise->whole, z);
}

struct estimate
noise_share(const struct noise *noise, const struct noisy_amount *of, double z)
{
	const struct sampled part = of->amount.sampled;

	if (noise->source == NOISE_OF_GROUPS)
		return group_share_estimate(&noise->groups, &of->groups, part,
		                            noise->whole, z);
	if (noise->source == NOISE_OF_RUNS)
		return run_share_estimate(&of->runs, part, noise->whole, z);
	return share_estimate(part, noise->whole, z);
}
