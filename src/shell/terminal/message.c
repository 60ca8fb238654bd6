/* SPDX-License-Identifier: GPL-3.0-or-later */
/* message.c -- what goes to standard error. */
#include "src/shell/terminal/message.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "src/base/printable.h"
#include "src/base/writer.h"

void
message(const char *where, const char *text)
{
	struct text_buffer line = { 0 };
	int descriptor = STDERR_FILENO;

	if (where != NULL) {
		text_add_printable(&line, where, strlen(where));
		text_add_string(&line, ": ");
	}
	text_add_printable(&line, text, strlen(text));
	text_add_char(&line, '\n');
	if (line.length > 0)
		write_to_descriptor(&descriptor, line.bytes, line.length);
	text_free(&line);
}
