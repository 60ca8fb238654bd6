/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test-arguments.c -- command lines: words, arguments, completion. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "src/base/short_name.h"
#include "src/shell/command/command.h"
#include "src/shell/line/options.h"
#include "src/shell/line/words.h"
#include "src/shell/session/session.h"

/*
 * Splits a line and shows each word, with "Q:" before one between bars, then
 * the rest.
 */
static const char *
shown(const char *line)
{
	static char text[500];
	struct words words;
	struct error error = { 0 };
	char *end = text;

	assert_int_equal(words_split(&words, line, strlen(line), &error), 0);
	*end = '\0';
	for (size_t i = 0; i < words.n; i++)
		end += sprintf(end, "[%s%s]", words.words[i].is_quoted
		               ? "Q:" : "", words.words[i].text);
	if (words.redirect != REDIRECT_NONE)
		end += sprintf(end, " %d:%s", words.redirect,
		               words.target == NULL ? "-" : words.target);
	if (words_check(&words, &error) != 0)
		sprintf(end, " !");
	words_free(&words);
	return text;
}

static void
blanks_separate_words(void **state)
{
	(void)state;
	assert_string_equal(shown(""), "");
	assert_string_equal(shown(" \t\r\n"), "");
	assert_string_equal(shown("  a b\tc \r"), "[a][b][c]");
}

static void
bars_quote_names(void **state)
{
	(void)state;
	assert_string_equal(shown("|operator new(unsigned long)|"),
	                    "[Q:operator new(unsigned long)]");
	assert_string_equal(shown("|a\\|b|"), "[Q:a|b]");
	assert_string_equal(shown("|a\\b|"), "[Q:a\\b]");
	assert_string_equal(shown("|a\\x41\\x5c|"), "[Q:aA\\]");
	assert_string_equal(shown("|a\\xg1|"), "[Q:a\\xg1]");
	assert_string_equal(shown("||"), "[Q:]");
	assert_string_equal(shown("|# > x|"), "[Q:# > x]");
	assert_string_equal(shown("(|a b| |c d|)"),
	                    "[(][Q:a b][Q:c d][)]");
	assert_string_equal(shown("key=|a b| c"), "[key=][Q:a b][c]");
	assert_string_equal(shown("|abc"), "[Q:abc] !");
	assert_string_equal(shown("|abc\\"), "[Q:abc\\] !");
}

static void
bars_in_regular_expressions_are_themselves(void **state)
{
	(void)state;
	assert_string_equal(shown("/(a|b)c/ d"), "[/(a|b)c/][d]");
	assert_string_equal(shown("/^(a|b) / d"), "[/^(a|b)][/][d]");
	assert_string_equal(shown("(x /a|b/)"), "[(x][/a|b/)]");
	assert_string_equal(shown("(/a|b/ x)"), "[(/a|b/][x)]");
	assert_string_equal(shown("/a|b"), "[/a] 3:b");
}

static void
a_bar_and_a_blank_are_a_pipe(void **state)
{
	(void)state;
	assert_string_equal(shown("up | head -3 | wc"), "[up] 3:head -3 | wc");
	assert_string_equal(shown("up| head"), "[up] 3:head");
	assert_string_equal(shown("up |x| | y # z "), "[up][Q:x] 3:y # z");
	assert_string_equal(shown("up |"), "[up] 3:- !");
	assert_string_equal(shown("functions|wc -l"), "[functions] 3:wc -l");
	assert_string_equal(shown("up main|grep -c '|' "),
	                    "[up][main] 3:grep -c '|'");
	assert_string_equal(shown("a|b|c"), "[a] 3:b|c");
	assert_string_equal(shown("up |a b||wc"), "[up][Q:a b] 3:wc");
	assert_string_equal(shown("up /(a|b)/ |wc|"), "[up][/(a|b)/][Q:wc]");
	assert_string_equal(shown("up > f|wc"), "[up] 3:wc !");
	assert_string_equal(shown("up |   "), "[up] 3:- !");
}

static void
files_and_comments_begin_words(void **state)
{
	(void)state;
	assert_string_equal(shown("up > f"), "[up] 1:f");
	assert_string_equal(shown("up >f"), "[up] 1:f");
	assert_string_equal(shown("up >> f"), "[up] 2:f");
	assert_string_equal(shown("up > |a b|"), "[up] 1:a b");
	assert_string_equal(shown("up >"), "[up] 1:- !");
	assert_string_equal(shown("a->b c#d"), "[a->b][c#d]");
	assert_string_equal(shown("up # more > f | x"), "[up]");
	assert_string_equal(shown("#"), "");
}

/*
 * All orders of six of the bytes that have a meaning: no crash, and every word
 * within the line and in order.
 */
static void
any_line_splits(void **state)
{
	static const char bytes[] = "a |\\>#(\xff";
	char line[6];

	(void)state;
	for (unsigned long n = 0; n < 1ul << 18; n++) {
		struct words words;
		struct error error = { 0 };
		size_t end = 0;

		for (size_t i = 0; i < 6; i++)
			line[i] = bytes[n >> (3 * i) & 7];
		assert_int_equal(words_split(&words, line, 6, &error), 0);
		for (size_t i = 0; i < words.n; i++) {
			assert_true(words.words[i].begin >= end);
			end = words.words[i].end;
			assert_true(words.words[i].begin < end && end <= 6);
		}
		words_free(&words);
	}
}

/* A session with a profile of names that need quoting. */
static const char folded[] =
    "# cpprof 1\n"
    "# resource: Real Time; gtick=centisecond; interval=20\n"
    "# resource: Page Faults; gtick=fault; interval=10\n"
    "main;operator new(unsigned long);malloc 5 1\n"
    "main;db_read 3 1\n"
    "main;db_write;a|b 3 1\n"
    "main;off;/x/ 3 1\n";

struct fixture {
	struct session session;
	char path[40];
};

static int
set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);
	struct error error = { 0 };
	const char *path = fixture->path;
	int file;

	strcpy(fixture->path, "/tmp/test-arguments.XXXXXX");
	file = mkstemp(fixture->path);
	if (file < 0 ||
	    write(file, folded, sizeof folded - 1) != sizeof folded - 1)
		return -1;
	close(file);
	session_start(&fixture->session);
	*state = fixture;
	return session_load(&fixture->session, &path, 1, &error);
}

static int
tear_down(void **state)
{
	struct fixture *fixture = *state;

	session_end(&fixture->session);
	unlink(fixture->path);
	free(fixture);
	return 0;
}

/* Parses arguments by those of the command `name`. */
static int
parse(struct fixture *fixture, const char *name, const char *text,
      struct arguments *arguments, struct error *error)
{
	const struct command *command = command_lookup(name, strlen(name),
	                                               error);

	*error = (struct error){ 0 };
	assert_non_null(command);
	return arguments_parse_text(arguments, &fixture->session, command,
	                            text, error);
}

static void
check_names(struct fixture *fixture, const char *command, const char *text,
            const char *expected)
{
	struct arguments arguments;
	struct error error;
	char got[200] = "";

	if (parse(fixture, command, text, &arguments, &error) != 0)
		fail_msg("%s %s: %s", command, text, error.text);
	for (size_t i = 0; i < arguments.values[0].n_names; i++) {
		strcat(got, names_text(fixture->session.loaded.profile->names,
		                       arguments.values[0].names[i]));
		strcat(got, ";");
	}
	assert_string_equal(got, expected);
	arguments_free(&arguments);
}

static void
check_error(struct fixture *fixture, const char *command, const char *text,
            const char *expected)
{
	struct arguments arguments;
	struct error error;

	if (parse(fixture, command, text, &arguments, &error) == 0)
		fail_msg("%s %s: taken", command, text);
	if (strstr(error.text, expected) == NULL)
		fail_msg("%s %s: %s", command, text, error.text);
	arguments_free(&arguments);
}

static void
functions_are_named_exactly_or_by_pattern(void **state)
{
	struct fixture *fixture = *state;

	check_names(fixture, "up", "main", "main;");
	check_names(fixture, "up", "|a\\|b|", "a|b;");
	check_names(fixture, "up", "|operator new(unsigned long)|",
	            "operator new(unsigned long);");
	check_names(fixture, "up", "operator new(unsigned long)",
	            "operator new(unsigned long);");
	check_names(fixture, "up", "/x/", "/x/;");
	check_names(fixture, "up", "*read", "db_read;");
	check_names(fixture, "root", "db_*", "db_read;db_write;");
	check_error(fixture, "up", "db_*", "matches 2 functions: db_read, db_w");
	check_error(fixture, "up", "mian", "did you mean main?");
	check_error(fixture, "up", "|db_*|", "no function db_*");
	check_error(fixture, "up", "zz*", "no function matches");
	check_error(fixture, "up", "raed*", "did you mean db_read");
	check_error(fixture, "up", "main main", "unexpected main; usage: up");
}

static void
paths_may_be_pasted(void **state)
{
	struct fixture *fixture = *state;

	check_names(fixture, "path", "(main db_read)", "main;db_read;");
	check_names(fixture, "path", "main db_read", "main;db_read;");
	check_names(fixture, "path", "( main db_read )", "main;db_read;");
	check_names(fixture, "path",
	            "(main |operator new(unsigned long)| malloc)",
	            "main;operator new(unsigned long);malloc;");
	check_names(fixture, "path", "(|operator new(unsigned long)|)",
	            "operator new(unsigned long);");
	check_names(fixture, "path", "(main db_w* |a\\|b|)",
	            "main;db_write;a|b;");
	check_error(fixture, "path", "()", "at least one");
	check_error(fixture, "path", "", "path needs PATH; \"help path\" says more");
	check_error(fixture, "path", "(main nothing_like)", "no function");
}

static void
fractions_are_never_guessed(void **state)
{
	struct fixture *fixture = *state;
	static const struct {
		const char *text;
		double fraction;
	} good[] = {
		{ "0.01", 0.01 }, { "1%", 0.01 }, { "0", 0 }, { "0.5%", 0.005 },
		{ "1e-3", 0.001 }, { ".25", 0.25 }, { "100%", 1 },
	};
	static const char *const bad[] = {
		"x", "-1", "-1%", "0x1", "nan", "inf", "1.2.3", "%", "1%%",
		"101%", "1e999",
	};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct arguments arguments;
		struct error error;

		assert_int_equal(parse(fixture, "threshold", good[i].text,
		                       &arguments, &error), 0);
		assert_true(arguments.values[0].fraction == good[i].fraction);
		arguments_free(&arguments);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		check_error(fixture, "threshold", bad[i], "");
	check_error(fixture, "threshold", "1", "write 1% or 0.01");
	check_error(fixture, "threshold", "5", "write 5% or 0.05");
	check_error(fixture, "threshold", "2.5", "write 2.5% or 0.025");
}

static void
counts_and_choices_are_checked(void **state)
{
	struct fixture *fixture = *state;
	struct arguments arguments;
	struct error error;

	assert_int_equal(parse(fixture, "limit", "off", &arguments, &error),
	                 0);
	assert_true(arguments.values[0].count == SIZE_MAX);
	arguments_free(&arguments);
	assert_int_equal(parse(fixture, "percent", "ro", &arguments, &error),
	                 0);
	assert_int_equal(arguments.values[0].count, 1);
	arguments_free(&arguments);
	check_error(fixture, "limit", "0", "expected a positive number");
	check_error(fixture, "limit", "-3", "expected a positive number");
	check_error(fixture, "limit", "99999999999999999999", "write off");
	check_error(fixture, "limit", "18446744073709551615", "write off");
	check_error(fixture, "limit", "00", "expected a positive number");
	check_error(fixture, "digits", "16", "0 to 15");
	check_error(fixture, "percent", "x", "expected one of total, root");
	check_error(fixture, "color", "a", "\"a\" is ambiguous: auto, always");
	check_error(fixture, "percent", "r", "\"r\" is ambiguous: root, refined");
	check_error(fixture, "color", "||", "expected one of auto, always, never");
}

static void
resources_may_be_shortened(void **state)
{
	struct fixture *fixture = *state;
	static const char *const page_faults[] = {
		"Page Faults", "|Page Faults|", "page", "p"
	};

	for (size_t i = 0; i < 4; i++) {
		struct arguments arguments;
		struct error error;

		assert_int_equal(parse(fixture, "resource", page_faults[i],
		                       &arguments, &error), 0);
		assert_int_equal(arguments.values[0].count, 1);
		arguments_free(&arguments);
	}
	check_error(fixture, "resource", "cpu",
	            "has |Real Time|, |Page Faults|");
}

static void
commands_may_be_shortened(void **state)
{
	struct error error = { 0 };

	(void)state;
	assert_string_equal(command_lookup("fun", 3, &error)->name,
	                    "functions");
	assert_string_equal(command_lookup("body", 4, &error)->name, "body");
	assert_string_equal(command_lookup("body+descendants", 16,
	                                   &error)->name, "functions");
	assert_string_equal(command_lookup("q", 1, &error)->name, "quit");
	assert_string_equal(command_lookup("fl", 2, &error)->name, "flat");
	assert_string_equal(command_lookup("fla", 3, &error)->name, "flat");
	assert_null(command_lookup("f", 1, &error));
	assert_string_equal(error.text,
	                    "\"f\" is ambiguous: functions, flat, flame, "
	                    "format");
	error = (struct error){ 0 };
	assert_null(command_lookup("treshold", 8, &error));
	assert_non_null(strstr(error.text, "did you mean threshold"));
	error = (struct error){ 0 };
	assert_null(command_lookup("", 0, &error));
	error = (struct error){ 0 };
	assert_null(command_lookup("z", 1, &error));
}

static void
near_words_come_nearest_first(void **state)
{
	static const char *const words[] = { "zebra", "mian2", "main", "Mian",
		                             "xmianx" };
	struct text_buffer text = { 0 };
	struct near near;

	(void)state;
	near_start(&near, "mian", 4);
	for (size_t i = 0; i < 5; i++)
		near_offer(&near, words[i], strlen(words[i]));
	near_add(&near, &text);
	assert_string_equal(text_string(&text),
	                    "; did you mean Mian, mian2, main or xmianx?");
	text_free(&text);
}

/* What is offered for a word among functions, each with one hit more. */
static void
check_near_functions(const char *typed, const char *expected)
{
	static const char *const functions[] = {
		"loads (json/__init__.py)", "dumps (json/__init__.py)",
		"ns::Class::method(int, char const*)", "Other::method()",
		"net/http.(*Server).Serve", "main",
	};
	struct text_buffer text = { 0 };
	struct near near;

	near_start(&near, typed, strlen(typed));
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		near_offer_function(&near, functions[i], strlen(functions[i]),
		                    i);
	near_add(&near, &text);
	assert_string_equal(text_string(&text), expected);
	text_free(&text);
}

static void
near_functions_have_near_identifiers(void **state)
{
	(void)state;
	check_near_functions("json.laods",
	    "; did you mean |loads (json/__init__.py)|?");
	check_near_functions("JSON.loads",
	    "; did you mean |loads (json/__init__.py)|?");
	check_near_functions("simplejson.loads",
	    "; did you mean |loads (json/__init__.py)|?");
	check_near_functions("metod", "; did you mean |Other::method()| or "
	    "|ns::Class::method(int, char const*)|?");
	check_near_functions("Clas::method", "; did you mean "
	    "|ns::Class::method(int, char const*)| or |Other::method()|?");
	check_near_functions("http.Sever.Serve",
	    "; did you mean |net/http.(*Server).Serve|?");
	check_near_functions("xyzzy.plugh", "");
	check_near_functions("...", "");
}

static void
few_long_words_are_shown(void **state)
{
	char words[3][151];
	struct text_buffer text = { 0 };
	struct near near;

	(void)state;
	near_start(&near, "main", 4);
	for (size_t i = 0; i < 3; i++) {
		memset(words[i], 'a', 150);
		memcpy(words[i], "main", 4);
		words[i][149] = (char)('x' + i);
		words[i][150] = '\0';
		near_offer(&near, words[i], 150);
	}
	near_add(&near, &text);
	assert_int_equal(near.n, 3);
	assert_int_equal(text.length, strlen("; did you mean ?") + 150);
	text_free(&text);
}

static void
one_very_long_word_is_shown(void **state)
{
	char word[250];
	struct text_buffer text = { 0 };
	struct near near;

	(void)state;
	memset(word, 'a', sizeof word);
	memcpy(word, "main", 4);
	near_start(&near, "main", 4);
	near_offer(&near, word, sizeof word);
	near_add(&near, &text);
	assert_int_equal(text.length, strlen("; did you mean ?") +
	                              sizeof word);
	text_free(&text);
}

static void
check_completion(struct fixture *fixture, const char *line, size_t begin,
                 const char *expected)
{
	struct completion completion;
	char got[300] = "";

	complete_line(&completion, &fixture->session, line, strlen(line));
	for (size_t i = 0; i < completion.n; i++) {
		strcat(got, completion.candidates[i].text);
		strcat(got, ";");
	}
	if (strcmp(got, expected) != 0 || completion.begin != begin)
		fail_msg("%s: %zu %s", line, completion.begin, got);
	completion_free(&completion);
}

static void
each_argument_completes_by_its_kind(void **state)
{
	struct fixture *fixture = *state;

	check_completion(fixture, "thr", 0, "threads;threshold;");
	check_completion(fixture, "up db_", 3, "db_read;db_write;");
	/* The one with more hits comes first. */
	check_completion(fixture, "up o", 3,
	                 "|operator new(unsigned long)|;off;");
	check_completion(fixture, "up |oper", 4,
	                 "operator new(unsigned long);");
	check_completion(fixture, "up |a", 4, "a\\|b;");
	check_completion(fixture, "path (mai", 5, "(main;");
	check_completion(fixture, "timeline x.svg (mai", 15, "(main;");
	check_completion(fixture, "path (main db_r", 11, "db_read;");
	check_completion(fixture, "percent ", 8, "refined;root;total;");
	check_completion(fixture, "set percent ro", 12, "root;");
	check_completion(fixture, "set thr", 4, "threshold;");
	check_completion(fixture, "resource P", 9, "|Page Faults|;");
	check_completion(fixture, "limit o", 6, "off;");
	check_completion(fixture, "help apr", 5, "apropos;");
	check_completion(fixture, "up main x", 8, "");
	check_completion(fixture, "top db_", 4, "db_read;db_write;");
	check_completion(fixture, "top 3 db_", 6, "db_read;db_write;");
	check_completion(fixture, "top db_read 3", 12, "");
	check_completion(fixture, "watch thr", 6, "threads;threshold;");
	check_completion(fixture, "watch 0.5 thr", 10, "threads;threshold;");
	check_completion(fixture, "watch 2 up db_w", 11, "db_write;");
	check_completion(fixture, "watch watch set percent ro", 24, "root;");
	check_completion(fixture, "set percent root x", 17, "");
	check_completion(fixture, "show percent r", 13, "");
	check_completion(fixture, "record -r page-fa", 10, "page-faults;");
	check_completion(fixture, "record --max", 7, "--max-size;");
	check_completion(fixture, "graph db_", 6, "db_read;db_write;");
	check_completion(fixture, "graph --", 6, "--gprof;");
	check_completion(fixture, "graph --gprof db_", 14,
	                 "db_read;db_write;");
	check_completion(fixture, "flame d", 6, "db_read;db_write;down;");
	check_completion(fixture, "flame up db_r", 9, "db_read;");
	check_completion(fixture, "flame x.svg up db_r", 15, "db_read;");
	check_completion(fixture, "narrow @libs", 7, "@libstdc++;");
	check_completion(fixture, "drop (main @py", 11, "@python;");
	check_completion(fixture, "group x = @go", 10, "@go-runtime;");
	check_completion(fixture, "up @go", 3, "");
	check_completion(fixture, "explain --", 8, "--words;");
	check_completion(fixture, "specialise --", 11, "--times;");
	check_completion(fixture, "specialise (main) --t", 18, "--times;");
	check_completion(fixture, "assert change fun", 14, "functions;");
	check_completion(fixture, "assert change functions db_w", 24,
	                 "db_write;");
	check_completion(fixture, "group x ", 8, "=;=>;");
	check_completion(fixture, "merge --by ", 11,
	                 "host;id;process;thread;");
	check_completion(fixture, "base of", 5, "off;");
	check_completion(fixture, "directories of", 12, "off;");
	check_completion(fixture, "flat | he", 0, "");
	check_completion(fixture, "nonsense x", 9, "");
}

/* Whether one of the candidates for the end of a line is a word. */
static bool
is_offered(struct fixture *fixture, const char *line, const char *word)
{
	struct completion completion;
	bool is_found = false;

	complete_line(&completion, &fixture->session, line, strlen(line));
	for (size_t i = 0; i < completion.n; i++)
		is_found |= strcmp(completion.candidates[i].text, word) == 0;
	completion_free(&completion);
	return is_found;
}

/* Checks that a word completes after a line, typed up to its last letter. */
static void
must_offer(struct fixture *fixture, const char *line, const char *word)
{
	char typed[200];

	snprintf(typed, sizeof typed, "%s %.*s", line,
	         (int)(strlen(word) - 1), word);
	if (!is_offered(fixture, typed, word))
		fail_msg("%s does not complete to %s", typed, word);
}

/*
 * Checks the words of an argument's name that are typed as they are, such as
 * thread and label of "PATH|thread GLOB|label KEY=GLOB": in small letters, at
 * the start of an alternative.  Returns how many.
 */
static size_t
check_name(struct fixture *fixture, const char *line, const char *name)
{
	static const char small[] = "abcdefghijklmnopqrstuvwxyz-";
	size_t n_checked = 0;

	for (; *name != '\0'; name += *name == '|') {
		size_t n = strcspn(name, "|"), word = strspn(name, small);
		char text[40];

		if (word > 1 && (word == n || name[word] == ' ')) {
			snprintf(text, sizeof text, "%.*s", (int)word, name);
			must_offer(fixture, line, text);
			n_checked++;
		}
		name += n;
	}
	return n_checked;
}

/* A line that ends before an argument. */
static void
line_before(const struct command *command, const struct argument *argument,
            char *line, size_t size)
{
	size_t n = (size_t)snprintf(line, size, "%s", command->name);

	for (const struct argument *before = command->arguments;
	     before < argument; before++)
		if ((before->flags & (ARG_OPTIONAL | ARG_ANYWHERE)) == 0)
			n += (size_t)snprintf(line + n, size - n, " %s",
			    before->kind == &arg_choice ?
			    command->choices[0] : "x");
}

static void
each_word_of_the_help_completes(void **state)
{
	struct fixture *fixture = *state;
	size_t n = 0;

	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct command *command = commands[i];
		const struct argument *argument = command->arguments;
		const struct option_row *row = command->options;
		char line[100];

		for (; argument != NULL && argument->name != NULL; argument++) {
			line_before(command, argument, line, sizeof line);
			/* "off" comes after the name of a column. */
			if (strcmp(command->name, "column") != 0)
				n += check_name(fixture, line, argument->name);
			for (size_t j = 0; argument->kind == &arg_choice &&
			     command->choices[j] != NULL; j++, n++)
				must_offer(fixture, line, command->choices[j]);
		}
		for (; row != NULL && !option_is_end(row); row++, n++)
			must_offer(fixture, command->name, option_word(row));
	}
	assert_in_range(n, 80, 1000);
}

static void
ungroup_completes_the_names_of_groups(void **state)
{
	struct fixture *fixture = *state;
	const struct pattern_word words[] = {
		{ .text = "db_read", .length = 7 },
	};
	struct error error = { 0 };

	check_completion(fixture, "ungroup ", 8, "");
	assert_int_equal(session_add_step(&fixture->session,
	    step_new_group("first group", false, words, 1, &error), &error),
	    0);
	check_completion(fixture, "ungroup ", 8, "|first group|;");
	check_completion(fixture, "ungroup s", 8, "");
	assert_int_equal(session_undo(&fixture->session, 1, &error), 0);
	check_completion(fixture, "ungroup ", 8, "");
}

/* Makes the rows of a view around a function the last ones shown. */
static void
show_view(struct fixture *fixture, view_function *view, const char *root)
{
	struct session *session = &fixture->session;
	struct view_request request = session_request(session);
	struct table table = { .view = "test" };
	struct error error = { 0 };

	request.root = session_find_function(session, root, strlen(root));
	request.threshold = 0;
	assert_int_equal(view(&request, &table, &error), 0);
	assert_int_equal(last_rows_keep(&session->last_rows, &table, &error),
	                 0);
	table_free(&table);
}

static void
a_handle_is_the_function_or_the_path_of_its_row(void **state)
{
	struct fixture *fixture = *state;
	struct arguments arguments;
	struct error error;

	/* Row 6: (main db_write |a\|b|). */
	show_view(fixture, view_down, "main");
	check_names(fixture, "path", "%6", "main;db_write;a|b;");
	check_names(fixture, "path", "(%6)", "main;db_write;a|b;");
	check_names(fixture, "path", "( %6 )", "main;db_write;a|b;");
	check_names(fixture, "path", "(%6 db_read)",
	            "main;db_write;a|b;db_read;");
	check_names(fixture, "path", "off %6 db_read",
	            "off;main;db_write;a|b;db_read;");
	check_names(fixture, "up", "%6", "a|b;");
	check_names(fixture, "root", "%6", "a|b;");
	assert_int_equal(parse(fixture, "group", "x = %6 %1 off",
	                       &arguments, &error), 0);
	assert_int_equal(arguments.values[2].n_pattern_words, 3);
	assert_string_equal(arguments.values[2].pattern_words[0].text, "a|b");
	assert_true(arguments.values[2].pattern_words[0].is_exact);
	assert_string_equal(arguments.values[2].pattern_words[1].text, "main");
	assert_string_equal(arguments.values[2].pattern_words[2].text, "off");
	arguments_free(&arguments);
	/* A path from below is about its outermost function. */
	show_view(fixture, view_up, "a|b");
	check_names(fixture, "path", "%3", "main;db_write;a|b;");
	check_names(fixture, "up", "%3", "main;");
	check_names(fixture, "path", "%2", "db_write;a|b;");
	show_view(fixture, view_callers, "a|b");
	check_names(fixture, "path", "%1", "db_write;a|b;");
	check_names(fixture, "up", "%1", "db_write;");
	show_view(fixture, view_callees, "db_write");
	check_names(fixture, "path", "%1", "db_write;a|b;");
	check_names(fixture, "up", "%1", "a|b;");
	show_view(fixture, view_tree, "main");
	check_names(fixture, "path", "%6", "main;db_write;a|b;");
	check_names(fixture, "up", "%6", "a|b;");
	show_view(fixture, view_top, "main");
	check_names(fixture, "path", "%1", "malloc;");
	check_names(fixture, "up", "%1", "malloc;");
}

/* Rows without a path are named by a column of their own. */
static void
a_handle_of_a_thread_is_its_name(void **state)
{
	struct fixture *fixture = *state;
	struct last_rows *rows = &fixture->session.last_rows;
	struct cell cells[] = { cell_count(3), cell_text("db_read") };
	struct table table = { .view = "test", .handle_key = "name" };
	struct error error = { 0 };

	table_add_column(&table, "hits", "hits", CELL_COUNT);
	table_add_column(&table, "name", "name", CELL_TEXT);
	table_add_row(&table, cells, &error);
	assert_int_equal(table_handle_column(&table), 1);
	assert_int_equal(last_rows_keep(rows, &table, &error), 0);
	check_names(fixture, "path", "(main %1)", "main;db_read;");
	table.handle_key = "hits";
	assert_int_equal(table_handle_column(&table), 2);
	table.handle_key = NULL;
	assert_int_equal(table_handle_column(&table), 2);
	table_free(&table);
}

enum { LONG_ROWS = 3000 };

/* Row i is a path of i + 1 names. */
static void
get_long_row(const struct table *table, size_t i, struct cell *cells)
{
	cells[0] = cell_path(table->row_source, (uint32_t)i);
}

static void
handles_of_a_long_view_end_somewhere(void **state)
{
	static uint32_t parent[LONG_ROWS], name[LONG_ROWS];
	struct fixture *fixture = *state;
	struct last_rows *rows = &fixture->session.last_rows;
	struct names *names = fixture->session.loaded.profile->names;
	struct call_paths paths = { .names = names, .parent = parent,
		                    .name = name };
	struct table table = { .view = "test", .row = get_long_row,
		               .row_source = &paths };
	struct error error = { 0 };
	char line[40], expected[100];

	for (uint32_t i = 0; i < LONG_ROWS; i++) {
		parent[i] = i == 0 ? NO_RECORD : i - 1;
		name[i] = names_find(names, "main", 4);
	}
	table_add_column(&table, "path", "path", CELL_PATH);
	table.n_rows = LONG_ROWS;
	assert_int_equal(last_rows_keep(rows, &table, &error), 0);
	table_free(&table);
	/* 4 << 20 names are the sum of the first 2896 lengths. */
	assert_int_equal(rows->n, 2896);
	check_names(fixture, "up", "%2896", "main;");
	snprintf(expected, sizeof expected, "only its first 2896 rows can be "
	         "named");
	snprintf(line, sizeof line, "%%%d", LONG_ROWS);
	check_error(fixture, "up", "%2897", expected);
	check_error(fixture, "up", line, expected);
	check_error(fixture, "up", "%3001", "the last view has 3000 rows");
}

static void
a_handle_without_a_row_says_why(void **state)
{
	struct fixture *fixture = *state;
	struct error error = { 0 };

	last_rows_free(&fixture->session.last_rows);
	check_error(fixture, "up", "%1", "%1: no view with row numbers has "
	            "been shown yet");
	show_view(fixture, view_callers, "a|b");
	check_error(fixture, "up", "%0", "%0: the last view has 1 row");
	check_error(fixture, "up", "%2", "%2: the last view has 1 row");
	check_error(fixture, "path", "(main %2)", "%2: the last view has 1 row");
	check_error(fixture, "up", "%99999999999999999999999",
	            "the last view has 1 row");
	check_error(fixture, "up", "|%1|", "no function %1");
	check_error(fixture, "up", "%1x", "no function %1x");
	check_error(fixture, "up", "%", "no function %");
	check_error(fixture, "up", "(%1)", "no function (%1)");
	assert_int_equal(session_reload(&fixture->session, &error), 0);
	check_error(fixture, "up", "%1", "%1: a profile has been loaded since");
	show_view(fixture, view_callers, "a|b");
	fixture->session.is_watching = true;
	assert_int_equal(session_reload(&fixture->session, &error), 0);
	fixture->session.is_watching = false;
	check_names(fixture, "up", "%1", "db_write;");
}

static void
handles_complete_behind_a_percent_sign(void **state)
{
	struct fixture *fixture = *state;

	show_view(fixture, view_up, "a|b");
	check_completion(fixture, "up %", 3, "%1;%2;%3;");
	check_completion(fixture, "top %2", 4, "%2;");
	check_completion(fixture, "path (%", 5, "(%1;(%2;(%3;");
	check_completion(fixture, "path main %3", 10, "%3;");
	check_completion(fixture, "path |%", 6, "");
	check_completion(fixture, "limit %", 6, "");
	check_completion(fixture, "watch 2 up %1", 11, "%1;");
}

static void
files_complete_behind_redirections(void **state)
{
	struct fixture *fixture = *state;
	char line[100], expected[60];

	sprintf(expected, "%s;", fixture->path);
	sprintf(line, "up > %.*s", (int)strlen(fixture->path) - 2,
	        fixture->path);
	check_completion(fixture, line, 5, expected);
	sprintf(line, "load %.*s", (int)strlen(fixture->path) - 2,
	        fixture->path);
	check_completion(fixture, line, 5, expected);
	/* Where nothing is left but the file. */
	sprintf(line, "flame up main %.*s", (int)strlen(fixture->path) - 2,
	        fixture->path);
	check_completion(fixture, line, 14, expected);
	sprintf(line, "flame main %.*s", (int)strlen(fixture->path) - 2,
	        fixture->path);
	check_completion(fixture, line, 11, expected);
}

/* Prefixes that were unique in the first versions keep their meaning. */
static void
abbreviations_mean_what_they_meant(void **state)
{
	static const struct {
		const char *shortest, *command;
	} known[] = {
		{ "fu", "functions" },
		{ "b", "body" },
		{ "fl", "flat" },
		{ "do", "down" },
		{ "tr", "tree" },
		{ "caller", "callers" },
		{ "callee", "callees" },
		{ "grap", "graph" },
		{ "n", "never" },
		{ "pat", "path" },
		{ "res", "resource" },
		{ "gran", "granularity" },
		{ "inl", "inlines" },
		{ "st", "static" },
		{ "ro", "root" },
		{ "th", "threshold" },
		{ "li", "limit" },
		{ "de", "depth" },
		{ "pe", "percent" },
		{ "fo", "format" },
		{ "un", "unit" },
		{ "di", "digits" },
		{ "pag", "pager" },
		{ "co", "color" },
		{ "pr", "prompt" },
		{ "inf", "info" },
		{ "rec", "record" },
		{ "lo", "load" },
		{ "rel", "reload" },
		{ "w", "watch" },
		{ "e", "export" },
		{ "sy", "symfs" },
		{ "so", "source" },
		{ "se", "set" },
		{ "sho", "show" },
		{ "he", "help" },
		{ "a", "apropos" },
		{ "hi", "history" },
		{ "she", "shell" },
		{ "q", "quit" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		for (size_t n = strlen(known[i].shortest);
		     n <= strlen(known[i].command); n++) {
			struct error error = { 0 };
			const struct command *command;

			command = command_lookup(known[i].command, n, &error);
			if (command == NULL ||
			    strcmp(command->name, known[i].command) != 0)
				fail_msg("%.*s is no longer %s: %s", (int)n,
				         known[i].command, known[i].command,
				         command == NULL ? error.text :
				         command->name);
		}
}

static void
words_of_other_programs_are_understood(void **state)
{
	static const struct {
		const char *line, *command, *error;
		size_t n, n_words;
	} cases[] = {
		{ "? up", "help", NULL, 1, 1 },
		{ "h", "help", NULL, 1, 1 },
		{ "peek main", "graph", NULL, 4, 1 },
		{ "info", "info", NULL, 4, 1 },
		{ "info functions db_*", "functions", NULL, 14, 2 },
		{ "info   functions|wc", "functions", NULL, 16, 2 },
		{ "info|wc", "info", NULL, 4, 1 },
		{ "info functionsx", "info", NULL, 4, 1 },
		{ "bt", NULL, "there is no command \"bt\"; type up FUNCTION",
		  2, 1 },
		{ "work 2", NULL, "type scale work N", 4, 1 },
		{ "run a.out", NULL, "type record PROGRAM ARGUMENTS", 3, 1 },
		{ "top10", NULL, "type top 10", 5, 1 },
		{ "topx10", NULL, "there is no command \"topx10\"", 6, 1 },
		{ "%3", NULL, "%3 is a row of the last view", 2, 1 },
		{ "b", "body", NULL, 1, 1 },
		{ "f", NULL, "\"f\" is ambiguous: functions, flat", 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct error error = { 0 };
		size_t n, n_words;
		const struct command *command = command_of_line(cases[i].line,
		    strlen(cases[i].line), &n, &n_words, &error);

		if (cases[i].command == NULL) {
			assert_null(command);
			if (strstr(error.text, cases[i].error) == NULL)
				fail_msg("%s: %s", cases[i].line, error.text);
		} else {
			assert_non_null(command);
			assert_string_equal(command->name, cases[i].command);
		}
		assert_int_equal(n, cases[i].n);
		assert_int_equal(n_words, cases[i].n_words);
	}
}

/* What the line of the row names or means. */
static void
check_word(const struct command *owner, const struct command_word *row)
{
	size_t n_name = strlen(owner->name), n, n_words;
	struct error error = { 0 };
	const struct command *command = command_of_line(row->word,
	    strlen(row->word), &n, &n_words, &error);

	assert_int_equal(row->type != NULL, row->use == WORD_REPLACED ||
	                 row->use == WORD_FORMER);
	if (row->use != WORD_REPLACED) {
		if (command != owner)
			fail_msg("%s: %s", row->word, error.text);
		return;
	}
	if (command != NULL || strstr(error.text, row->type) == NULL)
		fail_msg("%s: %s", row->word, error.text);
	if (strncmp(row->type, owner->name, n_name) != 0 ||
	    strchr(" ,", row->type[n_name]) == NULL)
		fail_msg("%s is a row of %s", row->type, owner->name);
}

/* No row takes the place of something that worked. */
static void
check_others(const struct command *owner, const struct command_word *row)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct command_word *other = commands[i]->words;

		if (strcmp(commands[i]->name, row->word) == 0)
			fail_msg("%s is a command", row->word);
		for (; other != NULL && other->word != NULL; other++) {
			size_t length = strlen(row->word);

			if (other != row && strcmp(other->word, row->word) == 0)
				fail_msg("%s has two rows", row->word);
			if (other->use == WORD_SHORT && commands[i] != owner &&
			    length >= strlen(other->word) &&
			    strncmp(commands[i]->name, row->word, length) == 0)
				fail_msg("%s is short for %s", row->word,
				         commands[i]->name);
		}
	}
}

static void
words_take_no_ones_place(void **state)
{
	(void)state;
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct command_word *row = commands[i]->words;

		for (; row != NULL && row->word != NULL; row++) {
			check_word(commands[i], row);
			check_others(commands[i], row);
		}
	}
}

static void
a_number_of_rows_may_stand_anywhere(void **state)
{
	static const struct {
		const char *words;
		size_t n_rows;		/* 0: none given */
		const char *pattern;	/* NULL: none given */
		const char *error;
	} cases[] = {
		{ "", 0, NULL, NULL },
		{ "3", 3, NULL, NULL },
		{ "db*", 0, "db*", NULL },
		{ "3 db*", 3, "db*", NULL },
		{ "db* 3", 3, "db*", NULL },
		{ "|3|", 0, "3", NULL },
		{ "|3| 4", 4, "3", NULL },
		{ "0", 0, NULL, "0: expected a positive number" },
		{ "3 4", 0, NULL, "unexpected 4" },
		{ "3 db* 4", 0, NULL, "unexpected 4" },
		{ "db* x", 0, NULL, "unexpected x" },
		{ "99999999999999999999999", 0, NULL, "is too large" },
	};
	struct error error = { 0 };
	const struct command *top = command_lookup("top", 3, &error);
	struct session session;

	(void)state;
	session_start(&session);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct arguments arguments;
		int status = arguments_parse_text(&arguments, &session, top,
		                                  cases[i].words, &error);
		const struct value *n_rows = &arguments.values[0];
		const struct value *pattern = &arguments.values[1];

		if (cases[i].error != NULL) {
			assert_int_equal(status, -1);
			assert_non_null(strstr(error.text, cases[i].error));
			error = (struct error){ 0 };
		} else {
			assert_int_equal(status, 0);
			assert_int_equal(n_rows->is_given ? n_rows->count : 0,
			                 cases[i].n_rows);
			assert_int_equal(pattern->is_given,
			                 cases[i].pattern != NULL);
			if (cases[i].pattern != NULL)
				assert_string_equal(pattern->text,
				                    cases[i].pattern);
		}
		arguments_free(&arguments);
	}
	session_end(&session);
}

int
main(void)
{
#define SESSION_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, \
	                                                   tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_separate_words),
		cmocka_unit_test(bars_quote_names),
		cmocka_unit_test(bars_in_regular_expressions_are_themselves),
		cmocka_unit_test(a_bar_and_a_blank_are_a_pipe),
		cmocka_unit_test(files_and_comments_begin_words),
		cmocka_unit_test(any_line_splits),
		cmocka_unit_test(commands_may_be_shortened),
		cmocka_unit_test(abbreviations_mean_what_they_meant),
		cmocka_unit_test(words_of_other_programs_are_understood),
		cmocka_unit_test(words_take_no_ones_place),
		cmocka_unit_test(a_number_of_rows_may_stand_anywhere),
		cmocka_unit_test(near_words_come_nearest_first),
		cmocka_unit_test(near_functions_have_near_identifiers),
		cmocka_unit_test(few_long_words_are_shown),
		cmocka_unit_test(one_very_long_word_is_shown),
		SESSION_TEST(functions_are_named_exactly_or_by_pattern),
		SESSION_TEST(paths_may_be_pasted),
		SESSION_TEST(fractions_are_never_guessed),
		SESSION_TEST(counts_and_choices_are_checked),
		SESSION_TEST(resources_may_be_shortened),
		SESSION_TEST(each_argument_completes_by_its_kind),
		SESSION_TEST(each_word_of_the_help_completes),
		SESSION_TEST(ungroup_completes_the_names_of_groups),
		SESSION_TEST(a_handle_is_the_function_or_the_path_of_its_row),
		SESSION_TEST(a_handle_of_a_thread_is_its_name),
		SESSION_TEST(handles_of_a_long_view_end_somewhere),
		SESSION_TEST(a_handle_without_a_row_says_why),
		SESSION_TEST(handles_complete_behind_a_percent_sign),
		SESSION_TEST(files_complete_behind_redirections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
