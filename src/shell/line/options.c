/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c -- the command line of cpprof. */
#include "src/shell/line/options.h"

#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

static int
options_take_format(void *all, const char *name, struct error *error)
{
	struct options *options = all;

	for (size_t i = 0; output_formats[i].name != NULL; i++)
		if (strcmp(output_formats[i].name, name) == 0) {
			options->format = &output_formats[i];
			return 0;
		}
	return error_set(error, "-F %.100s: expected text, tsv, csv or "
	                 "json", name);
}

static int
take_manual(void *all, const char *form, struct error *error)
{
	struct options *options = all;

	if (strcmp(form, "markdown") == 0)
		options->manual = MANUAL_MARKDOWN;
	else if (strcmp(form, "man") == 0)
		options->manual = MANUAL_MAN;
	else
		return error_set(error, "--print-manual: expected markdown or "
		                 "man");
	return 0;
}

static int
take_action(struct options *options, bool is_file, const char *text)
{
	options->actions[options->n_actions++] =
	    (struct action){ is_file, text };
	return 0;
}

static int
take_command(void *options, const char *command, struct error *error)
{
	(void)error;
	return take_action(options, false, command);
}

static int
take_script(void *options, const char *file, struct error *error)
{
	(void)error;
	return take_action(options, true, file);
}

static int
options_take_symfs(void *options, const char *directory, struct error *error)
{
	(void)error;
	((struct options *)options)->symfs = directory;
	return 0;
}

static int
options_take_directory(void *all, const char *directory, struct error *error)
{
	struct options *options = all;

	(void)error;
	options->directories[options->n_directories++] = directory;
	return 0;
}

static int
take_base(void *all, const char *file, struct error *error)
{
	struct options *options = all;

	(void)error;
	options->bases[options->n_bases++] = file;
	return 0;
}

#define FLAG(member) NULL, offsetof(struct options, member)

const struct option_row option_rows[] = {
	{ "-e", NULL, "COMMAND", "run this command, then exit", take_command,
	  0 },
	{ "-x", NULL, "FILE", "run the commands in FILE, then exit",
	  take_script, 0 },
	{ "-i", NULL, NULL, "go to the prompt after -e and -x", FLAG(stays) },
	{ "-F", NULL, "FORMAT", "print answers as text, tsv, csv or json",
	  options_take_format, 0 },
	{ "-q", NULL, NULL, "print no banner", FLAG(is_quiet) },
	{ "-n", NULL, NULL, "read no start-up files", FLAG(has_no_startup) },
	{ NULL, "--base", "FILE",
	  "compare with this run; repeat it for several runs of the base",
	  take_base, 0 },
	{ NULL, "--keep-going", NULL,
	  "continue a script after a command that fails", FLAG(keeps_going) },
	{ NULL, "--read-only", NULL,
	  "refuse commands that write files, run programs, or show sources of "
	  "other directories",
	  FLAG(is_read_only) },
	{ NULL, "--symfs", "DIR",
	  "search programs and debug files below DIR first", options_take_symfs,
	  0 },
	{ NULL, "--directories", "DIR",
	  "search sources below DIR first; repeat it for several",
	  options_take_directory, 0 },
	{ NULL, "--lenient", NULL,
	  "skip lines of a profile that cannot be read", FLAG(is_lenient) },
	{ NULL, "--thread-frames", NULL,
	  "take the outermost frames of collapsed stacks for threads",
	  FLAG(has_thread_frames) },
	{ "-h", "--help", NULL, "print this help", FLAG(wants_help) },
	{ NULL, "--version", NULL, "print the version", FLAG(wants_version) },
	{ NULL, "--print-manual", "FORM", NULL, take_manual, 0 },
	OPTIONS_END
};

enum option_value
options_value_of(const struct option_row *row)
{
	return row->take == take_command ? OPTION_COMMAND :
	       row->take == options_take_format ? OPTION_FORMAT : OPTION_FILE;
}

enum {
	N_ROWS = sizeof option_rows / sizeof *option_rows,
	FIRST_NAME = UCHAR_MAX + 1,
};

/* The rows as getopt_long wants them. */
struct getopt_tables {
	char letters[2 * N_ROWS + 2];
	struct option names[N_ROWS + 1];
};

static int
take_option(struct options *options, int option, char **argv,
            struct error *error)
{
	const struct option_row *row = option_rows;

	if (option == ':')
		return error_set(error, "%.100s needs an argument",
		                 argv[optind - 1]);
	if (option >= FIRST_NAME)
		row += option - FIRST_NAME;
	else
		while (!option_is_end(row) &&
		       (row->letter == NULL || row->letter[1] != option))
			row++;
	if (option_is_end(row)) {
		/*
		 * optopt is the unknown letter; argv[optind - 1] may then be
		 * another word.
		 */
		if (optopt > 0 && optopt <= UCHAR_MAX)
			return error_set(error, "there is no option -%c",
			                 optopt);
		return error_set(error, "there is no option %.100s",
		                 argv[optind - 1]);
	}
	return option_take(row, options, optarg, error);
}

int
options_parse(struct options *options, int argc, char **argv,
              struct error *error)
{
	struct getopt_tables tables;
	int option;
	char *letter;
	struct option *name;

	*options = (struct options){ 0 };
	options->actions = memory_array((size_t)argc,
	                                sizeof *options->actions, error);
	options->bases = memory_array((size_t)argc, sizeof *options->bases,
	                              error);
	options->directories = memory_array((size_t)argc,
	                                    sizeof *options->directories,
	                                    error);
	if (options->actions == NULL || options->bases == NULL ||
	    options->directories == NULL)
		return -1;
	opterr = 0;
	/*
	 * getopt_long returns the letter, or FIRST_NAME plus the row's number.
	 */
	letter = tables.letters;
	name = tables.names;
	*letter++ = ':';
	for (size_t i = 0; !option_is_end(&option_rows[i]); i++) {
		const struct option_row *row = &option_rows[i];

		if (row->letter != NULL) {
			*letter++ = row->letter[1];
			if (row->value != NULL)
				*letter++ = ':';
		}
		if (row->name != NULL)
			*name++ = (struct option){
				.name = row->name + strlen("--"),
				.has_arg = row->value != NULL,
				.val = FIRST_NAME + (int)i,
			};
	}
	*letter = '\0';
	*name = (struct option){ 0 };
	while ((option = getopt_long(argc, argv, tables.letters, tables.names,
	                             NULL)) != -1)
		if (take_option(options, option, argv, error) != 0)
			return -1;
	options->files = argv + optind;
	options->n_files = (size_t)(argc - optind);
	return 0;
}

void
options_free(struct options *options)
{
	free(options->actions);
	free(options->bases);
	free(options->directories);
}

static const char help_head[] =
    "usage: cpprof [OPTION]... [PROFILE]...\n"
    "       cpprof record [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "       cpprof tasks [OPTION]... PID\n"
    "       cpprof merge [OPTION]... -o OUT PROFILE...\n"
    "       cpprof mcp [OPTION]...\n"
    "\n"
    "Explores where a program uses time and other resources, as call paths.\n"
    "A PROFILE is a directory that cpprof record wrote, or a file in one of\n"
    "the formats below; a gmon.out needs its program as well. Several are\n"
    "added up; - is standard input. With --base, they are compared: see diff.\n"
    "cpprof record --help, tasks --help, merge --help and mcp --help show the\n"
    "options of these.\n"
    "\n";

static const char help_tail[] =
    "\n"
    "-e and -x may be repeated and run in the order given. Without them,\n"
    "commands are read from standard input, with a prompt on a terminal;\n"
    "type help there.\n";

void
options_add_help(struct text_buffer *text)
{
	const struct option_row *row = option_rows;
	struct text_buffer option = { 0 };

	text_add_string(text, help_head);
	for (; !option_is_end(row); row++) {
		if (row->help == NULL)
			continue;
		text_add_option(&option, row);
		text_add_format(text, "  %-15s %s\n", text_string(&option),
		                row->help);
		text_clear(&option);
	}
	text_add_string(text, help_tail);
	text_free(&option);
}
