/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gperftools.c -- CPU profiles of gperftools, in its binary format.
 *
 * Words of 4 or 8 bytes, of either byte order: a header, samples (how often,
 * how many addresses, the addresses, innermost first), a sample of address 0
 * that ends them, and the text of /proc/self/maps.  So frames are numbers of
 * addresses until the mappings after them show their modules.
 * Source: gperftools, docs/cpuprofile-fileformat.html.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/memory.h"
#include "src/formats/reader.h"
#include "src/symbols/names/address_frames.h"

enum {
	HEADER_WORDS = 5,
	DEPTH_MAX = 1 << 20,	/* more is damage; gperftools' own limit is 254 */
	MAPS_MAX = 64 << 20,	/* bytes of text at the end */
};

struct gperftools_words {
	size_t size;		/* 4 or 8; 0: no profile of this kind */
	bool is_big;		/* the most significant byte comes first */
};

struct gperftools {
	struct reader reader;
	struct gperftools_words words;
	struct id_table addresses;	/* of the process; their numbers are the
					 * frames */
	bool has_end;			/* the last sample was read */
};

static uint64_t
gperftools_word_at(const struct gperftools_words *words,
                   const unsigned char *bytes, size_t number)
{
	uint64_t word = 0;

	bytes += number * words->size;
	for (size_t i = 0; i < words->size; i++)
		word |= (uint64_t)bytes[i] << 8 * (words->is_big ?
		                                   words->size - 1 - i : i);
	return word;
}

/* Tells the kind of words by the header: 0, 3, 0, the period, 0. */
static struct gperftools_words
gperftools_find_words(const unsigned char *bytes, size_t size)
{
	static const struct gperftools_words kinds[] = {
		{ 8, false }, { 4, false }, { 8, true }, { 4, true },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const struct gperftools_words *words = &kinds[i];

		if (size >= HEADER_WORDS * words->size &&
		    gperftools_word_at(words, bytes, 0) == 0 &&
		    gperftools_word_at(words, bytes, 1) == HEADER_WORDS - 2 &&
		    gperftools_word_at(words, bytes, 2) == 0 &&
		    gperftools_word_at(words, bytes, 3) != 0 &&
		    gperftools_word_at(words, bytes, 4) == 0)
			return *words;
	}
	return (struct gperftools_words){ 0 };
}

static int
gperftools_read_header(struct gperftools *input, struct error *error)
{
	struct reader *reader = &input->reader;
	struct gperftools_words *words = &input->words;
	size_t size;
	const unsigned char *bytes = reader_peek(reader, HEADER_WORDS * 8,
	                                         &size, error);
	uint64_t period;
	uint32_t resource;

	if (bytes == NULL)
		return -1;
	*words = gperftools_find_words(bytes, size);
	if (words->size == 0)
		return reader_fail(reader, error, "expected the header of a "
		                   "CPU profile of gperftools");
	period = gperftools_word_at(words, bytes, 3);
	reader_skip(reader, HEADER_WORDS * words->size);
	resource = reader_add_resource(reader, "cpu", "microsecond", period,
	                               error);
	if (resource == NO_RESOURCE)
		return -1;
	reader->profile->resources[resource].counting =
	    COUNTING_SAMPLED;
	return 0;
}

/* ---- samples ---- */

/* Enters a sample whose addresses are the words after the second. */
static int
gperftools_add_sample(struct gperftools *input, const unsigned char *bytes,
                      uint64_t depth, uint64_t offset, struct error *error)
{
	struct reader *reader = &input->reader;
	uint32_t *labels = reader_frames(reader, depth, error);

	if (labels == NULL)
		return -1;
	for (size_t i = 0; i < depth; i++) {
		uint64_t address = gperftools_word_at(&input->words, bytes,
		                                      2 + i);

		/* A call may be the last instruction of its function. */
		labels[i] = id_table_add(&input->addresses, address - (i > 0),
		                         error);
		if (labels[i] == NO_ID)
			return -1;
	}
	reader->hits[0] = gperftools_word_at(&input->words, bytes, 0);
	return reader_push(reader, depth, offset, 0, error);
}

static int
gperftools_read_samples(struct gperftools *input, struct error *error)
{
	struct reader *reader = &input->reader;
	size_t wanted = 1, size;

	while (!input->has_end) {
		const unsigned char *bytes = reader_peek(reader, wanted,
		                                         &size, error);
		bool is_end = size < wanted;
		size_t word;
		size_t at = 0;

		if (bytes == NULL)
			return -1;
		/*
		 * Enters the whole samples among bytes[size] and skips them;
		 * *wanted becomes how many bytes the next look needs.
		 */
		word = input->words.size;
		wanted = 3 * word;
		while (size - at >= 3 * word && !input->has_end) {
			const unsigned char *sample = bytes + at;
			uint64_t offset = reader->place + at;
			uint64_t depth = gperftools_word_at(&input->words,
			                                    sample, 1);

			if (depth == 0 || depth > DEPTH_MAX)
				return reader_fail_at(
				    reader, offset, error,
				    "expected "
				    "a sample of 1 to 1048576 "
				    "addresses");
			if (size - at < (2 + depth) * word) {
				wanted = (size_t)(2 + depth) * word;
				break;
			}
			input->has_end = depth == 1 &&
			    gperftools_word_at(&input->words, sample, 0) == 0 &&
			    gperftools_word_at(&input->words, sample, 2) == 0;
			if (!input->has_end &&
			    gperftools_add_sample(input, sample, depth, offset,
			                          error) != 0)
				return -1;
			at += (size_t)(2 + depth) * word;
		}
		reader_skip(reader, at);
		if (reader_step(reader, error) != 0)
			return -1;
		if (is_end && !input->has_end) {
			reader->is_cut_short = true;
			source_skip(reader->source, size);
			break;
		}
	}
	return 0;
}

/* ---- frames ---- */

/* Where a mapping's code is: the module, and from addresses to the file's. */
struct gperftools_place {
	uint32_t module;
	uint64_t bias;
};

/* Enters the files of all mappings as modules; NULL with *error set. */
static struct gperftools_place *
gperftools_add_modules(struct reader *reader,
                       const struct memory_mapping *mappings, size_t n,
                       struct error *error)
{
	struct gperftools_place *places = memory_array(n + 1, sizeof *places,
	                                               error);
	struct names *paths = names_new(error);

	for (size_t i = 0; i < n && !error->is_set; i++) {
		const char *path = mappings[i].path;
		uint32_t known = names_count(paths);

		places[i].module = names_add(paths, path, strlen(path), error);
		if (places[i].module == known)
			profile_add_module(reader->profile, path, NULL, 0,
			                   error);
		places[i].bias = module_cache_address(
		    reader->options->modules, path, NULL, 0,
		    mappings[i].offset) - mappings[i].start;
	}
	names_free(paths);
	if (error->is_set) {
		free(places);
		return NULL;
	}
	return places;
}

/*
 * Each address becomes a frame of its number.  Where two are one place of a
 * file that is mapped twice, the second stays an address.
 */
static int
gperftools_add_frames(struct gperftools *input, const struct memory_map *map,
                      const struct gperftools_place *places,
                      struct error *error)
{
	struct reader *reader = &input->reader;
	struct address_frames *frames = address_frames_new(error);
	const uint64_t *ids = input->addresses.ids;
	int result = frames != NULL ? 0 : -1;

	for (uint32_t i = 0; result == 0 && i < input->addresses.n; i++) {
		size_t number = memory_map_find(map, ids[i]);
		uint32_t frame = number == SIZE_MAX ?
		    address_frames_add(frames, NO_MODULE, ids[i], error) :
		    address_frames_add(frames, places[number].module,
		                       ids[i] + places[number].bias, error);

		if (frame < i)
			frame = address_frames_add(frames, NO_MODULE, ids[i],
			                           error);
		if (frame != i)
			result = error_set(error, "address 0x%" PRIx64
			    " occurs twice", ids[i]);
	}
	if (result == 0)
		result = address_frames_finish(frames, reader->profile,
		                               reader->options->modules,
		                               error);
	address_frames_free(frames);
	return result;
}

/* Reads the lines of the rest; *is_cut_short: the last one lacks its end. */
static int
read_map_lines(struct reader *reader, struct memory_map *map,
               bool *is_cut_short, struct error *error)
{
	size_t size;
	const char *at = source_peek(reader->source, MAPS_MAX, &size, error);
	const char *end = at + size, *stop;

	if (at == NULL)
		return -1;
	while ((stop = at == end ? NULL :
	        memchr(at, '\n', (size_t)(end - at))) != NULL) {
		if (memory_map_add_line(map, at, (size_t)(stop - at),
		                        error) != 0)
			return -1;
		at = stop + 1;
	}
	*is_cut_short = at < end;
	return 0;
}

/* Reads the mappings after the samples, which give the modules of addresses. */
static int
gperftools_read_map(struct gperftools *input, struct error *error)
{
	struct reader *reader = &input->reader;
	struct memory_map *map = memory_map_new(error);
	const struct memory_mapping *mappings;
	struct gperftools_place *places = NULL;
	bool is_cut_short = false;
	int result = -1;
	size_t n;

	if (map != NULL &&
	    read_map_lines(reader, map, &is_cut_short, error) == 0) {
		mappings = memory_map_all(map, &n);
		places = gperftools_add_modules(reader, mappings, n, error);
	}
	if (places != NULL)
		result = gperftools_add_frames(input, map, places, error);
	if (result == 0 && is_cut_short)
		result = reader_warn(reader, error, "the list of mapped files "
		                     "at the end is cut short; addresses may "
		                     "lack names");
	free(places);
	memory_map_free(map);
	return result;
}

static int
gperftools_read_profile(struct gperftools *input, struct error *error)
{
	struct reader *reader = &input->reader;
	struct process process = { 0 };

	if (gperftools_read_header(input, error) != 0 ||
	    gperftools_read_samples(input, error) != 0)
		return -1;
	if (reader_count_stacks(reader) == 0)
		return reader_fail_empty(reader, error);
	if (gperftools_read_map(input, error) != 0)
		return -1;
	if (reader->profile->n_modules > 0)
		process.program = reader->profile->modules[0].path;
	reader->is_cut_short |= source_is_cut_short(reader->source);
	return profile_add_process(reader->profile, &process, error) !=
	    UINT32_MAX && reader_warn_cut_short(reader, "", error) == 0 ?
	    reader_finish_stacks(reader, NULL, error) : -1;
}

static struct profile *
gperftools_read(struct source *source, const struct read_options *options,
                struct error *error)
{
	struct gperftools input = { .has_end = false };
	int result = reader_begin(&input.reader, source, options,
	                          READER_OFFSETS, error);

	if (result == 0)
		result = gperftools_read_profile(&input, error);
	id_table_free(&input.addresses);
	return reader_end(&input.reader, result);
}

static int
gperftools_probe(const void *head, size_t size)
{
	return gperftools_find_words(head, size).size > 0 ? PROBE_SURE :
	    PROBE_NO;
}

const struct format format_gperftools = {
	.name = "gperftools",
	.summary = "CPU profiles of gperftools, as libprofiler writes them",
	.probe = gperftools_probe,
	.read = gperftools_read,
};
