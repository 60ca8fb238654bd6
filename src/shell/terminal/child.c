/* SPDX-License-Identifier: GPL-3.0-or-later */
/* child.c -- finds programs, and runs the shell commands of the user. */
#include "src/shell/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/memory.h"
#include "src/base/text_buffer.h"
#include "src/base/writer.h"

extern char **environ;

static bool
is_executable(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	       access(path, X_OK) == 0;
}

int
child_find_program(const char *program, char *path, size_t size,
                   struct error *error)
{
	const char *folders = getenv("PATH");

	if (strchr(program, '/') != NULL) {
		struct stat status;

		if (stat(program, &status) != 0)
			return error_set(error, "%s: %s", program,
			                 strerror(errno));
		if (!is_executable(program))
			return error_set(error, "%s: not an executable file",
			                 program);
		if ((size_t)snprintf(path, size, "%s", program) >= size)
			return error_set(error, "%s: path too long", program);
		return 0;
	}
	if (folders == NULL)
		folders = "/usr/local/bin:/usr/bin:/bin";
	while (*program != '\0') {
		int length = (int)strcspn(folders, ":");

		if ((size_t)snprintf(path, size, "%.*s%s%s", length, folders,
		                     length > 0 ? "/" : "./", program) < size &&
		    is_executable(path))
			return 0;
		if (folders[length] == '\0')
			break;
		folders += length + 1;
	}
	return error_set(error, "%s: no such program in PATH", program);
}

/* file: a path, or a name along PATH. */
static int
spawn(const char *file, char *const *arguments,
      const posix_spawn_file_actions_t *actions, pid_t *child)
{
	posix_spawnattr_t attributes;
	int status = posix_spawnattr_init(&attributes);
	sigset_t all, none;

	if (status != 0)
		return status;
	/*
	 * The command ignores, catches and blocks no signal that only we need.
	 */
	sigemptyset(&none);
	sigemptyset(&all);
	sigaddset(&all, SIGPIPE);
	sigaddset(&all, SIGINT);
	sigaddset(&all, SIGQUIT);
	sigaddset(&all, SIGTSTP);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF |
	                         POSIX_SPAWN_SETSIGMASK);
	status = posix_spawnp(child, file, actions, &attributes, arguments,
	                      environ);
	posix_spawnattr_destroy(&attributes);
	return status;
}

int
child_start(const char *command, bool may_read, int *input, pid_t *child,
            struct error *error)
{
	char shell[] = "sh", flag[] = "-c";
	char *arguments[] = { shell, flag, (char *)command, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2] = { -1, -1 }, status;

	if (read_only_check(command, error) != 0)
		return -1;
	if (input != NULL && pipe2(ends, O_CLOEXEC) != 0)
		return error_set(error, "%.200s: %s", command,
		                 strerror(errno));
	posix_spawn_file_actions_init(&actions);
	if (input != NULL)
		posix_spawn_file_actions_adddup2(&actions, ends[0],
		                                 STDIN_FILENO);
	else if (!may_read)
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO,
		                                 "/dev/null", O_RDONLY, 0);
	status = spawn("/bin/sh", arguments, &actions, child);
	posix_spawn_file_actions_destroy(&actions);
	if (input != NULL) {
		close(ends[0]);
		*input = ends[1];
	}
	if (status == 0)
		return 0;
	if (input != NULL)
		close(ends[1]);
	return error_set(error, "%.200s: %s", command, strerror(status));
}

int
child_end(const char *command, pid_t child, struct error *error)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(error, "%.200s: %s", command,
			                 strerror(errno));
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE)
		return error_set(error, "%.200s: ended by signal %d (%s)",
		                 command, WTERMSIG(status),
		                 strsignal(WTERMSIG(status)));
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		return error_set(error, "%.200s: exit status %d", command,
		                 WEXITSTATUS(status));
	return 0;
}

/* Reads a pipe to its end; 0, or an errno. */
static int
child_read_all(int descriptor, size_t most, struct text_buffer *output)
{
	char bytes[1 << 16];
	ssize_t n;

	while ((n = read(descriptor, bytes, sizeof bytes)) != 0) {
		if (n < 0 && errno == EINTR && !interrupt_requested)
			continue;
		if (n < 0)
			return errno;
		if (output->length + (size_t)n > most)
			return EFBIG;
		text_add(output, bytes, (size_t)n);
	}
	return output->failed ? ENOMEM : 0;
}

int
child_read(const char *const *words, size_t n, size_t most,
           struct text_buffer *output, int *status, struct error *error)
{
	char **arguments = memory_array(n + 1, sizeof *arguments, error);
	posix_spawn_file_actions_t actions;
	int ends[2], failure;
	pid_t child;

	if (arguments == NULL)
		return -1;
	memcpy(arguments, words, n * sizeof *words);
	if (read_only_check(words[0], error) != 0 ||
	    pipe2(ends, O_CLOEXEC) != 0) {
		free(arguments);
		return error_set(error, "%.200s: %s", words[0],
		                 strerror(errno));
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
	                                 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
	                                 O_WRONLY, 0);
	failure = spawn(words[0], arguments, &actions, &child);
	posix_spawn_file_actions_destroy(&actions);
	free(arguments);
	close(ends[1]);
	if (failure == 0) {
		failure = child_read_all(ends[0], most, output);
		/* One that still writes ends by SIGPIPE. */
		close(ends[0]);
		while (waitpid(child, status, 0) < 0 && errno == EINTR)
			;
	} else {
		close(ends[0]);
	}
	return failure == 0 ? 0 :
	    error_set(error, "%.200s: %s", words[0], strerror(failure));
}
