/* SPDX-License-Identifier: GPL-3.0-or-later */
/* message.c -- messages on standard error. */
#include "src/shell/terminal/terminal.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/text_buffer.h"
#include "src/base/writer.h"

/* A narrower terminal breaks lines itself. */
enum { NARROWEST = 20 };

/* Whether what follows a word is typed with it: "cpprof FILE", "-r real". */
static bool
takes_next(const char *word, size_t n)
{
	return word[0] == '-' || (n == 6 && memcmp(word, "cpprof", 6) == 0);
}

/* The length of the first line of a text; n: all of it. */
static size_t
message_line_length(const char *text, size_t n, size_t width)
{
	const size_t most = wrapping_line(text, n, width);
	size_t at = most, word;

	if (most == n)
		return n;
	for (; at > 0; at = word - 1) {
		for (word = at; word > 0 && text[word - 1] != ' ';)
			word--;
		if (!takes_next(text + word, at - word))
			return at;
		if (word == 0)
			break;
	}
	return most;
}

/* Breaks a line at blanks where it is too long for the terminal, if that is one. */
static void
wrap(struct text_buffer *line)
{
	struct winsize size = { 0 };
	size_t at = 0;

	if (!isatty(STDERR_FILENO) ||
	    ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 ||
	    size.ws_col < NARROWEST)
		return;
	for (;;) {
		at += message_line_length(line->bytes + at, line->length - at,
		                          size.ws_col);
		if (at >= line->length)
			return;
		line->bytes[at++] = '\n';
	}
}

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
	wrap(&line);
	text_add_char(&line, '\n');
	if (line.length > 0)
		write_to_descriptor(&descriptor, line.bytes, line.length);
	text_free(&line);
}

static const char *program = "cpprof";

void
message_name(const char *name)
{
	program = name;
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
	message(program, text);
	free(text);
}
