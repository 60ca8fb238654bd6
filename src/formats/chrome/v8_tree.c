/* SPDX-License-Identifier: GPL-3.0-or-later */
/* v8_tree.c -- CPU profiles of V8 as the tree of a profile.
 *
 * Hits are summed up by node, then nodes with hits are entered.  A sample is
 * charged with the time until the next one, as in DevTools: a delta belongs to
 * the sample before it.  Times may go back a little, since V8 takes them on
 * another thread.  A sample before the latest time so far then counts as taken
 * at that time, as in speedscope, so that no time counts twice.
 *
 * A sample's time is spread over the slices of the timeline, which may be
 * narrower.  The sample itself is in the first of them.
 */
#include "src/formats/chrome/v8_profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/symbols/names/program.h"

/* Rows between two checks for an interrupt. */
enum { ROWS_A_STEP = 1 << 16 };

/* Later times, in microseconds, are not noted: 285 years. */
#define MOST_TIME ((int64_t)9000000000000000)

/* Time and samples of a node. */
struct charge {
	uint64_t time, samples;
};

/* A profile of V8 that is being entered. */
struct entering {
	struct v8_tree *tree;
	const struct v8_profile *v8;
	bool is_cut_short;
	bool has_times, has_hits;
	bool is_endless;		/* the end of the last sample is not
					 * known */
	int64_t first, last;		/* times of samples; first > last: there
					 * are none by a common clock */
	uint64_t width_ns;		/* of the parts over which a sample's
					 * time is spread */
	uint32_t *parent, *label;	/* [n_rows] */
	uint32_t *nodes;		/* [n_rows], the reader's, of rows that
					 * were entered */
	struct charge *charges;		/* [n_rows] */
	uint32_t n_rows;		/* nodes, then sampled ids without a
					 * node */
	uint32_t *rows_of_ids;		/* [v8->id_numbers.n] */
};

int
v8_tree_begin(struct v8_tree *tree, struct source *source,
              const struct read_options *options, struct error *error)
{
	*tree = (struct v8_tree){ .json = NULL };
	if (reader_begin(&tree->reader, source, options, READER_OFFSETS,
	                 error) != 0)
		return -1;
	tree->json = json_reader_new(&tree->reader, error);
	return tree->json != NULL ? 0 : -1;
}

/* ---- times ---- */

/* Seconds in the older form, microseconds in the newer one; false: too many. */
static bool
find_bound(const struct v8_profile *v8, struct decimal bound, int64_t *time)
{
	return decimal_scale(bound, v8->is_old ? 6 : 0, time, NULL) &&
	       *time <= INT64_MAX / 2 && *time >= -INT64_MAX / 2;
}

/* When a sample was taken, if that of the one before is `last`. */
static bool
find_time(const struct v8_profile *v8, size_t sample, int64_t last,
          int64_t *time)
{
	if (!v8->are_absolute)
		return !__builtin_add_overflow(last, v8->times[sample], time);
	*time = v8->times[sample];
	return true;
}

/*
 * When the profile ended; false: that is not known, or not by the clock of the
 * samples, whose deltas count from a start that is not in the file.
 */
static bool
v8_tree_find_end(const struct v8_profile *v8, int64_t *end)
{
	return v8->has_end && (v8->has_start || v8->are_absolute) &&
	       find_bound(v8, v8->end, end);
}

/* Whether times count from the same as those of the file's other profiles. */
static bool
has_clock(const struct v8_profile *v8)
{
	return v8->has_times && (v8->has_start || v8->are_absolute);
}

void
v8_tree_announce(struct v8_tree *tree, const struct v8_profile *v8)
{
	int64_t time = 0;

	if (!has_clock(v8) || v8->n_samples == 0 || v8->n_times == 0 ||
	    (v8->has_start && !find_bound(v8, v8->start, &time)) ||
	    !find_time(v8, 0, time, &time) || time < 0 ||
	    (tree->has_earliest && time >= tree->earliest))
		return;
	tree->earliest = time;
	tree->has_earliest = true;
}

/* The row of a sample, which was taken at `begin` and lasted until `end`. */
typedef int timed_sample(struct entering *entering, uint32_t row,
                         int64_t begin, int64_t end, struct error *error);

/*
 * Calls `use` for each sample whose time is known.  latest: the greatest time
 * so far, since the clock must not go back.  If there is one time more than
 * samples, it says when the last sample ended (Chromium's DevTools,
 * CPUProfileDataModel.ts).
 */
static int
each_timed_sample(struct entering *entering, timed_sample *use,
                  struct error *error)
{
	const struct v8_profile *v8 = entering->v8;
	int64_t time = 0, latest = 0, end = 0;

	if (v8->has_start && !find_bound(v8, v8->start, &time))
		return error_set(error, "a start time that exceeds 63 bits");
	for (size_t i = 0; i <= v8->n_samples && i < v8->n_times; i++) {
		if (i % ROWS_A_STEP == 0 &&
		    progress_step(NULL, 0, 0, error) != 0)
			return -1;
		if (!find_time(v8, i, time, &time))
			return error_set(error, "the time of sample %zu exceeds "
			                 "63 bits", i);
		if (i > 0 && use(entering, entering->rows_of_ids[
		        v8->samples[i - 1]], latest,
		        time > latest ? time : latest, error) != 0)
			return -1;
		if (i == 0 || time > latest)
			latest = time;
	}
	if (v8->n_times != v8->n_samples || v8->n_samples == 0)
		return 0;
	entering->is_endless = !v8_tree_find_end(v8, &end);
	if (entering->is_endless || end < latest)
		end = latest;
	return use(entering, entering->rows_of_ids[
	    v8->samples[v8->n_samples - 1]], latest, end, error);
}

static int
charge_sample(struct entering *entering, uint32_t row, int64_t begin,
              int64_t end, struct error *error)
{
	(void)error;
	entering->charges[row].time += (uint64_t)end - (uint64_t)begin;
	if (entering->first > entering->last)
		entering->first = begin;
	entering->last = end;
	return 0;
}

/* The nanoseconds of a time; the microseconds are from 0 to MOST_TIME. */
static uint64_t
ns_of(int64_t time)
{
	return (uint64_t)time * 1000;
}

/* Notes when a sample was taken, and spreads its time. */
static int
note_sample(struct entering *entering, uint32_t row, int64_t begin,
            int64_t end, struct error *error)
{
	struct v8_tree *tree = entering->tree;
	const uint64_t from = ns_of(tree->earliest);
	uint64_t done = 0, at = ns_of(begin);
	uint32_t node = entering->nodes[row];

	if (reader_add_time(&tree->reader, node, tree->samples - 1, at, 1, 1,
	                    error) != 0)
		return -1;
	do {
		/* The next part begins at a multiple of the width. */
		const uint64_t next = at + entering->width_ns -
		    (at - from) % entering->width_ns;
		const uint64_t until = next < ns_of(end) ?
		    next / 1000 - (uint64_t)begin :
		    (uint64_t)end - (uint64_t)begin;

		if (reader_add_time(&tree->reader, node, tree->time - 1, at,
		        until - done, at == ns_of(begin), error) != 0)
			return -1;
		done = until;
		at = next;
	} while (done < (uint64_t)end - (uint64_t)begin);
	return 0;
}

/*
 * Notes the times of all samples.  The parts of a sample that lasts long begin
 * where slices of the timeline do, which may be wider.
 */
static int
v8_tree_note_times(struct entering *entering, struct error *error)
{
	const int64_t earliest = entering->tree->earliest;
	uint64_t length_ns;

	if (!has_clock(entering->v8) || entering->first > entering->last ||
	    entering->first < 0 || entering->last > MOST_TIME)
		return 0;
	length_ns = ns_of(entering->last) - ns_of(earliest);
	entering->width_ns = timeline_width(length_ns > 0 ? length_ns - 1 : 0);
	return each_timed_sample(entering, note_sample, error);
}

/* ---- rows ---- */

/* The node that called a node; NO_ROW: none. */
static uint32_t
v8_tree_find_parent(const struct v8_profile *v8, const struct v8_node *node)
{
	if (node->parent != NO_ROW)
		return node->parent;
	if (node->parent_id != NO_ID)
		return v8->ids[node->parent_id].node;
	return node->id != NO_ID ? v8->ids[node->id].parent : NO_ROW;
}

static bool
is_root(const struct v8_profile *v8, uint32_t node)
{
	static const char name[] = "(root)";
	uint32_t function = v8->nodes[node].function;

	return function != NO_NAME &&
	       names_length(v8->names, function) == sizeof name - 1 &&
	       memcmp(names_text(v8->names, function), name,
	              sizeof name - 1) == 0;
}

/* Finds the row of each id; a sampled id without a node gets a new row. */
static int
v8_tree_find_rows(struct entering *entering, struct error *error)
{
	const struct v8_profile *v8 = entering->v8;

	entering->n_rows = v8->n_nodes;
	entering->rows_of_ids = memory_array(v8->id_numbers.n,
	                                     sizeof(uint32_t), error);
	if (entering->rows_of_ids == NULL)
		return -1;
	for (uint32_t i = 0; i < v8->id_numbers.n; i++)
		entering->rows_of_ids[i] = v8->ids[i].node;
	for (size_t i = 0; i < v8->n_samples; i++) {
		uint32_t *row = &entering->rows_of_ids[v8->samples[i]];

		if (*row < v8->n_nodes)
			continue;
		if (*row == NO_ROW)
			*row = entering->n_rows++;
		entering->tree->n_unknown++;
	}
	return 0;
}

/* ---- frames ---- */

static const char *
last_of_url(const char *url)
{
	const char *slash = strrchr(url, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : url;
}

/* File, line and column distinguish functions without a name. */
static uint32_t
v8_tree_name_function(const struct v8_profile *v8, const struct v8_node *node,
                      struct error *error)
{
	/* Functions of WebAssembly can have mangled names. */
	if (node->function != NO_NAME)
		return demangle_and_add(v8->names,
		    names_text(v8->names, node->function),
		    names_length(v8->names, node->function), error);
	if (node->file == NO_NAME)
		return names_add(v8->names, "(anonymous)", 11, error);
	return names_add_format(v8->names, error, "(anonymous %s:%" PRIu32 ":%"
	    PRIu32 ")", last_of_url(names_text(v8->names, node->file)),
	    node->line, node->column);
}

/* Turns a file: URL into the path, as in other formats; keeps other URLs. */
static uint32_t
v8_tree_name_file(const struct v8_profile *v8, const struct v8_node *node,
                  struct error *error)
{
	static const char scheme[] = "file:///";
	const size_t n = sizeof scheme - 1;
	const char *text;
	size_t length;

	if (node->file == NO_NAME)
		return NO_NAME;
	text = names_text(v8->names, node->file);
	length = names_length(v8->names, node->file);
	if (length <= n || memcmp(text, scheme, n) != 0)
		return node->file;
	return names_add(v8->names, text + n - 1, length - n + 1, error);
}

static uint32_t
v8_tree_add_frame(struct entering *entering, uint32_t row, struct error *error)
{
	const struct v8_profile *v8 = entering->v8;
	struct location location = { .file = NO_NAME };

	if (row < v8->n_nodes) {
		const struct v8_node *node = &v8->nodes[row];

		location.function = v8_tree_name_function(v8, node, error);
		location.file = v8_tree_name_file(v8, node, error);
		location.line = node->line;
	} else {
		location.function = names_add(v8->names, "[unknown node]", 14,
		                              error);
	}
	if (error->is_set)
		return UINT32_MAX;
	return profile_add_frame(entering->tree->reader.profile, NO_MODULE, 0,
	                         &location, 1, error);
}

static int
v8_tree_make_rows(struct entering *entering, struct error *error)
{
	const struct v8_profile *v8 = entering->v8;
	uint32_t n = entering->n_rows;

	entering->parent = memory_array(n, sizeof(uint32_t), error);
	entering->label = memory_array(n, sizeof(uint32_t), error);
	entering->charges = memory_array(n, sizeof *entering->charges, error);
	entering->nodes = memory_array(n, sizeof(uint32_t), error);
	if (error->is_set)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		bool is_node = i < v8->n_nodes;

		entering->parent[i] = is_node ?
		    v8_tree_find_parent(v8, &v8->nodes[i]) : NO_ROW;
		entering->label[i] = is_node && is_root(v8, i) &&
		    entering->parent[i] == NO_ROW ? NO_LABEL :
		    v8_tree_add_frame(entering, i, error);
	}
	return error->is_set ? -1 : 0;
}

/* ---- hits ---- */

static int
v8_tree_add_resources(struct entering *entering, struct error *error)
{
	struct v8_tree *tree = entering->tree;

	if (entering->has_times &&
	    reader_need_resource(&tree->reader, &tree->time, "time",
	                         "microsecond", 1, error) == NO_RESOURCE)
		return -1;
	return reader_need_resource(&tree->reader, &tree->samples, "samples",
	                            "", 1, error) != NO_RESOURCE ? 0 : -1;
}

static int
v8_tree_add_hits(struct entering *entering, uint32_t row, uint32_t node,
                 struct error *error)
{
	const struct v8_profile *v8 = entering->v8;
	const struct charge *charge = &entering->charges[row];
	struct v8_tree *tree = entering->tree;
	uint64_t hits = charge->samples;

	if (entering->has_hits)
		hits = row < v8->n_nodes ? v8->nodes[row].hits : 0;
	if (entering->has_times &&
	    reader_add_hits(&tree->reader, node, tree->time - 1, charge->time,
	                    charge->samples, error) != 0)
		return -1;
	return reader_add_hits(&tree->reader, node, tree->samples - 1, hits,
	                       hits, error);
}

/* Hits of "(root)" itself need a node, which it has only then. */
static int
v8_tree_enter_row(struct entering *entering, struct stack_rows *rows,
                  uint32_t row, struct error *error)
{
	struct reader *reader = &entering->tree->reader;
	uint32_t node, frame;

	if (reader_enter_row(reader, rows, row, &node, error) != 0)
		return -1;
	if (node == NO_NODE) {
		frame = v8_tree_add_frame(entering, row, error);
		if (frame == UINT32_MAX)
			return -1;
		node = reader_child(reader, NO_NODE, frame, error);
	}
	entering->nodes[row] = node;
	return node != NO_NODE ? v8_tree_add_hits(entering, row, node, error) :
				 -1;
}

static int
enter_rows(struct entering *entering, struct error *error)
{
	const struct v8_profile *v8 = entering->v8;
	struct stack_rows rows = { .parent = entering->parent,
		.label = entering->label, .n = entering->n_rows };
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < entering->n_rows; i++) {
		if (i % ROWS_A_STEP == 0)
			result = progress_step(NULL, 0, 0, error);
		if (result == 0 && (entering->charges[i].samples > 0 ||
		    (i < v8->n_nodes && v8->nodes[i].hits > 0)))
			result = v8_tree_enter_row(entering, &rows, i, error);
	}
	stack_rows_free(&rows);
	return result;
}

/* ---- the whole ---- */

static int
charge_samples(struct entering *entering, struct error *error)
{
	const struct v8_profile *v8 = entering->v8;

	entering->has_times = v8->has_times;
	entering->last = -1;	/* before the first */
	for (uint32_t i = 0; i < v8->n_nodes; i++)
		entering->has_hits |= v8->nodes[i].hits > 0;
	for (size_t i = 0; i < v8->n_samples; i++)
		entering->charges[entering->rows_of_ids[
		    v8->samples[i]]].samples++;
	if (v8->has_times && v8->n_times != v8->n_samples &&
	    v8->n_times != v8->n_samples + 1 && !entering->is_cut_short)
		return error_set(error, "%zu samples have %zu times",
		                 v8->n_samples, v8->n_times);
	return v8->has_times ?
	    each_timed_sample(entering, charge_sample, error) : 0;
}

int
v8_tree_add(struct v8_tree *tree, const struct v8_profile *v8)
{
	struct entering entering = { .tree = tree, .v8 = v8,
		.is_cut_short = tree->reader.is_cut_short };
	struct error why = { 0 };
	int result = -1;

	if (v8_tree_find_rows(&entering, &why) == 0 &&
	    v8_tree_make_rows(&entering, &why) == 0 &&
	    charge_samples(&entering, &why) == 0 &&
	    v8_tree_add_resources(&entering, &why) == 0 &&
	    enter_rows(&entering, &why) == 0 &&
	    v8_tree_note_times(&entering, &why) == 0 &&
	    (v8->hits_below_zero == 0 ||
	     reader_note_below_zero(&tree->reader, tree->samples - 1,
	                            v8->hits_below_zero - 1, &why) == 0))
		result = 0;
	else
		json_pass(tree->json, v8->samples_offset, &why);
	tree->n_profiles++;
	tree->n_endless += entering.is_endless && !entering.is_cut_short;
	free(entering.parent);
	free(entering.label);
	free(entering.charges);
	free(entering.nodes);
	free(entering.rows_of_ids);
	return result;
}

static int
v8_tree_finish(struct v8_tree *tree, struct error *error)
{
	struct reader *reader = &tree->reader;

	if (reader_warn_cut_short(reader, "", error) != 0)
		return -1;
	if (tree->n_endless > 0 &&
	    reader_warn(reader, error, "the last sample has no time in %"
	                PRIu64 " of %" PRIu64 " profiles, of which the file "
	                "lacks the start or the end", tree->n_endless,
	                tree->n_profiles) != 0)
		return -1;
	if (tree->n_unknown > 0 &&
	    reader_warn(reader, error, "samples of nodes that are not in the "
	                "file: %" PRIu64 ", shown as [unknown node]",
	                tree->n_unknown) != 0)
		return -1;
	return reader_finish_stacks(reader, NULL, error) == 0 ?
	       reader_drop_below_zero(reader, NULL, error) : -1;
}

struct profile *
v8_tree_end(struct v8_tree *tree, int result, struct error *error)
{
	if (result == 0)
		result = v8_tree_finish(tree, error);
	json_reader_free(tree->json);
	return reader_end(&tree->reader, result);
}
