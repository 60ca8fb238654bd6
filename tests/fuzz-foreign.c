/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz-foreign.c -- recognising the format of any bytes, and unpacking them.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/formats/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = { 0 };
	struct source *source = source_of_memory("fuzz", data, size, &error);
	size_t n = 0;
	const char *bytes = source == NULL ? NULL :
	                    source_peek(source, FORMAT_HEAD_SIZE, &n, &error);

	if (bytes != NULL) {
		char *head;

		if (n > FORMAT_HEAD_SIZE)
			n = FORMAT_HEAD_SIZE;
		/*
		 * Allocated at its exact size, so that overruns are noticed.
		 */
		head = malloc(n > 0 ? n : 1);
		if (head == NULL)
			abort();
		memcpy(head, bytes, n);
		for (size_t i = 0; formats[i] != NULL; i++)
			formats[i]->probe(head, n);
		foreign_format_find(head, n, false);
		foreign_format_find(head, n, true);
		free(head);
	}
	source_close(source);
	return 0;
}
