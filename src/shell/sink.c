/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sink.c -- where a command's output goes. */
#include "src/shell/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/shell/child.h"
#include "src/shell/terminal.h"

/* LESS=FRX, unless the user has a LESS, is what git does too. */
static const char *
pager_command(void)
{
	const char *pager = getenv("PAGER");

	setenv("LESS", "FRX", 0);
	return pager == NULL ? "less" : pager;
}

static bool
has_pager(const struct session *session)
{
	const char *pager = pager_command();

	return session->is_interactive && session->settings.has_pager &&
	    terminal_is_output() && *pager != '\0' &&
	    strcmp(pager, "cat") != 0;
}

/* A pager that does not start is no reason to show nothing. */
static void
start_pager(struct sink *sink)
{
	struct error error = { 0 };

	sink->target = pager_command();
	if (child_start(sink->target, true, &sink->descriptor, &sink->child,
	                &error) != 0) {
		sink->descriptor = STDOUT_FILENO;
		sink->child = 0;
	}
}

static int
release_held(struct sink *sink)
{
	int status = write_to_descriptor(&sink->descriptor, sink->held.bytes,
	                                 sink->held.length);

	text_free(&sink->held);
	return status;
}

/* Holds the output back until it is longer than the screen. */
static int
write_to_screen(void *context, const char *bytes, size_t n)
{
	struct sink *sink = context;
	int status = 0;

	if (sink->descriptor < 0) {
		for (size_t i = 0; i < n && sink->lines_left > 0; i++)
			sink->lines_left -= bytes[i] == '\n';
		if (sink->lines_left > 0) {
			text_add(&sink->held, bytes, n);
			return sink->held.failed ? ENOMEM : 0;
		}
		start_pager(sink);
		status = release_held(sink);
	}
	return status != 0 ? status
	    : write_to_descriptor(&sink->descriptor, bytes, n);
}

static int
open_target(struct sink *sink, struct error *error)
{
	int how = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY;

	if (sink->redirect == REDIRECT_PIPE)
		return child_start(sink->target, true, &sink->descriptor,
		                   &sink->child, error);
	how |= sink->redirect == REDIRECT_APPEND ? O_APPEND : O_TRUNC;
	sink->descriptor = open(sink->target, how, 0666);
	if (sink->descriptor >= 0)
		return 0;
	return error_set(error, "%.200s: %s", sink->target, strerror(errno));
}

int
sink_open(struct sink *sink, const struct session *session,
          enum redirect redirect, const char *target, struct error *error)
{
	size_t columns;

	sink->redirect = redirect;
	sink->target = target;
	sink->child = 0;
	sink->descriptor = STDOUT_FILENO;
	sink->held = (struct text_buffer){ 0 };
	sink->is_terminal = redirect == REDIRECT_NONE && terminal_is_output();
	writer_start(&sink->writer, write_to_descriptor, &sink->descriptor);
	if (redirect != REDIRECT_NONE)
		return open_target(sink, error);
	if (has_pager(session)) {
		terminal_size(&columns, &sink->lines_left);
		sink->descriptor = -1;
		writer_start(&sink->writer, write_to_screen, sink);
	}
	return 0;
}

/* Who reads a pipe or the pager may stop when it has seen enough. */
static int
report_writing(const struct sink *sink, struct session *session, int status,
               struct error *error)
{
	bool is_output = sink->descriptor == STDOUT_FILENO;

	if (is_output)
		session->output_lost = true;
	if (status == EPIPE)
		return is_output ? -1 : 0;
	return error_set(error, "%.200s: %s",
	                 is_output ? "standard output" : sink->target,
	                 strerror(status));
}

int
sink_close(struct sink *sink, struct session *session, struct error *error)
{
	struct error ignored = { 0 };
	int status = writer_flush(&sink->writer), result = 0;

	if (sink->descriptor < 0) {
		sink->descriptor = STDOUT_FILENO;
		if (status == 0)
			status = release_held(sink);
	}
	text_free(&sink->held);
	if (sink->descriptor != STDOUT_FILENO &&
	    close(sink->descriptor) != 0 && status == 0)
		status = errno;
	if (status != 0)
		result = report_writing(sink, session, status, error);
	if (sink->child != 0 && sink->redirect == REDIRECT_PIPE) {
		if (child_end(sink->target, sink->child, error) != 0)
			result = -1;
	} else if (sink->child != 0) {
		/* How the pager ends is between it and the user. */
		child_end(sink->target, sink->child, &ignored);
	}
	return result;
}
