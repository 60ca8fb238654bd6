/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-commands.c -- the table of commands, and the example of how to add one.
 *
 * The table has the program's commands and count, of doc/adding-a-command.md.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/shell/command/command.h"
#include "src/shell/command/interpret.h"
#include "src/shell/help/help_text.h"
#include "src/shell/session/session.h"

#define COMMAND(name) extern const struct command command_##name;
#include "commands/names.def"
COMMAND(count)
#undef COMMAND

/* Replaces the list of commands/commands.c, which is then not linked. */
const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "commands/names.def"
	COMMAND(count)
#undef COMMAND
	NULL
};

static bool
shows_view(const struct command *command)
{
	return command->view != NULL || command->section_view != NULL;
}

static void
each_command_is_described(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct command *command = commands[i];

		assert_non_null(command->summary);
		assert_in_range(strlen(command->summary), 10, 66);
		assert_int_not_equal(
		    command->summary[strlen(command->summary) - 1], '.');
		assert_non_null(command->description);
		assert_in_range(strlen(command->description), 20, 3200);
		assert_non_null(command->example);
		assert_int_equal(strncmp(command->example, command->name,
		                         strlen(command->name)), 0);
		assert_true(command->run != NULL || command->set != NULL ||
		            command->write != NULL || shows_view(command));
		assert_in_range((command->run != NULL) +
		                (command->write != NULL) +
		                (command->view != NULL) +
		                (command->section_view != NULL), 0, 1);
		assert_int_equal(command->prepare != NULL,
		                 command->write != NULL);
		assert_int_equal(command->get == NULL, command->set == NULL);
	}
}

/* help and the manual have a title for each group, and each group once. */
static void
each_group_is_in_one_place(void **state)
{
	enum command_group last = 0;

	(void)state;
	for (size_t i = 0; commands[i] != &command_count; i++) {
		assert_in_range(commands[i]->group, 1, COMMAND_GROUPS_END - 1);
		assert_true(commands[i]->group == last ||
		            commands[i]->group == last + 1);
		last = commands[i]->group;
		assert_non_null(command_group_titles[last]);
	}
	assert_int_equal(last, COMMAND_GROUPS_END - 1);
}

/* No name is shadowed: each word belongs to one command. */
static void
each_name_finds_its_command(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct command *command = commands[i];
		struct error error = { 0 };

		assert_ptr_equal(command_lookup(command->name,
		                                strlen(command->name),
		                                &error), command);
		for (const struct command_word *row = command->words;
		     row != NULL && row->word != NULL; row++) {
			if (row->use == WORD_SHORT)
				assert_int_equal(strncmp(row->word,
				    command->name, strlen(row->word)), 0);
			if (row->use == WORD_SHORT || row->use == WORD_ALIAS)
				assert_ptr_equal(command_lookup(row->word,
				    strlen(row->word), &error), command);
		}
	}
}

/* What was unique before other commands began so still means the same. */
static void
old_abbreviations_stay(void **state)
{
	static const char *const words[][2] = {
		{ "b", "body" }, { "fl", "flat" }, { "fu", "functions" },
		{ "th", "threshold" }, { "thr", "threshold" },
		{ "thre", "threshold" }, { "pr", "prompt" },
		{ "pro", "prompt" }, { "ca", NULL }, { "threa", "threads" },
		{ "proc", "processes" },
		{ "li", "limit" }, { "lim", "limit" }, { "lis", "list" },
		{ "di", "digits" }, { "dig", "digits" },
		{ "dis", "disasm" }, { "dir", "directories" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct error error = { 0 };
		const struct command *found = command_lookup(words[i][0],
		    strlen(words[i][0]), &error);

		if (words[i][1] == NULL)
			assert_null(found);
		else
			assert_string_equal(found->name, words[i][1]);
	}
}

static void
check_argument(const struct command *command, const struct argument *argument)
{
	bool is_last = argument[1].name == NULL;

	assert_non_null(argument->help);
	assert_non_null(argument->kind->read);
	if (argument->kind == &arg_choice)
		assert_non_null(command->choices);
	if (argument->kind == &arg_words)
		assert_non_null(command->complete_words);
	if ((argument->flags & ARG_REPEATED) || argument->kind->takes_rest)
		assert_true(is_last);
	if (argument->kind->is_raw || argument->kind->runs_program)
		assert_true(is_last && argument == command->arguments);
	if (!is_last && (argument->flags & ARG_OPTIONAL) &&
	    !(argument->flags & (ARG_SWITCH | ARG_ANYWHERE)))
		assert_true(argument[1].flags & ARG_OPTIONAL);
}

/* Each argument of a row with a view is of a kind that reaches the request. */
static void
check_view_argument(const struct command *command,
                    const struct argument *argument)
{
	if (command->section_view != NULL) {
		assert_ptr_equal(argument, command->arguments);
		assert_true((argument->kind == &arg_choice) ==
		            (command->choices != NULL));
	}
	if (command->view != NULL)
		assert_true(argument->kind == &arg_function ||
		            argument->kind == &arg_rows ||
		            argument->kind == &arg_pattern ||
		            argument->kind == &arg_path);
}

static void
each_argument_can_be_read(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct argument *argument = commands[i]->arguments;
		size_t n = 0;

		for (; argument != NULL && argument->name != NULL; argument++) {
			check_argument(commands[i], argument);
			check_view_argument(commands[i], argument);
			n++;
		}
		assert_in_range(n, 0, COMMAND_MAX_ARGUMENTS);
	}
}

static void
formats_are_those_of_the_output(void **state)
{
	struct error error = { 0 };
	const char *const *choices =
	    command_lookup("format", 6, &error)->choices;
	size_t i = 0;

	(void)state;
	for (; output_formats[i].name != NULL; i++)
		assert_string_equal(choices[i], output_formats[i].name);
	assert_null(choices[i]);
}

/* A session with the paper's example, in the folder of the samples. */
static int
set_up(void **state)
{
	struct session *session = calloc(1, sizeof *session);
	struct error error = { 0 };
	const char *source = getenv("srcdir"), *file = "forms.folded";

	if ((source != NULL && chdir(source) != 0) ||
	    chdir("sample-data") != 0)
		return -1;
	session_start(session);
	*state = session;
	return session_load(session, &file, 1, &error);
}

static int
tear_down(void **state)
{
	struct session *session = *state;

	session_end(session);
	free(session);
	return chdir("..");
}

/* set accepts what get returns, without changing anything. */
static void
each_setting_reads_what_it_says(void **state)
{
	struct session *session = *state;

	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct command *command = commands[i];
		struct arguments arguments;
		struct arena arena = { 0 };
		struct error error = { 0 };
		const char *value;

		if (command->get == NULL)
			continue;
		value = command->get(session, command, &arena, &error);
		assert_non_null(value);
		if (arguments_parse_text(&arguments, session, command, value,
		                         &error) != 0 ||
		    command->set(session, command, &arguments.values[0],
		                 &error) != 0)
			fail_msg("%s %s: %s", command->name, value,
			         error.text);
		assert_string_equal(command->get(session, command, &arena,
		                                 &error), value);
		arguments_free(&arguments);
		arena_free(&arena);
	}
}

/* These need a program or write a file; their own tests run them. */
static bool
can_run_here(const struct command *command)
{
	return strcmp(command->name, "record") != 0 &&
	    strcmp(command->name, "merge") != 0 &&
	    strcmp(command->name, "members") != 0 &&
	    strcmp(command->name, "open") != 0 &&
	    strcmp(command->name, "report") != 0 &&
	    strcmp(command->name, "log") != 0 &&
	    strcmp(command->name, "disasm") != 0;
}

/*
 * The examples of commands for lines need a profile that has some, that of
 * timeline one with times, that of leaks one of memory in use, that of waits one
 * of locks, that of calls one of calls.
 */
static void
load_for(struct session *session, const struct command *command)
{
	static const struct {
		const char *command, *file;
	} needs[] = {
		{ "list", "sites.pb.gz" },
		{ "timeline", "../tests/data/perf/rec.script" },
		{ "leaks", "../tests/data/live/server.cpprofdata.gz" },
		{ "waits", "../tests/data/locks/server.cpprofdata.gz" },
		{ "calls", "../tests/data/calls/planted.cpprofdata.gz" },
	};
	const char *file = "forms.folded";
	struct error error = { 0 };

	for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
		if (strcmp(command->name, needs[i].command) == 0)
			file = needs[i].file;
	if (strcmp(session->files[0], file) != 0)
		assert_int_equal(session_load(session, &file, 1, &error), 0);
}

static void
each_example_runs(void **state)
{
	struct session *session = *state;
	int output = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY);

	for (size_t i = 0; commands[i] != NULL; i++) {
		const char *example = commands[i]->example;
		struct error error = { 0 };
		int status;

		if (!can_run_here(commands[i]))
			continue;
		load_for(session, commands[i]);
		fflush(stdout);
		dup2(nowhere, STDOUT_FILENO);
		status = interpret_line(session, example, strlen(example),
		                        &error);
		dup2(output, STDOUT_FILENO);
		if (status != 0)
			fail_msg("%s: %s", example, error.text);
	}
	close(output);
	close(nowhere);
	assert_true(session->quit_requested);
}

/*
 * Runs a command without arguments, or a line if the command is NULL, with its
 * output in buffer[size], as a string.
 */
static void
capture(struct session *session, const struct command *command,
        const char *line, char *buffer, size_t size)
{
	struct error error = { 0 };
	int output = dup(STDOUT_FILENO), ends[2], status;
	ssize_t length;

	fflush(stdout);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDOUT_FILENO);
	status = command != NULL ?
	    interpret_words(session, command, NULL, 0, &error) :
	    interpret_line(session, line, strlen(line), &error);
	dup2(output, STDOUT_FILENO);
	close(output);
	close(ends[1]);
	if (status != 0)
		fail_msg("%s", error.text);
	length = read(ends[0], buffer, size - 1);
	assert_true(length > 0);
	buffer[length] = '\0';
	close(ends[0]);
}

/* A view is shown under the name of its command, whatever that is. */
static void
a_renamed_command_renames_its_view(void **state)
{
	static const char *const names[] = { "functions", "down", "info",
		                             "resource", "help", "show" };
	struct session *session = *state;
	struct error error = { 0 };
	char answer[60000];

	session->settings.format = output_formats + 3;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct command renamed =
		    *command_lookup(names[i], strlen(names[i]), &error);

		renamed.name = "renamed";
		capture(session, &renamed, NULL, answer, sizeof answer);
		assert_non_null(strstr(answer, ",\"view\":\"renamed\","));
	}
}

/* Each kind of loss has its own power of two, so that none can be left out. */
static void
info_sums_every_kind_of_loss(void **state)
{
	struct session *session = *state;
	struct error error = { 0 };
	char answer[10000], expected[40];
	uint64_t sum = 0;

	for (int loss = 0; loss < N_LOSSES; loss++) {
		assert_non_null(loss_kinds[loss].why);
		profile_add_loss(session->loaded.profile, 0, (enum loss)loss,
		                 1u << loss, &error);
		sum += 1u << loss;
	}
	profile_add_tally(session->loaded.profile, "hits lost: not", 1000,
	                  &error);
	assert_false(error.is_set);
	session->settings.format = output_formats + 3;
	capture(session, NULL, "info", answer, sizeof answer);
	snprintf(expected, sizeof expected, "\"dropped\":%d,", (int)sum);
	assert_non_null(strstr(answer, expected));
	/* The heading of a view tells hits from samples. */
	capture(session, NULL, "functions", answer, sizeof answer);
	snprintf(expected, sizeof expected, "\"lost\":%d,\"lost_samples\":%d,",
	         (int)sum - (1 << LOSS_PERF_BEHIND), 1 << LOSS_PERF_BEHIND);
	assert_non_null(strstr(answer, expected));
}

/* The text of a file in the folder of the samples; the caller frees it. */
static char *
text_of(const char *name)
{
	enum { MOST = 1 << 20 };
	char *text = calloc(1, MOST);
	FILE *file = fopen(name, "r");

	if (file == NULL)
		fail_msg("cannot open %s", name);
	assert_non_null(text);
	assert_true(fread(text, 1, MOST - 1, file) > 0);
	fclose(file);
	return text;
}

static void
must_show(const char *page, const char *text)
{
	if (strstr(page, text) == NULL)
		fail_msg("doc/adding-a-command.md does not show this:\n%s",
		         text);
}

/* Text on the page that is not tested would soon be wrong. */
static void
the_page_shows_the_example_as_it_is(void **state)
{
	char *page = text_of("../doc/adding-a-command.md");
	char *code = text_of("../tests/examples/count.c");
	char *rows = text_of("../commands/settings.def");
	char *row = strstr(page, "SETTING(");

	(void)state;
	must_show(page, code);
	assert_non_null(row);
	*strstr(row, "```") = '\0';
	if (strstr(rows, row) == NULL)
		fail_msg("commands/settings.def does not have this:\n%s", row);
	free(rows);
	free(code);
	free(page);
}

static void
the_example_works_as_its_page_says(void **state)
{
	struct session *session = *state;
	char *page = text_of("../doc/adding-a-command.md"), answer[500];
	struct completion completion;

	capture(session, NULL, "count db_*", answer, sizeof answer);
	must_show(page, answer);
	capture(session, NULL, "help count", answer, sizeof answer);
	must_show(page, answer);
	session->settings.format = output_formats + 3;
	capture(session, NULL, "count db_*", answer, sizeof answer);
	must_show(page, answer);
	complete_line(&completion, session, "count db_r", 10);
	assert_int_equal(completion.n, 1);
	assert_string_equal(completion.candidates[0].text, "db_read_record");
	completion_free(&completion);
	free(page);
}

static void
the_manual_has_every_command(void **state)
{
	(void)state;
	for (enum manual_form form = MANUAL_MARKDOWN; form <= MANUAL_MAN;
	     form++) {
		struct text_buffer text = { 0 };

		manual_add(&text, form);
		for (size_t i = 0; commands[i] != NULL; i++) {
			char heading[100];

			snprintf(heading, sizeof heading,
			         form == MANUAL_MAN ? "\n.B %s" : "### `%s",
			         commands[i]->name);
			assert_non_null(strstr(text_string(&text), heading));
		}
		text_free(&text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_command_is_described),
		cmocka_unit_test(each_group_is_in_one_place),
		cmocka_unit_test(each_name_finds_its_command),
		cmocka_unit_test(old_abbreviations_stay),
		cmocka_unit_test(each_argument_can_be_read),
		cmocka_unit_test(formats_are_those_of_the_output),
		cmocka_unit_test_setup_teardown(
		    each_setting_reads_what_it_says, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_example_runs, set_up,
		                                tear_down),
		cmocka_unit_test_setup_teardown(
		    a_renamed_command_renames_its_view, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    info_sums_every_kind_of_loss, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    the_page_shows_the_example_as_it_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    the_example_works_as_its_page_says, set_up, tear_down),
		cmocka_unit_test(the_manual_has_every_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
