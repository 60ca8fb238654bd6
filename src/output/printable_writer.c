/* SPDX-License-Identifier: GPL-3.0-or-later */
/* printable_writer.c -- escapes text of other formats for a terminal. */
#include "src/output/output.h"

#include <errno.h>
#include <string.h>

#include "src/base/text_buffer.h"

/* The number of bytes at the end that may begin a character. */
static size_t
unfinished(const char *bytes, size_t n)
{
	for (size_t i = 1; i <= 3 && i <= n; i++) {
		unsigned char byte = (unsigned char)bytes[n - i];

		if (byte >= 0xc0)
			return i < (byte >= 0xf0 ? 4u : byte >= 0xe0 ? 3u : 2u) ?
			    i : 0;
		if (byte < 0x80)
			return 0;
	}
	return 0;
}

static void
printable_writer_add(struct text_buffer *text, const char *bytes, size_t n)
{
	while (n > 0) {
		size_t length = 0;

		while (length < n && bytes[length] != '\n' &&
		       bytes[length] != '\t')
			length++;
		text_add_printable(text, bytes, length);
		if (length < n)
			text_add_char(text, bytes[length++]);
		bytes += length;
		n -= length;
	}
}

static int
hand_on(struct printable_writer *printable)
{
	struct text_buffer *text = &printable->text;

	if (text->failed)
		return ENOMEM;
	writer_put(printable->to, text->bytes, text->length);
	text_clear(text);
	return printable->to->error;
}

/*
 * Adds a byte to an incomplete character, and writes it once it is complete.
 */
static void
add_to_begun(struct printable_writer *printable, char byte)
{
	size_t left;

	printable->begun[printable->n_begun++] = byte;
	left = unfinished(printable->begun, printable->n_begun);
	printable_writer_add(&printable->text, printable->begun,
	                     printable->n_begun - left);
	memmove(printable->begun,
	        printable->begun + printable->n_begun - left, left);
	printable->n_begun = left;
}

/*
 * A character may come in parts: its first bytes are kept until the others
 * come.
 */
static int
write_printable(void *context, const char *bytes, size_t n)
{
	struct printable_writer *printable = context;
	size_t left;

	for (; n > 0 && printable->n_begun > 0; n--)
		add_to_begun(printable, *bytes++);
	if (n > 0) {
		left = unfinished(bytes, n);
		printable_writer_add(&printable->text, bytes, n - left);
		memcpy(printable->begun, bytes + n - left, left);
		printable->n_begun = left;
	}
	return hand_on(printable);
}

void
printable_writer_start(struct printable_writer *printable, struct writer *to)
{
	writer_start(&printable->writer, write_printable, printable);
	printable->to = to;
	printable->n_begun = 0;
	printable->text = (struct text_buffer){ 0 };
}

int
printable_writer_end(struct printable_writer *printable)
{
	int status = writer_flush(&printable->writer);

	printable_writer_add(&printable->text, printable->begun,
	                     printable->n_begun);
	if (status == 0)
		status = hand_on(printable);
	text_free(&printable->text);
	return status;
}
