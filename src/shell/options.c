/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.c -- what stands behind `cpprof` on its command line. */
#include "src/shell/options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"

const struct option_row option_rows[] = {
	{ "-e COMMAND", "run this command, then exit" },
	{ "-x FILE", "run the commands in FILE, then exit" },
	{ "-i", "go to the prompt after -e and -x" },
	{ "-F FORMAT", "print answers as text, tsv, csv or json" },
	{ "-q", "no banner" },
	{ "--keep-going", "run a script on after a command that fails" },
	{ "--symfs DIR", "look for programs and debug files below DIR first" },
	{ "--lenient", "skip lines of a profile that cannot be read" },
	{ "-h, --help", "print this" },
	{ "--version", "print the version" },
	{ NULL, NULL }
};

static const char help_head[] =
    "usage: cpprof [OPTION]... [PROFILE]...\n"
    "       cpprof record [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
    "\n"
    "Explores where a program uses time and other resources, as call paths.\n"
    "A PROFILE is a directory that cpprof record wrote, or a file of perf,\n"
    "pprof, callgrind, gperftools, Go, jemalloc, V8, Firefox, samply or\n"
    "speedscope, or collapsed stacks, or a gmon.out and its program; several\n"
    "are added up; - is standard input. cpprof record --help shows the\n"
    "options of record.\n"
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

	text_add_string(text, help_head);
	for (; row->option != NULL; row++)
		text_add_format(text, "  %-15s %s\n", row->option, row->help);
	text_add_string(text, help_tail);
}

enum long_option {
	KEEP_GOING = 256, LENIENT, SYMFS, HELP, VERSION, PRINT_MANUAL
};

static const struct option long_options[] = {
	{ "keep-going", no_argument, NULL, KEEP_GOING },
	{ "lenient", no_argument, NULL, LENIENT },
	{ "symfs", required_argument, NULL, SYMFS },
	{ "help", no_argument, NULL, HELP },
	{ "version", no_argument, NULL, VERSION },
	{ "print-manual", required_argument, NULL, PRINT_MANUAL },
	{ NULL, 0, NULL, 0 }
};

static int
set_format(struct options *options, const char *name, struct error *error)
{
	for (size_t i = 0; output_formats[i].name != NULL; i++)
		if (strcmp(output_formats[i].name, name) == 0) {
			options->format = &output_formats[i];
			return 0;
		}
	return error_set(error, "-F %.100s: expected text, tsv, csv or "
	                 "json", name);
}

static int
set_manual(struct options *options, const char *form, struct error *error)
{
	if (strcmp(form, "markdown") == 0)
		options->manual = MANUAL_MARKDOWN;
	else if (strcmp(form, "man") == 0)
		options->manual = MANUAL_MAN;
	else
		return error_set(error, "--print-manual: expected markdown or "
		                 "man");
	return 0;
}

/* Of letters behind one dash, argv[optind] may be where the next one is. */
static int
report_unknown(char **argv, struct error *error)
{
	if (optopt > 0 && optopt <= UCHAR_MAX)
		return error_set(error, "there is no option -%c", optopt);
	return error_set(error, "there is no option %.100s",
	                 argv[optind - 1]);
}

static int
take_option(struct options *options, int option, char **argv,
            struct error *error)
{
	switch (option) {
	case 'e':
	case 'x':
		options->actions[options->n_actions++] =
		    (struct action){ option == 'x', optarg };
		return 0;
	case 'F':
		return set_format(options, optarg, error);
	case 'i':
		options->stays = true;
		return 0;
	case 'q':
		options->is_quiet = true;
		return 0;
	case KEEP_GOING:
		options->keeps_going = true;
		return 0;
	case LENIENT:
		options->is_lenient = true;
		return 0;
	case SYMFS:
		options->symfs = optarg;
		return 0;
	case 'h':
	case HELP:
		options->wants_help = true;
		return 0;
	case VERSION:
		options->wants_version = true;
		return 0;
	case PRINT_MANUAL:
		return set_manual(options, optarg, error);
	case ':':
		return error_set(error, "%.100s needs an argument",
		                 argv[optind - 1]);
	default:
		return report_unknown(argv, error);
	}
}

int
options_parse(struct options *options, int argc, char **argv,
              struct error *error)
{
	int option;

	*options = (struct options){ 0 };
	options->actions = memory_array((size_t)argc,
	                                sizeof *options->actions, error);
	if (options->actions == NULL)
		return -1;
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":e:x:F:hiq", long_options,
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
}
