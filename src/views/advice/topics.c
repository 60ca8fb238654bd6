/* SPDX-License-Identifier: GPL-3.0-or-later */
/* topics.c -- what explain says of some resources only.
 *
 * A finding is about one function.  Only those count whose score is LEAST_SHARE
 * and SURE standard errors above zero.  Of the ones whose score is NEARLY the
 * highest, or less by no more than its standard error, it is that with fewest
 * hits, since a caller that does little else has about the same score; of equal
 * ones, that which is furthest in where it is outermost, and then the first by
 * name.
 *
 * serial	A function's share of latency minus its share of the CPU time.
 *		What runs while few others do has more latency.
 * growth	What a function's stacks have in use at the end, minus what they
 *		had at half of the run; if the level rose in both halves of that
 *		time, by LEAST_RISE of it.
 *
 * tail		A function's share of what the slowest observed calls used minus
 *		its share of what the others used.  The slowest are one in 1,000,
 *		100, 20 or 10, as soon as they are LEAST_SLOW.  Only if nothing was
 *		refined.
 * waits	The two functions of which one has waited longest for the other;
 *		of both the callers of what waits and of what ends waits.  Waits
 *		for locks go before those for the end of threads, and these
 *		before those for work (waits_group).
 *
 * Cost: some passes over the nodes; for growth, the entries of the timeline; for
 * waits, those of pairs, sorted.
 */
#include "src/views/advice/advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/units.h"
#include "src/profile/large_array.h"
#include "src/profile/sections.h"
#include "src/views/lists/lists.h"

static const double NEARLY = 0.9, SURE = 3, LEAST_RISE = 0.25,
    LEAST_SHARE = 0.01;

enum { FEW_SLICES = 8, LEAST_SLOW = 20 };

/* What a topic has to work with. */
struct topic_input {
	const struct view_request *request;
	const struct sample_set *set;
	double denominator;		/* of percentages */
	struct table *table;		/* for texts */
};

/* ---- totals of other hits of the same tree ---- */

/* Another set of the same stacks, and what each function has of it. */
struct topic_totals {
	struct function_total *items;	/* in the order of all such totals */
	uint32_t n;
	double all, samples;
};

/*
 * Of the hits self[n_rows] of a tree with the set's nodes.  The names and their
 * order depend on the nodes alone.
 */
static int
topic_totals_make(struct topic_totals *totals, const struct sample_set *set,
                  const struct sample_tree *tree, const uint64_t *self,
                  struct error *error)
{
	uint64_t *sums = sample_tree_new_sums(tree, self, error);
	struct sample_set other = *set;

	*totals = (struct topic_totals){ .items = NULL };
	if (sums == NULL)
		return -1;
	other.tree = tree;
	other.self = self;
	other.sums = sums;
	totals->items = function_totals(&other, &totals->n, error);
	large_array_free(sums);
	return totals->items == NULL ? -1 : 0;
}

/* The same of a resource, with its samples. */
static int
topic_totals_of(struct topic_totals *totals, const struct sample_set *set,
                const struct sample_tree *tree, uint32_t resource,
                struct error *error)
{
	if (topic_totals_make(totals, set, tree, tree->hits[resource],
	                      error) != 0)
		return -1;
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		totals->all += (double)sample_tree_hits(tree, resource, i);
		totals->samples += (double)sample_tree_samples(tree, resource,
		                                               i);
	}
	return 0;
}

static double
topic_hits(const struct topic_totals *totals, uint32_t i)
{
	return (double)totals->items[i].inclusive;
}

/* The variance of a number of hits, by the hits of a sample. */
static double
topic_variance(const struct topic_totals *totals, double hits)
{
	return totals->samples > 0 ?
	    fmax(totals->all / totals->samples, 1) * hits : hits;
}

/* Of a share. */
static double
topic_share_variance(const struct topic_totals *totals, double share)
{
	return topic_variance(totals, share * (1 - share)) / totals->all;
}

/* ---- the function ---- */

/* Of a function, a share; and its standard error. */
struct topic_score {
	double share, deviation;
};

static bool
topic_is_sure(const struct topic_score *score)
{
	return score->share >= LEAST_SHARE &&
	    score->share > SURE * score->deviation;
}

/* By their shares of a, less those of b; [a->n], freed with free(). */
static struct topic_score *
topic_score_shares(const struct topic_totals *a, const struct topic_totals *b,
                   struct error *error)
{
	struct topic_score *scores = memory_array(a->n, sizeof *scores, error);

	for (uint32_t i = 0; scores != NULL && i < a->n && a->all > 0 &&
	     b->all > 0; i++) {
		const double of_a = topic_hits(a, i) / a->all;
		const double of_b = topic_hits(b, i) / b->all;

		scores[i].share = of_a - of_b;
		scores[i].deviation = sqrt(topic_share_variance(a, of_a) +
		                           topic_share_variance(b, of_b));
	}
	return scores;
}

/* [names] how far in a function is where it is outermost. */
static uint32_t *
topic_depths(const struct sample_set *set, struct error *error)
{
	const struct sample_tree *tree = set->tree;
	uint32_t *of_name = memory_array(names_count(set->names),
	                                 sizeof *of_name, error);
	uint32_t *of_node = memory_array(tree->n_nodes, sizeof *of_node,
	                                 error);

	for (uint32_t i = 0; !error->is_set && i < tree->n_nodes; i++) {
		uint32_t *least = &of_name[tree->label[i]];

		of_node[i] = sample_tree_parent(tree, i) == NO_NODE ? 1 :
		    of_node[sample_tree_parent(tree, i)] + 1;
		if (*least == 0 || of_node[i] < *least)
			*least = of_node[i];
	}
	free(of_node);
	return of_name;
}

static bool
topic_is_before(const struct function_total *a, const struct function_total *b,
                const uint32_t *depths, const struct names *names)
{
	if (a->inclusive != b->inclusive)
		return a->inclusive < b->inclusive;
	if (depths[a->name] != depths[b->name])
		return depths[a->name] > depths[b->name];
	return names_compare(names, a->name, b->name) < 0;
}

/*
 * The chosen one, by the file's comment; totals->n: there is none, or *error is
 * set.
 */
static uint32_t
topic_choose(const struct topic_score *scores,
             const struct topic_totals *totals, const struct sample_set *set,
             struct error *error)
{
	const uint32_t n = totals->n;
	uint32_t *depths = topic_depths(set, error);
	double highest = 0;
	uint32_t chosen = n;

	for (uint32_t i = 0; i < n; i++)
		if (topic_is_sure(&scores[i]))
			highest = fmax(highest, scores[i].share);
	for (uint32_t i = 0; !error->is_set && i < n; i++)
		if (topic_is_sure(&scores[i]) &&
		    scores[i].share + scores[i].deviation >=
		    NEARLY * highest && (chosen == n ||
		    topic_is_before(&totals->items[i], &totals->items[chosen],
		                    depths, set->names)))
			chosen = i;
	free(depths);
	return chosen;
}

/* ---- latency ---- */

/* Of a function that has hits of both. */
static const char *
topic_say_serial(const struct topic_input *input, uint32_t beside,
                 const struct topic_totals *latency,
                 const struct topic_totals *cpu, uint32_t at,
                 bool is_latency, struct error *error)
{
	const double here = (double)input->set->resource->interval,
	    there = (double)input->set->profile->resources[beside].interval;

	return table_text(input->table, error, "Serial: %.0f%% of the latency, "
	    "%.0f%% of the CPU time; %.1f ran on average",
	    100 * topic_hits(latency, at) / latency->all,
	    100 * topic_hits(cpu, at) / cpu->all,
	    topic_hits(cpu, at) * (is_latency ? there : here) /
	    (topic_hits(latency, at) * (is_latency ? here : there)));
}

/*
 * `own` is what explain explains, `other` the other one of latency and cpu.
 */
static int
topic_serial(const struct topic_input *input, uint32_t beside,
             struct topic *topic, struct error *error)
{
	const struct sample_set *set = input->set;
	const bool is_latency = set->resource->kind->is_divided;
	struct topic_totals own, other = { 0 };
	const struct topic_totals *latency = is_latency ? &own : &other;
	const struct topic_totals *cpu = is_latency ? &other : &own;
	struct topic_score *scores = NULL;
	uint32_t at;

	if (topic_totals_of(&own, set, set->tree, set->resource_number,
	                    error) == 0 &&
	    topic_totals_of(&other, set, set->tree, beside, error) == 0)
		scores = topic_score_shares(latency, cpu, error);
	at = scores == NULL ? own.n : topic_choose(scores, cpu, set, error);
	if (at < own.n) {
		topic->kind = "serial";
		topic->function = own.items[at].name;
		topic->hits = own.items[at].inclusive;
		topic->text = topic_say_serial(input, beside, latency, cpu, at,
		                               is_latency, error);
		topic->commands[0] = is_latency ? "columns latency cpu" :
		    "resource latency";
	}
	free(scores);
	free(own.items);
	free(other.items);
	return error->is_set ? -1 : 0;
}

/* ---- memory in use ---- */

/* What is in use at the end of a slice. */
static int
topic_totals_at(struct topic_totals *totals, const struct sample_set *set,
                uint32_t slice, struct error *error)
{
	const struct slice_set slices = {
		.slices = UINT64_MAX >> (TIMELINE_SLICES - 1 - slice),
		.has_no_time = true,
	};
	struct sample_tree *tree = tree_time_select(set->tree, &slices, error);
	int status = tree == NULL ? -1 : topic_totals_of(totals, set, tree,
	    set->resource_number, error);

	if (tree != NULL)
		tree_time_free(tree);
	return status;
}

/*
 * What came after `half` and is in use at the end of the run, or NULL with
 * *error set.  A block that came and went in between adds nothing to the error
 * of the growth.
 */
static uint64_t *
topic_late_hits(const struct sample_set *set, uint32_t half,
                struct error *error)
{
	const struct sample_tree *tree = set->tree;
	const struct timeline *timeline = tree->timeline;
	const uint64_t *hits = timeline->hits[set->resource_number];
	uint64_t *late = memory_array(tree->n_rows, sizeof *late, error);

	for (uint32_t row = 0; late != NULL && row < tree->n_rows; row++)
		for (size_t i = timeline->first[row];
		     i < timeline->first[row + 1]; i++)
			if (timeline->slice[i] >= half)
				late[row] += hits[i];
	return late;
}

/*
 * Scores the growth of each function from `before` to `now`, which is the
 * difference of what came and what went meanwhile.
 */
static int
topic_score_growth(const struct topic_input *input, uint32_t half,
                   const struct topic_totals *before,
                   const struct topic_totals *now, struct topic_score *scores,
                   struct error *error)
{
	const struct sample_set *set = input->set;
	/* Within steps in time, it is not known what was left at their end. */
	const bool knows_late = set->tree->timeline->shown == UINT64_MAX;
	struct topic_totals late = { 0 };
	uint64_t *hits = NULL;
	int status = 0;

	if (knows_late) {
		hits = topic_late_hits(set, half, error);
		status = hits == NULL ? -1 : topic_totals_make(&late, set,
		    set->tree, hits, error);
	}
	for (uint32_t i = 0; status == 0 && i < now->n; i++) {
		const double m = topic_hits(before, i), e = topic_hits(now, i);
		const double exchanged = !knows_late ? m + e :
		    fmin(m + e, fmax(2 * topic_hits(&late, i) + m - e, 0));

		scores[i].share = (e - m) / input->denominator;
		scores[i].deviation = sqrt(topic_variance(now, exchanged)) /
		    input->denominator;
	}
	free(hits);
	free(late.items);
	return status;
}

static const char *
topic_amount(const struct topic_input *input, double hits, struct error *error)
{
	struct text_buffer text = { 0 };

	text_add_gticks(&text, (uint64_t)fmax(hits, 0),
	                input->set->resource->interval,
	                input->set->resource->gtick);
	return text_move(&text, &input->table->arena, error);
}

static const char *
topic_time(const struct topic_input *input, uint64_t ns, struct error *error)
{
	struct text_buffer text = { 0 };

	text_add_duration(&text, ns);
	return text_move(&text, &input->table->arena, error);
}

/* Fills in the topic, if the chosen function grew all the time. */
static int
topic_say_growth(const struct topic_input *input,
                 const struct topic_totals totals[3],
                 const struct topic_score *scores, uint64_t half_ns,
                 struct topic *topic, struct error *error)
{
	const uint32_t at = topic_choose(scores, &totals[2], input->set,
	                                 error);
	const char *now, *before, *half;
	double growth, late;

	if (at == totals[2].n)
		return error->is_set ? -1 : 0;
	growth = topic_hits(&totals[2], at) - topic_hits(&totals[0], at);
	late = topic_hits(&totals[2], at) - topic_hits(&totals[1], at);
	if (late < LEAST_RISE * growth || growth - late < LEAST_RISE * growth)
		return 0;
	now = topic_amount(input, topic_hits(&totals[2], at), error);
	before = topic_amount(input, topic_hits(&totals[0], at), error);
	half = topic_time(input, half_ns, error);
	if (error->is_set)
		return -1;
	topic->kind = "growth";
	topic->function = totals[2].items[at].name;
	topic->hits = (uint64_t)growth;
	topic->has_deviation = true;
	topic->deviation = scores[at].deviation;
	topic->text = table_text(input->table, error, "Growth: in use %s at "
	    "%s, half of the run, and %s at its end", before, half, now);
	topic->commands[0] = "leaks";
	topic->commands[1] = table_text(input->table, error, "base time ..%s",
	                                half);
	return error->is_set ? -1 : 0;
}

static int
topic_growth(const struct topic_input *input, uint32_t beside,
             struct topic *topic, struct error *error)
{
	const struct timeline *timeline = input->set->tree->timeline;
	struct topic_totals totals[3] = { 0 };	/* at 1/2, 3/4, the end */
	struct topic_score *scores = NULL;
	uint32_t last, half;
	int status = 0;

	(void)beside;
	if (timeline == NULL || timeline_find_level(timeline,
	        input->set->resource_number) == NULL)
		return 0;
	last = timeline_last(timeline, timeline->shown);
	half = (last + 1) / 2;
	if (last + 1 < FEW_SLICES)
		return 0;
	for (size_t i = 0; status == 0 && i < 3; i++)
		status = topic_totals_at(&totals[i], input->set, i == 0 ?
		    half - 1 : i == 1 ? half + (last - half) / 2 : last,
		    error);
	if (status == 0) {
		scores = memory_array(totals[2].n, sizeof *scores, error);
		status = scores == NULL ? -1 : topic_score_growth(input, half,
		    &totals[0], &totals[2], scores, error);
	}
	if (status == 0)
		status = topic_say_growth(input, totals, scores,
		    half * timeline->width_ns, topic, error);
	free(scores);
	for (size_t i = 0; i < 3; i++)
		free(totals[i].items);
	return status;
}

/* ---- slow calls ---- */

/* The tail of a function's calls. */
struct topic_tail {
	const struct observed_calls *calls;
	const char *percentile;		/* where it begins: "p99", */
	const char *share;		/* "1%" of all, */
	double ns;
	uint64_t bound_ns;		/* and of the classes */
};

/* Of one function; false: there is none, or *error is set. */
static bool
topic_tail_of(struct topic_tail *tail, const struct observed_calls *calls,
              struct error *error)
{
	static const struct {
		const char *percentile, *share;
		double p;
	} parts[] = { { "p99.9", "0.1%", 0.999 }, { "p99", "1%", 0.99 },
		{ "p95", "5%", 0.95 }, { "p90", "10%", 0.9 } };
	struct known_calls known;
	bool is_found = false;

	if (known_calls_make(&known, calls, error) != 0)
		return false;
	for (size_t i = 0; i < sizeof parts / sizeof *parts && !is_found; i++) {
		const double ns = call_lengths_quantile(&known.lengths,
		    &known.totals, parts[i].p).value;

		*tail = (struct topic_tail){ calls, parts[i].percentile,
			parts[i].share, ns,
			observed_calls_class_bound((uint64_t)ns) };
		is_found = (double)tail->bound_ns >= known.lengths.interval &&
		    call_lengths_above(&known.lengths,
		        (double)tail->bound_ns).value >= LEAST_SLOW;
	}
	known_calls_free(&known);
	return is_found;
}

/* is_slow[n_sections + 1], and is_other. */
static int
topic_tail_select(const struct topic_tail *tail, const struct profile *profile,
                  bool *is_slow, bool *is_other, struct error *error)
{
	struct text_buffer key = { 0 };
	struct section_selector selector = { .kind = SECTION_LABEL };

	text_add_string(&key, CALL_KEY);
	text_add_string(&key, tail->calls->function);
	if (key.failed) {
		text_free(&key);
		return error_out_of_memory(error);
	}
	selector.key = text_string(&key);
	selector.bound = (struct label_bound){ BOUND_AT_LEAST, true,
		(double)(tail->bound_ns / 1000 * 1000) };
	sections_select(profile, &selector, is_slow);
	selector.bound.kind = BOUND_BELOW;
	sections_select(profile, &selector, is_other);
	text_free(&key);
	return 0;
}

/*
 * A copy of the profile's stacks with two resources: what slow calls have of a
 * resource, and what the others have.  Its nodes are the profile's.
 */
struct topic_tail_stacks {
	struct sample_tree tree;
	uint64_t *hits[2], *samples[2];
};

static void
topic_tail_free(struct topic_tail_stacks *stacks)
{
	for (int side = 0; side < 2; side++) {
		free(stacks->hits[side]);
		free(stacks->samples[side]);
	}
}

static int
topic_tail_divide(struct topic_tail_stacks *stacks,
                  const struct topic_tail *tail, const struct profile *profile,
                  uint32_t resource, struct error *error)
{
	const struct sample_tree *from = profile->tree;
	const uint32_t n = profile->n_sections;
	bool *is_in = memory_array(2 * ((size_t)n + 1), sizeof *is_in, error);

	*stacks = (struct topic_tail_stacks){ .tree = *from };
	for (int side = 0; side < 2; side++) {
		stacks->hits[side] = memory_array(from->n_rows,
		    sizeof *stacks->hits[side], error);
		stacks->samples[side] = memory_array(from->n_rows,
		    sizeof *stacks->samples[side], error);
	}
	stacks->tree.n_resources = 2;
	stacks->tree.hits = stacks->hits;
	stacks->tree.samples = stacks->samples;
	stacks->tree.returns = NULL;
	stacks->tree.timeline = NULL;
	if (!error->is_set)
		topic_tail_select(tail, profile, is_in, is_in + n + 1, error);
	for (uint32_t i = 0; !error->is_set && i < n; i++)
		for (int side = 0; side < 2; side++)
			for (uint32_t node = profile->sections[i].begin;
			     is_in[side * (n + 1) + i] &&
			     node < profile->sections[i].end; node++) {
				const uint32_t row = sample_tree_row(from,
				                                     node);

				stacks->hits[side][row] = sample_tree_hits(
				    from, resource, node);
				stacks->samples[side][row] =
				    sample_tree_samples(from, resource, node);
			}
	free(is_in);
	return error->is_set ? -1 : 0;
}

static int
topic_say_tail(const struct topic_input *input, const struct topic_tail *tail,
               const struct topic_totals *slow,
               const struct topic_totals *others, uint32_t at,
               const struct topic_score *score, struct topic *topic,
               struct error *error)
{
	const double hits = topic_hits(slow, at);
	struct text_buffer name = { 0 }, length = { 0 };

	text_add_gticks(&length, (uint64_t)tail->ns, 1, "nanosecond");
	if (input->set->profile->n_calls > 1) {
		text_add_word(&name, tail->calls->function,
		              strlen(tail->calls->function));
		text_add_string(&name, " ");
	}
	if (name.failed || length.failed)
		error_out_of_memory(error);
	else {
		topic->kind = "tail";
		topic->function = slow->items[at].name;
		topic->hits = slow->items[at].inclusive;
		topic->has_deviation = true;
		topic->deviation = sqrt(topic_variance(slow, hits)) /
		    input->denominator;
		topic->text = table_text(input->table, error, "Tail: %s of the "
		    "calls of %.60s take %s or longer; of their time %.0f%% is "
		    "here, of the others' %.0f%% (%.0f +- %.1f points more)",
		    tail->share, tail->calls->function, text_string(&length),
		    100 * hits / slow->all,
		    100 * topic_hits(others, at) / others->all,
		    100 * score->share, 100 * score->deviation);
		topic->commands[0] = table_text(input->table, error,
		    "base calls %sbelow %s", text_string(&name),
		    tail->percentile);
		topic->commands[1] = table_text(input->table, error,
		    "narrow calls %sabove %s", text_string(&name),
		    tail->percentile);
	}
	text_free(&name);
	text_free(&length);
	return error->is_set ? -1 : 0;
}

/* Of the first function that has a tail. */
static int
topic_tail(const struct topic_input *input, uint32_t beside,
           struct topic *topic, struct error *error)
{
	const struct profile *profile = input->set->profile;
	struct sample_set set = *input->set;
	struct topic_totals slow = { 0 }, others = { 0 };
	struct topic_tail_stacks stacks = { .hits = { NULL } };
	struct topic_score *scores = NULL;
	struct sample_tree *named = NULL;
	struct topic_tail tail;
	bool is_own = false, is_found = false;
	uint32_t at;

	(void)beside;
	for (uint32_t i = 0; i < profile->n_calls && !is_found &&
	     !error->is_set; i++)
		is_found = topic_tail_of(&tail, &profile->calls[i], error);
	if (!is_found || set.n_steps > 0 || set.rule == NULL ||
	    profile->tree == NULL)
		return error->is_set ? -1 : 0;
	/* All names are there already, since the set has them. */
	if (topic_tail_divide(&stacks, &tail, profile, set.resource_number,
	                      error) == 0)
		named = profile_named_tree_of((struct profile *)profile,
		    &stacks.tree, set.rule, &is_own, error);
	set.tree = named;
	if (named != NULL &&
	    topic_totals_of(&slow, &set, named, 0, error) == 0 &&
	    topic_totals_of(&others, &set, named, 1, error) == 0)
		scores = topic_score_shares(&slow, &others, error);
	at = scores == NULL ? slow.n : topic_choose(scores, &slow, &set,
	                                            error);
	if (at < slow.n)
		topic_say_tail(input, &tail, &slow, &others, at, &scores[at],
		               topic, error);
	free(scores);
	free(slow.items);
	free(others.items);
	if (is_own && named != NULL)
		sample_tree_free(named);
	topic_tail_free(&stacks);
	return error->is_set ? -1 : 0;
}

/* ---- who waits for whom ---- */

/* The callers of what waited and of what ended the wait. */
struct topic_wait {
	enum wait_group group;
	uint32_t waiter, holder;	/* names; NO_NAME: not known */
	uint64_t hits;
};

/* The name of a node's caller, or its own if that is `end`. */
static uint32_t
topic_caller(const struct sample_tree *tree, uint32_t node, uint32_t end)
{
	const uint32_t caller = sample_tree_parent(tree, node);

	return tree->label[caller == NO_NODE || caller == end ? node : caller];
}

static struct topic_wait
topic_wait_at(const struct names *names, const struct sample_tree *tree,
              uint32_t node, uint32_t mark, uint64_t hits)
{
	uint32_t at = node;

	while (at != NO_NODE && tree->label[at] != mark)
		at = sample_tree_parent(tree, at);
	return (struct topic_wait){
		.group = waits_group(names, tree, node, at),
		.hits = hits,
		.holder = at == NO_NODE || at == node ? NO_NAME :
		    topic_caller(tree, node, at),
		.waiter = at == NO_NODE || sample_tree_parent(tree,
		    at) == NO_NODE ?
		    NO_NAME : topic_caller(tree, sample_tree_parent(tree, at),
		    NO_NODE),
	};
}

static int
topic_wait_compare(const void *left, const void *right)
{
	const struct topic_wait *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->waiter != b->waiter)
		return a->waiter < b->waiter ? -1 : 1;
	return a->holder < b->holder ? -1 : a->holder > b->holder;
}

/*
 * The most of the waits[n]; those of one pair become one.  A group is taken if
 * a pair in it has `least` hits, and no group before it has such a pair.
 */
static struct topic_wait
topic_wait_most(struct topic_wait *waits, uint32_t n, double least)
{
	struct topic_wait most = { WAIT_HELD_UP, NO_NAME, NO_NAME, 0 },
	    sum = most;

	if (n > 1)
		qsort(waits, n, sizeof *waits, topic_wait_compare);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || topic_wait_compare(&sum, &waits[i]) != 0)
			sum = waits[i];
		else
			sum.hits += waits[i].hits;
		if (sum.group != most.group && most.hits > 0)
			break;
		if ((double)sum.hits >= least && sum.hits > most.hits &&
		    sum.waiter != NO_NAME &&
		    sum.holder != NO_NAME)
			most = sum;
	}
	return most;
}

static int
topic_waits(const struct topic_input *input, uint32_t pairs,
            struct topic *topic, struct error *error)
{
	const struct sample_set *set = input->set;
	const struct sample_tree *tree = set->tree;
	const uint32_t mark = names_find(set->names, LOCK_PAIRS_MARK,
	                                 strlen(LOCK_PAIRS_MARK));
	struct topic_wait *waits = memory_array(tree->n_rows, sizeof *waits,
	                                        error), most;
	static const char *const which[N_WAIT_GROUPS] = {
		[WAIT_HELD_UP] = "",
		[WAIT_JOIN] = " to end; no lock holds others up",
		[WAIT_IDLE] = ", for work or a result; no lock holds others up",
	};
	double all = 0;
	uint32_t n = 0;

	for (uint32_t node = 0; waits != NULL && node < tree->n_nodes; node++) {
		const uint64_t hits = sample_tree_hits(tree, pairs, node);

		all += (double)hits;
		if (hits > 0)
			waits[n++] = topic_wait_at(set->names, tree, node, mark,
			                           hits);
	}
	most = topic_wait_most(waits, n, LEAST_SHARE * all);
	free(waits);
	if (error->is_set || most.hits == 0)
		return error->is_set ? -1 : 0;
	topic->kind = "waits";
	topic->function = most.holder;
	topic->hits = most.hits;
	topic->has_deviation = true;	/* none: all waits are measured */
	topic->text = table_text(input->table, error, "Waits: %.0f%% of all "
	    "waiting is that of %.60s for %.60s%s", 100 *
	    (double)most.hits / all, names_text(set->names, most.waiter),
	    names_text(set->names, most.holder), which[most.group]);
	topic->commands[0] = "waits";
	return error->is_set ? -1 : 0;
}

/* ---- all ---- */

/*
 * A row says what is looked for when `resource` is explained.  beside: another
 * resource that the profile must have, too; NULL: none.
 */
static const struct topic_row {
	const char *resource, *beside;
	int (*find)(const struct topic_input *input, uint32_t beside,
	            struct topic *topic, struct error *error);
} topic_rows[] = {
	{ "latency", "cpu", topic_serial },
	{ "cpu", "latency", topic_serial },
	{ "live-bytes", NULL, topic_growth },
	{ "live-allocs", NULL, topic_growth },
	{ "real", NULL, topic_tail },
	{ "blame", LOCK_PAIRS, topic_waits },
	{ "blame-taken", LOCK_PAIRS, topic_waits },
	{ "lock-waits", LOCK_PAIRS, topic_waits },
	{ LOCK_PAIRS, LOCK_PAIRS, topic_waits },
};

int
topics_find(const struct view_request *request, uint64_t denominator,
            struct topic *topics, size_t *n, struct table *table,
            struct error *error)
{
	const struct sample_set *set = request->set;
	const struct topic_input input = { request, set, (double)denominator,
		table };

	*n = 0;
	for (size_t i = 0; set->tree != NULL && set->profile != NULL &&
	     i < sizeof topic_rows / sizeof *topic_rows; i++) {
		const struct topic_row *row = &topic_rows[i];
		uint32_t beside = row->beside == NULL ? NO_RESOURCE :
		    profile_find_resource(set->profile, row->beside);

		if (*n == TOPICS_MAX || denominator == 0 ||
		    strcmp(row->resource, set->resource->name) != 0 ||
		    (row->beside != NULL && (beside == NO_RESOURCE ||
		     beside >= set->tree->n_resources)))
			continue;
		topics[*n] = (struct topic){ .text = NULL };
		if (row->find(&input, beside, &topics[*n], error) != 0)
			return -1;
		*n += topics[*n].text != NULL;
	}
	return 0;
}
