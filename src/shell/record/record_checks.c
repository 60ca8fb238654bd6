/* SPDX-License-Identifier: GPL-3.0-or-later */
/* record_checks.c -- what would make a recording fail, before it begins. */
#include "src/shell/record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/cpprof-shared.h"
#include "src/shell/terminal/terminal.h"

/*
 * Notes a source that is not the best.  By default, only if shares may be
 * wrong.
 */
static void
record_note_source(const struct offer *offer, bool is_default)
{
	const bool is_by_ticks = strcmp(offer->source, "thread CPU timer") == 0;

	if (*offer->why == '\0' || (is_default && !is_by_ticks))
		return;
	message_note("%s: from the %s, since %s%s", offer->name, offer->source,
	             offer->why, !is_by_ticks ? "" :
	             "; shares within threads and processes of a few "
	             "milliseconds, and of what timers start, may be wrong");
}

int
record_check_offers(const struct offers *offers, bool is_random,
                    bool is_default, struct error *error)
{
	for (size_t i = 0; i < offers->n; i++) {
		const struct offer *offer = &offers->items[i];

		if (*offer->source == '\0')
			return error_set(error, "%s cannot be recorded here: "
			                 "%s", offer->name, offer->why);
		if (is_random && !offer->can_be_random)
			return error_set(error, "--random: the intervals of %s "
			    "cannot be randomised, as it comes from the "
			    "%s%s%s; leave out --random, or that resource",
			    offer->name, offer->source,
			    *offer->why != '\0' ? ", since " : "", offer->why);
		record_note_source(offer, is_default);
	}
	return 0;
}

int
record_check_size_limit(struct error *error)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
	    limit.rlim_cur >= CPPROF_SHARED_SIZE)
		return 0;
	return error_set(error, "the limit on the size of files, %ju bytes, "
	                 "is too small for a recording: raise it with "
	                 "ulimit -f", (uintmax_t)limit.rlim_cur);
}

/* As many as a recording has, and one that the collector opens for a moment. */
int
record_check_open_files(struct error *error)
{
	enum { N_FILES = 9 };
	int files[N_FILES], n = 0, why = 0;

	while (n < N_FILES && (files[n] = open("/", O_PATH | O_CLOEXEC)) >= 0)
		n++;
	if (n < N_FILES)
		why = errno;
	while (n > 0)
		close(files[--n]);
	if (why == 0)
		return 0;
	return error_set(error, "a recording has %d files open at once, which "
	                 "is not possible: %s%s", N_FILES, strerror(why),
	                 why == EMFILE ? "; raise the limit with ulimit -n" :
	                 "");
}
