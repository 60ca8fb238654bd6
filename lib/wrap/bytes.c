/* SPDX-License-Identifier: MIT */
/* bytes.c -- the kernel's count of bytes, minus what the wrappers have seen. */
#include "lib/wrap/wrapped.h"

#include <fcntl.h>
#include <string.h>

#include "lib/base/files.h"
#include "lib/base/process.h"
#include "lib/sources/resource.h"
#include "lib/sources/thread-meters.h"

static __thread struct {
	uint64_t seen;		/* part of the kernel's count already accounted
				   for */
	uint64_t unseen;	/* found, but not yet charged */
} moved[BYTES_DIRECTIONS];

uint64_t (*bytes_pending)(void);

void
bytes_spend(enum direction direction, uint64_t n, bool is_in_kernels,
    const void *function)
{
	if (is_in_kernels)
		moved[direction].seen += n;
	resource_spend_in(direction == BYTES_READ ? RESOURCE_BYTES_READ :
	    RESOURCE_BYTES_WRITTEN, n, function);
}

static bool
find_count(const char *text, const char *label, uint64_t *count)
{
	const char *at = strstr(text, label);

	if (at == NULL)
		return false;
	*count = 0;
	for (at += strlen(label); *at >= '0' && *at <= '9'; at++)
		*count = *count * 10 + (uint64_t)(*at - '0');
	return true;
}

/*
 * The kernel's counts for this thread just before this read of the file.  The
 * bytes of the read itself are the collector's, so they are added to `seen`.
 */
static bool
bytes_ask_kernel(uint64_t counts[BYTES_DIRECTIONS])
{
	char text[256];
	ssize_t n;
	int fd;

	fd = files_open("/proc/thread-self/io", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	n = files_read(fd, text, sizeof text - 1);
	files_close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	moved[BYTES_READ].seen += (uint64_t)n;
	return find_count(text, "rchar: ", &counts[BYTES_READ]) &&
	    find_count(text, "wchar: ", &counts[BYTES_WRITTEN]);
}

static bool
bytes_start(struct thread *thread, unsigned column)
{
	uint64_t counts[BYTES_DIRECTIONS];
	int i;

	(void)column;
	moved[BYTES_READ].seen = 0;
	if (!bytes_ask_kernel(counts))
		return false;
	for (i = 0; i < BYTES_DIRECTIONS; i++) {
		moved[i].seen = i == BYTES_READ ?
		    counts[i] + moved[i].seen : counts[i];
		moved[i].unseen = 0;
	}
	thread->own_bytes_read = 0;
	return true;
}

static void
find_unseen(void)
{
	uint64_t counts[BYTES_DIRECTIONS];
	uint64_t seen[BYTES_DIRECTIONS];
	int i;

	for (i = 0; i < BYTES_DIRECTIONS; i++)
		seen[i] = moved[i].seen;
	if (!bytes_ask_kernel(counts))
		return;
	for (i = 0; i < BYTES_DIRECTIONS; i++)
		if (counts[i] > seen[i]) {
			moved[i].unseen += counts[i] - seen[i];
			moved[i].seen += counts[i] - seen[i];
		}
}

/*
 * If both directions are sampled, one read of the kernel's counts serves both.
 */
static uint64_t
bytes_hits(struct thread *thread, unsigned column, uint64_t expiries)
{
	enum direction direction =
	    resources.place[RESOURCE_BYTES_READ] == column + 1 ?
	    BYTES_READ : BYTES_WRITTEN;
	uint64_t n;

	/*
	 * During a call, the kernel's count and `seen` may already differ by
	 * what the call has moved so far.
	 */
	if (expiries > 0 && wrapped_is_inside())
		return 0;
	moved[BYTES_READ].seen += thread->own_bytes_read;
	thread->own_bytes_read = 0;
	if (moved[direction].unseen == 0)
		find_unseen();
	n = moved[direction].unseen;
	moved[direction].unseen = 0;
	if (expiries == 0 && thread->is_main && direction == BYTES_WRITTEN)
		n += bytes_pending != NULL ? bytes_pending() : 0;
	return meter_spend(&thread->meters->accounts[column].meter, n);
}

static bool
bytes_probe(const struct resource_row *row, uint64_t interval, const char **why)
{
	uint64_t counts[BYTES_DIRECTIONS];

	(void)row, (void)interval;
	*why = "the kernel does not report bytes per thread";
	return bytes_ask_kernel(counts);
}

const struct resource_source source_bytes = {
	.name = "library calls, and /proc/thread-self/io at ticks",
	.probe = bytes_probe,
	.start = bytes_start,
	.hits = bytes_hits,
	.needs_ticks = true,
	.can_be_random = true,
};

const struct resource_source source_bytes_seen = {
	.name = "library calls",
	.can_be_random = true,
};
