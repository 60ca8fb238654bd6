/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sink.c -- where a command's output goes.
 *
 * The pager is $PAGER or less or, on systems without less, more.  If it cannot
 * be started, the output is shown without it.
 */
#include "src/shell/command/interpret.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/shell/terminal/terminal.h"

/*
 * 0 if sh would find the program that a command begins with, or if only sh can
 * know that; else -1 with *error set.
 */
static int
check_program(const char *command, struct error *error)
{
	char program[NAME_MAX], path[PATH_MAX];
	size_t n = strcspn(command, " \t");

	if (strcspn(command, "=$`'\"\\~*?[]{}()<>|;&!\n") < n ||
	    n >= sizeof program)
		return 0;
	memcpy(program, command, n);
	program[n] = '\0';
	return child_find_program(program, path, sizeof path, error);
}

static const char *
pager_command(void)
{
	const char *pager = getenv("PAGER");
	struct error error = { 0 };

	if (pager != NULL)
		return pager;
	return check_program("less", &error) == 0 ? "less" : "more";
}

/* A dumb terminal has a pager only if the user names one. */
static bool
has_pager(const struct session *session)
{
	const char *pager = getenv("PAGER");

	if (!session->is_interactive || !session->settings.has_pager ||
	    !terminal_is_output())
		return false;
	return pager == NULL ? !terminal_is_dumb()
	    : *pager != '\0' && strcmp(pager, "cat") != 0;
}

/* Whether each output of watch replaces the one before. */
static bool
takes_screen(const struct session *session)
{
	return session->is_watching && terminal_is_output() &&
	    !terminal_is_dumb();
}

/* Like git, sets LESS=FRX unless the user has set LESS. */
static void
start_pager(struct sink *sink)
{
	struct error error = { 0 };

	setenv("LESS", "FRX", 0);
	sink->target = pager_command();
	if (check_program(sink->target, &error) == 0 &&
	    child_start(sink->target, true, &sink->descriptor, &sink->child,
	                &error) == 0)
		return;
	sink->descriptor = STDOUT_FILENO;
	sink->child = 0;
	if (getenv("PAGER") != NULL)
		message("PAGER", error.text);
}

static int
release_held(struct sink *sink)
{
	int status = write_to_descriptor(&sink->descriptor, sink->held.bytes,
	                                 sink->held.length);

	text_free(&sink->held);
	return status;
}

/* Counts lines; a line also ends where it fills the width. */
static void
take_byte(struct sink *sink, unsigned char byte)
{
	bool is_drawn = !sink->in_escape && byte >= ' ' &&
	    (byte & 0xc0) != 0x80;

	if (byte == '\033')
		sink->in_escape = true;
	else if (byte == 'm')
		sink->in_escape = false;
	if (byte == '\n' || (is_drawn && sink->column == sink->columns)) {
		sink->lines_left--;
		sink->column = 0;
	}
	sink->column += is_drawn;
}

/* Holds the output back as long as it fits the screen. */
static int
write_to_screen(void *context, const char *bytes, size_t n)
{
	struct sink *sink = context;
	int status = 0;

	if (sink->descriptor < 0) {
		size_t i;

		for (i = 0; i < n && sink->lines_left > 0; i++)
			take_byte(sink, (unsigned char)bytes[i]);
		if (sink->is_cut)
			n = i;
		if (sink->lines_left > 0 || sink->is_cut) {
			text_add(&sink->held, bytes, n);
			return sink->held.failed ? ENOMEM : 0;
		}
		start_pager(sink);
		status = release_held(sink);
	}
	return status != 0 ? status
	    : write_to_descriptor(&sink->descriptor, bytes, n);
}

int
sink_open(struct sink *sink, const struct session *session,
          enum redirect redirect, const char *target, enum sink_writer by,
          struct error *error)
{
	sink->redirect = redirect;
	sink->target = target;
	sink->child = 0;
	sink->is_new_file = false;
	sink->descriptor = STDOUT_FILENO;
	sink->held = (struct text_buffer){ 0 };
	sink->column = 0;
	sink->in_escape = false;
	sink->is_terminal = redirect == REDIRECT_NONE && terminal_is_output();
	writer_start(&sink->writer, write_to_descriptor, &sink->descriptor);
	if (redirect != REDIRECT_NONE) {
		struct own_place place;
		int how;

		if (sink->redirect == REDIRECT_PIPE)
			return child_start(sink->target, true,
			                   &sink->descriptor, &sink->child,
			                   error);
		if (sink->redirect != REDIRECT_APPEND &&
		    by == SINK_OF_COMMAND) {
			if (new_file_open(&sink->file, sink->target, error) !=
			    0)
				return -1;
			sink->is_new_file = true;
			sink->descriptor = sink->file.descriptor;
			return 0;
		}
		if (read_only_check(sink->target, error) != 0)
			return -1;
		how = sink->redirect == REDIRECT_APPEND ? O_APPEND : O_TRUNC;
		sink->descriptor = own_file_open(&place, sink->target,
		                                 OWN_NOTHING, how, 0666, error);
		return sink->descriptor < 0 ? -1 : 0;
	}
	sink->is_cut = redirect == REDIRECT_NONE && takes_screen(session);
	if (sink->is_cut || has_pager(session)) {
		terminal_size(&sink->columns, &sink->lines_left);
		/* The last line is for the cursor. */
		if (sink->is_cut && sink->lines_left > 1)
			sink->lines_left--;
		sink->descriptor = -1;
		writer_start(&sink->writer, write_to_screen, sink);
	}
	return 0;
}

/* It is no error if a pager or the reader of a pipe stops early. */
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
sink_begin_again(struct session *session, bool is_first, struct error *error)
{
	const char *text = takes_screen(session) ? "\033[H\033[J" :
	    is_first || session->settings.format != output_formats ? "" : "\n";
	struct sink sink = { .descriptor = STDOUT_FILENO };
	int status = write_to_descriptor(&sink.descriptor, text,
	                                 strlen(text));

	return status == 0 ? 0
	    : report_writing(&sink, session, status, error);
}

/* An error number, or 0. */
static int
sink_close_descriptor(struct sink *sink)
{
	return sink->descriptor == STDOUT_FILENO ||
	    close(sink->descriptor) == 0 ? 0 : errno;
}

int
sink_close(struct sink *sink, struct session *session, bool is_whole,
           struct error *error)
{
	struct error ignored = { 0 };
	int status = writer_flush(&sink->writer), result = 0;

	if (sink->descriptor < 0) {
		sink->descriptor = STDOUT_FILENO;
		if (status == 0)
			status = release_held(sink);
	}
	text_free(&sink->held);
	if (sink->is_new_file) {
		result = new_file_close(&sink->file, is_whole && status == 0,
		                        error);
	} else {
		int closed = sink_close_descriptor(sink);

		status = status == 0 ? closed : status;
	}
	if (status != 0)
		result = report_writing(sink, session, status, error);
	if (sink->child != 0 && sink->redirect == REDIRECT_PIPE) {
		if (child_end(sink->target, sink->child, error) != 0)
			result = -1;
	} else if (sink->child != 0) {
		/* It does not matter how the pager ends. */
		child_end(sink->target, sink->child, &ignored);
	}
	return result;
}
