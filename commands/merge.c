/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/merge.c -- adds up any number of profiles into one file. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/writer.h"
#include "src/formats/exporter.h"
#include "src/formats/format.h"
#include "src/formats/merged/merging.h"
#include "src/shell/command/command.h"
#include "src/shell/help/help_text.h"
#include "src/shell/line/options.h"
#include "src/shell/session/path_tables.h"
#include "src/shell/terminal/terminal.h"

/* Warnings of inputs are shown up to this number. */
enum { WARNINGS_SHOWN = 10 };

extern const struct command command_merge;

struct merge_options {
	const char *output;
	const char *key, *id;
	const char *format;	/* of exporter_names; NULL: by the output's
				 * name */
	bool is_merged;		/* -f merged */
	bool are_tables;	/* -f parquet: output is a directory */
	size_t most_names;	/* then: of a path */
	const char *symfs;
	bool is_lenient, has_thread_frames;
	bool wants_help;
	const char **inputs;	/* [n_inputs], as typed */
	size_t n_inputs;
};

static const struct argument merge_arguments[] = {
	{ "[OPTIONS] -o OUT FILE...", &arg_options_and_files, 0,
	  "the profiles to add up, and any of the options below; - is standard "
	  "input, and a directory stands for all profiles below it. The same "
	  "file twice is an error" },
	ARGUMENTS_END
};

static int
take_output(void *all, const char *word, struct error *error)
{
	(void)error;
	((struct merge_options *)all)->output = word;
	return 0;
}

static int
take_key(void *all, const char *word, struct error *error)
{
	if (*word == '\0')
		return error_set(error, "--by needs a key, such as host");
	((struct merge_options *)all)->key = word;
	return 0;
}

static int
take_id(void *all, const char *word, struct error *error)
{
	/* From a variable that is not set, it would be that of all members. */
	if (*word == '\0')
		return error_set(error, "--id needs a name; without --id an "
		                 "input is known by its content");
	((struct merge_options *)all)->id = word;
	return 0;
}

static int
merge_take_symfs(void *all, const char *word, struct error *error)
{
	(void)error;
	((struct merge_options *)all)->symfs = word;
	return 0;
}

static int
merge_take_format(void *all, const char *word, struct error *error)
{
	struct merge_options *options = all;
	struct text_buffer known = { 0 };

	options->is_merged = strcmp(word, "merged") == 0;
	options->are_tables = strcmp(word, "parquet") == 0;
	options->format = NULL;
	if (options->is_merged || options->are_tables)
		return 0;
	for (size_t i = 0; exporter_names[i] != NULL; i++) {
		if (strcmp(exporter_names[i], word) == 0) {
			options->format = exporter_names[i];
			text_free(&known);
			return 0;
		}
		text_add_format(&known, ", %s", exporter_names[i]);
	}
	error_set(error, "-f %.100s: expected one of merged, parquet%s", word,
	          text_string(&known));
	text_free(&known);
	return -1;
}

static int
merge_take_paths(void *all, const char *word, struct error *error)
{
	char *end;
	unsigned long n = strtoul(word, &end, 10);

	if (strcmp(word, "all") == 0)
		n = SIZE_MAX;
	else if (*end != '\0' || *word < '0' || *word > '9' || n == 0)
		return error_set(error, "--paths %.40s: expected a number of "
		                 "functions from 1 on, or all", word);
	((struct merge_options *)all)->most_names = n;
	return 0;
}

#define MERGE_FLAG(member) NULL, offsetof(struct merge_options, member)

static const struct option_row merge_option_rows[] = {
	{ "-o", NULL, "OUT",
	  "the file to write; - is standard output. It is replaced once "
	  "everything is written, so it may be among the inputs; in a directory "
	  "that is one it is left out",
	  take_output, 0 },
	{ "-f", NULL, "FORMAT",
	  "the format to write: merged, or one that export knows, such as "
	  "pprof, which keeps only the sum. The default is merged, and pprof if "
	  "OUT ends in .pb.gz or .pprof. parquet: tables for SQL, added to the "
	  "directory OUT",
	  merge_take_format, 0 },
	{ NULL, "--paths", "N",
	  "of parquet: paths of up to N functions (8), or all",
	  merge_take_paths, 0 },
	{ NULL, "--by", "KEY",
	  "keeps the counts by host, process, thread or id, or by the values of "
	  "a label of that key. A merged profile has them only if it was made "
	  "with the same KEY",
	  take_key, 0 },
	{ NULL, "--id", "NAME",
	  "the identity of the one input, in place of the hash of its content",
	  take_id, 0 },
	{ NULL, "--symfs", "DIR",
	  "searches programs and debug files below DIR first", merge_take_symfs,
	  0 },
	{ NULL, "--lenient", NULL, "skips lines of inputs that cannot be read",
	  MERGE_FLAG(is_lenient) },
	{ NULL, "--thread-frames", NULL,
	  "takes the outermost frames of collapsed stacks for threads",
	  MERGE_FLAG(has_thread_frames) },
	{ NULL, "--help", NULL, "prints this help", MERGE_FLAG(wants_help) },
	OPTIONS_END
};

/* ---- the command line ---- */

static int
set_too_many(const struct merge_options *options, size_t n,
             struct error *error)
{
	return error_set(error, "--id %.100s names one input, and there are "
	                 "%zu", options->id, n);
}

/* inputs: room for all words. */
static int
parse_words(struct merge_options *options, char *const *words,
            const char **inputs, struct error *error)
{
	*options = (struct merge_options){ .inputs = inputs,
		.most_names = PATH_TABLES_NAMES };
	if (options_take_among(merge_option_rows, "merge", options, words,
	                       inputs, &options->n_inputs, error) != 0)
		return -1;
	if (options->wants_help)
		return 0;
	if (options->output == NULL)
		return error_set(error,
		                 "merge needs -o OUT, the file to write");
	if (options->n_inputs == 0)
		return error_set(error, "merge needs a profile to read");
	if (options->id != NULL && options->n_inputs != 1)
		return set_too_many(options, options->n_inputs, error);
	if (!options->is_merged && !options->are_tables &&
	    options->format == NULL)
		options->format = merging_exporter_of(options->output);
	return 0;
}

/* ---- merging ---- */

struct merge_state {
	const struct merge_options *options;
	struct run_list inputs;
	struct merging *merging;	/* or */
	struct path_tables *tables;
	uint64_t n_warnings;
	struct merging_lack lack;
};

static void
merge_warn(void *context, const char *text)
{
	struct merge_state *run = context;

	if (run->n_warnings++ < WARNINGS_SHOWN)
		message_note("%s", text);
}

static int
merge_write_file(struct merge_state *run, struct error *error)
{
	struct new_file file;
	bool is_whole;

	if (strcmp(run->options->output, "-") == 0) {
		int descriptor = STDOUT_FILENO, status;
		struct writer writer;

		if (isatty(descriptor))
			return error_set(error, "-o -: the merged profile is "
			                 "not text; send it to a file or a "
			                 "pipe");
		writer_start(&writer, write_to_descriptor, &descriptor);
		if (merging_write(run->merging, run->options->format, &writer,
		                  error) != 0 && error->is_set)
			return -1;
		status = writer_flush(&writer);
		return status == 0 || status == EPIPE ? 0 :
		    error_set(error, "standard output: %s", strerror(status));
	}
	if (new_file_open(&file, run->options->output, error) != 0)
		return -1;
	is_whole = merging_write(run->merging, run->options->format,
	                         &file.writer, error) == 0;
	/* A pipe may have lost its reader, which is no error. */
	return new_file_close(&file, is_whole, error) != 0 || error->is_set ?
	       -1 : 0;
}

/* Starts the sum, or the tables. */
static int
merge_begin(struct merge_state *run, const struct session *session,
            const struct read_options *read, struct error *error)
{
	const struct merge_options *options = run->options;
	const struct path_tables_request request = {
		.directory = options->output, .key = options->key,
		.most_names = options->most_names,
		.rule = session->settings.naming,
		.hidden = session_hidden_frames(session),
		.read = read,
	};

	if (!options->are_tables)
		run->merging = merging_new(read, options->key, error);
	else if (strcmp(options->output, "-") == 0)
		error_set(error, "-f parquet writes a directory, which -o "
		          "names");
	else if (read_only_check(options->output, error) == 0)
		run->tables = path_tables_new(&request, merge_warn, run, error);
	return error->is_set ? -1 : 0;
}

/* What is wrong with the sum's key, and the file. */
static int
merge_end(struct merge_state *run, struct error *error)
{
	struct error note = { 0 };

	if (run->tables != NULL)
		return path_tables_end(run->tables, error);
	/* Says what is not known by the key; refuses where nothing is. */
	if (merging_check_key(run->merging, merging_without_key(run->merging),
	                      &note, error) != 0)
		return -1;
	if (note.is_set)
		message_note("%s", note.text);
	return merge_write_file(run, error);
}

static int
merge_inputs(struct merge_state *run, const struct session *session,
             const struct read_options *read, struct error *error)
{
	const struct merge_options *options = run->options;
	struct progress_line line;
	const struct progress *progress;
	int result;

	for (size_t i = 0; i < options->n_inputs; i++)
		if (run_list_add_members(&run->inputs, options->inputs[i],
		                         error) != 0)
			return -1;
	if (run_list_check_distinct(&run->inputs, error) != 0)
		return -1;
	if (run->inputs.was_output_found)
		message_note("%s is in an input directory; it was not added to "
		             "itself", strcmp(options->output, "-") == 0 ?
		             "standard output" : options->output);
	if (options->id != NULL && run->inputs.n != 1)
		return set_too_many(options, run->inputs.n, error);
	if (merge_begin(run, session, read, error) != 0)
		return -1;
	progress = progress_line_start(&line, "merging");
	result = 0;
	line.unit = "files";
	for (size_t i = 0; result == 0 && i < run->inputs.n; i++) {
		struct error why = { 0 };

		result = progress_step(progress, i, run->inputs.n, error);
		if (result != 0)
			break;
		switch (run->tables != NULL ?
		        path_tables_add(run->tables, run->inputs.paths[i],
		                        options->id, merge_warn, run, &why) :
		        merging_add(run->merging, run->inputs.paths[i],
		                    options->id, merge_warn, run, &why)) {
		case MERGED_ADDED:
			break;
		case MERGED_CUT_SHORT:
			run->lack.n_cut++;
			break;
		case MERGED_SKIPPED:
			run->lack.n_skipped++;
			progress_line_end(&line);
			message_note("%s (skipped)", why.text);
			break;
		case MERGED_FAILED:
			result = error_pass(error, &why);
		}
	}
	progress_line_end(&line);
	if (run->n_warnings > WARNINGS_SHOWN)
		message_note("%" PRIu64 " more warnings",
		             run->n_warnings - WARNINGS_SHOWN);
	if (result != 0)
		return -1;
	if (run->lack.n_skipped == run->inputs.n)
		return error_set(error, "nothing to write: no input could be "
		                 "merged");
	if (merge_end(run, error) != 0)
		return -1;
	return merging_check_whole(&run->lack, run->inputs.n, options->output,
	                           error);
}

static int
merge_with(struct session *session, const struct merge_options *options,
           struct error *error)
{
	const char *symfs = options->symfs != NULL ? options->symfs :
	                    session->symfs;
	const struct symbol_search search = { .root = symfs };
	struct read_options read = {
		.lenient = options->is_lenient || session->is_lenient,
		.has_thread_frames = options->has_thread_frames ||
		    session->has_thread_frames,
		.symfs = symfs,
		.modules = module_cache_new(&search, error),
	};
	struct merge_state run = {
		.options = options,
		.inputs.output = options->output,
	};
	int result;

	if (read.modules == NULL)
		return -1;
	if (session->is_lone_command)
		interrupt_catch();
	result = merge_inputs(&run, session, &read, error);
	merging_free(run.merging);
	path_tables_free(run.tables);
	run_list_free(&run.inputs);
	module_cache_free(read.modules);
	return result;
}

static int
merge_run(struct session *session, const struct arguments *arguments,
          struct table *table, struct error *error)
{
	const struct value *words = &arguments->values[0];
	struct merge_options options;
	const char **inputs = memory_array(words->n_words + 1, sizeof *inputs,
	                                   error);
	int result;

	if (inputs == NULL)
		return -1;
	if (parse_words(&options, (char *const *)words->words, inputs,
	                error) != 0) {
		if (session->is_lone_command)
			session->status = EXIT_USAGE;
		result = -1;
	} else if (options.wants_help) {
		result = help_describe(&command_merge, table, error);
	} else if (strcmp(options.output, "-") == 0 &&
	           !session->is_lone_command) {
		result = error_set(error, "-o -: only cpprof merge can write "
		                   "to standard output");
	} else {
		result = merge_with(session, &options, error);
	}
	free(inputs);
	return result;
}

static void
merge_complete(struct completion *completion, const struct word *words,
               size_t n)
{
	static const char *const keys[] = { "host", "process", "thread", "id" };
	const struct option_row *row = NULL;
	const char *rest = "";

	if (n > 0 && words[n - 1].text[0] == '-')
		row = option_match(merge_option_rows, words[n - 1].text,
		                   &rest);
	if (row != NULL && row->take == merge_take_format && *rest == '\0') {
		completion_offer(completion, "merged", strlen("merged"));
		completion_offer(completion, "parquet", strlen("parquet"));
		for (size_t i = 0; exporter_names[i] != NULL; i++)
			completion_offer(completion, exporter_names[i],
			                 strlen(exporter_names[i]));
		return;
	}
	if (row != NULL && row->take == take_key && *rest == '\0') {
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
			completion_offer(completion, keys[i], strlen(keys[i]));
		return;
	}
	if (completion->prefix[0] == '-')
		completion_offer_options(completion, merge_option_rows);
	else
		completion_offer_files(completion);
}

const struct command command_merge = {
	.name = "merge",
	.group = GROUP_FILES,
	.summary = "adds up any number of profiles into one compact file",
	.description =
	    "Reads one profile after the other, of any formats that have stacks, "
	    "and writes their sum to a file that cpprof opens like any other. "
	    "The sum does not depend on the order of the inputs, nor on whether "
	    "they were merged in parts whose results were merged again: the "
	    "bytes of the file are the same.\n\n"
	    "Beside the sum, the file has the sums of 32 random groups of "
	    "inputs; for each node the input that has most of it; and, with "
	    "--by, the counts by the values of a key, which labels and narrow "
	    "label then know. Threads, other labels and times are not kept.\n\n"
	    "An input is known by its content, so it is the same under any name "
	    "and from standard input. Its name is kept only for open to find it; "
	    "from standard input it has none.\n\n"
	    "A directory with a recording's files is one input, however many "
	    "processes it is of. Of any other directory each file and recording "
	    "below it is one, except hidden ones and OUT.\n\n"
	    "An input that cannot be read or added is named and skipped, one "
	    "that is cut short is added as far as it goes, and the exit status "
	    "is 1.",
	.options = merge_option_rows,
	.complete_words = merge_complete,
	.example = "merge -o sum.merged words-1.folded.gz words-2.folded.gz",
	.arguments = merge_arguments,
	.run = merge_run,
};
