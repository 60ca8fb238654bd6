/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_noise.c -- how far off numbers of several loaded runs may be. */
#include "src/views/hits/hits.h"

#include <math.h>
#include <stdlib.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/noise/noise.h"

void
run_noise_free(struct run_noise *noise)
{
	free(noise->whole);
	free(noise->body);
	free(noise->inclusive);
	*noise = (struct run_noise){ 0 };
}

/* ---- what each run has ---- */

/* Rows of the runs. */
struct run_rows {
	size_t n_runs, n;
	uint64_t **hits;		/* [n_runs][n] */
	double *phi, *share_phi;	/* [n] that sampling alone has in the
					 * sum, see noise.h */
};

static void
run_rows_free(struct run_rows *rows)
{
	for (size_t i = 0; rows->hits != NULL && i < rows->n_runs; i++)
		free(rows->hits[i]);
	free(rows->hits);
	free(rows->phi);
	free(rows->share_phi);
}

/* All 0.  Call run_rows_free even if it fails. */
static int
run_rows_make(struct run_rows *rows, size_t n_runs, size_t n,
              struct error *error)
{
	*rows = (struct run_rows){
		.n_runs = n_runs,
		.n = n,
		.hits = memory_array(n_runs, sizeof *rows->hits, error),
		.phi = memory_array(n, sizeof *rows->phi, error),
		.share_phi = memory_array(n, sizeof *rows->share_phi, error),
	};
	for (size_t i = 0; !error->is_set && i < n_runs; i++)
		rows->hits[i] = memory_array(n, sizeof **rows->hits, error);
	return error->is_set ? -1 : 0;
}

/* part: what the sum has of the row. */
static void
set_chance(struct run_rows *rows, size_t row, struct sampled part,
           struct sampled sum)
{
	/* Whatever was measured: runs differ in that, too. */
	rows->phi[row] = fmax(1, part_phi(part, sum));
	rows->share_phi[row] = fmax(1, share_phi(part, sum));
}

/* The number that a name of the sum has in the runs, or NO_NAME. */
static uint32_t
name_in_runs(const struct run_noise *noise, uint32_t name)
{
	const struct names *names = noise->request->set->names;

	return names_find(noise->sets->names, names_text(names, name),
	                  names_length(names, name));
}

/* place: of the runs' names among the functions, from 1; 0: it is not there. */
static int
run_noise_count_functions(const struct sample_set *run, const uint32_t *place,
                          uint64_t *body, uint64_t *inclusive,
                          struct error *error)
{
	uint32_t n;
	struct function_total *totals = function_totals(run, &n, error);

	if (totals == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t at = place[totals[i].name];

		if (at == 0)
			continue;
		body[at - 1] = totals[i].self;
		inclusive[at - 1] = totals[i].inclusive;
	}
	free(totals);
	return progress_step(NULL, 0, 0, error);
}

static int
run_noise_count_all(const struct run_noise *noise,
                    const struct function_amount *functions,
                    struct run_rows *body, struct run_rows *inclusive,
                    struct error *error)
{
	uint32_t *place = memory_array(names_count(noise->sets->names),
	                               sizeof *place, error);
	int status = place == NULL ? -1 : 0;

	for (uint32_t i = 0; status == 0 && i < body->n; i++) {
		const uint32_t name = name_in_runs(noise, functions[i].name);

		if (name != NO_NAME)
			place[name] = i + 1;
		set_chance(body, i, functions[i].body.sampled, noise->sum);
		set_chance(inclusive, i, functions[i].inclusive.sampled,
		           noise->sum);
	}
	for (size_t run = 0; status == 0 && run < noise->n; run++)
		status = run_noise_count_functions(&noise->sets[run], place,
		                                   body->hits[run],
		                                   inclusive->hits[run], error);
	free(place);
	return status;
}

/* What shares are of in each run. */
static void
count_wholes(struct run_noise *noise)
{
	struct view_request request = *noise->request;

	if (request.root != NO_NAME)
		request.root = name_in_runs(noise, request.root);
	for (size_t run = 0; run < noise->n; run++)
		noise->whole[run] = (double)measure_denominator(&request,
		    &noise->sets[run]);
}

/* ---- how that varies ---- */

/* The rows as noise.h wants them. */
static struct change_columns
run_noise_columns_of(const struct run_noise *noise, const struct run_rows *rows,
                     bool are_shares)
{
	const bool is_sampled = noise->request->set->resource->counting ==
	    COUNTING_SAMPLED;

	return (struct change_columns){
		.n_rows = rows->n,
		.n_now = rows->n_runs,
		.now = (const uint64_t *const *)rows->hits,
		.now_work = are_shares ? noise->whole : NULL,
		.are_shares = are_shares,
		.sample = !is_sampled ? NULL : are_shares ? rows->share_phi :
		    rows->phi,
	};
}

static int
fit(struct run_noise *noise, const struct run_rows *bodies,
    struct error *error)
{
	const struct change_columns hits = run_noise_columns_of(noise, bodies,
	                                                        false);
	const struct change_columns shares = run_noise_columns_of(noise, bodies,
	                                                          true);

	return change_noise_fit(&hits, &noise->of_hits, error) != 0 ? -1 :
	    change_noise_fit(&shares, &noise->of_shares, error);
}

static void
find_spreads(const struct run_noise *noise, const struct run_rows *rows,
             struct run_spread *spreads)
{
	const struct change_columns hits = run_noise_columns_of(noise, rows,
	                                                        false);
	const struct change_columns shares = run_noise_columns_of(noise, rows,
	                                                          true);

	for (size_t i = 0; i < rows->n; i++)
		spreads[i] = (struct run_spread){
			change_sum(&hits, &noise->of_hits, i),
			change_sum(&shares, &noise->of_shares, i),
		};
}

int
run_noise_make(struct run_noise *noise, const struct view_request *request,
               const struct sample_set *sets, size_t n, struct sampled sum,
               const struct function_amount *functions, uint32_t n_functions,
               struct error *error)
{
	struct run_rows body = { 0 }, inclusive = { 0 };
	int status = -1;

	*noise = (struct run_noise){
		.request = request, .sets = sets, .n = n, .sum = sum,
		.whole = memory_array(n, sizeof *noise->whole, error),
		.body = memory_array(n_functions, sizeof *noise->body, error),
		.inclusive = memory_array(n_functions,
		                          sizeof *noise->inclusive, error),
	};
	if (!error->is_set &&
	    run_rows_make(&body, n, n_functions, error) == 0 &&
	    run_rows_make(&inclusive, n, n_functions, error) == 0 &&
	    run_noise_count_all(noise, functions, &body, &inclusive,
	                        error) == 0) {
		count_wholes(noise);
		status = fit(noise, &body, error);
	}
	if (status == 0) {
		find_spreads(noise, &body, noise->body);
		find_spreads(noise, &inclusive, noise->inclusive);
	}
	run_rows_free(&body);
	run_rows_free(&inclusive);
	return status;
}

/* path[n]: the runs' names. */
static int
run_noise_count_path(const struct run_noise *noise, const uint32_t *path,
                     size_t n, struct run_rows *row, struct error *error)
{
	for (size_t run = 0; run < noise->n; run++) {
		struct amount amount;

		if (amount_of_path(&noise->sets[run], path, n, &amount,
		                   error) != 0)
			return -1;
		row->hits[run][0] = amount.sampled.hits;
	}
	return 0;
}

int
run_noise_path(const struct run_noise *noise, const uint32_t *path, size_t n,
               struct sampled part, struct run_spread *spread,
               struct error *error)
{
	uint32_t *renamed = memory_array(n, sizeof *renamed, error);
	struct run_rows row = { 0 };
	bool is_known = true;
	int status = -1;

	if (renamed != NULL && run_rows_make(&row, noise->n, 1, error) == 0) {
		for (size_t i = 0; i < n; i++) {
			renamed[i] = name_in_runs(noise, path[i]);
			is_known &= renamed[i] != NO_NAME;
		}
		status = is_known ?
		    run_noise_count_path(noise, renamed, n, &row, error) :
		    0;
		set_chance(&row, 0, part, noise->sum);
		find_spreads(noise, &row, spread);
	}
	run_rows_free(&row);
	free(renamed);
	return status;
}

/* ---- intervals ---- */

/* As many errors, known with some degrees of freedom, as z that are exact. */
static double
run_noise_student_of(const struct change_spread *spread, double z)
{
	return isinf(spread->df) ? z :
	    z * student_two_sided_quantile(0.05, spread->df) / ESTIMATE_95;
}

struct estimate
run_hits_estimate(const struct run_spread *spread, struct sampled part,
                  double z)
{
	const struct change_spread *hits = &spread->hits;

	return isnan(hits->phi) ?
	    (struct estimate){ (double)part.hits, NAN, NAN } :
	    dispersed_hits(part.hits, hits->phi, run_noise_student_of(hits, z));
}

struct estimate
run_share_estimate(const struct run_spread *spread, struct sampled part,
                   struct sampled whole, double z)
{
	const struct change_spread *share = &spread->share;

	return isnan(share->phi) ?
	    (struct estimate){ (double)part.hits / (double)whole.hits, NAN,
	                       NAN } :
	    dispersed_share(part.hits, whole.hits, share->phi,
	                    run_noise_student_of(share, z));
}
