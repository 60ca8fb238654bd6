/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prompt.c -- the command loop at a terminal.
 *
 * Uses readline's callback interface, so that the waiting is done here: signals
 * are blocked except while ppoll waits, and are handled after it, never inside
 * readline.  So Ctrl-C clears the line, Ctrl-Z leaves the terminal as it was
 * before, and SIGTERM and SIGHUP end the loop as Ctrl-D does.  SIGQUIT (Ctrl-\)
 * is for the programs that commands run; the prompt ignores it.
 */
#include "src/shell/input/input.h"

#include <errno.h>
#include <poll.h>
#include <readline/history.h>
#include <readline/readline.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/progress.h"
#include "src/base/text_buffer.h"
#include "src/shell/command/command.h"
#include "src/shell/command/interpret.h"
#include "src/shell/terminal/terminal.h"

/* Global, because readline's callbacks get no context. */
static struct session *current_session;
static char *typed_line;
static bool line_is_ready;
static volatile sig_atomic_t window_changed, stop_requested, end_requested;

/* The signal mask while waiting. */
static sigset_t unblocked;

static void
note_signal(int number)
{
	if (number == SIGINT)
		interrupt_requested = 1;
	else if (number == SIGWINCH)
		window_changed = 1;
	else if (number == SIGTSTP)
		stop_requested = 1;
	else if (number != SIGQUIT)
		end_requested = interrupt_requested = 1;
}

/*
 * SIGTSTP comes first: it is caught only at the prompt, so that Ctrl-Z stops
 * a command and a pager together.
 */
static const int watched[] = {
	SIGTSTP, SIGINT, SIGQUIT, SIGWINCH, SIGTERM, SIGHUP
};

enum { N_WATCHED = sizeof watched / sizeof *watched };

static void
catch_signal(int number, struct sigaction *saved)
{
	struct sigaction action = { .sa_handler = note_signal };

	sigemptyset(&action.sa_mask);
	sigaction(number, &action, saved);
}

/*
 * Reads a key.  After Ctrl-C it returns 'n', the answer to a question while
 * matches are listed; elsewhere the line is cleared, and the key with it.
 */
static int
wait_for_key(FILE *stream)
{
	struct pollfd input = { fileno(stream), POLLIN, 0 };

	while (ppoll(&input, 1, NULL, &unblocked) < 0 && errno == EINTR)
		if (interrupt_requested || end_requested)
			return 'n';
	return rl_getc(stream);
}

static bool
wants_to_see(int n)
{
	int key;

	if (rl_completion_query_items <= 0 || n < rl_completion_query_items)
		return true;
	rl_crlf();
	fprintf(rl_outstream, "Display all %d possibilities? (y or n)", n);
	fflush(rl_outstream);
	key = rl_read_key();
	if (key == 'y' || key == 'Y' || key == ' ')
		return true;
	rl_crlf();
	return false;
}

/*
 * With the callback interface, readline neither asks nor pages by itself,
 * because both wait for a key.  With wait_for_key they can wait.
 */
static void
list_matches(char **matches, int n, int longest)
{
	if (wants_to_see(n)) {
		RL_UNSETSTATE(RL_STATE_CALLBACK);
		rl_display_match_list(matches, n, longest);
		RL_SETSTATE(RL_STATE_CALLBACK);
	}
	rl_forced_update_display();
}

static struct completion completion;

/* The > of a redirection, if the file name follows without a blank. */
static const char *lead;
static size_t lead_length;

static char *
with_lead(const char *text)
{
	char *word;

	return asprintf(&word, "%.*s%s", (int)lead_length, lead, text) < 0 ?
	    NULL : word;
}

/*
 * The candidates as readline takes them, after what replaces text.  Readline's
 * own function would look for what all have in common.
 */
static char **
list_candidates(const char *text)
{
	char **matches = calloc(completion.n + 2, sizeof *matches);
	size_t n = 0;

	if (matches == NULL)
		return NULL;
	matches[n++] = completion.common != NULL ?
	    with_lead(completion.common) : strdup(text);
	for (size_t i = 0; completion.n > 1 && i < completion.n &&
	     matches[n - 1] != NULL; i++)
		matches[n++] = with_lead(completion.candidates[i].text);
	if (matches[n - 1] != NULL)
		return matches;
	while (n > 0)
		free(matches[--n]);
	free(matches);
	return NULL;
}

static char **
attempt_completion(const char *text, int start, int end)
{
	char **matches = NULL;
	const char *first;

	rl_attempted_completion_over = 1;
	complete_line(&completion, current_session, rl_line_buffer,
	              (size_t)end);
	lead = rl_line_buffer + start;
	lead_length = completion.begin - (size_t)start;
	if (completion.n > 0 && completion.begin >= (size_t)start &&
	    strspn(lead, ">") >= lead_length)
		matches = list_candidates(text);
	first = completion.n > 0 ? completion.candidates[0].text : "";
	if (completion.n == 1 && completion.is_file && *first != '\0' &&
	    strchr("/|", first[strlen(first) - 1]) != NULL &&
	    strchr(first, '/') != NULL) {
		/* A directory: the user continues with a name in it. */
		rl_completion_append_character = '\0';
		rl_completion_suppress_quote = 1;
	}
	completion_free(&completion);
	return matches;
}

/* Readline calls this with a line, or with NULL after Ctrl-D. */
static void
prompt_take_line(char *line)
{
	rl_callback_handler_remove();
	typed_line = line;
	line_is_ready = true;
}

static void
handle_signals(void)
{
	if (interrupt_requested) {
		rl_callback_sigcleanup();
		rl_free_line_state();
		rl_replace_line("", 0);
		fputs("^C\n", rl_outstream);
		rl_on_new_line();
		rl_redisplay();
	}
	if (stop_requested) {
		rl_deprep_terminal();
		raise(SIGSTOP);
		rl_prep_terminal(1);
		rl_forced_update_display();
		window_changed = 1;	/* perhaps, while stopped */
	}
	if (window_changed)
		rl_resize_terminal();
	interrupt_requested = window_changed = stop_requested = 0;
}

/*
 * Reads a line, which the caller frees; NULL at the end.  Watched signals are
 * blocked except while it waits.
 */
static char *
prompt_read_line(const char *prompt)
{
	struct pollfd input = { fileno(rl_instream), POLLIN, 0 };
	struct sigaction stop;
	int ready = 0;
	sigset_t blocked;

	/* Blocks what is watched. */
	sigemptyset(&blocked);
	for (size_t i = 0; i < N_WATCHED; i++)
		sigaddset(&blocked, watched[i]);
	sigprocmask(SIG_BLOCK, &blocked, &unblocked);
	catch_signal(SIGTSTP, &stop);
	typed_line = NULL;
	line_is_ready = false;
	interrupt_requested = 0;
	rl_callback_handler_install(prompt, prompt_take_line);
	while (!line_is_ready && !end_requested &&
	       (ready >= 0 || errno == EINTR)) {
		handle_signals();
		ready = ppoll(&input, 1, NULL, &unblocked);
		if (ready > 0)
			rl_callback_read_char();
	}
	if (!line_is_ready)
		rl_callback_handler_remove();
	sigaction(SIGTSTP, &stop, NULL);
	sigprocmask(SIG_SETMASK, &unblocked, NULL);
	return typed_line;
}

/*
 * Shows what dominates a profile that was just opened, on what n_used lines and
 * the prompt leave of the screen.  What cannot be explained needs no message.
 */
static void
summarise(struct session *session, size_t n_used)
{
	size_t columns, lines;
	struct error ignored = { 0 };
	const char *view = session->first_view != NULL ? session->first_view :
	    "explain";

	session->first_view = NULL;
	if (session->subject->profile == NULL || !terminal_is_output() ||
	    session->settings.format->draw != output_text)
		return;
	terminal_size(&columns, &lines);
	interpret_beginning(session, view, lines > n_used + 1 ?
	                    lines - n_used - 1 : 1, &ignored);
	interrupt_requested = 0;
}

/* Runs a line; false if Ctrl-C interrupted it. */
static bool
run_line(struct session *session, const char *line, size_t length)
{
	struct error error = { 0 };
	const struct profile *before = session->subject->profile;
	bool was_interrupted;
	int status;

	interrupt_requested = 0;
	status = interpret_line(session, line, length, &error);
	was_interrupted = interrupt_requested != 0;
	interrupt_requested = 0;
	if (was_interrupted) {
		fputc('\n', rl_outstream);	/* after the ^C */
		fflush(rl_outstream);
	}
	if (status != 0 && error.is_set)
		message(NULL, error.text);
	session->output_lost = false;	/* the next line may work again */
	if (session->subject->profile != before && !session->is_quiet) {
		/* Above it stays the line that was typed. */
		summarise(session, 1 + describe_profile(session,
		    fileno(rl_outstream)));
	}
	return !was_interrupted;
}

/* Pasted text may have several lines; Ctrl-C ends them all. */
static void
run_lines(struct session *session, const char *lines)
{
	bool goes_on = true;

	while (goes_on && *lines != '\0' && !session->quit_requested) {
		size_t length = strcspn(lines, "\n");

		goes_on = run_line(session, lines, length);
		lines += length + (lines[length] == '\n');
	}
}

static void
set_up_readline(const struct session *session, FILE *input)
{
	rl_readline_name = "cpprof";
	rl_instream = input;
	rl_outstream = isatty(STDOUT_FILENO) ? stdout : stderr;
	rl_catch_signals = 0;
	rl_catch_sigwinch = 0;
	rl_getc_function = wait_for_key;
	rl_attempted_completion_function = attempt_completion;
	rl_completion_display_matches_hook = list_matches;
	rl_sort_completion_matches = 0;
	rl_completer_word_break_characters = " \t";
	rl_completer_quote_characters = "|";
	using_history();
	stifle_history(HISTORY_MOST);
	for (size_t i = 0; i < session->history.n; i++)
		add_history(session->history.lines[i]);
}

static void
loop(struct session *session)
{
	struct text_buffer prompt = { 0 };
	char *line;

	while (!session->quit_requested && !end_requested) {
		struct error error;
		size_t n = session->history.n;

		text_free(&prompt);
		describe_prompt(session, &prompt);
		line = prompt_read_line(text_string(&prompt));
		if (line == NULL) {
			if (!end_requested)
				fputc('\n', rl_outstream);
			break;
		}
		error = (struct error){ 0 };
		if (history_add(&session->history, line, &error) == 0 &&
		    session->history.n > n)
			add_history(line);
		run_lines(session, line);
		free(line);
	}
	fflush(rl_outstream);
	text_free(&prompt);
}

void
prompt_run(struct session *session, FILE *input)
{
	struct sigaction saved[N_WATCHED];
	struct error error = { 0 };

	current_session = session;
	session->is_interactive = true;
	if (history_load(&session->history, &error) != 0)
		message("cpprof", error.text);
	set_up_readline(session, input);
	/* Catches all but the first; old actions go to saved[N_WATCHED]. */
	sigaction(watched[0], NULL, &saved[0]);
	for (size_t i = 1; i < N_WATCHED; i++)
		catch_signal(watched[i], &saved[i]);
	if (!session->is_quiet) {
		summarise(session, describe_welcome(session,
		    fileno(rl_outstream)) + describe_commands(-1));
		describe_commands(fileno(rl_outstream));
	}
	loop(session);
	for (size_t i = 0; i < N_WATCHED; i++)
		sigaction(watched[i], &saved[i], NULL);
	error = (struct error){ 0 };
	if (history_save(&session->history, &error) != 0)
		message("cpprof", error.text);
	session->is_interactive = false;
}
