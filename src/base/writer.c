/* SPDX-License-Identifier: GPL-3.0-or-later */
/* writer.c -- buffered output to wherever it goes. */
#include "src/base/writer.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

void
writer_start(struct writer *writer, writer_function *write, void *context)
{
	writer->write = write;
	writer->context = context;
	writer->error = 0;
	writer->n_held = 0;
}

int
writer_flush(struct writer *writer)
{
	if (writer->error == 0 && writer->n_held > 0)
		writer->error = writer->write(writer->context, writer->held,
		                              writer->n_held);
	writer->n_held = 0;
	return writer->error;
}

void
writer_put(struct writer *writer, const char *bytes, size_t n)
{
	if (n > sizeof writer->held - writer->n_held)
		writer_flush(writer);
	/* With n == 0, bytes may be NULL, which memcpy must not get. */
	if (writer->error != 0 || n == 0)
		return;
	if (n > sizeof writer->held) {
		writer->error = writer->write(writer->context, bytes, n);
		return;
	}
	memcpy(writer->held + writer->n_held, bytes, n);
	writer->n_held += n;
}

/* Continues after EINTR: the loops over rows react to Ctrl-C. */
int
write_to_descriptor(void *context, const char *bytes, size_t n)
{
	int descriptor = *(const int *)context;

	while (n > 0) {
		ssize_t written = write(descriptor, bytes, n);

		if (written >= 0) {
			bytes += written;
			n -= (size_t)written;
		} else if (errno == EAGAIN) {
			struct pollfd ready = { descriptor, POLLOUT, 0 };

			poll(&ready, 1, -1);
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}
