/* SPDX-License-Identifier: GPL-3.0-or-later */
/* terminal.c -- what the terminal can do. */
#include "src/shell/terminal/terminal.h"

#include <langinfo.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool
terminal_is_output(void)
{
	return isatty(STDOUT_FILENO);
}

void
terminal_size(size_t *columns, size_t *lines)
{
	struct winsize size = { 0 };

	*columns = 80;
	*lines = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return;
	if (size.ws_col > 0)
		*columns = size.ws_col;
	if (size.ws_row > 0)
		*lines = size.ws_row;
}

bool
terminal_has_unicode(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

bool
terminal_is_dumb(void)
{
	const char *term = getenv("TERM");

	return term == NULL || *term == '\0' || strcmp(term, "dumb") == 0;
}

/* Reads the line that was typed into text[size], and what else it has. */
static void
terminal_read_line(char *text, size_t size)
{
	size_t n = 0;
	char c;

	while (!interrupt_requested && read(STDIN_FILENO, &c, 1) == 1 &&
	       c != '\n')
		if (n + 1 < size)
			text[n++] = c;
	text[n] = '\0';
}

enum terminal_answer
terminal_ask(const char *question)
{
	struct pollfd typed = { .fd = STDIN_FILENO, .events = POLLIN };
	char answer[16];

	if (!isatty(STDERR_FILENO) || poll(&typed, 1, 0) != 0)
		return TERMINAL_NOT_ASKED;
	fputs(question, stderr);
	fflush(stderr);
	terminal_read_line(answer, sizeof answer);
	if (interrupt_requested)
		fputc('\n', stderr);
	interrupt_requested = 0;
	return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0 ?
	       TERMINAL_YES : TERMINAL_NO;
}

bool
terminal_wants_color(enum color_choice choice, bool to_terminal)
{
	const char *no_color = getenv("NO_COLOR");

	if (choice != COLOR_AUTO)
		return choice == COLOR_ALWAYS;
	return to_terminal && (no_color == NULL || *no_color == '\0') &&
	    !terminal_is_dumb();
}
