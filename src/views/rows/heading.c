/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heading.c -- the header and footer lines and the fields of every view. */
#include "src/views/rows/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/units.h"

enum { LOST_PART = 100 };	/* of the hits: a smaller part is not
				 * reported */

int
view_need_root(const struct view_request *request,
               const struct table *table, struct error *error)
{
	if (request->root != NO_NAME)
		return 0;
	return error_set(error, "there is no root function; name one after "
	                 "%s, or choose one with \"root FUNCTION\"",
	                 table->view);
}

/* A function as a cell; an empty one with *error set. */
static struct cell
function_cell(const struct view_request *request, uint32_t name,
              struct table *table, struct error *error)
{
	struct call_paths *paths = arena_alloc(&table->arena, sizeof *paths,
	                                       error);

	if (paths == NULL)
		return (struct cell){ .kind = CELL_EMPTY };
	paths->names = request->set->names;
	return cell_name(paths, name);
}

int
view_add_root_field(const struct view_request *request, bool has_root,
                    struct table *table, struct error *error)
{
	struct cell root = { .kind = CELL_EMPTY };

	has_root = has_root && request->root != NO_NAME;
	if (has_root)
		root = function_cell(request, request->root, table, error);
	if (has_root && root.kind == CELL_EMPTY)
		return -1;
	return table_add_field(table, "root", NULL, root, error);
}

/* Adds a header line with the root's name after `before`. */
static int
add_root_line(const struct view_request *request, const char *before,
              const char *root, const char *after, struct table *table,
              struct error *error)
{
	struct cell cell = function_cell(request, request->root, table,
	                                 error);

	if (cell.kind == CELL_EMPTY || after == NULL ||
	    table_add_header(table, error, "%s%s%s", before, root, after) != 0)
		return -1;
	table_mark_header_name(table, strlen(before), strlen(root), cell);
	return 0;
}

/* The hits lost, or the samples lost, which is what perf reports. */
static uint64_t
heading_count_lost(const struct resource *resource, bool are_samples)
{
	uint64_t lost = 0;

	for (int i = 0; i < N_LOSSES; i++)
		if (loss_kinds[i].counts_samples == are_samples)
			count_add(&lost, resource->lost[i]);
	return lost;
}

static int
add_lost_field(const struct resource *resource, const char *key,
               bool are_samples, struct table *table, struct error *error)
{
	uint64_t lost = heading_count_lost(resource, are_samples);

	return lost == 0 ? 0 :
	    table_add_field(table, key, NULL, cell_count(lost), error);
}

int
view_add_resource(const struct sample_set *set, struct table *table,
                  struct error *error)
{
	const struct resource *resource = set->resource;
	const struct field fields[] = {
		{ "resource.name", NULL, cell_text(resource->name) },
		{ "resource.gtick", NULL, cell_text(resource->gtick) },
		{ "resource.interval", NULL, cell_count(resource->interval) },
	};

	table->gtick = resource->gtick;
	table->interval = resource->interval;
	table->has_unit = hits_have_unit(set);
	return table_add_fields(table, fields, sizeof fields / sizeof *fields,
	                        error);
}

static int
heading_add_fields(const struct view_request *request,
                   const struct view_kind *kind, const struct measure *measure,
                   const struct hidden *hidden, struct table *table,
                   struct error *error)
{
	const struct sample_set *set = request->set;
	struct field fields[5];
	size_t n = 0;

	fields[n++] = (struct field){ "total", NULL, cell_count(set->total) };
	if (set->n_steps > 0)
		fields[n++] = (struct field){ "refined", NULL,
			cell_count(set->left) };
	fields[n++] = (struct field){ "denominator", NULL,
		cell_count(measure->denominator) };
	fields[n++] = (struct field){ "hidden", NULL,
		cell_count(hidden_sum(hidden)) };
	if (hidden->least_searched > 0)
		fields[n++] = (struct field){ "least_searched", NULL,
			cell_count(hidden->least_searched) };
	if (view_add_root_field(request, kind->has_root, table, error) != 0 ||
	    view_add_resource(set, table, error) != 0 ||
	    table_add_fields(table, fields, n, error) != 0 ||
	    add_lost_field(set->resource, "lost", false, table, error) != 0)
		return -1;
	return add_lost_field(set->resource, "lost_samples", true, table,
	                      error);
}

static const char *
heading_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Whether a hit is just a sample, or whatever the input counts. */
static bool
heading_is_plain(const struct resource *resource)
{
	return resource->interval == 1 && (*resource->gtick == '\0' ||
	       strcmp(resource->gtick, "sample") == 0);
}

/* Adds ", one per 200 ms"; nothing if a hit is just a sample. */
static void
heading_add_interval(struct text_buffer *text, const char *what,
                     const struct resource *resource)
{
	if (heading_is_plain(resource))
		return;
	text_add_string(text, what);
	text_add_interval(text, resource->interval, resource->gtick);
}

/*
 * "9950 hits in 812 samples", or "812 samples, 19.9 s".  Weights, of which it is
 * not known how many samples they are, are only an amount.
 */
static void
heading_add_amount(struct text_buffer *text, const struct sample_set *set)
{
	const struct resource *resource = set->resource;
	uint64_t n_samples = set->n_samples;

	if (!hits_have_unit(set)) {
		text_add_hits(text, set, set->total);
		text_add_format(text, " in %" PRIu64 " sample%s", n_samples,
		                heading_plural(n_samples));
		if (heading_is_plain(resource))
			text_add_string(text, ", as the input weights them");
		else
			heading_add_interval(text, ", one hit per ", resource);
		return;
	}
	if (set->flow == NULL && n_samples > 0 && n_samples != set->total)
		text_add_format(text, "%" PRIu64 " sample%s, ", n_samples,
		                heading_plural(n_samples));
	text_add_hits(text, set, set->total);
	if (resource->interval == 1 || set->total < n_samples)
		return;
	text_add_string(text, "; a sample can stand for several intervals of ");
	text_add_total_gticks(text, 1, resource->interval, resource->gtick);
}

/*
 * "614 samples, one per 200 ms", or what heading_add_amount says; without
 * stacks, values can be estimates.
 */
static int
add_samples_line(const struct sample_set *set, struct table *table,
                 struct error *error)
{
	struct text_buffer line = { 0 };
	int status;

	if (set->flow != NULL && !hits_have_unit(set)) {
		text_add_hits(&line, set, set->total);
		heading_add_interval(&line, ", one per ", set->resource);
	} else if (set->flow == NULL && set->total == set->n_samples &&
	           !hits_have_unit(set)) {
		text_add_format(&line, "%" PRIu64 " sample%s", set->n_samples,
		                heading_plural(set->n_samples));
		heading_add_interval(&line, ", one per ", set->resource);
	} else {
		heading_add_amount(&line, set);
	}
	if (set->flow != NULL)
		text_add_string(&line, ", in calls without stacks; ~ marks "
		                "estimates");
	status = table_add_header(table, error, "%s", text_string(&line));
	if (line.failed)
		status = error_out_of_memory(error);
	text_free(&line);
	return status;
}

/*
 * Where more than one percent of the hits have no function's name, says what
 * to do.
 */
static int
add_placeholder_lines(const struct sample_set *set, struct table *table,
                   struct error *error)
{
	static const char *const what[N_FRAME_PLACEHOLDERS] = {
		[FRAME_OF_JIT] = "passed through code generated at run "
		    "time without names, shown as [jit]",
		[FRAME_OF_OTHER_BUILD] = "passed through programs that were "
		    "rebuilt since, shown as [PROGRAM]",
	};

	struct text_buffer remedy = { 0 };
	int status = 0;

	for (int kind = 0; kind < N_FRAME_PLACEHOLDERS && status == 0; kind++) {
		uint64_t hits = set->placeholders[kind];
		const char *text;

		if (what[kind] == NULL || hits <= set->total / 100)
			continue;
		if (kind == FRAME_OF_JIT) {
			text_add_string(&remedy, "; for names, ");
			jit_runtimes_add_remedies(set->profile, &remedy);
		}
		text = hits_text_of(set, hits, set->total, table, error);
		status = text == NULL ? -1 : table_add_header(table, error,
		    "%s %s%s", text, what[kind],
		    kind == FRAME_OF_JIT ? text_string(&remedy) : "");
	}
	if (remedy.failed)
		status = error_out_of_memory(error);
	text_free(&remedy);
	return status;
}

/* The reason for more than half of the loss, or NULL. */
static const char *
main_reason(const struct resource *resource, bool are_samples, uint64_t lost)
{
	for (int i = 0; i < N_LOSSES; i++)
		if (loss_kinds[i].counts_samples == are_samples &&
		    resource->lost[i] > lost / 2)
			return loss_kinds[i].why;
	return NULL;
}

/*
 * "46 of 466 hits lost: buffers, memory or disk were full", where the loss is
 * large enough.
 */
static int
add_lost_line(const struct sample_set *set, bool are_samples,
              struct table *table, struct error *error)
{
	uint64_t lost = heading_count_lost(set->resource, are_samples), all;
	const char *why = main_reason(set->resource, are_samples, lost);
	const char *text;

	if (__builtin_add_overflow(are_samples ? set->n_samples : set->total,
	                           lost, &all))
		all = UINT64_MAX;
	if (lost <= all / LOST_PART)
		return 0;
	text = are_samples ?
	    table_text(table, error, "%" PRIu64 " of %" PRIu64 " sample%s",
	               lost, all, heading_plural(all)) :
	    hits_text_of(set, lost, all, table, error);
	return text == NULL ? -1 :
	    table_add_header(table, error, "%s lost%s%s", text,
	                     why != NULL ? ": " : "", why != NULL ? why : "");
}

const char *
view_name_text(const struct names *names, uint32_t name, struct table *table,
               struct error *error)
{
	size_t length = names_length(names, name);
	const char *text = names_text(names, name);
	char *line, *to;

	if (memchr(text, '\0', length) == NULL)
		return text;
	to = line = arena_alloc(&table->arena, 4 * length + 1, error);
	for (size_t i = 0; line != NULL && i < length; i++) {
		if (text[i] == '\0')
			to = stpcpy(to, "\\x00");
		else
			*to++ = text[i];
	}
	return line;
}

/*
 * Where there is no root: how much of the hits the function has that would be
 * expected to be it.
 */
static int
add_lack_of_root(const struct view_request *request, struct table *table,
                 struct error *error)
{
	const struct sample_set *set = request->set;
	uint32_t name = names_find(set->names, "main", strlen("main"));
	uint64_t hits = name == NO_NAME ? 0 : measure_function(set, name);

	return hits == 0 ? table_add_header(table, error, "root: none") :
	    table_add_header(table, error, "root: none; main is on %.3g%% of "
	                     "%s", 100 * (double)hits / (double)set->left,
	                     set->n_steps > 0 ? "what is left" : "the hits");
}

int
view_add_root(const struct view_request *request, struct table *table,
              struct error *error)
{
	const char *root;

	if (request->root == NO_NAME)
		return add_lack_of_root(request, table, error);
	root = view_name_text(request->set->names, request->root, table,
	                      error);
	return root == NULL ? -1 :
	    add_root_line(request, "root: ", root, "", table, error);
}

static int
heading_add_title(const struct view_request *request,
                  const struct view_kind *kind, struct table *table,
                  struct error *error)
{
	struct cell name;

	if (table_add_header(table, error, "%s for resource: %s", kind->title,
	                     request->set->resource->name) != 0)
		return -1;
	if (kind->title_name_begin == 0)
		return 0;
	name = function_cell(request, kind->title_name, table, error);
	if (name.kind == CELL_EMPTY)
		return -1;
	table_mark_header_name(table, kind->title_name_begin,
	                       strlen(kind->title + kind->title_name_begin),
	                       name);
	return 0;
}

static int
heading_add_header(const struct view_request *request,
                   const struct view_kind *kind, const struct measure *measure,
                   struct table *table, struct error *error)
{
	const struct sample_set *set = request->set;
	const char *root = NULL, *text;

	if (request->root != NO_NAME) {
		root = view_name_text(set->names, request->root, table, error);
		if (root == NULL)
			return -1;
	}
	if (heading_add_title(request, kind, table, error) != 0)
		return -1;
	if (kind->has_root &&
	    view_add_root(request, table, error) != 0)
		return -1;
	if (add_samples_line(set, table, error) != 0 ||
	    add_placeholder_lines(set, table, error) != 0 ||
	    add_lost_line(set, false, table, error) != 0 ||
	    add_lost_line(set, true, table, error) != 0)
		return -1;
	if (set->n_steps > 0 &&
	    ((text = hits_text_of(set, set->left, set->total, table,
	                          error)) == NULL ||
	     table_add_header(table, error, "refined: %s (%.1f%% of %s)",
	        text, set->total == 0 ? 0 :
	        100 * (double)set->left / (double)set->total,
	        set->whole != NULL ? set->whole : "the run") != 0))
		return -1;
	text = hits_text(set, measure->denominator, table, error);
	if (text == NULL)
		return -1;
	if (request->percent == PERCENT_REFINED)
		return table_add_header(table, error, "percentages of what is "
		    "left (%s)", text);
	if (request->percent == PERCENT_ROOT && root != NULL)
		return add_root_line(request, "percentages of root ", root,
		    table_text(table, error, " (%s)", text), table, error);
	return table_add_header(table, error, "percentages of %s (%s)",
	    set->whole != NULL ? set->whole : "the whole run", text);
}

/* Adds "12 (0.0345)": hits, and their share. */
static void
add_with_share(struct text_buffer *text, const struct sample_set *set,
               const struct measure *measure, uint64_t hits)
{
	text_add_bare_hits(text, set, hits);
	text_add_format(text, " (%.4f)", measure_fraction(measure, hits));
}

int
view_add_totals(const struct view_request *request,
                const struct measure *measure, uint64_t self,
                uint64_t inclusive, bool is_estimated, struct table *table,
                struct error *error)
{
	struct text_buffer line = { 0 };
	int status;

	text_add_string(&line, "self ");
	add_with_share(&line, request->set, measure, self);
	text_add_string(&line, ", total (self+descendants) ");
	text_add_string(&line, is_estimated ? "~" : "");
	add_with_share(&line, request->set, measure, inclusive);
	status = line.failed ? error_out_of_memory(error) :
	         table_add_header(table, error, "%s", text_string(&line));
	text_free(&line);
	return status;
}

/* What the threshold is a share of. */
static const char *
name_threshold_base(const struct view_request *request)
{
	if (request->percent == PERCENT_ROOT && request->root != NO_NAME)
		return "the root";
	return request->set->left != request->set->total ? "what is left" :
	       "the run";
}

/*
 * "12 entries below threshold 0.01 not shown, 3 more (limit 20)", or
 * "3 more entries (limit 20)"
 */
int
view_add_hidden(const struct view_request *request,
                const struct hidden *hidden, struct table *table,
                struct error *error)
{
	const uint64_t n_more = hidden->beyond_limit;
	const bool differs = !hidden->is_of_function &&
	    request->percent != PERCENT_ROOT &&
	    request->set->left != request->set->total;
	const struct {
		uint64_t n;
		const char *reason;
	} parts[] = {
		/* A share of the whole run needs no word. */
		{ hidden->below_threshold, table_text(table, error,
		  "below threshold %.10g%s%s", request->threshold,
		  differs ? " of " : "", differs ?
		  name_threshold_base(request) : "") },
		{ hidden->too_long, table_text(table, error,
		  "longer than %zu functions", request->depth) },
	};
	const char *line = NULL;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (parts[i].n > 0 && line == NULL)
			line = table_text(table, error,
			    "%" PRIu64 " entr%s %s not shown", parts[i].n,
			    parts[i].n == 1 ? "y" : "ies", parts[i].reason);
		else if (parts[i].n > 0)
			line = table_text(table, error, "%s, %" PRIu64 " %s",
			                  line, parts[i].n, parts[i].reason);
	}
	if (n_more > 0 && !error->is_set)
		line = line == NULL ? table_text(table, error, "%" PRIu64
		    " more entr%s (limit %zu)", n_more, n_more == 1 ? "y" :
		    "ies", request->limit) :
		    table_text(table, error, "%s, %" PRIu64 " more (limit %zu)",
		               line, n_more, request->limit);
	if (error->is_set ||
	    (line != NULL && table_add_footer(table, error, "%s", line) != 0))
		return -1;
	if (hidden->folded > 0 && table_add_footer(table, error, "%" PRIu64
	    " shorter path%s with the same stacks hidden; \"chains show\" "
	    "shows %s", hidden->folded, heading_plural(hidden->folded),
	    hidden->folded == 1 ? "it" : "them") != 0)
		return -1;
	if (hidden->least_searched == 0)
		return 0;
	line = hits_text(request->set, hidden->least_searched, table, error);
	return line == NULL ? -1 : table_add_footer(table, error, "too many "
	    "paths: only those of %s or more were searched", line);
}

/*
 * The modules of which inlined functions are not shown because their debug
 * information is large: "cc1plus", "liba.so, libb.so and 3 more".
 */
static const char *
name_deferred(const struct profile *profile, struct table *table,
              uint32_t *n, uint64_t *bytes, struct error *error)
{
	enum { NAMED = 2 };
	const char *list = "";

	*n = 0;
	*bytes = 0;
	for (uint32_t i = 0; i < profile->n_modules && list != NULL; i++) {
		uint64_t more = profile->modules[i].deferred_bytes;

		if (more == 0)
			continue;
		count_add(bytes, more);
		if (++*n <= NAMED)
			list = table_text(table, error, "%s%s%.80s", list,
			    *n > 1 ? ", " : "",
			    profile_module_name(profile, i));
	}
	if (*n > NAMED && list != NULL)
		list = table_text(table, error, "%s and %" PRIu32 " more",
		                  list, *n - NAMED);
	return list;
}

int
view_add_inlined(const struct sample_set *set, struct table *table,
                   struct error *error)
{
	const struct naming_rule *rule = set->rule;
	const char *list;
	uint64_t bytes;
	uint32_t n;

	if (rule == NULL || set->tree == NULL ||
	    rule->granularity == GRANULARITY_MODULE ||
	    rule->granularity == GRANULARITY_ADDRESS)
		return 0;
	if (rule->inlines == INLINES_OFF && set->profile->may_have_inlined)
		return table_add_footer(table, error, "inlined functions are "
		                        "not shown; \"inlines auto\" shows "
		                        "them");
	if (rule->inlines != INLINES_AUTO)
		return 0;
	list = name_deferred(set->profile, table, &n, &bytes, error);
	if (list == NULL)
		return -1;
	if (n == 0)
		return 0;
	if (table_add_field(table, "modules_without_inlined", NULL,
	                    cell_count(n), error) != 0)
		return -1;
	return table_add_footer(table, error, "inlined functions of %s are not "
	    "shown: %" PRIu64 " MiB of debug information; \"inlines on\" reads "
	    "it", list, (bytes >> 20) + 1);
}

bool
view_wants(const struct view_request *request, uint32_t name)
{
	const struct names *names = request->set->names;

	return request->pattern == NULL ||
	    pattern_matches_function(request->pattern,
	                             names_text(names, name),
	                             names_length(names, name));
}

/* The largest threshold of one digit that is not above the fraction. */
static double
threshold_below(double fraction)
{
	double digit = 1;

	while (digit > fraction)
		digit /= 10;
	return digit * (double)(int)(fraction / digit);
}

/* Adds a name to the text, and marks it in the footer that will be the next. */
static int
add_footer_name(const struct view_request *request, uint32_t name,
                struct text_buffer *line, struct table *table,
                struct error *error)
{
	const char *text = view_name_text(request->set->names, name, table,
	                                  error);
	struct cell cell = function_cell(request, name, table, error);

	if (text == NULL || cell.kind == CELL_EMPTY)
		return -1;
	table_mark_footer_name(table, line->length, strlen(text), cell);
	text_add_string(line, text);
	return 0;
}

/* Ends a text that is a footer, and frees it; status: of what was added. */
static int
end_footer(struct text_buffer *line, int status, struct table *table,
           struct error *error)
{
	const char *text = status == 0 ? text_string(line) : "";

	if (status == 0)
		status = line->failed ? error_out_of_memory(error) :
		         table_add_footer(table, error, "%s", text);
	text_free(line);
	return status;
}

/*
 * Says that a function, or a path of two, is below the threshold.  The second
 * name may be NO_NAME.
 */
static int
heading_add_hidden(const struct view_request *request, const char *before,
                   const uint32_t names[2], const char *after, uint64_t hits,
                   struct table *table, struct error *error)
{
	uint64_t base = measure_threshold_base(request, request->set);
	double fraction = base == 0 ? 0 : (double)hits / (double)base;
	bool is_path = names[1] != NO_NAME;
	struct text_buffer line = { 0 };
	int status;

	text_add_string(&line, before);
	text_add_string(&line, is_path ? "(" : "");
	status = add_footer_name(request, names[0], &line, table, error);
	text_add_string(&line, is_path ? " " : "");
	if (status == 0 && is_path)
		status = add_footer_name(request, names[1], &line, table,
		                         error);
	text_add_format(&line, "%s%s is below the threshold: %.4g of %s, ",
	                is_path ? ")" : "", after, fraction,
	                name_threshold_base(request));
	text_add_hits(&line, request->set, hits);
	text_add_format(&line, "; use threshold %.1g to show it",
	                threshold_below(fraction));
	return end_footer(&line, status, table, error);
}

int
view_explain_hidden_root(const struct view_request *request,
                         const struct measure *measure, struct table *table,
                         struct error *error)
{
	const uint32_t names[] = { request->root, NO_NAME };
	uint64_t hits = measure_function(request->set, request->root);
	struct text_buffer line = { 0 };
	int status;

	if (hits == 0) {
		status = add_footer_name(request, request->root, &line, table,
		                         error);
		text_add_format(&line, " has no hits of %s",
		                request->set->resource->name);
		return end_footer(&line, status, table, error);
	}
	/* If the run has no hits, no threshold would show the root. */
	if (hits >= measure->least || measure->denominator == 0)
		return 0;
	return heading_add_hidden(request, "", names, " itself", hits, table,
	                          error);
}

int
view_explain_hidden_rows(const struct view_request *request,
                         const struct measure *measure,
                         const struct hidden *hidden, uint32_t n_kept,
                         enum hidden_path path, struct table *table,
                         struct error *error)
{
	const bool is_one = hidden->below_threshold == 1;
	const uint32_t names[] = {
		path == HIDDEN_CALLEE ? request->root : hidden->largest_name,
		path == HIDDEN_CALLEE ? hidden->largest_name :
		path == HIDDEN_CALLER ? request->root : NO_NAME,
	};

	/* Of an exact name that is unknown, the caller has said so. */
	if (n_kept == 0 && hidden->below_threshold == 0 &&
	    request->pattern != NULL && pattern_is_general(request->pattern))
		return table_add_footer(table, error, "no function matches "
		                        "the pattern");
	if (n_kept > 0 || hidden->below_threshold == 0 ||
	    measure->denominator == 0)
		return 0;
	if (hidden->largest == 0)
		return table_add_footer(table, error, "no hits of %s",
		                        request->set->resource->name);
	return heading_add_hidden(request, is_one ? "" : "the largest, ", names,
	                          is_one ? "" : ",", hidden->largest, table,
	                          error);
}

int
view_add_lack_of_columns(const struct view_request *request,
                         struct table *table, struct error *error)
{
	return table_add_header(table, error, "columns: this view shows %s "
	                        "alone", request->set->resource->name);
}

static int
heading_add_columns(const struct view_request *request,
                    const struct view_kind *kind, const struct measure *measure,
                    struct table *table, struct error *error)
{
	if (request->lacks_columns || (request->n_shown > 0 &&
	                               !kind->has_columns))
		return view_add_lack_of_columns(request, table, error);
	if (!kind->has_columns || (request->n_shown == 0 &&
	                           !request->has_noise))
		return 0;
	return columns_describe(request, measure, table, error);
}

int
view_describe(const struct view_request *request,
              const struct view_kind *kind, const struct measure *measure,
              const struct hidden *hidden, struct table *table,
              struct error *error)
{
	table->schema = kind->schema;
	if (heading_add_fields(request, kind, measure, hidden, table, error) !=
	        0 ||
	    heading_add_header(request, kind, measure, table, error) != 0 ||
	    heading_add_columns(request, kind, measure, table, error) != 0)
		return -1;
	if (view_add_hidden(request, hidden, table, error) != 0)
		return -1;
	return kind->ignores_inlined ? 0 :
	    view_add_inlined(request->set, table, error);
}
