/* SPDX-License-Identifier: GPL-3.0-or-later */
/* writer.h -- buffered output to wherever it goes.
 *
 * Sticky: after the first failure nothing more is written, and `error` has the
 * reason.
 */
#ifndef CPPROF_BASE_WRITER_H
#define CPPROF_BASE_WRITER_H

#include <stddef.h>

/* Writes n bytes somewhere; 0, or an errno. */
typedef int writer_function(void *context, const char *bytes, size_t n);

enum { WRITER_BUFFER = 64 * 1024 };

struct writer {
	writer_function *write;
	void *context;
	int error;		/* errno of the first failure */
	size_t n_held;
	char held[WRITER_BUFFER];
};

void writer_start(struct writer *writer, writer_function *write,
                  void *context);
void writer_put(struct writer *writer, const char *bytes, size_t n);

/* Writes what is buffered; the errno of the first failure so far, or 0. */
int writer_flush(struct writer *writer);

/* A writer_function; context points to the file descriptor, an int. */
int write_to_descriptor(void *context, const char *bytes, size_t n);

#endif
