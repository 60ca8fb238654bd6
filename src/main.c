/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c -- cpprof: loads profiles and runs commands or the prompt.
 *
 * Exit status: 0; 1 when a profile could not be read, a command of a script
 * failed or the output could not be written; 2 for a wrong command line.  If
 * all commands ran: 4 when an assertion was violated, otherwise 5 when one was
 * undecided.  `cpprof record` ends with the status of the program that it ran.
 * Ctrl-C before the prompt opens ends the program by SIGINT, which shells report
 * as 130.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/progress.h"
#include "src/base/writer.h"
#include "src/shell/command/command.h"
#include "src/shell/command/interpret.h"
#include "src/shell/help/help_text.h"
#include "src/shell/input/input.h"
#include "src/shell/line/options.h"
#include "src/shell/session/session.h"
#include "src/shell/terminal/terminal.h"

enum { LEAST_STACK = 1 << 20 };

/* Writes to standard output; returns the exit status. */
static int
main_print(const char *bytes, size_t n)
{
	int descriptor = STDOUT_FILENO;
	int status = write_to_descriptor(&descriptor, bytes, n);

	if (status != 0 && status != EPIPE)
		message("cpprof: standard output", strerror(status));
	return status != 0;
}

/* Prints the help, version or manual; returns the exit status. */
static int
print_text(const struct options *options)
{
	struct text_buffer text = { 0 };
	int status;

	if (options->wants_help) {
		options_add_help(&text);
		manual_add_formats(&text);
	} else if (options->wants_version) {
		text_add_string(&text, "cpprof " PACKAGE_VERSION "\n");
	} else {
		manual_add(&text, options->manual);
	}
	status = main_print(text.bytes, text.length);
	text_free(&text);
	return status;
}

/* Runs a command on this program's arguments, as in `cpprof record ls`. */
static int
run_command(const char *name, int argc, char **argv)
{
	struct session session;
	struct error error = { 0 };
	const struct command *command = command_lookup(name, strlen(name),
	                                             &error);
	int status = -1;

	session_start(&session);
	session.is_lone_command = true;
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		settings_file_apply(&session);
	if (command != NULL)
		status = interpret_words(&session, command, argv,
		                         (size_t)argc, &error);
	if (error.is_set)
		message("cpprof", error.text);
	if (session.status == 0 && status != 0)
		session.status = argc == 0 ? EXIT_USAGE : 1;
	if (status == 0 && session.stays) {
		session.is_lone_command = false;
		signal(SIGPIPE, SIG_IGN);
		startup_run_own(&session);
		startup_run_local(&session);
		prompt_run(&session, stdin);
		session.status = session.output_lost;
	}
	session_end(&session);
	return session.status;
}

/* Runs -e and -x in the order given; 0, or -1 if one failed. */
static int
run_actions(struct session *session, const struct options *options)
{
	size_t n_commands = 0;
	int status = 0;

	for (size_t i = 0; i < options->n_actions &&
	     !session->quit_requested && !session->output_lost; i++) {
		const struct action *action = &options->actions[i];
		struct error error = { 0 };
		char place[40];
		int done;

		if (action->is_file) {
			done = script_run_file(session, action->text, &error);
			if (error.is_set)
				message("cpprof", error.text);
		} else {
			snprintf(place, sizeof place, "-e:%zu", ++n_commands);
			session->reads_arguments = true;
			done = script_run_line(session, action->text,
			                       strlen(action->text), place);
			session->reads_arguments = false;
		}
		if (done != 0)
			status = -1;
		if (status != 0 && !session->keeps_going)
			break;
	}
	return status;
}

static bool
uses_standard_input(const struct options *options)
{
	for (size_t i = 0; i < options->n_files; i++)
		if (strcmp(options->files[i], "-") == 0)
			return true;
	return false;
}

/* Whether commands will be read from a terminal. */
static bool
will_prompt(const struct options *options)
{
	return (options->n_actions == 0 || options->stays) &&
	    (uses_standard_input(options) || isatty(STDIN_FILENO));
}

/* Runs commands from a terminal or script; 0, or -1 if one failed. */
static int
run_input(struct session *session, const struct options *options)
{
	FILE *terminal = stdin;

	if (uses_standard_input(options))
		terminal = fopen("/dev/tty", "r+e");
	else if (!isatty(STDIN_FILENO))
		return script_run(session, stdin, "<stdin>");
	if (terminal == NULL) {
		message("cpprof", "no terminal for commands; give them with -e "
		        "or -x");
		return -1;
	}
	prompt_run(session, terminal);
	if (terminal != stdin)
		fclose(terminal);
	return 0;
}

/* If a command was given in place of a file, says how to run it. */
static void
suggest_commands(const struct options *options)
{
	for (size_t i = 0; i < options->n_files; i++) {
		const char *word = options->files[i];
		struct error text = { 0 };

		for (size_t j = 0; commands[j] != NULL; j++)
			if (strcmp(commands[j]->name, word) == 0 &&
			    access(word, F_OK) != 0)
				error_set(&text, "%s is a command, not a file; "
				          "use -e %s, or type it at the "
				          "prompt", word, word);
		if (text.is_set)
			message("cpprof", text.text);
	}
}

/* Loads the profiles.  0, or -1 if that fails or Ctrl-C ends it. */
static int
main_load(struct session *session, const struct options *options)
{
	struct error error = { 0 };

	if (options->n_files == 0)
		return 0;
	if (will_prompt(options))
		interrupt_catch();
	if (session_load(session, (const char *const *)options->files,
	                 options->n_files, &error) == 0)
		return 0;
	message("cpprof", error.text);
	suggest_commands(options);
	return -1;
}

/* Reads the base of comparisons; likewise. */
static int
load_base(struct session *session, const struct options *options)
{
	struct error error = { 0 };

	if (options->n_bases == 0 ||
	    session_set_base(session, options->bases, options->n_bases,
	                     &error) == 0)
		return 0;
	message("cpprof", error.text);
	return -1;
}

/* Ends as a program does that does not catch Ctrl-C. */
static void
end_by_interrupt(struct session *session)
{
	session_end(session);
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
}

static int
run_session(struct session *session, const struct options *options)
{
	struct error error = { 0 };
	bool has_startup;
	int status;

	if (options->is_read_only)
		read_only_begin();
	session->is_quiet = options->is_quiet;
	session->keeps_going = options->keeps_going;
	session->is_lenient = options->is_lenient;
	session->has_thread_frames = options->has_thread_frames;
	has_startup = will_prompt(options) && !options->has_no_startup;
	if (has_startup) {
		settings_file_apply(session);
		startup_run_own(session);
	}
	if (options->symfs != NULL &&
	    session_set_symfs(session, options->symfs, &error) != 0) {
		message("cpprof", error.text);
		return 1;
	}
	if (options->n_directories > 0 &&
	    session_set_directories(session, options->directories,
	                            options->n_directories, &error) != 0) {
		message("cpprof", error.text);
		return 1;
	}
	if (options->format != NULL)
		session->settings.format = options->format;
	session->opens_prompt = will_prompt(options);
	status = main_load(session, options);
	session->opens_prompt = false;
	if (status == 0)
		status = load_base(session, options);
	/* It may also come too late to end the load. */
	if (interrupt_requested)
		end_by_interrupt(session);
	if (status != 0)
		return 1;
	if (has_startup)
		startup_run_local(session);
	/* Those that the user named; now come commands of anybody. */
	session->has_fixed_sources = options->is_read_only;
	status = run_actions(session, options);
	if (status == 0 || session->keeps_going || options->stays)
		if ((options->n_actions == 0 || options->stays) &&
		    !session->quit_requested && !session->output_lost &&
		    run_input(session, options) != 0)
			status = -1;
	return status != 0 || session->output_lost ? 1 :
	    session->has_violated ? EXIT_VIOLATED :
	    session->has_undecided ? EXIT_UNDECIDED : 0;
}

static int
main_run(const struct options *options)
{
	struct session session;
	int status;

	if (options->wants_help || options->wants_version ||
	    options->manual != MANUAL_NONE)
		return print_text(options);
	session_start(&session);
	status = run_session(&session, options);
	session_end(&session);
	return status;
}

/* The commands that may be the first word. */
static const char *const lone[] = { "record", "tasks", "merge", "mcp", "keep",
	NULL };

/* Answers a shell that completes the last of these words. */
static int
complete_words(size_t n, char **words)
{
	struct text_buffer text = { 0 };
	struct session session;
	int status;

	session_start(&session);
	complete_shell(&text, &session, lone, words, n);
	status = main_print(text.bytes, text.length);
	text_free(&text);
	session_end(&session);
	return status;
}

static int
run_words(int argc, char **argv)
{
	struct options options;
	struct error error = { 0 };
	int status;

	setlocale(LC_CTYPE, "");
	if (argc > 1 && strcmp(argv[1], "--complete") == 0)
		return complete_words((size_t)argc - 2, argv + 2);
	for (size_t i = 0; argc > 1 && lone[i] != NULL; i++)
		if (strcmp(argv[1], lone[i]) == 0)
			return run_command(argv[1], argc - 2, argv + 2);
	/* Writers get EPIPE instead. */
	signal(SIGPIPE, SIG_IGN);
	if (options_parse(&options, argc, argv, &error) == 0) {
		status = main_run(&options);
	} else {
		message("cpprof", error.text);
		message("cpprof", "try cpprof --help");
		status = EXIT_USAGE;
	}
	options_free(&options);
	return status;
}

/*
 * Files opened here must not get the numbers of standard input, output and
 * error if these are closed.  Programs that are started still find them closed.
 */
static void
keep_standard_numbers(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_CLOEXEC |
			     (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

struct command_line {
	int argc;
	char **argv;
	sigset_t signals;		/* that are blocked */
	int status;
};

static void *
run_on_thread(void *context)
{
	struct command_line *words = context;

	pthread_sigmask(SIG_SETMASK, &words->signals, NULL);
	words->status = run_words(words->argc, words->argv);
	return NULL;
}

/*
 * A limit on the stack may be meant for the program that is recorded, and be
 * too small for this one.  Signals come to the thread, which blocks those that
 * it is not ready for; this one, which only waits, would take them.
 */
static int
run_on_large_stack(int argc, char **argv)
{
	struct command_line words = { .argc = argc, .argv = argv, .status = 1 };
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all;
	bool is_started;

	if (pthread_attr_init(&attributes) != 0)
		return run_words(argc, argv);
	pthread_attr_setstacksize(&attributes, LEAST_STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &words.signals);
	is_started = pthread_create(&thread, &attributes, run_on_thread,
	                            &words) == 0;
	pthread_attr_destroy(&attributes);
	if (!is_started) {
		pthread_sigmask(SIG_SETMASK, &words.signals, NULL);
		return run_words(argc, argv);
	}
	pthread_join(thread, NULL);
	return words.status;
}

int
main(int argc, char **argv)
{
	struct rlimit stack;

	keep_standard_numbers();
	return getrlimit(RLIMIT_STACK, &stack) == 0 &&
	    stack.rlim_cur < LEAST_STACK ? run_on_large_stack(argc, argv) :
	    run_words(argc, argv);
}
