/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete_shell.c -- completes command lines of cpprof in bash, zsh and fish.
 *
 * The scripts in completion/ pass the words that were typed and show what this
 * answers, so that shells complete what the tables of commands and options
 * have, and no list is kept twice.
 */
#include "src/shell/command/command.h"

#include <string.h>

#include "src/shell/line/options.h"

/* What the shell adds to the candidates. */
struct shell_answer {
	const char *kind;	/* "words": nothing; "files"; "program": what it
				 * completes for the words from `program` on */
	size_t program;
	const struct option_row *options;	/* of the candidates */
	size_t start;		/* the candidates follow the first bytes of the
				 * word */
};

/* The option whose value words[n] is, or NULL. */
static const struct option_row *
option_of_value(const struct option_row *rows, char *const *words, size_t n)
{
	const struct option_row *found = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct option_row *row;
		const char *rest;

		if (found != NULL) {
			found = NULL;
			continue;
		}
		row = option_match(rows, words[i], &rest);
		if (row != NULL && row->value != NULL && *rest == '\0')
			found = row;
	}
	return found;
}

static void
offer_option_rows(struct completion *completion, const struct option_row *row)
{
	for (; !option_is_end(row); row++) {
		if (row->help != NULL && row->letter != NULL)
			completion_offer(completion, row->letter,
			                 strlen(row->letter));
		if (row->help != NULL && row->name != NULL)
			completion_offer(completion, row->name,
			                 strlen(row->name));
	}
}

/* One line of cpprof's own language, which is the value of -e. */
static void
complete_action(struct completion *completion, struct shell_answer *answer,
                const struct session *session, const char *line)
{
	complete_line(completion, session, line, strlen(line));
	answer->start = completion->begin;
}

/* words[n - 1], n > 0, of `cpprof WORD...` without a command of its own. */
static void
complete_own_words(struct completion *completion, struct shell_answer *answer,
                   const struct session *session, const char *const *lone,
                   char *const *words, size_t n)
{
	const char *last = words[n - 1];
	const struct option_row *row = option_of_value(option_rows, words,
	                                               n - 1);

	if (row != NULL && options_value_of(row) == OPTION_COMMAND) {
		complete_action(completion, answer, session, last);
		return;
	}
	completion->prefix = last;
	completion->prefix_length = strlen(last);
	answer->options = option_rows;
	if (row != NULL && options_value_of(row) == OPTION_FORMAT) {
		for (size_t i = 0; output_formats[i].name != NULL; i++)
			completion_offer(completion, output_formats[i].name,
			                 strlen(output_formats[i].name));
	} else if (row == NULL && *last == '-') {
		offer_option_rows(completion, option_rows);
	} else {
		answer->kind = "files";
		for (; row == NULL && n == 1 && *lone != NULL; lone++)
			completion_offer(completion, *lone, strlen(*lone));
	}
	completion_finish(completion);
}

/*
 * The first of words[n] that is neither an option of the command nor the value
 * of one, or n.
 */
static size_t
find_program(const struct option_row *rows, char *const *words, size_t n)
{
	size_t i = 0;

	for (; i < n && words[i][0] == '-'; i++) {
		const struct option_row *row;
		const char *rest;

		if (strcmp(words[i], "--") == 0)
			return i + 1;
		row = option_match(rows, words[i], &rest);
		if (row != NULL && row->value != NULL && *rest == '\0')
			i++;
	}
	return i;
}

/* words[n - 1], n > 1, of `cpprof COMMAND WORD...`. */
static void
complete_command_words(struct completion *completion,
                       struct shell_answer *answer,
                       const struct command *command, char *const *words,
                       size_t n)
{
	size_t program = 1 + find_program(command->options, words + 1, n - 1);
	struct word *before = arena_alloc(&completion->arena,
	                                  n * sizeof *before,
	                                  &completion->error);

	if (before == NULL)
		return;
	for (size_t i = 1; i < n - 1; i++)
		before[i - 1] = (struct word){ .text = words[i],
			.length = strlen(words[i]) };
	completion->prefix = words[n - 1];
	completion->prefix_length = strlen(completion->prefix);
	answer->options = command->options;
	if (command->arguments[0].kind->runs_program &&
	    (program < n - 1 ||
	     (program == n - 1 && words[program][0] != '-'))) {
		answer->kind = "program";
		answer->program = program;
	} else {
		command->complete_words(completion, before, n - 2);
		if (completion->is_file) {
			answer->kind = "files";
			completion->n = 0;
		}
	}
	completion_finish(completion);
}

/* What an option or a command is, up to the first stop. */
static void
add_meaning(struct text_buffer *text, const struct shell_answer *answer,
            const char *candidate)
{
	const struct option_row *row = answer->options;
	struct error none = { 0 };
	const char *meaning = NULL;

	for (; row != NULL && meaning == NULL && !option_is_end(row); row++)
		if ((row->letter != NULL &&
		     strcmp(row->letter, candidate) == 0) ||
		    (row->name != NULL && strcmp(row->name, candidate) == 0))
			meaning = row->help;
	if (meaning == NULL && *candidate != '-' && answer->start == 0) {
		const struct command *command = command_lookup(candidate,
		    strlen(candidate), &none);

		if (command != NULL && strcmp(command->name, candidate) == 0)
			meaning = command->summary;
	}
	if (meaning == NULL)
		return;
	text_add_char(text, '\t');
	for (; *meaning != '\0' && *meaning != ';' && *meaning != ':' &&
	     strncmp(meaning, ". ", 2) != 0; meaning++)
		text_add_char(text, *meaning);
}

/*
 * words[*n], the last of which may be an option with its value, --for=10s: then
 * these are two words.  Returns the bytes before the value, else 0; SIZE_MAX if
 * there is no memory.
 */
static size_t
split_last_word(char *const **words, size_t *n, struct arena *arena)
{
	const char *last = *n > 0 ? (*words)[*n - 1] : "";
	const char *equals = strchr(last, '=');
	struct error error = { 0 };
	char **copy;

	if (strncmp(last, "--", 2) != 0 || equals == NULL)
		return 0;
	copy = arena_alloc(arena, (*n + 1) * sizeof *copy, &error);
	if (copy == NULL)
		return SIZE_MAX;
	memcpy(copy, *words, *n * sizeof *copy);
	copy[*n - 1] = (char *)arena_text(arena, last, (size_t)(equals - last),
	                                  &error);
	copy[*n] = (char *)equals + 1;
	if (copy[*n - 1] == NULL)
		return SIZE_MAX;
	*words = copy;
	++*n;
	return (size_t)(equals + 1 - last);
}

static void
shell_answer_add(struct text_buffer *text, const struct shell_answer *answer,
                 const struct completion *completion, const char *last)
{
	text_add_string(text, answer->kind);
	if (answer->program > 0)
		text_add_format(text, " %zu", answer->program);
	else if (strcmp(answer->kind, "files") == 0 && answer->start > 0)
		text_add_format(text, " %zu", answer->start);
	text_add_char(text, '\n');
	for (size_t i = 0; i < completion->n; i++) {
		const char *candidate = completion->candidates[i].text;

		text_add(text, last, answer->start);
		text_add_string(text, candidate);
		add_meaning(text, answer, candidate);
		text_add_char(text, '\n');
	}
}

void
complete_shell(struct text_buffer *text, const struct session *session,
               const char *const *lone, char *const *words, size_t n)
{
	const char *last = n > 0 ? words[n - 1] : "";
	struct completion completion = { .is_bare = true };
	struct shell_answer answer = { .kind = "words" };
	struct arena arena = { 0 };
	struct error none = { 0 };
	const struct command *command = NULL;
	size_t before = split_last_word(&words, &n, &arena);

	for (size_t i = 0; n > 1 && lone[i] != NULL; i++)
		if (strcmp(lone[i], words[0]) == 0)
			command = command_lookup(words[0], strlen(words[0]),
			                         &none);
	if (before != SIZE_MAX && command != NULL)
		complete_command_words(&completion, &answer, command, words,
		                       n);
	else if (before != SIZE_MAX && n > 0)
		complete_own_words(&completion, &answer, session, lone, words,
		                   n);
	if (before != SIZE_MAX)
		answer.start += before;
	shell_answer_add(text, &answer, &completion, last);
	completion_free(&completion);
	arena_free(&arena);
}
