/* SPDX-License-Identifier: GPL-3.0-or-later */
/* terminal.c -- what the terminal can do. */
#include "src/shell/terminal/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
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

bool
terminal_wants_color(enum color_choice choice, bool to_terminal)
{
	const char *no_color = getenv("NO_COLOR");

	if (choice != COLOR_AUTO)
		return choice == COLOR_ALWAYS;
	return to_terminal && (no_color == NULL || *no_color == '\0') &&
	    !terminal_is_dumb();
}
