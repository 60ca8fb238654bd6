/* SPDX-License-Identifier: GPL-3.0-or-later */
/* help_text.c -- shows rows of the command table. */
#include "src/shell/help/help_text.h"

#include <string.h>

#include "src/base/text_buffer.h"
#include "src/shell/command/command.h"
#include "src/shell/terminal/terminal.h"

enum { WIDTH = 72, INDENT = 2 };

void
help_start_list(struct table *table)
{
	table->schema = "cpprof.help/1";
	table->is_plain = true;
	table_add_column(table, "name", "name", CELL_TEXT);
	table_add_column(table, "group", "", CELL_TEXT)->is_data_only = true;
	table_add_column(table, "summary", "summary", CELL_TEXT);
}

int
help_add_row(const struct command *command, const char *group,
             struct table *table, struct error *error)
{
	struct cell cells[] = { cell_text(command->name), cell_text(group),
		                cell_text(command->summary) };

	return table_add_row(table, cells, error);
}

/* The part of text[length] that fits a line, up to a blank if there is one. */
static size_t
help_text_line_length(const char *text, size_t length, size_t width)
{
	size_t n = width;

	if (length <= width)
		return length;
	while (n > 0 && text[n] != ' ')
		n--;
	return n > 0 ? n : strcspn(text, " ");
}

int
help_wrap(const char *paragraphs, size_t width,
          int (*line)(void *context, const char *text, size_t length),
          void *context)
{
	int status = 0;

	while (status == 0 && *paragraphs != '\0') {
		size_t left = strcspn(paragraphs, "\n"), n;

		n = help_text_line_length(paragraphs, left, width);
		status = line(context, paragraphs, n);
		paragraphs += n;
		if (*paragraphs == ' ' || *paragraphs == '\n')
			paragraphs++;
	}
	return status;
}

struct description {
	struct table *table;
	struct error *error;
};

static int
add_description_line(void *context, const char *text, size_t length)
{
	struct description *description = context;

	return table_add_footer(description->table, description->error,
	                        "%*s%.*s", length > 0 ? INDENT : 0, "",
	                        (int)length, text);
}

/* The width of the description, smaller on a narrow terminal. */
static size_t
line_width(void)
{
	size_t columns, lines;

	if (!terminal_is_output())
		return WIDTH;
	terminal_size(&columns, &lines);
	return columns < WIDTH + INDENT && columns > 2 * INDENT ?
	    columns - INDENT : WIDTH;
}

/* The lines of text around the arguments; JSON has fields instead. */
static int
help_text_add_lines(const struct command *command, const char *usage,
                    const char *text, struct table *table, struct error *error)
{
	struct description description = { table, error };
	struct text_buffer names;
	int status;

	if (table_add_header(table, error, "%s -- %s", usage,
	                     command->summary) != 0)
		return -1;
	names = (struct text_buffer){ 0 };
	status = 0;
	text_add_aliases(&names, command, "");
	if (names.length > 0)
		status = table_add_header(table, error, "also: %s",
		                          text_string(&names));
	text_free(&names);
	if (status != 0)
		return -1;
	if (table_add_footer(table, error, "%s", "") != 0 ||
	    help_wrap(text, line_width(), add_description_line, &description) !=
	        0 ||
	    table_add_footer(table, error, "%s", "") != 0)
		return -1;
	return table_add_footer(table, error, "example: %s",
	                        command->example);
}

/* The text that add adds, in the table's arena; NULL with *error set. */
static const char *
text_of(const struct command *command,
        void (*add)(struct text_buffer *text, const struct command *command),
        struct table *table, struct error *error)
{
	struct text_buffer text = { 0 };

	add(&text, command);
	return text_move(&text, &table->arena, error);
}

int
help_describe(const struct command *command, struct table *table,
              struct error *error)
{
	const char *usage = text_of(command, text_add_usage, table, error);
	const char *description = text_of(command, text_add_description, table,
	                                  error);
	const struct field fields[] = {
		{ "name", NULL, cell_text(command->name) },
		{ "usage", NULL, cell_text(usage) },
		{ "summary", NULL, cell_text(command->summary) },
		{ "description", NULL, cell_text(description) },
		{ "example", NULL, cell_text(command->example) },
	};
	const struct argument *argument;

	table->schema = "cpprof.help/1";
	table->rows_key = "arguments";
	table->is_plain = true;
	if (usage == NULL || description == NULL ||
	    help_text_add_lines(command, usage, description, table, error) != 0)
		return -1;
	argument = command->arguments;
	table_add_column(table, "argument", "argument", CELL_TEXT);
	table_add_column(table, "help", "help", CELL_TEXT);
	for (; argument != NULL && argument->name != NULL; argument++) {
		struct cell cells[] = { cell_text(argument->name),
			                cell_text(argument->help) };

		if (table_add_row(table, cells, error) != 0)
			return -1;
	}
	return table_add_fields(table, fields, sizeof fields / sizeof *fields,
	                        error);
}
