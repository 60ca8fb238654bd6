/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.c -- what commands work on: the profile and the settings. */
#include "src/shell/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/units.h"
#include "src/formats/format.h"
#include "src/profile/frame_labels.h"
#include "src/profile/large_array.h"
#include "src/refine/refine.h"
#include "src/shell/record/recording.h"
#include "src/shell/terminal/terminal.h"
#include "src/symbols/lines/address_lines.h"
#include "src/views/rows/rows.h"

void
session_start(struct session *session)
{
	*session = (struct session){
		.settings = {
#define COMMAND(name)
#define SETTING(name, kind, member, start, ...) .member = start,
#include "commands/settings.def"
#undef SETTING
#undef COMMAND
		},
		.loaded.root = NO_NAME,
	};
	session->subject = &session->loaded;
}

void
session_end(struct session *session)
{
	naming_free(&session->loaded.naming);
	refinement_free(&session->refinement);
	profile_free(session->loaded.profile);
	memory_strings_free(session->files, session->n_files);
	free(session->root_choice);
	address_lines_free(session->lines);
	free(session->symfs);
	memory_strings_free(session->directories, session->n_directories);
	debug_files_free(&session->debug_files);
	code_free(&session->code);
	comparison_free(&session->comparison);
	comparison_free(&session->loaded_runs);
	free(session->scale.function);
	history_free(&session->history);
	last_rows_free(&session->last_rows);
	column_list_free(&session->columns);
}

uint32_t
session_find_function(const struct session *session, const char *text,
                      size_t length)
{
	return session->subject->profile == NULL ? NO_NAME :
	    naming_find(&session->subject->naming, text, length);
}

const uint32_t *
session_functions(const struct session *session, uint32_t *n)
{
	return naming_functions(&session->subject->naming, n);
}

/* Chooses the root; a note says if it is not the one the user chose. */
static void
choose_root(struct session *session)
{
	struct subject *loaded = &session->loaded;
	const struct naming *naming = &loaded->naming;
	const char *choice = session->root_choice;
	uint32_t name = root_choose(naming, &loaded->set, choice);

	loaded->root = name;
	if (choice == NULL || (name != NO_NAME &&
	    strcmp(choice, names_text(naming->names, name)) == 0))
		return;
	message_note(root_is_split(naming, choice) ?
	             "%s has a different name at each call site; %s%s" :
	             "%s does not occur here; %s%s", choice,
	             name == NO_NAME ? "there is no root" : "the root is ",
	             name == NO_NAME ? "" : names_text(naming->names, name));
}

/*
 * The sample set of a resource.  The caller adds weights, flow and placeholder
 * hits.
 */
static struct sample_set
session_set_of(const struct session *session, uint32_t resource)
{
	const struct subject *loaded = &session->loaded;
	const struct naming *naming = &loaded->naming;
	const struct sample_tree *tree = naming->tree;
	struct sample_set set = {
		.tree = tree,
		.names = loaded->profile->names,
		.resource = &loaded->profile->resources[resource],
		.profile = loaded->profile,
		.resource_number = resource,
		.rule = &naming->rule,
	};

	if (tree != NULL)
		set.self = tree->hits[resource];
	set.total = set.left = profile_hits(loaded->profile, resource,
	                                    &set.n_samples);
	if (tree != NULL && tree->timeline != NULL &&
	    profile_level_at(loaded->profile, resource, tree->timeline->shown,
	                     &set.total, &set.n_samples))
		set.whole = "all of that time";
	refinement_steps(&session->refinement, &set.n_steps);
	if (set.n_steps > 0 && tree != NULL)
		set.left = sample_tree_total(tree, set.self);
	return set;
}

/* The set of a group: a part of the session's own. */
static struct sample_set
set_of_group(const struct session *session, uint32_t column)
{
	const struct subject *loaded = &session->loaded;
	const struct sample_tree *stacks = loaded->naming.groups->tree;
	const struct sample_tree *named = loaded->naming.tree;
	struct sample_set set = loaded->set;

	set.self = named->hits[column];
	set.resource_number = column;
	set.total = set.n_samples = sample_tree_total(stacks,
	                                              stacks->hits[column]);
	set.left = set.n_steps > 0 ? sample_tree_total(named, set.self) :
	           set.total;
	return set;
}

/*
 * Makes the sample sets that views use.  Call it after the names, the weights
 * or the resource have changed.
 */
static void
make_set(struct session *session)
{
	struct subject *loaded = &session->loaded;
	const struct naming *naming = &loaded->naming;

	loaded->set = session_set_of(session, loaded->resource);
	loaded->set.sums = naming->sums;
	loaded->set.flow = naming->flow;
	profile_placeholder_hits(loaded->profile, loaded->resource,
	                      loaded->set.placeholders);
	column_list_show(&session->columns, loaded->profile,
	                 loaded->resource, &session->shown);
	loaded->columns = session->column_sets;
	loaded->n_columns = session->shown.n_resources;
	loaded->samples = 0;
	if (naming->groups == NULL && naming->n_columns > loaded->n_columns)
		loaded->samples = ++loaded->n_columns;
	for (size_t i = 0; i < naming->n_columns; i++) {
		const struct naming_column *column = &naming->columns[i];
		struct sample_set *set = &session->column_sets[i];

		*set = naming->groups != NULL &&
		    column->resource >= naming->groups->first ?
		    set_of_group(session, column->resource) :
		    session_set_of(session, column->resource);
		set->sums = column->sums;
		set->flow = column->flow;
		if (column->counts_samples) {
			set->self = set->tree->samples[column->resource];
			set->total = set->n_samples;
			set->left = sample_tree_total(set->tree, set->self);
		}
	}
}

/*
 * The resource of a new profile to begin with: that of the same name; else the
 * first one, or if that is only what a level gains, as in a recording of memory
 * in use, the level.
 */
static uint32_t
session_begin_resource(const struct session *session,
                       const struct profile *profile)
{
	const struct resource *old = session_resource(session);
	const struct count_kind *kind = made_counts;
	uint32_t found = NO_RESOURCE;

	if (old != NULL)
		found = profile_find_resource(profile, old->name);
	if (found != NO_RESOURCE)
		return found;
	while (kind->name != NULL &&
	       strcmp(kind->gain, profile->resources[0].name) != 0)
		kind++;
	if (kind->name != NULL)
		found = profile_find_resource(profile, kind->name);
	return found != NO_RESOURCE ? found : 0;
}

/* How much debug information the rule and the steps need. */
static enum lines_wanted
lines_wanted(const struct naming_rule *rule, struct step *const *steps,
             size_t n)
{
	unsigned granularities = steps_granularities(steps, n) |
	    1u << rule->granularity;

	if (rule->inlines == INLINES_ON ||
	    (granularities & (1u << GRANULARITY_FILE |
	                      1u << GRANULARITY_LINE |
	                      1u << GRANULARITY_CALLSITE)) != 0)
		return LINES_ALL;
	return rule->inlines == INLINES_AUTO ? LINES_CHOSEN : LINES_NONE;
}

struct address_lines *
session_address_lines(struct session *session, struct error *error)
{
	const struct symbol_search search = { .root = session->symfs };

	if (session->lines == NULL)
		session->lines = address_lines_new(&search, error);
	return session->lines;
}

/* Reads debug information and reports its warnings. */
static int
read_lines(struct session *session, struct profile *profile,
           enum lines_wanted wanted, struct error *error)
{
	uint32_t n_before = profile->n_warnings;
	struct progress_line line;
	int result;

	if (session_address_lines(session, error) == NULL)
		return -1;
	result = address_lines_apply(session->lines, profile, wanted,
	    progress_line_start(&line, "debug information"), error);
	progress_line_end(&line);
	for (uint32_t i = n_before; i < profile->n_warnings; i++)
		message_note("%s", profile->warnings[i]);
	return result;
}

unsigned
session_hidden_frames(const struct session *session)
{
	return (session->settings.startup == STARTUP_HIDE ? HIDES_STARTUP :
	        0) |
	    (session->settings.kernel == KERNEL_HIDE ? HIDES_KERNEL : 0) |
	    (session->settings.interpreter == INTERPRETER_HIDE ?
	     HIDES_INTERPRETER : 0) |
	    (session->settings.await == AWAIT_HIDE ? HIDES_AWAIT : 0);
}

struct naming_request
session_naming_request(const struct session *session, struct profile *profile,
                       uint32_t resource)
{
	struct naming_request request = {
		.profile = profile,
		.rule = session->settings.naming,
		.hidden = session_hidden_frames(session),
		.resource = resource,
		.wants_noise = session->settings.has_noise,
		.has_static = session->settings.has_static,
		.before = &session->loaded.naming,
	};
	struct shown_list shown;

	request.steps = refinement_steps(&session->refinement,
	                                 &request.n_steps);
	column_list_show(&session->columns, profile, resource, &shown);
	for (size_t i = 0; i < shown.n_resources; i++)
		request.columns[request.n_columns++] = shown.resources[i];
	return request;
}

/* Notes the steps that do not fit the profile or its names, but stay. */
static void
note_skipped(const struct session *session)
{
	size_t n;
	struct step *const *steps = refinement_steps(&session->refinement,
	                                             &n);

	for (size_t i = 0; session->loaded.naming.skipped != NULL && i < n; i++)
		if (session->loaded.naming.skipped[i])
			message_note("step %zu matches nothing here and is "
			             "skipped: %.200s", i + 1,
			             steps[i]->text);
}

/* Notes the columns that a profile cannot show, but stay in the list. */
static void
session_note_missing(const struct session *session)
{
	const struct column_list *list = &session->columns;
	const struct profile *profile = session->loaded.profile;

	for (size_t i = 0; i < list->n; i++) {
		const struct column_formula *formula =
		    column_list_formula(list, list->names[i]);
		struct error error = { 0 };

		if (formula != NULL &&
		    column_formula_check(formula, profile, &error) != 0)
			message_note("no column %s", error.text);
		if (formula == NULL && profile_find_resource(profile,
		    list->names[i]) == NO_RESOURCE)
			message_note("no column %.60s: the profile has no such "
			             "resource", list->names[i]);
	}
}

/* Takes over new names. */
static void
use_naming(struct session *session, const struct naming *naming)
{
	naming_free(&session->loaded.naming);
	session->loaded.naming = *naming;
	code_forget_refinement(&session->code);
	comparison_forget_names(&session->comparison);
	comparison_forget_names(&session->loaded_runs);
	make_set(session);
	choose_root(session);
}

/*
 * Takes over a profile that was read from files.  On failure changes nothing.
 * Steps stay only on a reload.
 */
static int
adopt(struct session *session, struct profile *profile,
      const char *const *files, size_t n, bool is_reload, struct error *error)
{
	struct subject *loaded = &session->loaded;
	const struct symbol_search search = { .root = session->symfs };
	struct naming_request request;
	struct shown_list shown;
	enum lines_wanted wanted;
	struct naming naming;
	char **copy;

	if (profile->n_resources == 0)
		return error_set(error, "the profile has no resource");
	column_list_show(&session->columns, profile,
	                 session_begin_resource(session, profile), &shown);
	request = session_naming_request(session, profile, shown.resource);
	if (!is_reload)
		request.n_steps = 0;
	wanted = lines_wanted(&request.rule, request.steps, request.n_steps);
	if (lines_choose(profile, &search, LINES_CHOICE_BYTES, error) != 0 ||
	    (wanted != LINES_NONE &&
	     read_lines(session, profile, wanted, error) != 0) ||
	    naming_make(&naming, &request, error) != 0)
		return -1;
	copy = memory_strings(files, n, error);
	if (copy == NULL) {
		naming_free(&naming);
		return -1;
	}
	if (!is_reload)
		refinement_free(&session->refinement);
	naming_free(&loaded->naming);
	code_free(&session->code);
	comparison_forget_profile(&session->comparison);
	comparison_forget_profile(&session->loaded_runs);
	loaded->naming = (struct naming){ 0 };
	profile_free(loaded->profile);
	memory_strings_free(session->files, session->n_files);
	loaded->profile = profile;
	session->lines_read = wanted;
	session->files = copy;
	session->n_files = n;
	loaded->resource = shown.resource;
	use_naming(session, &naming);
	note_skipped(session);
	session_note_missing(session);
	return 0;
}

static struct read_options
read_options(const struct session *session)
{
	return (struct read_options){
		.lenient = session->is_lenient,
		.has_thread_frames = session->has_thread_frames,
		.symfs = session->symfs,
	};
}

/*
 * No file may count twice; recordings among them that have no names yet keep
 * them now.
 */
static int
prepare_files(const struct session *session, const char *const *files,
              size_t n, struct error *error)
{
	struct run_list list = { 0 };
	int result = run_list_add_paths(&list, files, n, error);

	if (result == 0)
		result = run_list_check_distinct(&list, error);
	for (size_t i = 0; result == 0 && i < list.n; i++)
		result = keep_names_late(list.paths[i], session->symfs, error);
	run_list_free(&list);
	return result;
}

/* Forgets the lines that were read with other files than are there now. */
static void
session_forget_lines(struct session *session)
{
	address_lines_free(session->lines);
	session->lines = NULL;
	session->lines_read = LINES_NONE;
}

/* Whether one of the files is standard input, which cannot be read again. */
static bool
session_reads_input(const char *const *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(files[i], "-") == 0)
			return true;
	return false;
}

/* Files that cannot be read again have their names when they are read next. */
static bool
session_can_read_again(const char *const *files, size_t n)
{
	if (!session_reads_input(files, n))
		return true;
	message_note("standard input cannot be read again: load the profile "
	             "once more to see the names from these files");
	return false;
}

static struct profile *
session_read_once(const struct session *session, const char *const *files,
                  size_t n, struct error *error)
{
	struct progress_line line;
	struct read_options options = read_options(session);
	struct profile *profile;

	options.progress = progress_line_start(&line, "loading");
	profile = load_profiles(files, n, &options, error);
	progress_line_end(&line);
	return profile;
}

/* Reads files; once more if debug files came, which have names for them. */
static struct profile *
session_read_files(struct session *session, const char *const *files, size_t n,
                   struct error *error)
{
	struct profile *profile = session_read_once(session, files, n, error);
	bool has_new;

	if (profile == NULL || profile->n_resources == 0)
		return profile;
	if (debug_files_get(session, profile,
	                    session_begin_resource(session, profile), &has_new,
	                    error) != 0) {
		profile_free(profile);
		return NULL;
	}
	if (!has_new)
		return profile;
	session_forget_lines(session);
	if (!session_can_read_again(files, n))
		return profile;
	profile_free(profile);
	return session_read_once(session, files, n, error);
}

static int
session_load_files(struct session *session, const char *const *files, size_t n,
                   bool is_reload, struct error *error)
{
	struct profile *profile;
	uint32_t n_warnings;

	if (prepare_files(session, files, n, error) != 0)
		return -1;
	profile = session_read_files(session, files, n, error);
	if (profile == NULL)
		return -1;
	n_warnings = profile->n_warnings;	/* adopt reports its own */
	if (adopt(session, profile, files, n, is_reload, error) != 0) {
		profile_free(profile);
		return -1;
	}
	/* What watch repeats may name a row that was shown before. */
	if (!session->is_watching)
		last_rows_forget(&session->last_rows);
	for (uint32_t i = 0; i < n_warnings; i++)
		message_note("%s", profile->warnings[i]);
	return 0;
}

int
session_load(struct session *session, const char *const *files, size_t n,
             struct error *error)
{
	return session_load_files(session, files, n, false, error);
}

int
session_reload(struct session *session, struct error *error)
{
	if (session_need_profile(session, error) != 0)
		return -1;
	if (session_reads_input((const char *const *)session->files,
	                        session->n_files))
		return error_set(error, "cannot reload a profile that was "
		                 "read from standard input");
	return session_load_files(session, (const char *const *)session->files,
	                          session->n_files, true, error);
}

int
session_set_base(struct session *session, const char *const *files, size_t n,
                 struct error *error)
{
	struct read_options options = read_options(session);
	struct comparison comparison = { .n_files = n };
	struct progress_line line;
	int result = 0;

	comparison.files = memory_strings(files, n, error);
	if (comparison.files == NULL)
		return -1;
	options.progress = progress_line_start(&line, "loading");
	if (n > 0)
		result = runs_read(&comparison.base, files, n, &options,
		                   error);
	progress_line_end(&line);
	if (result != 0) {
		comparison_free(&comparison);
		return -1;
	}
	comparison_free(&session->comparison);
	session->comparison = comparison;
	for (uint32_t i = 0; i < comparison.base.n; i++) {
		const struct profile *run = comparison.base.profiles[i];

		for (uint32_t k = 0; k < run->n_warnings; k++)
			message_note("%s", run->warnings[k]);
	}
	return 0;
}

int
session_divide(const struct session *session, const struct sides *sides,
               struct division *division, struct error *error)
{
	size_t n;
	struct step *const *steps = refinement_steps(&session->refinement, &n);

	return sides_divide(sides, session->loaded.profile, steps, n, division,
	                    error);
}

int
session_set_sides(struct session *session, struct sides *sides,
                  struct error *error)
{
	struct comparison comparison = { .sides = sides };
	struct division division;

	if (sides == NULL)
		return -1;
	if (session->loaded.profile != NULL) {
		struct slice_set sets[2];

		if ((sides->are_times ? sides_slices(sides,
		        session->loaded.profile, sets, error) :
		        session_divide(session, sides, &division, error)) !=
		    0) {
			sides_free(sides);
			return -1;
		}
		if (!sides->are_times)
			division_free(&division);
	}
	comparison_free(&session->comparison);
	session->comparison = comparison;
	return 0;
}

/* Whether two files are named as in the same directory. */
static bool
are_neighbours(const char *a, const char *b)
{
	const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');

	return end_a != NULL && end_b != NULL && end_a - a == end_b - b &&
	    strncmp(a, b, (size_t)(end_a - a)) == 0;
}

/*
 * With globs for both, the shell puts only the first old file after --base.  The
 * other old files are then loaded with the new ones.
 */
static void
note_old_runs(const struct session *session)
{
	const struct comparison *comparison = &session->comparison;
	const char *old = NULL, *base = comparison->files[0];
	bool has_new = false;

	if (comparison->n_files != 1)
		return;
	for (size_t i = 0; i < session->n_files; i++) {
		if (!are_neighbours(session->files[i], base))
			has_new = true;
		else if (old == NULL)
			old = session->files[i];
	}
	if (old != NULL && has_new)
		message_note("only %.200s is the base; %.200s is compared with "
		             "it. Write --base before each run of the base",
		             base, old);
}

/* The profile of parts of the loaded one, for the current resource. */
static int
session_make_sides_profile(struct session *session, struct error *error)
{
	struct comparison *comparison = &session->comparison;
	struct progress_line line;
	size_t n, n_others;
	struct step *const *steps = refinement_steps(&session->refinement, &n);
	struct step **others;
	bool keeps_sections;
	int result;

	n_others = n;
	others = sides_other_steps(comparison->sides, steps, &n_others, error);
	if (others == NULL)
		return -1;
	keeps_sections = steps_need_sections(others, n_others);
	free(others);
	progress_line_start(&line, "comparing");
	result = comparison_make_sides(comparison, session->loaded.profile,
	    session->loaded.resource, steps, n, keeps_sections, error);
	progress_line_end(&line);
	return result;
}

static int
session_read_runs(struct session *session, struct comparison *comparison,
                  const char *doing, struct error *error)
{
	struct read_options options = read_options(session);
	struct progress_line line;
	int result;

	options.progress = progress_line_start(&line, doing);
	result = comparison_make_profile(comparison, session->loaded.profile,
	    (const char *const *)session->files, session->n_files,
	    session->loaded.resource, !session_selects_sections(session),
	    &options, error);
	progress_line_end(&line);
	return result;
}

/*
 * Makes the profile in which each run has a column, for the current resource,
 * unless it exists; once more if debug files came.
 */
static int
session_make_runs_profile(struct session *session,
                          struct comparison *comparison, const char *doing,
                          struct error *error)
{
	bool wants_groups = !session_selects_sections(session), has_new;
	int result;

	if (comparison_has_profile(comparison, session_resource(session)->name,
	                           wants_groups))
		return 0;
	result = session_read_runs(session, comparison, doing, error);
	if (result == 0)
		result = debug_files_get(session, comparison->subject.profile,
		                         0, &has_new, error);
	if (result == 0 && has_new) {
		comparison_forget_profile(comparison);
		session_forget_lines(session);
		result = session_read_runs(session, comparison, doing, error);
	}
	if (result == 0 && comparison_has_base(comparison))
		note_old_runs(session);
	return result;
}

static int
session_make_compared_profile(struct session *session, struct error *error)
{
	return session->comparison.sides != NULL ?
	    session_make_sides_profile(session, error) :
	    session_make_runs_profile(session, &session->comparison,
	                              "comparing", error);
}

/* Reads the lines of that profile which a request for names wants. */
static int
session_read_compared_lines(struct session *session, struct profile *profile,
                            const struct naming_request *request,
                            struct error *error)
{
	const struct symbol_search search = { .root = session->symfs };
	enum lines_wanted wanted = lines_wanted(&request->rule,
	    request->steps, request->n_steps);

	if (lines_choose(profile, &search, LINES_CHOICE_BYTES, error) != 0)
		return -1;
	return wanted == LINES_NONE ? 0 :
	    read_lines(session, profile, wanted, error);
}

/* Names the stacks of the comparison's profile by the settings and steps. */
static int
session_name_compared(struct session *session, struct comparison *comparison,
                      struct error *error)
{
	struct naming_request request = session_naming_request(session,
	    comparison->subject.profile, 0);
	struct step **others = NULL;
	int result;

	if (comparison->has_names)
		return 0;
	if (comparison->sides != NULL) {
		others = sides_other_steps(comparison->sides, request.steps,
		                           &request.n_steps, error);
		if (others == NULL)
			return -1;
		request.steps = others;
	}
	result = session_read_compared_lines(session,
	                                     comparison->subject.profile,
	                                     &request, error);
	if (result == 0)
		result = comparison_make_names(comparison, &request, error);
	free(others);
	return result;
}

int
session_scale_by(struct session *session, const char *function,
                 struct error *error)
{
	char *copy = memory_string(function, error);

	if (copy == NULL)
		return -1;
	free(session->scale.function);
	session->scale.function = copy;
	session->scale.kind = SCALE_BY;
	return 0;
}

const struct sample_set *
session_runs(struct session *session, size_t *n, struct error *error)
{
	struct comparison *loaded_runs = &session->loaded_runs;

	if (session_make_runs_profile(session, loaded_runs, "reading runs",
	                              error) != 0 ||
	    session_name_compared(session, loaded_runs, error) != 0)
		return NULL;
	*n = loaded_runs->n_now;
	return loaded_runs->runs;
}

/* Sets the work of each run, and what the heading says of it. */
static int
scale_runs(struct session *session, struct error *error)
{
	struct comparison *comparison = &session->comparison;
	const struct scale *scale = &session->scale;
	uint32_t function = NO_NAME;

	switch (scale->kind) {
	case SCALE_ABSOLUTE:
		if (comparison->sides != NULL &&
		    comparison->sides->n_calls[0] > 0 &&
		    comparison->sides->n_calls[1] > 0)
			return comparison_scale_calls(comparison, error);
		break;
	case SCALE_WORK:
		return comparison_scale_work(comparison, scale->work, error);
	case SCALE_BY:
		function = naming_find(&comparison->subject.naming,
		    scale->function, strlen(scale->function));
		if (function == NO_NAME)
			return error_set(error, "scale by %.200s: no run has "
			                 "this function; see functions",
			                 scale->function);
		return comparison_scale_by(comparison, function, error);
	case SCALE_ROBUST:
		return comparison_scale_robust(comparison, error);
	}
	comparison_scale_none(comparison);
	return 0;
}

const struct subject *
session_compared(struct session *session, struct error *error)
{
	struct comparison *comparison = &session->comparison;
	struct subject *subject = &comparison->subject;

	if (session_need_profile(session, error) != 0)
		return NULL;
	if (!comparison_has_base(comparison)) {
		error_set(error, "there is nothing to compare with; name the "
		          "earlier runs with \"base FILE...\"");
		return NULL;
	}
	if (session_make_compared_profile(session, error) != 0 ||
	    session_name_compared(session, comparison, error) != 0 ||
	    scale_runs(session, error) != 0)
		return NULL;
	subject->root = root_choose(&subject->naming, &subject->set,
	                            session->root_choice);
	return subject;
}

int
session_need_profile(const struct session *session, struct error *error)
{
	if (session->loaded.profile != NULL)
		return 0;
	return error_set(error, "no profile is loaded; load one with "
	                 "\"load FILE\", or make one with \"record PROG\"");
}

/* Reads the lines that are wanted, unless that has been done. */
static int
need_lines(struct session *session, enum lines_wanted wanted,
           struct error *error)
{
	if (wanted <= session->lines_read)
		return 0;
	naming_forget_stacks(&session->loaded.naming);
	if (read_lines(session, session->loaded.profile, wanted, error) != 0)
		return -1;
	session->lines_read = wanted;
	return 0;
}

int
session_read_lines(struct session *session, struct error *error)
{
	return need_lines(session, LINES_ALL, error);
}

/* Gives the stacks the names that the settings want. */
static int
rename_stacks(struct session *session, struct error *error)
{
	struct subject *loaded = &session->loaded;
	const struct naming_rule *rule = &session->settings.naming;
	const struct call_graph *graph = loaded->profile->graph;
	struct naming_request request = session_naming_request(session,
	    loaded->profile, loaded->resource);
	struct naming naming;

	if (graph != NULL &&
	    !named_graph_is_possible(graph, rule->granularity))
		return error_set(error, "this profile has calls but no stacks; "
		                 "its granularity can be %s",
		                 graph->places == NULL ? "function" :
		                 "function, module, file, line or callsite");
	if (need_lines(session, lines_wanted(rule, request.steps,
	                                     request.n_steps), error) != 0 ||
	    naming_make(&naming, &request, error) != 0)
		return -1;
	use_naming(session, &naming);
	note_skipped(session);
	return 0;
}

/*
 * Makes one name of those of functions without a module.  What is in brackets,
 * such as "[loading]", is no function, and the names of groups stay.
 */
static int
join_unknown_modules(const struct profile *profile, struct naming *naming,
                     const struct naming_request *request,
                     struct error *error)
{
	static const char text[] = "[unknown]";
	const uint32_t unknown = names_add(profile->names, text,
	                                   sizeof text - 1, error);
	const uint32_t n = names_count(profile->names);
	uint32_t *renamed = memory_array(n, sizeof *renamed, error);
	int status = -1;

	for (uint32_t i = 0; renamed != NULL && i < n; i++)
		renamed[i] = i;
	for (uint32_t i = 0; renamed != NULL && i < profile->n_frames; i++) {
		const struct frame *frame = &profile->frames[i];

		for (uint32_t k = 0; frame->module == NO_MODULE &&
		     k < frame->n_locations; k++) {
			const uint32_t function = profile->locations[
			    frame->first_location + k].function;

			if (names_text(profile->names, function)[0] != '[')
				renamed[function] = unknown;
		}
	}
	for (uint32_t i = 0; renamed != NULL && i < profile->n_modules; i++) {
		const char *module = profile_module_name(profile, i);
		const uint32_t name = names_find(profile->names, module,
		                                 strlen(module));

		if (name < n)
			renamed[name] = name;
	}
	if (error->is_set)
		naming_free(naming);
	else
		status = naming_rename(naming, request, renamed, n, error);
	free(renamed);
	return status;
}

int
session_name_modules(struct session *session, struct session_names *kept,
                     struct error *error)
{
	struct subject *loaded = &session->loaded;
	const struct call_graph *graph = loaded->profile->graph;
	struct naming_request request = session_naming_request(session,
	    loaded->profile, loaded->resource);
	struct naming naming;

	request.rule.granularity = GRANULARITY_MODULE;
	if (graph != NULL &&
	    !named_graph_is_possible(graph, GRANULARITY_MODULE))
		return error_set(error, "this profile has calls but no stacks, "
		                 "and does not know the modules of functions");
	if (naming_make(&naming, &request, error) != 0 ||
	    (graph == NULL && join_unknown_modules(loaded->profile, &naming,
	                                           &request, error) != 0))
		return -1;
	*kept = (struct session_names){ loaded->naming, loaded->root };
	loaded->naming = naming;
	loaded->root = NO_NAME;
	make_set(session);
	return 0;
}

void
session_name_as_before(struct session *session, struct session_names *kept)
{
	struct subject *loaded = &session->loaded;

	naming_free(&loaded->naming);
	loaded->naming = kept->naming;
	loaded->root = kept->root;
	make_set(session);
}

/* At the prompt, says what the steps leave. */
static void
note_left(const struct session *session)
{
	const struct sample_set *set = &session->loaded.set;
	struct text_buffer left = { 0 };

	if (session->is_interactive) {
		text_add_hits_of(&left, set, set->left, set->total);
		message_note("the steps leave %s (%.1f%% of the run)",
		             text_string(&left), set->total == 0 ? 0 :
		             100 * (double)set->left / (double)set->total);
	}
	text_free(&left);
}

/* Likewise which time a step of time took: whole slices. */
static void
note_slices(const struct session *session, const struct step *step)
{
	const struct sample_tree *tree = session->loaded.profile->tree;
	const struct timeline *timeline = tree == NULL ? NULL : tree->timeline;
	struct text_buffer text = { 0 };
	uint64_t width, end;
	int decimals;

	if (!session->is_interactive || step->kind != STEP_TIME ||
	    timeline == NULL)
		return;
	width = timeline->width_ns;
	end = step->end_ns / width + (step->end_ns % width != 0);
	if (end > timeline->n_slices)
		end = timeline->n_slices;
	decimals = seconds_decimals(width);
	text_add_seconds(&text, step->begin_ns / width * width, decimals);
	text_add_string(&text, " s to ");
	text_add_seconds(&text, end * width, decimals);
	if (!text.failed)
		message_note("%s whole slices: %s s",
		             step->drops ? "dropped" : "kept",
		             text_string(&text));
	text_free(&text);
}

struct step **
session_steps_and(struct naming_request *request, struct step *step,
                  struct error *error)
{
	struct step **steps = memory_array(request->n_steps + 1,
	                                   sizeof *steps, error);

	if (steps == NULL)
		return NULL;
	for (size_t i = 0; i < request->n_steps; i++)
		steps[i] = request->steps[i];
	steps[request->n_steps++] = step;
	request->steps = steps;
	return steps;
}

/*
 * Whether the last of n steps matches something in the runs that diff compares:
 * what is being renamed or removed is only in the base.  A base that cannot be
 * compared matches nothing: the step is about the loaded profile.  0, or -1
 * with *error set, if memory is short or the user presses Ctrl-C.
 */
static int
match_base(struct session *session, struct step *const *steps, size_t n,
           bool *matches, struct error *error)
{
	struct naming_request request;
	struct naming naming;
	struct error why = { 0 };

	*matches = false;
	if (session->comparison.base.n == 0)
		return 0;
	if (session_make_compared_profile(session, &why) == 0) {
		request = session_naming_request(session,
		    session->comparison.subject.profile, 0);
		request.resource = session->comparison.columns[0];
		request.before = NULL;
		request.steps = steps;
		request.n_steps = n;
		if (session_read_compared_lines(session,
		        session->comparison.subject.profile, &request,
		        &why) == 0 &&
		    naming_make(&naming, &request, &why) == 0) {
			*matches = !naming.skipped[n - 1];
			naming_free(&naming);
		}
	}
	return why.is_out_of_memory || (why.is_set && interrupt_requested) ?
	       error_pass(error, &why) : 0;
}

/* Names made with one more step, if that matches something. */
static int
session_try_step(struct session *session, struct step *step,
                 struct naming *naming, struct error *error)
{
	struct naming_request request = session_naming_request(session,
	    session->loaded.profile, session->loaded.resource);
	size_t n = request.n_steps;
	struct step **steps = session_steps_and(&request, step, error);
	int result = steps == NULL ? -1 :
	    naming_make(naming, &request, error);
	bool is_in_base = false;

	if (result != 0 || !naming->skipped[n]) {
		free(steps);
		return result;
	}
	result = match_base(session, steps, n + 1, &is_in_base, error);
	free(steps);
	if (result == 0 && is_in_base) {
		message_note("step %zu matches only the base; views of the "
		             "loaded profile skip it", n + 1);
		return 0;
	}
	error_pass(error, &naming->why_last);
	naming_free(naming);
	return -1;
}

int
session_add_step(struct session *session, struct step *step,
                 struct error *error)
{
	struct naming naming;

	if (step == NULL)
		return -1;
	step->granularity = session->settings.naming.granularity;
	/*
	 * In a profile of calls only groups are possible: calls do not say
	 * which stacks have a path.
	 */
	if (session_need_profile(session, error) != 0 ||
	    (session->loaded.profile->tree == NULL &&
	     refine_graph_check(step, error) != 0) ||
	    session_try_step(session, step, &naming, error) != 0) {
		step_release(step);
		return -1;
	}
	if (refinement_add(&session->refinement, step, error) != 0) {
		naming_free(&naming);
		step_release(step);
		return -1;
	}
	use_naming(session, &naming);
	note_left(session);
	note_slices(session, step);
	return 0;
}

/* Makes names after the steps have changed; else undoes the change. */
static int
follow_steps(struct session *session, const struct refinement *before,
             struct error *error)
{
	if (session->loaded.profile == NULL)
		return 0;
	if (rename_stacks(session, error) != 0) {
		session->refinement.at = before->at;
		return -1;
	}
	note_left(session);
	return 0;
}

int
session_remove_group(struct session *session, const char *name,
                     struct error *error)
{
	const struct refinement before = session->refinement;

	if (refinement_remove_group(&session->refinement, name, error) != 0)
		return -1;
	return follow_steps(session, &before, error);
}

int
session_remove_steps(struct session *session, struct error *error)
{
	const struct refinement before = session->refinement;

	if (refinement_clear(&session->refinement, error) != 0)
		return -1;
	return follow_steps(session, &before, error);
}

int
session_undo(struct session *session, size_t n, struct error *error)
{
	const struct refinement before = session->refinement;

	if (refinement_undo(&session->refinement, n, error) != 0)
		return -1;
	return follow_steps(session, &before, error);
}

int
session_redo(struct session *session, size_t n, struct error *error)
{
	const struct refinement before = session->refinement;

	if (refinement_redo(&session->refinement, n, error) != 0)
		return -1;
	return follow_steps(session, &before, error);
}

bool
session_selects_sections(const struct session *session)
{
	size_t n;
	struct step *const *steps = refinement_steps(&session->refinement, &n);

	return steps_need_sections(steps, n);
}

/* Makes the names anew: other columns, or another resource. */
static int
replace_naming(struct session *session, const struct naming_request *request,
               struct error *error)
{
	struct subject *loaded = &session->loaded;
	struct naming naming;

	if (naming_make(&naming, request, error) != 0)
		return -1;
	naming_free(&loaded->naming);
	loaded->naming = naming;
	loaded->resource = request->resource;
	make_set(session);
	loaded->root = root_choose(&loaded->naming, &loaded->set,
	                           session->root_choice);
	return 0;
}

/* Makes sums of a resource and of the columns; the names stay. */
static int
use_resource(struct session *session, uint32_t resource, struct error *error)
{
	struct subject *loaded = &session->loaded;
	const struct sample_tree *tree = loaded->naming.tree;
	const struct naming_request request = session_naming_request(session,
	    loaded->profile, resource);

	if (tree == NULL || loaded->naming.groups != NULL ||
	    naming_wants_groups(&request))
		return replace_naming(session, &request, error);
	if (naming_make_columns(&loaded->naming, &request, error) != 0)
		return -1;
	sample_tree_sum(tree, tree->hits[resource], loaded->naming.sums);
	loaded->resource = resource;
	make_set(session);
	loaded->root = root_choose(&loaded->naming, &loaded->set,
	                           session->root_choice);
	return 0;
}

/* Gets the debug files that the profile lacks, and reads it again with them. */
static int
session_name_anew(struct session *session, struct error *error)
{
	bool has_new;

	if (debug_files_get(session, session->loaded.profile,
	                    session->loaded.resource, &has_new, error) != 0)
		return -1;
	if (!has_new)
		return 0;
	session_forget_lines(session);
	return session_can_read_again((const char *const *)session->files,
	                              session->n_files) ?
	       session_reload(session, error) : 0;
}

int
session_settings_changed(struct session *session, enum setting_change change,
                         struct error *error)
{
	struct subject *loaded = &session->loaded;

	if (loaded->profile == NULL)
		return 0;
	if (change == CHANGES_NAMES)
		return rename_stacks(session, error);
	if (change == CHANGES_CALLS && loaded->profile->graph != NULL)
		return use_resource(session, loaded->resource, error);
	if (change == CHANGES_DEBUG_FILES &&
	    session->settings.debuginfod == DEBUG_FILES_ON)
		return session_name_anew(session, error);
	return 0;
}

int
session_set_resource(struct session *session, uint32_t resource,
                     struct error *error)
{
	const struct profile *profile = session->loaded.profile;
	const char *before;

	if (session_need_profile(session, error) != 0)
		return -1;
	before = session_resource(session)->name;
	if (column_list_follow(&session->columns,
	                       profile->resources[resource].name, error) != 0)
		return -1;
	if (use_resource(session, resource, error) == 0)
		return 0;
	column_list_follow(&session->columns, before, &(struct error){ 0 });
	return -1;
}

/*
 * After the columns have changed: the first resource becomes the current one.
 * Takes *before, which is freed, or brings it back.
 */
static int
follow_columns(struct session *session, struct column_list *before,
               struct error *error)
{
	struct subject *loaded = &session->loaded;
	struct column_list now;
	struct shown_list shown;

	if (loaded->profile != NULL)
		column_list_show(&session->columns, loaded->profile,
		                 loaded->resource, &shown);
	if (loaded->profile == NULL ||
	    use_resource(session, shown.resource, error) == 0) {
		column_list_free(before);
		return 0;
	}
	now = session->columns;
	session->columns = *before;
	column_list_free(&now);
	column_list_show(&session->columns, loaded->profile,
	                 loaded->resource, &session->shown);
	return -1;
}

int
session_set_columns(struct session *session, const char *const *names,
                    size_t n, struct error *error)
{
	struct column_list before;

	if (column_list_copy(&before, &session->columns, error) != 0)
		return -1;
	if (column_list_set(&session->columns, names, n, error) != 0) {
		column_list_free(&before);
		return -1;
	}
	return follow_columns(session, &before, error);
}

int
session_define_column(struct session *session,
                      const struct column_formula *formula,
                      struct error *error)
{
	struct column_list before;

	if (session->loaded.profile != NULL &&
	    column_formula_check(formula, session->loaded.profile, error) != 0)
		return -1;
	if (column_list_copy(&before, &session->columns, error) != 0)
		return -1;
	if (column_list_define(&session->columns, formula, error) != 0) {
		column_list_free(&before);
		return -1;
	}
	return follow_columns(session, &before, error);
}

int
session_forget_column(struct session *session, const char *name,
                      struct error *error)
{
	struct column_list before;

	if (column_list_copy(&before, &session->columns, error) != 0)
		return -1;
	column_list_forget(&session->columns, name);
	return follow_columns(session, &before, error);
}

int
session_set_symfs(struct session *session, const char *directory,
                  struct error *error)
{
	const int opened = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *copy = NULL;

	/* It may be there later. */
	if (opened >= 0)
		close(opened);
	else
		message_note("symfs: %s: %s; files are searched at their own "
		             "paths", directory, strerror(errno));
	if (strcmp(directory, "/") != 0) {
		copy = memory_string(directory, error);
		if (copy == NULL)
			return -1;
	}
	free(session->symfs);
	session->symfs = copy;
	session_forget_lines(session);
	return 0;
}

int
session_check_sources(const struct session *session, const char *command,
                      const char *directory, struct error *error)
{
	if (!session->has_fixed_sources)
		return 0;
	return error_set(error, "%s: not with --read-only, since a profile "
	                 "may name any file there; the user can start cpprof, "
	                 "or cpprof mcp, in %.200s, or with --%s %.200s",
	                 command, directory, command, directory);
}

int
session_set_directories(struct session *session,
                        const char *const *directories, size_t n,
                        struct error *error)
{
	char **copy = memory_strings(directories, n, error);

	if (copy == NULL)
		return -1;
	memory_strings_free(session->directories, session->n_directories);
	session->directories = copy;
	session->n_directories = n;
	return 0;
}

int
session_code(struct session *session, struct code_set *set,
             struct error *error)
{
	struct subject *loaded = &session->loaded;
	const struct naming_request request = session_naming_request(session,
	    loaded->profile, loaded->resource);

	if (code_make(&session->code, &request, set, error) != 0)
		return -1;
	if (set->flow == NULL &&
	    request.rule.granularity == GRANULARITY_FUNCTION)
		set->flow = loaded->naming.flow;
	return 0;
}

int
session_set_root(struct session *session, uint32_t name, struct error *error)
{
	char *choice = memory_string(names_text(session->loaded.profile->names,
	                                        name),
	                             error);

	if (choice == NULL)
		return -1;
	free(session->root_choice);
	session->root_choice = choice;
	session->loaded.root = name;
	return 0;
}

bool
session_has_short_names(const struct session *session, bool to_terminal)
{
	enum names_choice choice = session->settings.names;

	return choice == NAMES_SHORT || (choice == NAMES_AUTO && to_terminal);
}

const struct resource *
session_resource(const struct session *session)
{
	const struct subject *subject = session->subject;

	return subject->profile == NULL ? NULL :
	    &subject->profile->resources[subject->resource];
}

const struct process *
session_first_process(const struct session *session)
{
	const struct profile *profile = session->loaded.profile;
	const struct process *first = NULL;

	for (uint32_t i = 0; i < profile->n_processes; i++) {
		const struct process *process = &profile->processes[i];

		if (first == NULL || (process->start_ns != 0 &&
		                      process->start_ns < first->start_ns))
			first = process;
	}
	return first;
}

/* Rows are left out only for people: other formats have all of them. */
static bool
folds_chains(const struct session *session)
{
	const struct settings *settings = &session->settings;

	if (settings->format != output_formats)
		return false;
	return settings->chains == CHAINS_FOLD ||
	    (settings->chains == CHAINS_AUTO && session->writes_to_terminal);
}

/* Why a merged profile does not show its noise; NULL: it is no such profile. */
static const char *
why_no_groups(const struct session *session)
{
	const struct fleet *fleet = session->loaded.profile->fleet;

	if (fleet == NULL)
		return NULL;
	if (fleet->n_members < 2)
		return "the merged profile has one member, which does not show "
		       "how members differ";
	if (fleet_count_groups(fleet) < 2)
		return "all members are in one random group, which does not "
		       "show how they differ";
	return "the random groups of the merged profile are not known by "
	       "label, which a step asks for";
}

/* The columns of groups, if any are made, are among those of the request. */
static void
session_take_groups(const struct session *session, struct view_request *request)
{
	request->groups = session->loaded.naming.groups;
	request->no_groups = request->groups == NULL ? why_no_groups(session) :
	                     NULL;
	request->n_columns = session->loaded.naming.n_columns;
	if (request->groups != NULL)
		request->samples = 0;
}

struct view_request
session_request(const struct session *session)
{
	const struct subject *subject = session->subject;
	const struct settings *settings = &session->settings;
	struct view_request request = {
		.set = &subject->set,
		.root = subject->root,
		.threshold = settings->threshold,
		.limit = settings->limit,
		.depth = settings->depth == 0 ? DEFAULT_DEPTH :
		    settings->depth,
		.percent = settings->percent,
		.columns = subject->columns,
		.n_columns = subject->n_columns,
		.samples = subject->samples,
		.compared = subject->compared,
		.shown = session->shown.shown,
		.n_shown = session->shown.n_shown,
		.folds_chains = folds_chains(session),
		.has_when = settings->has_when,
		.has_noise = settings->has_noise,
	};

	if (request.compared != NULL) {
		request.lacks_columns = request.n_shown > 0;
		request.n_shown = 0;
		request.has_noise = false;
	} else if (request.has_noise && subject->profile != NULL) {
		session_take_groups(session, &request);
	}
	return request;
}

int
session_noise_request(struct session *session, struct view_request *request,
                      struct error *error)
{
	struct subject *loaded = &session->loaded;
	struct naming_request wanted = session_naming_request(session,
	    loaded->profile, loaded->resource);

	wanted.wants_noise = true;
	if (loaded->naming.groups == NULL &&
	    naming_wants_groups(&wanted) &&
	    replace_naming(session, &wanted, error) != 0)
		return -1;
	*request = session_request(session);
	session_take_groups(session, request);
	return 0;
}
