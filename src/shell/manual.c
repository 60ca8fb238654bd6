/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual.c -- the reference of the commands, from their table. */
#include "src/shell/manual.h"

#include <string.h>

#include "src/shell/arguments.h"
#include "src/shell/command.h"
#include "src/shell/help_text.h"

enum { WIDTH = 78 };

/* Text of a man page: backslashes and leading dots and quotes would act. */
static void
add_roff(struct text_buffer *text, const char *bytes, size_t n)
{
	if (n > 0 && (bytes[0] == '.' || bytes[0] == '\''))
		text_add_string(text, "\\&");
	for (size_t i = 0; i < n; i++)
		if (bytes[i] == '\\')
			text_add_string(text, "\\e");
		else if (bytes[i] == '-')
			text_add_string(text, "\\-");
		else
			text_add_char(text, bytes[i]);
}

static void
add_roff_string(struct text_buffer *text, const char *string)
{
	add_roff(text, string, strlen(string));
}

static int
add_man_line(void *context, const char *line, size_t length)
{
	struct text_buffer *text = context;

	if (length == 0)
		text_add_string(text, ".IP");
	else
		add_roff(text, line, length);
	text_add_char(text, '\n');
	return 0;
}

/* "First words of a sentence." */
static void
add_sentence(struct text_buffer *text, const char *summary)
{
	char first = summary[0];

	if (first >= 'a' && first <= 'z')
		first = (char)(first - 'a' + 'A');
	text_add_char(text, first);
	text_add_string(text, summary + 1);
	text_add_char(text, '.');
}

static void
add_man_arguments(struct text_buffer *text, const struct command *command)
{
	const struct argument *argument = command->arguments;

	for (; argument != NULL && argument->name != NULL; argument++) {
		text_add_string(text, ".br\n\\fI");
		add_roff_string(text, argument->name);
		text_add_string(text, "\\fR: ");
		add_roff_string(text, argument->help);
		text_add_char(text, '\n');
	}
}

static void
add_man(struct text_buffer *text, const struct command *command)
{
	struct text_buffer usage = { 0 }, sentence = { 0 };

	text_add_usage(&usage, command);
	add_sentence(&sentence, command->summary);
	text_add_string(text, ".TP\n.B ");
	add_roff_string(text, text_string(&usage));
	text_add_char(text, '\n');
	add_roff_string(text, text_string(&sentence));
	text_add_char(text, '\n');
	add_man_arguments(text, command);
	text_add_string(text, ".IP\n");
	help_wrap(command->description, WIDTH, add_man_line, text);
	text_add_string(text, ".IP\nExample: \\fB");
	add_roff_string(text, command->example);
	text_add_string(text, "\\fR\n");
	text_free(&usage);
	text_free(&sentence);
}

/*
 * Text of Markdown: what would be markup is escaped, angles and stars of
 * patterns and arguments above all.
 */
static void
add_plain(struct text_buffer *text, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strchr("\\*_<>[]|`", bytes[i]) != NULL)
			text_add_char(text, '\\');
		text_add_char(text, bytes[i]);
	}
}

static int
add_markdown_line(void *context, const char *line, size_t length)
{
	struct text_buffer *text = context;

	add_plain(text, line, length);
	text_add_char(text, '\n');
	return 0;
}

static void
add_markdown_aliases(struct text_buffer *text, const struct command *command)
{
	for (size_t i = 0; i < COMMAND_MAX_ALIASES; i++)
		if (command->aliases[i] != NULL)
			text_add_format(text, "%s`%s`", i == 0 ? "Also: " : ", ",
			                command->aliases[i]);
	if (command->aliases[0] != NULL)
		text_add_string(text, ".\n\n");
}

static void
add_markdown_arguments(struct text_buffer *text,
                       const struct command *command)
{
	const struct argument *argument = command->arguments;
	bool has_any = argument != NULL && argument->name != NULL;

	for (; argument != NULL && argument->name != NULL; argument++) {
		text_add_format(text, "- `%s`: ", argument->name);
		add_plain(text, argument->help, strlen(argument->help));
		text_add_char(text, '\n');
	}
	if (has_any)
		text_add_char(text, '\n');
}

static void
add_markdown(struct text_buffer *text, const struct command *command)
{
	text_add_string(text, "### `");
	text_add_usage(text, command);
	text_add_string(text, "`\n\n");
	add_sentence(text, command->summary);
	text_add_string(text, "\n\n");
	add_markdown_aliases(text, command);
	add_markdown_arguments(text, command);
	help_wrap(command->description, WIDTH, add_markdown_line, text);
	text_add_format(text, "\nExample:\n\n    %s\n\n", command->example);
}

void
manual_add(struct text_buffer *text, enum manual_form form)
{
	for (size_t i = 0; commands[i] != NULL; i++)
		if (form == MANUAL_MARKDOWN)
			add_markdown(text, commands[i]);
		else
			add_man(text, commands[i]);
}
