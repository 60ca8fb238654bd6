/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/log.c -- what a function used from commit to commit. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/noise/noise.h"
#include "src/shell/command/command.h"
#include "src/shell/command/resolve.h"
#include "src/shell/session/kept.h"
#include "src/shell/terminal/terminal.h"

/* Characters of a hash that are shown. */
enum { SHOWN_HASH = 10, WHOLE_HASH = 40 };

/* Commits from which on change_points_find knows what they differ by. */
enum { LEAST_COMMITS = 4 };

/* The names are those of kept profiles, which the command looks up. */
static int
log_read_path(struct reading *reading, struct value *value)
{
	value->pattern_words = path_words_read(reading,
	                                       &value->n_pattern_words);
	return value->pattern_words != NULL ? 0 : -1;
}

static void
log_complete(struct completion *completion, const struct session *session,
             const struct command *command)
{
	if (session->subject->profile != NULL)
		arg_path.complete(completion, session, command);
}

static const struct argument_kind log_path_kind = {
	.read = log_read_path,
	.complete = log_complete,
	.handle = HANDLE_PATH,
	.takes_rest = true,
};

static const struct argument log_arguments[] = {
	{ "--all", &arg_choice, ARG_OPTIONAL | ARG_SWITCH,
	  "also commits that are no ancestors of git's HEAD, in the order in "
	  "which they were kept" },
	{ "PATTERN|PATH", &log_path_kind, 0,
	  "a function, all functions that match a pattern, as one, or the "
	  "functions of a path, outermost first" },
	ARGUMENTS_END
};

static const char *const log_choices[] = { "--all", NULL };

struct logging {
	struct session *session;
	struct table *table;
	struct kept kept;
	struct kept_request request;
	bool is_ordered;		/* by git */
	size_t n_left_out;
	struct step **steps;		/* [request.n_steps] */
	struct step *group;		/* the last one: the functions that the
					 * pattern means; NULL: it is none */
	const char **path;		/* [request.n_path] */
	struct error damage;		/* of the newest file with any */
	struct kept_runs runs;
	struct change_point changes[CHANGE_POINTS_MAX];
	size_t n_changes;
	double *errors;			/* [points] half of an interval */
};

/* ---- which function ---- */

/*
 * The steps of the session, and for a pattern one more: functions that match
 * are a group of its name, so that they count as one.
 */
static int
log_take_steps(struct logging *logging, const struct value *given,
               struct error *error)
{
	const struct pattern_word *word = &given->pattern_words[0];
	struct kept_request *request = &logging->request;
	struct step *const *steps = refinement_steps(
	    &logging->session->refinement, &request->n_steps);
	struct pattern *pattern = pattern_new(word->text, error);

	logging->steps = memory_array(request->n_steps + 1,
	                              sizeof(struct step *), error);
	if (!error->is_set && given->n_pattern_words == 1 &&
	    !word->is_exact && (*word->text == '@' ||
	                        pattern_is_general(pattern)))
		logging->group = step_new_group(word->text, false, word, 1,
		                                error);
	pattern_free(pattern);
	if (error->is_set)
		return -1;
	for (size_t i = 0; i < request->n_steps; i++)
		logging->steps[i] = steps[i];
	if (logging->group != NULL)
		logging->steps[request->n_steps++] = logging->group;
	request->steps = logging->steps;
	return 0;
}

/* The name in a kept profile that a word means; NULL: none, or *error is set. */
static const char *
log_find_name(const struct kept_profile *opened,
              const struct pattern_word *word, struct error *error)
{
	struct function_set among = { .names = opened->profile->names };
	uint32_t name = naming_find(&opened->naming, word->text, word->length);

	if (name == NO_NAME) {
		among.functions = naming_functions(&opened->naming, &among.n);
		name = resolve_short_name_among(among, word->text,
		                                word->length, error);
	}
	return name == NO_NAME ? NULL : names_text(among.names, name);
}

/* Looks for all words in one commit: 1: found; 0: no; -1 with *error set. */
static int
log_find_path_in(struct logging *logging, const struct kept_commit *commit,
                 const struct pattern_word *words, struct error *error)
{
	struct error why = { 0 };
	struct kept_profile opened;
	size_t n = 0;

	if (kept_profile_open(commit, &logging->request, &opened, &why) != 0) {
		if (!logging->damage.is_set)
			logging->damage = why;
		return why.is_out_of_memory ? error_pass(error, &why) : 0;
	}
	for (; n < logging->request.n_path; n++) {
		const char *name = log_find_name(&opened, &words[n], error);

		if (name == NULL)
			break;
		logging->path[n] = table_text(logging->table, error, "%s",
		                              name);
	}
	if (n == logging->request.n_path && logging->request.resource == NULL)
		logging->request.resource = table_text(logging->table, error,
		    "%s", opened.profile->resources[0].name);
	kept_profile_close(&opened);
	return error->is_set ? -1 : n == logging->request.n_path;
}

/*
 * The names as the newest commit has them that has them all: short ones stand
 * for whole ones there.
 */
static int
log_find_path(struct logging *logging, const struct value *given,
              struct error *error)
{
	const struct pattern_word *words = given->pattern_words;
	struct text_buffer text = { 0 };
	int found = 0;

	logging->request.n_path = given->n_pattern_words;
	logging->path = memory_array(given->n_pattern_words,
	                             sizeof *logging->path, error);
	if (logging->path == NULL)
		return -1;
	for (size_t i = logging->kept.n; i-- > 0 && found == 0;)
		found = log_find_path_in(logging, &logging->kept.commits[i],
		                         words, error);
	logging->request.path = logging->path;
	if (found != 0)
		return found < 0 ? -1 : 0;
	for (size_t i = 0; i < given->n_pattern_words; i++) {
		text_add_string(&text, i == 0 ? "" : " ");
		text_add_word(&text, words[i].text, words[i].length);
	}
	error_set(error, "no commit that is kept has %s%.300s%s%.300s%s",
	          given->n_pattern_words > 1 ? "all of " : "the function ",
	          text_string(&text), logging->damage.is_set ? " (" : "",
	          logging->damage.text, logging->damage.is_set ? ")" : "");
	text_free(&text);
	return -1;
}

/* ---- the table ---- */

static const char *
log_commit_text(struct logging *logging, const struct kept_commit *commit,
                struct error *error)
{
	const size_t n = strlen(commit->id);
	const bool is_hash = n >= WHOLE_HASH &&
	    strspn(commit->id, "0123456789abcdef") == n;

	return table_text(logging->table, error, "%.*s",
	                  is_hash ? SHOWN_HASH : (int)n, commit->id);
}

static void
log_add_columns(struct table *table)
{
	static const struct column columns[] = {
		{ "commit", "commit", .kind = CELL_TEXT },
		{ "id", "id", .kind = CELL_TEXT, .is_data_only = true },
		{ "kept", "kept", .kind = CELL_COUNT, .is_data_only = true },
		{ "runs", "runs", .kind = CELL_COUNT },
		{ "value", "value", .kind = CELL_AMOUNT },
		{ "error", "+-", .kind = CELL_AMOUNT },
		{ "fraction", "share", .kind = CELL_FRACTION },
		{ "change", "change %", .kind = CELL_PERCENT,
		  .has_sign = true },
		{ "change_error", "+-", .kind = CELL_PERCENT },
		{ "verdict", "verdict", .kind = CELL_TEXT },
		{ "subject", "subject", .kind = CELL_TEXT, .is_elastic = true,
		  .cuts_end = true },
	};

	table_add_columns(table, columns, sizeof columns / sizeof *columns);
}

/* The change that begins at a point, or NULL. */
static const struct change *
log_change_at(const struct logging *logging, size_t point)
{
	for (size_t i = 0; i < logging->n_changes; i++)
		if (logging->changes[i].point == point)
			return &logging->changes[i].change;
	return NULL;
}

static struct cell
log_percent(double part, double whole)
{
	const double percent = part / whole;

	return isfinite(percent) ? cell_percent(percent) : cell_unknown();
}

static int
log_add_row(struct logging *logging, size_t point, struct error *error)
{
	const struct series *series = &logging->runs.series;
	const struct kept_commit *commit =
	    &logging->kept.commits[logging->runs.commit[point]];
	const struct change *change = log_change_at(logging, point);
	const double half = logging->errors[point];
	double value = 0, work = 0;

	for (size_t run = series->first[point]; run < series->first[point + 1];
	     run++) {
		value += (double)series->values[run];
		work += series->work[run];
	}
	return table_add_row(logging->table, (struct cell[]){
		cell_text(log_commit_text(logging, commit, error)),
		cell_text(table_text(logging->table, error, "%s", commit->id)),
		cell_count((uint64_t)(commit->time_ns / 1000000000)),
		cell_count(logging->runs.members[point]),
		cell_amount(value / work),
		isnan(half) ? cell_unknown() : cell_amount(half),
		logging->runs.totals[point] > 0 ?
		    cell_fraction(value / logging->runs.totals[point]) :
		    cell_unknown(),
		change == NULL ? (struct cell){ .kind = CELL_EMPTY } :
		    log_percent(change->change, change->base),
		change == NULL ? (struct cell){ .kind = CELL_EMPTY } :
		    log_percent((change->high - change->low) / 2, change->base),
		change == NULL ? (struct cell){ .kind = CELL_EMPTY } :
		    cell_text(change_verdict_names[change->verdict]),
		commit->subject == NULL ? (struct cell){ .kind = CELL_EMPTY } :
		    cell_text(table_text(logging->table, error, "%s",
		                         commit->subject)),
	}, error);
}

static int
log_add_heading(struct logging *logging, struct error *error)
{
	struct table *table = logging->table;
	const size_t n = logging->runs.series.n_points;
	struct text_buffer text = { 0 };

	for (size_t i = 0; i < logging->request.n_path; i++) {
		text_add_string(&text, i == 0 ? "" : " ");
		text_add_word(&text, logging->path[i],
		              strlen(logging->path[i]));
	}
	table_add_header(table, error, "History of %s for resource: %s",
	                 text_string(&text), logging->request.resource);
	table_add_field(table, "path", NULL, cell_text(table_text(table, error,
	                "%s", text_string(&text))), error);
	table_add_field(table, "resource.name", NULL,
	                cell_text(logging->request.resource), error);
	table_add_field(table, "resource.gtick", NULL,
	                cell_text(table->gtick), error);
	table_add_field(table, "resource.interval", NULL,
	                cell_count(table->interval), error);
	table_add_field(table, "ordered_by_git", NULL,
	                cell_flag(logging->is_ordered), error);
	table_add_field(table, "changes", NULL, cell_count(logging->n_changes),
	                error);
	text_free(&text);
	table_add_header(table, error, "value: what a run used, on average; "
	    "newest commit first, by %s", logging->is_ordered ? "git" :
	    "the order of keeping");
	table_add_header(table, error, "%zu change%s beyond noise in %zu "
	    "commit%s", logging->n_changes, logging->n_changes == 1 ? "" : "s",
	    n, n == 1 ? "" : "s");
	if (n > 1 && n < LEAST_COMMITS)
		table_add_footer(table, error, "changes by less than %.0f%% are "
		    "undecided: %zu commits cannot show what commits differ by",
		    100 * CHANGE_BETWEEN_RUNS, n);
	if (logging->n_left_out > 0)
		table_add_footer(table, error, "%zu more %s no ancestor%s of "
		    "HEAD%s: log --all", logging->n_left_out,
		    logging->n_left_out == 1 ? "commit is" : "commits are",
		    logging->n_left_out == 1 ? "" : "s",
		    logging->kept.is_shallow ? " as far as this shallow clone "
		    "knows; git fetch --unshallow, or" : "");
	if (logging->runs.n_others > 0)
		table_add_footer(table, error, "%zu more without resource %s",
		    logging->runs.n_others, logging->request.resource);
	return error->is_set ? -1 : 0;
}

static int
log_fill(struct logging *logging, struct error *error)
{
	struct table *table = logging->table;
	const size_t n = logging->runs.series.n_points;
	size_t limit = logging->session->settings.limit, n_shown;

	table->schema = "cpprof.log/1";
	table->gtick = table_text(table, error, "%s", logging->runs.gtick);
	table->interval = logging->runs.interval;
	if (table->gtick == NULL || log_add_heading(logging, error) != 0)
		return -1;
	log_add_columns(table);
	n_shown = n < limit ? n : limit;
	for (size_t i = 0; i < n_shown; i++)
		if (log_add_row(logging, n - 1 - i, error) != 0)
			return -1;
	return n_shown == n ? 0 :
	    table_add_footer(table, error, "%zu older commit%s (limit %zu)",
	                     n - n_shown, n - n_shown == 1 ? "" : "s", limit);
}

/* ---- the command ---- */

static int
log_list(struct logging *logging, bool wants_all, struct error *error)
{
	struct kept *kept = &logging->kept;
	struct error why = { 0 };

	if (kept_open(kept, error) != 0 || kept_list(kept, error) != 0)
		return -1;
	if (kept->n == 0)
		return error_set(error, "%.200s has no profiles; keep FILE "
		                 "keeps one for a commit", kept->directory);
	if (!wants_all)
		logging->n_left_out = kept_git_order(kept,
		                                     &logging->is_ordered,
		                                     &why);
	if (why.is_set)
		message_note("not in git's order: %s", why.text);
	/* Of more, the oldest are not looked at. */
	if (kept->n > KEPT_COMMITS_MOST) {
		logging->n_left_out += kept->n - KEPT_COMMITS_MOST;
		memmove(kept->commits,
		        kept->commits + kept->n - KEPT_COMMITS_MOST,
		        KEPT_COMMITS_MOST * sizeof *kept->commits);
		kept->n = KEPT_COMMITS_MOST;
	}
	return 0;
}

static int
log_check_steps(const struct kept_request *request, struct error *error)
{
	for (size_t i = 0; i < request->n_steps; i++)
		if (request->steps[i]->kind == STEP_SECTIONS ||
		    request->steps[i]->kind == STEP_TIME)
			return error_set(error, "kept profiles do not know "
			                 "threads, labels and times, so log "
			                 "cannot do this step: %.200s",
			                 request->steps[i]->text);
	return 0;
}

static int
log_compute(struct logging *logging, struct error *error)
{
	struct kept_runs *runs = &logging->runs;
	struct error why = { 0 };

	if (kept_runs_read(&logging->kept, &logging->request, runs, &why,
	                   error) != 0)
		return -1;
	if (logging->kept.n_damaged > 0)
		message_note("%s%s", why.text, logging->kept.n_damaged > 1 ?
		             "; others are damaged, too" : "");
	logging->errors = memory_array(runs->series.n_points,
	                               sizeof *logging->errors, error);
	if (logging->errors == NULL ||
	    change_points_find(&runs->series, logging->changes,
	                       &logging->n_changes, error) != 0 ||
	    change_points_errors(&runs->series, logging->errors, error) != 0)
		return -1;
	return 0;
}

static int
log_run(struct session *session, const struct arguments *arguments,
        struct table *table, struct error *error)
{
	struct logging logging = {
		.session = session, .table = table,
		.request = {
			.rule = session->settings.naming,
			.hidden = session_hidden_frames(session),
			.resource = session->loaded.profile == NULL ? NULL :
			    session_resource(session)->name,
		},
	};
	int result = -1;

	if (log_take_steps(&logging, &arguments->values[1], error) == 0 &&
	    log_check_steps(&logging.request, error) == 0 &&
	    log_list(&logging, arguments->values[0].is_given, error) == 0 &&
	    log_find_path(&logging, &arguments->values[1], error) == 0 &&
	    log_compute(&logging, error) == 0)
		result = log_fill(&logging, error);
	if (logging.group != NULL)
		step_release(logging.group);
	free(logging.steps);
	free(logging.errors);
	free(logging.path);
	kept_runs_free(&logging.runs);
	kept_close(&logging.kept);
	return result;
}

const struct command command_log = {
	.name = "log",
	.group = GROUP_COMPARE,
	.summary = "what a function used in each commit, and where that changed",
	.description =
	    "For the profiles that keep has kept: a row for each commit, with "
	    "what a run used in the function and what it calls, or on the "
	    "path, on average. A pattern, such as db_* or /^db_/, means all "
	    "functions that match, as group does; a name between bars is none. "
	    "+- is half of its 95% interval, estimated from how much the runs "
	    "of this commit and of those nearby differ. No "
	    "profile needs to be loaded; if one is, its current resource, its "
	    "steps and its settings apply.\n\n"
	    "Commits are in git's order. Those that are no ancestors of HEAD "
	    "are left out, unless git knows none, or with --all; then the order "
	    "is that of keeping. limit N shows the newest N.\n\n"
	    "change says where the value changed by more than noise, from the "
	    "commits before, back to the last change, to those from here on. "
	    "The test is that of diff, with all their runs as replicates; a "
	    "change must also be more than commits differ by. In a history "
	    "without a change, one is found in fewer than 1 of 20 cases. Two "
	    "or three commits cannot show what commits differ by: there a "
	    "change by less than 15% is not told. With one run a commit, a "
	    "change shows as soon as several commits have it.",
	.example = "log --all db_read_record",
	.arguments = log_arguments,
	.choices = log_choices,
	.run = log_run,
};
