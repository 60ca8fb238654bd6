/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpprofdata_waits.c -- when a process ended, and what its threads waited for.
 *
 * Times are those of the collector, CLOCK_MONOTONIC, which is never set and is
 * the same for all processes of a machine.  The header has one moment by that
 * clock and in UTC, by which times are converted.
 */
#include "src/formats/cpprofdata/cpprofdata_waits.h"

#include <endian.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "src/formats/cpprofdata/cpprofdata_writer.h"

/*
 * Loads a thread's wait; false if there is none, or it is just being written.
 */
static bool
load_wait(const struct cpprofdata_file *file, uint32_t number,
          struct cpprofdata_wait *wait)
{
	const struct cpprofdata_runs *runs =
	    &file->runs[CPPROFDATA_THREADS];
	const struct cpprofdata_run *run = cpprofdata_runs_find(runs, number);

	if (run == NULL)
		return false;
	memcpy(wait, file->bytes + run->offset +
	       (number - run->first) * runs->record_size +
	       offsetof(struct cpprofdata_thread, wait), sizeof *wait);
	wait->since_ns = le64toh(wait->since_ns);
	wait->node = le32toh(wait->node);
	wait->columns = le32toh(wait->columns);
	wait->left = le64toh(wait->left);
	wait->io_left = le64toh(wait->io_left);
	wait->gathered_ns = le64toh(wait->gathered_ns);
	wait->check_ns = le64toh(wait->check_ns);
	/* No thread waits for longer than the process has existed. */
	return wait->since_ns == wait->check_ns &&
	    wait->since_ns >= file->header.start_mono_ns &&
	    wait->since_ns != 0;
}

/* The latest moment known from a sample, a wait or `record`. */
static uint64_t
last_sign_of_life(const struct cpprofdata_file *file)
{
	const struct cpprofdata_header *header = &file->header;
	const struct cpprofdata_runs *runs =
	    &file->runs[CPPROFDATA_THREADS];
	uint64_t last = header->start_mono_ns;
	struct cpprofdata_wait wait;

	if (header->last_sample_ns > header->start_ns)
		last += header->last_sample_ns - header->start_ns;
	if (header->seen_mono_ns > last)
		last = header->seen_mono_ns;
	for (size_t i = 0; i < runs->n; i++)
		for (uint64_t k = 0; k < runs->items[i].n; k++)
			if (load_wait(file, (uint32_t)(runs->items[i].first +
			        k), &wait) && wait.since_ns > last)
				last = wait.since_ns;
	return last;
}

static uint64_t
now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct cpprofdata_end
cpprofdata_find_end(const struct cpprofdata_file *file)
{
	const struct cpprofdata_header *header = &file->header;
	struct cpprofdata_end end = { .is_seen = true };

	if (header->end_ns == 0)
		end.is_running = cpprofdata_is_written_by(file->name,
		                                          header->pid);
	if (end.is_running) {
		end.mono_ns = now_ns(CLOCK_MONOTONIC);
		end.utc_ns = now_ns(CLOCK_REALTIME);
		return end;
	}
	if (header->end_mono_ns != 0) {
		end.mono_ns = header->end_mono_ns;
	} else if (header->gone_mono_ns != 0) {
		end.mono_ns = header->gone_mono_ns;
	} else {
		end.is_seen = header->end_ns != 0;
		end.mono_ns = last_sign_of_life(file);
	}
	end.utc_ns = header->end_ns;
	if (end.utc_ns != 0)
		return end;
	if (header->start_mono_ns != 0 &&
	    end.mono_ns >= header->start_mono_ns)
		end.utc_ns = header->start_ns +
		    (end.mono_ns - header->start_mono_ns);
	/* While a machine is suspended, the monotonic clock stops. */
	if (end.utc_ns < header->last_sample_ns)
		end.utc_ns = header->last_sample_ns;
	return end;
}

/*
 * Feeds gticks to a thread's meter in its saved state; see lib/base/meter.h.
 */
static uint64_t
feed(uint64_t gticks, uint64_t interval, uint64_t *left)
{
	uint64_t beyond, hits;

	if (*left == 0 || *left > 2 * interval)
		*left = interval;
	if (gticks < *left) {
		*left -= gticks;
		return 0;
	}
	beyond = gticks - *left;
	hits = 1 + beyond / interval;
	*left = interval - beyond % interval;
	return hits;
}

static bool
is_real(const struct cpprofdata_file *file, uint32_t resource)
{
	return strncmp(file->header.resources[resource].name, "real",
	               sizeof file->header.resources[resource].name) == 0;
}

size_t
cpprofdata_wait_charges(const struct cpprofdata_file *file,
                        const struct cpprofdata_end *end, uint32_t number,
                        struct cpprofdata_charge *charges, bool *waits)
{
	struct cpprofdata_wait wait;
	uint64_t passed_us, gathered_ns;
	size_t n = 0;

	*waits = false;
	if ((file->header.flags & CPPROFDATA_WAITS) == 0 ||
	    !load_wait(file, number, &wait) || end->mono_ns < wait.since_ns)
		return 0;
	*waits = wait.columns != 0;
	passed_us = (end->mono_ns - wait.since_ns) / 1000;
	gathered_ns = wait.gathered_ns;
	if (!*waits)
		gathered_ns += end->mono_ns - wait.since_ns;
	for (uint32_t r = 0; r < file->n_named; r++) {
		uint64_t interval = file->header.resources[r].interval;
		uint64_t *left = is_real(file, r) ? &wait.left :
		    &wait.io_left;

		if ((wait.columns >> r & 1) != 0)
			charges[n++] = (struct cpprofdata_charge){
				r, wait.node, true,
				feed(passed_us, interval, left)
			};
		if (is_real(file, r))
			charges[n++] = (struct cpprofdata_charge){
				r, CPPROFDATA_NO_NODE, false,
				feed(gathered_ns / 1000, interval, left)
			};
	}
	return n;
}
