/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands/record.c -- runs a program and samples what it uses. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/progress.h"
#include "src/base/writer.h"
#include "src/shell/command/command.h"
#include "src/shell/help/help_text.h"
#include "src/shell/line/options.h"
#include "src/shell/record/recording.h"
#include "src/shell/session/comparison.h"
#include "src/shell/terminal/terminal.h"

extern const struct command command_record;

static const struct argument record_arguments[] = {
	{ "[OPTIONS] [--] PROGRAM ARGUMENTS", &arg_words, 0,
	  "the program to run, after any of the options below; or -p and the "
	  "processes to sample" },
	ARGUMENTS_END
};

static void
has_started(void *recording)
{
	recording_started(recording);
}

/* A recording, from the options to the report. */
struct record_state {
	struct session *session;
	const struct record_options *options;
	struct recording recording;
	enum earlier_recording earlier;
	struct offers offers;
	struct sampled_time time;
	struct terminal_watch terminal;
	bool is_impossible;		/* the machine does not let it be made,
					 * but the program may run there */
	char program[PATH_MAX];		/* the file to execute */
	char library[PATH_MAX];		/* the collector's, see recording.h */
	char java_agent[PATH_MAX];
	const struct attach *attach;	/* processes that are sampled from
					 * outside; NULL: a program is run */
	bool is_outside;		/* the program is sampled from there */
	struct sampler_result outside;	/* what became of that, or of what the
					 * collector could not enter */
	struct error outside_error;	/* which ended it early */
};

/*
 * Runs the program without the collector: better no profile than no result.  A
 * command line becomes the program, since there may be no room for another
 * process, either.
 */
static int
run_bare(struct record_state *run, struct error *error)
{
	struct session *session = run->session;
	uint64_t cpu_ns;
	const struct launch launch = {
		.cpu_ns = &cpu_ns,
		.program = run->program,
		.words = run->options->program,
		.resets_sigpipe = !session->is_lone_command,
		.on_limit = run->recording.on_limit,
	};
	const struct error why = *error;
	struct error lost = { 0 };

	if (child_find_program(*launch.words, run->program, sizeof run->program,
	                       &lost) != 0)
		return -1;
	*error = (struct error){ 0 };
	message_note("%s is not sampled: %s", *launch.words, why.text);
	return session->is_lone_command ? launch_in_place(&launch, error) :
	    launch_program(&launch, &session->status, error);
}

/* The path of the agent for Java, if it is wanted and there is one. */
static const char *
java_agent(struct record_state *run)
{
	return run->options->names_java &&
	    preload_find_java_agent(run->java_agent, sizeof run->java_agent) ?
	    run->java_agent : NULL;
}

/* Clears the directory and runs the program. */
static int
launch(struct record_state *run, const char *resources, struct error *error)
{
	const struct record_options *options = run->options;
	struct recording *recording = &run->recording;
	struct launch launch = {
		.shared = run->time.name,
		.cpu_ns = &run->time.cpu_ns,
		.library = run->library,
		.output = recording->path,
		.resources = resources,
		.is_random = options->is_random,
		.is_alone = options->is_alone,
		.counts_returns = options->counts_returns,
		.calls = options->calls,
		.names_node = options->names_node,
		.names_java = options->names_java,
		.java_agent = java_agent(run),
		.max_size = options->max_size,
		.program = run->program,
		.words = options->program,
		.started = has_started,
		.context = recording,
		.resets_sigpipe = !run->session->is_lone_command,
		.on_limit = recording->on_limit,
	};
	struct companion *companion;
	struct spare_files *spares;
	struct code_answers *answers;
	struct kernel_list kernel;
	int result;

	if (recording_clear(recording, run->earlier, error) != 0)
		return -1;
	sampled_time_add_file(&run->time, recording->path);
	launch.wants_kernel = kernel_list_start(&kernel, recording);
	recording->program = open(run->program, O_RDONLY | O_CLOEXEC);
	terminal_watch_start(&run->terminal);
	companion = companion_new(options, recording, run->session->symfs,
	                          &run->time);
	spares = spare_files_start(recording, &run->time);
	answers = code_answers_start(recording, &run->time,
	                             run->session->symfs);
	result = launch_program(&launch, &run->session->status, error);
	code_answers_end(answers);
	spare_files_end(spares);
	companion_end(companion, &run->outside, &run->outside_error);
	kernel_list_end(&kernel);
	run->time.outside_ns = run->outside.cpu_ns;
	terminal_watch_end(&run->terminal);
	return result;
}

/*
 * Runs a program that the collector cannot be loaded into, and samples it from
 * outside.  *error says why it cannot; if it cannot be sampled from outside,
 * either, what to do is added.
 */
static int
launch_outside(struct record_state *run, struct error *error)
{
	const struct record_options *options = run->options;
	const struct error inside = *error;
	struct error outside = { 0 };
	struct launch launch = {
		.cpu_ns = &run->time.cpu_ns,
		.names_node = options->names_node,
		.names_java = options->names_java,
		.java_agent = java_agent(run),
		.output = run->recording.path,
		.program = run->program,
		.words = options->program,
		.started = has_started,
		.context = &run->recording,
		.resets_sigpipe = !run->session->is_lone_command,
		.on_limit = run->recording.on_limit,
	};
	int result;

	*error = (struct error){ 0 };
	if (options->counts_returns || options->is_random ||
	    options->calls != NULL)
		return error_set(error, "%s; %s needs the collector inside, so "
		                 "leave it out to sample from outside",
		                 inside.text, options->is_random ?
		                 "--random" : options->calls != NULL ?
		                 "--calls" : "--returns");
	if (recording_clear(&run->recording, run->earlier, error) != 0)
		return -1;
	run->recording.program = open(run->program, O_RDONLY | O_CLOEXEC);
	run->is_outside = true;
	terminal_watch_start(&run->terminal);
	result = attach_launch(&launch, options, &run->recording,
	                       run->session->symfs, &run->session->status,
	                       &run->outside, &outside);
	terminal_watch_end(&run->terminal);
	if (result == 0) {
		message_note("%s: it is sampled from outside", inside.text);
		return 0;
	}
	if (preload_unseen_resource(options) != NULL)
		return error_set(error, "%s, and from outside it is "
		                 "impossible: %s; what -r %s counts needs calls "
		                 "of the C library, which are seen only in a "
		                 "program that is linked dynamically, with "
		                 "glibc", inside.text, outside.text,
		                 preload_unseen_resource(options));
	return error_set(error, "%s, and from outside it is impossible: %s; "
	                 "or link it with libcpprof.a (see man libcpprof), or "
	                 "record it with perf record or, if it is a Go "
	                 "program, with its pprof, and open that file",
	                 inside.text, outside.text);
}

/* Checks what can go wrong, and runs the program; the directory is locked. */
static int
record_run_program(struct record_state *run, struct error *error)
{
	struct text_buffer resources = { 0 };
	int result = -1;

	record_options_add_resources(run->options, &resources);
	if (child_find_program(*run->options->program, run->program,
	                       sizeof run->program, error) != 0) {
		result = -1;
	} else if (preload_check(run->program, run->options, error) != 0) {
		if (access(run->program, X_OK) == 0)
			result = launch_outside(run, error);
	} else if (preload_find_library(run->library, sizeof run->library,
	                                error) == 0) {
		if (offers_ask(&run->offers, run->library,
		               text_string(&resources),
		               run->options->is_random, false, error) != 0)
			run->is_impossible = true;
		else if (record_check_offers(&run->offers,
		             run->options->is_random,
		             run->options->n_resources == 0, error) != 0)
			run->is_impossible = run->options->n_resources == 0 &&
			    !run->options->is_random;
		else
			result = launch(run, text_string(&resources), error);
	}
	text_free(&resources);
	if (result != 0) {
		sampled_time_end(&run->time);
		recording_undo(&run->recording);
	}
	return result;
}

/* Samples processes that run already; the directory is locked. */
static int
record_attach(struct record_state *run, struct error *error)
{
	const bool is_inside = run->options->is_inside;
	struct code_answers *answers;
	int result = is_inside ? preload_find_library(run->library,
	    sizeof run->library, error) : 0;

	if (result == 0)
		result = recording_clear(&run->recording, run->earlier, error);
	if (result == 0 && is_inside) {
		sampled_time_add_file(&run->time, run->recording.path);
		answers = code_answers_start(&run->recording, &run->time,
		                             run->session->symfs);
		result = attach_inside_run(run->attach, run->options,
		                           &run->recording, &run->time,
		                           run->library, &run->outside.held,
		                           error);
		code_answers_end(answers);
	} else if (result == 0)
		result = attach_run(run->attach, run->options, &run->recording,
		                    run->session->symfs, &run->outside, error);
	if (result == 0)
		recording_started(&run->recording);
	else
		recording_undo(&run->recording);
	return result;
}

static enum earlier_recording
choose_earlier(const struct record_options *options)
{
	if (options->replaces)
		return EARLIER_GOES;
	return options->name != NULL ? EARLIER_STAYS : EARLIER_MOVES;
}

/*
 * Whether the recording is opened at the prompt.  From a shell, by default only
 * if the program wrote nothing that the user would have to scroll back to.
 */
static bool
choose_prompt(const struct record_state *run)
{
	const struct record_options *options = run->options;
	enum prompt_choice choice = run->session->settings.prompt;

	if (!run->session->is_lone_command)
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	if (options->wants_prompt || options->wants_no_prompt)
		return options->wants_prompt;
	if (choice != PROMPT_AUTO)
		return choice == PROMPT_ALWAYS;
	return !run->terminal.saw_output;
}

/* Names what was sampled, by the files that were kept open, too. */
static int
record_keep_names(const struct record_state *run, struct error *error)
{
	const struct held_files none = { 0 };
	const struct held_files *outside = run->outside.held != NULL ?
	    sample_held_files(run->outside.held) : &none;
	int *files = memory_array(outside->n + 1, sizeof *files, error);
	struct held_files held = { files, outside->n };
	int result;

	if (files == NULL)
		return -1;
	if (outside->n > 0)
		memcpy(files, outside->files, outside->n * sizeof *files);
	if (run->recording.program >= 0)
		files[held.n++] = run->recording.program;
	result = keep_names(run->recording.directory,
	                    !run->options->keeps_no_names,
	                    run->session->symfs, &held, error);
	free(files);
	return result;
}

/* Adds what the kernel has counted and no sample stands for. */
static int
add_unsampled(const struct record_state *run, struct error *error)
{
	const uint64_t outside_ns = run->outside.counted_ns;
	uint64_t all_ns = run->time.cpu_ns, ns = 0;

	if (run->attach != NULL) {
		ns = run->outside.unsampled_ns;
		all_ns = outside_ns + ns;
	} else if (run->is_outside && !run->options->is_alone) {
		ns = all_ns > outside_ns ? all_ns - outside_ns : 0;
	} else if (!run->options->is_alone) {
		ns = sampled_time_at_ends(&run->time);
	}
	return unsampled_time_add(&run->recording, ns, all_ns, error);
}

/* The program has ended.  Returns whether the recording is to be opened. */
static bool
complete(const struct record_state *run)
{
	struct recording_report report = {
		.recording = &run->recording,
		.offers = &run->offers,
		.time = &run->time,
		.status = run->session->status,
		.is_default = run->options->n_resources == 0,
		.is_alone = run->options->is_alone,
		.calls = run->options->calls,
		.outside = &run->outside,
		.is_attached = run->attach != NULL,
		.is_outside = run->attach != NULL || run->is_outside,
	};
	struct error error;
	struct sigaction before;

	if (!recording_is_there(&run->recording)) {
		message_note("%s and its samples are gone: it was removed or "
		             "moved while the program ran",
		             run->recording.name);
		return false;
	}
	if (run->outside_error.is_set)
		message_note("sampling from outside ended early: %s",
		             run->outside_error.text);
	error = (struct error){ 0 };
	if (add_unsampled(run, &error) != 0)
		message_note("%s; CPU time without samples is not counted",
		             error.text);
	/* Keeps names in the recording, which is usable without them, too. */
	error = (struct error){ 0 };
	/* Ctrl-C ends the naming, not the recording. */
	sigaction(SIGINT, NULL, &before);
	if (before.sa_handler == SIG_DFL)
		interrupt_catch();
	interrupt_requested = 0;
	if (record_keep_names(run, &error) != 0)
		message_note("%s; to show names, cpprof now needs the program "
		             "files unchanged", error.text);
	interrupt_requested = 0;
	sigaction(SIGINT, &before, NULL);
	report.opens = choose_prompt(run);
	/* Else the status is that of the program. */
	if (recording_report(&report) == 0 && report.is_attached &&
	    run->session->is_lone_command)
		run->session->status = 1;
	return report.opens;
}

static int
record_into(struct session *session, const struct record_options *options,
            const struct attach *attach, const char *name, bool *opens,
            struct error *error)
{
	struct record_state run = {
		.session = session,
		.options = options,
		.attach = attach,
		.earlier = choose_earlier(options),
		.recording = { .directory = -1, .program = -1 },
	};
	int result = record_check_size_limit(error) == 0 ?
	    record_check_open_files(error) : -1;

	run.is_impossible = result != 0;
	if (result == 0)
		result = recording_open(&run.recording, name, run.earlier,
		                        error);
	run.is_impossible |= run.recording.is_impossible;
	/* At the limit on the size of files, writing fails and is reported. */
	run.recording.on_limit = signal(SIGXFSZ, SIG_IGN);
	sampled_time_start(&run.time);
	if (result == 0)
		result = (attach != NULL ? record_attach :
		          record_run_program)(&run, error);
	*opens = result == 0 && complete(&run);
	sample_held_free(run.outside.held);
	if (run.recording.needs_force && session->is_lone_command)
		session->status = EXIT_USAGE;
	recording_close(&run.recording);
	sampled_time_end(&run.time);
	if (result != 0 && run.is_impossible && options->n_runs == 0 &&
	    attach == NULL)
		result = run_bare(&run, error);
	signal(SIGXFSZ, run.recording.on_limit);
	offers_free(&run.offers);
	return result;
}

/* ---- several runs ---- */

/* Reports how much the runs of a directory vary. */
static void
report_variation(const struct session *session, const char *name,
                 unsigned n_runs)
{
	const struct read_options options = { .symfs = session->symfs };
	struct error error = { 0 };
	struct text_buffer text = { 0 };
	struct runs runs = { 0 };

	if (n_runs > 1 && runs_read(&runs, &name, 1, &options, &error) == 0) {
		runs_add_variation(&runs, &text);
		message_note("%u runs in %s: %s; to compare with them: cpprof "
		             "--base %s LATER", n_runs, name,
		             text_string(&text), name);
	} else if (error.is_set) {
		message_note("%s", error.text);
	}
	runs_free(&runs);
	text_free(&text);
}

/* Records the runs; *n_done of them took place. */
static int
record_runs(struct session *session, const struct record_options *options,
            struct recording *directory, unsigned *n_done,
            struct error *error)
{
	struct record_options one = *options;
	char name[PATH_MAX];
	bool opens;
	int status = 0;

	one.replaces = false;
	one.wants_prompt = false;
	one.wants_no_prompt = true;
	one.name = name;
	for (*n_done = 0; *n_done < options->n_runs; ++*n_done) {
		if ((size_t)snprintf(name, sizeof name, "%s/run-%u",
		                     directory->name, *n_done + 1) >=
		    sizeof name)
			return error_set(error, "%s: path too long",
			                 directory->name);
		if (record_into(session, &one, NULL, name, &opens,
		                error) != 0)
			return -1;
		recording_started(directory);
		if (session->status != 0)
			status = session->status;
		if (session->status > 128 || interrupt_requested)
			break;
	}
	*n_done += *n_done < options->n_runs;
	session->status = status;
	return 0;
}

/* Several recordings in one directory, which is locked meanwhile. */
static int
record_several(struct session *session, const struct record_options *options,
               const char *name, bool *opens, struct error *error)
{
	enum earlier_recording earlier = choose_earlier(options);
	struct recording directory;
	unsigned n_done = 0;
	int result = recording_open(&directory, name, earlier, error);

	if (result == 0)
		result = recording_clear(&directory, earlier, error);
	if (result == 0)
		result = record_runs(session, options, &directory, &n_done,
		                     error);
	if (result != 0 && n_done == 0)
		recording_undo(&directory);
	if (directory.needs_force && session->is_lone_command)
		session->status = EXIT_USAGE;
	if (result == 0) {
		if (n_done < options->n_runs)
			message_note("stopped after %u of %u runs", n_done,
			             options->n_runs);
		report_variation(session, name, n_done);
		recording_report_moved(&directory);
	}
	recording_close(&directory);
	*opens = result == 0 && (!session->is_lone_command ||
	                         options->wants_prompt);
	return result;
}

/* The name of the directory, where -o gives none. */
static const char *
default_name(const struct record_options *options,
             const struct attach *attach, char *place, size_t size)
{
	const char *program = attach != NULL ? attach->name :
	    *options->program;
	const char *base = strrchr(program, '/');

	snprintf(place, size, "%s.cpprof", base != NULL ? base + 1 : program);
	return place;
}

static int
record_as(struct session *session, const struct record_options *options,
          const struct attach *attach, struct error *error)
{
	char place[NAME_MAX + sizeof ".cpprof"];
	const char *name = options->name != NULL ? options->name :
	    default_name(options, attach, place, sizeof place);
	int status = 0;
	bool opens;

	if ((options->n_runs > 0 ? record_several(session, options, name,
	        &opens, error) : record_into(session, options, attach, name,
	        &opens, error)) != 0)
		return -1;
	session->stays = opens;
	session->first_view = options->wants_all || options->cgroup != NULL ?
	    "processes" : NULL;
	session->opens_prompt = opens;
	if (opens && session_load(session, &name, 1, error) != 0)
		status = -1;
	session->opens_prompt = false;
	return status;
}

static int
record(struct session *session, const struct record_options *options,
       struct error *error)
{
	struct attach attach = { 0 };
	int result;

	if (!attach_is_wanted(options))
		return record_as(session, options, NULL, error);
	result = attach_find(&attach, options, error);
	if (result == 0 && options->is_inside)
		result = attach_inside_check(&attach, options, error);
	if (result == 0)
		result = record_as(session, options, &attach, error);
	attach_free(&attach);
	return result;
}

static int
record_run(struct session *session, const struct arguments *arguments,
           struct table *table, struct error *error)
{
	struct record_options options;

	if (record_options_parse(&options,
	        (char *const *)arguments->values[0].words, error) != 0) {
		if (session->is_lone_command)
			session->status = EXIT_USAGE;
		return -1;
	}
	if (options.wants_help)
		return help_describe(&command_record, table, error);
	if (options.wants_list && options.is_inside)
		return offer_list_inside(&options, table, error);
	if (options.wants_list &&
	    (attach_is_wanted(&options) || !preload_is_built()))
		return offer_list_outside(&options, table, error);
	if (options.wants_list)
		return offer_list_launched(table, error);
	return read_only_check("record", error) != 0 ? -1 :
	       record(session, &options, error);
}

const struct command command_record = {
	.name = "record",
	.words = COMMAND_WORDS(
	    SHORT("rec"), /* gdb */ TYPE("run", "record PROGRAM ARGUMENTS"),
	    TYPE("start", "record PROGRAM ARGUMENTS")),
	.group = GROUP_FILES,
	.summary =
	    "runs a program and samples its CPU time or another resource",
	.description =
	    "Runs the program with the collector preloaded, samples what all "
	    "its threads and child processes use, and writes a directory with "
	    "a file for each process that was sampled. On a terminal the "
	    "recording is then opened, unless the program wrote to the "
	    "terminal (see help prompt). Otherwise record exits with the "
	    "program's exit status, or with 128+N after signal N.\n\n"
	    "The program's words are read like those of other commands: at "
	    "the prompt, put a word that contains blanks between bars, as in "
	    "record sh -c |sleep 1; sort big|. With > FILE or a pipe after "
	    "them, the program's output goes there.\n\n"
	    "The program keeps its input, output and signals. Ctrl-C ends it "
	    "as usual, and what was sampled is kept. A program that the "
	    "collector cannot be loaded into, because it is statically "
	    "linked, uses musl, or runs with other rights than the caller's, "
	    "is sampled from outside by perf events, if the kernel allows "
	    "that; else it is not started. If the machine "
	    "does not let a recording be made (limits of ulimit, a full disk, "
	    "a directory that cannot be written), the program runs without "
	    "the collector, and a line says why.\n\n"
	    "Where the kernel ran, stacks of CPU time and other perf events "
	    "end with its functions, for root and if "
	    "kernel.perf_event_paranoid is 1 or less; see kernel. Otherwise "
	    "time in the kernel belongs to the function that entered it.\n\n"
	    "-p attaches to processes that run already. They are sampled from "
	    "outside, as by perf, and neither stopped nor changed. Stacks are "
	    "unwound while they run, so their depth has no limit and the "
	    "recording is as small as any. Your own processes need "
	    "kernel.perf_event_paranoid 2 or less; root may sample all. "
	    "Where the kernel hides its functions, time in it has no stack "
	    "and is [partial]. record --list -p PID says what can be sampled: "
	    "cpu, real, page-faults and the processor's events; "
	    "context-switches, and each wait of real with its stack, for "
	    "root and if kernel.perf_event_paranoid is 1 or less; syscalls "
	    "for root. In containers perf "
	    "events are mostly forbidden; the message says what allows "
	    "them.\n\n"
	    "--inside loads the collector into the processes instead, which "
	    "changes them: where perf events are forbidden but ptrace is not, "
	    "as in many containers. One thread is stopped for milliseconds. At "
	    "the end, also if cpprof is killed, sampling ends and only the "
	    "unused library stays. It needs glibc, not a static program, and "
	    "the rights of a debugger: root, or kernel.yama.ptrace_scope 0. "
	    "Waits that began before, and blocks that were allocated before, "
	    "are not counted. "
	    "record --list -p PID --inside says what can be sampled.\n\n"
	    "-a samples all processes of the machine and the kernel's own "
	    "threads, which needs root or kernel.perf_event_paranoid 0 or "
	    "less. --cgroup samples the processes that a cgroup has when the "
	    "recording begins, and all that they start: those of a "
	    "container, say. processes shows what each program used.\n\n"
	    "Code that a JIT compiler makes at run time has names if the "
	    "runtime writes them. --node and --java switch that on in all "
	    "that the program starts; others need a switch of their own: "
	    "php -d opcache.jit_debug=16, DOTNET_PerfMapEnabled=1, "
	    "ruby --yjit --yjit-perf, erl +JPperf true. Otherwise it is "
	    "[jit], and headings say what to do for the runtime found.",
	.options = record_option_rows,
	.complete_words = record_options_complete,
	.example = "record sort /etc/services > /dev/null",
	.arguments = record_arguments,
	.run = record_run,
};
