/* SPDX-License-Identifier: GPL-3.0-or-later */
/* message.c -- messages on standard error, one line each. */
#include "src/shell/terminal/message.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

void
message_note(const char *format, ...)
{
	va_list arguments;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	message("cpprof", text);
	free(text);
}
