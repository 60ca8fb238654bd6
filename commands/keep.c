/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/keep.c -- keeps profiles for a commit, for log to compare. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/writer.h"
#include "src/formats/format.h"
#include "src/formats/merged/merging.h"
#include "src/shell/command/command.h"
#include "src/shell/help/help_text.h"
#include "src/shell/line/options.h"
#include "src/shell/session/kept.h"
#include "src/shell/terminal/terminal.h"

extern const struct command command_keep;

struct keep_options {
	const char *id;
	size_t most;			/* commits */
	bool wants_help;
};

static const struct argument keep_arguments[] = {
	{ "[OPTIONS] [FILE...]", &arg_options_and_files, ARG_OPTIONAL,
	  "the profiles to keep, each a run of the commit; a directory stands "
	  "for all profiles below it (the loaded ones)" },
	ARGUMENTS_END
};

static int
keep_take_id(void *all, const char *word, struct error *error)
{
	if (*word == '\0')
		return error_set(error, "--id needs the name of a commit");
	((struct keep_options *)all)->id = word;
	return 0;
}

static int
keep_take_most(void *all, const char *word, struct error *error)
{
	char *end;
	unsigned long n = strtoul(word, &end, 10);

	if (*end != '\0' || *word < '0' || *word > '9' || n == 0 ||
	    n > KEPT_COMMITS_MOST)
		return error_set(error, "--most %.40s: expected a number from "
		                 "1 to %d", word, KEPT_COMMITS_MOST);
	((struct keep_options *)all)->most = n;
	return 0;
}

static const struct option_row keep_option_rows[] = {
	{ NULL, "--id", "COMMIT",
	  "the commit that was profiled, as git knows it, or any other name "
	  "(git's HEAD)", keep_take_id, 0 },
	{ NULL, "--most", "N",
	  "keeps at most N commits and removes those that were kept first "
	  "(1000)", keep_take_most, 0 },
	{ NULL, "--help", NULL, "prints this help", NULL,
	  offsetof(struct keep_options, wants_help) },
	OPTIONS_END
};

/* A profile that is being kept. */
struct keeping {
	struct session *session;
	const struct keep_options *options;
	struct kept kept;
	const char *id, *path;		/* of the commit, and its file */
	struct timespec first;		/* when it was first kept; tv_nsec is
					 * UTIME_NOW: now */
	struct run_list inputs;
	struct merging *merging;
	uint64_t n_before;		/* runs */
	struct merging_lack lack;
};

static void
keep_warn(void *context, const char *text)
{
	(void)context;
	message_note("%s", text);
}

/* The runs that are there already. */
static int
keep_add_old(struct keeping *keeping, struct error *error)
{
	struct stat status;
	struct error why = { 0 };

	keeping->first.tv_nsec = UTIME_NOW;
	if (lstat(keeping->path, &status) != 0)
		return errno == ENOENT ? 0 :
		    error_set(error, "%.200s: %s", keeping->path,
		              strerror(errno));
	if ((uint64_t)status.st_size > KEPT_FILE_BYTES)
		return error_set(error, "%.200s: larger than keep writes; "
		                 "remove it, and keep begins anew",
		                 keeping->path);
	if (!S_ISREG(status.st_mode))
		return error_set(error, "%.200s: not a regular file; remove "
		                 "it, and keep begins anew", keeping->path);
	keeping->first = status.st_mtim;
	if (merging_add(keeping->merging, keeping->path, NULL, keep_warn, NULL,
	                &why) != MERGED_ADDED)
		return why.is_out_of_memory ? error_pass(error, &why) :
		    error_set(error, "%s; without that file, keep begins anew",
		              why.text);
	if (merging_without_key(keeping->merging) > 0)
		return error_set(error, "%.200s: its runs are not known one by "
		                 "one; remove it, or merge it --by id",
		                 keeping->path);
	keeping->n_before = merging_fleet(keeping->merging)->n_members;
	return 0;
}

static int
keep_add(struct keeping *keeping, const char *path, struct error *error)
{
	struct error why = { 0 };

	switch (merging_add(keeping->merging, path, NULL, keep_warn, NULL,
	                    &why)) {
	case MERGED_ADDED:
		break;
	case MERGED_CUT_SHORT:
		keeping->lack.n_cut++;
		break;
	case MERGED_SKIPPED:
		keeping->lack.n_skipped++;
		message_note("%s (skipped)", why.text);
		break;
	case MERGED_FAILED:
		return error_pass(error, &why);
	}
	if (merging_without_key(keeping->merging) > 0)
		return error_set(error, "%.200s is a merged profile whose runs "
		                 "are not known; make it with merge --by id",
		                 path);
	return 0;
}

static int
keep_add_all(struct keeping *keeping, const struct read_options *read,
             struct error *error)
{
	struct run_list *inputs = &keeping->inputs;
	uint64_t n;

	keeping->merging = merging_new(read, "id", error);
	if (keeping->merging == NULL || keep_add_old(keeping, error) != 0)
		return -1;
	merging_skip_known(keeping->merging);
	for (size_t i = 0; i < inputs->n; i++)
		if (progress_step(NULL, i, inputs->n, error) != 0 ||
		    keep_add(keeping, inputs->paths[i], error) != 0)
			return -1;
	if (keeping->lack.n_skipped == inputs->n)
		return error_set(error, "nothing new to keep for %.60s",
		                 keeping->id);
	n = merging_fleet(keeping->merging)->n_members;
	return n <= KEPT_RUNS ? 0 :
	    error_set(error, "%.60s would have %" PRIu64 " runs, and at most "
	              "%d are kept", keeping->id, n, KEPT_RUNS);
}

/* Replaces the commit's file, but for its time. */
static int
keep_write(struct keeping *keeping, struct error *error)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		                           keeping->first };
	struct new_file file;
	struct stat status;
	bool is_whole;

	if (new_file_open_own(&file, keeping->path, keeping->kept.own,
	                      error) != 0)
		return -1;
	is_whole = merging_write(keeping->merging, NULL, &file.writer,
	                         error) == 0;
	/* Before it takes its place: the last write would set the time. */
	is_whole = is_whole && writer_flush(&file.writer) == 0;
	if (is_whole && fstat(file.descriptor, &status) == 0 &&
	    (uint64_t)status.st_size > KEPT_FILE_BYTES)
		is_whole = error_set(error, "%.200s: would be larger than 128 "
		                     "MiB; keep fewer runs of the commit",
		                     keeping->path) == 0;
	if (is_whole)
		futimens(file.descriptor, times);
	return new_file_close(&file, is_whole, error) != 0 || error->is_set ?
	    -1 : 0;
}

/* The files of the session, if none are given. */
static int
keep_list_inputs(struct keeping *keeping, const char *const *files, size_t n,
                 struct error *error)
{
	const struct session *session = keeping->session;

	if (n == 0) {
		files = (const char *const *)session->files;
		n = session->n_files;
	}
	if (n == 0)
		return error_set(error, "keep needs a profile: none is loaded, "
		                 "and none is named");
	for (size_t i = 0; i < n; i++) {
		if (strcmp(files[i], "-") == 0)
			return error_set(error, "what was read from standard "
			                 "input cannot be kept; save it to a "
			                 "file");
		if (run_list_add_members(&keeping->inputs, files[i],
		                         error) != 0)
			return -1;
	}
	return run_list_check_distinct(&keeping->inputs, error);
}

/* Which commit it is; says so if the work tree is not that commit. */
static int
keep_find_commit(struct keeping *keeping, struct error *error)
{
	keeping->id = kept_git_id(&keeping->kept, keeping->options->id, error);
	if (keeping->id == NULL)
		return -1;
	if (keeping->options->id == NULL &&
	    kept_git_has_changes(&keeping->kept))
		message_note("files differ from HEAD; kept for HEAD, %.12s",
		             keeping->id);
	keeping->path = kept_path(&keeping->kept, keeping->id, error);
	return keeping->path != NULL ? 0 : -1;
}

static int
keep_report(struct keeping *keeping, size_t n_removed, struct table *table,
            struct error *error)
{
	const uint64_t n = merging_fleet(keeping->merging)->n_members;
	const struct kept *kept = &keeping->kept;
	uint64_t bytes = 0;
	const char *file = table_text(table, error, "%s", keeping->path);

	for (size_t i = 0; i < kept->n; i++)
		bytes += kept->commits[i].size;
	table->schema = "cpprof.keep/1";
	if (file == NULL ||
	    table_add_field(table, "added", "runs added",
	        cell_count(n - keeping->n_before), error) != 0 ||
	    table_add_field(table, "runs", "runs of the commit",
	        cell_count(n), error) != 0 ||
	    table_add_field(table, "commits", "commits kept",
	        cell_count(kept->n), error) != 0 ||
	    table_add_field(table, "removed", "oldest removed",
	        cell_count(n_removed), error) != 0 ||
	    table_add_field(table, "bytes", "bytes", cell_count(bytes),
	        error) != 0)
		return -1;
	table->is_plain = true;
	table_add_column(table, "commit", "commit", CELL_TEXT);
	table_add_column(table, "file", "file", CELL_TEXT);
	return table_add_row(table, (struct cell[]){
		cell_text(table_text(table, error, "%s", keeping->id)),
		cell_text(file) }, error);
}

static int
keep_all(struct keeping *keeping, const struct read_options *read,
         struct table *table, struct error *error)
{
	size_t n_removed;

	if (kept_open(&keeping->kept, error) != 0 ||
	    keep_find_commit(keeping, error) != 0 ||
	    kept_lock(&keeping->kept, error) != 0 ||
	    keep_add_all(keeping, read, error) != 0 ||
	    keep_write(keeping, error) != 0 ||
	    kept_prune(&keeping->kept, keeping->id, keeping->options->most,
	               KEPT_BYTES, &n_removed, error) != 0 ||
	    keep_report(keeping, n_removed, table, error) != 0)
		return -1;
	return merging_check_whole(&keeping->lack, keeping->inputs.n,
	                           keeping->id, error);
}

static int
keep_with(struct session *session, const struct keep_options *options,
          const char *const *files, size_t n, struct table *table,
          struct error *error)
{
	const struct symbol_search search = { .root = session->symfs };
	struct read_options read = {
		.lenient = session->is_lenient,
		.has_thread_frames = session->has_thread_frames,
		.symfs = session->symfs,
	};
	struct keeping keeping = { .session = session, .options = options };
	int result = -1;

	if (session->is_lone_command)
		interrupt_catch();
	if (keep_list_inputs(&keeping, files, n, error) == 0 &&
	    (read.modules = module_cache_new(&search, error)) != NULL)
		result = keep_all(&keeping, &read, table, error);
	merging_free(keeping.merging);
	run_list_free(&keeping.inputs);
	kept_close(&keeping.kept);
	module_cache_free(read.modules);
	return result;
}

static int
keep_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	static char *const none[] = { NULL };
	const struct value *given = &arguments->values[0];
	struct keep_options options = { .most = KEPT_COMMITS };
	const char **files = memory_array(given->n_words + 1, sizeof *files,
	                                  error);
	int result = -1;
	size_t n;

	if (files == NULL)
		return -1;
	if (options_take_among(keep_option_rows, "keep", &options,
	        given->is_given ? (char *const *)given->words : none, files,
	        &n, error) != 0) {
		if (session->is_lone_command)
			session->status = EXIT_USAGE;
	} else if (options.wants_help) {
		result = help_describe(&command_keep, table, error);
	} else if (read_only_check("keep", error) == 0) {
		result = keep_with(session, &options, files, n, table, error);
	}
	free(files);
	return result;
}

static void
keep_complete(struct completion *completion, const struct word *words,
              size_t n)
{
	(void)words, (void)n;
	if (completion->prefix[0] == '-')
		completion_offer_options(completion, keep_option_rows);
	else
		completion_offer_files(completion);
}

const struct command command_keep = {
	.name = "keep",
	.group = GROUP_COMPARE,
	.summary = "keeps profiles for a commit, so that log can compare them",
	.description =
	    "Adds the profiles to .cpprof/history/COMMIT.merged, at the top of "
	    "git's work tree, or in the current directory if there is no git. "
	    "Each file is a run of the commit: several runs show how much equal "
	    "runs differ. From the shell: cpprof keep --id COMMIT FILE...\n\n"
	    "The file is a merged profile with the counts of each run (merge "
	    "--by id), which cpprof opens like any other. It is replaced once "
	    "everything is written. A run that is there already is skipped. "
	    "At most 100 runs of a commit are kept, and of all commits at most "
	    "1 GiB. git ignores the directory.",
	.options = keep_option_rows,
	.complete_words = keep_complete,
	.example = "keep --help",
	.arguments = keep_arguments,
	.run = keep_run,
};
