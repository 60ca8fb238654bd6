/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reading-again.h -- an input that was read well, read again with memory short.
 *
 * For tests of readers, most of which have it by reader-fixture.h; they are
 * linked with $(failing_memory).
 */
#ifndef TESTS_READING_AGAIN_H
#define TESTS_READING_AGAIN_H

#include "src/formats/format.h"
#include "tests/failing-memory.h"
#include "tests/profile-digest.h"

/* One input, to be read again and again. */
struct reading {
	const struct format *format;
	const struct read_options *options;
	const void *bytes;
	size_t n;
};

static inline uint64_t
read_again(void *data, struct error *error)
{
	const struct reading *reading = data;
	struct source *source = source_of_memory("in", reading->bytes,
	                                         reading->n, error);
	struct profile *profile;
	uint64_t digest;

	if (source == NULL)
		return 0;
	profile = reading->format->read(source, reading->options, error);
	source_close(source);
	assert_true((profile == NULL) == error->is_set);
	digest = profile == NULL ? 0 : digest_of_profile(profile);
	profile_free(profile);
	return digest;
}

/* A sum of one profile is that profile, unless it has equal frames. */
static inline void
check_merged(struct profile *profile)
{
	struct error error = { 0 };
	struct profile *sum = profile_merge(&profile, 1, &error);

	if (sum == NULL)
		fail_msg("%s", error.text);
	assert_true(digest_threads(0, sum) == digest_threads(0, profile));
	assert_true(digest_facts(0, sum) == digest_facts(0, profile));
	if (sum->n_frames == profile->n_frames)
		assert_true(digest_of_profile(sum) ==
		            digest_of_profile(profile));
	profile_free(sum);
}

/*
 * Checks what can be said of any input that was read well.  The smaller it is,
 * the more of its allocations fail in turn.
 */
static inline void
check_again(const struct format *format, const struct read_options *options,
            const void *bytes, size_t n, struct profile *profile)
{
	struct reading reading = { format, options, bytes, n };
	long n_attempts = (long)(2000000 / (n + 1));

	check_merged(profile);
	sweep_memory(format->name, read_again, &reading,
	             n_attempts < 40 ? n_attempts : 40);
}

#endif
