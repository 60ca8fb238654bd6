/* SPDX-License-Identifier: GPL-3.0-or-later */
/* offers.c -- asks the collector, and reads its answer. */
#include "src/shell/record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cpprof-environment.h"
#include "src/base/memory.h"

enum { MAX_ANSWER = 65536, MAX_VARIABLES = 8 };

/* The variables of the program that asks; NULL at the end of variables[]. */
static void
set_variables(struct text_buffer *text, const char *library,
              const char *resources, bool is_random, bool is_inside,
              char *variables[MAX_VARIABLES])
{
	const char *path = getenv("LD_LIBRARY_PATH");
	size_t n = 0;

	text_add_format(text, "LD_PRELOAD=%s%c", library, '\0');
	text_add_format(text, CPPROF_ENVIRONMENT_OFFER "=%s%c", is_inside ?
	                CPPROF_OFFER_INSIDE : "1", '\0');
	/* See set_environment in launch.c. */
	text_add_format(text, "ASAN_OPTIONS=verify_asan_link_order=0%c", '\0');
	if (path != NULL)
		text_add_format(text, "LD_LIBRARY_PATH=%s%c", path, '\0');
	if (resources != NULL)
		text_add_format(text, CPPROF_ENVIRONMENT_RESOURCES "=%s%c",
		                resources, '\0');
	if (is_random)
		text_add_format(text, CPPROF_ENVIRONMENT_RANDOM "=1%c", '\0');
	for (size_t at = 0; at < text->length && n < MAX_VARIABLES - 1;
	     at += strlen(text->bytes + at) + 1)
		variables[n++] = text->bytes + at;
	variables[n] = NULL;
}

/* Starts this program again, with what it writes going to `output`. */
static int
offers_start(const char *library, const char *resources, bool is_random,
             bool is_inside, int output, pid_t *pid, struct error *error)
{
	static char name[] = "cpprof";
	char *words[] = { name, NULL }, *variables[MAX_VARIABLES];
	struct text_buffer text = { 0 };
	posix_spawn_file_actions_t actions;
	int why = ENOMEM;

	set_variables(&text, library, resources, is_random, is_inside,
	              variables);
	if (!text.failed && posix_spawn_file_actions_init(&actions) == 0) {
		posix_spawn_file_actions_adddup2(&actions, output,
		                                 STDOUT_FILENO);
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO,
		                                 "/dev/null", O_RDONLY, 0);
		why = posix_spawn(pid, "/proc/self/exe", &actions, NULL,
		                  words, variables);
		if (why == ENOENT)	/* there is no /proc */
			why = posix_spawn(pid, (const char *)
			    getauxval(AT_EXECFN), &actions, NULL, words,
			    variables);
		posix_spawn_file_actions_destroy(&actions);
	}
	text_free(&text);
	return why == 0 ? 0 :
	    error_set(error, "asking the collector: %s", strerror(why));
}

/* Cuts the next field off, at a tab or the line's end. */
static const char *
offers_next_field(char **at)
{
	char *field = *at;
	size_t length = strcspn(field, "\t\n");

	*at = field + length;
	if (**at != '\0')
		*(*at)++ = '\0';
	return field;
}

/*
 * The answer has a line for each resource: NAME, SOURCE, "coarse" or "",
 * "random" or "", WHY.
 */
int
offers_ask(struct offers *offers, const char *library, const char *resources,
           bool is_random, bool is_inside, struct error *error)
{
	struct text_buffer *text = &offers->text;
	int ends[2], status = 0, result;
	char bytes[4096], *at;
	pid_t pid;
	ssize_t n;

	*offers = (struct offers){ 0 };
	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_set(error, "pipe: %s", strerror(errno));
	result = offers_start(library, resources, is_random, is_inside,
	                      ends[1], &pid, error);
	close(ends[1]);
	if (result == 0) {
		do {
			n = read(ends[0], bytes, sizeof bytes);
			if (n > 0 && text->length < MAX_ANSWER)
				text_add(text, bytes, (size_t)n);
		} while (n > 0 || (n < 0 && errno == EINTR));
		text_add_char(text, '\0');
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	if (result != 0)
		return -1;
	if (text->failed)
		return error_set(error, "out of memory");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 ||
	    text->length <= 1)
		return error_set(error, "the collector %s does not answer",
		                 library);
	for (at = text->bytes; *at != '\0';) {
		struct offer *offer;

		if (memory_grow(&offers->items, &offers->capacity,
		                offers->n + 1, sizeof *offer, error) != 0)
			return -1;
		offer = &offers->items[offers->n++];
		offer->name = offers_next_field(&at);
		offer->source = offers_next_field(&at);
		offer->is_coarse = *offers_next_field(&at) != '\0';
		offer->can_be_random = *offers_next_field(&at) != '\0';
		offer->why = offers_next_field(&at);
	}
	return 0;
}

void
offers_free(struct offers *offers)
{
	free(offers->items);
	text_free(&offers->text);
}
