/* SPDX-License-Identifier: GPL-3.0-or-later */
/* printable_writer.c -- text of other formats made fit for a terminal. */
#include "src/output/printable_writer.h"

#include <errno.h>
#include <string.h>

#include "src/output/printable.h"

/* Bytes at the end that may be the beginning of a character. */
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
add(struct text_buffer *text, const char *bytes, size_t n)
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

/* A character may come in two parts: its first bytes wait for the others. */
static int
write_printable(void *context, const char *bytes, size_t n)
{
	struct printable_writer *printable = context;

	while (n > 0 && printable->n_begun > 0 &&
	       printable->n_begun < sizeof printable->begun &&
	       unfinished(printable->begun, printable->n_begun) > 0) {
		printable->begun[printable->n_begun++] = *bytes++;
		n--;
	}
	if (n == 0)
		return 0;
	add(&printable->text, printable->begun, printable->n_begun);
	printable->n_begun = unfinished(bytes, n);
	n -= printable->n_begun;
	memcpy(printable->begun, bytes + n, printable->n_begun);
	add(&printable->text, bytes, n);
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

	add(&printable->text, printable->begun, printable->n_begun);
	if (status == 0)
		status = hand_on(printable);
	text_free(&printable->text);
	return status;
}
