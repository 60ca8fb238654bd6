/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gperftools.c -- CPU profiles of gperftools, in the format of their own.
 *
 * Words of 4 or 8 bytes, of either byte order: a header, samples (how often,
 * how many addresses, the addresses, innermost first), a sample of address 0
 * that ends them, and the text of /proc/self/maps.  So frames are numbers of
 * addresses until the mappings behind tell whose they are.
 * Source: gperftools, docs/cpuprofile-fileformat.html.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/format.h"
#include "src/formats/gperftools/gperftools_maps.h"
#include "src/formats/id_table.h"
#include "src/formats/stack_feed.h"
#include "src/symbols/names/address_frames.h"

enum {
	HEADER_WORDS = 5,
	DEPTH_MAX = 1 << 20,	/* that one believes; theirs is 254 */
};

struct words {
	size_t size;		/* 4 or 8; 0: no profile of this kind */
	bool is_big;		/* the most significant byte comes first */
};

struct reader {
	struct source *source;
	const struct read_options *options;
	struct profile *profile;
	struct words words;
	struct stack_feed *feed;
	struct id_table addresses;	/* of the process; their numbers are
					 * labels, and index: */
	uint64_t *known;
	size_t known_capacity;
	uint64_t offset;		/* of the bytes at hand */
	bool has_end;			/* the last sample was read, */
	bool is_cut;			/* or what comes before it ended */
};

static uint64_t
word_at(const struct words *words, const unsigned char *bytes, size_t number)
{
	uint64_t word = 0;

	bytes += number * words->size;
	for (size_t i = 0; i < words->size; i++)
		word |= (uint64_t)bytes[i] << 8 * (words->is_big ?
		                                   words->size - 1 - i : i);
	return word;
}

/* Tells the kind of words by the header: 0, 3, 0, the period, 0. */
static struct words
find_words(const unsigned char *bytes, size_t size)
{
	static const struct words kinds[] = {
		{ 8, false }, { 4, false }, { 8, true }, { 4, true },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const struct words *words = &kinds[i];

		if (size >= HEADER_WORDS * words->size &&
		    word_at(words, bytes, 0) == 0 &&
		    word_at(words, bytes, 1) == HEADER_WORDS - 2 &&
		    word_at(words, bytes, 2) == 0 &&
		    word_at(words, bytes, 3) != 0 &&
		    word_at(words, bytes, 4) == 0)
			return *words;
	}
	return (struct words){ 0 };
}

static int
fail(const struct reader *reader, uint64_t offset, const char *what,
     struct error *error)
{
	return error_set(error, "%s: 0x%" PRIx64 ": %s",
	                 source_name(reader->source), offset, what);
}

static void
skip(struct reader *reader, size_t n)
{
	source_skip(reader->source, n);
	reader->offset += n;
}

static int
read_header(struct reader *reader, struct error *error)
{
	size_t size;
	const char *bytes = source_peek(reader->source, HEADER_WORDS * 8,
	                                &size, error);
	uint64_t period;

	if (bytes == NULL)
		return -1;
	reader->words = find_words((const unsigned char *)bytes, size);
	if (reader->words.size == 0)
		return fail(reader, 0, "expected the header of a CPU profile "
		            "of gperftools", error);
	period = word_at(&reader->words, (const unsigned char *)bytes, 3);
	skip(reader, HEADER_WORDS * reader->words.size);
	reader->feed = stack_feed_new(source_name(reader->source),
	                              STACK_OFFSETS, 1, error);
	return reader->feed != NULL && profile_add_resource(reader->profile,
	    "cpu", "microsecond", period, error) != UINT32_MAX ? 0 : -1;
}

/* ---- samples ---- */

/* The number of an address, as a label; NO_ID with *error set. */
static uint32_t
add_address(struct reader *reader, uint64_t address, struct error *error)
{
	uint32_t number = id_table_add(&reader->addresses, address, error);

	if (number == NO_ID ||
	    memory_grow(&reader->known, &reader->known_capacity,
	                (size_t)number + 1, sizeof address, error) != 0)
		return NO_ID;
	reader->known[number] = address;
	return number;
}

/* Enters a sample whose addresses are the words behind the second. */
static int
add_sample(struct reader *reader, const unsigned char *bytes, size_t depth,
           uint64_t offset, struct error *error)
{
	uint64_t count = word_at(&reader->words, bytes, 0);
	uint32_t *labels = stack_feed_room(reader->feed, depth, error);

	if (labels == NULL)
		return -1;
	for (size_t i = 0; i < depth; i++) {
		uint64_t address = word_at(&reader->words, bytes, 2 + i);

		/* A call may be the last instruction of its function. */
		labels[i] = add_address(reader, address - (i > 0), error);
		if (labels[i] == NO_ID)
			return -1;
	}
	return stack_feed_push(reader->feed, depth, offset, &count, 0, error);
}

/*
 * Enters the whole samples among bytes[size] and skips them; *wanted becomes
 * how many bytes the next look needs.
 */
static int
read_block(struct reader *reader, const unsigned char *bytes, size_t size,
           size_t *wanted, struct error *error)
{
	const size_t word = reader->words.size;
	size_t at = 0;

	*wanted = 3 * word;
	while (size - at >= 3 * word && !reader->has_end) {
		const unsigned char *sample = bytes + at;
		uint64_t offset = reader->offset + at;
		uint64_t depth = word_at(&reader->words, sample, 1);

		if (depth == 0 || depth > DEPTH_MAX)
			return fail(reader, offset, "expected a sample of 1 "
			            "to 1048576 addresses", error);
		if (size - at < (2 + depth) * word) {
			*wanted = (size_t)(2 + depth) * word;
			break;
		}
		reader->has_end = depth == 1 &&
		    word_at(&reader->words, sample, 0) == 0 &&
		    word_at(&reader->words, sample, 2) == 0;
		if (!reader->has_end &&
		    add_sample(reader, sample, (size_t)depth, offset,
		               error) != 0)
			return -1;
		at += (size_t)(2 + depth) * word;
	}
	skip(reader, at);
	return progress_step(reader->options->progress,
	                     source_done(reader->source),
	                     source_size(reader->source), error);
}

static int
read_samples(struct reader *reader, struct error *error)
{
	size_t wanted = 1, size;

	while (!reader->has_end) {
		const char *bytes = source_peek(reader->source, wanted,
		                                &size, error);
		bool is_end = size < wanted;

		if (bytes == NULL ||
		    read_block(reader, (const unsigned char *)bytes, size,
		               &wanted, error) != 0)
			return -1;
		if (is_end && !reader->has_end) {
			reader->is_cut = true;
			source_skip(reader->source, size);
			break;
		}
	}
	return 0;
}

/* ---- frames ---- */

/*
 * Each address becomes a frame of its number.  Where two are one place of a
 * file that is mapped twice, the second stays an address.
 */
static int
add_frames(struct reader *reader, const struct gperftools_maps *maps,
           struct error *error)
{
	struct address_frames *frames = address_frames_new(error);
	int result = frames != NULL ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < reader->addresses.n; i++) {
		uint64_t address = reader->known[i];
		uint32_t module = gperftools_maps_find(maps, &address), frame;

		frame = address_frames_add(frames, module, address, error);
		if (frame < i)
			frame = address_frames_add(frames, NO_MODULE,
			                           reader->known[i], error);
		if (frame != i)
			result = error_set(error, "address 0x%" PRIx64
			    " is there twice", reader->known[i]);
	}
	if (result == 0)
		result = address_frames_finish(frames, reader->profile,
		                               reader->options->modules,
		                               error);
	address_frames_free(frames);
	return result;
}

static int
fill_profile(struct reader *reader, struct error *error)
{
	const char *name = source_name(reader->source);
	struct process process = { 0 };
	struct gperftools_maps *maps;
	int result;

	if (stack_feed_count(reader->feed) == 0)
		return error_set(error, "%s: no samples in it", name);
	maps = gperftools_maps_read(reader->source, reader->profile,
	                            reader->options->modules, error);
	if (maps == NULL)
		return -1;
	result = add_frames(reader, maps, error);
	if (result == 0 && gperftools_maps_is_cut(maps))
		result = profile_warn(reader->profile, error, "%s: the list of "
		    "mapped files at the end is cut off; addresses may lack "
		    "names", name);
	gperftools_maps_free(maps);
	if (reader->profile->n_modules > 0)
		process.program = reader->profile->modules[0].path;
	if (result != 0 ||
	    profile_add_process(reader->profile, &process, error) ==
	        UINT32_MAX)
		return -1;
	reader->is_cut |= source_is_truncated(reader->source);
	if (reader->is_cut &&
	    profile_warn(reader->profile, error, "%s: 0x%" PRIx64 ": the "
	                 "input is cut off here or later; what came before "
	                 "was read", name, reader->offset) != 0)
		return -1;
	reader->profile->tree = stack_feed_finish(reader->feed, error);
	return reader->profile->tree != NULL ? 0 : -1;
}

static struct profile *
gperftools_read(struct source *source, const struct read_options *options,
                struct error *error)
{
	struct reader reader = { .source = source, .options = options };
	struct profile *profile = NULL;

	reader.profile = profile_new(error);
	if (reader.profile != NULL && read_header(&reader, error) == 0 &&
	    read_samples(&reader, error) == 0 &&
	    fill_profile(&reader, error) == 0) {
		profile = reader.profile;
		reader.profile = NULL;
	}
	stack_feed_free(reader.feed);
	id_table_free(&reader.addresses);
	free(reader.known);
	profile_free(reader.profile);
	return profile;
}

static int
gperftools_probe(const void *head, size_t size)
{
	return find_words(head, size).size > 0 ? PROBE_SURE : PROBE_NO;
}

const struct format format_gperftools = {
	.name = "gperftools",
	.summary = "CPU profiles of gperftools (legacy pprof)",
	.probe = gperftools_probe,
	.read = gperftools_read,
};
