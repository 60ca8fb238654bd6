/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/base.c -- the runs, or parts of one, that diff compares with. */
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/format.h"
#include "src/shell/command/command.h"
#include "src/shell/command/view_command.h"

/* Before a label or time, and before the one to compare it with. */
static const char label_word[] = "label", time_word[] = "time",
                  calls_word[] = "calls", against_word[] = "against";

static bool
base_is_word(const struct word *word, const char *text)
{
	return !word->is_quoted && strcmp(word->text, text) == 0;
}

/*
 * time FROM..TO [against [time] FROM..TO]: the words are those of the line; the
 * second range is words[1], or there is one word.
 */
static int
base_read_times(struct reading *reading, struct value *value)
{
	const struct words *words = reading->words;
	const char **ranges = arena_alloc(&reading->arguments->arena,
	    2 * sizeof *ranges, reading->error);
	size_t at = reading->at + 1;

	if (ranges == NULL)
		return -1;
	for (value->n_words = 0; value->n_words < 2; value->n_words++) {
		struct side_time time;

		if (at == words->n || !selection_read_range(
		        words->words[at].text, &time.begin_ns, &time.end_ns))
			return error_set(reading->error, "base time needs a "
			                 "part of the run: base time ..1m "
			                 "[against 2m..]");
		ranges[value->n_words] = words->words[at++].text;
		if (at == words->n)
			break;
		if (value->n_words == 1 ||
		    !base_is_word(&words->words[at], against_word))
			return error_set(reading->error, "base time FROM..TO "
			                 "[against FROM..TO]: unexpected "
			                 "%.60s", words->words[at].text);
		at++;
		if (at < words->n && base_is_word(&words->words[at], time_word))
			at++;
	}
	value->n_words++;
	value->text = time_word;
	value->words = ranges;
	reading->at = words->n;
	return 0;
}

/* calls [FUNCTION] above|below LENGTH, against the others. */
static int
base_read_calls(struct reading *reading, struct value *value)
{
	struct calls_selection *calls = arena_alloc(
	    &reading->arguments->arena, sizeof *calls, reading->error);

	if (calls == NULL ||
	    selection_read_calls(reading, reading->at + 1, calls) != 0)
		return -1;
	value->text = calls_word;
	value->calls = calls;
	reading->at = reading->words->n;
	return 0;
}

static int
read_base(struct reading *reading, struct value *value)
{
	static const struct argument files = {
		"FILE", &arg_file_or_off, ARG_OPTIONAL | ARG_REPEATED, NULL
	};
	const struct words *words = reading->words;

	if (base_is_word(&words->words[reading->at], time_word))
		return base_read_times(reading, value);
	if (base_is_word(&words->words[reading->at], calls_word))
		return base_read_calls(reading, value);
	if (base_is_word(&words->words[reading->at], label_word)) {
		struct pattern_word *sides = arena_alloc(
		    &reading->arguments->arena, 2 * sizeof *sides,
		    reading->error);
		size_t begin = reading->at + 1, end = begin + 1, now;

		/*
		 * label KEY=GLOB [against [label] KEY=GLOB]: one or two
		 * pattern_words.
		 */
		if (sides == NULL)
			return -1;
		if (begin == words->n)
			return error_set(reading->error, "base label needs a "
			                 "label: base label KEY=GLOB. For a "
			                 "file named label, write ./label");
		while (end < words->n &&
		       !base_is_word(&words->words[end], against_word))
			end++;
		value->text = label_word;
		value->pattern_words = sides;
		value->n_pattern_words = end < words->n ? 2 : 1;
		now = end + 1;
		if (now + 1 < words->n &&
		    base_is_word(&words->words[now], label_word))
			now++;
		if (end < words->n && now >= words->n)
			return error_set(reading->error,
			                 "against needs a label: base "
			                 "label KEY=OLD against KEY=NEW");
		reading->at = words->n;
		if (selection_read_words(reading, begin, end, &sides[0]) != 0)
			return -1;
		return end == words->n ? 0 :
		    selection_read_words(reading, now, words->n, &sides[1]);
	}
	reading->argument = &files;
	return arg_file_or_off.read(reading, value);
}

static void
complete_base(struct completion *completion, const struct session *session,
              const struct command *command)
{
	size_t n = completion->n_before;
	const struct word *before = completion->before;

	if (n == 0 || !base_is_word(&before[0], label_word)) {
		arg_file_or_off.complete(completion, session, command);
		if (n == 0)
			completion_offer(completion, label_word,
			                 strlen(label_word));
		if (n == 0)
			completion_offer(completion, time_word,
			                 strlen(time_word));
		if (n == 0)
			completion_offer(completion, calls_word,
			                 strlen(calls_word));
	} else if (n == 1 || base_is_word(&before[n - 1], against_word)) {
		if (session->subject->profile != NULL)
			selection_complete_labels(completion,
			                          session->subject->profile);
	} else if (n == 2) {
		completion_offer(completion, against_word,
		                 strlen(against_word));
	}
}

static const struct argument_kind arg_base = {
	.read = read_base,
	.complete = complete_base,
	.takes_rest = true,
};

static const struct argument base_arguments[] = {
	{ "FILE...|label KEY=GLOB [against KEY=GLOB]|"
	  "time FROM..TO [against FROM..TO]|calls below LENGTH", &arg_base, ARG_OPTIONAL,
	  "the earlier runs to compare with: profiles, recordings or "
	  "directories of recordings; or label KEY=GLOB, with the values to "
	  "compare (default: all others); or a part of the run (default: with "
	  "the rest); off: no base (default: lists both sides)" },
	ARGUMENTS_END
};

static int
base_add_run(const char *side, const char *path, struct table *table,
             struct error *error)
{
	const char *copy = table_text(table, error, "%s", path);

	return copy == NULL ? -1 :
	    table_add_row(table, (struct cell[]){
		cell_text(side), cell_text(copy),
	    }, error);
}

static int
list_runs(const struct session *session, struct table *table,
          struct error *error)
{
	const struct runs *base = &session->comparison.base;
	struct run_list list;
	int result;

	table->schema = "cpprof.runs/1";
	table_add_column(table, "side", "side", CELL_TEXT);
	table_add_column(table, "file", "file", CELL_TEXT);
	for (uint32_t i = 0; i < base->n; i++)
		if (base_add_run("base", base->paths[i], table, error) != 0)
			return -1;
	/* The runs that the loaded profile's files stand for. */
	list = (struct run_list){ 0 };
	result = run_list_add_paths(&list, (const char *const *)session->files,
	                            session->n_files, error);
	for (size_t i = 0; result == 0 && i < list.n; i++)
		result = base_add_run("now", list.paths[i], table, error);
	run_list_free(&list);
	return result;
}

/* Both parts of the run. */
static int
list_times(const struct sides *sides, struct table *table, struct error *error)
{
	table->schema = "cpprof.sides/1";
	table_add_column(table, "side", "side", CELL_TEXT);
	table_add_column(table, "value", sides->key, CELL_TEXT);
	return base_add_run("base", sides->texts[0], table, error) != 0 ||
	    base_add_run("now", sides->texts[1] != NULL ? sides->texts[1] :
	                 "the rest of the run", table, error) != 0 ? -1 :
	    table_add_field(table, "key", NULL, cell_text(sides->key), error);
}

/* The values of a label on both sides. */
static int
list_values(struct session *session, struct table *table, struct error *error)
{
	static const char *const names[] = { "base", "now" };
	struct division division;
	int result = -1;

	if (session_need_profile(session, error) != 0 ||
	    session_divide(session, session->comparison.sides, &division,
	                   error) != 0)
		return -1;
	table->schema = "cpprof.sides/1";
	table_add_column(table, "side", "side", CELL_TEXT);
	table_add_column(table, "value", session->comparison.sides->key,
	                 CELL_TEXT);
	for (int side = 0; side < 2; side++) {
		uint32_t n;
		uint32_t *values = division_values(&division, side, &n, error);

		result = values == NULL ? -1 : 0;
		for (uint32_t i = 0; result == 0 && i < n; i++)
			result = base_add_run(names[side],
			    names_text(division.values[side], values[i]),
			    table, error);
		free(values);
		if (result != 0)
			break;
	}
	if (result == 0)
		result = table_add_field(table, "key", NULL,
		    cell_text(session->comparison.sides->key), error);
	division_free(&division);
	return result;
}

static int
base_set_times(struct session *session, const struct value *value,
               struct error *error)
{
	const char *texts[2] = { NULL };
	struct side_time times[2] = { { 0, 0 } };

	for (size_t i = 0; i < value->n_words; i++) {
		texts[i] = value->words[i];
		selection_read_range(texts[i], &times[i].begin_ns,
		                     &times[i].end_ns);
	}
	return session_set_sides(session, sides_new_times(times, texts, error),
	                         error);
}

static struct sides *
base_calls_sides(const struct calls_selection *calls, struct error *error)
{
	struct sides *sides = sides_new(&calls->these, &calls->others, error);

	if (sides == NULL)
		return NULL;
	sides->n_calls[0] = calls->n_these;
	sides->n_calls[1] = calls->n_others;
	sides->calls = memory_string(calls->words, error);
	if (sides->calls != NULL)
		return sides;
	sides_free(sides);
	return NULL;
}

static int
base_run(struct session *session, const struct arguments *arguments,
         struct table *table, struct error *error)
{
	const struct value *files = &arguments->values[0];
	const struct sides *sides = session->comparison.sides;

	if (!files->is_given)
		return sides == NULL ? list_runs(session, table, error) :
		    sides->are_times ? list_times(sides, table, error) :
		    list_values(session, table, error);
	if (files->text == time_word)
		return base_set_times(session, files, error);
	if (files->text == calls_word)
		return session_set_sides(session, base_calls_sides(
		    files->calls, error), error);
	if (files->n_pattern_words > 0)
		return session_set_sides(session,
		    sides_new(&files->pattern_words[0],
		              files->n_pattern_words > 1 ?
		              &files->pattern_words[1] : NULL, error), error);
	if (files->n_words == 1 && strcmp(files->words[0], "off") == 0)
		return session_set_base(session, NULL, 0, error);
	return session_set_base(session, files->words, files->n_words, error);
}

const struct command command_base = {
	.name = "base",
	.group = GROUP_COMPARE,
	.summary = "sets the runs, or parts of one, that diff compares with",
	.description =
	    "diff then compares the loaded profile with these. Each FILE is a "
	    "run of its own, and so is each recording in a directory that "
	    "record --repeat wrote. Of other directories, name the files: base "
	    "old/1.pb.gz old/2.pb.gz, or on the command line --base=old/1.pb.gz "
	    "for each. A step that matches only the base, such as a group for "
	    "a function that has a new name now, applies to comparisons. "
	    "Several runs of a side are not added up: "
	    "their differences show how much equal runs vary. The same holds "
	    "for the files of the loaded profile, which all other views show "
	    "as a sum. A program among the files goes with each gmon.out.\n\n"
	    "base label host=old* compares parts of the loaded profile: the "
	    "hosts whose names match with all others; base label host=old* "
	    "against host=new* with those that match the second pattern. Any "
	    "label will do that the samples have, or that cpprof merge --by "
	    "kept. Each value of it stands for a run, so amounts are per value, "
	    "such as per host, and several values a side show the noise; if a "
	    "side has more than 64, they are dealt to 32 random groups. narrow "
	    "and drop of the same label say which values take part.\n\n"
	    "base time ..1m compares the first minute of the run with the rest, "
	    "base time 1m..2m against 5m..6m two parts of it. Steps in time do "
	    "not count then. Of live-bytes and live-allocs, it compares what "
	    "was in use when each part ended, so that diff shows what grew.\n\n"
	    "base calls below p99 compares the calls that record --calls "
	    "observed with those that took longer, per call: diff shows what "
	    "the slow ones do that the others do not. calls FUNCTION below 20ms "
	    "names one of several functions and a length.\n\n"
	    "The base stays when another profile is loaded. base off forgets "
	    "it; files of these names are ./off, ./label, ./time and ./calls.",
	.example = "base forms.folded",
	.arguments = base_arguments,
	.run = base_run,
};
