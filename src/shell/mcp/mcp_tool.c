/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mcp_tool.c -- the tools of `cpprof mcp`: each call is another cpprof.
 *
 * A profile may be large or hostile, and a command may take long.  A process of
 * its own can be ended, and leaves nothing behind.
 */
#include "src/shell/mcp/mcp.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/memory.h"
#include "src/base/own_file.h"

enum {
	WORDS_DEFAULT = 800,
	WORDS_OF_PROGRAM = 100,		/* of what a recorded one prints */
	OUTPUT_MAX = 8 << 20,		/* bytes that are kept */
	SECONDS_MAX = 600,		/* of a call */
	POLL_MS = 100,
};

extern char **environ;

/* ---- the words of another cpprof ---- */

static void
add_word(struct mcp_list *words, const char *word, struct error *error)
{
	mcp_list_add(words, word, strlen(word), error);
}

/* Each preceded by an option. */
static void
add_options(struct mcp_list *words, const char *option,
            const struct mcp_list *values, struct error *error)
{
	for (size_t i = 0; i < values->n; i++) {
		add_word(words, option, error);
		add_word(words, values->items[i], error);
	}
}

static void
add_all(struct mcp_list *words, const struct mcp_list *more,
        struct error *error)
{
	for (size_t i = 0; i < more->n; i++)
		add_word(words, more->items[i], error);
}

/* The words of posix_spawn end with NULL. */
static char **
end_words(struct mcp_list *words, struct error *error)
{
	if (memory_grow(&words->items, &words->capacity, words->n + 1,
	                sizeof *words->items, error) != 0)
		return NULL;
	words->items[words->n] = NULL;
	return words->items;
}

/* ---- running it ---- */

/* The process group that runs, for the handler; 0: none. */
static volatile sig_atomic_t running;

/* Ends it with this process. */
static void
mcp_end(int number)
{
	if (running != 0)
		kill(-(pid_t)running, SIGKILL);
	signal(number, SIG_DFL);
	raise(number);
}

struct mcp_child {
	pid_t pid;
	int output;
	bool is_ended;			/* by us, and not by itself */
	const char *why;		/* was it ended */
};

/* The signals that end this process, and with it what runs. */
static const int mcp_ends[] = { SIGTERM, SIGHUP, SIGINT };

enum { N_ENDS = sizeof mcp_ends / sizeof *mcp_ends };

/*
 * In a process group of its own, so that all of it can be ended.  A signal that
 * comes meanwhile is handled once it is known what runs.
 */
static int
mcp_child_start(struct mcp_child *child, char *const *words,
                struct error *error)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t ends_us, before, reset;
	int ends[2], why;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_set(error, "%s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
	                                 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	posix_spawnattr_init(&attributes);
	sigemptyset(&reset);
	sigaddset(&reset, SIGPIPE);
	sigemptyset(&ends_us);
	for (int i = 0; i < N_ENDS; i++)
		sigaddset(&ends_us, mcp_ends[i]);
	pthread_sigmask(SIG_BLOCK, &ends_us, &before);
	posix_spawnattr_setsigmask(&attributes, &before);
	posix_spawnattr_setsigdefault(&attributes, &reset);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
	                         POSIX_SPAWN_SETSIGMASK |
	                         POSIX_SPAWN_SETSIGDEF);
	why = posix_spawn(&child->pid, "/proc/self/exe", &actions, &attributes,
	                  words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	child->output = ends[0];
	if (why == 0) {
		running = child->pid;
		for (int i = 0; i < N_ENDS; i++)
			signal(mcp_ends[i], mcp_end);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (why == 0)
		return 0;
	close(ends[0]);
	return error_set(error, "cpprof: %s", strerror(why));
}

static void
mcp_child_kill(struct mcp_child *child, const char *why)
{
	if (child->is_ended)
		return;
	child->is_ended = true;
	child->why = why;
	kill(-child->pid, SIGKILL);
}

/*
 * Collects what it prints until it has ended; returns its exit status, or -1.
 * What it started may hold the output open, so that is not waited for.
 */
static int
mcp_child_wait(struct mcp_child *child, bool (*is_cancelled)(void *),
               void *context, struct text_buffer *text)
{
	const int64_t end = clock_ms() + (int64_t)SECONDS_MAX * 1000;
	struct pollfd ready = { .fd = child->output, .events = POLLIN };
	bool has_ended = false;
	char bytes[65536];
	int status = 0;

	for (;;) {
		const int n_ready = poll(&ready, 1, has_ended ? 0 : POLL_MS);
		ssize_t n = n_ready > 0 ? read(child->output, bytes,
		                               sizeof bytes) : 0;

		if (n > 0 && text->length < OUTPUT_MAX)
			text_add(text, bytes, (size_t)n);
		if (n_ready > 0 && n <= 0)
			ready.fd = -1;		/* closed */
		if (has_ended && n <= 0)
			break;
		if (is_cancelled(context))
			mcp_child_kill(child, "cancelled");
		else if (clock_ms() > end)
			mcp_child_kill(child, "ended after 10 minutes");
		if (!has_ended)
			has_ended = waitpid(child->pid, &status, WNOHANG) ==
			    child->pid;
	}
	close(child->output);
	running = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Adds whole lines of output up to so many words, and says what is left out. */
static void
add_words(struct text_buffer *text, const struct text_buffer *output,
          size_t most)
{
	const char *at = output->bytes;
	const char *end = output->length > 0 ? at + output->length : at;
	size_t n_words = 0, n_left = 0;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const size_t n = newline != NULL ? (size_t)(newline - at) + 1 :
		                 (size_t)(end - at);

		n_words += text_count_words(at, n);
		if (n_words <= most)
			text_add(text, at, n);
		else
			n_left++;
		at += n;
	}
	if (n_left > 0)
		text_add_format(text, "[%zu more lines: raise max_words, or "
		                "ask for less, as with limit 10]\n", n_left);
}

/* Runs cpprof, and adds its answer. */
static bool
run_words(struct mcp_list *words, size_t most, bool (*is_cancelled)(void *),
          void *context, struct text_buffer *text, struct error *error)
{
	char **argv = error->is_set ? NULL : end_words(words, error);
	struct text_buffer output = { 0 };
	struct mcp_child child = { 0 };
	int status = -1;

	if (argv != NULL && mcp_child_start(&child, argv, error) == 0) {
		status = mcp_child_wait(&child, is_cancelled, context,
		                        &output);
		add_words(text, &output, most);
		if (child.why != NULL)
			text_add_format(text, "[%s]\n", child.why);
		else if (status < 0)
			text_add_string(text, "[cpprof was ended by a "
			                "signal]\n");
	}
	text_free(&output);
	return status == 0;
}

/* ---- the tools ---- */

static bool
has_control(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ')
			return true;
	return false;
}

static size_t
words_wanted(const struct mcp_message *message)
{
	return message->max_words != 0 ? (size_t)message->max_words :
	       WORDS_DEFAULT;
}

static void
ask_words(const struct mcp_list *profile, const struct mcp_list *base,
          const struct mcp_list *commands, const struct mcp_rights *rights,
          struct mcp_list *words, struct error *error)
{
	add_word(words, "cpprof", error);
	add_word(words, "-q", error);
	add_word(words, "-n", error);
	add_word(words, "--keep-going", error);
	if (!rights->may_write)
		add_word(words, "--read-only", error);
	add_options(words, "--directories", &rights->directories, error);
	if (rights->symfs != NULL) {
		add_word(words, "--symfs", error);
		add_word(words, rights->symfs, error);
	}
	add_options(words, "--base", base, error);
	add_options(words, "-e", commands, error);
	add_word(words, "--", error);
	add_all(words, profile, error);
}

static bool
tool_ask(const struct mcp_message *message, const struct mcp_rights *rights,
         bool (*is_cancelled)(void *), void *context, struct text_buffer *text,
         struct error *error)
{
	static char explain[] = "explain";
	char *item = explain;
	const struct mcp_list alone = { &item, 1, 1 };
	const struct mcp_list *commands = message->commands.n > 0 ?
	    &message->commands : &alone;
	struct mcp_list words = { 0 };
	bool result = false;

	if (message->profile.n == 0)
		error_set(error, "profile: expected a path");
	for (size_t i = 0; i < message->profile.n; i++)
		if (strcmp(message->profile.items[i], "-") == 0)
			error_set(error, "profile: standard input cannot be "
			          "a profile here");
	for (size_t i = 0; i < commands->n; i++)
		if (has_control(commands->items[i]))
			error_set(error, "commands: expected one line each");
	ask_words(&message->profile, &message->base, commands, rights, &words,
	          error);
	if (!error->is_set)
		result = run_words(&words, words_wanted(message), is_cancelled,
		                   context, text, error);
	mcp_list_free(&words);
	return result;
}

/* A new directory for a recording; owned.  NULL with *error set. */
static char *
mcp_make_output(struct error *error)
{
	const char *folder = getenv("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/cpprof-XXXXXX", folder != NULL &&
	             *folder == '/' ? folder : "/tmp") < 0) {
		error_out_of_memory(error);
		return NULL;
	}
	if (mkdtemp(path) != NULL)
		return path;
	error_set(error, "%s: %s", path, strerror(errno));
	free(path);
	return NULL;
}

/*
 * Makes the directory of that name, which must be new: what is in it afterwards
 * is the recording, and not an older one.
 */
static int
mcp_make_named_output(const char *path, struct error *error)
{
	struct own_place place;
	int result;

	if (own_place_open(&place, path, OWN_NOTHING, 0, error) != 0)
		return -1;
	result = mkdirat(place.directory, place.name, 0700);
	if (result != 0 && errno == EEXIST)
		error_set(error, "output: %.300s is there already; name a new "
		          "directory, or none", path);
	else if (result != 0)
		error_set(error, "output: %.300s: %s", path, strerror(errno));
	own_place_close(&place);
	return result;
}

static void
record_words(const struct mcp_message *message, const char *output,
             struct mcp_list *words, struct error *error)
{
	char number[32];

	add_word(words, "cpprof", error);
	add_word(words, "record", error);
	add_word(words, "--no-prompt", error);
	add_word(words, "-o", error);
	add_word(words, output, error);
	add_options(words, "-r", &message->resources, error);
	if (message->pid != 0) {
		snprintf(number, sizeof number, "%ju",
		         (uintmax_t)message->pid);
		add_word(words, "-p", error);
		add_word(words, number, error);
		snprintf(number, sizeof number, "%jus", (uintmax_t)
		         (message->seconds != 0 ? message->seconds : 10));
		add_word(words, "--for", error);
		add_word(words, number, error);
	} else {
		add_word(words, "--", error);
		add_all(words, &message->program, error);
	}
}

static bool
tool_record(const struct mcp_message *message, const struct mcp_rights *rights,
            bool (*is_cancelled)(void *), void *context,
            struct text_buffer *text, struct error *error)
{
	static char explain[] = "explain";
	struct mcp_message ask = *message;
	struct mcp_list words = { 0 };
	char *own = NULL, *item = explain, *output = message->output;
	bool result = false;

	if ((message->pid != 0) == (message->program.n > 0))
		error_set(error, "expected a program, or a pid");
	else if (message->seconds != 0 && message->pid == 0)
		error_set(error, "seconds: only with a pid");
	else if (output == NULL)
		output = own = mcp_make_output(error);
	else
		mcp_make_named_output(output, error);
	if (!error->is_set)
		record_words(message, output, &words, error);
	if (!error->is_set)
		result = run_words(&words, WORDS_OF_PROGRAM, is_cancelled,
		                   context, text, error);
	mcp_list_free(&words);
	/* Without a recording it is empty, and goes. */
	if (!error->is_set && rmdir(output) == 0) {
		text_add_string(text, "[nothing was recorded]\n");
		result = false;
	} else if (!error->is_set && !is_cancelled(context)) {
		text_add_format(text, "\nprofile: %s\n", output);
		ask.profile = (struct mcp_list){ &output, 1, 1 };
		ask.base = (struct mcp_list){ 0 };
		ask.commands = (struct mcp_list){ &item, 1, 1 };
		result &= tool_ask(&ask, rights, is_cancelled, context, text,
		                   error);
	}
	free(own);
	return result;
}

static const struct mcp_tool {
	const char *name, *json;	/* what tools/list says of it */
	bool (*run)(const struct mcp_message *message,
	            const struct mcp_rights *rights,
	            bool (*is_cancelled)(void *), void *context,
	            struct text_buffer *text, struct error *error);
} tools[] = {
	{ "ask",
	  "\"title\":\"Ask about a profile\",\"description\":\"Runs commands of "
	  "cpprof on a profile: what cpprof record wrote, or a file of perf, "
	  "pprof, Callgrind, gprof, V8, Firefox, speedscope, collapsed stacks "
	  "and others. Begin without commands: `explain` says where the "
	  "resource goes, how large the error is, and which commands to run "
	  "next. Then: functions (what), up FUNCTION (who calls it), down "
	  "FUNCTION (what it calls), list FUNCTION (its lines), narrow PATTERN, "
	  "specialise, and with a base diff (what changed by more than noise). "
	  "`help` lists all commands, `help COMMAND` one.\","
	  "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
	  "\"profile\":{\"description\":\"its path; several are added up\","
	  "\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{"
	  "\"type\":\"string\"},\"minItems\":1}]},"
	  "\"base\":{\"description\":\"the run, or runs, to compare it with\","
	  "\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{"
	  "\"type\":\"string\"}}]},"
	  "\"commands\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
	  "\"description\":\"run in this order, as at the prompt; without them "
	  "explain\"},"
	  "\"max_words\":{\"type\":\"integer\",\"minimum\":1,\"default\":800,"
	  "\"description\":\"lines beyond them are left out\"}},"
	  "\"required\":[\"profile\"]}", tool_ask },
	{ "record",
	  "\"title\":\"Record a program\",\"description\":\"Runs a program, or "
	  "watches a process, records where it uses CPU time or another "
	  "resource, and explains the recording, whose path it gives for "
	  "ask.\","
	  "\"inputSchema\":{\"type\":\"object\",\"properties\":{"
	  "\"program\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
	  "\"description\":\"the program and its arguments\"},"
	  "\"pid\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"a "
	  "process that runs already, instead of a program\"},"
	  "\"seconds\":{\"type\":\"integer\",\"minimum\":1,\"default\":10,"
	  "\"description\":\"how long to watch the process\"},"
	  "\"resources\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
	  "\"description\":\"cpu (the default), real, page-faults, live and "
	  "others\"},"
	  "\"output\":{\"type\":\"string\",\"description\":\"a new directory "
	  "for the recording\"},"
	  "\"max_words\":{\"type\":\"integer\",\"minimum\":1,\"default\":800}"
	  "}}", tool_record },
};

enum { N_TOOLS = sizeof tools / sizeof *tools };

static bool
mcp_is_allowed(const struct mcp_tool *tool, const struct mcp_rights *rights)
{
	return tool->run != tool_record || rights->may_record;
}

void
mcp_tools_add(const struct mcp_rights *rights, struct text_buffer *text)
{
	text_add_char(text, '[');
	for (size_t i = 0; i < N_TOOLS; i++) {
		const bool is_record = tools[i].run == tool_record;

		if (!mcp_is_allowed(&tools[i], rights))
			continue;
		text_add_format(text, "%s{\"name\":\"%s\",%s,\"annotations\":"
		                "{\"readOnlyHint\":%s,\"openWorldHint\":%s}}",
		                i > 0 ? "," : "", tools[i].name, tools[i].json,
		                is_record || rights->may_write ? "false" :
		                "true", is_record ? "true" : "false");
	}
	text_add_char(text, ']');
}

bool
mcp_tool_run(const struct mcp_message *message,
             const struct mcp_rights *rights,
             bool (*is_cancelled)(void *context), void *context,
             struct text_buffer *text, struct error *error)
{
	for (size_t i = 0; message->tool != NULL && i < N_TOOLS; i++)
		if (strcmp(tools[i].name, message->tool) == 0) {
			if (mcp_is_allowed(&tools[i], rights))
				return tools[i].run(message, rights,
				    is_cancelled, context, text, error);
			error_set(error, "%s: not allowed; start cpprof mcp "
			          "--allow-record", message->tool);
			return false;
		}
	error_set(error, "there is no tool %s", message->tool != NULL ?
	          message->tool : "without a name");
	return false;
}
