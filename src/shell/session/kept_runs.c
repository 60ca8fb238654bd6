/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kept_runs.c -- what the runs of commits have of a path.
 *
 * One profile at a time is read, named as views would name it, and counted, on
 * a thread for each processor.  Of n threads each has every n-th commit.
 */
#include "src/shell/session/kept.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/progress.h"
#include "src/base/worker.h"
#include "src/formats/merged/merging.h"
#include "src/profile/large_array.h"
#include "src/profile/profile_merge.h"
#include "src/views/hits/hits.h"

enum {
	READERS_MOST = 16,
	LEAST_SAMPLES = 5,	/* a run, as in src/noise */
};

/* A function's part of all hits below which it says nothing of the noise, if
 * hits are no samples. */
static const double LEAST_PART = 1e-4;

/* ---- one commit ---- */

int
kept_profile_open(const struct kept_commit *commit,
                  const struct kept_request *request,
                  struct kept_profile *opened, struct error *error)
{
	struct naming_request naming = {
		.rule = request->rule, .hidden = request->hidden,
		.steps = request->steps, .n_steps = request->n_steps,
	};

	*opened = (struct kept_profile){ 0 };
	if (commit->size > KEPT_FILE_BYTES)
		return error_set(error, "%.200s: larger than keep writes, "
		                 "128 MiB; remove it", commit->path);
	opened->profile = merged_read_runs(commit->path, request->resource,
	                                   error);
	naming.profile = opened->profile;
	if (opened->profile != NULL &&
	    naming_make(&opened->naming, &naming, error) == 0)
		return 0;
	kept_profile_close(opened);
	return -1;
}

void
kept_profile_close(struct kept_profile *opened)
{
	naming_free(&opened->naming);
	profile_free(opened->profile);
	*opened = (struct kept_profile){ 0 };
}

/* What became of a commit. */
struct kept_outcome {
	enum { KEPT_LACKS, KEPT_DAMAGED, KEPT_READ } state;
	uint32_t n;			/* runs */
	uint64_t members;
	double work;			/* of each run */
	size_t at;			/* of the runs' hits in reader->hits */
	double hits, samples, total;	/* of all runs */
	bool is_seen;
	char *gtick;
	struct resource column;		/* how hits were counted; no texts */
	struct error why;		/* KEPT_DAMAGED */
};

/* What one function's body has in the runs of a commit. */
struct body {
	uint32_t name, commit;
	size_t at;			/* in reader->hits */
	uint64_t samples;		/* of all runs */
};

/* What one thread reads. */
struct reader_of_runs {
	const struct kept *kept;
	const struct kept_request *request;
	size_t first, step;		/* then every step-th */
	struct kept_outcome *outcomes;	/* [kept->n] */
	struct names *names;		/* of the bodies */
	struct body *bodies;		/* [n_bodies] */
	uint64_t *hits;			/* [n_hits] */
	size_t n_bodies, n_hits, bodies_capacity, hits_capacity;
	struct error error;
};

/* Whether a step that keeps stacks found none. */
static bool
leaves_nothing(const struct naming *naming, const struct kept_request *request)
{
	for (size_t i = 0; naming->skipped != NULL && i < request->n_steps; i++)
		if (naming->skipped[i] && !request->steps[i]->drops &&
		    request->steps[i]->kind == STEP_PATH)
			return true;
	return false;
}

/* Room for the hits of n more runs, all 0; SIZE_MAX with *error set. */
static size_t
reserve_hits(struct reader_of_runs *reader, uint32_t n, struct error *error)
{
	const size_t at = reader->n_hits;

	if (memory_grow(&reader->hits, &reader->hits_capacity, at + n,
	                sizeof *reader->hits, error) != 0)
		return SIZE_MAX;
	memset(reader->hits + at, 0, n * sizeof *reader->hits);
	reader->n_hits += n;
	return at;
}

/* The request's path as names of the profile; 0: it has none. */
static size_t
kept_find_path(const struct kept_request *request, const struct names *names,
               uint32_t *path)
{
	for (size_t i = 0; i < request->n_path; i++) {
		path[i] = names_find(names, request->path[i],
		                     strlen(request->path[i]));
		if (path[i] == NO_NAME)
			return 0;
	}
	return request->n_path;
}

/* The samples of all parts, by node or row; NULL with *error set. */
static uint64_t *
add_samples(const struct sample_tree *tree, uint32_t n_parts,
            struct error *error)
{
	uint64_t *samples = memory_array(tree->n_rows, sizeof *samples, error);

	for (uint32_t part = 0; samples != NULL && part < n_parts; part++) {
		const uint64_t *own = tree->samples[part] != NULL ?
		    tree->samples[part] : tree->hits[part];

		for (uint32_t row = 0; row < tree->n_rows; row++)
			samples[row] += own[row];
	}
	return samples;
}

/* What each run has of the path, and the samples of all. */
static int
count_path(const struct kept_profile *opened,
           const struct kept_request *request, const uint64_t *samples,
           uint64_t *hits, struct kept_outcome *outcome, struct error *error)
{
	const struct sample_tree *tree = opened->naming.tree;
	const uint32_t n = opened->profile->n_resources;
	struct sample_set *sets = memory_array(n + 1, sizeof *sets, error);
	uint64_t *counts = memory_array(n + 1, sizeof *counts, error);
	uint32_t *path = memory_array(request->n_path, sizeof *path, error);
	size_t n_path = 0;

	if (!error->is_set)
		n_path = kept_find_path(request, opened->profile->names, path);
	for (uint32_t i = 0; n_path > 0 && i <= n && !error->is_set; i++)
		sets[i] = (struct sample_set){
			.tree = tree, .names = opened->profile->names,
			.sums = sample_tree_new_sums(tree, i < n ?
			    tree->hits[i] : samples, error),
		};
	if (n_path > 0 && !error->is_set &&
	    path_hits_of_sets(sets, n + 1, path, n_path, false, counts,
	                      error) == 0) {
		for (uint32_t i = 0; i < n; i++) {
			hits[i] = counts[i];
			outcome->hits += (double)counts[i];
		}
		outcome->samples = (double)counts[n];
		outcome->is_seen = true;
		for (size_t i = 0; i < n_path; i++)
			outcome->is_seen &= opened->naming.occurs[path[i]];
	}
	for (uint32_t i = 0; sets != NULL && i <= n; i++)
		large_array_free((uint64_t *)sets[i].sums);
	free(sets);
	free(counts);
	free(path);
	return error->is_set ? -1 : 0;
}

/* Adds the bodies of all functions. */
static int
count_bodies(struct reader_of_runs *reader, size_t commit,
             const struct kept_profile *opened, const uint64_t *samples,
             uint32_t n_runs, struct error *error)
{
	const struct sample_tree *tree = opened->naming.tree;
	const struct names *names = opened->profile->names;
	size_t *body_of = memory_array(names_count(names), sizeof *body_of,
	                               error);

	for (uint32_t node = 0; !error->is_set && node < tree->n_nodes;
	     node++) {
		const uint32_t row = sample_tree_row(tree, node);
		const uint32_t name = tree->label[node];
		struct body *body;

		if (samples[row] == 0)
			continue;
		if (body_of[name] == 0) {
			struct body new = {
				.name = names_add(reader->names,
				    names_text(names, name),
				    names_length(names, name), error),
				.commit = (uint32_t)commit,
				.at = reserve_hits(reader, n_runs, error),
			};

			if (error->is_set ||
			    memory_grow(&reader->bodies,
			                &reader->bodies_capacity,
			                reader->n_bodies + 1,
			                sizeof *reader->bodies, error) != 0)
				break;
			reader->bodies[reader->n_bodies++] = new;
			body_of[name] = reader->n_bodies;
		}
		body = &reader->bodies[body_of[name] - 1];
		body->samples += samples[row];
		for (uint32_t i = 0; i < opened->profile->n_resources; i++)
			reader->hits[body->at + i] += tree->hits[i][row];
	}
	free(body_of);
	return error->is_set ? -1 : 0;
}

static int
count_commit(struct reader_of_runs *reader, size_t commit,
             const struct kept_profile *opened, struct error *error)
{
	const struct profile *profile = opened->profile;
	const struct resource *resource = &profile->resources[0];
	const struct sample_tree *tree = opened->naming.tree;
	struct kept_outcome *outcome = &reader->outcomes[commit];
	const bool are_apart = fleet_has_members_apart(profile->fleet);
	uint64_t *samples = NULL;

	outcome->members = profile->fleet->n_members;
	/* A member without hits is a run, too. */
	outcome->n = profile->n_resources;
	if (are_apart && outcome->members > outcome->n)
		outcome->n = outcome->members < RESOURCES_MAX ?
		    (uint32_t)outcome->members : RESOURCES_MAX;
	outcome->work = are_apart ? 1 : (double)outcome->members;
	outcome->column = (struct resource){
		.interval = resource->interval,
		.counting = resource->counting,
		.drawn_most = resource->drawn_most,
	};
	outcome->gtick = memory_string(resource->gtick, error);
	outcome->at = reserve_hits(reader, outcome->n, error);
	if (!error->is_set && !leaves_nothing(&opened->naming,
	                                      reader->request)) {
		samples = add_samples(tree, profile->n_resources, error);
		for (uint32_t i = 0; i < profile->n_resources; i++)
			outcome->total += (double)sample_tree_total(tree,
			    tree->hits[i]);
		if (samples != NULL &&
		    count_path(opened, reader->request, samples,
		               reader->hits + outcome->at, outcome,
		               error) == 0)
			count_bodies(reader, commit, opened, samples,
			             outcome->n, error);
	}
	free(samples);
	outcome->state = KEPT_READ;
	return error->is_set ? -1 : 0;
}

static void
read_commit(struct reader_of_runs *reader, size_t i)
{
	struct kept_outcome *outcome = &reader->outcomes[i];
	struct kept_profile opened;

	if (kept_profile_open(&reader->kept->commits[i], reader->request,
	                      &opened, &outcome->why) != 0) {
		if (outcome->why.is_out_of_memory)
			error_pass(&reader->error, &outcome->why);
		outcome->state = KEPT_DAMAGED;
		return;
	}
	if (opened.profile->n_resources > 0)
		count_commit(reader, i, &opened, &reader->error);
	kept_profile_close(&opened);
}

static void
read_commits(void *context)
{
	struct reader_of_runs *reader = context;

	for (size_t i = reader->first; i < reader->kept->n &&
	     !reader->error.is_set; i += reader->step)
		if (progress_step(NULL, 0, 0, &reader->error) == 0)
			read_commit(reader, i);
}

/* ---- all of them ---- */

struct kept_arrays {
	struct kept_outcome *outcomes;	/* [n_outcomes] */
	size_t n_outcomes;
	struct reader_of_runs readers[READERS_MOST];
	size_t n_readers;
	size_t *first;
	uint64_t *values;
	double *work, *row_samples;
	uint64_t *cells;		/* [runs][n_rows] */
	const uint64_t **rows;		/* [runs] */
};

void
kept_runs_free(struct kept_runs *runs)
{
	struct kept_arrays *arrays = runs->arrays;

	free(runs->commit);
	free(runs->members);
	free(runs->totals);
	free(runs->gtick);
	for (size_t i = 0; arrays != NULL && i < arrays->n_readers; i++) {
		names_free(arrays->readers[i].names);
		free(arrays->readers[i].bodies);
		free(arrays->readers[i].hits);
	}
	for (size_t i = 0; arrays != NULL && i < arrays->n_outcomes; i++)
		free(arrays->outcomes[i].gtick);
	if (arrays != NULL) {
		free(arrays->outcomes);
		free(arrays->first);
		free(arrays->values);
		free(arrays->work);
		free(arrays->row_samples);
		free(arrays->cells);
		free(arrays->rows);
	}
	free(arrays);
	*runs = (struct kept_runs){ 0 };
}

/* What a hit of a commit is in hits of all. */
static uint64_t
kept_factor(const struct kept_runs *runs, const struct kept_outcome *outcome)
{
	return runs->interval == outcome->column.interval ? 1 :
	       outcome->column.interval;
}

/* Which commits count, and by what unit: fills all but the rows. */
static int
use_outcomes(struct kept_runs *runs, struct kept_arrays *arrays,
             struct kept *kept, struct error *why, struct error *error)
{
	struct resource sum = { 0 };
	size_t n_runs = 0, n = 0;
	double hits = 0, samples = 0;

	for (size_t i = 0; i < kept->n; i++) {
		struct kept_outcome *outcome = &arrays->outcomes[i];

		if (outcome->state == KEPT_DAMAGED) {
			if (kept->n_damaged++ == 0)
				*why = outcome->why;
			continue;
		}
		if (outcome->state == KEPT_READ && runs->gtick == NULL) {
			runs->gtick = memory_string(outcome->gtick, error);
			sum.interval = outcome->column.interval;
		}
		if (outcome->state == KEPT_READ && runs->gtick != NULL &&
		    strcmp(runs->gtick, outcome->gtick) != 0)
			outcome->state = KEPT_LACKS;
		if (outcome->state == KEPT_LACKS) {
			runs->n_others++;
			continue;
		}
		merge_column(&sum, &outcome->column, 0);
		n_runs += outcome->n;
		n++;
	}
	runs->commit = memory_array(n, sizeof *runs->commit, error);
	runs->members = memory_array(n, sizeof *runs->members, error);
	runs->totals = memory_array(n, sizeof *runs->totals, error);
	arrays->first = memory_array(n + 1, sizeof *arrays->first, error);
	arrays->values = memory_array(n_runs, sizeof *arrays->values, error);
	arrays->work = memory_array(n_runs, sizeof *arrays->work, error);
	if (error->is_set)
		return -1;
	runs->interval = sum.interval;
	runs->drawn_most = sum.drawn_most;
	n = n_runs = 0;
	for (size_t i = 0; i < kept->n; i++) {
		const struct kept_outcome *outcome = &arrays->outcomes[i];
		const uint64_t *own = arrays->readers[i %
		    arrays->n_readers].hits;
		const uint64_t factor = kept_factor(runs, outcome);

		if (outcome->state != KEPT_READ)
			continue;
		runs->commit[n] = i;
		runs->members[n] = outcome->members;
		runs->totals[n] = outcome->total * (double)factor;
		runs->is_seen |= outcome->is_seen;
		hits += outcome->hits * (double)factor;
		samples += outcome->samples;
		for (uint32_t run = 0; run < outcome->n; run++) {
			arrays->values[n_runs] = own[outcome->at + run] *
			                         factor;
			arrays->work[n_runs++] = outcome->work;
		}
		arrays->first[++n] = n_runs;
	}
	runs->series = (struct series){
		.n_points = n, .first = arrays->first,
		.values = arrays->values, .work = arrays->work,
		.sample = sum.counting != COUNTING_SAMPLED ? 0 :
		    sampled_size(hits, samples, sum.drawn_most),
	};
	return 0;
}

/* What all commits have of a function's body. */
struct sum_of_body {
	double hits, samples;
	uint32_t row;			/* from 1; 0: it says nothing */
};

/* Adds up a reader's bodies, or enters them into the rows. */
static void
visit_bodies(const struct kept_runs *runs, const struct reader_of_runs *reader,
             const uint32_t *name_of, struct sum_of_body *sums,
             const size_t *point_of)
{
	struct kept_arrays *arrays = runs->arrays;

	for (size_t i = 0; i < reader->n_bodies; i++) {
		const struct body *body = &reader->bodies[i];
		const struct kept_outcome *outcome =
		    &reader->outcomes[body->commit];
		struct sum_of_body *sum = &sums[name_of[body->name]];
		const uint64_t factor = kept_factor(runs, outcome);

		if (outcome->state != KEPT_READ)
			continue;
		if (arrays->cells == NULL)
			sum->samples += (double)body->samples;
		for (uint32_t run = 0; run < outcome->n; run++) {
			const uint64_t hits = reader->hits[body->at + run] *
			                      factor;
			const size_t at = run +
			    arrays->first[point_of[body->commit]];

			if (arrays->cells == NULL)
				sum->hits += (double)hits;
			else if (sum->row > 0)
				arrays->cells[at * runs->series.n_rows +
				              sum->row - 1] = hits;
		}
	}
}

/* The names of another reader, by the numbers of the first. */
static uint32_t *
map_names(const struct reader_of_runs *from, struct names *to,
          struct error *error)
{
	const uint32_t n = names_count(from->names);
	uint32_t *map = memory_array(n, sizeof *map, error);

	for (uint32_t i = 0; map != NULL && i < n; i++)
		map[i] = names_add(to, names_text(from->names, i),
		                   names_length(from->names, i), error);
	return map;
}

/*
 * Which functions say something of the noise, in the order of their names: that
 * in which they were found depends on the number of readers, and what is fitted
 * to rows on their order, if only in the last digits.
 */
static int
kept_choose_rows(struct kept_runs *runs, struct sum_of_body *sums, uint32_t n,
                 struct error *error)
{
	struct kept_arrays *arrays = runs->arrays;
	const size_t n_runs = arrays->first[runs->series.n_points];
	uint32_t *order = memory_array(n, sizeof *order, error);
	double all = 0;
	size_t n_rows = 0;

	if (order == NULL)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		all += sums[i].hits;
		order[i] = i;
	}
	if (sort_items(order, n, sizeof *order, names_compare_items,
	               arrays->readers[0].names, error) != 0) {
		free(order);
		return -1;
	}
	for (uint32_t i = 0; i < n; i++)
		if (runs->series.sample > 0 ?
		    sums[order[i]].samples >= LEAST_SAMPLES * (double)n_runs :
		    sums[order[i]].hits > LEAST_PART * all)
			sums[order[i]].row = (uint32_t)++n_rows;
	free(order);
	runs->series.n_rows = n_rows;
	arrays->row_samples = memory_array(n_rows, sizeof(double), error);
	arrays->rows = memory_array(n_runs, sizeof *arrays->rows, error);
	if (error->is_set)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (sums[i].row > 0)
			arrays->row_samples[sums[i].row - 1] =
			    sampled_size(sums[i].hits, sums[i].samples,
			                 runs->drawn_most);
	arrays->cells = memory_array(n_runs * n_rows, sizeof *arrays->cells,
	                             error);
	return arrays->cells != NULL ? 0 : -1;
}

static int
make_rows(struct kept_runs *runs, struct error *error)
{
	struct kept_arrays *arrays = runs->arrays;
	struct names *names = arrays->readers[0].names;
	uint32_t *maps[READERS_MOST] = { NULL };
	struct sum_of_body *sums = NULL;
	size_t *point_of = memory_array(arrays->n_outcomes, sizeof *point_of,
	                                error);

	for (size_t i = 0; i < runs->series.n_points && point_of != NULL; i++)
		point_of[runs->commit[i]] = i;
	for (size_t i = 0; i < arrays->n_readers; i++)
		maps[i] = map_names(&arrays->readers[i], names, error);
	if (!error->is_set)
		sums = memory_array(names_count(names), sizeof *sums, error);
	for (int pass = 0; sums != NULL && pass < 2; pass++) {
		for (size_t i = 0; i < arrays->n_readers; i++)
			visit_bodies(runs, &arrays->readers[i], maps[i], sums,
			             point_of);
		if (pass == 0 && kept_choose_rows(runs, sums,
		                     names_count(names), error) != 0)
			break;
	}
	for (size_t run = 0; !error->is_set &&
	     run < arrays->first[runs->series.n_points]; run++)
		arrays->rows[run] = arrays->cells + run * runs->series.n_rows;
	runs->series.rows = arrays->rows;
	runs->series.row_samples = arrays->row_samples;
	for (size_t i = 0; i < arrays->n_readers; i++)
		free(maps[i]);
	free(sums);
	free(point_of);
	return error->is_set ? -1 : 0;
}

static void
read_on_threads(struct kept_arrays *arrays)
{
	struct worker *workers[READERS_MOST] = { NULL };

	for (size_t i = 1; i < arrays->n_readers; i++) {
		workers[i] = worker_new();
		worker_start(workers[i], read_commits, &arrays->readers[i]);
	}
	read_commits(&arrays->readers[0]);
	for (size_t i = 1; i < arrays->n_readers; i++) {
		worker_wait(workers[i]);
		worker_free(workers[i]);
	}
}

int
kept_runs_read(struct kept *kept, const struct kept_request *request,
               struct kept_runs *runs, struct error *why, struct error *error)
{
	struct kept_arrays *arrays = memory_array(1, sizeof *arrays, error);

	*runs = (struct kept_runs){ .arrays = arrays };
	kept->n_damaged = 0;
	if (arrays == NULL)
		return -1;
	arrays->n_outcomes = kept->n;
	arrays->outcomes = memory_array(kept->n, sizeof *arrays->outcomes,
	                                error);
	arrays->n_readers = worker_processors() < READERS_MOST ?
	    worker_processors() : READERS_MOST;
	for (size_t i = 0; i < arrays->n_readers && !error->is_set; i++)
		arrays->readers[i] = (struct reader_of_runs){
			.kept = kept, .request = request,
			.first = i, .step = arrays->n_readers,
			.outcomes = arrays->outcomes,
			.names = names_new(error),
		};
	if (error->is_set)
		return -1;
	read_on_threads(arrays);
	for (size_t i = 0; i < arrays->n_readers; i++)
		if (arrays->readers[i].error.is_set)
			return error_pass(error, &arrays->readers[i].error);
	return use_outcomes(runs, arrays, kept, why, error) != 0 ? -1 :
	    make_rows(runs, error);
}
