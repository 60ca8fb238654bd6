/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/record.c -- run a program and sample what it uses. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "src/shell/arguments.h"
#include "src/shell/launch.h"
#include "src/shell/options.h"
#include "src/shell/preload.h"
#include "src/shell/recording.h"

static const struct argument record_arguments[] = {
	{ "[-o NAME] [--] PROGRAM ARGUMENTS", ARG_WORDS, 0,
	  "what to run; -o names the directory to write (PROGRAM.cpprof)" },
	ARGUMENTS_END
};

/* Reads the options; the words from the program on, or NULL. */
static char *const *
parse_options(const struct value *words, const char **name,
              struct error *error)
{
	char *const *word = (char *const *)words->words;

	for (; *word != NULL && **word == '-'; word++) {
		if (strcmp(*word, "--") == 0) {
			word++;
			break;
		}
		if (strncmp(*word, "-o", 2) != 0) {
			error_set(error, "no option %s: expected "
			          "[-o NAME] [--] PROGRAM [ARGUMENTS]", *word);
			return NULL;
		}
		*name = *word + 2;
		if (**name == '\0' && *++word != NULL)
			*name = *word;
		if (**name == '\0') {
			error_set(error, "-o: expected a directory's name");
			return NULL;
		}
	}
	if (*word == NULL) {
		error_set(error, "expected a program to run");
		return NULL;
	}
	return word;
}

/* What became of it, on one line of standard error. */
static void
tell_result(const struct session *session, const char *name,
            const char *output)
{
	struct cpprofdata_summary summary = { 0 };
	struct error error = { 0 };

	recording_summarise(output, &summary, &error);
	if (error.is_set || summary.n_files == 0)
		session_note(session, "no samples: the collector was not "
		             "loaded, or left a debugged program alone");
	else
		session_note(session, "%" PRIu64 " sample%s of %" PRIu64
		             " process%s%s in %s; open them with: cpprof %s",
		             summary.n_samples,
		             summary.n_samples == 1 ? "" : "s",
		             summary.n_files, summary.n_files == 1 ? "" : "es",
		             summary.n_lost > 0 ? " (some lost, see info)" : "",
		             name, name);
}

static int
record(struct session *session, const char *name, char *const *words,
       struct error *error)
{
	char program[PATH_MAX], library[PATH_MAX], output[PATH_MAX];
	struct launch launch = {
		.library = library,
		.output = output,
		.program = program,
		.words = words,
		.resets_sigpipe = !session->is_lone_command,
	};

	if (preload_find_program(words[0], program, sizeof program, error) ||
	    preload_check(program, error) != 0 ||
	    preload_find_library(library, sizeof library, error) != 0 ||
	    recording_prepare(name, output, sizeof output, error) != 0 ||
	    launch_program(&launch, &session->status, error) != 0)
		return -1;
	tell_result(session, name, output);
	return 0;
}

static int
record_run(struct session *session, const struct arguments *arguments,
           struct table *table, struct error *error)
{
	char default_name[NAME_MAX + sizeof ".cpprof"];
	const char *name = NULL, *base;
	char *const *words = parse_options(&arguments->values[0], &name,
	                                   error);

	(void)table;
	if (words == NULL) {
		if (session->is_lone_command)
			session->status = EXIT_USAGE;
		return -1;
	}
	if (name == NULL) {
		base = strrchr(words[0], '/');
		snprintf(default_name, sizeof default_name, "%s.cpprof",
		         base != NULL ? base + 1 : words[0]);
		name = default_name;
	}
	if (record(session, name, words, error) != 0)
		return -1;
	if (session->is_lone_command)
		return 0;
	return session_load(session, &name, 1, error);
}

const struct command command_record = {
	.name = "record",
	.summary = "run a program and sample the CPU time that it uses",
	.description =
	    "Runs the program with the collector preloaded, samples the CPU "
	    "time of all its threads and of the processes that it starts, and "
	    "writes a directory with one file for each process. At the prompt "
	    "the recording is then loaded. As `cpprof record ...` it ends with "
	    "the program's exit status, 128+N after signal N.\n\n"
	    "The program's words are read like any others: at the prompt, one "
	    "that holds blanks stands between bars, as in record sh -c |sleep "
	    "1; sort big|. Where > FILE or a pipe stands behind them, the "
	    "program's output goes there.\n\n"
	    "The program's input, output and signals are its own; Ctrl-C ends "
	    "it as it would without us, and what was sampled is kept. An "
	    "earlier recording of the same name is replaced. Programs that are "
	    "statically linked, or run with other rights than the caller's, "
	    "cannot be sampled, and are not started.",
	.example = "record sort /etc/services > /dev/null",
	.arguments = record_arguments,
	.run = record_run,
};
