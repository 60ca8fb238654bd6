/* SPDX-License-Identifier: MIT */
/* proc.c -- reads files in /proc. */
#include "lib/base/proc.h"

#include <string.h>

#include "lib/base/files.h"

const char *
proc_of_process(char path[static PROC_PATH_SIZE], uint32_t pid)
{
	files_put_number(stpcpy(path, "/proc/"), pid);
	return path;
}

const char *
proc_of_thread(char path[static PROC_PATH_SIZE], uint32_t tid)
{
	files_put_number(stpcpy(path, "/proc/self/task/"), tid);
	return path;
}

static bool
proc_read(const char *directory, const char *file, char *text, size_t size)
{
	char path[PROC_PATH_SIZE + 16];

	stpcpy(stpcpy(path, directory), file);
	return files_read_start(path, text, size) > 0;
}

/* The fields of a line from *at on, separated by blanks: skips n of them. */
static void
proc_skip_fields(const char **at, unsigned n)
{
	for (; n > 0 && **at != '\0'; n--) {
		while (**at != ' ' && **at != '\0')
			++*at;
		if (**at == ' ')
			++*at;
	}
}

bool
proc_read_state(const char *directory, struct proc_state *state)
{
	char text[512];
	const char *at;

	if (!proc_read(directory, "/stat", text, sizeof text))
		return false;
	at = strrchr(text, ')');	/* the name may have any */
	if (at == NULL || at[1] != ' ')
		return false;
	at += 2;
	state->state = *at;
	proc_skip_fields(&at, 17);	/* from the 3rd to the 20th */
	state->n_threads = files_take_number(&at);
	proc_skip_fields(&at, 19);	/* to the 39th */
	state->processor = files_take_number(&at);
	return *at == ' ';
}

bool
proc_read_schedule(const char *directory, struct proc_schedule *schedule)
{
	char text[64];
	const char *at = text;

	if (!proc_read(directory, "/schedstat", text, sizeof text))
		return false;
	schedule->ran_ns = files_take_number(&at);
	proc_skip_fields(&at, 1);
	schedule->waited_ns = files_take_number(&at);
	proc_skip_fields(&at, 1);
	schedule->n_runs = files_take_number(&at);
	return *at == '\n';
}

bool
proc_read_waits(const char *directory, uint64_t *n)
{
	static const char name[] = "\nvoluntary_ctxt_switches:\t";
	char text[2048];
	const char *at;

	if (!proc_read(directory, "/status", text, sizeof text))
		return false;
	at = strstr(text, name);
	if (at == NULL)
		return false;
	at += sizeof name - 1;
	*n = files_take_number(&at);
	return *at == '\n';
}
