/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual.c -- the reference of commands and resources, from their tables. */
#include "src/formats/exporter.h"
#include "src/formats/format.h"
#include "src/shell/help/help_text.h"

#include <inttypes.h>
#include <string.h>

#include "src/base/units.h"
#include "src/shell/command/command.h"
#include "src/shell/record/recording.h"

enum { WIDTH = 78 };

/* Escapes text for a man page: backslashes, dashes, leading dots and quotes. */
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
add_man(struct text_buffer *text, const struct command *command)
{
	struct text_buffer usage = { 0 }, sentence = { 0 }, description = { 0 };
	const struct argument *argument;

	text_add_usage(&usage, command);
	add_sentence(&sentence, command->summary);
	text_add_string(text, ".TP\n.B ");
	add_roff_string(text, text_string(&usage));
	text_add_char(text, '\n');
	add_roff_string(text, text_string(&sentence));
	text_add_char(text, '\n');
	argument = command->arguments;
	for (; argument != NULL && argument->name != NULL; argument++) {
		text_add_string(text, ".br\n\\fI");
		add_roff_string(text, argument->name);
		text_add_string(text, "\\fR: ");
		add_roff_string(text, argument->help);
		text_add_char(text, '\n');
	}
	text_add_string(text, ".IP\n");
	text_add_description(&description, command);
	help_wrap(text_string(&description), WIDTH, add_man_line, text);
	text_add_string(text, ".IP\nExample: \\fB");
	add_roff_string(text, command->example);
	text_add_string(text, "\\fR\n");
	text_free(&usage);
	text_free(&sentence);
	text_free(&description);
}

/* Escapes text for Markdown, such as the stars of patterns. */
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
add_markdown(struct text_buffer *text, const struct command *command)
{
	struct text_buffer description = { 0 }, aliases = { 0 };
	const struct argument *argument;
	bool has_any;

	text_add_string(text, "#### `");
	text_add_usage(text, command);
	text_add_string(text, "`\n\n");
	add_sentence(text, command->summary);
	text_add_string(text, "\n\n");
	text_add_aliases(&aliases, command, "`");
	if (aliases.length > 0)
		text_add_format(text, "Also: %s.\n\n", text_string(&aliases));
	text_free(&aliases);
	argument = command->arguments;
	has_any = argument != NULL && argument->name != NULL;
	for (; argument != NULL && argument->name != NULL; argument++) {
		text_add_format(text, "- `%s`: ", argument->name);
		add_plain(text, argument->help, strlen(argument->help));
		text_add_char(text, '\n');
	}
	if (has_any)
		text_add_char(text, '\n');
	text_add_description(&description, command);
	help_wrap(text_string(&description), WIDTH, add_markdown_line, text);
	text_add_format(text, "\nExample:\n\n    %s\n\n", command->example);
	text_free(&description);
}

static const char man_head[] =
    ".TH CPPROF 1 \"\" \"cpprof " PACKAGE_VERSION "\"\n"
    ".SH NAME\n"
    "cpprof \\- interactive call path profiler\n"
    ".SH SYNOPSIS\n"
    ".B cpprof\n"
    "[\\fIOPTION\\fR]... [\\fIPROFILE\\fR]...\n"
    ".br\n"
    ".B cpprof record\n"
    "[\\fIOPTION\\fR]... [\\fB\\-\\-\\fR] "
    "\\fIPROGRAM\\fR [\\fIARGUMENT\\fR]...\n"
    ".br\n"
    ".B cpprof tasks\n"
    "[\\fIOPTION\\fR]... \\fIPID\\fR\n"
    ".br\n"
    ".B cpprof merge\n"
    "[\\fIOPTION\\fR]... \\fB\\-o\\fR \\fIOUT\\fR "
    "\\fIPROFILE\\fR...\n"
    ".br\n"
    ".B cpprof mcp\n"
    "[\\fIOPTION\\fR]...\n"
    ".SH DESCRIPTION\n"
    "Samples where a program uses time and other resources, and explores\n"
    "the samples as call paths: which chains of calls a resource goes to,\n"
    "seen from any function downward or upward. A profile is what\n"
    ".B cpprof record\n"
    "wrote, or a file in one of the formats below; a gmon.out needs its\n"
    "program as well. Several are added up, and \\- is standard input.\n"
    ".PP\n"
    "Commands come from \\fB\\-e\\fR and \\fB\\-x\\fR, in the order "
    "given; without them\n"
    "from standard input, with a prompt when that is a terminal.\n"
    ".SH OPTIONS\n";

static const char man_language[] =
    ".SH COMMAND LINES\n"
    "Commands may be shortened. A name that holds blanks, parentheses,\n"
    "quotes or one of ; | # > is written between bars:\n"
    "|operator new(unsigned long)|. In it, \\e| is a bar and \\exNN a byte.\n"
    "Where a pattern is taken, * and ? stand for any characters and for\n"
    "one, and /.../ is an extended regular expression; a function of just\n"
    "that name goes first. What follows a # at the start of a word is\n"
    "passed over.\n"
    ".PP\n"
    "After any command, > FILE and >> FILE write its output to a file, and\n"
    "a bar after a word (functions|wc) or before a blank pipes it to a\n"
    "shell command; when that\n"
    "command fails, so does the line.\n"
    ".SH COMMANDS\n";

static const char man_formats[] =
    ".SH FORMATS\n"
    "The formats of profiles, detected from content and not from names:\n";

static const char man_exporters[] =
    ".PP\n"
    "The formats that the command \\fBexport\\fR writes:\n";

static const char man_resources[] =
    ".SH RESOURCES\n"
    "What \\fB\\-r\\fR of\n"
    ".B cpprof record\n"
    "can name, and how much of it is used between two samples if it does not\n"
    "say.\n"
    ".B cpprof record \\-\\-list\n"
    "tells which of these there are on this machine.\n";

static const char man_tail[] =
    ".SH EXIT STATUS\n"
    "0, or 1 when a profile could not be read, a command in a script\n"
    "failed or output could not be written, or 2 for a wrong command line.\n"
    "If all commands ran: 4 when an assertion was violated, otherwise 5 when\n"
    "one was undecided (\\fBassert\\fR, \\fBbudget check\\fR).\n"
    ".B cpprof record\n"
    "ends with the status of the program that it ran, 128+N after\n"
    "signal N.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B PAGER\nwhat shows output longer than the screen (less, or more)\n"
    ".TP\n.B NO_COLOR\nwhen set, text has no colour\n"
    ".TP\n.B INPUTRC\nkeys at the prompt, see readline(3)\n"
    ".TP\n.B DEBUGINFOD_URLS\nservers that have debug files and sources, see\n"
    ".B debuginfod\nabove and debuginfod_find_debuginfo(3)\n"
    ".SH FILES\n"
    ".TP\n.I $XDG_STATE_HOME/cpprof/history\n"
    "lines typed at the prompt (~/.local/state without the variable)\n"
    ".TP\n.I $XDG_CONFIG_HOME/cpprof/settings\n"
    "settings to begin with (~/.config without the variable)\n"
    ".TP\n.I $XDG_CONFIG_HOME/cpprof/init\n"
    "commands that run before the prompt opens\n"
    ".TP\n.I ~/.cache/debuginfod_client\n"
    "debug files that came from servers\n"
    ".TP\n.I .cpprofrc\n"
    "the same of the current directory, if\n.B autoload\nis on\n"
    ".SH SEE ALSO\n"
    "R. J. Hall and A. J. Goldberg, Call Path Profiling of Monotonic\n"
    "Program Resources in UNIX, USENIX Summer 1993.\n"
    ".br\n"
    "libcpprof(3), gprof(1), perf(1)\n";

static void
add_man_entry(struct text_buffer *text, const char *name, const char *summary)
{
	text_add_string(text, ".TP\n.B ");
	add_roff_string(text, name);
	text_add_char(text, '\n');
	add_roff_string(text, summary);
	text_add_char(text, '\n');
}

void
manual_add_formats(struct text_buffer *text)
{
	text_add_string(text, "\nFormats of profiles:\n");
	for (size_t i = 0; formats[i] != NULL; i++)
		text_add_format(text, "  %-22s  %s\n", formats[i]->name,
		                formats[i]->summary);
	text_add_string(text, "\nFormats that the command export writes:\n");
	for (size_t i = 0; exporter_names[i] != NULL; i++)
		text_add_format(text, "  %-22s  %s\n", exporter_names[i],
		                exporters[i]->summary);
}

void
manual_add(struct text_buffer *text, enum manual_form form)
{
	if (form == MANUAL_MAN) {
		const struct option_row *row;
		struct text_buffer option;

		text_add_string(text, man_head);
		row = option_rows;
		option = (struct text_buffer){ 0 };
		for (; !option_is_end(row); row++) {
			if (row->help == NULL)
				continue;
			text_add_option(&option, row);
			text_add_string(text, ".TP\n.B ");
			add_roff_string(text, text_string(&option));
			text_add_char(text, '\n');
			add_roff_string(text, row->help);
			text_add_char(text, '\n');
			text_clear(&option);
		}
		text_free(&option);
		text_add_string(text, man_language);
	}
	for (size_t i = 0; commands[i] != NULL; i++) {
		if (i == 0 || commands[i]->group != commands[i - 1]->group)
			text_add_format(text, form == MANUAL_MARKDOWN ?
			                "### %s\n\n" : ".SS %s\n",
			                command_group_titles[
			                    commands[i]->group]);
		if (form == MANUAL_MARKDOWN)
			add_markdown(text, commands[i]);
		else
			add_man(text, commands[i]);
	}
	if (form == MANUAL_MAN) {
		const struct count_kind *kind;

		text_add_string(text, man_formats);
		for (size_t i = 0; formats[i] != NULL; i++)
			add_man_entry(text, formats[i]->name,
			              formats[i]->summary);
		text_add_string(text, man_exporters);
		for (size_t i = 0; exporter_names[i] != NULL; i++)
			add_man_entry(text, exporter_names[i],
			              exporters[i]->summary);
		kind = count_kinds;
		text_add_string(text, man_resources);
		for (; kind->name != NULL; kind++) {
			text_add_string(text, ".TP\n.B ");
			add_roff_string(text, kind->name);
			text_add_char(text, '\n');
			add_roff_string(text, kind->summary);
			text_add_format(text, "; every %" PRIu64 " ",
			                kind->interval);
			text_add_gtick_name(text, kind->gtick, kind->interval);
			text_add_char(text, '\n');
		}
		text_add_string(text, man_tail);
	}
}
